"""Cuts one function out of a demo, for questions that show code, with a bug planted if asked."""

import ast
import difflib
import textwrap
from dataclasses import dataclass
from functools import lru_cache

from quizkit.errors import LabError, UsageError
from quizkit.lab.demo import Demo
from quizkit.near import nearest


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines to show; `first` is where they stand in the file, `changed` counts from 1."""

    lines: tuple[str, ...]
    first: int
    changed: frozenset[int] = frozenset()


def excerpt(demo: Demo, function: str, broken: str | None = None) -> Excerpt:
    """Return the source of one top-level function (or `Class.method`), without its docstring."""
    right = _cut(demo, demo.planted(None), function)
    if broken is None:
        return right
    wrong = _cut(demo, demo.planted(broken), function)
    changed: set[int] = set()
    match = difflib.SequenceMatcher(None, right.lines, wrong.lines, autojunk=False)
    for kind, _, _, start, end in match.get_opcodes():
        if kind == "delete":
            # What is gone cannot be pointed at: the lines on both sides of the hole stand for it.
            changed |= {max(1, start), min(start + 1, len(wrong.lines))}
        elif kind != "equal":
            changed |= {*range(start + 1, end + 1)}
    if not changed:
        raise UsageError("break_elsewhere", demo=demo.name, name=broken, function=function)
    return Excerpt(wrong.lines, wrong.first, frozenset(changed))


def _cut(demo: Demo, text: str, function: str) -> Excerpt:
    try:
        known = _places(text)
    except SyntaxError as error:
        raise LabError(
            "demo_file", file=demo.path, line=error.lineno or 1, reason=error.msg
        ) from None
    if function not in known:
        hint = nearest(function, known)
        raise UsageError("function_unknown", demo=demo.name, name=function, hint=hint)
    lines, chosen = text.split("\n"), known[function]
    shown = textwrap.dedent("\n".join(lines[n - 1] for n in chosen)).split("\n")
    return Excerpt(tuple(line.rstrip() for line in shown), chosen[0])


@lru_cache(maxsize=256)  # many questions show code of one demo, and it is parsed as a whole
def _places(text: str) -> dict[str, tuple[int, ...]]:
    """The lines of each function, without its docstring."""
    found: dict[str, tuple[int, ...]] = {}
    for name, node in _functions(ast.parse(text).body):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        chosen = range(first, (node.end_lineno or first) + 1)
        said, gone = node.body[0], range(0)
        if ast.get_docstring(node, clean=False) is not None and len(node.body) > 1:
            gone = range(said.lineno, (said.end_lineno or said.lineno) + 1)
        found[name] = tuple(n for n in chosen if n not in gone)
    return found


def _functions(
    body: list[ast.stmt], prefix: str = ""
) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    found: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((prefix + node.name, node))
        elif isinstance(node, ast.ClassDef):
            found += _functions(node.body, f"{node.name}.")
    return found
