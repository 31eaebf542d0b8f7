"""The demo browser at a terminal: choose one, run it, or plant a bug and say what will go red."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from quizkit.errors import QuizkitError
from quizkit.lab.bench import Cancelled
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report, Setting
from quizkit.lab.riddle import choices
from quizkit.ui.screens.demo_browser import Browser, BrowserScreen
from quizkit.ui.screens.parts import footer
from quizkit.ui.screens.report_screen import screen as report_screen
from quizkit.ui.screens.riddle_screen import Riddle, answered, asked
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keymap import State
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.paging import read_keys
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.view import View
from quizkit.words import other, say

_PAGE = 10  # demos that PgUp and PgDn pass over
_WALKS = {
    "higher": -1,
    "lower": 1,
    "page_up": -_PAGE,
    "page_down": _PAGE,
    "scroll_top": -sys.maxsize,
    "scroll_end": sys.maxsize,
}


class Browsing:
    """One learner looking through the demos. `run` makes a run of so many `ranks`, if not told."""

    def __init__(
        self,
        screen: Screen,
        keyboard: Keyboard,
        browser: Browser,
        run: Callable[[Setting], Report],
        ranks: int,
    ) -> None:
        self.screen, self.keyboard, self.browser = screen, keyboard, browser
        self._run, self._ranks = run, ranks
        self._planted: dict[str, int] = {}
        """How many of a demo's bugs were planted: `b` once more plants the next one."""

    def browse(self, warm: Callable[[], None]) -> None:
        """Browse until `q`. `warm` is called once, with the list on the screen."""
        browser = self.browser
        with self.keyboard:
            self.screen.paint(BrowserScreen(browser))
            warm()
            while True:
                state: State = "filter" if browser.typing else "demos"
                command, key = self._pressed(state)
                browser.notice = ""
                if command == "quit":
                    return
                if command in ("run", "plant"):
                    browser.typing = False
                    if browser.chosen and not self._opened(browser.chosen, command):
                        return
                elif command in ("filter", "choose"):
                    browser.typing = command == "filter"
                elif command == "clear":
                    browser.typing = False
                    browser.type("")
                elif command in _WALKS:
                    browser.typing = False
                    browser.walk(_WALKS[command])
                elif key == "backspace":
                    browser.type(browser.typed[:-1])
                elif (letter := " " if key == "space" else key) and len(letter) == 1:
                    browser.typing = True
                    browser.type(browser.typed + letter)

    def _opened(self, demo: Demo, command: str) -> bool:
        """Run it, or plant its next bug, as often as is asked for; False where all is over."""
        while True:
            left = self._plant(demo) if command == "plant" else self._show(demo)
            if left != "plant":
                return left != "quit"
            command = left

    def _show(self, demo: Demo) -> str:
        """One run, from the top of its page on."""
        told = say("lab.starting", self.browser.lang, demo=demo.name, ranks=self._ranks)
        report = self._ran(Setting(demo.name, self._ranks), told)
        if report is None:
            return "leave"
        width = self.screen.width

        def drawn() -> Iterable[RenderableType]:
            lang = self.browser.lang
            yield from report_screen(report, demo, lang, width, False)

        return self._left(drawn)

    def _plant(self, demo: Demo) -> str:
        """One bug: what it changes, the question, the run, and what was so."""
        browser = self.browser
        if not demo.breaks:
            browser.notice = say("demos.no_breaks", browser.lang, demo=demo.name)
            return "leave"
        number = self._planted.get(demo.name, 0)
        broken = [*demo.breaks][number % len(demo.breaks)]
        wanted = Setting(demo.name, demo.breaks[broken].ranks)
        sound = self._ran(wanted, say("demos.sound", browser.lang, demo=demo.name))
        if sound is None:
            return "leave"
        if sound.verdict != "pass":
            browser.notice = say("demos.unsound", browser.lang, demo=demo.name)
            return "leave"
        riddle = Riddle(demo, broken, choices(demo, broken, sound))
        while True:
            command, key = self._pressed(
                "riddle", lambda: asked(riddle, browser.lang), len(riddle.choices)
            )
            if command in ("leave", "quit"):
                return command
            if command == "guess" and int(key) <= len(riddle.choices):
                break
        told = say("lab.starting", browser.lang, demo=demo.name, ranks=wanted.ranks)
        report = self._ran(replace(wanted, broken=broken), told)
        if report is None:
            return "leave"
        self._planted[demo.name] = number + 1
        pick = riddle.choices[int(key) - 1]
        return self._left(lambda: answered(riddle, pick, report, browser.lang))

    def _left(self, drawn: Callable[[], Iterable[RenderableType]]) -> str:
        """Wait until a shown run is left, and tell how: `leave`, `plant` or `quit`."""
        while True:
            command, _ = self._pressed("ran", drawn)
            if command in ("leave", "plant", "quit"):
                return command

    def _ran(self, wanted: Setting, told: str) -> Report | None:
        """A run, told of while it goes on; None where there was none, and the list says why."""
        try:
            with self.screen.spin(Text(told)):
                return self._run(wanted)
        except Cancelled:
            self.browser.notice = say("demos.stopped", self.browser.lang)
        except QuizkitError as error:
            self.browser.notice = error.message(self.browser.lang)
        finally:
            self.keyboard.flush()
        return None

    def _pressed(
        self,
        state: State,
        page: Callable[[], Iterable[RenderableType]] | None = None,
        last: int = 9,
    ) -> tuple[str, str]:
        """Paint a page, else the list; then the next key: its command here, and the key itself.

        Keys that move a page, change its language or ask for help are dealt with before.
        """
        view = View(self.screen)
        while True:
            lang = self.browser.lang
            if page:
                view.paint([*page()], [Text(), footer(state, lang, last)], lang)
            else:
                self.screen.paint(BrowserScreen(self.browser))
            key = self.keyboard.read()
            command = keymap.bound(state, key) or ""
            if key == "eof":
                return "quit", key
            if command == "toggle":
                self.browser.lang = other(lang)
            elif command == "help":
                moves = view.is_long or not page
                read_keys(self.screen, self.keyboard, state, lang, last, scrolls=moves)
            elif key != "redraw" and not (page and view.scroll(command)):
                return command, key
