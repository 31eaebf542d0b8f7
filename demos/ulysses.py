"""Ulysses: an all-to-all trades tokens for heads before attention, and back after it.

The trick
    A rank has s/P tokens with all their heads; attention wants all tokens, but one head at a time.
    So each rank gives every other the heads that are that one's, and ends up with h/P heads of the
    whole sequence: q, k and v, three all-to-alls. Inside, any kernel for one GPU will do, nothing
    is merged, and a causal mask is balanced for free; a fourth all-to-all takes the output home.
    The gradient of an all-to-all is the all-to-all back. More ranks than heads cannot work. More
    ranks than KV heads can: a KV head goes to each rank whose queries look at it, and what those
    found for it is summed on the way back. An all-to-all of a tensor sends (P-1)/P of a shard,
    a ring P-1 shards of K and V: on many ranks Ulysses wins by far, until GQA has few K and V.

Watch
    calls_forward (collectives, forward)    all-to-alls of a rank
    calls_backward (collectives, backward)  all-to-alls of a rank
    heads_held (count, forward)             query heads of a rank inside attention
    kv_held (count, forward)                KV heads of a rank inside attention, copies included
    tokens_held (tokens, forward)           tokens whose queries a rank has inside attention
    work_all_heads (count, forward)         visible pairs of query and key that a rank attends to,
        all its heads
    sent_forward (bytes, forward)           sent by a rank, with `kv_heads`
    sent_backward (bytes, backward)         sent by a rank, with `kv_heads`
    ring_forward (bytes, forward)           sent by a rank if K and V go round a ring instead,
        queries staying put
    sent_mha (bytes, forward)               sent by a rank if each query head has K and V of its own
    ring_mha (bytes, forward)               sent by a rank if the K and V of every query head go
        round a ring
    out_error (shared, difference)          of the output from one process, largest
    grad_error (shared, difference)         of the gradient of q from one process, largest
    kv_grad_error (shared, difference)      of the gradients of k and v from one process, largest
    sdpa_error (shared, difference)         of output and gradients from torch's attention over the
        whole sequence

Run
    quizkit demo ulysses --gpus 4
    python demos/ulysses.py --ranks 4 --kv-heads 8
    torchrun --nproc-per-node 4 demos/ulysses.py
"""

from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import broadcast, device, everyone, exchange, max_error, rank, ranks, wire

import torch
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "cp"
CALLS = []  # the all-to-alls so far


def ulysses(seen, q, k, v):
    """Attention of my tokens to the whole sequence; one rank never needs another inside."""
    heads, kv_heads, tokens = len(q), len(k), q.shape[1]
    # Turned by where my tokens stand, while they are still mine: it costs no message.
    places = rank() * tokens + torch.arange(tokens, device=q.device)
    q, k = rotate(q, places), rotate(k, places)
    queries, kvs = looked_at(heads, heads), looked_at(heads, kv_heads)
    q = turn(q, to_heads, to_tokens, queries)
    # A KV head may go to several ranks, and its gradient comes back from each of them.
    k, v = (turn(x, to_heads, to_tokens, kvs) for x in (k, v))
    seen.heads_held, seen.tokens_held, seen.kv_held = len(q), q.shape[1], len(k)
    # From here on a rank is alone with whole sequences of its heads.
    everything = torch.arange(q.shape[1], device=q.device)
    visible = everything[:, None] >= everything
    looks_at = [head * kv_heads // heads - kvs[rank()].start for head in queries[rank()]]
    out = scaled_dot_product_attention(q, k[looks_at], v[looks_at], attn_mask=visible)
    seen.work_all_heads = len(q) * int(visible.sum())
    return turn(out, to_tokens, to_heads, queries)


def to_heads(x, wanted):
    """All heads of my tokens become my heads of all tokens."""
    came = all_to_all([x[heads] for heads in wanted], [len(wanted[rank()])] * ranks())
    return torch.cat(came, dim=1)


def to_tokens(x, wanted):
    """My heads of all tokens become all heads of my tokens."""
    came = all_to_all(x.chunk(ranks(), dim=1), [len(heads) for heads in wanted])
    whole = x.new_zeros(wanted[-1].stop, *came[0].shape[1:])
    for heads, part in zip(wanted, came, strict=True):
        whole[heads] += part
    return whole


def all_to_all(parts, counts):
    """Give each rank its part; mine come back in order of rank, so many heads from each."""
    CALLS.append(len(parts))
    came, flights = list(parts), {}
    for step in range(1, ranks()):
        # At each step all send to somebody else, and nobody is waited for by two.
        to, source = (rank() + step) % ranks(), (rank() - step) % ranks()
        room = parts[to].new_empty(counts[source], *parts[to].shape[1:])
        flights[source] = exchange(parts[to].contiguous(), to, room, source)
    for source, flight in flights.items():
        came[source] = flight.wait()
    return came


def looked_at(heads, kv_heads):
    """For each rank, the KV heads that its query heads look at; of MHA, as many as those."""
    mine = heads // ranks()
    ends = [(r * mine, (r + 1) * mine - 1) for r in range(ranks())]
    return [range(a * kv_heads // heads, z * kv_heads // heads + 1) for a, z in ends]


def turn(x, there, back, wanted):
    """Autograd does not look into messages: it is told what their gradient is."""
    return Turn.apply(x, there, back, wanted)


class Turn(torch.autograd.Function):
    """One all-to-all on the way, and for the gradient the one back."""

    @staticmethod
    def forward(ctx, x, there, back, wanted):
        """What attention sees, or what the layer goes on with."""
        ctx.back, ctx.wanted = back, wanted
        return there(x, wanted)

    @staticmethod
    def backward(ctx, gradient):
        """What autograd sees."""
        return ctx.back(gradient, ctx.wanted), None, None, None


def rotate(x, places):
    """RoPE: turn each pair of features by an angle that grows with the token's place."""
    pairs = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
    angles = places[:, None] * 10_000.0 ** (-pairs / x.shape[-1])
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2))) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


def send_round(kv):
    """What a ring does with the blocks of K and V: each visits every rank."""
    ahead, behind = (rank() + 1) % ranks(), (rank() - 1) % ranks()
    for _ in range(ranks() - 1):
        kv = exchange(kv, ahead, torch.empty_like(kv), behind).wait()
    return kv


def shard(x):
    """The tokens of this rank."""
    return x.chunk(ranks(), dim=1)[rank()].contiguous()


def experiment(whole, towards):
    """A forward and a backward on all ranks, and the bytes of a ring for the same K and V."""
    seen = SimpleNamespace(errors=[])
    leaves = [shard(x).requires_grad_() for x in whole]
    CALLS.clear()
    with wire() as seen.forward:
        out = ulysses(seen, *leaves)
    seen.calls_forward = len(CALLS)
    with wire() as seen.backward:
        (out * shard(towards)).sum().backward()
    seen.calls_backward = len(CALLS) - seen.calls_forward
    seen.results = [out.detach(), *[leaf.grad for leaf in leaves]]
    with wire() as seen.ring:
        last = send_round(torch.stack([shard(x) for x in whole[1:]]))
    after = (rank() + 1) % ranks()
    met = torch.stack([x.chunk(ranks(), dim=1)[after] for x in whole[1:]])
    check("the ring has shown every block to every rank", max_error(last, met), "==", 0)
    for official in (False, True):
        truth = [torch.empty_like(x) for x in (whole[0], *whole)]
        if rank() == 0:  # the reference has s x s scores: one rank computes it for all
            truth = [x.contiguous() for x in on_one_rank(whole, towards, official)]
        pairs = zip(seen.results, truth, strict=True)
        seen.errors += [max_error(ours, shard(broadcast(right, 0))) for ours, right in pairs]
    return seen


def main(
    seq: int = 48,  # tokens of the whole sequence
    heads: int = 24,  # query heads in all, shared evenly by the ranks
    kv_heads: int = 2,  # KV heads in all; MHA is run as well
    dim: int = 8,  # features of a head
) -> Metrics:
    """Ulysses with the KV heads given, and with one for each query head; against one process."""
    n = ranks()
    if min(seq, heads, kv_heads, dim) < 1:
        refuse("all sizes start at 1")
    if heads % n:
        refuse(f"{n} ranks share {heads} heads evenly or not at all: take {-(-heads // n) * n}")
    for name, size, unit in (("seq", seq, n), ("dim", dim, 2)):
        if size % unit:
            near = max(unit, size // unit * unit)
            refuse(f"{name} must be a multiple of {unit}, not {size}: {near} or {near + unit}")
    if heads % kv_heads:
        near = max(k for k in range(1, kv_heads) if heads % k == 0)
        refuse(f"{kv_heads} KV heads do not go with {heads} heads: take {near}")
    like, ran = {"dtype": torch.float64, "device": device()}, {}
    for name, held in (("mha", heads), ("gqa", kv_heads)):
        whole = [torch.randn(count, seq, dim, **like) for count in (heads, held, held)]
        towards = torch.randn(heads, seq, dim, **like)
        seen = ran[name] = experiment(whole, towards)
        out, q, k, v, *sdpa = seen.errors
        check(f"{name}: output as on one process", out, "<", 1e-12)
        check(f"{name}: gradient of q as on one process", q, "<", 1e-12)
        check(f"{name}: gradients of k and v as on one process", worst([k, v]), "<", 1e-12)
        check(f"{name}: as torch's attention", worst(sdpa), "<", 1e-12)
        # q and output: the heads of all others, of my tokens. K and V: what those look at.
        kvs_elsewhere = everyone(seen.kv_held).sum().item() - seen.kv_held
        law = 2 * (heads - heads // n + kvs_elsewhere) * (seq // n) * dim * 8
        check(f"{name}: each head goes where it is looked at", seen.forward.sent_bytes, "==", law)
        sent = [everyone(pass_.sent_bytes).sum().item() for pass_ in (seen.forward, seen.backward)]
        check(f"{name}: backward sends what forward sent", sent[1], "==", sent[0])
        spread = everyone(seen.work_all_heads).std(correction=0).item()
        check(f"{name}: the mask is balanced", spread, "==", 0)
    check("our all-to-all is torch's", against_torchs(towards), "==", 0)
    counts = (
        "calls_forward",
        "calls_backward",
        "heads_held",
        "kv_held",
        "tokens_held",
        "work_all_heads",
    )
    return {name: counted(getattr(seen, name)) for name in counts} | {
        "sent_forward": counted(seen.forward.sent_bytes),
        "sent_backward": counted(seen.backward.sent_bytes),
        "ring_forward": counted(seen.ring.sent_bytes),
        "sent_mha": counted(ran["mha"].forward.sent_bytes),
        "ring_mha": counted(ran["mha"].ring.sent_bytes),
        "out_error": shared(compared(everyone(out).max().item())),
        "grad_error": shared(compared(everyone(q).max().item())),
        "kv_grad_error": shared(compared(everyone([k, v]).max().item())),
        "sdpa_error": shared(compared(everyone(sdpa).max().item())),
    }


def on_one_rank(whole, towards, official):
    """Output and gradients over the whole sequence: by hand, or by torch's attention."""
    q, k, v = (x.clone().requires_grad_() for x in whole)
    places = torch.arange(q.shape[1], device=q.device)
    looks_at = [head * len(k) // len(q) for head in range(len(q))]
    queries, keys, values = rotate(q, places), rotate(k, places)[looks_at], v[looks_at]
    if official:
        out = scaled_dot_product_attention(queries, keys, values, is_causal=True)
    else:
        scores = queries @ keys.mT / q.shape[-1] ** 0.5
        out = scores.masked_fill(places[:, None] < places, -torch.inf).softmax(-1) @ values
    return [out.detach(), *torch.autograd.grad((out * towards).sum(), [q, k, v])]


def worst(errors):
    """The largest; NaN stays NaN."""
    return torch.tensor(errors).max().item()


def against_torchs(whole):
    """Largest difference of our all-to-all from torch's; gloo takes tensors from the host only."""
    place = "cpu" if torch.distributed.get_backend() == "gloo" else device()
    parts = shard(whole).chunk(ranks())
    ours = all_to_all(parts, [len(part) for part in parts])
    given = torch.stack(parts).to(place)
    theirs = torch.empty_like(given)
    torch.distributed.all_to_all_single(theirs, given)
    return max_error(torch.stack(ours), theirs.to(device()))


BREAKS = {
    "heads-for-tokens": Break(
        old="return torch.cat(came, dim=1)",
        new="return torch.cat(came).view(len(wanted[rank()]), -1, x.shape[-1])",
        expect="gqa: output as on one process",
        ranks=2,
        source="the buffer of all_to_all_single reshaped where it must be transposed: shapes agree",
    ),
    "raw-collective": Break(
        old="return Turn.apply(x, there, back, wanted)",
        new="return there(x, wanted)",
        expect="gqa: gradient of q as on one process",
        ranks=2,
        source="torch.distributed's all_to_all has no gradient: only my own piece gets one",
    ),
    "last-copy-wins": Break(
        old="whole[heads] += part",
        new="whole[heads] = part",
        expect="gqa: gradients of k and v as on one process",
        ranks=3,
        source="KV heads copied because ranks outnumber them, their gradients written, not added",
    ),
    "local-positions": Break(
        old="places = rank() * tokens + torch.arange(tokens, device=q.device)",
        new="places = torch.arange(tokens, device=q.device)",
        expect="gqa: output as on one process",
        ranks=2,
        source="position ids made from the local shape: every shard counts from 0",
    ),
}

if __name__ == "__main__":
    run(__file__)
