"""Gradient noise is tr(Sigma)/B: the batch of all ranks counts, not how many ranks share it.

The trick
    A gradient from B samples drawn independently is the true one, G, plus noise whose expected
    square is tr(Sigma)/B. A mean of micro-batches and of ranks is a mean of samples, so only their
    total B matters. Squares of norms show it from outside: |g_b|^2 is |G|^2 + tr(Sigma)/b on
    average. Two batch sizes are two equations, and every step has both: a micro-batch's gradient
    before the all-reduce (a rank's own, if it takes one), and the mean after it. The ratio
    tr(Sigma)/|G|^2 is the noise scale; batches far beyond it buy little.

    SGD turns noise into a cloud around the minimum, of size lr/B to first order: lr * N keeps the
    cloud of one rank when N ranks make the batch N times as large, lr * sqrt(N) shrinks it.

    A sample's loss is half its squared distance from the weights, samples are normal around zero:
    G is the weights, Sigma the identity and tr(Sigma) the width, so that the answers are known.
    Draws without replacement, momentum and Adam are left out.

Watch
    batch (shared, rows)                    samples behind one step, B
    noise_micro (shared, value)             mean squared distance of a micro-batch's gradient from G
    noise_rank (shared, value)              mean squared distance from G of a rank's mean over its
                                            micro-batches
    noise_step (shared, value)              mean squared distance from G of the mean over all ranks
    noise_one (shared, value)               mean squared distance from G of one process that draws B
                                            samples itself
    small_square (shared, value)            mean squared norm of a micro-batch's gradient
    big_square (shared, value)              mean squared norm of the step's gradient
    noise_trace (shared, value)             tr(Sigma), from small_square and big_square
    slope_square (shared, value)            |G|^2, from small_square and big_square
    noise_scale (shared, ratio)             tr(Sigma) / |G|^2, as measured; the truth is --width
                                            over --slope
    step_grad_error (shared, difference, backward)  largest one of a step's gradient from one
                                            process on all samples
    sent_gradients (bytes, step)            sent by a rank for the gradients, all --runs together
    sent_norms (bytes, step)                sent by a rank on top of the gradients, for the squared
                                            norms, all --runs
    cloud_one (shared, value)               mean squared distance from the minimum: --rows of one
                                            rank, lr
    cloud_same (shared, value)              mean squared distance from the minimum: --rows of each
                                            rank, the same lr
    cloud_root (shared, value)              mean squared distance from the minimum: --rows of each
                                            rank, lr * sqrt(N)
    cloud_linear (shared, value)            mean squared distance from the minimum: --rows of each
                                            rank, lr * N

Run
    quizkit demo grad-noise --gpus 4
    python demos/grad_noise.py --ranks 4 --slope 0.5
    torchrun --nproc-per-node 4 demos/grad_noise.py
"""

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks, ring_gather, ring_sum, wire

import torch
from torch import Tensor

TOPIC = "optim"


def dice(seed: int) -> torch.Generator:
    """Draws of this rank's own: ranks that drew the same samples would be one rank."""
    return torch.Generator(device()).manual_seed(1000 * seed + 1 + rank())


def draw(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Samples around zero; the last dimension is the width, the one before holds the runs."""
    return torch.randn(shape, generator=generator, dtype=torch.float64, device=device())


def gradient(weights: Tensor, samples: Tensor) -> Tensor:
    """Gradient of the mean loss over the samples, for many independent runs at once."""
    weights = weights.detach().clone().requires_grad_()
    losses = (weights - samples).square().sum(-1) / 2
    losses.mean(0).sum().backward()  # a run's loss moves its own weights alone
    assert weights.grad is not None
    return weights.grad


def own_gradients(weights: Tensor, micro_batches: Tensor) -> tuple[Tensor, Tensor]:
    """What one rank has before it talks: each micro-batch's gradient, and their mean."""
    parts = torch.stack([gradient(weights, samples) for samples in micro_batches])
    return parts, parts.mean(0)


def over_ranks(own: Tensor) -> Tensor:
    """The mean over ranks, as DDP takes it."""
    return ring_sum(own) / ranks()


def square(gradients: Tensor) -> Tensor:
    """Squared norms."""
    return gradients.square().sum(-1)


def two_sizes(small: Tensor, big: Tensor, b: int, total: int) -> tuple[Tensor, Tensor]:
    """Solve small = |G|^2 + tr(Sigma) / b and big = |G|^2 + tr(Sigma) / B for both unknowns."""
    trace = (small - big) / (1 / b - 1 / total)
    slope = (total * big - b * small) / (total - b)
    return trace, slope


def clouds(rates: Tensor, rows: int, width: int, steps: int, chains: int, seed: int) -> Tensor:
    """SGD from the minimum, one row of chains for each rate: squared distances after the steps."""
    own, common = dice(seed + 1), torch.Generator(device()).manual_seed(seed)
    weights = torch.zeros(len(rates), chains, width, dtype=torch.float64, device=device())
    for _ in range(steps):
        # Row 0 gets the same samples on every rank: their mean is then the batch of one rank.
        alone = draw((rows, 1, chains, width), common)
        samples = draw((rows, len(rates) - 1, chains, width), own)
        own_mean = gradient(weights, torch.cat([alone, samples], 1))
        weights -= rates[:, None, None] * all_reduce(own_mean) / ranks()
    return square(weights)


def main(
    rows: int = 2,  # samples of a micro-batch, b
    microbatches: int = 2,  # micro-batches of each rank in a step; the clouds take one
    width: int = 8,  # number of weights, which is tr(Sigma)
    slope: float = 2.0,  # |G|^2, the true gradient's squared norm
    rate: float = 0.06,  # lr of SGD; cloud_root and cloud_linear multiply it by sqrt(N) and N
    steps: int = 30,  # steps of SGD from the minimum
    runs: int = 2000,  # how often a step is drawn; an eighth as many runs of SGD
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Draw one step many times over, then let SGD run."""
    n, pieces = ranks(), microbatches * ranks()
    if min(rows, microbatches, width, steps) < 1 or runs < 1000:
        refuse("rows, microbatches, width and steps start at 1, runs at 1000")
    if pieces < 2:
        refuse("one batch size cannot tell noise from gradient: take 2 ranks or 2 microbatches")
    if not 0 < slope <= 1000 or not 0 < rate * n <= 1:
        refuse(f"slope lies above 0 and up to 1000, rate above 0 and up to {1 / n:g}")
    if rows * width * runs * (pieces + steps / 2) > 2e7:
        refuse("more than 20 million draws: take runs 1000 and smaller rows, width or steps")

    truth = torch.full((runs, width), (slope / width) ** 0.5, dtype=torch.float64).to(device())
    b, total = rows, rows * pieces
    micro_batches = draw((microbatches, rows, runs, width), dice(seed))
    parts, own = own_gradients(truth, micro_batches)
    with wire() as sent:
        step = over_ranks(own)
    with wire() as extra:
        small = over_ranks(square(parts).mean(0))  # one number beside each gradient
    big = square(step)
    trace, length = two_sizes(small, big, b, total)

    everything = ring_gather(micro_batches.flatten(0, 1))
    error = everyone(max_error(step, gradient(truth, everything))).max().item()
    own_noise = torch.stack([square(parts - truth).mean(0), square(own - truth)])
    micro_noise, rank_noise = over_ranks(own_noise)
    alone = draw((total, runs, width), torch.Generator(device()).manual_seed(seed))
    noises = {
        "micro": micro_noise,
        "rank": rank_noise,
        "step": square(step - truth),
        "one": square(gradient(truth, alone) - truth),
    }
    check("a step's gradient equals one process", error, "<", 1e-12)
    sizes = {"micro": rows, "rank": rows * microbatches, "step": total, "one": total}
    for name, size in sizes.items():
        check("noise is tr(Sigma) / samples", off(noises[name], width / size), "<", 6)
    spread = ring_sum(square(parts - step).sum(0)) * b / (pieces - 1)
    check("two norms give the micro-batches' spread", max_error(trace, spread), "<", 1e-9)
    check("two norms give tr(Sigma)", off(trace, width), "<", 6)
    check("two norms give |G|^2", off(length, slope), "<", 6)

    # From the minimum on, a step shrinks the cloud by (1 - lr)^2 and adds lr^2 tr(Sigma) / B.
    rates = torch.tensor([1, 1, n**0.5, n], dtype=torch.float64, device=device()) * rate
    cloud = clouds(rates, rows, width, steps, runs // 8, seed)
    for lr, size, found in zip(
        rates.tolist(), [rows, rows * n, rows * n, rows * n], cloud, strict=True
    ):
        keeps = (1 - lr) ** 2
        grown = sum(keeps**age for age in range(steps))
        expected = lr**2 * width / size * grown
        check("a cloud is as large as lr and B make it", off(found, expected), "<", 6)

    return {
        "batch": shared(counted(everything.shape[0])),
        **{f"noise_{name}": shared(compared(found.mean())) for name, found in noises.items()},
        "small_square": shared(compared(small.mean())),
        "big_square": shared(compared(big.mean())),
        "noise_trace": shared(compared(trace.mean())),
        "slope_square": shared(compared(length.mean())),
        "noise_scale": shared(compared(trace.mean() / length.mean())),
        "step_grad_error": shared(compared(error)),
        "sent_gradients": counted(sent.sent_bytes),
        "sent_norms": counted(extra.sent_bytes),
        **{
            f"cloud_{name}": shared(compared(found.mean()))
            for name, found in zip(("one", "same", "root", "linear"), cloud, strict=True)
        },
    }


def off(values: Tensor, expected: float) -> float:
    """How many standard errors the mean of independent values lies from what is expected."""
    spread = values.std() / len(values) ** 0.5
    return ((values.mean() - expected).abs() / spread).item()


BREAKS = {
    "same-samples": Break(
        old="1000 * seed + 1 + rank()",
        new="1000 * seed + 1",
        expect="noise is tr(Sigma) / samples",
        ranks=2,
        source="a loader that shuffles with one seed and forgets to take the rank's share",
    ),
    "sum-for-mean": Break(
        old="ring_sum(own) / ranks()",
        new="ring_sum(own)",
        expect="a step's gradient equals one process",
        ranks=2,
        source="an all-reduce by hand, whose default operation is the sum: lr grows N times",
    ),
    "undivided-micro-batches": Break(
        old="return parts, parts.mean(0)",
        new="return parts, parts.sum(0)",
        expect="a step's gradient equals one process",
        ranks=1,
        source="backward called on every micro-batch without dividing its loss by their number",
    ),
    "rank-for-micro-batch": Break(
        old="b, total = rows, rows * pieces",
        new="b, total = rows * microbatches, rows * pieces",
        expect="two norms give tr(Sigma)",
        ranks=1,
        source="norms taken in the accumulation loop, but divided by the samples of a whole rank",
    ),
    "mean-of-norms": Break(
        old="square(parts).mean(0)",
        new="square(parts).sqrt().mean(0).square()",
        expect="two norms give tr(Sigma)",
        ranks=1,
        source="a log averages norms over ranks; a squared mean is less than a mean of squares",
    ),
}

if __name__ == "__main__":
    run(__file__)
