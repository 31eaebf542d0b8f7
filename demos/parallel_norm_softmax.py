"""A norm or softmax over an axis cut t ways needs sums from all ranks, and their gradients too.

The trick
    A function that bends may be applied to complete values only. Where it works number by number
    (GELU) or channel by channel (batch norm), a shard of features is complete. Layer norm and
    softmax look at a whole row: each rank sums its part, an all-reduce makes it the row's. Mean of
    the shards' variances is not the variance: what lies between the shards' means is missing.
    Backwards the sum has a gradient on every rank. If each made its own shard of the result of
    it, these are parts, to be all-reduced; if all made the same loss of it, they are the whole.
    --spread: how far the mean of a shard lies from the next one's.

Watch
    layer_norm_off (shared, ratio, forward)  layer norm's gap from one process, over the length
    layer_norm_grad_off (shared, ratio, backward)  gap of the gradient of layer norm's input, over
                                            the length
    layer_norm_weight_off (shared, ratio, backward)  gaps of layer norm's weight and bias gradients,
                                            each over its length, added
    rms_norm_off (shared, ratio, forward)   RMS norm's gap from one process, over the length
    rms_norm_grad_off (shared, ratio, backward)  gaps of RMS norm's input and weight gradients, each
                                            over its length, added
    softmax_off (shared, ratio, forward)    softmax's gap from one process, over the length
    softmax_grad_off (shared, ratio, backward)  gap of softmax's gradient, over the length
    softmax_handed_on_off (shared, ratio, backward)  gap of softmax's gradient, over the length,
                                            were the gradient of its sum handed on as it is
    loss_off (shared, ratio, forward)       gap of log-sum-exp, a loss that every rank has whole,
                                            over the length
    loss_grad_off (shared, ratio, backward)  gap of log-sum-exp's gradient, over the length
    loss_reduced_off (shared, ratio, backward)  gap of log-sum-exp's gradient, over the length, were
                                            the gradient of its sum all-reduced
    loss_reduced_scale (shared, ratio, backward)  length of log-sum-exp's gradient over the right
                                            one, were the gradient of its sum all-reduced
    variance (shared, value, forward)       of the first row, put together from its shards
    variance_within (shared, value, forward)  mean of the variances of the first row's shards
    batch_norm_off (shared, ratio, both)    gaps of batch norm cut by channels and of its gradient,
                                            added
    batch_norm_rows_off (shared, ratio, forward)  gap of batch norm cut by rows, over the length
    layer_norm_rows_off (shared, ratio, both)  gaps of layer norm cut by rows and of its input's
                                            gradient, added
    weight_rows_off (shared, ratio, backward)  gap of layer norm's weight gradient by rows, not
                                            summed
    gelu_off (shared, ratio, both)          gaps of GELU behind a column cut and of its gradient,
                                            added
    gelu_partial_off (shared, ratio, forward)  gap of the sum of GELUs of partial products
    norm_collectives (collectives, forward)  in a layer norm
    softmax_collectives (collectives, forward)  in a softmax
    local_collectives (collectives, forward)  channel batch norm, GELU and row layer norm together

Run
    quizkit demo parallel-norm-softmax --gpus 4
    python demos/parallel_norm_softmax.py --ranks 2 --spread 0
    torchrun --nproc-per-node 4 demos/parallel_norm_softmax.py
"""

from functools import partial
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, rank, ranks, wire

import torch
from torch.autograd import grad
from torch.nn import functional

TOPIC = "tp"

EPS = 1e-5


def row_moments(x):
    """Mean and variance of rows whose shards are equally long."""
    mean = row_sum(x.mean(-1)) / ranks()
    within, between = x.var(-1, correction=0), (x.mean(-1) - mean).square()
    return mean, row_sum(within + between) / ranks()


def layer_norm(x, weight, bias):
    """Weight and bias are cut like x: what a rank has of them is its own."""
    mean, variance = row_moments(x)
    return (x - mean[:, None]) / torch.sqrt(variance + EPS)[:, None] * weight + bias


def rms_norm(x, weight):
    """One sum instead of two."""
    square = row_sum(x.square().mean(-1)) / ranks()
    return x / torch.sqrt(square + EPS)[:, None] * weight


def softmax(z, back="all-reduce"):
    """Each rank gets the probabilities of its own shard."""
    powers = torch.exp(z - row_max(z)[:, None])
    return powers / row_sum(powers.sum(-1), back)[:, None]


def log_sum_exp(z, back="identity"):
    """Here the row's sum becomes one loss, which every rank has whole."""
    largest = row_max(z)
    powers = torch.exp(z - largest[:, None])
    return torch.log(row_sum(powers.sum(-1), back)) + largest


def row_sum(part, back="all-reduce"):
    """The sum over all shards, from which each rank goes on to make its own shard of the result."""
    return Sum.apply(part, back)


def row_max(part):
    """The largest of all shards. Softmax is the same whatever is subtracted: no gradient."""
    return torch.stack(all_gather(part.amax(-1))).amax(0)


class Sum(torch.autograd.Function):
    """An all-reduce that autograd knows of."""

    @staticmethod
    def forward(ctx, part, back):
        """Every rank's part, added up."""
        ctx.back = back
        return all_reduce(part.clone())

    @staticmethod
    def backward(ctx, gradient):
        """A part counts in whatever any rank made of the sum; is that the same, it counts once."""
        return all_reduce(gradient.clone()) if ctx.back == "all-reduce" else gradient, None


def mine(whole):
    """This rank's shard of the last axis, be it a row's or a weight's."""
    return whole.chunk(ranks(), -1)[rank()]


def my_columns(whole):
    """The same of a matrix; what there is one of for each row stays whole."""
    return mine(whole) if whole.dim() == 2 else whole


def my_rows(whole):
    """This rank's rows of a matrix; weights stay whole."""
    return whole.tensor_split(ranks())[rank()] if whole.dim() == 2 else whole


def main(
    hidden: int = 48,  # features of a row in all; the ranks share them evenly
    rows: int = 16,  # rows: tokens to layer norm and softmax, samples to batch norm
    spread: float = 3.0,  # distance of a shard's mean from the next one's; inside, deviation is 1
) -> Metrics:
    """Every function on shards, and torch's on the whole."""
    n = ranks()
    if hidden % n or hidden < 2 * n or rows < 2 * n or not abs(spread) <= 100:
        fit = max(2, -(-hidden // n)) * n
        refuse(
            f"{n} ranks have equal shares of hidden, 2 or more of it and of rows: "
            f"take hidden {fit}, rows from {2 * n}, spread up to 100"
        )

    x = draw(rows, hidden, spread)
    like = {"dtype": torch.float64, "device": device()}
    z, towards = (torch.randn(rows, hidden, **like) for _ in range(2))
    weight, bias, per_row = (torch.randn(size, **like) for size in (hidden, hidden, rows))
    matrix = torch.randn(hidden, hidden, **like) / hidden**0.5

    def torch_norm(x, weight, bias):
        return functional.layer_norm(x, x.shape[-1:], weight, bias, EPS)

    def torch_rms(x, weight):
        return functional.rms_norm(x, x.shape[-1:], weight, EPS)

    def batch_norm(x):
        return functional.batch_norm(x, None, None, training=True)

    def gelu_product(matrix):
        return functional.gelu(z @ matrix)

    soft, lse = partial(torch.softmax, dim=-1), partial(torch.logsumexp, dim=-1)
    norm = hold(layer_norm, torch_norm, towards, x, weight, bias)
    rms = hold(rms_norm, torch_rms, towards, x, weight)
    shares = hold(softmax, soft, towards, z)
    loss = hold(log_sum_exp, lse, per_row, z, cut=my_columns)
    channels = hold(batch_norm, batch_norm, towards, x)
    columns = hold(gelu_product, gelu_product, towards, matrix)
    by_rows = hold(torch_norm, torch_norm, towards, x, weight, bias, cut=my_rows)
    right = {
        "layer_norm": norm.out,
        "layer_norm_grad": norm.grads[0],
        "layer_norm_weight": norm.grads[1] + norm.grads[2],
        "rms_norm": rms.out,
        "rms_norm_grad": sum(rms.grads),
        "softmax": shares.out,
        "softmax_grad": shares.grads[0],
        "loss": loss.out,
        "loss_grad": loss.grads[0],
        "batch_norm": channels.out + channels.grads[0],
        "gelu": columns.out + columns.grads[0],
        "layer_norm_rows": by_rows.out + by_rows.grads[0],
    }
    for name, gap in right.items():
        check(f"{name.replace('_', ' ')} as on one", gap, "<", 1e-12)
    local = channels.asked + columns.asked + by_rows.asked
    check("complete values need no message", local, "==", 0)

    # And what is not right, to see how far it is off.
    handed_on = hold(partial(softmax, back="identity"), soft, towards, z)
    reduced = hold(partial(log_sum_exp, back="all-reduce"), lse, per_row, z, cut=my_columns)
    batch_rows = hold(batch_norm, batch_norm, towards, x, cut=my_rows)
    partial_products = functional.gelu(mine(z) @ matrix.chunk(n)[rank()])
    wrong = {
        "softmax_handed_on": handed_on.grads[0],
        "loss_reduced": reduced.grads[0],
        "batch_norm_rows": batch_rows.out,
        "weight_rows": by_rows.grads[1],
        "gelu_partial": off(all_reduce(partial_products), gelu_product(matrix)),
    }
    within = everyone(mine(x)[0].var(correction=0).item()).mean().item()
    return {f"{name}_off": shared(compared(gap)) for name, gap in (right | wrong).items()} | {
        "loss_reduced_scale": shared(compared(reduced.scale)),
        "variance": shared(compared(row_moments(mine(x))[1][0].item())),
        "variance_within": shared(compared(within)),
        "norm_collectives": counted(norm.asked),
        "softmax_collectives": counted(shares.asked),
        "local_collectives": counted(local),
    }


def length(part):
    """Of all ranks' parts as one vector."""
    return all_reduce(part.detach().square().sum()).sqrt().item()


def off(ours, truth):
    """How far this is from the truth on all ranks together, as a share of the truth's length."""
    return length(ours - truth) / length(truth)


def with_grads(function, towards, leaves):
    """What a function makes, the gradients of its inputs, and how often it had to ask."""
    leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    with wire() as forward:
        out = function(*leaves)
    return out, grad((out * towards).sum(), leaves), forward.collectives


def hold(ours, theirs, towards, *leaves, cut=mine):
    """A function on shards against one on the whole: gaps of the result and of each gradient."""
    out, grads, collectives = with_grads(ours, cut(towards), [cut(leaf) for leaf in leaves])
    right, right_grads, _ = with_grads(theirs, towards, leaves)
    own = [cut(whole) for whole in right_grads]
    gaps = [off(gradient, whole) for gradient, whole in zip(grads, own, strict=True)]
    scale = length(grads[0]) / length(own[0])
    return SimpleNamespace(out=off(out, cut(right)), grads=gaps, scale=scale, asked=collectives)


def draw(rows, hidden, spread):
    """Rows whose shards have variance 1 and means that lie apart: their variance is then known."""
    shards = torch.randn(ranks(), rows, hidden // ranks()).double()
    shards -= shards.mean(-1, keepdim=True)
    shards /= shards.var(-1, correction=0, keepdim=True).sqrt()
    shards += spread * torch.arange(ranks())[:, None, None]
    return torch.cat([*shards], -1).to(device())


BREAKS = {
    "averaged-variances": Break(
        old="row_sum(within + between)",
        new="row_sum(within)",
        expect="layer norm as on one",
        ranks=2,
        source="the obvious filling where code says only sync: average what every rank has",
    ),
    "unseen-all-reduce": Break(
        old="return Sum.apply(part, back)",
        new="return all_reduce(part.clone())",
        expect="layer norm grad as on one",
        ranks=2,
        source="torch.distributed.all_reduce in a forward: to autograd it is no operation at all",
    ),
    "reduced-again": Break(
        old='def log_sum_exp(z, back="identity")',
        new='def log_sum_exp(z, back="all-reduce")',
        expect="loss grad as on one",
        ranks=2,
        source="torch.distributed.nn.functional.all_reduce, whose backward is another all-reduce",
    ),
    "local-max": Break(
        old="torch.stack(all_gather(part.amax(-1))).amax(0)",
        new="part.amax(-1)",
        expect="softmax as on one",
        ranks=2,
        source="safe softmax as on one process, and only its sum made parallel",
    ),
}

if __name__ == "__main__":
    run(__file__)
