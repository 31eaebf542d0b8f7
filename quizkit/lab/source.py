"""Takes a demo file apart without running it; whatever is wrong is told with its line."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import MISSING, fields, replace
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, cast

from quizkit.errors import LabError
from quizkit.lab.demo import KINDS, PARTS, UNITS, Break, Demo, Kind, Parameter, Watch

_PARTS = ("The trick", "Watch", "Run")
_COMMENT = re.compile(r",?\s*#\s*(\S.*?)\s*")
_WATCH = re.compile(r" {4}(?P<name>[a-z]\w*)(?: \((?P<tags>[^)]*)\))?(?:\s+(?P<text>\S.*))?")


class _Reader:
    """One file, and the way to say what is wrong with it."""

    def __init__(self, path: Path, source: str) -> None:
        self.path = path
        self.source = source
        try:
            self.tree = ast.parse(source, str(path))
        except SyntaxError as error:
            self.wrong(error.lineno or 1, error.msg)
        except (ValueError, RecursionError, MemoryError) as error:
            self.wrong(1, str(error) or type(error).__name__)

    def wrong(self, line: int, reason: str) -> NoReturn:
        _wrong(self.path, line, reason)

    def literal(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            self.wrong(node.lineno, "write the value out: it is read without being run")

    def assignment(self, name: str) -> ast.Assign | ast.AnnAssign | None:
        """A top-level assignment; two of them would leave in doubt which one counts."""
        found = [
            node
            for node in self.tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and name in _targets(node)
        ]
        if len(found) > 1:
            self.wrong(found[1].lineno, f"{name} is already assigned on line {found[0].lineno}")
        return found[0] if found else None

    def assigned(self, name: str) -> ast.expr | None:
        node = self.assignment(name)
        return node.value if node else None

    @cached_property
    def story(self) -> str:
        """The source up to BREAKS."""
        table = self.assignment("BREAKS")
        # Not splitlines: Python does not end a line at a form feed or U+2028.
        lines = re.split(r"(?<=\n)", self.source)
        return "".join(lines[: table.lineno - 1] if table else lines)

    def text(self, name: str) -> str:
        node = self.assigned(name)
        if node is None:
            self.wrong(1, f'{name} = "..." is missing')
        value = self.literal(node)
        if not isinstance(value, str) or not value:
            self.wrong(node.lineno, f"{name} must be text")
        return value

    def docstring(self) -> tuple[str, dict[str, list[tuple[int, str]]]]:
        """The law, and the numbered lines of each part."""
        text = ast.get_docstring(self.tree, clean=False) or ""
        lines = [line.rstrip() for line in text.split("\n")]
        if not lines[0]:
            self.wrong(
                1, "the docstring is missing: the law in one line, then " + ", ".join(_PARTS)
            )
        first = self.tree.body[0].lineno
        parts: dict[str, list[tuple[int, str]]] = {}
        current: list[tuple[int, str]] | None = None
        for number, line in enumerate(lines[1:], first + 1):
            if line in _PARTS:
                current = parts.setdefault(line, [])
            elif line and not line.startswith("    "):
                self.wrong(
                    number, f"{line!r} belongs to no part ({', '.join(_PARTS)}); indent it by 4"
                )
            elif current is not None:
                current.append((number, line))
        if tuple(parts) != _PARTS:
            self.wrong(first, f"the docstring needs the parts {', '.join(_PARTS)}, in this order")
        return lines[0], parts

    def watch(self, lines: list[tuple[int, str]]) -> Iterator[tuple[str, Watch]]:
        entries: dict[str, tuple[Watch, list[str]]] = {}
        last = ""
        for number, line in lines:
            if line.startswith("     ") and last:
                entries[last][1].append(line.strip())
            elif match := _WATCH.fullmatch(line):
                last = match["name"]
                if last in entries:
                    self.wrong(number, f"metric {last} is listed twice")
                if not match["text"]:
                    self.wrong(number, f"say what metric {last} is")
                entries[last] = (self.tagged(number, match["tags"]), [match["text"].rstrip()])
            elif line:
                self.wrong(
                    number, "a metric is one line: its name, (shared, unit, pass), and what it is"
                )
        for name, (tagged, text) in entries.items():
            yield name, replace(tagged, text=" ".join(text))

    def tagged(self, number: int, tags: str | None) -> Watch:
        """Read the brackets after a metric's name: shared, its unit, pass or direction."""
        given = [each.strip() for each in tags.split(",")] if tags else []
        left = [*given]
        shared = left[:1] == ["shared"] and bool(left.pop(0))
        unit = left.pop(0) if left and left[0] in UNITS else ""
        part = left.pop(0) if left and left[0] in PARTS else ""
        if left:
            self.wrong(
                number,
                f"({tags}) is not (shared, unit, pass): {left[0]!r} is none of"
                f" {', '.join((*UNITS, *PARTS))}",
            )
        return Watch(shared, "", unit, part)

    def parameters(self) -> Iterator[tuple[str, Parameter]]:
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == "main":
                break
        else:
            self.wrong(1, "def main(...) is missing")
        spec = node.args
        if spec.posonlyargs or spec.vararg or spec.kwarg:
            self.wrong(node.lineno, "main takes named arguments only")
        positional = [None] * (len(spec.args) - len(spec.defaults)) + [*spec.defaults]
        pairs = [*zip(spec.args, positional, strict=True)]
        pairs += zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        for argument, default in pairs:
            yield argument.arg, self.parameter(argument, default)

    def parameter(self, argument: ast.arg, default: ast.expr | None) -> Parameter:
        name, line = argument.arg, argument.lineno
        if default is None:
            self.wrong(line, f"{name} needs a default: main runs without being told anything")
        value, choices = self.literal(default), ()
        match argument.annotation:
            case ast.Name(id=word) if word in KINDS:
                kind = word
            case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
                kind = "str"
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                choices = tuple(self.literal(item) for item in items)
                if not all(isinstance(choice, str) for choice in choices):
                    self.wrong(line, f"the choices of {name} must be text")
            case _:
                self.wrong(line, f"{name} must be annotated as {', '.join(KINDS)} or Literal[...]")
        if kind == "float" and type(value) is int:
            value = float(value)
        if type(value) is not KINDS[kind] or (choices and value not in choices):
            self.wrong(line, f"the default of {name} does not fit its annotation")
        return Parameter(name, cast("Kind", kind), value, choices, self.comment(default))

    def comment(self, node: ast.expr) -> str:
        """Read what is said beside it, at the end of its line."""
        line = self.source.encode().split(b"\n")[(node.end_lineno or 1) - 1]
        said = _COMMENT.fullmatch(line[node.end_col_offset :].decode())
        return said[1] if said else ""

    def names(self, what: str, known: Collection[str], kind: str) -> tuple[str, ...]:
        """A top-level tuple of names: REGIME of options, VARIES of metrics."""
        node = self.assigned(what)
        if node is None:
            return ()
        value = self.literal(node)
        if not isinstance(value, tuple):
            self.wrong(node.lineno, f'{what} is a tuple of names: ("one",)')
        names = cast("tuple[object, ...]", value)
        for name in names:
            if name not in known:
                self.wrong(node.lineno, f"{what}: there is no {kind} {name!r}")
        return tuple(str(name) for name in names)

    def breaks(self) -> Iterator[tuple[str, Break]]:
        table = self.assigned("BREAKS")
        if table is None:
            return
        if not isinstance(table, ast.Dict):
            self.wrong(table.lineno, "BREAKS must be a dictionary written out")
        seen: set[str] = set()
        for key, value in zip(table.keys, table.values, strict=True):
            match key, value:
                case ast.Constant(value=str(name)), ast.Call(func=ast.Name(id="Break")):
                    if name in seen:
                        self.wrong(value.lineno, f"break {name!r} is listed twice")
                    seen.add(name)
                    yield name, self.broken(name, value)
                case _:
                    self.wrong(value.lineno, 'a break is written "name": Break(old="...", ...)')

    def broken(self, name: str, call: ast.Call) -> Break:
        given = {word.arg or "**": self.literal(word.value) for word in call.keywords}
        kinds = {each.name: each for each in fields(Break)}
        if call.args:
            self.wrong(call.lineno, f"break {name!r} takes its values by name")
        for word in given:
            if word not in kinds:
                self.wrong(call.lineno, f"break {name!r} takes no {word!r}")
        for word, each in kinds.items():
            expected = int if word == "ranks" else str
            if word not in given and each.default is MISSING:
                self.wrong(call.lineno, f"break {name!r} lacks {word}=")
            if word in given and type(given[word]) is not expected:
                self.wrong(call.lineno, f"{word} of break {name!r} must be {expected.__name__}")
        if (hits := self.story.count(given["old"])) != 1:
            self.wrong(
                call.lineno,
                f"the old text of break {name!r} stands {hits} times before BREAKS, not once",
            )
        return Break(**given)


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _wrong(path: Path, line: int, reason: str) -> NoReturn:
    raise LabError("demo_file", file=path, line=line, reason=reason) from None


def read(path: Path) -> Demo:
    """Return the demo in one file; the same text is taken apart once."""
    try:
        return _read(path, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        _wrong(path, error.object.count(b"\n", 0, error.start) + 1, "this is not UTF-8 text")
    except OSError as error:
        _wrong(path, 1, error.strerror or str(error))


@cache
def _read(path: Path, source: str) -> Demo:
    reader = _Reader(path, source)
    law, parts = reader.docstring()
    launch = reader.assigned("LAUNCH")
    if launch is not None and reader.literal(launch) != "own":
        reader.wrong(launch.lineno, 'LAUNCH can only be "own"')
    parameters = dict(reader.parameters())
    watch = dict(reader.watch(parts["Watch"]))
    return Demo(
        name=path.stem.replace("_", "-"),
        path=path,
        topic=reader.text("TOPIC"),
        law=law,
        trick="\n".join(line[4:] for _, line in parts["The trick"]).strip("\n"),
        watch=MappingProxyType(watch),
        parameters=MappingProxyType(parameters),
        breaks=MappingProxyType(dict(reader.breaks())),
        own_launch=launch is not None,
        source=reader.source,
        story=reader.story,
        regime=reader.names("REGIME", parameters, "option"),
        varies=(
            *(name for name, each in watch.items() if each.unit == "seconds"),
            *reader.names("VARIES", watch, "metric"),
        ),
    )
