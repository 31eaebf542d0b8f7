"""The order of the axes moves no byte, it moves bytes to slow links: TP belongs inside, usually.

The trick
    One step of TP x DP x PP on nodes with fast links inside and slow ones between, in all six
    orders of the axes (the fastest first). Each rank sends as much along an axis in any order; what
    leaves a node is the bytes of the axes that do not fit inside. TP sums activations 4 times per
    layer and micro-batch, and the next product waits for each. PP hands on one boundary per
    micro-batch and way, DP sums gradients once a step, a layer as soon as it is complete, beside
    the backward. So TP outside costs most, unless a step has few tokens for its weights: then DP
    has the most bytes and the least backward to hide them. Whether PP or DP goes outermost is
    open: PP pays per micro-batch, DP once.

    Real messages of the step's sizes, fp64; the clock prices products by their operations and
    messages by their link. Two messages to one rank queue, a node's card is not shared. Boundaries
    are cut by t, as under sequence parallelism. demos/hybrid_step.py computes the step.

Watch
    along_tp (bytes, step)             sent by this rank along tp, in any order of axes
    along_dp (bytes, step)             sent by this rank along dp, in any order of axes
    along_pp (bytes, step)             sent by this rank along pp, in any order of axes
    time_free (shared, ticks)          of the step on a network without cost
    time_tp_dp_pp (shared, ticks)      of the step, tp fastest, pp slowest
    time_tp_pp_dp (shared, ticks)      of the step, tp fastest, dp slowest
    time_dp_tp_pp (shared, ticks)      of the step, dp fastest, pp slowest
    time_dp_pp_tp (shared, ticks)      of the step, dp fastest, tp slowest
    time_pp_tp_dp (shared, ticks)      of the step, pp fastest, dp slowest
    time_pp_dp_tp (shared, ticks)      of the step, pp fastest, tp slowest
    across_tp_dp_pp (bytes, step)      sent by this rank to other nodes, tp fastest, pp slowest
    across_tp_pp_dp (bytes, step)      sent by this rank to other nodes, tp fastest, dp slowest
    across_dp_tp_pp (bytes, step)      sent by this rank to other nodes, dp fastest, pp slowest
    across_dp_pp_tp (bytes, step)      sent by this rank to other nodes, dp fastest, tp slowest
    across_pp_tp_dp (bytes, step)      sent by this rank to other nodes, pp fastest, dp slowest
    across_pp_dp_tp (bytes, step)      sent by this rank to other nodes, pp fastest, tp slowest
    busiest_tp_dp_pp (shared, bytes)   most from one rank to one of another node, tp fastest, pp
                                       slowest
    busiest_tp_pp_dp (shared, bytes)   most from one rank to one of another node, tp fastest, dp
                                       slowest
    busiest_dp_tp_pp (shared, bytes)   most from one rank to one of another node, dp fastest, pp
                                       slowest
    busiest_dp_pp_tp (shared, bytes)   most from one rank to one of another node, dp fastest, tp
                                       slowest
    busiest_pp_tp_dp (shared, bytes)   most from one rank to one of another node, pp fastest, dp
                                       slowest
    busiest_pp_dp_tp (shared, bytes)   most from one rank to one of another node, pp fastest, tp
                                       slowest

Run
    quizkit demo placement --gpus 8
    python demos/placement.py --ranks 8 --per-node 2 --tokens 4 --microbatches 1
    torchrun --nproc-per-node 8 demos/placement.py
"""

from contextlib import contextmanager
from itertools import permutations
from math import inf
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, counted, picture, refuse, run, shared
from _bench import device, everyone, isend, max_error, rank, ranks, recv, ring_sum
from _bench import virtual_clock, wire

import torch

TOPIC = "hybrid"
AXES = ("tp", "dp", "pp")
FLOAT = 8  # bytes


def place(order, degrees):
    """This rank's coordinates, the axis named first varying fastest, and its group on each axis."""
    at, strides, left, stride = {}, {}, rank(), 1
    for axis in order:
        left, at[axis] = divmod(left, degrees[axis])
        strides[axis], stride = stride, stride * degrees[axis]
    groups = {
        axis: [rank() + (i - at[axis]) * strides[axis] for i in range(degrees[axis])]
        for axis in order
    }
    return at, groups


def step(at, groups, work, spend, clock):
    """1F1B on this rank: products on the clock, and every message that the step needs."""
    sent = {axis: [0] * ranks() for axis in AXES}
    stage, last, flights = at["pp"], len(groups["pp"]) - 1, []
    order, gradients, error = schedule_1f1b(stage, last + 1, work.microbatches), 0.0, 0.0
    for kind, i in order:
        source, target = (stage - 1, stage + 1) if kind == "F" else (stage + 1, stage - 1)
        if 0 <= source <= last:
            arrived = recv(torch.empty_like(work.boundary), groups["pp"][source])
            error = max(error, max_error(arrived, work.boundary))
        for _ in range(work.layers):
            spend(work.cost[kind], f"{kind}{i}")
            for _ in range(2):  # behind attention and behind the MLP; backward, before them
                with along(sent["tp"]):
                    total = ring_sum(work.partial[at["tp"]], groups["tp"])
                error = max(error, max_error(total, work.whole))
            if (kind, i) == order[-1]:
                # Beside the backward: it starts when this layer's gradient is complete and the
                # sums before it are through, and only the next step waits for its end.
                now, clock.now = clock.now, max(clock.now, gradients)
                with along(sent["dp"]):
                    total = ring_sum(work.gradient[at["dp"]], groups["dp"])
                error = max(error, max_error(total, work.gradients))
                gradients, clock.now = clock.now, now if work.overlap else clock.now
        if 0 <= target <= last:
            with along(sent["pp"]):
                flights.append(isend(work.boundary, groups["pp"][target]))
    for flight in flights:
        flight.wait()
    clock.now = max(clock.now, gradients)
    return sent, error


def schedule_1f1b(stage, stages, microbatches):
    """Forwards of warm-up, then F and B in turn, then the backwards still owed."""
    warmup = min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(warmup)]
    for i in range(microbatches):
        order += [("F", warmup + i), ("B", i)] if warmup + i < microbatches else [("B", i)]
    return order


@contextmanager
def along(row):
    """What this rank sends inside is added to a row, by receiver."""
    with wire() as counts:
        yield
    row[:] = [one + more for one, more in zip(row, counts.to, strict=True)]


def main(
    tp: int = 0,  # tensor-parallel degree; 0: 2 if the ranks are even, else 1
    pp: int = 0,  # stages; 0: 2 if what is left is even, else 1. DP is what then remains
    per_node: int = 0,  # ranks of a node; 0: half of them if that is whole, else all
    tokens: int = 64,  # of a micro-batch
    hidden: int = 32,  # width of a token
    layers: int = 4,  # of the model; a multiple of the stages
    params: int = 0,  # weights of a layer; 0: 12 x hidden x hidden
    microbatches: int = 4,  # of each copy in a step
    overlap: bool = True,  # whether gradients are summed beside the backward, or behind it
    speed: float = 1000.0,  # operations of a rank in a tick
    inside: float = 1000.0,  # bytes in a tick from a rank to another one of its node
    across: float = 111.0,  # bytes in a tick from a rank to one of another node
    latency: float = 2.0,  # ticks that a message takes besides
) -> Metrics:
    """Price one step in all six orders of the axes."""
    n = ranks()
    tp = tp or 2 - n % 2
    pp = pp or (2 if n % (2 * tp) == 0 else 1)
    per_node, params = per_node or (n if n % 2 else n // 2), params or 12 * hidden * hidden
    if min(tp, pp, per_node, tokens, hidden, layers, params, microbatches) < 1:
        refuse("tp, pp, per-node and params start at 0, all other sizes at 1")
    if n % (tp * pp):
        refuse(f"tp {tp} x pp {pp} does not divide {n} ranks: take 1 for one of them, or both")
    if n % per_node:
        refuse(f"nodes of {per_node} are not filled by {n} ranks: take 1 or {n}")
    if layers % pp:
        refuse(f"{layers} layers make no {pp} equal stages: take {pp} or a multiple")
    if tokens * hidden % tp or params % tp:
        refuse(f"tp {tp} does not divide tokens x hidden and params: take multiples of {tp}")
    if not all(0 < rate < inf for rate in (speed, inside, across)) or not 0 <= latency < inf:
        refuse("speed, inside and across are above 0, for example 1000; latency may be 0")

    degrees = {"tp": tp, "dp": n // (tp * pp), "pp": pp}
    work = sizes(degrees, tokens, hidden, layers, params, microbatches, speed, overlap)
    node = rank() // per_node

    def link(to, size):
        return latency + size / (inside if to // per_node == node else across)

    runs = {"free": (AXES, 0.0)} | {"-".join(axes): (axes, link) for axes in permutations(AXES)}
    ran = {}
    for name, (axes, transfer) in runs.items():
        at, groups = place(axes, degrees)
        with virtual_clock(name, transfer, F="forward of {}", B="backward of {}") as clock:
            # Two orders are drawn; of the others only the end is kept.
            shown = name in ("tp-dp-pp", "pp-dp-tp")
            spend = clock.spend if shown else lambda cost, _, clock=clock: advance(clock, cost)
            sent, error = step(at, groups, work, spend, clock)
            end = round(clock.makespan(), 6)
        ran[name] = seen = SimpleNamespace(sent=sent, end=end, groups=groups)
        row = [sum(to) for to in zip(*sent.values(), strict=True)]
        far = [size * (to // per_node != node) for to, size in enumerate(row)]
        seen.across, seen.busiest = sum(far), int(everyone(max(far)).max().item())
        check(f"{name}: every rank has what was sent to it", error, "<", 1e-12)
        bytes_due = work.due(at)
        for axis in AXES:
            check(f"{name}: bytes along {axis}", sum(sent[axis]), "==", bytes_due[axis])
        if name != "free":
            if per_node % degrees[axes[0]] == 0:
                inner = sum(b for to, b in enumerate(sent[axes[0]]) if to // per_node != node)
                check(f"{name}: the first axis stays inside", inner, "==", 0)
            check(f"{name}: no faster than without a network", end, ">=", ran["free"].end)
            drawn = {a: all_groups(a, axes, degrees) for a in axes if degrees[a] > 1}
            title = f"{name}: sent in a step"
            picture("messages", title, row=row, node=per_node, groups=drawn)
    ideal = (microbatches + pp - 1) * layers // pp * sum(work.cost.values())
    check("a free network leaves the bubble", abs(ran["free"].end - ideal), "<=", 1e-6)

    named = {name.replace("-", "_"): seen for name, seen in ran.items() if name != "free"}
    return {
        **{f"along_{axis}": counted(sum(ran["tp-dp-pp"].sent[axis])) for axis in AXES},
        "time_free": shared(clocked(ran["free"].end)),
        **{f"time_{axes}": shared(clocked(of.end)) for axes, of in named.items()},
        **{f"across_{axes}": counted(of.across) for axes, of in named.items()},
        **{f"busiest_{axes}": shared(counted(of.busiest)) for axes, of in named.items()},
    }


# Below: sizes and what the counts are held against.


def advance(clock, cost):
    """Time passes, and nothing is drawn."""
    clock.now += cost


def sizes(degrees, tokens, hidden, layers, params, microbatches, speed, overlap):
    """What a rank computes and sends in a step: the same numbers whatever the order."""
    t, d, p = (degrees[axis] for axis in AXES)
    torch.manual_seed(0)
    like = {"dtype": torch.float64, "device": device()}
    partial = torch.randn(t, tokens, hidden, **like)
    gradient = torch.randn(d, params // t, **like)
    forward = 2 * tokens * params / t / speed  # a multiply and an add with each weight

    def due(at):
        activations = ring_bytes(tokens * hidden, at["tp"], t)
        weights = ring_bytes(params // t, at["dp"], d)
        neighbours = (at["pp"] > 0) + (at["pp"] < p - 1)
        return {
            "tp": 4 * microbatches * layers // p * activations,
            "dp": layers // p * weights,
            "pp": microbatches * neighbours * (tokens * hidden // t) * FLOAT,
        }

    return SimpleNamespace(
        partial=partial,
        whole=partial.sum(0),
        gradient=gradient,
        gradients=gradient.sum(0),
        boundary=torch.randn(tokens * hidden // t, **like),
        cost={"F": forward, "B": 2 * forward},
        layers=layers // p,
        microbatches=microbatches,
        overlap=overlap,
        due=due,
    )


def ring_bytes(count, me, n):
    """What one rank of a ring sends to sum this many numbers: all chunks but one, twice."""
    chunks = [len(chunk) for chunk in torch.arange(count).tensor_split(n)]
    return FLOAT * (2 * sum(chunks) - chunks[(me + 1) % n] - chunks[(me + 2) % n]) * (n > 1)


def all_groups(axis, order, degrees):
    """Every group of the axis, for the picture."""
    stride = 1
    for each in order[: order.index(axis)]:
        stride *= degrees[each]
    firsts = [r for r in range(ranks()) if r // stride % degrees[axis] == 0]
    return [[first + i * stride for i in range(degrees[axis])] for first in firsts]


BREAKS = {
    "read-backwards": Break(
        old="    for axis in order:",
        new="    for axis in reversed(order):",
        expect="tp-dp-pp: the first axis stays inside",
        ranks=4,
        source="github.com/pytorch/torchtitan/issues/286: Wrong mesh order, TP across nodes",
    ),
    "summed-every-time": Break(
        old="(kind, i) == order[-1]",
        new='kind == "B"',
        expect="tp-dp-pp: bytes along dp",
        ranks=3,
        source="accumulation without no_sync: gradients are summed behind every micro-batch",
    ),
    "tp-forgotten": Break(
        old="params // t, **like)",
        new="params, **like)",
        expect="tp-dp-pp: bytes along dp",
        ranks=6,
        source="bills that let DP sum the whole model: under TP a rank has a t-th of each layer",
    ),
}

if __name__ == "__main__":
    run(__file__)
