"""A column-parallel product and a row-parallel one cost one all-reduce forward and one backward.

The trick
    Cut the up-projection by its outputs, and each rank's slice of the hidden layer is complete:
    gelu may act on it. Cut the down-projection by its inputs, and that slice is what it takes;
    its outputs are shares, which g adds up. All ranks read the same x, so each has only a share
    of x's gradient: f, idle forward, adds them up backward. g is idle backward, for the gradient
    that comes to it is the same on all ranks. Gradients of weight slices are never added up.

Watch
    f_forward_sums (collectives, forward)   all-reduces that f, before up, ran: none
    f_backward_sums (collectives, backward)  all-reduces that f, before up, ran: one a block and
                                            micro-batch
    g_forward_sums (collectives, forward)   all-reduces that g, after down, ran: one a block and
                                            micro-batch
    g_backward_sums (collectives, backward)  all-reduces that g, after down, ran: none
    sent_forward (bytes, forward)           sent by each rank, all blocks: 2(t-1)/t of tokens x
                                            hidden for one
    sent_backward (bytes, backward)         sent by each rank, all blocks, as many as forward
    elements_cut (elements)                 weights a rank holds a slice of: up, its bias, and down,
                                            all blocks
    elements_whole (elements)               weights every rank holds whole: the norms, and down's
                                            bias, all blocks
    output_error (difference, forward)      largest one of the output from one process
    grad_error (shared, difference)         largest one of any gradient from one process
    grad_scale_first (ratio, backward)      length of the gradient of the first block's up over the
                                            right length
    grad_scale_last (ratio, backward)       length of the gradient of the last block's up over the
                                            right length
    norm_spread (shared, difference, backward)  among the ranks' gradients of the first norm's scale
    bias_times (ratio, forward)             what a row-parallel product of zeros gives, over its
                                            bias
    column_dim (shared, index)              dimension of a weight that torch cuts for
                                            ColwiseParallel
    row_dim (shared, index)                 dimension of a weight that torch cuts for
                                            RowwiseParallel

Run
    quizkit demo tensor-parallel --gpus 4
    python demos/tensor_parallel.py --ranks 4 --blocks 3
    torchrun --nproc-per-node 4 demos/tensor_parallel.py
"""

from collections import Counter

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, device, everyone, max_error, rank, ranks, ring_sum, wire

import torch
from torch.nn.functional import gelu, layer_norm, linear

TOPIC = "tp"

# torch keeps a weight as [outputs, inputs]: the columns of x @ W are its dimension 0.
CUTS = {"up": 0, "up_bias": 0, "down": 1}

OPERATORS = ("f_forward", "f_backward", "g_forward", "g_backward")
tally = Counter()  # which of them ran an all-reduce, and how often


def all_sum(part, who):
    """A ring all-reduce: a chunk is added up on its way round, then handed on to all."""
    tally[who] += 1
    return ring_sum(part)


class Enter(torch.autograd.Function):
    """f: a copy for every rank, so the gradient is the sum of what all made of theirs."""

    @staticmethod
    def forward(ctx, x):
        """All ranks have x already."""
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        """This rank's outputs have told only their share of what x should change."""
        return all_sum(gradient, "f_backward")


class Leave(torch.autograd.Function):
    """g: a sum for every rank, so the gradient of each share is the gradient of the sum."""

    @staticmethod
    def forward(ctx, share):
        """This rank's inputs have given only their share of the output."""
        return all_sum(share, "g_forward")

    @staticmethod
    def backward(ctx, gradient):
        """All ranks have it already: whatever follows g is the same on all of them."""
        return gradient


f, g = Enter.apply, Leave.apply


def column(x, weight, bias):
    """Column-parallel: whole inputs, a slice of the outputs, complete in every entry."""
    return linear(f(x), weight, bias)


def row(x, weight, bias):
    """Row-parallel: a slice of the inputs, whole outputs. The bias goes in once, after the sum."""
    return g(linear(x, weight)) + bias


def parallel(x, norm, norm_bias, up, up_bias, down, down_bias):
    """A block cut over the ranks. What stands before f and after g is the same on all of them."""
    x = layer_norm(x, x.shape[-1:], norm, norm_bias)
    return row(gelu(column(x, up, up_bias)), down, down_bias)


def stack(block, x, weights):
    """Blocks one upon the other."""
    for own in weights:
        x = block(x, **own)
    return x


def slices(block):
    """What this rank holds of a block: a slice of what is cut, and the rest whole."""
    t, me = ranks(), rank()
    return {k: w.chunk(t, CUTS[k])[me] if k in CUTS else w for k, w in block.items()}


def leaves(block):
    """Fresh weights for gradients to gather in."""
    return {name: weight.detach().clone().requires_grad_() for name, weight in block.items()}


def gradients(block):
    """What a backward has left."""
    return {name: weight.grad for name, weight in block.items()}


def main(
    blocks: int = 2,  # MLP blocks, one upon the other
    tokens: int = 24,  # tokens of a step in all, the same on every rank
    hidden: int = 16,  # width outside a block, whole on every rank
    wide: int = 48,  # width between up and down in all; the ranks share it evenly
    microbatches: int = 1,  # micro-batches that the tokens are split into, evenly
) -> Metrics:
    """Blocks cut over the ranks, against one process and against torch."""
    t = ranks()
    if min(blocks, tokens, wide, microbatches) < 1 or hidden < 2:
        refuse("blocks, tokens, wide and microbatches start at 1, hidden at 2")
    if wide % t or tokens % microbatches:
        fit, more = -(-wide // t) * t, -(-tokens // microbatches) * microbatches
        refuse(
            f"{t} ranks share wide, and micro-batches the tokens, evenly: "
            f"take wide {fit} and tokens {more}"
        )

    like = {"dtype": torch.float64, "device": device()}
    shapes = {"norm": (hidden,), "norm_bias": (hidden,), "up": (wide, hidden), "up_bias": (wide,)}
    shapes |= {"down": (hidden, wide), "down_bias": (hidden,)}
    # All ranks draw the same master weights and keep their slices: drawing slices with one seed
    # would make them copies of each other.
    master = [
        {name: torch.randn(shape, **like) / shape[-1] ** 0.5 for name, shape in shapes.items()}
        for _ in range(blocks)
    ]

    x = leaves({"x": torch.randn(tokens, hidden, **like)})
    towards = torch.randn(tokens, hidden, **like)

    whole = [leaves(block) for block in master]
    one = stack(dense, x["x"], whole)
    (one * towards).sum().backward()
    right = [slices(gradients(block)) for block in (*whole, x)]

    own, x = [leaves(slices(block)) for block in master], leaves(x)
    y, sent_forward, sent_backward = [], 0, 0
    tally.clear()
    for part, wanted in zip(x["x"].chunk(microbatches), towards.chunk(microbatches), strict=True):
        with wire() as ahead:
            y.append(stack(parallel, part, own))
        with wire() as back:
            (y[-1] * wanted).sum().backward()
        sent_forward += ahead.sent_bytes
        sent_backward += back.sent_bytes
    sums = {f"{who}_sums": tally[who] for who in OPERATORS}
    got, y = [gradients(block) for block in (*own, x)], torch.cat(y)
    y_torch, grads_torch, (column_dim, row_dim) = torch_parallel(master, x["x"], towards)

    y_error, grad_error = max_error(y, one), apart(got, right)
    check("output equals one process", y_error, "<", 1e-12)
    check("output equals torch's", max_error(y.to(y_torch.device), y_torch), "<", 1e-12)
    check("gradients equal one process", grad_error, "<", 1e-12)
    check("gradients equal torch's", apart(got[:-1], grads_torch), "<", 1e-12)
    for way in ("forward", "backward"):
        count = sums[f"f_{way}_sums"] + sums[f"g_{way}_sums"]
        check(f"one all-reduce a block {way}", count, "==", blocks * microbatches)
    every_byte = everyone(sent_forward + sent_backward).sum().item()
    law = 2 * blocks * 2 * (t - 1) * towards.nbytes
    check("an all-reduce sends 2(t-1)/t of tokens x hidden", every_byte, "==", law)

    # Zeros in leave the bias alone, as often as it is added.
    down, bias = own[-1]["down"].detach(), own[-1]["down_bias"].detach()
    alone = row(torch.zeros(1, wide // t, **like), down, bias)
    norms = torch.stack(all_gather(got[0]["norm"]))  # pyright: ignore
    scale = [(got[i]["up"].norm() / right[i]["up"].norm()).item() for i in (0, blocks - 1)]
    held = {name: blocks * weight.numel() for name, weight in own[0].items()}
    return {name: counted(count) for name, count in sums.items()} | {
        "sent_forward": counted(sent_forward),
        "sent_backward": counted(sent_backward),
        "elements_cut": counted(sum(held[name] for name in CUTS)),
        "elements_whole": counted(sum(held[name] for name in held.keys() - CUTS)),
        "output_error": compared(y_error),
        "grad_error": shared(compared(everyone(grad_error).max())),
        "grad_scale_first": compared(scale[0]),
        "grad_scale_last": compared(scale[1]),
        "norm_spread": shared(compared((norms.amax(0) - norms.amin(0)).max())),
        "bias_times": compared((alone / bias).mean()),
        "column_dim": shared(counted(column_dim)),
        "row_dim": shared(counted(row_dim)),
    }


def dense(x, norm, norm_bias, up, up_bias, down, down_bias):
    """The same block in one process."""
    x = layer_norm(x, x.shape[-1:], norm, norm_bias)
    return linear(gelu(linear(x, up, up_bias)), down, down_bias)


def apart(ours, theirs):
    """The largest difference between gradients of the same blocks."""
    pairs = [(a[name], b[name]) for a, b in zip(ours, theirs, strict=True) for name in a]
    # Of several numbers, torch's largest is NaN if one of them is.
    return torch.tensor([max_error(a, b.to(a.device)) for a, b in pairs]).max().item()


def torch_parallel(master, x, towards):
    """What torch's own tensor parallelism makes of it, and which dimensions it cuts."""
    from torch import _dynamo  # noqa: F401  # DTensor wants it: once, before the fork
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor import parallel as tp

    # torch's collectives take a tensor from where it lies, and gloo wants it in host memory.
    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    like = {"dtype": torch.float64, "device": place}
    layers, plan, (wide, hidden) = [], {}, master[0]["up"].shape
    for i in range(0, 4 * len(master), 4):
        plan |= {f"{i + 1}": tp.ColwiseParallel(), f"{i + 3}": tp.RowwiseParallel()}
        layers += [torch.nn.LayerNorm(hidden, **like), torch.nn.Linear(hidden, wide, **like)]
        layers += [torch.nn.GELU(), torch.nn.Linear(wide, hidden, **like)]
    model = torch.nn.Sequential(*layers)
    values = torch.cat([weight.flatten() for block in master for weight in block.values()])
    torch.nn.utils.vector_to_parameters(values.to(place), model.parameters())
    tp.parallelize_module(model, init_device_mesh(place.type, (ranks(),)), plan)
    y = model(x.detach().to(place))
    (y * towards.to(place)).sum().backward()
    grads = [weight.grad for weight in model.parameters()]
    local = [grad.to_local() if isinstance(grad, DTensor) else grad for grad in grads]
    grads = [dict(zip(master[0], local[i : i + 6], strict=True)) for i in range(0, len(local), 6)]
    dims = [layer.weight.placements[0].dim for layer in (layers[1], layers[3])]
    return y.detach(), grads, dims


BREAKS = {
    "no-f": Break(
        old="linear(f(x), weight, bias)",
        new="linear(x, weight, bias)",
        expect="gradients equal one process",
        ranks=2,
        source="hand-written column-parallel layers: the output is right, so nobody looks further",
    ),
    "no-g": Break(
        old="return g(linear(x, weight)) + bias",
        new="return linear(x, weight) + bias",
        expect="output equals one process",
        ranks=2,
        source="hand-written row-parallel layers that return their own share of the output",
    ),
    "g-sums-backward": Break(
        old="        return gradient\n",
        new='        return all_sum(gradient, "g_backward")\n',
        expect="gradients equal one process",
        ranks=2,
        source="torch.distributed.nn.functional.all_reduce, whose backward is an all-reduce too",
    ),
    "bias-before-the-sum": Break(
        old="return g(linear(x, weight)) + bias",
        new="return g(linear(x, weight, bias))",
        expect="output equals one process",
        ranks=2,
        source="a Linear with its bias left on, wrapped for row parallelism: t biases are added up",
    ),
}

if __name__ == "__main__":
    run(__file__)
