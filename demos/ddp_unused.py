"""A gradient that one rank lacks is still awaited from it: it brings zeros, or the others wait.

The trick
    A rank whose forward skipped a branch has no gradient for it, and its hook never runs: the
    all-reduce of that bucket, and of all after it, is not joined. So walk the graph from the
    output before backward (`reached`), and call what cannot be reached ready, with zeros
    (`HandMade.prepare`). The mean divides by all ranks: the skipped samples are part of the batch.
    And the ranks must agree, in one small sum of marks, on what none of them used: its .grad stays
    as it was, where zeros would let momentum and weight decay move a weight that nobody trained.

    torch's DDP does so only with find_unused_parameters. By default the backward that lacks a
    gradient ends without a word, and that bucket is not summed (the first backward has only one);
    it is the next forward that raises.

Watch
    skipped_here (tensors)              weights that this rank's forward did not reach, in a step
    skipped_by_all (shared, tensors)    weights that no rank's forward reached, in a step
    weights_without_grad (tensors)      weights whose .grad is None after a step
    sum_bytes (bytes)                   by this rank for gradients in a step, zeros among them,
                                        marks not
    grad_error (shared, difference)     largest one of gradients from one process on all samples,
                                        any step
    weights_gap (difference)            largest one of weights after all steps, with momentum and
                                        decay, from one process
    torch_error (difference)            largest one of weights after all steps from DDP with
                                        find_unused_parameters
    default_raises (shared, index)      the forward, from 1, at which DDP raises by default if all
                                        skip; 0 if never
    default_sums (shared, collectives)  all-reduces in DDP's first backward by default if all skip
    default_drift (difference)          of this rank's gradients from rank 0's after DDP's first
                                        backward by default, if all skip
    static_raises (shared, index)       the forward, from 1, at which DDP raises with static_graph
                                        if all skip; 0 if never
    static_sums (shared, collectives)   all-reduces in DDP's first backward with static_graph if all
                                        skip

Run
    quizkit demo ddp-unused --gpus 4
    python demos/ddp_unused.py --ranks 4 --skip all
    torchrun --nproc-per-node 4 demos/ddp_unused.py
"""

from copy import deepcopy
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, broadcast, device, everyone, max_error, rank, ranks, ring_sum
from _bench import wire

import torch
import torch.distributed as dist

TOPIC = "dp"
RATE, MOMENTUM, DECAY = 0.1, 0.9, 0.01


def reached(output):
    """The weights that a backward from this output will come to."""
    found = set()
    seen = set()
    open_ends = [output.grad_fn]
    while open_ends:
        node = open_ends.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):  # the end of a path: where a weight's .grad is added to
            found.add(node.variable)
        open_ends += [earlier for earlier, _ in node.next_functions]
    return found


class HandMade:
    """Sums the gradients weight by weight, last registered first, whoever used them."""

    def __init__(self, model):
        self.weights = [*model.parameters()][::-1]
        for weight in self.weights:
            weight.register_post_accumulate_grad_hook(self.arrived)

    def prepare(self, output):
        """Before backward: what will not come is ready, with zeros; what nobody has is marked."""
        self.turn = 0  # whose sum is next: weights take turns, alike on all ranks
        self.ready = set()
        self.sums = {}
        self.used = reached(output)
        marks = torch.tensor([float(w in self.used) for w in self.weights], device=device())
        self.users = dict(zip(self.weights, all_reduce(marks).tolist(), strict=True))
        self.sum_bytes = 0
        for weight in self.weights:
            if weight not in self.used:
                self.arrived(weight)

    def arrived(self, weight):
        """Sum what can be summed, in the order all ranks keep."""
        self.ready.add(weight)
        while self.turn < len(self.weights) and self.weights[self.turn] in self.ready:
            mine = self.weights[self.turn]
            self.turn += 1
            with wire() as seen:
                self.sums[mine] = ring_sum(mine.grad if mine in self.used else mine * 0)
            self.sum_bytes += seen.sent_bytes

    def finish(self):
        """Everyone takes the mean, but leaves alone what nobody used."""
        for weight, total in self.sums.items():
            users = self.users[weight]
            if users:
                weight.grad = total / ranks()


def main(
    skip: Literal["nobody", "one", "all"] = "one",  # who skips the branch; one: the last rank only
    steps: int = 3,  # training steps
    rows: int = 4,  # rows of each rank in a step
    width: int = 12,  # numbers in a row; each of the three weights is width x width
) -> Metrics:
    """Train a few steps in which the last rank, or all of them, never run the branch."""
    if min(steps, rows, width) < 1:
        refuse("steps, rows and width start at 1")
    n, me = ranks(), rank()
    skips = [{"nobody": False, "one": r == n - 1, "all": True}[skip] for r in range(n)]
    samples = torch.randn(steps, n, rows, width, dtype=torch.float64).to(device())
    alone = Branching(width)
    ours = deepcopy(alone)
    start = deepcopy(alone)
    hand = HandMade(ours)
    speeds = at_rest(alone)
    ours_speeds = at_rest(ours)
    grad_error = 0.0
    for batch in samples:
        alone.zero_grad()
        outputs = [alone(batch[r], skips[r]) for r in range(n)]
        torch.stack(outputs).square().mean().backward()
        update(alone, speeds)

        ours.zero_grad()
        output = ours(batch[me], skips[me])
        hand.prepare(output)
        output.square().mean().backward()
        hand.finish()
        update(ours, ours_speeds)
        absent = [[grad is None for grad in found(model)] for model in (ours, alone)]
        check("what nobody used is left alone", int(absent[0] == absent[1]), "==", 1)
        if absent[0] == absent[1]:
            grad_error = max(grad_error, max_error(row(found(ours)), row(found(alone))))
    marked = hand.users[ours.branch.weight]
    check("marks tell how many used it", marked, "==", skips.count(False))
    check("gradients equal one process", grad_error, "<", 1e-12)
    weights_gap = max_error(row(ours.parameters()), row(alone.parameters()))
    check("weights equal one process", weights_gap, "<", 1e-12)

    place = torch.device("cpu") if dist.get_backend() == "gloo" else device()
    away = deepcopy(start).to(place)
    x = samples.to(place)
    # A weight that is never used: without one, DDP warns that it was told to look for some.
    away.nothing = torch.nn.Parameter(torch.empty(0, dtype=torch.float64, device=place))
    module = in_ddp(away, find_unused_parameters=True)
    torch_speeds = at_rest(away)
    for batch in x:
        module.zero_grad()
        module(batch[me], skips[me]).square().mean().backward()
        update(away, torch_speeds)
    torch_error = max_error(row(ours.parameters()).to(place), row(away.parameters()))
    check("weights equal torch's", torch_error, "<", 1e-12)
    raises, sums, first = torch_raises(start.to(place), x[0, me], True)
    static_raises, static_sums, _ = torch_raises(start, x[0, me], True, static_graph=True)
    check("DDP raises at the next forward", raises, "==", 2)
    check("having summed nothing", sums, "==", 0)
    return {
        "skipped_here": counted(len(hand.weights) - len(hand.used)),
        "skipped_by_all": shared(counted([*hand.users.values()].count(0))),
        "weights_without_grad": counted(sum(grad is None for grad in found(ours))),
        "sum_bytes": counted(hand.sum_bytes),
        "grad_error": shared(compared(everyone(grad_error).max())),
        "weights_gap": compared(weights_gap),
        "torch_error": compared(torch_error),
        "default_raises": shared(counted(raises)),
        "default_sums": shared(counted(sums)),
        "default_drift": compared(max_error(first, broadcast(first.to(device(), copy=True), 0))),
        "static_raises": shared(counted(static_raises)),
        "static_sums": shared(counted(static_sums)),
    }


# Below: the model, its updates, and torch's DDP.


class Branching(torch.nn.Module):
    """Three layers, of which the one in the middle may be skipped."""

    def __init__(self, width):
        super().__init__()
        like = {"bias": False, "dtype": torch.float64, "device": device()}
        self.first = torch.nn.Linear(width, width, **like)
        self.branch = torch.nn.Linear(width, width, **like)
        self.last = torch.nn.Linear(width, width, **like)

    def forward(self, x, skip):
        """With the branch or without it."""
        x = torch.tanh(self.first(x))
        return self.last(x if skip else torch.tanh(self.branch(x)))


def at_rest(model):
    """The speed of each weight before the first step."""
    return [torch.zeros_like(weight) for weight in model.parameters()]


def row(tensors):
    """All of them in a row; what is None counts as nothing, and not as zeros."""
    return torch.cat([t.detach().flatten() for t in tensors if t is not None])


def found(model):
    """The gradients, None where there is none."""
    return [weight.grad for weight in model.parameters()]


@torch.no_grad()
def update(model, speeds):
    """SGD with momentum and weight decay; it passes over weights without a gradient."""
    for weight, speed in zip(model.parameters(), speeds, strict=True):
        if weight.grad is not None:
            speed.mul_(MOMENTUM).add_(weight.grad + DECAY * weight)
            weight -= RATE * speed


def in_ddp(model, **options):
    """The model in torch's DDP."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork
    from torch.nn.parallel import DistributedDataParallel

    return DistributedDataParallel(model, **options)


def torch_raises(model, x, skip, **options):
    """The forward at which DDP raises, all-reduces in the first backward, and its gradients."""
    replica = deepcopy(model)
    sums = []
    first = []
    module = in_ddp(replica, **options)

    def hook(_, bucket):
        sums.append(bucket.buffer().nbytes)
        work = dist.all_reduce(bucket.buffer().div_(ranks()), async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    module.register_comm_hook(None, hook)
    for number in (1, 2, 3):
        try:
            output = module(x, skip)
        except RuntimeError:
            return number, *first
        output.square().mean().backward()
        first = first or [len(sums), row(found(replica))]
        module.zero_grad()
    return 0, *first


BREAKS = {
    "no-zeros": Break(
        old="            if weight not in self.used:\n",
        new="            if False:\n",
        expect="hangs",
        ranks=2,
        source="hooks alone: what has no gradient has no hook call, and the others wait for it",
    ),
    "divides-by-its-users": Break(
        old="total / ranks()",
        new="total / users",
        expect="gradients equal one process",
        ranks=2,
        source="a mean over those who took part: the samples that skipped it drop out of the batch",
    ),
    "own-view": Break(
        old="            if users:\n",
        new="            if weight in self.used:\n",
        expect="weights equal one process",
        ranks=2,
        source="`if p.grad is None: continue` after the sum: each rank decides for itself",
    ),
    "zeros-for-nobody": Break(
        old="            if users:\n",
        new="            if total is not None:\n",
        expect="what nobody used is left alone",
        ranks=1,
        source="missing gradients filled with zeros: weight decay moves a weight nobody trained",
    ),
}

if __name__ == "__main__":
    run(__file__)
