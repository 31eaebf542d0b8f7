"""Figures of many layouts: each is worked out again only when a degree it depends on has changed.

Layouts come in loops: grids outermost, in them chunks and micro-batches, then recompute, then ZeRO.
"""

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any

from quizkit.calc.figure import Figure, Value
from quizkit.calc.plan.layout import Grid, Layout

_GRID = frozenset(Grid._fields)
_SIZES = _GRID | {"virtual", "batch"}
# What a figure depends on is rounded up to one of these; each needs only those before it.
_LEVELS = (_GRID, _GRID | {"zero"}, _SIZES, _SIZES | {"recompute"}, frozenset(Layout._fields))


class _Level:
    """Figures that depend on the same degrees, and their numbers for the last layouts."""

    def __init__(self, degrees: frozenset[str]) -> None:
        at = [place for place, name in enumerate(Layout._fields) if name in degrees]
        self.key: Callable[[Layout], Any] = itemgetter(*at)
        self.figures: list[Figure] = []
        self.known: dict[Any, dict[str, Any]] = {}
        self.shown: dict[str, Any] | None = None
        """What of it stands among the values now."""


class Evaluation:
    """Works out what `wanted` takes, for one layout after the other."""

    def __init__(
        self, figures: Iterable[Figure], inputs: Mapping[str, Value], wanted: Iterable[str]
    ) -> None:
        self.values: dict[str, Any] = dict(inputs)
        self._levels = self._placed(_needed(list(figures), set(wanted)))

    def of(self, layout: Layout) -> Mapping[str, Any]:
        """Inputs and figures of a layout by name; the next call changes them."""
        values = self.values
        values.update(zip(Layout._fields, layout, strict=True))
        values["sp"] = layout.tp > 1
        for level in self._levels:
            key = level.key(layout)
            found = level.known.get(key)
            if found is None:
                if len(level.known) > len(_LEVELS):
                    level.known.clear()
                found = level.known[key] = level.shown = {}
                for each in level.figures:
                    result = each.function(*[values[name] for name in each.arguments])
                    found[each.name] = values[each.name] = result
            elif found is not level.shown:
                values.update(found)
                level.shown = found
        return values

    def _placed(self, figures: list[Figure]) -> list[_Level]:
        """What no degree touches is worked out here and now."""
        on: dict[str, frozenset[str]] = {name: frozenset({name}) for name in Layout._fields}
        on["sp"] = frozenset({"tp"})
        levels = [_Level(degrees) for degrees in _LEVELS]
        for each in figures:
            touched = frozenset[str]().union(*(on.get(name, ()) for name in each.arguments))
            if not touched:
                self.values[each.name] = each.function(*[self.values[n] for n in each.arguments])
                continue
            level = next(at for at, degrees in enumerate(_LEVELS) if touched <= degrees)
            on[each.name] = _LEVELS[level]
            levels[level].figures.append(each)
        return [level for level in levels if level.figures]


def _needed(figures: list[Figure], wanted: set[str]) -> list[Figure]:
    """The figures that lead to those, in their order."""
    kept: list[Figure] = []
    for each in reversed(figures):
        if each.name in wanted:
            kept.append(each)
            wanted |= set(each.arguments)
    return kept[::-1]
