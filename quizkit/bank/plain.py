"""A question as JSON: the keys and values of its file, formulas as they are written there."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from quizkit.bank.formula import Formula


def plain(value: object) -> Any:
    """Return the value without anything of ours in it."""
    if isinstance(value, Formula):
        return value.source
    if is_dataclass(value) and not isinstance(value, type):
        # What is given to a question, such as its path, is not in the file.
        return {
            field.metadata.get("key", field.name): plain(getattr(value, field.name))
            for field in fields(value)
            if not field.metadata.get("given")
        }
    if isinstance(value, Mapping):
        named = cast("Mapping[str, object]", value)
        return {name: plain(each) for name, each in named.items()}
    if isinstance(value, tuple):
        return [plain(each) for each in cast("tuple[object, ...]", value)]
    return value
