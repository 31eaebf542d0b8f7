"""Averaging weights every H steps sends 1/H as much, and is another algorithm with another goal.

The trick
    Each rank goes H steps on its own loss, then all take the mean of their weights. With H = 1
    that is data parallelism, if the update is linear in the gradients, as SGD's is with momentum or
    without; Adam's is not. With H > 1 ranks walk apart between two means, each towards its own
    optimum. If these are one, all come to rest there. If not, with rates eta and losses
    a_r/2 (w - c_r)^2, it is no longer the optimum of the sum, each c_r weighted by a_r, but each
    weighted by 1 - (1 - eta a_r)^H: the longer alone, the nearer to the plain mean of the c_r.

    DiLoCo takes what a round changed for a gradient and steps along it with momentum of its own:
    another way to the same standstill.

Watch
    optimum (shared, value)                 optimum of the mean loss: where data parallelism comes
                                            to rest
    settled (shared, value)                 where local SGD comes to rest
    settled_outer (shared, value)           where local SGD with outer momentum comes to rest
    plain_mean (shared, value)              plain mean of the ranks' own optima, for display
    stray (difference)                      at rest: how far this rank strays from the mean between
                                            two averagings
    apart (shared, difference)              largest one of a rank from the mean after the last
                                            averaging
    reductions_each (shared, collectives)   all-reduces in rounds * every steps if gradients are
                                            reduced in each
    reductions_local (shared, collectives)  all-reduces in rounds * every steps if weights are
                                            averaged every H
    rounds_plain (shared, count)            averagings until 1% of local SGD's way to rest is left
    rounds_outer (shared, count)            averagings until 1% of the way is left, with outer
                                            momentum
    one_step_sgd (shared, difference)       H = 1 by plain SGD: weights from data parallelism after
                                            5 steps
    one_step_momentum (shared, difference)  H = 1, each rank's own momentum: weights from data
                                            parallelism, 5 steps
    one_step_adam (shared, difference)      H = 1, each rank's own Adam: weights from data
                                            parallelism, 5 steps

Run
    quizkit demo local-sgd --gpus 4
    python demos/local_sgd.py --ranks 3 --every 8
    torchrun --nproc-per-node 4 demos/local_sgd.py
"""

from _bench import Break, Metrics, check, compared, computed, counted, picture, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks, wire

import torch
from torch.optim.adam import adam as torch_adam
from torch.optim.sgd import sgd as torch_sgd

TOPIC = "compress"


def average(mine):
    """The mean over the ranks, the same on all of them."""
    return all_reduce(mine.clone()) / ranks()


def local_round(weights, slope, rule, every, outer):
    """H steps alone, and one step along what they changed."""
    mine = weights
    for _ in range(every):
        mine = rule(mine, slope(mine))
    # With an outer rate of 1 and no momentum this is the mean of everybody's weights.
    return outer(weights, weights - average(mine))


def together(weights, slope, rule):
    """A step of data parallelism: everybody's gradient, one update."""
    return rule(weights, average(slope(weights)))


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


def rest(weights, move):
    """Move until nothing moves any more, or it runs away: all places on the way."""
    places = [weights]
    while len(places) < 3000:
        places.append(move(places[-1]))
        moved = max(max_error(places[-1], each) for each in places[-4:-1])  # it may just turn
        if not 1e-14 < moved < 1e6:
            break
    return torch.stack(places)


def after_five(weights, slope, make):
    """Average weights after each step, or gradients before: how far apart after 5 steps."""
    ours, theirs, mine, common = weights, weights, make(), make()
    for _ in range(5):
        ours = average(mine(ours, slope(ours)))
        theirs = together(theirs, slope, common)
    return max_error(ours, theirs)


def main(
    every: int = 4,  # steps alone between two averagings, H
    rate: float = 0.2,  # learning rate of each step, alone or together
    steep: float = 3.0,  # how steep (a) the last rank's loss is; rank 0's is 1
    outer_momentum: float = 0.3,  # momentum of the step along what a round changed
    rounds: int = 3,  # averagings in which all-reduces are counted
    width: int = 12,  # weights of the model
) -> Metrics:
    """Losses a/2 (w - c)^2 on each rank: a from 1 to --steep, c from 0 to 1, first rank to last."""
    if not (1 <= every <= 1000 and 0 <= outer_momentum <= 0.9 and rounds >= 1 and width >= 1):
        refuse("every is 1 to 1000, outer-momentum 0 to 0.9; rounds and width start at 1")
    if not (rate >= 0.05 and steep >= 1 and rate * steep <= 0.9):
        refuse("rate starts at 0.05, steep at 1; rate * steep ends at 0.9")
    way = rank() / max(1, ranks() - 1)
    a, c = 1 + (steep - 1) * way, way

    def slope(weights):
        return a * (weights - c)

    start = torch.full((width,), 2.0, dtype=torch.float64, device=device())
    curves, goals = everyone([a, c]).T
    optimum = ((curves * goals).sum() / curves.sum()).item()
    pulls = 1 - (1 - rate * curves) ** every
    predicted = ((pulls * goals).sum() / pulls.sum()).item()

    def turn(outer):
        return lambda weights: local_round(weights, slope, sgd(rate), every, outer)

    first = rest(start, lambda weights: together(weights, slope, sgd(rate)))
    local = rest(start, turn(sgd(1.0)))
    outer = rest(start, turn(sgd(1.0, outer_momentum, nesterov=True)))
    check("data parallelism rests at the optimum", abs(first[-1, 0].item() - optimum), "<", 1e-11)
    for name, places in (("local SGD", local), ("outer momentum", outer)):
        error = abs(places[-1, 0].item() - predicted)
        check(f"{name} rests where all pulls cancel", error, "<", 1e-11)

    ways = {
        "data parallel": (first, 1),
        "local SGD": (local, every),
        "outer momentum": (outer, every),
    }
    series = {
        name: {at * pace: places[at, 0] for at in range(min(len(places), 60 // pace + 1))}
        for name, (places, pace) in ways.items()
    }
    picture("curve", "where a weight goes", series=series, x="steps", y="weight")

    weights, changes, ours = start, [], sgd(1.0, outer_momentum, nesterov=True)

    def noted(weights, change):
        changes.append(change)
        return ours(weights, change)

    with wire() as seldom:
        for _ in range(rounds):
            weights = turn(noted)(weights)
    apart = everyone(max_error(weights, average(weights))).max().item()
    check("ranks are alike after an averaging", apart, "<", 1e-14)
    error = max_error(weights, with_torch(start, changes, outer_momentum))
    check("outer steps equal torch's", error, "<", 1e-12)
    with wire() as each:
        for _ in range(rounds * every):
            together(start, slope, sgd(rate))
    check("1/H of the all-reduces", seldom.collectives * every, "==", each.collectives)

    rules = (lambda: sgd(rate)), (lambda: sgd(rate, 0.9)), (lambda: adam(rate))
    once = [after_five(start, slope, make) for make in rules]
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
        "plain_mean": shared(computed(goals.mean())),
        "stray": compared(max_error(astray, local[-1])),
        "apart": shared(compared(apart)),
        "reductions_each": shared(counted(each.collectives)),
        "reductions_local": shared(counted(seldom.collectives)),
        "rounds_plain": shared(counted(one_percent(local))),
        "rounds_outer": shared(counted(one_percent(outer))),
        "one_step_sgd": shared(compared(once[0])),
        "one_step_momentum": shared(compared(once[1])),
        "one_step_adam": shared(compared(once[2])),
    }


def one_percent(places):
    """How many moves until 1% of the way to the last place is left, for good."""
    left = (places - places[-1]).abs()[:, 0]
    return int((left > 0.01 * left[0]).nonzero().max()) + 1


def with_torch(weights, changes, keep):
    """The same changes given to torch's SGD as gradients."""
    weights, kept = weights.clone(), [None]
    options = {"weight_decay": 0.0, "dampening": 0.0, "nesterov": True, "maximize": False}
    for change in changes:
        torch_sgd([weights], [change], kept, lr=1.0, momentum=keep, **options)  # pyright: ignore
    return weights


BREAKS = {
    "wrong-sign": Break(
        old="outer(weights, weights - average(mine))",
        new="outer(weights, average(mine) - weights)",
        expect="local SGD rests where all pulls cancel",
        ranks=1,
        source="new minus old, handed to an optimizer that subtracts: it walks uphill",
    ),
    "sum-of-weights": Break(
        old="outer(weights, weights - average(mine))",
        new="outer(weights, weights - all_reduce(mine.clone()))",
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
