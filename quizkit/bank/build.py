"""Build nouns from nodes: a dataclass field's type says what its YAML must be.

Every mistake is reported with its line, all of a file's at once, and names what was meant where
something near exists.
"""

import math
import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import yaml

from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.model import Text
from quizkit.bank.nodes import Report
from quizkit.near import nearest

_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BROKEN = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


class _WrongError(Exception):
    """This node is not what the field needs; already reported."""


class Builder:
    """Builds one file's nouns; `lines` collects where each place stands."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.lines: dict[str, int] = {}

    def build(self, node: yaml.MappingNode, noun: Any, **given: object) -> Any | None:
        """Return the noun (or mapping of nouns), or None after reporting what is wrong with it."""
        try:
            if get_origin(noun) is Mapping:
                return self._mapping(node, get_args(noun)[1], "")
            return self._noun(node, noun, "", given)
        except _WrongError:
            return None

    def _fail(self, node: yaml.Node, message: str) -> _WrongError:
        self.report(node.start_mark.line + 1, message)
        return _WrongError()

    def _noun(
        self, node: yaml.Node, noun: type[Any], place: str, given: Mapping[str, object]
    ) -> Any:
        if noun is Text:
            return self._text(node, place)
        if not isinstance(node, yaml.MappingNode):
            raise self._fail(node, f"`{place}` needs `key: value` lines")
        known = keys_of(noun)
        values: dict[str, object] = dict(given)
        failed = False
        present = {str(key.value) for key, _ in node.value}
        for key, value in node.value:
            name = str(key.value)
            here = f"{place}.{name}" if place else name
            self.lines[here] = key.start_mark.line + 1
            try:
                if name not in known:
                    raise self._fail(key, unknown("key", name, known))
                target = known[name].name
                values[target] = self._value(value, hints_of(noun)[target], here)
            except _WrongError:
                failed = True
        for name, item in known.items():
            needed = item.default is MISSING and item.default_factory is MISSING
            if needed and name not in present:
                self._fail(node, f"key `{name}` is missing" + (f" in `{place}`" if place else ""))
                failed = True
        if failed:
            raise _WrongError
        return noun(**values)

    def _value(self, node: yaml.Node, kind: Any, place: str) -> Any:
        origin = get_origin(kind)
        if origin in (Union, types.UnionType):
            return self._union(node, get_args(kind), place)
        if origin is Literal:
            choices = get_args(kind)
            text = self._scalar(node, place)
            if text not in choices:
                raise self._fail(node, unknown(f"`{place}`", text, choices))
            return text
        if origin is tuple:
            if not isinstance(node, yaml.SequenceNode):
                raise self._fail(node, f"`{place}` needs a list: [a, b] or lines that start with -")
            return self._list(node, get_args(kind)[0], place)
        if origin is Mapping:
            if not isinstance(node, yaml.MappingNode):
                raise self._fail(node, f"`{place}` needs `key: value` lines")
            return self._mapping(node, get_args(kind)[1], place)
        if kind is Formula:
            return self._formula(node, self._scalar(node, place))
        if is_dataclass(kind):
            return self._noun(node, cast(type[Any], kind), place, {})
        return self._plain(node, kind, place)

    def _list(self, node: yaml.SequenceNode, kind: Any, place: str) -> tuple[Any, ...]:
        items: list[Any] = []
        failed = False
        for index, child in enumerate(node.value):
            here = f"{place}.{index}"
            self.lines[here] = child.start_mark.line + 1
            try:
                items.append(self._value(child, kind, here))
            except _WrongError:
                failed = True
        if failed:
            raise _WrongError
        return tuple(items)

    def _mapping(self, node: yaml.MappingNode, kind: Any, place: str) -> dict[str, Any]:
        items: dict[str, Any] = {}
        failed = False
        for key, child in node.value:
            here = f"{place}.{key.value}" if place else str(key.value)
            self.lines[here] = key.start_mark.line + 1
            try:
                items[str(key.value)] = self._value(child, kind, here)
            except _WrongError:
                failed = True
        if failed:
            raise _WrongError
        return items

    def _union(self, node: yaml.Node, kinds: tuple[Any, ...], place: str) -> Any:
        wanted = [kind for kind in kinds if kind is not type(None)]
        if isinstance(node, yaml.SequenceNode):
            lists = [kind for kind in wanted if get_origin(kind) is tuple]
            if lists:
                return self._value(node, lists[0], place)
        wanted = [kind for kind in wanted if get_origin(kind) is not tuple]
        if len(wanted) > 1 and isinstance(node, yaml.MappingNode):
            wanted = [kind for kind in wanted if is_dataclass(kind)] or wanted
        if len(wanted) == 1:
            return self._value(node, wanted[0], place)
        text = self._scalar(node, place)
        if Formula in wanted and text.startswith("="):
            return self._formula(node, text[1:])
        quoted = bool(getattr(node, "style", None))
        for kind in (bool, int, float):
            if kind in wanted and not quoted and _reads_as(kind, text):
                return self._converted(node, kind, text, place)
        if str in wanted:
            return text
        raise self._fail(node, f"`{place}` needs a number" + (" or =formula" * (Formula in wanted)))

    def _plain(self, node: yaml.Node, kind: type, place: str) -> Any:
        text = self._scalar(node, place)
        if kind is str:
            return text
        if not _reads_as(kind, text):
            names = {bool: "true or false", int: "a whole number", float: "a number"}
            raise self._fail(node, f"`{place}` is {text!r}, needs {names[kind]}")
        return self._converted(node, kind, text, place)

    def _converted(self, node: yaml.Node, kind: type, text: str, place: str) -> Any:
        if kind is bool:
            return text == "true"
        try:
            number = kind(text)
            if math.isfinite(number):
                return number
        except (ValueError, OverflowError):  # Python limits the digits it reads, and a float's size
            pass
        raise self._fail(node, f"`{place}` is too large a number")

    def _scalar(self, node: yaml.Node, place: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._fail(node, f"`{place}` needs one value, not a list or a block of keys")
        text = str(node.value).strip()
        if not text:
            raise self._fail(node, f"`{place}` is empty")
        return text

    def _text(self, node: yaml.Node, place: str) -> Text:
        if isinstance(node, yaml.ScalarNode):
            same = self._scalar(node, place)
            return Text(same, same)
        if not isinstance(node, yaml.MappingNode):
            raise self._fail(node, f"`{place}` needs text, or `zh:` and `en:`")
        found = {str(key.value): value for key, value in node.value}
        extra = sorted(set(found) - {"zh", "en"})
        missing = [lang for lang in ("zh", "en") if lang not in found]
        if extra or missing:
            wrong = f"has `{extra[0]}`" if extra else f"has no `{missing[0]}`"
            raise self._fail(node, f"`{place}` {wrong}; it needs `zh:` and `en:`")
        return Text(*(self._scalar(found[lang], f"{place}.{lang}") for lang in ("zh", "en")))

    def _formula(self, node: yaml.Node, source: str) -> Formula:
        try:
            return parse(source)
        except FormulaError as error:
            raise self._fail(node, str(error)) from error


@cache
def hints_of(noun: type[Any]) -> dict[str, Any]:
    """Return the types of a noun's fields."""
    return get_type_hints(noun)


@cache
def keys_of(noun: type[Any]) -> dict[str, Field[Any]]:
    """Return the YAML keys of a noun and the fields they fill."""
    mine = [item for item in fields(noun) if not item.metadata.get("given")]
    return {str(item.metadata.get("key", item.name)): item for item in mine}


def unknown(what: str, name: str, known: Any) -> str:
    """Return the message for a name that is not among the known ones."""
    return f"unknown {what} `{name}`; did you mean `{nearest(name, known)}`?"


def _reads_as(kind: type, text: str) -> bool:
    if kind is bool:
        return text in ("true", "false")
    return (_WHOLE if kind is int else _BROKEN).fullmatch(text) is not None
