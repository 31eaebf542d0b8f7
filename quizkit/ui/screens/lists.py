"""Many questions, a line each: kept light, as a search draws one while somebody waits."""

from collections.abc import Iterable, Iterator, Mapping

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as Line

from quizkit.bank.common import Covered
from quizkit.bank.listed import Listed
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say

_ROOM = 60
"""Columns in which a question's words say enough of it."""


class Questions:
    """A line each; on a terminal that leaves their words too little room, two."""

    def __init__(self, questions: Iterable[Listed], lang: Lang) -> None:
        self._questions = list(questions)
        self._lang: Lang = lang

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """As wide as the console."""
        lang = self._lang
        kinds = [
            say(f"ui.kind_{'several' if each.several else each.kind}", lang)
            for each in self._questions
        ]
        beside = sum(
            max(map(cell_len, column), default=0) + 2
            for column in ([each.id for each in self._questions], ["level"], kinds)
        )
        if console.is_terminal and options.max_width - beside < _ROOM:
            for each, kind in zip(self._questions, kinds, strict=True):
                level = say(f"ui.level_{each.level}", lang)
                yield Line.assemble((each.id, "bold"), (f"  {level}  {kind}", "dim"), no_wrap=True)
                yield Padding(_line(each.title[lang]), (0, 0, 0, 2))
            return
        made = _table(lang, "id", "level", "kind", "prompt")
        for each, kind in zip(self._questions, kinds, strict=True):
            made.add_row(each.id, str(each.level), kind, _line(each.title[lang]))
        yield made


def coverage_table(found: Mapping[str, Covered], lang: Lang) -> RenderableType:
    """Which questions of the bank answer which of the common 70, part by part."""
    made = _table(lang, "covers", "prompt", "questions")
    for name, each in found.items():
        made.add_row(name, _line(each.asked.ask[lang]), "")
        for part, ids in each.parts.items():
            answered = "\n".join(ids) or say("bank.not_covered", lang)
            made.add_row(f"  .{part}", _line(each.asked.parts[part][lang]), answered)
    parts = [ids for each in found.values() for ids in each.parts.values()]
    counts = {
        "covered": sum(each.whole for each in found.values()),
        "stated": sum(map(bool, parts)),
        "parts": len(parts),
    }
    return Group(made, Line(say("bank.covered", lang, **counts)))


def _line(text: str) -> Line:
    """The beginning of a text, in one line."""
    line = inline(text.strip().split("\n")[0], plain=True)
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _table(lang: Lang, *columns: str) -> Table:
    made = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        title = say(f"bank.column_{column}", lang)
        # Rich narrows the columns that may wrap: ids stay whole, the question's text gives way.
        made.add_column(title, no_wrap=column != "prompt", overflow="ellipsis")
    return made
