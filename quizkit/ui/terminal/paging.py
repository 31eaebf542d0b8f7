"""A page that is only read: moved with the keys that scroll, left with any other."""

from collections.abc import Collection, Sequence

from rich.console import RenderableType
from rich.text import Text

from quizkit.ui.screens.parts import help_screen
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keymap import State
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.view import View
from quizkit.words import Lang, say


def read_keys(
    screen: Screen,
    keyboard: Keyboard,
    state: State,
    lang: Lang,
    last: int = 0,
    without: Collection[str] = (),
    scrolls: bool = True,
) -> None:
    """Show the keys of a state until one is pressed; those that scroll only if the page does."""
    still = () if scrolls else keymap.SCROLLING
    told = help_screen(state, lang, last, without=(*without, *still))
    read_through(screen, keyboard, [told], lang)


def read_through(
    screen: Screen, keyboard: Keyboard, body: Sequence[RenderableType], lang: Lang
) -> None:
    """Show the page until a key is pressed that does not move it."""
    view, back = View(screen), Text(say("ui.help_back", lang), "dim")
    with keyboard:
        while True:
            view.paint(body, [Text(""), back], lang)
            key = keyboard.read()
            command = keymap.scrolls(key) if view.is_long else None
            if key != "redraw" and not (command and view.scroll(command)):
                return
