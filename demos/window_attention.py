"""A window of W sees W tokens a layer: a cache of W, a halo of W - 1, a reach of L(W - 1) + 1.

The trick
    A token attends to itself and the W - 1 before it. Pairs grow with S x W instead of S x S. Layer
    on layer the reach still grows, by W - 1 each: what a token has heard of, the next layer passes
    on. Decoding, a token that has left the window is never seen again by this layer, so its slot
    (position mod W) goes to the newest; slots are then out of order, which a softmax does not mind,
    as keys were turned by their true position before they were kept.
    Under context parallelism a rank needs the W - 1 tokens before its first, and no others: the
    left neighbour sends the end of its K and V, a halo, where full attention sends all of them
    round. Their gradients go back to it. No zigzag is needed: all ranks but the first do the same.

Watch
    pairs_full (shared, count, forward)    pairs of query and key that see each other in a layer,
        plain causal mask
    pairs_window (shared, count, forward)  pairs of query and key that see each other in a layer,
        with the window
    work (count, forward)                  visible pairs of query and key that a rank attends to in
        a layer, for its one head
    kv_tokens (tokens, forward)            whose keys and values a rank has in a layer, halo
        included
    sent_halo (bytes, forward)             sent by a rank, all layers
    sent_home (bytes, backward)            sent by a rank, all layers: its halo's gradients;
        weights' do not count
    sent_ring (bytes, forward)             sent by a rank, all layers, if K and V went round instead
    reach (shared, tokens, forward)        that move the last output if they change, itself included
    cache_window (shared, bytes, forward)  K and V after the last token, all layers, slots used
        again
    cache_full (shared, bytes, forward)    K and V after the last token, all layers, if all are kept
    decode_error (shared, difference)      of outputs token by token through the small cache, from
        all at once
    out_error (shared, difference)         of outputs with a halo from one process, largest
    grad_error (shared, difference)        of gradients with a halo from one process, largest

Run
    quizkit demo window-attention --gpus 4
    python demos/window_attention.py --ranks 4 --layers 4 --window 9
    torchrun --nproc-per-node 4 demos/window_attention.py
"""

from collections import Counter
from math import inf

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_reduce, device, everyone, exchange, isend, max_error, rank, ranks, recv, wire

import torch
from torch.nn.functional import rms_norm, scaled_dot_product_attention

TOPIC = "attention"


def forward(x, weights, first, window, fetch, tally):
    """All layers over tokens from `first` on; `fetch` brings what they may look at before that."""
    end = first + x.shape[-2]
    places = torch.arange(end, device=x.device)
    for weight in weights:
        q, kv = project(x, weight, places[first:])
        kv = fetch(kv, window)
        keys = places[end - kv.shape[-2] :]
        x = x + attend(q, kv, may_see(places[first:], keys, window), tally)
        tally["held"] = len(keys)
    return x


def may_see(query, key, window):
    """By position: a token sees itself and what came before it, `window` tokens in all."""
    gap = query[:, None] - key
    return (gap >= 0) & (gap < window)


def attend(q, kv, visible, tally):
    """Attention of these queries to these keys under a mask."""
    (k, v), scale = kv, q.shape[-1] ** -0.5
    tally["pairs"] += int(visible.sum())
    return (q @ k.mT * scale).masked_fill(~visible, -inf).softmax(-1) @ v


def halo(kv, window):
    """Autograd does not look into messages: it is told what their gradient is."""
    return Halo.apply(kv, window)


class Halo(torch.autograd.Function):
    """The end of the left neighbour's keys and values, ahead of mine."""

    @staticmethod
    def forward(ctx, kv, window):
        """My first token looks back W - 1; so do I hand on as many."""
        edge, before = window - 1, kv[:, :0]
        flight = isend(kv[:, -edge:], rank() + 1) if rank() < ranks() - 1 else None
        if rank() > 0:
            before = recv(torch.empty_like(kv[:, -edge:]), rank() - 1)
        if flight:
            flight.wait()
        ctx.edge = edge
        return torch.cat([before, kv], 1)

    @staticmethod
    def backward(ctx, gradient):
        """What my queries found for the neighbour's keys and values goes back to it."""
        edge = ctx.edge if rank() > 0 else 0
        before, own = gradient[:, :edge], gradient[:, edge:].clone()
        flight = isend(before, rank() - 1) if rank() > 0 else None
        if rank() < ranks() - 1:
            own[:, -ctx.edge :] += recv(torch.empty_like(own[:, -ctx.edge :]), rank() + 1)
        if flight:
            flight.wait()
        return own, None


def ring(kv, window):
    """All keys and values go round, as they must without a window; I use those up to mine."""
    blocks, passing = [kv], kv
    for _ in range(ranks() - 1):
        room, ahead, behind = torch.empty_like(kv), (rank() + 1) % ranks(), (rank() - 1) % ranks()
        passing = exchange(passing, ahead, room, behind).wait()
        blocks.append(passing)
    return torch.cat(blocks[rank() :: -1], 1)


def decode(x, weights, window, slots):
    """Token by token; a layer keeps the keys and values of as many tokens as it has slots."""
    caches, outputs = [{} for _ in weights], []
    for t, token in enumerate(x.split(1)):
        now = torch.tensor([t], device=x.device)
        for weight, cache in zip(weights, caches, strict=True):
            place = now
            q, kv = project(token, weight, place)
            cache[t % slots] = now, kv  # where the oldest was
            times = torch.cat([time for time, _ in cache.values()])
            kept = torch.cat([kv for _, kv in cache.values()], 1)
            token = token + attend(q, kept, may_see(now, times, window), Counter())
        outputs.append(token)
    return torch.cat(outputs), sum(kv.nbytes for cache in caches for _, kv in cache.values())


def project(x, weight, places):
    """Queries; keys and values. Queries and keys are turned here, once and for all."""
    # Without the norm scores grow layer by layer, until each row has one key only.
    q, k, v = (rms_norm(x, x.shape[-1:]) @ weight).chunk(3, -1)
    return rotate(q, places), torch.stack([rotate(k, places), v])


def rotate(x, places):
    """RoPE: turn each pair of features by an angle that grows with the token's position."""
    # In fp64 whatever x is: in bf16 all places from 256 on would be rounded, and neighbours one.
    turns = torch.linspace(0, 1, x.shape[-1] // 2, dtype=torch.float64, device=x.device)
    angle = places[:, None] * 100.0**-turns
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def mine(kv, window):
    """On one rank there is nothing to fetch."""
    return kv


def reach(x, weights, window):
    """How many tokens move the last output: a gradient keeps what a difference rounds away."""
    last = forward(x, weights, 0, window, mine, Counter())[-1]
    [slopes] = torch.autograd.grad(last.square().sum(), x)
    return int((slopes != 0).any(-1).sum())


def main(
    seq: int = 48,  # tokens of the whole sequence, as many on each rank
    layers: int = 3,  # layers, of attention alone
    window: int = 6,  # W: the tokens that a token sees in a layer, itself included
    width: int = 8,  # features of a token, all in one head
) -> Metrics:
    """A few layers of attention over one sequence; each rank has as many tokens, in order."""
    n = ranks()
    if window < 2 or layers < 1 or width < 2 or width % 2:
        refuse("take layers 1 or more, a window of 2 or more, and a width of 2, 4, 6, ...")
    if seq % n or seq < n * (window - 1):
        least = max(window - 1, -(-seq // n)) * n
        refuse(f"each rank needs as many tokens, W - 1 at least: take seq {least} or {least + n}")
    like, tokens = {"dtype": torch.float64, "device": device()}, seq // n
    x = torch.randn(seq, width, **like).requires_grad_()
    drawn = torch.randn(layers, width, 3 * width, **like) / width**0.5
    weights = [weight.requires_grad_() for weight in drawn.unbind()]
    slope, here = torch.randn(seq, width, **like), slice(rank() * tokens, (rank() + 1) * tokens)
    truth = one_process(x, weights, window)
    gradients = torch.autograd.grad((truth * slope).sum(), [x, *weights])

    local, tally = x.detach()[here].requires_grad_(), Counter()
    with wire() as out_wire:
        out = forward(local, weights, here.start, window, halo, tally)
    with wire() as back_wire:
        dx, *dweights = torch.autograd.grad((out * slope[here]).sum(), [local, *weights])
    out_error = max_error(out, truth[here])
    found = [dx, *(all_reduce(gradient) for gradient in dweights)]
    expected = [gradients[0][here], *gradients[1:]]
    # Of several numbers, torch's largest is NaN if one of them is.
    grad_error = torch.tensor([*map(max_error, found, expected)]).max().item()
    check("halo: out as one process", out_error, "<", 1e-12)
    check("halo: grad as one process", grad_error, "<", 1e-12)

    with torch.no_grad(), wire() as ring_wire:
        round_trip = forward(local, weights, here.start, window, ring, Counter())
        check("ring: out as one process", max_error(round_trip, truth[here]), "<", 1e-12)
    for name, sent in (("halo", out_wire), ("ring", ring_wire)):
        picture("messages", f"{name}: sent by each rank to each", row=sent.to, unit="bytes")
    reached = reach(x, weights, window)
    with torch.no_grad():
        small, small_bytes = decode(x, weights, window, slots=window)
        large, large_bytes = decode(x, weights, window, slots=seq)
        whole = {size: Counter() for size in (seq, window)}
        for size, pairs in whole.items():
            forward(x, weights, 0, size, mine, pairs)
    check("small cache: out as one process", max_error(small, truth), "<", 1e-12)
    check("whole cache: out as one process", max_error(large, truth), "<", 1e-12)
    check("a layer reaches W - 1 further", reached, "==", min(seq, layers * (window - 1) + 1))
    return {
        "pairs_full": shared(counted(whole[seq]["pairs"] // layers)),
        "pairs_window": shared(counted(whole[window]["pairs"] // layers)),
        "work": counted(tally["pairs"] // layers),
        "kv_tokens": counted(tally["held"]),
        "sent_halo": counted(out_wire.sent_bytes),
        "sent_home": counted(back_wire.sent_bytes),
        "sent_ring": counted(ring_wire.sent_bytes),
        "reach": shared(counted(reached)),
        "cache_window": shared(counted(small_bytes)),
        "cache_full": shared(counted(large_bytes)),
        "decode_error": shared(compared(max_error(small, truth))),
        "out_error": shared(compared(everyone(out_error).max().item())),
        "grad_error": shared(compared(everyone(grad_error).max().item())),
    }


def one_process(x, weights, window):
    """The truth: all tokens in one place, torch's own attention under a band of a mask."""
    places = torch.arange(len(x), device=x.device)
    band = torch.ones(len(x), len(x), dtype=torch.bool, device=x.device).tril().triu(1 - window)
    for weight in weights:
        q, (k, v) = project(x, weight, places)
        x = x + scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=band)[0]
    return x


BREAKS = {
    "one-too-many": Break(
        old="(gap < window)",
        new="(gap <= window)",
        expect="halo: out as one process",
        ranks=1,
        source="transformers with flash-attn until 2025: window_size=(W, W), which is W + 1 tokens",
    ),
    "short-halo": Break(
        old="edge, before = window - 1, kv[:, :0]",
        new="edge, before = window - 2, kv[:, :0]",
        expect="halo: out as one process",
        ranks=2,
        source="the classic slip at a border: the first token of a rank misses one key",
    ),
    "gradient-stays": Break(
        old="own[:, -ctx.edge :] += recv(",
        new="_ = recv(",
        expect="halo: grad as one process",
        ranks=2,
        source="the halo treated as data: outputs are right, keys lose what others found for them",
    ),
    "keeps-the-oldest": Break(
        old="cache[t % slots] =",
        new="cache[min(t, slots - 1)] =",
        expect="small cache: out as one process",
        ranks=1,
        source="a full buffer overwrites its last slot: the newest goes and the oldest stays",
    ),
    "position-from-length": Break(
        old="place = now",
        new="place = torch.tensor([len(cache)], device=x.device)",
        expect="small cache: out as one process",
        ranks=1,
        source="position ids from the length of the cache, which stops at W once slots are reused",
    ),
}

if __name__ == "__main__":
    run(__file__)
