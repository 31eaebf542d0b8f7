"""Any order whose waits form no circle gives the same gradient; time and memory are its own.

The trick
    A schedule is data: a line for each rank, say `F0 F1 B0 F2 B1 B2`. Play it on paper first: if
    some rank can always go on, so can the real ones; if not, ranks that wait for each other in a
    circle are the deadlock. Then run it. A message that comes before its turn is put aside.

    --schedule shuffled draws a legal order. --order takes a file as `quizkit calc pipeline --order`
    reads it (one line a rank, # before a comment), or the lines themselves, with / between ranks.

Watch
    deadlocked (shared, yes/no)      1 if the order deadlocks, else 0
    cycle (shared, ranks)            those that wait for each other in a circle
    waits_for (rank)                 the one that this rank waits for in the end, -1 if none
    operations (count)               forwards and backwards each stage ran, 2m if nothing stops it
    peak_live (micro-batches)        most whose activations were alive at once
    backward_place (index)           where --follow's backward stands in each stage's line, from 1
    before_backward (index)          micro-batch whose forward ran last before the backward of
                                     --follow
    bubble (shared, share)           idle time, of all ranks' time in the step
    makespan (shared, ticks)         length of the step; a forward takes 1, a backward 2
    idle_between (ticks)             what each stage idles between its first operation and its last
    grad_error (shared, difference)  largest one of any gradient from one process, full batch

Run
    quizkit demo pipeline-orders --gpus 4 --schedule 1f1b
    python demos/pipeline_orders.py --ranks 2 --microbatches 2 --order "F0 B0 F1 B1 / F0 F1 B1 B0"
    torchrun --nproc-per-node 4 demos/pipeline_orders.py --schedule 1f1b
"""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, device, everyone, isend, max_error, one_process, rank, ranks, recv
from _bench import take_gradient, virtual_clock

import torch
from torch.nn.functional import mse_loss

TOPIC = "pp"
REGIME = ("schedule", "sends")

COST = {"F": 1.0, "B": 2.0}


def rehearse(orders, sends):
    """Play orders on paper: how far each rank gets, and which rank it then waits for.

    An order is a rank's line of operations, ("F", 0) for F0.
    """
    place = [{op: k for k, op in enumerate(order)} for order in orders]
    at = [0] * len(orders)  # 2k: about to run operation k; 2k + 1: has run it and hands it on

    def awaited(here):
        k, hands_on = divmod(at[here], 2)
        kind, i = orders[here][k]
        # A forward comes from the rank before and is handed on to the next; a backward returns.
        there = here + (1 if (kind == "F") == bool(hands_on) else -1)
        if not 0 <= there < len(orders) or (hands_on and sends == "buffered"):
            return None
        # A receiver needs what the other has run; a sender needs the other to have come for it.
        enough = 2 * place[there][kind, i] + (not hands_on)
        return there if at[there] < enough else None

    before = None
    while at != before:
        before = list(at)
        for here, order in enumerate(orders):
            while at[here] < 2 * len(order) and awaited(here) is None:
                at[here] += 1
    stuck = [here for here, order in enumerate(orders) if at[here] < 2 * len(order)]
    return at, {here: awaited(here) for here in stuck}


def circle(orders, at, waits):
    """Follow who waits for whom until a rank comes up again: the circle, and that in words."""
    passed, here, words = [], min(waits), ""
    while here not in passed:
        passed.append(here)
        here = waits[here]
    ring = passed[passed.index(here) :]
    for each in ring:
        k, hands_on = divmod(at[each], 2)
        kind, i = orders[each][k]
        words += f"rank {each} ({'handing on ' if hands_on else ''}{kind}{i}) waits for "
    return ring, f"{words}rank {here}"


def step(orders, at, block, inputs, targets, sends, clock):
    """Run this rank's line as far as the rehearsal came."""
    here, last = rank(), ranks() - 1
    seen = SimpleNamespace(ran=[], peak_live=0, start=0.0)
    alive = {}  # micro-batch -> what its backward will need
    flights, aside, got_it = [], {}, torch.ones(1, device=device())
    # What each neighbour sends here, in the order in which it sends.
    ran = [order[: (halves + 1) // 2] for order, halves in zip(orders, at, strict=True)]
    coming = {
        there: iter([op for op in ran[there] if op[0] == kind])
        for there, kind in ((here - 1, "F"), (here + 1, "B"))
        if 0 <= there <= last
    }

    def take(there):
        if op := next(coming[there], None):
            aside[op] = recv(torch.empty_like(inputs[0]), there)
        return op

    for k, (kind, i) in enumerate(ran[here]):
        source, target = (here - 1, here + 1) if kind == "F" else (here + 1, here - 1)
        if source in coming:
            while (kind, i) not in aside:
                take(source)
            if sends == "rendezvous":
                flights.append(isend(got_it, source, tag=1))
        arrived = aside.pop((kind, i), None)
        seen.start = clock.now if k == 0 else seen.start
        clock.spend(COST[kind], f"{kind}{i}")
        seen.ran.append((kind, i))
        if kind == "F":
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            y = block(x)
            if here == last:
                y = mse_loss(y, targets[i]) / len(inputs)
            alive[i] = x, y
            seen.peak_live = max(seen.peak_live, len(alive))
        else:
            x, y = alive.pop(i)
            y.backward(arrived)
        if target in coming:
            result = y.detach() if kind == "F" else x.grad
            flights.append(isend(result, target, name=f"{kind}{i}"))
            if sends == "rendezvous" and at[here] > 2 * k + 1:
                recv(got_it.clone(), target, tag=1)

    seen.finish = clock.now
    while any(take(there) for there in coming):
        pass  # what a deadlock left on the way
    for flight in flights:
        flight.wait()
    seen.lacks = at[here] % 2 or not aside.keys() & orders[here][at[here] // 2 :][:1]
    return seen


def schedule_1f1b(stage, stages, microbatches, extra):
    """Warm up, then one backward for each forward. GPipe is the same with m more to warm up."""
    warmup = max(0, min(stages - 1 - stage + extra, microbatches))
    order = [("F", i) for i in range(warmup)]
    for i in range(microbatches):
        if warmup + i < microbatches:
            order.append(("F", warmup + i))
        order.append(("B", i))
    return order


def schedule_shuffled(stages, microbatches, seed):
    """Of all operations that could run next, anywhere in the pipeline, let the dice pick one."""
    dice = torch.Generator().manual_seed(seed % 2**63)
    orders = [[] for _ in range(stages)]
    ready = [(0, "F", i) for i in range(microbatches)]
    while ready:
        stage, kind, i = ready.pop(torch.randint(len(ready), (), generator=dice))
        orders[stage].append((kind, i))
        if kind == "F":  # it goes on to the next stage; on the last one it turns round
            ready.append((stage + 1, "F", i) if stage + 1 < stages else (stage, "B", i))
        elif stage > 0:
            ready.append((stage - 1, "B", i))
    return orders


def main(
    microbatches: int = 8,  # micro-batches in a step
    schedule: Literal["shuffled", "1f1b", "gpipe"] = "shuffled",  # order to run; shuffled: by lot
    order: str = "",  # your own order: a file, or lines with / between ranks; empty: --schedule
    sends: Literal["buffered", "rendezvous"] = "buffered",  # rendezvous: a send waits to be taken
    deadlock: Literal["refuse", "report"] = "refuse",  # refuse one, or report how far it comes
    extra: int = 0,  # 1f1b: forwards of warm-up beyond p - 1 - s; below 0: fewer
    follow: int = 0,  # micro-batch, from 0, that backward_place and before_backward speak of
    seed: int = 0,  # seed of the random numbers that shuffled draws by
) -> Metrics:
    """Rehearse an order, and run it as far as it goes."""
    if microbatches < 1 or not 0 <= follow < microbatches:
        refuse("there is at least 1 micro-batch, and the one to follow is one of them, from 0")
    more = microbatches if schedule == "gpipe" else extra
    orders = [schedule_1f1b(stage, ranks(), microbatches, more) for stage in range(ranks())]
    if order:
        orders = [read(where, words, microbatches) for where, words in written(order)]
    elif schedule == "shuffled":
        orders = schedule_shuffled(ranks(), microbatches, seed)
    at, waits = rehearse(orders, sends)
    ring, words = circle(orders, at, waits) if waits else ([], "")
    if ring and deadlock == "refuse":
        refuse(f"deadlock: {words} (--deadlock report measures how far it comes)")

    like = {"dtype": torch.float64, "device": device()}
    blocks = [Layer(16, 16, **like) for _ in range(ranks())]
    inputs, targets = torch.randn(2, microbatches, 4, 16, **like)
    truth = one_process(blocks, inputs, targets)[rank()]
    with virtual_clock("order" if order else schedule) as clock:
        seen = step(orders, at, blocks[rank()], inputs, targets, sends, clock)
        makespan = round(clock.makespan(), 9)

    metrics = {
        "deadlocked": shared(counted(int(bool(waits)))),
        "cycle": shared(counted(len(ring))),
        "waits_for": counted(waits.get(rank(), -1)),
        "operations": counted(len(seen.ran)),
        "peak_live": counted(seen.peak_live),
    }
    if waits:
        check("a stuck rank lacks what it waits for", int(seen.lacks), "==", 1)
        return metrics
    error = max_error(take_gradient(blocks[rank()]), truth)
    check("gradients equal one process", error, "<", 1e-12)
    busy = sum(COST[kind] for kind, _ in seen.ran)
    turned = seen.ran.index(("B", follow))
    return metrics | {
        "backward_place": counted(turned + 1),
        "before_backward": counted([i for kind, i in seen.ran[:turned] if kind == "F"][-1]),
        "bubble": shared(clocked(1 - everyone(busy).mean().item() / makespan)),
        "makespan": shared(clocked(makespan)),
        "idle_between": clocked(seen.finish - seen.start - busy),
        "grad_error": shared(compared(everyone(error).max().item())),
    }


def written(order):
    """The words of each rank's line in a text or a file, and where they stand."""
    name, text = "order", order.replace("/", "\n")
    if not re.match(r"\s*[FBIW]\d", order):
        try:
            with Path(name := order).open(encoding="utf-8-sig") as file:
                text = file.read(2**20)  # a device would never end
        except (OSError, ValueError) as error:
            refuse(f"cannot read the order {order}: {getattr(error, 'strerror', None) or error}")
    lines = enumerate((line.partition("#")[0].split() for line in text.split("\n")), 1)
    kept = [line for line in lines if line[1]] or refuse(f"{name} is empty: F0 B0 would be a line")
    if len(kept) != ranks():
        refuse(f"{name} has {len(kept)} lines, one for each rank: take --ranks {len(kept)}")
    return [(f"{name}:{number}: rank {r}", words) for r, (number, words) in enumerate(kept)]


def read(where, words, microbatches):
    """One rank's line: every micro-batch forward and, later, backward."""
    line = []
    for word in words:
        found = re.fullmatch(r"([FB])(\d{1,9})(?:\.0+)?", word)
        if not found:
            refuse(f"{where}: {word} cannot run here: F0 and B0 can (whole backwards, one chunk)")
        kind, i = op = found[1], int(found[2])
        if i >= microbatches:
            refuse(f"{where}: {word} is not one of --microbatches {microbatches}")
        if op in line:
            refuse(f"{where}: {word} runs 2 times")
        if kind == "B" and ("F", i) not in line:
            refuse(f"{where}: {word} needs F{i} first")
        line.append(op)
    for op in [f"{kind}{i}" for kind in "FB" for i in range(microbatches) if (kind, i) not in line]:
        refuse(f"{where}: {op} is missing (--microbatches is {microbatches})")
    return line


BREAKS = {
    "blocking-send": Break(
        old='name=f"{kind}{i}"))\n',
        new='name=f"{kind}{i}"))\n            flights[-1].wait()\n',
        expect="hangs",
        ranks=2,
        source="dist.send taken for buffered: on gloo it waits for its receiver",
    ),
    "first-come": Break(
        old="while (kind, i) not in aside:\n                take(source)",
        new="aside[kind, i] = aside.pop(take(source))",
        expect="gradients equal one process",
        ranks=2,
        source="messages without a name on them: right only while neighbours keep one order",
    ),
    "kept-in-a-queue": Break(
        old="x, y = alive.pop(i)",
        new="x, y = alive.pop(next(iter(alive)))",
        expect="gradients equal one process",
        ranks=2,
        source="loops that pop saved inputs from the front of a list: fit for 1F1B and GPipe alone",
    ),
}

if __name__ == "__main__":
    run(__file__)
