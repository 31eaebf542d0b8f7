"""With v chunks of layers on a rank the bubble shrinks to (p - 1) / (v m) over ideal.

The trick
    Cut the layers into p v chunks and deal them out like cards: chunk k lies on rank k mod p, so
    a micro-batch comes by every rank v times. Filling and draining the pipeline still take p - 1
    slots, but a slot is a chunk, 1/v of a rank's work (m >= p, equal chunks). The price: v times
    the messages and those from the last rank round to the first, and more micro-batches under way
    before the first backward comes back.

Watch
    bubble_interleaved (shared, share)     idle time, of all ranks' time in the step, interleaved:
                                           (p - 1) / (v m + p - 1)
    bubble_1f1b (shared, share)            idle time, of all ranks' time in 1F1B's step: one stage
                                           of v chunks on a rank
    overhead_interleaved (shared, ratio)   idle time over useful time, interleaved: (p - 1) / (v m)
    overhead_1f1b (shared, ratio)          idle time over useful time in 1F1B's step, (p - 1) / m
    makespan_interleaved (shared, ticks)   length of the interleaved step
    makespan_1f1b (shared, ticks)          length of 1F1B's step
    first_backward_interleaved (ticks)     when each rank starts its first backward, interleaved
    first_backward_1f1b (ticks)            when each stage starts its first backward, 1F1B
    peak_live_interleaved (micro-batches)  most alive at once, in whole stages: chunks alive / v
    peak_live_1f1b (micro-batches)         most whose activations were alive at once, 1F1B
    saved_bytes_interleaved (bytes)        most that autograd kept at once for backwards to come,
                                           interleaved
    saved_bytes_1f1b (bytes)               most that autograd kept at once for backwards to come,
                                           1F1B
    messages_interleaved (messages, sent)  activations and gradients in the interleaved step
    messages_1f1b (messages, sent)         activations and gradients in 1F1B's step
    sent_bytes_interleaved (bytes, sent)   activations and gradients in the interleaved step
    sent_bytes_1f1b (bytes, sent)          activations and gradients in 1F1B's step
    grad_error (shared, difference)        largest one of any gradient from one process, full batch

Run
    quizkit demo pipeline-interleaved --gpus 4
    python demos/pipeline_interleaved.py --ranks 4 --chunks 4
    torchrun --nproc-per-node 4 demos/pipeline_interleaved.py
"""

from copy import deepcopy
from math import isnan, nan
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, barrier, device, everyone, isend, max_error, one_process, rank, ranks
from _bench import recv, saved_activations, take_gradient, virtual_clock, wire

import torch
from torch.nn import Sequential
from torch.nn.functional import mse_loss

TOPIC = "pp"
REGIME = ("ahead",)


def schedule_interleaved(rank, ranks, microbatches, chunks, ahead=2):
    """What one rank runs: (F or B, chunk of the whole model, micro-batch)."""
    # A group is what runs through one chunk before its rank turns to the next. With a micro-batch
    # for each rank the first is back from the last rank just in time; the remainder of the batch
    # is shared out among the groups, for a group smaller than that would have to wait.
    groups = max(1, microbatches // ranks)
    group = microbatches // groups
    forwards, backwards = [], []
    for first in range(0, microbatches, group):
        for turn in range(chunks):
            down, up = turn * ranks + rank, (chunks - 1 - turn) * ranks + rank
            forwards += [("F", down, i) for i in range(first, first + group)]
            backwards += [("B", up, i) for i in range(first, first + group)]
    # The first group has to pass here in all chunks. From the last of them it goes on to the end
    # and its gradient comes back: `ahead` more forwards for each hop, 2 to cover both ways.
    warmup = min((chunks - 1) * group + ahead * (ranks - 1 - rank), len(forwards))
    order = forwards[:warmup]
    for forward, backward in zip(forwards[warmup:], backwards, strict=False):
        order += [forward, backward]
    return order + backwards[len(forwards) - warmup :]


def deal(blocks, rank, ranks):
    """The chunks of one rank: chunk k of the model lies on rank k mod p."""
    return {stage: blocks[stage] for stage in range(rank, len(blocks), ranks)}


def step(order, mine, stages, inputs, targets, cost, clock):
    """Run this rank's operations in the order given; `mine` holds its part of the stages."""
    seen = SimpleNamespace(peak_live=0, busy=0.0, first_backward=nan)
    alive = {}  # (stage, micro-batch) -> what its backward will need
    handed = {}  # from one stage of this rank to another: only if there is one rank
    under_way = []

    for kind, stage, i in order:
        down = kind == "F"
        source, target = (stage - 1, stage + 1) if down else (stage + 1, stage - 1)
        # Behind the last rank comes the first, so two ranks send each other activations and
        # gradients both ways, and may take them in another order: a tag keeps the two apart.
        lane = 1 if down else 0
        arrived = None
        if source in mine:
            arrived = handed.pop((kind, stage, i))
        elif 0 <= source < stages:
            arrived = recv(torch.empty_like(inputs[i]), source % ranks(), tag=lane)
        if not down and isnan(seen.first_backward):
            seen.first_backward = clock.now
        name = f"{kind}{i}.{stage // ranks()}"
        clock.spend(cost[kind], name)
        seen.busy += cost[kind]

        if down:
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            y = mine[stage](x)
            if stage == stages - 1:
                y = mse_loss(y, targets[i]) / len(inputs)
            alive[stage, i] = x, y
            seen.peak_live = max(seen.peak_live, len(alive))
            result = y.detach()
        else:
            x, y = alive.pop((stage, i))
            y.backward(arrived)
            result = x.grad

        if target in mine:
            handed[kind, target, i] = result
        elif 0 <= target < stages:
            under_way.append(isend(result, target % ranks(), tag=lane, name=name))

    for message in under_way:
        message.wait()
    barrier()
    return seen


def schedule_1f1b(rank, ranks, microbatches):
    """The plain schedule: the chunks of a rank follow each other and are one stage."""
    warmup = min(ranks - 1 - rank, microbatches)
    order = [("F", rank, i) for i in range(warmup)]
    for i in range(microbatches - warmup):
        order += [("F", rank, warmup + i), ("B", rank, i)]
    return order + [("B", rank, i) for i in range(microbatches - warmup, microbatches)]


def main(
    microbatches: int = 8,  # micro-batches in a step
    chunks: int = 2,  # chunks of layers on each rank, v
    ahead: int = 2,  # warm-up forwards for each hop to the last rank: 1, or 2 to hide more of --hop
    forward: float = 1.0,  # virtual time of one forward through all chunks of a rank
    backward: float = 2.0,  # virtual time of one backward through all chunks of a rank
    hop: float = 0.0,  # virtual time of a message; 0: messages are free
    layers_per_chunk: int = 1,  # layers in each chunk
    rows: int = 4,  # samples in a micro-batch
    width: int = 16,  # hidden size
) -> Metrics:
    """Run the same layers on the same batch with chunks dealt out, and with one stage a rank."""
    if min(microbatches, chunks, layers_per_chunk, rows, width) < 1:
        refuse("microbatches, chunks, layers-per-chunk, rows and width start at 1")
    costs_fit = all(0.001 <= cost <= 1000 for cost in (forward, backward))
    if not costs_fit or not 0 <= hop <= 1000 or ahead not in (1, 2):
        refuse("forward, backward: 0.001 to 1000, for example 1; hop may be 0; ahead is 1 or 2")
    if microbatches % max(1, microbatches // ranks()):
        groups = microbatches // ranks()
        fewer = microbatches // groups * groups
        more = min(fewer + groups, (groups + 1) * ranks())
        refuse(
            f"{microbatches} micro-batches cannot be cut into {groups} equal groups: "
            f"take {fewer} or {more}"
        )

    like = {"dtype": torch.float64, "device": device()}
    stages = ranks() * chunks
    blocks = [
        Sequential(*(Layer(width, width, **like) for _ in range(layers_per_chunk)))
        for _ in range(stages)
    ]
    inputs = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    targets = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    truth = one_process(blocks, inputs, targets)

    dealt = deal(blocks, rank(), ranks())
    theirs = torch_gradient(dealt, stages, inputs, targets)
    own = range(rank() * chunks, (rank() + 1) * chunks)
    whole = {rank(): Sequential(*(blocks[number] for number in own))}
    runs = {
        "interleaved": (schedule_interleaved(rank(), ranks(), microbatches, chunks, ahead), dealt),
        "1f1b": (schedule_1f1b(rank(), ranks(), microbatches), whole),
    }
    right = {
        "interleaved": torch.cat(truth[rank() :: ranks()]),
        "1f1b": torch.cat(truth[rank() * chunks : (rank() + 1) * chunks]),
    }

    metrics, ran = {}, {}
    for name, (order, mine) in runs.items():
        share = 1 / len(mine)  # a chunk is that part of a rank's work
        cost = {"F": forward * share, "B": backward * share}
        weights = [weight for block in mine.values() for weight in block.parameters()]
        with wire() as sent, saved_activations(weights) as saved, virtual_clock(name, hop) as clock:
            seen = ran[name] = step(order, mine, ranks() * len(mine), inputs, targets, cost, clock)
            seen.makespan = round(clock.makespan(), 9)
        seen.grad = torch.cat([take_gradient(block) for block in mine.values()])
        seen.error = max_error(seen.grad, right[name])
        check(f"{name} gradients equal one process", seen.error, "<", 1e-12)
        seen.sent = everyone(sent.sent_messages).sum().item()

        useful = everyone(seen.busy).sum().item()
        idle = seen.idle = round(seen.makespan * ranks() - useful, 9)
        metrics |= {
            f"bubble_{name}": shared(clocked(idle / (useful + idle))),
            f"overhead_{name}": shared(clocked(idle / useful)),
            f"makespan_{name}": shared(clocked(seen.makespan)),
            f"first_backward_{name}": clocked(seen.first_backward),
            f"peak_live_{name}": counted(seen.peak_live / len(mine)),
            f"saved_bytes_{name}": counted(saved.peak_bytes),
            f"messages_{name}": counted(sent.sent_messages),
            f"sent_bytes_{name}": counted(sent.sent_bytes),
        }

    inter, one = ran["interleaved"], ran["1f1b"]
    check("interleaved gradients equal torch's", max_error(inter.grad, theirs), "<", 1e-12)
    if hop == 0 and microbatches >= ranks():
        check("chunks divide the bubble", round(inter.idle * chunks - one.idle, 6), "==", 0)
    if microbatches % ranks() == 0:
        bound = (chunks - 1) * ranks() + ahead * (ranks() - 1 - rank()) + 1
        check("no more chunks alive than the warm-up needs", inter.peak_live, "<=", bound)
    crossed = 2 * microbatches * (stages - 1) if ranks() > 1 else 0
    check("every boundary is crossed there and back", inter.sent, "==", crossed)
    error = everyone(max(inter.error, one.error)).max().item()
    return metrics | {"grad_error": shared(compared(error))}


def torch_gradient(mine, stages, inputs, targets):
    """What torch's own interleaved schedule makes of this rank's chunks."""
    from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B

    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    chunks = [deepcopy(block).to(place) for block in mine.values()]
    parts = []
    for number, block in zip(mine, chunks, strict=True):
        sample = inputs[0].detach().to(place).requires_grad_(number > 0)
        parts.append(PipelineStage(block, number, stages, place, sample, block(sample)))
        if place.type == "cpu":  # torch 2.11 has stages greet each other, gloo no message to itself
            parts[-1]._get_init_p2p_neighbors_ops = list  # pyright: ignore
    schedule = ScheduleInterleaved1F1B(parts, len(inputs), mse_loss)
    schedule.step(torch.cat(inputs).to(place), target=torch.cat(targets).to(place))
    return torch.cat([take_gradient(block) for block in chunks])


BREAKS = {
    "contiguous-chunks": Break(
        old="blocks[stage] for stage",
        new="blocks[rank * len(blocks) // ranks + stage // ranks] for stage",
        expect="interleaved gradients equal one process",
        ranks=2,
        source="loading or converting weights as if a rank's chunks followed each other",
    ),
    "warm-up-of-one-chunk": Break(
        old="min((chunks - 1) * group + ahead * (ranks - 1 - rank), len(forwards))",
        new="min(ahead * (ranks - 1 - rank), len(forwards))",
        expect="crashes: KeyError",
        ranks=1,
        source="plain 1F1B's warm-up kept: the last rank has run one chunk and wants to go back",
    ),
    "breadth-first": Break(
        old="groups = max(1, microbatches // ranks)",
        new="groups = 1",
        expect="no more chunks alive than the warm-up needs",
        ranks=1,
        source="the whole batch through a chunk before the next, as torch's ScheduleLoopedBFS",
    ),
}


if __name__ == "__main__":
    run(__file__)
