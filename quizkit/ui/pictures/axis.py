"""Times under a picture."""

import math


def axis(start: float, end: float, unit: float | None, columns: int) -> str:
    """Draw times from `start` on, at round multiples of the unit, the last one at the end."""
    last = at(end)
    if columns < len(last):
        return ""
    span = end - start
    step = unit or 10.0 ** math.floor(math.log10(span / columns))
    for factor in (2, 2.5, 2) * 5:
        # A third is written longer than the end it adds up to.
        if step * columns / span >= max(len(last) + 3, len(at(step)) + 1):
            break
        step *= factor
    text = ""
    for index in range(math.floor(span / step) + 1):
        place = round(index * step * columns / span)
        label = at(start + index * step)
        if place + max(len(label), len(last)) + len(last) + 2 <= columns:
            text = text.ljust(place) + label
    return text.ljust(columns - len(last)) + last


def at(time: float) -> str:
    """Write a time as it stands under a picture and above it."""
    return f"{time:.4g}" if abs(time) < 1000 else f"{time:.6g}"
