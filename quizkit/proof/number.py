"""Test whether a key's number follows what was measured, and no other would do as well."""

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from quizkit.bank.functions import Number, Value, is_number
from quizkit.bank.model import Cloze, Question, Text
from quizkit.proof.conjuncts import decided, loosened
from quizkit.proof.neutral import without_neutral
from quizkit.proof.roots import roots
from quizkit.proof.said import both
from quizkit.proof.worlds import (
    Scene,
    Search,
    World,
    gap,
    judges,
    names_of,
    scaled,
    scaled_one,
    sides,
    truth_of,
    value_of,
)

MOVES = 1e-4  # of itself: what the number that satisfies a claim moves by, at least
# Other keys, by what they are of the right one; the nearest are just beyond what a learner is
# forgiven.
_OTHERS = (0.98, 1.02, 0.95, 1.05, 0.9, 1.1, 0.5, 1.5, 2.0, 0.1, 10.0, -1.0, 0.77, 1.33, 3.0)
_ELSEWHERE = (-1.0, 3.0, 30.0)  # the same, where to look for what a law is as true of
_SMALL_STEPS = (1.01, 1.1)  # of a measurement; a tolerance may swallow the first
_LARGE_STEPS = (1.01, 1.5, 2.0, 0.5, 3.0)  # to get beyond a rounding
_ROUND = {"floor", "ceil", "round", "min", "max"}


def loose_number(question: Question, name: str, scenes: Sequence[Scene]) -> Iterator[Text]:
    """Yield what is wrong with the claims that name one number of the key, or list of them."""
    assert question.proof is not None
    claims = [each.tree for each in question.proof.claims if name in each.names]
    exact = not isinstance(question, Cloze)
    rows = [_Row(name, each, tuple(claims), decided(claims, name, each), exact) for each in scenes]
    if isinstance(question, Cloze):
        rows = [row for row in rows if row.parts]  # the runs may share the gaps between them
    if not claims or not rows:
        return  # that no claim names it is said without a run
    place = f"gaps.{name}" if isinstance(question, Cloze) else "answer"
    key = rows[0].key
    for at in range(len(key) if isinstance(key, list) else 1):
        part = f"{name}[{at}]" if isinstance(key, list) else name
        still = [row for row in rows if not row.follows(at)]
        others = [other for row in rows if (other := row.also(at, _whole(rows))) is not None]
        if isinstance(key, list):
            # One run may measure the first number of a list, the next run the second.
            still = still if len(still) == len(rows) else []
            others = others if len(others) == len(rows) else []
        if still:
            row = still[0]
            said = {"part": part, "value": f"{_at(row.key, at):.6g}", "where": row.scene.where}
            yield both("prove.loose_still", place=place, **said)
        elif others:
            yield both("prove.loose_window", place=place, part=part, other=f"{others[0]:.6g}")
    if found := _neutral(rows):
        yield both("prove.loose_neutral", place=place, part=found)


def _whole(rows: "Sequence[_Row]") -> bool:
    """Tell whether the key is a whole number in every run: between two of them is nothing."""
    return all(is_number(row.key) and float(row.key).is_integer() for row in rows)


def _neutral(rows: "Sequence[_Row]") -> str:
    """Say what was measured, if without it the rest of the claims would say the same."""
    said = ""
    for row in rows:
        bare = without_neutral(row.parts, row.name, row.scene, [each.scene for each in rows])
        said = said or bare.said
        count = len(row.key) if isinstance(row.key, list) else 1
        if not bare.said or any(replace(row, parts=bare.parts).follows(at) for at in range(count)):
            return ""
    return said


@dataclass(frozen=True)
class _Row:
    """One run, and the claims that name one number of the key: as said, and in parts, decided."""

    name: str
    scene: Scene
    said: tuple[ast.expr, ...]
    parts: tuple[ast.expr, ...]
    exact: bool  # it is the number that was asked for, and stands for nothing else

    @property
    def key(self) -> Value:
        return self.scene.values[self.name]

    def also(self, at: int, whole: bool) -> Number | None:
        """Another number that the claims are as true of."""
        mine = _at(self.key, at)
        values = self.scene.values
        solved = [
            _at(key, at)
            for claim in self.said
            for start in (1.0, *_ELSEWHERE)
            for key in _solutions(claim, self.name, values, start)
        ]
        far = [each for each in solved if not math.isclose(each, mine, rel_tol=0.01, abs_tol=1e-9)]
        # What was solved for is equal up to rounding.
        nearly = [loosened(claim) for claim in self.said]
        for each, claims in (
            *((each, self.said) for each in _others(mine)),
            *((each, nearly) for each in far),
        ):
            other = round(each) if whole else each
            there = {**values, self.name: _with(self.key, at, other)}
            if other != mine and all(truth_of(claim, there) for claim in claims):
                return other
        return None

    def follows(self, at: int) -> bool:
        """Tell whether another number satisfies a part of the claims if another was measured."""
        return any(self._moves(part, at) or self._turns(part, at) for part in self.parts)

    def _moves(self, part: ast.expr, at: int) -> bool:
        values, mine = self.scene.values, _at(self.key, at)
        nearly = loosened(part)
        steps = _SMALL_STEPS if _is_smooth(part) else _LARGE_STEPS
        for metric in sorted(names_of(part) & self.scene.measured):
            for changed in _changes(values[metric], steps, self.scene.rounding(metric)):
                world = {**values, metric: changed}
                if truth_of(part, world) is not False:
                    continue
                for key in _solutions(part, self.name, world):
                    moved = abs(_at(key, at) - mine)
                    far = moved >= MOVES * abs(mine) if mine else moved > 0
                    if far and truth_of(nearly, {**world, self.name: key}):
                        return True
        return False

    def _turns(self, part: ast.expr, at: int) -> bool:
        """The same for what is rounded, or is one of a few: a code, a case, a count."""
        if _is_smooth(part) or (self.exact and _is_coded(part)):
            return False
        values = self.scene.values
        for other in _others(_at(self.key, at)):
            there = {**values, self.name: _with(self.key, at, other)}
            found = Search(self.scene).find(part, True, there)
            if found and truth_of(part, {**found, self.name: self.key}) is False:
                return True
        return False


def _changes(value: Value, steps: Sequence[float], small: float) -> Iterator[Value]:
    """A measurement scaled, as a whole and each of its elements alone."""
    for by in steps:
        yield scaled(value, by, small)
    if isinstance(value, list) and len(value) > 1:
        for at, each in enumerate(value):
            for by in steps:
                yield [*value[:at], scaled_one(each, by, small), *value[at + 1 :]]


def _is_smooth(part: ast.expr) -> bool:
    """Tell whether what satisfies it moves a little where a measurement does."""
    for node in ast.walk(part):
        match node:
            case ast.Call(ast.Name(name)) if name in _ROUND:
                return False
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod()) | ast.BoolOp() | ast.IfExp():
                return False
            case ast.Compare(ops=ops) if not all(isinstance(op, ast.Eq) for op in ops):
                return False
            case _:
                pass
    return True


def _is_coded(part: ast.expr) -> bool:
    """Tell whether a truth is held against a truth: `(a < b) == (gap == 1)`."""
    match part:
        case ast.Compare(left, _, [right]):
            return judges(left) or judges(right)
        case _:
            return False


def _solutions(claim: ast.expr, name: str, world: World, start: float = 1.0) -> Iterator[Value]:
    """Yield what the key would have to be for the sides of a comparison to be equal.

    `start`: where that is looked for, by what it is of the key.
    """
    key = world[name]
    for left, right in sides(claim):
        for side, other in ((left, right), (right, left)):
            target = value_of(other, world)
            if isinstance(side, ast.Name) and side.id == name and _alike(target, key):
                yield target
        if name in names_of(left) | names_of(right):
            for at in range(len(key) if isinstance(key, list) else 1):
                between = gap(left, right, world, name, lambda x, at=at: _with(key, at, x))
                for root in roots(between, start * float(_at(key, at))):
                    yield _with(key, at, root)
    if isinstance(key, int):
        yield from (key + 1, key - 1, key + 2, key - 2)


def _alike(value: Value | None, key: Value) -> TypeGuard[Value]:
    """Tell whether a value could be the key: a number for a number, as long a list for a list."""
    if isinstance(value, list) and isinstance(key, list):
        return len(value) == len(key) and all(is_number(each) for each in value)
    return is_number(value) and is_number(key)


def _at(key: Value, at: int) -> Number:
    one = key[at] if isinstance(key, list) else key
    assert is_number(one)
    return one


def _with(key: Value, at: int, value: Number) -> Value:
    return [*key[:at], value, *key[at + 1 :]] if isinstance(key, list) else value


def _others(mine: Number) -> Iterator[Number]:
    if mine == 0:
        yield from (0.02, -0.02, 1, -1, 2, 10)
        return
    yield from (mine * by for by in _OTHERS)
    if float(mine).is_integer():
        yield from (mine + 1, mine - 1, mine + 2, mine - 2, 0)
