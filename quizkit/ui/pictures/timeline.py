"""A timeline in the terminal: one row a rank, one bar an operation, letters as well as colours.

Only ASCII inside the picture: terminals set for Chinese may draw other line characters two wide.
"""

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from quizkit.lab.report import Event
from quizkit.ui.pictures.chart import Chart, Row, kind
from quizkit.words import Lang, say

_IDLE = "."
_FILL = "-"
_WIDEST = 8  # columns for one unit of time; more would only stretch the picture
_LISTED = 2  # lines of operations a rank that can still be read


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a line; `of` is the operation it draws, for its colour."""

    text: str
    of: str = ""


Line = tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """One schedule drawn: lines that fit, and prose (to be wrapped) on what had to be left out."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


def draw(chart: Chart, width: int, lang: Lang) -> Picture:
    """Lines no wider than `width`: bars; where they do not fit, what was done most; else orders."""
    return _bars(chart, width, lang) or _shares(chart, width, lang) or _orders(chart, width, lang)


def headline(chart: Chart, lang: Lang) -> str:
    """What the picture shows, and how much of it is nothing."""
    clock = chart.clock if chart.clock in ("virtual", "simulated") else "wall"
    return say(
        f"lab.timeline_{clock}",
        lang,
        schedule=chart.schedule,
        span=f"{chart.span:.6g}",
        idle=f"{100 * chart.idle:.1f}",
    )


def _bars(chart: Chart, width: int, lang: Lang) -> Picture | None:
    names = _names(chart)
    margin = len(names[0])
    room = width - margin - 2
    unit = _unit(chart, room)
    slots = round(chart.span / unit) if unit else room + 1
    exact = slots <= room
    columns = slots * min(_WIDEST, room // slots) if exact else room
    if columns < 1 or not all(_visible(row, chart.span, columns) for row in chart.rows):
        return None
    lines: list[Line] = [
        (Stretch(f"{name}|"), *_row(row, chart.span, columns), Stretch("|"))
        for name, row in zip(names, chart.rows, strict=True)
    ]
    numbered = all(span.text.startswith(span.of) for line in lines for span in line)
    lines.append(
        (Stretch(" " * (margin + 1) + _axis(chart.span, unit if exact else None, columns)),)
    )
    notes = (("lab.timeline_rounded", exact), ("lab.timeline_unnumbered", numbered))
    return Picture(tuple(lines), tuple(say(key, lang) for key, fine in notes if not fine))


def _names(chart: Chart) -> list[str]:
    """What stands before each row, all of one width."""
    names = [f"rank {row.rank} " for row in chart.rows]
    return [name.ljust(max(map(len, names))) for name in names]


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
    """Whether every operation gets a column at least."""
    if len(row.events) > columns:
        return False
    ends = [_ends(event, span, columns) for event in row.events]
    return all(start < end for start, end in ends)


def _row(row: Row, span: float, columns: int) -> list[Stretch]:
    spans: list[Stretch] = []
    at = 0
    for event in row.events:
        start, end = _ends(event, span, columns)
        if start > at:
            spans.append(Stretch(_IDLE * (start - at)))
        spans.append(Stretch(_label(event.name, end - start).ljust(end - start, _FILL), event.name))
        at = end
    if at < columns:
        spans.append(Stretch(_IDLE * (columns - at)))
    return spans


def _label(name: str, columns: int) -> str:
    """The name if there is room for all of it: half a number would be another number."""
    what = kind(name)
    return name if len(name) <= columns else what if len(what) <= columns else name[0]


def _axis(span: float, unit: Fraction | None, columns: int) -> str:
    """Times under the picture, at round multiples of the unit, the last one at its end."""
    last = f"{span:.6g}"
    if columns < len(last):
        return ""
    step = float(unit) if unit else 10.0 ** math.floor(math.log10(span / columns))
    for factor in (2, 2.5, 2) * 5:
        # A third is written longer than the end it adds up to.
        if step * columns / span >= max(len(last) + 3, len(f"{step:.6g}") + 1):
            break
        step *= factor
    text = ""
    for index in range(math.floor(span / step) + 1):
        place = round(index * step * columns / span)
        label = f"{index * step:.6g}"
        if place + max(len(label), len(last)) + len(last) + 2 <= columns:
            text = text.ljust(place) + label
    return text.ljust(columns - len(last)) + last


def _shares(chart: Chart, width: int, lang: Lang) -> Picture | None:
    """Where many operations share a column: what the rank did most of its time there."""
    names = _names(chart)
    columns = width - len(names[0]) - 2
    longest = max(len(_order(row, width)) for row in chart.rows)
    if columns < 1 or longest <= _LISTED:
        return None
    lines: list[Line] = [
        (Stretch(f"{name}|"), *_most(row, chart.span, columns), Stretch("|"))
        for name, row in zip(names, chart.rows, strict=True)
    ]
    lines.append((Stretch(" " * (len(names[0]) + 1) + _axis(chart.span, None, columns)),))
    per = f"{chart.span / columns:.4g}"
    return Picture(tuple(lines), (say("lab.timeline_shares", lang, span=per, idle=_IDLE),))


def _most(row: Row, span: float, columns: int) -> list[Stretch]:
    """A letter for each column: the kind of operation that took most of it, or idle."""
    spent: list[dict[str, float]] = [{} for _ in range(columns)]
    scale = columns / span
    for event in row.events:
        what = kind(event.name)
        at, end = event.start * scale, event.end * scale
        for column in range(int(at), min(columns, math.ceil(end))):
            part = min(end, column + 1) - max(at, column)
            spent[column][what] = spent[column].get(what, 0.0) + part
    letters = [_winner(found) for found in spent]
    return [
        Stretch((letter[:1] or _IDLE) * len([*run]), letter) for letter, run in groupby(letters)
    ]


def _winner(spent: Mapping[str, float]) -> str:
    """The kind with the most time in a column, or nothing where being idle took more."""
    most = max(spent, key=lambda name: spent[name], default="")
    return most if most and spent[most] >= 1 - sum(spent.values()) else ""


def _orders(chart: Chart, width: int, lang: Lang) -> Picture:
    lines: list[Line] = [(Stretch(line),) for row in chart.rows for line in _order(row, width)]
    return Picture(tuple(lines), (say("lab.timeline_narrow", lang),))


def _order(row: Row, width: int) -> list[str]:
    """What a rank did one after the other, wrapped."""
    order = " ".join(event.name for event in row.events) or _IDLE
    return textwrap.wrap(f"rank {row.rank}: {order}", max(width, 3), subsequent_indent="  ")
