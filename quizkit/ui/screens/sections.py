"""The parts of a page of numbers, whether a terminal, plain lines or HTML show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from quizkit.tutor.tally import Tally


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar picture."""

    label: str
    value: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar picture; the longest bar is as wide as there is room."""

    rows: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Table:
    """Tallies by row and column; None where there is nothing to ask."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Tally | None]]]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of a list, and what can be done about it."""

    text: str
    steps: Sequence[str] = ()


Part = str | Bars | Table | Item


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it."""

    title: str
    parts: Sequence[Part]


def share(part: float, whole: float) -> str:
    """Write a share in percent, or a dash where there is nothing to have a share of."""
    return f"{100 * part / whole:.0f}%" if whole else "-"
