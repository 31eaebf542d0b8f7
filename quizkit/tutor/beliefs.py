"""Find what the learner still believes: myths shown in an answer and not laid to rest since."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from quizkit.answer import Answer
from quizkit.bank.entry import Entry


@dataclass(frozen=True, slots=True)
class Belief:
    """A myth still held: how often it showed, when last, where, and which questions catch it."""

    myth: str
    times: int
    last: datetime
    shown: tuple[str, ...]
    """The questions it was seen in, the last one first."""
    caught: tuple[str, ...]
    """The other questions that catch it."""


def beliefs(entries: Iterable[Entry], answers: Iterable[Answer]) -> list[Belief]:
    """List myths still held, the most often shown first. Takes the answers that count, as given.

    A right answer to any question that catches a myth clears it. A wrong one that shows something
    else says nothing either way. A myth that no question catches any more was the bank's mistake.
    """
    catches = {each.id: each.myths.split() for each in entries if each.myths}
    held: dict[str, list[Answer]] = {}
    for row in answers:
        if row.right:
            for myth in catches.get(row.question, ()):
                held.pop(myth, None)
        elif myth := row.myth:
            held.setdefault(myth, []).append(row)
    found: list[Belief] = []
    for myth, rows in held.items():
        shown = tuple(dict.fromkeys(row.question for row in reversed(rows)))
        where = [name for name, myths in catches.items() if myth in myths]
        if where:
            others = tuple(name for name in where if name not in shown)
            found.append(Belief(myth, len(rows), rows[-1].at, shown, others))
    return sorted(found, key=lambda each: (-each.times, each.myth))
