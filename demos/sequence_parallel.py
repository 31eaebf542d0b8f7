"""Between the matrices a token stands alone: cut norm and dropout by tokens, at equal bytes.

The trick
    Tensor parallelism leaves norm, dropout and residual whole on every rank. They never look from
    one token to another, so each of t ranks takes s / t tokens: no statistic is sent, and what
    they keep is divided by t. The matrices still want all tokens. So the all-reduce after the
    second matrix stops half-way, at the reduce-scatter, and its other half, an all-gather, waits
    in front of the next first matrix; the backward has the conjugates, a reduce-scatter where the
    forward gathered. (Tokens come first in memory, so that a shard is one piece.)

    Two prices. What was gathered is t times what a rank had: Megatron keeps the shard and gathers
    once more in the backward, for the first matrix's gradient (--keep shard, 3 halves backward);
    --keep gathered sends no more than tensor parallelism, but keeps that input whole. And what all
    ranks hold but has met a shard of the tokens only, the norm's weights and the bias added after
    the reduce-scatter, owes a sum of its gradients over the ranks.

Watch
    norm_sent (bytes, forward)              sent by a rank while the norm of its s / t tokens runs
    norm_error (difference, forward)        norm of s / t tokens, from that of all tokens
    region_bytes_tp (bytes, forward)        kept for backward by norm and dropout under plain TP;
                                            what the matrices keep is not in it
    region_bytes_sp (bytes, forward)        kept for backward by norm and dropout under SP
    input_bytes_tp (bytes, forward)         kept for backward of the first matrix's input, plain TP
    input_bytes_sp (bytes, forward)         kept for backward of the first matrix's input under SP:
                                            a shard, or all that was gathered (--keep)
    calls_forward_tp (collectives, forward)  of a block under plain TP
    calls_forward_sp (collectives, forward)  of a block under SP
    calls_backward_tp (collectives, backward)  of a block under plain TP
    calls_backward_sp (collectives, backward)  of a block under SP, the sums of what it owes apart
    sent_forward_tp (bytes, forward)        sent by a rank under plain TP
    sent_forward_sp (bytes, forward)        sent by a rank under SP
    sent_backward_tp (bytes, backward)      sent by a rank under plain TP
    sent_backward_sp (bytes, backward)      sent by a rank under SP, the sums of what it owes apart
    norm_local_error (difference, backward)  a rank's gradient of the norm before its sum
    bias_local_error (difference, backward)  a rank's gradient of the second bias before its sum
    out_error (shared, difference)          outputs, from one process
    matrix_grad_error (shared, difference, backward)  gradients of the matrices and the first bias
    grad_error (shared, difference)         gradients of x, the norm and the second bias
    x_grad_scale (ratio, backward)          length of x's gradient under SP over the right one's
    torch_owes_norm (shared, yes/no)        1 if torch's own plan calls the norm's gradient a
                                            Partial

Run
    quizkit demo sequence-parallel --gpus 4
    python demos/sequence_parallel.py --ranks 4 --seq 32 --keep gathered
    torchrun --nproc-per-node 4 demos/sequence_parallel.py
"""

from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks, ring_gather
from _bench import ring_scatter_sum, saved_activations, wire

import torch
from torch.nn.functional import gelu, layer_norm, linear

TOPIC = "tp"
REGIME = ("keep",)

same = torch.Tensor.contiguous  # in this direction there is nothing to send
calls = []  # the collectives so far


def gather(shard):
    """Everybody's tokens."""
    calls.append("all-gather")
    return ring_gather(shard)


def scatter_sum(part):
    """My tokens of the sum."""
    calls.append("reduce-scatter")
    return ring_scatter_sum(part)


def all_sum(part):
    """All tokens of the sum: one half after the other."""
    calls.append("all-reduce")
    return ring_gather(ring_scatter_sum(part))


# What happens to a tensor in front of the first matrix, and to its gradient on the way back;
# then the same behind the second matrix.
LAYOUTS = {
    "one": {"into": (same, same), "out_of": (same, same)},
    "tp": {"into": (same, all_sum), "out_of": (all_sum, same)},
    "sp": {"into": (gather, scatter_sum), "out_of": (scatter_sum, gather)},
}


class First(torch.autograd.Function):
    """The first matrix: its product wants all tokens, and so does its weight's gradient."""

    @staticmethod
    def forward(ctx, x, weight, into, keep):
        """Of what was gathered, keep all, or the shard that was here before."""
        there, ctx.back = into
        tokens = there(x)
        ctx.again = there if keep == "shard" else same
        ctx.save_for_backward(x if keep == "shard" else tokens, weight)
        return linear(tokens, weight)

    @staticmethod
    def backward(ctx, gradient):
        """A shard is gathered once more; x's gradient is that of this rank's tokens."""
        kept, weight = ctx.saved_tensors
        tokens = ctx.again(kept)
        weight_gradient = gradient.flatten(0, 1).T @ tokens.flatten(0, 1)
        return ctx.back(gradient @ weight), weight_gradient, None, None


class Behind(torch.autograd.Function):
    """Behind the second matrix, where each rank has a share of every token."""

    @staticmethod
    def forward(ctx, share, out_of):
        """The shares are added up, for all ranks or for the one whose tokens they are."""
        there, ctx.back = out_of
        return there(share)

    @staticmethod
    def backward(ctx, gradient):
        """A share's gradient is the sum's, of all tokens."""
        return ctx.back(gradient), None


def block(x, norms, up, up_bias, down, down_bias, mask, rate, layout, keep, seen):
    """x + dropout(second(gelu(first(norm(x))))): norm and dropout have all tokens, or my own."""
    with saved_activations([norms]) as norm_kept, wire() as seen.norm:
        normed = layer_norm(x, x.shape[-1:], *norms)
    with saved_activations([up]) as input_kept:
        first = First.apply(normed, up, LAYOUTS[layout]["into"], keep)
    share = linear(gelu(first + up_bias), down)
    summed = Behind.apply(share, LAYOUTS[layout]["out_of"]) + down_bias
    with saved_activations([]) as dropout_kept:
        dropped = summed * mask / (1 - rate)
    seen.region_bytes = norm_kept.live_bytes + dropout_kept.live_bytes
    seen.input_bytes = input_kept.live_bytes
    seen.normed = normed.detach()
    return x + dropped


def mine(name, whole, layout):
    """This rank's part: columns of the first matrix, rows of the second, and tokens come first."""
    cuts = {} if layout == "one" else {"up": 0, "up_bias": 0, "down": 1}
    cuts |= dict.fromkeys(("x", "towards", "mask"), 0) if layout == "sp" else {}
    return whole.chunk(ranks(), cuts[name])[rank()].clone() if name in cuts else whole.clone()


def experiment(whole, rate, layout, keep):
    """One forward and backward: what was kept, called and sent, and what came out."""
    own = {name: mine(name, tensor, layout) for name, tensor in whole.items()}
    towards, mask = own.pop("towards"), own.pop("mask")
    leaves = {name: part.requires_grad_() for name, part in own.items()}
    seen = SimpleNamespace()
    calls.clear()
    with wire() as seen.forward:
        out = block(**leaves, mask=mask, rate=rate, layout=layout, keep=keep, seen=seen)
    seen.calls_forward = len(calls)
    with wire() as seen.backward:
        (out * towards).sum().backward()
    seen.calls_backward = len(calls) - seen.calls_forward
    seen.local = {name: leaf.grad for name, leaf in leaves.items()}
    seen.results = {"out": out.detach()} | seen.local
    if layout == "sp":  # all ranks hold these, and each has met its own tokens only
        for name in ("norms", "down_bias"):
            seen.results[name] = all_reduce(seen.local[name].clone())
    return seen


def main(
    seq: int = 24,  # tokens of a sequence in all, which sequence parallelism cuts
    batch: int = 2,  # sequences in the batch, the same on all ranks
    hidden: int = 24,  # width outside the two matrices, whole on every rank
    ffn: int = 48,  # width between the two matrices in all; the ranks share it evenly
    dropout: float = 0.1,  # dropout probability of the output; 0 drops nothing
    keep: Literal["shard", "gathered"] = "shard",  # of the first matrix's input, for backward
) -> Metrics:
    """An MLP block whose norm and dropout have all tokens on every rank, or its own."""
    n = ranks()
    if min(seq, batch, hidden, ffn) < 1 or not 0 <= dropout < 1:
        refuse("seq, batch, hidden and ffn start at 1; dropout is from 0 up to below 1")
    if seq % n or ffn % n:
        fit, wide = -(-seq // n) * n, -(-ffn // n) * n
        refuse(f"{n} ranks share tokens and ffn evenly: take seq {fit} and ffn {wide}")

    shapes = {"norms": (2, hidden), "up": (ffn, hidden), "up_bias": (ffn,)}
    shapes |= {"down": (hidden, ffn), "down_bias": (hidden,)}
    shapes |= dict.fromkeys(("x", "towards"), (seq, batch, hidden))
    like = {"dtype": torch.float64, "device": device()}
    whole = {name: torch.randn(shape, **like) for name, shape in shapes.items()}
    whole["up"], whole["down"] = whole["up"] / hidden**0.5, whole["down"] / ffn**0.5
    # All throw the same dice for all tokens; who has some of the tokens takes their part.
    whole["mask"] = torch.rand(seq, batch, hidden, **like) >= dropout

    truth = experiment(whole, dropout, "one", keep)
    matrices = "up", "up_bias", "down"
    kinds = {"out": "out"} | dict.fromkeys(matrices, "matrix_grad")
    ran, metrics, errors = {}, {}, {"out": [], "matrix_grad": [], "grad": []}
    for layout in ("tp", "sp"):
        seen = ran[layout] = experiment(whole, dropout, layout, keep)
        for name, ours in seen.results.items():
            cut_as = "x" if name == "out" else name
            error = max_error(ours, mine(cut_as, truth.results[name], layout))
            errors[kinds.get(name, "grad")].append(error)
            check(f"{layout} {name} as on one process", error, "<", 1e-12)
        metrics |= {
            f"region_bytes_{layout}": counted(seen.region_bytes),
            f"input_bytes_{layout}": counted(seen.input_bytes),
            f"calls_forward_{layout}": counted(seen.calls_forward),
            f"calls_backward_{layout}": counted(seen.calls_backward),
            f"sent_forward_{layout}": counted(seen.forward.sent_bytes),
            f"sent_backward_{layout}": counted(seen.backward.sent_bytes),
        }
    tp, sp = ran.values()
    halves = 3 if keep == "shard" else 2  # an all-reduce is two
    check("equal bytes forward", sp.forward.sent_bytes, "==", tp.forward.sent_bytes)
    check(
        "halves of an all-reduce backward",
        2 * sp.backward.sent_bytes,
        "==",
        halves * tp.backward.sent_bytes,
    )
    check("norm and dropout keep 1/t", sp.region_bytes * n, "==", tp.region_bytes)
    kept = tp.input_bytes // n if keep == "shard" else tp.input_bytes
    check("the input is kept as told", sp.input_bytes, "==", kept)
    check("the norm sends nothing", sp.norm.sent_bytes, "==", 0)

    out, [norm_weight, *others] = torch_plan(whole, dropout)
    theirs = [out, *[grad.full_tensor() for grad in (norm_weight, *others)]]
    right = [truth.results[name] for name in (*matrices, "down_bias")]
    right = [sp.results["out"], *truth.results["norms"], *right]
    check("torch's plan agrees", worst(right, theirs), "<", 1e-12)
    owed = max_error(sp.local["norms"][0], norm_weight.to_local())
    check("torch too has but its own tokens' gradient of the norm", owed, "<", 1e-12)
    own_x, right_x = sp.results["x"], mine("x", truth.results["x"], "sp")
    metrics |= {
        f"{kind}_error": shared(compared(everyone(torch.tensor(e).max().item()).max()))
        for kind, e in errors.items()
    }
    return metrics | {
        "norm_sent": counted(sp.norm.sent_bytes),
        "norm_error": compared(max_error(sp.normed, mine("x", truth.normed, "sp"))),
        "norm_local_error": compared(max_error(sp.local["norms"], truth.local["norms"])),
        "bias_local_error": compared(max_error(sp.local["down_bias"], truth.local["down_bias"])),
        "x_grad_scale": compared((own_x.norm() / right_x.norm()).item()),
        "torch_owes_norm": shared(counted(int(norm_weight.placements[0].is_partial()))),
    }


def torch_plan(whole, rate) -> tuple:
    """torch's own sequence parallelism: its output for my tokens, and its gradients, DTensors."""
    import torch._dynamo  # what parallelize_module wants, loaded once and not by every rank
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, parallel
    from torch.nn import GELU, LayerNorm, Linear, Sequential

    # gloo takes tensors from host memory only
    place = torch.device("cpu") if torch.distributed.get_backend() == "gloo" else device()
    whole = {name: tensor.to(place) for name, tensor in whole.items()}
    width, wide = whole["down"].shape
    model = Sequential(LayerNorm(width), Linear(width, wide), GELU(), Linear(wide, width))
    given = *whole["norms"], whole["up"], whole["up_bias"], whole["down"], whole["down_bias"]
    for parameter, value in zip(model.parameters(), given, strict=True):
        parameter.data = value.clone()
    plan = {
        "0": parallel.SequenceParallel(sequence_dim=0),
        "1": parallel.ColwiseParallel(input_layouts=Shard(0)),
        "3": parallel.RowwiseParallel(output_layouts=Shard(0)),
    }
    mesh = init_device_mesh(place.type, (ranks(),))
    parallel.parallelize_module(model, mesh, plan)
    x, towards, mask = (mine(name, whole[name], "sp") for name in ("x", "towards", "mask"))
    out = x + model(x) * mask / (1 - rate)
    (out * towards).sum().backward()
    return out, [parameter.grad for parameter in model.parameters()]


def worst(ours, truth):
    """The largest difference of any of several tensors; NaN stays NaN."""
    return torch.tensor([max_error(*pair) for pair in zip(ours, truth, strict=True)]).max().item()


BREAKS = {
    "norm-not-summed": Break(
        old='for name in ("norms", "down_bias"):',
        new='for name in ("down_bias",):',
        expect="sp norms as on one process",
        ranks=2,
        source="Megatron-LM marks such weights sequence_parallel and sums them after the backward",
    ),
    "bias-not-summed": Break(
        old='for name in ("norms", "down_bias"):',
        new='for name in ("norms",):',
        expect="sp down_bias as on one process",
        ranks=2,
        source="the same for a bias: it is no norm, and so it is the one forgotten",
    ),
    "slice-for-backward": Break(
        old='"into": (gather, scatter_sum)',
        new='"into": (gather, lambda gradient: gradient.chunk(ranks())[rank()])',
        expect="sp x as on one process",
        ranks=2,
        source="Megatron-LM's gather with tensor_parallel_output_grad=False: for equal gradients",
    ),
    "one-mask-for-all": Break(
        old="[rank()].clone() if name in cuts",
        new='[rank() * (name != "mask")].clone() if name in cuts',
        expect="sp out as on one process",
        ranks=2,
        source="ranks seeded alike, each drawing for its own tokens: all shards drop the same",
    ),
}

if __name__ == "__main__":
    run(__file__)
