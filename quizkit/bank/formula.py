"""The one small language of answers, traps and claims: arithmetic on the numbers of a run.

A subset of Python expressions, checked when it is read and bounded in size and time; it can do
nothing but arithmetic. Values are numbers, booleans, strings (which only compare) and flat lists.
A list compares with a list of the same length, element by element; list with scalar is an error.
A figure of a calculator is a function of its inputs by keyword: `memory_weights_bytes(params=p)`.
What is not finite is an error too: a claim about NaN is neither true nor false.
"""

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from quizkit.bank.functions import FUNCTIONS, Number, Value, is_number, kind_of
from quizkit.calc import sheets
from quizkit.near import nearest

LONGEST_SOURCE = 600
DEEPEST_NESTING = 40
LARGEST_BITS = 4096

Meaning = Callable[[Mapping[str, Value]], Value]


class FormulaError(ValueError):
    """The expression is not of this language, or has no value for what it was given."""


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression that has been checked; call it with the values of its names."""

    source: str
    names: frozenset[str]
    tree: ast.expr

    @property
    def calls(self) -> list[str]:
        """The functions it calls."""
        nodes = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return [node.id for node in nodes if isinstance(node, ast.Name)]

    def __call__(self, values: Mapping[str, Value]) -> Value:
        """The value. Raises FormulaError where there is none (missing name, NaN, wrong shape)."""
        return _compiled(self.tree)(values)

    def number(self, values: Mapping[str, Value]) -> Number:
        """Return the value, which has to be a number."""
        value = self(values)
        if not is_number(value):
            raise FormulaError(f"`{self.source}` is {kind_of(value)}, not a number")
        return value

    def truth(self, values: Mapping[str, Value]) -> bool:
        """Return the value, which has to be true or false."""
        value = self(values)
        if not isinstance(value, bool):
            raise FormulaError(f"`{self.source}` is {kind_of(value)}, neither true nor false")
        return value

    def __str__(self) -> str:
        return self.source


@lru_cache(maxsize=8192)  # keys and claims are asked for again and again, and say the same
def parse(source: str) -> Formula:
    """Read an expression. Raises FormulaError for what the language does not have."""
    if len(source) > LONGEST_SOURCE:
        raise FormulaError(f"longer than {LONGEST_SOURCE} characters")
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "too deeply nested"
        raise FormulaError(f"`{source}` is not an expression: {reason}") from error
    names: set[str] = set()
    _check(tree, names, 0)
    return Formula(source.strip(), frozenset(names), tree)


def _check(node: ast.AST, names: set[str], depth: int) -> None:
    if depth > DEEPEST_NESTING:
        raise FormulaError("too deeply nested")
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            children: list[ast.AST] = []
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise FormulaError(f"`{name}` is a function; call it")
            names.add(name)
            children = []
        case ast.BinOp(left, op, right) if type(op) in _BINARY or isinstance(op, ast.Pow):
            children = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not(), operand=operand):
            children = [operand]
        case ast.BoolOp(values=values):
            children = [*values]
        case ast.Compare(left, ops, comparators):
            if any(type(op) not in _COMPARE for op in ops):
                raise FormulaError("only == != < <= > >= compare")
            children = [left, *comparators]
        case ast.IfExp(test, body, orelse):
            children = [test, body, orelse]
        case ast.List(elts=items):
            children = [*items]
        case ast.Subscript(value=value, slice=index):
            children = [value, index]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            allowed = _keywords(name)
            if args and name not in FUNCTIONS:
                raise FormulaError(f"`{name}` takes its inputs by name: {', '.join(allowed)}")
            for keyword in keywords:
                if keyword.arg not in allowed:
                    raise FormulaError(f"`{name}` takes no argument `{keyword.arg}`")
            children = [*args, *(keyword.value for keyword in keywords)]
        case _:
            raise FormulaError(f"`{_shown(node)}` is not part of the language")
    for child in children:
        _check(child, names, depth + 1)


def _shown(node: ast.AST) -> str:
    """The source of a part that has not been found shallow enough to be written back safely."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return f"{type(node).__name__} nested too deeply"


def _keywords(name: str) -> Collection[str]:
    """Return a function's keywords. Raises FormulaError where there is no such function."""
    if name in FUNCTIONS:
        return ("rel", "abs") if name == "isclose" else ()
    if found := sheets.find(name):
        return sorted(found.inputs)
    hint = nearest(name, [*FUNCTIONS, *sheets.names()])
    raise FormulaError(f"unknown function `{name}`; did you mean `{hint}`?")


@lru_cache(maxsize=8192)
def _compiled(node: ast.AST) -> Meaning:
    """A part as a function of the names: a tree is walked once, and its value asked for often."""
    match node:
        case ast.Constant(value=value) if isinstance(value, (bool, int, float, str)):
            constant = _finite(value, node)
            return lambda values: constant
        case ast.Name(id=name):
            return lambda values: _named(name, values, node)
        case ast.BinOp(left, op, right):
            return _arithmetic(op, _compiled(left), _compiled(right), node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            negated = _compiled(operand)
            return lambda values: not _truth(negated(values), operand)
        case ast.UnaryOp(op, operand):
            sign, signed = (-1 if isinstance(op, ast.USub) else 1), _compiled(operand)
            return lambda values: sign * _number(signed(values), operand)
        case ast.BoolOp(op, parts):
            wanted, each = isinstance(op, ast.Or), [(_compiled(part), part) for part in parts]
            # Lazy, like Python's: `n > 1 and sent[1] > 0` is fine with one rank.
            return lambda values: any(_truth(f(values), p) is wanted for f, p in each) is wanted
        case ast.Compare(left, ops, comparators):
            return _comparison(ops, [_compiled(side) for side in (left, *comparators)], node)
        case ast.IfExp(test, body, orelse):
            decides, yes, no = _compiled(test), _compiled(body), _compiled(orelse)
            return lambda values: (yes if _truth(decides(values), test) else no)(values)
        case ast.List(elts=items):
            elements = [(_compiled(item), item) for item in items]
            return lambda values: [_element(f(values), item) for f, item in elements]
        case ast.Subscript(value=target, slice=index):
            whole, place = _compiled(target), _compiled(index)
            return lambda values: _item(whole(values), place(values), node)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            given = [_compiled(arg) for arg in args]
            named = [(str(k.arg), _compiled(k.value)) for k in keywords]
            return lambda values: _call(
                name, [f(values) for f in given], {k: f(values) for k, f in named}, node
            )
        case _:
            raise AssertionError(f"unchecked node {ast.dump(node)}")


def _named(name: str, values: Mapping[str, Value], node: ast.AST) -> Value:
    if name not in values:
        raise FormulaError(f"`{name}` is not known here")
    return _finite(values[name], node)


def _finite(value: Value, node: ast.AST) -> Value:
    for number in value if isinstance(value, list) else [value]:
        if isinstance(number, float) and not math.isfinite(number):
            raise FormulaError(f"`{ast.unparse(node)}` is {number}")
    return value


def _number(value: Value, node: ast.AST) -> Number:
    if not is_number(value):
        raise FormulaError(f"`{ast.unparse(node)}` is {kind_of(value)}, not a number")
    return value


def _truth(value: Value, node: ast.AST) -> bool:
    if not isinstance(value, bool):
        raise FormulaError(f"`{ast.unparse(node)}` is {kind_of(value)}, neither true nor false")
    return value


def _element(value: Value, node: ast.AST) -> Number | bool:
    if isinstance(value, (str, list)):
        raise FormulaError(f"`{ast.unparse(node)}` is {kind_of(value)}; lists are flat, of numbers")
    return value


def _divide(a: Number, b: Number) -> Number:
    return a / b


def _floor_divide(a: Number, b: Number) -> Number:
    return a // b


_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.FloorDiv: _floor_divide,
    ast.Mod: operator.mod,
}

_COMPARE: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _arithmetic(op: ast.operator, left: Meaning, right: Meaning, node: ast.BinOp) -> Meaning:
    work = _power if isinstance(op, ast.Pow) else _BINARY[type(op)]

    def worked(values: Mapping[str, Value]) -> Value:
        a, b = _number(left(values), node.left), _number(right(values), node.right)
        try:
            result = work(a, b)
        except (ZeroDivisionError, OverflowError) as error:
            raise FormulaError(f"`{ast.unparse(node)}`: {error}") from error
        if isinstance(result, int) and result.bit_length() > LARGEST_BITS:
            raise FormulaError(f"`{ast.unparse(node)}` is too large")
        return _finite(result, node)

    return worked


def _comparison(ops: list[ast.cmpop], sides: list[Meaning], node: ast.AST) -> Meaning:
    def compared(values: Mapping[str, Value]) -> bool:
        found = [side(values) for side in sides]
        pairs = zip(ops, found, found[1:], strict=False)
        return all(_compare(op, a, b, node) for op, a, b in pairs)

    return compared


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int):
        if abs(exponent) * max(1, base.bit_length()) > LARGEST_BITS:
            raise OverflowError("too large a power")
    elif base < 0 and exponent != int(exponent):
        raise FormulaError("a broken power of a negative number")
    return base**exponent


def _compare(op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            raise FormulaError(f"`{ast.unparse(node)}`: {len(left)} elements against {len(right)}")
        if isinstance(op, ast.NotEq):
            return left != right
        return all(_compare(op, a, b, node) for a, b in zip(left, right, strict=True))
    if is_number(left) and is_number(right):
        return _COMPARE[type(op)](left, right)
    alike = isinstance(left, bool) and isinstance(right, bool)
    alike = alike or (isinstance(left, str) and isinstance(right, str))
    if alike and isinstance(op, (ast.Eq, ast.NotEq)):
        return (left == right) is isinstance(op, ast.Eq)
    raise FormulaError(f"`{ast.unparse(node)}` compares {kind_of(left)} with {kind_of(right)}")


def _item(value: Value, index: Value, node: ast.AST) -> Value:
    if not isinstance(value, list) or not isinstance(index, int) or isinstance(index, bool):
        raise FormulaError(f"`{ast.unparse(node)}`: an element is list[whole number]")
    if not -len(value) <= index < len(value):
        raise FormulaError(f"`{ast.unparse(node)}`: there are {len(value)} elements")
    return value[index]


def _call(name: str, args: list[Value], named: dict[str, Value], node: ast.AST) -> Value:
    function = FUNCTIONS.get(name) or sheets.find(name)
    assert function is not None, name
    try:
        return _finite(function(*args, **named), node)
    except FormulaError:
        raise
    except (TypeError, ValueError, OverflowError, ArithmeticError, IndexError) as error:
        raise FormulaError(f"`{ast.unparse(node)}`: {error}") from error


def unknown_names(formula: Formula, known: Collection[str]) -> list[str]:
    """Return the names of the formula that nothing would give a value to, sorted."""
    return sorted(formula.names - set(known))
