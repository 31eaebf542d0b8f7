"""Reads the fields of a report: what is not as it should be is a TypeError or a ValueError."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast, get_args

Value = int | float | bool

T = TypeVar("T")

# What JSON has no number for, in JavaScript's spelling and in Python's.
_UNSAYABLE = ("nan", "infinity", "-infinity", "inf", "-inf")


def is_a(kind: type[T], value: object) -> T:
    """Return the value, if it is of just this type."""
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not {kind.__name__}")
    return value


def one_of(choices: Any, value: object) -> Any:
    """Return the value, if it is among a Literal's."""
    if value not in get_args(choices):
        raise ValueError(f"{value!r} is none of {', '.join(get_args(choices))}")
    return value


def items(value: object) -> Sequence[tuple[str, object]]:
    """Return the pairs of an object."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} is not an object")
    return list(cast("Mapping[str, object]", value).items())


def a_list(value: object) -> Sequence[object]:
    """Return the entries of a list."""
    if not isinstance(value, list | tuple):
        raise TypeError(f"{value!r} is not a list")
    return cast("Sequence[object]", value)


def number(value: object) -> Value:
    """Return a number; NaN and the infinities come as text."""
    if isinstance(value, str) and value.lower() in _UNSAYABLE:
        return float(value)
    if isinstance(value, bool | int | float):
        return value
    raise TypeError(f"{value!r} is not a number")


def texts(value: object) -> tuple[str, ...]:
    """Return a list of text."""
    return tuple(is_a(str, each) for each in a_list(value))


def numbers(value: object) -> tuple[Value, ...]:
    """Return a list of numbers."""
    return tuple(number(each) for each in a_list(value))
