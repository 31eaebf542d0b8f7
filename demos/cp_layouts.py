"""Same tokens a rank, same softmax, different waits: who holds which tokens decides who idles.

The trick
    Under a causal mask late tokens see more than early ones, so equal shares of tokens are not
    equal work. Contiguous: the last rank sees all, the first only itself. Zigzag: 2P pieces, rank
    r takes piece r and its mirror image 2P-1-r. Striped: every P-th token. In a ring ranks wait
    for one another at every step, so shares must be even at each of them, not just in the end.
    Packed documents, each with a mask of its own, tilt zigzag again: the mirror image of a piece
    lies in a document of another length. Cut each document by itself and it is even once more;
    striped is nearly so, whatever the documents. The softmax does not mind any of this: it asks
    where a token stands, not where it lies.
    Kernels leave out whole tiles only (--tile), and striped has half-hidden ones in every block.
    Transfers are free here.

Watch
    work_contiguous (count, forward)                 contiguous: pairs of query and key that a rank
        computes for one head, all of a tile unless the mask hides it as a whole; with tiles of 1
        just the visible pairs
    work_zigzag (count, forward)                     zigzag: pairs of query and key that a rank
        computes for one head
    work_striped (count, forward)                    striped: pairs of query and key that a rank
        computes for one head
    work_per_document (count, forward)               each document zigzag: pairs of query and key
        that a rank computes for one head
    imbalance_contiguous (shared, ratio, forward)    contiguous: largest work of a rank over the
        mean
    imbalance_zigzag (shared, ratio, forward)        zigzag: largest work of a rank over the mean
    imbalance_striped (shared, ratio, forward)       striped: largest work of a rank over the mean
    imbalance_per_document (shared, ratio, forward)  each document zigzag: largest work of a rank
        over the mean
    lockstep_contiguous (shared, ratio, forward)     contiguous: largest work of each ring step,
        added up, over the mean of the ranks' work: the price if all wait for the slowest of every
        step
    lockstep_zigzag (shared, ratio, forward)         zigzag: largest work of each ring step, added
        up, over the mean of the ranks' work
    lockstep_striped (shared, ratio, forward)        striped: largest work of each ring step, added
        up, over the mean of the ranks' work
    lockstep_per_document (shared, ratio, forward)   each document zigzag: largest work of each ring
        step, added up, over the mean of the ranks' work
    makespan_contiguous (shared, ticks, forward)     contiguous: a ring whose ranks wait for their
        next block only; a block without mask takes 1, transfers are free
    makespan_zigzag (shared, ticks, forward)         zigzag: a ring without lockstep
    makespan_striped (shared, ticks, forward)        striped: a ring without lockstep
    makespan_per_document (shared, ticks, forward)   each document zigzag: a ring without lockstep
    visible_pairs (shared, count, forward)           pairs the mask lets through, for one head: all
        ranks together
    error (shared, difference)                       of output and gradients of q, k and v from one
        process, worst layout
    sdpa_error (shared, difference)                  of output and gradients from
        scaled_dot_product_attention, worst layout

Run
    quizkit demo cp-layouts --gpus 4
    python demos/cp_layouts.py --ranks 4 --documents 1
    torchrun --nproc-per-node 4 demos/cp_layouts.py
"""

from _bench import Break, Metrics, check, clocked, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, exchange, max_error, rank, ranks, virtual_clock

import torch

TOPIC = "cp"
REGIME = ("documents", "tile")
LAYOUTS = ("contiguous", "zigzag", "striped", "per_document")


def deal(tokens, owner, layout, lengths):
    """What one rank holds of [tokens, ...]."""
    if layout == "contiguous":
        return tokens.chunk(ranks())[owner]
    if layout == "striped":
        return tokens[owner :: ranks()]
    held = []
    for document in tokens.split(lengths if layout == "per_document" else len(tokens)):
        # An early piece sees little and a late one much: any two mirror images see the same.
        pieces = document.chunk(2 * ranks())
        held += [pieces[owner], pieces[-1 - owner]]
    return torch.cat(held)


def places(owner, layout, lengths):
    """Where in the sequence the tokens of one rank stand: positions are dealt like tokens."""
    return deal(torch.arange(sum(lengths), device=device()), owner, layout, lengths)


def visible(rows, keys, document):
    """Which of these queries may see which of these keys: by where they stand in the sequence."""
    earlier = rows[:, None] >= keys
    same = document[rows][:, None] == document[keys]
    return earlier & same


def computed_pairs(seen, tile):
    """Pairs in the tiles a kernel has to run: all but those the mask hides as a whole."""
    tiles = seen.unflatten(0, (-1, tile)).unflatten(2, (-1, tile))
    return int(tiles.any(3).any(1).sum()) * tile**2


def ring(q, kv, masks, tile=1, clock=None):
    """My queries against everyone's keys; also the blocks that came, and the work of each step."""
    ahead, behind = (rank() + 1) % ranks(), (rank() - 1) % ranks()
    blocks, work = [], []
    for step, (source, seen) in enumerate(masks):
        arriving = None
        if step < ranks() - 1:
            arriving = exchange(kv, ahead, torch.empty_like(kv), behind, name=f"KV{source}")
        blocks.append(wide(kv).detach().requires_grad_())  # whose gradient has to go home
        part, part_lse = attend(wide(q), *blocks[-1], seen=seen)
        if step == 0:  # every token sees itself: from here on no lse is -inf
            out, lse = part, part_lse
        else:
            both = torch.logaddexp(lse, part_lse)
            out = (lse - both).exp() * out + (part_lse - both).exp() * part
            lse = both
        work.append(computed_pairs(seen, tile))
        if clock:
            clock.spend(work[-1] / seen.numel(), f"A{source}")
        if arriving:
            kv = arriving.wait()
    return out.to(q.dtype), blocks, work


def attend(q, k, v, seen):
    """Attention over one block of keys: its output, and the log of its normaliser."""
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    lse = scores.logsumexp(-1, keepdim=True)
    # A query that sees nothing here has an lse of -inf: less 0, its weights are 0 and not NaN.
    return (scores - lse.masked_fill(lse == -torch.inf, 0.0)).exp() @ v, lse


def wide(x):
    """In fp32 at least: a sum kept in bf16 would be rounded again for every block that comes."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def go_home(gradients):
    """What all ranks found for the block that this one holds; block i came from i ranks behind."""
    total = gradients[0].clone()
    for step in range(1, ranks()):
        owner, other = (rank() - step) % ranks(), (rank() + step) % ranks()
        total += exchange(gradients[step], owner, torch.empty_like(total), other).wait()
    return total


def main(
    seq: int = 384,  # tokens in the whole sequence
    documents: str = "2,1,1",  # the documents' shares of the sequence; 1 is a single document
    tile: int = 1,  # side of a kernel's tiles, in tokens
    heads: int = 2,  # attention heads
    dim: int = 8,  # numbers in a token's vector, for one head
) -> Metrics:
    """The same sequence dealt out in four ways, forward and backward, against one process."""
    shares = [int(share) if share.isdecimal() else 0 for share in documents.split(",")]
    if min(*shares, tile, heads, dim, 1) < 1:
        refuse("tile, heads and dim start at 1, and documents are shares like 1 or 2,1,1")
    unit = 2 * ranks() * tile * sum(shares)
    if seq < 1 or seq % unit:
        near = max(unit, seq // unit * unit)
        refuse(
            f"seq must be a multiple of {unit} (2 pieces a rank of whole tiles, in every one of "
            f"{sum(shares)} shares), not {seq}: {near} or {near + unit}"
        )
    lengths = [seq // sum(shares) * share for share in shares]
    document = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths)).to(device())
    # Every rank draws the same sequence (q, k, v, gradient of the output) and keeps its own tokens.
    inputs = torch.randn(4, heads, seq, dim, dtype=torch.float64).to(device())
    plain, sdpa = (on_one_rank(inputs, lengths, official) for official in (False, True))
    pairs = sum(length * (length + 1) // 2 for length in lengths)

    laws = {name: {} for name in ("work", "imbalance", "lockstep", "makespan")}
    errors = []
    piece = seq // (2 * ranks() * sum(shares))  # the side of a picture's tiles, in tokens
    legend = ["never computed", *(f"rank {each}" for each in range(ranks()))]
    for layout in LAYOUTS:
        here = places(rank(), layout, lengths)
        # Blocks move ahead, so each one that arrives began one rank further behind.
        sources = [(rank() - step) % ranks() for step in range(ranks())]
        masks = [(s, visible(here, places(s, layout, lengths), document)) for s in sources]
        # What the loader hands out and where the mask takes it to stand are two lines of code.
        held = deal(torch.arange(seq, device=device()), rank(), layout, lengths)
        q, kv, dout = inputs[0, :, held], inputs[1:3, :, held], inputs[3, :, held]
        q = q.requires_grad_()

        letters = {"A": "attention over rank {}'s K/V block", "KV": "rank {}'s K/V block"}
        with virtual_clock(layout.replace("_", " "), 0.0, **letters) as clock:
            out, blocks, work = ring(q, kv, masks, tile, clock)
            makespan = round(clock.makespan(), 9)
        dq, *dkv = torch.autograd.grad((out * dout).sum(), [q, *blocks])
        ours = torch.stack([out.detach(), dq, *go_home(dkv)])
        off = [max_error(ours, truth[:, :, held]) for truth in (plain, sdpa)]
        check(f"{layout}: output and gradients as on one process", off[0], "<", 1e-12)
        check(f"{layout}: output and gradients as torch's", off[1], "<", 1e-12)
        errors.append(torch.stack([everyone(error).max() for error in off]))
        seen = int(everyone(sum(int(mask.sum()) for _, mask in masks)).sum())
        check(f"{layout}: each visible pair has one rank", seen, "==", pairs)

        if layout != "striped":  # stripes are thinner than these tiles
            owners = torch.zeros(seq // piece, seq // piece, device=device())
            for source, mask in masks:
                seen_by, sees = mask.nonzero(as_tuple=True)
                keys = places(source, layout, lengths)
                owners[here[seen_by] // piece, keys[sees] // piece] = rank() + 1
            cells = everyone(owners.flatten().tolist()).amax(0).unflatten(0, owners.shape).tolist()
            title = f"{layout}: who computes which pairs"
            picture("tiles", title, cells=cells, legend=legend, down="queries", across="keys")

        steps = everyone(work)
        total = steps.sum(1)
        mean = steps.sum() / ranks()
        laws["work"][layout] = counted(int(total[rank()]))
        laws["imbalance"][layout] = shared(counted((total.max() / mean).item()))
        laws["lockstep"][layout] = shared(counted((steps.amax(0).sum() / mean).item()))
        laws["makespan"][layout] = shared(clocked(makespan))
        busiest, lockstep = total.max() / len(held) ** 2, steps.amax(0).sum() / len(held) ** 2
        check("no ring ends before its busiest rank", makespan, ">=", busiest - 1e-8)
        check("no ring ends later than in lockstep", makespan, "<=", lockstep + 1e-8)
        if layout == "per_document":
            slowest = (steps.amax(0) - steps.amin(0)).max().item()
            check("per_document: all ranks do the same at every step", slowest, "==", 0)
    error, sdpa_error = torch.stack(errors).amax(0).tolist()
    return {
        **{f"{law}_{layout}": laws[law][layout] for law in laws for layout in LAYOUTS},
        "visible_pairs": shared(counted(seen)),
        "error": shared(compared(error)),
        "sdpa_error": shared(compared(sdpa_error)),
    }


def on_one_rank(inputs, lengths, official):
    """Output and gradients of q, k and v over the whole sequence."""
    q, k, v = (t.clone().requires_grad_() for t in inputs[:3])
    # A triangle for each document, one after the other along the diagonal.
    seen = torch.block_diag(*[torch.ones(n, n) for n in lengths]).tril().bool().to(device())
    if official:
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    else:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        out = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v
    return torch.stack([out.detach(), *torch.autograd.grad((out * inputs[3]).sum(), (q, k, v))])


BREAKS = {
    "local-mask": Break(
        old="earlier = rows[:, None] >= keys",
        new="earlier = (rows - rows[0])[:, None] >= keys - keys[0]",
        expect="zigzag: output and gradients as on one process",
        ranks=2,
        source="is_causal=True for every block: places counted from a shard's own first token",
    ),
    "striped-as-contiguous": Break(
        old="return deal(torch.arange(sum(lengths), device=device()), owner, layout, lengths)",
        new="""known = layout.replace("striped", "contiguous")
    return deal(torch.arange(sum(lengths), device=device()), owner, known, lengths)""",
        expect="striped: output and gradients as on one process",
        ranks=2,
        source="the loader deals in stripes, the mask still counts from rank * tokens",
    ),
    "leak-between-blocks": Break(
        old="return earlier & same",
        new="return earlier & (same | (not torch.equal(rows, keys)))",
        expect="contiguous: output and gradients as on one process",
        ranks=2,
        source="document masks on a ring's own block only: earlier blocks pass for wholly visible",
    ),
    "not-mirrored": Break(
        old="held += [pieces[owner], pieces[-1 - owner]]",
        new="held += [pieces[owner], pieces[ranks() + owner]]",
        expect="per_document: all ranks do the same at every step",
        ranks=2,
        source="an early and a late piece, but both counted from the front: right and still tilted",
    ),
}

if __name__ == "__main__":
    run(__file__)
