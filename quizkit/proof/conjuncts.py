"""The parts of a claim, all of which have to be true, with every case decided as a run decided it.

So `isclose(answer, 3) and bubble > 0` is seen for what it is: a key compared with no measurement,
and a measurement compared with no key.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import cast

from quizkit.proof.worlds import Scene, judges, names_of, truth_of, value_of


def parts_of(claim: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts that each have to be true for a claim to be true."""
    match claim:
        case ast.BoolOp(ast.And(), parts):
            inner = parts
        case ast.UnaryOp(ast.Not(), ast.BoolOp(ast.Or(), parts)):
            inner = [ast.UnaryOp(ast.Not(), part) for part in parts]
        case ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), twice)):
            inner = [twice]
        case ast.Call(ast.Name("all"), [ast.List(parts)]):
            inner = parts
        case ast.Compare(left, [ast.Eq() as op], [right]) if _written(left, right):
            # A list that is written out is compared place by place: `rows == [dealt, last]`.
            count = len(_written(left, right))
            sides = [(_element(left, at), _element(right, at)) for at in range(count)]
            yield from (ast.Compare(one, [op], [other]) for one, other in sides)
            return
        case ast.Call(ast.Name("isclose"), [left, right], keywords) if _written(left, right):
            for at in range(len(_written(left, right))):
                pair = [_element(left, at), _element(right, at)]
                yield ast.Call(claim.func, pair, keywords)
            return
        case _:
            yield claim
            return
    for part in inner:
        yield from parts_of(part)


def decided(claims: Sequence[ast.expr], name: str, run: Scene) -> tuple[ast.expr, ...]:
    """Return the parts of the claims that name the key, as the run decided their cases."""
    settled = (cast("ast.expr", _Decided(name, run).visit(deepcopy(each))) for each in claims)
    parts = (part for each in settled for part in parts_of(each))
    return tuple(part for part in parts if name in names_of(part))


def strict(claim: ast.expr, measured: frozenset[str]) -> ast.expr:
    """Put less for at most, more for at least, where what was measured is compared."""
    return cast(
        "ast.expr", _Other(measured, {ast.LtE: ast.Lt, ast.GtE: ast.Gt}).visit(deepcopy(claim))
    )


def lenient(claim: ast.expr, measured: frozenset[str]) -> ast.expr:
    """Put at most for less, at least for more, where what was measured is compared."""
    return cast(
        "ast.expr", _Other(measured, {ast.Lt: ast.LtE, ast.Gt: ast.GtE}).visit(deepcopy(claim))
    )


def without_slack(claim: ast.expr, measured: frozenset[str]) -> ast.expr:
    """Return the claim with `a < b` for `a < b + 1`, where both sides were measured."""
    return cast("ast.expr", _Taut(measured).visit(deepcopy(claim)))


def loosened(claim: ast.expr) -> ast.expr:
    """Put equal up to rounding for equal: a number that was solved for is not exact."""
    return cast("ast.expr", _Loosened().visit(deepcopy(claim)))


class _Decided(ast.NodeTransformer):
    """Leaves of `x if c else y` the one that was taken, of `a or b` what is true."""

    def __init__(self, name: str, run: Scene) -> None:
        self._open = {name, *run.measured}
        self._values = run.values

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        truth = truth_of(node.test, self._values)
        return node if truth is None else self.visit(node.body if truth else node.orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if isinstance(node.op, ast.Or):
            true = [part for part in node.values if truth_of(part, self._values)]
            if any(not names_of(part) & self._open for part in true):
                return ast.Constant(value=True)  # this run was let off
            if len(true) == 1:
                return self.visit(true[0])
            node = ast.BoolOp(node.op, true or node.values)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Name("min" | "max"), [_, _, *_] as among):
                best = value_of(node, self._values)
                taken = [each for each in among if value_of(each, self._values) == best]
                if len(taken) == 1:
                    return self.visit(taken[0])
            case _:
                pass
        return self.generic_visit(node)


class _Other(ast.NodeTransformer):
    def __init__(
        self, measured: frozenset[str], instead: Mapping[type[ast.cmpop], type[ast.cmpop]]
    ) -> None:
        self._measured = measured
        self._instead = instead

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if names_of(node) & self._measured:
            node.ops = [self._instead.get(type(op), type(op))() for op in node.ops]
        return self.generic_visit(node)


class _Taut(ast.NodeTransformer):
    def __init__(self, measured: frozenset[str]) -> None:
        self._measured = measured

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(left, [ast.Lt() | ast.Gt()], [right]) if all(
                names_of(side) & self._measured for side in (left, right)
            ):
                return ast.Compare(_bare(left), node.ops, [_bare(right)])
            case _:
                return self.generic_visit(node)


def _bare(side: ast.expr) -> ast.expr:
    match side:
        case ast.BinOp(left, ast.Add() | ast.Sub(), ast.Constant()):
            return left
        case ast.BinOp(ast.Constant(), ast.Add(), right):
            return right
        case _:
            return side


class _Loosened(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(left, [ast.Eq()], [right]) if not judges(left) | judges(right):
                return _close(left, right)
            case _:
                return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Name("all_equal"), [values, value]):
                return _close(_element(values, 0), value)
            case _:
                return node


def _close(left: ast.expr, right: ast.expr) -> ast.Call:
    loosely = [ast.keyword("rel", ast.Constant(1e-6)), ast.keyword("abs", ast.Constant(1e-9))]
    return ast.Call(ast.Name("isclose", ast.Load()), [left, right], loosely)


def _written(left: ast.expr, right: ast.expr) -> list[ast.expr]:
    """The elements of the side that is written out, if one is."""
    for side in (left, right):
        if isinstance(side, ast.List):
            return side.elts
    return []


def _element(whole: ast.expr, at: int) -> ast.expr:
    if isinstance(whole, ast.List):
        return whole.elts[at] if at < len(whole.elts) else ast.Constant(0)
    return ast.Subscript(whole, ast.Constant(at), ast.Load())
