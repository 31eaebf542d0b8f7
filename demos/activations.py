"""A transformer layer keeps sbh(34 + 5as/h) bytes for its backward; TP alone divides 24 of the 34.

The trick
    Count what autograd saves: 2 bytes a number, 1 a dropout mask (s tokens, batch b, width h, a
    heads, t ranks; no causal mask). Tensor parallelism shares out heads and MLP, but norms, their
    outputs and residual dropouts are whole on every rank: sbh(10 + 24/t + 5as/(ht)). Sequence
    parallelism cuts just those along the tokens: all of it over t. The all-reduce falls into its
    two halves at equal bytes; yet as only a shard of a gathered input is kept, the backward
    gathers it once more for the weights' gradients: 10(t-1)/t of 2sbh a layer where tp sends 8.
    Recomputing the attention core (selective) drops the term in s^2 for few FLOPs; keeping the
    layer's input alone (full) costs one more forward, messages and all.

Watch
    bytes_none_tp (bytes, forward)       kept for a layer's backward, bf16, statistics of the norms
                                         apart
    bytes_none_sp (bytes, forward)       kept for a layer's backward, bf16, sequence parallelism on
    bytes_selective_tp (bytes, forward)  kept if the attention core is recomputed
    bytes_selective_sp (bytes, forward)  kept if the attention core is recomputed, sequence
                                         parallelism on
    bytes_full_tp (bytes, forward)       kept if the layer is recomputed: its input
    bytes_full_sp (bytes, forward)       kept if the layer is recomputed, sequence parallelism on: a
                                         shard
    attention_bytes_tp (bytes, forward)  what attention and its norm keep of bytes_none_tp; the rest
                                         is the MLP's
    attention_bytes_sp (bytes, forward)  what attention and its norm keep of bytes_none_sp; the rest
                                         is the MLP's
    norm_bytes_tp (bytes, forward)       each norm's mean and 1/deviation, which the law leaves out
    norm_bytes_sp (bytes, forward)       the norms' means and 1/deviations, sequence parallelism on
    sent_forward_tp (bytes, forward)     sent by a rank: two all-reduces, each a ring
    sent_forward_sp (bytes, forward)     sent by a rank: two all-gathers, two reduce-scatters
    sent_backward_tp (bytes, backward)   sent by a rank: two all-reduces
    sent_backward_sp (bytes, backward)   sent by a rank: four halves, two inputs gathered again
    resent_full_tp (bytes, backward)     sent besides by a rank if the layer is recomputed: the
                                         forward's
    resent_full_sp (bytes, backward)     sent besides by a rank if it recomputes, sequence
                                         parallelism on
    sent_cut_tp (bytes, both)            sent by a rank where a pipeline is cut behind the layer:
                                         output onward, gradient of the input back
    sent_cut_sp (bytes, both)            sent by a rank at such a cut, sequence parallelism on
    flops_none (FLOPs, both)             of a tp rank's matrix products, multiply-add 2; nothing
                                         else is counted
    flops_selective (FLOPs, both)        of a tp rank if the attention core is recomputed
    flops_full (FLOPs, both)             of a tp rank if the layer is recomputed: 4/3 of flops_none
    out_error (shared, difference)       outputs, from one process, fp64, same dropout
    grad_error (shared, difference)      any gradient, from one process, both layouts

Run
    quizkit demo activations --gpus 4
    python demos/activations.py --ranks 4 --seq 96 --dropout 0
    torchrun --nproc-per-node 4 demos/activations.py
"""

from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks, ring_gather
from _bench import ring_scatter_sum, saved_activations, shift, wire

import torch
from torch.nn.functional import gelu, linear

TOPIC = "tp"

same = torch.Tensor.contiguous  # in this direction there is nothing to send


def all_sum(part):
    """An all-reduce is one half after the other."""
    return ring_gather(ring_scatter_sum(part))


# What is done on the way into a linear layer or out of it, and what the gradient needs there.
OWN = (same, same)
LAYOUTS = {
    "one": {"into": OWN, "out_of": OWN},
    "tp": {"into": (same, all_sum), "out_of": (all_sum, same)},
    "sp": {"into": (ring_gather, ring_scatter_sum), "out_of": (ring_scatter_sum, ring_gather)},
}


class Parallel(torch.autograd.Function):
    """A linear layer between two communications, of which the gradient meets the conjugates."""

    @staticmethod
    def forward(ctx, x, weight, into, out_of):
        """Keep what came, which may be a shard, and not what was gathered of it."""
        there, ctx.into_back = into
        on, ctx.out_of_back = out_of
        ctx.save_for_backward(x, weight)
        ctx.there = there
        return on(linear(there(x), weight))

    @staticmethod
    def backward(ctx, gradient):
        """The weight's gradient wants all tokens of the input: they are gathered once more."""
        (x, weight), gradient = ctx.saved_tensors, ctx.out_of_back(gradient)
        weight_gradient = gradient.flatten(0, 1).T @ ctx.there(x).flatten(0, 1)
        return ctx.into_back(gradient @ weight), weight_gradient, None, None


class Recompute(torch.autograd.Function):
    """Keep the inputs of a block, and run it again when its gradient is wanted."""

    @staticmethod
    def forward(ctx, block, *inputs):
        """Inside a Function autograd saves nothing of its own."""
        ctx.block, ctx.dice = block, torch.get_rng_state()
        ctx.save_for_backward(*inputs)
        return block(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        """The same inputs and the same dice give the same masks."""
        inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        torch.set_rng_state(ctx.dice)
        with torch.enable_grad():
            torch.autograd.backward(ctx.block(*inputs), gradient)
        return None, *[x.grad for x in inputs]


def drop(x, rate, parts=1):
    """Dropout: all ranks throw the dice for all parts, so that they stay in step; one is mine."""
    keep = torch.rand(len(x) * parts, *x.shape[1:]) >= rate
    keep = keep.chunk(parts)[rank()].clone() if parts > 1 else keep
    return x * keep.to(x.device) / (1 - rate)


def core(q, k, v, rate, parts):
    """The attention core: five bytes for every pair of tokens, and little to compute."""
    return drop(torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1), rate, parts) @ v


def layer(x, weights, size, layout, recompute, seen):
    """Attention and MLP, each a norm, a column-parallel product and a row-parallel one."""
    into, out_of = LAYOUTS[layout]["into"], LAYOUTS[layout]["out_of"]
    parts = 1 if layout == "one" else ranks()  # of heads and of columns
    shards = parts if layout == "sp" else 1  # of tokens
    heads = size.heads // parts

    def product(x, weight, into=OWN, out_of=OWN):
        return linear(x, weight) if layout == "one" else Parallel.apply(x, weight, into, out_of)

    def norm(x, weights):
        out, *statistics = torch.native_layer_norm(x, x.shape[-1:], *weights, 1e-5)  # pyright: ignore
        if torch.is_grad_enabled():  # else autograd keeps nothing
            seen.norms += sum(part.nbytes for part in statistics)
        return out

    qkv = product(norm(x, weights["norms"][0]), weights["qkv"], into=into)
    qkv = qkv.view(size.seq, size.batch, heads, 3, -1).permute(3, 2, 1, 0, 4).flatten(1, 2)
    attend = partial(core, rate=size.dropout, parts=parts)  # heads never meet: each rank has some
    mixed = Recompute.apply(attend, *qkv) if recompute == "selective" else attend(*qkv)
    mixed = mixed.view(heads, size.batch, size.seq, -1).permute(2, 1, 0, 3).flatten(2)
    x = x + drop(product(mixed, weights["out"], out_of=out_of), size.dropout, shards)
    seen.attention = seen.saved.live_bytes - seen.norms
    wide = gelu(product(norm(x, weights["norms"][1]), weights["up"], into=into), approximate="tanh")
    return x + drop(product(wide, weights["down"], out_of=out_of), size.dropout, shards)


def mine(name, whole, layout):
    """This rank's part: columns of X W are rows of torch's weight, and tokens come first."""
    cuts = {} if layout == "one" else {"qkv": 0, "up": 0, "out": 1, "down": 1}
    cuts |= {"x": 0, "y": 0} if layout == "sp" else {}
    return whole.chunk(ranks(), cuts[name])[rank()].clone() if name in cuts else whole.clone()


def experiment(whole, size, layout, recompute, dtype):
    """One forward and backward: what was kept, sent and computed, and what came out."""
    from torch import _dynamo  # noqa: F401  # torch's counter wants it: once, before the fork
    from torch.utils.flop_counter import FlopCounterMode

    own = {name: mine(name, tensor, layout).to(dtype) for name, tensor in whole.items()}
    towards, leaves = own.pop("y"), {name: part.requires_grad_() for name, part in own.items()}
    x, seen = own.pop("x"), SimpleNamespace(norms=0)
    block = partial(layer, weights=own, size=size, layout=layout, recompute=recompute, seen=seen)
    counts = layout == "tp" and dtype == torch.bfloat16  # once is enough, for it takes its time
    seen.flops = FlopCounterMode(display=False) if counts else nullcontext()
    torch.manual_seed(0)  # the dice
    with saved_activations(own.values()) as seen.saved, seen.flops:
        with wire() as seen.forward:
            y = Recompute.apply(block, x) if recompute == "full" else block(x)
        seen.kept = seen.saved.live_bytes - seen.norms
        with wire() as seen.backward:
            y.backward(towards)
    seen.results = {"y": y.detach()} | {name: leaf.grad for name, leaf in leaves.items()}
    with wire() as seen.cut:  # the next rank stands for this one's place in the next stage
        shift(seen.results["y"])
        shift(seen.results["x"])
    if layout == "sp":  # a rank's norms have seen its own tokens only
        all_reduce(seen.results["norms"])
    return seen


def main(
    hidden: int = 96,  # width of the layer, h
    heads: int = 24,  # attention heads in all, a; the ranks share them evenly
    seq: int = 48,  # tokens of a sequence, s
    batch: int = 2,  # sequences in the batch, b; all ranks work on the same
    dropout: float = 0.1,  # dropout probability in all three places; at 0 masks are kept still
) -> Metrics:
    """Keep all, recompute the core, recompute all: with and without sequence parallelism."""
    n = ranks()
    if min(hidden, heads, seq, batch) < 1 or not 0 <= dropout < 1:
        refuse("hidden, heads, seq and batch start at 1; dropout is from 0 up to below 1")
    if hidden % heads or heads % n or seq % n:
        fit = -(-heads // n) * n
        width, tokens = -(-hidden // fit) * fit, -(-seq // n) * n
        refuse(
            f"{n} ranks share heads and tokens evenly, and heads the width: "
            f"take heads {fit}, hidden {width} and seq {tokens}"
        )

    size = SimpleNamespace(heads=heads, seq=seq, batch=batch, dropout=dropout)
    shapes = {"qkv": (3 * hidden, hidden), "out": (hidden, hidden), "norms": (2, 2, hidden)}
    shapes |= {"up": (4 * hidden, hidden), "down": (hidden, 4 * hidden)}
    shapes |= dict.fromkeys(("x", "y"), (seq, batch, hidden))
    whole = {name: torch.randn(shape) / shape[-1] ** 0.5 for name, shape in shapes.items()}
    whole = {name: tensor.to(device()) for name, tensor in whole.items()}
    truth = experiment(whole, size, "one", "none", torch.float64)
    sbh, pairs = seq * batch * hidden, heads * seq * seq * batch
    metrics, errors, kept = {}, {"out": [], "grad": []}, {}
    for layout, share, parts in (("tp", 10 * sbh + 24 * sbh // n, 1), ("sp", 34 * sbh // n, n)):
        ran = {}
        for recompute in ("none", "selective", "full"):
            # Bytes, messages and FLOPs in bf16, as the law has them; the comparison in fp64.
            ran[recompute] = experiment(whole, size, layout, recompute, torch.bfloat16)
            exact = experiment(whole, size, layout, recompute, torch.float64)
            for name, ours in exact.results.items():
                kind = "out" if name == "y" else "grad"
                errors[kind].append(max_error(ours, mine(name, truth.results[name], layout)))
                check(f"{layout} {recompute}: {kind} as on one", errors[kind][-1], "<", 1e-12)
            metrics[f"bytes_{recompute}_{layout}"] = counted(ran[recompute].kept)
            kept[f"{layout}, recompute {recompute}"] = [ran[recompute].kept]
            if layout == "tp":
                metrics[f"flops_{recompute}"] = counted(ran[recompute].flops.get_total_flops())
        none, selective, full = ran.values()
        law = share + 5 * pairs // n
        check(f"{layout} keeps its share of sbh(34 + 5as/h)", none.kept, "==", law)
        check(f"{layout} selective keeps no pairs", selective.kept, "==", share)
        check(f"{layout} full keeps the input", full.kept, "==", 2 * sbh // parts)
        metrics |= {
            f"attention_bytes_{layout}": counted(none.attention),
            f"norm_bytes_{layout}": counted(none.norms),
            f"sent_forward_{layout}": counted(none.forward.sent_bytes),
            f"sent_backward_{layout}": counted(none.backward.sent_bytes),
            f"resent_full_{layout}": counted(full.backward.sent_bytes - none.backward.sent_bytes),
            f"sent_cut_{layout}": counted(none.cut.sent_bytes),
        }
    title = "kept by a rank for a layer's backward"
    picture("staircase", title, parts=["activations"], steps=kept, unit="bytes")
    # Of several numbers, torch's largest is NaN if one of them is.
    return metrics | {
        f"{kind}_error": shared(compared(everyone(torch.tensor(e).max().item()).max()))
        for kind, e in errors.items()
    }


BREAKS = {
    "no-conjugate": Break(
        old="(same, all_sum)",
        new="(same, same)",
        expect="tp none: grad as on one",
        ranks=2,
        source="the forward is right without it; autograd cannot know of the other ranks' columns",
    ),
    "norms-not-reduced": Break(
        old='if layout == "sp":  # a rank',
        new="if False:  # a rank",
        expect="sp none: grad as on one",
        ranks=2,
        source="Megatron-LM marks these parameters sequence_parallel and sums them after backward",
    ),
    "other-dice": Break(
        old="        torch.set_rng_state(ctx.dice)\n",
        new="",
        expect="tp selective: grad as on one",
        ranks=1,
        source="torch.utils.checkpoint with preserve_rng_state=False: other masks the second time",
    ),
    "keeps-the-gathered": Break(
        old="        ctx.save_for_backward(x, weight)",
        new="        x, there = there(x), same\n        ctx.save_for_backward(x, weight)",
        expect="sp keeps its share of sbh(34 + 5as/h)",
        ranks=2,
        source="right, but autograd keeps the gathered inputs: 4sbh stay whole on each rank",
    ),
}

if __name__ == "__main__":
    run(__file__)
