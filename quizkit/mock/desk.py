"""The interface of whoever shows and asks in an interview: a terminal, lines, a test's script."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from quizkit.bank.model import Exhibit
from quizkit.bank.script import Look, Script
from quizkit.mock.timer import Timer
from quizkit.tutor.asked import Asked
from quizkit.tutor.verdict import Note
from quizkit.words import Lang

Stop = Literal["asked", "time"]
"""The reason that the clock has stopped: everything was asked, or it ran out."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The script, the language and the times that are told before the clock starts."""

    script: Script
    lang: Lang
    minutes: float
    pause_minutes: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Evidence to look at, the seconds that takes, and what is there once it has been seen."""

    look: Look
    seconds: float = 0.0
    exhibit: Exhibit | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """Everything said beside the answers so far, in the language that is spoken now.

    `hints` are those given at this question, `more_hints` how many there still are; `told` are the
    facts that were asked for and hold here, what each is about and what it says; `notes` are the
    candidate's own. `sure`: so the candidate says of the answer that is being written.
    """

    hints: tuple[str, ...] = ()
    more_hints: int = 0
    looks: tuple[Seen, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    asks: bool = False
    sure: bool = False


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that is open, and the clock that runs on meanwhile.

    `keep` takes what is typed so far, as often as the desk likes; it is what a kill leaves behind.
    """

    asked: Asked
    lang: Lang
    number: int
    total: int
    probe: bool
    lead: str
    target: float
    timer: Timer
    keep: Callable[[str], None]
    draft: str = ""
    message: Note | None = None
    talk: Talk = Talk()


@dataclass(frozen=True, slots=True)
class Handed:
    """A text as handed in. `late`: the clock took it; `passed`: the learner has no answer."""

    text: str
    late: bool = False
    passed: bool = False


@dataclass(frozen=True, slots=True)
class Aside:
    """Something said to the interviewer beside the answer (see `aside`), and the draft so far."""

    text: str
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """The learner goes; what was being typed is kept."""

    draft: str = ""


@dataclass(frozen=True, slots=True)
class RubricSheet:
    """A free text to be held against its points, with what its keywords tick beforehand."""

    asked: Asked
    lang: Lang
    number: int
    total: int
    text: str
    points: tuple[int, ...]
    vetoes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ticks:
    """The points and vetoes the learner ticked; not `confirmed` where nobody was there to judge."""

    points: tuple[int, ...]
    vetoes: tuple[int, ...]
    confirmed: bool = True


class InterviewDesk(Protocol):
    """The candidate's seat. It decides nothing."""

    @property
    def interactive(self) -> bool:
        """Tell whether somebody is there who can hand an answer in once more."""
        ...

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Hold this while something else has to end first, and say what."""
        ...

    def open(self, opening: Opening) -> bool:
        """Say the opening; True once the clock may start."""
        ...

    def meet(self, moment: OpenQuestion) -> Handed | Left | Aside:
        """Put the question and wait, no longer than `moment.timer` has left."""
        ...

    def stopped(self, why: Stop, lang: Lang) -> None:
        """Say that the clock has stopped."""
        ...

    def tick(self, sheet: RubricSheet) -> Ticks | Left:
        """Let the learner judge a free text."""
        ...
