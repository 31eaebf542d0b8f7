"""Two dimensions: heads are cut inside a group, K and V go round between groups, in fewer hops.

The trick
    Ulysses ends at the number of heads, a ring has no end but sends more with every rank. So lay
    P ranks out as a grid, P = U x R. A row of U ranks has a block of s/R tokens and trades its
    tokens for heads by all-to-all; a column of R ranks has the same h/U heads, and its K and V go
    round. A block of s/R tokens and g/U KV heads is as large as the K and V of s/P tokens with all
    heads, but it makes R-1 hops, not P-1. Which of the two lies inside a node decides what has to
    cross the network: neighbouring ranks are a row (`--inside heads`) or a column (`ring`).
    Zigzag balances the blocks of the ring, so tokens are dealt to rows first, then within a row.
    (RoPE, overlap and a backward that keeps no blocks are in `ring-attention`: here autograd does.)

Watch
    heads_held (count, forward)      query heads of a rank inside attention
    tokens_held (tokens, forward)    tokens whose queries a rank has inside attention
    work_all_heads (count, forward)  visible pairs of query and key that a rank attends to, all its
        heads
    own_kv_bytes (bytes)             K and V of a rank's own tokens, all heads
    heads_near (bytes, forward)      sent by a rank's all-to-alls inside its node
    heads_far (bytes, forward)       sent by a rank's all-to-alls to other nodes
    ring_near (bytes, forward)       K and V that a rank passes on inside its node
    ring_far (bytes, forward)        K and V that a rank passes on to another node
    out_error (shared, difference)   of the output from one process, largest
    grad_error (shared, difference)  of the gradients of q, k and v from one process, largest
    sdpa_error (shared, difference)  of output and gradients from torch's attention over the whole
        sequence

Run
    quizkit demo ring-ulysses --gpus 4
    python demos/ring_ulysses.py --ranks 8 --ulysses 4 --inside ring
    torchrun --nproc-per-node 4 demos/ring_ulysses.py
"""

from collections import Counter
from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import broadcast, device, everyone, exchange, max_error, rank, ranks, wire

import torch
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "cp"
REGIME = ("inside",)


def two_dimensions(seq, place, q, k, v):
    """Attention of my tokens to the whole sequence: by heads in my row, round my column."""
    rows = len(place.ring)
    place.dtype = q.dtype
    q, k, v = (wide(Moved.apply(x, to_heads, to_tokens, place)) for x in (q, k, v))
    # From here on my row has the whole block, and I my heads of it.
    here = block(seq, place.row, rows)
    kv = torch.stack([k, v])
    work = 0
    for step in range(rows):
        visible = here[:, None] >= block(seq, (place.row - step) % rows, rows)
        work += len(q) * int(visible.sum())
        part, part_lse = attend(visible, q, *kv)
        if step == 0:  # my own block: every token sees itself
            out, lse = part, part_lse
        else:
            both = torch.logaddexp(lse, part_lse)
            out = (lse - both).exp() * out + (part_lse - both).exp() * part
            lse = both
        if step < rows - 1:
            kv = Moved.apply(kv, ahead, home, place)
    out = Moved.apply(out.to(place.dtype), to_tokens, to_heads, place)
    return out, len(q), len(here), work


def to_heads(x, place):
    """All heads of my tokens become my heads of the tokens of my row."""
    return torch.cat(all_to_all(x.chunk(len(place.heads), dim=0), place), dim=1)


def to_tokens(x, place):
    """My heads of the tokens of my row become all heads of my tokens."""
    return torch.cat(all_to_all(x.chunk(len(place.heads), dim=1), place), dim=0)


def all_to_all(parts, place):
    """Each rank of my row gets its part; mine come back in order."""
    row, me = place.heads, place.column
    came, flights = list(parts), {}
    for step in range(1, len(row)):
        to, source = (me + step) % len(row), (me - step) % len(row)
        flights[source] = deliver(parts[to].contiguous(), row[to], row[source], "heads", place)
    for source, flight in flights.items():
        came[source] = flight.wait()
    return came


def ahead(x, place):
    """Keys and values go this way, in the dtype that they came in."""
    return pass_on(x.to(place.dtype), place, 1).to(x.dtype)


def home(x, place):
    """And their gradients that way, growing at every rank they pass."""
    return pass_on(x, place, -1)


def pass_on(x, place, by):
    """To the rank so many further in my column, and from the one so many before."""
    ring, me = place.ring, place.row
    to, source = ring[(me + by) % len(ring)], ring[(me - by) % len(ring)]
    return deliver(x, to, source, "ring", place).wait()


class Moved(torch.autograd.Function):
    """A tensor sent one way, and its gradient the other."""

    @staticmethod
    def forward(ctx, x, there, back, place):
        """What comes of it."""
        ctx.back, ctx.place = back, place
        return there(x, place)

    @staticmethod
    def backward(ctx, gradient):
        """What autograd sees."""
        return ctx.back(gradient.contiguous(), ctx.place), None, None, None


def attend(visible, q, k, v):
    """Attention over one block of keys: its output, and the log of its normaliser."""
    k, v = (x.repeat_interleave(len(q) // len(k), dim=0) for x in (k, v))
    # Not -inf: a query that sees nothing of a block gets a share of exactly 0, and no NaN.
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~visible, -1e30)
    lse = scores.logsumexp(-1, keepdim=True)
    return (scores - lse).exp() @ v, lse


def wide(x):
    """In fp32 at least: a sum kept in bf16 would be rounded again for every block that comes."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def lay_out(row_length, inside, per_node):
    """The grid, and where in it this rank stands: whom it trades heads with, who is in its ring."""
    lines = torch.arange(ranks())  # neighbours are a row, or a column
    grid = lines.view(-1, row_length) if inside == "heads" else lines.view(row_length, -1).T
    row, column = (grid == rank()).nonzero()[0].tolist()
    place = SimpleNamespace(row=row, column=column, per_node=per_node, sent=Counter())
    place.heads = grid[row].tolist()
    place.ring = grid[:, column].tolist()
    return place


def block(seq, row, rows):
    """Where in the sequence the tokens of a row stand: an early piece, and a late one."""
    pieces = torch.arange(seq, device=device()).chunk(2 * rows)
    return torch.cat([pieces[row], pieces[-1 - row]])


def deliver(x, to, source, kind, place):
    """One message there, one from elsewhere; what it takes is booked by how far it goes."""
    with wire() as sent:
        flight = exchange(x, to, torch.empty_like(x), source)
    distance = "near" if to // place.per_node == rank() // place.per_node else "far"
    place.sent[f"{kind}_{distance}"] += sent.sent_bytes
    return flight


def main(
    seq: int = 96,  # tokens of the whole sequence
    heads: int = 4,  # query heads in all
    kv_heads: int = 2,  # KV heads in all: they divide heads, and U divides them
    dim: int = 8,  # features of a head
    ulysses: int = 0,  # U: ranks in a row; 0 is 2 where that divides the ranks, else 1
    inside: Literal["heads", "ring"] = "heads",  # heads: neighbours are a row; ring: a column
    per_node: int = 2,  # neighbouring ranks on a node
) -> Metrics:
    """U x R ranks, U from `ulysses` (0: 2 where that divides the ranks); against one process."""
    n = ranks()
    across = ulysses or (1 if n % 2 else 2)
    if min(seq, heads, kv_heads, dim, across, per_node) < 1:
        refuse("seq, heads, kv-heads, dim, ulysses and per-node start at 1")
    if heads % kv_heads:
        near = max(k for k in range(1, kv_heads) if heads % k == 0)
        refuse(f"{kv_heads} KV heads do not go with {heads} heads: take {near}")
    if n % across or kv_heads % across:
        fit = [u for u in range(1, across) if n % u == 0 and kv_heads % u == 0]
        refuse(f"ulysses {across} must divide {n} ranks and {kv_heads} KV heads: take {max(fit)}")
    rows = n // across
    if seq % (unit := n * (1 + across % 2)):
        low = max(unit, seq // unit * unit)
        refuse(f"seq must be a multiple of {unit}, not {seq}: {low} or {low + unit}")

    like = {"dtype": torch.float64, "device": device()}
    whole = [torch.randn(count, seq, dim, **like) for count in (heads, kv_heads, kv_heads)]
    towards = torch.randn(heads, seq, dim, **like)
    place = lay_out(across, inside, per_node)
    mine = block(seq, place.row, rows).chunk(across)[place.column]
    leaves = [x[:, mine].requires_grad_() for x in whole]
    out, held, tokens, work = two_dimensions(seq, place, *leaves)
    sent = Counter(place.sent)
    with wire() as backward:
        (out * towards[:, mine]).sum().backward()

    results = [out.detach(), *[leaf.grad for leaf in leaves]]
    out_error, *gradients = differences(results, whole, towards, mine, False)
    sdpa_error = worst(differences(results, whole, towards, mine, True))
    check("output as on one process", out_error, "<", 1e-12)
    check("gradients as on one process", worst(gradients), "<", 1e-12)
    check("as torch's attention", sdpa_error, "<", 1e-12)
    pairs = everyone(work).sum().item()
    check("each pair is attended to once", pairs, "==", heads * seq * (seq + 1) // 2)
    check("all attend to equally many", work * n, "==", pairs)
    kv_bytes = leaves[1].nbytes + leaves[2].nbytes
    ring_bytes = sent["ring_near"] + sent["ring_far"]
    check("a hop carries K and V of a rank's tokens", ring_bytes, "==", (rows - 1) * kv_bytes)
    all_to_alls = 2 * leaves[0].nbytes + kv_bytes
    traded = (sent["heads_near"] + sent["heads_far"]) * across
    check("all-to-alls leave 1/U at home", traded, "==", (across - 1) * all_to_alls)
    check("backward sends what forward sent", backward.sent_bytes, "==", sum(sent.values()))
    return {
        "heads_held": counted(held),
        "tokens_held": counted(tokens),
        "work_all_heads": counted(work),
        "own_kv_bytes": counted(kv_bytes),
        "heads_near": counted(sent["heads_near"]),
        "heads_far": counted(sent["heads_far"]),
        "ring_near": counted(sent["ring_near"]),
        "ring_far": counted(sent["ring_far"]),
        "out_error": shared(compared(everyone(out_error).max().item())),
        "grad_error": shared(compared(everyone(gradients).max().item())),
        "sdpa_error": shared(compared(everyone(sdpa_error).max().item())),
    }


def on_one_rank(whole, towards, official):
    """Output and gradients over the whole sequence: by hand, or by torch's attention."""
    q, k, v = (x.clone().requires_grad_() for x in whole)
    keys, values = (x.repeat_interleave(len(q) // len(k), 0) for x in (k, v))
    if official:
        out = scaled_dot_product_attention(q, keys, values, is_causal=True)
    else:
        scores = q @ keys.mT / q.shape[-1] ** 0.5
        later = torch.ones_like(scores[0], dtype=torch.bool).triu(1)
        out = scores.masked_fill(later, -torch.inf).softmax(-1) @ values
    return [out.detach(), *torch.autograd.grad((out * towards).sum(), [q, k, v])]


def differences(results, whole, towards, mine, official):
    """From one rank's output and gradients, of which I have some tokens: the largest of each."""
    truth = [torch.empty_like(x) for x in (whole[0], *whole)]
    if rank() == 0:  # the reference has s x s scores: one rank computes it for all
        truth = [x.contiguous() for x in on_one_rank(whole, towards, official)]
    pairs = zip(results, truth, strict=True)
    return [max_error(ours, broadcast(right, 0)[:, mine]) for ours, right in pairs]


def worst(errors):
    """The largest; NaN stays NaN."""
    return torch.tensor(errors).max().item()


BREAKS = {
    "one-ring-for-all": Break(
        old="to, source = ring[(me + by) % len(ring)], ring[(me - by) % len(ring)]",
        new="to, source = (rank() + by) % ranks(), (rank() - by) % ranks()",
        expect="output as on one process",
        ranks=4,
        source="a ring over all of CP: where a row is inside a node, the next rank has other heads",
    ),
    "dealt-for-one-ring": Break(
        old="mine = block(seq, place.row, rows).chunk(across)[place.column]",
        new="mine = block(seq, rank(), n)",
        expect="output as on one process",
        ranks=2,
        source="a loader that cuts zigzag over all of CP, whatever part of it is the ring",
    ),
    "gradients-go-ahead": Break(
        old="return pass_on(x, place, -1)",
        new="return pass_on(x, place, 1)",
        expect="gradients as on one process",
        ranks=3,
        source="the forward's direction kept for the backward: unseen where a ring has two ranks",
    ),
    "repeated-first": Break(
        old="kv = torch.stack([k, v])",
        new="kv = torch.stack([k, v]).repeat_interleave(len(q) // len(k), 1)",
        expect="a hop carries K and V of a rank's tokens",
        ranks=3,
        source="K and V repeated for GQA first, as plain attention code does: h/g times the bytes",
    ),
}

if __name__ == "__main__":
    run(__file__)
