"""MFU: a step's model FLOPs, all ranks', over its seconds, the GPUs, and the peak of one of them.

The trick
    Weights in matrices cost 6 FLOPs for each token: 2 forward, 4 backward. A rank holds a shard of
    the weights and reads its own tokens, so both are summed over ranks. Recomputation is no model
    FLOPs. The peak is one GPU's, and their number enters once. The clock is read when the work is
    done, not when it has been launched; the first steps, with what is made once, are left out.

    The usual base is the data sheet's dense peak of the dtype. Here it is the best large product on
    this machine: what a step loses beyond that. The model has no attention, which would add 12 x
    layers x length x width for each token. Seconds are measured and differ each time; the drawn
    shares take the FLOPs that were counted, and seconds and peak as told.

Watch
    params_here (elements)             weights that this rank holds
    params_all (shared, elements)      weights of the model
    tokens_all (shared, tokens)        of a step, all ranks
    flops_here (FLOPs, step)           counted by torch on this rank, nothing recomputed, 2 for a
                                       multiply-add
    flops_again (FLOPs, step)          that recomputing all layers adds on this rank
    flops_model (shared, FLOPs, step)  6 x weights x tokens, all ranks
    open_flights (collectives)         launched and not waited for when the clock was read
    kept_for_backward (bytes)          at most for backward, in a step
    drawn_mfu (shared, ratio)          model FLOPs counted, over --seconds, ranks and --peak
    drawn_hfu (shared, ratio)          the same with all layers recomputed and counted
    measured_step (seconds)            median of the steps, on this machine
    measured_peak (value)              FLOPs a second of the best large product, on this rank
    measured_rate (shared, value)      tokens a second, all ranks, on this machine
    measured_mfu (shared, ratio)       model FLOPs over the slowest rank's step and all peaks
    measured_exposed (ratio)           of a step, from the end of backward to the summed gradients
    measured_busbw (value)             bytes a second on a link if a ring sums, waiting included
    report_grad_error (difference)     largest one of the summed gradients from one process

Run
    quizkit demo step-report --gpus 4
    python demos/step_report.py --ranks 4 --width 256 --recompute true
    torchrun --nproc-per-node 4 demos/step_report.py
"""

from statistics import median
from time import perf_counter
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, computed, counted, refuse, run, shared
from _bench import barrier, device, everyone, max_error, rank, ranks, ring_gather
from _bench import saved_activations

import torch
import torch.distributed as dist
from torch import _dynamo  # noqa: F401  # torch's counter wants it: imported once, before the fork
from torch.nn.functional import pad
from torch.utils.flop_counter import FlopCounterMode

TOPIC = "perf"
VARIES = ("measured_peak", "measured_rate", "measured_mfu", "measured_exposed", "measured_busbw")
WARM = 2  # steps before those that are measured


def mfu(flops, seconds, gpus, peak):
    """Model FLOPs of all ranks, over what that many GPUs could have done in the time."""
    return flops / (seconds * gpus * peak)


def model_flops(shard, tokens):
    """A step's, all ranks: 6 for each weight in a matrix and each token."""
    params = total(shard.numel())
    batch = total(tokens)
    return 6 * params * batch


def total(number):
    """Summed over the ranks."""
    return int(everyone(float(number)).sum().item())


def timed_step(state, x):
    """One step, from when all ranks are here to when the gradients are summed."""
    barrier()
    begin = perf_counter()
    weights = gathered(state)
    forward_backward(weights, x, state.recompute)
    finish()
    computed_at = perf_counter()
    grads = [w.grad.to(state.place) for w in weights]
    flights = [dist.all_reduce(each, group=state.group, async_op=True) for each in grads]
    waited = 0
    for flight in flights:
        flight.wait()
        waited += 1
    finish()
    seconds, exposed = perf_counter() - begin, perf_counter() - computed_at
    still_open = len(flights) - waited
    for w, each in zip(weights, grads, strict=True):
        w.grad.copy_(each)
    return SimpleNamespace(seconds=seconds, exposed=exposed, still_open=still_open, weights=weights)


def finish():
    """Wait until what was launched is done: a GPU's work, and what waits for it there."""
    if device().type == "cuda":
        torch.cuda.synchronize()


def gathered(state):
    """The whole weights, of which each rank holds a part in a row."""
    longest = -(-state.params // ranks())
    rows = ring_gather(pad(state.shard, (0, longest - len(state.shard)))[None])
    sizes = [len(part) for part in torch.arange(state.params).tensor_split(ranks())]
    whole = torch.cat([row[:size] for row, size in zip(rows, sizes, strict=True)])
    return [w.clone().requires_grad_() for w in whole.view(state.shape)]


def forward_backward(weights, x, recompute):
    """Layers of two matrices; each runs once more on the way back, if so told."""
    run_layer = Again.apply if recompute else layer
    for pair in zip(weights[::2], weights[1::2], strict=True):
        x = run_layer(x, *pair)
    x.square().sum().backward()


def layer(x, up, down):
    """What a block adds to its input."""
    return x + torch.tanh(x @ up) @ down


class Again(torch.autograd.Function):
    """A layer of which only the inputs are kept."""

    @staticmethod
    def forward(ctx, *inputs):
        """Autograd is off in here: of what the layer makes nothing is saved."""
        ctx.save_for_backward(*inputs)
        return layer(*inputs)

    @staticmethod
    def backward(ctx, slope):
        """The forward once more, and then the way back."""
        inputs = [each.detach().requires_grad_() for each in ctx.saved_tensors]
        with torch.enable_grad():
            out = layer(*inputs)
        return torch.autograd.grad(out, inputs, slope)


def best_product(size, like):
    """FLOPs a second of the fastest of some large products."""
    a, b = torch.randn(2, size, size, **like)
    best = float("inf")
    for _ in range(WARM + 3):
        begin = perf_counter()
        (a @ b).sum().item()  # a number on the host: the product is done
        best = min(best, perf_counter() - begin)
    return 2 * size**3 / best


def main(
    layers: int = 2,  # blocks of two matrices, width x width
    width: int = 96,  # width of the model
    tokens: int = 128,  # tokens of rank 0; each further rank has one more
    recompute: bool = False,  # whether the measured steps recompute all layers
    steps: int = 3,  # steps that are measured, after two that are not
    product: int = 256,  # rows and columns of the product that measures the peak
    seconds: float = 2.0,  # drawn shares: seconds of a step
    peak: float = 1e9,  # drawn shares: FLOPs a second that one rank could do
) -> Metrics:
    """Measure steps and a peak; count FLOPs; put them into one page."""
    sizes = layers, width, tokens, steps, product
    if min(sizes) < 1 or max(sizes) > 2048 or layers * width**2 * tokens > 2**28:
        refuse("sizes lie in 1 to 2048, and layers x width x width x tokens up to 2**28")
    if 2 * layers * width**2 < ranks():
        refuse(f"{ranks()} ranks need as many weights: take width {ranks()} or more")
    if not (seconds > 0 and peak > 0):
        refuse("seconds and peak lie above 0: take 2 and 1e9")
    n, like = ranks(), {"dtype": torch.float64, "device": device()}
    nccl = dist.get_backend() == "nccl"
    full = torch.randn(2 * layers, width, width, **like) / width**0.5 / layers
    x = [torch.randn(tokens + r, width, **like) for r in range(n)]
    mine = x[rank()].requires_grad_()
    state = SimpleNamespace(recompute=recompute, shape=full.shape)
    state.group, state.place = (None, device()) if nccl else (dist.new_group(backend="gloo"), "cpu")
    state.params, state.shard = full.numel(), full.flatten().tensor_split(n)[rank()]

    counts = {}
    for again in (False, True):
        weights = gathered(state)
        with FlopCounterMode(display=False) as counter, saved_activations(weights) as saved:
            forward_backward(weights, mine, again)
        counts[again] = counter.get_total_flops()
        if again == recompute:
            kept = saved.peak_bytes
    flops_model = everyone(float(model_flops(state.shard, tokens + rank())))[0].item()
    check("model FLOPs are those that are multiplied", flops_model, "==", total(counts[False]))
    check("recomputing adds a forward", 3 * (counts[True] - counts[False]), "==", counts[False])

    done = [timed_step(state, mine) for _ in range(WARM + steps)]
    check("the clock is read when all is summed", max(d.still_open for d in done), "==", 0)
    truth = [w.clone().requires_grad_() for w in full]
    forward_backward(truth, torch.cat([each.detach() for each in x]).requires_grad_(), False)
    pairs = zip(done[-1].weights, truth, strict=True)
    gaps = [max_error(ours.grad, each.grad) / each.grad.abs().max().item() for ours, each in pairs]
    error = max(gaps)
    check("gradients equal one process", error, "<", 1e-12)

    drawn = {again: mfu(total(counts[again]), seconds, n, peak) for again in (False, True)}
    own = everyone(counts[False] / (seconds * peak)).mean().item()
    check("a run's MFU is the mean of its ranks'", abs(drawn[False] - own) / own, "<", 1e-12)

    done = done[WARM:]
    step = median(each.seconds for each in done)
    exposed = median(each.exposed for each in done)
    speed = best_product(product, like)
    slowest = everyone(step).max().item()
    mean_peak = everyone(speed).mean().item()
    on_a_link = 2 * (n - 1) / n * full.nbytes
    return {
        "params_here": counted(state.shard.numel()),
        "params_all": shared(counted(total(state.shard.numel()))),
        "tokens_all": shared(counted(total(tokens + rank()))),
        "flops_here": counted(counts[False]),
        "flops_again": counted(counts[True] - counts[False]),
        "flops_model": shared(computed(flops_model)),
        "open_flights": counted(max(each.still_open for each in done)),
        "kept_for_backward": counted(kept),
        "drawn_mfu": shared(counted(drawn[False])),
        "drawn_hfu": shared(counted(drawn[True])),
        "measured_step": clocked(step),
        "measured_peak": clocked(speed),
        "measured_rate": shared(clocked(total(tokens + rank()) / slowest)),
        "measured_mfu": shared(clocked(mfu(flops_model, slowest, n, mean_peak))),
        "measured_exposed": clocked(exposed / step),
        "measured_busbw": clocked(on_a_link / exposed),
        "report_grad_error": compared(error),
    }


BREAKS = {
    "local-numel": Break(
        old="params = total(shard.numel())",
        new="params = shard.numel()",
        expect="model FLOPs are those that are multiplied",
        ranks=2,
        source="sum(p.numel() for p in model.parameters()) on TP, PP or flat FSDP shards",
    ),
    "own-tokens-only": Break(
        old="batch = total(tokens)",
        new="batch = tokens",
        expect="model FLOPs are those that are multiplied",
        ranks=2,
        source="one rank's tokens a second over all GPUs' peak: too low by the number of ranks",
    ),
    "gpus-twice": Break(
        old="(seconds * gpus * peak)",
        new="(seconds * gpus * (gpus * peak))",
        expect="a run's MFU is the mean of its ranks'",
        ranks=2,
        source="MFU code whose peak is the cluster's and is multiplied by the GPUs once more",
    ),
    "launched-is-done": Break(
        old="    for flight in flights:\n        flight.wait()\n        waited += 1\n",
        new="",
        expect="the clock is read when all is summed",
        ranks=1,
        source="timers without torch.cuda.synchronize(): launching is timed, not the work",
    ),
}

if __name__ == "__main__":
    run(__file__)
