"""A rank leaves and comes back mid-epoch: samples and states are dealt anew, the batch stays.

The trick
    What training needs hangs on no rank's number. The order of an epoch comes from the seed alone,
    and progress is one number: the samples read so far. A step takes the next `batch` of them and
    deals these to whoever is there, in shares that may differ by one, each done in micro-batches.
    Every gradient is a sum over samples, divided by the whole batch at the end; the learning rate
    looks at samples.

    Adam's moments are cut into a slice for each member (ZeRO-1), so each lies in one place only. At
    a resize every number goes straight to where it belongs now, and who joins is also sent the
    weights and the progress. A rank that is gone without a word sends nothing: either its neighbour
    keeps a copy of its slice, renewed every step, or all go back to the last checkpoint.

    Groups are rebuilt first: a ring that still counts a rank that has left waits for it. Random
    numbers, of dropout say, would have to hang on the sample too; this model draws none.

Watch
    share_full (count, step)       of samples of this rank, all ranks there: the most in any step
    share_fewer (count, step)      of samples of this rank while ranks are away: the most in any
                                   step
    batch_full (shared, count)     of samples in a step, all ranks there: the most in any step
    batch_fewer (shared, count)    of samples in a step while ranks are away: the most in any step
    passes_full (count, step)      of this rank's micro-batches, all ranks there: the most in any
                                   step
    passes_fewer (count, step)     of this rank's micro-batches while ranks are away: the most in
                                   any step
    samples_twice (shared, count)  of reads of a sample that had been read in this epoch already
    samples_never (shared, count)  of samples that nobody read in this epoch
    slice_bytes (bytes)            of both moments that lie on this rank, all ranks there; fp64
    weights_whole (shared, bytes)  of all weights, which every member has; fp64
    carried_leave (bytes, sent)    by this rank as ranks leave: slices of moments
    carried_join (bytes, sent)     by this rank as they come back: slices; to who joins, weights
                                   and progress too
    read_slices (bytes)            that this rank would read of a checkpoint at both resizes
                                   instead: weights, its slice of the moments
    read_whole (bytes)             that this rank would read of a checkpoint at both resizes, if
                                   always all of it
    mirrored (bytes, step)         sent by this rank to have its slice copied, at most; 0 with
                                   notice
    resized_error (shared, difference)  largest one of any weight from a run of all ranks in which
                                        nobody leaves

Run
    quizkit demo elastic --gpus 4
    python demos/elastic.py --ranks 4 --leaver 1 --no-notice
    torchrun --nproc-per-node 4 demos/elastic.py
"""

from math import nan
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, isend, max_error, rank, ranks, recv
from _bench import ring_gather, ring_scatter_sum, shift, virtual_clock, wire

import torch
from torch.nn.functional import mse_loss, pad

TOPIC = "fault"
FEATURES = 5
RATE, MEAN, SQUARE, TINY = 0.02, 0.9, 0.999, 1e-8  # of Adam


def shuffle(samples, seed):
    """The order of the epoch: from the seed alone, whoever asks and however many there are."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(samples, generator=generator).tolist()


def share(begin, end, place, many):
    """Of the slots from begin to end this place's; shares differ by one at most."""
    size = end - begin
    return range(begin + size * place // many, begin + size * (place + 1) // many)


def rate(position, samples):
    """Learning rate: up over the first quarter of the samples, then down. No steps, no ranks."""
    return RATE * min(1.0, 4 * (position + 1) / samples, 1.5 - position / samples)


def slope(weights, data, mine, micro):
    """Gradient of the loss summed over these samples, micro-batch by micro-batch."""
    leaf = weights.detach().requires_grad_()
    total = torch.zeros_like(weights)
    for i in range(0, len(mine), micro):
        features, targets = (part[mine[i : i + micro]] for part in data)
        loss = mse_loss(model(leaf, features), targets, reduction="sum")
        total += torch.autograd.grad(loss, leaf)[0]
    return total


def model(weights, features):
    """A hidden layer with tanh; a row of weights holds all."""
    hidden = weights.view(-1, FEATURES + 2)
    return torch.tanh(features @ hidden[:, :FEATURES].T + hidden[:, FEATURES]) @ hidden[:, -1]


def cuts(numbers, members):
    """Which numbers each member keeps the moments of: as many for each, the end may go short."""
    size = -(-numbers // len(members))
    bounds = [min(place * size, numbers) for place in range(len(members) + 1)]
    return {each: range(*bounds[i : i + 2]) for i, each in enumerate(members)}


def step(job, members, data, plan, clock=None):
    """The next samples of the epoch, dealt to the members; ZeRO-1: each updates its slice."""
    samples, n = len(data[1]), len(members)
    order = shuffle(samples, plan.seed)
    end = min(job.position + plan.batch, samples)
    slots = share(job.position, end, members.index(rank()), n)
    mine = [order[slot] for slot in slots]
    job.read += mine
    job.held[job.turn] = len(mine)
    if clock:
        for i in range(0, len(mine), plan.micro):
            clock.spend(len(mine[i : i + plan.micro]), f"S{job.turn}")

    gradient = slope(job.weights, data, mine, plan.micro) / (end - job.position)
    numbers = len(gradient)
    own = cuts(numbers, members)[rank()]
    size = -(-numbers // n)
    part = ring_scatter_sum(pad(gradient, (0, n * size - numbers)), group=members)[: len(own)]
    updated = job.weights[own.start : own.stop]
    updated = updated - rate(job.position, samples) * adam(job.moments, part, job.turn)
    whole = ring_gather(pad(updated, (0, size - len(own))), group=members)
    job.weights, job.turn, job.position = whole[:numbers], job.turn + 1, end
    if not plan.notice:  # the left neighbour's slice, should it be gone tomorrow
        with wire() as sent:
            job.copy = shift(pad(job.moments, (0, size - len(own))), group=members)
        job.mirrored = max(job.mirrored, sent.sent_bytes)


def adam(moments, gradient, turn):
    """Where Adam goes from here; its two moments are brought up to date."""
    mean, square = moments
    mean.lerp_(gradient, 1 - MEAN)
    square.lerp_(gradient.square(), 1 - SQUARE)
    return mean / (1 - MEAN**turn) / ((square / (1 - SQUARE**turn)).sqrt() + TINY)


def journeys(numbers, old, new):
    """(numbers, whose they were, whose they are now) of all moments."""
    for source, had in cuts(numbers, old).items():
        for to, gets in cuts(numbers, new).items():
            both = range(max(had.start, gets.start), min(had.stop, gets.stop))
            if both:
                yield both, source, to


def resize(job, old, new, notice):
    """Each number's moments go to whose it is now; who joins gets weights and progress too."""
    numbers, flights, arrivals = len(job.weights), [], []
    before, after = cuts(numbers, old), cuts(numbers, new)
    moments = job.weights.new_empty(2, len(after.get(rank(), ())))
    for part, owner, to in journeys(numbers, old, new):
        gone = owner not in new and not notice
        source = old[(old.index(owner) + 1) % len(old)] if gone else owner
        there = slice(part.start - before[owner].start, part.stop - before[owner].start)
        here = moments[:, part.start - after[to].start :][:, : len(part)] if rank() == to else None
        taken = (job.copy if gone else job.moments)[:, there] if rank() == source else None
        if rank() == source != to:
            flights.append(isend(taken.contiguous(), to, tag=1, name=f"M{owner}"))
        elif rank() == to != source:
            arrivals.append((here, source))
        elif rank() == to:
            here.copy_(taken)
    for here, source in arrivals:
        here.copy_(recv(torch.empty_like(here), source, tag=1))
    joined = [each for each in new if each not in old]
    for number, each in enumerate(joined):
        helper = old[number % len(old)]
        if rank() == helper:
            progress = job.weights.new_tensor([job.turn, job.position])
            flights.append(isend(torch.cat([job.weights, progress]), each, tag=2, name="W"))
        if rank() == each:
            row = recv(job.weights.new_empty(numbers + 2), helper, tag=2)
            job.weights, job.turn, job.position = row[:-2], int(row[-2]), int(row[-1])
    for flight in flights:
        flight.wait()
    job.moments = moments


def main(
    samples: int = 77,  # samples of the epoch
    batch: int = 8,  # samples of a step, of all ranks together
    micro: int = 2,  # samples that a rank can take in one pass, at most
    leave: int = 3,  # steps before ranks leave
    back: int = 7,  # steps before they are back
    lost: int = -1,  # how many ranks leave; -1: one, or none where there is no other
    leaver: int = -1,  # the first of them; -1: the last ranks leave
    notice: bool = True,  # whether who leaves hands over its slice; else a neighbour has a copy
    hidden: int = 9,  # units of the model, of seven weights each
    seed: int = 0,  # seed of the order
) -> Metrics:
    """An epoch with all ranks, with fewer, with all again; against one in which nobody leaves."""
    from torch import _dynamo  # noqa: F401  # Adam wants it: imported once, before the fork

    n = ranks()
    lost = min(1, n - 1) if lost < 0 else lost
    first = n - lost if leaver < 0 else leaver
    if not (0 <= lost < n and 0 <= first <= n):
        refuse(f"of {n} ranks up to {n - 1} can leave, the first of them below {n}")
    if not notice and lost > 1:
        refuse("a copy lies with one neighbour only: without notice take lost 1")
    if not (min(samples, batch, micro, hidden) >= 1 and samples <= 64 * batch):
        refuse("samples, batch, micro and hidden start at 1, samples end at 64 batches")
    last = -(-samples // batch)
    if not 1 <= leave <= back <= last:
        refuse(f"leave and back are steps of the epoch, in this order: take 1 to {last}")

    like = {"dtype": torch.float64, "device": device()}
    drawn = torch.randn(samples, FEATURES + 1, **like)
    data = drawn[:, :FEATURES], drawn[:, FEATURES]
    start = torch.randn(hidden * (FEATURES + 2), **like) / 2
    numbers = len(start)
    plan = SimpleNamespace(batch=batch, micro=micro, notice=notice, seed=seed)
    everybody = list(range(n))
    fewer = [each for each in everybody if (each - first) % n >= lost]

    def fresh():
        moments = start.new_zeros(2, len(cuts(numbers, everybody)[rank()]))
        begun = {"weights": start.clone(), "moments": moments, "turn": 1, "position": 0}
        return SimpleNamespace(**begun, read=[], held={}, mirrored=0, copy=None)

    job, old, carried, sliced, whole, gap = fresh(), everybody, [], 0, 0, 0.0
    slice_bytes = job.moments.nbytes
    letters = {"S": "samples of step {}", "M": "moments of rank {}", "W": "weights and progress"}
    with virtual_clock("epoch", 0.0, **letters) as clock:
        for members, until in ((everybody, leave), (fewer, back), (everybody, last)):
            saved = checkpoint(job, old, numbers)
            with wire() as sent:
                resize(job, old, members, notice)
            if rank() in members:
                own = cuts(numbers, members)[rank()]
                gap = max(gap, max_error(job.moments, saved.moments[:, own.start : own.stop]))
                if members != old:
                    sliced += saved.weights.nbytes + job.moments.nbytes
                    whole += saved.weights.nbytes + saved.moments.nbytes
                while job.turn <= until:
                    step(job, members, data, plan, clock)
            else:  # somewhere else: nothing of this job is left here
                job.weights, job.copy = torch.full_like(start, nan), None
            carried.append(sent)
            old = members

    unbroken = fresh()
    while unbroken.turn <= last:
        step(unbroken, everybody, data, plan)
    truth = alone(start, data, batch, last, seed)
    reads = torch.bincount(torch.tensor(job.read, dtype=torch.int64), minlength=samples)
    reads = all_reduce(reads.to(device())).cpu()
    held = everyone([float(job.held.get(turn, 0)) for turn in range(1, last + 1)]).int()
    away = [leave < turn <= back for turn in range(1, last + 1)]
    due = [min(batch, samples - batch * turn) for turn in range(last)]
    wrong = int((reads != 1).sum())
    check("every sample is read once", wrong, "==", 0)
    short = sum(a != b for a, b in zip(held.sum(0).tolist(), due, strict=True))
    check("every step has the whole batch", short, "==", 0)
    check("moments equal the saved ones", gap, "==", 0)
    error = everyone(max_error(job.weights, unbroken.weights)).max().item()
    check("weights equal the run without a resize", error, "<", 1e-12)
    check("weights equal one process", max_error(job.weights, truth), "<", 1e-12)

    if held.max() <= 8:
        legend = ["none", *(str(each) for each in range(1, int(held.max()) + 1))]
        title = "samples of each rank in each step"
        picture("tiles", title, cells=held, legend=legend, down="ranks", across="steps")
    picture("messages", "what moves as ranks leave", row=carried[1].to)
    picture("messages", "what moves as they come back", row=carried[2].to)

    def most(rows, fewer_now):
        return max((v for v, out in zip(rows, away, strict=True) if out == fewer_now), default=0)

    mine, all_ = held[rank()].tolist(), held.sum(0).tolist()
    return {
        "share_full": counted(most(mine, False)),
        "share_fewer": counted(most(mine, True)),
        "batch_full": shared(counted(most(all_, False))),
        "batch_fewer": shared(counted(most(all_, True))),
        "passes_full": counted(-(-most(mine, False) // micro)),
        "passes_fewer": counted(-(-most(mine, True) // micro)),
        "samples_twice": shared(counted(int((reads - 1).clamp(min=0).sum()))),
        "samples_never": shared(counted(int((reads == 0).sum()))),
        "slice_bytes": counted(slice_bytes),
        "weights_whole": shared(counted(start.nbytes)),
        "carried_leave": counted(carried[1].sent_bytes),
        "carried_join": counted(carried[2].sent_bytes),
        "read_slices": counted(sliced),
        "read_whole": counted(whole),
        "mirrored": counted(job.mirrored),
        "resized_error": shared(compared(error)),
    }


def checkpoint(job, members, numbers):
    """What storage would hold: the moments whole, and the weights. Not counted as sent."""
    size = -(-numbers // len(members))
    row = pad(job.moments, (0, size - job.moments.shape[1]))
    parts = all_gather(torch.cat([row.flatten(), job.weights]))
    slices = [parts[each][: 2 * size].view(2, size) for each in members]
    moments = torch.cat(slices, 1)[:, :numbers]
    return SimpleNamespace(moments=moments, weights=parts[members[0]][2 * size :])


def alone(start, data, batch, last, seed):
    """The truth: one process, the epoch in order, torch's Adam and its means over a batch."""
    weights = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=RATE)
    samples = len(data[1])
    order = torch.randperm(samples, generator=torch.Generator().manual_seed(seed))
    peak, rows = samples / 4, torch.arange(samples)
    for turn in range(last):
        window = order[rows[turn * batch : (turn + 1) * batch]]
        done = turn * batch
        optimizer.param_groups[0]["lr"] = RATE * min(1, (done + 1) / peak, 1.5 - done / samples)
        optimizer.zero_grad()
        mse_loss(model(weights, data[0][window]), data[1][window]).backward()
        optimizer.step()
    return weights.detach()


BREAKS = {
    "batch-shrinks": Break(
        old="job.position + plan.batch, samples",
        new="job.position + plan.batch * n // ranks(), samples",
        expect="every step has the whole batch",
        ranks=2,
        source="a fixed batch per rank, as in most launch scripts: fewer ranks, a smaller batch",
    ),
    "order-by-rank-count": Break(
        old="shuffle(samples, plan.seed)",
        new="shuffle(samples, plan.seed + ranks() - n)",
        expect="every sample is read once",
        ranks=2,
        source="shards drawn anew from seed and world size on restart: another order, some twice",
    ),
    "mean-of-means": Break(
        old="/ (end - job.position)",
        new="/ max(1, n * len(mine))",
        expect="weights equal one process",
        ranks=2,
        source="uneven shares under DDP, where each rank counts as much, however few its samples",
    ),
    "moments-zeroed": Break(
        old="isend(taken.contiguous(), to",
        new="isend(taken.contiguous() * (owner in new), to",
        expect="moments equal the saved ones",
        ranks=2,
        source="survivors carry on with their shards and start the lost one at zero",
    ),
    "old-group": Break(
        old="step(job, members, data, plan, clock)",
        new="step(job, everybody, data, plan, clock)",
        expect="hangs",
        ranks=2,
        source="a communicator made before the loss: collectives wait for the rank that has left",
    ),
}

if __name__ == "__main__":
    run(__file__)
