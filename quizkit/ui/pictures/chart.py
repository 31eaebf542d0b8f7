"""The data every picture of a timeline is drawn from: one schedule, a row for each rank."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from quizkit.lab.report import Event, Hop, Timeline

# Operations that everybody draws in the same colour; whatever else there is follows after them.
_USUAL = ("F", "B", "W")


@dataclass(frozen=True, slots=True)
class Row:
    """Events of one rank, none overlapping; a rank that did two things at once has two rows."""

    rank: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One schedule from 0 to `span`."""

    schedule: str
    clock: str
    span: float
    ranks: int
    rows: tuple[Row, ...]
    kinds: tuple[str, ...]
    """The kinds of operations in it, in the order of their colours."""
    hops: tuple[Hop, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict[str, str])
    """The run's own words for its names."""

    @property
    def idle(self) -> float:
        """The share of the step in which ranks did nothing (a pipeline's bubble)."""
        lanes = groupby(self.rows, key=lambda row: row.rank)
        busy = sum(_busy(row.events for row in rows) for _, rows in lanes)
        return 1 - busy / (self.span * self.ranks)


def kind(name: str) -> str:
    """Return the kind of an operation, its name without the number: F3 is an F."""
    letters = re.match(r"[^\W\d_]+", name)
    return letters[0] if letters else name[:1]


def colour(name: str, kinds: Sequence[str], colours: int) -> int:
    """Return an operation's colour, below `colours`; forwards and backwards always have the same.

    Where there is only one other kind, its operations are told apart by their numbers.
    """
    what = kind(name)
    if what in _USUAL:
        return _USUAL.index(what)
    number = re.search(r"\d+", name)
    if [what] == [*kinds] and number:  # of one kind all: which of them goes where is what one sees
        return int(number[0]) % colours
    others = [each for each in kinds if each not in _USUAL]
    return len(_USUAL) + others.index(what) % (colours - len(_USUAL))


def margin(chart: Chart) -> list[str]:
    """Return the text before each row, all of one width."""
    names = [f"rank {row.rank} " for row in chart.rows]
    return [name.ljust(max(map(len, names))) for name in names]


def charts(timeline: Timeline, ranks: int) -> tuple[Chart, ...]:
    """Make one chart for each schedule, in the order run; what took no time is left out."""
    events = [event for event in timeline.events if event.end > event.start]
    schedules = dict.fromkeys(event.schedule for event in events)
    drawn = (
        _chart(name, timeline.clock, [e for e in events if e.schedule == name], ranks)
        for name in schedules
    )
    return tuple(
        replace(
            each,
            hops=tuple(hop for hop in timeline.hops if hop.schedule == each.schedule),
            letters=timeline.letters,
        )
        for each in drawn
    )


def _chart(schedule: str, clock: str, events: Sequence[Event], ranks: int) -> Chart:
    # A counted clock starts at 0 on every rank, so waiting for the first message is idle time too.
    zero = min(event.start for event in events) if clock == "wall" else 0.0
    moved = [*events] if zero == 0 else [_moved(event, zero) for event in events]
    moved.sort(key=lambda event: (event.rank, event.start, event.end))
    by_rank = {rank: [*found] for rank, found in groupby(moved, key=lambda event: event.rank)}
    rows = [
        Row(rank, tuple(lane))
        for rank in range(ranks)
        for lane in _lanes(by_rank.get(rank, [])) or [[]]
    ]
    found = {kind(name) for name in {event.name for event in moved}}
    kinds = [k for k in _USUAL if k in found] + sorted(found.difference(_USUAL))
    span = max(event.end for event in moved)
    return Chart(schedule, clock, span, ranks, tuple(rows), tuple(kinds))


def _moved(event: Event, zero: float) -> Event:
    return replace(event, start=event.start - zero, end=event.end - zero)


def _lanes(events: Iterable[Event]) -> list[list[Event]]:
    """Events in order of their start, each in the first lane that is free by then."""
    lanes: list[list[Event]] = []
    for event in events:
        free = (lane for lane in lanes if lane[-1].end <= event.start + 1e-9)
        lane = next(free, None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(event)
    return lanes


def _busy(lanes: Iterable[Sequence[Event]]) -> float:
    """The time in which at least one event was going on."""
    total, reached = 0.0, 0.0
    for event in sorted((e for lane in lanes for e in lane), key=lambda e: e.start):
        total += max(0.0, event.end - max(event.start, reached))
        reached = max(reached, event.end)
    return total
