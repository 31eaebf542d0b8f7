"""A typed number with its unit, read against the unit that was asked for."""

from dataclasses import dataclass

from quizkit.tutor.numbers import rounding, split_number, tidy
from quizkit.tutor.units import Dimensions, Unit, familiar, read_unit
from quizkit.tutor.verdict import UnreadableError


@dataclass(frozen=True, slots=True)
class Measure:
    """A number as it was typed. `values` are its readings in the asked unit, the likeliest first.

    There is none where the unit cannot be turned into the asked one. `shares` are readings that
    only count if they are right: 27.3 for 0.273, 0.273 for 27.3 %. `about` is how far off, as a
    share of it, the number may be because it was said to be rounded.
    """

    raw: float
    unit: str
    values: tuple[float, ...]
    shares: tuple[float, ...] = ()
    converted: bool = False
    about: float = 0.0


def read_measure(text: str, asked: str, said: str = "") -> Measure:
    """Read it; what is counted may be named as `said` names it.

    Raises UnreadableError for what is no number, or is followed by what nobody knows.
    """
    found = split_number(tidy(text))
    if found is None:
        raise UnreadableError("not_a_number", text=text.strip())
    raw, unit = found
    unit, about = unit.strip(), rounding(text)
    if not unit:
        return Measure(raw, "", (raw,), _shares(raw, asked), about=about)
    if _same(unit, asked):
        return Measure(raw, unit, (raw,), about=about)
    known = False
    values: list[float] = []
    converted = False
    for wanted in read_unit(tidy(asked), None) or [Unit()]:
        for typed in read_unit(unit, wanted):
            if not all(familiar(word, said) for word in typed.words - wanted.words):
                continue
            # A word for what is counted says nothing where bytes or seconds are asked.
            physical = bool(typed.dimensions) or not typed.words or typed.words <= wanted.words
            known = known or physical or not wanted.dimensions
            same = _of_a_rank(typed, wanted) == wanted.dimensions
            counted = not typed.dimensions and bool(typed.words) and typed.words <= wanted.words
            if same or counted:
                scale = typed.scale / (wanted.scale if same else 1.0)
                values.append(raw * scale)
                converted = converted or abs(scale - 1) > 1e-12
    if not known:
        raise UnreadableError("unknown_unit" if asked else "unknown_tail", typed=unit, asked=asked)
    return Measure(raw, unit, tuple(dict.fromkeys(values)), (), converted, about)


def in_base(raw: float, asked: str) -> list[float]:
    """List what a bare number is in the asked unit if it was meant in bytes, seconds, FLOP."""
    units = read_unit(tidy(asked), None)
    return [raw / unit.scale for unit in units if unit.scale != 1 and asked != "%"]


def _of_a_rank(typed: Unit, wanted: Unit) -> Dimensions:
    """Return the typed dimensions, less a `per GPU` that was not asked for: 16 GB/卡 is 16 GB."""
    if any(name == "gpu" for name, _ in wanted.dimensions):
        return typed.dimensions
    return tuple(each for each in typed.dimensions if each != ("gpu", -1))


def _same(one: str, other: str) -> bool:
    return "".join(one.split()) == "".join(tidy(other).split())


def _shares(raw: float, asked: str) -> tuple[float, ...]:
    """A share without its sign: 27.3 where 0.273 is asked, 0.273 where percents are."""
    if asked.strip() == "%":
        return (raw * 100,)
    return (raw / 100,) if not asked.strip() and 1 < abs(raw) <= 100 else ()
