"""Gather a unit ahead and its gather hides under the unit before; the price is one more whole unit.

The trick
    If a unit is gathered when its turn has come, each gather is waited for. Ask for the next one
    before computing the present one, and both run at once: what is left to wait for is the first
    gather of forward, the first of backward (whose unit was freed a moment ago) and the last
    reduce-scatter. Messages have one lane, one after the other, so a reduce-scatter comes behind
    the gather that was asked for earlier. Depth d keeps d + 1 whole units.

    Where messages take longer than the computing that should hide them, the rest shows, however far
    ahead one asks. On the timeline F and B compute, G is a gather and R a reduce-scatter, which
    take the same time on their way.

Watch
    computing (shared, ticks)   that a rank computes in a step
    exposed_0 (shared, ticks)   of a step in which nothing is computed, each gather at its turn
    exposed_1 (shared, ticks)   of a step in which nothing is computed, one unit ahead
    exposed_2 (shared, ticks)   of a step in which nothing is computed, two units ahead
    turn_forward (shared, index)  turn of a unit's forward; 0 is its first gather
    turn_free (shared, index)   turn in which its whole weights are freed, the first time
    turn_again (shared, index)  turn of its second gather
    turn_backward (shared, index)  turn of its backward
    turn_scatter (shared, index)  turn of its reduce-scatter, the second freeing not counted
    unit_bytes (shared, bytes)  of the whole weights of a unit
    whole_peak_0 (bytes)              of whole weights, most at once, each gather at its turn
    whole_peak_1 (bytes)              of whole weights, most at once, one unit ahead
    whole_peak_2 (bytes)              of whole weights, most at once, two units ahead
    gradient_error (difference)  largest one of a gradient from one process, any depth

Run
    quizkit demo fsdp-prefetch --gpus 4
    python demos/fsdp_prefetch.py --ranks 4 --units 6 --gather-time 1.5
    torchrun --nproc-per-node 4 demos/fsdp_prefetch.py
"""

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import device, exchange, max_error, rank, ranks, virtual_clock

import torch

TOPIC = "fsdp"


class Lane:
    """Collectives one after the other, beside what is computed."""

    def __init__(self, clock):
        self.clock, self.free = clock, 0.0

    def run(self, collective, *args):
        """Start when the lane is free; gives the result, and when it is there."""
        computing = self.clock.now
        self.clock.now = max(computing, self.free)
        result = collective(*args)
        self.free, self.clock.now = self.clock.now, computing
        return result, self.free


def gather(shard, name):
    """All ranks' shards: each rank sends its own to all others at once."""
    return torch.cat(swap([shard] * ranks(), name))


def scatter_sum(row, name):
    """My shard of the sum over the ranks."""
    return torch.stack(swap(row.chunk(ranks()), name)).sum(0)


def swap(pieces, name):
    """Each rank's piece for me, in order; mine go out under a name."""
    me, n = rank(), ranks()
    arrived = {me: pieces[me]}
    flying = {}
    for step in range(1, n):
        to, source = (me + step) % n, (me - step) % n
        flying[source] = exchange(pieces[to], to, torch.empty_like(pieces[to]), source, name=name)
    arrived |= {source: flight.wait() for source, flight in flying.items()}
    return [arrived[source] for source in range(n)]


def step(shards, x, slope, depth, clock, times):
    """Forward and backward: gradients' shards, the peak of whole weights, what came in turn."""
    lane, units = Lane(clock), range(len(shards))
    inputs, found, peak, turns = [x], {}, 0, []
    for kind, order in (("F", [*units]), ("B", [*units][::-1])):
        whole = {}  # of each unit that is asked for: its weights, and when they are there
        for turn, unit in enumerate(order):
            for ahead in order[turn : turn + depth + 1]:
                if ahead not in whole:
                    whole[ahead] = lane.run(gather, shards[ahead], f"G{ahead}")
                    turns.append(("gather", ahead))
            peak = max(peak, sum(weight.nbytes for weight, _ in whole.values()))
            weight, there = whole[unit]
            clock.now = max(clock.now, there)
            if kind == "F":
                inputs.append(unit_forward(inputs[-1], weight))
            else:
                slope, gradient = unit_backward(inputs[unit], weight, slope)
            clock.spend(times[kind], f"{kind}{unit}")
            del whole[unit]  # freed
            turns += [(kind, unit), ("free", unit)]
            if kind == "B":
                found[unit], _ = lane.run(scatter_sum, gradient, f"R{unit}")
                turns.append(("scatter", unit))
    clock.now = max(clock.now, lane.free)  # the update needs the last gradient
    return [found[unit] for unit in units], peak, turns


def unit_forward(x, weight):
    """A residual layer: the weights are a flat row."""
    width = x.shape[-1]
    return x + torch.tanh(x @ weight[: width * width].view(width, width))


def unit_backward(x, weight, slope):
    """The gradients of a unit's input and weights; what is between is worked out anew."""
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    return torch.autograd.grad(unit_forward(x, weight), (x, weight), slope)


def main(
    units: int = 4,  # layers, each a unit
    rows: int = 3,  # rows of each rank
    width: int = 10,  # hidden size
    forward_time: float = 1.0,  # virtual time of a unit's forward
    backward_time: float = 2.0,  # virtual time of a unit's backward
    gather_time: float = 0.5,  # virtual time of a unit's gather, or reduce-scatter, on its way
) -> Metrics:
    """The same step with gathers at their turn, one and two units ahead."""
    if min(units, rows, width) < 1:
        refuse("units, rows and width start at 1")
    if not all(0 <= each <= 1000 for each in (forward_time, backward_time, gather_time)):
        refuse("times are from 0 to 1000")
    n = ranks()
    size = -(-width * width // n) * n  # padded to be cut evenly
    like = {"dtype": torch.float64, "device": device()}
    rows_of = torch.randn(units, size, **like) / width**0.5
    x, slope = torch.randn(n, rows, width, **like), torch.randn(n, rows, width, **like)
    shards = [*rows_of.view(units, n, -1)[:, rank()]]
    weights, y = rows_of.clone().requires_grad_(), x
    for weight in weights:
        y = unit_forward(y, weight)
    (truth,) = torch.autograd.grad(y, weights, slope)
    truth = truth.view(units, n, -1)[:, rank()]

    computing = units * (forward_time + backward_time)
    letters = {
        "F": "forward of unit {}",
        "B": "backward of unit {}",
        "G": "shard of unit {}'s weights",
        "R": "shard of unit {}'s gradient",
    }
    times = {"F": forward_time, "B": backward_time}
    exposed, peaks, errors, life = [], [], [], []
    for depth in range(3):
        with virtual_clock(f"{depth} ahead", gather_time, **letters) as clock:
            gradients, peak, turns = step(shards, x[rank()], slope[rank()], depth, clock, times)
            # The same costs added in another order may differ in a float's last digit.
            exposed.append(round(clock.makespan() - computing, 9))
        life = life or [what for what, unit in turns if unit == units // 2]
        errors.append(max_error(torch.stack(gradients), truth))
        peaks.append(peak)
        check(f"{depth} ahead: gradients equal one process", errors[-1], "<", 1e-12)
        check(f"{depth} ahead: whole units", peak, "==", min(depth + 1, units) * size * 8)
    g = gather_time * (n > 1)
    check("at its turn: nothing is hidden", abs(exposed[0] - 3 * units * g), "<", 1e-8)
    if g <= forward_time and 2 * g <= backward_time:
        check("one ahead: all but the ends is hidden", abs(exposed[1] - 3 * g), "<", 1e-8)
    check("two ahead is not slower than one", exposed[2], "<=", exposed[1])
    return {
        "computing": shared(clocked(computing)),
        **{f"exposed_{depth}": shared(clocked(exposed[depth])) for depth in range(3)},
        "turn_forward": shared(counted(life.index("F"))),
        "turn_free": shared(counted(life.index("free"))),
        "turn_again": shared(counted(life.index("gather", 1))),
        "turn_backward": shared(counted(life.index("B"))),
        "turn_scatter": shared(counted(life.index("scatter") - 1)),
        "unit_bytes": shared(counted(size * 8)),
        **{f"whole_peak_{depth}": counted(peaks[depth]) for depth in range(3)},
        "gradient_error": compared(max(errors)),
    }


BREAKS = {
    "waits-at-once": Break(
        old='f"G{ahead}")\n',
        new='f"G{ahead}")\n                    clock.now = whole[ahead][1]\n',
        expect="one ahead: all but the ends is hidden",
        source="a gather with async_op=True and wait() on the next line: asked early, waited early",
    ),
    "all-at-once": Break(
        old="order[turn : turn + depth + 1]",
        new="order[turn:]",
        expect="0 ahead: whole units",
        ranks=1,
        source="FSDP without limit_all_gathers: the CPU runs ahead and asks for all units at once",
    ),
    "forward-order": Break(
        old="            for ahead in order[turn : turn + depth + 1]:\n",
        new="            for ahead in {unit, *[*units][unit : unit + depth + 1]}:\n",
        expect="one ahead: all but the ends is hidden",
        source="a list of units to prefetch made for forward and kept for backward",
    ),
}

if __name__ == "__main__":
    run(__file__)
