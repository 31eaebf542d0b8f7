"""What an answer is worth, for every kind of question. Pure: nothing is read, run or shown.

What is given, by kind (all of it can be JSON):

    choice   [index, ...] into question.options
    numeric  the text as typed
    order    [step id, ...]
    cloze    {gap: text}
    trace    the text as typed
    bug      {"line": counted from 1 in the excerpt, "reasons": [index ticked, ...]}
    essay    {"text": words, "points": [index ticked, ...], "vetoes": [index ticked, ...]}
"""

from collections.abc import Mapping
from dataclasses import dataclass

from quizkit.bank.model import Text, Trap

Note = tuple[str, Mapping[str, object]]
"""A sentence to show: its key in the words and the values for its places."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer is worth, what was expected, and which mistake it was."""

    right: bool
    score: float
    expected: Text
    myth: str | None = None
    trap: Trap | None = None
    notes: tuple[Note, ...] = ()
    number: float | None = None


class UnreadableError(ValueError):
    """What was typed cannot be read as an answer; it is asked again, never counted as wrong."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.note: Note = (key, values)
