"""Split the backward in two: neighbours wait for B alone, and W fills the holes.

The trick
    A backward makes two things: the gradient of a stage's input (B), for which the stage before
    is waiting, and those of its weights (W), for which nobody is. ZB-H1 is 1F1B that sends after
    B and puts W off to where 1F1B idles: (p - 1)(F + B - W) a stage instead of (p - 1)(F + B + W),
    F, B and W being their times, where W <= F, W <= B and m >= p. ZB-H2 starts twice as many
    forwards ahead: between its first and its last operation no stage waits longer than (p - 1)
    (F + B - 2W), but 2p - 1 micro-batches stay alive instead of p (and m must be as many), and the
    last stage still starts (p - 1)F after the first.

Watch
    idle_1f1b (shared, ticks)        what a rank idles in the whole step, 1F1B
    idle_zb_h1 (shared, ticks)       what a rank idles in the whole step, ZB-H1
    idle_zb_h2 (shared, ticks)       what a rank idles in the whole step, ZB-H2
    waits_1f1b (ticks)               what a stage idles between its first start and its last end,
                                     1F1B
    waits_zb_h1 (ticks)              what a stage idles between its first start and its last end,
                                     ZB-H1
    waits_zb_h2 (ticks)              what a stage idles between its first start and its last end,
                                     ZB-H2
    makespan_1f1b (shared, ticks)    length of 1F1B's step
    makespan_zb_h1 (shared, ticks)   length of ZB-H1's step
    makespan_zb_h2 (shared, ticks)   length of ZB-H2's step
    bubble_1f1b (shared, share)      idle time, of all ranks' time in 1F1B's step
    bubble_zb_h1 (shared, share)     idle time, of all ranks' time in ZB-H1's step
    bubble_zb_h2 (shared, share)     idle time, of all ranks' time in ZB-H2's step
    peak_live_1f1b (micro-batches)   most whose activations were alive at once, 1F1B
    peak_live_zb_h1 (micro-batches)  most between their F and the end of their W, ZB-H1
    peak_live_zb_h2 (micro-batches)  most between their F and the end of their W, ZB-H2
    kept_bytes_1f1b (bytes)          most kept at once: activations, and output gradients for W,
                                     1F1B
    kept_bytes_zb_h1 (bytes)         most kept at once: activations, and output gradients for W,
                                     ZB-H1
    kept_bytes_zb_h2 (bytes)         most kept at once: activations, and output gradients for W,
                                     ZB-H2
    owed_zb_h1 (micro-batches)       most past their B whose W is still to come, ZB-H1
    owed_bytes_zb_h1 (bytes)         most kept for Ws to come: layers' inputs, output gradients,
                                     ZB-H1
    grad_error (shared, difference)  largest one of any gradient from one process, full batch

Run
    quizkit demo pipeline-zero-bubble --gpus 4
    python demos/pipeline_zero_bubble.py --ranks 4 --backward-weight 0.5
    torchrun --nproc-per-node 4 demos/pipeline_zero_bubble.py
"""

from collections import deque
from copy import deepcopy
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, barrier, device, everyone, isend, max_error, one_process, rank, ranks
from _bench import recv, saved_activations, take_gradient, virtual_clock

import torch
from torch.nn.functional import linear, mse_loss

TOPIC = "pp"


def schedule(stage, stages, microbatches, ahead=1, split=True):
    """Operations of one stage; what leaves it is sent at the end of each."""
    warmup = min(ahead * (stages - 1 - stage), microbatches)
    # A later stage starts later and has fewer gradients to wait for; it would be done before the
    # others. It puts off a W for each stage before it, and runs them at the end of the step.
    late = min(ahead * stage, microbatches) if split else 0
    order = [[("F", i)] for i in range(warmup)]
    for i in range(microbatches):
        if warmup + i < microbatches:
            order.append([("F", warmup + i)])
        order.append([("B", i)])
        if not split:
            order[-1].append(("W", i))
        elif i >= late:
            order.append([("W", i - late)])
    return order + [[("W", i)] for i in range(microbatches - late, microbatches) if split]


def run_forward(block, x):
    """Run a stage. Autograd sees no weights: its graph holds what B needs, `inputs` what W does."""
    kept = SimpleNamespace(x=x, inputs=[], gradients=[])
    for layer in block:
        z = linear(x, layer.weight.detach(), layer.bias.detach())
        z.register_hook(kept.gradients.append)  # comes by in B, from the last layer to the first
        kept.inputs.append(x.detach())
        x = x + torch.tanh(z)
    kept.y = x
    return kept


def gradient_of_input(kept, gradient):
    """B: from the output back to the input. What only B needed is free afterwards."""
    [result] = torch.autograd.grad(kept.y, kept.x, gradient)
    kept.x = kept.y = None
    return result


def gradients_of_weights(block, inputs, gradients):
    """W: one product a layer, of its input and its output's gradient. It needs no other stage."""
    for layer, x, gradient in zip(block, inputs, reversed(gradients), strict=True):
        layer.weight.grad += gradient.T @ x
        layer.bias.grad += gradient.sum(0)


def step(order, block, inputs, targets, cost, clock, saved):
    """Run this stage's operations in the order given."""
    here, last = rank(), ranks() - 1
    seen = SimpleNamespace(peak_live=0, kept=0, owed=0, owed_bytes=0, busy=0.0, first=None)
    alive = {}  # micro-batch -> what its B and W will need
    owed = deque()  # gradients that B has left for W
    under_way = []

    for parts in order:
        kind, i = parts[0]
        source, target = {"F": (here - 1, here + 1), "B": (here + 1, here - 1)}.get(kind, (-1, -1))
        arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source <= last else None
        seen.first = clock.now if seen.first is None else seen.first
        for kind, i in parts:
            clock.spend(cost[kind], f"{kind}{i}")
            seen.busy += cost[kind]
            if kind == "F":
                x = inputs[i].clone() if arrived is None else arrived
                kept = alive[i] = run_forward(block, x.requires_grad_())
                if here == last:
                    kept.y = mse_loss(kept.y, targets[i]) / len(inputs)
                result = kept.y.detach()
            elif kind == "B":
                result = gradient_of_input(alive[i], arrived)
                owed.append(alive[i].gradients)
            else:
                gradients_of_weights(block, alive.pop(i).inputs, owed.popleft())
        if 0 <= target <= last:
            under_way.append(isend(result, target, name="{}{}".format(*parts[0])))

        past = [kept for kept in alive.values() if kept.gradients]
        waiting = sum(map(own_bytes, past))
        seen.peak_live = max(seen.peak_live, len(alive))
        seen.owed = max(seen.owed, len(past))
        seen.owed_bytes = max(seen.owed_bytes, waiting)
        seen.kept = max(seen.kept, saved.live_bytes + sum(map(own_bytes, alive.values())))

    seen.waits = round(clock.now - seen.first - seen.busy, 9)
    for message in under_way:
        message.wait()
    barrier()
    return seen


def own_bytes(kept):
    """What is kept for W, beside autograd's graph."""
    return sum(tensor.nbytes for tensor in (*kept.inputs, *kept.gradients))


def main(
    microbatches: int = 8,  # micro-batches in a step
    forward: float = 1.0,  # virtual time of one forward of a stage
    backward_input: float = 1.0,  # virtual time of one B of a stage, the gradient of its input
    backward_weight: float = 1.0,  # virtual time of one W of a stage, the gradients of its weights
    layers_per_stage: int = 2,  # layers on each stage
    rows: int = 4,  # samples in a micro-batch
    width: int = 16,  # hidden size
) -> Metrics:
    """Run 1F1B, ZB-H1 and ZB-H2 on the same weights and the same batch."""
    if min(microbatches, layers_per_stage, rows, width) < 1:
        refuse("microbatches, layers-per-stage, rows and width start at 1")
    f, b, w = forward, backward_input, backward_weight
    if not all(0.001 <= time <= 1000 for time in (f, b, w)):
        refuse("forward, backward-input, backward-weight are from 0.001 to 1000, for example 1")

    like = {"dtype": torch.float64, "device": device()}
    blocks = [
        torch.nn.Sequential(*(Layer(width, width, **like) for _ in range(layers_per_stage)))
        for _ in range(ranks())
    ]
    block = blocks[rank()]
    inputs = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    targets = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    truth = one_process(blocks, inputs, targets)[rank()]
    cost = {"F": f, "B": b, "W": w}

    orders = {
        "1f1b": schedule(rank(), ranks(), microbatches, split=False),
        "zb_h1": schedule(rank(), ranks(), microbatches),
        "zb_h2": schedule(rank(), ranks(), microbatches, ahead=2),
    }
    metrics, ran = {}, {}
    for name, order in orders.items():
        with saved_activations(block.parameters()) as saved, virtual_clock(name) as clock:
            seen = ran[name] = step(order, block, inputs, targets, cost, clock, saved)
            seen.makespan = round(clock.makespan(), 9)
        seen.grad = take_gradient(block)
        seen.error = max_error(seen.grad, truth)
        check(f"{name} gradients equal one process", seen.error, "<", 1e-12)
        useful = everyone(seen.busy).sum().item()
        idle = seen.makespan - useful / ranks()
        metrics |= {
            f"idle_{name}": shared(clocked(round(idle, 9))),
            f"waits_{name}": clocked(seen.waits),
            f"makespan_{name}": shared(clocked(seen.makespan)),
            f"bubble_{name}": shared(clocked(idle / seen.makespan)),
            f"peak_live_{name}": counted(seen.peak_live),
            f"kept_bytes_{name}": counted(seen.kept),
        }

    h1 = ran["zb_h1"]
    if microbatches % max(1, microbatches // ranks()) == 0:  # torch asks for equal rounds
        theirs = torch_gradient(block, inputs, targets)
        check("zb_h1 gradients equal torch's", max_error(h1.grad, theirs), "<", 1e-12)
    if microbatches >= ranks() and w <= min(f, b):
        gap = metrics["idle_zb_h1"].value - (ranks() - 1) * (f + b - w)
        check("zb_h1 idles (p - 1)(F + B - W)", abs(gap), "<", 1e-6)
    if microbatches >= 2 * ranks() - 1 and w <= min(f, b):
        wait = (ranks() - 1 - rank()) * (f + b - 2 * w)
        check("zb_h2 waits (p - 1 - s)(F + B - 2W)", abs(ran["zb_h2"].waits - wait), "<", 1e-6)
    most = min(ranks(), microbatches)
    check("zb_h1 keeps no more than 1f1b's first stage", h1.peak_live, "<=", most)
    error = max(each.error for each in ran.values())
    return metrics | {
        "owed_zb_h1": counted(h1.owed),
        "owed_bytes_zb_h1": counted(h1.owed_bytes),
        "grad_error": shared(compared(everyone(error).max().item())),
    }


def torch_gradient(block, inputs, targets):
    """What torch's own schedule with a split backward makes of this stage."""
    from torch.distributed.pipelining import PipelineStage, ScheduleInterleavedZeroBubble

    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    block = deepcopy(block).to(place)
    sample = inputs[0].detach().to(place).requires_grad_(rank() > 0)
    stage = PipelineStage(block, rank(), ranks(), place, sample, block(sample))
    theirs = ScheduleInterleavedZeroBubble([stage], len(inputs), mse_loss)
    theirs.step(torch.cat(inputs).to(place), target=torch.cat(targets).to(place))
    return take_gradient(block)


BREAKS = {
    "sent-after-w": Break(
        old='order.append([("W", i - late)])',
        new='order[-1].append(("W", i - late))',
        expect="zb_h1 idles (p - 1)(F + B - W)",
        ranks=2,
        source="split, but the gradient leaves with the whole backward, as a hook at its end does",
    ),
    "w-at-once": Break(
        old="late = min(ahead * stage, microbatches) if split else 0",
        new="late = 0",
        expect="zb_h1 idles (p - 1)(F + B - W)",
        ranks=2,
        source="W right after its B: it is off the critical path, but fills no hole",
    ),
    "newest-gradient-first": Break(
        old="owed.popleft()",
        new="owed.pop()",
        expect="zb_h1 gradients equal one process",
        ranks=2,
        source="a stack where a queue is meant: one micro-batch's gradient, another's activations",
    ),
    "drain-forgets-w": Break(
        old="for i in range(microbatches - late, microbatches) if split",
        new="for i in range(microbatches, microbatches) if split",
        expect="zb_h1 gradients equal one process",
        ranks=2,
        source="a step that ends with the last B, while Ws are still put off",
    ),
}


if __name__ == "__main__":
    run(__file__)
