"""What can go wrong for a user. A message says where, what, and what to do next.

QuizkitError
 +- UsageError    2    an option, topic, demo or script that does not exist
 +- LabError      3    the environment lacks something (torch, a GPU)
 +- BankError     4    questions that cannot be read
 +- DiaryError    4    the learner's files cannot be read or written
"""

from typing import ClassVar

from quizkit.words import Lang, say


class QuizkitError(Exception):
    """A failure the user can act on; the text lives in `words/errors.py` under `key`."""

    exit_code: ClassVar[int] = 1

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.key = key
        self.values = values

    def message(self, lang: Lang) -> str:
        """The sentence for the user."""
        return say(f"errors.{self.key}", lang, **self.values)

    def __str__(self) -> str:
        return self.message("en")


class UsageError(QuizkitError):
    """Something was named that does not exist, or does not go together."""

    exit_code = 2


class LabError(QuizkitError):
    """A run cannot be started here."""

    exit_code = 3


class BankError(QuizkitError):
    """Questions cannot be read."""

    exit_code = 4


class DiaryError(QuizkitError):
    """The learner's files cannot be read or written."""

    exit_code = 4
