"""Count the parts of a key that a run decides: `proved` alone means that it decides all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quizkit.bank.model import Bug, Choice, Essay, Option, Question, RubricPoint


@dataclass(frozen=True, slots=True)
class Parts:
    """The number of options, points or reasons that carry a claim, of so many that there are."""

    kind: Literal["options", "points", "reasons"]
    proved: int
    of: int

    @property
    def whole(self) -> bool:
        """Tell whether none is left to be believed."""
        return self.proved == self.of


def parts(question: Question) -> Parts | None:
    """Count the parts of a question's key; numbers, gaps and steps need a claim each anyway."""
    match question:
        case Choice(options=options):
            return _counted("options", options)
        case Essay(rubric=points):
            return _counted("points", points)
        case Bug(reasons=points):
            return _counted("reasons", points)
        case _:
            return None


def _counted(
    kind: Literal["options", "points", "reasons"], each: Sequence[Option | RubricPoint]
) -> Parts:
    return Parts(kind, sum(part.claim is not None for part in each), len(each))
