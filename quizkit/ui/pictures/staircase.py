"""Draw what was kept at each step, as bars of parts: each part has a sign and a colour."""

from rich.text import Text

from quizkit.lab.picture import Stair, Staircase
from quizkit.ui.pictures.look import (
    amount,
    box,
    cut,
    fitted,
    fraction,
    ink,
    label,
    legend,
    sign,
)
from quizkit.words import Lang, listed, say

_WIDEST = 48  # columns of the longest bar
_BAR, _HIGH = 620, 26  # of the longest bar and of one step in an SVG


def lines(stairs: Staircase, width: int, lang: Lang) -> list[Text]:
    """Draw a bar for each step, all to one scale, its sum beside it; below, what the signs mean.

    A line through all bars stands where the budget ends.
    """
    names = fitted([step.label for step in stairs.steps], width // 3)
    sums = [amount(_sum(step)) for step in stairs.steps]
    room = min(
        _WIDEST,
        width
        - label(names)
        - max(map(len, sums), default=0)
        - 4
        - len(stairs.parts)
        - bool(stairs.budget),
    )
    most, room = _most(stairs), max(room, 1)
    drawn: list[Text] = []
    for name, step, total in zip(names, stairs.steps, sums, strict=True):
        bar = Text(no_wrap=True)
        for part, columns in enumerate(_columns(step, most, room)):
            bar.append(sign(part) * columns, ink(part))
        if stairs.budget:
            over = _sum(step) > stairs.budget
            bar = _ruled(bar, round(fraction(stairs.budget, most) * room), over)
        drawn.append(Text.assemble(f"{name}  ", bar, f"  {total}", no_wrap=True))
    drawn += legend(stairs.parts, width)
    return [*drawn, Text(_said(stairs, lang))] if stairs.budget else drawn


def sentence(stairs: Staircase, lang: Lang) -> str:
    """Say every step with its sum, and its parts where there are several."""
    told: list[str] = []
    for step in stairs.steps:
        pairs = zip(stairs.parts, step.values, strict=True)
        parts = listed((f"{name} {amount(value)}" for name, value in pairs), lang)
        of = f" ({parts})" if len(stairs.parts) > 1 else ""
        told.append(f"{step.label} {amount(_sum(step))}{of}")
    return say(
        "lab.picture_staircase",
        lang,
        title=stairs.title,
        unit=stairs.unit,
        steps="; ".join(told),
    ) + (f" {_said(stairs, lang)}" if stairs.budget else "")


def shapes(stairs: Staircase, left: int, top: int, lang: Lang) -> tuple[str, int]:
    """Draw the bars in an SVG; return it and how high it is."""
    most = _most(stairs)
    parts: list[str] = []
    for row, step in enumerate(stairs.steps):
        y, x = top + row * _HIGH, left + 150.0
        parts.append(cut(left, y + 17, step.label))
        for part, value in enumerate(step.values):
            wide = fraction(value, most) * _BAR
            tip = f"{step.label}, {stairs.parts[part]}: {amount(value)}"
            parts.append(box(x, y + 2, wide, _HIGH - 4, part, tip))
            x += wide
        parts.append(cut(x + 8, y + 17, amount(_sum(step))))
    high = len(stairs.steps) * _HIGH
    for part, name in enumerate(stairs.parts):
        y = top + high + 6 + part * 18
        parts.append(box(left + 150, y, 12, 12, part, name) + cut(left + 170, y + 11, name))
    rows = len(stairs.parts)
    if stairs.budget:
        x = left + 150 + fraction(stairs.budget, most) * _BAR
        parts.append(f'<path d="M{x:.1f} {top}v{high}" stroke="#333" stroke-dasharray="4 3"/>')
        parts.append(cut(left + 150, top + high + 17 + rows * 18, _said(stairs, lang)))
        rows += 1
    return "".join(parts), high + 12 + 18 * rows


def _said(stairs: Staircase, lang: Lang) -> str:
    return say("lab.picture_budget", lang, budget=amount(stairs.budget))


def _most(stairs: Staircase) -> float:
    return max(stairs.budget, *map(_sum, stairs.steps))


def _ruled(bar: Text, at: int, over: bool) -> Text:
    """Draw the budget's line after `at` columns; behind it stands what is over it, however little.

    A bar within the budget ends before the line, as small parts may have made it too long.
    """
    within, behind = bar[:at], bar[at:] if over else Text()
    if over and not behind:
        behind = bar[-1:]
    return Text.assemble(within, " " * (at - within.cell_len), "|", behind)


def _sum(step: Stair) -> float:
    return sum(step.values)


def _columns(step: Stair, most: float, room: int) -> list[int]:
    """Return how many columns each part takes: rounded, at least one for what is there."""
    return [max(1, round(fraction(value, most) * room)) if value else 0 for value in step.values]
