"""A NaN is born on one rank, and the sum hands it to all: look before the sum, in order.

The trick
    One bad number on one rank makes the loss there bad, backward takes it to every parameter below,
    and the all-reduce to every rank. After the sum nobody can tell whose it was. Before the sum one
    look at a rank's own gradient names the rank and the step. The layer takes a hook on each
    module: the first output in forward order that is not finite, or, if all are finite, the module
    that was handed a finite gradient and handed on a bad one. NaN may begin as inf: ask isfinite.

    What to do is decided together. The ranks share one flag, and all of them skip the step or none
    does. Clipping repairs nothing: the norm is bad too, and goes into every entry.

    --cause: what goes wrong in --layer of --culprit at --step. overflow: a product leaves the range
    of floats. all-masked: a softmax over -inf only. log-times-zero: log(0), masked by a factor 0.
    root-of-zero: fine in forward, not in backward. sample: inf in the data. rate: in the step
    before, all ranks update with a learning rate far too large.

Watch
    bad_step (shared, index)               first step at which some rank's own gradient had a NaN or
                                           inf, -1 if none
    bad_before (yes/no)                    1 if this rank's own gradient had a NaN or inf, before
                                           the sum
    bad_after (yes/no)                     1 if the summed gradient had a NaN or inf, on this rank
    bad_tensors (tensors)                  weights and biases whose own gradient had a NaN or inf,
                                           of 2 for each layer and 2 for the last one
    loss_bad (yes/no)                      1 if this rank's loss was NaN or inf, at bad_step
    input_bad (yes/no)                     1 if this rank's data had a NaN or inf, at bad_step
    first_forward (index)                  first module, from 0, whose output the check found bad,
                                           -1 if none
    first_backward (index)                 module that was handed a finite gradient and handed on a
                                           bad one, else -1
    anomaly (yes/no)                       1 if the step run again under detect_anomaly stops with
                                           an error
    unclipped (shared, share)              of the summed gradient's entries, those that are NaN or
                                           inf
    clipped (shared, share)                of its entries, those that are bad after clip_grad_norm_
                                           to a norm of 1
    weights_bad (yes/no)                   1 if this rank's weights have a NaN or inf at the end
    weights_apart (shared, difference)     largest one between the ranks' weights at the end
    relative_weight_error (shared, ratio)  largest difference from one process that leaves out bad
                                           steps, over its largest weight

Run
    quizkit demo nan-hunt --gpus 4
    python demos/nan_hunt.py --ranks 4 --cause root-of-zero --culprit 2
    torchrun --nproc-per-node 4 demos/nan_hunt.py
"""

import warnings
from collections.abc import Callable
from copy import deepcopy
from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import Layer, all_reduce, broadcast, device, everyone, rank, ranks

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

TOPIC = "debug"

WIDTH, ROWS, RATE = 8, 4, 0.01


def watch(model):
    """Hooks on every module; they note where the first bad number turns up."""
    seen = SimpleNamespace(forward=-1, backward=-1)

    def went_out(number, output):
        if seen.forward < 0 and bad(output):
            seen.forward = number

    def came_back(number, handed_on, handed):
        if bad(handed_on[0]) and not bad(handed[0]):
            seen.backward = number

    for number, module in enumerate(model):
        module.register_forward_hook(lambda m, i, output, k=number: went_out(k, output))
        module.register_full_backward_hook(lambda m, on, got, k=number: came_back(k, on, got))
    return seen


def bad(tensor):
    """Whether a number in it is NaN or infinite."""
    return not torch.isfinite(tensor).all().item()


def share_of_bad(tensor):
    """How many of its numbers are NaN or infinite, of all of them."""
    return (~tensor.isfinite()).double().mean().item()


def hunt(model, seen, inputs, targets, rates, falls_ill):
    """Train; at the first step that goes wrong on any rank, take down what can be known."""
    found = SimpleNamespace(step=-1, before=0, after=0, tensors=0, loss=0, input=0, anomaly=0)
    found.forward = found.backward = -1
    found.unclipped = found.clipped = 0.0
    for step, rate in enumerate(rates):
        falls_ill(step)
        own, loss = gradient(model, inputs[step], targets[step])
        flags = everyone(float(bad(own)))  # every rank's, before the sum
        total = all_reduce(own.clone()) / ranks()
        if flags.max() > 0 and found.step < 0:
            found.step = step
            found.before = int(bad(own))
            found.after = int(bad(total))
            found.tensors = sum(bad(weight.grad) for weight in model.parameters())
            found.loss = int(bad(loss))
            found.input = int(bad(inputs[step]))
            found.forward, found.backward = seen.forward, seen.backward
            found.unclipped = share_of_bad(total)
            found.clipped = share_of_bad(clipped(total))
            found.anomaly = stopped_by_torch(model, inputs[step], targets[step])
        if flags.max() > 0:
            continue  # on all ranks, or on none
        update(model, total, rate)
    return found


def gradient(model, inputs, targets):
    """This rank's own gradient in one row, and its loss."""
    model.zero_grad()
    loss = mse_loss(model(inputs), targets)
    loss.backward()
    return torch.cat([weight.grad.flatten() for weight in model.parameters()]), loss.detach()


def update(model, row, rate):
    """One step down the gradient."""
    with torch.no_grad():
        sizes = [weight.numel() for weight in model.parameters()]
        for weight, part in zip(model.parameters(), row.split(sizes), strict=True):
            weight -= rate * part.view_as(weight)


def clipped(row):
    """What torch's clipping to a norm of 1 makes of it."""
    weight = torch.nn.Parameter(torch.zeros_like(row))
    weight.grad = row.clone()
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    return weight.grad


ILLS = {
    "overflow": lambda y: y * 1e200 * 1e200,
    "all-masked": lambda y: y * torch.softmax(torch.full_like(y, -torch.inf), -1),
    "log-times-zero": lambda y: y + torch.log(0 * y) * 0,
    "root-of-zero": lambda y: y + torch.sqrt(y - y),
}


class Block(Layer):
    """A layer that can fall ill."""

    ill: Callable[[Tensor], Tensor] = staticmethod(lambda y: y)

    def forward(self, input):
        """As a layer does, and then what the illness makes of it."""
        return self.ill(super().forward(input))


def main(
    steps: int = 4,  # steps of the training
    depth: int = 3,  # layers before the last linear one
    cause: Literal[
        "overflow", "all-masked", "log-times-zero", "root-of-zero", "sample", "rate"
    ] = "overflow",  # what goes wrong: y * 1e400, softmax of -inf, log(0) * 0, sqrt(0), data, rate
    layer: int = 1,  # layer, from 0, whose output goes wrong; not for sample and rate
    culprit: int = -1,  # rank where it goes wrong, -1 is the last; a rate does so on all
    step: int = 2,  # step, from 0, at which it goes wrong
) -> Metrics:
    """Let one number go wrong, and look for it in every way there is."""
    if not 0 <= layer < depth or not (cause == "rate") <= step < steps:
        refuse(
            f"--layer starts at 0 and stays below --depth {depth}, "
            f"--step starts at 0 (at 1 for a rate) and stays below --steps {steps}"
        )
    n, culprit = ranks(), culprit % ranks()
    like = {"dtype": torch.float64, "device": device()}
    blocks = [Block(WIDTH, WIDTH, **like) for _ in range(depth)]
    model = torch.nn.Sequential(*blocks, torch.nn.Linear(WIDTH, 1, **like))
    truth = deepcopy(model)
    inputs, targets = (
        torch.randn(steps, n, ROWS, WIDTH, **like),
        torch.randn(steps, n, ROWS, 1, **like),
    )
    rates = [RATE / depth**2] * steps
    if cause == "rate":
        rates[step - 1] = 1e160
    for each, rate in enumerate(rates):  # one process, all samples; it leaves out what is bad
        row, _ = gradient(truth, inputs[each].flatten(0, 1), targets[each].flatten(0, 1))
        if not bad(row) and (each != step or cause == "rate"):
            for weight in truth.parameters():
                assert weight.grad is not None
                weight.data -= rate * weight.grad

    if cause == "sample":
        inputs[step, culprit, 0, 0] = torch.inf

    def falls_ill(now):
        healthy = now != step or rank() != culprit or cause not in ILLS
        blocks[layer].ill = Block.ill if healthy else ILLS[cause]

    mine = inputs[:, rank()].clone().requires_grad_()
    found = hunt(model, watch(model), mine, targets[:, rank()], rates, falls_ill)

    right, ours = (
        torch.cat([w.detach().flatten() for w in m.parameters()]) for m in (truth, model)
    )
    first = broadcast(ours.clone(), 0)
    spread = everyone((ours - first).abs().max().item()).max().item()
    error = everyone(((ours - right).abs().max() / right.abs().max()).item()).max().item()
    ill = cause == "rate" or rank() == culprit
    module = {"sample": 0, "rate": depth}.get(cause, layer) if ill else -1
    named = found.forward if found.forward >= 0 else found.backward
    wrong = everyone([float(found.before != ill), float(named != module)]).sum(0).tolist()

    check("the step is named", found.step, "==", step)
    check("the rank is named", wrong[0], "==", 0)
    check("the module is named", wrong[1], "==", 0)
    spoiled = cause == "sample" and rank() == culprit
    check("bad data is known from bad weights", found.input, "==", int(spoiled))
    check("after the sum every rank has it", everyone(found.after).sum().item(), "==", n)
    check("weights stay finite", int(bad(ours)), "==", 0)
    check("replicas stay equal", spread, "==", 0)
    check("weights equal one process without the step", error, "<", 1e-12)
    return {
        "bad_step": shared(counted(found.step)),
        "bad_before": counted(found.before),
        "bad_after": counted(found.after),
        "bad_tensors": counted(found.tensors),
        "loss_bad": counted(found.loss),
        "input_bad": counted(found.input),
        "first_forward": counted(found.forward),
        "first_backward": counted(found.backward),
        "anomaly": counted(found.anomaly),
        "unclipped": shared(counted(found.unclipped)),
        "clipped": shared(counted(found.clipped)),
        "weights_bad": counted(int(bad(ours))),
        "weights_apart": shared(compared(spread)),
        "relative_weight_error": shared(compared(error)),
    }


def stopped_by_torch(model, inputs, targets):
    """Whether torch's own detector stops the step when it is run again."""
    try:
        with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
            gradient(model, inputs, targets)
    except RuntimeError:
        return 1
    return 0


BREAKS = {
    "only-nan": Break(
        old="return not torch.isfinite(tensor).all().item()",
        new="return torch.isnan(tensor).any().item()",
        expect="the module is named",
        ranks=1,
        source="checks written with isnan: they see a NaN one module after the inf it came from",
    ),
    "looks-after-the-sum": Break(
        old="        flags = everyone(float(bad(own)))  # every rank's, before the sum\n"
        "        total = all_reduce(own.clone()) / ranks()\n",
        new="        own = total = all_reduce(own.clone()) / ranks()\n"
        "        flags = everyone(float(bad(own)))\n",
        expect="the rank is named",
        ranks=2,
        source="a loop over p.grad after DDP's backward, which has already summed them",
    ),
    "skips-alone": Break(
        old="        if flags.max() > 0:\n            continue  # on all ranks, or on none",
        new="        if bad(own):\n            continue",
        expect="replicas stay equal",
        ranks=2,
        source="try and except, or an if, around the step of the one rank that had trouble",
    ),
    "clips-and-goes-on": Break(
        old="            continue  # on all ranks, or on none",
        new="            total = clipped(total)",
        expect="weights stay finite",
        ranks=1,
        source="clipping recommended against NaN: it is for gradients that are large and finite",
    ),
}


if __name__ == "__main__":
    run(__file__)
