"""The home screen and its keys, until one leads somewhere."""

from collections.abc import Callable

from quizkit.ui.screens.home_screen import HomePage
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.paging import read_keys
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.view import View
from quizkit.words import Lang, other


def chosen(
    screen: Screen, keyboard: Keyboard, lang: Lang, drawn: Callable[[Lang], HomePage]
) -> tuple[str, Lang]:
    """Return the command of the key that was pressed, and the language that is spoken by then.

    `drawn` is the page in a language; `next`, `demos`, `study`, `mock` and `quit` lead somewhere.
    """
    view = View(screen)
    with keyboard:
        while True:
            page = drawn(lang)
            view.paint(page.body(screen.width), page.foot(), lang, head=page.head())
            key = keyboard.read()
            command = "quit" if key == "eof" else keymap.bound("home", key)
            if command == "toggle":
                lang = other(lang)
            elif command == "help":
                read_keys(screen, keyboard, "home", lang, scrolls=view.is_long)
            elif command and not view.scroll(command):
                return command, lang
