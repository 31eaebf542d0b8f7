"""The functions of the formula language, and the kinds of value it has."""

import math
from collections.abc import Callable
from typing import TypeGuard

Number = int | float
Scalar = int | float | bool | str
Value = int | float | bool | str | list[int | float | bool]
MOST_DIGITS = 300  # to round to; a float has no more on either side of the point


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether it is a number; a truth value is not one."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def kind_of(value: Value) -> str:
    """Say what a value is, for messages."""
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, list):
        return "a list"
    return "a string" if isinstance(value, str) else "a number"


def _one(value: Value) -> Number:
    if not is_number(value):
        raise ValueError(f"needs a number, not {kind_of(value)}")
    return value


def _many(*args: Value) -> list[Number]:
    """The numbers of one list, or of several arguments."""
    items = args[0] if len(args) == 1 and isinstance(args[0], list) else list(args)
    if not items:
        raise ValueError("needs one or more numbers")
    return [_one(item) for item in items]


def _truths(items: Value) -> list[bool]:
    if not isinstance(items, list):
        raise ValueError(f"needs a list of truth values, not {kind_of(items)}")
    truths = [item for item in items if isinstance(item, bool)]
    if len(truths) < len(items):
        raise ValueError("needs a list of truth values")
    return truths


def _abs(value: Value) -> Number:
    return abs(_one(value))


def _min(*values: Value) -> Number:
    return min(_many(*values))


def _max(*values: Value) -> Number:
    return max(_many(*values))


def _sum(*values: Value) -> Number:
    return sum(_many(*values))


def _len(value: Value) -> int:
    if not isinstance(value, list):
        raise ValueError(f"needs a list, not {kind_of(value)}")
    return len(value)


def _all(value: Value) -> bool:
    return all(_truths(value))


def _any(value: Value) -> bool:
    return any(_truths(value))


def _all_equal(items: Value, *wanted: Value) -> bool:
    """Tell whether all elements are `wanted`, or without it all the same."""
    if not isinstance(items, list) or not items or len(wanted) > 1:
        raise ValueError("needs a list with something in it, and at most one value")
    value = wanted[0] if wanted else items[0]
    if any(is_number(item) is not is_number(value) for item in items):
        raise ValueError("compares numbers with what is not a number")
    return all(item == value for item in items)


def _round(value: Value, digits: Value = 0) -> Number:
    places = int(_one(digits))
    if abs(places) > MOST_DIGITS:  # Python would work out 10 to that power
        raise ValueError(f"at most {MOST_DIGITS} digits")
    return round(_one(value), places) if places else round(_one(value))


def _floor(value: Value) -> int:
    return math.floor(_one(value))


def _ceil(value: Value) -> int:
    return math.ceil(_one(value))


def _log2(value: Value) -> float:
    return math.log2(_one(value))


def _sqrt(value: Value) -> float:
    return math.sqrt(_one(value))


def _isclose(a: Value, b: Value, *, rel: Number = 1e-9, abs: Number = 0) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            raise ValueError(f"{len(a)} elements against {len(b)}")
        return all(_isclose(x, y, rel=rel, abs=abs) for x, y in zip(a, b, strict=True))
    return math.isclose(_one(a), _one(b), rel_tol=rel, abs_tol=abs)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": _abs,
    "min": _min,
    "max": _max,
    "sum": _sum,
    "len": _len,
    "all": _all,
    "any": _any,
    "all_equal": _all_equal,
    "round": _round,
    "floor": _floor,
    "ceil": _ceil,
    "log2": _log2,
    "sqrt": _sqrt,
    "isclose": _isclose,
}
