"""A device slows down: deal rows and layers anew if what is left of the run pays for the move.

The trick
    Each copy of the model is a pipeline and works on its share of the batch. It takes the sum of
    its stages' times and, for every further micro-batch, its slowest stage's; the slowest copy sets
    the step: one number for both axes (free links, all forwards before the backwards). Shares dealt
    anew move no weights. A layer that changes its rank takes its Adam moments along, and each copy
    may be cut in its own way. A restart takes every layer through storage.

    Speeds are measured in the slow step and told to all, so that all come to the same plan. Every
    way is priced to the end of the run, its move and then the steps that are left; the cheapest is
    taken, maybe to do nothing. Gradients are of the mean over the whole batch, whoever has them.

Watch
    layers_after (layers)         on this rank, both dealt anew
    shares_after (micro-batches)  of a step on this rank, both dealt anew
    busy_before (ticks, step)     of this rank while all are equally fast, waiting apart
    busy_slow (ticks, step)       of this rank with a slow device and the old plan, waiting apart
    busy_both (ticks, step)       of this rank, both dealt anew, waiting apart
    step_before (shared, ticks)   a step while all are equally fast
    step_stay (shared, ticks)     a step with a slow device and the old plan
    step_shares (shared, ticks)   a step, micro-batches alone dealt anew
    step_layers (shared, ticks)   a step, layers alone dealt anew
    step_both (shared, ticks)     a step, both dealt anew
    carried_shares (bytes, sent)  weights and moments by this rank, micro-batches alone dealt anew
    carried_both (bytes, sent)    weights and moments by this rank, both dealt anew
    stored_restart (bytes)        that this rank writes to storage and reads back, both dealt anew
    wait_both (shared, ticks)     until training goes on, both dealt anew
    wait_restart (shared, ticks)  until training goes on, both dealt anew by a restart
    lost_stay (shared, ticks)     against equal speeds by the end of the run: the old plan
    lost_shares (shared, ticks)   the same, micro-batches alone dealt anew
    lost_layers (shared, ticks)   the same, layers alone dealt anew, their move included
    lost_both (shared, ticks)     the same, both dealt anew, the move included
    lost_restart (shared, ticks)  the same, both dealt anew by a restart, which is included
    lost_chosen (shared, ticks)   the same, in the way that was taken
    both_peak_bytes (bytes)       at most on this rank, both dealt anew: model states, activations
    grad_error (shared, difference)  largest one of any gradient from one process, any step and way

Run
    quizkit demo rebalance --gpus 4
    python demos/rebalance.py --ranks 8 --copies 2 --pace 0.25
"""

from itertools import combinations, product
from math import inf
from types import SimpleNamespace
from typing import NamedTuple

from _bench import Break, Metrics, check, clocked, compared, counted, picture, refuse, run, shared
from _bench import Layer, device, everyone, isend, max_error, rank, ranks, recv, ring_sum
from _bench import saved_activations, virtual_clock, wire

import torch
from torch.nn.functional import linear, mse_loss

TOPIC = "hybrid"
RATE, MEAN, SQUARE, TINY = 0.01, 0.9, 0.999, 1e-8  # of Adam


class Plan(NamedTuple):
    """Who does what: rank = stage * copies + copy."""

    held: tuple[int, ...]  # micro-batches of each copy in a step
    cuts: tuple[tuple[int, ...], ...]  # of each copy: the stage of each layer


def copy_time(cut, held, speeds):
    """A layer takes 1 tick forward and 2 back at speed 1; the slowest stage sets the pace."""
    ticks = [3 * cut.count(stage) / speed for stage, speed in enumerate(speeds)]
    return sum(ticks) + (held - 1) * max(ticks)


def step_time(plan, speeds):
    """One number for both axes: the slowest copy's time."""
    return max(map(copy_time, plan.cuts, plan.held, speeds))


def dealt(batch, copies, time):
    """Micro-batch by micro-batch, each to the copy that would be done with it first."""
    held = [1] * copies
    for _ in range(batch - copies):
        held[min(range(copies), key=lambda copy: time(copy, held[copy] + 1))] += 1
    return tuple(held)


def every_cut(layers, stages):
    """Layers keep their order, and no stage goes without."""
    for ends in combinations(range(1, layers), stages - 1):
        yield tuple(sum(layer >= end for end in ends) for layer in range(layers))


def replanned(old, speeds, fits, shares=True, layers=True):
    """The plan with the shortest step that fits; among such, the one that moves fewest layers."""
    wide = list(every_cut(len(old.cuts[0]), len(speeds[0])))

    def times(copy, held):
        cuts = wide if layers else [old.cuts[copy]]
        return {cut: copy_time(cut, held, speeds[copy]) for cut in cuts if fits(copy, cut, held)}

    def best(copy, held):
        return min(times(copy, held).values(), default=inf)

    held = dealt(sum(old.held), len(old.held), best) if shares else old.held
    slowest = max(map(best, range(len(held)), held))
    cuts = []
    for copy, before in enumerate(old.cuts):
        soon = [cut for cut, time in times(copy, held[copy]).items() if time <= slowest]
        stay = {cut: sum(map(int.__eq__, cut, before)) for cut in soon}
        cuts.append(max(stay, key=stay.__getitem__, default=before))
    return Plan(held, tuple(cuts))


def journeys(old, new):
    """(layer, from, to) of every layer that changes its rank."""
    copies = len(old.cuts)
    for copy, layer in product(range(copies), range(len(old.cuts[0]))):
        source, target = (cut[layer] * copies + copy for cut in (old.cuts[copy], new.cuts[copy]))
        if source != target:
            yield layer, source, target


def price(old, new, layer_ticks):
    """Ticks of a move: links work side by side, a link's layers go one after the other."""
    links = [link for _, *link in journeys(old, new)]
    return max(map(links.count, links), default=0) * layer_ticks


def choose(ways, speeds, left, layer_ticks):
    """The way that ends the run first: its move, then the steps that are left."""

    def end(way):
        return price(ways["stay"], ways[way], layer_ticks) + left * step_time(ways[way], speeds)

    return min(ways, key=end)


def move(old, new, states):
    """Layers that change their rank go there: a row of weights, two of Adam's moments."""
    flights = {}
    for layer, source, to in journeys(old, new):
        if source == rank():
            flights[layer] = isend(states[layer], to, tag=1, name=f"M{layer}")
    for layer, source, to in journeys(old, new):
        if to == rank():
            states[layer] = recv(torch.empty_like(next(iter(states.values()))), source, tag=1)
    for layer, flight in flights.items():
        flight.wait()
        del states[layer]


def step(plan, states, turn, speed, inputs, targets, clock):
    """My micro-batches forward, then back; a sum over the copies for each layer; Adam."""
    seen = SimpleNamespace(outputs=[], gradients={}, busy=0.0, work=0)
    d, alive, flights = len(plan.held), {}, []
    before = sum(plan.held[: rank() % d])
    seen.mine = range(before, before + plan.held[rank() % d])
    weights = {at: states[at][0].clone().requires_grad_() for at in sorted(states)}
    with saved_activations(weights.values()) as seen.saved:
        for kind, i in product("FB", seen.mine):
            source, target = (rank() - d, rank() + d) if kind == "F" else (rank() + d, rank() - d)
            arrived = recv(torch.empty_like(inputs[i]), source) if 0 <= source < ranks() else None
            if kind == "F":
                x = inputs[i] if arrived is None else arrived.requires_grad_()
                result, work = forward(weights.values(), x)
                alive[i] = x, result, 2 * work
            else:
                x, y, work = alive.pop(i)
                if arrived is None:  # of the mean over the whole batch, wherever it is computed
                    seen.outputs.append(y.detach())
                    arrived = 2 * (y.detach() - targets[i]) / (len(inputs) * y.numel())
                y.backward(arrived)
                result = x.grad
            clock.spend(work / speed, f"{kind}{i}")
            seen.busy, seen.work = seen.busy + work / speed, seen.work + work
            if 0 <= target < ranks():
                flights.append(isend(result, target))
    for flight in flights:
        flight.wait()
    for at, row in weights.items():
        holders = [cut[at] * d + copy for copy, cut in enumerate(plan.cuts)]
        seen.gradients[at] = ring_sum(row.grad, group=holders)
        adam(states[at], seen.gradients[at], turn)
    return seen


def forward(weights, x):
    """Residual layers, a row of weights each; and how many were run."""
    for row in weights:
        matrix = row[: -x.shape[1]].view(x.shape[1], -1)
        x = x + torch.tanh(linear(x, matrix, row[-x.shape[1] :]))
    return x, len(weights)


def adam(state, gradient, turn):
    """One step of it on a layer's three rows."""
    weights, mean, square = state
    mean.lerp_(gradient, 1 - MEAN)
    square.lerp_(gradient.square(), 1 - SQUARE)
    weights -= RATE / (1 - MEAN**turn) * mean / ((square / (1 - SQUARE**turn)).sqrt() + TINY)


def main(
    copies: int = 0,  # of the model, each a pipeline; 0: 2 if 4 divides the ranks, else 1
    layers: int = 12,  # of the model
    batch: int = 12,  # micro-batches in a step, of all copies together
    slow: int = -1,  # the rank whose device slows down; -1: the first copy's middle stage
    pace: float = 0.5,  # its speed from the second step on; the others' is 1
    left: int = 2,  # steps that are left after the slow one; 0: the run ends with it
    bandwidth: float = 144.0,  # bytes a tick over one link, or between a rank and storage
    boot: float = 200.0,  # ticks between saving and loading in a restart
    tight: int = -1,  # a rank with less memory; -1: none
    room: int = 4,  # micro-batches for which it has memory, with as many layers as any
    width: int = 8,  # hidden size, and rows of a micro-batch
) -> Metrics:
    """Train a step at equal speeds, a step with a slow device, and what is left in every way."""
    from torch import _dynamo  # noqa: F401  # Adam wants it: imported once, before the fork

    n = ranks()
    d = copies or (1 if n % 4 else 2)
    if d < 1 or n % d:
        refuse(f"{d} copies do not divide {n} ranks: take 1 or {n}")
    stages, stage, copy = n // d, rank() // d, rank() % d
    if not (stages <= layers <= 12 and d <= batch <= 64 and max(slow, tight) < n):
        refuse(f"layers lie in {stages} to 12, batch in {d} to 64, slow and tight below {n}")
    if not (0.01 <= pace <= 100 and 0 <= left <= 12 and min(room, width) >= 1 <= bandwidth):
        refuse("pace lies in 0.01 to 100, left in 0 to 12; room, width and bandwidth start at 1")
    slow = stages // 2 * d if slow < 0 else slow

    like = {"dtype": torch.float64, "device": device()}
    model = torch.nn.Sequential(*(Layer(width, width, **like) for _ in range(layers)))
    inputs, targets = (torch.randn(batch, width, width, **like) for _ in range(2))
    start = [row_of(layer.parameters()) for layer in model]
    truth = alone(model, inputs, targets, 2 + left)

    row_bytes = start[0].nbytes

    def needs(many, held):  # weights, gradient, two moments; a layer's input and its tanh are kept
        return many * (4 * row_bytes + held * 2 * inputs[0].nbytes)

    most = [needs(-(-layers // stages), room) if each == tight else inf for each in range(n)]

    def fits(copy, cut, held):
        return all(needs(cut.count(at), held) <= most[at * d + copy] for at in range(stages))

    even = tuple(layer * stages // layers for layer in range(layers))
    old = Plan(tuple(batch // d + (each < batch % d) for each in range(d)), (even,) * d)
    old = replanned(old, [[1.0] * stages] * d, fits)
    if not all(map(fits, range(d), old.cuts, old.held)):
        refuse(f"the batch does not fit rank {tight}'s memory: take room {batch}")

    states = {at: torch.stack([row, 0 * row, 0 * row]) for at, row in enumerate(start)}
    states = {at: state for at, state in states.items() if old.cuts[copy][at] == stage}
    letters = {"F": "forward of {}", "B": "backward of {}", "M": "layer {} moves"}
    moving, seen, done, ticks, wait, lost, carried = False, [], {}, {}, {}, {}, {}

    def train(name, plan, states, turns, clock):
        for turn in turns:
            speed = pace if turn > 1 and rank() == slow else 1.0
            done[name] = step(plan, states, turn, speed, inputs, targets, clock)
            seen.append((turn, done[name]))

    for turn, name in ((1, "before"), (2, "slow")):
        with virtual_clock(f"step {turn}", 0.0, **letters) as clock:
            train(name, old, states, [turn], clock)
            ticks[name] = clock.makespan()

    # All are told what each has measured: they have to come to the same plan.
    measured = everyone(done["slow"].work / done["slow"].busy)
    speeds = [[round(v, 9) for v in measured[each::d].tolist()] for each in range(d)]
    layer_ticks = 3 * row_bytes / bandwidth
    anew = {"stay": (False, False), "shares": (True, False), "layers": (False, True), "both": ()}
    ways = {way: replanned(old, speeds, fits, *args) if left else old for way, args in anew.items()}
    chosen = choose(ways, speeds, left, layer_ticks)

    def link(to, size):
        return size / bandwidth if moving else 0.0

    for name, plan in {**ways, "restart": ways["both"]}.items():
        own = {at: state.clone() for at, state in states.items()}
        done[name] = done["slow"]
        with virtual_clock(name, link, **letters) as clock:
            moving = name != "restart"
            with wire() as carried[name]:
                move(old, plan, own)
            moving = False
            stored = sum(state.nbytes for state in [*states.values(), *own.values()])
            if name == "restart":  # every layer through storage instead
                clock.reach(stored / bandwidth + boot)
            wait[name] = clock.makespan()
            clock.reach(wait[name])
            train(name, plan, own, range(3, 3 + left), clock)
            lost[name] = round(clock.makespan() - left * ticks["before"], 6)
        ticks[name] = ticks["before"] + (lost[name] - wait[name]) / left if left else ticks["slow"]
        ends = [max_error(own[at][0], truth.weights[at]) for at in own if left]
        check("weights equal one process", max(ends, default=0.0), "<", 1e-12)
        if name in ways:
            gap = round(wait[name] - price(old, plan, layer_ticks), 6)
            check("a move takes what was quoted", gap, "==", 0)
        check("a step is as promised", round(ticks[name] - step_time(plan, speeds), 6), "==", 0)
    lost["chosen"] = lost[chosen]
    check("no way ends sooner", lost[chosen], "<=", min(lost[name] for name in ways) + 1e-6)

    gaps = []
    for turn, each in seen:
        counts = torch.zeros(batch, **like)
        counts[each.mine] = 1
        uneven = int((ring_sum(counts) != stages).sum())
        check("every micro-batch counts once a step", uneven, "==", 0)
        if each.outputs:
            error = max_error(torch.stack(each.outputs), truth.outputs[turn - 1][each.mine])
            check("outputs equal one process", error, "<", 1e-12)
        gaps += [max_error(g, truth.gradients[turn - 1][at]) for at, g in each.gradients.items()]
    check("gradients equal one process", max(gaps), "<", 1e-12)
    mine = ways["both"].cuts[copy].count(stage)
    kept = done["both"].saved.peak_bytes + mine * 4 * row_bytes
    check("no rank keeps more than it has room for", kept, "<=", most[rank()])

    lines = {}
    for name, first in wait.items():
        more = ticks["both" if name == "restart" else name] - ticks["before"]
        lines[name] = {steps: first + steps * more for steps in range(0, 41, 4)}
    picture("curve", "lost by the end of the run", series=lines, x="steps left", y="ticks")
    picture("messages", "layers that move", row=carried["both"].to)
    return {
        "layers_after": counted(mine),
        "shares_after": counted(len(done["both"].mine)),
        **{f"busy_{name}": clocked(done[name].busy) for name in ("before", "slow", "both")},
        **{f"step_{name}": shared(clocked(round(ticks[name], 6))) for name in ("before", *ways)},
        **{f"carried_{way}": counted(carried[way].sent_bytes) for way in ("shares", "both")},
        "stored_restart": counted(stored),
        **{f"wait_{way}": shared(clocked(round(wait[way], 6))) for way in ("both", "restart")},
        **{f"lost_{way}": shared(clocked(ticks)) for way, ticks in lost.items()},
        "both_peak_bytes": counted(kept),
        "grad_error": shared(compared(everyone(max(gaps)).max().item())),
    }


def alone(model, inputs, targets, steps):
    """The truth: the whole batch on one process, torch's Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    truth = SimpleNamespace(outputs=[], gradients=[])
    for _ in range(steps):
        optimizer.zero_grad()
        truth.outputs.append(model(inputs))
        mse_loss(truth.outputs[-1], targets).backward()
        truth.gradients.append([row_of(w.grad for w in layer.parameters()) for layer in model])
        optimizer.step()
    truth.weights = [row_of(layer.parameters()) for layer in model]
    return truth


def row_of(tensors):
    """All numbers of a layer in a row."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


BREAKS = {
    "mean-for-max": Break(
        old="(held - 1) * max(ticks)",
        new="(held - 1) * sum(ticks) / len(speeds)",
        expect="a step is as promised",
        ranks=2,
        source="planners that even out a mean: the slowest stage sets a pipeline's pace",
    ),
    "variance-as-trigger": Break(
        old="return min(ways, key=end)",
        new="use = torch.tensor([many * cut.count(at) / speed\n"
        '                        for many, cut, own in zip(*ways["stay"], speeds)\n'
        "                        for at, speed in enumerate(own)])\n"
        "    use = use / use.max()  # of the busiest rank's\n"
        '    return min(ways, key=end) if use.var() > 0.3 * use.mean() else "stay"',
        expect="no way ends sooner",
        ranks=2,
        source="load balancers that act when variance > 0.3 * mean: a square against a length",
    ),
    "equal-copies": Break(
        old="(len(inputs) * y.numel())",
        new="(len(seen.mine) * d * y.numel())",
        expect="gradients equal one process",
        ranks=4,
        source="shares of the batch dealt by speed under DDP, which averages copies equally",
    ),
    "moments-stay": Break(
        old="isend(states[layer], to, tag=1",
        new="isend(states[layer] * torch.tensor([[1.0], [0.0], [0.0]]), to, tag=1",
        expect="weights equal one process",
        ranks=2,
        source="weights moved, a new optimizer made for them: Adam starts with empty moments",
    ),
    "decided-alone": Break(
        old="measured = everyone(",
        new="measured = torch.ones(n).index_fill(0, torch.tensor(rank()), ",
        expect="hangs",
        ranks=2,
        source="each rank acts on its own timer: plans differ, messages are awaited in vain",
    ),
}

if __name__ == "__main__":
    run(__file__)
