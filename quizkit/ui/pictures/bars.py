"""Bars with their names in them; a schedule too long for one row of columns goes on below."""

import math
from collections.abc import Sequence
from fractions import Fraction

from quizkit.lab.report import Event
from quizkit.ui.pictures.axis import axis
from quizkit.ui.pictures.chart import Chart, Row, kind, margin
from quizkit.ui.pictures.drawn import Line, Picture, Stretch
from quizkit.words import Lang, say

IDLE = "."
_FILL = "-"
_WIDEST = 8  # columns for one unit of time; more would only stretch the picture
_BLOCKS = 3  # stretches of time one under the other
_ROWS = 24  # rows of all blocks together: what can still be looked at in one go


def bars(chart: Chart, width: int, lang: Lang) -> Picture | None:
    """Draw bars in as few blocks as name every operation, else as few as show each; else None."""
    room = width - len(margin(chart)[0]) - 2
    most = max(1, min(_BLOCKS, _ROWS // len(chart.rows)))
    drawn = [found for n in range(1, most + 1) if (found := _folded(chart, room, n, lang))]
    return next((each for each, named in drawn if named), drawn[0][0] if drawn else None)


def _folded(chart: Chart, room: int, blocks: int, lang: Lang) -> tuple[Picture, bool] | None:
    """The picture in so many blocks, and whether each operation's name is written in full."""
    unit = _unit(chart, room * blocks)
    slots = round(chart.span / unit) if unit else 0
    each = math.ceil(slots / blocks)
    exact = 0 < each <= room
    wide = each * min(_WIDEST, room // each) if exact else room  # columns of a block
    columns = slots * (wide // each) if exact else room * blocks
    if columns < 1 or not all(_visible(row, chart.span, columns) for row in chart.rows):
        return None
    rows = [_row(row, chart.span, columns, wide) for row in chart.rows]
    lines: list[Line] = []
    for at in range(0, columns, wide):
        here = min(wide, columns - at)
        for name, row in zip(margin(chart), rows, strict=True):
            lines.append((Stretch(f"{name}|"), *row[at // wide], Stretch("|")))
        times = (at * chart.span / columns, (at + here) * chart.span / columns)
        below = axis(*times, float(unit) if unit and exact else None, here)
        lines.append((Stretch(" " * (len(margin(chart)[0]) + 1) + below),))
    named = all(
        span.text.startswith(span.of) or span.text.strip(_FILL) == ""
        for line in lines
        for span in line
    )
    notes = (
        ("lab.timeline_folded", blocks == 1),
        ("lab.timeline_rounded", exact),
        ("lab.timeline_unnumbered", named),
    )
    said = tuple(say(key, lang, blocks=blocks) for key, fine in notes if not fine)
    return Picture(tuple(lines), said, columns, wide), named


def _unit(chart: Chart, room: int) -> Fraction | None:
    """The longest time that every start and end is a multiple of, if there is room for each."""
    moments = {t for row in chart.rows for event in row.events for t in (event.start, event.end)}
    if len(moments) > room + 1:
        return None
    near = {moment: Fraction(moment).limit_denominator(1000) for moment in moments}
    if any(abs(moment - exact) > 1e-9 * chart.span for moment, exact in near.items()):
        return None
    below = math.lcm(*(exact.denominator for exact in near.values()))
    return Fraction(math.gcd(*(int(exact * below) for exact in near.values())), below)


def _ends(event: Event, span: float, columns: int) -> tuple[int, int]:
    return round(event.start * columns / span), round(event.end * columns / span)


def _visible(row: Row, span: float, columns: int) -> bool:
    """Tell whether every operation gets at least one column."""
    if len(row.events) > columns:
        return False
    ends = [_ends(event, span, columns) for event in row.events]
    return all(start < end for start, end in ends)


def _row(row: Row, span: float, columns: int, wide: int) -> Sequence[Sequence[Stretch]]:
    """A rank's line, cut into blocks `wide` columns each."""
    blocks: list[list[Stretch]] = [[] for _ in range(0, columns, wide)]

    def put(start: int, end: int, name: str) -> None:
        at = start
        while at < end:
            until = min(end, (at // wide + 1) * wide)
            if not name:
                text = IDLE * (until - at)
            else:
                # An operation that goes on in the next block is not called there again: it is one.
                label = _label(name, until - at) if at == start else ""
                text = label.ljust(until - at, _FILL)
            blocks[at // wide].append(Stretch(text, name))
            at = until

    at = 0
    for event in row.events:
        start, end = _ends(event, span, columns)
        put(at, start, "")
        put(start, end, event.name)
        at = end
    put(at, columns, "")
    return blocks


def _label(name: str, columns: int) -> str:
    """The name if there is room for all of it: half a number would be another number."""
    what = kind(name)
    return name if len(name) <= columns else what if len(what) <= columns else name[0]
