"""A timeline as a Chrome trace: opens in Perfetto or chrome://tracing."""

from typing import Any

from quizkit.lab.report import Report
from quizkit.ui.pictures.chart import charts, kind

# Traces know only microseconds. A second stays a second; a unit of the virtual clock becomes one
# millisecond, which the file says.
_SECOND, _UNIT = 1e6, 1e3


def trace(report: Report) -> dict[str, Any]:
    """Write a process for each schedule, a thread for each rank; only what the run measured."""
    scale = _UNIT if report.timeline.clock == "virtual" else _SECOND
    events: list[dict[str, Any]] = []
    for number, chart in enumerate(charts(report.timeline, report.ranks), 1):
        events.append(_names("process_name", number, 0, chart.schedule))
        events += [
            _names("thread_name", number, rank, f"rank {rank}") for rank in range(report.ranks)
        ]
        events += [
            {
                "ph": "X",
                "pid": number,
                "tid": event.rank,
                "name": event.name,
                "cat": kind(event.name),
                "ts": event.start * scale,
                "dur": (event.end - event.start) * scale,
            }
            for row in chart.rows
            for event in row.events
        ]
    clock = "virtual: one unit is drawn as 1 ms" if scale == _UNIT else "wall"
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {"demo": report.demo, "ranks": report.ranks, "clock": clock},
    }


def _names(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": thread, "name": what, "args": {"name": name}}
