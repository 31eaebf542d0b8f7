"""The clock against a slow one: start times raised until nothing starts before what it needs."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest

from quizkit.calc.schedule import Costs, Op, Order, order, place, simulate
from quizkit.calc.schedule.placement import SCHEDULES, Name, StagePlacement


def slow_clock(orders: Order, placement: StagePlacement, costs: Costs) -> list[list[Fraction]]:
    """When each operation ends; of an overlapped pair both end when the second does."""
    ends: dict[Op, Fraction] = {}
    changed = True
    while changed:
        changed = False
        for rank, ops in enumerate(orders):
            now = Fraction(0)
            for group in groups(ops):
                came = [now] + [arrival(op, ends, placement, costs) for op in group]
                now = max(came) + sum(length(op, costs, rank) for op in group)
                for kind, stage, i in group:
                    key = ("F" if kind[0] == "F" else "W" if kind == "W" else "B", stage, i)
                    changed = changed or ends.get(key) != now
                    ends[key] = now
    return [[ends[same(op)] for op in ops] for ops in orders]


def groups(ops: list[Op]) -> list[list[Op]]:
    found: list[list[Op]] = []
    for op in ops:
        if found and found[-1][-1][0] == "F+":
            found[-1].append(op)
        else:
            found.append([op])
    return found


def same(op: Op) -> Op:
    kind, stage, i = op
    return ("F" if kind[0] == "F" else "W" if kind == "W" else "B", stage, i)


def length(op: Op, costs: Costs, rank: int) -> Fraction:
    each = {"F": costs.forward, "B-": costs.backward_input, "W": costs.backward_weight}
    each["F+"], each["B"] = each["F"], each["B-"] + each["W"]
    return Fraction(each[op[0]]) * Fraction(costs.slowness[rank])


def arrival(op: Op, ends: dict[Op, Fraction], placement: StagePlacement, costs: Costs) -> Fraction:
    kind, stage, i = same(op)
    if kind == "F" and placement.follows(stage):
        source = stage - 1
    elif kind == "B" and placement.leads(stage):
        source = stage + 1
    else:
        return Fraction(0)
    away = placement.devices[source] != placement.devices[stage]
    return ends.get((kind, source, i), Fraction(0)) + (Fraction(costs.latency) if away else 0)


def paired(orders: Order, draw: random.Random) -> Order:
    """Some forwards overlapped with the backward after them, where it is another's."""
    found: Order = []
    for ops in orders:
        line = list(ops)
        for at, (one, two) in enumerate(pairwise(ops)):
            if one[0] == "F" and two[0] == "B" and one[1:] != two[1:] and draw.random() < 0.5:
                line[at] = ("F+", one[1], one[2])
        found.append(line)
    return found


def agree(orders: Order, placement: StagePlacement, draw: random.Random) -> None:
    costs = Costs(
        forward=draw.randint(1, 9),
        backward_input=draw.randint(0, 9),
        backward_weight=draw.randint(0, 9),
        latency=draw.randint(0, 4),
        slowness=[draw.randint(1, 3) for _ in range(placement.ranks)],
    )
    run = simulate(orders, placement, costs)
    wanted = slow_clock(orders, placement, costs)
    for rank, ops in enumerate(orders):
        for at, (kind, _, _) in enumerate(ops):
            # Of a pair, events show the forward first; it is done when the pair is.
            shown = run.ends[rank][at + 1 if kind == "F+" else at]
            assert shown == wanted[rank][at], (costs, ops[at])
        for end, start in zip(run.ends[rank], run.starts[rank][1:], strict=False):
            assert start >= end


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_operation_ends_when_the_slow_clock_says(schedule: Name) -> None:
    draw = random.Random(schedule)
    for stages, microbatches in ((2, 4), (4, 8), (4, 12), (6, 12)):
        placement = place(schedule, stages, microbatches)
        for _ in range(6):
            agree(order(schedule, stages, microbatches), placement, draw)


@pytest.mark.parametrize("schedule", ["1f1b", "interleaved"])
def test_pairs_end_when_the_slow_clock_says(schedule: Name) -> None:
    draw = random.Random(schedule)
    for stages, microbatches in ((2, 4), (4, 8), (6, 12)):
        placement = place(schedule, stages, microbatches)
        for _ in range(12):
            agree(paired(order(schedule, stages, microbatches), draw), placement, draw)
