"""In a pipeline ZeRO-1 sends what one all-reduce sends; ZeRO-2 and 3 pay for every micro-batch.

The trick
    A stage has d copies and m backwards to a step. ZeRO-1 keeps its whole gradient, Psi bytes, till
    the last of them: one reduce-scatter, the update of a part, one all-gather of weights, and these
    are the two halves of an all-reduce: 2(d-1)/d Psi sent by each rank. ZeRO-2 keeps no whole
    gradient, so each backward's must be scattered at once: m + 1 halves. ZeRO-3 keeps no whole
    weights either; between the forward of a micro-batch and its backward the stage works on others,
    so they are gathered for every pass: 3m halves. All are exact. What is saved is small: a
    pipeline has cut weights and gradients by p already, and activations are none of ZeRO's.

Watch
    dp_bytes_0 (bytes, sent)      to copies in a step, plain DP: all-reduce after the last backward;
                                  no activations
    dp_bytes_1 (bytes, sent)      to copies in a step, ZeRO-1: reduce-scatter once, gather weights
                                  once
    dp_bytes_2 (bytes, sent)      to copies in a step, ZeRO-2: reduce-scatter after every backward
    dp_bytes_3 (bytes, sent)      to copies in a step, ZeRO-3: weights gathered for every F and B
                                  too
    reductions_0 (collectives)    times a stage's gradient was summed over its copies, plain DP
    reductions_1 (collectives)    times a stage's gradient was summed over its copies, ZeRO-1
    reductions_2 (collectives)    times a stage's gradient was summed over its copies, ZeRO-2
    reductions_3 (collectives)    times a stage's gradient was summed over its copies, ZeRO-3
    stage_gradient_bytes (bytes)  the gradient of this rank's stage, Psi
    kept_bytes_0 (bytes)          weights and gradient kept between two backwards, plain DP
    kept_bytes_1 (bytes)          weights and gradient kept between two backwards, ZeRO-1: both
                                  whole
    kept_bytes_2 (bytes)          weights and gradient kept between two backwards, ZeRO-2: gradient
                                  cut
    kept_bytes_3 (bytes)          weights and gradient kept between two backwards, ZeRO-3: both cut
    weights_error (difference)    largest one from one process on the global batch, after the step

Run
    quizkit demo pipeline-zero --gpus 4
    python demos/pipeline_zero.py --ranks 8 --replicas 4 --microbatches 3
    torchrun --nproc-per-node 4 demos/pipeline_zero.py
"""

from collections import namedtuple
from copy import deepcopy

from _bench import Break, Metrics, check, compared, counted, refuse, run
from _bench import Layer, device, exchange, isend, max_error, one_process, rank, ranks, recv
from _bench import take_gradient, wire

import torch
from torch.nn.functional import mse_loss
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "pp"
RATE = 0.1  # of plain SGD

Cut = namedtuple("Cut", "update gradient weights")  # of which a rank keeps a part only
ZERO = (
    Cut(update=False, gradient=False, weights=False),  # plain DP
    Cut(update=True, gradient=False, weights=False),
    Cut(update=True, gradient=True, weights=False),
    Cut(update=True, gradient=True, weights=True),
)


def step(zero, order, block, copies, inputs, targets, share):
    """One step of one rank: the gradient's mean, the weights after the update, the bytes kept."""
    row = parameters_to_vector(block.parameters()).detach()
    vector_to_parameters(row, block.parameters())  # views: what is put in the row counts
    storage, whole = row.untyped_storage(), row.nbytes
    own = row.view(copies.size, -1)[copies.me] if zero.update else row
    if zero.weights:
        own = own.clone()
        storage.resize_(0)
    alive, flights, total, kept, d = {}, [], 0, 0, copies.size
    for kind, i in order:
        # The neighbours in the pipeline are d ranks away: between them lie other copies.
        source, target = (rank() - d, rank() + d) if kind == "F" else (rank() + d, rank() - d)
        if zero.weights:
            storage.resize_(whole)
            row.copy_(copies.gather(own))
        arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source < ranks() else None
        if kind == "F":
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            y = block(x)
            result = y.detach()
            if target >= ranks():
                y = mse_loss(y, targets[i]) * share
            alive[i] = x, y
        else:
            x, y = alive.pop(i)
            y.backward(arrived)
            result = x.grad
        if 0 <= target < ranks():
            flights.append(isend(result, target))
        if kind == "B" and (zero.gradient or (kind, i) == order[-1]):
            part = copies.scatter_sum(take_gradient(block))
            total = total + (part if zero.update else copies.gather(part))
            block.zero_grad()  # the whole gradient is given back
        if zero.weights:
            storage.resize_(0)  # and so are whole weights: the next pass has to gather them again
        if kind == "B":
            kept = max(kept, held(row, own, total, *(w.grad for w in block.parameters())))
    for flight in flights:
        flight.wait()
    own -= RATE * total
    if zero.update and not zero.weights:
        row.copy_(copies.gather(own))
    return torch.as_tensor(total), own if zero.weights else row, kept


def held(*tensors):
    """Bytes of what these tensors lie in; what lies in the same place counts once."""
    places = [each.untyped_storage() for each in tensors if isinstance(each, torch.Tensor)]
    return sum({place.data_ptr(): place.nbytes() for place in places}.values())


class Copies:
    """The ranks that hold the same stage: an all-reduce, one half at a time."""

    def __init__(self, size):
        first = rank() - rank() % size
        self.size, self.me = size, rank() - first
        self.right, self.left = (first + (self.me + way) % size for way in (1, -1))
        self.sent_bytes = self.reductions = 0

    def shift(self, part):
        """Mine goes to the right while the left neighbour's arrives."""
        with wire() as sent:
            arrived = exchange(part, self.right, torch.empty_like(part), self.left, tag=1).wait()
        self.sent_bytes += sent.sent_bytes
        return arrived

    def scatter_sum(self, row):
        """My part of the sum over all copies: a part's sum grows on its way round."""
        self.reductions += 1
        parts = row.view(self.size, -1)
        passing = parts[self.me - 1]
        for hop in range(2, self.size + 1):
            passing = self.shift(passing) + parts[self.me - hop]
        return passing.clone()

    def gather(self, part):
        """All parts, in order."""
        parts = [part] * self.size
        for hop in range(1, self.size):
            parts[self.me - hop] = self.shift(parts[self.me - hop + 1])
        return torch.cat(parts)


def schedule_1f1b(stage, stages, microbatches):
    """Forwards of warm-up, then F and B in turn, then the backwards still owed."""
    warmup = min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(warmup)]
    for i in range(microbatches):
        order += [("F", warmup + i), ("B", i)] if warmup + i < microbatches else [("B", i)]
    return order


def main(
    replicas: int = 0,  # copies of each stage, d; 0: 2 if the number of ranks is even, else 1
    microbatches: int = 4,  # micro-batches of each copy in a step
    rows: int = 4,  # samples in a micro-batch
    width: int = 16,  # hidden size
) -> Metrics:
    """One step with plain DP and with each stage of ZeRO; replicas 0: two if ranks are even."""
    d = replicas or 2 - ranks() % 2
    if d < 1 or ranks() % d:
        fit = [n for n in range(1, ranks() + 1) if ranks() % n == 0]
        refuse(f"{d} replicas do not divide {ranks()} ranks: take one of {fit}")
    if min(microbatches, rows, width) < 1:
        refuse("microbatches, rows and width start at 1")
    if width * (width + 1) % d:
        refuse(f"{d} copies share a stage's weights evenly: take width {-(-width // d) * d}")

    like = {"dtype": torch.float64, "device": device()}
    stage, copy = divmod(rank(), d)
    blocks = [torch.nn.Sequential(Layer(width, width, **like)) for _ in range(ranks() // d)]
    inputs, targets = (
        [[torch.randn(rows, width, **like) for _ in range(microbatches)] for _ in range(d)]
        for _ in range(2)
    )
    order = schedule_1f1b(stage, len(blocks), microbatches)
    weights = parameters_to_vector(blocks[stage].parameters()).detach()
    batch, wanted = ([torch.cat(each) for each in rows] for rows in (inputs, targets))
    gradient = one_process(deepcopy(blocks), batch, wanted)[stage]

    metrics, errors, sent = {}, [], []
    for number, zero in enumerate(ZERO):
        copies, share = Copies(d), 1 / (microbatches * d)
        what = order, deepcopy(blocks[stage]), copies, inputs[copy], targets[copy], share
        ours, after, kept = step(zero, *what)
        known = gradient.view(d, -1)[copy] if zero.update else gradient
        check(f"ZeRO-{number}: gradients equal one process", max_error(ours, known), "<", 1e-12)
        known = weights - RATE * gradient
        known = known.view(d, -1)[copy] if zero.weights else known
        errors.append(max_error(after, known))
        check(f"ZeRO-{number}: weights equal one process", errors[-1], "<", 1e-12)
        sent.append(copies.sent_bytes)
        halves = (2, 2, microbatches + 1, 3 * microbatches)[number]
        check(f"ZeRO-{number}: halves of an all-reduce", 2 * sent[-1], "==", halves * sent[0])
        metrics |= {
            f"dp_bytes_{number}": counted(sent[-1]),
            f"reductions_{number}": counted(copies.reductions),
            f"kept_bytes_{number}": counted(kept),
        }
    return metrics | {
        "stage_gradient_bytes": counted(gradient.nbytes),
        "weights_error": compared(max(errors)),
    }


BREAKS = {
    "overwritten": Break(
        old="total = total + (part if",
        new="total = (part if",
        expect="ZeRO-2: gradients equal one process",
        ranks=1,
        source="a reduce-scatter that writes its result where the last micro-batch's sum lies",
    ),
    "reduces-every-time": Break(
        old="zero.gradient or",
        new="zero.update or",
        expect="ZeRO-1: halves of an all-reduce",
        ranks=2,
        source="gradient hooks that know nothing of micro-batches: right, but m + 1 halves",
    ),
    "weights-not-gathered": Break(
        old="        row.copy_(copies.gather(own))\n    return",
        new="        pass\n    return",
        expect="ZeRO-1: weights equal one process",
        ranks=2,
        source="an optimizer wrapped to update its part, without the all-gather that follows",
    ),
}


if __name__ == "__main__":
    run(__file__)
