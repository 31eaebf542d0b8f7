"""K micro-batches make the big batch if each adds its share: its tokens over everybody's tokens.

The trick
    backward() adds to .grad, so a micro-batch's loss must come as its part of the whole: the sum
    over its tokens divided by those of all micro-batches on all ranks. If all have as many that is
    the mean over K; else a mean of means weighs a token of a short one more. Without 1/K the
    gradient and plain SGD's update are K times too long; Adam divides by the gradient's size and
    starts alike; only clipping and eps notice. Done right, batch, update and learning rate stay. It
    saves activations, not gradients or states. Batch statistics and dropout's dice differ.

Watch
    all_tokens (shared, tokens)             in the global batch
    grad_error (shared, difference)         largest one of the gradient by shares from one process's
    means_error (shared, ratio, backward)   gradient by a mean of means: its distance from the right
                                            one, over its length
    own_tokens_error (shared, ratio, backward)  gradient by each rank's own tokens, averaged: its
                                            distance, over the length
    sgd_ratio (shared, ratio, step)         length of plain SGD's first update without 1/K over that
                                            with 1/K
    adam_ratio (shared, ratio, step)        length of Adam's first update without 1/K over that with
                                            1/K
    eps_ratio (shared, ratio, step)         Adam's first update without 1/K over with it, eps at the
                                            gradient's RMS
    clip_ratio (shared, ratio, step)        SGD's first update without 1/K over with it, clipped at
                                            1.5 norms with it
    leak_ratio (shared, ratio, step)        the same step twice without zero_grad between: second
                                            gradient over first
    trained_error (shared, difference)      after --steps of Adam: weights from one process's
    root_rate_error (shared, difference)    weights after Adam at lr x root of K, from one process
                                            at lr
    batch_norm_error (difference, backward)  this rank's gradient of a model with BatchNorm, from
                                            its whole batch's
    layer_norm_error (difference, backward)  this rank's gradient of a model with LayerNorm, from
                                            its whole batch's
    live_bytes (bytes)                      most kept for backward at once, weights and .grad apart,
                                            a micro-batch at a time
    live_bytes_whole (bytes)                most kept for backward at once with this rank's batch in
                                            one piece
    grad_bytes (bytes)                      of this rank's .grad after accumulating
    grad_bytes_whole (bytes)                of this rank's .grad after the whole batch
    bias (shared, difference)               average over all ways to draw 1, 2, 4 times from 4
                                            tokens: how far off
    variance_2 (shared, ratio)              spread of the mean of 2 draws over that of 1 draw
    variance_4 (shared, ratio)              spread of the mean of 4 draws over that of 1 draw

Run
    quizkit demo accumulation --gpus 4
    python demos/accumulation.py --ranks 3 --microbatches 5 --spread 0
    torchrun --nproc-per-node 4 demos/accumulation.py
"""

from copy import deepcopy
from itertools import product

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import Layer, device, everyone, max_error, rank, ranks, ring_sum, saved_activations

import torch
from torch.nn import BatchNorm1d, LayerNorm
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.optim.adam import adam

TOPIC = "optim"
RATE = 0.01


def accumulate(model, batches, shares):
    """This rank's part of the gradient: one micro-batch after the other adds its share."""
    for batch, share in zip(batches, shares, strict=True):
        loss = loss_of(model, batch) * share
        loss.backward()


def shares_of(batches):
    """By how much each micro-batch's sum over tokens is multiplied: one over everybody's tokens."""
    counts = [len(x) for x, _ in batches]
    own = sum(counts)
    everybody = everyone(own).sum().item()
    return [1 / everybody for _ in counts]


def loss_of(model, batch):
    """The sum over tokens of each one's mean squared error."""
    x, target = batch
    return (model(x) - target).square().mean(1).sum()


def take(model):
    """The gradient in one row; the next step starts from none."""
    row = parameters_to_vector([weight.grad for weight in model.parameters()])
    model.zero_grad()
    return row


def gradient(model, batches, shares=shares_of):
    """The gradient of the global batch, or what mistaken shares take for it."""
    accumulate(model, batches, shares(batches))
    return ring_sum(take(model))


def adam_step(weights, row, kept, rate, eps=1e-8):
    """torch's Adam on a row of weights, in place; its class would first import for a second."""
    more = {"amsgrad": False, "weight_decay": 0.0, "maximize": False}
    adam([weights], [row], *kept, lr=rate, beta1=0.9, beta2=0.999, eps=eps, **more)


def fresh(row):
    """What Adam keeps: momentum, variance, nothing for amsgrad, the number of steps."""
    return [torch.zeros_like(row)], [torch.zeros_like(row)], [], [torch.tensor(0.0)]


def train(model, find, steps, rate):
    """The weights after some steps of Adam on the gradient that `find` gives."""
    model = deepcopy(model)
    weights = parameters_to_vector(model.parameters()).detach()
    kept = fresh(weights)
    for _ in range(steps):
        adam_step(weights, find(model), kept, rate)
        vector_to_parameters(weights.clone(), model.parameters())
    return weights


def first_step(row, eps=1e-8):
    """Where Adam's first step leads from zero."""
    weights = torch.zeros_like(row)
    adam_step(weights, row, fresh(row), RATE, eps)
    return weights


def joined(batches):
    """Micro-batches as one batch."""
    return tuple(torch.cat(each) for each in zip(*batches, strict=True))


def main(
    microbatches: int = 4,  # micro-batches each rank accumulates, K
    tokens: int = 8,  # tokens of the shortest micro-batch
    spread: int = 4,  # micro-batches are 0, 1, 2 times this longer than --tokens in turn; 0: alike
    steps: int = 3,  # steps of Adam to train
    width: int = 8,  # width of the model
) -> Metrics:
    """Accumulate rightly and wrongly; micro-batches differ in length by --spread."""
    if min(microbatches, steps, width) < 1 or spread < 0:
        refuse("microbatches, steps and width start at 1, spread at 0")
    if tokens < 4:
        refuse(f"{tokens} tokens are too few: take 4 or more")
    like, k = {"dtype": torch.float64, "device": device()}, microbatches
    model = torch.nn.Sequential(Layer(width, width, **like), Layer(width, width, **like))
    counts = [tokens + spread * (i % 3) for i in range(ranks() * k)]
    everybodys = [tuple(torch.randn(2, count, width, **like)) for count in counts]
    batches = everybodys[rank() * k : (rank() + 1) * k]
    batch, whole = joined(everybodys), joined(batches)
    truth = alone(model, batch)

    with saved_activations(model.parameters()) as saved:
        accumulate(model, batches, shares_of(batches))
        held = sum(weight.grad.nbytes for weight in model.parameters())
        total = ring_sum(take(model))
    with saved_activations(model.parameters()) as saved_whole:
        accumulate(model, [whole], shares_of([whole]))
        held_whole = sum(weight.grad.nbytes for weight in model.parameters())
        once = ring_sum(take(model))
    error = max(max_error(total, truth), max_error(once, truth))
    check("gradients equal one process", error, "<", 1e-12)
    longest = max(len(x) for x, _ in batches)
    live, live_whole = saved.peak_bytes, saved_whole.peak_bytes
    steps_down = {"micro-batches": (live, held), "all at once": (live_whole, held_whole)}
    parts = ("activations", "gradients")
    picture("staircase", "most that is alive at once", parts=parts, steps=steps_down, unit="bytes")
    check("one micro-batch is alive", live * len(whole[0]), "==", live_whole * longest)

    mistakes = mean_of_means, own_tokens, without_k
    means, local, unscaled = (gradient(model, batches, shares) for shares in mistakes)
    off = [((row - truth).norm() / truth.norm()).item() for row in (means, local)]
    owned = everyone(len(whole[0]))
    check("a mean of means needs equal parts", off[0] < 1e-9, "==", len({*counts}) == 1)
    apart = max_error(local, ring_sum(alone(model, whole)) / ranks())
    check("own tokens: a mean over ranks", apart, "<", 1e-12)
    check("own tokens need equal ranks", off[1] < 1e-9, "==", bool((owned == owned[0]).all()))

    def ratio(change):
        """Length of an update without 1/K over that with it."""
        return (change(unscaled).norm() / change(means).norm()).item()

    limit = 1.5 * means.norm().item()
    ratios = {
        "sgd_ratio": ratio(lambda row: RATE * row),
        "adam_ratio": ratio(first_step),
        "eps_ratio": ratio(lambda row: first_step(row, eps=means.square().mean().sqrt().item())),
        "clip_ratio": ratio(lambda row: row * min(1.0, limit / row.norm().item())),
    }
    check("without 1/K SGD goes K times as far", abs(ratios["sgd_ratio"] / k - 1), "<", 1e-12)
    check("without 1/K Adam starts the same", abs(ratios["adam_ratio"] - 1), "<", 1e-3)

    accumulate(model, batches * 2, shares_of(batches) * 2)
    leak = (ring_sum(take(model)).norm() / truth.norm()).item()
    check("without zero_grad gradients add up", abs(leak - 2), "<", 1e-12)

    def find(model):
        return gradient(model, batches)

    trained = train(model, lambda model: alone(model, batch), steps, RATE)
    gap = max_error(train(model, find, steps, RATE), trained)
    root_gap = max_error(train(model, find, steps, RATE * k**0.5), trained)
    check("the same learning rate trains alike", gap, "<", 1e-9)
    by_batch, by_layer = (normed(norm, batches, like) for norm in (BatchNorm1d, LayerNorm))
    check("LayerNorm does not see the batch", by_layer, "<", 1e-12)
    check("BatchNorm does", by_batch > 1e-6, "==", k > 1)
    bias, variance_2, variance_4 = draws(model, batch)
    check("accumulation has no bias", bias, "<", 1e-12)
    return {
        "all_tokens": shared(counted(len(batch[0]))),
        "grad_error": shared(compared(everyone(error).max().item())),
        "means_error": shared(compared(off[0])),
        "own_tokens_error": shared(compared(off[1])),
        **{name: shared(compared(value)) for name, value in ratios.items()},
        "leak_ratio": shared(compared(leak)),
        "trained_error": shared(compared(gap)),
        "root_rate_error": shared(compared(root_gap)),
        "batch_norm_error": compared(by_batch),
        "layer_norm_error": compared(by_layer),
        "live_bytes": counted(live),
        "live_bytes_whole": counted(live_whole),
        "grad_bytes": counted(held),
        "grad_bytes_whole": counted(held_whole),
        "bias": shared(compared(bias)),
        "variance_2": shared(compared(variance_2)),
        "variance_4": shared(compared(variance_4)),
    }


def mean_of_means(batches):
    """A mistake: each micro-batch's mean, over K and the ranks, however many its tokens."""
    return [1 / len(x) / len(batches) / ranks() for x, _ in batches]


def own_tokens(batches):
    """A mistake: this rank's tokens, and then the mean over ranks."""
    return [1 / sum(len(x) for x, _ in batches) / ranks() for _ in batches]


def without_k(batches):
    """A mistake: each micro-batch's mean, not divided by K."""
    return [1 / len(x) / ranks() for x, _ in batches]


def alone(model, batch):
    """The truth: one process, one batch, no .grad to leave anything in."""
    loss = loss_of(model, batch) / len(batch[0])
    return parameters_to_vector(torch.autograd.grad(loss, [*model.parameters()]))


def normed(norm, batches, like):
    """Largest difference of accumulated from whole, for a model with a norm."""
    width = batches[0][0].shape[1]
    model = torch.nn.Sequential(Layer(width, width, **like), norm(width, **like))
    accumulate(model, batches, [1 / sum(len(x) for x, _ in batches)] * len(batches))
    return max_error(take(model), alone(model, joined(batches)))


def draws(model, batch):
    """Every way to draw k tokens of 4: how far their mean is off on average, how it spreads."""
    tokens = [tuple(each[i : i + 1] for each in batch) for i in range(4)]
    rows = torch.stack([alone(model, token) for token in tokens])
    biases, spreads = [], []
    for k in (1, 2, 4):
        means = rows[torch.tensor([*product(range(4), repeat=k)])].mean(1)
        biases.append(max_error(means.mean(0), rows.mean(0)))
        spreads.append((means - rows.mean(0)).square().sum(1).mean().item())
    return max(biases), spreads[1] / spreads[0], spreads[2] / spreads[0]


BREAKS = {
    "mean-of-means": Break(
        old="return [1 / everybody for _ in counts]",
        new="return [1 / (len(counts) * ranks() * count) for count in counts]",
        expect="gradients equal one process",
        ranks=1,
        source="huggingface/transformers#34191: each micro-batch's mean loss over their number",
    ),
    "own-tokens": Break(
        old="everybody = everyone(own).sum().item()",
        new="everybody = own * ranks()",
        expect="gradients equal one process",
        ranks=2,
        source="tokens counted on this rank only, then averaged by DDP: wrong where ranks differ",
    ),
    "adds-up-losses": Break(
        old="    for batch, share in zip(batches, shares, strict=True):\n"
        "        loss = loss_of(model, batch) * share\n"
        "        loss.backward()\n",
        new="    loss = 0.0\n"
        "    for batch, share in zip(batches, shares, strict=True):\n"
        "        loss = loss + loss_of(model, batch) * share\n"
        "    loss.backward()\n",
        expect="one micro-batch is alive",
        ranks=1,
        source="losses are summed and backward is called once: right gradient, every graph kept",
    ),
    "no-zero-grad": Break(
        old="    model.zero_grad()\n",
        new="",
        expect="the same learning rate trains alike",
        ranks=1,
        source="zero_grad forgotten: .grad carries every gradient since the start",
    ),
}

if __name__ == "__main__":
    run(__file__)
