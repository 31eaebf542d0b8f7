"""A command's help: how it is typed, what it does, and what goes with it, at any width."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_INDENT = 2
_LEAST = 36
"""Columns that explanations need to stand beside what they explain; with fewer they go below."""


class HelpRow(NamedTuple):
    """A thing that can be typed, and what it is for."""

    typed: str
    about: str


class Help(NamedTuple):
    """All that the help of a command says; `usage` and the titles are in its language already."""

    usage: str
    about: str
    parts: Sequence[tuple[str, Sequence[HelpRow]]]


def help_page(said: Help, width: int, plain: bool) -> RenderableType:
    """Draw the whole help page."""
    parts: list[RenderableType] = [Text(said.usage, "bold", overflow="fold")]
    for paragraph in said.about.split("\n\n"):
        parts += [Text(""), Text(paragraph, overflow="fold")]
    for title, rows in said.parts:
        parts += [Text(""), Text(title, "bold"), _rows(rows, width, plain)]
    return Group(*parts)


def _rows(rows: Sequence[HelpRow], width: int, plain: bool) -> RenderableType:
    """Side by side, or below where it is narrow; a line each where columns are not wanted."""
    if plain:
        lines = (f"{' ' * _INDENT}{typed}: {about}" for typed, about in rows)
        return Text("\n".join(lines), overflow="fold")
    widest = max(cell_len(typed) for typed, _ in rows)
    if width - widest - 2 * _INDENT >= _LEAST:
        grid = Table.grid(padding=(0, _INDENT, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for typed, about in rows:
            grid.add_row(Text(typed, "cyan"), Text(about, overflow="fold"))
        return Padding(grid, (0, 0, 0, _INDENT), expand=False)
    below = 3 * _INDENT
    return Group(
        *(
            Group(
                Padding(Text(typed, "cyan", overflow="fold"), (0, 0, 0, _INDENT), expand=False),
                Padding(Text(about, overflow="fold"), (0, 0, 0, below), expand=False),
            )
            for typed, about in rows
        )
    )
