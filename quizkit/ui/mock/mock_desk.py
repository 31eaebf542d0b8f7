"""The desk of an interview: at a terminal with the clock in the prompt, or line by line."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.model import Bug, Essay
from quizkit.bank.script import WrittenTask
from quizkit.errors import DiaryError
from quizkit.mock.desk import Handed, Left, Opening, OpenQuestion, RubricSheet, Stop, Ticks
from quizkit.mock.judge import rubric
from quizkit.ui.lines.lines import Lines
from quizkit.ui.mock.mock_screen import (
    clock_line,
    judge_screen,
    mock_question_screen,
    opening_screen,
)
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.typing import Typed, type_text
from quizkit.ui.terminal.view import View
from quizkit.words import Lang, say

_CHORDS = {"c-s": "skip", "c-q": "quit", "pageup": "page_up", "pagedown": "page_down"}
_HAND = 5  # lines left free for the clock and a text of several
_LINE_COMMANDS = {":s": "skip", ":skip": "skip", ":q": "quit", ":quit": "quit"}
NO_ANSWER, LEAVE, END = "skip", "quit", "end"


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """A page to answer on: the text so far, for how many seconds, and who keeps it."""

    draft: str = ""
    multiline: bool = False
    seconds: float | None = None
    keep: Callable[[str], None] | None = None
    lang: Lang = "en"


_BLANK = AnswerPage()


class Writer(Protocol):
    """A source of typed text: fingers under a running clock, or lines that come from anywhere."""

    lines: bool
    attended: bool
    """True if somebody is there to press Enter."""

    def type(
        self, parts: Sequence[RenderableType], prompt: Callable[[], str], page: AnswerPage = _BLANK
    ) -> Typed:
        """Show the parts, then let the learner type, for as long as the page is there."""
        ...

    def tell(self, *parts: RenderableType) -> None:
        """Show something where nothing is asked."""
        ...

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Show that something takes its time."""
        ...


class TerminalHand:
    """Typing in a terminal; the prompt counts down meanwhile."""

    lines = False
    attended = True

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._view = View(screen)
        self._keyboard = Keyboard()

    def tell(self, *parts: RenderableType) -> None:
        """Show nothing: the next screen, painted over this at once, will say it."""

    @contextmanager
    def busy(self, text: str) -> Generator[None]:
        """Show a line below the screen; keys are swallowed, but for Ctrl-C."""
        with self._keyboard:
            try:
                with self._screen.spin(Text(text)):
                    yield
            finally:
                self._keyboard.flush()

    def type(
        self, parts: Sequence[RenderableType], prompt: Callable[[], str], page: AnswerPage = _BLANK
    ) -> Typed:
        """Show a fresh screen and the editor below it; PgUp and PgDn move what does not fit."""
        self._view.open(parts)

        def redraw() -> None:
            self._view.paint(parts, [], page.lang, typing=_HAND if page.multiline else 2)

        def counting() -> str:
            if page.keep:
                _keep(page.keep)
            return prompt()

        deadline = None if page.seconds is None else time.monotonic() + page.seconds
        # Held from before the question shows: what is typed while the editor loads waits for it.
        with self._keyboard:
            typed = Typed(page.draft, cursor=len(page.draft))
            while True:
                redraw()
                typed = type_text(
                    counting,
                    draft=typed.text,
                    multiline=page.multiline,
                    commands=_CHORDS,
                    deadline=deadline,
                    redraw=redraw,
                    cursor=typed.cursor,
                    rows=(lambda: self._view.free) if page.multiline else None,
                )
                if typed.command is None or not self._view.scroll(typed.command):
                    return typed


def _keep(keep: Callable[[str], None]) -> None:
    """Hand on what is in the editor; a diary that fails ends the typing, not just a redraw."""
    from prompt_toolkit.application import get_app

    app = get_app()
    try:
        keep(app.current_buffer.text)
    except DiaryError as error:
        if app.future is not None and not app.future.done():
            app.exit(exception=error)


class LineHand:
    """Lines from a pipe, a file, or a terminal without redrawing."""

    lines = True

    def __init__(self, lines: Lines, attended: bool) -> None:
        self._lines = lines
        self.attended = attended

    def tell(self, *parts: RenderableType) -> None:
        """Write the parts below what is there."""
        self._lines.show(*parts)

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Tell the text once."""
        self._lines.tell(text)
        return nullcontext()

    def type(
        self, parts: Sequence[RenderableType], prompt: Callable[[], str], page: AnswerPage = _BLANK
    ) -> Typed:
        """Read a line, or with `multiline` all up to an empty one; the end of input leaves."""
        self._lines.show(*parts, Text(prompt() + (page.draft if page.multiline else "")))
        text = f"{page.draft}\n" if page.draft and page.multiline else ""
        while True:
            line = self._lines.read()
            if line is None:
                return Typed(text.strip(), None if text.strip() else END)
            command = _LINE_COMMANDS.get(line.strip().casefold())
            if command:
                return Typed(text.strip(), command)
            if not page.multiline:
                return Typed(line.strip())
            if not line.strip():
                return Typed(text.strip())
            text += f"{line}\n"
            if page.keep:
                page.keep(text)


class MockDesk:
    """The one desk of the interview, for either hand."""

    def __init__(self, hand: Writer, plain: bool) -> None:
        self._hand = hand
        self._plain = plain
        self._notice: list[RenderableType] = []

    @property
    def interactive(self) -> bool:
        """Tell whether somebody is there who can hand an answer in once more."""
        return self._hand.attended

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Held while another program has the diary locked."""
        return self._hand.busy(text)

    def open(self, opening: Opening) -> bool:
        """Say the opening, and wait for Enter where somebody is there to press it."""
        lang = opening.lang
        screen = opening_screen(opening, self._plain)
        if not self._hand.attended:
            self._hand.tell(screen, Text(say("mock.start_lines", lang)), Text(""))
            return True
        ready = Text(say("mock.start", lang), "bold")
        typed = self._hand.type([screen, Text(""), ready], lambda: "> ", AnswerPage(lang=lang))
        return typed.command is None and typed.text.strip().casefold() not in ("q", "ｑ")

    def meet(self, moment: OpenQuestion) -> Handed | Left:
        """Put the question, the clock in the prompt."""
        screen = mock_question_screen(moment, self._plain, self._hand.lines)
        question = moment.asked.question
        multiline = isinstance(question, Essay | Bug) or (
            isinstance(question, WrittenTask) and question.write.schedule is not None
        )
        # A text of several lines starts below the clock, where it has the whole width.
        end = "\n> " if multiline else ""
        typed = self._hand.type(
            [screen, Text("")],
            lambda: clock_line(moment.timer, moment.target, moment.lang) + end,
            AnswerPage(moment.draft, multiline, moment.timer.left(), moment.keep, moment.lang),
        )
        if typed.command in (LEAVE, END):
            return Left(typed.text)
        return Handed(typed.text, late=typed.late, passed=typed.command == NO_ANSWER)

    def stopped(self, why: Stop, lang: Lang) -> None:
        """Say that the clock has stopped, now and above what comes next."""
        self._notice = [Text(say(f"mock.stopped_{why}", lang), "bold", overflow="fold"), Text("")]
        self._hand.tell(Text(""), *self._notice)

    def tick(self, sheet: RubricSheet) -> Ticks | Left:
        """Ask for the numbers of what was said, until they can be read."""
        question, lang = sheet.asked.question, sheet.lang
        split = len(rubric(question))
        last = split + len(question.vetoes if isinstance(question, Essay) else ())
        before = [*sheet.points, *(split + veto for veto in sheet.vetoes)]
        listed = " ".join(str(number + 1) for number in before)
        wanted = say("mock.judge_line", lang, ticked=listed or say("mock.judge_none", lang))
        said: list[RenderableType] = []
        while True:
            screen = [judge_screen(sheet, self._plain), Text(""), *said, Text(wanted, "dim")]
            if not self._hand.lines:
                screen = [*self._notice, *screen]
            typed = self._hand.type(screen, lambda: "> ", AnswerPage(lang=lang))
            if typed.command == LEAVE:
                return Left()
            # Where the input has ended nobody will ever judge: the keywords stand, and say so.
            ended = typed.command == END
            numbers = before if ended or not typed.text.strip() else _numbers(typed.text, last)
            if numbers is not None:
                points = tuple(number for number in numbers if number < split)
                vetoes = tuple(number - split for number in numbers if number >= split)
                return Ticks(points, vetoes, confirmed=not ended)
            said = [Text(say("mock.judge_misread", lang, last=last), "bold")]


def _numbers(text: str, last: int) -> list[int] | None:
    """Numbers from 1 to `last` as indexes, none for 0; None if it is not that."""
    import re
    import unicodedata

    words = re.split(r"[\s,.、，]+", unicodedata.normalize("NFKC", text).strip(" ,.、，"))
    if not all(word.isdecimal() and int(word) <= last for word in words):
        return None
    numbers = sorted({int(word) for word in words})
    if numbers == [0]:
        return []
    return None if 0 in numbers else [number - 1 for number in numbers]
