"""A page to answer on, and whoever lets somebody type there."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from rich.console import RenderableType

from quizkit.mock.desk import Aside
from quizkit.ui.terminal.typing import Prompt, Typed
from quizkit.words import Lang

NO_ANSWER, LEAVE, END = "skip", "quit", "end"
"""The commands that end the typing without a text to hand in: no answer, going, end of input."""


def _plain() -> str:
    return "> "


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """A page, the text so far, for how many seconds there is to type, and who keeps it.

    A screen shows `body` above `foot`, begins at the anchor `show`, and knows the page again by its
    `name`; `said` is what was just said, always in sight. Lines get `told`, which is no more than
    what is new, and `help` where it is asked for.
    `talks`: there is an interviewer to talk to. `offers`: the draft is shown and may be handed in
    as it is.
    """

    lang: Lang
    body: Sequence[RenderableType]
    foot: Sequence[RenderableType] = ()
    told: Sequence[RenderableType] = ()
    help: Sequence[RenderableType] = ()
    said: Sequence[RenderableType] = ()
    name: object = None
    show: str = ""
    prompt: Prompt = _plain
    draft: str = ""
    multiline: bool = False
    seconds: float | None = None
    keep: Callable[[str], None] | None = None
    talks: bool = False
    offers: bool = True


class Writer(Protocol):
    """A source of typed text: fingers under a running clock, or lines that come from anywhere."""

    lines: bool
    attended: bool
    """True if somebody is there to press Enter."""

    def type(self, page: AnswerPage) -> Typed | Aside:
        """Show the page, then let the learner type, for as long as the page is there."""
        ...

    def tell(self, *parts: RenderableType) -> None:
        """Show something where nothing is asked."""
        ...

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Show that something takes its time."""
        ...
