"""DDP reduces in backward, if forward said so: K micro-batches take K all-reduces, or 1, or none.

The trick
    Forward arms the weights' hooks, or does not (`Replica.forward`). A hook fires once backward has
    added to its weight's .grad, and the last one starts one all-reduce of the bucket, Psi bytes
    (`Replica.ready`): every rank sends 2(N-1)/N Psi, and `step()` nothing. So no_sync must hold
    the forward. Around backward alone it changes nothing.

    To reduce after each of K backwards or once after the last comes to the same: what is in .grad
    already is equal on all ranks, and so is its mean. Never reducing parts the replicas silently.

Watch
    gradient_bytes (bytes)                    of the bucket, Psi: of all gradients on this rank
    rounds_every (shared, collectives)        all-reduces a step, each backward reducing
    rounds_once (shared, collectives)         all-reduces a step, first K-1 micro-batches in no_sync
    rounds_none (shared, collectives)         all-reduces a step, all K micro-batches in no_sync
    rounds_forward_only (shared, collectives)  all-reduces a step, only the first K-1 forwards in
                                              no_sync
    rounds_backward_only (shared, collectives)  all-reduces a step, only the first K-1 backwards in
                                              no_sync
    torch_rounds_every (shared, collectives)  torch DDP's all-reduces a step, each backward reducing
    torch_rounds_once (shared, collectives)   torch DDP's all-reduces a step, first K-1
                                              micro-batches in no_sync
    torch_rounds_none (shared, collectives)   torch DDP's all-reduces a step, all K micro-batches in
                                              no_sync
    torch_rounds_forward_only (shared, collectives)  torch DDP's all-reduces a step, only the first
                                              K-1 forwards in no_sync
    torch_rounds_backward_only (shared, collectives)  torch DDP's all-reduces a step, only the first
                                              K-1 backwards in no_sync
    sent_bytes_every (bytes)                  by this rank in one step, forward to update, each
                                              backward reducing
    sent_bytes_once (bytes)                   by this rank in one step, first K-1 micro-batches in
                                              no_sync
    sent_bytes_backward_only (bytes)          by this rank in one step, only the first K-1 backwards
                                              in no_sync
    sent_in_step (bytes, step)                while the optimizer took its steps, in all five ways
    grad_error (shared, difference)           first step's gradient from one process, largest of all
                                              ways that reduce
    grad_error_none (difference)              first step, nothing reduced: this rank's gradient from
                                              one process
    drift (difference)                        of weights from rank 0's after the last step, largest
                                              of all ways that reduce
    drift_none (difference)                   of weights from rank 0's after the last step, nothing
                                              reduced

Run
    quizkit demo no-sync --gpus 4
    python demos/no_sync.py --ranks 3 --microbatches 5
    torchrun --nproc-per-node 4 demos/no_sync.py
"""

from contextlib import contextmanager, nullcontext
from copy import deepcopy
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import Layer, all_gather, device, everyone, max_error, one_process, rank, ranks
from _bench import ring_sum, wire

import torch
from torch.nn.functional import mse_loss
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "dp"
RATE = 0.1  # of plain SGD


class Replica(torch.nn.Module):
    """DDP with a single bucket: forward arms the hooks, backward lets them off."""

    def __init__(self, module):
        super().__init__()
        self.module = module
        self.weights = [*module.parameters()]
        self.syncing = True
        self.awaited = 0  # gradients that are missing before the bucket can go
        self.rounds = 0
        for weight in self.weights:
            weight.register_post_accumulate_grad_hook(self.ready)

    @contextmanager
    def no_sync(self):
        """Forwards in here leave their backwards' gradients on this rank."""
        before = self.syncing
        self.syncing = False
        try:
            yield
        finally:
            self.syncing = before

    def forward(self, x):
        """Go forward, and settle whether the backward of this forward will reduce."""
        self.awaited = len(self.weights) if self.syncing else 0
        return self.module(x)

    def ready(self, weight):
        """A weight's gradient is complete; the last of them sends the bucket off."""
        if self.awaited:
            self.awaited -= 1
            if self.awaited == 0:
                self.reduce()

    def reduce(self):
        """Average what lies in .grad, this micro-batch's and all before it, over the ranks."""
        gradients = [weight.grad for weight in self.weights]
        mean = ring_sum(parameters_to_vector(gradients)) / ranks()
        vector_to_parameters(mean, gradients)
        self.rounds += 1


MODES = ("every", "once", "none", "forward_only", "backward_only")


def inside(mode, microbatch, last):
    """Whether a micro-batch's forward, and whether its backward, runs in no_sync."""
    local = microbatch < last
    return {
        "every": (False, False),
        "once": (local, local),
        "none": (True, True),
        "forward_only": (local, False),
        "backward_only": (False, local),
    }[mode]


def accumulate(replica, mode, inputs, targets):
    """One step's gradient, of this rank's micro-batches, in .grad."""
    last = len(inputs) - 1
    rows = sum(map(len, inputs))
    for i, (x, target) in enumerate(zip(inputs, targets, strict=True)):
        forward, backward = inside(mode, i, last)
        with replica.no_sync() if forward else nullcontext():
            loss = mse_loss(replica(x), target) * len(x) / rows  # by its share of the rows
        with replica.no_sync() if backward else nullcontext():
            loss.backward()


def train(replica, mode, inputs, targets, steps):
    """Some steps of plain SGD: the first step's gradient, the bytes of a step and of its update."""
    weights = [*replica.parameters()]
    optimizer = torch.optim.SGD(weights, lr=RATE)
    seen = SimpleNamespace(sent=0, updating=0)
    for step in range(steps):
        with wire() as sent:
            accumulate(replica, mode, inputs, targets)
            with wire() as updating:
                optimizer.step()
        if step == 0:
            seen.gradient = parameters_to_vector([weight.grad for weight in weights]).clone()
        seen.sent += sent.sent_bytes / steps
        seen.updating += updating.sent_bytes
        optimizer.zero_grad()
    seen.weights = parameters_to_vector(weights).detach()
    return seen


def main(
    microbatches: int = 3,  # micro-batches of each rank in a step, K
    steps: int = 2,  # training steps in each of the five ways
    rows: int = 4,  # rows of the first micro-batch
    growth: int = 0,  # rows by which each micro-batch is larger than the one before
    width: int = 8,  # numbers in a row; a layer's weight is width x width
) -> Metrics:
    """Accumulate in five ways, with our reducer and with torch's."""
    if min(microbatches, steps, rows, width) < 1 or growth < 0:
        refuse("microbatches, steps, rows and width start at 1, growth at 0")
    like = {"dtype": torch.float64, "device": device()}
    blocks = [Layer(width, width, **like) for _ in range(2)]
    sizes = [rows + i * growth for i in range(microbatches)]
    shape = ranks(), sum(sizes), width
    inputs = torch.randn(*shape, **like)
    targets = torch.randn(*shape, **like)
    gradient, weights = alone(deepcopy(blocks), inputs, targets, steps)
    mine = inputs[rank()].split(sizes), targets[rank()].split(sizes)

    ran = {}
    errors = []
    drifts = []
    psi = gradient.nbytes
    for mode in MODES:
        replica = Replica(torch.nn.Sequential(*deepcopy(blocks)))
        seen = ran[mode] = train(replica, mode, *mine, steps)
        seen.rounds = replica.rounds / steps
        seen.theirs = with_torch(torch.nn.Sequential(*blocks), mode, *mine, steps)
        seen.error = max_error(seen.gradient, gradient)
        seen.drift = max_error(seen.weights, all_gather(seen.weights)[0])
        check(f"{mode}: as many rounds as torch's DDP", seen.rounds, "==", seen.theirs.rounds)
        error = max_error(seen.gradient, seen.theirs.gradient.to(device()))
        check(f"{mode}: gradients equal torch's", error, "<", 1e-12)
        if mode != "none":
            errors.append(seen.error)
            drifts.append(seen.drift)
            check(f"{mode}: gradients equal the big batch", seen.error, "<", 1e-12)
            error = max_error(seen.weights, weights)
            check(f"{mode}: weights equal training on it", error, "<", 1e-12)
            check(f"{mode}: replicas stay alike", seen.drift, "==", 0)
    with replica.no_sync():
        with replica.no_sync():
            pass
        check("no_sync within no_sync: the outer one still holds", replica.syncing, "==", False)
    every = ran["every"]
    once = ran["once"]
    for mode, rounds in zip(MODES, (microbatches, 1, 0, 1, microbatches), strict=True):
        check(f"{mode}: rounds a step", ran[mode].rounds, "==", rounds)
    found = everyone([once.sent, max(errors)])
    check("once: all ranks send 2(N-1) Psi", found[:, 0].sum(), "==", 2 * (ranks() - 1) * psi)
    check("every: sends that K times", every.sent, "==", microbatches * once.sent)
    updating = sum(seen.updating for seen in ran.values())
    check("step() sends nothing", updating, "==", 0)
    return {
        "gradient_bytes": counted(psi),
        **{f"rounds_{mode}": shared(counted(ran[mode].rounds)) for mode in MODES},
        **{f"torch_rounds_{mode}": shared(counted(ran[mode].theirs.rounds)) for mode in MODES},
        "sent_bytes_every": counted(every.sent),
        "sent_bytes_once": counted(once.sent),
        "sent_bytes_backward_only": counted(ran["backward_only"].sent),
        "sent_in_step": counted(updating),
        "grad_error": shared(compared(found[:, 1].max())),
        "grad_error_none": compared(ran["none"].error),
        "drift": compared(max(drifts)),
        "drift_none": compared(ran["none"].drift),
    }


# Below: what the runs are held against.


def with_torch(block, mode, inputs, targets, steps):
    """The same training under torch's DDP: its first gradient, its all-reduces in a step."""
    import torch._dynamo
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    place = torch.device("cpu") if dist.get_backend() == "gloo" else device()  # gloo: host only
    replica = DistributedDataParallel(deepcopy(block).to(place), bucket_cap_mb=1024)  # one bucket
    calls = []

    def hook(_, bucket):
        calls.append(bucket.index())
        whole = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
        return whole.then(lambda done: done.value()[0] / ranks())

    replica.register_comm_hook(None, hook)
    inputs, targets = ([each.to(place) for each in rows] for rows in (inputs, targets))
    seen = train(replica, mode, inputs, targets, steps)
    seen.rounds = len(calls) / steps
    return seen


def alone(blocks, inputs, targets, steps):
    """One process on the global batch: the first gradient, the weights at the end."""
    model = torch.nn.Sequential(*blocks)
    gradients = []
    for _ in range(steps):
        gradients.append(torch.cat(one_process(blocks, inputs, targets)))
        weights = parameters_to_vector(model.parameters()).detach()
        vector_to_parameters(weights - RATE * gradients[-1], model.parameters())
    return gradients[0], parameters_to_vector(model.parameters()).detach()


BREAKS = {
    "all-inside": Break(
        old="    local = microbatch < last\n",
        new="    local = microbatch <= last\n",
        expect="once: rounds a step",
        ranks=1,
        source="no_sync around the whole loop: the comment promises a reduction that never comes",
    ),
    "first-instead-of-last": Break(
        old="    local = microbatch < last\n",
        new="    local = microbatch > 0\n",
        expect="once: gradients equal the big batch",
        ranks=2,
        source="a test of `i % K == 0` with i from 0: what is added later stays on its rank",
    ),
    "backward-decides": Break(
        old="        if self.awaited:\n            self.awaited -= 1\n",
        new="        if self.syncing:\n"
        "            self.awaited = (self.awaited or len(self.weights)) - 1\n",
        expect="backward_only: as many rounds as torch's DDP",
        ranks=1,
        source="how many imagine DDP: as if the backward looked whether it is inside no_sync",
    ),
    "in-forward": Break(
        old="        with replica.no_sync() if forward else nullcontext():\n            loss",
        new="        if i == 0:\n"
        "            for weight in replica.parameters():\n"
        "                if weight.grad is not None:\n"
        "                    weight.grad.copy_(ring_sum(weight.grad) / ranks())\n"
        "        with replica.no_sync():\n"
        "            loss",
        expect="once: rounds a step",
        ranks=1,
        source="a wrapper that averages what .grad holds when a step's first forward begins",
    ),
    "averages-weights": Break(
        old="[weight.grad for weight in self.weights]",
        new="[weight.data for weight in self.weights]",
        expect="once: gradients equal the big batch",
        ranks=2,
        source="a post-accumulate hook is given the weight, and what it is given gets reduced",
    ),
    "stays-off": Break(
        old="            self.syncing = before\n",
        new="            pass\n",
        expect="once: as many rounds as torch's DDP",
        ranks=1,
        source="a context that forgets to put the flag back: nothing is ever reduced again",
    ),
}

if __name__ == "__main__":
    run(__file__)
