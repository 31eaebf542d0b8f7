"""Draw what a rank did most of its time in each column, where many operations share one."""

import math
from collections.abc import Mapping
from itertools import groupby

from quizkit.ui.pictures.axis import axis
from quizkit.ui.pictures.bars import IDLE
from quizkit.ui.pictures.chart import Chart, Row, kind, margin
from quizkit.ui.pictures.drawn import Line, Picture, Stretch
from quizkit.words import Lang, say


def shares(chart: Chart, width: int, lang: Lang) -> Picture | None:
    """Draw the schedule in letters only; None where there is no column to put one."""
    names = margin(chart)
    columns = width - len(names[0]) - 2
    if columns < 1:
        return None
    lines: list[Line] = [
        (Stretch(f"{name}|"), *_most(row, chart.span, columns), Stretch("|"))
        for name, row in zip(names, chart.rows, strict=True)
    ]
    lines.append((Stretch(" " * (len(names[0]) + 1) + axis(0.0, chart.span, None, columns)),))
    per = f"{chart.span / columns:.4g}"
    note = say("lab.timeline_shares", lang, span=per, idle=IDLE)
    return Picture(tuple(lines), (note,), columns, columns)


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
    return [Stretch((letter[:1] or IDLE) * len([*run]), letter) for letter, run in groupby(letters)]


def _winner(spent: Mapping[str, float]) -> str:
    """The kind with the most time in a column, or nothing where being idle took more."""
    most = max(spent, key=lambda name: spent[name], default="")
    return most if most and spent[most] >= 1 - sum(spent.values()) else ""
