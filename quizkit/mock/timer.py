"""The interview's clock: it runs on whatever happens, but for pauses that the budget pays."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A source of time; tests bring their own."""

    def wall(self) -> datetime:
        """Return the time of day, UTC: the same clock before a kill and after it."""
        ...

    def steady(self) -> float:
        """Return seconds that only go forward, whatever happens to the time of day."""
        ...


class SystemClock:
    """This machine's clocks."""

    def wall(self) -> datetime:
        """Return the time of day, UTC."""
        return datetime.now(UTC)

    def steady(self) -> float:
        """Return seconds since some moment."""
        return time.monotonic()


class Timer:
    """Seconds used, of the interview and of the question that is open, and seconds paused."""

    def __init__(
        self, clock: Clock, total: float, budget: float, used: float = 0.0, paused: float = 0.0
    ) -> None:
        self.total = total
        self.budget = budget
        self.paused = paused
        self._clock = clock
        self._used = used
        self._since = clock.steady()
        self._opened = self._since

    def used(self) -> float:
        """Return the seconds of the interview that are gone."""
        return self._used + self._clock.steady() - self._since

    def left(self) -> float:
        """Return the seconds of the interview that are left, at least 0."""
        return max(0.0, self.total - self.used())

    def open(self, spent: float = 0.0) -> None:
        """Start a question's clock; `spent` is what went into it before the interview was left."""
        self._opened = self._clock.steady() - spent

    def spent(self) -> float:
        """Return for how many seconds the open question has been open."""
        return self._clock.steady() - self._opened

    def charge(self, seconds: float) -> None:
        """Take time that something costs off the clock, and let the open question have taken it."""
        self._used += seconds
        self._opened -= seconds

    def away(self, seconds: float) -> float:
        """Charge time away to the pause budget, what it cannot pay to the interview.

        Returns what the interview was charged.
        """
        free = min(seconds, max(0.0, self.budget - self.paused))
        self.paused += free
        over = seconds - free
        self._used += over
        return over


def face(seconds: float) -> str:
    """Write seconds as a countdown shows them: the last second until it is over."""
    return _minutes(int(seconds + 0.999))


def lasted(seconds: float) -> str:
    """Write how long something took."""
    return _minutes(round(seconds))


def _minutes(whole: int) -> str:
    return f"{whole // 60:02d}:{whole % 60:02d}"
