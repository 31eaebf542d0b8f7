"""What the diary holds, as nouns: an answer as it was given, and what is remembered after it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from quizkit.words import Lang

Mode = Literal["study", "mock"]

UNDO = "undo"
FLAG = "flag"
RIGHT = "i-was-right"
GRADE = "grade"
MYTH = "myth"
FORGET = "forget"


_NEVER = datetime.min.replace(tzinfo=UTC)

PLACEMENT = "placement"
"""The event that marks a session which looked for the learner's level: no part of a day's share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One row. `right` is None where nothing was judged: an undo, a flag, an open mock answer.

    `undoes` names a row that no longer counts; a row that corrects a verdict or a grade undoes the
    first one and stands in its place. `note` begins with the word that says which it is; a line
    `myth: SLUG` of it names the misconception that a wrong answer showed. A row with the note
    `forget` has a topic for its question: what was answered of that up to then does not count.
    """

    uuid: str
    device: str
    at: datetime
    session: str
    question: str
    mode: Mode = "study"
    lang: Lang
    seed: int
    given: object = None
    score: float | None = None
    right: bool | None = None
    grade: int | None = None
    hints: int = 0
    seconds: float = 0.0
    sure: bool | None = None
    undoes: str | None = None
    bank_hash: str = ""
    note: str = ""

    @property
    def myth(self) -> str | None:
        """The misconception that a wrong answer showed."""
        found = (line.partition(f"{MYTH}: ")[2] for line in self.note.splitlines())
        return next(filter(None, found), None) if self.right is False else None


@dataclass(frozen=True, slots=True)
class Card:
    """What is remembered of a question, as of the last answer that counts."""

    question: str
    stability: float
    difficulty: float
    due: datetime
    last: datetime
    reps: int
    lapses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """Something that happened beside the answers: an interview that began, paused, ended."""

    device: str
    at: datetime
    session: str
    name: str
    note: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Review:
    """As much of an answer that counts as memory needs."""

    question: str
    at: datetime
    grade: int


def counted(answers: Iterable[Answer]) -> list[Answer]:
    """The answers that count: judged, not taken back, and of no topic that was forgotten since."""
    rows = list(answers)
    undone = {row.undoes for row in rows}
    until = {topic: row.at for topic, row in forgotten(rows).items()}
    return [
        row
        for row in rows
        if row.right is not None
        and row.uuid not in undone
        and not (until and row.at <= until.get(row.question.partition("/")[0], _NEVER))
    ]


def forgotten(answers: Iterable[Answer]) -> dict[str, Answer]:
    """The rows by which topics were forgotten, the last one of each."""
    rows = list(answers)
    undone = {row.undoes for row in rows}
    said = (row for row in rows if row.note == FORGET and row.uuid not in undone)
    return {row.question: row for row in sorted(said, key=lambda row: row.at)}


def flagged(answers: Iterable[Answer]) -> list[Answer]:
    """The rows by which the learner says that something is wrong with a question."""
    rows = list(answers)
    undone = {row.undoes for row in rows}
    said = (row for row in rows if row.uuid not in undone)
    return [row for row in said if _word(row) in (FLAG, RIGHT)]


def _word(row: Answer) -> str:
    return row.note.split("\n")[0].split(":")[0]
