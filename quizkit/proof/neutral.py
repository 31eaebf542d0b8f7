"""Measurements that cancel out: `answer == wrong + measured - law` is true of any wrong answer.

Of a sum, what comes to 0 in every run says nothing; of a product, what comes to 1. A measurement
over a mere size may well be 1 (one gradient for each weight); over a law that has a sum in it, over
itself, or over a number typed off the run, it always is.
"""

import ast
import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import cast

from quizkit.bank.functions import Value, is_number
from quizkit.proof.worlds import Scene, names_of, value_of

_SIZES = {1, 2, 3, 4, 8, 16, 100, 10**3, 10**6, 10**9}  # of elements, or a unit: typed off no run
_LONGEST = 10  # parts of a sum or product; all their subsets are tried

Signed = tuple[ast.expr, int]  # a part, and whether it is added or taken off (multiplied, divided)


@dataclass(frozen=True, slots=True)
class Bare:
    """Parts of claims without what cancels out, and what that was, or nothing."""

    parts: tuple[ast.expr, ...]
    said: str


def without_neutral(
    parts: Sequence[ast.expr], name: str, run: Scene, runs: Sequence[Scene]
) -> Bare:
    """Return the parts that decide the key called `name`, less what is neutral in every run."""
    taken = _Neutral(name, run, runs)
    bare = tuple(cast("ast.expr", taken.visit(deepcopy(part))) for part in parts)
    return Bare(bare, taken.said)


class _Neutral(ast.NodeTransformer):
    def __init__(self, name: str, run: Scene, runs: Sequence[Scene]) -> None:
        self._name = name
        self._measured = run.measured
        self._runs = runs
        self.said = ""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Name("isclose"), [left, right, *_]):
                sides = self._equation(left, right)
                if sides:
                    return ast.Call(node.func, [*sides], node.keywords)
            case _:
                pass
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(left, [ast.Eq()], [right]):
                sides = self._equation(left, right)
                if sides:
                    return ast.Compare(sides[0], node.ops, [sides[1]])
            case _:
                pass
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        for chain, neutral in (([*terms(node, 1)], 0), ([*factors(node, 1)], 1)):
            shorter = self._without(chain, neutral)
            if shorter is not None:
                return shorter
        return self.generic_visit(node)

    def _equation(self, left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """Both sides as one chain: `left - right == 0`, `left / right == 1`."""
        sums, products = (
            [*terms(left, 1), *terms(right, -1)],
            [*factors(left, 1), *factors(right, -1)],
        )
        for chain, neutral in ((sums, 0), (products, 1)):
            shorter = self._without(chain, neutral, whole=True)
            if shorter is not None:
                return shorter, ast.Constant(neutral)
        return None

    def _measured_in(self, part: ast.expr) -> frozenset[str]:
        return names_of(part) & self._measured

    def _without(
        self, chain: Sequence[Signed], neutral: int, whole: bool = False
    ) -> ast.expr | None:
        """The chain without a measured part that changes nothing, or None where there is none."""
        if not 2 <= len(chain) <= _LONGEST:
            return None
        free = [i for i, (part, _) in enumerate(chain) if self._name not in names_of(part)]
        if not any(self._measured_in(chain[i][0]) for i in free):
            return None
        values = [[value_of(part, run.values) for part, _ in chain] for run in self._runs]
        for size in range(1, len(chain)):
            for chosen in combinations(free, size):
                some = [chain[i] for i in chosen]
                rest = [each for i, each in enumerate(chain) if i not in chosen]
                if self._says_something([p for p, _ in some], [p for p, _ in rest], neutral):
                    continue
                # Where only the key is left, it is held against what was measured, as it should.
                if all(isinstance(part, ast.Constant) for part, _ in rest) or (
                    whole and all(self._name in names_of(part) for part, _ in rest)
                ):
                    continue
                if all(_is_neutral(chain, each, chosen, neutral) for each in values):
                    self.said = self.said or ", ".join(ast.unparse(part) for part, _ in some)
                    return joined(rest, neutral)
        return None

    def _says_something(
        self, parts: Sequence[ast.expr], rest: Sequence[ast.expr], neutral: int
    ) -> bool:
        """Tell whether that these come to nothing is a finding, not how they were written."""
        measured = [part for part in parts if self._measured_in(part)]
        if not measured:
            return True
        if neutral == 0:
            return False
        names = {name for part in measured for name in self._measured_in(part)}
        if len(names) == 1 < len(measured) or any(_is_rounded(part) for part in measured):
            return False
        if len(measured) == len(parts) > 1 and any(names_of(part) - {self._name} for part in rest):
            return False  # one measurement over its like, beside a formula that is the answer
        if any(self._is_mixed(node) for part in measured for node in ast.walk(part)):
            return False
        others = [part for part in parts if part not in measured]
        return not any(_is_law(part) for part in others)

    def _is_mixed(self, node: ast.AST) -> bool:
        """Tell whether something is added to what was measured: `1 + error`."""
        match node:
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                return not (self._measured_in(left) and self._measured_in(right))
            case _:
                return False


def _is_rounded(part: ast.expr) -> bool:
    match part:
        case ast.Call(ast.Name("floor" | "ceil" | "round")):
            return True
        case _:
            return False


def _is_law(part: ast.expr) -> bool:
    """Tell whether an unmeasured part is more than a size: a sum, a figure, a number typed."""
    if isinstance(part, ast.Constant):
        return part.value not in _SIZES
    return any(isinstance(node, ast.Add | ast.Sub | ast.Call) for node in ast.walk(part))


def _is_neutral(
    chain: Sequence[Signed], values: Sequence[Value | None], chosen: Sequence[int], neutral: int
) -> bool:
    total = float(neutral)
    for i in chosen:
        value, sign = values[i], chain[i][1]
        if not is_number(value) or (neutral and not value):
            return False
        total = total + sign * value if neutral == 0 else total * value**sign
    size = max((abs(each) for each in values if is_number(each)), default=0.0)
    return math.isclose(total, neutral, rel_tol=1e-6, abs_tol=0 if neutral else 1e-6 * size)


def terms(node: ast.expr, sign: int) -> Iterator[Signed]:
    """Yield what is added and taken off in a sum."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            yield from terms(left, sign)
            yield from terms(right, sign if isinstance(op, ast.Add) else -sign)
        case ast.UnaryOp(ast.USub(), operand):
            yield from terms(operand, -sign)
        case ast.Call(ast.Name("sum"), [ast.List(parts)]):
            for part in parts:
                yield from terms(part, sign)
        case _:
            yield node, sign


def factors(node: ast.expr, sign: int) -> Iterator[Signed]:
    """Yield what is multiplied and divided in a product."""
    match node:
        case ast.BinOp(left, ast.Mult() | ast.Div() as op, right):
            yield from factors(left, sign)
            yield from factors(right, sign if isinstance(op, ast.Mult) else -sign)
        case _:
            yield node, sign


def joined(chain: Sequence[Signed], neutral: int) -> ast.expr:
    """Return the parts as one sum (where 0 changes nothing) or product (where 1 does) again."""
    (first, sign), *rest = chain
    up, down = (ast.Mult(), ast.Div()) if neutral else (ast.Add(), ast.Sub())
    whole = first if sign > 0 else ast.BinOp(ast.Constant(neutral), down, first)
    for part, sign in rest:
        whole = ast.BinOp(whole, up if sign > 0 else down, part)
    return whole
