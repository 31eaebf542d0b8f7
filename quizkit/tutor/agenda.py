"""Work out what is due, what is new and when to come back, over a whole bank."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from quizkit.answer import Card
from quizkit.bank.entry import Entry
from quizkit.tutor.lineup import due


@dataclass(frozen=True, slots=True)
class Shelf:
    """The standing of one topic: how many questions are due, new and known."""

    topic: str
    due: int
    new: int
    known: int


@dataclass(frozen=True, slots=True)
class Agenda:
    """Entries that are due, the longest overdue first, and each topic's counts."""

    now: datetime
    due: tuple[tuple[Entry, datetime], ...]
    shelves: tuple[Shelf, ...]
    next_due: datetime | None

    @property
    def new(self) -> int:
        """The number of questions that were never asked."""
        return sum(shelf.new for shelf in self.shelves)


def agenda(entries: Iterable[Entry], cards: Mapping[str, Card], now: datetime) -> Agenda:
    """Return how things stand now."""
    every = list(entries)
    late = due(every, cards, now)
    topics: dict[str, list[Entry]] = {}
    for entry in every:
        topics.setdefault(entry.topic, []).append(entry)
    dates = [cards[entry.id].due for entry in every if entry.id in cards]
    return Agenda(
        now,
        tuple((entry, cards[entry.id].due) for entry in late),
        tuple(_shelf(name, topics[name], cards, now) for name in sorted(topics)),
        min((date for date in dates if date > now), default=None),
    )


def _shelf(topic: str, entries: list[Entry], cards: Mapping[str, Card], now: datetime) -> Shelf:
    known = [entry for entry in entries if entry.id in cards]
    late = len(due(known, cards, now))
    return Shelf(topic, late, len(entries) - len(known), len(known) - late)
