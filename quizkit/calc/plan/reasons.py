"""Why a layout is not the best one: what it breaks, what does not fit, or what takes longer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from quizkit.calc.plan.job import Job
from quizkit.calc.plan.layout import SHORT, Grid, Layout, broken, every_grid
from quizkit.calc.plan.ranking import Fitting, Ranking, lacking, ranked
from quizkit.calc.plan.terms import PARTS

Pinned = Mapping[str, int | str]
_GRID = frozenset(Grid._fields)


@dataclass(frozen=True, slots=True)
class Mend:
    """One of the pinned degrees, what it should rather be, and how long a step then takes."""

    name: str
    placed: Fitting


@dataclass(frozen=True, slots=True)
class Broken:
    """No grid of these degrees divides: the rule that the nearest of them breaks."""

    rule: str
    grid: Grid | None
    mend: Mend | None


@dataclass(frozen=True, slots=True)
class Full:
    """None of these layouts fits: the one that needs least, by part, and which part is too much."""

    layout: Layout
    memory: Mapping[str, int]
    usable: float
    part: str
    mend: Mend | None

    @property
    def over(self) -> float:
        """Bytes that it lacks."""
        return sum(self.memory.values()) - self.usable


@dataclass(frozen=True, slots=True)
class Slower:
    """The fastest of these layouts, and where its step loses its seconds against the best."""

    placed: Fitting
    rank: int
    """Among the fastest layouts of each grid; 0 where it was too slow to be ranked."""
    of: int
    ratio: float
    more: Mapping[str, float]
    """Seconds more than the best's, by part, the largest first."""
    mend: Mend | None


def why(ranking: Ranking, pinned: Pinned) -> Broken | Full | Slower:
    """What keeps layouts with these degrees from being the best."""
    job = ranking.job

    def fits(layout: Layout) -> bool:
        return all(getattr(layout, name) == value for name, value in pinned.items())

    grids = [each for each in every_grid(job) if _alike(each, pinned)]
    good = [each for each in grids if not broken(job, each)]
    mend = _mend(ranking, pinned)
    if not good:
        near = grids[0] if grids else None
        return Broken(broken(job, near) if near else "gpus", near, mend)
    mine = ranked(job, fits)
    if mine.placed:
        return _slower(ranking, mine.placed[0], mend)
    if mine.least is None:
        return Broken("rounds", good[0], mend)
    return full(job, mine.least[1], mine.values(mine.least[1]), mend)


def full(job: Job, layout: Layout, values: Mapping[str, int], mend: Mend | None = None) -> Full:
    """By how much a layout does not fit."""
    parts = ("states", "activations", "held_logits")
    memory = {part.removeprefix("held_"): values[f"{part}_bytes"] for part in parts}
    part = lacking(job.usable_bytes, memory["states"], memory["activations"])
    return Full(layout, memory, job.usable_bytes, part, mend)


def enough(job: Job) -> int:
    """The least doubling of the GPUs on which anything fits; 0 if not even 64 times as many do."""
    doublings = (job.gpus * 2**more for more in range(1, 7))
    bigger = (Job(job.model, job.chip, gpus, job.seq, job.batch, job.assumed) for gpus in doublings)
    return next((each.gpus for each in bigger if ranked(each).placed), 0)


def _alike(grid: Grid, pinned: Pinned) -> bool:
    return all(getattr(grid, name) == pinned[name] for name in _GRID & pinned.keys())


def _slower(ranking: Ranking, placed: Fitting, mend: Mend | None) -> Slower:
    best = ranking.best[0]
    theirs, ours = ranking.values(best.layout), ranking.values(placed.layout)
    more = {part: ours[f"{part}_seconds"] - theirs[f"{part}_seconds"] for part in PARTS}
    ordered = dict(sorted(more.items(), key=lambda each: -each[1]))
    before = [at for at, each in enumerate(ranking.best, 1) if each.grid == placed.grid]
    faster = mend if mend and mend.placed.seconds < placed.seconds else None
    return Slower(
        placed,
        before[0] if before else 0,
        len(ranking.best),
        placed.seconds / best.seconds,
        ordered,
        faster,
    )


def _mend(ranking: Ranking, pinned: Pinned) -> Mend | None:
    """The one degree that, let go, gives the fastest step."""
    found: Sequence[Mend] = [
        Mend(name, placed)
        for name in pinned
        for placed in islice((p for p in ranking.placed if _but(p.layout, pinned, name)), 1)
    ]
    return min(found, key=lambda each: each.placed.seconds, default=None)


def _but(layout: Layout, pinned: Pinned, free: str) -> bool:
    return all(getattr(layout, n) == value for n, value in pinned.items() if n != free)


def written(layout: Layout, experts: bool) -> str:
    """A layout as `--why` reads it; ep only where there are experts."""
    names = [name for name in Layout._fields if experts or name != "ep"]
    return " ".join(f"{SHORT.get(name, name)}={getattr(layout, name)}" for name in names)
