"""Count what falls due on each of the coming days."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from quizkit.answer import Card

AHEAD = 14
"""Days that a forecast looks ahead, today among them."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Counts of cards due: `late` by this moment, part of today's; `later` beyond the last day."""

    late: int
    days: tuple[tuple[date, int], ...]
    later: int


def forecast(
    cards: Iterable[Card], now: datetime, zone: tzinfo | None = None, ahead: int = AHEAD
) -> Forecast:
    """Count what is due on each day of the zone's calendar (None: the clock on the wall)."""
    today = now.astimezone(zone).date()
    dates = [card.due for card in cards]
    due = Counter(max(today, each.astimezone(zone).date()) for each in dates)
    days = tuple((day := today + timedelta(days=i), due[day]) for i in range(ahead))
    return Forecast(
        late=sum(each <= now for each in dates),
        days=days,
        later=len(dates) - sum(count for _, count in days),
    )
