"""What all ranks hold is drawn from one stream; what each holds alone, from a stream of its own.

The trick
    Two streams of random numbers on each rank: one seeded alike everywhere, one seeded with the
    rank. Under plain tensor parallelism the dropout of the residual acts on a tensor that all
    ranks hold: other masks there, and the copies drift apart. Attention weights are cut by
    heads, the hidden layer by columns, and with sequence parallelism the residual by tokens:
    there the same mask would drop the same places in every slice. Weights are drawn likewise:
    slices from one seed are copies of each other, and the matrix has the rank of one of them.
    A recomputed forward needs both streams where the first one found them.

Watch
    residual_masks (shared, count, forward)  different masks among the ranks, residual under plain
                                            TP: one
    heads_masks (shared, count, forward)    different masks among the ranks, attention weights: one
                                            a rank
    hidden_masks (shared, count, forward)   different masks among the ranks, MLP's hidden layer: one
                                            a rank
    tokens_masks (shared, count, forward)   different masks among the ranks, residual cut by tokens:
                                            one a rank
    hidden_correlation (shared, value, forward)  largest correlation of two ranks' hidden masks
    replica_drift (shared, difference, forward)  among the ranks' outputs, which should be copies
    bias_spread (shared, difference, backward)  among the ranks' gradients of a bias that all hold
    out_error (shared, difference)          outputs, from one process with all ranks' dice
    grad_error (shared, difference)         gradients, from one process with all ranks' dice
    recompute_error (difference, backward)  gradients, when the block is recomputed
    init_rank (shared, count)               matrix rank of a weight put together from all ranks'
                                            slices
    init_scale (shared, ratio)              spread of a row-parallel weight over that for its full
                                            fan-in

Run
    quizkit demo tp-random --gpus 4
    python demos/tp_random.py --ranks 4 --rate 0.5
    torchrun --nproc-per-node 4 demos/tp_random.py
"""

from functools import partial
from math import prod

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, max_error, rank, ranks

import torch
from torch.nn.functional import gelu, linear

TOPIC = "tp"

# Which stream a place draws its dropout from.
STREAM = {"residual": "same", "heads": "own", "hidden": "own", "tokens": "own"}

APART = 1000  # keeps the ranks' own seeds clear of the common one
SEEDS = range(2**32)


class Dice:
    """The two streams of one rank."""

    def __init__(self, seed, who):
        self.same = torch.Generator().manual_seed(seed)
        self.own = torch.Generator().manual_seed(seed + APART + who)

    def throw(self, place, shape, rate):
        """Which entries are kept, and by how much they grow to make up for the others."""
        stream = getattr(self, STREAM[place])
        keep = torch.rand(shape, generator=stream, dtype=torch.float64) >= rate
        return keep.to(device()) / (1 - rate)

    def states(self):
        """Where both streams are."""
        return self.same.get_state(), self.own.get_state()

    def restore(self, states):
        """Put both streams back."""
        self.same.set_state(states[0])
        self.own.set_state(states[1])


class Enter(torch.autograd.Function):
    """f: nothing forward, a sum of the ranks' shares backward."""

    @staticmethod
    def forward(ctx, x):
        """All ranks have it."""
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        """Each has a share."""
        return all_reduce(gradient.clone())


class Leave(torch.autograd.Function):
    """g: a sum of the ranks' shares forward, nothing backward."""

    @staticmethod
    def forward(ctx, share):
        """Each has a share."""
        return all_reduce(share.clone())

    @staticmethod
    def backward(ctx, gradient):
        """All ranks have it."""
        return gradient


def block(x, up, down, bias, dice, rate):
    """An MLP cut over the ranks, with dropout in its hidden layer and before the residual."""
    hidden = gelu(linear(Enter.apply(x), up))
    hidden = hidden * dice.throw("hidden", hidden.shape, rate)
    y = Leave.apply(linear(hidden, down)) + bias
    return x + y * dice.throw("residual", y.shape, rate)


class Recompute(torch.autograd.Function):
    """Keep the inputs alone, and run the block again when its gradient is wanted."""

    @staticmethod
    def forward(ctx, run_block, dice, *inputs):
        """Remember where the dice were."""
        ctx.run_block, ctx.dice, ctx.states = run_block, dice, dice.states()
        ctx.save_for_backward(*inputs)
        return run_block(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        """The same dice again; and whoever throws next goes on from where they are now."""
        now = ctx.dice.states()
        ctx.dice.restore(ctx.states)
        inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        with torch.enable_grad():
            (ctx.run_block(*inputs) * gradient).sum().backward()
        ctx.dice.restore(now)
        return None, None, *[x.grad for x in inputs]


def draw(dice, hidden, wide):
    """Weights: slices from this rank's stream, what all ranks hold from the common one."""
    like = {"dtype": torch.float64, "generator": dice.own}
    part = wide // ranks()
    up = torch.randn(part, hidden, **like) / hidden**0.5
    # An output adds up `wide` products, of which this rank has only some.
    down = torch.randn(hidden, part, **like) / wide**0.5
    bias = torch.randn(hidden, dtype=torch.float64, generator=dice.same)
    return [weight.to(device()) for weight in (up, down, bias)]


def main(
    tokens: int = 24,  # tokens in all; where they are cut, the ranks share them evenly
    hidden: int = 48,  # width of the residual
    wide: int = 48,  # width of the MLP's hidden layer in all; the ranks share it evenly
    heads: int = 24,  # attention heads in all; the ranks share them evenly
    rate: float = 0.1,  # dropout probability, above 0 and below 1
    seed: int = 0,  # seed of the common stream; a rank's own adds 1000 and its number
) -> Metrics:
    """Masks of each place; a block with its gradients, kept and recomputed; the weights drawn."""
    t = ranks()
    sizes = {"tokens": tokens, "wide": wide, "heads": heads}
    if min(*sizes.values(), hidden) < 1 or not 0 < rate < 1 or seed not in SEEDS:
        refuse("sizes start at 1, the rate is between 0 and 1 (say, 0.1), seed from 0 below 2**32")
    if any(size % t for size in sizes.values()):
        fit = ", ".join(f"{name} {-(-size // t) * t}" for name, size in sizes.items())
        refuse(f"{t} ranks share tokens, wide and heads evenly: take {fit}")

    shapes = {"residual": (tokens, hidden), "heads": (heads // t, tokens, tokens)}
    shapes |= {"hidden": (tokens, wide // t), "tokens": (tokens // t, hidden)}
    smallest = min(prod(shape) for shape in shapes.values())
    if (rate**2 + (1 - rate) ** 2) ** smallest > 1e-6:
        refuse(
            f"{smallest} entries may drop alike by chance: "
            f"take a rate of 0.1, and tokens {24 * t}, hidden 3, wide {3 * t} or more"
        )
    dice, masks, different = Dice(seed, rank()), {}, {}
    for place, shape in shapes.items():
        masks[place] = torch.stack(all_gather(dice.throw(place, shape, rate))).flatten(1)
        different[place] = len(masks[place].unique(dim=0))
    check("what all ranks hold drops alike", different["residual"], "==", 1)
    for place in ("heads", "hidden", "tokens"):
        check(f"slices drop apart: {place}", different[place], "==", t)
    together = torch.corrcoef(masks["hidden"]).reshape(t, t).fill_diagonal_(0)

    x, towards = torch.randn(2, tokens, hidden, dtype=torch.float64, device=device())
    everybody = [Dice(seed, who) for who in range(t)]
    y_one, right = one_process(x, towards, everybody, wide, rate)
    right = dict(zip(("x", "up", "down", "bias"), right, strict=True))
    right |= {"up": right["up"].chunk(t)[rank()], "down": right["down"].chunk(t, 1)[rank()]}

    outputs, gradients = {}, {}
    for way in ("kept", "recomputed"):
        dice = Dice(seed, rank())
        leaves = [x.clone(), *draw(dice, hidden, wide)]
        leaves = [leaf.requires_grad_() for leaf in leaves]
        own = partial(block, dice=dice, rate=rate)
        y = own(*leaves) if way == "kept" else Recompute.apply(own, dice, *leaves)
        outputs[way] = y.detach()
        gradients[way] = torch.autograd.grad((y * towards).sum(), leaves)
    kept = dict(zip(right, gradients["kept"], strict=True))
    out_error = max_error(outputs["kept"], y_one)
    errors = [max_error(kept[name], right[name]) for name in right]
    pairs = zip(gradients["recomputed"], gradients["kept"], strict=True)
    again = max(max_error(ours, first) for ours, first in pairs)
    check("output equals one process", out_error, "<", 1e-12)
    check("gradients equal one process", max(errors), "<", 1e-12)
    check("a recomputed block has the same gradients", again, "<", 1e-12)

    def spread(tensor):
        copies = torch.stack(all_gather(tensor))
        return (copies.amax(0) - copies.amin(0)).max().item()

    up = torch.cat(all_gather(leaves[1]))
    down = torch.cat(all_gather(leaves[2]), 1)
    drift, bias_spread = spread(outputs["kept"]), spread(kept["bias"])
    init_rank = int(torch.linalg.matrix_rank(up))
    init_scale = down.std().item() * wide**0.5
    check("replicas stay replicas", max(drift, bias_spread), "==", 0)
    check("slices are drawn apart", init_rank, "==", min(hidden, wide))
    # The spread of n normal draws is off by 1 in the square root of 2n.
    close = 5 / (2 * down.numel()) ** 0.5
    check("slices are scaled for all inputs", abs(init_scale - 1), "<", close)
    return {f"{place}_masks": shared(counted(count)) for place, count in different.items()} | {
        "hidden_correlation": shared(compared(together.abs().max())),
        "replica_drift": shared(compared(drift)),
        "bias_spread": shared(compared(bias_spread)),
        "out_error": shared(compared(everyone(out_error).max())),
        "grad_error": shared(compared(everyone(max(errors)).max())),
        "recompute_error": compared(again),
        "init_rank": shared(counted(init_rank)),
        "init_scale": shared(compared(init_scale)),
    }


def one_process(x, towards, dice, wide, rate):
    """The same block in one place, throwing the dice of all ranks: its output and gradients."""
    ups, downs, biases = zip(*[draw(each, x.shape[1], wide) for each in dice], strict=True)
    leaves = [x, torch.cat(ups), torch.cat(downs, 1), biases[0]]
    x, up, down, bias = leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    inner, part = gelu(linear(x, up)), (len(x), wide // ranks())
    inner = inner * torch.cat([each.throw("hidden", part, rate) for each in dice], -1)
    y = x + linear(inner, down, bias) * dice[0].throw("residual", x.shape, rate)
    gradients = torch.autograd.grad((y * towards).sum(), leaves)
    return y.detach(), gradients


BREAKS = {
    "one-seed-for-all": Break(
        old="manual_seed(seed + APART + who)",
        new="manual_seed(seed + APART)",
        expect="slices drop apart: hidden",
        ranks=2,
        source="torch.manual_seed(seed) on every rank, which data parallelism's start-up wants",
    ),
    "a-seed-for-each": Break(
        old="self.same = torch.Generator().manual_seed(seed)",
        new="self.same = torch.Generator().manual_seed(seed + who)",
        expect="replicas stay replicas",
        ranks=2,
        source="torch.manual_seed(seed + rank) on every rank, as data loaders like it",
    ),
    "one-stream-restored": Break(
        old="        ctx.dice.restore(ctx.states)",
        new="        ctx.dice.same.set_state(ctx.states[0])",
        expect="a recomputed block has the same gradients",
        ranks=1,
        source="torch.utils.checkpoint puts back the default generators and knows of no others",
    ),
    "scaled-by-the-slice": Break(
        old="torch.randn(hidden, part, **like) / wide**0.5",
        new="torch.randn(hidden, part, **like) / part**0.5",
        expect="slices are scaled for all inputs",
        ranks=2,
        source="torch.nn.init on the local shard: its fan-in is that of one rank",
    ),
}

if __name__ == "__main__":
    run(__file__)
