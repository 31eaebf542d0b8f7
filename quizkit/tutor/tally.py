"""Sums over the bank by topic, level, kind or whatever else an entry says."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from quizkit.answer import Answer, Card
from quizkit.bank.entry import Entry
from quizkit.tutor.recall import recall

Place = TypeVar("Place")


@dataclass(slots=True)
class Tally:
    """Counts of questions: all, met, expected to be remembered; of answers: given, and right."""

    questions: int = 0
    met: int = 0
    remembered: float = 0.0
    answered: int = 0
    right: int = 0


def tallies(
    entries: Iterable[Entry],
    cards: Mapping[str, Card],
    answers: Iterable[Answer],
    then: datetime,
    by: Callable[[Entry], Place],
) -> dict[Place, Tally]:
    """Add up one sum for each place that `by` names. The answers are to these entries; `then` is
    the moment for which remembering is reckoned.
    """
    found: dict[Place, Tally] = {}
    places: dict[str, Tally] = {}
    for each in entries:
        tally = places[each.id] = found.setdefault(by(each), Tally())
        tally.questions += 1
        if card := cards.get(each.id):
            tally.met += 1
            tally.remembered += recall(card, then)
    for row in answers:
        tally = places[row.question]
        tally.answered += 1
        tally.right += bool(row.right)
    return found


def total(tallies: Iterable[Tally | None]) -> Tally | None:
    """Add them all up; None where there is none."""
    found = [each for each in tallies if each]
    if not found:
        return None
    return Tally(
        questions=sum(each.questions for each in found),
        met=sum(each.met for each in found),
        remembered=sum(each.remembered for each in found),
        answered=sum(each.answered for each in found),
        right=sum(each.right for each in found),
    )
