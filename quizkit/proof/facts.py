"""Take a claim apart by measurement: what was measured, and what it would have to be.

Of `m == 1 or sent[0] == 2 * n and error < 1e-9` in a run where rank 0 sent too much: `sent`, of
rank 0, 8704, to equal 2176. So a claim can be told in words, without its formula.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from quizkit.bank.functions import Value, is_number
from quizkit.proof.worlds import names_of, truth_of, value_of

Relation = Literal["", "equal", "below", "above", "at_most", "at_least", "alike"]
Of = Literal["", "rank", "max", "min", "sum"]
Than = Literal["", "less", "more", "same"]

_RELATIONS: Mapping[type[ast.cmpop], Relation] = {
    ast.Eq: "equal",
    ast.Lt: "below",
    ast.Gt: "above",
    ast.LtE: "at_most",
    ast.GtE: "at_least",
}
_TURNED: Mapping[Relation, Relation] = {
    "below": "above", "above": "below", "at_most": "at_least", "at_least": "at_most",
}  # fmt: skip
_SAME = 1e-9  # a smaller share of a value is rounding
_DENIED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.NotEq: ast.Eq,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """One measurement that a claim looks at: `of` says which part of it `value` is.

    `also` is a second measurement that is added to it. `relation` and `wanted` are what the claim
    says of it, where that is a plain value; `relation` is empty where it is held against another
    measurement. Of that one `than` says how the one before it turned out: less than this, more.
    """

    metric: str
    value: Value
    of: Of = ""
    rank: int = 0
    also: str = ""
    relation: Relation = ""
    wanted: Value | None = None
    than: Than = ""


def facts(claim: ast.expr, world: Mapping[str, Value], metrics: frozenset[str]) -> list[Fact]:
    """List what decides the claim: of one that is false what fails, of a true one all of it."""
    found: list[Fact] = []
    for fact in _facts(claim, world, metrics):
        if fact not in found:
            found.append(fact)
    return found


def _facts(node: ast.expr, world: Mapping[str, Value], metrics: frozenset[str]) -> Iterator[Fact]:
    match node:
        case ast.BoolOp(op, parts):
            # Of `a and b` that is false and of `a or b` that is true, some parts do not matter.
            truth = truth_of(node, world)
            some = isinstance(op, ast.Or) is (truth is True)
            for part in parts:
                if not some or truth_of(part, world) is truth:
                    yield from _facts(part, world, metrics)
        case ast.UnaryOp(ast.Not(), ast.Compare(left, [op], [right])) if type(op) in _DENIED:
            yield from _facts(ast.Compare(left, [_DENIED[type(op)]()], [right]), world, metrics)
        case ast.UnaryOp(ast.Not(), inner):
            yield from (replace(fact, relation="") for fact in _facts(inner, world, metrics))
        case ast.IfExp(test, body, orelse):
            taken = body if truth_of(test, world) else orelse
            yield from _facts(taken, world, metrics)
        case ast.Compare(left, [op], [right]):
            yield from _compared(left, _RELATIONS.get(type(op), ""), right, world, metrics)
        case ast.Compare(left, ops, rights):
            for one, op, other in zip([left, *rights], ops, rights, strict=False):
                yield from _compared(one, _RELATIONS.get(type(op), ""), other, world, metrics)
        case ast.Call(ast.Name("isclose" | "all_equal"), [left, right, *_]):
            yield from _compared(left, "equal", right, world, metrics)
        case ast.Call(ast.Name("all_equal"), [left]):
            yield from (replace(fact, relation="alike") for fact in _terms(left, world, metrics))
        case _:
            yield from _terms(node, world, metrics)


def _compared(
    left: ast.expr,
    relation: Relation,
    right: ast.expr,
    world: Mapping[str, Value],
    metrics: frozenset[str],
) -> Iterator[Fact]:
    if not names_of(left) & metrics:
        left, right, relation = right, left, _TURNED.get(relation, relation)
    terms = _terms(left, world, metrics)
    wanted = None if names_of(right) & metrics else value_of(right, world)
    alone = _subject(left, world, metrics) or _sum(left, world, metrics)
    if alone and wanted is not None and not isinstance(wanted, bool | str):
        yield replace(alone, relation=relation, wanted=wanted)
        return
    beside = _subject(right, world, metrics)
    if alone and beside and (than := _than(alone.value, beside.value)):
        yield alone
        yield replace(beside, than=than)
        return
    yield from terms
    yield from _terms(right, world, metrics)


def _than(value: Value, other: Value) -> Than:
    """Compare two measurements: less, more or same; nothing of lists."""
    if not (is_number(value) and is_number(other)):
        return ""
    if abs(value - other) <= _SAME * max(abs(value), abs(other)):
        return "same"
    return "less" if value < other else "more"


def _terms(node: ast.expr, world: Mapping[str, Value], metrics: frozenset[str]) -> Sequence[Fact]:
    """The measurements in a part, in the order in which they stand there."""
    if (fact := _subject(node, world, metrics)) is not None:
        return [fact]
    found: list[Fact] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found += _terms(child, world, metrics)
    return found


def _subject(node: ast.expr, world: Mapping[str, Value], metrics: frozenset[str]) -> Fact | None:
    """The one measurement that a part is, whole or in part."""
    of: Of = ""
    rank = 0
    match node:
        case ast.Name(name):
            pass
        case ast.Subscript(ast.Name(name), index):
            at = value_of(index, world)
            if not isinstance(at, int):
                return None
            of, rank = "rank", at
        case ast.Call(ast.Name(("max" | "min" | "sum") as function), [ast.Name(name)]):
            of = function
        case _:
            return None
    value = value_of(node, world) if name in metrics else None
    return None if value is None else Fact(name, value, of, rank)


def _sum(node: ast.expr, world: Mapping[str, Value], metrics: frozenset[str]) -> Fact | None:
    """Two measurements added up: `forward[0] + backward[0]`."""
    match node:
        case ast.BinOp(left, ast.Add(), right):
            one, other = _subject(left, world, metrics), _subject(right, world, metrics)
            value = value_of(node, world)
            if one and other and value is not None and (one.of, one.rank) == (other.of, other.rank):
                return replace(one, value=value, also=other.metric)
        case _:
            pass
    return None
