"""Many questions, a line each: kept light, as a search draws one while somebody waits."""

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.text import Text as Line

from quizkit.bank.listed import Listed
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say

_ROOM = 60
"""Columns in which a question's words say enough of it."""


class Questions:
    """A line each; two where a terminal leaves their words too little room, and more if `whole`.

    Into a pipe or a file goes a whole line each, however wide: something else will read it.
    """

    def __init__(self, questions: Iterable[Listed], lang: Lang, whole: bool = False) -> None:
        self._questions = list(questions)
        self._lang: Lang = lang
        self._whole = whole

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """As wide as the console, or as the words where nobody's console is told."""
        head = tuple(say(f"bank.column_{each}", self._lang) for each in ("id", "level", "kind"))
        rows = [self._cells(each) for each in self._questions]
        wide = [max(cell_len(row[at]) for row in [head, *rows]) for at in range(len(head))]
        room = options.max_width - sum(wide) - 2 * len(wide)
        if console.is_terminal and (self._whole or room < _ROOM):
            for each, (name, _, kind) in zip(self._questions, rows, strict=True):
                level = say(f"ui.level_{each.level}", self._lang)
                yield Line.assemble((name, "bold"), (f"  {level}  {kind}", "dim"), no_wrap=True)
                title = each.title[self._lang]
                room = options.max_width - 2
                words = inline(title, plain=True) if self._whole else _cut(_line(title), room)
                yield Padding(words, (0, 0, 0, 2))
            return
        titles = [each.title[self._lang] for each in self._questions]
        titles = [say("bank.column_prompt", self._lang), *titles]
        for number, (row, title) in enumerate(zip([head, *rows], titles, strict=True)):
            line = Line("", "" if number else "bold", no_wrap=True, overflow="ignore")
            for cell, columns in zip(row, wide, strict=True):
                line.append(cell + " " * (columns - cell_len(cell) + 2))
            line.append_text(_line(title))
            yield _cut(line, options.max_width) if console.is_terminal else line

    def _cells(self, question: Listed) -> tuple[str, str, str]:
        kind = "several" if question.several else question.kind
        return question.id, str(question.level), say(f"ui.kind_{kind}", self._lang)


def _line(text: str) -> Line:
    """The beginning of a text, in one line."""
    line = inline(text.strip().split("\n")[0], plain=True)
    line.no_wrap, line.overflow = True, "ignore"
    return line


def _cut(line: Line, columns: int) -> Line:
    """The line, no wider than so many columns."""
    if line.cell_len > columns:
        # Half of a wide character is a space, and none belongs before the dots.
        line.truncate(columns - 1, overflow="crop")
        line.rstrip()
        line.append("…")
    return line
