"""Count on which days the learner practised, and how much."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from quizkit.answer import Answer

BACK = 14
"""Days that are looked back on, today among them."""

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Activity:
    """Answers of the last days, study and interviews apart; days in a row, now and at most.

    A day that is not over yet breaks no row.
    """

    days: tuple[tuple[date, int, int], ...]
    active: int
    row: int
    longest: int


def activity(answers: Iterable[Answer], now: datetime, zone: tzinfo | None = None) -> Activity:
    """Count by days of the zone's calendar (None: the clock on the wall) the answers that count."""
    today = now.astimezone(zone).date()
    counts = Counter((row.at.astimezone(zone).date(), row.mode) for row in answers)
    days = {day for day, _ in counts}
    last = [today - i * _DAY for i in reversed(range(BACK))]
    return Activity(
        days=tuple((day, counts[day, "study"], counts[day, "mock"]) for day in last),
        active=len(days),
        row=_row(days, today if today in days else today - _DAY),
        longest=max((_row(days, day) for day in days if day + _DAY not in days), default=0),
    )


def _row(days: Collection[date], last: date) -> int:
    """Count the days up to this one that follow one another without a gap."""
    length = 0
    while last - length * _DAY in days:
        length += 1
    return length
