"""Find what a run measured of a key's name in claims that hold it against a metric."""

import ast
import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.functions import Number, Value, is_number

Sides = tuple[ast.expr, ast.expr]


def measured(
    name: str, claims: Sequence[Formula], names: Mapping[str, Value], metrics: Collection[str]
) -> Number | list[Number] | None:
    """Return the value of what claims hold against the name: x in `isclose(x, answer)`.

    A list may be held against it number by number: x and y in `x == answer[0] and y == answer[1]`.
    What is in another unit is brought into the name's: x / 100 in `isclose(answer * 100, x)`.
    """
    parts: dict[int, Number] = {}
    solved: Number | None = None
    for left, right in _compared(claims, names, metrics):
        for key, other in ((right, left), (left, right)):
            match key:
                case ast.Name() if key.id == name:
                    value = _value(other, names)
                    if value is not None:
                        return value
                case ast.Subscript(ast.Name(id=listed), ast.Constant(int(place))) if listed == name:
                    value = _value(other, names)
                    if value is not None and not isinstance(value, list):
                        parts.setdefault(place, value)
                case _:
                    solved = _solved(name, key, other, names) if solved is None else solved
    key = names.get(name)
    every = range(len(key)) if isinstance(key, list) else ()
    return [parts[place] for place in every] if parts and {*every} == {*parts} else solved


def moments(
    steps: Sequence[str],
    claims: Sequence[Formula],
    names: Mapping[str, Value],
    metrics: Collection[str],
) -> dict[str, Value]:
    """Return the number that each step has in a run: x and y in `(x < y) == (first < second)`.

    Nothing unless each step has one of its own: with less, an order cannot be followed.
    """
    found: dict[str, ast.expr] = {}
    for left, right in _compared(claims, names, metrics):
        for key, other in ((right, left), (left, right)):
            match key, other:
                case ast.Name(id=step), _ if step in steps:
                    found.setdefault(step, other)
                case ast.Compare(ast.Name(id=first), [one], [ast.Name(id=second)]), ast.Compare(
                    low, [same], [high]
                ) if {first, second} <= {*steps}:
                    if type(one) is type(same):
                        found.setdefault(first, low)
                        found.setdefault(second, high)
                case _:
                    pass
    if len({ast.unparse(each) for each in found.values()}) < len(steps):
        return {}
    values = {
        step: _value(each, names) for step, each in found.items() if _names(each) & {*metrics}
    }
    known: dict[str, Value] = {step: each for step, each in values.items() if each is not None}
    return known if len(known) == len(steps) else {}


def _compared(
    claims: Sequence[Formula], names: Mapping[str, Value], metrics: Collection[str]
) -> Iterator[Sides]:
    """Yield what claims say to be equal, where that is about something that was measured."""
    for node in (node for claim in claims for node in ast.walk(claim.tree)):
        match node:
            case ast.Call(func=ast.Name(id="isclose"), args=[left, right, *_]):
                sides = [(left, right)]
            case ast.Call(func=ast.Name(id="all_equal"), args=[left, right]):
                values = _value(left, names)
                alike = isinstance(values, list) and {*values} == {*values[:1]}
                sides = [(_part(left, 0), right)] if alike else []
            case ast.Compare(left, [ast.Eq()], [right]):
                sides = [(left, right), *_by_parts(left, right), *_by_parts(right, left)]
            case _:
                continue
        yield from (each for each in sides if (_names(each[0]) | _names(each[1])) & {*metrics})


def _by_parts(whole: ast.expr, listed: ast.expr) -> Iterator[Sides]:
    """A list that is written out is compared place by place: `rows == [dealt, dealt, last]`."""
    if isinstance(listed, ast.List):
        yield from ((_part(whole, at), part) for at, part in enumerate(listed.elts))


def _part(whole: ast.expr, place: int) -> ast.expr:
    return ast.Subscript(whole, ast.Constant(place), ast.Load())


def _solved(
    name: str, side: ast.expr, other: ast.expr, names: Mapping[str, Value]
) -> Number | None:
    """Solve `side` = `other` for the name; None unless `side` grows evenly with it."""
    if name not in _names(side) or name in _names(other):
        return None
    zero, one, two = (_value(side, {**names, name: each}) for each in (0, 1, 2))
    sought = _value(other, names)
    if not (is_number(zero) and is_number(one) and is_number(two) and is_number(sought)):
        return None
    step = one - zero
    even = step != 0 and math.isclose(two - one, step, rel_tol=1e-9)
    return (sought - zero) / step if even else None


def _names(side: ast.expr) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(side) if isinstance(node, ast.Name))


def _value(side: ast.expr, names: Mapping[str, Value]) -> Number | list[Number] | None:
    """A number, or a list of them."""
    try:
        value = parse(ast.unparse(side))(names)
    except FormulaError:
        return None
    if isinstance(value, list):
        numbers = [each for each in value if is_number(each)]
        return numbers if len(numbers) == len(value) else None
    return value if is_number(value) else None
