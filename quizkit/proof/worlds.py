"""Try what a run might have measured instead: the same report with numbers changed.

A claim that no such report would make false says nothing; so does a wrong option's claim that none
would make true. What a run cannot measure is not tried: a count stays 0 or more.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from quizkit.bank.formula import Formula, FormulaError
from quizkit.bank.functions import Number, Value, is_number
from quizkit.proof.roots import Gap, roots

World = Mapping[str, Value]
TINY = 1e-9  # a difference from a reference below this is rounding, if the demo does not say more
_SCALES = (1.01, 0.0, 2.0, 0.5, 0.99, 10.0)
_BESIDE = (1.0, 1.01, 0.99)  # of where two sides are equal: there, and on either side
_OUTCOMES = ("finished", "crashed", "hung")
_FAR = 5.0
_ENOUGH = 2000  # reports tried for one claim


@dataclass(frozen=True)
class Scene:
    """One run as claims see it: what names mean, and which of them were measured."""

    values: World
    measured: frozenset[str]
    compared: frozenset[str] = frozenset()
    below_nought: frozenset[str] = frozenset()
    where: str = ""

    def rounding(self, name: str) -> float:
        """Return the size up to which a measurement is nothing but rounding."""
        return TINY if name in self.compared else 0.0


@lru_cache(maxsize=8192)
def names_of(node: ast.AST) -> frozenset[str]:
    """Return the names in a part, called functions aside."""
    called = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
    return frozenset(
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and id(each) not in called
    )


def value_of(node: ast.expr, world: World) -> Value | None:
    """Return what a part comes to, or None where it has no value."""
    try:
        return Formula("", frozenset(), node)(world)
    except FormulaError:
        return None


def truth_of(node: ast.expr, world: World) -> bool | None:
    """Tell whether a part is true, or None where it cannot be said."""
    value = value_of(node, world)
    return value if isinstance(value, bool) else None


def scaled(value: Value, by: float, small: float = 0.0) -> Value:
    """Multiply a measurement; of nothing that leaves nothing, so it becomes `by` itself.

    For 1.01 that is 0.01; values up to `small` are nothing too.
    """
    if isinstance(value, list):
        return [scaled_one(each, by, small) for each in value]
    return value if isinstance(value, str) else scaled_one(value, by, small)


def scaled_one(value: Number | bool, by: float, small: float) -> Number | bool:
    """Return the same for one number; a truth value becomes the other one."""
    if isinstance(value, bool):
        return not value
    if abs(value) > small:
        times = value * by
        return int(times) if isinstance(value, int) and times == int(times) else times
    return by - 1 if 1 < by < 1.1 else by


@dataclass
class Search:
    """Looks for a report in which something is true, or false.

    `near`: no count or time changes beyond a factor, or becomes nothing.
    """

    scene: Scene
    near: bool = False
    left: int = field(default=_ENOUGH)

    def find(self, node: ast.expr, want: bool, world: World | None = None) -> World | None:
        """Return a report in which the claim comes out as wanted, if there seems to be one."""
        return next(self.worlds(node, want, world or self.scene.values), None)

    def worlds(self, node: ast.expr, want: bool, world: World) -> Iterator[World]:
        """Yield reports in which a part comes out as wanted, the one given first."""
        if truth_of(node, world) is want:
            yield world
        if not names_of(node) & self.scene.measured or self.left <= 0:
            return
        for found in self._changed(node, want, world):
            if truth_of(node, found) is want:
                yield found

    def _changed(self, node: ast.expr, want: bool, world: World) -> Iterator[World]:
        match node:
            case ast.BoolOp(op, parts) if isinstance(op, ast.And) is want:
                yield from self._every(parts, want, world)
            case ast.BoolOp(_, parts):
                for part in parts:
                    yield from self.worlds(part, want, world)
            case ast.UnaryOp(ast.Not(), operand):
                yield from self.worlds(operand, not want, world)
            case ast.IfExp(test, body, orelse):
                for decided in (True, False):
                    for found in self.worlds(test, decided, world):
                        yield from self.worlds(body if decided else orelse, want, found)
            case ast.Call(ast.Name("all"), [ast.List(parts)]) if want:
                yield from self._every(parts, want, world)
            case ast.Compare(left, [ast.Eq() | ast.NotEq() as op], [right]) if judges(left):
                alike = isinstance(op, ast.Eq) is want
                for side, other in ((left, right), (right, left)):
                    truth = truth_of(other, world)
                    if truth is not None:
                        yield from self.worlds(side, truth is alike, world)
            case _:
                for found in self._measurements(node, world):
                    self.left -= 1
                    if self.left <= 0:
                        return
                    if not self.near or not self._is_far(found):
                        yield found

    def _every(self, parts: Sequence[ast.expr], want: bool, world: World) -> Iterator[World]:
        if not parts:
            yield world
            return
        for found in self.worlds(parts[0], want, world):
            yield from self._every(parts[1:], want, found)

    def _measurements(self, node: ast.expr, world: World) -> Iterator[World]:
        """The reports that differ in what one comparison names."""
        named = sorted(names_of(node) & self.scene.measured & world.keys())
        for name in named:
            for value in self._values(name, world[name]):
                yield {**world, name: value}
        if len(named) > 1:
            for by in _SCALES:
                yield {**world, **{each: scaled(world[each], by) for each in named}}
        for one, other in combinations(named, 2):
            yield {**world, one: world[other], other: world[one]}
            yield {**world, one: world[other]}
            yield {**world, other: world[one]}
            yield {**world, one: scaled(world[other], 2.0)}
            yield {**world, other: scaled(world[one], 2.0)}
        for left, right in sides(node):
            for name in named:
                yield from self._balanced(left, right, name, world)

    def _values(self, name: str, value: Value) -> Iterator[Value]:
        if isinstance(value, str):
            yield from (each for each in _OUTCOMES if each != value)
            return
        small = self.scene.rounding(name)
        for by in _SCALES:
            yield scaled(value, by, small)
        if name in self.scene.compared:
            yield [1.0] * len(value) if isinstance(value, list) else 1.0
        if isinstance(value, list) and len(value) > 1:
            for at, each in enumerate(value):
                for by in (2.0, 0.0):
                    yield [*value[:at], scaled_one(each, by, small), *value[at + 1 :]]
            yield value[::-1]
            yield [*value[1:], value[0]]
            for each in {min(value), max(value), value[0]}:
                yield [each] * len(value)

    def _balanced(
        self, left: ast.expr, right: ast.expr, name: str, world: World
    ) -> Iterator[World]:
        """The reports in which both sides are equal, or just not, by one measurement's change."""
        before = world[name]
        for side, other in ((left, right), (right, left)):
            target = value_of(other, world)
            if isinstance(side, ast.Name) and side.id == name and target is not None:
                alike = isinstance(before, list) is isinstance(target, list)
                if alike and self._possible(name, target, before):
                    yield {**world, name: target}
        ways: list[tuple[Callable[[float], Value], float]] = [(lambda by: scaled(before, by), 1.0)]
        if isinstance(before, list):
            ways.append((lambda value: [value] * len(before), float(before[0])))
            ways += [(_placed(before, at), float(each)) for at, each in enumerate(before)]
        elif is_number(before):
            ways.append((lambda value: value, float(before)))
        for way, start in ways:
            for root in roots(gap(left, right, world, name, way), start):
                for by in _BESIDE:
                    value = way(root * by)
                    if self._possible(name, value, before):
                        yield {**world, name: value}

    def _is_far(self, found: World) -> bool:
        """Tell whether a measurement is out of all proportion to what it was."""
        changed = [
            name for name in self.scene.measured if found[name] is not self.scene.values[name]
        ]
        for name in changed:
            pairs = zip(_listed(self.scene.values[name]), _listed(found[name]), strict=False)
            for was, now in pairs:
                if not is_number(was) or not is_number(now):
                    continue
                if name in self.scene.compared:
                    if abs(was) <= TINY and abs(now) > 0.02:
                        return True
                elif was and not abs(was) / _FAR <= abs(now) <= abs(was) * _FAR:
                    return True
        return False

    def _possible(self, name: str, value: Value, before: Value) -> bool:
        """Tell whether a run could have measured it: what is counted is never below 0."""
        if isinstance(value, str):
            return False
        signed = any(is_number(each) and each < 0 for each in _listed(before))
        return (
            signed
            or name in self.scene.below_nought
            or all(is_number(each) and each >= 0 for each in _listed(value))
        )


def _listed(value: Value) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _placed(before: Sequence[Number | bool], at: int) -> Callable[[float], Value]:
    return lambda t: [*before[:at], t, *before[at + 1 :]]


def sides(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the pairs that are compared in a part."""
    for each in ast.walk(node):
        match each:
            case ast.Compare(left, _, rights):
                yield from zip((left, *rights), rights, strict=False)
            case ast.Call(ast.Name("isclose"), [left, right, *_]):
                yield left, right
            case ast.Call(ast.Name("all_equal"), [ast.expr() as left, ast.expr() as right]):
                yield ast.Subscript(left, ast.Constant(0), ast.Load()), right
            case _:
                pass


def judges(node: ast.expr) -> bool:
    """Tell whether a part is a truth value."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(ast.Name(name)):
            return name in ("isclose", "all_equal", "all", "any")
        case ast.Constant(value):
            return isinstance(value, bool)
        case _:
            return False


def gap(
    left: ast.expr, right: ast.expr, world: World, name: str, way: Callable[[float], Value]
) -> Gap:
    """Return how far two sides are apart, as a function of what `way` makes of a name's value."""

    def between(x: float) -> float | None:
        there = {**world, name: way(x)}
        a, b = value_of(left, there), value_of(right, there)
        if isinstance(a, list) and isinstance(b, list) and a and b:
            a, b = a[0], b[0]
        return a - b if is_number(a) and is_number(b) else None

    return between
