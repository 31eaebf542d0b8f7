"""Draw who sent how much to whom: a table from rows to columns, and its arrows.

Where the run says along which axes its ranks are arranged, a map of ranks takes the arrows' place:
a line for each axis, in which ranks of one group have the same letter.
"""

import math
import string
from collections.abc import Sequence
from html import escape
from itertools import count

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from quizkit.lab.picture import Axis, Messages
from quizkit.ui.pictures.look import amount, box, cut, fill, fitted, fraction, ink
from quizkit.words import Lang, listed, say

_SHADES = ".-+#"  # nothing, less than a third of the most, less than two thirds, up to the most
_CELL, _RADIUS = 40, 120  # of the table and of the ring of ranks in an SVG
_APART = 44  # ranks of a node, in the SVG
_FEW = 4  # ranks whose arrows can always be told apart
_MEGA = 1e6
_TOLD = 4  # groups that are listed where there is no room for a map


def lines(sent: Messages, width: int, lang: Lang) -> list[Text]:
    """Draw the table, with numbers if they fit and else with shades; below it the arrows, or the
    map of ranks where there are axes.
    """
    below = _map(sent, width, lang) if sent.axes else arrows(sent, lang)
    return [*(_table(sent, width) or _shaded(sent, width, lang)), *below]


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
            colour = ink(_place(sent, rank, to))
            line.append(gap).append(f" {text.rjust(wide)}", "" if text == "." else colour)
        drawn.append(line)
    return drawn


def _row(sent: Messages, texts: Sequence[str]) -> str:
    """Texts of one width in columns, parted where a node ends."""
    ends = ["  |" if sent.node and to and to % sent.node == 0 else "" for to in range(len(texts))]
    return "".join(f"{end} {text}" for end, text in zip(ends, texts, strict=True))


def _near(sent: Messages, one: int, other: int) -> bool:
    """Tell whether two ranks are in one node; without nodes all are."""
    return not sent.node or one // sent.node == other // sent.node


def _place(sent: Messages, one: int, other: int) -> int:
    """The colour of what one rank sends another: by axis, else by whether it leaves the node."""
    if sent.axes:
        return next((i for i, each in enumerate(sent.axes) if _along(each, one, other)), -1)
    return 1 - _near(sent, one, other)


def _along(axis: Axis, one: int, other: int) -> bool:
    """Tell whether two ranks are in one group of the axis."""
    return any(one in group and other in group for group in axis.groups)


def _map(sent: Messages, width: int, lang: Lang) -> list[Text]:
    """A line for each axis: the ranks, with one letter for one group; what was sent along it."""
    n, names = len(sent.cells), [axis.label for axis in sent.axes]
    letters = [_letters(axis, n) for axis in sent.axes]
    wide = max(cell_len(each) for row in [*letters, [f"{n - 1}"]] for each in row)
    first = [say("lab.picture_ranks", lang), *fitted(names, width)]
    room = max(map(cell_len, first))
    heads, sums = _sums_told(sent, lang)
    columns = [max(cell_len(each) for each in column) for column in zip(heads, *sums, strict=True)]
    rows = [[f"{rank}" for rank in range(n)], *letters]
    drawn: list[Text] = []
    for place, (name, row, told) in enumerate(zip(first, rows, [heads, *sums], strict=True), -1):
        line = Text(set_cell_size(name, room) + " ", no_wrap=True)
        line.append(
            _row(sent, [each.rjust(wide) for each in row]), ink(place) if place >= 0 else ""
        )
        for text, column in zip(told, columns, strict=True):
            line.append("  " + " " * (column - cell_len(text)) + text)
        drawn.append(line)
    if max(line.cell_len for line in drawn) > width:
        drawn = [Text(each) for each in _along_axes(sent, lang)]
    if sent.node:
        drawn.append(_of_nodes(sent, lang))
    return drawn


def _letters(axis: Axis, n: int) -> list[str]:
    """For each rank the letter of its group, or the number of it; a dash where it is in none."""
    signs = string.ascii_letters if len(axis.groups) <= len(string.ascii_letters) else ()
    found = {
        rank: signs[i] if signs else f"{i}" for i, each in enumerate(axis.groups) for rank in each
    }
    return [found.get(rank, "-") for rank in range(n)]


def _sums_told(sent: Messages, lang: Lang) -> tuple[list[str], list[list[str]]]:
    """Heads of columns, and for each axis what was sent along it: inside nodes and across."""
    pairs = [_sums(sent, axis) for axis in sent.axes]
    if not sent.node:
        return [say("lab.picture_sent", lang)], [[amount(sum(each))] for each in pairs]
    heads = [say("lab.picture_within", lang), say("lab.picture_between", lang)]
    return heads, [[*map(amount, each)] for each in pairs]


def _along_axes(sent: Messages, lang: Lang) -> list[str]:
    """For each axis its groups, the first few where there are many, and what was sent along it."""
    told: list[str] = []
    for axis in sent.axes:
        shown = axis.groups if len(axis.groups) <= 2 * _TOLD else axis.groups[:_TOLD]
        texts = [f"{{{' '.join(map(str, group))}}}" for group in shown]
        rest = len(axis.groups) - len(shown)
        more = say("lab.picture_more_groups", lang, count=rest) if rest else ""
        within, between = map(amount, _sums(sent, axis))
        name = "lab.picture_axis_nodes" if sent.node else "lab.picture_axis"
        groups = " ".join(texts) + more
        said = say(name, lang, axis=axis.label, groups=groups, within=within, between=between)
        told.append(said)
    return told


def _of_nodes(sent: Messages, lang: Lang) -> Text:
    within, between = map(amount, _sums(sent))
    return Text(say("lab.picture_nodes", lang, within=within, between=between))


def _shaded(sent: Messages, width: int, lang: Lang) -> list[Text]:
    """A sign for each cell; nothing where even these do not fit."""
    most = max((each for row in sent.cells for each in row), default=0)
    apart = " " if 4 + 2 * len(sent.cells) <= width else ""
    if 4 + len(sent.cells) > width:
        return []
    drawn: list[Text] = []
    for rank, row in enumerate(sent.cells):
        line = Text(f"{rank:3} ", no_wrap=True)
        for each in row:
            shade = math.ceil(fraction(each, most) * 3)
            line.append(_SHADES[shade] + apart, ink(0) if shade else "")
        drawn.append(line)
    return [*drawn, Text(say("lab.picture_shades", lang, most=_short(most)), "dim")]


def arrows(sent: Messages, lang: Lang) -> list[Text]:
    """Say the table as one ring, or who sends to whom; then what leaves the nodes."""
    told = [Text(each) for each in _ring(sent, lang) or _each(sent)]
    if sent.node:
        told.append(_of_nodes(sent, lang))
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


def _sums(sent: Messages, axis: Axis | None = None) -> tuple[float, float]:
    """Return the amount that stayed within a node, and the amount that left one: along an axis."""
    pairs = [
        (_near(sent, i, j), each)
        for i, row in enumerate(sent.cells)
        for j, each in enumerate(row)
        if each and (axis is None or _along(axis, i, j))
    ]
    return sum(each for near, each in pairs if near), sum(each for near, each in pairs if not near)


def sentence(sent: Messages, lang: Lang) -> str:
    """Say how many pairs talk, how much in all, the most on one arrow, and the arrows."""
    flat = [each for row in sent.cells for each in row]
    told = listed((each.plain for each in arrows(sent, lang)), lang)
    if sent.axes:
        whole = [_of_nodes(sent, lang).plain] if sent.node else []
        told = say("lab.picture_apart", lang).join([*_along_axes(sent, lang), *whole])
    return say(
        "lab.picture_messages",
        lang,
        title=sent.title,
        unit=sent.unit,
        pairs=sum(1 for each in flat if each),
        total=amount(sum(flat)),
        most=amount(max(flat, default=0)),
        arrows=told,
    )


def shapes(sent: Messages, left: int, top: int, lang: Lang) -> tuple[str, int]:
    """Draw the table, and beside it the ranks with their arrows: by nodes where a run has some, as
    a tree where they are one, else in a ring. Where all talk to all the table says it alone. Axes
    have a colour each, and under the table what was sent along them.
    """
    n, most = len(sent.cells), max((each for row in sent.cells for each in row), default=0)
    cell = min(_CELL, 320 // max(n, 1))
    parts: list[str] = []
    for i, row in enumerate(sent.cells):
        y = top + 16 + i * cell
        parts.append(cut(left + 20, y + cell * 0.6, f"{i}", "end"))
        parts.append(cut(left + 26 + (i + 0.5) * cell, top + 10, f"{i}", "middle"))
        for j, each in enumerate(row):
            tip = f"rank {i} -> rank {j}: {amount(each)}{_named(sent, i, j)}"
            place = _place(sent, i, j)
            shade = 0.15 + 0.85 * fraction(each, most) if each else 0.04
            parts.append(box(left + 26 + j * cell, y, cell - 2, cell - 2, place, tip, shade))
    table = 24 + n * cell
    if _is_crowded(sent):
        return "".join(parts) + _legend(sent, left, top + table, lang), table + _tall(sent)
    places = _places(sent, left + 560, top + 20)
    for rank in range(0, n, sent.node) if sent.node else ():
        xs, ys = zip(*places[rank : rank + sent.node], strict=True)
        x, y = min(xs) - 22, min(ys) - 22
        wide, high = max(xs) - min(xs) + 44, max(ys) - min(ys) + 44
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="8"'
            f' fill="#f4f4f4" stroke="#bbb"/>'
        )
    for i, row in enumerate(sent.cells):
        for j, each in enumerate(row):
            if each and i != j:
                width = 1 + 3 * fraction(each, most)
                tip = f"{i} -> {j}: {amount(each)}{_named(sent, i, j)}"
                colour = fill(_place(sent, i, j) if sent.axes else 0)
                parts.append(_arrow(places[i], places[j], width, tip, colour))
    for rank, (x, y) in enumerate(places):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12" fill="#fff" stroke="#555"/>')
        parts.append(cut(x, y + 4, f"{rank}", "middle"))
    deep = max((y for _, y in places), default=0) - top
    low = max(math.ceil(deep) + 24, table)
    return "".join(parts) + _legend(sent, left, top + low, lang), low + _tall(sent)


def _legend(sent: Messages, left: int, top: int, lang: Lang) -> str:
    """A line for each axis, in its colour."""
    return "".join(
        box(left + 26, top + 18 * place, 10, 10, place, text)
        + cut(left + 42, top + 18 * place + 9, text)
        for place, text in enumerate(_along_axes(sent, lang))
    )


def _tall(sent: Messages) -> int:
    return 18 * len(sent.axes)


def _named(sent: Messages, one: int, other: int) -> str:
    """The axis that two ranks talk along, in brackets; nothing where there is none."""
    labels = [axis.label for axis in sent.axes if _along(axis, one, other)]
    return f" ({labels[0]})" if labels else ""


def _is_crowded(sent: Messages) -> bool:
    """Tell whether arrows would hide one another: more than four ranks, most pairs talking."""
    n = len(sent.cells)
    return n > _FEW and sum(len(_goals(row)) for row in sent.cells) > n * (n - 1) // 2


def _places(sent: Messages, middle: float, top: float) -> list[tuple[float, float]]:
    """Return the place of each rank in the drawing."""
    n = len(sent.cells)
    if sent.node:
        nodes, wide = math.ceil(n / sent.node), math.ceil(math.sqrt(sent.node))
        high = math.ceil(sent.node / wide)
        far = max(_RADIUS - 20, nodes * wide * _APART / 5) if nodes > 1 else 0
        ring = _ring_of(nodes, middle, top + far + (high - 1) * _APART / 2, far)
        return [
            (
                ring[rank // sent.node][0] + (rank % sent.node % wide - (wide - 1) / 2) * _APART,
                ring[rank // sent.node][1] + (rank % sent.node // wide - (high - 1) / 2) * _APART,
            )
            for rank in range(n)
        ]
    if spots := _tree(sent):
        deep = max(depth for _, depth in spots) or 1
        wide = max(across for across, _ in spots)
        apart = min(60, 400 / (wide or 1))
        return [
            (middle + (across - wide / 2) * apart, top + depth * 2 * _RADIUS / deep)
            for across, depth in spots
        ]
    return _ring_of(n, middle, top + _RADIUS, _RADIUS)


def _ring_of(count: int, x: float, y: float, radius: float) -> list[tuple[float, float]]:
    """Spots on a circle, clockwise from the top."""
    angles = [2 * math.pi * each / max(count, 1) - math.pi / 2 for each in range(count)]
    return [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]


def _tree(sent: Messages) -> list[tuple[float, int]]:
    """Of ranks that talk along a tree, rank by rank: how far to the right, and how deep below
    rank 0. Nothing where there is a circle, or a rank that talks to nobody."""
    n = len(sent.cells)
    goals = [_goals(row) for row in sent.cells]
    near = [{*each, *(i for i in range(n) if rank in goals[i])} for rank, each in enumerate(goals)]
    if n < 3 or sum(map(len, near)) != 2 * (n - 1):
        return []
    spots: dict[int, tuple[float, int]] = {}
    leaves = count()

    def place(rank: int, above: int, depth: int) -> float:
        below = [place(each, rank, depth + 1) for each in sorted(near[rank] - {above, rank})]
        spots[rank] = (sum(below) / len(below) if below else next(leaves), depth)
        return spots[rank][0]

    if not _reaches_all(near):
        return []
    place(0, 0, 0)
    return [spots[rank] for rank in range(n)]


def _reaches_all(near: Sequence[set[int]]) -> bool:
    found, fresh = {0}, [0]
    while fresh:
        fresh = [each for rank in fresh for each in near[rank] if each not in found]
        found |= {*fresh}
    return len(found) == len(near)


def _arrow(
    start: tuple[float, float], end: tuple[float, float], width: float, tip: str, colour: str
) -> str:
    """A bent line, so that the way back is another one, with its head at the end."""
    (x, y), (u, v) = start, end
    far = math.hypot(u - x, v - y)
    ex, ey = (u - x) / far, (v - y) / far
    x, y, u, v = x + 12 * ex, y + 12 * ey, u - 16 * ex, v - 16 * ey
    bx, by = (x + u) / 2 - 0.12 * (v - y), (y + v) / 2 + 0.12 * (u - x)
    bent = math.hypot(u - bx, v - by)
    ex, ey = (u - bx) / bent, (v - by) / bent  # the head lies as the line arrives
    side, back = (4 * ey, -4 * ex), (-8 * ey, 8 * ex)
    wing = f"{-7 * ex + side[0]:.1f} {-7 * ey + side[1]:.1f}l{back[0]:.1f} {back[1]:.1f}"
    head = f"M{u:.1f} {v:.1f}l{wing}z"
    return (
        f'<g><title>{escape(tip)}</title><path d="M{x:.1f} {y:.1f}Q{bx:.1f} {by:.1f}'
        f' {u:.1f} {v:.1f}" fill="none" stroke="{colour}" stroke-width="{width:.1f}"/>'
        f'<path d="{head}" fill="{colour}"/></g>'
    )


def _short(value: float) -> str:
    """A number in few letters, still exact where it is short."""
    if value < 1e5:
        return amount(value).replace(",", "")
    size, letter = (_MEGA, "M") if value >= _MEGA else (1e3, "k")
    return f"{value / size:.3g}{letter}"
