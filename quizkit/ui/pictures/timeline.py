"""A timeline in the terminal: one row a rank, one bar an operation, letters as well as colours.

Only ASCII inside the picture: terminals set for Chinese may draw other line characters two wide.
"""

import textwrap
from collections.abc import Iterable

from quizkit.ui.pictures.axis import at
from quizkit.ui.pictures.bars import IDLE, bars
from quizkit.ui.pictures.chart import Chart, Row
from quizkit.ui.pictures.drawn import Line, Picture, Stretch
from quizkit.ui.pictures.shares import shares
from quizkit.words import Lang, say

_LISTED = 6  # lines of names that can still be read


def draw(chart: Chart, width: int, lang: Lang) -> Picture:
    """Draw lines no wider than `width`: bars; if they do not fit, orders if short; else letters."""
    found = bars(chart, width, lang)
    if found:
        return found
    lines = [line for row in chart.rows for line in _order(row, width)]
    if len(lines) > _LISTED:
        found = shares(chart, width, lang)
    # Where not one column is left beside the names, what there is of a list has to do.
    return found or _orders(lines, lang)


def headline(chart: Chart, lang: Lang) -> str:
    """Say what the picture shows, and how much of it is idle."""
    clock = chart.clock if chart.clock in ("virtual", "simulated") else "wall"
    return say(
        f"lab.timeline_{clock}",
        lang,
        schedule=chart.schedule,
        span=at(chart.span),
        idle=f"{100 * chart.idle:.1f}",
    )


def letters(charts: Iterable[Chart], lang: Lang) -> str:
    """Say what F, B and W stand for, if there is a backward in one of the charts; else nothing.

    B is the gradient of the input where a schedule has a W for that of the weights, of both in
    all others.
    """
    kinds = [{*chart.kinds} for chart in charts]
    trained = [each for each in kinds if {"F", "B"} <= each]
    if not trained:
        return ""
    apart = ["W" in each for each in trained]
    which = "split" if all(apart) else "both" if any(apart) else "whole"
    return say(f"lab.letters_{which}", lang)


def _orders(lines: list[str], lang: Lang) -> Picture:
    kept = lines if len(lines) <= _LISTED else [*lines[: _LISTED - 1], "..."]
    drawn: list[Line] = [(Stretch(line),) for line in kept]
    return Picture(tuple(drawn), (say("lab.timeline_narrow", lang),))


def _order(row: Row, width: int) -> list[str]:
    """List what a rank did one after the other, wrapped."""
    order = " ".join(event.name for event in row.events) or IDLE
    return textwrap.wrap(f"rank {row.rank}: {order}", max(width, 3), subsequent_indent="  ")
