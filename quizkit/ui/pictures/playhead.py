"""Look up a moment of a schedule: what each rank is doing, which messages are under way."""

from collections.abc import Iterable

from quizkit.lab.report import Event, Hop
from quizkit.ui.pictures.chart import Chart

_NEAR = 1e-9  # of the span: how far apart two times are that are meant to be one


def moments(chart: Chart) -> list[float]:
    """List the times at which anything starts, ends, leaves or arrives, and 0, rounding aside."""
    events = [event for row in chart.rows for event in row.events]
    return _apart(chart, (t for each in (*events, *chart.hops) for t in (each.start, each.end)))


def steps(chart: Chart) -> list[float]:
    """List the moments, and when a message is half way: else it would not be seen to travel."""
    halves = ((hop.start + hop.end) / 2 for hop in chart.hops)
    return _apart(chart, (*moments(chart), *halves))


def _apart(chart: Chart, times: Iterable[float]) -> list[float]:
    kept = [0.0]
    for time in sorted({*times}):
        if time - kept[-1] > _NEAR * chart.span:
            kept.append(time)
    return kept


def doing(chart: Chart, rank: int, at: float) -> list[Event]:
    """Return the events a rank is at; one that ends now is over."""
    near = _NEAR * chart.span
    events = (e for row in chart.rows if row.rank == rank for e in row.events)
    return [e for e in events if e.start <= at + near < e.end]


def flying(chart: Chart, rank: int, at: float, since: float) -> list[Hop]:
    """List messages a rank has sent that are under way or arrived `since`, as they left.

    What arrives now is still seen: a message that takes no time would never be otherwise.
    """
    near = _NEAR * chart.span
    left = [h for h in chart.hops if h.rank == rank and h.start <= at + near]
    seen = (h for h in left if h.end >= at - near or h.end > since + near)
    return sorted(seen, key=lambda hop: hop.start)


def sent(chart: Chart, rank: int, at: float) -> list[Hop]:
    """List the messages that leave a rank at this moment."""
    return [h for h in chart.hops if h.rank == rank and abs(h.start - at) <= _NEAR * chart.span]


def come(chart: Chart, rank: int, at: float) -> list[Hop]:
    """List the messages that arrive at a rank at this moment."""
    return [h for h in chart.hops if h.to == rank and abs(h.end - at) <= _NEAR * chart.span]
