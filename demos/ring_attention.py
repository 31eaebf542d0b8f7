"""Ring attention is exact: queries stay, keys and values go round, partial softmaxes are merged.

The trick
    A softmax over a long row can be had piece by piece if each partial output keeps the log of its
    normaliser (log-sum-exp, lse): pieces join exactly, in any order. So a rank attends to the block
    of keys it has while that block is already on its way to the next rank, and never holds them
    all. Backward, the blocks go round again and their gradients travel with them, home.
    Under a causal mask a contiguous split leaves the last rank nearly twice the mean to do. Zigzag
    pairs an early piece with a late one, so all do the same; but the tokens of a rank are then not
    neighbours any more, and RoPE must go by where they really stand.

Watch
    sent_forward (bytes, forward)          K and V that a rank sends
    messages_forward (messages, forward)   sent by a rank: one for each block passed on
    sent_backward (bytes, backward)        sent by a rank: K and V again, their gradients a hop
        further
    kv_blocks_held (blocks, forward)       most K/V blocks alive in a rank's ring; the layer's
        inputs do not count
    kv_block_bytes (shared, bytes)         K and V of one rank's tokens
    work (count, forward)                  visible pairs of query and key that a rank attends to,
        for one head: all ranks together have S(S+1)/2 under a causal mask, S*S without
    imbalance (shared, ratio, forward)     largest work of a rank over the mean
    time_forward (shared, ticks, forward)  until the last rank is through: a block takes its visible
        share of 1, a message takes `transfer`
    out_error (shared, difference)         of outputs from plain attention over the whole sequence,
        largest
    grad_error (shared, difference)        of the gradients of q, k and v from plain attention,
        largest
    sdpa_error (shared, difference)        of outputs and gradients from torch's attention, largest
    row_sum_off (shared, difference)       of a row's weights, added up, from 1, largest
    mean_error (shared, difference)        of outputs from plain attention if parts are averaged,
        not merged

Run
    quizkit demo ring-attention --gpus 4
    python demos/ring_attention.py --ranks 4 --layout contiguous
    torchrun --nproc-per-node 4 demos/ring_attention.py
"""

import weakref
from typing import Literal

from _bench import Break, Metrics, check, clocked, compared, counted, picture, refuse, run, shared
from _bench import Flight, broadcast, device, everyone, exchange, max_error, rank, ranks
from _bench import virtual_clock, wire

import torch
from torch import Tensor

TOPIC = "cp"
REGIME = ("causal", "layout")


def merge(out: Tensor, lse: Tensor, new_out: Tensor, new_lse: Tensor) -> tuple[Tensor, Tensor]:
    """Join two softmaxes over different keys into the softmax over all of them."""
    # log(e^lse + e^new_lse), taken relative to the larger one so that nothing overflows.
    both = torch.logaddexp(lse, new_lse)
    # What was a whole row is now part of a longer one: each side is rescaled to its share of it.
    kept, added = (lse - both).exp(), (new_lse - both).exp()
    return kept * out + added * new_out, both


def forward(q: Tensor, k: Tensor, v: Tensor, visits: list, clock=None, join=merge):
    """My queries against everyone's keys, a block at a time; also the work and the blocks held."""
    kv = torch.stack([k, v])
    out, lse = wide(torch.zeros_like(q)), wide(torch.zeros_like(q[..., :1]))
    work = held = 0
    memory = [weakref.ref(kv.untyped_storage())]  # a block is held until its memory is free
    for step, (source, rows, keys, visible) in enumerate(visits):
        # The block leaves before it is used: it travels while the attention is computed.
        arriving = None
        if step < ranks() - 1:
            room = torch.empty_like(kv)
            memory.append(weakref.ref(room.untyped_storage()))
            arriving = pass_on(kv, room, name=f"KV{source}")
        held = max(held, sum(block() is not None for block in memory))
        if rows.any():
            part = attend(q[:, rows], *kv[:, :, keys], visible=visible)
            # My own block is the first and every token sees itself: no row is ever empty, so that
            # a merge never meets an lse of -inf on both sides.
            so_far = (out[:, rows], lse[:, rows])
            out[:, rows], lse[:, rows] = join(*so_far, *part) if step else part
            work += int(visible.sum())
            if clock:
                clock.spend(int(visible.sum()) / len(rows) ** 2, f"A{source}")
        if arriving:
            kv = arriving.wait()
    return out.to(q.dtype), lse, work, held


def attend(q: Tensor, k: Tensor, v: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
    """Attention over one block of keys: its output, and the log of its normaliser."""
    scores = (wide(q) @ wide(k).mT / q.shape[-1] ** 0.5).masked_fill(~visible, -torch.inf)
    lse = scores.logsumexp(-1, keepdim=True)
    return (scores - lse).exp() @ wide(v), lse


def wide(x: Tensor) -> Tensor:
    """In fp32 at least: a sum kept in bf16 would be rounded again for every block that comes."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def backward(
    dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, visits: list
) -> tuple[Tensor, Tensor, Tensor]:
    """The blocks go round again; each one's gradient grows on the way and ends where it began."""
    kv = torch.stack([k, v])
    dq, dkv = wide(torch.zeros_like(q)), wide(torch.zeros_like(kv))
    qs, douts = wide(q), wide(dout)
    scale = q.shape[-1] ** -0.5
    returning = None
    # Softmax's own correction: one number for each query, the same for all blocks.
    delta = (douts * out).sum(-1, keepdim=True)
    for step, (_, rows, keys, visible) in enumerate(visits):
        coming = pass_on(kv, torch.empty_like(kv)) if step < ranks() - 1 else None
        k_here, v_here = wide(kv[:, :, keys])
        scores = (qs[:, rows] @ k_here.mT * scale).masked_fill(~visible, -torch.inf)
        # The lse is that of whole rows by now: the weights are the true ones, nothing to merge.
        weights = (scores - lse[:, rows]).exp()
        dscores = weights * (douts[:, rows] @ v_here.mT - delta[:, rows]) * scale
        dq[:, rows] += dscores @ k_here
        # What the ranks behind me found for this block arrived while I worked on it.
        if returning:
            dkv = returning.wait()
        dkv[:, :, keys] += torch.stack([dscores.mT @ qs[:, rows], weights.mT @ douts[:, rows]])
        if ranks() > 1:
            returning = pass_on(dkv, torch.empty_like(dkv), tag=1)
        if coming:
            kv = coming.wait()
    # After its last visit a block is one hop short of home.
    dk, dv = returning.wait() if returning else dkv
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)


def pass_on(block: Tensor, room: Tensor, tag: int = 0, name: str = "") -> Flight[Tensor]:
    """Start sending a block ahead and receiving the one from behind; `wait()` returns that one."""
    ahead, behind = (rank() + 1) % ranks(), (rank() - 1) % ranks()
    # Both in one go: if every rank sent first and received after, all would wait for ever.
    return exchange(block, ahead, room, behind, tag, name)


def plan(seq: int, layout: str, causal: bool) -> list[tuple[int, Tensor, Tensor, Tensor]]:
    """For each step: whose block is here, and which of my queries may see which of its keys."""
    here = positions(rank(), seq, layout)
    visits = []
    for step in range(ranks()):
        # Blocks move ahead, so each one that arrives began one rank further behind.
        source = (rank() - step) % ranks()
        visible = (here[:, None] >= positions(source, seq, layout)) | (not causal)
        # What the mask hides as a whole is never computed: half of most blocks under zigzag.
        rows, keys = visible.any(1), visible.any(0)
        visits.append((source, rows, keys, visible[rows][:, keys]))
    return visits


def positions(owner: int, seq: int, layout: str) -> Tensor:
    """Where in the sequence the tokens of one rank stand."""
    if layout == "contiguous":
        return torch.arange(seq, device=device()).chunk(ranks())[owner]
    # An early piece sees little and a late one much: together every rank sees the same.
    pieces = torch.arange(seq, device=device()).chunk(2 * ranks())
    return torch.cat([pieces[owner], pieces[-1 - owner]])


def rotate(x: Tensor, places: Tensor) -> Tensor:
    """RoPE: turn each pair of features by an angle that grows with the token's place."""
    pairs = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
    angles = places[:, None] * 10_000.0 ** (-pairs / x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1)
    return turned.flatten(-2).to(x.dtype)


def main(
    seq: int = 384,  # tokens of the whole sequence
    heads: int = 2,  # heads; each rank has all of them
    dim: int = 16,  # features of a head
    causal: bool = True,  # whether a query looks at no later key
    layout: Literal["contiguous", "zigzag"] = "zigzag",  # tokens of a rank; zigzag: early and late
    transfer: float = 0.5,  # virtual time of a block's hop; a whole block of attention takes 1
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Ring attention, forward and backward, against one rank that has the whole sequence."""
    pieces = ranks() if layout == "contiguous" else 2 * ranks()
    for name, size, unit in (("seq", seq, pieces), ("dim", dim, 2), ("heads", heads, 1)):
        if size < 1 or size % unit:
            near = max(unit, size // unit * unit)
            refuse(f"{name} must be a multiple of {unit}, not {size}: {near} or {near + unit}")
    # Every rank draws the same sequence (q, k, v, gradient of the output) and keeps its own tokens.
    torch.manual_seed(seed)
    inputs = torch.randn(4, heads, seq, dim, dtype=torch.float64).to(device())
    here = positions(rank(), seq, layout)
    visits = plan(seq, layout, causal)
    q, k, v, dout = inputs[:, :, here]

    # Turned before they leave, keys carry their place with them: RoPE costs no message.
    places = here
    q, k = rotate(q, places), rotate(k, places)
    letters = {"A": "attention over rank {}'s K/V block", "KV": "rank {}'s K/V block"}
    with wire() as out_wire, virtual_clock("ring", transfer, **letters) as clock:
        out, lse, work, held = forward(q, k, v, visits, clock)
    sums, *_ = forward(q, k, torch.ones_like(v), visits)
    averaged, *_ = forward(q, k, v, visits, join=average)
    with wire() as back_wire:
        dq, dk, dv = backward(dout, q, k, v, out, lse, visits)
    # The gradient of a rotation is the rotation back.
    ours = torch.stack([out, rotate(dq, -places), rotate(dk, -places), dv])

    # The reference has S x S scores: one rank computes it for all.
    whole = torch.empty(2, *inputs.shape, dtype=inputs.dtype, device=inputs.device)
    if rank() == 0:
        whole[0] = on_one_rank(inputs, causal, official=False)
        whole[1] = on_one_rank(inputs, causal, official=True)
    plain, sdpa = broadcast(whole, 0)[:, :, :, here]
    errors = max_error(ours[0], plain[0]), max_error(ours[1:], plain[1:]), max_error(ours, sdpa)
    mean_error = everyone(max_error(averaged, plain[0])).max().item()
    row_sum_off = everyone(max_error(sums, torch.ones_like(sums))).max().item()
    fullest = max(int(visible.sum()) for *_, visible in visits) / len(here) ** 2
    measured = everyone([*errors, fullest, work])
    out_error, grad_error, sdpa_error, fullest, most_work = measured.amax(0).tolist()
    pairs = int(measured[:, -1].sum())
    makespan = clock.makespan()
    each_step = everyone([int(visible.sum()) for *_, visible in visits]).tolist()
    block = len(here) ** 2
    cells = [[(n > 0) + (2 * n > block) + (n == block) for n in mine] for mine in each_step]
    legend = ("no pair", "up to half of a block", "more than half", "all pairs of a block")
    title = "pairs computed by each rank in each step of the ring"
    picture("tiles", title, cells=cells, legend=legend, down="ranks", across="steps")

    check("output equals full attention", out_error, "<", 1e-12)
    check("gradients equal full attention", grad_error, "<", 1e-12)
    check("output and gradients equal torch's", sdpa_error, "<", 1e-12)
    check("each pair is attended to once", pairs, "==", seq * (seq + 1) // 2 if causal else seq**2)
    # Side by side, a step takes the longer of attention and transfer, never their sum.
    longest = ranks() * max(fullest, transfer) + 1e-9
    check("blocks travel while attention is computed", makespan, "<=", longest)
    return {
        "sent_forward": counted(out_wire.sent_bytes),
        "messages_forward": counted(out_wire.sent_messages),
        "sent_backward": counted(back_wire.sent_bytes),
        "kv_blocks_held": counted(held),
        "kv_block_bytes": shared(counted(k.nbytes + v.nbytes)),
        "work": counted(work),
        "imbalance": shared(counted(most_work * ranks() / pairs)),
        "time_forward": shared(clocked(makespan)),
        "out_error": shared(compared(out_error)),
        "grad_error": shared(compared(grad_error)),
        "sdpa_error": shared(compared(sdpa_error)),
        "row_sum_off": shared(compared(row_sum_off)),
        "mean_error": shared(compared(mean_error)),
    }


def average(out: Tensor, lse: Tensor, new_out: Tensor, new_lse: Tensor) -> tuple[Tensor, Tensor]:
    """What is often proposed in place of `merge`: both sides weigh the same."""
    return (out + new_out) / 2, lse


def on_one_rank(inputs: Tensor, causal: bool, official: bool) -> Tensor:
    """Output and gradients of ordinary attention over the whole sequence, by autograd."""
    q, k, v = (t.clone().requires_grad_() for t in inputs[:3])
    places = torch.arange(q.shape[1], device=q.device)
    turned = rotate(q, places), rotate(k, places)
    if official:
        out = torch.nn.functional.scaled_dot_product_attention(*turned, v, is_causal=causal)
    else:
        scores = turned[0] @ turned[1].mT / q.shape[-1] ** 0.5
        hidden = (places[:, None] < places) & causal
        out = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
    gradients = torch.autograd.grad((out * inputs[3]).sum(), (q, k, v))
    return torch.stack([out.detach(), *gradients])


BREAKS = {
    "mean-for-merge": Break(
        old="return kept * out + added * new_out, both",
        new="return (out + new_out) / 2, both",
        expect="output equals full attention",
        ranks=2,
        source="often said: average the partial outputs; true only of equal normalisers",
    ),
    "no-rescale": Break(
        old="return kept * out + added * new_out, both",
        new="return out + added * new_out, both",
        expect="output equals full attention",
        ranks=2,
        source="online softmax: the new part is weighed, the sum so far keeps its old weight",
    ),
    "wrong-direction": Break(
        old="source = (rank() - step) % ranks()",
        new="source = (rank() + step) % ranks()",
        expect="output equals full attention",
        ranks=3,
        source="where blocks go taken for where they come from; unseen without a causal mask",
    ),
    "stale-kv": Break(
        old="kv = coming.wait()",
        new="coming.wait()",
        expect="gradients equal full attention",
        ranks=2,
        source="the backward waits for the next block and keeps using its own; the loss is right",
    ),
    "contiguous-positions": Break(
        old="places = here",
        new='places = positions(rank(), seq, "contiguous")',
        expect="output equals full attention",
        ranks=2,
        source="cos and sin still cut at rank * tokens after the layout became zigzag",
    ),
    "wait-first": Break(
        old="return exchange(block, ahead, room, behind, tag, name)",
        new="flight = exchange(block, ahead, room, behind, tag, name)\n"
        "    flight.wait()\n    return flight",
        expect="blocks travel while attention is computed",
        ranks=2,
        source="a blocking send-receive: every number is right and nothing is hidden",
    ),
}

if __name__ == "__main__":
    run(__file__)
