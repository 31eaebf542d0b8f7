"""One attention call serves many documents if a token sees only its own: cu_seqlens says whose.

The trick
    Packed: documents end to end in one row, positions from 0 in each, and a token sees only its own
    document. A mask cut into blocks says so and saves nothing: a row of T tokens has T x T scores.
    A varlen kernel is told the bounds (cu_seqlens) and computes n x n for each document instead.
    An end-of-document token is a token like any other; it stops nobody from looking past it.
    Without packing a document is a row: padded, every row is as wide as the longest; bucketed, as
    wide as the next multiple of --bucket.
    What is longer than --limit can be truncated (tokens are lost), cut into documents of their own
    (another function), or run piece by piece with keys and values carried along: exact, if
    gradients go back through them. Ranks share documents by cost: a token is 1, a pair is --pair.

Watch
    real_tokens (shared, tokens)                 that the documents have
    tokens_padded (shared, tokens)               computed, rows as wide as the longest, pads
        included
    scores_padded (shared, elements, forward)    scores computed for one head, rows as wide as the
        longest
    tokens_bucketed (shared, tokens)             computed, rows a multiple of --bucket, pads
        included
    scores_bucketed (shared, elements, forward)  scores computed for one head, rows a multiple of
        --bucket
    tokens_masked (shared, tokens)               computed, packed under a mask
    scores_masked (shared, elements, forward)    scores computed for one head, packed under a mask,
        a row a rank
    tokens_varlen (shared, tokens)               computed, packed with cu_seqlens
    scores_varlen (shared, elements, forward)    scores computed for one head, packed with
        cu_seqlens
    leak_causal (shared, difference)             plain causal mask: of the others' outputs when
        document 0 changes
    leak_blocks (shared, difference)             mask in blocks: of the others' outputs when
        document 0 changes
    pairs (shared, count, forward)               pairs of query and key that see each other, in any
        of the layouts
    run_on_error (shared, difference)            of outputs from each alone, if positions run on
        through the row
    lost_tokens (shared, tokens)                 beyond --limit, which truncation drops
    pairs_pieces (shared, count, forward)        pairs of query and key left, if documents are cut
        into pieces
    piece_error (shared, difference)             of outputs from each alone, if documents are cut
        into pieces
    carried_error (shared, difference)           of outputs and gradients from each alone, if pieces
        carry keys and values
    error (shared, difference)                   of outputs and gradients from each alone, worst
        layout
    imbalance_tokens (shared, ratio, forward)    largest cost of a rank over the mean, tokens shared
        evenly
    imbalance_cost (shared, ratio, forward)      largest cost of a rank over the mean, cost shared
        evenly

Run
    quizkit demo varlen --gpus 4
    python demos/varlen.py --ranks 2 --documents 8 --longs 1 --long 24
    torchrun --nproc-per-node 4 demos/varlen.py
"""

from collections import Counter
from itertools import pairwise
from math import inf
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks, take_gradient

import torch
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "attention"

LAYOUTS = ("padded", "bucketed", "masked", "varlen")
EOS = 0  # the last token of every document, and no other


def varlen(model, rows, tally):
    """A packed row, document by document: scores between documents are never computed."""
    [token], [position] = rows.token, rows.position
    q, k, v = project(model, token, position)
    out = torch.zeros_like(q)
    for start, end in pairwise(cu_seqlens(token)):
        causal = token.new_ones(end - start, end - start, dtype=torch.bool).tril()
        here = slice(start, end)
        out[here] = attend(q[here], k[here], v[here], causal, tally)
        tally["pairs"] += int(causal.sum())
    tally["tokens"] += len(token)
    return out


def cu_seqlens(token):
    """Where the documents of a packed row begin, and where the last ends: each behind its EOS."""
    ends = (token == EOS).nonzero().flatten() + 1
    return [0, *ends.tolist()]


def attend(q, k, v, visible, tally):
    """Attention under a mask. What it hides has been computed all the same."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    tally["scores"] += scores.numel()
    return scores.masked_fill(~visible, -inf).softmax(-1) @ v


def may_see(document):
    """Which slot sees which: itself and what came before it, in its own document."""
    same = document[:, :, None] == document[:, None, :]
    causal = torch.ones_like(same[0]).tril()
    return same & causal


def causal_only(document):
    """As if the whole row were one document."""
    return may_see(document * 0)


def masked(model, rows, tally, mask=may_see):
    """Whole rows at once; gives the outputs of real tokens."""
    real, visible = rows.document >= 0, mask(rows.document)
    tally.update(tokens=real.numel(), pairs=int(visible[real].sum()))
    q, k, v = project(model, rows.token, rows.position)
    return attend(q, k, v, visible, tally)[real]


def project(model, token, position):
    """Queries, keys and values of tokens that stand at these places of their documents."""
    x = model["tokens"][token] + model["places"][position]
    return (x @ model["weight"]).chunk(3, -1)


def carried(model, tokens, limit):
    """A document piece by piece: each sees the keys and values of the pieces before it."""
    kept, outputs, places = [], [], torch.arange(len(tokens), device=device())
    for piece, position in zip(tokens.split(limit), places.split(limit), strict=True):
        q, k, v = project(model, piece, position)
        kept.append(torch.stack([k, v]))
        k, v = torch.cat(kept, 1)
        # The newest query goes with the newest key: the diagonal ends in the lower right corner.
        visible = piece.new_ones(len(q), len(k), dtype=torch.bool).tril(len(k) - len(q))
        outputs.append(attend(q, k, v, visible, Counter()))
    return torch.cat(outputs)


def lay_out(rows, width=0):
    """For each slot: which token lies there, its position, and which document of the row's."""
    width = width or sum(map(len, rows[0]))
    token, position, document = torch.zeros(3, len(rows), width, dtype=torch.long, device=device())
    document -= 1  # a pad belongs to none
    for r, row in enumerate(rows):
        at = 0
        for number, tokens in enumerate(row):
            here = slice(at, at + len(tokens))
            token[r, here] = tokens
            position[r, here] = torch.arange(len(tokens))
            document[r, here] = number
            at += len(tokens)
    return SimpleNamespace(token=token, position=position, document=document)


def plan(layout, mine, texts, bucket):
    """Batches: which documents, and how they lie in their rows."""
    if layout in ("masked", "varlen"):
        return [(mine, lay_out([[texts[i] for i in mine]]))]
    shelves, longest = {}, max(map(len, texts))
    for i in mine:
        width = longest if layout == "padded" else -(-len(texts[i]) // bucket) * bucket
        shelves.setdefault(width, []).append(i)
    return [(some, lay_out([[texts[i]] for i in some], width)) for width, some in shelves.items()]


def run_layout(model, texts, mine, layout, bucket):
    """Some documents in one layout: which ones in the order of their outputs, these, and counts."""
    order, outputs, tally = [], [], Counter()
    for some, rows in plan(layout, mine, texts, bucket):
        order += some
        outputs.append((varlen if layout == "varlen" else masked)(model, rows, tally))
    return order, torch.cat(outputs), tally


def draw(lengths, width):
    """A model, the documents, and the slopes of a loss: one for each output."""
    total, like = sum(lengths), {"dtype": torch.float64, "device": device()}
    shapes = {"tokens": (11, width), "places": (total, width), "weight": (width, 3 * width)}
    model = torch.nn.ParameterDict({name: torch.randn(s, **like) / 2 for name, s in shapes.items()})
    texts = torch.randint(EOS + 1, 11, (total,), device=device()).split(lengths)
    for text in texts:
        text[-1] = EOS
    return model, texts, torch.randn(total, width, **like).split(lengths)


def share(lengths, price):
    """Documents for each rank: the dearest first, each to the rank that has least to do."""
    taken = [[] for _ in range(ranks())]
    for i in sorted(range(len(lengths)), key=lambda i: -price(lengths[i])):
        min(taken, key=lambda some: sum(price(lengths[j]) for j in some)).append(i)
    return taken


def main(
    documents: int = 16,  # documents in all
    longs: int = 2,  # how many of them are long; they come first
    long: int = 16,  # tokens of a long document, EOS included
    short: int = 6,  # most tokens of any other document, EOS included
    spread: int = 3,  # lengths of the others: short, one less, ..., so many, and again
    bucket: int = 8,  # a bucketed row is a multiple of this many tokens wide
    limit: int = 6,  # most tokens of a piece; longer documents are truncated, cut or run by pieces
    pair: float = 0.5,  # cost of a pair of query and key; that of a token is 1
    width: int = 8,  # features of a token, all in one head
) -> Metrics:
    """First come `longs` long documents; the others have short tokens, one less, ... and again."""
    smallest = min(bucket, limit, width, spread, short - spread, long - 1, documents - 1)
    if smallest < 1 or longs < 0 or not 0 <= pair < inf or documents < max(ranks(), longs):
        least = f"documents {max(ranks(), longs, 2)}, long 2, short {max(spread, 1) + 1}, longs 0"
        refuse(f"too small, or pair not finite: at least {least}, pair 0, all else 1")
    lengths = [long if i < longs else short - (i - longs) % spread for i in range(documents)]
    total = sum(lengths)
    model, texts, slopes = draw(lengths, width)
    truth = [alone(model, text) for text in texts]
    (torch.cat(truth) * torch.cat(slopes)).sum().backward()
    gradient = take_gradient(model)

    def compare(name, order, out):
        """Outputs, and the gradients of all ranks together, against each document alone."""
        off = max_error(out, torch.cat([truth[i] for i in order]))
        (out * torch.cat([slopes[i] for i in order])).sum().backward()
        wrong = max_error(all_reduce(take_gradient(model)), gradient)
        check(f"{name}: out as each alone", off, "<", 1e-12)
        check(f"{name}: grad as each alone", wrong, "<", 1e-12)
        return everyone(max(off, wrong)).max().item()

    def price(n):
        """What a document costs: linear in its tokens, and quadratic."""
        return n + pair * n * (n + 1) / 2

    # The same documents in four layouts.
    mine = share(lengths, price)[rank()]
    tokens, scores, errors = {}, {}, []
    for layout in LAYOUTS:
        order, out, tally = run_layout(model, texts, mine, layout, bucket)
        errors.append(compare(layout, order, out))
        counts = torch.tensor([tally["tokens"], tally["scores"], tally["pairs"]])
        tokens[layout], scores[layout], pairs = all_reduce(counts.to(device())).tolist()
        check("as many pairs as alone", pairs, "==", sum(n * (n + 1) // 2 for n in lengths))

    # All documents in one row; in another such row the first of them is changed up to its EOS.
    row = lay_out([texts])
    changed = (texts[0] % 10 + 1) * (texts[0] != EOS)
    other = lay_out([[changed, *texts[1:]]])
    leak = {}
    for name, mask in (("causal", causal_only), ("blocks", may_see)):
        before, after = (masked(model, each, Counter(), mask) for each in (row, other))
        leak[name] = max_error(before[lengths[0] :], after[lengths[0] :])
    check("nobody moves when another document changes", leak["blocks"], "==", 0)
    row.position = torch.arange(total, device=device())
    run_on = masked(model, row, Counter())

    # Documents longer than the limit: cut into pieces, or run by pieces.
    pieces = [piece for text in texts for piece in text.split(limit)]
    pieces_tally = Counter()
    cut = masked(model, lay_out([pieces]), pieces_tally)
    whole = torch.cat([carried(model, texts[i], limit) for i in mine])
    carried_error = compare("carried", mine, whole)

    # What ranks have to do if they share the tokens evenly, or the cost.
    imbalance = {}
    for name, goal in (("tokens", lambda n: n), ("cost", price)):
        _, _, tally = run_layout(model, texts, share(lengths, goal)[rank()], "varlen", bucket)
        costs = everyone(tally["tokens"] + pair * tally["pairs"])
        imbalance[name] = (costs.max() / costs.mean()).item()

    metrics = {"real_tokens": counted(total)}
    for layout in LAYOUTS:
        metrics[f"tokens_{layout}"] = counted(tokens[layout])
        metrics[f"scores_{layout}"] = counted(scores[layout])
    metrics |= {
        "leak_causal": compared(leak["causal"]),
        "leak_blocks": compared(leak["blocks"]),
        "pairs": counted(pairs),
        "run_on_error": compared(max_error(run_on, torch.cat(truth))),
        "lost_tokens": counted(total - sum(len(text[:limit]) for text in texts)),
        "pairs_pieces": counted(pieces_tally["pairs"]),
        "piece_error": compared(max_error(cut, torch.cat(truth))),
        "carried_error": compared(carried_error),
        "error": compared(max(errors)),
        "imbalance_tokens": counted(imbalance["tokens"]),
        "imbalance_cost": counted(imbalance["cost"]),
    }
    return {name: shared(metric) for name, metric in metrics.items()}


def alone(model, tokens):
    """The truth: one document and nothing else, through torch's own causal attention."""
    q, k, v = project(model, tokens, torch.arange(len(tokens), device=device()))
    return scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]


BREAKS = {
    "sees-neighbours": Break(
        old="return same & causal",
        new="return causal.expand_as(same)",
        expect="masked: out as each alone",
        ranks=1,
        source="packing under the usual causal mask, trusting that EOS keeps documents apart",
    ),
    "ends-at-eos": Break(
        old="(token == EOS).nonzero().flatten() + 1",
        new="(token == EOS).nonzero().flatten()",
        expect="varlen: out as each alone",
        ranks=1,
        source="bounds taken from where EOS is: each document begins with the EOS before it",
    ),
    "positions-run-on": Break(
        old="position[r, here] = torch.arange(len(tokens))",
        new="position[r, here] = torch.arange(at, at + len(tokens))",
        expect="varlen: out as each alone",
        ranks=1,
        source="position ids counted through the row: its documents look like one",
    ),
    "pieces-alone": Break(
        old="k, v = torch.cat(kept, 1)",
        new="k, v = kept[-1]",
        expect="carried: out as each alone",
        ranks=1,
        source="long documents cut to fit and trained piece by piece, as if nothing came before",
    ),
    "carried-detached": Break(
        old="kept.append(torch.stack([k, v]))",
        new="kept = [*(pair.detach() for pair in kept), torch.stack([k, v])]",
        expect="carried: grad as each alone",
        ranks=1,
        source="a cache of plain values; Transformer-XL means it so. Outputs are right",
    ),
}

if __name__ == "__main__":
    run(__file__)
