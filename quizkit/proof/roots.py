"""Find where two sides of a comparison meet: the number that a claim would be true of."""

from collections.abc import Callable, Iterator
from itertools import pairwise

Gap = Callable[[float], float | None]  # between the sides, or None where one has no value

# Of where the search starts: a sign that changes between two of these is a root between them.
_GRID = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.8, 1.0, 1.3, 2.0, 4.0, 10.0, 100.0, 1000.0)


def roots(gap: Gap, start: float) -> Iterator[float]:
    """Yield where the gap closes, searched from `start`; near a whole number, that one first."""
    root = _secant(gap, start, start * 1.25 if start else 1.0)
    if root is None:
        tried = [(start or 1.0) * by for by in _GRID]
        found = [(x, y) for x in tried if (y := gap(x)) is not None]
        changes = ((a, b) for a, b in pairwise(found) if a[1] * b[1] < 0)
        root = next((_halved(gap, a[0], b[0], a[1]) for a, b in changes), None)
    if root is None:
        return
    if abs(root - round(root)) < 1e-6:
        yield float(round(root))
    yield root


def _secant(gap: Gap, a: float, b: float) -> float | None:
    at_a, at_b = gap(a), gap(b)
    for _ in range(16):
        if at_a is None or at_b is None or at_a == at_b:
            return None
        c = b - at_b * (b - a) / (at_b - at_a)
        if abs(c) > 1e18:
            return None
        a, at_a, b, at_b = b, at_b, c, gap(c)
        if at_b == 0 or (at_b is not None and abs(b - a) <= 1e-12 * abs(b)):
            return b
    return None


def _halved(gap: Gap, a: float, b: float, at_a: float) -> float | None:
    for _ in range(60):
        middle = (a + b) / 2
        at_middle = gap(middle)
        if at_middle is None:
            return None
        a, b = (middle, b) if at_middle * at_a > 0 else (a, middle)
    return (a + b) / 2
