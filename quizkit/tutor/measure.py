"""A typed number with its unit, read against the unit that was asked for."""

from dataclasses import dataclass

from quizkit.tutor.numbers import split_number, tidy
from quizkit.tutor.units import Unit, read_unit
from quizkit.tutor.verdict import UnreadableError


@dataclass(frozen=True, slots=True)
class Measure:
    """What was typed. `values` are its readings in the asked unit, the likeliest first.

    There is none where the unit cannot be turned into the asked one. `shares` are readings that
    only count if they are right: 27.3 for 0.273, 0.273 for 27.3 %.
    """

    raw: float
    unit: str
    values: tuple[float, ...]
    shares: tuple[float, ...] = ()
    converted: bool = False


def read_measure(text: str, asked: str) -> Measure:
    """Read it. Raises UnreadableError for what is no number, or a unit nobody knows."""
    found = split_number(tidy(text))
    if found is None:
        raise UnreadableError("not_a_number", text=text.strip())
    raw, unit = found
    unit = unit.strip()
    if not unit:
        return Measure(raw, "", (raw,), _shares(raw, asked))
    if _same(unit, asked):
        return Measure(raw, unit, (raw,))
    known = False
    values: list[float] = []
    converted = False
    for wanted in read_unit(tidy(asked), None) or [Unit()]:
        for typed in read_unit(unit, wanted):
            # A word for what is counted says nothing where bytes or seconds are asked.
            physical = bool(typed.dimensions) or not typed.words or typed.words <= wanted.words
            known = known or physical or not wanted.dimensions
            same = typed.dimensions == wanted.dimensions
            counted = not typed.dimensions and bool(typed.words) and typed.words <= wanted.words
            if same or counted:
                scale = typed.scale / (wanted.scale if same else 1.0)
                values.append(raw * scale)
                converted = converted or abs(scale - 1) > 1e-12
    if not known:
        raise UnreadableError("unknown_unit", typed=unit, asked=asked)
    return Measure(raw, unit, tuple(dict.fromkeys(values)), (), converted)


def _same(one: str, other: str) -> bool:
    return "".join(one.split()) == "".join(tidy(other).split())


def _shares(raw: float, asked: str) -> tuple[float, ...]:
    """A share without its sign: 27.3 where 0.273 is asked, 0.273 where percents are."""
    if asked.strip() == "%":
        return (raw * 100,)
    return (raw / 100,) if not asked.strip() and 1 < abs(raw) <= 100 else ()
