"""A bit flips on one rank and nobody crashes: compare the replicas' bits, and ask who is alone.

The trick
    Data-parallel replicas start equal, add the same summed gradient and so stay equal bit for bit.
    Every k steps each rank adds up the raw bits of each of its tensors as integers: exact, in any
    order, a few bytes a tensor. All ranks get all sums. One flipped bit moves a sum; the majority
    says who is alone, and the sums say in which tensor. Of two ranks it says that one is wrong.

    By then the wrong weights have made a gradient that everybody added. To copy a neighbour is
    therefore no repair: all go back to the last checkpoint that is not younger than the last
    agreement. What all ranks get alike is never seen: a flip before the sum, or a bad sample. The
    first is found by two ranks that compute the same micro-batch, while the step can be mended.

    --where: what is hit. weight, moment (Adam's first): after the step on one rank. sum: the summed
    gradient on one rank. gradient: its own before the sum. sample: no flip but a target a thousand
    times too large. A flip comes once; a sample comes again when its step does.

Watch
    alarm_step (shared, index)        step, from 0, at whose end the alarm came, -1 if none did
    steps_redone (shared, steps)      thrown away and run again after the alarm
    blamed (shared, rank)             whom the vote names, -1 if nobody
    tensors_apart (shared, tensors)   weights and moments whose sums differ at the alarm
    false_alarms (shared, count)      sums differ though no bit does
    misses (shared, count)            sums agree though bits differ
    exchanges (shared, count)         of checksums in the run
    caught_weight (shared, yes/no)    1 if checksums alone raise an alarm when a weight is hit
    caught_sum (shared, yes/no)       the same, when the summed gradient is hit on one rank
    caught_gradient (shared, yes/no)  the same, when one rank's own gradient is hit before the sum
    caught_sample (shared, yes/no)    the same, when there is no flip but a bad sample
    sums_bytes (bytes, sent)          by this rank for checksums, in the run
    twice_bytes (bytes, sent)         by this rank to compare gradients that are computed twice
    reduced_bytes (bytes, sent)       by this rank to sum gradients, in the run
    backwards (count)                 gradients that this rank computed in the run
    loss_moved (shared, ratio)        largest change of a step's loss by the flip, nobody acts
    loss_wobble (shared, ratio)       median change of the loss from a step to the next, no flip
    jump (shared, ratio)              largest loss from the bad step on, over the one before it
    jump_replayed (shared, ratio)     the same, run again from the checkpoint before it
    apart_bystander (shared, difference)  nobody acts: weights of a rank without a flip from those
                                      of a run without one, at the end
    apart_mended (shared, difference) weights from those of a run without the flip, after the alarm
    step_gap (shared, difference)     gradients and weights from one process, fp64, no flip

Run
    quizkit demo silent-error --gpus 4
    python demos/silent_error.py --ranks 3 --where gradient --twice 1
"""

from collections import Counter
from itertools import pairwise
from statistics import median
from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import Layer, all_gather, device, everyone, rank, ranks, ring_gather, ring_sum
from _bench import max_error, virtual_clock, wire

import torch
from torch.nn.functional import linear

TOPIC = "fault"
RATE, MEAN, SQUARE, TINY = 0.02, 0.9, 0.99, 1e-8  # of Adam
INTEGER = {
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def bits(tensor):
    """Its memory, read as integers."""
    return tensor.view(INTEGER[tensor.dtype])


def fingerprint(tensors):
    """The raw bits of each added up: exact, the same in any order; two flips could cancel."""
    return torch.stack([bits(each).sum(dtype=torch.int64) for each in tensors])


def everybodys(sums):
    """Every rank's sums, on all of them."""
    return [tuple(row) for row in ring_gather(sums[None]).tolist()]


def outvoted(rows):
    """Who differs from the majority; nobody if there is none."""
    most, votes = Counter(rows).most_common(1)[0]
    alone = [each for each, row in enumerate(rows) if row != most]
    return alone if 2 * votes > len(rows) else []


def computed_twice(state, data, turn, own):
    """The rank before me computes my micro-batch too; where the two differ, a third one does."""
    n = ranks()

    def opinions(ahead):
        gradient, _ = backward(state, data, turn, (rank() + ahead) % n)
        return everybodys(fingerprint(gradient))

    first, second = everybodys(fingerprint(own)), opinions(1)
    doubtful = [each for each in range(n) if first[each] != second[each - 1]]
    if not doubtful:
        return None
    if n < 3:
        return []  # a third opinion would come from one of the two
    third = opinions(2)
    votes = {each: outvoted([first[each], second[each - 1], third[each - 2]]) for each in doubtful}
    return [(each - odd) % n for each, all_odd in votes.items() for odd in all_odd]


def train(state, data, steps, plan, fault, clock=None, turn=0):
    """Train and check; an alarm takes all ranks back. With a clock nobody acts: a log is kept."""
    seen = SimpleNamespace(losses={}, gradients=[], alarms=[], truth=[], rows=[])
    seen.own, seen.redone, seen.reduced, seen.sums, seen.twice = 0, 0, 0, 0, 0
    trusted, saves = turn, {turn: copied(state)}
    while turn < steps:
        own, loss = backward(state, data, turn, rank())
        seen.own += 1
        fault(turn, "gradient", own)
        if plan.twice and turn % plan.twice == 0:
            with wire() as sent:
                blamed = computed_twice(state, data, turn, own)
            seen.own, seen.twice = seen.own + 1, seen.twice + sent.sent_bytes
            if blamed is not None:  # nothing has been added yet: this step alone is mended
                seen.alarms.append((turn, turn, blamed, []))
                own, loss = backward(state, data, turn, rank())
                seen.own += 1 + (ranks() > 2)
        with wire() as sent:
            total = summed(own)
        seen.reduced += sent.sent_bytes
        fault(turn, "sum", total)
        adam(state, total, turn + 1)
        fault(turn, "weight", state)
        fault(turn, "moment", state[len(own) :])
        seen.losses[turn] = everyone(loss).mean().item()
        seen.gradients.append(total)
        turn += 1
        if turn % plan.save == 0:
            saves[turn] = copied(state)
        if turn % plan.every and turn < steps:
            continue
        with wire() as sent:
            rows = everybodys(fingerprint(state))
        seen.sums += sent.sent_bytes
        apart = [at for at, sums in enumerate(zip(*rows, strict=True)) if len({*sums}) > 1]
        seen.truth.append((differ(state), bool(apart)))
        seen.rows.append((rows, Counter(rows).most_common(1)[0][0]))
        if clock:
            clock.spend(1.0, f"sum.{turn}:{sum(rows[rank()]) % 65521:04x}")
        elif not apart:
            trusted = max(saves)
        else:
            repeats = any(turn == each[1] for each in seen.alarms)
            seen.alarms.append((turn - 1, turn, outvoted(rows), apart))
            seen.redone += turn - trusted
            turn, saves = trusted, {at: saves[at] for at in saves if at <= trusted}
            state[:] = copied(saves[trusted])
            if repeats:
                break  # going back has not helped: no flip, but a device that errs, or a bad save
    seen.state, seen.saves = state, saves
    return seen


def backward(state, data, turn, whose):
    """The gradient of one rank's micro-batch, and its loss."""
    inputs, targets = data[0][turn, whose], data[1][turn, whose]
    weights = [each.detach().requires_grad_() for each in state[: len(state) // 3]]
    x = inputs.to(weights[0].dtype)
    for matrix, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = x + torch.tanh(linear(x, matrix, bias))
    loss = (linear(x, *weights[-2:]).double() - targets).square().mean()
    return [*torch.autograd.grad(loss, weights)], loss.item()


def summed(own):
    """The mean over the ranks: the finished chunks are copied, so all have the same bits."""
    row = ring_sum(torch.cat([each.flatten() for each in own])) / ranks()
    parts = row.split([each.numel() for each in own])
    return [part.view_as(each).clone() for part, each in zip(parts, own, strict=True)]


def adam(state, total, turn):
    """One step; the state is weights, then means, then squares."""
    many = len(total)
    for at, gradient in enumerate(total):
        weight, mean, square = state[at], state[many + at], state[2 * many + at]
        mean.mul_(MEAN).add_(gradient, alpha=1 - MEAN)
        square.mul_(SQUARE).add_(gradient * gradient, alpha=1 - SQUARE)
        scale = (square / (1 - SQUARE**turn)).sqrt() + TINY
        weight -= RATE / (1 - MEAN**turn) * mean / scale


def copied(state):
    """A checkpoint, kept in memory."""
    return [each.clone() for each in state]


def main(
    where: Literal["none", "weight", "moment", "sum", "gradient", "sample"] = "weight",  # is hit
    step: int = 4,  # the step, from 0, in which it is hit
    culprit: int = -1,  # the rank where it is hit; -1: the last
    tensor: int = 2,  # of the model's: weight and bias of each layer in turn
    bit: int = 12,  # that flips, from the lowest; of the tensor's first number
    dtype: Literal["bf16", "fp32", "fp64"] = "fp32",  # of weights, moments and gradients
    steps: int = 12,  # of the training
    every: int = 3,  # steps between two exchanges of checksums; there is one at the end too
    save: int = 0,  # steps between two checkpoints; 0: as often as checksums
    twice: int = 0,  # in each so many steps gradients are computed on two ranks; 0: never
    depth: int = 3,  # layers; the last one is linear
    width: int = 8,  # numbers in a sample, of which a micro-batch has four
) -> Metrics:
    """Train without the flip, with it while nobody acts, and with it while alarms are heeded."""
    n, culprit = ranks(), culprit % ranks()
    kind = {"bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64}[dtype]
    size = 8 * kind.itemsize
    if not (0 <= step < steps <= 1000 and 0 <= bit < size and 0 <= tensor < 2 * depth):
        refuse(
            f"step starts at 0 and stays below steps, {steps}; bit lies in 0 to {size - 1},"
            f" tensor in 0 to {2 * depth - 1}; steps end at 1000"
        )
    if not (every >= 1 and min(save, twice) >= 0 and width >= 1):
        refuse("every and width start at 1, save and twice at 0")
    plan = SimpleNamespace(every=every, save=save or every, twice=twice)

    like = {"dtype": torch.float64, "device": device()}
    model = [p.detach() for _ in range(depth) for p in Layer(width, width, **like).parameters()]
    data = [torch.randn(steps, n, 4, width, **like) for _ in range(2)]
    spoilt = [data[0], data[1].clone()]
    spoilt[1][step, culprit] *= 1000
    honest, data = data, spoilt if where == "sample" else data

    def start(kind):
        return [row.to(kind) * keep for keep in (1, 0, 0) for row in model]

    def flip(where):
        return Flip(where, step, culprit, tensor, bit)

    once = SimpleNamespace(every=steps, save=steps, twice=0)
    truth = train(start(torch.float64), data, steps, once, flip("none"))
    gap = from_one_process(start(torch.float64), data, truth)
    clean = train(start(kind), data, steps, once, flip("none"))
    with virtual_clock("nobody acts") as clock:
        left = train(start(kind), data, steps, plan, flip(where), clock)
    heeded = train(start(kind), data, steps, plan, flip(where))
    back = max(at for at in left.saves if at <= step)
    again = train(copied(left.saves[back]), data, steps, once, flip("none"), None, back)

    came, _, blamed, apart = heeded.alarms[0] if heeded.alarms else (-1, 0, [], [])
    named = blamed[0] if len(blamed) == 1 else -1
    checks = [*left.truth, *heeded.truth]
    strays = [abs_gap(left, clean) if rank() != culprit else 0.0, abs_gap(heeded, clean)]
    bystander, mended = everyone(strays).amax(0).tolist()
    before, then = list(clean.losses.values()), list(left.losses.values())
    moved = max(abs(b - a) / a for a, b in zip(before, then, strict=True))
    wobble = median(abs(b - a) / a for a, b in pairwise(before)) if steps > 1 else 0.0
    jumps = [max(each.losses[at] for at in range(step, steps)) for each in (left, again)]
    jumps = [each / before[max(step - 1, 0)] for each in jumps]

    def caught(place):
        sums = SimpleNamespace(every=plan.every, save=plan.save, twice=0)
        mine = spoilt if place == "sample" else honest
        return shared(counted(int(train(start(kind), mine, steps, sums, flip(place)).alarms != [])))

    held = where == "weight" and n > 1  # what hits moments or a sum may be rounded away again
    doubled = where == "gradient" and twice > 0 and step % twice == 0
    check("gradients and weights equal one process", gap, "<", 1e-12)
    check("sums differ where bits do", sum(a != b for a, b in checks), "==", 0)
    if held or doubled:
        check("the flip is noticed", len(heeded.alarms), "==", 1)
    if heeded.alarms:
        check("the vote names the culprit", named, "==", culprit if n > 2 else -1)
        check("nothing is left of the flip", mended, "==", 0)
    if apart:
        check("the tensor is named", apart[0] % len(model), "==", tensor)
    if where in ("none", "sample"):
        check("no alarm without a flip", len(heeded.alarms), "==", 0)

    cells = [[row != most for row in rows] for rows, most in left.rows]
    picture(
        "tiles",
        "checksums while nobody acts",
        cells=[*zip(*cells, strict=True)],
        legend=["as most", "alone"],
        down="rank",
        across="exchange",
    )
    series = {"without the flip": before, "with it, nobody acts": then}
    picture("curve", "mean loss of the ranks", series=series, x="step", y="loss")
    return {
        "alarm_step": shared(counted(came)),
        "steps_redone": shared(counted(heeded.redone)),
        "blamed": shared(counted(named)),
        "tensors_apart": shared(counted(len(apart))),
        "false_alarms": shared(counted(sum(b > a for a, b in checks))),
        "misses": shared(counted(sum(a > b for a, b in checks))),
        "exchanges": shared(counted(len(heeded.truth))),
        "caught_weight": caught("weight"),
        "caught_sum": caught("sum"),
        "caught_gradient": caught("gradient"),
        "caught_sample": caught("sample"),
        "sums_bytes": counted(heeded.sums),
        "twice_bytes": counted(heeded.twice),
        "reduced_bytes": counted(heeded.reduced),
        "backwards": counted(heeded.own),
        "loss_moved": shared(compared(moved, floor=0.0)),
        "loss_wobble": shared(compared(wobble)),
        "jump": shared(compared(jumps[0])),
        "jump_replayed": shared(compared(jumps[1])),
        "apart_bystander": shared(compared(bystander, floor=0.0)),
        "apart_mended": shared(compared(mended, floor=0.0)),
        "step_gap": shared(compared(gap)),
    }


class Flip:
    """One bit of one number, once."""

    def __init__(self, where, turn, culprit, tensor, bit):
        self.due, self.tensor, self.bit = (where, turn, culprit), tensor, bit

    def __call__(self, turn, where, tensors):
        """Strike if this is the time and the place."""
        if self.due == (where, turn, rank()):
            number = bits(tensors[self.tensor]).view(-1)[:1]
            top = self.bit == 8 * number.element_size() - 1
            number ^= -(1 << self.bit) if top else 1 << self.bit
            self.due = None


def abs_gap(one, other):
    """The largest difference between the weights of two runs."""
    many = len(one.state) // 3
    return max(map(max_error, one.state[:many], other.state[:many]))


def differ(state):
    """Whether any bit differs between ranks: what the sums are held against."""
    first, *rest = all_gather(torch.cat([bits(each).flatten().long() for each in state]))
    return any((each != first).any().item() for each in rest)


def from_one_process(state, data, seen):
    """Train on all samples in one place; the largest difference of any gradient and weight."""
    inputs, targets = (each.flatten(1, 2)[:, None] for each in data)
    gaps = []
    for turn, ours in enumerate(seen.gradients):
        total, _ = backward(state, (inputs, targets), turn, 0)
        gaps += [max_error(a, b) for a, b in zip(ours, total, strict=True)]
        adam(state, total, turn + 1)
    gaps += [max_error(a, b) for a, b in zip(seen.state, state, strict=True)]
    return everyone(max(gaps)).max().item()


BREAKS = {
    "float-sums": Break(
        old="[bits(each).sum(dtype=torch.int64) for each in tensors]",
        new="[(1e2 * each.double().sum()).round().long() for each in tensors]",
        expect="sums differ where bits do",
        ranks=2,
        source="replicas compared by torch.allclose, or by norms to a few digits: a low bit passes",
    ),
    "against-the-mean": Break(
        old="    most, votes = Counter(rows).most_common(1)[0]\n"
        "    alone = [each for each, row in enumerate(rows) if row != most]\n"
        "    return alone if 2 * votes > len(rows) else []",
        new="    mean = tuple(sum(sums) / len(rows) for sums in zip(*rows, strict=True))\n"
        "    return [each for each, row in enumerate(rows) if row != mean]",
        expect="the vote names the culprit",
        ranks=3,
        source="an all-reduce of the checksums, and each rank's own against the mean: all differ",
    ),
    "copies-a-neighbour": Break(
        old="            turn, saves = trusted, {at: saves[at] for at in saves if at <= trusted}\n"
        "            state[:] = copied(saves[trusted])",
        new="            state[:] = [all_gather(each)[0] for each in state]",
        expect="nothing is left of the flip",
        ranks=2,
        source="drifted replicas cured by a broadcast of the parameters from a healthy rank",
    ),
    "averages-first": Break(
        old="        with wire() as sent:\n            rows = everybodys(fingerprint(state))",
        new="        state[: len(own)] = summed(state[: len(own)])\n"
        "        with wire() as sent:\n            rows = everybodys(fingerprint(state))",
        expect="the flip is noticed",
        ranks=2,
        source="parameters averaged now and then, so that replicas cannot drift: it spreads a flip",
    ),
    "latest-checkpoint": Break(
        old="            seen.redone += turn - trusted",
        new="            trusted = max(saves)\n            seen.redone += turn - trusted",
        expect="nothing is left of the flip",
        ranks=2,
        source="launch scripts that resume from the latest checkpoint, whoever wrote it and when",
    ),
}


if __name__ == "__main__":
    run(__file__)
