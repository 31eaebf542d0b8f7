"""Behind a pipeline a stage's gradient is summed over its copies once a step, after its last B.

The trick
    d copies of a pipeline of p stages: rank = stage * d + copy. Activations stay within a copy;
    the gradient of a stage, Psi bytes, is summed over the d ranks that hold it: 2(d-1)/d Psi sent
    by each in one ring after the stage's last backward, m times that after every one of m. The last
    stage is ready first: stage s hides s backwards of its reduction behind the others' drain,
    stage 0 nothing (equal stages, no buckets). Any order of adding will do, but none may be left
    out: weights once parted stay apart. Copies bring samples and no room on a rank.

Watch
    dp_bytes_once (bytes, sent)       to copies in a step, reducing after the last backward; no
                                      activations
    dp_bytes_every (bytes, sent)      to copies in a step, reducing after every backward; no
                                      activations
    stage_gradient_bytes (bytes)      the gradient of this rank's stage, Psi
    stage_bytes (bytes)               weights and gradient on this rank
    saved_bytes (bytes)               most that autograd kept at once for backwards to come
    ready (ticks)                     when this rank's last backward ends
    reduced (ticks)                   when this rank's reduction ends, reducing once
    exposed_reduction (ticks)         how much of its reduction comes after the last backward of all
                                      ranks
    makespan_once (shared, ticks)     length of the step, reducing once (an all-reduce takes
                                      --reduction)
    makespan_every (shared, ticks)    length of the step, reducing after every backward
    grad_error (shared, difference)   largest one of any gradient from one process, global batch
    grad_scale (shared, ratio)        length of the first step's gradient over that of the right
                                      one: reduced once
    shuffled_error (difference)       if micro-batches' gradients are added in 20 other orders
    reversed_error (ratio)            error of the right gradient with its numbers back to front,
                                      over its length
    reversed_mean_error (difference)  of the reversed gradient's mean from the right one's
    drift (difference)                of this rank's weights from its stage's first copy, at the end

Run
    quizkit demo pipeline-data --gpus 4
    python demos/pipeline_data.py --ranks 8 --replicas 4 --microbatches 3
    torchrun --nproc-per-node 4 demos/pipeline_data.py
"""

from copy import deepcopy
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, all_gather, device, everyone, exchange, isend, max_error, one_process
from _bench import rank, ranks, recv, saved_activations, take_gradient, virtual_clock, wire

import torch
from torch.nn.functional import mse_loss, pad
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "pp"
RATE = 0.1  # of plain SGD


def step(each, order, block, members, inputs, targets, share, cost, clock):
    """One step: 1F1B within this copy, sums over the copies, the update."""
    seen = SimpleNamespace(outputs=[], sums=[], sent=0, ready=0.0)
    d, alive, flights = len(members), {}, []
    for kind, i in order:
        # The neighbours in the pipeline are d ranks away: between them lie other copies.
        source, target = (rank() - d, rank() + d) if kind == "F" else (rank() + d, rank() - d)
        arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source < ranks() else None
        clock.spend(cost[kind], f"{kind}{i}")
        if kind == "F":
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            y = block(x)
            if target >= ranks():
                seen.outputs.append(y.detach())
                y = mse_loss(y, targets[i]) * share  # of the samples of all copies
            alive[i] = x, y
            result = y.detach()
        else:
            x, y = alive.pop(i)
            y.backward(arrived)
            result, seen.ready = x.grad, clock.now
        if 0 <= target < ranks():
            flights.append(isend(result, target, name=f"{kind}{i}"))
        if kind == "B" and (each or (kind, i) == order[-1]):
            with wire() as sent:
                total = all_sum(take_gradient(block), members)
            clock.spend(cost["R"], "R")
            seen.sums.append(total)
            seen.sent += sent.sent_bytes
    for flight in flights:
        flight.wait()
    seen.finish, seen.gradient = clock.now, sum(seen.sums)
    update(block, seen.gradient)
    return seen


def copies(replicas):
    """The ranks that hold the same stage as this one."""
    first = rank() - rank() % replicas
    return range(first, first + replicas)


def all_sum(row, members):
    """Add up the members' rows: a part's sum grows on its way round, then goes round once more."""
    size, me = len(members), members.index(rank())
    right, left = members[(me + 1) % size], members[me - 1]
    parts = pad(row, (0, -len(row) % size)).view(size, -1).clone()
    for hop in range(2 * (size - 1)):
        mine = parts[(me - hop) % size]
        other = parts[(me - hop - 1) % size]
        arrived = exchange(mine, right, torch.empty_like(mine), left, tag=1).wait()
        other.copy_(other + arrived if hop < size - 1 else arrived)
    return parts.flatten()[: len(row)]


def update(block, gradient):
    """Plain SGD."""
    weights = parameters_to_vector(block.parameters()).detach()
    vector_to_parameters(weights - RATE * gradient, block.parameters())


def schedule_1f1b(stage, stages, microbatches):
    """Forwards of warm-up, then F and B in turn, then the backwards still owed."""
    warmup = min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(warmup)]
    for i in range(microbatches):
        order += [("F", warmup + i), ("B", i)] if warmup + i < microbatches else [("B", i)]
    return order


def main(
    replicas: int = 0,  # copies of the pipeline, d; 0: 2 if the number of ranks is even, else 1
    microbatches: int = 4,  # micro-batches of each copy in a step
    extra_rows: int = 0,  # samples that micro-batches of the first copy have beyond --rows
    steps: int = 1,  # training steps; weights are compared after the last, all else is of the first
    forward: float = 1.0,  # virtual time of one forward of a stage
    backward: float = 2.0,  # virtual time of one backward of a stage
    reduction: float = 3.0,  # virtual time of one reduction; a single copy has none
    rows: int = 4,  # samples in a micro-batch
    width: int = 16,  # hidden size
) -> Metrics:
    """Train copies of a pipeline both ways; with replicas 0, two if the ranks are even."""
    d = replicas or 2 - ranks() % 2
    if d < 1 or ranks() % d:
        fit = [n for n in range(1, ranks() + 1) if ranks() % n == 0]
        refuse(f"{d} replicas do not divide {ranks()} ranks: take one of {fit}")
    if min(microbatches, steps, rows, width) < 1 or extra_rows < 0:
        refuse("microbatches, steps, rows and width start at 1, extra-rows at 0")
    if min(forward, backward) < 0.001 or reduction < 0 or not forward + backward + reduction < 1e3:
        refuse("forward and backward start at 0.001, reduction at 0; together they stay below 1000")

    like = {"dtype": torch.float64, "device": device()}
    members, stages = copies(d), ranks() // d
    stage, copy = divmod(rank(), d)
    blocks = [torch.nn.Sequential(Layer(width, width, **like)) for _ in range(stages)]
    # The first copy's micro-batches may be larger: a sample counts as much in any of them.
    sizes = [rows + extra_rows * (each == 0) for each in range(d)]
    share = sizes[copy] / (microbatches * sum(sizes))
    inputs, targets = (
        [[torch.randn(size, width, **like) for _ in range(microbatches)] for size in sizes]
        for _ in range(2)
    )
    order = schedule_1f1b(stage, stages, microbatches)
    cost = {"F": forward, "B": backward, "R": reduction * (d > 1)}
    batch, wanted = ([torch.cat(each) for each in rows] for rows in (inputs, targets))
    outputs, gradients, weights = train(deepcopy(blocks), batch, wanted, steps)
    truth = gradients[stage]

    ran, errors = {}, []
    for name, each in (("once", False), ("every", True)):
        block = deepcopy(blocks[stage])
        with virtual_clock(name) as clock:
            what = order, block, members, inputs[copy], targets[copy], share, cost, clock
            with saved_activations(block.parameters()) as saved:
                seen = ran[name] = step(each, *what)
            seen.live = saved.peak_bytes
            seen.makespan = round(clock.makespan(), 9)
            for _ in range(steps - 1):
                step(each, *what)
        errors.append(max_error(seen.gradient, truth))
        check(f"{name}: gradients equal one process", errors[-1], "<", 1e-12)
        if seen.outputs:
            error = max_error(torch.cat(seen.outputs), outputs[copy])
            check("outputs equal one process", error, "<", 1e-12)
        seen.weights = parameters_to_vector(block.parameters()).detach()
        check("weights equal one process", max_error(seen.weights, weights[stage]), "<", 1e-12)

    once, every = ran["once"], ran["every"]
    if not extra_rows and microbatches >= stages:  # torch averages, and wants a full pipeline
        theirs = torch_gradient(blocks[stage], d, inputs[copy], targets[copy])
        check("once: gradients equal torch's", max_error(once.gradient, theirs), "<", 1e-12)
    check("every: sends m times the bytes", every.sent, "==", microbatches * once.sent)
    exposed = max(0.0, round(once.finish - everyone(once.ready).max().item(), 9))
    hidden = round(stage * backward, 9)
    check("stage s hides s backwards", exposed, "==", max(0.0, round(cost["R"] - hidden, 9)))
    drift = max_error(once.weights, all_gather(once.weights)[rank() - copy])
    check("copies stay alike", drift, "==", 0.0)

    turned = truth.flip(0)
    orders = [torch.randperm(microbatches) for _ in range(20)]
    others = [torch.stack(every.sums)[each].cumsum(0)[-1] for each in orders]
    lengths = [everyone(g.square().sum().item()).sum() for g in (once.gradient, truth)]
    return {
        "dp_bytes_once": counted(once.sent),
        "dp_bytes_every": counted(every.sent),
        "stage_gradient_bytes": counted(truth.nbytes),
        "stage_bytes": counted(sum(w.nbytes + w.grad.nbytes for w in block.parameters())),
        "saved_bytes": counted(once.live),
        "ready": clocked(once.ready),
        "reduced": clocked(once.finish),
        "exposed_reduction": clocked(exposed),
        "makespan_once": shared(clocked(once.makespan)),
        "makespan_every": shared(clocked(every.makespan)),
        "grad_error": shared(compared(everyone(max(errors)).max().item())),
        "grad_scale": shared(compared((lengths[0] / lengths[1]).sqrt().item())),
        "shuffled_error": compared(max(max_error(each, every.gradient) for each in others)),
        "reversed_error": compared(((turned - truth).norm() / truth.norm()).item()),
        "reversed_mean_error": compared(abs(turned.mean() - truth.mean()).item()),
        "drift": compared(drift),
    }


def train(blocks, inputs, targets, steps):
    """One process on the global batch: outputs and gradients at first, weights at last."""
    outputs = [torch.nn.Sequential(*blocks)(x).detach() for x in inputs]
    gradients = []
    for _ in range(steps):
        gradients.append(one_process(blocks, inputs, targets))
        for block, gradient in zip(blocks, gradients[-1], strict=True):
            update(block, gradient)
    return outputs, gradients[0], [parameters_to_vector(b.parameters()).detach() for b in blocks]


def torch_gradient(block, replicas, inputs, targets):
    """What torch makes of it: its pipeline's stage is a DDP module, which averages over copies."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    from torch.nn.parallel import DistributedDataParallel

    # torch sends a tensor from where it lies, and gloo takes it from host memory only.
    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    stage, stages = rank() // replicas, ranks() // replicas
    mesh = init_device_mesh(place.type, (stages, replicas), mesh_dim_names=("pp", "dp"))
    block = deepcopy(block).to(place)
    sample = inputs[0].detach().to(place).requires_grad_(stage > 0)
    out = block(sample)
    block = DistributedDataParallel(block, process_group=mesh.get_group("dp"))
    part = PipelineStage(block, stage, stages, place, sample, out, group=mesh.get_group("pp"))
    schedule = Schedule1F1B(part, len(inputs), mse_loss)
    schedule.step(torch.cat(inputs).to(place), target=torch.cat(targets).to(place))
    return take_gradient(block)


BREAKS = {
    "too-early": Break(
        old="(kind, i) == order[-1]",
        new='order[order.index((kind, i)) - 1] == ("F", len(inputs) - 1)',
        expect="once: gradients equal one process",
        ranks=3,
        source="no_sync left with the last forward: DDP then reduces at the next backward",
    ),
    "pipeline-as-group": Break(
        old="range(first, first + replicas)",
        new="range(rank() % replicas, ranks(), replicas)",
        expect="once: gradients equal one process",
        ranks=2,
        source="a mesh read along its other axis: with 2 stages of 2 copies the sizes agree",
    ),
    "averaged-again": Break(
        old="seen.sums.append(total)",
        new="seen.sums.append(total / d)",
        expect="once: gradients equal one process",
        ranks=2,
        source="DDP averages: a loss divided by all copies' samples must be multiplied by d first",
    ),
    "sums-the-sum": Break(
        old="all_sum(take_gradient(block), members)",
        new="all_sum(take_gradient(block) + sum(seen.sums), members) - sum(seen.sums)",
        expect="every: gradients equal one process",
        ranks=2,
        source="an all-reduce over all that .grad has gathered: right for a mean, wrong for a sum",
    ),
    "skips-a-step": Break(
        old="all_sum(take_gradient(block), members)",
        new="take_gradient(block) if rank() < d and clock.now <= (len(inputs) + ranks() // d - 1) *"
        " (cost['F'] + cost['B']) else all_sum(take_gradient(block), members)",
        expect="copies stay alike",
        ranks=2,
        source="rules that reduce where it pays: here stage 0, all exposed, skips its first step",
    ),
}


if __name__ == "__main__":
    run(__file__)
