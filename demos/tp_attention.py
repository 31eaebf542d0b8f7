"""Attention is cut by whole heads: nothing to send inside, one all-reduce each way outside.

The trick
    A head's softmax needs that head alone. So each rank projects x to its own query heads and
    their KV heads (columns), attends, and multiplies by its rows of the output matrix: partial
    sums, which one all-reduce adds up; the backward all-reduces dX. Cut inside a head, each score
    is a partial sum already, and seq x seq of them per head go over the wire before the softmax.
    Fewer KV heads than ranks: a KV head is copied to all ranks whose queries look at it. The copy
    is one weight, so the gradients of its holders are summed; and k and v shrink no further.
    Fused weights, [Q; K; V] or [gate; up], are cut part by part: a piece of the pile is no cut.

Watch
    kv_held (count, forward)                KV heads on each rank, copies included
    kv_copies (ranks)                       that hold the same KV heads, this one included
    qkv_rows (rows)                         of the fused [Q; K; V] on each rank: torch's weight is
                                            (out, in)
    out_columns (count)                     columns of the output matrix's weight on each rank
    cache_bytes (bytes)                     keys and values of all tokens on each rank: what a KV
                                            cache would hold
    sent_forward (bytes, forward)           sent by a rank in attention: one all-reduce
    sent_backward (bytes, backward)         sent by a rank in attention: one all-reduce, copies'
                                            gradients apart
    sent_inside_forward (bytes, forward)    sent by a rank with heads cut inside: scores and output
    sent_inside_backward (bytes, backward)  sent by a rank with heads cut inside
    out_error (shared, difference)          largest one of attention's output from one process
    grad_error (shared, difference)         the gradients of x, Wq and the output matrix, from one
                                            process
    kv_weight_grad_error (difference, backward)  the gradients of Wk and Wv, from one process
    kv_copies_apart (difference, backward)  among the gradients of Wk and Wv on the ranks that hold
                                            the same KV heads
    inside_out_error (difference, forward)  the output, heads cut inside
    inside_grad_error (difference, backward)  any gradient, heads cut inside
    mlp_out_error (difference, forward)     the gated MLP's output, from one process
    mlp_grad_error (difference, backward)   any of the gated MLP's gradients

Run
    quizkit demo tp-attention --gpus 4
    python demos/tp_attention.py --ranks 4 --heads 8 --kv-heads 8
    torchrun --nproc-per-node 4 demos/tp_attention.py
"""

from functools import partial
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import device, everyone, max_error, rank, ranks, ring_gather, ring_sum, wire

import torch
from torch.nn.functional import linear, scaled_dot_product_attention, silu

TOPIC = "tp"

same = torch.clone  # in this direction there is nothing to send


def heads_of(who, size):
    """The query heads of a rank, and the KV heads they look at: whole heads, in order."""
    queries, kvs = size.heads // ranks(), max(1, size.kv_heads // ranks())
    first = who * size.kv_heads // ranks()
    return range(who * queries, (who + 1) * queries), range(first, first + kvs)


def cut_qkv(fused, size):
    """My rows of [Q; K; V]: my heads of each of the three."""
    queries, kvs = heads_of(rank(), size)
    q, k, v = fused.split([heads * size.head_dim for heads in size.stack])
    rows = slice(queries.start * size.head_dim, queries.stop * size.head_dim)
    kv_rows = slice(kvs.start * size.head_dim, kvs.stop * size.head_dim)
    return torch.cat([q[rows], k[kv_rows], v[kv_rows]])


def attention(x, qkv, out, size, queries, kvs, whole_scores=same, whole_weights=same):
    """These heads, from x to what they add to the output."""
    pieces = linear(x, qkv).unflatten(-1, (len(queries) + 2 * len(kvs), -1)).transpose(1, 2)
    q, k, v = pieces.split([len(queries), len(kvs), len(kvs)], dim=1)
    looks_at = [head * len(kvs) // len(queries) for head in range(len(queries))]
    scores = whole_scores(q @ k[:, looks_at].mT / size.head_dim**0.5)
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    weights = whole_weights(scores.masked_fill(later, float("-inf")).softmax(-1))
    return linear((weights @ v[:, looks_at]).transpose(1, 2).flatten(2), out)


def by_heads(x, qkv, out, size):
    """Some heads whole. From x to the last product no rank needs another."""
    return total(attention(copied(x), qkv, out, size, *heads_of(rank(), size)))


def inside_heads(x, qkv, out, size):
    """All heads, some of each one's numbers: a score is a sum over ranks, and softmax waits."""
    every = range(size.heads), range(size.kv_heads)
    return total(attention(copied(x), qkv, out, size, *every, total, copied))


def sum_copies(gradient, size):
    """How many ranks hold my KV heads, and the gradient that an optimizer may use."""
    queries, kvs = heads_of(rank(), size)
    holders = [r for r in range(ranks()) if heads_of(r, size)[1] == kvs]
    q, kv = gradient.split([len(queries) * size.head_dim, 2 * len(kvs) * size.head_dim])
    return len(holders), torch.cat([q, ring_sum(kv, holders)])


def copied(x):
    """All ranks read x, so each knows a part of its gradient (Megatron's f)."""
    return Either.apply(x, same, ring_sum)


def total(part):
    """All ranks add to the total, so its gradient is that of each part (Megatron's g)."""
    return Either.apply(part, ring_sum, same)


class Either(torch.autograd.Function):
    """One thing done to a tensor on its way, and another to its gradient on the way back."""

    @staticmethod
    def forward(ctx, x, forward, backward):
        """What the layer sees."""
        ctx.back = backward
        return forward(x)

    @staticmethod
    def backward(ctx, gradient):
        """What autograd sees."""
        return ctx.back(gradient), None, None


def cut_gate_up(fused):
    """My rows of [gate; up]."""
    gate, up = fused.chunk(2)
    return torch.cat([gate.chunk(ranks())[rank()], up.chunk(ranks())[rank()]])


def swiglu(x, gate_up, down):
    """A gated MLP: half of the columns opens or shuts the other half."""
    gate, up = linear(x, gate_up).chunk(2, -1)
    return linear(silu(gate) * up, down)


def step(layer, towards, *inputs):
    """A forward and a backward: the output, a gradient for each input, and what was sent."""
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    with wire() as forward:
        y = layer(*leaves)
    with wire() as backward:
        (y * towards).sum().backward()
    return [y.detach(), *[leaf.grad for leaf in leaves]], forward, backward


def main(
    heads: int = 24,  # query heads in all; the ranks share them evenly
    kv_heads: int = 2,  # KV heads in all; with fewer than ranks they are copied
    head_dim: int = 24,  # width of one head; inside heads the ranks share it evenly
    hidden: int = 48,  # width of x, whole on every rank
    ffn: int = 96,  # width of the gate and of up, each in all; the ranks share it evenly
    seq: int = 16,  # tokens of a sequence
    batch: int = 2,  # sequences in the batch, the same on all ranks
) -> Metrics:
    """Attention by heads and inside heads, and a gated MLP; each against one process."""
    n = ranks()
    if min(heads, kv_heads, head_dim, hidden, ffn, seq, batch) < 1:
        refuse("all sizes start at 1")
    sizes = {"heads": heads, "head-dim": head_dim, "hidden": hidden, "ffn": ffn}
    if any(size % n for size in sizes.values()):
        fit = ", ".join(f"{name} {-(-size // n) * n}" for name, size in sizes.items())
        refuse(f"{n} ranks share heads, their size, the width and the MLP evenly: take {fit}")
    fit = [k for k in range(1, heads + 1) if not heads % k and not (k % n and n % k)]
    if kv_heads not in fit:
        nearest = min(fit, key=lambda k: abs(k - kv_heads))
        refuse(f"{kv_heads} KV heads do not go with {heads} heads on {n} ranks: take {nearest}")

    size = SimpleNamespace(heads=heads, kv_heads=kv_heads, head_dim=head_dim)
    size.stack = [heads, kv_heads, kv_heads]
    shapes = (sum(size.stack) * head_dim, hidden), (hidden, heads * head_dim)
    shapes += (2 * ffn, hidden), (hidden, ffn)
    like = {"dtype": torch.float64, "device": device()}
    qkv, out, gate_up, down = (torch.randn(s, **like) / s[-1] ** 0.5 for s in shapes)
    x, towards = torch.randn(2, batch, seq, hidden, **like)

    y, dx, d_qkv, d_out = step(partial(one_attention, size=size), towards, x, qkv, out)[0]
    true = [y, dx, cut_qkv(d_qkv, size), d_out.chunk(n, 1)[rank()]]
    my_qkv, my_out, q_rows = cut_qkv(qkv, size), out.chunk(n, 1)[rank()], heads // n * head_dim
    ours, forward, backward = step(partial(by_heads, size=size), towards, x, my_qkv, my_out)
    # A copied KV head is one weight, and each copy has met the queries of its own rank only.
    copies, ours[2] = sum_copies(ours[2], size)
    holders = [who for who in range(n) if heads_of(who, size)[1] == heads_of(rank(), size)[1]]
    held = ring_gather(ours[2][None, q_rows:], group=holders)
    cache = linear(x, my_qkv)[..., q_rows:]  # keys and values
    errors = {
        "out": max_error(ours[0], true[0]),
        "grad": worst([*ours[1::2], ours[2][:q_rows]], [*true[1::2], true[2][:q_rows]]),
        "kv_weight_grad": max_error(ours[2][q_rows:], true[2][q_rows:]),
    }

    def inside(weight, dim):
        """Of each head in this dimension, my share of its numbers."""
        return weight.unflatten(dim, (-1, head_dim)).chunk(n, dim + 1)[rank()].flatten(dim, dim + 1)

    cut = step(partial(inside_heads, size=size), towards, x, inside(qkv, 0), inside(out, 1))
    errors["inside_out"] = max_error(cut[0][0], y)
    errors["inside_grad"] = worst(cut[0][1:], [dx, inside(d_qkv, 0), inside(d_out, 1)])

    y, dx, d_gate_up, d_down = step(swiglu, towards, x, gate_up, down)[0]
    own = cut_gate_up(gate_up), down.chunk(n, 1)[rank()]
    mlp = step(lambda x, *parts: total(swiglu(copied(x), *parts)), towards, x, *own)[0]
    errors["mlp_out"] = max_error(mlp[0], y)
    errors["mlp_grad"] = worst(mlp[1:], [dx, cut_gate_up(d_gate_up), d_down.chunk(n, 1)[rank()]])

    for name, error in errors.items():
        check(f"{name} as on one process", error, "<", 1e-12)
    least = 2 * batch * seq * kv_heads * head_dim * 8 // min(n, kv_heads)
    check("k and v shrink until a rank holds one head", cache.nbytes, "==", least)
    once = 2 * (n - 1) * x.nbytes // n
    check("one all-reduce of x forward", forward.sent_bytes, "==", once)
    check("one all-reduce of x backward", backward.sent_bytes, "==", once)
    scores = 2 * (n - 1) * batch * heads * seq * seq * 8 // n
    check("inside a head the scores travel too", cut[1].sent_bytes, "==", once + scores)
    return {
        "kv_held": counted(cache.shape[-1] // head_dim // 2),
        "kv_copies": counted(copies),
        "qkv_rows": counted(len(my_qkv)),
        "out_columns": counted(my_out.shape[1]),
        "cache_bytes": counted(cache.nbytes),
        "sent_forward": counted(forward.sent_bytes),
        "sent_backward": counted(backward.sent_bytes),
        "sent_inside_forward": counted(cut[1].sent_bytes),
        "sent_inside_backward": counted(cut[2].sent_bytes),
        "out_error": shared(compared(everyone(errors["out"]).max())),
        "grad_error": shared(compared(everyone(errors["grad"]).max())),
        "kv_weight_grad_error": compared(errors["kv_weight_grad"]),
        "kv_copies_apart": compared((held.amax(0) - held.amin(0)).max()),
        "inside_out_error": compared(errors["inside_out"]),
        "inside_grad_error": compared(errors["inside_grad"]),
        "mlp_out_error": compared(errors["mlp_out"]),
        "mlp_grad_error": compared(errors["mlp_grad"]),
    }


def one_attention(x, qkv, out, size):
    """The truth: all heads in one place, and torch's own core."""
    pieces = linear(x, qkv).unflatten(-1, (sum(size.stack), -1)).transpose(1, 2)
    q, k, v = pieces.split(size.stack, dim=1)
    mixed = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return linear(mixed.transpose(1, 2).flatten(2), out)


def worst(ours, truth):
    """The largest difference of any of several tensors; NaN stays NaN."""
    return torch.tensor([max_error(*pair) for pair in zip(ours, truth, strict=True)]).max().item()


BREAKS = {
    "chunk-the-qkv": Break(
        old="return torch.cat([q[rows], k[kv_rows], v[kv_rows]])",
        new="return fused.chunk(ranks())[rank()]",
        expect="out as on one process",
        ranks=2,
        source="DTensor's Shard(0) on a fused weight; loaders know each model's layout for this",
    ),
    "chunk-the-gate": Break(
        old="return torch.cat([gate.chunk(ranks())[rank()], up.chunk(ranks())[rank()]])",
        new="return fused.chunk(ranks())[rank()]",
        expect="mlp_out as on one process",
        ranks=2,
        source="the same on [gate; up]: rank 0 of 2 then holds the gate and nothing to let through",
    ),
    "copies-not-summed": Break(
        old="torch.cat([q, ring_sum(kv, holders)])",
        new="torch.cat([q, kv])",
        expect="kv_weight_grad as on one process",
        ranks=4,
        source="KV weights copied for serving, then trained: the copies drift apart in silence",
    ),
    "copies-dealt-out": Break(
        old="first = who * size.kv_heads // ranks()",
        new="first = who * kvs % size.kv_heads",
        expect="out as on one process",
        ranks=4,
        source="rank % kv_heads where it must be rank // copies: queries meet another head's keys",
    ),
    "softmax-of-parts": Break(
        old="*every, total, copied)",
        new="*every)",
        expect="inside_out as on one process",
        ranks=2,
        source="said in interviews: if heads do not divide, cut head_dim as well",
    ),
}

if __name__ == "__main__":
    run(__file__)
