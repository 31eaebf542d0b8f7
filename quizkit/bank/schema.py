"""The JSON Schema of a question file, made from the same types that the reader fills.

Editors with a YAML language server complete and check with it while one writes.
"""

import types
from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from typing import Any, Literal, Union, cast, get_args, get_origin

from quizkit.bank.build import hints_of, keys_of
from quizkit.bank.formula import Formula
from quizkit.bank.model import KINDS, CommonQuestion, Question, Retired, Text, Topic

Schema = dict[str, Any]

_TEXT: Schema = {
    "description": "One text for both languages, or `zh` and `en`.",
    "anyOf": [
        {"type": ["string", "number", "boolean"]},
        {
            "type": "object",
            "properties": {"zh": {"type": "string"}, "en": {"type": "string"}},
            "required": ["zh", "en"],
            "additionalProperties": False,
        },
    ],
}
# A formula such as `p` or `3` may look like a number to YAML.
_FORMULA: Schema = {"description": "A formula.", "type": ["string", "number", "boolean"]}
_PLAIN: Mapping[type, Schema] = {
    str: {"type": ["string", "number", "boolean"]},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}


def schema() -> Schema:
    """Return the schema of one question file; those of a bank's other files are its definitions."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "quizkit question",
        "oneOf": [_kind(kind, noun) for kind, noun in KINDS.items()],
        "definitions": {
            "retired": {"type": "object", "additionalProperties": _noun(Retired)},
            "common70": {"type": "object", "additionalProperties": _noun(CommonQuestion)},
            "topic": _noun(Topic),
        },
    }


def _kind(kind: str, noun: type[Question]) -> Schema:
    made = _noun(noun)
    made["title"] = kind
    made["properties"]["kind"] = {"const": kind}
    made["properties"]["level"] = {"type": "integer", "minimum": 1, "maximum": 5}
    return made


def _noun(noun: type[Any]) -> Schema:
    properties: Schema = {}
    required: list[str] = []
    for key, item in keys_of(noun).items():
        properties[key] = _type(hints_of(noun)[item.name])
        if item.default is MISSING and item.default_factory is MISSING:
            required.append(key)
    return {
        "type": "object",
        "description": (noun.__doc__ or "").split("\n")[0],
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _type(kind: Any) -> Schema:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        kinds = [each for each in args if each is not type(None)]
        return _type(kinds[0]) if len(kinds) == 1 else {"anyOf": [_type(each) for each in kinds]}
    if origin is Literal:
        return {"enum": [*args]}
    if origin is tuple:
        return {"type": "array", "items": _type(args[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _type(args[1])}
    if kind is Text:
        return _TEXT
    if kind is Formula:
        return _FORMULA
    if is_dataclass(kind) and isinstance(kind, type):
        return _noun(kind)
    return _PLAIN[cast(type, kind)]
