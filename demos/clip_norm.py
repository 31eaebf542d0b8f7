"""Clip by one norm: squares of shards summed over ranks, what all ranks hold counted once.

The trick
    Clipping scales the whole gradient by limit / norm if the norm is above the limit. Under tensor,
    pipeline or ZeRO sharding no rank has the whole gradient, and some of it lies on all of them.
    So: square what is sharded, sum that over the ranks, add the square of what is replicated once,
    take the root. 3 on each of 4 ranks and 4 on all make sqrt(4 * 9 + 16) = 7.21. A rank that asks
    itself alone says 5; a sum over ranks of all they hold says 10.

    All ranks must use one factor: with factors of their own the shards keep no direction together,
    and copies of a replicated weight take different steps and never meet again.

    Clipping is for large finite gradients. One NaN makes the norm NaN, so that the factor spreads
    it to every gradient on every rank; an inf makes the factor 0 and itself NaN. And the limit is
    for the mean gradient: clip ranks or micro-batches first and their mean points elsewhere.

    The model is tanh(x gain W1) W2 + bias, W1 cut by columns and W2 by rows; gain and bias lie
    on every rank. Left out: limits for each layer, limits that adapt.

Watch
    norm_global (shared, norm)         of the sharded parts and the replicated one, each counted
                                       once
    norm_local (norm)                  of what this rank holds, the others not asked
    norm_all (shared, norm)            from the sum over ranks of all that they hold
    weight_error (shared, difference)  largest one of weights, any step, from torch in one process
    drift (difference)                 of replicated weights from rank 0's, all clipped by one norm
    drift_local (difference)           of replicated weights from rank 0's, each rank by its own
                                       norm
    clip_first_norm (shared, norm)     of the mean of gradients that ranks, as replicas, clipped
                                       first
    clip_first_cosine (shared, value)  cosine between the mean of clipped gradients and the clipped
                                       mean
    nan_after (elements)               not finite of 10 after clipping; before, rank 0 had 1 NaN
    nan_local (elements)               not finite of 10 if each rank clips by its own norm; rank 0
                                       had 1 NaN
    inf_after (elements)               not finite of 10 after clipping; before, rank 0 had 1 inf
    inf_zeros (elements)               zeros of 10 after clipping; before, rank 0 had 1 inf

Run
    quizkit demo clip-norm --gpus 4
    python demos/clip_norm.py --ranks 4 --sharded 3 --replicated 4
    torchrun --nproc-per-node 4 demos/clip_norm.py
"""

from collections.abc import Callable

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import broadcast, device, everyone, max_error, rank, ranks, ring_gather, ring_sum

import torch
from torch import Tensor
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_

TOPIC = "optim"
RATE, WIDTH = 0.1, 6

Norm = Callable[[list[Tensor], list[Tensor]], Tensor]


def squares(gradients: list[Tensor]) -> Tensor:
    """Sum of the squares of all elements."""
    return torch.stack([gradient.square().sum() for gradient in gradients]).sum()


def global_norm(sharded: list[Tensor], replicated: list[Tensor]) -> Tensor:
    """The whole gradient's norm, the same number on every rank."""
    return (ring_sum(squares(sharded)) + squares(replicated)).sqrt()


def local_norm(sharded: list[Tensor], replicated: list[Tensor]) -> Tensor:
    """What a rank makes of it that asks nobody: for comparison."""
    return squares(sharded + replicated).sqrt()


def clip(gradients: list[Tensor], norm: Tensor, limit: float) -> None:
    """Scale the gradients in place if their norm is above the limit."""
    factor = (limit / (norm + 1e-6)).clamp(max=1)
    for gradient in gradients:
        gradient *= factor


def outputs(weights: list[Tensor], inputs: Tensor) -> Tensor:
    """The model on one process, or one rank's part of its output, then without the bias."""
    first, second, gain = weights[:3]
    return torch.tanh(inputs * gain @ first) @ second + sum(weights[3:])


def take(weights: list[Tensor]) -> list[Tensor]:
    """Gradients of the weights, which start the next step without."""
    found = [weight.grad for weight in weights if weight.grad is not None]
    for weight in weights:
        weight.grad = None
    return found


def gradients_of_shards(weights: list[Tensor], inputs: Tensor, targets: Tensor) -> list[Tensor]:
    """This rank's part under tensor parallelism: of its shards W1, W2, then of gain and bias."""
    part = outputs(weights[:3], inputs)
    whole = ring_sum(part).requires_grad_()
    mse_loss(whole + weights[3], targets).backward()
    assert whole.grad is not None
    (part * whole.grad).sum().backward()
    first, second, gain, bias = take(weights)
    return [first, second, ring_sum(gain), bias]  # each rank saw the gain of its columns only


def train(norm_of: Norm, weights: list[Tensor], batch: tuple[Tensor, Tensor], limit: float) -> None:
    """One step of SGD on sharded weights."""
    gradients = gradients_of_shards(weights, *batch)
    norm = norm_of(gradients[:2], gradients[2:])
    clip(gradients, norm, limit)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.data -= RATE * gradient


def copies(weights: list[Tensor]) -> list[Tensor]:
    """The same weights, to be trained apart."""
    return [weight.detach().clone().requires_grad_() for weight in weights]


def shards(weights: list[Tensor]) -> list[Tensor]:
    """This rank's part of the model: columns of W1, rows of W2, and copies of gain and bias."""
    columns, rows = weights[0].chunk(ranks(), 1)[rank()], weights[1].chunk(ranks(), 0)[rank()]
    return copies([columns, rows, *weights[2:]])


def clip_of_mean(own: Tensor, limit: float) -> Tensor:
    """Ranks as replicas, each with a gradient of its own: the mean, clipped."""
    mean = ring_sum(own) / ranks()
    clip([mean], mean.norm(), limit)
    return mean


def mean_of_clips(own: Tensor, limit: float) -> Tensor:
    """The mean of gradients that each rank has clipped, for comparison."""
    own = own.clone()
    clip([own], own.norm(), limit)
    return ring_sum(own) / ranks()


def poisoned(norm_of: Norm, value: float, limit: float) -> tuple[Tensor, Tensor]:
    """Gradients of ones, an element of rank 0's shard gone wrong: before and after clipping."""
    before = torch.ones(2, 5, dtype=torch.float64, device=device())
    if rank() == 0:
        before[0, 0] = value
    after = before.clone()
    clip(list(after), norm_of([after[0]], [after[1]]), limit)
    return before, after


def main(
    sharded: float = 3.0,  # in the norm_ metrics: norm of each rank's shard
    replicated: float = 4.0,  # in the norm_ metrics: norm of what all ranks hold
    limit: float = 0.5,  # norm above which a gradient is clipped
    spike: float = 10.0,  # factor on rank 0's targets, for gradients that differ in length; 1: none
    rows: int = 4,  # samples of each rank where ranks are replicas; with shards, all take all
    steps: int = 2,  # steps of SGD to compare with one process
) -> Metrics:
    """Take norms of given lengths, train a cut model, poison it, clip replicas in both orders."""
    if not (0 <= sharded <= 1e6 and 0 <= replicated <= 1e6 and 0.01 <= limit <= 10):
        refuse("sharded and replicated lie between 0 and 1000000, limit between 0.01 and 10")
    if not (0 <= spike <= 1000 and 1 <= rows <= 100 and 1 <= steps <= 5):
        refuse("spike lies between 0 and 1000, rows between 1 and 100, steps between 1 and 5")
    n, like = ranks(), {"dtype": torch.float64, "device": device()}

    arrows = torch.randn(n + 1, 5, **like)
    arrows /= arrows.norm(dim=1, keepdim=True)
    mine, common = [sharded * arrows[rank()]], [replicated * arrows[n]]
    norm = global_norm(mine, common)
    gathered = torch.cat([ring_gather(mine[0]), common[0]]).norm()
    check("each weight counts once", (norm - gathered).abs(), "<=", 1e-12 * gathered)
    kept = mine[0].clone()
    clip([kept], norm, 2 * norm.item() + 1)
    check("short gradients are left alone", max_error(kept, mine[0]), "==", 0)

    model = [torch.randn(WIDTH, 3 * n, **like), torch.randn(3 * n, WIDTH, **like)]
    model = [each / each.shape[0] ** 0.5 for each in model]
    model += [1 + 0.1 * torch.randn(WIDTH, **like), torch.randn(WIDTH, **like)]
    inputs, targets = torch.randn(2, n * rows, WIDTH, **like)
    targets[:rows] *= spike  # rank 0's part if the ranks are replicas

    cut, alone, one = shards(model), shards(model), copies(model)
    truths, errors = [], []
    for _ in range(steps):
        train(global_norm, cut, (inputs, targets), limit)
        train(local_norm, alone, (inputs, targets), limit)
        truths.append(train_one(one, (inputs, targets), limit))
        errors.append(max_error(flat(cut), flat(shards(one))))
    check("weights equal one process", error := everyone(errors).max(), "<", 1e-12)
    drift, drift_local = (
        max_error(each, broadcast(each.clone(), 0)) for each in (flat(cut[2:]), flat(alone[2:]))
    )
    check("copies stay alike", drift, "==", 0)

    replica, part = copies(model), slice(rank() * rows, rank() * rows + rows)
    mse_loss(outputs(replica, inputs[part]), targets[part]).backward()
    own = flat(take(replica))
    late, early = clip_of_mean(own, limit), mean_of_clips(own, limit)
    check("the mean is clipped", max_error(late, truths[0]), "<", 1e-12)
    check("a mean of clipped ones is no longer than one", early.norm(), "<=", limit * (1 + 1e-9))
    ended = {}
    for value in (torch.nan, torch.inf):
        before, after = poisoned(global_norm, value, limit)
        theirs = clipped_by_torch(before, limit)
        unlike = ~torch.isclose(after, theirs, rtol=0, atol=1e-12, equal_nan=True)
        check("NaN and inf end as in torch", unlike.sum(), "==", 0)
        ended[value] = after
    _, nan_local = poisoned(local_norm, torch.nan, limit)
    return {
        "norm_global": shared(compared(norm)),
        "norm_local": compared(local_norm(mine, common)),
        "norm_all": shared(compared(ring_sum(squares(mine + common)).sqrt())),
        "weight_error": shared(compared(error)),
        "drift": compared(drift),
        "drift_local": compared(drift_local),
        "clip_first_norm": shared(compared(early.norm())),
        "clip_first_cosine": shared(compared(early @ late / early.norm() / late.norm())),
        "nan_after": counted((~ended[torch.nan].isfinite()).sum()),
        "nan_local": counted((~nan_local.isfinite()).sum()),
        "inf_after": counted((~ended[torch.inf].isfinite()).sum()),
        "inf_zeros": counted((ended[torch.inf] == 0).sum()),
    }


def train_one(weights: list[Tensor], batch: tuple[Tensor, Tensor], limit: float) -> Tensor:
    """The same step in one process, clipped by torch; its gradient in a row."""
    mse_loss(outputs(weights, batch[0]), batch[1]).backward()
    clip_grad_norm_(weights, limit)
    gradients = take(weights)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.data -= RATE * gradient
    return flat(gradients)


def clipped_by_torch(before: Tensor, limit: float) -> Tensor:
    """One process with all shards: this rank's part of what torch makes of them."""
    whole = torch.cat([ring_gather(before[0]), before[1]]).requires_grad_()
    whole.grad = whole.detach().clone()
    clip_grad_norm_([whole], limit)
    parts = whole.grad.view(ranks() + 1, -1)
    return torch.stack([parts[rank()], parts[-1]])


def flat(tensors: list[Tensor]) -> Tensor:
    """Tensors as one row."""
    return torch.cat([each.detach().flatten() for each in tensors])


BREAKS = {
    "own-norm": Break(
        old="    norm = norm_of(gradients[:2], gradients[2:])",
        new="    norm = local_norm(gradients[:2], gradients[2:])",
        expect="copies stay alike",
        ranks=2,
        source="clip_grad_norm_ called on plain shards that know nothing of the other ranks",
    ),
    "all-from-all": Break(
        old="(ring_sum(squares(sharded)) + squares(replicated)).sqrt()",
        new="ring_sum(squares(sharded + replicated)).sqrt()",
        expect="each weight counts once",
        ranks=2,
        source="an all-reduce over all a rank holds; Megatron-LM filters duplicates out for this",
    ),
    "sum-of-norms": Break(
        old="ring_sum(squares(sharded)) +",
        new="ring_sum(squares(sharded).sqrt()).square() +",
        expect="each weight counts once",
        ranks=2,
        source="norms are added instead of their squares, as if shards all pointed one way",
    ),
    "always-scaled": Break(
        old=".clamp(max=1)",
        new="",
        expect="short gradients are left alone",
        ranks=1,
        source="the minimum with 1 is forgotten: every step gets the length of the limit",
    ),
    "replicas-first": Break(
        old="    clip([mean], mean.norm(), limit)\n    return mean",
        new="    return mean_of_clips(own, limit)",
        expect="the mean is clipped",
        ranks=2,
        source="clipping in a gradient hook or inside no_sync, before DDP has reduced",
    ),
}

if __name__ == "__main__":
    run(__file__)
