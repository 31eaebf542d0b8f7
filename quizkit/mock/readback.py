"""Read a kept scorecard back from JSON, and write it: the nouns of `kept_card` say what is there.

A diary may come from anywhere. What does not fit makes the card unreadable, and never a crash;
what is missing has its default, and where a text has one language it stands for both.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from quizkit.bank.model import Text
from quizkit.mock.kept_card import KeptCard

# In a text it would reach the terminal: all but line breaks and tabs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class _UnfitError(ValueError):
    """The data are not of the noun's shape."""


def read_card(data: object) -> KeptCard | None:
    """Return the card that was kept; None where it cannot be read as one."""
    try:
        return cast("KeptCard", _noun(KeptCard, data))
    except (_UnfitError, RecursionError):
        return None


def written(noun: object) -> Any:
    """Return a noun as JSON has it."""
    if isinstance(noun, Text):
        return {"zh": noun.zh, "en": noun.en}
    if is_dataclass(noun) and not isinstance(noun, type):
        return {_key(each): written(getattr(noun, each.name)) for each in fields(noun)}
    if isinstance(noun, Mapping):
        pairs = cast("Mapping[str, object]", noun).items()
        return {name: written(value) for name, value in pairs}
    if isinstance(noun, list | tuple):
        return [written(each) for each in cast("Sequence[object]", noun)]
    return noun


def _key(of: "Field[Any]") -> str:
    return str(of.metadata.get("key", of.name))


@cache
def _hints(noun: type) -> Mapping[str, Any]:
    return get_type_hints(noun)


def _noun(noun: Any, data: object) -> object:
    if not isinstance(data, Mapping):
        raise _UnfitError
    there, values = cast("Mapping[str, object]", data), dict[str, object]()
    for each in fields(noun):
        if _key(each) in there:
            values[each.name] = _value(_hints(noun)[each.name], there[_key(each)])
        elif each.default is MISSING and each.default_factory is MISSING:
            raise _UnfitError
    return noun(**values)


def _value(wanted: Any, data: object) -> object:
    origin, parts = get_origin(wanted), get_args(wanted)
    if wanted is object:
        return data
    if origin in (Union, UnionType):
        if data is None and NoneType in parts:
            return None
        return _value(next(each for each in parts if each is not NoneType), data)
    if origin is Literal and data in parts:
        return data
    if origin is tuple and isinstance(data, list):
        return tuple(_value(parts[0], each) for each in cast("Sequence[object]", data))
    if origin in (Mapping, dict) or getattr(origin, "__name__", "") == "Mapping":
        if isinstance(data, Mapping):
            pairs = cast("Mapping[str, object]", data).items()
            return {_clean(name): _value(parts[1], value) for name, value in pairs}
        raise _UnfitError
    if wanted is Text:
        return _text(data)
    if is_dataclass(wanted):
        return _noun(wanted, data)
    if wanted is str and isinstance(data, str):
        return _clean(data)
    if wanted in (bool, int) and type(data) is wanted:
        return data
    if wanted is float and type(data) in (int, float):
        return data
    raise _UnfitError


def _text(data: object) -> Text:
    if isinstance(data, str):
        return Text(_clean(data), _clean(data))
    match data:
        case {"zh": str(zh), "en": str(en)}:
            return Text(_clean(zh), _clean(en))
        case _:
            raise _UnfitError


def _clean(text: str) -> str:
    return _CONTROL.sub("", text)
