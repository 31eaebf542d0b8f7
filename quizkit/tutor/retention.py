"""Compare what reviews showed to be remembered with what the memory model had expected."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from quizkit.answer import Answer
from quizkit.tutor.plan_memory import AGAIN, Fsrs, MemoryTrace

RECENT = timedelta(days=30)

_DAY = timedelta(days=1)


@dataclass(slots=True)
class Retention:
    """Counts of reviews: all, right, remembered, and expected to be remembered.

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
    """Count all reviews, and those of the last 30 days. Takes the answers that count, as they were
    given.

    A review is the first answer of a day to a question met on an earlier one: what was asked an
    hour ago says nothing of memory. An interview's answers are none, but they move the memory.
    """
    model, held = Fsrs(), dict[str, tuple[MemoryTrace, datetime, date]]()
    every, recent = Retention(), Retention()
    for row in answers:
        if row.grade is None:
            continue
        at, day = row.at, row.at.astimezone(zone).date()
        if row.question not in held:
            held[row.question] = model.first(row.grade), at, day
            continue
        trace, last, before = held[row.question]
        if row.mode == "study" and day > before:
            chance = model.recall(trace.stability, (at - last) / _DAY)
            every.add(row, chance)
            if at > now - RECENT:
                recent.add(row, chance)
        # The scheduler counts whole days here.
        held[row.question] = model.after(trace, (at - last).days, row.grade), at, day
    return every, recent
