"""The one look of all pictures: signs, colours, numbers, and the shapes of an SVG.

Only ASCII is drawn in a terminal: one set for Chinese may draw other signs two columns wide.
"""

import math
from collections.abc import Sequence
from html import escape

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from quizkit.lab.fields import Value

SIGNS = "#=+o*%x@"
_INKS = ("blue", "green", "yellow", "magenta", "cyan", "red")
_FILLS = ("#2f6fb3", "#3b8a3e", "#a8741a", "#7b4fa3", "#2a8f8f", "#b3423a")


def sign(place: int) -> str:
    """Return a part's sign, so that it is told from the others without colour."""
    return SIGNS[place % len(SIGNS)]


def ink(place: int) -> str:
    """Return a part's colour in a terminal."""
    return _INKS[place % len(_INKS)]


def fill(place: int) -> str:
    """Return a part's colour in an SVG."""
    return _FILLS[place % len(_FILLS)]


def amount(value: Value) -> str:
    """Write a number for people: groups of three where there are many digits, else five digits."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.5g}"


def fraction(value: Value, of: float) -> float:
    """Return the share of the whole that a value is; 0 of nothing or of what is no number."""
    return value / of if of and math.isfinite(value) and math.isfinite(of) else 0.0


def label(names: Sequence[str]) -> int:
    """Return the columns that names of one width take."""
    return max(map(cell_len, names), default=0)


def fitted(names: Sequence[str], room: int) -> list[str]:
    """Pad names to one width, cut where they would take more than there is room for."""
    wide = min(label(names), room)
    return [set_cell_size(name, wide) for name in names]


def legend(names: Sequence[str], width: int, signs: Sequence[str] = SIGNS) -> list[Text]:
    """List the signs and what they stand for, as many on a line as fit."""
    lines = [Text(no_wrap=False)]
    for place, name in enumerate(names):
        entry = Text.assemble((signs[place % len(signs)], ink(place)), f" {name}")
        if lines[-1] and lines[-1].cell_len + 3 + entry.cell_len > width:
            lines.append(Text(no_wrap=False))
        lines[-1].append("   " if lines[-1] else "").append_text(entry)
    return lines


def cut(x: float, y: float, text: str, anchor: str = "start") -> str:
    """Return a text in an SVG, its baseline at y."""
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(text)}</text>"


def box(
    x: float, y: float, wide: float, high: float, place: int, tip: str, shade: float = 1
) -> str:
    """Return a filled SVG box that can be pointed at; `shade` is its opacity."""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}"'
        f' fill="{fill(place)}" fill-opacity="{shade:.2f}"><title>{escape(tip)}</title></rect>'
    )
