"""A page to read before the questions begin."""

from rich.console import Group, RenderableType
from rich.text import Text

from quizkit.tutor.desk import Command, Page
from quizkit.ui.screens.parts import footer, help_screen, rule
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.text.markup import prose
from quizkit.words import say


def page_screen(page: Page, plain: bool) -> RenderableType:
    """The page as a reader has it."""
    title = Text(page.title[page.lang], "bold", overflow="fold")
    head = [title] if plain else [title, rule()]
    return Group(*head, Text(""), prose(page.text[page.lang], plain))


def read_page(screen: Screen, keyboard: Keyboard, page: Page) -> Command:
    """Show it, and what is to happen next."""
    idle = () if page.skips else ("skip",)
    with keyboard:
        while True:
            shown = page_screen(page, plain=False)
            screen.paint(shown, Text(""), footer("page", page.lang, 0, idle))
            key = keyboard.read()
            if key == "eof":
                return Command("quit")
            match keymap.bound("page", key):
                case "help":
                    back = Text(say("ui.help_back", page.lang), "dim")
                    screen.paint(help_screen("page", page.lang, 0, without=idle), Text(""), back)
                    keyboard.read()
                case "continue" | "skip" | "toggle" | "quit" as name if name not in idle:
                    return Command(name)
                case _:
                    pass
