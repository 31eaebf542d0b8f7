"""A pipeline runs at the pace of its slowest stage: split by cost, not by number of layers.

The trick
    Layers keep their order, so a split is p - 1 cuts in a line of costs. Wanted are the cuts whose
    dearest stage is cheapest. A small table finds them: the best split of the first j layers into
    k stages tries every place for the last cut. No split beats the mean, nor the dearest layer.
    A layer costs what its matrix has; the head is the output projection. The even split deals
    the layers out by number, and the head rides along on the last stage, as is the habit.

Watch
    layers_even (layers)             each stage runs, the head among them, dealt out by number
    layers_best (layers)             each stage runs, the head among them, split by cost
    load_even (layers, forward)      what each stage multiplied, in matrices of a layer, dealt out
                                     by number
    load_best (layers, forward)      what each stage multiplied, in matrices of a layer, split by
                                     cost
    makespan_even (shared, ticks)    length of a 1F1B step, dealt out by number; F of a layer takes
                                     1, B 2
    makespan_best (shared, ticks)    length of a 1F1B step, split by cost; F of a layer takes 1, B 2
    bubble_even (shared, share)      idle time, of all ranks' time in the step, dealt out by number
    bubble_best (shared, share)      idle time, of all ranks' time in the step, split by cost
    grad_error (shared, difference)  largest one of any gradient from one process, full batch

Run
    quizkit demo pipeline-partition --gpus 4
    python demos/pipeline_partition.py --ranks 4 --layers 30 --head 3
    torchrun --nproc-per-node 4 demos/pipeline_partition.py
"""

from contextlib import contextmanager
from itertools import accumulate, count

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, device, everyone, isend, max_error, one_process, rank, ranks, recv
from _bench import take_gradient, virtual_clock

import torch
from torch.nn.functional import mse_loss

TOPIC = "pp"


def split_by_cost(costs, stages):
    """Cuts such that the most expensive stage is as cheap as can be."""
    upto = [0, *accumulate(costs)]
    # best[j]: of the first j layers split into the stages so far, (the dearest stage, the cuts)
    best = {j: (upto[j], [0, j]) for j in range(1, len(upto))}
    for stage in range(2, stages + 1):
        best = {
            j: min(
                (max(best[i][0], upto[j] - upto[i]), [*best[i][1], j]) for i in range(stage - 1, j)
            )
            for j in range(stage, len(upto))
        }
    return best[len(costs)][1]


def split_evenly(costs, stages):
    """As many layers for each stage as for any other; the head rides along on the last."""
    body = len(costs) - 1
    ends = [-(-body * (stage + 1) // stages) for stage in range(stages - 1)]
    return [0, *ends, len(costs)]


def step(layers, cost, inputs, targets, clock):
    """Run this stage's layers on every micro-batch, forward and back."""
    here, last = rank(), ranks() - 1
    block, alive, flights = torch.nn.Sequential(*layers), {}, []
    for kind, i in order_1f1b(here, ranks(), len(inputs)):
        source, target = (here - 1, here + 1) if kind == "F" else (here + 1, here - 1)
        arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source <= last else None
        clock.spend(cost[kind], f"{kind}{i}")
        if kind == "F":
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            y = block(x)
            if here == last:
                y = mse_loss(y, targets[i]) / len(inputs)
            alive[i] = x, y
            result = y.detach()
        else:
            x, y = alive.pop(i)
            y.backward(arrived)
            result = x.grad
        if 0 <= target <= last:
            flights.append(isend(result, target, name=f"{kind}{i}"))
    for flight in flights:
        flight.wait()


def order_1f1b(stage, stages, microbatches):
    """p - 1 - s forwards of warm-up, then one backward for each forward."""
    warmup = min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(warmup)]
    for i in range(microbatches):
        order += [("F", warmup + i)] * (warmup + i < microbatches) + [("B", i)]
    return order


@contextmanager
def multiplied(layers):
    """The elements of each matrix that is multiplied with inside."""
    counts = []
    hooks = [
        layer.register_forward_hook(lambda layer, *_: counts.append(layer.weight.numel()))
        for layer in layers
    ]
    yield counts
    for hook in hooks:
        hook.remove()


def main(
    layers: int = 30,  # layers of the model, the head not among them
    head: int = 3,  # cost of the head, the output projection, in layers
    microbatches: int = 8,  # micro-batches in a step
) -> Metrics:
    """Run the same model under both splits."""
    if min(layers, head, microbatches) < 1:
        refuse("layers, head and microbatches start at 1")
    if ranks() > layers + 1:
        refuse(
            f"{layers} layers and a head are {layers + 1} stages at most: take layers {ranks() - 1}"
        )
    rows, width = 2, 8
    like = {"dtype": torch.float64, "device": device()}
    body = [Layer(width, width, **like) for _ in range(layers)]
    model = [*body, torch.nn.Linear(width, head * width, **like)]
    costs = [1] * layers + [head]
    inputs = torch.randn(microbatches, rows, width, **like)
    targets = torch.randn(microbatches, rows, head * width, **like)

    metrics, errors, slowest = {}, [], {}
    for name, split in (("even", split_evenly), ("best", split_by_cost)):
        cuts = split(costs, ranks())
        mine = slice(cuts[rank()], cuts[rank() + 1])
        truth = torch.cat(one_process(model, inputs, targets)[mine])
        load = sum(costs[mine])
        cost = {"F": load, "B": 2 * load}
        with virtual_clock(name) as clock, multiplied(model) as elements:
            step(model[mine], cost, inputs, targets, clock)
            makespan = clock.makespan()
        gradient = take_gradient(torch.nn.Sequential(*model[mine]))
        errors.append(max_error(gradient, truth))
        check(f"{name} gradients equal one process", errors[-1], "<", 1e-12)
        # What was really multiplied, not what the split believes.
        counted_load = sum(elements) / microbatches / width**2
        check(f"{name} costs are what was multiplied", load, "==", counted_load)
        slowest[name] = everyone(counted_load).max().item()
        useful = everyone(microbatches * (cost["F"] + cost["B"])).mean().item()
        metrics |= {
            f"layers_{name}": counted(len(elements) // microbatches),
            f"load_{name}": counted(counted_load),
            f"makespan_{name}": shared(clocked(makespan)),
            f"bubble_{name}": shared(clocked(1 - useful / makespan)),
        }
    lightest = lightest_possible(costs, ranks())
    check("no split has a lighter slowest stage", slowest["best"], "==", lightest)
    return metrics | {"grad_error": shared(compared(everyone(max(errors)).max().item()))}


def lightest_possible(costs, stages):
    """Another way to that number: raise a limit until filling stage by stage is enough."""
    for limit in count(max(costs)):
        used, room = 1, limit
        for cost in costs:
            if cost > room:
                used, room = used + 1, limit
            room -= cost
        if used <= stages:
            return limit
    raise AssertionError("the sum of all costs is always enough")


BREAKS = {
    "costs-ignored": Break(
        old="upto = [0, *accumulate(costs)]",
        new="upto = [*range(len(costs) + 1)]",
        expect="no split has a lighter slowest stage",
        ranks=2,
        source="splits by number of layers: the head counts as one of them",
    ),
    "only-the-last-stage": Break(
        old="(max(best[i][0], upto[j] - upto[i])",
        new="(upto[j] - upto[i]",
        expect="no split has a lighter slowest stage",
        ranks=2,
        source="a table that forgets what it found before: only the last stage gets light",
    ),
    "layer-on-both-sides": Break(
        old="slice(cuts[rank()], cuts[rank() + 1])",
        new="slice(cuts[rank()], cuts[rank() + 1] + 1)",
        expect="even gradients equal one process",
        ranks=2,
        source="first and last layer of a stage given as an inclusive range: fence posts",
    ),
}


if __name__ == "__main__":
    run(__file__)
