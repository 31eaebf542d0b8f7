"""A turn to answer, and what a session takes its turns from."""

from dataclasses import dataclass
from typing import Protocol

from quizkit.bank.model import Question
from quizkit.tutor.verdict import Note


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A question to ask, and with which seed. Each is one of its kind, however often it is put.

    `reason` is what the session brought it forward for, None where it is simply its turn.
    """

    question: str
    seed: int
    repeat: bool = False
    reason: Note | None = None


class Turns(Protocol):
    """A source of a session's questions."""

    ahead: bool
    spared: int

    def __len__(self) -> int:
        """Count the questions still to come."""
        ...

    def next(self) -> Turn | None:
        """Return the next question, or None at the end."""
        ...

    def undo(self, turn: Turn, then: Turn | None = None) -> None:
        """Ask that one again, and after it the one that was on the screen."""
        ...

    def repeats(self, turn: Turn) -> bool:
        """Tell whether it would come back if it went wrong now."""
        ...

    def wrong(self, turn: Turn, myth: str | None) -> None:
        """Take in that a question was answered wrong."""
        ...

    def following(self, question: Question, right: bool) -> str | None:
        """Return what comes next because of this answer, if anything does."""
        ...

    def as_next(self, name: str) -> Turn:
        """Return a question with the numbers it has when it is asked next."""
        ...

    def follow(self, question: Question, right: bool) -> None:
        """Take in what was answered."""
        ...
