"""The demos to choose from on a screen: by topic, a line each, less what a filter leaves out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from quizkit.bank import model
from quizkit.lab.catalogue import FIRST, Demo
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.screens.parts import footer, more, rule, short
from quizkit.words import Lang, say

_LANGS: tuple[Lang, Lang] = ("zh", "en")
_LEAST = 3  # lines of the list, however low the terminal is


@dataclass(slots=True)
class Browser:
    """The demos, what was typed to find one, and which one is under the cursor.

    `titles` are the topics', `others` other names of demos. `typing`: letters go to the filter.
    """

    shelves: Mapping[str, Sequence[Demo]]
    titles: Mapping[str, model.Text]
    others: Mapping[str, Sequence[str]]
    lang: Lang
    typed: str = ""
    typing: bool = False
    at: int = 0
    notice: str = ""
    _texts: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def sections(self) -> list[tuple[str, list[Demo]]]:
        """List headings with their demos, as they are shown: those to begin with first, where no
        filter is set.
        """
        found = [(topic, [*filter(self._fits, demos)]) for topic, demos in self.shelves.items()]
        every = {demo.name: demo for demos in self.shelves.values() for demo in demos}
        first = [every[name] for name in FIRST if name in every]
        begin = [("", first)] if first and not self.typed.strip() else []
        return begin + [(topic, demos) for topic, demos in found if demos]

    def shown(self) -> list[Demo]:
        """Return the demos that the cursor walks through."""
        return [demo for _, demos in self.sections() for demo in demos]

    @property
    def chosen(self) -> Demo | None:
        """The demo under the cursor."""
        shown = self.shown()
        return shown[min(self.at, len(shown) - 1)] if shown else None

    def walk(self, by: int) -> None:
        """Move the cursor; it stops at the ends."""
        self.at = max(0, min(self.at + by, len(self.shown()) - 1))

    def type(self, typed: str) -> None:
        """Look for this instead; the cursor goes to the name that begins so, or has it in it."""
        self.typed, self.at = typed, 0
        wanted = typed.strip().casefold()
        places = {n: demo.name.find(wanted) for n, demo in enumerate(self.shown())}
        named = [n for n, place in places.items() if wanted and place >= 0]
        self.at = min(named, key=lambda n: places[n] > 0, default=0)

    def _fits(self, demo: Demo) -> bool:
        """Tell whether names have every word somewhere, or the law a word that begins so."""
        if demo.name not in self._texts:
            title = self.titles.get(demo.topic)
            titles = [title[lang] for lang in _LANGS] if title else []
            names = [demo.name, demo.topic, *titles, *self.others.get(demo.name, ())]
            laws = [demo_words(demo, lang).law for lang in _LANGS]
            self._texts[demo.name] = "\n".join(names).casefold(), "\n".join(laws).casefold()
        names, laws = self._texts[demo.name]
        # Within a word of prose a few letters mean nothing: `ring` is no part of `sharing`.
        return all(
            word in names or re.search(rf"(?<![a-z]){re.escape(word)}", laws)
            for word in self.typed.casefold().split()
        )

    def heading(self, topic: str) -> str:
        """Return the heading of a section: the topic and its title."""
        if not topic:
            return say("demos.first", self.lang)
        title = self.titles.get(topic)
        return f"{topic}  {title[self.lang] if title else ''}".rstrip()


class BrowserScreen:
    """The browser's page, as high as the terminal: the list near the cursor, the rest whole."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """The count, the list, the whole line of the demo under the cursor, the keys."""
        above = Group(*self._above())
        below = Group(*self._below())
        taken = sum(len(console.render_lines(each, options)) for each in (above, below))
        yield above
        yield from self._list(options.max_width, max(_LEAST, console.height - taken - 1))
        yield below

    def _above(self) -> Iterator[RenderableType]:
        browser = self._browser
        if not browser.typed and not browser.typing:
            count = sum(len(demos) for demos in browser.shelves.values())
            yield Text(say("demos.count", browser.lang, count=count), "bold")
        else:
            text = say(
                "demos.filtered", browser.lang, count=len(browser.shown()), typed=browser.typed
            )
            cursor = "_" if browser.typing else ""
            yield Text.assemble(f"/{browser.typed}{cursor}  ", (text, "dim"), overflow="fold")
        yield rule()

    def _list(self, width: int, room: int) -> Iterator[Text]:
        rows, cursor = self._rows(width)
        long = len(rows) > room > 1
        room -= long  # a line says how much there is above and below
        # The heading above the cursor is seen as long as there is a line for it.
        start = max(0, min(cursor - room // 2, len(rows) - room))
        yield from rows[start : start + room]
        if long:
            yield more(start, len(rows) - start - room, self._browser.lang)
        for _ in range(room - len(rows)):  # the keys stay where they are
            yield Text()

    def _rows(self, width: int) -> tuple[list[Text], int]:
        """The whole list a line each, and where the cursor is in it."""
        browser = self._browser
        shown = browser.shown()
        if not shown:
            return [Text(say("demos.none", browser.lang), "dim", overflow="fold")], 0
        names = max(cell_len(demo.name) for demo in shown)
        rows: list[Text] = []
        number = cursor = 0
        at = min(browser.at, len(shown) - 1)
        for topic, demos in browser.sections():
            rows.append(short(Text(browser.heading(topic)), width))
            rows[-1].stylize("bold")
            for demo in demos:
                here = number == at
                cursor = len(rows) if here else cursor
                law = short(Text(demo_words(demo, browser.lang).law), width - names - 4)
                line = Text.assemble(f"{'> ' if here else '  '}{demo.name:{names}}  ", law)
                line.stylize("reverse" if here else "")
                rows.append(line)
                number += 1
        return rows, cursor

    def _below(self) -> Iterator[RenderableType]:
        browser = self._browser
        yield rule()
        if demo := browser.chosen:
            yield Text(demo_words(demo, browser.lang).law, overflow="fold")
        if browser.notice:
            yield Text(browser.notice, "bold", overflow="fold")
        idle = () if browser.typed or browser.typing else ("clear",)
        yield footer("filter" if browser.typing else "demos", browser.lang, 0, without=idle)
