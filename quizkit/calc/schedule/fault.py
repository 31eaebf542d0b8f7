"""What is wrong with an order: it is not whole, or its operations wait for each other."""

from collections.abc import Sequence
from itertools import dropwhile

from quizkit.calc.schedule.placement import Op, Order, StagePlacement
from quizkit.calc.sheet import CalcError

_AFTER = {"F": 1, "F+": 1, "B-": 2, "W": 3, "B": 3}
"""How far a micro-batch is on a stage: 1 forward ran, 2 backward for the input too, 3 all."""


def check(orders: Order, placement: StagePlacement, where: Sequence[str]) -> None:
    """Every operation once, on the rank of its stage, after what it needs of the same rank."""
    width, stages = placement.microbatches, len(placement.devices)
    if len(orders) != placement.ranks:
        raise CalcError("calc_order_ranks", file="order", given=len(orders), stages=placement.ranks)
    state = bytearray(stages * width)
    for rank, ops in enumerate(orders):
        paired, before = False, ("", 0, 0)
        for op in ops:
            kind, stage, microbatch = op
            known = 0 <= stage < stages and 0 <= microbatch < width
            if not known or placement.devices[stage] != rank:
                raise CalcError("calc_order_foreign", where=where[rank], op=_loose(op, placement))
            cell = stage * width + microbatch
            was, is_now = state[cell], _AFTER[kind]
            if paired and kind not in ("B", "B-"):
                raise CalcError("calc_order_pair", where=where[rank], op=placement.name(op))
            if paired and op[1:] == before[1:]:  # a backward needs its forward done, not under way
                raise _out_of_turn(op, 0, placement, where[rank])
            paired, before = kind == "F+", op
            # A full backward does both halves at once.
            if was != (1 if kind == "B" else is_now - 1):
                raise _out_of_turn(op, was, placement, where[rank])
            state[cell] = is_now
        if paired:
            raise CalcError("calc_order_pair", where=where[rank], op="-")
    for stage, device in enumerate(placement.devices):
        wanted = placement.expected(stage)
        for microbatch in range(width):
            was = state[stage * width + microbatch]
            if was != (3 if microbatch in wanted else 0):
                missing = microbatch in wanted
                op = ("FBW"[was] if missing else "F", stage, microbatch)
                key = "calc_order_missing" if missing else "calc_order_foreign"
                raise CalcError(key, where=where[device], op=placement.name(op))


def _out_of_turn(op: Op, was: int, placement: StagePlacement, where: str) -> CalcError:
    """Why an operation cannot stand where it stands: a second time, or before what it needs."""
    kind, stage, microbatch = op
    if was >= _AFTER[kind] or (kind == "B" and was == 2):
        return CalcError("calc_order_twice", where=where, op=placement.name(op))
    needed = placement.name(("B-" if kind == "W" and was == 1 else "F", stage, microbatch))
    return CalcError("calc_order_early", where=where, op=placement.name(op), needed=needed)


def _loose(op: Op, placement: StagePlacement) -> str:
    kind, stage, microbatch = op
    return f"{kind[0]}{microbatch}" + (f" (stage {stage})" if placement.chunks > 1 else "")


def deadlock(
    orders: Order,
    placement: StagePlacement,
    at: Sequence[int],
    waits: dict[int, tuple[str, int]],
    where: Sequence[str],
) -> CalcError:
    """Follow who waits for whom until a rank comes up again: these wait for each other."""
    rank = next(iter(waits))
    passed: dict[int, None] = {}  # in the order of waiting
    while rank not in passed:
        passed[rank] = None
        rank = placement.devices[waits[rank][1] // placement.microbatches]
    lines: list[str] = []
    for each in dropwhile(lambda each: each != rank, passed):
        kind, cell = waits[each]
        stage, microbatch = divmod(cell, placement.microbatches)
        wanted = next(
            op
            for op in orders[placement.devices[stage]]
            if op[1:] == (stage, microbatch) and (op[0][0] == "F") == (kind == "F") and op[0] != "W"
        )
        holder = where[placement.devices[stage]]
        here = placement.name(orders[each][at[each]])
        lines.append(f"{where[each]}: {here} <- {placement.name(wanted)} ({holder})")
    return CalcError("calc_deadlock", cycle="\n  ".join(lines))
