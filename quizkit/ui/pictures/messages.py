"""Who sent how much to whom: a table from rows to columns, and the arrows it amounts to."""

import math
from collections.abc import Sequence
from html import escape

from rich.text import Text

from quizkit.lab.picture import Messages
from quizkit.ui.pictures.look import amount, box, cut, fraction, ink
from quizkit.words import Lang, listed, say

_SHADES = ".-+#"  # nothing, less than a third of the most, less than two thirds, up to the most
_CELL, _RADIUS = 40, 120  # of the table and of the ring of ranks in an SVG
_MEGA = 1e6


def lines(sent: Messages, width: int, lang: Lang) -> list[Text]:
    """The table, with numbers if they fit and else with shades; below it the arrows."""
    return [*(_table(sent, width) or _shaded(sent, lang)), *arrows(sent, lang)]


def _table(sent: Messages, width: int) -> list[Text]:
    texts = [["." if not each else _short(each) for each in row] for row in sent.cells]
    wide = max([len(text) for row in texts for text in row] + [4])
    parts = len(sent.cells) // sent.node if sent.node else 0
    if 8 + len(texts) * (wide + 1) + 2 * parts > width:
        return []
    heads = [f"to {rank}" if rank == 0 else f"{rank}" for rank in range(len(texts))]
    drawn = [Text(" " * 7 + _row(sent, [each.rjust(wide) for each in heads]), no_wrap=True)]
    for rank, row in enumerate(texts):
        if sent.node and rank and rank % sent.node == 0:
            drawn.append(Text(""))
        line = Text(f"{f'from {rank}':7}", no_wrap=True)
        for to, text in enumerate(row):
            gap = "  |" if sent.node and to and to % sent.node == 0 else ""
            near = _near(sent, rank, to)
            line.append(gap).append(f" {text.rjust(wide)}", "" if text == "." else ink(1 - near))
        drawn.append(line)
    return drawn


def _row(sent: Messages, texts: Sequence[str]) -> str:
    """Texts of one width in columns, parted where a node ends."""
    ends = ["  |" if sent.node and to and to % sent.node == 0 else "" for to in range(len(texts))]
    return "".join(f"{end} {text}" for end, text in zip(ends, texts, strict=True))


def _near(sent: Messages, one: int, other: int) -> bool:
    """Whether two ranks are in one node; without nodes all are alike."""
    return not sent.node or one // sent.node == other // sent.node


def _shaded(sent: Messages, lang: Lang) -> list[Text]:
    most = max((each for row in sent.cells for each in row), default=0)
    drawn: list[Text] = []
    for rank, row in enumerate(sent.cells):
        line = Text(f"{rank:3} ", no_wrap=True)
        for each in row:
            shade = math.ceil(fraction(each, most) * 3)
            line.append(_SHADES[shade] + " ", ink(0) if shade else "")
        drawn.append(line)
    return [*drawn, Text(say("lab.picture_shades", lang, most=_short(most)), "dim")]


def arrows(sent: Messages, lang: Lang) -> list[Text]:
    """What the table amounts to: one ring, or who sends to whom; and what leaves the nodes."""
    told = [Text(each) for each in _ring(sent, lang) or _each(sent)]
    if sent.node:
        within, between = _sums(sent)
        text = say("lab.picture_nodes", lang, within=amount(within), between=amount(between))
        told.append(Text(text))
    return told


def _ring(sent: Messages, lang: Lang) -> list[str]:
    """One line if the arrows are a single ring through all ranks."""
    goals = [_goals(row) for row in sent.cells]
    if len(goals) < 2 or any(len(each) != 1 for each in goals):
        return []
    way = [0]
    while (following := goals[way[-1]][0]) not in way:
        way.append(following)
    if len(way) < len(goals) or goals[way[-1]][0] != 0:
        return []
    return [say("lab.picture_ring", lang, way=" -> ".join(map(str, [*way, 0])))]


def _each(sent: Messages) -> list[str]:
    """A line a rank that sends."""
    pairs = [(rank, _goals(row)) for rank, row in enumerate(sent.cells)]
    return [f"{rank} -> {', '.join(map(str, goals))}" for rank, goals in pairs if goals]


def _goals(row: Sequence[float]) -> list[int]:
    return [to for to, each in enumerate(row) if each]


def _sums(sent: Messages) -> tuple[float, float]:
    """What stayed within a node, and what left one."""
    pairs = [
        (_near(sent, i, j), each) for i, row in enumerate(sent.cells) for j, each in enumerate(row)
    ]
    return sum(each for near, each in pairs if near), sum(each for near, each in pairs if not near)


def sentence(sent: Messages, lang: Lang) -> str:
    """How many pairs talk, how much in all, the most on one arrow, and the arrows."""
    flat = [each for row in sent.cells for each in row]
    return say(
        "lab.picture_messages",
        lang,
        title=sent.title,
        unit=sent.unit,
        pairs=sum(1 for each in flat if each),
        total=amount(sum(flat)),
        most=amount(max(flat, default=0)),
        arrows=listed((each.plain for each in arrows(sent, lang)), lang),
    )


def shapes(sent: Messages, left: int, top: int) -> tuple[str, int]:
    """The table, and beside it the ranks in a ring with their arrows."""
    n, most = len(sent.cells), max((each for row in sent.cells for each in row), default=0)
    cell = min(_CELL, 320 // max(n, 1))
    parts: list[str] = []
    for i, row in enumerate(sent.cells):
        y = top + 16 + i * cell
        parts.append(cut(left + 20, y + cell * 0.6, f"{i}", "end"))
        parts.append(cut(left + 26 + (i + 0.5) * cell, top + 10, f"{i}", "middle"))
        for j, each in enumerate(row):
            tip = f"rank {i} -> rank {j}: {amount(each)}"
            near = not _near(sent, i, j)
            shade = 0.15 + 0.85 * fraction(each, most) if each else 0.04
            parts.append(box(left + 26 + j * cell, y, cell - 2, cell - 2, near, tip, shade))
    middle, centre = left + 560, top + 20 + _RADIUS
    angles = [2 * math.pi * rank / max(n, 1) - math.pi / 2 for rank in range(n)]
    places = [(middle + _RADIUS * math.cos(a), centre + _RADIUS * math.sin(a)) for a in angles]
    for i, row in enumerate(sent.cells):
        for j, each in enumerate(row):
            if each and i != j:
                width = 1 + 3 * fraction(each, most)
                parts.append(_arrow(places[i], places[j], width, f"{i} -> {j}: {amount(each)}"))
    for rank, (x, y) in enumerate(places):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12" fill="#fff" stroke="#555"/>')
        parts.append(cut(x, y + 4, f"{rank}", "middle"))
    return "".join(parts), max(2 * _RADIUS + 44, 24 + n * cell)


def _arrow(start: tuple[float, float], end: tuple[float, float], width: float, tip: str) -> str:
    """A bent line, so that the way back is another one, with its head at the end."""
    (x, y), (u, v) = start, end
    far = math.hypot(u - x, v - y)
    ex, ey = (u - x) / far, (v - y) / far
    x, y, u, v = x + 12 * ex, y + 12 * ey, u - 16 * ex, v - 16 * ey
    bx, by = (x + u) / 2 - 0.12 * (v - y), (y + v) / 2 + 0.12 * (u - x)
    side, back = (4 * ey, -4 * ex), (-8 * ey, 8 * ex)
    wing = f"{-7 * ex + side[0]:.1f} {-7 * ey + side[1]:.1f}l{back[0]:.1f} {back[1]:.1f}"
    head = f"M{u:.1f} {v:.1f}l{wing}z"
    return (
        f'<g><title>{escape(tip)}</title><path d="M{x:.1f} {y:.1f}Q{bx:.1f} {by:.1f}'
        f' {u:.1f} {v:.1f}" fill="none" stroke="#2f6fb3" stroke-width="{width:.1f}"/>'
        f'<path d="{head}" fill="#2f6fb3"/></g>'
    )


def _short(value: float) -> str:
    """A number in few letters, still exact where it is short."""
    if value < 1e5:
        return amount(value).replace(",", "")
    size, letter = (_MEGA, "M") if value >= _MEGA else (1e3, "k")
    return f"{value / size:.3g}{letter}"
