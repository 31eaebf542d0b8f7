"""A page to read before a question."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from quizkit.tutor.desk import Command, Page
from quizkit.ui.screens.parts import WIDEST, footer, rule
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.paging import read_keys
from quizkit.ui.terminal.view import View
from quizkit.ui.text.markup import prose
from quizkit.words import Lang, say

if TYPE_CHECKING:  # the first question does not wait for the laboratory
    from quizkit.lab.report import Report


def page_screen(page: Page, plain: bool) -> RenderableType:
    """Draw the page as a reader has it."""
    title = Text(page.title[page.lang], "bold", overflow="fold")
    if page.total:
        title.append(f"  {page.number}/{page.total}", "not bold dim")
    parts: list[RenderableType] = [title] if plain else [title, rule()]
    parts += [Text(""), prose(page.text[page.lang], plain)]
    if page.picture:
        parts.append(_Picture(page.picture, page.schedule, page.lang))
    if page.news:
        parts += [Text(""), prose(page.news[page.lang], plain)]
    return Group(*parts)


class _Picture:
    """A timeline or another picture of a kept run, as wide as the console, and that it is one."""

    def __init__(self, report: "Report", schedule: str, lang: Lang) -> None:
        self._report, self._schedule = report, schedule
        self._lang: Lang = lang

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Nothing where the run has no such picture."""
        from quizkit.lab.catalogue import find
        from quizkit.ui.pictures import measured
        from quizkit.ui.pictures.chart import charts
        from quizkit.ui.screens.demo_words import demo_words
        from quizkit.ui.screens.report_screen import pictures

        report, width = self._report, min(options.max_width, WIDEST)
        told = {"demo": report.demo, "ranks": report.ranks}
        shown = "\n" + say("study.picture", self._lang, **told)
        caption = Text(shown, "dim", overflow="fold", end="")
        for chart in charts(report.timeline, report.ranks):
            if chart.schedule == self._schedule:
                yield caption
                yield from pictures([chart], width, self._lang)
        for picture in report.pictures:
            if picture.title == self._schedule:
                words = demo_words(find(report.demo), self._lang)
                yield caption
                translated = measured.in_words(picture, words.picture)
                yield from measured.draw(translated, width, False, self._lang)


def read_page(view: View, keyboard: Keyboard, page: Page) -> Command:
    """Show it, and what is to happen next."""
    idle = (*(() if page.skips else ("skip",)), *(() if page.back else ("undo",)))
    foot = [Text(""), footer("page", page.lang, 0, idle)]
    view.open((page.title, page.number))
    with keyboard:
        while True:
            view.paint([page_screen(page, plain=False)], foot, page.lang)
            key = keyboard.read()
            if key == "eof":
                return Command("quit")
            match keymap.bound("page", key):
                case "help":
                    told = view.screen, keyboard, "page", page.lang
                    read_keys(*told, without=idle, scrolls=view.is_long)
                case "continue" | "skip" | "toggle" | "undo" | "quit" as name if name not in idle:
                    return Command(name)
                case str() as moves:
                    view.scroll(moves)
                case None:
                    pass
