"""What reviews showed to be remembered, beside what the memory model had expected."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from quizkit.answer import Answer, Card, Review
from quizkit.tutor.memory import AGAIN, reviewed
from quizkit.tutor.recall import recall

RECENT = timedelta(days=30)


@dataclass(slots=True)
class Retention:
    """So many reviews, so many right, so many remembered, and so many expected to be.

    What is nearly right counts as remembered, for memory goes by the grade.
    """

    reviews: int = 0
    right: int = 0
    recalled: int = 0
    predicted: float = 0.0

    def add(self, row: Answer, chance: float) -> None:
        """Count one more review, and the chance it was given."""
        self.reviews += 1
        self.right += bool(row.right)
        self.recalled += row.grade != AGAIN
        self.predicted += chance


def retention(
    answers: Iterable[Answer], now: datetime, zone: tzinfo | None = None
) -> tuple[Retention, Retention]:
    """All reviews, and those of the last 30 days. Takes the answers that count, as they came.

    A review is the first answer of a day to a question met on an earlier one: what was asked an
    hour ago says nothing of memory. An interview's answers are none, but they move the memory.
    """
    cards: dict[str, Card] = {}
    days: dict[str, date] = {}
    every, recent = Retention(), Retention()
    for row in answers:
        if row.grade is None:
            continue
        card, day = cards.get(row.question), row.at.astimezone(zone).date()
        if card and row.mode == "study" and day > days[row.question]:
            chance = recall(card, row.at)
            every.add(row, chance)
            if row.at > now - RECENT:
                recent.add(row, chance)
        cards[row.question] = reviewed(card, Review(row.question, row.at, row.grade))
        days[row.question] = max(day, days.get(row.question, day))
    return every, recent
