"""Compare how sure the learner was with what was right."""

from collections.abc import Iterable
from dataclasses import dataclass

from quizkit.answer import Answer


@dataclass(frozen=True, slots=True)
class Calibration:
    """Answers by how sure the learner was and how it went; `unsaid`: was not asked how sure."""

    sure_wrong: int
    sure_right: int
    unsure_right: int
    unsure_wrong: int
    unsaid: int
    mistaken: tuple[str, ...]
    """Questions answered wrongly while sure, and not rightly since; the last one first."""


def calibration(answers: Iterable[Answer]) -> Calibration:
    """Count how sure the learner was and how it went. Takes the answers that count, as given."""
    counts: dict[tuple[bool | None, bool], int] = {}
    mistaken: dict[str, None] = {}
    for row in answers:
        right = bool(row.right)
        counts[row.sure, right] = counts.get((row.sure, right), 0) + 1
        if right:
            mistaken.pop(row.question, None)
        elif row.sure:
            mistaken.pop(row.question, None)
            mistaken[row.question] = None
    return Calibration(
        sure_wrong=counts.get((True, False), 0),
        sure_right=counts.get((True, True), 0),
        unsure_right=counts.get((False, True), 0),
        unsure_wrong=counts.get((False, False), 0),
        unsaid=counts.get((None, True), 0) + counts.get((None, False), 0),
        mistaken=tuple(reversed(mistaken)),
    )
