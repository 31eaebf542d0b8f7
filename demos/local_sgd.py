"""Averaging weights every H steps sends 1/H as much, and is another algorithm with another goal.

The trick
    Each rank goes H steps on its own loss, then all take the mean of their weights. With H = 1
    that is data parallelism, if the update is linear in the gradients, as SGD's is with momentum or
    without; Adam's is not. With H > 1 ranks walk apart between two means, each towards its own
    optimum. If these are one, all come to rest there. If not, with rates eta and losses
    a_r/2 (w - c_r)^2, it is no longer the optimum of the sum, each c_r weighted by a_r, but each
    weighted by 1 - (1 - eta a_r)^H: the longer alone, the nearer to the plain mean of the c_r.

    DiLoCo takes what a round changed for a gradient and steps along it with momentum of its own:
    another way to the same standstill. Gradients that come a step late, in return, let nobody wait
    and still lead to the optimum, but the learning rate may be half as large at most.

Watch
    optimum (shared)          optimum of the mean loss: where data parallelism comes to rest
    settled (shared)          where local SGD comes to rest
    settled_outer (shared)    where local SGD with outer momentum comes to rest
    settled_late (shared)     where data parallelism comes to rest if gradients come a step late
    plain_mean (shared)       plain mean of the ranks' own optima
    drift                     at rest: how far this rank strays from the mean between two averagings
    apart (shared)            largest distance of a rank from the mean after the last averaging
    reductions_each (shared)  all-reduces in rounds * every steps if gradients are reduced in each
    reductions_local (shared) all-reduces in rounds * every steps if weights are averaged every H
    rounds_plain (shared)     averagings until 1% of local SGD's way to rest is left
    rounds_outer (shared)     averagings until 1% of the way is left, with outer momentum
    late_growth (shared)      20 steps at --late-rate, gradients late: last distance over first
    prompt_growth (shared)    20 steps at --late-rate, gradients in time: last distance over first
    one_step_sgd (shared)     H = 1 by plain SGD: distance from data parallelism after 5 steps
    one_step_momentum (shared)  H = 1, each rank's own momentum: from data parallelism, 5 steps
    one_step_adam (shared)    H = 1, each rank's own Adam: distance from data parallelism, 5 steps

Run
    quizkit demo local-sgd --gpus 4
    python demos/local_sgd.py --ranks 3 --every 8
    torchrun --nproc-per-node 4 demos/local_sgd.py
"""

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks, wire

import torch
from torch.optim.adam import adam as torch_adam
from torch.optim.sgd import sgd as torch_sgd

TOPIC = "compress"


def side_by_side(*methods):
    """Run generators to their ends; one all-reduce a turn gives each the mean of what it yields."""
    ends, rows = {}, {method: next(method) for method in methods}
    while rows:
        means = all_reduce(torch.stack([*rows.values()])) / ranks()
        for method, mean in zip([*rows], means, strict=True):
            try:
                rows[method] = method.send(mean)
            except StopIteration as stop:
                ends[method] = stop.value
                del rows[method]
    return [ends[method] for method in methods]


def sgd(rate, keep=0.0, nesterov=False):
    """SGD's rule, with the momentum it keeps from step to step."""
    kept = torch.zeros((), dtype=torch.float64, device=device())

    def rule(weights, gradient):
        nonlocal kept
        kept = keep * kept + gradient
        return weights - rate * (gradient + keep * kept if nesterov else kept)

    return rule


def adam(rate):
    """Adam's rule as torch has it, with the states it keeps."""
    states, more = [], {"amsgrad": False, "weight_decay": 0.0, "maximize": False}

    def rule(weights, gradient):
        moved, zeros = weights.clone(), torch.zeros_like(weights)
        states[:] = states or [[zeros], [zeros.clone()], [], [torch.tensor(0.0)]]
        torch_adam([moved], [gradient], *states, lr=rate, beta1=0.9, beta2=0.999, eps=1e-8, **more)
        return moved

    return rule


def local_round(weights, slope, rule, every, outer):
    """H steps alone, and one step along what they changed."""
    mine = weights
    for _ in range(every):
        mine = rule(mine, slope(mine))
    # With an outer rate of 1 and no momentum this is the mean of everybody's weights.
    return outer(weights, weights - (yield mine))


def rest(weights, move):
    """Move until nothing moves any more, or it runs away: all places on the way."""
    places = [weights]
    while len(places) < 3000:
        places.append((yield from move(places[-1])))
        moved = max(max_error(places[-1], each) for each in places[-4:-1])  # it may just turn
        if not 1e-14 < moved < 1e6:
            break
    return torch.stack(places)


def one_percent(places):
    """How many moves until 1% of the way to the last place is left, for good."""
    left = (places - places[-1]).abs()[:, 0]
    return int((left > 0.01 * left[0]).nonzero().max()) + 1


def late(weights, slope, rate):
    """Steps of data parallelism, each along the gradient of the weights before."""
    before = weights

    def move(weights):
        nonlocal before
        stale, before = before, weights
        return weights - rate * (yield slope(stale))

    return move


def growth(weights, move, goal):
    """How the distance grew in 20 steps."""
    seen = []
    for _ in range(20):
        weights = yield from move(weights)
        seen.append(abs(weights[0].item() - goal))
    return max(seen[-7:]) / max(seen[:7])


def one_step(weights, slope, make):
    """Average weights after each step, or gradients before: how far apart after 5 steps."""
    ours, theirs, mine, common = weights, weights, make(), make()
    for _ in range(5):
        ours = yield mine(ours, slope(ours))
        theirs = common(theirs, (yield slope(theirs)))
    return max_error(ours, theirs)


def with_torch(weights, changes, keep):
    """The same changes given to torch's SGD as gradients."""
    weights, kept = weights.clone(), [None]
    options = {"weight_decay": 0.0, "dampening": 0.0, "nesterov": True, "maximize": False}
    for change in changes:
        torch_sgd([weights], [change], kept, lr=1.0, momentum=keep, **options)  # pyright: ignore
    return weights


def main(
    every: int = 4,  # steps alone between two averagings, H
    rate: float = 0.2,  # learning rate of each step, alone or together
    steep: float = 3.0,  # how steep (a) the last rank's loss is; rank 0's is 1
    outer_momentum: float = 0.3,  # momentum of the step along what a round changed
    late_rate: float = 0.7,  # learning rate of the 20 steps with gradients late and in time
    rounds: int = 3,  # averagings in which all-reduces are counted
    width: int = 12,  # weights of the model
) -> Metrics:
    """Losses a/2 (w - c)^2 on each rank: a from 1 to --steep, c from 0 to 1, first rank to last."""
    if not (1 <= every <= 1000 and 0 <= outer_momentum <= 0.9 and rounds >= 1 and width >= 1):
        refuse("every is 1 to 1000, outer-momentum 0 to 0.9; rounds and width start at 1")
    if not (rate >= 0.05 and steep >= 1 and rate * steep <= 0.9 and 0.05 <= late_rate <= 2):
        refuse("rates start at 0.05, steep at 1; late-rate ends at 2, rate * steep at 0.9")
    way = rank() / max(1, ranks() - 1)
    a, c = 1 + (steep - 1) * way, way

    def slope(weights):
        return a * (weights - c)

    start = torch.full((width,), 2.0, dtype=torch.float64, device=device())
    curves, goals = everyone([a, c]).T
    optimum = ((curves * goals).sum() / curves.sum()).item()
    pulls = 1 - (1 - rate * curves) ** every
    predicted = ((pulls * goals).sum() / pulls.sum()).item()

    def step(rate):  # of data parallelism: everybody's gradient, one update
        return lambda weights: sgd(rate)(weights, (yield slope(weights)))

    def turn(outer):
        return lambda weights: local_round(weights, slope, sgd(rate), every, outer)

    first, local, outer, stale, late_growth, in_time = side_by_side(
        rest(start, step(rate)),
        rest(start, turn(sgd(1.0))),
        rest(start, turn(sgd(1.0, outer_momentum, nesterov=True))),
        rest(start, late(start, slope, rate)),
        growth(start, late(start, slope, late_rate), optimum),
        growth(start, step(late_rate), optimum),
    )
    check("data parallelism rests at the optimum", abs(first[-1, 0].item() - optimum), "<", 1e-11)
    for name, places in (("local SGD", local), ("outer momentum", outer)):
        error = abs(places[-1, 0].item() - predicted)
        check(f"{name} rests where all pulls cancel", error, "<", 1e-11)

    error = max_error(stale[2] - stale[1], stale[1] - stale[0])
    check("a step late, the second step repeats the first", error, "<", 1e-12)
    check("late gradients rest at the optimum", abs(stale[-1, 0].item() - optimum), "<", 1e-11)
    steepness = late_rate * curves.mean().item()
    if abs(steepness - 1) > 0.1:
        check("a step late, half the rate is the limit", late_growth > 1, "==", steepness > 1)

    weights, changes, ours = start, [], sgd(1.0, outer_momentum, nesterov=True)

    def noted(weights, change):
        changes.append(change)
        return ours(weights, change)

    with wire() as local_wire:
        for _ in range(rounds):
            (weights,) = side_by_side(turn(noted)(weights))
    apart = everyone(max_error(weights, all_reduce(weights.clone()) / ranks())).max().item()
    check("ranks are alike after an averaging", apart, "<", 1e-14)
    error = max_error(weights, with_torch(start, changes, outer_momentum))
    check("outer steps equal torch's", error, "<", 1e-12)
    with wire() as each:
        for _ in range(rounds * every):
            side_by_side(step(rate)(start))
    check("1/H of the all-reduces", local_wire.collectives * every, "==", each.collectives)

    rules = (lambda: sgd(rate)), (lambda: sgd(rate, 0.9)), (lambda: adam(rate))
    once = side_by_side(*(one_step(start, slope, make) for make in rules))
    for name, error in (("SGD", once[0]), ("momentum", once[1])):
        check(f"H = 1, {name}: data parallelism", error, "<", 1e-12)
    check("H = 1, Adam: not", once[2] > 1e-6, "==", ranks() > 1)
    astray = local[-1]
    for _ in range(every):
        astray = astray - rate * slope(astray)
    return {
        "optimum": shared(compared(first[-1, 0])),
        "settled": shared(compared(local[-1, 0])),
        "settled_outer": shared(compared(outer[-1, 0])),
        "settled_late": shared(compared(stale[-1, 0])),
        "plain_mean": shared(compared(goals.mean())),
        "drift": compared(max_error(astray, local[-1])),
        "apart": shared(compared(apart)),
        "reductions_each": shared(counted(each.collectives)),
        "reductions_local": shared(counted(local_wire.collectives)),
        "rounds_plain": shared(counted(one_percent(local))),
        "rounds_outer": shared(counted(one_percent(outer))),
        "late_growth": shared(compared(late_growth)),
        "prompt_growth": shared(compared(in_time)),
        "one_step_sgd": shared(compared(once[0])),
        "one_step_momentum": shared(compared(once[1])),
        "one_step_adam": shared(compared(once[2])),
    }


BREAKS = {
    "wrong-sign": Break(
        old="outer(weights, weights - (yield mine))",
        new="outer(weights, (yield mine) - weights)",
        expect="local SGD rests where all pulls cancel",
        ranks=1,
        source="new minus old, handed to an optimizer that subtracts: it walks uphill",
    ),
    "sum-of-weights": Break(
        old="        means = all_reduce(torch.stack([*rows.values()])) / ranks()\n",
        new="        means = all_reduce(torch.stack([*rows.values()]))\n",
        expect="local SGD rests where all pulls cancel",
        ranks=2,
        source="the collective sums; gradients forgive a factor of N, weights do not",
    ),
    "heavy-ball": Break(
        old="(gradient + keep * kept if nesterov else kept)",
        new="kept",
        expect="outer steps equal torch's",
        ranks=1,
        source="DiLoCo's outer optimizer is Nesterov's; plain momentum is another step",
    ),
    "gradients-only-then": Break(
        old="        mine = rule(mine, slope(mine))\n",
        new="        mine = rule(mine, slope(weights))\n",
        expect="local SGD rests where all pulls cancel",
        ranks=2,
        source="local steps taken for accumulation: H gradients of the same weights",
    ),
}

if __name__ == "__main__":
    run(__file__)
