"""Count the parts of a key that a run decides: `proved` alone means that it decides all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quizkit.bank.model import Bug, Choice, Essay, Option, Question, RubricPoint
from quizkit.proof.reading.sayings import told_whole


@dataclass(frozen=True, slots=True)
class Parts:
    """The number of options, points or reasons that are proved, of so many that there are.

    `in_part` are those that say more than their claim: a run decides one thing that they say.
    """

    kind: Literal["options", "points", "reasons"]
    proved: int
    of: int
    in_part: int = 0

    @property
    def whole(self) -> bool:
        """Tell whether none is left to be believed."""
        return self.proved == self.of


def parts(question: Question) -> Parts | None:
    """Count the parts of a question's key; numbers, gaps and steps need a claim each anyway."""
    match question:
        case Choice(options=options):
            # Right ones say one thing for each part of their claim, or they fail.
            return Parts("options", len(_claimed(options)), len(options))
        case Essay(rubric=points):
            return _counted("points", question, points)
        case Bug(reasons=points):
            return _counted("reasons", question, points)
        case _:
            return None


def _counted(
    kind: Literal["points", "reasons"], question: Question, each: Sequence[RubricPoint]
) -> Parts:
    claimed = _claimed(each)
    whole = sum(told_whole(question, part) for part in claimed)
    return Parts(kind, whole, len(each), len(claimed) - whole)


def _claimed(each: Sequence[Option | RubricPoint]) -> Sequence[Option | RubricPoint]:
    return [part for part in each if part.claim]
