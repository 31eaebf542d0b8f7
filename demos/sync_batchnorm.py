"""The variance of a batch is the mean of its parts' variances plus the variance of their means.

The trick
    Batch norm divides by what the whole batch spreads, and a rank sees its own part of it. The mean
    of the ranks' variances leaves out how far the ranks lie apart. Each rank's count, mean and
    variance are enough to put the whole together (`join`): one gather of 2C + 1 numbers, for C
    channels and any number of samples. Sums of x and of x * x would do as well, but lose digits
    where the mean is large: the variance is then a small difference of large numbers. torch's
    SyncBatchNorm gathers them too, as 1/std; it takes no CPU tensors, so ours is held against one
    process.

    Every output now hangs on every input of every rank, so the backward needs its sums too
    (`Normalise.backward`): of the gradient and of gradient times normalised value, over all ranks.
    With its own rank's only it runs and is wrong. The weights' gradients are sums over the rank's
    own samples; data parallelism adds them up like any others.

    Plain DDP syncs no statistics. Each rank normalises with its own, and before each forward rank
    0's running ones are copied to all: what is saved has seen rank 0's samples alone.

Watch
    within (shared, value)                  mean of ranks' variances; rank r holds apart * r and
                                            that + 2 * spread
    between (shared, value)                 variance of ranks' means; rank r holds apart * r and
                                            that + 2 * spread
    whole (shared, value)                   variance of all numbers; rank r holds apart * r and that
                                            + 2 * spread
    out_error (shared, difference)          of outputs from one process, largest
    out_error_own (difference)              of outputs from one process, if each rank normalises by
                                            itself
    input_error (difference)                of gradients of this rank's inputs from one process,
                                            largest
    weight_grad_error (shared, difference)  of the weights' gradients, summed, from one process,
                                            over the inputs' size
    norm_grad_error (shared, difference)    of the norm's own weights' gradients, summed, from one
                                            process, over the inputs' size
    running_error (difference)              relative, of running mean and variance from one process
    sent_forward (bytes, forward)           by this rank
    sent_backward (bytes, backward)         by this rank, the sum of weights' gradients apart
    sums_error (shared, difference)         relative, of the variance in fp32, from sums, at mean
                                            --offset, from fp64's
    parts_error (shared, difference)        relative, of the variance in fp32, from counts, means
                                            and variances, at mean --offset, from fp64's
    drift_alone (difference)                of this rank's running mean from rank 0's, nothing
                                            copied
    drift_ddp (difference)                  of this rank's running mean from rank 0's, in DDP
    saved_error (shared, difference)        of rank 0's running mean in DDP from its own if it were
                                            alone
    saved_gap (shared, difference)          of rank 0's running mean in DDP from that of all samples

Run
    quizkit demo sync-batchnorm --gpus 4
    python demos/sync_batchnorm.py --ranks 2 --apart 10 --spread 1
    torchrun --nproc-per-node 4 demos/sync_batchnorm.py
"""

from copy import deepcopy

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, broadcast, device, everyone, max_error, rank, ranks
from _bench import ring_gather, ring_sum, take_gradient, wire

import torch
from torch import Tensor
from torch.nn import BatchNorm1d, Linear, Sequential
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel

TOPIC = "dp"
EPS, MOMENTUM = 1e-5, 0.1  # torch's defaults


def join(counts, means, variances):
    """Count, mean and variance of all samples, from those of the parts."""
    count = counts.sum()
    mean = (counts * means).sum(0) / count
    variance = (counts * (variances + (means - mean) ** 2)).sum(0) / count
    return count, mean, variance


def gather(x):
    """Each rank's count, means and variances: [ranks, 1] and twice [ranks, channels]."""
    variance, mean = torch.var_mean(x, 0, correction=0)
    mine = torch.cat([mean.new_tensor([len(x)]), mean, variance])
    count, both = ring_gather(mine[None]).split([1, 2 * x.shape[1]], 1)
    return count, *both.chunk(2, 1)


class Normalise(torch.autograd.Function):
    """Batch norm over the samples of all ranks."""

    @staticmethod
    def forward(ctx, x, weight, bias, running_mean, running_var):
        """Normalise with the statistics of all samples, and move the running ones."""
        count, mean, variance = join(*gather(x))
        scale = (variance + EPS).rsqrt()
        normal = (x - mean) * scale
        # One estimates the variance of all samples to come: over n - 1, and n counts all ranks'.
        running_mean.lerp_(mean, MOMENTUM)
        running_var.lerp_(variance * count / (count - 1), MOMENTUM)
        ctx.save_for_backward(normal, weight * scale, count)
        return normal * weight + bias

    @staticmethod
    def backward(ctx, dy):
        """A sample moves the mean and the variance, and so the outputs of all samples."""
        normal, slope, count = ctx.saved_tensors
        sums = torch.stack([dy.sum(0), (dy * normal).sum(0)])
        dbias, dweight = sums  # of this rank's samples: added up with all other gradients
        sum_dy, sum_dy_normal = ring_sum(sums)
        dx = slope * (dy - (sum_dy + normal * sum_dy_normal) / count)
        return dx, dweight, dbias, None, None


class SyncNorm(BatchNorm1d):
    """Takes the place of batch norm in a model."""

    def forward(self, input: Tensor) -> Tensor:
        """This rank's samples, [samples, channels], normalised as a part of all ranks'."""
        return Normalise.apply(input, self.weight, self.bias, self.running_mean, self.running_var)


def main(
    rows: int = 4,  # samples of each rank in a batch
    extra_rows: int = 3,  # how many more of them rank 0 has
    width: int = 6,  # channels
    apart: float = 10.0,  # how far a rank's mean lies from the mean of the rank before it
    spread: float = 1.0,  # standard deviation of a rank's own samples
    offset: float = 1000.0,  # mean of the numbers whose variance is taken in fp32
    steps: int = 3,  # batches that the running means have seen, a forward each
) -> Metrics:
    """Ranks whose samples lie `apart`; rank 0 has `extra_rows` more of them than the others."""
    if rows < 2 or min(width, steps) < 1 or extra_rows < 0:
        refuse("rows start at 2 (batch norm needs a spread), width and steps at 1, extra-rows at 0")
    if not (0 <= min(apart, offset) <= max(apart, offset) <= 1e4 and 0.1 <= spread <= 1e4):
        refuse("apart and offset are 0 to 10000, spread 0.1 to 10000")
    n, me = ranks(), rank()
    like = {"dtype": torch.float64, "device": device()}

    # A row of numbers, two on each rank.
    row = torch.arange(n, **like)[:, None] * apart + torch.tensor([0, 2 * spread], **like)
    _, row_means, row_variances = parts = gather(row[me][:, None])
    row_whole = join(*parts)[2]
    wanted = row.var(correction=0)[None]
    check("the row's variance is torch's", apart_by(row_whole, wanted), "<", 1e-12)

    # A model with a norm in it. All ranks draw everything, so that any can be the one process.
    norm = BatchNorm1d(width, **like)
    for weight in norm.parameters():
        torch.nn.init.normal_(weight)
    one = Sequential(Linear(width, width, **like), norm, Linear(width, width, **like))
    synced = deepcopy(one)
    synced[1] = SyncNorm(width, **like)
    synced[1].load_state_dict(norm.state_dict())
    sizes = [rows + extra_rows * (each == 0) for each in range(n)]

    def draw():
        drawn = [torch.randn(size, width, **like) * spread for size in sizes]
        return [each + apart * place for place, each in enumerate(drawn)]

    inputs = draw()
    targets = [torch.randn(size, width, **like) for size in sizes]
    whole = pass_through(one, torch.cat(inputs), torch.cat(targets), sum(sizes))
    ours = pass_through(synced, inputs[me], targets[me], sum(sizes))
    out, taken = (part.split(sizes)[me] for part in whole[:2])
    summed = all_reduce(ours[2].clone())  # as data parallelism does
    errors = {
        "out": max_error(ours[0], out),
        "own": max_error(deepcopy(one)(inputs[me]), out),
        "input": max_error(ours[1], taken),  # pyright: ignore
        # Sums of inputs times gradients that nearly cancel: the inputs' size is the scale.
        "weight": max_error(summed, whole[2]) / max(1.0, apart * n),
        # The norm's own weight and bias, which lie after those of the layer before it.
        "norm": max_error(
            summed[width**2 + width :][: 2 * width], whole[2][width**2 + width :][: 2 * width]
        )
        / max(1.0, apart * n),
        "running": max(
            apart_by(synced.get_buffer(f"1.running_{kept}"), one.get_buffer(f"1.running_{kept}"))
            for kept in ("mean", "var")
        ),
    }
    check("outputs equal one process", errors["out"], "<", 1e-12)
    check("input gradients equal one process", errors["input"], "<", 1e-12)
    check("weight gradients equal one process", errors["weight"], "<", 1e-12)
    check("running statistics equal one process", errors["running"], "<", 1e-12)
    check("forward sends 2C + 1 numbers a hop", ours[3], "==", (n - 1) * (2 * width + 1) * 8)

    # fp32, far from zero: what the squares lose.
    far = (torch.randn(n, 64, 1, **like) + offset).float()
    exact = far.double().var(correction=0).item()
    mine = far[me]
    count, total, squares = ring_sum(torch.stack([torch.ones_like(mine), mine, mine * mine]).sum(1))
    lost = [squares / count - (total / count) ** 2, join(*gather(mine))[2]]
    lost = [abs(each.item() - exact) / exact for each in lost]

    # What plain DDP makes of the running mean.
    batches = [draw() for _ in range(steps)]
    mine = [batch[me] for batch in batches]
    norm = BatchNorm1d(width, **like)
    alone = walk(norm, mine, before=lambda norm: norm)
    ddp = walk(norm, mine, before=lambda norm: broadcast(norm.running_mean, 0))
    check("DDP copies rank 0's statistics", apart_by(ddp, walk_ddp(norm, mine)), "<", 1e-12)
    all_samples = walk(norm, map(torch.cat, batches), before=lambda norm: norm)
    alone_0, ddp_0 = (broadcast(each.clone(), 0) for each in (alone, ddp))

    return {
        "within": shared(counted(row_variances.mean().item())),
        "between": shared(counted(row_means.var(correction=0).item())),
        "whole": shared(counted(row_whole.item())),
        "out_error": shared(compared(everyone(errors["out"]).max())),
        "out_error_own": compared(errors["own"]),
        "input_error": compared(errors["input"]),
        "weight_grad_error": shared(compared(everyone(errors["weight"]).max())),
        "norm_grad_error": shared(compared(everyone(errors["norm"]).max())),
        "running_error": compared(errors["running"]),
        "sent_forward": counted(ours[3]),
        "sent_backward": counted(ours[4]),
        "sums_error": shared(compared(lost[0], floor=1e-5)),
        "parts_error": shared(compared(lost[1], floor=1e-5)),
        "drift_alone": compared(max_error(alone, alone_0)),
        "drift_ddp": compared(max_error(ddp, ddp_0)),
        "saved_error": shared(compared(max_error(ddp_0, alone_0))),
        "saved_gap": shared(compared(max_error(ddp_0, all_samples))),
    }


# Below: what the runs are held against.


def pass_through(model, x, target, samples):
    """Outputs, gradients of the inputs and of the weights, of the mean loss over all samples."""
    leaf = x.clone().requires_grad_()
    with wire() as forward:
        out = model(leaf)
    loss = mse_loss(out, target, reduction="sum") / (samples * out.shape[1])
    with wire() as backward:
        loss.backward()
    return out.detach(), leaf.grad, take_gradient(model), forward.sent_bytes, backward.sent_bytes


def walk(norm, batches, before):
    """Running mean after a forward of each batch, and before each forward what is to be done."""
    norm = deepcopy(norm)
    for batch in batches:
        before(norm)
        norm(batch)
    return norm.get_buffer("running_mean")


def walk_ddp(norm, batches):
    """Running mean after the same forwards through torch's DDP."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork

    # gloo takes a tensor from host memory only.
    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    model = DistributedDataParallel(deepcopy(norm).to(place))
    for batch in batches:
        model(batch.to(place))
    return model.module.running_mean.to(device())


def apart_by(ours, truth):
    """Largest difference, relative where the numbers are large."""
    return max_error(ours, truth) / max(1.0, truth.abs().max().item())


BREAKS = {
    "mean-of-variances": Break(
        old="(variances + (means - mean) ** 2)",
        new="variances",
        expect="outputs equal one process",
        ranks=2,
        source="an all-reduce that averages mean and variance: how far the ranks differ is lost",
    ),
    "counts-alike": Break(
        old="    count = counts.sum()\n",
        new="    counts = counts.mean().expand_as(counts)\n    count = counts.sum()\n",
        expect="outputs equal one process",
        ranks=2,
        source="a mean over ranks where the last batch is smaller on some of them",
    ),
    "own-sums-backward": Break(
        old="sum_dy, sum_dy_normal = ring_sum(sums)",
        new="sum_dy, sum_dy_normal = sums * ranks()",
        expect="input gradients equal one process",
        ranks=2,
        source="a forward that gathers with a collective autograd does not see through",
    ),
    "own-correction": Break(
        old="variance * count / (count - 1)",
        new="variance * len(x) / (len(x) - 1)",
        expect="running statistics equal one process",
        ranks=2,
        source="the correction by n / (n - 1) with this rank's n: too large by little, for ever",
    ),
    "summed-twice": Break(
        old="sum_dy, sum_dy_normal = ring_sum(sums)",
        new="dbias, dweight = sum_dy, sum_dy_normal = ring_sum(sums)",
        expect="weight gradients equal one process",
        ranks=2,
        source="weight and bias summed in the norm's backward, and by data parallelism once more",
    ),
}

if __name__ == "__main__":
    run(__file__)
