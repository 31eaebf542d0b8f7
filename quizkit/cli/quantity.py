"""Read values of a calculator's options: 7.5B, 64GB, 400Gb/s, 5us, 989TFLOPS, 1,1,2,1."""

import re
from collections.abc import Mapping
from fractions import Fraction

from quizkit.bank.functions import MOST_DIGITS
from quizkit.calc.figure import Value
from quizkit.calc.sheet import Input, Kind, option
from quizkit.errors import UsageError
from quizkit.near import nearest
from quizkit.tutor.numbers import magnitude, split_number, tidy
from quizkit.tutor.units import read_unit

# The kind decides: 7.5B is a count of parameters and a size of seven and a half bytes.
_DIMENSIONS: Mapping[Kind, tuple[tuple[str, int], ...]] = {
    "size": (("byte", 1),),
    "rate": (("byte", 1), ("second", -1)),
    "time": (("second", 1),),
    "speed": (("flop", 1), ("second", -1)),
}
EXAMPLES: Mapping[Kind, str] = {
    "count": "8, 4096, 7.5e9, 7.5B",
    "size": "64GB, 80GiB, 1e9",
    "rate": "50GB/s, 400Gb/s, 5e10",
    "time": "5us, 1.2ms, 3s, 5e-6",
    "speed": "989e12, 989TFLOPS, 989TFLOP/s",
    "number": "2, 0.5, 45%",
    "numbers": "1,1,2,1",
    "flag": "--sp, --no-sp",
    "file": "order.txt",
    "text": "tp=8,pp=4",
}


def quantity(each: Input, text: str) -> Value:
    """Read the value of one input as typed. Raises UsageError with examples of what is read."""
    if each.kind == "choice":
        return _choice(each, text)
    if each.kind in ("file", "text"):
        return text
    value = _numbers(text) if each.kind == "numbers" else _number(each.kind, text)
    if value is None:
        raise UsageError(
            "calc_quantity", name=option(each.name), given=text, examples=EXAMPLES[each.kind]
        )
    return value


def wanted(each: Input) -> str:
    """Return what may be typed, for help and for messages."""
    return "|".join(map(str, each.choices)) or EXAMPLES[each.kind]


def _choice(each: Input, text: str) -> Value:
    for choice in each.choices:
        if str(choice) == text.strip().casefold():
            return choice
    if each.choices and all(isinstance(choice, int) for choice in each.choices):
        hint = wanted(each)
    else:
        hint = nearest(text, map(str, each.choices))
    raise UsageError("calc_choice", name=option(each.name), given=text, hint=hint)


def _numbers(text: str) -> list[int | float] | None:
    """Commas and spaces part a list; nothing groups digits in one."""
    parts = [part for part in re.split(r"[,;\s]+", tidy(text).strip("[]() ")) if part]
    found = [_number("number", part) for part in parts]
    return [each for each in found if each is not None] if found and None not in found else None


def _number(kind: Kind, text: str) -> int | float | None:
    text = tidy(text)
    if len(text) > MOST_DIGITS:
        return None  # neither int() nor a pattern should have to go through that
    if text.isdecimal():
        return int(text)  # a float would lose what is beyond 2 ** 53
    split = split_number(text)
    if split is None:
        return None
    value, rest = split
    scale = _scale(kind, rest) if rest else 1
    return None if scale is None else _product(value, scale)


def _scale(kind: Kind, rest: str) -> float | None:
    """Return one of the unit in bytes, seconds or FLOP; None for a unit of another kind."""
    if kind not in _DIMENSIONS:
        many = magnitude(rest.upper() if len(rest) == 1 else rest)
        return many or (0.01 if rest == "%" and kind == "number" else None)
    # A bare prefix (80G) would leave open whether it is decimal or binary, so it is no unit here.
    fitting = (unit for unit in read_unit(rest, None) if unit.dimensions == _DIMENSIONS[kind])
    return next((unit.scale for unit in fitting if not unit.words), None)


def _product(value: float, scale: float) -> int | float:
    """The decimal number that was typed times its unit: 7.3B is a whole number, to the last one."""
    exact = Fraction(repr(value)) * Fraction(repr(scale))
    return int(exact) if exact.denominator == 1 else float(exact)
