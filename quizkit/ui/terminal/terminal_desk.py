"""The desk that is a terminal: a painted screen, single keys, and an editor where text is typed."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from quizkit.bank.model import Essay
from quizkit.tutor.desk import Command, Given, Interrupted, Moment, Page, Summary
from quizkit.ui.lines.line_desk import LineDesk
from quizkit.ui.screens.page import read_page
from quizkit.ui.screens.parts import section
from quizkit.ui.screens.summary_screen import summary_screen
from quizkit.ui.screens.verdict_screen import Section, sections
from quizkit.ui.terminal.asking import Asking
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.view import View
from quizkit.words import Lang, say

NARROWEST = 40  # columns; below, nothing can be laid out and input goes line by line


class TerminalDesk:
    """Shows moments on a screen. Between questions the terminal is as it was before."""

    interactive = True

    def __init__(self, console: Console, lang: Lang) -> None:
        self._screen = Screen(console)
        self._view = View(self._screen)
        self._keyboard = Keyboard()
        self._lines = LineDesk(sys.stdin, sys.stdout)
        self._lang: Lang = lang
        self._narrow = False
        self._unsent, self._kept = "", ""
        self._opened: Sequence[Section] = ()
        self._left = False
        self._before: Moment | None = None

    def meet(self, moment: Moment) -> Given | Command:
        """Show the moment and wait for an answer or a command."""
        self._lang = moment.lang
        if self._is_narrow():
            return self._lines.meet(moment)
        asking = Asking(self._view, self._keyboard, moment)
        asking.hand.show = _news(self._before, moment)
        self._before = moment
        if moment.phase == "verdict":
            shown = sections(moment)
            kept: list[Section] = [name for name in self._opened if name in shown]
            self._opened = kept + [name for name in shown if name not in kept]
            if self._left:
                asking.hand.notice = say("ui.kept_as_ticked", moment.lang)
                self._left = False
            return asking.verdict(self._opened)
        try:
            said = asking.answer()
        except Interrupted as interrupted:
            self._give_back(interrupted.unsent, _kept(moment))
            raise
        self._left = asking.left
        self._opened = ()
        self._unsent = ""
        if isinstance(said, Command) and said.name == "quit":
            self._unsent, self._kept = said.unsent, _kept(moment)
        return said

    @contextmanager
    def busy(self, text: str) -> Generator[None]:
        """Hold this while a run goes on: keys are swallowed, Ctrl-C reaches the run."""
        if self._narrow:
            with self._lines.busy(text):
                yield
            return
        hint = Text(f"{text}  ").append(say("ui.stop_run", self._lang), "dim")
        with self._keyboard:
            try:
                with self._screen.spin(hint):
                    yield
            finally:
                self._keyboard.flush()

    def read(self, page: Page) -> Command:
        """Show the page until a key says what is to happen next."""
        self._lang = page.lang
        if self._is_narrow():
            return self._lines.read(page)
        return read_page(self._view, self._keyboard, page)

    def end(self, summary: Summary) -> None:
        """Show the summary; what was typed and not handed in is given back."""
        if self._narrow:
            self._lines.end(summary)
            return
        self._give_back(self._unsent, self._kept)
        self._screen.add(summary_screen(summary))

    def _give_back(self, unsent: str, kept: str) -> None:
        """Show what was typed and not handed in, and how to go on with an essay."""
        if unsent.strip():
            mine = Text(unsent.strip(), "italic", overflow="fold")
            key = "ui.unsent_kept" if kept else "ui.unsent"
            title = say(key, self._lang, question=kept)
            self._screen.add(*section(title, mine))

    def _is_narrow(self) -> bool:
        """Tell whether there is too little room for a screen; say so once each time."""
        width = self._screen.console.width
        if width >= NARROWEST:
            self._narrow = False
        elif not self._narrow:
            self._narrow = True
            self._lines.tell(say("ui.narrow", self._lang, width=width, least=NARROWEST))
        return self._narrow


def _news(before: Moment | None, now: Moment) -> str:
    """The anchor of what has been asked for since the page was last shown."""
    if before is None or (before.asked, before.phase) != (now.asked, now.phase):
        return ""
    if now.proof is not before.proof or now.full is not before.full:
        return "proof"
    if now.why and not before.why:
        return "why"
    if now.say and not before.say:
        return "say"
    return f"hint {now.hints_shown}" if now.hints_shown > before.hints_shown else ""


def _kept(moment: Moment) -> str:
    """The question, if what is written on it is kept for later: only an essay's text is."""
    return moment.question.id if isinstance(moment.question, Essay) else ""
