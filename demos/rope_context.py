"""RoPE turns a token by its own place: cut the sequence any way, no message is needed.

The trick
    Pair i of a head's features is turned by place * base^(-2i/d); the product of a turned query and
    a turned key knows their distance only. So every rank turns what it holds, keys before they
    leave, by the GLOBAL places of its tokens: ids cut like the tokens are all it takes. To count
    from 0 on every rank is wrong; rows r * n to (r + 1) * n of a table fit contiguous shards alone.
    A pair is two neighbours in memory, (0, 1), (2, 3), ..., or two halves', (0, d/2), (1, d/2 + 1),
    ...; weights made for one serve the other once the rows of W_q and W_k are rearranged. Angles
    grow with the place, bf16 has 8 bits: ids stay integers, angles fp32, cos and sin are rounded.

Watch
    rope_messages (messages, both)       and collectives of a rank to turn q and k
    attention_messages (messages, both)  and collectives of a rank's attention, which gathers K and
        V
    out_error (shared, difference)       of outputs from one process, largest
    grad_error (shared, difference)      of the gradients of q, k and v from one process, largest
    slice_error (difference)             of my outputs by rows r * n to (r + 1) * n of a table
    from_zero_error (difference)         of my outputs if every rank counts from 0
    shift_error (difference)             of my outputs if all places move on by 1000
    keys_shift_error (difference)        of my outputs if only the keys' places move by 1000
    mixed_error (difference)             of my outputs with the other pairing, same weights
    rearranged_error (difference)        of my outputs: other pairing, W_q and W_k rearranged to
        suit
    keys_rearranged_error (difference)   of my outputs: other pairing, W_k alone rearranged
    all_rearranged_error (difference)    of my outputs: other pairing, W_q, W_k and W_v rearranged
    longest_wave (shared, tokens)        until the slowest pair has turned once
    distinct_bf16 (shared, count)        different numbers that ids 0 to context - 1 make in bf16
    first_lost_bf16 (shared, index)      the first id that bf16 cannot hold (-1: none)
    all_bf16_error (shared, difference)  of cos and sin, largest: ids, speeds and angles in bf16
    ids_bf16_error (shared, difference)  of cos and sin, largest: ids alone in bf16, angles in fp32
    cast_error (shared, difference)      of cos and sin, largest: angles in fp32, the result in bf16

Run
    quizkit demo rope-context --gpus 4
    python demos/rope_context.py --ranks 4 --layout striped --pairing halves
    torchrun --nproc-per-node 4 demos/rope_context.py
"""

from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, max_error, rank, ranks, wire

import torch
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "attention"
REGIME = ("layout",)


def rope(x, ids, how, pairing):
    """Turn each pair of features by its angle."""
    cos, sin = tables(ids, how)
    if pairing == "halves":
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def tables(ids, how):
    """Cos and sin of every token's angles, from the ids and nothing else."""
    angles = ids[:, None] * speeds(how).to(ids.device)
    return angles.cos(), angles.sin()


def speeds(how):
    """Angle per token, for each pair: the first turns by 1, the last takes longest."""
    return how.base ** (-torch.arange(0, how.dim, 2, dtype=torch.float64) / how.dim)


def places_of(owner, how):
    """Where in the sequence the tokens of one rank stand."""
    places = torch.arange(how.first, how.first + how.seq, device=device())
    if how.layout == "contiguous":
        return places.chunk(ranks())[owner]
    if how.layout == "striped":
        return places[owner :: ranks()]
    pieces = places.chunk(2 * ranks())  # zigzag: an early piece and a late one
    return torch.cat([pieces[owner], pieces[-1 - owner]])


def rearranged(x, pairing):
    """Features in the order of the other pairing, as if rows of the weight had been moved."""
    if pairing == "neighbours":
        return torch.cat([x[..., 0::2], x[..., 1::2]], -1)
    return torch.stack(x.chunk(2, -1), -1).flatten(-2)


def attend(q, k, v, how):
    """My queries over the keys of all, both turned already."""
    mine = places_of(rank(), how)
    theirs = torch.cat([places_of(owner, how) for owner in range(ranks())])
    keys, values = FromAll.apply(k), FromAll.apply(v)
    scores = q @ keys.mT / how.dim**0.5
    hidden = mine[:, None] < theirs
    return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ values


class FromAll(torch.autograd.Function):
    """All ranks' tokens, one shard after the other; on the way back, my part of the sum."""

    @staticmethod
    def forward(ctx, mine):
        """Gather."""
        return torch.cat(all_gather(mine), -2)

    @staticmethod
    def backward(ctx, gradient):
        """Every rank's queries have looked at my keys."""
        return all_reduce(gradient.clone()).chunk(ranks(), -2)[rank()]


def in_bf16(context, how):
    """What bf16 makes of the ids of a context, and of cos and sin."""
    ids = torch.arange(context, device=device())
    held, slow = ids.bfloat16(), speeds(how).to(device(), torch.float32)
    lost = (held.long() != ids).nonzero().flatten().tolist()
    exact = torch.stack(tables(ids, how))
    angles = {
        "all": held[:, None] * slow.bfloat16(),
        "ids": held.float()[:, None] * slow,
        "cast": ids.float()[:, None] * slow,
    }
    errors = {
        name: max_error(torch.stack([angle.cos(), angle.sin()]).bfloat16(), exact)
        for name, angle in angles.items()
    }
    return len(held.unique()), lost[0] if lost else -1, errors


def walk_longest_wave(how):
    """Walk on until the slowest pair has come round: its sine goes below 0, then comes back."""
    at, stride, slowest = 1, 2**16, speeds(how)[-1].item()
    for side in (-1, 1):
        found = []
        while not len(found):
            sine = (torch.arange(at, at + stride, device=device()) * slowest).sin()
            found, at = (sine * side >= 0).nonzero(), at + stride
        at += found[0].item() - stride
    return at


def main(
    seq: int = 288,  # tokens of the whole sequence
    heads: int = 2,  # heads; each rank has all of them
    dim: int = 16,  # features of a head, turned in pairs
    layout: Literal[
        "contiguous", "zigzag", "striped"
    ] = "zigzag",  # how tokens are dealt; zigzag: an early, a late piece each; striped: every n-th
    pairing: Literal["neighbours", "halves"] = "neighbours",  # (0, 1), ... or (0, d/2), ... pair up
    base: float = 10_000.0,  # of the angles: the larger, the slower the later pairs turn
    context: int = 4096,  # how many ids, from 0 on, are tried in bf16
) -> Metrics:
    """Causal attention over a sequence cut in a layout, against one process."""
    unit = 2 * ranks() if layout == "zigzag" else ranks()
    for name, size, of in (("seq", seq, unit), ("dim", dim, 2), ("heads", heads, 1)):
        if size < 1 or size % of:
            near = max(of, size // of * of)
            refuse(f"{name} must be a multiple of {of}, not {size}: {near} or {near + of}")
    if not (1 <= base <= 1e7 and 1 <= context <= 2**17):
        refuse("base lies between 1 and 10000000, context between 1 and 131072")
    how = SimpleNamespace(seq=seq, first=0, dim=dim, layout=layout, pairing=pairing, base=base)
    later = SimpleNamespace(**vars(how) | {"first": 1000})

    # Every rank draws the same q, k, v and gradient of the output, and keeps its own tokens.
    inputs = torch.randn(4, heads, seq, dim, dtype=torch.float64).to(device())
    mine = places_of(rank(), how)
    truth = one_process(inputs, how)[:, :, mine]
    q, k, v, dout = inputs[:, :, mine]
    q, k, v = (t.requires_grad_() for t in (q, k, v))

    ids = places_of(rank(), how)
    with wire() as both:
        # Turned before it leaves, a key brings its place along.
        turned = [rope(x, ids, how, pairing) for x in (q, k)]
        inner = q_in, k_in, v_in = [t.detach().requires_grad_() for t in (*turned, v)]
        with wire() as attention:
            out = attend(q_in, k_in, v_in, how)
            dq, dk, dv = torch.autograd.grad((out * dout).sum(), inner)
        dq, dk = torch.autograd.grad((turned[0] * dq + turned[1] * dk).sum(), (q, k))
    attended, all_sent = (each.sent_messages + each.collectives for each in (attention, both))
    q, k, v = (t.detach() for t in (q, k, v))

    def error_by(ids, pairing=pairing, keys=0, q=q, k=k, v=v, how=how):
        """How far my outputs are off if places (keys' by `keys` more), or pairs, are these."""
        turned = rope(q, ids, how, pairing), rope(k, ids + keys, how, pairing)
        return max_error(attend(*turned, v, how), truth[0])

    slots = torch.arange(len(mine), device=device())
    other = "halves" if pairing == "neighbours" else "neighbours"
    moved_q, moved_k = rearranged(q, pairing), rearranged(k, pairing)
    errors = {
        "slice": error_by(rank() * len(mine) + slots),
        "from_zero": error_by(slots),
        "shift": error_by(mine + 1000, how=later),  # the mask counts on from there too
        "keys_shift": error_by(mine, keys=1000),
        "mixed": error_by(mine, other),
        "rearranged": error_by(mine, other, q=moved_q, k=moved_k),
        "keys_rearranged": error_by(mine, other, k=moved_k),
        "all_rearranged": error_by(mine, other, q=moved_q, k=moved_k, v=rearranged(v, pairing)),
    }
    out_error = max_error(out, truth[0])
    grad_error = max_error(torch.stack([dq, dk, dv]), truth[1:])
    distinct, first_lost, rounded = in_bf16(context, how)

    check("output equals one process", out_error, "<", 1e-12)
    check("gradients equal one process", grad_error, "<", 1e-12)
    check("RoPE sends nothing", all_sent - attended, "==", 0)
    check("a shift of all places changes nothing", errors["shift"], "<", 1e-11)
    check("pairings differ by a permutation", errors["rearranged"], "<", 1e-12)
    return {
        "rope_messages": counted(all_sent - attended),
        "attention_messages": counted(attended),
        "out_error": shared(compared(everyone(out_error).max().item())),
        "grad_error": shared(compared(everyone(grad_error).max().item())),
        **{f"{name}_error": compared(error) for name, error in errors.items()},
        "longest_wave": shared(counted(walk_longest_wave(how))),
        "distinct_bf16": shared(counted(distinct)),
        "first_lost_bf16": shared(counted(first_lost)),
        "all_bf16_error": shared(compared(rounded["all"], floor=0)),
        "ids_bf16_error": shared(compared(rounded["ids"], floor=0)),
        "cast_error": shared(compared(rounded["cast"], floor=0)),
    }


def one_process(inputs, how):
    """The truth: the whole sequence, pairs as complex numbers, torch's own attention."""
    q, k, v = leaves = [t.clone().requires_grad_() for t in inputs[:3]]
    places = torch.arange(how.seq).to(inputs)
    waves = [2 * torch.pi * how.base ** (2 * i / how.dim) for i in range(how.dim // 2)]  # in tokens
    turns = torch.exp(2j * torch.pi * places[:, None] / inputs.new_tensor(waves))

    def turned(x):
        a, b = x.chunk(2, -1) if how.pairing == "halves" else (x[..., 0::2], x[..., 1::2])
        return torch.view_as_real(torch.complex(a, b) * turns).flatten(-2)

    out = scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
    return torch.stack([out.detach(), *torch.autograd.grad((out * inputs[3]).sum(), leaves)])


BREAKS = {
    "contiguous-slice": Break(
        old="    ids = places_of(rank(), how)\n",
        new="    ids = torch.arange(seq, device=device()).chunk(ranks())[rank()]\n",
        expect="output equals one process",
        ranks=2,
        source="cos[rank * n : (rank + 1) * n] left as it was when the shards became zigzag",
    ),
    "local-positions": Break(
        old="    ids = places_of(rank(), how)\n",
        new="    ids = torch.arange(seq // ranks(), device=device())\n",
        expect="output equals one process",
        ranks=2,
        source="models that count arange(x.shape[1]) themselves: the shard's length",
    ),
    "mixed-pairings": Break(
        old='if pairing == "halves":',
        new='if pairing != "halves":',
        expect="output equals one process",
        ranks=1,
        source="Llama's own weights pair neighbours, transformers halves: rows left as they were",
    ),
    "bf16-positions": Break(
        old="angles = ids[:, None] * speeds(how)",
        new="angles = ids.bfloat16()[:, None] * speeds(how)",
        expect="output equals one process",
        ranks=1,
        source="model.to(bfloat16), or autocast, reaching the tensor that ids or angles lie in",
    ),
    "turned-twice": Break(
        old="keys, values = FromAll.apply(k)",
        new="keys, values = rope(FromAll.apply(k), theirs, how, how.pairing)",
        expect="output equals one process",
        ranks=1,
        source="keys sent, or cached, turned already, and turned once more by code that reads them",
    ),
    "tables-gathered": Break(
        old="cos, sin = tables(ids, how)",
        new="cos, sin = (all_gather(table)[rank()] for table in tables(ids, how))",
        expect="RoPE sends nothing",
        ranks=1,
        source="often said: ranks have to synchronise positions to keep them consistent",
    ),
}

if __name__ == "__main__":
    run(__file__)
