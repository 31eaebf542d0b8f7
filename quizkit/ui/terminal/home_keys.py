"""The home screen and its keys, until one leads somewhere."""

from collections.abc import Callable

from rich.console import RenderableType
from rich.text import Text

from quizkit.ui.screens.parts import help_screen
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.words import Lang, other, say


def chosen(
    screen: Screen, keyboard: Keyboard, lang: Lang, drawn: Callable[[Lang], RenderableType]
) -> tuple[str, Lang]:
    """The command of the key that was pressed, and the language that is spoken by then.

    `drawn` is the screen in a language; `next`, `demos`, `study`, `mock` and `quit` lead somewhere.
    """
    with keyboard:
        while True:
            screen.paint(drawn(lang))
            key = keyboard.read()
            command = "quit" if key == "eof" else keymap.bound("home", key)
            if command == "toggle":
                lang = other(lang)
            elif command == "help":
                back = Text(say("ui.help_back", lang), "dim")
                key = "redraw"
                while key == "redraw":
                    screen.paint(help_screen("home", lang, 0), Text(), back)
                    key = keyboard.read()
            elif command:
                return command, lang
