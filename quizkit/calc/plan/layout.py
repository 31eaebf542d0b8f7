"""The layouts of a job: which grids of GPUs divide what they cut, and what each leaves open."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, isqrt
from typing import NamedTuple

from quizkit.calc.plan.job import Job

RECOMPUTE = ("none", "selective", "full")


class Layout(NamedTuple):
    """How a job is cut; `batch` is the micro-batch."""

    tp: int
    cp: int
    pp: int
    virtual: int
    ep: int
    dp: int
    zero: int
    batch: int
    recompute: str


SHORT = {"virtual": "v", "batch": "mb"}
"""What people type and read for a degree, where it is not its name."""


class Grid(NamedTuple):
    """How many ranks each axis has; ep cuts the ranks of tp x cp x dp once more."""

    tp: int
    cp: int
    pp: int
    ep: int
    dp: int


@dataclass(frozen=True, slots=True)
class Grids:
    """The grids that divide, and how many fell to each rule, the first that they break."""

    good: Sequence[Grid]
    fell: Counter[str]


@cache
def divisors(number: int) -> tuple[int, ...]:
    """All of them, from 1 on."""
    low = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    return (*low, *(number // each for each in reversed(low) if each * each != number))


def grids(job: Job) -> Grids:
    """Every product of degrees that is the number of GPUs, tried by every rule."""
    good: list[Grid] = []
    fell: Counter[str] = Counter()
    for grid in every_grid(job):
        rule = broken(job, grid)
        if rule:
            fell[rule] += 1
        else:
            good.append(grid)
    return Grids(good, fell)


def every_grid(job: Job) -> Iterator[Grid]:
    """Every product of degrees that is the number of GPUs; ep divides the experts."""
    for tp in divisors(job.gpus):
        for cp in divisors(job.gpus // tp):
            for pp in divisors(job.gpus // (tp * cp)):
                dp = job.gpus // (tp * cp * pp)
                experts = job.model.experts
                for ep in divisors(experts) if experts else (1,):
                    if tp * cp * dp % ep == 0:
                        yield Grid(tp, cp, pp, ep, dp)


def broken(job: Job, grid: Grid) -> str:
    """The first rule that a grid breaks; nothing if it keeps them all."""
    model, tp = job.model, grid.tp
    ffn = model.ffn or model.expert_ffn
    if tp > job.chip.node:
        return "node"
    if model.heads % tp or ffn % tp:
        return "heads"
    if model.kv_heads % tp and tp % model.kv_heads:
        return "kv_heads"
    if grid.pp > model.layers:
        return "layers"
    if job.seq % (tp * (2 * grid.cp if grid.cp > 1 else 1)):
        return "seq"
    if job.batch % grid.dp:
        return "batch"
    return ""


def chunks(job: Job, pp: int) -> list[int]:
    """Chunks a device may have: no device holds two layers more than another."""
    layers = job.model.layers
    if pp == 1:
        return [1]
    most = -(-layers // pp)
    return [v for v in range(1, most + 1) if ceil(layers / (pp * v)) * pp * v - layers < pp]


def stages(job: Job, grid: Grid) -> Iterator[tuple[int, int]]:
    """Chunks and micro-batch sizes of a grid: interleaving takes whole rounds of micro-batches."""
    for batch in divisors(job.batch // grid.dp):
        count = job.batch // (grid.dp * batch)
        for virtual in chunks(job, grid.pp):
            if virtual == 1 or count % grid.pp == 0:
                yield virtual, batch


def zeros(grid: Grid) -> Sequence[int]:
    """Stages of ZeRO that differ: with one copy there is nothing to share."""
    return (0, 1, 2, 3) if grid.cp * grid.dp > 1 else (0,)
