"""Say why a question is asked now: what it was brought for, else what is remembered of it."""

from datetime import datetime

from quizkit.answer import Card
from quizkit.tutor.turns import Turn
from quizkit.tutor.verdict import Note


def why_now(turn: Turn, card: Card | None, now: datetime) -> Note:
    """Say the reason in a few words. `card` is what is remembered, None where it is new."""
    if turn.repeat:
        return "study.now_again", {}
    if turn.reason:
        return turn.reason
    if card is None:
        return "study.now_new", {}
    if card.due > now:
        return "study.now_early", {}
    days = (now - card.due).days
    return ("study.now_late", {"days": days}) if days else ("study.now_due", {})
