"""The orders that schedules prescribe: for each rank, its operations one after the other."""

from collections.abc import Callable

from quizkit.calc.schedule.both_ways import dualpipe, dualpipe_v
from quizkit.calc.schedule.placement import Name, Op, Order, chunks_of
from quizkit.calc.sheet import CalcError


def order(schedule: Name, stages: int, microbatches: int, virtual: int = 0) -> Order:
    """What each rank runs. Raises CalcError where the schedule does not exist for these sizes."""
    chunks = chunks_of(schedule, virtual)
    if schedule == "interleaved":
        return [interleaved(rank, stages, microbatches, chunks) for rank in range(stages)]
    if schedule in ("gpipe", "1f1b", "zb-h1") and chunks != 1:
        raise CalcError("calc_one_chunk", schedule=schedule, virtual=virtual)
    if schedule in ("zb-v", "dualpipe", "dualpipe-v") and chunks != 2:
        raise CalcError("calc_two_chunks", schedule=schedule, virtual=virtual)
    return [_SINGLE[schedule](rank, stages, microbatches) for rank in range(stages)]


def gpipe(rank: int, stages: int, microbatches: int) -> list[Op]:
    """Fill the pipeline, then drain it (Huang et al. 2019)."""
    del stages
    return [(kind, rank, i) for kind in "FB" for i in range(microbatches)]


def one_f_one_b(rank: int, stages: int, microbatches: int) -> list[Op]:
    """Run a backward as soon as there is one (PipeDream-Flush)."""
    warmup = min(stages - 1 - rank, microbatches)
    ops: list[Op] = [("F", rank, i) for i in range(warmup)]
    for i in range(microbatches):
        if warmup + i < microbatches:
            ops.append(("F", rank, warmup + i))
        ops.append(("B", rank, i))
    return ops


def zb_h1(rank: int, stages: int, microbatches: int) -> list[Op]:
    """1F1B whose rank r puts r weight backwards off, to where 1F1B idles (Qi et al. 2024)."""
    late = min(rank, microbatches)
    ops: list[Op] = []
    for kind, _, i in one_f_one_b(rank, stages, microbatches):
        ops.append(("B-" if kind == "B" else "F", rank, i))
        if kind == "B" and i >= late:
            ops.append(("W", rank, i - late))
    return ops + [("W", rank, i) for i in range(microbatches - late, microbatches)]


def interleaved(rank: int, stages: int, microbatches: int, chunks: int) -> list[Op]:
    """1F1B over chunks, `stages` micro-batches of one before the next (Narayanan et al. 2021)."""
    if microbatches % stages:
        raise CalcError("calc_interleaved", microbatches=microbatches, stages=stages)
    forwards: list[Op] = []
    backwards: list[Op] = []
    for first in range(0, microbatches, stages):
        group = range(first, first + stages)
        for chunk in range(chunks):
            forwards += [("F", chunk * stages + rank, i) for i in group]
            backwards += [("B", (chunks - 1 - chunk) * stages + rank, i) for i in group]
    # A gradient needs a way down and a way up to come back to this rank: two operations a rank.
    warmup = min((chunks - 1) * stages + 2 * (stages - 1 - rank), len(forwards))
    ops = forwards[:warmup]
    for forward, backward in zip(forwards[warmup:], backwards, strict=False):
        ops += [forward, backward]
    return ops + backwards[len(forwards) - warmup :]


def zb_v(rank: int, stages: int, microbatches: int) -> list[Op]:
    """Two chunks a rank, placed as a V, with the weight backwards in the gaps (Qi et al. 2024)."""
    place = (rank, 2 * stages - 1 - rank)
    counts = {(kind, chunk): 0 for kind in "FBW" for chunk in (0, 1)}
    ops: list[Op] = []
    # The pattern is made for 2p - 1 micro-batches or more; of fewer, the others are left out.
    enough = max(microbatches, 2 * stages - 1)

    def run(*names: str, times: int = 1) -> None:
        for name in names * times:
            kind, chunk = name[0], int(name[1])
            number = counts[kind, chunk]
            counts[kind, chunk] += 1
            if number < microbatches:
                ops.append(("B-" if kind == "B" else kind, place[chunk], number))

    run("F0", times=2 * (stages - rank) - 1)
    run("F1", "F0", times=rank)
    run("F1", "B1", "W1", times=stages - rank)
    while counts["F", 1] < enough:
        if counts["F", 0] < enough:
            run("F0")
        run("B0", "W0", "F1", "B1", "W1")
    run("B0", "B1", times=rank)
    run("B0", "W0", times=stages - rank)
    for chunk in (1, 0):
        run(f"W{chunk}", times=enough - counts["W", chunk])
    return ops


_SINGLE: dict[Name, Callable[[int, int, int], list[Op]]] = {
    "gpipe": gpipe,
    "1f1b": one_f_one_b,
    "zb-h1": zb_h1,
    "zb-v": zb_v,
    "dualpipe": dualpipe,
    "dualpipe-v": dualpipe_v,
}
