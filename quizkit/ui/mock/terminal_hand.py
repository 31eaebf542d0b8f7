"""Typing at a terminal in an interview: the prompt counts down, the interviewer is a chord away."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.text import Text

from quizkit.errors import DiaryError
from quizkit.mock.desk import Aside
from quizkit.tutor.desk import Interrupted
from quizkit.ui.mock.answer_page import LEAVE, NO_ANSWER, AnswerPage
from quizkit.ui.screens.parts import note, short
from quizkit.ui.terminal.editor import edit
from quizkit.ui.terminal.keymap import SCROLLING, chords
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.typing import Typed, type_text
from quizkit.ui.terminal.view import View
from quizkit.words import say

_HAND = 3  # a part of so many is left free for the clock and a text of several lines
_ROWS_SHOWN = 3  # of the draft, while something is said beside it
_SAID = {"hint": "h", "toggle": "t", "sure": "!"}
"""The chords that say something to the interviewer by themselves."""
_BACK = "back"


class TerminalHand:
    """Typing in a terminal; the prompt counts down meanwhile."""

    lines = False
    attended = True

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._view = View(screen)
        self._keyboard = Keyboard()
        # Where the cursor was in a text that was left to say something beside it.
        self._place = Typed("")

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

    def type(self, page: AnswerPage) -> Typed | Aside:
        """Show the page and the editor below it; PgUp and PgDn move what does not fit."""
        writing = _Writing(page, self._screen, self._view, self._keyboard)
        cursor = self._place.cursor if self._place.text == page.draft else len(page.draft)
        ended = writing.run(Typed(page.draft, cursor=cursor))
        self._place = writing.typed
        return ended


class _Writing:
    """One page, from its first painting until its text is handed in or given up."""

    def __init__(self, page: AnswerPage, screen: Screen, view: View, keyboard: Keyboard) -> None:
        self.typed = Typed(page.draft)
        self._page = page
        self._screen, self._view, self._keyboard = screen, view, keyboard
        self._deadline = None if page.seconds is None else time.monotonic() + page.seconds
        self._show = page.show
        # A sentence above the foot, until the next key that does something.
        self._notice = ""
        view.open(page.name if page.name is not None else page.body)

    def run(self, typed: Typed) -> Typed | Aside:
        """Type, and do what chords ask for, until it comes to an end."""
        self.typed = typed
        while True:
            # Held from before the page shows: what is typed while the editor loads waits for it.
            with self._keyboard:
                ended = self._at_the_prompt()
            if ended is not None:
                return ended
            # The learner's own editor takes the terminal over, so it is let go of first.
            edited = edit(self.typed.text, self._deadline, self._page.keep)
            text = edited.text
            if not self._page.multiline:
                text = " ".join(text.rstrip("\n").split("\n"))
            if edited.late:
                return Typed(text, late=True)
            self.typed = Typed(text, cursor=len(text))
            self._notice = note(edited.trouble, self._page.lang) if edited.trouble else ""

    def _at_the_prompt(self) -> Typed | Aside | None:
        """Type until something ends the page, or None if the text goes to an editor."""
        page = self._page
        known = chords("interview") if page.talks else _without_talk()
        while True:
            self._paint(self._hand())
            self.typed = type_text(
                self._counting(None),
                draft=self.typed.text,
                multiline=page.multiline,
                commands=known,
                deadline=self._deadline,
                redraw=lambda: self._paint(self._hand()),
                cursor=self.typed.cursor,
                rows=(lambda: self._view.free) if page.multiline else None,
            )
            command = self.typed.command or ""
            self._notice = ""
            if self._view.scroll(command):
                continue
            if command in _SAID:
                return Aside(_SAID[command], self.typed.text)
            if command == "editor":
                return None
            if command != "ask":
                return self.typed
            if (said := self._ask()) is not None:
                return said

    def _hand(self) -> int:
        return self._screen.height // _HAND if self._page.multiline else 2

    def _ask(self) -> Typed | Aside | None:
        """Let something be said beside the text, which stays; None if nothing was."""
        draft, said = self.typed, Typed("")
        back = {chord: _BACK for chord, name in chords("interview").items() if name == "ask"}
        while True:
            self._paint(3, beside=draft)
            try:
                said = type_text(
                    self._counting(draft.text),
                    draft=said.text,
                    commands=_scrolling() | back | {"escape": _BACK},
                    deadline=self._deadline,
                    redraw=lambda: self._paint(3, beside=draft),
                    cursor=said.cursor,
                )
            except Interrupted:  # at this prompt it ends what is said alone
                return None
            if said.late:
                return Typed(draft.text, late=True)
            if self._view.scroll(said.command or ""):
                continue
            if said.command is not None or not said.text.strip():
                return None
            return Aside(said.text, draft.text)

    def _paint(self, rows: int, beside: Typed | None = None) -> None:
        """Show the page; where something is said beside the text, the text above the prompt."""
        page = self._page
        said = [Text(self._notice, "bold", overflow="fold")] if self._notice else [*page.said]
        if beside is not None:
            drawn = [*self._draft(beside), Text(say("mock.beside", page.lang), "dim")]
            foot = [Text(""), *said, *drawn]
        else:
            foot = [*page.foot, *said]
            # What is said comes before how to say something.
            if said and len(self._screen.lines(*foot)) > self._screen.height // 2:
                foot = [Text(""), *said]
        self._view.paint(page.body, foot, page.lang, typing=rows, show=self._show)
        self._show = ""

    def _draft(self, draft: Typed) -> list[RenderableType]:
        """The last rows of the text up to where the cursor was."""
        rows = (draft.text[: draft.cursor] + "|" + draft.text[draft.cursor :]).split("\n")
        at = draft.text[: draft.cursor].count("\n")
        shown = rows[max(0, at + 1 - _ROWS_SHOWN) : at + 1]
        return [short(Text(f"> {row}"), self._screen.width) for row in shown]

    def _counting(self, draft: str | None) -> Callable[[], str | list[tuple[str, str]]]:
        """The prompt, which also keeps what is typed; `draft` where that is said beside it."""
        page = self._page

        def prompt() -> str | list[tuple[str, str]]:
            if page.keep:
                _keep(page.keep, draft)
            shown = page.prompt()
            if draft is None:
                return shown
            pieces = [("", shown)] if isinstance(shown, str) else shown
            clock = [(style, text) for style, text in pieces if text != "\n> "]
            return [*clock, ("", "\n" + say("mock.to_interviewer", page.lang) + "> ")]

        return prompt


def _scrolling() -> dict[str, str]:
    return {chord: name for chord, name in chords("interview").items() if name in SCROLLING}


def _without_talk() -> dict[str, str]:
    """The chords of a page on which no question is open."""
    ends = {chord: n for chord, n in chords("interview").items() if n in (LEAVE, NO_ANSWER)}
    return _scrolling() | ends


def _keep(keep: Callable[[str], None], text: str | None) -> None:
    """Hand on what is typed; a diary that fails ends the typing, not just a redraw."""
    from prompt_toolkit.application import get_app

    app = get_app()
    try:
        keep(app.current_buffer.text if text is None else text)
    except DiaryError as error:
        if app.future is not None and not app.future.done():
            app.exit(exception=error)
