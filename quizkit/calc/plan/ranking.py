"""Every layout of a job: which fit, in the order of their time, and what the others lack."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from quizkit.calc.plan.evaluation import Evaluation
from quizkit.calc.plan.job import Job
from quizkit.calc.plan.layout import RECOMPUTE, Grid, Layout, grids, stages, zeros
from quizkit.calc.plan.terms import FIGURES

BEST = 5
SLOW = 2


class Fitting(NamedTuple):
    """A layout, how long its step takes, and the memory of its fullest rank."""

    seconds: float
    memory: int
    layout: Layout

    @property
    def grid(self) -> Grid:
        """Its degrees without what a grid leaves open."""
        return grid_of(self.layout)


def grid_of(layout: Layout) -> Grid:
    """The ranks of each axis."""
    return Grid(layout.tp, layout.cp, layout.pp, layout.ep, layout.dp)


@dataclass(frozen=True)
class Ranking:
    """What came of looking at all of them."""

    job: Job
    placed: Sequence[Fitting]
    """Those that fit, fastest first."""
    fell_grids: Counter[str]
    fell: Counter[str]
    """Layouts that do not fit, by the first part of memory that is too much."""
    grids: int
    slow: int
    """Grids left out: their work alone takes `SLOW` times the fastest step."""
    looked_at: int
    least: tuple[float, Layout] | None
    """The layout that needs the least memory, and its bytes."""
    _whole: dict[str, Evaluation] = field(default_factory=dict[str, Evaluation])

    @cached_property
    def best(self) -> Sequence[Fitting]:
        """The fastest layout of each grid, fastest first."""
        first: dict[Grid, Fitting] = {}
        for each in self.placed:
            first.setdefault(each.grid, each)
        return list(first.values())

    def values(self, layout: Layout) -> dict[str, Any]:
        """Every figure of one layout."""
        if not self._whole:
            self._whole[""] = Evaluation(
                FIGURES, self.job.inputs(), [each.name for each in FIGURES]
            )
        return dict(self._whole[""].of(layout))


def ranked(job: Job, keep: Callable[[Layout], bool] | None = None) -> Ranking:
    """Look at every layout, or at all of those to `keep` however slow they are."""
    found = grids(job)
    seen = _Seen(job)
    slow = looked_at = 0
    for bound, grid in sorted((seen.bound(grid), grid) for grid in found.good):
        if keep is None and bound > SLOW * seen.fastest:
            slow += 1
            continue
        held = seen.held(grid)
        for virtual, batch in stages(job, grid):
            for recompute in RECOMPUTE:
                layout = _layout(grid, virtual=virtual, batch=batch, recompute=recompute)
                tried = [
                    each for each in held if keep is None or keep(layout._replace(zero=each[0]))
                ]
                if tried:
                    looked_at += len(tried)
                    seen.look(layout, tried)
    # Of layouts that take as long, the one that sends less and then the one that holds less.
    seen.placed.sort(key=lambda each: (each.seconds, each.layout.zero, each.memory, each.layout))
    total = len(found.good) + found.fell.total()
    return Ranking(job, seen.placed, found.fell, seen.fell, total, slow, looked_at, seen.least)


class _Seen:
    """What was found so far."""

    def __init__(self, job: Job) -> None:
        inputs = job.inputs()
        self._usable = job.usable_bytes
        self._job = job
        self._states = Evaluation(FIGURES, inputs, ["states_bytes"])
        self._alive = Evaluation(FIGURES, inputs, ["activations_bytes", "held_logits_bytes"])
        self._work = Evaluation(FIGURES, inputs, ["work_seconds"])
        self._step = Evaluation(FIGURES, inputs, ["step_seconds"])
        self.placed: list[Fitting] = []
        self.fell: Counter[str] = Counter()
        self.fastest = inf
        self.least: tuple[float, Layout] | None = None

    def bound(self, grid: Grid) -> float:
        """No layout of the grid is faster: its work with the fewest messages and nothing again."""
        whole = _layout(grid, batch=self._job.batch // grid.dp)
        return self._work.of(whole)["work_seconds"]

    def held(self, grid: Grid) -> Sequence[tuple[int, int]]:
        """The bytes of its states under each stage of ZeRO."""
        return [(z, self._states.of(_layout(grid, zero=z))["states_bytes"]) for z in zeros(grid)]

    def look(self, layout: Layout, held: Sequence[tuple[int, int]]) -> None:
        """Place a layout with each of these stages of ZeRO, or say what it lacks."""
        part = self._alive.of(layout)
        kept, logits = part["activations_bytes"], part["held_logits_bytes"]
        for zero, states in held:
            layout = layout._replace(zero=zero)
            memory = states + kept + logits
            if self.least is None or memory < self.least[0]:
                self.least = memory, layout
            if memory <= self._usable:
                seconds = self._step.of(layout)["step_seconds"]
                self.fastest = min(self.fastest, seconds)
                self.placed.append(Fitting(seconds, memory, layout))
            else:
                self.fell[lacking(self._usable, states, kept)] += 1


def lacking(usable: float, states: float, activations: float) -> str:
    """The part with which memory is full: states come first, logits last."""
    if states > usable:
        return "states"
    return "activations" if states + activations > usable else "logits"


def _layout(
    grid: Grid, virtual: int = 1, zero: int = 0, batch: int = 1, recompute: str = "none"
) -> Layout:
    tp, cp, pp, ep, dp = grid
    return Layout(tp, cp, pp, virtual, ep, dp, zero, batch, recompute)
