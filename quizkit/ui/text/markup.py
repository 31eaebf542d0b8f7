"""Question prose as rich renderables: the part of Markdown that questions use, and formulas.

Paragraphs, lists, tables, fenced code, quotes, headings and displayed formulas. Not rich's own
Markdown, which costs 40 ms to load, leaves formulas raw and takes the underscores out of names.
"""

import re
from collections.abc import Callable, Sequence
from textwrap import dedent

from rich.box import Box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from quizkit.ui.text.code import highlighted
from quizkit.ui.text.hanging import Hanging
from quizkit.ui.text.inline import CODE, cells, inline, maths

_FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(\S*)\s*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])(\s+)(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$")
_DIVIDER = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_DISPLAY = re.compile(r"^\s*\$\$(.*?)(\$\$\s*)?$")

# ASCII, as terminals set for Chinese may draw other lines two columns wide.
_RULED = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)

Block = Callable[[bool], RenderableType]


def prose(source: str, plain: bool = False) -> RenderableType:
    """Draw a whole text. `plain`, for screen readers and logs: no boxes, nothing said by colour."""
    shown: list[RenderableType] = []
    for block in _Blocks(source.strip("\n").expandtabs(4).split("\n")).read():
        if shown:
            shown.append(Text(""))
        shown.append(block(plain))
    return Group(*shown)


class _Blocks:
    """Reads blocks off the front of some lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0

    def read(self) -> list[Block]:
        blocks: list[Block] = []
        while self.at < len(self.lines):
            if not self.lines[self.at].strip():
                self.at += 1
                continue
            blocks.append(self._block())
        return blocks

    def _block(self) -> Block:
        line = self.lines[self.at]
        following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        if fence := _FENCE.match(line):
            return self._code(fence)
        if display := _DISPLAY.match(line):
            return self._display(display)
        if "|" in line and "|" in following and _DIVIDER.match(following):
            return self._table()
        if heading := _HEADING.match(line):
            self.at += 1
            return lambda plain: inline(heading[1], plain, "bold")
        if _RULE.match(line):
            self.at += 1
            return lambda plain: Text("") if plain else Rule(characters="-", style="dim")
        if line.lstrip().startswith(">"):
            return self._quote()
        return self._list() if _ITEM.match(line) else self._paragraph()

    def _starts_block(self) -> bool:
        line = self.lines[self.at]
        starts = (_FENCE, _DISPLAY, _HEADING, _ITEM)
        return not line.strip() or any(start.match(line) for start in starts)

    def _paragraph(self) -> Block:
        begin = self.at
        self.at += 1
        while self.at < len(self.lines) and not self._starts_block():
            self.at += 1
        source = "\n".join(self.lines[begin : self.at])
        return lambda plain: inline(source, plain)

    def _code(self, fence: re.Match[str]) -> Block:
        self.at += 1
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip() != fence[2]:
            self.at += 1
        source = dedent("\n".join(self.lines[begin : self.at]))
        self.at += 1
        python = fence[3] in ("", "py", "python")
        text = highlighted(source) if python else Hanging(source, CODE)
        return lambda plain: Padding(Text(source) if plain else text, (0, 0, 0, 2))

    def _display(self, match: re.Match[str]) -> Block:
        source = match[1]
        closed = match[2] is not None
        self.at += 1
        while not closed and self.at < len(self.lines):
            before, mark, _ = self.lines[self.at].partition("$$")
            source += " " + before
            closed = bool(mark)
            self.at += 1
        return lambda plain: Padding(maths(source), (0, 0, 0, 4))

    def _quote(self) -> Block:
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at].lstrip().startswith(">"):
            self.at += 1
        source = "\n".join(re.sub(r"^\s*> ?", "", each) for each in self.lines[begin : self.at])
        return lambda plain: Padding(prose(source, plain), (0, 0, 0, 2), style="italic")

    def _list(self) -> Block:
        items: list[tuple[str, str]] = []
        while self.at < len(self.lines) and (item := _ITEM.match(self.lines[self.at])):
            inner = len(item[1]) + len(item[2]) + len(item[3])
            content = [item[4]]
            self.at += 1
            while self.at < len(self.lines) and self._continues(len(item[1])):
                line = self.lines[self.at]
                content.append(line[min(inner, len(line) - len(line.lstrip())) :])
                self.at += 1
            items.append((item[2], "\n".join(content)))
            while self.at + 1 < len(self.lines) and not self.lines[self.at].strip():
                if not _ITEM.match(self.lines[self.at + 1]):
                    break
                self.at += 1
        return lambda plain: _items(items, plain)

    def _continues(self, indent: int) -> bool:
        """Tell whether the line belongs to the item begun at this indent."""
        line = self.lines[self.at]
        if not line.strip():
            after = self.lines[self.at + 1 : self.at + 2]
            return bool(after) and after[0][: indent + 1].isspace()
        if line[: indent + 1].isspace():
            return True
        return not self._starts_block()

    def _table(self) -> Block:
        head = cells(self.lines[self.at])
        sides = cells(self.lines[self.at + 1])
        self.at += 2
        rows: list[list[str]] = []
        while self.at < len(self.lines) and "|" in self.lines[self.at]:
            rows.append(cells(self.lines[self.at]))
            self.at += 1
        return lambda plain: _table(head, sides, rows, plain)


def _items(items: Sequence[tuple[str, str]], plain: bool) -> RenderableType:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True, justify="right")
    grid.add_column(overflow="fold")
    for marker, content in items:
        sign = marker if marker[0].isdigit() else "-"
        blocks = [block(plain) for block in _Blocks(content.split("\n")).read()]
        grid.add_row(sign, Group(*blocks))
    return grid


def _table(
    head: Sequence[str], sides: Sequence[str], rows: Sequence[Sequence[str]], plain: bool
) -> RenderableType:
    if plain:
        lines = [" | ".join(inline(cell, plain).plain for cell in row) for row in (head, *rows)]
        return Text("\n".join(lines), overflow="fold")
    table = Table(box=_RULED, pad_edge=False, show_edge=False, header_style="bold")
    for number, title in enumerate(head):
        right = number < len(sides) and sides[number].rstrip().endswith("-:")
        table.add_column(
            inline(title), justify="right" if right else "left", overflow="fold", vertical="top"
        )
    for row in rows:
        padded = [*row, *[""] * len(head)][: len(head)]
        table.add_row(*(inline(cell) for cell in padded))
    return table
