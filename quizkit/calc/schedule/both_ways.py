"""DualPipe and DualPipeV: micro-batches enter each device from two sides (DeepSeek-AI 2024).

Both are one pattern. Seen from a device, half of the work comes from the near end (side 0) and half
from the far end (side 1). In DualPipe these are two directions, each with its own copy of the
weights; cut the devices in the middle and fold: the V of DualPipeV is one half of it.
"""

from collections import deque

from quizkit.calc.schedule.placement import Op
from quizkit.calc.sheet import CalcError

_Part = tuple[str, int, int]  # kind, side, number


def dualpipe(rank: int, stages: int, microbatches: int) -> list[Op]:
    """Half of the micro-batches down the devices, half up, on two copies of the weights."""
    if stages % 2 or microbatches % 2 or microbatches < 2 * stages:
        raise CalcError("calc_dualpipe", stages=stages, microbatches=microbatches)
    half = microbatches // 2
    upper = rank >= stages // 2
    depth = stages - 1 - rank if upper else rank
    ops: list[Op] = []
    for kind, side, number in _pattern(depth, stages // 2, half):
        # The near end of the lower half is rank 0, where micro-batches set out on their way down.
        up = side != upper
        stage = stages + (stages - 1 - rank) if up else rank
        ops.append((kind, stage, number + (half if up else 0)))
    return ops


def dualpipe_v(rank: int, stages: int, microbatches: int) -> list[Op]:
    """Two chunks a rank, placed as a V; micro-batches go down on the first and up on the second."""
    if microbatches < 2 * stages:
        raise CalcError("calc_dualpipe_v", stages=stages, microbatches=microbatches)
    place = (rank, 2 * stages - 1 - rank)
    return [(kind, place[side], i) for kind, side, i in _pattern(rank, stages, microbatches)]


def _pattern(depth: int, ranks: int, microbatches: int) -> list[_Part]:
    """The parts of a device `depth` hops from the near end, where `ranks - 1` is the far end."""
    counts = {kind + side: 0 for kind in "FB" for side in "01"}
    parts: list[_Part] = []
    owed: deque[tuple[int, int]] = deque()
    ahead = ranks - 1 - depth

    def run(*names: str, times: int = 1) -> None:
        for name in names * times:
            if name == "W":
                parts.append(("W", *owed.popleft()))
                continue
            kind, side = name[:-1], int(name[-1])
            count = ("F" if kind[0] == "F" else "B") + name[-1]
            parts.append((kind, side, counts[count]))
            if kind == "B-":
                owed.append((side, counts[count]))
            counts[count] += 1

    run("F0", times=2 * ahead)
    run("F0", "F1", times=depth + 1)
    run("B-1", "W", "F1", times=ahead)
    steady = microbatches - 2 * ranks + depth + 1
    # Where the ways meet, the first pair is not overlapped: its backward waits for nobody else.
    run("F0" if ahead == 0 else "F+0", "B1", "F+1", "B0")
    run("F+0", "B1", "F+1", "B0", times=steady - 1)
    run("B1", "F+1", "B0", times=ahead)
    # Of the last 2(depth + 1) backwards the second half leaves the weights for later.
    last = ("B1", "B0") * (depth + 1)
    for at, name in enumerate(last):
        run(name if at <= depth else name.replace("B", "B-"))
    run("W", "B-0", times=ahead)
    run("W", times=depth + 1)
    return parts
