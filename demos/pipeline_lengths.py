"""Packing short samples into full rows fills a pipeline; padding them fills it with nothing.

The trick
    Padded: every row as wide as the longest sample of all; one shape, equal times, mostly pads.
    Ragged: as wide as the longest in its micro-batch; a long one stalls every stage (GPipe: the
    sum and p - 1 times the longest). Bucketed: as wide as the next multiple of --bucket. Packed:
    rows of --budget tokens, several samples in each, which see only themselves and count positions
    from 0. Where shapes differ a header goes ahead of an activation; a packed one says whose each
    token is. The loss is a sum over real tokens, over their number in the whole batch: then all
    four are right. On the clock a token costs 1, a pair that the mask lets through --pair.

Watch
    real_tokens (shared, tokens)         tokens that the samples have, without pads
    tokens_padded (shared, tokens)       each stage computes, pads included, padded
    tokens_ragged (shared, tokens)       each stage computes, pads included, ragged
    tokens_bucketed (shared, tokens)     each stage computes, pads included, bucketed
    tokens_packed (shared, tokens)       each stage computes, pads included, packed
    shapes_padded (shared, count)        different shapes a stage computes, padded
    shapes_ragged (shared, count)        different shapes a stage computes, ragged
    shapes_bucketed (shared, count)      different shapes a stage computes, bucketed
    shapes_packed (shared, count)        different shapes a stage computes, packed
    messages_padded (messages, sent)     headers included, padded
    messages_ragged (messages, sent)     headers included, ragged
    messages_bucketed (messages, sent)   headers included, bucketed
    messages_packed (messages, sent)     headers included, packed
    makespan_padded (shared, ticks)      length of the step, padded
    makespan_ragged (shared, ticks)      length of the step, ragged
    makespan_bucketed (shared, ticks)    length of the step, bucketed
    makespan_packed (shared, ticks)      length of the step, packed
    error_padded (shared, difference)    outputs and gradients from each sample alone, padded
    error_ragged (shared, difference)    outputs and gradients from each sample alone, ragged
    error_bucketed (shared, difference)  outputs and gradients from each sample alone, bucketed
    error_packed (shared, difference)    outputs and gradients from each sample alone, packed

Run
    quizkit demo pipeline-lengths --gpus 4
    python demos/pipeline_lengths.py --ranks 4 --long 32 --budget 32 --order gpipe
    torchrun --nproc-per-node 4 demos/pipeline_lengths.py
"""

from math import inf, prod
from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import device, everyone, isend, max_error, rank, ranks, recv, take_gradient
from _bench import virtual_clock, wire

import torch
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "pp"
REGIME = ("order",)


def packed(documents, budget):
    """Rows of several documents: the longest first, each into the first row that has room."""
    rows = []
    for document in sorted(documents, key=lambda document: -document[2]):
        for row in rows:
            if sum(n for _, _, n in row) + document[2] <= budget:
                break
        else:
            row = []
            rows.append(row)
        row.append(document)
    return rows


def may_see(document):
    """Which token sees which: itself and what came before it, in its own document."""
    same = document[:, :, None] == document[:, None, :]
    causal = torch.ones_like(same[0]).tril()
    return same & causal


def plan(name, lengths, rows, bucket, budget):
    """Micro-batches: rows of documents (a sample, where it begins, tokens), and a width."""
    documents = [(i, 0, n) for i, n in enumerate(lengths)]
    if name == "packed":
        return [([row], budget) for row in packed(documents, budget)]
    shelves = {}  # width that a row is padded to, 0 for its micro-batch's longest -> such rows
    for i, first, n in documents:
        bounds = {"padded": max(lengths), "bucketed": -(-n // bucket) * bucket}
        shelves.setdefault(bounds.get(name, 0), []).append([(i, first, n)])
    made = []
    for bound, shelf in sorted(shelves.items()):
        for start in range(0, len(shelf), rows):
            group = shelf[start : start + rows]
            width = bound or max(n for [(_, _, n)] in group)
            missing = rows - len(group) if name == "padded" else 0  # it has one shape throughout
            made.append((group + [[]] * missing, width))
    return made


def lay_out(planned, starts):
    """For each slot of a micro-batch: which token lies there, its position, its document."""
    rows, width = planned
    token, position, document = torch.zeros(3, len(rows), width, dtype=torch.long, device=device())
    document -= 1  # a pad belongs to none
    for r, row in enumerate(rows):
        at = 0
        for number, (sample, first, n) in enumerate(row):
            token[r, at : at + n] = starts[sample] + first + torch.arange(n)
            position[r, at : at + n] = torch.arange(n)
            document[r, at : at + n] = number
            at += n
    return SimpleNamespace(token=token, position=position, document=document)


def layer(stage, x, allowed=None):
    """Attention beside an MLP; without a mask, torch's own attention to all that came before."""
    q, k, v, inner = stage(x).chunk(4, -1)
    if allowed is None:
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~allowed, -inf)
        mixed = scores.softmax(-1) @ v
    return x + mixed + torch.tanh(inner)


def step(name, operations, stage, batches, data, pair, backward, clock):
    """Run this stage's operations in order, on micro-batches that may differ in shape."""
    here, last, alive, flights = rank(), ranks() - 1, {}, []
    seen = SimpleNamespace(shapes=[], error=0.0)
    for kind, i in operations:
        batch = batches[i]
        if kind == "F":
            if here == 0:
                x = data.tokens[batch.token] + stage.positions[batch.position]
                document = batch.document if name == "packed" else batch.document * 0
            else:
                x, document = take(name, batches[0].document, data.tokens)
            allowed = may_see(document)
            y = layer(stage, x, allowed)
            price = document.numel() + pair * int(allowed.sum())
            seen.shapes.append(document.shape)
            if here == last:
                real = batch.document >= 0
                seen.error = max(seen.error, max_error(y[real], data.truth[batch.token[real]]))
                y = part_of_loss(y, batch, batches, data.targets)
            alive[i] = x, y, price
            clock.spend(price, f"F{i}")
            if here < last and name != "padded":
                shape = document.new_tensor(document.shape)
                flights.append(isend(document if name == "packed" else shape, here + 1, tag=1))
            if here < last:
                flights.append(isend(y, here + 1, name=f"F{i}"))
        else:
            x, y, price = alive.pop(i)
            if here < last:
                y = (y * recv(torch.empty_like(y), here + 1)).sum()
            y.backward()
            clock.spend(price * backward, f"B{i}")
            if here > 0:
                flights.append(isend(x.grad, here - 1, name=f"B{i}"))
    for flight in flights:
        flight.wait()
    return seen


def take(name, known, like):
    """What comes from the stage before; a header first, unless there is one shape and no mask."""
    source, document = rank() - 1, torch.zeros_like(known)
    if name == "packed":
        document = recv(document, source, tag=1)
    elif name != "padded":
        shape = recv(known.new_empty(2), source, tag=1)
        document = known.new_zeros(*shape.tolist())
    return recv(like.new_empty(*document.shape, like.shape[-1]), source).requires_grad_(), document


def part_of_loss(y, batch, batches, targets):
    """What a micro-batch adds to the mean over all real tokens; pads have no say."""
    real = batch.document >= 0
    losses = (y - targets[batch.token]).square().mean(-1)
    total = sum((each.document >= 0).sum() for each in batches)  # known before the first backward
    return (losses * real).sum() / total


def schedule(name, stage, stages, microbatches):
    """GPipe runs all forwards first; 1F1B only as many as there are stages to come."""
    warmup = microbatches if name == "gpipe" else min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(warmup)]
    for i in range(microbatches - warmup):
        order += [("F", warmup + i), ("B", i)]
    return order + [("B", i) for i in range(microbatches - warmup, microbatches)]


def main(
    samples: int = 16,  # samples in the batch: one long, in the middle, the others short
    short: int = 6,  # tokens of the longest of the short samples
    spread: int = 5,  # how many lengths the short ones have: --short, one less, ..., in turn
    long: int = 16,  # tokens of the sample in the middle
    rows: int = 2,  # samples in a micro-batch; packed: one row of several
    bucket: int = 8,  # bucketed: a width is a multiple of this many tokens
    budget: int = 16,  # packed: tokens of a row, no fewer than the longest sample has
    pair: float = 0.1,  # virtual time of a pair of tokens the mask lets through; a token takes 1
    backward: float = 2.0,  # a backward takes this many times as long as its forward
    order: Literal["1f1b", "gpipe"] = "1f1b",  # schedule of all four
    width: int = 8,  # hidden size
) -> Metrics:
    """The sample in the middle is long; the others have short tokens, one less, ... and again."""
    smallest = min(samples, spread, long, rows, bucket, width, short - spread + 1)
    if smallest < 1 or not (0 <= pair < inf and 0 < backward < inf):
        refuse("sizes start at 1, short at spread, pair at 0; backward is above 0, for example 2")
    lengths = [long if i == samples // 2 else short - i % spread for i in range(samples)]
    if budget < max(lengths):
        refuse(f"a sample of {max(lengths)} tokens does not fit: take a budget of {max(lengths)}")

    like = {"dtype": torch.float64, "device": device()}
    stages = [torch.nn.Linear(width, 4 * width, **like) for _ in range(ranks())]
    stages[0].positions = torch.nn.Parameter(torch.randn(budget, width, **like))
    tokens, targets = torch.randn(2, sum(lengths), width, **like)
    data = SimpleNamespace(tokens=tokens, targets=targets)
    data.truth, gradients = one_by_one(stages, data, lengths)
    starts = [sum(lengths[:i]) for i in range(samples)]

    metrics = {"real_tokens": shared(counted(len(tokens)))}
    for name in ("padded", "ragged", "bucketed", "packed"):
        batches = [lay_out(batch, starts) for batch in plan(name, lengths, rows, bucket, budget)]
        operations = schedule(order, rank(), ranks(), len(batches))
        with wire() as sent, virtual_clock(name) as clock:
            seen = step(name, operations, stages[rank()], batches, data, pair, backward, clock)
            makespan = round(clock.makespan(), 9)
        wrong = max_error(take_gradient(stages[rank()]), gradients[rank()])
        check(f"{name}: out as sample by sample", seen.error, "<", 1e-12)
        check(f"{name}: grad as sample by sample", wrong, "<", 1e-12)
        error = everyone(max(seen.error, wrong)).max().item()
        metrics |= {
            f"tokens_{name}": shared(counted(sum(map(prod, seen.shapes)))),
            f"shapes_{name}": shared(counted(len(set(seen.shapes)))),
            f"messages_{name}": counted(sent.sent_messages),
            f"makespan_{name}": shared(clocked(makespan)),
            f"error_{name}": shared(compared(error)),
        }
    return metrics


def one_by_one(stages, data, lengths):
    """The truth: every sample alone, in one process, through torch's own causal attention."""
    outputs = []
    for tokens in data.tokens.split(lengths):
        x = (tokens + stages[0].positions[: len(tokens)])[None]
        for stage in stages:
            x = layer(stage, x)
        outputs.append(x[0])
    (torch.cat(outputs) - data.targets).square().mean().backward()
    return torch.cat(outputs).detach(), [take_gradient(stage) for stage in stages]


BREAKS = {
    "sees-neighbours": Break(
        old="    return same & causal",
        new="    return causal.expand_as(same)",
        expect="packed: out as sample by sample",
        ranks=1,
        source="packing under one causal mask: samples read those that lie before them in the row",
    ),
    "positions-run-on": Break(
        old="position[r, at : at + n] = torch.arange(n)",
        new="position[r, at : at + n] = torch.arange(at, at + n)",
        expect="packed: out as sample by sample",
        ranks=1,
        source="packed rows numbered through; harmless only where positions count as differences",
    ),
    "pads-in-the-loss": Break(
        old="(losses * real).sum()",
        new="losses.sum()",
        expect="padded: grad as sample by sample",
        ranks=1,
        source="labels padded with token 0 instead of -100, the index that cross_entropy ignores",
    ),
    "mean-of-means": Break(
        old="/ total",
        new="/ real.sum() / len(batches)",
        expect="ragged: grad as sample by sample",
        ranks=1,
        source="transformers' Trainer before v4.46: each accumulated step's own mean, then a mean",
    ),
    "cut-into-pieces": Break(
        old="[(i, 0, n) for i, n in enumerate(lengths)]",
        new="[(i, a, min(8, n - a)) for i, n in enumerate(lengths) for a in range(0, n, 8)]",
        expect="packed: out as sample by sample",
        ranks=1,
        source="long samples cut so that they fit, their pieces trained as if they were samples",
    ),
}


if __name__ == "__main__":
    run(__file__)
