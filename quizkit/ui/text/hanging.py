"""Recorded lines on a narrow screen: broken between fields, and set in below the first."""

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.text import Text

_FIRST = re.compile(r"(\S(?:.*?\S)?  +)\S")
"""A label, and the blanks before the first field."""


class Hanging:
    """Lines as they were recorded where they fit, else filled anew by field."""

    def __init__(self, source: str, style: str) -> None:
        self._source = source
        self._style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As wide as the text by itself."""
        return Measurement.get(console, options, Text(self._source))

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Lines no wider than the console, as far as blanks allow."""
        yield Text(
            "\n".join(refilled(self._source, options.max_width)), self._style, overflow="fold"
        )


def refilled(source: str, width: int) -> list[str]:
    """Break lines that are too long, and what continues them, at two blanks or more."""
    lines = source.split("\n")
    if all(cell_len(line) <= width for line in lines):
        return lines
    found: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        label = _FIRST.match(line)
        if not label:
            found.append(line)
            continue
        indent = " " * len(label[1])
        fields = line[len(indent) :].split("  ")
        while at < len(lines) and re.match(rf"{indent}\S", lines[at]):
            fields += lines[at][len(indent) :].split("  ")
            at += 1
        found += _filled(label[1], indent, [field for field in fields if field], width)
    return found


def _filled(label: str, indent: str, fields: list[str], width: int) -> Iterator[str]:
    line = label + fields[0]
    for field in fields[1:]:
        if cell_len(line) + 2 + cell_len(field) > width:
            yield line
            line = indent + field
        else:
            line += f"  {field}"
    yield line
