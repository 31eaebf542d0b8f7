"""On equal stages 1F1B idles as long as GPipe, but keeps min(p - s, m) alive instead of m.

The trick
    A schedule is only the order in which stage s of p runs its m forwards F and backwards B.
    GPipe: all F, then all B. 1F1B: p - 1 - s forwards of warm-up, then F, B, F, B, ..., then the
    backwards still owed. Equal stages and free messages: both take (m + p - 1)(F + B); backwards
    that run sooner free activations sooner. With a slow stage 0 (--imbalance) 1F1B is done first,
    with messages that take time (--hop) GPipe.

Watch
    bubble_gpipe (shared, share)     idle time, of all ranks' time in GPipe's step; (p - 1) / (m + p
                                     - 1) on equal stages
    bubble_1f1b (shared, share)      idle time, of all ranks' time in 1F1B's step; (p - 1) / (m + p
                                     - 1) on equal stages
    overhead_gpipe (shared, ratio)   idle time over useful time in GPipe's step, (p - 1) / m: the
                                     other convention
    overhead_1f1b (shared, ratio)    idle time over useful time in 1F1B's step, (p - 1) / m: the
                                     other convention
    makespan_gpipe (shared, ticks)   length of GPipe's step
    makespan_1f1b (shared, ticks)    length of 1F1B's step
    first_backward_gpipe (ticks)     when each stage starts its first backward, GPipe
    first_backward_1f1b (ticks)      when each stage starts its first backward, 1F1B
    finish_gpipe (ticks)             when each stage has nothing left to do, GPipe
    finish_1f1b (ticks)              when each stage has nothing left to do, 1F1B
    peak_live_gpipe (micro-batches)  most whose activations were alive at once, GPipe
    peak_live_1f1b (micro-batches)   most whose activations were alive at once, 1F1B
    saved_bytes_gpipe (bytes)        most that autograd kept at once for backwards to come, GPipe
    saved_bytes_1f1b (bytes)         most that autograd kept at once for backwards to come, 1F1B
    backwards_1f1b (count)           backwards each stage ran in 1F1B
    stale_1f1b (count)               backwards of 1F1B whose weights had changed since their forward
    messages_1f1b (messages, sent)   activations and gradients in 1F1B's step (GPipe sends as many)
    sent_bytes_1f1b (bytes, sent)    activations and gradients in 1F1B's step (GPipe sends as many)
    grad_error (shared, difference)  largest one of any gradient from one process, full batch
    grad_scale (shared, ratio)       length of the first step's gradient over that of the right one:
                                     1F1B's

Run
    quizkit demo pipeline --gpus 4
    python demos/pipeline.py --ranks 4 --microbatches 6
    torchrun --nproc-per-node 4 demos/pipeline.py
"""

from copy import deepcopy
from math import inf, nan
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, picture, refuse, run, shared
from _bench import Layer, barrier, device, everyone, isend, max_error, one_process, rank, ranks
from _bench import recv, saved_activations, take_gradient, virtual_clock, wire

import torch
from torch.nn.functional import mse_loss

TOPIC = "pp"


def schedule_1f1b(stage, stages, microbatches):
    """Run a backward as soon as there is one."""
    # The last stage answers a forward with its backward at once. Any other stage first has to put
    # as many micro-batches on the way as there are stages after it.
    warmup = min(stages - 1 - stage, microbatches)
    steady = microbatches - warmup
    order = [("F", i) for i in range(warmup)]
    for i in range(steady):
        order += [("F", warmup + i), ("B", i)]
    order += [("B", i) for i in range(steady, microbatches)]
    return order


def schedule_gpipe(stage, stages, microbatches):
    """Fill the pipeline, then drain it."""
    return [("F", i) for i in range(microbatches)] + [("B", i) for i in range(microbatches)]


SCHEDULES = {"gpipe": schedule_gpipe, "1f1b": schedule_1f1b}


def step(order, block, inputs, targets, cost, clock):
    """Run this stage's operations in the order given, each as soon as its input is there."""
    here, last = rank(), ranks() - 1
    seen = SimpleNamespace(peak_live=0, backwards=0, stale=0, busy=0.0, first_backward=nan)
    weights = list(block.parameters())
    seen.live = {}  # time -> how many micro-batches are alive
    alive = {}  # micro-batch -> what its backward will need
    under_way = {}  # neighbour -> the last message sent to it

    for kind, i in order:
        # Activations go down the pipeline, gradients come back up.
        source, target = (here - 1, here + 1) if kind == "F" else (here + 1, here - 1)
        arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source <= last else None
        if (kind, i) == ("B", 0):
            seen.first_backward = clock.now
        clock.spend(cost[kind], f"{kind}{i}")
        seen.busy += cost[kind]

        if kind == "F":
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            y = block(x)
            if here == last:
                # Micro-batches' gradients are added up, so each loss counts for its share only.
                y = mse_loss(y, targets[i]) / len(inputs)
            alive[i] = x, y, fingerprint(weights)
            seen.peak_live = max(seen.peak_live, len(alive))
            result = y.detach()
        else:
            x, y, weights_then = alive.pop(i)
            seen.stale += fingerprint(weights) != weights_then
            y.backward(arrived)  # on the last stage nothing arrives: there y is the loss
            seen.backwards += 1
            result = x.grad

        seen.live[clock.now] = len(alive)
        if 0 <= target <= last:
            # In the steady state neighbours send to each other at the same time. If sending blocked
            # neither would come to receive; one message under way in each direction is enough.
            if target in under_way:
                under_way[target].wait()
            under_way[target] = isend(result, target, name=f"{kind}{i}")

    seen.finish = clock.now
    barrier()  # the flush: every message has been taken; only now may an optimizer touch weights
    return seen


def fingerprint(weights):
    """A number that changes when the weights do."""
    return sum(weight.detach().sum().item() for weight in weights)


def main(
    microbatches: int = 8,  # micro-batches in a step
    forward: float = 1.0,  # virtual time of one forward of a stage
    backward: float = 2.0,  # virtual time of one backward of a stage
    imbalance: float = 1.0,  # stage 0 takes this many times as long as any other
    hop: float = 0.0,  # virtual time of a message; 0: messages are free
    layers_per_stage: int = 2,  # layers on each stage
    rows: int = 4,  # samples in a micro-batch
    width: int = 16,  # hidden size
) -> Metrics:
    """Run both schedules on the same weights and the same batch."""
    if min(microbatches, layers_per_stage, rows, width) < 1:
        refuse("microbatches, layers-per-stage, rows and width start at 1")
    if not all(0 < time < inf for time in (forward, backward, imbalance)) or not 0 <= hop < inf:
        refuse("forward, backward and imbalance are above 0, for example 1; hop may be 0")

    # Every rank draws the whole model and the whole batch, and keeps to its own part of them.
    like = {"dtype": torch.float64, "device": device()}
    layers = range(layers_per_stage)
    stages = [[Layer(width, width, **like) for _ in layers] for _ in range(ranks())]
    blocks = [torch.nn.Sequential(*stage) for stage in stages]
    block = blocks[rank()]
    inputs = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    targets = [torch.randn(rows, width, **like) for _ in range(microbatches)]
    slow = imbalance if rank() == 0 else 1.0
    cost = {"F": forward * slow, "B": backward * slow}

    truth = one_process(blocks, inputs, targets)[rank()]
    # torch's 1F1B insists on a micro-batch for every stage; ours does not need one.
    known = [name for name in SCHEDULES if name == "gpipe" or microbatches >= ranks()]
    theirs = {name: torch_gradient(name, block, inputs, targets) for name in known}

    metrics, ran = {}, {}
    for name, schedule in SCHEDULES.items():
        order = schedule(rank(), ranks(), microbatches)
        weights = block.parameters()
        with wire() as sent, saved_activations(weights) as saved, virtual_clock(name, hop) as clock:
            seen = ran[name] = step(order, block, inputs, targets, cost, clock)
            # The same costs added in another order may differ in a float's last digit.
            seen.makespan = round(clock.makespan(), 9)
        seen.sent = sent
        seen.saved_bytes = saved.peak_bytes
        seen.grad = take_gradient(block)
        seen.error = max_error(seen.grad, truth)
        check(f"{name} gradients equal one process", seen.error, "<", 1e-12)
        if name in theirs:
            check(f"{name} gradients equal torch's", max_error(seen.grad, theirs[name]), "<", 1e-12)
        check(f"{name} backwards see the weights of their forward", seen.stale, "==", 0)

        useful = everyone(seen.busy).sum().item()
        idle = seen.makespan * ranks() - useful
        live = {f"stage {rank()}": seen.live}
        picture("curve", f"{name}: activations alive", series=live, x="ticks", y="micro-batches")
        metrics |= {
            f"bubble_{name}": shared(clocked(idle / (useful + idle))),
            f"overhead_{name}": shared(clocked(idle / useful)),
            f"makespan_{name}": shared(clocked(seen.makespan)),
            f"first_backward_{name}": clocked(seen.first_backward),
            f"finish_{name}": clocked(seen.finish),
            f"peak_live_{name}": counted(seen.peak_live),
            f"saved_bytes_{name}": counted(seen.saved_bytes),
        }

    gpipe, one = ran["gpipe"], ran["1f1b"]
    most = {f"{name}, stage {rank()}": [each.saved_bytes] for name, each in ran.items()}
    title = "most that a stage keeps for its backwards"
    picture("staircase", title, parts=["activations"], steps=most, unit="bytes")
    bound = min(ranks() - rank(), microbatches)
    check("1f1b keeps at most min(p - s, m) alive", one.peak_live, "<=", bound)
    bytes_each = gpipe.saved_bytes / gpipe.peak_live
    check("bytes follow micro-batches", one.saved_bytes, "==", bytes_each * one.peak_live)
    if hop == 0:
        check("1f1b takes no longer than gpipe", one.makespan, "<=", gpipe.makespan)
    lengths = [everyone(g.square().sum().item()).sum() for g in (one.grad, truth)]
    return metrics | {
        "backwards_1f1b": counted(one.backwards),
        "stale_1f1b": counted(one.stale),
        "messages_1f1b": counted(one.sent.sent_messages),
        "sent_bytes_1f1b": counted(one.sent.sent_bytes),
        "grad_error": shared(compared(everyone(max(gpipe.error, one.error)).max().item())),
        "grad_scale": shared(compared((lengths[0] / lengths[1]).sqrt().item())),
    }


def torch_gradient(name, block, inputs, targets):
    """What torch's own schedule makes of this rank's stage."""
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

    # torch sends a tensor from where it lies, and gloo takes it from host memory only.
    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    block = deepcopy(block).to(place)
    # Samples of what enters and leaves the stage spare torch a trial run through the pipeline.
    sample = inputs[0].detach().to(place).requires_grad_(rank() > 0)
    stage = PipelineStage(block, rank(), ranks(), place, sample, block(sample))
    schedule = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}[name](stage, len(inputs), mse_loss)
    # It takes the batch on the first stage and the target on the last; the others may pass both.
    schedule.step(torch.cat(inputs).to(place), target=torch.cat(targets).to(place))
    return take_gradient(block)


BREAKS = {
    "no-cooldown": Break(
        old="range(steady, microbatches)",
        new="range(steady, microbatches - warmup)",
        expect="1f1b gradients equal one process",
        ranks=2,
        source="loops that count m - warmup backwards as all: the warm-up's own stay owed",
    ),
    "m-rounds": Break(
        old="    return order\n",
        new="    return [(kind, i) for kind, i in order if i < microbatches - warmup]\n",
        expect="hangs",
        ranks=2,
        source="1F1B as a loop of m rounds, not m + p - 1 - s: each stage loses what is missing",
    ),
    "loss-not-divided": Break(
        old="y = mse_loss(y, targets[i]) / len(inputs)",
        new="y = mse_loss(y, targets[i])",
        expect="1f1b gradients equal one process",
        ranks=1,
        source="huggingface/picotron, pipeline_parallel.py: only the logged loss is divided",
    ),
    "warmup-off-by-one": Break(
        old="min(stages - 1 - stage, microbatches)",
        new="min(stages - stage, microbatches)",
        expect="1f1b keeps at most min(p - s, m) alive",
        ranks=1,
        source="torch counts p - s forwards, then B before F; with F before B that is one too many",
    ),
    "blocking-send": Break(
        old='under_way[target] = isend(result, target, name=f"{kind}{i}")',
        new="isend(result, target).wait()",
        expect="hangs",
        ranks=2,
        source="dist.send waits for its receiver on gloo, and on NCCL if the message is large",
    ),
    "update-in-flight": Break(
        old="seen.backwards += 1",
        new="seen.backwards += 1\n            for w in weights: w.data -= 0.1 * w.grad",
        expect="1f1b backwards see the weights of their forward",
        ranks=2,
        source="asynchronous pipelines: PipeDream keeps a copy of the weights per micro-batch",
    ),
}


if __name__ == "__main__":
    run(__file__)
