"""Draw what `calc --check` shows: each sum's formula, simulator and run, side by side."""

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quizkit.bank.functions import Value
from quizkit.proof.triple import Compared
from quizkit.ui.screens.report_screen import number
from quizkit.words import Lang, say

_WIDE = 110
_STYLE = {"agree": "green", "differ": "bold red", "skipped": "yellow"}


def show(console: Console, rows: Sequence[Compared], lang: Lang, plain: bool) -> None:
    """Print a table where there is room for one, else a paragraph for each sum."""
    wide = console.width >= _WIDE and not plain
    console.print(_table(rows, lang) if wide else _paragraphs(rows, lang))


def _table(rows: Sequence[Compared], lang: Lang) -> RenderableType:
    names = ("outcome", "figure", "inputs", "formula", "simulator", "measured", "run")
    table = Table(*(say(f"check.{name}", lang) for name in names), box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(_cells(row, lang)))
        if row.reason:
            table.add_row("", Text(row.reason, "dim"))
    return table


def _paragraphs(rows: Sequence[Compared], lang: Lang) -> RenderableType:
    names = ("inputs", "formula", "simulator", "measured", "run")
    parts: list[RenderableType] = []
    for row in rows:
        outcome, figure, *rest = _cells(row, lang)
        parts.append(Text("  ").join((outcome, figure)))
        lines = [
            Text(f"{say(f'check.{name}', lang)}: ", overflow="fold").append_text(cell)
            for name, cell in zip(names, rest, strict=True)
            if cell.plain != "-"
        ]
        lines += [Text(row.reason)] if row.reason else []
        parts.append(Padding(Group(*lines), (0, 0, 0, 4), expand=False))
    return Group(*parts)


def _cells(row: Compared, lang: Lang) -> tuple[Text, ...]:
    triple = row.triple
    return (
        Text(say(f"check.{row.outcome}", lang), _STYLE[row.outcome]),
        Text(f"{triple.sheet} {triple.formula or triple.simulator}"),
        Text(_said(triple.inputs), "dim", overflow="fold"),
        Text(_value(row.formula)),
        Text(_value(row.simulator)),
        Text(_value(row.measured), "bold"),
        Text(f"{triple.demo} x{triple.ranks} {_said(triple.args)}".strip(), "dim", overflow="fold"),
    )


def _said(values: Mapping[str, object]) -> str:
    return " ".join(f"{name.replace('_', '-')}={value}" for name, value in values.items())


def _value(value: Value | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return "[" + ", ".join(number(item) for item in value) + "]"
    return number(value) if not isinstance(value, str) else value
