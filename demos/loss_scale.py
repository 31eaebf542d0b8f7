"""Loss scaling: multiply, backward, reduce, divide, agree on inf by MAX, clip, step or skip.

The trick
    fp16 has no number between 0 and 6e-8 and none above 65504. So the loss is multiplied by a scale
    before backward, and gradients are divided by it after, in the precision of the master weights
    (fp64 here, to compare; fp32 in life). An overflow skips the step and halves the scale; after
    some good steps in a row it is doubled.

    All ranks must skip or none. DDP gets that for nothing: a sum with inf in it is not finite, and
    shows it to everybody. With shards (ZeRO, tensor or pipeline parallel) only the owner sees it:
    without a MAX over ranks it skips alone and halves its scale alone, and from then on gradients
    of different scales are added up.

    Clip before dividing, and the limit cuts the scaled gradient: the step is short by the scale.

    Ranks are replicas with weights and optimizer cut into shards, as in ZeRO. The model is linear;
    in the bad step rank 0 has a bad target for the last rank's output. bf16 needs none of this.

Watch
    scale (value)                       the loss scale at the end
    skipped (steps)                     that this rank skipped
    weight_error (shared, difference)   largest one of weights from one process under GradScaler
    found_own (yes/no)                  1 if this rank's own gradient has inf or NaN in the bad step
    found_sum (yes/no)                  1 if the sum over ranks, DDP's, has inf or NaN in the bad
                                        step
    found_shard (yes/no)                1 if this rank's shard of the sum has inf or NaN in the bad
                                        step
    scale_alone (value)                 the loss scale at the end if each rank looks at its shard
                                        only
    error_alone (shared, difference)    of weights from GradScaler if each rank looks at its shard,
                                        unclipped
    update_norm (shared, norm)          of a gradient divided by the scale and then clipped
    update_clip_first (shared, norm)    of a gradient clipped first and then divided by the scale
    zeros_plain (elements, backward)    zeros in this rank's fp16 gradient without a scale
    zeros_scaled (elements, backward)   zeros in this rank's fp16 gradient with the scale
    eps_half (shared, value)            Adam's eps of 1e-8 as fp16
    adam_half_bad (shared, elements)    not finite in Adam's updates for gradients 0, 1e-4, 1, all
                                        in fp16
    adam_single_bad (shared, elements)  not finite in Adam's updates for gradients 0, 1e-4, 1, all
                                        in fp32

Run
    quizkit demo loss-scale --gpus 4
    python demos/loss_scale.py --ranks 4 --growth-interval 3
    torchrun --nproc-per-node 4 demos/loss_scale.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, max_error, rank, ranks
from _bench import ring_scatter_sum

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils import clip_grad_norm_

TOPIC = "precision"
RATE, OUTPUTS, INPUTS = 0.1, 8, 6
Batch = list[tuple[Tensor, Tensor]]  # inputs and targets of each rank


@dataclass
class Scaler:
    """The scale, and how it follows what happens."""

    scale: float
    growth_interval: int
    good_steps: int = 0

    def update(self, found: bool) -> None:
        """Halve it after an overflow; double it after enough steps in a row without one."""
        if found:
            self.scale /= 2
            self.good_steps = 0
            return
        self.good_steps += 1
        if self.good_steps == self.growth_interval:
            self.scale *= 2
            self.good_steps = 0


def step(
    shard: Tensor, scaler: Scaler, batch: Batch, limit: float, agree: Callable[[bool], bool]
) -> bool:
    """One step of SGD on this rank's shard of the master weights; whether it was skipped."""
    weights = torch.cat(all_gather(shard))
    own = scaled_gradient(weights, *batch[rank()], scaler.scale)
    mine = ring_scatter_sum(own) / scaler.scale
    seen = odd(mine)
    found = agree(seen)
    mine = clip(mine, limit)
    if not found:
        shard -= RATE * mine
    scaler.update(found)
    return found


def loss_of(weights: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
    """One rank's share of the mean loss over all ranks; the layer itself computes in fp16."""
    layer = weights[: OUTPUTS * INPUTS].view(OUTPUTS, INPUTS)
    found = (inputs.half() @ layer.half().T).double()
    return (found - targets).square().sum() / (targets.numel() * ranks())


def scaled_gradient(weights: Tensor, inputs: Tensor, targets: Tensor, scale: float) -> Tensor:
    """The gradient of the loss times the scale, as fp16 can hold it."""
    weights = weights.detach().requires_grad_()
    (loss_of(weights, inputs, targets) * scale).backward()
    assert weights.grad is not None
    return weights.grad


def odd(gradient: Tensor) -> bool:
    """Whether an inf or a NaN is in it."""
    return not gradient.isfinite().all()


def any_rank(found: bool) -> bool:
    """MAX over the ranks: what one has found, all have found."""
    return bool(everyone(found).max())


def alone(found: bool) -> bool:
    """Each rank for itself: for comparison."""
    return found


def clip(shard: Tensor, limit: float) -> Tensor:
    """Scale a sharded gradient down to the limit; its norm is that of all shards."""
    if limit == inf:
        return shard
    norm = everyone(shard.square().sum().item()).sum().sqrt()
    return shard * (limit / (norm + 1e-6)).clamp(max=1)


def main(
    scale_log2: int = 14,  # log2 of the scale at the start
    growth_interval: int = 2,  # good steps in a row after which the scale doubles
    limit: float = 0.1,  # gradient norm above which it is clipped
    steps: int = 7,  # steps to train
    bad: int = 1,  # the step with the bad target, counted from 0
    spike: float = 10000.0,  # the bad target; a small one overflows nothing
    rows: int = 4,  # samples of each rank in a step
) -> Metrics:
    """Train shards in fp16 with one overflow on the way; look at that step, and at Adam."""
    if not (0 <= scale_log2 <= 24 and growth_interval >= 1 and 0 < limit <= 1):
        refuse("scale-log2 lies from 0 to 24, limit above 0 and up to 1, growth-interval from 1")
    if not (1 <= steps <= 50 and 0 <= bad < steps and 0 <= spike <= 1e9 and 1 <= rows <= 100):
        refuse("steps lie between 1 and 50, bad below, spike up to 1e9, rows between 1 and 100")
    n, scale, batches = ranks(), 2.0**scale_log2, draw(steps, bad, spike, rows)
    weights = torch.randn(OUTPUTS * INPUTS, dtype=torch.float64, device=device()) / 4
    weights = pad(weights, (0, -len(weights) % n))  # so that all shards are equally long

    scales_of: dict[str, list[float]] = {}  # after each step

    def train(limit: float, agree: Callable[[bool], bool]) -> tuple[Tensor, float, int, float]:
        """Shards against one process: their scales, torch's scale, steps skipped, the error."""
        shard, scaler = weights.chunk(n)[rank()].clone(), Scaler(scale, growth_interval)
        skipped, way = 0, [scale]
        scales_of["each rank alone" if agree is alone else "all ranks agree"] = way
        for batch in batches:
            skipped += step(shard, scaler, batch, limit, agree)
            way.append(scaler.scale)
        truth, torchs = train_one(weights, batches, scale, growth_interval, limit)
        error = max_error(shard, truth.chunk(n)[rank()])
        scales, errors = everyone([scaler.scale, error]).T
        return scales, torchs, skipped, errors.max().item()

    for each in (inf, limit):  # without clipping first: with it a norm of inf makes updates 0
        scales, torchs, skipped, error = train(each, any_rank)
        check("weights equal one process", error, "<", 1e-12)
        check("the scale is torch's", scales[rank()], "==", torchs)
        check("all ranks have one scale", scales.std(correction=0), "==", 0)
    own_scales, _, _, own_error = train(inf, alone)
    picture("curve", "the loss scale on rank 0", series=scales_of, x="steps", y="scale")
    own = scaled_gradient(weights, *batches[bad][rank()], scale)
    calm = draw(1, 0, 0.0, rows)[0][rank()]
    plain, scaled = (scaled_gradient(weights, *calm, each) for each in (1, scale))
    shard = ring_scatter_sum(scaled)
    updates = [clip(shard / scale, limit), clip(shard, limit) / scale]
    norms = everyone([each.norm().item() for each in updates]).norm(dim=0)
    trio = torch.tensor([0, 1e-4, 1], device=device())
    error_adam = max_error(adam(trio.double()), trio / (trio.abs() + 1e-8))
    check("Adam's first update is g / (|g| + eps)", error_adam, "<", 1e-6)
    return {
        "scale": counted(scales[rank()]),
        "skipped": counted(skipped),
        "weight_error": shared(compared(error)),
        "found_own": counted(int(odd(own))),
        "found_sum": counted(int(odd(all_reduce(own.clone())))),
        "found_shard": counted(int(odd(ring_scatter_sum(own)))),
        "scale_alone": counted(own_scales[rank()]),
        "error_alone": shared(compared(own_error)),
        "update_norm": shared(compared(norms[0])),
        "update_clip_first": shared(compared(norms[1])),
        "zeros_plain": counted((plain[: OUTPUTS * INPUTS] == 0).sum()),
        "zeros_scaled": counted((scaled[: OUTPUTS * INPUTS] == 0).sum()),
        "eps_half": shared(compared(torch.tensor(1e-8).half())),
        "adam_half_bad": shared(counted((~adam(trio.half()).isfinite()).sum())),
        "adam_single_bad": shared(counted((~adam(trio).isfinite()).sum())),
    }


class Sgd:
    """Plain SGD for torch's GradScaler: an optimizer of torch's own takes long to import."""

    def __init__(self, weights: Tensor) -> None:
        self.param_groups = [{"params": [weights]}]

    def step(self) -> None:
        """Only called if nothing overflowed."""
        weights = self.param_groups[0]["params"][0]
        if weights.grad is not None:
            weights.data -= RATE * weights.grad


def train_one(
    weights: Tensor, batches: list[Batch], scale: float, interval: int, limit: float
) -> tuple[Tensor, float]:
    """The same steps in one process under torch's GradScaler: weights and scale at the end."""
    weights = weights.clone().requires_grad_()
    optimizer = Sgd(weights)
    scaler = torch.amp.GradScaler(device().type, init_scale=scale, growth_interval=interval)
    for batch in batches:
        weights.grad = None
        for inputs, targets in batch:
            scaler.scale(loss_of(weights, inputs, targets)).backward()
        scaler.unscale_(optimizer)  # pyright: ignore[reportArgumentType]
        clip_grad_norm_(weights, limit)
        scaler.step(optimizer)  # pyright: ignore[reportArgumentType]
        scaler.update()
    return weights.detach(), scaler.get_scale()


def adam(gradients: Tensor) -> Tensor:
    """The first update of Adam, all of it in the gradients' precision; the rate is left out."""
    one, eps = torch.ones_like(gradients), torch.full_like(gradients, 1e-8)
    first, second = 0.1 * gradients, 0.001 * gradients * gradients
    return first / (0.1 * one) / ((second / (0.001 * one)).sqrt() + eps)


def draw(steps: int, bad: int, spike: float, rows: int) -> list[Batch]:
    """A batch for each step; two inputs are tiny, and one target of the bad step is far off."""
    like = {"dtype": torch.float64, "device": device()}
    sizes = torch.tensor([1.0] * (INPUTS - 2) + [1e-6] * 2, **like)

    def pair() -> tuple[Tensor, Tensor]:
        return torch.randn(rows, INPUTS, **like) * sizes, torch.randn(rows, OUTPUTS, **like) / 4

    batches = [[pair() for _ in range(ranks())] for _ in range(steps)]
    batches[bad][0][1][0, -1] = spike
    return batches


BREAKS = {
    "own-skip": Break(
        old="    found = agree(seen)",
        new="    found = seen",
        expect="weights equal one process",
        ranks=2,
        source="a scaler made for DDP put around shards: FSDP has a ShardedGradScaler for this",
    ),
    "own-scale": Break(
        old="scaler.update(found)",
        new="scaler.update(seen)",
        expect="all ranks have one scale",
        ranks=2,
        source="the skip is agreed upon, but the scale still follows what the rank saw itself",
    ),
    "clip-before-unscale": Break(
        old="    mine = ring_scatter_sum(own) / scaler.scale",
        new="    mine = clip(ring_scatter_sum(own), limit) / scaler.scale",
        expect="weights equal one process",
        ranks=1,
        source="clip_grad_norm_ called between backward and step without unscale_ before it",
    ),
    "counts-on": Break(
        old="            self.scale /= 2\n            self.good_steps = 0",
        new="            self.scale /= 2",
        expect="the scale is torch's",
        ranks=1,
        source="good steps are counted instead of good steps in a row: the scale grows too soon",
    ),
    "half-master": Break(
        old="        shard -= RATE * mine",
        new="        shard.copy_(shard.half() - RATE * mine.half())",
        expect="weights equal one process",
        ranks=1,
        source="a model turned to half as a whole, master weights included: small steps are lost",
    ),
}

if __name__ == "__main__":
    run(__file__)
