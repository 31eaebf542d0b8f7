"""Documents of uneven length in rectangles: a batch costs rows x longest, whatever of it is real.

The trick
    `padded` gives each document a row as wide as the window. `batches` pads to the longest of a
    batch, which pays where neighbours are alike: so documents are sorted, and a batch is cut where
    count x longest would pass the budget. The sum of lengths is no such budget: it is what is real.
    `first_fit` puts each document, the longest first, into the first row that has room: none is
    cut, little stays empty. `chunked` joins all and cuts every so many tokens: full rows, and
    documents that are cut. What is not real is masked, so the mean over tokens is the same.

    On disk a token takes as many bits as the largest id needs. 16 bits hold 65,536 ids; a larger
    one comes back modulo that, and nobody is told.

Watch
    documents_in_all (shared, count)  of the corpus
    tokens_in_all (shared, tokens)    of the corpus
    fill_padded (shared, share)       of slots that are real, each document padded to the window
    fill_given (shared, share)        of slots that are real, batches of 8 in the given order
    fill_sorted (shared, share)       of slots that are real, batches of 8 in order of length
    fill_budget (shared, share)       of slots that are real, sorted batches under the budget
    fill_first_fit (shared, share)    of slots that are real, documents packed whole
    fill_chunked (shared, share)      of slots that are real, joined and cut
    rows_first_fit (shared, rows)     that documents packed whole take
    rows_chunked (shared, rows)       that joined documents take
    cut_chunked (shared, count)       of documents that lie in more than one row if joined and cut
    widest_budget (shared, tokens)    slots of the largest batch, count x longest under the budget
    widest_sum (shared, tokens)       slots of the largest batch if lengths are added up instead
    wrapped_16 (shared, tokens)       of the corpus that come back as others from 16 bits
    last_id_16 (shared, index)        of the token as which the largest id comes back from 16 bits
    laid_error (shared, difference)   largest one of a gradient from one document at a time

Run
    quizkit demo packing --gpus 4
    python demos/packing.py --ranks 2 --lengths 9,7,6,5,4,3,2 --window 10
"""

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, max_error, rank, ranks, ring_sum

import torch
from torch.nn.functional import cross_entropy

TOPIC = "data"
WIDTH, CLASSES, BATCH = 6, 16, 8


def padded(lengths, window):
    """A row for each document: (width, documents in the row)."""
    return [(window, [document]) for document in range(len(lengths))]


def batches(lengths, order, full):
    """Consecutive documents, until one more would be too much."""
    found = [[]]
    for document in order:
        if found[-1] and full([lengths[each] for each in [*found[-1], document]]):
            found.append([])
        found[-1].append(document)
    return found


def slots(lengths):
    """What a batch of such documents costs: rows x longest, not the sum."""
    return len(lengths) * max(lengths)


def widened(lengths, found):
    """The rows of batches: each document as wide as the longest of its batch."""
    widths = [max(lengths[document] for document in batch) for batch in found]
    return [(wide, [each]) for wide, batch in zip(widths, found, strict=True) for each in batch]


def first_fit(lengths, window):
    """The longest first, each into the first row that has room for all of it."""
    rows = []
    for document in sorted(range(len(lengths)), key=lambda each: -lengths[each]):
        for row in rows:
            if sum(lengths[each] for each in row) + lengths[document] <= window:
                row.append(document)
                break
        else:
            rows.append([document])
    return [(window, row) for row in rows]


def filled(rows, tokens):
    """For each row its real tokens, and how wide it is."""
    return [(torch.cat([tokens[each] for each in row]), width) for width, row in rows]


def chunked(tokens, window):
    """All documents joined, a new row every so many tokens."""
    return [(chunk, window) for chunk in torch.cat(tokens).split(window)]


def store(tokens, vocabulary):
    """As many bits as the largest id needs."""
    return tokens.to(torch.uint16 if vocabulary <= 2**16 else torch.int32)


def gradient(weights, laid, total):
    """Of the mean loss over all real tokens; every rank has each n-th row, empty slots masked."""
    mine = laid[rank() :: ranks()]
    leaf = weights.clone().requires_grad_()
    if not mine:
        return ring_sum(torch.zeros_like(weights))
    width = max(width for _, width in mine)
    ids = torch.full((len(mine), width), -1, device=device())
    for row, (tokens, _) in enumerate(mine):
        ids[row, : len(tokens)] = tokens
    real = ids >= 0
    loss = losses(leaf, ids.clamp(min=0))
    loss = (loss * real).sum() / total
    return ring_sum(torch.autograd.grad(loss, leaf)[0])


def losses(weights, ids):
    """One for each token: a guess at its class, from some features of its id."""
    turns = torch.arange(1, WIDTH + 1, dtype=torch.float64, device=device())
    out = torch.cos(ids[..., None] * turns) @ weights
    return cross_entropy(out.flatten(0, -2), ids.flatten() % CLASSES, reduction="none").view_as(ids)


def main(
    lengths: str = "",  # of documents, as in 9,7,4; empty for log-normal ones, at most the window
    documents: int = 96,  # how many log-normal lengths are drawn
    median: int = 24,  # of log-normal lengths
    spread: float = 1.0,  # of log-normal lengths, the standard deviation of their logarithm
    window: int = 128,  # tokens of a row
    budget: int = 256,  # slots that a batch may have, rows x longest
    vocabulary: int = 128_256,  # ids that there are
) -> Metrics:
    """Lay the same documents out in every way; count what is real, compare gradients."""
    given = [int(each) for each in lengths.split(",")] if lengths else []
    if not (2 <= window <= 4096 and window <= budget and 1 <= documents <= 1024):
        refuse(f"window lies in 2 to 4096, documents in 1 to 1024, budget starts at {window}")
    if not (median >= 1 and 0 <= spread <= 3 and 2 <= vocabulary <= 2**31):
        refuse("median starts at 1, spread lies in 0 to 3, vocabulary in 2 to 2147483648")
    if not all(1 <= each <= window for each in given):
        refuse(f"lengths lie in 1 to {window}")
    by = torch.Generator().manual_seed(0)
    if not given:
        drawn = median * torch.exp(spread * torch.randn(documents, generator=by))
        given = drawn.long().clamp(1, window).tolist()
    tokens = [torch.randint(vocabulary, (length,), generator=by) for length in given]
    tokens[0][0] = vocabulary - 1
    total, by_length = sum(given), sorted(range(len(given)), key=given.__getitem__)

    by_eight = batches(given, range(len(given)), lambda each: len(each) > BATCH)
    by_kind = batches(given, by_length, lambda each: len(each) > BATCH)
    by_budget = batches(given, by_length, lambda each: slots(each) > budget)
    by_sum = batches(given, by_length, lambda each: sum(each) > budget)
    widest = [
        max(len(batch) * max(given[document] for document in batch) for batch in found)
        for found in (by_budget, by_sum)
    ]
    check("no batch is larger than its budget", widest[0], "<=", budget)
    rows = {
        "padded": padded(given, window),
        "given": widened(given, by_eight),
        "sorted": widened(given, by_kind),
        "budget": widened(given, by_budget),
        "first_fit": first_fit(given, window),
    }
    laid = {way: filled(each, tokens) for way, each in rows.items()}
    laid["chunked"] = chunked(tokens, window)

    joined, fill = torch.cat(tokens), {}
    weights = torch.randn(WIDTH, CLASSES, dtype=torch.float64, generator=by).to(device())
    leaf = weights.clone().requires_grad_()
    whole = torch.stack([losses(leaf, each.to(device())).sum() for each in tokens]).sum() / total
    (truth,), worst = torch.autograd.grad(whole, leaf), 0.0
    for way, each in laid.items():
        fill[way] = total / sum(width for _, width in each)
        found = torch.cat([row for row, _ in each])
        same = torch.equal(found.sort().values, joined.sort().values)
        check("every layout holds each token once", same, "==", True)
        over = max(len(row) - width for row, width in each)
        check("no row is longer than it is wide", over, "<=", 0)
        worst = max(worst, max_error(gradient(weights, each, total), truth))
    check("gradients equal one document at a time", worst, "<", 1e-12)
    kept = store(joined, vocabulary).long()
    check("tokens come back as they were stored", int((kept != joined).sum()), "==", 0)
    narrow = joined.to(torch.uint16).long()
    ends = torch.tensor(given).cumsum(0)
    cells = [[1] * len(row) + [0] * (width - len(row)) for row, width in laid["first_fit"]]
    legend = ("empty", "real")
    picture("tiles", "packed whole", cells=cells, legend=legend, down="rows", across="slots")
    return {
        "documents_in_all": shared(counted(len(given))),
        "tokens_in_all": shared(counted(total)),
        **{f"fill_{way}": shared(counted(share)) for way, share in fill.items()},
        **{f"rows_{way}": shared(counted(len(laid[way]))) for way in ("first_fit", "chunked")},
        "cut_chunked": shared(counted(cut_by(ends, window))),
        "widest_budget": shared(counted(widest[0])),
        "widest_sum": shared(counted(widest[1])),
        "wrapped_16": shared(counted(int((narrow != joined).sum()))),
        "last_id_16": shared(counted(int(narrow[0]))),
        "laid_error": shared(compared(everyone(worst).max().item())),
    }


def cut_by(ends, window):
    """Documents whose first and last token lie in different rows, if all are joined."""
    begins = torch.cat([ends.new_zeros(1), ends[:-1]])
    return int((begins // window != (ends - 1) // window).sum())


BREAKS = {
    "sum-of-lengths": Break(
        old="return len(lengths) * max(lengths)",
        new="return sum(lengths)",
        expect="no batch is larger than its budget",
        ranks=1,
        source="token budgets that add lengths up: padding is computed as well",
    ),
    "mean-over-slots": Break(
        old="loss = (loss * real).sum() / total",
        new="loss = (loss * real).mean() / ranks()",
        expect="gradients equal one document at a time",
        ranks=1,
        source="a mean over all slots, with zeros where there is padding",
    ),
    "padding-counts": Break(
        old="real = ids >= 0",
        new="real = ids >= -1",
        expect="gradients equal one document at a time",
        ranks=1,
        source="a pad id that is a real token, and no ignore_index for it",
    ),
    "sixteen-bits": Break(
        old="torch.uint16 if vocabulary <= 2**16 else torch.int32",
        new="torch.uint16",
        expect="tokens come back as they were stored",
        ranks=1,
        source="preprocessing written for GPT-2's 50,257 ids and used with 128,256",
    ),
}

if __name__ == "__main__":
    run(__file__)
