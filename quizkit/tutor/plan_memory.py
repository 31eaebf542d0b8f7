"""FSRS-6 in numbers alone: what is left after some days, and what an answer makes of it.

The formulas and default parameters are those of the fsrs package, 6.3.2, which writes the cards;
a test holds the two equal. A plan asks them a hundred thousand times, for days that have not come.
"""

from math import exp
from typing import NamedTuple

WEIGHTS = (
    0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796,
    1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
)  # fmt: skip
_KEPT = 0.9
"""What is left when as many days have passed as the stability says."""
_LEAST = 0.001
"""Days: no stability is below it."""

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4


class MemoryTrace(NamedTuple):
    """A memory that an answer leaves: for how many days, and how hard it is to make that more."""

    stability: float
    difficulty: float


class Fsrs:
    """The model under one set of weights.

    A learner may keep things for `times` as many days as the stability says, and lose them along
    another curve than the weights': the larger the decay, the less is left in the long run.
    """

    def __init__(
        self,
        weights: tuple[float, ...] = WEIGHTS,
        *,
        times: float = 1.0,
        decay: float | None = None,
    ) -> None:
        self.times, self.decay = times, decay or weights[20]
        self._w = weights
        self._power = -self.decay
        self._factor = (_KEPT ** (1 / self._power) - 1) / times
        self._growth = exp(weights[8])
        self._ceiling = exp(weights[17] * weights[18])
        self._easiest = weights[4] - exp(3 * weights[5]) + 1

    def recall(self, stability: float, days: float) -> float:
        """Return the chance of a right answer so many days after the last one."""
        return (1 + self._factor * days / stability) ** self._power

    def first(self, grade: int) -> MemoryTrace:
        """Return what the first answer leaves."""
        w = self._w
        return MemoryTrace(max(_LEAST, w[grade - 1]), _within(w[4] - exp(w[5] * (grade - 1)) + 1))

    def after(self, trace: MemoryTrace, days: float, grade: int) -> MemoryTrace:
        """Return what an answer leaves that comes so many days after the last one."""
        return MemoryTrace(
            self.stability(trace, days, grade), self._difficulty(trace.difficulty, grade)
        )

    def stability(self, trace: MemoryTrace, days: float, grade: int) -> float:
        """Return the stability that an answer leaves, so many days after the last one."""
        found = self._sooner(trace, grade) if days < 1 else self._later(trace, days, grade)
        return max(_LEAST, found)

    def _later(self, trace: MemoryTrace, days: float, grade: int) -> float:
        w, (stability, difficulty) = self._w, trace
        missing = 1 - self.recall(stability, days)
        if grade == AGAIN:
            left = w[11] * difficulty ** -w[12] * ((stability + 1) ** w[13] - 1)
            return min(left * exp(missing * w[14]), stability / self._ceiling)
        more = self._growth * (11 - difficulty) * stability ** -w[9] * (exp(missing * w[10]) - 1)
        times = w[15] if grade == HARD else w[16] if grade == EASY else 1.0
        return stability * (1 + more * times)

    def _sooner(self, trace: MemoryTrace, grade: int) -> float:
        """On the same day."""
        w = self._w
        times = exp(w[17] * (grade - 3 + w[18])) * trace.stability ** -w[19]
        return trace.stability * (times if grade == AGAIN else max(1.0, times))

    def _difficulty(self, difficulty: float, grade: int) -> float:
        w = self._w
        moved = difficulty - w[6] * (grade - 3) * (10 - difficulty) / 9
        return _within(w[7] * self._easiest + (1 - w[7]) * moved)


def _within(difficulty: float) -> float:
    return min(max(difficulty, 1.0), 10.0)
