"""Input: loaded ahead, a step takes the longer of load / loaders and compute; else their sum.

The trick
    A loader makes a batch while the rank computes on another, and is told to make one more whenever
    one of its own is taken: so `depth` batches a loader are made or wait. Depth 1 is enough for the
    longer of the two; more helps only where load times vary.
    Then the ranks average gradients, and the last to come sets the pace. A rank that waits for its
    input comes late; the others wait for it inside the all-reduce. There it looks slow, on every
    rank but the guilty one. Gradients travel in buckets, each as soon as backward has it: only what
    is still under way after backward is exposed. The picture shows the first 6 steps.

Watch
    step_inline (shared, ticks)  length of a step in the second half of the run, loading when a
                                 batch is due
    step_one (shared, ticks)     length of a step in the second half, loaders one batch ahead each
    step_deep (shared, ticks)    length of a step in the second half, loaders `depth` batches ahead
                                 each
    waits_inline (share)         of a rank's time spent waiting for input, loading when a batch is
                                 due
    waits (share)                of a rank's time spent waiting for input, loaders `depth` batches
                                 ahead
    computes (share)             of a rank's time spent in forward and backward
    all_reduce (share)           of a rank's time with an all-reduce open, waiting for others too
    transfer (share)             of a rank's time with an all-reduce open and all ranks come
    exposed (share)              of a rank's time between the end of backward and that of
                                 all-reduces
    busy (share)                 of a rank's time in which forward, backward or an all-reduce runs
    ahead (count)                most batches that a rank has ordered and not yet taken
    samples (shared, count)      samples that all ranks together took exactly once
    weights_error (difference)   largest one from one process on the global batches, after all steps

Run
    quizkit demo dataloader --gpus 4
    python demos/dataloader.py --ranks 4 --load 2 --loaders 1 --slow-rank 2
    torchrun --nproc-per-node 4 demos/dataloader.py
"""

from queue import Queue
from threading import Thread
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import device, everyone, max_error, rank, ranks, ring_gather, virtual_clock

import torch
from torch.nn.functional import mse_loss
from torch.utils.data import DistributedSampler, TensorDataset

TOPIC = "perf"
ROWS, WIDTH, RATE = 2, 6, 0.1
DRAWN = 6  # steps, as many as 80 columns have room for


class Loader:
    """Batches in order, from threads that work ahead; without threads, made when wanted."""

    def __init__(self, data, costs, threads, depth):
        self.data, self.costs, self.made, self.ahead = data, costs, 0, 0
        self.lines = [(Queue(), Queue()) for _ in range(threads)]
        for line in self.lines:
            Thread(target=loader_thread, args=(data, *line, costs), daemon=True).start()
        for _ in range(threads * depth):
            self.order(0.0)

    def order(self, now):
        """Have the next batch made by the thread whose turn it is, at this time at the earliest."""
        if self.made < len(self.costs):
            self.lines[self.made % len(self.lines)][0].put((self.made, now))
            self.made += 1

    def take(self, step, clock):
        """The batch of a step; the clock goes on to when it is ready."""
        if not self.lines:
            clock.now += self.costs[step]
            return self.data[:, my_samples(step)]
        self.ahead = max(self.ahead, self.made - step)
        batch, ready = self.lines[step % len(self.lines)][1].get()
        clock.now = max(clock.now, ready)
        self.order(clock.now)  # its place is free as soon as the batch is taken
        return batch


def loader_thread(data, orders, ready, costs):
    """Make real batches one after another, and say when each is done in a time of its own."""
    now = 0.0
    for step, told in iter(orders.get, None):
        now = max(now, told) + costs[step]
        ready.put((data[:, my_samples(step)], now))


def reduce(gradient, ready, cost, clock):
    """Sum the buckets; each starts when backward has it, all ranks have come, and the last is done.

    Gives the sum, the time all-reduces were open on this rank, and that of the transfers alone.
    """
    parts, opened, moved, end = [], 0.0, 0.0, 0.0
    for part, at in zip(gradient.tensor_split(len(ready)), ready, strict=True):
        clock.now = begin = max(at, end)  # on a stream of its own, beside backward
        parts.append(ring_gather(part[None]).sum(0))  # messages carry clocks: now it is as late
        start = clock.now if ranks() > 1 else begin  # as the last rank; half a ring_sum's hops
        end = start + cost / len(ready)
        opened += end - begin
        moved += end - start
    return torch.cat(parts), opened, moved, end


def train(data, costs, threads, depth, plan):
    """All steps of one rank: its weights, when steps end, and where its time goes."""
    x = torch.zeros(WIDTH, dtype=torch.float64, device=device())
    seen = SimpleNamespace(ends=[], samples=[])
    with virtual_clock(plan.name) as clock:
        loader = Loader(data, costs, threads, depth)
        for step in range(len(costs)):
            if step in (0, len(costs) // 2):  # the first half is warm-up
                seen.waits = seen.computes = seen.open = seen.moved = seen.exposed = 0.0
            begin = clock.now
            batch = loader.take(step, clock)
            seen.samples += batch[-1].long().tolist()
            seen.waits += clock.now - begin
            x.requires_grad_()
            loss = loss_of(batch.to(device()), x)
            spend(clock, plan.forward, "F", step)
            (gradient,) = torch.autograd.grad(loss, x)
            start, parts = clock.now, plan.buckets
            spend(clock, plan.backward, "B", step)
            seen.computes += plan.forward + plan.backward
            ready = [start + plan.backward * (part + 1) / parts for part in range(parts)]
            after = clock.now
            total, opened, moved, end = reduce(gradient, ready, plan.reduction, clock)
            clock.now = after
            spend(clock, max(0.0, end - after), "R", step)
            x = x.detach() - RATE * total / ranks()
            seen.ends.append(clock.now)
            seen.exposed += clock.now - after
            seen.open += opened
            seen.moved += moved
        for orders, _ in loader.lines:
            orders.put(None)  # the thread ends
    seen.x, seen.ahead = x, loader.ahead
    return seen


def loss_of(batch, x):
    """Mean squared error of a linear model; a batch's last row names its samples."""
    return mse_loss(batch[:WIDTH].T @ x, batch[WIDTH])


def my_samples(step):
    """Places of this rank's samples of a step: every rank takes other ones."""
    first = step * ROWS * ranks()
    return [first + row * ranks() + rank() for row in range(ROWS)]


def spend(clock, cost, name, step):
    """Time goes on; the first steps are drawn."""
    if step < DRAWN:
        clock.spend(cost, f"{name}{step}")
    else:
        clock.now += cost


def main(
    load: float = 4.0,  # virtual time a loader takes for a batch
    loaders: int = 2,  # loader threads of a rank
    depth: int = 2,  # batches, made or being made, that each loader is ahead in the deep run
    forward: float = 1.0,  # virtual time of a step's forward
    backward: float = 2.0,  # virtual time of a step's backward
    reduction: float = 3.0,  # virtual time of a step's transfers, all buckets; one rank has none
    buckets: int = 2,  # buckets the gradient is cut into
    slow_rank: int = -1,  # rank whose loads all take slow-times as long, -1 for none
    slow_every: int = 3,  # of so many batches one loads slow-times as long everywhere; 0 for none
    slow_times: float = 3.0,  # times as long a slow load takes, squared if rank and batch are slow
    steps: int = 12,  # steps of a run; the second half is measured
) -> Metrics:
    """Train with input loaded inline, one ahead, and deeper; say where each rank's time goes."""
    if min(loaders, depth, buckets) < 1 or steps < 4 or slow_every < 0:
        refuse("loaders, depth and buckets start at 1, steps at 4 and slow-every at 0")
    if buckets > WIDTH or max(loaders, depth) > 8 or steps > 200:
        refuse(f"take up to {WIDTH} buckets, 8 loaders, 8 of depth and 200 steps")
    if not (-1 <= slow_rank < ranks() and 1 <= slow_times <= 1000):
        refuse(f"take a slow rank of 0 to {ranks() - 1} or -1 for none, slow-times of 1 to 1000")
    if min(load, reduction) < 0 or min(forward, backward) <= 0 or load + reduction > 1e4:
        refuse("forward and backward are above 0; load and reduction from 0, in sum up to 1e4")
    n = ranks()
    data = torch.randn(WIDTH + 2, steps * ROWS * n, dtype=torch.float64)
    data[-1] = torch.arange(data.shape[1])
    slow = [slow_every > 0 and (step - 1) % slow_every == 0 for step in range(steps)]
    costs = [[load * slow_times ** (s + (r == slow_rank)) for s in slow] for r in range(n)]
    plan = SimpleNamespace(forward=forward, backward=backward, buckets=buckets)
    plan.reduction = reduction * (n > 1)

    truth = torch.zeros(WIDTH, dtype=torch.float64)
    for batch in data.split(ROWS * n, dim=1):
        truth.requires_grad_()
        (gradient,) = torch.autograd.grad(loss_of(batch, truth), truth)
        truth = truth.detach() - RATE * gradient
    sampler = DistributedSampler(TensorDataset(data[-1]), n, rank(), shuffle=False)

    ran, halves, errors, measured = {}, {}, [], steps - steps // 2
    for name, threads, ahead in (("inline", 0, 0), ("one", loaders, 1), ("deep", loaders, depth)):
        plan.name = name
        ran[name] = seen = train(data, costs[rank()], threads, ahead, plan)
        ends, opened = expected_ends(costs, threads, ahead, plan)
        late = max(abs(x - y) for x, y in zip(seen.ends, ends, strict=True)) / ends[-1]
        check(f"{name}: steps end when they should", late, "<", 1e-12)
        off = max(abs(seen.open - opened[rank()]), abs(seen.moved - measured * plan.reduction))
        check(f"{name}: all-reduces are open and move as they should", off / ends[-1], "<", 1e-12)
        errors.append(max_error(seen.x.cpu(), truth))
        check(f"{name}: weights equal one process", errors[-1], "<", 1e-12)
        wrong = sum(x != y for x, y in zip(seen.samples, sampler, strict=True))
        check(f"{name}: samples equal DistributedSampler's", wrong, "==", 0)
        held = min(threads * ahead, steps)
        check(f"{name}: no more than loaders x depth ahead", seen.ahead, "==", held)
        halves[name] = seen.ends[-1] - seen.ends[steps // 2 - 1]
    deep, inline, whole = ran["deep"], ran["inline"], halves["deep"]
    spent = deep.waits + deep.computes + deep.exposed
    check("time is spent once", abs(spent / whole - 1), "<", 1e-12)
    taken = torch.bincount(torch.tensor(deep.samples), minlength=data.shape[1])
    taken = everyone(taken.tolist()).sum(0)
    return {
        **{f"step_{name}": shared(clocked(round(halves[name] / measured, 9))) for name in ran},
        "waits_inline": clocked(inline.waits / halves["inline"]),
        "waits": clocked(deep.waits / whole),
        "computes": clocked(deep.computes / whole),
        "all_reduce": clocked(deep.open / whole),
        "transfer": clocked(deep.moved / whole),
        "exposed": clocked(deep.exposed / whole),
        "busy": clocked((deep.computes + deep.exposed) / whole),
        "ahead": counted(deep.ahead),
        "samples": shared(counted(int((taken == 1).sum()))),
        "weights_error": compared(max(errors)),
    }


def expected_ends(costs, threads, depth, plan):
    """When steps end; how long all-reduces are open in the second half: a plain recurrence."""
    free, ends, opened = 0.0, [], []
    ready, taken = [[] for _ in costs], [[] for _ in costs]
    for step in range(len(costs[0])):
        opened = opened if step > len(costs[0]) // 2 else [0.0 for _ in costs]
        for own, made, got in zip(costs, ready, taken, strict=True):
            if threads:
                told = got[step - threads * depth] if step >= threads * depth else 0.0
                idle = made[step - threads] if step >= threads else 0.0
                made.append(max(told, idle) + own[step])
                got.append(max(free, made[-1]))
            else:
                got.append(free + own[step])
        end = 0.0
        for part in range(plan.buckets):
            far = plan.forward + plan.backward * (part + 1) / plan.buckets
            begins = [max(end, got[-1] + far) for got in taken]
            end = max(begins) + plan.reduction / plan.buckets
            opened = [so_far + end - begin for so_far, begin in zip(opened, begins, strict=True)]
        ends.append(free := end)
    return ends, opened


BREAKS = {
    "same-samples": Break(
        old="return [first + row * ranks() + rank() for row in range(ROWS)]",
        new="return [first + row * ranks() for row in range(ROWS)]",
        expect="deep: samples equal DistributedSampler's",
        ranks=2,
        source="a loader without a DistributedSampler: every rank trains on the same samples",
    ),
    "as-they-come": Break(
        old="self.lines[step % len(self.lines)][1].get()",
        new="self.lines[(step + 1) % len(self.lines)][1].get()",
        expect="deep: samples equal DistributedSampler's",
        ranks=1,
        source="batches taken from any loader that has one: fast, and no two runs are alike",
    ),
    "no-bound": Break(
        old="for _ in range(threads * depth):",
        new="for _ in range(len(costs) if threads else 0):",
        expect="deep: no more than loaders x depth ahead",
        ranks=1,
        source="a queue without a bound: loaders that are faster than the rank fill the memory",
    ),
    "after-backward": Break(
        old="ready = [start + plan.backward * (part + 1) / parts for part in range(parts)]",
        new="ready = [clock.now] * parts",
        expect="deep: steps end when they should",
        ranks=2,
        source="gradients averaged by hand after backward(): nothing of it is hidden",
    ),
}


if __name__ == "__main__":
    run(__file__)
