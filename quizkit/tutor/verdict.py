"""The result of grading: a verdict, or that there was nothing to judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from quizkit.bank.model import Text, Trap

Note = tuple[str, Mapping[str, object]]
"""A sentence to show: its key in the words and the values for its places."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement of an answer: its worth, what was expected, and which mistake it was."""

    right: bool
    score: float
    expected: Text
    myth: str | None = None
    trap: Trap | None = None
    notes: tuple[Note, ...] = ()
    number: float | None = None


class UnreadableError(ValueError):
    """Raised for what cannot be read as an answer; it is asked again, never counted wrong."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.note: Note = (f"study.{key}", values)


def as_list(given: object) -> list[object]:
    """Return what was given as a list. Raises UnreadableError if it is none."""
    if not isinstance(given, list | tuple):
        raise UnreadableError("needs_list")
    return [*cast("Sequence[object]", given)]


def as_mapping(given: object) -> Mapping[str, object]:
    """Return what was given by its named parts. Raises UnreadableError if it has none."""
    if not isinstance(given, Mapping):
        raise UnreadableError("needs_parts")
    return cast("Mapping[str, object]", given)
