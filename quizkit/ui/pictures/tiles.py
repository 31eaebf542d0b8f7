"""A table of cells, one sign a cell: which tiles are computed, whose is which piece."""

import re
from collections import Counter

from rich.text import Text

from quizkit.lab.picture import Tiles
from quizkit.ui.pictures.look import amount, box, cut, ink, legend
from quizkit.words import Lang, listed, say

_SIGNS = "+#@o%x=*"  # from light to heavy: where there is an order, more comes later
_CELL, _WIDE = 22, 440  # largest side of a cell, and of the whole table, in an SVG


def lines(tiles: Tiles, width: int, lang: Lang) -> list[Text]:
    """Draw the table, two columns a cell if they fit; below it each sign, with its count."""
    signs = _signs(tiles)
    across = len(tiles.cells[0]) if tiles.cells else 0
    if across + 4 > width:
        return [Text(sentence(tiles, lang))]
    gap = " " if 2 * across + 4 <= width else ""
    drawn = [Text(say("lab.picture_axes", lang, down=tiles.down, across=tiles.across), "dim")]
    for row in tiles.cells:
        line = Text("  ", no_wrap=True)
        for cell in row:
            line.append(signs[int(cell)] + gap, ink(int(cell) - 1) if cell else "dim")
        line.rstrip()
        drawn.append(line)
    return [*drawn, *legend(_counted(tiles), width, signs)]


def sentence(tiles: Tiles, lang: Lang) -> str:
    """Say how large the table is and how often each thing is in it."""
    return say(
        "lab.picture_tiles",
        lang,
        title=tiles.title,
        rows=len(tiles.cells),
        columns=len(tiles.cells[0]) if tiles.cells else 0,
        down=tiles.down,
        across=tiles.across,
        counts=listed(_counted(tiles), lang),
    )


def shapes(tiles: Tiles, left: int, top: int) -> tuple[str, int]:
    """Draw the table in an SVG; return it and how high it is."""
    longest = max([len(tiles.cells), *(len(row) for row in tiles.cells), 1])
    cell = min(_CELL, _WIDE / longest)
    parts = [cut(left, top + 10, f"{tiles.down} / {tiles.across}")]
    for i, row in enumerate(tiles.cells):
        for j, each in enumerate(row):
            x, y = left + j * cell, top + 18 + i * cell
            shade, tip = (0.9, tiles.legend[int(each)]) if each else (0.06, tiles.legend[0])
            place = max(int(each) - 1, 0)
            parts.append(box(x, y, cell - 1, cell - 1, place, f"{i}, {j}: {tip}", shade))
    for place, text in enumerate(_counted(tiles)):
        y = top + 18 + place * 20
        shade = 0.9 if place else 0.06
        parts.append(box(left + 480, y, 12, 12, max(place - 1, 0), text, shade))
        parts.append(cut(left + 500, y + 11, text))
    return "".join(parts), max(int(len(tiles.cells) * cell), 20 * len(tiles.legend)) + 24


def _signs(tiles: Tiles) -> list[str]:
    """A dot for the first, which is nothing; a rank's own digit for a rank."""
    digits = [re.search(r"rank (\d)$", name) for name in tiles.legend]
    return [
        digit[1] if digit else _SIGNS[(place - 1) % len(_SIGNS)] if place else "."
        for place, digit in enumerate(digits)
    ]


def _counted(tiles: Tiles) -> list[str]:
    counts = Counter(int(cell) for row in tiles.cells for cell in row)
    return [f"{name} ({amount(counts[place])})" for place, name in enumerate(tiles.legend)]
