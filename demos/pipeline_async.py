"""Without a flush no stage idles midway; stage s keeps p - s versions, updates p - 1 - s late.

The trick
    PipeDream updates after every backward and never drains: its 1F1B just goes on. Between a
    forward on stage s of p and its backward come p - 1 - s updates; for the backward to meet the
    weights of its forward, these are put aside. What comes out is an exact gradient, but of a
    function that never was the model: stage s at weights p - 1 - s updates old, the last stage at
    the latest; and it is applied to the latest. The 1F1B that large models train with drains before
    each update: one version, nothing late, and p - 1 slots (F + B) of idle time every time.

Watch
    versions_stash (count)           most versions of its weights a stage held at once, no flush
    versions_flush (count)           most versions of its weights a stage held at once, flushed
    weight_bytes_stash (bytes)       most weights a stage held at once, all versions, no flush
    weight_bytes_flush (bytes)       most weights a stage held at once, all versions, flushed
    late_stash (steps)               most updates between a mini-batch's forward and backward, no
                                     flush
    late_flush (steps)               most updates between a mini-batch's forward and backward,
                                     flushed
    last_met_stash (steps)           updates that the last mini-batch's forward had seen, no flush
    peak_live_stash (micro-batches)  most mini-batches between forward and backward at once, no
                                     flush
    peak_live_flush (micro-batches)  most mini-batches between forward and backward at once, flushed
    idle_stash (ticks)               idle time from a stage's first backward to its last forward, no
                                     flush
    idle_flush (ticks)               idle time from a stage's first backward to its last forward,
                                     flushed
    makespan_stash (shared, ticks)   when the last of all mini-batches is done, no flush
    makespan_flush (shared, ticks)   when the last of all mini-batches is done, flushed
    bubble_stash (shared, share)     idle time, of all ranks' time until all mini-batches are done,
                                     no flush
    bubble_flush (shared, share)     idle time, of all ranks' time until all mini-batches are done,
                                     flushed
    updates_stash (steps)            updates of each stage, one after every backward, no flush
    updates_flush (steps)            updates of each stage, a flush before each
    changed_stash (count)            backwards that ran with other weights than their forward, no
                                     flush
    stash_error (difference)         weights without a flush, against gradients at the versions
                                     recorded
    flush_error (difference)         weights when flushed, against one process that updates as often
    sync_gap (difference)            weights without a flush, against updates one after the other,
                                     none late

Run
    quizkit demo pipeline-async --gpus 4
    python demos/pipeline_async.py --ranks 3 --minibatches 20 --per-update 5
    torchrun --nproc-per-node 4 demos/pipeline_async.py
"""

from copy import deepcopy
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, all_gather, device, everyone, isend, max_error, one_process, rank, ranks
from _bench import recv, take_gradient, virtual_clock

import torch
from torch.nn.functional import mse_loss
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "pp"
RATE = 0.1  # of plain SGD


class Versions:
    """A stage's weights: one version lies in the block, others wait aside for their backward."""

    def __init__(self, block):
        self.row = parameters_to_vector(block.parameters()).detach()
        vector_to_parameters(self.row, block.parameters())  # views: what is put in the row counts
        self.loaded = self.latest = 0  # a version's number is how many updates made it
        self.aside, self.most, self.most_bytes = {}, 1, self.row.nbytes

    def load(self, number):
        """Put the version of that number in the block, and the one that was there aside."""
        if number != self.loaded:
            self.aside[self.loaded] = self.row.clone()
            self.row.copy_(self.aside.pop(number))
            self.loaded = number

    def update(self, gradient, needed):
        """Make the next version; of the older ones keep those that a backward still needs."""
        if self.loaded in needed:
            self.aside[self.loaded] = self.row.clone()
        self.row -= RATE * gradient
        self.loaded = self.latest = self.latest + 1
        self.aside = {n: row for n, row in self.aside.items() if n in needed}
        held = [self.row, *self.aside.values()]
        self.most = max(self.most, len(held))
        self.most_bytes = max(self.most_bytes, sum(row.nbytes for row in held))


def train(order, per_update, block, inputs, targets, cost, clock):
    """Run the order; after every so many backwards update at once, whatever is under way."""
    here, last = rank(), ranks() - 1
    seen = SimpleNamespace(met=[], late=0, live=0, changed=0, updates=[], busy=0.0, idle=0.0)
    versions, alive, flights, gradient = Versions(block), {}, [], 0
    kinds = "".join(kind for kind, _ in order)
    for turn, (kind, i) in enumerate(order):
        source, target = (here - 1, here + 1) if kind == "F" else (here + 1, here - 1)
        free = clock.now
        arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source <= last else None
        if kinds.index("B") < turn <= kinds.rindex("F"):
            seen.idle += clock.now - free
        clock.spend(cost[kind], f"{kind}{i}")
        seen.busy += cost[kind]

        if kind == "F":
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            y = block(x)
            result = y.detach()
            if here == last:
                y = mse_loss(y, targets[i])
            alive[i] = x, y, versions.latest, versions.row.sum()
            seen.met.append(versions.latest)
            seen.live = max(seen.live, len(alive))
        else:
            x, y, number, fingerprint = alive.pop(i)
            versions.load(number)
            seen.changed += (versions.row.sum() != fingerprint).item()
            y.backward(arrived)
            result = x.grad
            gradient = gradient + take_gradient(block) / per_update
            versions.load(versions.latest)
            seen.late = max(seen.late, versions.latest - number)
            if (i + 1) % per_update == 0:
                versions.update(gradient, {number for _, _, number, _ in alive.values()})
                seen.updates.append(versions.row.clone())
                gradient = 0
        if 0 <= target <= last:
            flights.append(isend(result, target, name=f"{kind}{i}"))
    for flight in flights:
        flight.wait()
    seen.versions, seen.bytes = versions.most, versions.most_bytes
    return seen


def schedule_1f1b(stage, stages, batches):
    """Forwards of warm-up, then F and B in turn, then the backwards still owed."""
    warmup = min(stages - 1 - stage, len(batches))
    order = [("F", i) for i in batches[:warmup]]
    for forward, backward in zip(batches[warmup:], batches, strict=False):
        order += [("F", forward), ("B", backward)]
    return order + [("B", i) for i in batches[len(batches) - warmup :]]


def main(
    minibatches: int = 16,  # mini-batches in the whole run
    per_update: int = 4,  # flushed: mini-batches to an update; divides --minibatches
    forward: float = 1.0,  # virtual time of one forward of a stage
    backward: float = 2.0,  # virtual time of one backward of a stage
    layers_per_stage: int = 2,  # layers on each stage
    rows: int = 4,  # samples in a mini-batch
    width: int = 16,  # hidden size
) -> Metrics:
    """Update after every mini-batch without a flush; after per-update of them with one."""
    if min(minibatches, per_update, layers_per_stage, rows, width) < 1:
        refuse("minibatches, per-update, layers-per-stage, rows and width start at 1")
    if minibatches % per_update:
        fit = -(-minibatches // per_update) * per_update
        refuse(f"minibatches must be a multiple of {per_update}, not {minibatches}: take {fit}")
    if not all(0.001 <= time <= 1000 for time in (forward, backward)):
        refuse("forward and backward are from 0.001 to 1000, for example 1")

    like = {"dtype": torch.float64, "device": device()}
    here, p, layers = rank(), ranks(), range(layers_per_stage)
    stages = [[Layer(width, width, **like) for _ in layers] for _ in range(p)]
    blocks = [torch.nn.Sequential(*stage) for stage in stages]
    inputs = [torch.randn(rows, width, **like) for _ in range(minibatches)]
    targets = [torch.randn(rows, width, **like) for _ in range(minibatches)]
    cost = {"F": forward, "B": backward}

    batches = list(range(minibatches))
    rounds = [batches[i : i + per_update] for i in range(0, minibatches, per_update)]
    ways = {"stash": ([batches], 1), "flush": (rounds, per_update)}
    metrics, ran = {}, {}
    for name, (parts, size) in ways.items():
        order = [operation for part in parts for operation in schedule_1f1b(here, p, part)]
        with virtual_clock(name) as clock:
            seen = ran[name] = train(
                order, size, deepcopy(blocks[here]), inputs, targets, cost, clock
            )
            makespan = round(clock.makespan(), 9)
        slots = round((minibatches + len(parts) * (p - 1)) * (forward + backward), 9)
        check(f"{name}: p - 1 slots for every time it drains", makespan, "==", slots)
        idle = makespan * p - everyone(seen.busy).sum().item()
        metrics |= {
            f"versions_{name}": counted(seen.versions),
            f"weight_bytes_{name}": counted(seen.bytes),
            f"late_{name}": counted(seen.late),
            f"peak_live_{name}": counted(seen.live),
            f"idle_{name}": clocked(round(seen.idle, 9)),
            f"makespan_{name}": shared(clocked(makespan)),
            f"bubble_{name}": shared(clocked(idle / (makespan * p))),
            f"updates_{name}": counted(len(seen.updates)),
        }
        check(f"{name}: backwards see the weights of their forward", seen.changed, "==", 0)
        seen.updates = torch.stack(seen.updates)

    stash, flush = ran["stash"], ran["flush"]
    met = torch.stack(all_gather(torch.tensor(stash.met, device=device()))).tolist()
    known = emulate(deepcopy(blocks), inputs, targets, 1, met)[here]
    stash_error = max_error(stash.updates, known)
    check("stash: weights follow the recorded versions", stash_error, "<", 1e-12)
    prompt = emulate(deepcopy(blocks), inputs, targets, 1, [batches] * p)[here]
    rest = [[i // per_update for i in batches]] * p
    known = emulate(deepcopy(blocks), inputs, targets, per_update, rest)[here]
    flush_error = max_error(flush.updates, known)
    check("flush: weights equal one process", flush_error, "<", 1e-12)
    if minibatches >= 2 * p - 1:  # with fewer there is no steady state: too few versions are made
        check("stash: stage s keeps p - s versions", stash.versions, "==", p - here)
        check("stash: stage s is p - 1 - s updates late", stash.late, "==", p - 1 - here)
    check("stash: idles nowhere in between", round(stash.idle, 9), "==", 0.0)
    return metrics | {
        "last_met_stash": counted(stash.met[-1]),
        "changed_stash": counted(stash.changed),
        "stash_error": compared(stash_error),
        "flush_error": compared(flush_error),
        "sync_gap": compared(max_error(stash.updates, prompt)),
    }


def emulate(blocks, inputs, targets, per_update, met):
    """One process: each mini-batch at the versions it met; a stage's weights after each update."""
    made = [[parameters_to_vector(block.parameters()).detach()] for block in blocks]
    total = [0] * len(blocks)
    for i, pair in enumerate(zip(inputs, targets, strict=True)):
        for block, rows, numbers in zip(blocks, made, met, strict=True):
            vector_to_parameters(rows[numbers[i]], block.parameters())
        gradients = one_process(blocks, *([each] for each in pair))
        total = [t + g / per_update for t, g in zip(total, gradients, strict=True)]
        if (i + 1) % per_update == 0:
            for rows, gradient in zip(made, total, strict=True):
                rows.append(rows[-1] - RATE * gradient)
            total = [0] * len(blocks)
    return [torch.stack(rows[1:]) for rows in made]


BREAKS = {
    "no-stash": Break(
        old="versions.load(number)",
        new="versions.load(versions.latest)",
        expect="stash: backwards see the weights of their forward",
        ranks=2,
        source="a pipeline that goes on without a flush and keeps a single copy of its weights",
    ),
    "updates-the-old": Break(
        old="            versions.load(versions.latest)\n",
        new="",
        expect="stash: weights follow the recorded versions",
        ranks=2,
        source="PipeDream loads old weights, then new ones, then steps: without the second load",
    ),
    "keeps-all": Break(
        old=" if n in needed}",
        new="}",
        expect="stash: stage s keeps p - s versions",
        ranks=2,
        source="a stash from which nothing is dropped: memory grows with every update",
    ),
    "flush-left-out": Break(
        old='"flush": (rounds, per_update)',
        new='"flush": ([batches], per_update)',
        expect="flush: weights equal one process",
        ranks=2,
        source="gradient accumulation taken for a flush: the pipeline never drains",
    ),
}


if __name__ == "__main__":
    run(__file__)
