"""Gather all keys and values, mask by places, attend once: a ring's bytes, more memory, any mask.

The trick
    Queries stay. Every rank lacks the K and V of all others, so it is sent (P-1)/P of them: as
    many bytes as in a ring, in one collective instead of P-1 messages with attention in between.
    Then attention is one ordinary call of n queries on s keys, and whatever mask there is can be
    cut out of the whole one by where tokens stand. Two prices: a rank holds all of K and V, and
    nothing hides the gather. With grouped queries K and V are small; and heads do not mix, so the
    next KV head can come while this one is attended to (by head), few being held at any time.
    Backward, each rank has found a share of dK and dV for every token: shares are added up and
    each goes home, a reduce-scatter. What was not kept is gathered once more.
    A gather takes P-1 times --hop; attending to a block without mask takes 1.

Watch
    sent_forward (bytes, forward)            K and V that a rank sends: its own, to every other rank
    messages_forward (messages, forward)     sent by a rank: one to every other
    sent_backward (bytes, backward)          shares of dK and dV that a rank sends home; nothing is
        gathered again
    sent_backward_by_head (bytes, backward)  by head: K and V, gathered once more, and the shares of
        dK and dV
    kv_block_bytes (shared, bytes)           K and V of one rank's tokens
    kv_alive (bytes, forward)                gathered K and V alive on a rank while attention runs,
        all at once
    kv_alive_by_head (bytes, forward)        gathered K and V alive on a rank by head: one here, one
        on its way
    kv_kept (bytes, forward)                 gathered K and V that stay on a rank until the
        backward, its own block included
    kv_kept_by_head (bytes, forward)         gathered K and V that stay on a rank until the
        backward, by head
    work (count, forward)                    visible pairs of query and key that a rank attends to,
        for one head
    time_attention (shared, ticks, forward)  of the slowest rank if K and V were there already
    time_at_once (shared, ticks, forward)    gather, then attend
    time_by_head (shared, ticks, forward)    by head: the next one comes meanwhile
    out_error (shared, difference)           of the output from one process, largest
    q_grad_error (shared, difference)        of the gradient of q from one process, largest
    kv_grad_error (shared, difference)       of the gradients of k and v from one process, largest
    sdpa_error (shared, difference)          of output and gradients from
        scaled_dot_product_attention, largest

Run
    quizkit demo all-gather-attention --gpus 4
    python demos/all_gather_attention.py --ranks 4 --kv-heads 8 --hop 0.1
    torchrun --nproc-per-node 4 demos/all_gather_attention.py
"""

import weakref
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import device, everyone, exchange, max_error, rank, ranks, virtual_clock, wire

import torch

TOPIC = "cp"


def forward(q_parts, kv_parts, seen, clock):
    """A gather and an attention for each part; the next part is on its way meanwhile."""
    memory, outs = [], []
    held = 0
    cost = int(seen.sum()) / len(seen) ** 2 / len(q_parts)
    flying = start_gather(kv_parts[0])
    for i, q in enumerate(q_parts):
        kv = Gathered.apply(kv_parts[i], flying)
        flying = start_gather(kv_parts[i + 1]) if i + 1 < len(kv_parts) else {}
        # Rooms for what is coming count as well: a block is held until its memory is free.
        coming = sum(part.nbytes for part in kv_parts[i + 1 : i + 2]) * len(flying)
        memory.append(weakref.ref(kv.untyped_storage()))
        held = max(held, alive(memory) + coming)
        clock.spend(cost, f"A{i}")
        outs.append(attend(q, kv, seen))
    del kv
    return torch.cat(outs), held, alive(memory)


def attend(q, kv, seen):
    """Ordinary attention; query heads share the KV head of their group."""
    k, v = kv
    # A group's queries are rows below one another: no copy of K and V for each of its heads.
    grouped = q.unflatten(0, (len(k), -1))
    scores = (grouped.flatten(1, 2) @ k.mT / q.shape[-1] ** 0.5).unflatten(1, grouped.shape[1:3])
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return (weights.flatten(1, 2) @ v).view_as(grouped).flatten(0, 1)


def my_mask(seq, document):
    """Which of all keys my queries may see: earlier ones, of the same document."""
    rows = places(rank(), seq)
    # Gathered keys lie in order of rank, which under zigzag is not that of the sequence.
    keys = torch.cat([places(owner, seq) for owner in range(ranks())])
    earlier = rows[:, None] >= keys
    same = rows[:, None] // document == keys // document
    return earlier & same


def places(owner, seq):
    """Zigzag: an early piece and a late one, so that all ranks see about as much."""
    pieces = torch.arange(seq, device=device()).chunk(2 * ranks())
    return torch.cat([pieces[owner], pieces[-1 - owner]])


def start_gather(mine):
    """My block goes to all others, theirs come to me."""
    flying = {}
    for step in range(1, ranks()):
        ahead, behind = (rank() + step) % ranks(), (rank() - step) % ranks()
        flying[behind] = exchange(mine, ahead, torch.empty_like(mine), behind)
    return flying


class Gathered(torch.autograd.Function):
    """All ranks' blocks, one behind the other in order of rank."""

    @staticmethod
    def forward(ctx, mine, flying):
        """Wait for the blocks that are on their way."""
        blocks = [flying[i].wait() if i in flying else mine for i in range(ranks())]
        return torch.cat(blocks, -2)

    @staticmethod
    def backward(ctx, gradient):
        """What was copied to all comes back from all, added up."""
        return reduce_scatter(gradient), None


def reduce_scatter(gradient):
    """What each rank found for all tokens: every share goes to its owner, and is added up there."""
    shares = gradient.chunk(ranks(), -2)
    total = shares[rank()].to(torch.promote_types(gradient.dtype, torch.float32), copy=True)
    for step in range(1, ranks()):
        owner, other = (rank() + step) % ranks(), (rank() - step) % ranks()
        total += exchange(shares[owner], owner, torch.empty_like(shares[other]), other).wait()
    return total.to(gradient.dtype)  # bf16 is rounded once, and not at every share that comes


def backward_by_head(q_parts, kv_parts, dout_parts, seen):
    """Nothing was kept: gather each part again, attend again, and go back through it at once."""
    gradients = []
    for q, kv, dout in zip(q_parts, kv_parts, dout_parts, strict=True):
        q, kv = q.detach().requires_grad_(), kv.detach().requires_grad_()
        out = attend(q, Gathered.apply(kv, start_gather(kv)), seen)
        gradients.append(torch.autograd.grad((out * dout).sum(), (q, kv)))
    dq, dkv = zip(*gradients, strict=True)
    return torch.cat(dq), torch.cat(dkv, 1)


def alive(memory):
    """Bytes of these storages that nobody has let go of."""
    return sum(storage.nbytes() for seen in memory if (storage := seen()) is not None)


def main(
    seq: int = 192,  # tokens in the whole sequence
    heads: int = 8,  # query heads
    kv_heads: int = 4,  # KV heads, each for a group of heads / kv-heads query heads
    dim: int = 8,  # numbers in a token's vector, for one head
    document: int = 75,  # tokens of a packed document; a query sees its own document only
    hop: float = 0.2,  # virtual time of one rank's K and V on a link
) -> Metrics:
    """Forward and backward at once and by head, against one rank that has the whole sequence."""
    for name, size, unit in (("seq", seq, 2 * ranks()), ("heads", heads, max(1, kv_heads))):
        if size < 1 or size % unit:
            near = max(unit, size // unit * unit)
            refuse(f"{name} must be a multiple of {unit}, not {size}: {near} or {near + unit}")
    if min(kv_heads, dim, document) < 1 or not 0 <= hop < 1e9:
        refuse("kv-heads, dim and document (its tokens) start at 1; hop is 0 up to below 1e9")

    # Every rank draws the same sequence and keeps its own tokens.
    like = {"dtype": torch.float64, "device": device()}
    q, dout = torch.randn(2, heads, seq, dim, **like)
    kv = torch.randn(2, kv_heads, seq, dim, **like)
    plain, sdpa = (on_one_rank(q, kv, dout, document, official) for official in (False, True))

    here = places(rank(), seq)
    seen = my_mask(seq, document)
    q, kv = q[:, here].requires_grad_(), kv[:, :, here].requires_grad_()
    dout = dout[:, here]

    gather_time = (ranks() - 1) * hop
    with wire() as sent, virtual_clock("at once", gather_time) as clock:
        out, held, kept = forward([q], [kv], seen, clock)
        at_once = round(clock.makespan(), 9)
    with wire() as sent_back:
        dq, dkv = torch.autograd.grad((out * dout).sum(), (q, kv))
    parts = q.chunk(kv_heads), kv.chunk(kv_heads, 1), dout.chunk(kv_heads)
    with torch.no_grad(), virtual_clock("by head", gather_time / kv_heads) as clock:
        out_by_head, held_by_head, kept_by_head = forward(*parts[:2], seen, clock)
        by_head = round(clock.makespan(), 9)
    with wire() as sent_again:
        dq_by_head, dkv_by_head = backward_by_head(*parts, seen)

    errors = []
    ways = {"at once": (out, dq, dkv), "by head": (out_by_head, dq_by_head, dkv_by_head)}
    for name, (ours, *grads) in ways.items():
        for truth in (plain, sdpa):
            right = truth.grads[0][:, here], truth.grads[1][:, :, here]
            errors.append(max_error(ours.detach(), truth.out[:, here]))
            errors += [max_error(grad, exact) for grad, exact in zip(grads, right, strict=True)]
        off = torch.tensor(errors[-6:-3])
        check(f"{name}: output equals one process", off[0].item(), "<", 1e-12)
        check(f"{name}: gradients equal one process", off[1:].max().item(), "<", 1e-12)
    worst = torch.stack([everyone(error).max() for error in errors]).view(2, 2, 3).amax(0)
    sdpa_error = worst[1].max().item()
    check("output and gradients equal torch's", sdpa_error, "<", 1e-12)

    attention = everyone(int(seen.sum()) / len(here) ** 2).max().item()
    turn = max(attention, gather_time) / kv_heads
    hidden = (gather_time + attention) / kv_heads + (kv_heads - 1) * turn
    check("at once, the whole gather shows", abs(at_once - gather_time - attention), "<", 1e-8)
    check("by head, the next one comes meanwhile", by_head, "<=", hidden + 1e-8)
    return {
        "sent_forward": counted(sent.sent_bytes),
        "messages_forward": counted(sent.sent_messages),
        "sent_backward": counted(sent_back.sent_bytes),
        "sent_backward_by_head": counted(sent_again.sent_bytes),
        "kv_block_bytes": shared(counted(kv.nbytes)),
        "kv_alive": counted(held),
        "kv_alive_by_head": counted(held_by_head),
        "kv_kept": counted(kept),
        "kv_kept_by_head": counted(kept_by_head),
        "work": counted(int(seen.sum())),
        "time_attention": shared(clocked(attention)),
        "time_at_once": shared(clocked(at_once)),
        "time_by_head": shared(clocked(by_head)),
        "out_error": shared(compared(worst[0, 0].item())),
        "q_grad_error": shared(compared(worst[0, 1].item())),
        "kv_grad_error": shared(compared(worst[0, 2].item())),
        "sdpa_error": shared(compared(sdpa_error)),
    }


def on_one_rank(q, kv, dout, document, official):
    """Output and gradients over the whole sequence."""
    q, kv = q.clone().requires_grad_(), kv.clone().requires_grad_()
    # A triangle for each document, one after the other along the diagonal.
    seq = q.shape[1]
    ends = range(0, seq, document)
    triangles = [torch.ones(min(document, seq - end), min(document, seq - end)) for end in ends]
    seen = torch.block_diag(*triangles).tril().bool().to(q.device)
    if official:
        sdpa = torch.nn.functional.scaled_dot_product_attention
        out = sdpa(q[None], kv[:1], kv[1:], attn_mask=seen, enable_gqa=True)[0]
    else:
        whole = kv.repeat_interleave(len(q) // kv.shape[1], 1)
        scores = q @ whole[0].mT / q.shape[-1] ** 0.5
        out = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ whole[1]
    grads = torch.autograd.grad((out * dout).sum(), (q, kv))
    return SimpleNamespace(out=out.detach(), grads=grads)


BREAKS = {
    "own-share-only": Break(
        old="total += exchange(shares[owner]",
        new="exchange(shares[owner]",
        expect="at once: gradients equal one process",
        ranks=2,
        source="dist.all_gather has no backward; putting the own block back gives its share alone",
    ),
    "shares-mislaid": Break(
        old="exchange(shares[owner], owner,",
        new="exchange(shares[other], owner,",
        expect="at once: gradients equal one process",
        ranks=3,
        source="the share of whom I receive from goes to whom I send to; on two ranks they are one",
    ),
    "corner-mask": Break(
        old="rows = places(rank(), seq)",
        new="rows = torch.arange(seq // ranks(), device=device())",
        expect="at once: output equals one process",
        ranks=2,
        source="is_causal=True on n queries and s keys: torch's triangle starts at the top left",
    ),
    "keys-in-order": Break(
        old="keys = torch.cat([places(owner, seq) for owner in range(ranks())])",
        new="keys = torch.arange(seq, device=device())",
        expect="at once: output equals one process",
        ranks=2,
        source="the global mask laid over keys that lie in order of rank, zigzag not undone",
    ),
    "waits-at-once": Break(
        old="flying = start_gather(kv_parts[i + 1]) if i + 1 < len(kv_parts) else {}",
        new="""flying = start_gather(kv_parts[i + 1]) if i + 1 < len(kv_parts) else {}
        _ = [flight.wait() for flight in flying.values()]""",
        expect="by head, the next one comes meanwhile",
        ranks=2,
        source="a blocking gather in a loop over heads: started early, and waited for early",
    ),
}

if __name__ == "__main__":
    run(__file__)
