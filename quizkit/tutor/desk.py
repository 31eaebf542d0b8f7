"""The interface of whoever shows and asks in a session: a terminal, lines, JSON, a script."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from quizkit.answer import Answer
from quizkit.bank.model import Question, Text
from quizkit.tutor.asked import Asked
from quizkit.tutor.tally import Tally
from quizkit.tutor.verdict import Note, Verdict
from quizkit.words import Lang

if TYPE_CHECKING:  # the first question does not wait for the prover
    from quizkit.lab.report import Report
    from quizkit.proof.view import ProofView

Phase = Literal["question", "verdict"]
CommandName = Literal[
    "hint", "prove", "why", "toggle", "flag", "undo", "skip", "sure", "help",
    "assume", "quit", "continue", "say", "grade", "right", "full",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Given:
    """An answer, in the shape `grade` documents for the question's kind.

    `seconds` is None where the session's clock should be believed; `sure` is None where the learner
    did not say (or said so by the command).
    """

    value: object
    seconds: float | None = None
    sure: bool | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A thing the learner wants instead of answering.

    `value` is the grade (1-4) of `grade`, the words of `flag`; `draft` is whatever the desk wants
    back in `Moment.draft` when it is asked again, `unsent` the text in it that nobody has read.
    """

    name: CommandName
    value: object = None
    draft: object = None
    unsent: str = ""


class Interrupted(KeyboardInterrupt):
    """Raised for Ctrl-C while something was being typed; carries the text."""

    def __init__(self, unsent: str) -> None:
        super().__init__()
        self.unsent = unsent


@dataclass(frozen=True, slots=True)
class Moment:
    """Everything there is to show now. In phase "verdict" the answer is already on disk.

    `unfolded`: the topic's usual conditions are told too; `full`: all of the proof; `lowered` says
    what made the grade low where it was not the answer alone, `names` in words what each myth is,
    `before` is the learner's last answer to this question, `answer_in` the language to answer in
    where it is not the one of the question.
    """

    phase: Phase
    asked: Asked
    lang: Lang
    number: int
    total: int | None = None
    hints_shown: int = 0
    unfolded: bool = False
    sure: bool | None = None
    draft: object = None
    given: object = None
    uuid: str = ""
    verdict: Verdict | None = None
    grade: int | None = None
    lowered: tuple[Note, ...] = ()
    due: datetime | None = None
    why: bool = False
    say: bool = False
    flagged: bool = False
    proof: "ProofView | None" = None
    full: bool = False
    followup: Asked | None = None
    message: Note | None = None
    names: Mapping[str, Text] = field(default_factory=dict[str, Text])
    before: Answer | None = None
    why_now: Note | None = None
    answer_in: Lang | None = None

    @property
    def question(self) -> Question:
        """The question that was asked."""
        return self.asked.question


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a session; undone answers are not in it.

    `wrong` are the askings that went wrong, each question once, `mistaken` those of them of which
    the learner was sure; `stopped`: the learner left before all was asked; `strength` is how the
    topics that were met stand now, as far as the session's questions go; `spared` is how many
    questions a day's limit left for another day.
    """

    answered: int
    right: int
    skipped: int
    seconds: float
    wrong: tuple[Asked, ...]
    myths: Mapping[str, int]
    due_now: int
    next_due: datetime | None
    lang: Lang
    names: Mapping[str, Text] = field(default_factory=dict[str, Text])
    spared: int = 0
    stopped: bool = False
    mistaken: tuple[Asked, ...] = ()
    strength: Mapping[str, Tally] = field(default_factory=dict[str, Tally])


@dataclass(frozen=True, slots=True)
class Page:
    """Something to read before a question.

    `skips`: it offers something that can be left out. One of `total` pages has a `number`, and
    `back` where another comes before it. `picture` is a kept run, of which `schedule` is shown.
    `news` are said below.
    """

    title: Text
    text: Text
    lang: Lang
    skips: bool = False
    back: bool = False
    number: int = 0
    total: int = 0
    picture: "Report | None" = None
    schedule: str = ""
    news: Text | None = None


class Desk(Protocol):
    """The learner's seat. It shows moments and brings back answers; it decides nothing.

    `interactive`: somebody is there who can say no to what a page offers.
    """

    interactive: bool

    def meet(self, moment: Moment) -> Given | Command:
        """Show the moment and wait. No more input is Command("quit"). Raises Interrupted."""
        ...

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Hold this while a run goes on; an interrupt inside ends the run, not the session."""
        ...

    def read(self, page: Page) -> Command:
        """Show the page; "continue", "skip", "toggle", "undo" (the page before) or "quit".

        No more input is "continue".
        """
        ...

    def end(self, summary: Summary) -> None:
        """Show the summary: the session is over."""
        ...
