"""Many questions, a line each: kept light, as a search draws one while somebody waits."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text as Line

from quizkit.bank.listed import Listed
from quizkit.bank.model import CommonQuestion
from quizkit.ui.inline import inline
from quizkit.words import Lang, say


def table(questions: Iterable[Listed], lang: Lang) -> Table:
    """One line a question."""
    made = _table(lang, "id", "level", "kind", "prompt")
    for each in questions:
        does = say(f"ui.kind_{'several' if each.several else each.kind}", lang)
        made.add_row(each.id, str(each.level), does, _line(each.title[lang]))
    return made


def coverage(
    common: Mapping[str, CommonQuestion], questions: Sequence[Listed], lang: Lang
) -> RenderableType:
    """Which question of the bank answers which of the common 70."""
    made = _table(lang, "covers", "prompt", "questions")
    covered = 0
    for name, asked in common.items():
        ids = [question.id for question in questions if name in question.covers]
        covered += bool(ids)
        answered = "\n".join(ids) or say("bank.not_covered", lang)
        made.add_row(name, _line(asked.ask[lang]), answered)
    return Group(made, Line(say("bank.covered", lang, covered=covered)))


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
