"""The orders that schedules prescribe: for each rank, its operations one after the other."""

from collections.abc import Callable

from quizkit.calc.schedule.both_ways import dualpipe, dualpipe_v
from quizkit.calc.schedule.placement import Name, Op, Order, chunks_of
from quizkit.calc.schedule.v_shaped import v_half, v_min, zb_v
from quizkit.calc.sheet import CalcError


def order(schedule: Name, stages: int, microbatches: int, virtual: int = 0) -> Order:
    """What each rank runs. Raises CalcError where the schedule does not exist for these sizes."""
    chunks = chunks_of(schedule, virtual)
    if schedule == "interleaved":
        return [interleaved(rank, stages, microbatches, chunks) for rank in range(stages)]
    usual = chunks_of(schedule)
    if chunks != usual:
        key = "calc_one_chunk" if usual == 1 else "calc_two_chunks"
        raise CalcError(key, schedule=schedule, virtual=virtual)
    if schedule in _WHOLE:
        return _WHOLE[schedule](stages, microbatches)
    return [_SINGLE[schedule](rank, stages, microbatches) for rank in range(stages)]


def gpipe(rank: int, stages: int, microbatches: int) -> list[Op]:
    """Fill the pipeline, then drain it (Huang et al. 2019)."""
    del stages
    return [(kind, rank, i) for kind in "FB" for i in range(microbatches)]


def one_f_one_b(rank: int, stages: int, microbatches: int) -> list[Op]:
    """Run a backward as soon as there is one (PipeDream-Flush)."""
    return _ahead(rank, stages - 1 - rank, microbatches)


def _ahead(rank: int, most: int, microbatches: int) -> list[Op]:
    """Warm up with so many forwards, then run one backward for each forward."""
    warmup = min(most, microbatches)
    ops: list[Op] = [("F", rank, i) for i in range(warmup)]
    for i in range(microbatches):
        if warmup + i < microbatches:
            ops.append(("F", rank, warmup + i))
        ops.append(("B", rank, i))
    return ops


def zb_h1(rank: int, stages: int, microbatches: int) -> list[Op]:
    """1F1B whose rank r puts r weight backwards off, to where 1F1B idles (Qi et al. 2024)."""
    return _split(rank, stages, microbatches, 1)


def zb_h2(rank: int, stages: int, microbatches: int) -> list[Op]:
    """ZB-H1 with twice as many forwards ahead, and twice as many weight backwards put off."""
    return _split(rank, stages, microbatches, 2)


def _split(rank: int, stages: int, microbatches: int, ahead: int) -> list[Op]:
    late = min(ahead * rank, microbatches)
    ops: list[Op] = []
    for kind, _, i in _ahead(rank, ahead * (stages - 1 - rank), microbatches):
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


_SINGLE: dict[Name, Callable[[int, int, int], list[Op]]] = {
    "gpipe": gpipe,
    "1f1b": one_f_one_b,
    "zb-h1": zb_h1,
    "zb-h2": zb_h2,
    "dualpipe": dualpipe,
    "dualpipe-v": dualpipe_v,
}
_WHOLE: dict[Name, Callable[[int, int], Order]] = {"zb-v": zb_v, "v-half": v_half, "v-min": v_min}
