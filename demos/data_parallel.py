"""nn.DataParallel: one process, a thread a device; everything starts and ends on device 0.

The trick
    Every forward cuts the batch (as `chunk` does: the last devices get less, or nothing), copies
    the weights to every device with work, runs a thread for each, gathers outputs on device 0, for
    one mean loss (`step`). Backward SUMS gradients into device 0's weights, which alone are
    updated; replicas are dropped.

    DDP: a process a device, weights sent once, then a ring. Weights out and gradients back are
    (N-1) Psi each, in total what N ranks of a ring send; but device 0 is an end of all, and one
    interpreter runs all Python. (Here a device is a place in rank 0's memory.)

Watch
    rows (rows)                      of the batch on this device
    sent_bytes_dp (bytes)            that leave this device in a step of DataParallel, of all kinds
    received_bytes_dp (bytes)        that arrive at this device in a step of DataParallel, of all
                                     kinds
    weight_bytes_dp (bytes)          of weights and gradients that leave this device in a step of
                                     DataParallel
    output_bytes (bytes)             of outputs on this device when DataParallel takes the loss
    sent_bytes_ring (bytes)          by this rank in a ring all-reduce, of all gradients: a step of
                                     DDP
    model_bytes (shared, bytes)      of the weights of the model, whole, Psi
    weight_copies (shared, count)    of all the weights, made in a step of DataParallel
    threads (shared, count)          of threads started in a step of DataParallel
    calls_dp (calls)                 of layers that this rank's interpreter runs in a step of
                                     DataParallel
    calls_ddp (calls)                of layers that this rank's interpreter runs in a step of DDP
    grad_error (shared, difference)  largest one of DataParallel's gradients from one process, any
                                     step
    grad_scale (shared, ratio)       length of DataParallel's last gradient, over that of the right
                                     one
    ddp_error (shared, difference)   largest one of DDP's gradients, ours or torch's, from one
                                     process

Run
    quizkit demo data-parallel --gpus 4
    python demos/data_parallel.py --ranks 8 --batch 10
    torchrun --nproc-per-node 4 demos/data_parallel.py
"""

from copy import deepcopy
from functools import partial
from threading import Thread

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import Layer, broadcast, device, everyone, max_error, rank, ranks, ring_sum, wire

import torch
from torch.nn.functional import linear, mse_loss
from torch.nn.parallel import DistributedDataParallel

TOPIC = "dp"
RATE = 0.1  # of plain SGD
KINDS = ("inputs", "weights", "outputs")  # what is copied; gradients count as what they are of


def step(weights, inputs, targets, devices, links):
    """One step of DataParallel: outputs and gradients; the weights on device 0 are new after it."""
    pieces = scatter(inputs, devices, links)
    replicas = replicate(weights, len(pieces), links)
    outputs = gather(parallel_apply(replicas, pieces, links), links)
    mse_loss(outputs, targets).backward()
    gradient = row(weight.grad for weight in weights)
    update(weights)
    return outputs.detach(), gradient


def scatter(batch, devices, links):
    """A piece of the batch for each device: as `chunk` cuts, so there may be too few pieces."""
    pieces = enumerate(batch.chunk(devices))
    return [Copy.apply(piece, links, "inputs", 0, target) for target, piece in pieces]


def replicate(weights, devices, links):
    """Device 0's weights on every device that has work; on device 0 they are the same tensors."""

    def copied(target):
        return [Copy.apply(weight, links, "weights", 0, target) for weight in weights]

    return [weights, *map(copied, range(1, devices))]


def parallel_apply(replicas, pieces, links):
    """A thread for each replica. They share this interpreter: its lock lets one in at a time."""
    outputs = {}

    def work(place):
        torch.set_num_threads(1)  # a new thread would take all cores for itself
        outputs[place] = network(replicas[place], pieces[place], links)

    threads = [Thread(target=work, args=(place,)) for place in range(len(replicas))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    links.threads += len(threads)
    return [outputs[place] for place in range(len(replicas))]


def gather(outputs, links):
    """All outputs on device 0, in the order of the devices."""
    there = [Copy.apply(rows, links, "outputs", at, 0) for at, rows in enumerate(outputs)]
    for at, rows in enumerate(outputs):
        links.outputs[at] += rows.nbytes
    links.outputs[0] += sum(rows.nbytes for rows in there)
    return torch.cat(there)


def network(weights, rows, links):
    """The layers of the model, by whatever weights it is given."""
    for weight, bias in zip(weights[::2], weights[1::2], strict=True):
        links.calls.append(1)
        rows = rows + torch.tanh(linear(rows, weight, bias))
    return rows


def update(weights):
    """Plain SGD; the next backward starts from nothing."""
    with torch.no_grad():
        for weight in weights:
            weight -= RATE * weight.grad
            weight.grad = None


class Copy(torch.autograd.Function):
    """A tensor copied from one device to another; its gradient comes back the same way."""

    @staticmethod
    def forward(ctx, tensor, links, kind, source, target):
        """There."""
        ctx.back = partial(links.count, kind, source=target, target=source)
        links.count(kind, tensor, source, target)
        return tensor.clone()

    @staticmethod
    def backward(ctx, gradient):
        """And back. Where several copies come home, autograd adds them up."""
        ctx.back(gradient)
        return gradient, None, None, None, None


class Links:
    """What goes between the devices of one process: bytes by kind, sender and receiver."""

    def __init__(self, devices):
        self.bytes = torch.zeros(len(KINDS), devices, devices, dtype=torch.int64)
        self.outputs = torch.zeros(devices, dtype=torch.int64)
        self.threads = 0
        self.calls = []  # threads add to it: appending is one operation, += would be two

    def count(self, kind, tensor, source, target):
        """One copy; what is on its device already is not copied."""
        if source != target:
            self.bytes[KINDS.index(kind), source, target] += tensor.nbytes


def row(tensors):
    """All in one row."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def main(
    batch: int = 13,  # rows of the whole batch, of all devices together
    layers: int = 2,  # layers of the model
    width: int = 16,  # numbers in a row; a layer's weight is width x width
    steps: int = 2,  # steps of DataParallel; what is counted is that of one step
) -> Metrics:
    """DataParallel on rank 0, with as many devices as there are ranks; DDP on all of them."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork

    if min(batch, width) < 1 or not 1 <= layers <= 8 or not 1 <= steps <= 5:
        refuse("batch and width start at 1; layers lie in 1 to 8, steps in 1 to 5")
    n = ranks()
    like = {"dtype": torch.float64, "device": device()}
    model = torch.nn.Sequential(*[Layer(width, width, **like) for _ in range(layers)])
    inputs = torch.randn(batch, width, **like)
    targets = torch.randn(batch, width, **like)
    truth, true_weights = alone(deepcopy(model), inputs, targets, steps)

    links = Links(n)
    errors = [0.0]
    scales = [0.0]
    if rank() == 0:
        weights = [weight.detach().clone().requires_grad_() for weight in model.parameters()]
        for true_outputs, true_gradient in truth:
            outputs, gradient = step(weights, inputs, targets, n, links)
            errors.append(max_error(gradient, true_gradient))
            scales.append((gradient.norm() / true_gradient.norm()).item())
            check("outputs equal one process", max_error(outputs, true_outputs), "<", 1e-12)
        check("gradients equal one process", max(errors), "<", 1e-12)
        check("weights equal one process", max_error(row(weights), true_weights), "<", 1e-12)
    # All of it was counted on rank 0; what is counted is that of one step.
    everywhere = [links.threads, len(links.calls)]
    threads, calls = (broadcast(torch.tensor(everywhere).to(device()), 0) // steps).tolist()
    outputs = broadcast(links.outputs.to(device()), 0) // steps
    moved = broadcast(links.bytes.to(device()), 0) // steps
    own = Links(n)
    with wire() as sent:
        rows, ours, theirs = by_ddp(model, inputs, targets, own)
    ddp_error = max(max_error(each, truth[0][1]) for each in (ours, theirs))
    check("DDP's gradients equal one process", ddp_error, "<", 1e-12)
    held = everyone(rows)
    psi = row(model.parameters()).nbytes
    used = int((held > 0).sum())
    at_root = int(held[0])
    ends = moved.sum(0)
    weights_moved = moved[KINDS.index("weights")]
    out_and_back = torch.zeros_like(weights_moved)
    out_and_back[0, 1:used] = out_and_back[1:used, 0] = psi
    check("weights go out and gradients back", (weights_moved != out_and_back).sum(), "==", 0)
    away = (batch - at_root) * inputs[0].nbytes  # of inputs, of outputs and of their gradients
    check("rows go out, come in and go back", ends.sum() - weights_moved.sum(), "==", 3 * away)
    check("device 0 is an end of every copy", ends[1:, 1:].sum() + ends[0, 0], "==", 0)
    check("device 0 gathers all outputs", outputs[0], "==", (batch + at_root) * inputs[0].nbytes)
    check("and each its chunk's", (outputs[1:] != held[1:] * inputs[0].nbytes).sum(), "==", 0)
    check("a thread for each device", threads, "==", used)
    check("one interpreter runs all replicas", calls, "==", used * layers)
    return {
        "rows": counted(rows),
        "sent_bytes_dp": counted(ends[rank()].sum()),
        "received_bytes_dp": counted(ends[:, rank()].sum()),
        "weight_bytes_dp": counted(weights_moved[rank()].sum()),
        "output_bytes": counted(outputs[rank()]),
        "sent_bytes_ring": counted(sent.sent_bytes),
        "model_bytes": shared(counted(psi)),
        "weight_copies": shared(counted(weights_moved[0].sum() // psi)),
        "threads": shared(counted(threads)),
        "calls_dp": counted(len(links.calls) // steps),
        "calls_ddp": counted(len(own.calls)),
        "grad_error": shared(compared(everyone(max(errors)).max())),
        "grad_scale": shared(compared(everyone(scales[-1]).max())),
        "ddp_error": shared(compared(everyone(ddp_error).max())),
    }


# Below: what the runs are held against.


def alone(model, inputs, targets, steps):
    """The truth: the whole batch on one device, torch's SGD."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    seen = []
    for _ in range(steps):
        optimizer.zero_grad()
        outputs = model(inputs)
        mse_loss(outputs, targets).backward()
        seen.append((outputs.detach(), row(weight.grad for weight in model.parameters())))
        optimizer.step()
    return seen, row(model.parameters())


def by_ddp(model, inputs, targets, links):
    """DDP's gradient: my piece of the batch and a ring, and then torch's own."""
    n = ranks()
    pieces = inputs.chunk(ranks())
    held = [len(piece) for piece in pieces] + [0] * (n - len(pieces))
    mine = slice(sum(held[: rank()]), sum(held[: rank() + 1]))
    weights = [weight.detach().clone().requires_grad_() for weight in model.parameters()]

    def share(outputs):  # pieces are of unlike size: each counts by its part of the batch
        return (outputs - targets[mine].to(outputs.device)).square().sum() / targets.numel()

    share(network(weights, inputs[mine], links)).backward()
    ours = ring_sum(row(weight.grad for weight in weights))
    place = "cpu" if torch.distributed.get_backend() == "gloo" else device()  # torch's gloo
    replica = DistributedDataParallel(deepcopy(model).to(place))
    (share(replica(inputs[mine].to(place))) * n).backward()
    return held[rank()], ours, row(weight.grad for weight in replica.parameters()).to(device())


BREAKS = {
    "gradients-averaged": Break(
        old="    gradient = row(weight.grad for weight in weights)\n    update",
        new="    gradient = row(weight.grad.div_(len(pieces)) for weight in weights)\n    update",
        expect="gradients equal one process",
        ranks=2,
        source="true of DDP and so said of DataParallel: gradients are averaged over devices",
    ),
    "loss-on-each-device": Break(
        old="    mse_loss(outputs, targets).backward()\n    gradient =",
        new="    sizes = [len(piece) for piece in pieces]\n"
        "    aims = zip(outputs.split(sizes), targets.split(sizes))\n"
        "    torch.stack([mse_loss(*each) for each in aims]).mean().backward()\n    gradient =",
        expect="gradients equal one process",
        ranks=2,
        source="a module that returns its loss, gathered and averaged: the last piece is smaller",
    ),
    "copied-without-autograd": Break(
        old='[Copy.apply(weight, links, "weights", 0, target) for weight in weights]',
        new='[Copy.apply(weight, links, "weights", 0, target).detach() for weight in weights]',
        expect="gradients equal one process",
        ranks=2,
        source="replicas made by deepcopy: device 0's weights learn from its own rows alone",
    ),
    "copied-once": Break(
        old="    replicas = replicate(weights, len(pieces), links)",
        new="    if not links.threads:\n"
        "        links.kept = replicate(weights, len(pieces), links)\n"
        "    replicas = links.kept",
        expect="outputs equal one process",
        ranks=2,
        source="replicas made at construction, as DDP makes them, while device 0 alone is updated",
    ),
}

if __name__ == "__main__":
    run(__file__)
