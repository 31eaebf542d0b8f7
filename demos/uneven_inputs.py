"""Ranks with different numbers of batches: agree on the steps beforehand, or shadow the missing.

The trick
    Every step sums gradients over all ranks, so a rank that is out of batches leaves the others
    waiting in that sum for ever. A barrier is one more call that it never makes. What works is to
    make the calls equally many: all stop with the first (`train_fewest`; data is left over), or
    those who are done go on calling, with zeros, until nobody has a batch left (`train_join`). That
    is what torch's Join does; at its end all take the weights of a rank that finished last.

    Zeros in a mean pull it down: Join divides by all ranks, so that a batch weighs the same in the
    last step as in the first, or, if asked, by those still at work, which is the mean of the
    batches there are. Neither sees sizes. If each rank brings (`train_weighted`) the sum over its
    samples and how many they are, the gradient is that of one process on whatever there is in the
    step.

Watch
    batches (micro-batches)            batches that this rank has
    shadowed (steps)                   in which this rank has no batch and keeps the others from
                                       waiting
    steps_join (shared, steps)         until nobody has a batch left
    steps_fewest (shared, steps)       until the first rank has no batch left
    left_over (micro-batches)          batches of this rank that nobody works on if all stop with
                                       the first
    active_last (shared, ranks)        that have a batch in the last step
    lone_all (shared, ratio)           length of the last step's gradient over that of the mean of
                                       the batches there are, dividing by all ranks
    lone_torch_all (shared, ratio)     length of the last step's gradient over that of the mean of
                                       the batches there are, in torch's Join by default
    lone_active (shared, ratio)        length of the last step's gradient over that of the mean of
                                       the batches there are, dividing by the ranks still at work
    lone_torch_active (shared, ratio)  length of the last step's gradient over that of the mean of
                                       the batches there are, in torch's Join with
                                       divide_by_initial_world_size=False
    apart_before (difference)          of this rank's weights from the last one's when all are done
    apart_after (difference)           of this rank's weights from the last one's after it has
                                       handed them round
    join_error (difference)            largest one from the weights that torch's Join leaves,
                                       dividing by all ranks
    active_error (difference)          largest one from the weights that torch's Join leaves,
                                       dividing by the ranks still at work
    weighted_error (difference)        largest one of weights from one process on all there is in
                                       each step, batches weighted
    unweighted_error (difference)      relative, of the first gradient if all ranks count alike

Run
    quizkit demo uneven-inputs --gpus 4
    python demos/uneven_inputs.py --ranks 4 --fewest 3 --extra 2 --extra-rows 6
    torchrun --nproc-per-node 4 demos/uneven_inputs.py
"""

from copy import deepcopy
from itertools import count

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import Layer, all_reduce, broadcast, device, everyone, max_error, rank, ranks
from _bench import take_gradient

import torch
from torch.distributed.algorithms.join import Join
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "dp"
RATE = 0.1  # of plain SGD


def train_join(model, batches, by_active):
    """Who is out of batches shadows the others' sums; all end with the weights of the last."""
    shadowed = 0  # steps in which this rank has no batch
    nothing = torch.zeros_like(flat(model))
    for step in count():
        mine = step < len(batches)
        working = int(everyone(float(mine)).sum())  # the call that finds out who goes on
        if not working:
            break
        active = working
        total = all_reduce(slope(model, batches[step]) if mine else nothing.clone())
        if mine:
            applied = total / (active if by_active else ranks())
            move(model, applied)
        else:
            shadowed += 1  # this rank has left its loop: nothing moves its weights any more
    # Weights only, as in torch: an optimizer's momentum is not handed round.
    left = flat(model)
    last = int(everyone(-shadowed).argmax())
    vector_to_parameters(broadcast(left.clone(), last), model.parameters())
    return step, shadowed, active, applied, left


def train_weighted(model, batches):
    """A missing batch weighs nothing, any other as much as it has samples."""
    steps = int(everyone(len(batches)).max())
    gradients = []
    for step in range(steps):
        mine = step < len(batches)
        batch = batches[step if mine else 0]  # some batch, so that all make the same calls
        samples, numbers = batch[1].shape
        weight = samples if mine else 0
        part = slope(model, batch, "sum") * mine / numbers
        gradients.append(all_reduce(part) / everyone(weight).sum())
        move(model, gradients[-1])
    return gradients[0]


def train_fewest(model, batches):
    """All stop when the first rank is out of batches: agreed on once, before the first step."""
    steps = int(everyone(len(batches)).min())
    for batch in batches[:steps]:
        move(model, all_reduce(slope(model, batch)) / ranks())
    return steps


def flat(model):
    """All weights in one row."""
    return parameters_to_vector(model.parameters()).detach()


def slope(model, batch, reduction="mean"):
    """Gradient of the loss over one batch, in one row."""
    inputs, targets = batch
    mse_loss(model(inputs), targets, reduction=reduction).backward()
    return take_gradient(model)


def move(model, gradient):
    """Plain SGD."""
    vector_to_parameters(flat(model) - RATE * gradient, model.parameters())


def lengths(n, fewest, extra):
    """How many batches each rank has: more from rank to rank, as even as whole numbers get."""
    return [fewest + extra * each // max(1, n - 1) for each in range(n)]


def main(
    fewest: int = 3,  # batches of rank 0, which has the fewest
    extra: int = 2,  # how many more the last rank has; ranks between them lie between
    rows: int = 4,  # samples in a batch
    extra_rows: int = 4,  # how many more are in a batch of rank 0
    width: int = 8,  # numbers in a sample; a layer's weight is width x width
) -> Metrics:
    """From `fewest` batches on rank 0 to `extra` more on the last; rank 0's may be larger."""
    if min(fewest, rows, width) < 1 or min(extra, extra_rows) < 0:
        refuse("fewest, rows and width start at 1, extra and extra-rows at 0")
    n, me = ranks(), rank()
    like = {"dtype": torch.float64, "device": device()}
    model = torch.nn.Sequential(*(Layer(width, width, **like) for _ in range(2)))
    shapes = [(rows + extra_rows * (each == 0), width) for each in range(n)]
    # All ranks draw everything, so that any of them can be the one process.
    everything = [
        [(torch.randn(shape, **like), torch.randn(shape, **like)) for _ in range(long)]
        for shape, long in zip(shapes, lengths(n, fewest, extra), strict=True)
    ]
    batches = everything[me]
    last = everyone(len(batches)).argmax()

    lone = {}
    errors = {}
    for by in ("all", "active"):
        mine, theirs, one = (deepcopy(model) for _ in range(3))
        joined, shadowed, active, applied, left = train_join(mine, batches, by == "active")
        gradient, weights = train_torch(theirs, batches, by == "active")
        truth, means = alone(one, everything, by)
        ends = broadcast(left.clone(), int(last))
        behind = max_error(left, ends)
        after = max_error(flat(mine), ends)
        errors[by] = max_error(flat(mine), weights)
        check(f"by {by}: Join leaves what torch's leaves", errors[by], "<", 1e-12)
        check(f"by {by}: Join equals one process", max_error(flat(mine), truth), "<", 1e-12)
        check("all end with the same weights", after, "==", 0)
        check("a step is worked or shadowed", len(batches) + shadowed, "==", joined)
        for who, last_one in ((by, applied), (f"torch_{by}", gradient)):
            lone[who] = (everyone(last_one.norm().item())[last] / means[-1].norm()).item()

    mine = deepcopy(model)
    one = deepcopy(model)
    first = train_weighted(mine, batches)
    truth, gradient = alone_whole(one, everything)
    errors["weighted"] = max_error(flat(mine), truth)
    check("weighted batches equal one process", errors["weighted"], "<", 1e-12)
    check("weighted gradient equals one process", max_error(first, gradient), "<", 1e-12)
    alike = torch.stack([slope(model, each[0]) for each in everything]).mean(0)

    # Last, so that a rank that does not stop with the others is waited for and by nobody matched.
    mine = deepcopy(model)
    one = deepcopy(model)
    steps = train_fewest(mine, batches)
    truth, _ = alone(one, [each[:fewest] for each in everything], "all")
    check("fewest equals one process", max_error(flat(mine), truth), "<", 1e-12)
    check("fewest stops with the first", steps, "==", fewest)

    return {
        "batches": counted(len(batches)),
        "shadowed": counted(shadowed),
        "steps_join": shared(counted(joined)),
        "steps_fewest": shared(counted(steps)),
        "left_over": counted(len(batches) - steps),
        "active_last": shared(counted(active)),
        **{f"lone_{who}": shared(compared(ratio)) for who, ratio in lone.items()},
        "apart_before": compared(behind),
        "apart_after": compared(after),
        "join_error": compared(errors["all"]),
        "active_error": compared(errors["active"]),
        "weighted_error": compared(errors["weighted"]),
        "unweighted_error": compared(((alike - gradient).norm() / gradient.norm()).item()),
    }


# Below: what the runs are held against.


def train_torch(model, batches, by_active):
    """DDP inside torch's Join: what it leaves, and the last gradient that it made."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork

    # gloo takes a tensor from host memory only.
    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    ddp = DistributedDataParallel(deepcopy(model).to(place))
    gradient = None
    with Join([ddp], divide_by_initial_world_size=not by_active):
        for inputs, targets in batches:
            mse_loss(ddp(inputs.to(place)), targets.to(place)).backward()
            gradient = take_gradient(ddp.module)
            move(ddp.module, gradient)
    return gradient, flat(ddp.module)


def alone(model, everything, divide):
    """One process that has all ranks' batches: its weights, and the mean of each step's batches."""
    means = []
    for step in range(max(map(len, everything))):
        there = [batches[step] for batches in everything if step < len(batches)]
        each = torch.stack([slope(model, batch) for batch in there])
        means.append(each.mean(0))
        move(model, each.sum(0) / (len(there) if divide == "active" else len(everything)))
    return flat(model), means


def alone_whole(model, everything):
    """One process that makes one batch of all that there is in a step."""
    gradients = []
    for step in range(max(map(len, everything))):
        there = [batches[step] for batches in everything if step < len(batches)]
        gradients.append(slope(model, [torch.cat(part) for part in zip(*there, strict=True)]))
        move(model, gradients[-1])
    return flat(model), gradients[0]


BREAKS = {
    "plain-loop": Break(
        old="for batch in batches[:steps]:\n",
        new="for batch in batches:\n",
        expect="hangs",
        ranks=2,
        source="for batch in loader, with DDP, over data that do not divide evenly",
    ),
    "barrier": Break(
        old="for batch in batches[:steps]:\n",
        new="for batch in batches:\n        torch.distributed.barrier()\n",
        expect="hangs",
        ranks=2,
        source="advice to put a barrier into the loop: who is done never makes that call either",
    ),
    "keeps-its-own": Break(
        old="broadcast(left.clone(), last)",
        new="left",
        expect="all end with the same weights",
        ranks=2,
        source="shadowing alone: the ranks that were done first go on with weights of their own",
    ),
    "ranks-count-alike": Break(
        old="/ everyone(weight).sum())\n",
        new="/ max(weight, 1) / everyone(mine).sum())\n",
        expect="weighted batches equal one process",
        ranks=2,
        source="a mean of the ranks' means, where the ranks' batches differ in size",
    ),
    "padding-counts": Break(
        old="weight = samples if mine else 0",
        new="weight = samples",
        expect="weighted batches equal one process",
        ranks=2,
        source="samples counted before the padded ones are masked: the last steps come out short",
    ),
}

if __name__ == "__main__":
    run(__file__)
