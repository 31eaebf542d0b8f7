"""What is due, what is new and when to come back, over a whole bank."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from quizkit.answer import Card
from quizkit.bank.model import Question
from quizkit.tutor.queue import due


@dataclass(frozen=True, slots=True)
class Shelf:
    """How one topic stands."""

    topic: str
    due: int
    new: int
    known: int


@dataclass(frozen=True, slots=True)
class Agenda:
    """Questions that are due, the longest overdue first, and each topic's counts."""

    now: datetime
    due: tuple[tuple[Question, datetime], ...]
    shelves: tuple[Shelf, ...]
    next_due: datetime | None

    @property
    def new(self) -> int:
        """How many were never asked."""
        return sum(shelf.new for shelf in self.shelves)


def agenda(questions: Iterable[Question], cards: Mapping[str, Card], now: datetime) -> Agenda:
    """How things stand now."""
    every = list(questions)
    late = due(every, cards, now)
    topics: dict[str, list[Question]] = {}
    for question in every:
        topics.setdefault(question.topic, []).append(question)
    dates = [cards[question.id].due for question in every if question.id in cards]
    return Agenda(
        now,
        tuple((question, cards[question.id].due) for question in late),
        tuple(_shelf(name, topics[name], cards, now) for name in sorted(topics)),
        min((date for date in dates if date > now), default=None),
    )


def _shelf(
    topic: str, questions: list[Question], cards: Mapping[str, Card], now: datetime
) -> Shelf:
    known = [question for question in questions if question.id in cards]
    late = len(due(known, cards, now))
    return Shelf(topic, late, len(questions) - len(known), len(known) - late)
