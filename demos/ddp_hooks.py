"""Average .grad once it has accumulated: a hook on what comes in sees only one micro-batch.

The trick
    A tensor hook is given the gradient that comes in, before it is added to .grad (`Coming`); a
    post-accumulate hook is given the weight, when .grad is complete (`HandMade`). With accumulation
    all but the last micro-batch leave no trace in what comes in, so that averaging it at the last
    one leaves the others local, and the replicas part.

    Averaging at every one is right either way: what comes in, since sums may change places; what
    has accumulated, since the mean of equal numbers changes nothing. It costs m times the bytes.
    Sums instead of means would be summed again at each later micro-batch (`Summed`): the first
    would count N^(m-1) times. A weight used twice has one .grad, and its hook runs once a backward,
    after both uses.

Watch
    error_kept_last (difference)    of the gradient from one process, averaging what has
                                    accumulated, at the last micro-batch
    error_kept_each (difference)    of the gradient from one process, averaging what has
                                    accumulated, at every micro-batch
    error_coming_each (difference)  of the gradient from one process, averaging what comes in, at
                                    every micro-batch
    error_coming_last (difference)  of the gradient from one process, averaging what comes in, at
                                    the last micro-batch
    error_summed_each (difference)  of the gradient from one process, summing .grad at every
                                    micro-batch, divided at the end
    drift_kept_last (difference)    of updated weights from rank 0's, averaging .grad at the last
                                    micro-batch
    drift_coming_last (difference)  of updated weights from rank 0's, averaging what comes in at the
                                    last micro-batch
    sent_bytes_last (bytes)         by this rank in one step, averaging at the last micro-batch
    sent_bytes_each (bytes)         by this rank in one step, averaging at every micro-batch
    tied_calls (calls)              in one step, of the hook of the weight that is used twice
    gradient_bytes (bytes)          of all gradients on this rank
    torch_error (difference)        largest one of the gradient, averaging .grad at the last
                                    micro-batch, from torch's DDP with no_sync

Run
    quizkit demo ddp-hooks --gpus 4
    python demos/ddp_hooks.py --ranks 4 --microbatches 5
    torchrun --nproc-per-node 4 demos/ddp_hooks.py
"""

from collections import Counter
from copy import deepcopy

from _bench import Break, Metrics, check, compared, counted, refuse, run
from _bench import broadcast, device, max_error, rank, ranks, ring_sum, wire

import torch
from torch.nn.utils import parameters_to_vector

TOPIC = "dp"
RATE = 0.1  # of plain SGD


def average(gradient):
    """The mean over the ranks, in place."""
    return gradient.copy_(ring_sum(gradient) / ranks())


class HandMade(torch.nn.Module):
    """Data parallelism of any model in a few lines: alike at the start, one mean a step.

    Averages what has accumulated.
    """

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.sync = True
        self.calls = Counter()
        for weight in model.parameters():  # a weight used twice is listed once
            broadcast(weight, 0)  # each rank has drawn its own
            if weight.requires_grad:  # a frozen one gets no gradient
                weight.register_post_accumulate_grad_hook(self.ready)

    def forward(self, *inputs):
        """The model's own: all there is to do is done when gradients are complete."""
        return self.model(*inputs)

    def ready(self, weight):
        """Autograd hands over the weight, whose .grad is complete."""
        self.calls[weight] += 1
        if self.sync:
            average(weight.grad)

    def step(self, batches, each=False):
        """Accumulate the micro-batches' gradients; average at the last one, or at each."""
        for i, batch in enumerate(batches):
            self.sync = each or i == len(batches) - 1
            loss(self, batch, len(batches)).backward()


class Coming(HandMade):
    """Averages what comes in: the hook is on the tensor, what it returns is added to .grad."""

    def __init__(self, model):
        torch.nn.Module.__init__(self)
        self.model = model
        self.sync = True
        for weight in model.parameters():
            weight.register_hook(self.coming)

    def coming(self, gradient):
        """This micro-batch's gradient, before anything is added up."""
        return ring_sum(gradient) / ranks() if self.sync else gradient


class Summed(HandMade):
    """Sums instead of means, divided by the ranks at the end."""

    def ready(self, weight):
        """Add up what the ranks have, and with it the sums of earlier micro-batches."""
        if self.sync:
            weight.grad.copy_(ring_sum(weight.grad))

    def step(self, batches, each=False):
        """The same step, and the division."""
        super().step(batches, each)
        for weight in self.model.parameters():
            weight.grad /= ranks()


def loss(model, batch, micro_batches):
    """The mean over this rank's share of the step, of which a micro-batch is one part."""
    return (model(batch) - batch.flip(1)).square().mean() / micro_batches


def main(
    microbatches: int = 3,  # micro-batches of each rank in the step
    rows: int = 4,  # rows of a micro-batch
    width: int = 12,  # numbers in a row; both weights are width x width
) -> Metrics:
    """One step with each hook at each time, against one process on all samples."""
    if min(microbatches, rows, width) < 1:
        refuse("microbatches, rows and width start at 1")
    shape = ranks(), microbatches, rows, width
    samples = torch.randn(shape, dtype=torch.float64).to(device())
    alone = Tied(width)
    loss(alone, samples.flatten(0, 2), 1).backward()
    truth = gradient_of(alone)
    torch.manual_seed(1 + rank())
    other = Tied(width) if rank() else alone

    errors = {}
    drifts = {}
    sent = {}
    gradients = {}
    calls = 0
    for name, kind, each in (
        ("kept_last", HandMade, False),
        ("kept_each", HandMade, True),
        ("coming_each", Coming, True),
        ("coming_last", Coming, False),
        ("summed_each", Summed, True),
    ):
        model = deepcopy(other if name == "kept_last" else alone)
        model.zero_grad()
        replica = kind(model)
        with wire() as seen:
            replica.step(samples[rank()], each)
        if name == "kept_last":
            calls = replica.calls[model.outer.weight]
        sent[name] = seen.sent_bytes
        gradients[name] = gradient_of(model)
        errors[name] = max_error(gradients[name], truth)
        if name not in ("coming_last", "summed_each"):
            check(f"{name}: gradient equals one process", errors[name], "<", 1e-12)
        update(model)
        row = parameters_to_vector(model.parameters()).detach()
        drifts[name] = max_error(row, broadcast(row.clone(), 0))
    check("replicas stay alike", drifts["kept_last"], "==", 0)
    torchs = torch_gradient(alone, samples[rank()])
    torch_error = max_error(gradients["kept_last"].to(torchs), torchs)
    check("gradient equals torch's", torch_error, "<", 1e-12)
    check("a weight used twice is averaged once", calls, "==", microbatches)
    check("each: m times the bytes", sent["kept_each"], "==", microbatches * sent["kept_last"])
    return {
        **{f"error_{name}": compared(error) for name, error in errors.items()},
        "drift_kept_last": compared(drifts["kept_last"]),
        "drift_coming_last": compared(drifts["coming_last"]),
        "sent_bytes_last": counted(sent["kept_last"]),
        "sent_bytes_each": counted(sent["kept_each"]),
        "tied_calls": counted(calls),
        "gradient_bytes": counted(truth.nbytes),
        "torch_error": compared(torch_error),
    }


# Below: the model, and what the hooks are held against.


class Tied(torch.nn.Module):
    """Two layers, of which the first is used once more at the end."""

    def __init__(self, width):
        super().__init__()
        self.outer, self.inner = (
            torch.nn.Linear(width, width, bias=False, dtype=torch.float64, device=device())
            for _ in range(2)
        )

    def forward(self, x):
        """There and back through the same weight."""
        return self.outer(torch.tanh(self.inner(torch.tanh(self.outer(x)))))


def gradient_of(model):
    """All gradients in a row."""
    return torch.cat([weight.grad.flatten() for weight in model.parameters()])


def update(model):
    """Plain SGD."""
    with torch.no_grad():
        for weight in model.parameters():
            weight -= RATE * weight.grad


def torch_gradient(model, batches):
    """DDP: no_sync around the forward and backward of all micro-batches but the last."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork
    from torch.nn.parallel import DistributedDataParallel

    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    module = DistributedDataParallel(deepcopy(model).to(place))
    with module.no_sync():
        for batch in batches[:-1]:
            loss(module, batch.to(place), len(batches)).backward()
    loss(module, batches[-1].to(place), len(batches)).backward()
    return gradient_of(module)


BREAKS = {
    "averages-the-weight": Break(
        old="average(weight.grad)",
        new="average(weight)",
        expect="kept_last: gradient equals one process",
        ranks=2,
        source="hooks moved from tensor to post-accumulate: the argument is the weight now",
    ),
    "returns-the-mean": Break(
        old="            average(weight.grad)",
        new="            return average(weight.grad)",
        expect="crashes: RuntimeError",
        ranks=1,
        source="hooks moved from tensor to post-accumulate: that one must return nothing",
    ),
    "no-broadcast": Break(
        old="            broadcast(weight, 0)  # each rank has drawn its own\n",
        new="",
        expect="kept_last: gradient equals one process",
        ranks=2,
        source="DDP by hand in a few lines: the mean is taken of gradients at different weights",
    ),
    "once-for-each-use": Break(
        old="for weight in model.parameters():  # a weight used twice is listed once",
        new="for weight in [*model.outer.parameters(), *model.parameters()]:",
        expect="a weight used twice is averaged once",
        ranks=1,
        source="hooks registered module by module: tied weights get two; a mean hides it",
    ),
}

if __name__ == "__main__":
    run(__file__)
