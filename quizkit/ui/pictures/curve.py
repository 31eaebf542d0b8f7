"""Lines over one axis, a letter for each: where a letter stands, there was a point."""

import math
from collections.abc import Iterator

from rich.text import Text

from quizkit.lab.picture import Curve
from quizkit.ui.pictures.look import amount, cut, fill, ink, label, legend
from quizkit.words import Lang, say

_ROWS = 9
_WIDE, _HIGH = 700, 220  # of the lines in an SVG
_FAR = 10  # from a largest this many times the smallest on, the axis is logarithmic


def lines(curve: Curve, width: int, lang: Lang) -> list[Text]:
    """Draw the points, later letters over earlier ones, and what the letters stand for."""
    points = list(_points(curve))
    if not points:
        return [Text(sentence(curve, lang))]
    low, high, log = _range(curve)
    names = [amount(_value(low, log)), amount(_value(high, log))]
    margin = label(names)
    columns = max(min(width - margin - 3, 72), 2)
    first, last = min(x for _, x, _ in points), max(x for _, x, _ in points)
    rows = _rows(points, low, high, log)
    grid: list[list[int | None]] = [[None] * columns for _ in range(rows)]
    for place, x, y in points:
        row = round((high - _height(y, log)) / ((high - low) or 1) * (rows - 1))
        grid[row][round((x - first) / ((last - first) or 1) * (columns - 1))] = place
    drawn = [Text(_axis(curve.y, log, lang), "dim")]
    for row, cells in enumerate(grid):
        name = names[1] if row == 0 else names[0] if row == rows - 1 else ""
        line = Text(f"{name:>{margin}} |", no_wrap=True)
        for cell in cells:
            line.append(" " if cell is None else _letter(cell), "" if cell is None else ink(cell))
        line.rstrip()
        drawn.append(line)
    ends = amount(first), amount(last)
    drawn.append(Text(" " * (margin + 2) + ends[0] + ends[1].rjust(columns - len(ends[0]))))
    drawn[-1].append(
        f"  {curve.x}" if drawn[-1].cell_len + len(curve.x) + 2 <= width else "", "dim"
    )
    names = [series.label for series in curve.series]
    return [*drawn, *legend(names, width, [_letter(place) for place in range(len(names))])]


def sentence(curve: Curve, lang: Lang) -> str:
    """Say of each line its first and last, smallest and largest value, and how far it goes."""
    told: list[str] = []
    for series in curve.series:
        known = [y for y in series.y if math.isfinite(y)]
        if known:
            values = {"first": series.y[0], "last": series.y[-1], "low": min(known)}
            values |= {"high": max(known), "start": series.x[0], "end": series.x[-1]}
            texts = {name: amount(value) for name, value in values.items()}
            told.append(say("lab.picture_line", lang, label=series.label, **texts))
    return say(
        "lab.picture_curve", lang, title=curve.title, x=curve.x, y=curve.y, lines="; ".join(told)
    )


def shapes(curve: Curve, left: int, top: int) -> tuple[str, int]:
    """Draw the lines in an SVG; return it and how high it is."""
    points = list(_points(curve))
    if not points:
        return "", 0
    low, high, log = _range(curve)
    first, last = min(x for _, x, _ in points), max(x for _, x, _ in points)
    base, x0 = top + 16 + _HIGH, left + 80

    def spot(x: float, y: float) -> str:
        across = x0 + (x - first) / ((last - first) or 1) * _WIDE
        return f"{across:.1f},{base - (_height(y, log) - low) / ((high - low) or 1) * _HIGH:.1f}"

    parts = [
        f'<path d="M{x0} {top + 16}v{_HIGH}h{_WIDE}" fill="none" stroke="#999"/>',
        cut(x0 - 6, top + 20, amount(_value(high, log)), "end"),
        cut(x0 - 6, base, amount(_value(low, log)), "end"),
        cut(x0, top + 8, curve.y),
        cut(x0, base + 16, amount(first)),
        cut(x0 + _WIDE, base + 16, amount(last), "end"),
        cut(x0 + _WIDE / 2, base + 16, curve.x, "middle"),
    ]
    for place, series in enumerate(curve.series):
        own = [spot(x, y) for at, x, y in points if at == place]
        style = f'fill="none" stroke="{fill(place)}" stroke-width="2"'
        parts.append(f'<polyline points="{" ".join(own)}" {style}/>')
        y = base + 34 + 18 * place
        parts.append(f'<path d="M{x0} {y - 4}h18" {style}/>' + cut(x0 + 26, y, series.label))
    return "".join(parts), 16 + _HIGH + 40 + 18 * len(curve.series)


def _points(curve: Curve) -> Iterator[tuple[int, float, float]]:
    """Yield the line's place, x and y of every point; those that are no number are left out."""
    for place, series in enumerate(curve.series):
        for x, y in zip(series.x, series.y, strict=True):
            if math.isfinite(x) and math.isfinite(y):
                yield place, float(x), float(y)


def _range(curve: Curve) -> tuple[float, float, bool]:
    """The lowest and the highest place, and whether the axis is logarithmic."""
    ys = [y for _, _, y in _points(curve)]
    log = min(ys) > 0 and max(ys) > _FAR * min(ys)
    return _height(min(ys), log), _height(max(ys), log), log


def _rows(points: list[tuple[int, float, float]], low: float, high: float, log: bool) -> int:
    """As many lines as there are whole numbers, where all are whole and few: no gaps between."""
    whole = not log and all(y.is_integer() for _, _, y in points)
    return int(high - low) + 1 if whole and 2 <= high - low <= _ROWS + 3 else _ROWS


def _height(y: float, log: bool) -> float:
    return math.log10(y) if log else y


def _value(height: float, log: bool) -> float:
    return float(f"{10**height:.5g}") if log else height


def _axis(name: str, log: bool, lang: Lang) -> str:
    return say("lab.picture_log", lang, y=name) if log else name


def _letter(place: int) -> str:
    return chr(ord("a") + place % 26)
