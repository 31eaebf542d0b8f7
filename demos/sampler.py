"""One shuffle for all ranks, of which rank r takes every N-th sample, starting at its r-th.

The trick
    All ranks draw the same permutation from seed + epoch, and deal it out like cards (`deal`): its
    slots r, r + N, r + 2N ... are rank r's. Nobody talks to anybody, and yet each sample is dealt
    once; N ranks with batches of b do what one process with batches of N b does on that
    permutation.

    It works for equal seeds only: shuffles of the ranks' own overlap, and miss as many samples.
    Every rank must get as many slots, or the others wait: what is missing is filled up with the
    first samples once more (or the tail is dropped). An evaluation must not count those twice.

    The state of an epoch is one number, how many slots have been dealt to all ranks together. A run
    that goes on with another number of ranks and skips what each rank had is wrong.

Watch
    slots (shared, count)              dealt to all ranks in one epoch, padding counted
    repeated (shared, count)           of an epoch's slots that hold a sample another one holds
                                       already
    missed (shared, count)             of samples that are in no slot of an epoch
    last_sample (index)                of the last sample of this rank, without a shuffle
    moved_stale (count)                of places of this rank's order that change in an epoch
                                       without set_epoch
    moved_fresh (count)                of places of this rank's order that change in an epoch with
                                       set_epoch
    repeated_seeds (shared, count)     of samples dealt again if each rank shuffles with a seed of
                                       its own; padding left out
    missed_seeds (shared, count)       of samples dealt to nobody if each rank shuffles with a seed
                                       of its own
    steps (shared, steps)              of one epoch
    steps_alone (shared, steps)        of one epoch without a sampler: every rank sees all samples
    distinct_step (shared, count)      of different samples in the first step of all ranks
    distinct_alike (shared, count)     of different samples in the first step, no sampler, all in
                                       the same order
    distinct_own (shared, count)       of different samples in the first step, no sampler, each in
                                       its own order
    accuracy (shared, share)           of samples judged right, in an evaluation that leaves the
                                       padding out
    accuracy_padded (shared, share)    of slots judged right, padding counted; the first --mistakes
                                       samples are misjudged
    done (shared, count)               of samples dealt before the run stops, in an epoch that goes
                                       on later
    again_restart (shared, count)      of samples seen twice if the stopped epoch is begun anew
    again_skip (shared, count)         of samples seen twice if each rank skips as many batches as
                                       each had done
    again_stale (shared, count)        of samples seen twice, resumed at the right slot of another
                                       epoch's order
    again_global (shared, count)       of samples seen twice, resumed at the right slot
    never_skip (shared, count)         of samples never seen if each rank skips as many batches as
                                       each had done
    never_stale (shared, count)        of samples never seen, resumed at the right slot of another
                                       epoch's order
    never_global (shared, count)       of samples never seen, resumed at the right slot
    weight_error (shared, difference)  largest one of any weight from one process along the
                                       permutation

Run
    quizkit demo sampler --gpus 4
    python demos/sampler.py --ranks 4 --samples 48 --stop 3 --after 2
    torchrun --nproc-per-node 4 demos/sampler.py
"""

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks

import torch
from torch.nn.functional import mse_loss
from torch.utils.data import DistributedSampler, TensorDataset

TOPIC = "dp"
REGIME = ("drop_last",)
RATE = 0.1  # of plain SGD


def shuffle(samples, seed, epoch):
    """The order of an epoch: the same on every rank, since each draws it from the same seed."""
    generator = torch.Generator().manual_seed(seed + epoch)
    return torch.randperm(samples, generator=generator).tolist()


def deal(samples, me, n, begin=0, drop_last=False):
    """Rank me's slots from slot begin on: every n-th, and as many for every rank."""
    left = samples - begin
    each = left // n if drop_last else -(-left // n)
    return range(begin + me, begin + n * each, n)


def look_up(order, slots):
    """The samples in these slots; slots past the end are padding and begin at the front again."""
    return [order[slot % len(order)] for slot in slots]


def cut(mine, batch):
    """The batches that a loader makes of a rank's samples."""
    return [mine[i : i + batch] for i in range(0, len(mine), batch)]


def slope(weights, data, mine):
    """Gradient of the mean loss over these samples."""
    features, targets = (part[mine] for part in data)
    leaf = weights.detach().requires_grad_()
    return torch.autograd.grad(mse_loss(features @ leaf, targets), leaf)[0]


def train(data, epochs, batch, seed, drop_last):
    """Data parallelism: each rank works on its own slots, and the gradients are averaged."""
    samples, width = data[0].shape
    weights = data[0].new_zeros(width)
    for epoch in range(epochs):
        order = shuffle(samples, seed, epoch)
        mine = look_up(order, deal(samples, rank(), ranks(), drop_last=drop_last))
        for each in cut(mine, batch):
            weights -= RATE * all_reduce(slope(weights, data, each)) / ranks()
    return weights


def judge(right, n):
    """Accuracy from the ranks' counts, without the padding and with it."""
    slots = deal(len(right), rank(), n)
    real = [slot for slot in slots if slot < len(right)]
    hits = look_up(right, real), look_up(right, slots)
    counts = [everyone([sum(each), len(each)]).sum(0) for each in hits]
    return [(good / judged).item() for good, judged in counts]


def resume(samples, me, dealt, after):
    """Go on with `after` ranks behind the slots that all ranks together have been dealt."""
    return deal(samples, me, after, begin=dealt) if me < after else range(0)


def main(
    samples: int = 10,  # samples in all
    batch: int = 2,  # samples of each rank in a step
    epochs: int = 3,  # epochs trained
    drop_last: bool = False,  # whether samples that do not go round are dropped, not filled up
    mistakes: int = 1,  # how many samples, the first ones, an evaluation gets wrong
    stop: int = 1,  # steps after which an epoch is broken off
    before: int = 0,  # ranks until the stop; 0: all of this run
    after: int = 0,  # ranks that go on; 0: half as many as before, rounded up
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Deal, train, judge; stop after `stop` steps of `before` ranks, go on with `after`."""
    n, me = ranks(), rank()
    before = before or n
    after = after or (before + 1) // 2  # if not told, half of the ranks are lost
    if min(samples, batch, epochs) < 1 or stop < 0 or not 0 <= mistakes <= samples:
        refuse(f"samples, batch and epochs start at 1, stop at 0; mistakes are 0 to {samples}")
    if not (0 < before <= n and 0 < after <= n):
        refuse(f"before and after are ranks of this run: take 1 to {n}, or 0")
    if drop_last and samples < n:
        refuse(f"drop-last leaves nothing of {samples} samples: take {n} or more")

    drawn = torch.randn(samples, 5, dtype=torch.float64).to(device())
    data = drawn[:, :4] / drawn[:, :4].norm(dim=1, keepdim=True), drawn[:, 4]
    dataset = TensorDataset(*data)

    # What the sampler deals, against torch's own.
    differences = 0
    orders = {}
    for mixed in (False, True):
        theirs = DistributedSampler(dataset, n, me, mixed, seed, drop_last)
        for epoch in (0, 1, 2):
            theirs.set_epoch(epoch)
            order = shuffle(samples, seed, epoch) if mixed else range(samples)
            orders[mixed, epoch] = look_up(order, deal(samples, me, n, drop_last=drop_last))
            differences += orders[mixed, epoch] != list(theirs)
    check("the same samples as torch's sampler", differences, "==", 0)
    dealt = seen(samples, orders[True, 1])
    slots = int(dealt.sum())
    first = orders[True, 0]
    check("none is left out but by drop-last", never(dealt), "==", drop_last * (samples % n))

    stale = DistributedSampler(dataset, n, me, seed=seed, drop_last=drop_last)
    passes = (list(stale), list(stale)), (first, orders[True, 1])
    moved = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in passes]

    # A seed for each rank; or no sampler at all.
    real = [slot for slot in deal(samples, me, n) if slot < samples]
    seeds = seen(samples, look_up(shuffle(samples, seed + 1000 * me, 0), real))
    check("own seeds repeat as many as they miss", again(seeds), "==", never(seeds))
    order = shuffle(samples, seed, 0)
    own = shuffle(samples, seed + 1000 * me, 0)
    distinct = [samples - never(seen(samples, each[:batch])) for each in (first, order, own)]
    alike = slope(data[1].new_ones(4), data, order[:batch])
    gained = max_error(all_reduce(alike.clone()) / n, alike)
    check("the same data on all ranks: the average is each one's own", gained, "<", 1e-12)

    weights = train(data, epochs, batch, seed, drop_last)
    truth = alone(data, epochs, slots, n * batch, seed)
    error = everyone(max_error(weights, truth)).max().item()
    check("weights equal one process", error, "<", 1e-12)

    accuracy, padded = judge([each >= mistakes for each in range(samples)], n)
    check("an evaluation counts each sample once", accuracy, "==", (samples - mistakes) / samples)

    # The run stops in the middle of epoch 1 and goes on.
    order = shuffle(samples, seed, 1)
    other = shuffle(samples, seed, 0)
    done = [*deal(samples, me, before)[: stop * batch]] if me < before else []
    position = int(everyone(sum(slot < samples for slot in done)).sum())
    anew = resume(samples, me, 0, after)
    rest = resume(samples, me, position, after)
    ways = {"restart": (anew, order), "skip": (anew[stop * batch :], order)}
    ways |= {"stale": (rest, other), "global": (rest, order)}
    tallies = {}
    for how, (slots_left, then) in ways.items():
        lists = [[s for s in each if s < samples] for each in (done, slots_left)]  # no padding
        tallies[how] = seen(samples, look_up(order, lists[0]), look_up(then, lists[1]))
    cells = [each.clamp(max=2).tolist() for each in tallies.values()]
    legend, ways_down = ("never", "once", "more often"), ", ".join(tallies)
    title = "samples seen in an epoch that was broken off"
    picture("tiles", title, cells=cells, legend=legend, down=ways_down, across="samples")
    wrong = {how: again(each) + never(each) for how, each in tallies.items()}
    check("a resumed epoch sees each sample once", wrong["global"], "==", 0)
    gap = abs(position - min(samples, stop * batch * after))
    check("to skip one's own is off by the difference", wrong["skip"], "==", gap)
    check("an epoch begun anew repeats what was done", again(tallies["restart"]), "==", position)

    return {
        "slots": shared(counted(slots)),
        "repeated": shared(counted(again(dealt))),
        "missed": shared(counted(never(dealt))),
        "last_sample": counted(orders[False, 0][-1]),
        "moved_stale": counted(moved[0]),
        "moved_fresh": counted(moved[1]),
        "repeated_seeds": shared(counted(again(seeds))),
        "missed_seeds": shared(counted(never(seeds))),
        "steps": shared(counted(len(cut(first, batch)))),
        "steps_alone": shared(counted(len(cut(order, batch)))),
        "distinct_step": shared(counted(distinct[0])),
        "distinct_alike": shared(counted(distinct[1])),
        "distinct_own": shared(counted(distinct[2])),
        "accuracy": shared(counted(accuracy)),
        "accuracy_padded": shared(counted(padded)),
        "done": shared(counted(position)),
        "again_restart": shared(counted(again(tallies.pop("restart")))),
        **{f"again_{how}": shared(counted(again(each))) for how, each in tallies.items()},
        **{f"never_{how}": shared(counted(never(each))) for how, each in tallies.items()},
        "weight_error": shared(compared(error)),
    }


# Below: what the runs are held against.


def alone(data, epochs, total, batch, seed):
    """One process, big batches, one after the other along each epoch's permutation."""
    samples, width = data[0].shape
    weights = data[0].new_zeros(width)
    for epoch in range(epochs):
        generator = torch.Generator().manual_seed(seed + epoch)
        order = torch.randperm(samples, generator=generator).repeat(-(-total // samples))[:total]
        for window in order.split(batch):
            weights -= RATE * slope(weights, data, window)
    return weights


def seen(samples, *lists):
    """How often each sample stands in the lists of all ranks."""
    counts = torch.zeros(samples, dtype=torch.int64)
    for each in lists:
        counts += torch.bincount(torch.tensor(each, dtype=torch.int64), minlength=samples)
    return all_reduce(counts.to(device())).cpu()


def again(counts):
    """How many more times samples were seen than once."""
    return int((counts - 1).clamp(min=0).sum())


def never(counts):
    """How many samples were not seen."""
    return int((counts == 0).sum())


BREAKS = {
    "rank-in-seed": Break(
        old="manual_seed(seed + epoch)\n    return",
        new="manual_seed(seed + epoch + 1000 * rank())\n    return",
        expect="the same samples as torch's sampler",
        ranks=2,
        source="the advice to give every rank a seed of its own, which is meant for dropout",
    ),
    "no-set-epoch": Break(
        old="order = shuffle(samples, seed, epoch)\n        mine",
        new="order = shuffle(samples, seed, 0)\n        mine",
        expect="weights equal one process",
        ranks=1,
        source="a loop over epochs without sampler.set_epoch(epoch): one order for all of them",
    ),
    "blocks": Break(
        old="range(begin + me, begin + n * each, n)",
        new="range(begin + me * each, begin + (me + 1) * each)",
        expect="the same samples as torch's sampler",
        ranks=2,
        source="blocks instead of every n-th: each sample once, but k steps are no prefix",
    ),
    "padding-judged": Break(
        old="real = [slot for slot in slots if slot < len(right)]",
        new="real = slots",
        expect="an evaluation counts each sample once",
        ranks=3,
        source="metrics of a validation loop over a DistributedSampler: the first count twice",
    ),
    "skips-its-own": Break(
        old="begin=dealt) if me < after",
        new="begin=dealt * after // ranks()) if me < after",
        expect="a resumed epoch sees each sample once",
        ranks=2,
        source="a loader's state kept as batches of this rank: right while the ranks stay as many",
    ),
}

if __name__ == "__main__":
    run(__file__)
