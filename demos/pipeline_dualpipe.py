"""DualPipe feeds the pipeline from both ends: fewer holes, for a second copy of the weights.

The trick
    A rank that idles while work travels down the pipeline could do work that travels up. DualPipe
    puts stages s and p - 1 - s on one rank, so each half of the batch enters at an end of its own,
    and from then on a rank runs a forward of one way and a backward of the other as a pair whose
    messages hide behind its products. What holes are left W fills. DualPipeV folds the pipeline in
    the middle instead: 2p chunks as a V, one copy of the weights, micro-batches from one end.
    Time of a step beyond its work, B and W the two halves of a backward and F = B >= W:
    1F1B (p - 1)(F + B + W), DualPipe (p/2 - 1)(F + 2B - W), DualPipeV (p - 1)(F + 2B - W) / 2.
    DeepSeek writes (PP/2 - 1)(F&B + B - 3W), with B for both halves and F&B for the pair.

Watch
    idle_1f1b (shared, ticks)             what a rank idles in the whole step, 1F1B
    idle_dualpipe (shared, ticks)         what a rank idles in the whole step, DualPipe
    idle_dualpipe_v (shared, ticks)       what a rank idles in the whole step, DualPipeV
    parameters_1f1b (elements)            weights each rank holds, 1F1B
    parameters_dualpipe (elements)        weights each rank holds, DualPipe
    parameters_dualpipe_v (elements)      weights each rank holds, DualPipeV
    peak_live_1f1b (micro-batches)        most whose activations were alive at once, 1F1B
    peak_live_dualpipe (micro-batches)    most alive at once, on 1/p of the layers each, DualPipe
    peak_live_dualpipe_v (micro-batches)  most alive at once, on 1/p of the layers each, DualPipeV
    grad_error (shared, difference)       largest one of any gradient from one process, full batch

Run
    quizkit demo pipeline-dualpipe --gpus 4
    python demos/pipeline_dualpipe.py --ranks 4 --microbatches 10
    torchrun --nproc-per-node 4 demos/pipeline_dualpipe.py
"""

from collections import Counter, deque
from copy import deepcopy
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, barrier, device, everyone, exchange, isend, max_error, one_process, rank
from _bench import ranks, recv, take_gradient, virtual_clock

import torch
from torch.nn import Sequential
from torch.nn.functional import mse_loss

TOPIC = "pp"


def schedule_two_sided(near, far, microbatches):
    """What a rank runs that is `near` hops from an entry and `far` hops from where the ways meet.

    F0 is a forward of chunk 0, which leads away from that entry; chunk 1 leads back towards it. B1
    is a whole backward of chunk 1, I1 the half for its input, W the oldest half for weights that is
    owed. Words joined by + run as a pair.
    """
    words = ["F0"] * (2 * far)
    words += ["F0", "F1"] * (near + 1)
    words += ["I1", "W", "F1"] * far
    # Where the ways meet, the first gradient may come late: the forward does not wait for it.
    meet = int(far == 0)
    words += ["F0", "B1", "F1+B0"] * meet
    words += ["F0+B1", "F1+B0"] * (microbatches - near - 2 * far - 1 - meet)
    words += ["B1", "F1+B0"] * far
    for number in range(2 * near + 2):  # the later half puts its W off to the end
        words.append(("B" if number <= near else "I") + ("0" if number % 2 else "1"))
    words += ["W", "I0"] * far
    words += ["W"] * (near + 1)
    return numbered(words)


def numbered(words):
    """Operations of parts (kind, chunk, micro-batch); each is for its chunk's next micro-batch."""
    begun, owed, order = Counter(), deque(), []
    for word in words:
        parts = []
        for part in word.split("+"):
            if part == "W":
                parts.append(("W", *owed.popleft()))
                continue
            kind, chunk = "F" if part[0] == "F" else "B", int(part[1])
            which = chunk, begun[kind, chunk]
            begun[kind, chunk] += 1
            parts.append((kind, *which))
            if part[0] == "B":
                parts.append(("W", *which))
            elif part[0] == "I":
                owed.append(which)
        order.append(parts)
    return order


def chunk_on(path, place, block, inputs, targets):
    """What a rank holds: a place on a way through the ranks, its weights, and the way's batch."""
    before = path[place - 1] if place else None
    after = path[place + 1] if place + 1 < len(path) else None
    return SimpleNamespace(
        block=block, F=(before, after), B=(after, before), batch=(inputs, targets)
    )


def step(order, chunks, microbatches, cost, clock):
    """Run a rank's operations: what they need is received before, and what they made sent after."""
    seen = SimpleNamespace(peak_live=0, busy=0.0)
    alive, handed, under_way = {}, {}, []

    for parts in order:
        halves = [part for part in parts if part[0] != "W"]  # what neighbours have to do with
        arrived, made = {}, {}
        for kind, number, i in halves:
            source = getattr(chunks[number], kind)[0]
            if source == rank():  # the fold of a V
                arrived[kind] = handed.pop((kind, i))
            elif source is not None:
                into = torch.empty_like(chunks[number].batch[0][i])
                arrived[kind] = recv(into, source, tag=int(kind == "F"))
        for kind, number, i in parts:
            time = cost[kind] * (cost["pair"] if len(halves) == 2 else 1)
            clock.spend(time, f"{kind}{i}.{number}")
            seen.busy += time
            chunk, (inputs, targets) = chunks[number], chunks[number].batch
            if kind == "F":
                x = arrived.get("F", inputs[i]).clone().requires_grad_()
                y = chunk.block(x)
                if chunk.F[1] is None:
                    y = mse_loss(y, targets[i]) / microbatches  # of both ways
                alive[number, i] = x, y, None
                seen.peak_live = max(seen.peak_live, len(alive))
                made["F"] = y.detach()
            elif kind == "B":
                x, y, _ = alive[number, i]
                alive[number, i] = x, y, arrived.get("B")
                [made["B"]] = torch.autograd.grad(y, x, arrived.get("B"), retain_graph=True)
            else:  # walks back again; pipeline_zero_bubble.py keeps what spares it that
                _, y, gradient = alive.pop((number, i))
                weights = list(chunk.block.parameters())
                gradients = torch.autograd.grad(y, weights, gradient)
                for weight, own in zip(weights, gradients, strict=True):
                    weight.grad = own if weight.grad is None else weight.grad + own
        for kind, number, i in halves:
            target = getattr(chunks[number], kind)[1]
            if target == rank():
                handed[kind, i] = made[kind]
            elif target is not None:
                name = f"{kind}{i}.{number}"
                under_way.append(isend(made[kind], target, tag=int(kind == "F"), name=name))

    for message in under_way:
        message.wait()
    barrier()
    return seen


def add_copies(gradient):
    """Ranks r and p - 1 - r hold the same two stages; each took half of the batch through them."""
    mirror = ranks() - 1 - rank()
    return gradient + exchange(gradient, mirror, torch.empty_like(gradient), mirror).wait()


def schedule_1f1b(rank, ranks, microbatches):
    """The plain schedule: operations of parts (kind, chunk of this rank, micro-batch)."""
    warmup = min(ranks - 1 - rank, microbatches)
    order = [[("F", 0, i)] for i in range(warmup)]
    for i in range(microbatches):
        if warmup + i < microbatches:
            order.append([("F", 0, warmup + i)])
        order.append([("B", 0, i), ("W", 0, i)])
    return order


def main(
    microbatches: int = 16,  # micro-batches in a step, an even number, 2p or more
    forward: float = 1.0,  # virtual time of F, a forward, on 1/p of the layers
    backward_input: float = 1.0,  # virtual time of B, the input's gradient, on 1/p of the layers
    backward_weight: float = 1.0,  # virtual time of W, the weights' gradients, on 1/p of the layers
    pair: float = 1.0,  # time of a forward paired with a backward, over both in turn; 1: no gain
    width: int = 16,  # hidden size
) -> Metrics:
    """Run all three on the same model and batch; `pair` is F beside B over F and then B."""
    p, m, r = ranks(), microbatches, rank()
    f, b, w = forward, backward_input, backward_weight
    if p == 1:
        refuse("DualPipe needs an even number of ranks, not 1: take 2")
    if p % 2:
        refuse(f"DualPipe needs an even number of ranks, not {p}: take {p - 1} or {p + 1}")
    if m % 2 or m < 2 * p:
        nearest = max(m + m % 2, 2 * p)
        refuse(f"DualPipe needs an even number of micro-batches, {2 * p} or more: take {nearest}")
    if width < 1 or not all(0.001 <= number <= 1000 for number in (f, b, w, pair)):
        refuse("width starts at 1; the times and pair are from 0.001 to 1000, for example 1")

    like = {"dtype": torch.float64, "device": device()}
    model = [Sequential(Layer(width, width, **like)) for _ in range(2 * p)]
    inputs = [torch.randn(4, width, **like) for _ in range(m)]
    targets = [torch.randn(4, width, **like) for _ in range(m)]
    truth = one_process(model, inputs, targets)
    stages = [Sequential(*model[2 * s], *model[2 * s + 1]) for s in range(p)]

    down, up = list(range(p)), list(reversed(range(p)))
    near, mirror = min(r, p - 1 - r), p - 1 - r
    ends = [(down, r), (up, mirror)] if r < mirror else [(up, mirror), (down, r)]
    fold = r, 2 * p - 1 - r
    half = {0: slice(m // 2), p - 1: slice(m // 2, m)}  # by the rank where it enters
    plans = {
        "1f1b": (schedule_1f1b(r, p, m), [chunk_on(down, r, stages[r], inputs, targets)]),
        "dualpipe": (
            schedule_two_sided(near, p // 2 - 1 - near, m // 2),
            [
                chunk_on(way, at, deepcopy(stages[at]), inputs[half[way[0]]], targets[half[way[0]]])
                for way, at in ends
            ],
        ),
        "dualpipe_v": (
            schedule_two_sided(r, p - 1 - r, m),
            [chunk_on(down + up, at, model[at], inputs, targets) for at in fold],
        ),
    }
    right = {"1f1b": truth[2 * r : 2 * r + 2], "dualpipe_v": [truth[at] for at in fold]}
    right["dualpipe"] = [truth[2 * at + n] for _, at in ends for n in (0, 1)]
    law = {"1f1b": (p - 1) * (f + b + w), "dualpipe": (p / 2 - 1) * (f + 2 * b - w)}
    law["dualpipe_v"] = (p - 1) * (f + 2 * b - w) / 2
    most = {"1f1b": p, "dualpipe": p + 1, "dualpipe_v": p + 0.5}

    metrics, errors = {}, []
    for name, (order, chunks) in plans.items():
        share = 0.5 if name == "dualpipe_v" else 1.0  # of a stage, in a chunk
        cost = {"F": f * share, "B": b * share, "W": w * share, "pair": pair}
        with virtual_clock(name) as clock:
            seen = step(order, chunks, m, cost, clock)
            makespan = clock.makespan()
        gradient = torch.cat([take_gradient(chunk.block) for chunk in chunks])
        if name == "dualpipe":
            gradient = add_copies(gradient)
        errors.append(max_error(gradient, torch.cat(right[name])))
        check(f"{name} gradients equal one process", errors[-1], "<", 1e-12)
        if name == "dualpipe_v":
            theirs = torch_gradient(fold, model, inputs, targets)
            check("dualpipe_v gradients equal torch's", max_error(gradient, theirs), "<", 1e-12)
        idle = round(makespan - everyone(seen.busy).sum().item() / p, 9)
        if f == b >= w and pair == 1:
            check(f"{name} idles as its formula says", abs(idle - law[name]), "<", 1e-6)
        check(f"{name} keeps no more than it should", seen.peak_live * share, "<=", most[name])
        weights = [weight.numel() for chunk in chunks for weight in chunk.block.parameters()]
        metrics |= {
            f"idle_{name}": shared(clocked(idle)),
            f"parameters_{name}": counted(sum(weights)),
            f"peak_live_{name}": counted(seen.peak_live * share),
        }
    return metrics | {"grad_error": shared(compared(everyone(max(errors)).max().item()))}


def torch_gradient(places, model, inputs, targets):
    """What torch's own DualPipeV makes of this rank's two chunks."""
    from torch.distributed.pipelining import PipelineStage, ScheduleDualPipeV

    where = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    blocks = [deepcopy(model[place]).to(where) for place in places]
    stages = []
    for place, block in zip(places, blocks, strict=True):
        sample = inputs[0].detach().to(where).requires_grad_(place > 0)
        stages.append(PipelineStage(block, place, len(model), where, sample, block(sample)))
        if where.type == "cpu":  # torch 2.11 has stages greet each other, gloo no message to itself
            stages[-1]._get_init_p2p_neighbors_ops = list  # pyright: ignore
    schedule = ScheduleDualPipeV(stages, len(inputs), mse_loss)
    schedule.step(torch.cat(inputs).to(where), target=torch.cat(targets).to(where))
    return torch.cat([take_gradient(block) for block in blocks])


BREAKS = {
    "copies-not-added": Break(
        old="            gradient = add_copies(gradient)",
        new="            gradient = gradient.clone()",
        expect="dualpipe gradients equal one process",
        ranks=2,
        source="each copy of a stage saw half of the batch; alone it would drift from the other",
    ),
    "loss-of-one-way": Break(
        old="/ microbatches  # of both ways",
        new="/ len(inputs)",
        expect="dualpipe gradients equal one process",
        ranks=2,
        source="the mean over one way's micro-batches: each way thinks its half is the batch",
    ),
}


if __name__ == "__main__":
    run(__file__)
