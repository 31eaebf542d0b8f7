"""How likely a question is to be remembered at a moment, by the same curve that schedules it."""

from datetime import datetime, timedelta
from functools import cache

from quizkit.answer import Card

_DAY = timedelta(days=1)
_KEPT = 0.9
"""FSRS's stability is the number of days after which this much is left."""


def recall(card: Card, at: datetime) -> float:
    """The chance, from 1 just after the answer down towards 0. Hours count as parts of a day."""
    days = max(0.0, (at - card.last) / _DAY)
    factor, decay = _curve()
    return (1 + factor * days / card.stability) ** decay


@cache
def _curve() -> tuple[float, float]:
    import fsrs  # late, as wherever nothing may ever have been answered

    # Its own method counts whole days, with which a memory of six hours would be perfect.
    decay = -fsrs.Scheduler().parameters[20]
    return _KEPT ** (1 / decay) - 1, decay
