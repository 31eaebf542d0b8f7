"""Where a schedule stands at a time, and the way of an operation from rank to rank."""

from collections.abc import Sequence
from itertools import pairwise

from quizkit.lab.report import Event
from quizkit.ui.pictures.chart import Chart, kind

_NEAR = 1e-9  # of the span: how far apart two times are that are meant to be one


def events(chart: Chart) -> list[Event]:
    """All of them, by start and rank."""
    found = [event for row in chart.rows for event in row.events]
    return sorted(found, key=lambda event: (event.start, event.rank))


def moments(chart: Chart) -> list[float]:
    """When something starts or ends, and 0; times apart by rounding alone are one."""
    kept = [0.0]
    for time in sorted({t for event in events(chart) for t in (event.start, event.end)}):
        if time - kept[-1] > _NEAR * chart.span:
            kept.append(time)
    return kept


def doing(chart: Chart, rank: int, at: float) -> list[Event]:
    """What a rank is at; what ends now is over."""
    near = _NEAR * chart.span
    return [e for e in events(chart) if e.rank == rank and e.start <= at + near < e.end]


def way(chart: Chart, event: Event) -> Sequence[int]:
    """The ranks on which this very name ran, in order; nothing if it went from none to another.

    It did if no rank has it twice and no two have it at the same time. Gradients of weights stay
    where they are: that the ranks take turns with W3 makes no way of it.
    """
    same = [each for each in events(chart) if each.name == event.name]
    ranks = [each.rank for each in same]
    apart = all(one.end <= two.start + _NEAR * chart.span for one, two in pairwise(same))
    alone = len(ranks) < 2 or len(set(ranks)) < len(ranks)
    return () if kind(event.name) == "W" or alone or not apart else ranks
