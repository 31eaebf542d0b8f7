"""Plays orders on a clock: an operation starts when its rank is free and what it needs is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from quizkit.calc.schedule.fault import check, deadlock
from quizkit.calc.schedule.placement import Op, Order, StagePlacement

Number = int | float
Event = tuple[int, str, Number, Number]
"""(rank, name, start, end)"""


@dataclass(frozen=True)
class Costs:
    """Times per micro-batch and chunk, the time of a message, and how slow each device is."""

    forward: Number = 1
    backward_input: Number = 1
    backward_weight: Number = 1
    latency: Number = 0
    slowness: Sequence[Number] = ()


@dataclass(frozen=True)
class SimulatedRun:
    """What came of an order. Times are in the unit of the costs."""

    placement: StagePlacement
    orders: Order
    starts: list[list[Number]]
    ends: list[list[Number]]
    busy: list[Number]

    @property
    def makespan(self) -> Number:
        """When the last operation ends."""
        return max(ends[-1] for ends in self.ends)

    @cached_property
    def first_start(self) -> list[Number]:
        """When each rank has something to do."""
        return [starts[0] for starts in self.starts]

    @cached_property
    def last_end(self) -> list[Number]:
        """When each rank has nothing left to do."""
        return [ends[-1] for ends in self.ends]

    @property
    def idle(self) -> list[Number]:
        """What each rank waits between its own first start and its own last end."""
        ends = zip(self.first_start, self.last_end, self.busy, strict=True)
        return [last - first - busy for first, last, busy in ends]

    @cached_property
    def events(self) -> list[Event]:
        """Every operation; of an overlapped pair the forward is shown first."""
        name = self.placement.name
        return [
            (rank, name(op), start, end)
            for rank, ops in enumerate(self.orders)
            for op, start, end in zip(ops, self.starts[rank], self.ends[rank], strict=True)
        ]


def simulate(
    orders: Order, placement: StagePlacement, costs: Costs, where: Sequence[str] = ()
) -> SimulatedRun:
    """Play the orders. Raises CalcError for one that is not whole, or that waits for itself.

    `where` names the ranks in messages, for example by file and line.
    """
    where = where or [f"rank {rank}" for rank in range(placement.ranks)]
    check(orders, placement, where)
    ranks, width, stages = placement.ranks, placement.microbatches, len(placement.devices)
    slow = costs.slowness or [1] * ranks
    took = [
        {
            "F": costs.forward * each,
            "F+": costs.forward * each,
            "B": (costs.backward_input + costs.backward_weight) * each,
            "B-": costs.backward_input * each,
            "W": costs.backward_weight * each,
        }
        for each in slow
    ]
    devices = placement.devices
    # How long what a stage needs is on its way to it; None where it needs nobody.
    hop = [0 if a == b else costs.latency for a, b in pairwise(devices)]
    down = [hop[s - 1] if placement.follows(s) else None for s in range(stages)]
    up = [hop[s] if placement.leads(s) else None for s in range(stages)]

    forward: list[Number | None] = [None] * (stages * width)
    backward: list[Number | None] = [None] * (stages * width)
    waits_down: dict[int, int] = {}  # cell of a forward -> the rank that waits for it
    waits_up: dict[int, int] = {}
    starts: list[list[Number]] = [[] for _ in range(ranks)]
    ends: list[list[Number]] = [[] for _ in range(ranks)]
    ready = list(reversed(range(ranks)))
    while ready:
        rank = ready.pop()
        ops, begun, ended, cost = orders[rank], starts[rank], ends[rank], took[rank]
        at, now = len(ended), ended[-1] if ended else 0
        while at < len(ops):
            kind, stage, microbatch = ops[at]
            cell = stage * width + microbatch
            if kind == "F":
                if (lag := down[stage]) is not None:
                    came = forward[cell - width]
                    if came is None:
                        waits_down[cell - width] = rank
                        break
                    if came + lag > now:
                        now = came + lag
                begun.append(now)
                now += cost["F"]
                forward[cell] = now
                if cell in waits_down:
                    ready.append(waits_down.pop(cell))
            elif kind == "W":
                begun.append(now)
                now += cost["W"]
            elif kind == "F+":
                after, stage_after, microbatch_after = ops[at + 1]
                cell_after = stage_after * width + microbatch_after
                start = now
                if (lag := down[stage]) is not None:
                    came = forward[cell - width]
                    if came is None:
                        waits_down[cell - width] = rank
                        break
                    start = max(start, came + lag)
                if (lag := up[stage_after]) is not None:
                    came = backward[cell_after + width]
                    if came is None:
                        waits_up[cell_after + width] = rank
                        break
                    start = max(start, came + lag)
                middle = start + cost["F"]
                now = middle + cost[after]
                begun += [start, middle]
                ended.append(middle)
                forward[cell] = backward[cell_after] = now
                for waits, of in ((waits_down, cell), (waits_up, cell_after)):
                    if of in waits:
                        ready.append(waits.pop(of))
                at += 1
            else:
                if (lag := up[stage]) is not None:
                    came = backward[cell + width]
                    if came is None:
                        waits_up[cell + width] = rank
                        break
                    if came + lag > now:
                        now = came + lag
                begun.append(now)
                now += cost[kind]
                backward[cell] = now
                if cell in waits_up:
                    ready.append(waits_up.pop(cell))
            ended.append(now)
            at += 1
    if any(len(ended) < len(ops) for ended, ops in zip(ends, orders, strict=True)):
        waits = {rank: ("F", cell) for cell, rank in waits_down.items()}
        waits |= {rank: ("B", cell) for cell, rank in waits_up.items()}
        raise deadlock(orders, placement, [len(each) for each in ends], waits, where)
    busy = [sum(cost[kind] for kind, _, _ in ops) for cost, ops in zip(took, orders, strict=True)]
    return SimulatedRun(placement, orders, starts, ends, busy)


def peak_live(orders: Order) -> list[int]:
    """For each rank, the most micro-batches of one chunk alive at once.

    Alive are the activations from a forward's start until the end of the backward that needs them
    last, which is W where the backward is split.
    """
    return [_peak(ops) for ops in orders]


def messages(orders: Order, placement: StagePlacement) -> int:
    """Activations and gradients that one device hands to another, all devices together."""
    receives = {
        (kind, stage): placement.receives((kind, stage, 0))
        for kind in ("F", "F+", "B", "B-", "W")
        for stage in range(len(placement.devices))
    }
    return sum(receives[kind, stage] for ops in orders for kind, stage, _ in ops)


def _peak(ops: list[Op]) -> int:
    live = peak = 0
    for kind, _, _ in ops:
        if kind[0] == "F":
            live += 1
            if live > peak:
                peak = live
        elif kind != "B-":
            live -= 1
    return peak
