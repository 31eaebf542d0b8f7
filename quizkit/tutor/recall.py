"""Estimate how likely a question is to be remembered, by the curve that schedules it."""

from datetime import datetime, timedelta

from quizkit.answer import Card
from quizkit.tutor.plan_memory import Fsrs

_DAY = timedelta(days=1)
_MODEL = Fsrs()


def recall(card: Card, at: datetime) -> float:
    """Return the chance of a right answer, from 1 just after the last down towards 0. Hours count
    as parts of a day: in whole days, a memory of twenty hours would be perfect.
    """
    return _MODEL.recall(card.stability, max(0.0, (at - card.last) / _DAY))
