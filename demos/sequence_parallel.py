"""Between the matrices a token stands alone: cut norm and dropout by tokens, at equal bytes.

The trick
    Tensor parallelism leaves norm, dropout and residual whole on every rank. They never look from
    one token to another, so each of t ranks takes s / t tokens: no statistic is sent, and what
    they keep is divided by t. The matrices still want all tokens. So the all-reduce after the
    second matrix stops half-way, at the reduce-scatter, and its other half, an all-gather, waits
    in front of the next first matrix; the backward has the conjugates, a reduce-scatter where the
    forward gathered. (Tokens come first in memory, so that a shard is one piece.) The price: what
    all ranks hold but has met a shard of the tokens only, the norm's weights and the bias added
    after the reduce-scatter, owes a sum of its gradients over the ranks. (Here autograd keeps the
    gathered input; `activations` keeps a shard of it and gathers once more in the backward.)

Watch
    norm_sent                 bytes a rank sends while the norm of its s / t tokens runs
    norm_error                largest difference of the norm of s / t tokens from that of all tokens
    region_bytes_tp           bytes kept for the backward by norm and dropout, tensor parallelism
    region_bytes_sp           bytes kept for the backward by norm and dropout, sequence parallelism
    calls_forward_tp          collectives in the forward under plain tensor parallelism
    calls_forward_sp          collectives in the forward under sequence parallelism
    calls_backward_tp         collectives in the backward under plain tensor parallelism
    calls_backward_sp         collectives in the backward under sequence parallelism
    sent_forward_tp           bytes a rank sends in the forward under plain tensor parallelism
    sent_forward_sp           bytes a rank sends in the forward under sequence parallelism
    sent_backward_tp          bytes a rank sends in the backward under plain tensor parallelism
    sent_backward_sp          bytes a rank sends in the backward under sequence parallelism
    norm_local_error          a rank's gradient of the norm before the sum: how far it is off
    bias_local_error          a rank's gradient of the second bias before the sum: how far it is off
    out_error                 largest difference of outputs from one process
    matrix_grad_error         largest difference of the gradients of the matrices and the first bias
    grad_error                largest difference of the gradients of x, the norm and the second bias
    torch_owes_norm (shared)  1 if torch's own plan calls the norm's gradient a Partial sum

Run
    quizkit demo sequence-parallel --gpus 4
    python demos/sequence_parallel.py --ranks 4 --seq 32
    torchrun --nproc-per-node 4 demos/sequence_parallel.py
"""

from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, max_error, rank, ranks, ring_scatter_sum, saved_activations
from _bench import shift, wire

import torch
from torch.nn.functional import gelu, layer_norm, linear

TOPIC = "tp"

same = torch.clone  # in this direction there is nothing to send
CALLS = []  # the collectives so far


def gather(shard):
    """All tokens: shards come by from the left, first my own, then the left neighbour's."""
    came = [shard.contiguous()]
    for _ in range(ranks() - 1):
        came.append(shift(came[-1]))
    return torch.cat([came[rank() - owner] for owner in range(ranks())])


def all_sum(part):
    """All tokens of the sum: one half after the other."""
    return gather(ring_scatter_sum(part))


# On the way into the matrices and out of them: what the tensor meets, and what its gradient.
LAYOUTS = {
    "one": {"into": (same, same), "out_of": (same, same)},
    "tp": {"into": (same, all_sum), "out_of": (all_sum, same)},
    "sp": {"into": (gather, ring_scatter_sum), "out_of": (ring_scatter_sum, gather)},
}


class Either(torch.autograd.Function):
    """One thing done to a tensor on its way, and another to its gradient on the way back."""

    @staticmethod
    def forward(ctx, x, forward, backward):
        """What the layer sees."""
        ctx.back = backward
        CALLS.extend([forward] * (forward is not same))
        return forward(x)

    @staticmethod
    def backward(ctx, gradient):
        """What autograd sees."""
        CALLS.extend([ctx.back] * (ctx.back is not same))
        return ctx.back(gradient), None, None


def block(x, norms, up, up_bias, down, down_bias, keep, rate, layout, seen):
    """x + dropout(second(gelu(first(norm(x))))): norm and dropout have all tokens, or my own."""
    with saved_activations([norms]) as norm_kept, wire() as seen.norm:
        normed = layer_norm(x, x.shape[-1:], *norms)
    first = linear(Either.apply(normed, *LAYOUTS[layout]["into"]), up, up_bias)
    part = linear(gelu(first), down)
    summed = Either.apply(part, *LAYOUTS[layout]["out_of"]) + down_bias
    with saved_activations([]) as dropout_kept:
        dropped = summed * keep / (1 - rate)
    seen.region_bytes = norm_kept.live_bytes + dropout_kept.live_bytes
    seen.normed = normed.detach()
    return x + dropped


def mine(name, whole, layout):
    """This rank's part: columns of the first matrix, rows of the second, and tokens come first."""
    cuts = {} if layout == "one" else {"up": 0, "up_bias": 0, "down": 1}
    cuts |= dict.fromkeys(("x", "towards", "keep"), 0) if layout == "sp" else {}
    return whole.chunk(ranks(), cuts[name])[rank()].clone() if name in cuts else whole.clone()


def experiment(whole, rate, layout):
    """One forward and backward: what was kept, called and sent, and what came out."""
    own = {name: mine(name, tensor, layout) for name, tensor in whole.items()}
    towards, keep = own.pop("towards"), own.pop("keep")
    leaves = {name: part.requires_grad_() for name, part in own.items()}
    seen = SimpleNamespace()
    CALLS.clear()
    with wire() as seen.forward:
        out = block(**leaves, keep=keep, rate=rate, layout=layout, seen=seen)
    seen.calls_forward = len(CALLS)
    with wire() as seen.backward:
        (out * towards).sum().backward()
    seen.calls_backward = len(CALLS) - seen.calls_forward
    seen.local = {name: leaf.grad for name, leaf in leaves.items()}
    seen.results = {"out": out.detach()} | seen.local
    if layout == "sp":  # all ranks hold these, and each has met its own tokens only
        for name in ("norms", "down_bias"):
            seen.results[name] = all_reduce(seen.local[name].clone())
    return seen


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
    x, towards, keep = (mine(name, whole[name], "sp") for name in ("x", "towards", "keep"))
    out = x + model(x) * keep / (1 - rate)
    (out * towards).sum().backward()
    return out, [parameter.grad for parameter in model.parameters()]


def worst(ours, truth):
    """The largest difference of any of several tensors; NaN stays NaN."""
    return torch.tensor([max_error(*pair) for pair in zip(ours, truth, strict=True)]).max().item()


def main(
    seq: int = 24,  # tokens of a sequence in all, which sequence parallelism cuts
    batch: int = 2,  # sequences in the batch, the same on all ranks
    hidden: int = 24,  # width outside the two matrices, whole on every rank
    ffn: int = 48,  # width between the two matrices in all; the ranks share it evenly
    dropout: float = 0.1,  # dropout probability of the output; 0 drops nothing
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
    whole["keep"] = torch.rand(seq, batch, hidden, **like) >= dropout

    truth = experiment(whole, dropout, "one")
    ran, metrics, errors = {}, {}, {"out": [], "matrix_grad": [], "grad": []}
    matrices = "up", "up_bias", "down"
    for layout in ("tp", "sp"):
        seen = ran[layout] = experiment(whole, dropout, layout)
        for name, ours in seen.results.items():
            kind = {"out": "out"}.get(name, "matrix_grad" if name in matrices else "grad")
            right = mine({"out": "x"}.get(name, name), truth.results[name], layout)
            errors[kind].append(max_error(ours, right))
            check(f"{layout} {name} as on one process", errors[kind][-1], "<", 1e-12)
        metrics |= {
            f"region_bytes_{layout}": counted(seen.region_bytes),
            f"calls_forward_{layout}": counted(seen.calls_forward),
            f"calls_backward_{layout}": counted(seen.calls_backward),
            f"sent_forward_{layout}": counted(seen.forward.sent_bytes),
            f"sent_backward_{layout}": counted(seen.backward.sent_bytes),
        }
    tp, sp = ran.values()
    check("equal bytes forward", sp.forward.sent_bytes, "==", tp.forward.sent_bytes)
    check("equal bytes backward", sp.backward.sent_bytes, "==", tp.backward.sent_bytes)
    check("norm and dropout keep 1/t", sp.region_bytes * n, "==", tp.region_bytes)
    check("the norm sends nothing", sp.norm.sent_bytes, "==", 0)

    out, [norm_weight, *others] = torch_plan(whole, dropout)
    theirs = [out, *[grad.full_tensor() for grad in (norm_weight, *others)]]
    right = [truth.results[name] for name in (*matrices, "down_bias")]
    right = [sp.results["out"], *truth.results["norms"], *right]
    check("torch's plan agrees", worst(right, theirs), "<", 1e-12)
    owed = max_error(sp.local["norms"][0], norm_weight.to_local())
    check("torch too has but its own tokens' gradient of the norm", owed, "<", 1e-12)
    metrics |= {
        f"{kind}_error": compared(torch.tensor(e).max().item()) for kind, e in errors.items()
    }
    return metrics | {
        "norm_sent": counted(sp.norm.sent_bytes),
        "norm_error": compared(max_error(sp.normed, mine("x", truth.normed, "sp"))),
        "norm_local_error": compared(max_error(sp.local["norms"], truth.local["norms"])),
        "bias_local_error": compared(max_error(sp.local["down_bias"], truth.local["down_bias"])),
        "torch_owes_norm": shared(counted(int(norm_weight.placements[0].is_partial()))),
    }


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
    "mine-first": Break(
        old="torch.cat([came[rank() - owner] for owner in range(ranks())])",
        new="torch.cat(came)",
        expect="sp out as on one process",
        ranks=2,
        source="a ring that keeps the order in which shards came by: on each rank another one",
    ),
    "slice-for-backward": Break(
        old='"into": (gather, ring_scatter_sum)',
        new='"into": (gather, lambda gradient: gradient.chunk(ranks())[rank()])',
        expect="sp x as on one process",
        ranks=2,
        source="Megatron-LM's gather with tensor_parallel_output_grad=False: for equal gradients",
    ),
    "one-mask-for-all": Break(
        old="[rank()].clone() if name in cuts",
        new='[rank() * (name != "keep")].clone() if name in cuts',
        expect="sp out as on one process",
        ranks=2,
        source="ranks seeded alike, each drawing for its own tokens: all shards drop the same",
    ),
}

if __name__ == "__main__":
    run(__file__)
