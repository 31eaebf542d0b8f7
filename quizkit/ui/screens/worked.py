"""Show how a number comes about: its formula, one draw's numbers put in, and the result."""

import ast
import re
from collections.abc import Iterator, Mapping
from string import ascii_uppercase

from quizkit.bank.draw import show_number
from quizkit.bank.formula import Formula, parse
from quizkit.bank.functions import Number, Value
from quizkit.calc import sheets
from quizkit.calc.figure import shown
from quizkit.ui.screens.parts import colon
from quizkit.words import Lang, say

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_POWER = re.compile(r" ?\*\* ?(-?\d+)(?![\w.])")
_TENS = re.compile(r"(?<![\w.])(\d(?:\.\d+)?)e([+-]\d+)\b")
_SIGNS = {" * ": " × ", " // ": " div ", " % ": " mod ", " - ": " − "}
_CALL = re.compile(r"([A-Za-z_]\w*)\(")
_CODE = re.compile(r"\bor\b|last_end|\b[A-Z_]{4,}\b")
_KNOWN = {"ceil", "floor", "round", "sqrt", "log2", "min", "max", "int"}


def worked(formula: Formula, values: Mapping[str, Number], unit: str, lang: Lang) -> Iterator[str]:
    """Yield the lines from the formula to its number.

    What a calculator works out is called A, B, ... and told in words on a line of its own.
    """
    parts = _Parts(formula, values, lang)
    result = f"{show_number(formula.number(values))} {unit}".strip()
    if len(parts.told) == 1 and isinstance(parts.tree, ast.Name):
        (line,) = parts.told.values()
        yield f"{line} {unit}".strip()
        return
    letters, numbers = _maths(parts.tree), _maths(_put(parts.tree, {**values, **parts.numbers}))
    yield " = ".join(dict.fromkeys((letters, numbers, result)))
    for letter, line in parts.told.items():
        yield letter + colon(lang) + line


class _Parts(ast.NodeTransformer):
    """The formula with a letter for each figure of a calculator, and what each letter is."""

    def __init__(self, formula: Formula, values: Mapping[str, Number], lang: Lang) -> None:
        self._values = values
        self._lang: Lang = lang
        self._free = (sign for sign in ascii_uppercase if sign not in formula.names)
        self.told: dict[str, str] = {}
        self.numbers: dict[str, Value] = {}
        self._letters: dict[str, str] = {}
        self.tree: ast.expr = self.visit(ast.parse(formula.source, mode="eval").body)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Keep the case that this draw is in."""
        case = parse(ast.unparse(node.test))(self._values)
        return self.visit(node.body if case else node.orelse)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        found = sheets.find(node.func.id)
        if found is None:
            self.generic_visit(node)
            return node
        source = ast.unparse(node)
        if source not in self._letters:
            letter = self._letters[source] = next(self._free)
            self.numbers[letter] = parse(source)(self._values)
            self.told[letter] = self._figure(found, node, self.numbers[letter])
        return ast.Name(self._letters[source])

    def _figure(self, found: sheets.Sum, node: ast.Call, value: Value) -> str:
        """Say a figure in words, its sum with the numbers in, and what it comes to."""
        given = {
            each.arg: parse(ast.unparse(each.value))(self._values)
            for each in node.keywords
            if each.arg
        }
        done = sheets.sheet(found.sheet).work(given)
        (figure,) = (each for each in done.sheet.figures if each.name == found.figure)
        chosen = [each for each in given.values() if isinstance(each, str)]
        name = say(f"figure.{found.sheet}_{found.figure}", self._lang)
        if chosen:
            joined = ", ".join(chosen)
            name += f"（{joined}）" if self._lang == "zh" else f" ({joined})"
        filled = figure.filled(done.values)
        result = str(value) if isinstance(value, list) else _maths(_number(value))
        sums = [figure.taken(done.values), filled]
        sides = [_maths(ast.parse(each, mode="eval").body) for each in sums if _readable(each)]
        return " = ".join(dict.fromkeys((name, *sides, result)))


def _readable(source: str) -> bool:
    """Tell whether it is a sum: nothing looked up, or played operation by operation."""
    return {*_CALL.findall(source)} <= _KNOWN and "[" not in source and not _CODE.search(source)


def _put(tree: ast.expr, values: Mapping[str, Value]) -> ast.expr:
    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            value = values.get(node.id)
            if value is None:
                return node
            return ast.Name(str(value)) if isinstance(value, list) else _number(value)

    # A copy: the tree with its letters is shown too.
    return Put().visit(ast.parse(ast.unparse(tree), mode="eval").body)


def _number(value: object) -> ast.expr:
    text = shown(value)
    return ast.parse(text, mode="eval").body if text.startswith("-") else ast.Name(text)


def _maths(tree: ast.expr) -> str:
    """An expression as people write it."""

    class Short(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            return ast.Name(shown(node.value))

    text = ast.unparse(Short().visit(ast.parse(ast.unparse(tree), mode="eval").body))
    for sign, written in _SIGNS.items():
        text = text.replace(sign, written)
    text = _POWER.sub(lambda power: power[1].translate(_RAISED), text)
    return _TENS.sub(_tens, text)


def _tens(number: re.Match[str]) -> str:
    power = f"10{str(int(number[2])).translate(_RAISED)}"
    return power if number[1] == "1" else f"{number[1]}×{power}"
