"""One table at both ends of a pipeline: each end has a part of its gradient, once a step they add.

The trick
    The input embedding on the first stage and the output projection on the last are one table, of
    which each keeps a copy. The first end learns how the table is looked up, the last how outputs
    are compared with it; its gradient is the sum of both. After the last backward of a step the two
    ends swap what they have and add: from one start, with one gradient, two copies stay one. It is
    a sum and no mean; what is swapped is the whole step's, so it is done once; nobody else sends.

Watch
    missing (ratio)                      length of what each end lacks of the table's gradient
                                         before they swap, over the length of the whole; 0 on a
                                         stage without a table
    tied_bytes (bytes, sent)             for the table in a step; no activations
    tied_messages (messages, sent)       for the table in a step; no activations
    boundary_bytes (bytes, sent)         activations and their gradients in a step; nothing for the
                                         table
    table_scale (shared, ratio)          length of the table's gradient after the swap over the
                                         right length
    copy_start_gap (shared, difference)  of the table's copies before the first step
    copy_gap (shared, difference)        of the table's copies after the last step
    grad_error (shared, difference)      largest one of any gradient of any step from one process
    weight_error (shared, difference)    largest one of any weight from one process, after the last
                                         step

Run
    quizkit demo tied-embeddings --gpus 4
    python demos/tied_embeddings.py --ranks 4 --steps 10
    torchrun --nproc-per-node 4 demos/tied_embeddings.py
"""

from copy import deepcopy

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import Layer, broadcast, device, everyone, exchange, isend, max_error, rank, ranks, recv
from _bench import wire

import torch
from torch.nn.functional import cross_entropy, embedding

TOPIC = "pp"


def add_halves(table, swaps):
    """First and last stage swap what they have of the table's gradient; each adds the other's."""
    here, last = rank(), ranks() - 1
    if here not in (0, last) or last == 0:
        return  # no table here, or both uses on one rank: autograd has added those itself
    other = last - here
    with wire() as sent:
        theirs = exchange(table.grad, other, torch.empty_like(table.grad), other, tag=1).wait()
    table.grad += theirs
    swaps.append((theirs, sent))


def step(tokens, targets, layer, table, swaps):
    """All forwards, all backwards, and then the table: its halves lie on two ranks."""
    here, last, kept, flights = rank(), ranks() - 1, [], []
    for ids, wanted in zip(tokens, targets, strict=True):
        if here == 0:
            x = embedding(ids, table)
        else:
            x = recv(layer.weight.new_empty(len(ids), layer.in_features), here - 1)
            x.requires_grad_()
        y = layer(x)
        if here == last:
            y = cross_entropy(y @ table.T, wanted) / len(tokens)
        else:
            flights.append(isend(y.detach(), here + 1))
        kept.append((x, y))
    for x, y in kept:
        y.backward(None if here == last else recv(torch.empty_like(y), here + 1))
        if here > 0:
            flights.append(isend(x.grad, here - 1))
    add_halves(table, swaps)
    for flight in flights:
        flight.wait()


def update(weights, rate):
    """Plain SGD; the next step starts from zero."""
    for weight in weights:
        weight.data -= rate * weight.grad
        weight.grad.zero_()


def main(
    vocab: int = 32,  # rows of the table: tokens in the vocabulary
    width: int = 8,  # hidden size
    microbatches: int = 4,  # micro-batches in a step
    length: int = 6,  # tokens in a micro-batch
    steps: int = 3,  # training steps
) -> Metrics:
    """Train a few steps in a pipeline and in one process."""
    if min(vocab - 1, width, microbatches, length, steps) < 1:
        refuse("vocab starts at 2; width, microbatches, length and steps start at 1")
    here, rate = rank(), 0.1
    like = {"dtype": torch.float64, "device": device()}
    layers = [Layer(width, width, **like) for _ in range(ranks())]
    tokens, targets = torch.randint(vocab, (2, microbatches, length), device=device())
    # The same dice on every rank: the two ends draw the same table.
    drawn = torch.randn(vocab, width, **like)
    table = drawn.clone().requires_grad_()
    layer = deepcopy(layers[here])
    start_gap = gap(table)
    check("both ends start from one table", start_gap, "==", 0)
    gradients, ended = train_alone(layers, drawn.requires_grad_(), tokens, targets, steps, rate)

    mine = [table, *layer.parameters()] if here in (0, ranks() - 1) else [*layer.parameters()]
    # In one process: the table, then matrix and bias of each layer.
    places = [0] * (len(mine) - 2) + [1 + 2 * here, 2 + 2 * here]
    errors, swaps, scale = [], [], 1.0
    with wire() as sent:
        for number, truth in enumerate(gradients):
            step(tokens, targets, layer, table, swaps)
            errors.append(farthest([weight.grad for weight in mine], truth, places))
            if number == 0 and table.grad is not None:
                scale = (table.grad.norm() / truth[0].norm()).item()
            update(mine, rate)
    weight_error = farthest(mine, ended, places)
    copy_gap, whole = gap(table), gradients[0][0].norm()
    tied_bytes = sum(swap.sent_bytes for _, swap in swaps)
    tied_messages = sum(swap.sent_messages for _, swap in swaps)

    check("gradients equal one process", max(errors), "<", 1e-12)
    check("weights equal one process", weight_error, "<", 1e-12)
    check("both copies are one table still", copy_gap, "==", 0)
    return {
        "missing": compared((swaps[0][0].norm() / whole).item() if swaps else 0.0),
        "tied_bytes": counted(tied_bytes / steps),
        "tied_messages": counted(tied_messages / steps),
        "boundary_bytes": counted((sent.sent_bytes - tied_bytes) / steps),
        "table_scale": shared(compared(everyone(scale)[0].item())),
        "copy_start_gap": shared(compared(start_gap)),
        "copy_gap": shared(compared(copy_gap)),
        "grad_error": shared(compared(everyone(max(errors)).max().item())),
        "weight_error": shared(compared(everyone(weight_error).max().item())),
    }


def train_alone(layers, table, tokens, targets, steps, rate):
    """The truth: one process, one table; the gradients of every step, and the last weights."""
    weights = [table, *(weight for layer in layers for weight in layer.parameters())]
    gradients = []
    for _ in range(steps):
        x = torch.nn.Sequential(*layers)(embedding(tokens.flatten(), table))
        cross_entropy(x @ table.T, targets.flatten()).backward()
        gradients.append([weight.grad.clone() for weight in weights])
        update(weights, rate)
    return gradients, [weight.detach() for weight in weights]


def farthest(ours, truth, places):
    """Largest difference of ours from the truth at these places."""
    return max(max_error(each, truth[at]) for each, at in zip(ours, places, strict=True))


def gap(table):
    """Largest difference between the copies on the first and on the last stage."""
    first, last = (broadcast(table.detach().clone(), end) for end in (0, ranks() - 1))
    return max_error(first, last)


BREAKS = {
    "not-added": Break(
        old="    add_halves(table, swaps)\n    for",
        new="    for",
        expect="both copies are one table still",
        ranks=2,
        source="pipelines cut by hand: each end trains a table of its own, and no error says so",
    ),
    "averaged": Break(
        old="table.grad += theirs",
        new="table.grad = (table.grad + theirs) / 2",
        expect="gradients equal one process",
        ranks=2,
        source="the habit of data parallelism, whose ranks have the same use and other samples",
    ),
    "every-micro-batch": Break(
        old="    add_halves(table, swaps)\n    for",
        new="        add_halves(table, swaps)\n    for",
        expect="gradients equal one process",
        ranks=2,
        source="hooks that fire after each backward: what was added before is added again",
    ),
    "other-dice": Break(
        old="drawn = torch.randn(",
        new="torch.manual_seed(here)\n    drawn = torch.randn(",
        expect="both ends start from one table",
        ranks=2,
        source="a seed for each stage; Megatron-LM zeroes one copy and adds both before step 1",
    ),
}


if __name__ == "__main__":
    run(__file__)
