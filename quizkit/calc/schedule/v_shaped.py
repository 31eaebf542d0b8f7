"""ZB-V, V-Half and V-Min: two chunks a rank, placed as a V (Qi et al. 2024).

The micro-batches go down the ranks on chunk 0 and up again on chunk 1, so that the last rank turns
them round at once. V-Half and V-Min repeat one micro-batch's operations every six slots; the less
there is between its forwards and its backwards, the fewer micro-batches are alive at a time.
"""

from collections import deque

from quizkit.calc.schedule.placement import Op, Order


def zb_v(stages: int, microbatches: int) -> Order:
    """No rank waits once it runs; as many activations as 1F1B's first rank, on every rank."""
    lines = [_zb_v(rank, stages, microbatches) for rank in range(stages)]
    if microbatches >= 3 * stages // 2:
        return lines
    # Of a pattern so far from full, weight backwards come before what another rank waits for.
    return _filled([[op for op in ops if op[0] != "W"] for ops in lines], 2 * stages)


def v_half(stages: int, microbatches: int) -> Order:
    """Half of 1F1B's activations, and half of its bubble."""
    gap = 0 if stages % 2 else 3
    starts = [
        (2 * r, 3 * stages - 2 - r, 3 * stages + gap - 1 + 2 * r, 6 * stages + gap - 2 - r)
        for r in range(stages)
    ]
    return _repeated(starts, microbatches, 2 * ((stages + 2) // 2))


def v_min(stages: int, microbatches: int) -> Order:
    """A third of 1F1B's activations, and two thirds of its bubble."""
    gap = 0 if stages % 3 else 2
    starts = [
        (r, 2 * stages - 1 - r, 2 * stages + gap + r, 4 * stages + gap - 1 - r)
        for r in range(stages)
    ]
    return _repeated(starts, microbatches, 2 * ((stages + 4) // 3))


def _zb_v(rank: int, stages: int, microbatches: int) -> list[Op]:
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


def _repeated(starts: list[tuple[int, int, int, int]], microbatches: int, most: int) -> Order:
    """A micro-batch every six slots: the slots of its F0, F1, B1 and B0 on each rank are given."""
    lines: Order = []
    for rank, slots in enumerate(starts):
        near, far = rank, 2 * len(starts) - 1 - rank
        block = (("F", near), ("F", far), ("B-", far), ("B-", near))
        timed = [
            (slot + 6 * i, (kind, stage, i))
            for i in range(microbatches)
            for slot, (kind, stage) in zip(slots, block, strict=True)
        ]
        lines.append([op for _, op in sorted(timed)])
    return _filled(lines, most)


def _filled(lines: Order, most: int) -> Order:
    """Put weight backwards where a rank would wait, or has `most` micro-batches alive.

    When it would wait is reckoned with F, B and W of a slot each. The order of the others stays.
    """
    last = 2 * len(lines) - 1
    ran: dict[Op, int] = {}  # each forward and backward with the slot it ran in
    owed: list[deque[Op]] = [deque() for _ in lines]
    filled: Order = [[] for _ in lines]
    at, live = [0] * len(lines), [0] * len(lines)
    left = sum(len(ops) for ops in lines) * 3 // 2
    slot = 0
    while left:
        for rank, ops in enumerate(lines):
            if at[rank] < len(ops):
                op = kind, stage, i = ops[at[rank]]
                forward = kind == "F"
                needed = (
                    ("F", stage - 1, i)
                    if forward
                    else ("B-", stage + 1, i)
                    if stage < last
                    else ("F", stage, i)
                )
                came = (forward and stage == 0) or ran.get(needed, slot) < slot
                if came and not (forward and live[rank] >= most):
                    at[rank] += 1
                    ran[op] = slot
                    filled[rank].append(op)
                    left -= 1
                    if forward:
                        live[rank] += 1
                    else:
                        owed[rank].append(("W", stage, i))
                    continue
            if owed[rank]:
                filled[rank].append(owed[rank].popleft())
                live[rank] -= 1
                left -= 1
        slot += 1
    return filled
