"""The parts of a drawing: lines of coloured pieces, and prose on what had to be left out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a line; `of` is the operation it draws, for its colour."""

    text: str
    of: str = ""


Line = tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """One schedule drawn: lines that fit, and prose (to be wrapped) on what had to be left out."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    columns: int = 0
    """Columns of the whole schedule, all blocks together; 0 where times have no columns."""
    wide: int = 0
    """Columns of one block, which the lines go through one block after the other."""
