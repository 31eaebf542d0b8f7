"""A page that is only read: moved with the keys that scroll, left with any other."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.view import View
from quizkit.words import Lang, say


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
