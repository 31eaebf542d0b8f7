"""Checkpointed 1F1B: min(p - s, m) sets of segment inputs and one segment, for one more forward.

The trick
    L layers on p stages, l = L/p on each, in segments of k. The forward keeps the inputs of the
    segments; the backward runs one segment again, with the dice of its forward, then goes through
    it. A unit is one boundary activation, and a layer keeps one (its mask: 1/8): stage s peaks at
    min(p - s, m) l/k + k units where it kept min(p - s, m) l. On one stage that is L/k + k, least
    at k = sqrt(L). Every forward runs twice: (2F + B)/(F + B), 4/3 if B = 2F. Without checkpoints
    stage 0 keeps p L/p = L layers at m >= p: more stages do not help it. Wrapping each Linear
    alone (leaf) saves nothing: what it would have kept it keeps as its input.

Watch
    kept_none_gpipe (count)                    most boundary activations kept at once, no
                                               checkpoints, GPipe
    kept_none_1f1b (count)                     most boundary activations kept at once, no
                                               checkpoints, 1F1B
    kept_segments_gpipe (count)                most boundary activations kept at once, segments
                                               checkpointed, GPipe
    kept_segments_1f1b (count)                 most boundary activations kept at once, segments
                                               checkpointed, 1F1B
    kept_leaf_1f1b (count)                     most boundary activations kept at once, Linears
                                               checkpointed, 1F1B
    kept_torch_1f1b (count)                    most boundary activations kept at once, torch's own
                                               checkpoint, 1F1B
    between_segments_gpipe (count)             most boundary activations kept between operations:
                                               checkpoints, GPipe
    between_segments_1f1b (count)              most boundary activations kept between operations:
                                               checkpoints, 1F1B
    forwards_none_1f1b (count)                 forwards of a layer for one micro-batch, no
                                               checkpoints
    forwards_segments_1f1b (count)             forwards of a layer for one micro-batch, segments
                                               checkpointed
    forwards_leaf_1f1b (count)                 forwards of a layer for one micro-batch, Linears
                                               checkpointed
    makespan_none_gpipe (shared, ticks)        length of the step, no checkpoints, GPipe
    makespan_none_1f1b (shared, ticks)         length of the step, no checkpoints, 1F1B
    makespan_segments_gpipe (shared, ticks)    length of the step with a checkpoint for each
                                               segment, GPipe
    makespan_segments_1f1b (shared, ticks)     length of the step with a checkpoint for each
                                               segment, 1F1B
    error_segments_gpipe (shared, difference)  gradients with checkpoints from one process's, GPipe
    error_segments_1f1b (shared, difference)   gradients with checkpoints from one process's, 1F1B

Run
    quizkit demo pipeline-checkpoint --gpus 4
    python demos/pipeline_checkpoint.py --ranks 1 --layers 64 --segment 8 --microbatches 1
    torchrun --nproc-per-node 4 demos/pipeline_checkpoint.py
"""

from functools import partial
from math import inf
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import device, everyone, isend, max_error, rank, ranks, recv, saved_activations
from _bench import take_gradient, virtual_clock

import torch
from torch.nn.functional import mse_loss

TOPIC = "pp"


class Recompute(torch.autograd.Function):
    """Keep the input of a segment, and run it again when its gradient is wanted."""

    @staticmethod
    def forward(ctx, segment, x):
        """Inside a Function autograd saves nothing of its own."""
        ctx.segment, ctx.dice = segment, torch.get_rng_state()
        ctx.save_for_backward(x)
        return segment(x)

    @staticmethod
    def backward(ctx, gradient):
        """The same input and the same dice give the same masks."""
        x = ctx.saved_tensors[0].detach().requires_grad_()
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.dice)
        with torch.enable_grad():
            y = ctx.segment(x)
        torch.set_rng_state(now)  # forwards still to come throw dice of their own
        y.backward(gradient)
        return None, x.grad


class Layer(torch.nn.Linear):
    """x + dropout(W tanh(x)). For its backward: tanh(x), which W wants too, and a mask."""

    dropout, leaf, forwards = 0.0, False, 0

    def product(self, x):
        """The part that costs time."""
        self.forwards += 1
        return super().forward(x)

    def forward(self, input):
        """Neither a sum nor a scaling keeps anything."""
        inner = torch.tanh(input)
        y = Recompute.apply(self.product, inner) if self.leaf else self.product(inner)
        if self.dropout:
            keep = torch.rand(y.shape).to(y.device) >= self.dropout
            y = torch.where(keep, y / (1 - self.dropout), 0)
        return input + y


def through(block, x, mode, length):
    """The stage's layers on one micro-batch, in segments of that length."""
    from torch import _dynamo  # noqa: F401  # torch's checkpoint wants it: once, before the fork
    from torch.utils.checkpoint import checkpoint

    for start in range(0, len(block), length):
        segment = block[start : start + length]
        if mode == "segments":
            x = Recompute.apply(segment, x)
        elif mode == "torch":
            x = checkpoint(segment, x, use_reentrant=True)  # this form can be counted
        else:
            x = segment(x)
    return x


def schedule_gpipe(stage, stages, microbatches):
    """All forwards, then all backwards."""
    return [("F", i) for i in range(microbatches)] + [("B", i) for i in range(microbatches)]


def schedule_1f1b(stage, stages, microbatches):
    """As many forwards as there are stages to come; then run a backward as soon as there is one."""
    warmup = min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(warmup)]
    for i in range(microbatches - warmup):
        order += [("F", warmup + i), ("B", i)]
    return order + [("B", i) for i in range(microbatches - warmup, microbatches)]


SCHEDULES = {"gpipe": schedule_gpipe, "1f1b": schedule_1f1b}
RUNS = ("none_gpipe", "none_1f1b", "segments_gpipe", "segments_1f1b", "leaf_1f1b", "torch_1f1b")


def step(order, block, work, inputs, targets, cost, clock, saved):
    """Run this stage's operations in order; gives the most bytes kept between two of them."""
    here, last = rank(), ranks() - 1
    alive, flights, between = {}, [], 0
    for kind, i in order:
        source, target = (here - 1, here + 1) if kind == "F" else (here + 1, here - 1)
        arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source <= last else None
        before = forwards_of(block)
        if kind == "F":
            # On stage 0 too: a checkpoint none of whose inputs wants a gradient has no backward.
            x = (inputs[i].clone() if arrived is None else arrived).requires_grad_()
            alive[i] = x, (y := work(x))
            result = y.detach()
        else:
            x, y = alive.pop(i)
            if here == last:
                # The loss's gradient by hand, so that the last stage keeps no more than the others.
                arrived = 2 * (y.detach() - targets[i]) / y.numel() / len(inputs)
            y.backward(arrived)
            result = x.grad
        # An operation costs the forwards that it really ran, and a backward its own time besides.
        ran = (forwards_of(block) - before) / len(block)
        clock.spend(cost["F"] * ran + (cost["B"] if kind == "B" else 0), f"{kind}{i}")
        between = max(between, saved.live_bytes)
        if 0 <= target <= last:
            flights.append(isend(result, target, name=f"{kind}{i}"))
    for flight in flights:
        flight.wait()
    return between


def forwards_of(block):
    """How often a layer of this stage has run forwards."""
    return sum(layer.forwards for layer in block)


def experiment(name, block, length, inputs, targets, cost):
    """One step of this stage, and what it kept, ran and took."""
    mode, schedule = name.split("_")
    for layer in block:
        layer.leaf, layer.forwards = mode == "leaf", 0
    torch.manual_seed(rank())
    order = SCHEDULES[schedule](rank(), ranks(), len(inputs))
    work = partial(through, block, mode=mode, length=length)
    with saved_activations(block.parameters()) as saved, virtual_clock(name) as clock:
        between = step(order, block, work, inputs, targets, cost, clock, saved)
        makespan = round(clock.makespan(), 9)
    return SimpleNamespace(
        kept=saved.peak_bytes,
        between=between,
        forwards=forwards_of(block) / len(block) / len(inputs),
        makespan=makespan,
        grad=take_gradient(block),
    )


def main(
    microbatches: int = 8,  # micro-batches in a step
    layers: int = 24,  # layers of the model; the stages share them evenly
    segment: int = 2,  # layers of a segment, k: one checkpoint; a stage's last may be shorter
    dropout: float = 0.1,  # share of numbers that dropout zeroes; 0: no mask is drawn or kept
    forward: float = 1.0,  # virtual time of one forward of a stage
    backward: float = 2.0,  # virtual time of one backward of a stage, what runs again not included
    rows: int = 4,  # samples in a micro-batch
    width: int = 16,  # hidden size
) -> Metrics:
    """Keep all, keep segment inputs, keep each Linear's input: the same model, the same dice."""
    if min(microbatches, layers, segment, rows, width) < 1 or not 0 <= dropout < 1:
        refuse("microbatches, layers, segment, rows, width start at 1; dropout is from 0 below 1")
    if not all(0 < time < inf for time in (forward, backward)):
        refuse("forward and backward are above 0, for example 1")
    n = ranks()
    if layers % n:
        refuse(f"{n} stages share the layers evenly: take {-(-layers // n) * n} layers")

    like = {"dtype": torch.float64, "device": device()}
    own = layers // n
    stages = [[Layer(width, width, **like) for _ in range(own)] for _ in range(n)]
    blocks = [torch.nn.Sequential(*stage) for stage in stages]
    Layer.dropout = dropout
    inputs = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    targets = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    truth = one_process(blocks, inputs, targets)[rank()]
    cost = {"F": forward, "B": backward}

    unit = inputs[0].nbytes
    one = unit + (inputs[0].numel() if dropout else 0)  # tanh(x) and a mask
    lengths = [min(segment, own - start) for start in range(0, own, segment)]
    # The last segment comes first; when a segment runs, those after it have let go of their inputs.
    again = max(length * one - after * unit for after, length in enumerate(reversed(lengths)))
    metrics = {}
    for name in RUNS:
        mode, schedule = name.split("_")
        seen = experiment(name, blocks[rank()], segment, inputs, targets, cost)
        live = microbatches if schedule == "gpipe" else min(n - rank(), microbatches)
        law = live * own * one  # each layer's tanh(x) and its mask
        if mode in ("segments", "torch"):
            law = live * len(lengths) * unit + again
        error = max_error(seen.grad, truth)
        check(f"{name} gradients equal one process", error, "<", 1e-12)
        check(f"{name} keeps what the law says", seen.kept, "==", law)
        times = 1 if mode == "none" else 2
        check(f"{name} runs as many forwards", seen.forwards, "==", times)
        metrics[f"kept_{name}"] = counted(seen.kept / unit)
        if schedule == "1f1b" and mode != "torch":
            metrics[f"forwards_{name}"] = counted(seen.forwards)
        if mode in ("none", "segments"):
            metrics[f"makespan_{name}"] = shared(clocked(seen.makespan))
        if mode == "segments":
            metrics[f"between_{name}"] = counted(seen.between / unit)
            metrics[f"error_{name}"] = shared(compared(everyone(error).max().item()))
    return metrics


def one_process(blocks, inputs, targets):
    """The truth: all is kept and nothing runs twice; each stage throws its dice in turn."""
    for stage, block in enumerate(blocks):
        torch.manual_seed(stage)
        inputs = [block(x) for x in inputs]
    mse_loss(torch.cat(inputs), torch.cat(targets)).backward()
    return [take_gradient(block) for block in blocks]


BREAKS = {
    "other-dice": Break(
        old="torch.set_rng_state(ctx.dice)",
        new="torch.set_rng_state(now)",
        expect="segments_gpipe gradients equal one process",
        ranks=1,
        source="torch.utils.checkpoint with preserve_rng_state=False: other masks the second time",
    ),
    "dice-not-put-back": Break(
        old="        torch.set_rng_state(now)  # forwards still to come throw dice of their own\n",
        new="",
        expect="segments_1f1b gradients equal one process",
        ranks=1,
        source="hand-written checkpoints: forwards that follow a backward get its masks again",
    ),
    "input-wants-no-gradient": Break(
        old="else arrived).requires_grad_()",
        new="else arrived.requires_grad_())",
        expect="crashes: RuntimeError",
        ranks=1,
        source="torch warns of it with use_reentrant=True; transformers enables input gradients",
    ),
    "wrapped-twice": Break(
        old="x = Recompute.apply(segment, x)",
        new="x = Recompute.apply(partial(Recompute.apply, segment), x)",
        expect="segments_gpipe runs as many forwards",
        ranks=1,
        source="gradient checkpointing and recomputation switched on both: they are one thing",
    ),
}


if __name__ == "__main__":
    run(__file__)
