"""A clock that counts costs, not seconds, carried on the real messages; and what took seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist

from .here import here

Link = Callable[[int, int], float]


class VirtualClock:
    """One rank's time: its own operations, and the messages it had to wait for."""

    def __init__(self, schedule: str, transfer: float | Link):
        self.schedule = schedule
        self.transfer = transfer
        self.now = 0.0
        self._taken: dict[int, float] = {}

    def spend(self, cost: float, name: str) -> None:
        """Run an operation of this cost, and keep it for the timeline."""
        start, self.now = self.now, self.now + cost
        _keep(self.schedule, name, start, self.now)

    def send(self, name: str, to: int, size: int) -> float:
        """A message of so many bytes leaves for a rank: when it is there.

        With a name it is part of the timeline.
        """
        if callable(self.transfer):
            start = max(self.now, self._taken.get(to, 0.0))
            end = self._taken[to] = start + self.transfer(to, size)
        else:
            end = self.now + self.transfer
        if name:
            here().hops.append(_event(self.schedule, name, self.now, end, to=to))
        return end

    def reach(self, arrival: float) -> None:
        """A message that was there at that time has been taken."""
        self.now = max(self.now, arrival)

    def makespan(self) -> float:
        """When the last rank is done. Every rank must call it."""
        where = "cpu" if here().staged else here().device
        latest = torch.tensor([self.now], dtype=torch.float64, device=where)
        dist.all_reduce(latest, op=dist.ReduceOp.MAX)
        return latest.item()


def timed(schedule: str, name: str, start: float, end: float) -> None:
    """Keep for the timeline what took these seconds; all of a run's times are then measured."""
    here().seconds = True
    _keep(schedule, name, start, end)


def _keep(schedule: str, name: str, start: float, end: float) -> None:
    here().events.append(_event(schedule, name, start, end))


def _event(schedule: str, name: str, start: float, end: float, **more: int) -> dict[str, Any]:
    when = {"name": name, "start": start, "end": end}
    return {"schedule": schedule, "rank": here().rank, **more, **when}


_current: VirtualClock | None = None


def current() -> VirtualClock | None:
    """The clock that is open on this rank."""
    return _current


@contextmanager
def virtual_clock(
    schedule: str, transfer: float | Link = 0.0, **letters: str
) -> Iterator[VirtualClock]:
    """Open a clock at 0. Every rank that talks inside must have one open.

    A message arrives `transfer` after it was sent; sending costs its sender nothing. Where links
    differ `transfer` is a function of the receiver and the bytes, and what one rank sends to
    another goes one message after the other. `letters` say what operations and messages named so
    are, `{}` for the number in a name: `F="forward of {}"`.
    """
    global _current
    if _current is not None:
        raise RuntimeError(f"the clock {_current.schedule!r} is still open on this rank")
    here().letters |= letters
    _current = VirtualClock(schedule, transfer)
    try:
        yield _current
    finally:
        _current = None
