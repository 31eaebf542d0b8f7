"""Save every sqrt(2 * save * MTBF): there saves cost what lost steps cost, and goodput is best.

The trick
    A failure anywhere stops the whole job: N GPUs that fail on their own fail N times as often as
    one. The job goes back to its last checkpoint that was written to the end, so on average it
    loses half an interval; a save costs the same however long the interval. Saves per failure
    times their cost falls as 1/interval, what is lost grows with it; the sum is least where both
    are equal: a period of sqrt(2 * save * MTBF), if a save is short against the MTBF.

    An asynchronous save stops the job only for the snapshot. What is still being written at a
    failure does not count: the job goes back one checkpoint further.

    A host that fails is away until it is repaired. With a spare the job goes on at once; without
    one it waits for the first host to come back.

    Nothing is trained: a step takes a tick, failures are drawn, and all is counted between them.

Watch
    failures (shared, count)         of all runs together
    job_mtbf (shared, ticks)         ticks of all runs over their failures
    every_formula (shared, steps)    sqrt(2 * save * MTBF), with --mtbf-each over --accelerators
    every_even (shared, steps)       between saves, where saves take as many ticks as lost steps
    every_best (shared, steps)       between saves, where most steps are kept, of those tried
    goodput_best (shared, share)     of ticks whose steps are kept, that interval
    goodput_given (shared, share)    of ticks whose steps are kept, a save every --every steps
    saving_given (shared, share)     of ticks in saves, cut short or not, every --every steps
    lost_given (shared, share)       of ticks whose steps were lost, a save every --every steps
    down_given (shared, share)       of ticks restarting, a save every --every steps
    lost_each (shared, steps)        lost by a failure, on average, a save every --every steps
    goodput_async (shared, share)    the best there is if a save stops the job for --snapshot ticks
                                     and takes --save more to be written
    goodput_repair (shared, share)   as goodput_best, if each host is away --repair ticks: no spares
    goodput_spares (shared, share)   as goodput_repair, with --spares spare hosts
    no_spare (shared, share)         of failures that found no spare left

Run
    quizkit demo goodput --gpus 4
    python demos/goodput.py --ranks 4 --accelerators 100000 --save 30
"""

from math import log2, sqrt
from typing import NamedTuple

from _bench import Break, Metrics, check, computed, counted, picture, refuse, run, shared
from _bench import device, rank, ranks, ring_sum, virtual_clock

import torch

TOPIC = "fault"


class Ticks(NamedTuple):
    """What became of a run's ticks."""

    kept: int  # steps that never had to be done again
    lost: int  # steps that a failure undid
    saving: int
    down: int


def drawn_failures(accelerators, mtbf_each, length, seed):
    """Each GPU fails on its own, whatever the others do; all of them stop the job."""
    generator = torch.Generator().manual_seed(seed)
    mean = torch.full((accelerators,), length / mtbf_each, dtype=torch.float64)
    many = int(torch.poisson(mean, generator).sum())
    return (torch.rand(many, dtype=torch.float64, generator=generator) * length).long().sort()[0]


def formula(save, mtbf):
    """Young's: a save costs `save` each interval, a failure half an interval each MTBF."""
    return sqrt(2 * save * mtbf)


def stretches(failures, length, restart, repair=0, spares=0):
    """From when to when the job runs; a failure while it is down has it begin its restart anew."""
    ready, back = 0, []  # when each failed host is there again
    for at in failures:
        if at > ready:
            yield ready, at
        back.append(at + repair)
        whole = back[-1 - spares] if len(back) > spares else at  # no more away than spares
        ready = max(at, whole) + restart
    if ready < length:
        yield ready, length


def accounted(up, length, every, stall, write=0):
    """Count a run's ticks: saves stop it for `stall`, and are safe `write` after that."""
    kept = lost = saving = total = 0
    for begin, end in up:
        whole, rest = divmod(end - begin, every + stall)
        steps = whole * every + min(rest, every)
        saved = max(0, end - begin - write) // (every + stall) * every
        safe = steps if end == length else saved
        kept, lost = kept + safe, lost + steps - safe
        saving, total = saving + end - begin - steps, total + end - begin
    return Ticks(kept, lost, saving, length - total)


def evened(waste, low, high):
    """The shortest interval at which lost steps take as many ticks as saves, by halving."""
    while low < high:
        middle = (low + high) // 2
        counts = waste(middle)
        low, high = (low, middle) if counts.lost >= counts.saving else (middle + 1, high)
    return low


def main(
    accelerators: int = 16384,  # GPUs of the job
    mtbf_each: float = 182.4e6,  # ticks between two failures of one GPU: 5.8 years in seconds
    length: int = 4665600,  # ticks of a run: 54 days in seconds
    save: int = 60,  # ticks that a save stops the job
    restart: int = 300,  # ticks from a failure to the next step, if a host is there
    every: int = 3600,  # steps between two saves, for comparison
    snapshot: int = 3,  # ticks that an asynchronous save stops the job
    repair: int = 86400,  # ticks that a failed host is away
    spares: int = 13,  # hosts that stand by
    seeds: int = 16,  # runs, shared out over the ranks
) -> Metrics:
    """Count what is kept, lost and spent, for many intervals and with the same failures."""
    if min(accelerators, every, snapshot, seeds) < 1 or min(restart, repair, spares) < 0:
        refuse("accelerators, every, snapshot and seeds start at 1; restart, repair, spares at 0")
    mtbf = mtbf_each / accelerators
    if not (1 <= snapshot <= save <= mtbf / 50):
        refuse(f"a save takes snapshot to {mtbf / 50:.0f} ticks, a 50th of the job's MTBF")
    if not 20 * mtbf <= length <= 3e9 or accelerators > 2**20 or length / mtbf * seeds > 2e5:
        refuse("a run has 20 failures or more, all runs together 200000 at most")
    mine = range(rank(), seeds, ranks())
    drawn = [drawn_failures(accelerators, mtbf_each, length, seed).tolist() for seed in mine]
    failures = int(in_all([sum(map(len, drawn))])[0])

    plain = [[*stretches(each, length, restart)] for each in drawn]
    ticks = seeds * length

    def counts(interval, up=plain, stall=save, write=0):
        rows = [accounted(each, length, interval, stall, write) for each in up]
        return Ticks(*in_all([sum(column) for column in zip(*rows, strict=True)] or [0] * 4))

    ideal = formula(save, mtbf)
    tried = [round(ideal * 2 ** (k / 2)) for k in range(-4, 5)]
    swept = {interval: counts(interval) for interval in tried}
    best = max(tried, key=lambda interval: swept[interval].kept)
    even = evened(counts, 1, 8 * round(ideal))
    given = counts(every)
    # One write at a time: the next snapshot comes when the last is safe.
    behind = {max(save, round(ideal * 2 ** (k / 2))) for k in range(-8, 3)}
    eager = max(counts(interval, stall=snapshot, write=save).kept for interval in behind)
    hosts = {}
    for name, many in (("repair", 0), ("spares", spares)):
        up = [[*stretches(each, length, restart, repair, many)] for each in drawn]
        hosts[name] = counts(best, up).kept
    late = [at - before for each in drawn for before, at in zip(each, each[spares:], strict=False)]
    alone = in_all([sum(gap < repair for gap in late)])[0]  # as many as spares are still away

    noise = 4 / sqrt(max(1, failures))
    check("N GPUs fail N times as often as one", abs(ticks / failures / mtbf - 1), "<", noise)
    check("the best interval lies by the formula", abs(log2(best / ideal)), "<=", 0.55)
    gap = abs((even + save) / ideal - 1)
    check("saves cost what lost steps cost by the formula", gap, "<", 0.05 + noise)
    check("every tick is accounted for", sum(given), "==", ticks)
    check("counts equal a run tick by tick", sum(unlike(seed) for seed in mine), "==", 0)

    shares = {name: {} for name in ("saves", "lost steps", "both")}
    for interval, row in swept.items():
        shares["saves"][interval] = row.saving / ticks
        shares["lost steps"][interval] = row.lost / ticks
        shares["both"][interval] = (row.saving + row.lost) / ticks
    picture("curve", "what an interval costs", series=shares, x="steps between saves", y="share")
    drawing(plain[:1], length, every, save)
    return {
        "failures": shared(counted(failures)),
        "job_mtbf": shared(counted(ticks / failures)),
        "every_formula": shared(computed(ideal)),
        "every_even": shared(counted(even)),
        "every_best": shared(counted(best)),
        "goodput_best": shared(counted(swept[best].kept / ticks)),
        "goodput_given": shared(counted(given.kept / ticks)),
        "saving_given": shared(counted(given.saving / ticks)),
        "lost_given": shared(counted(given.lost / ticks)),
        "down_given": shared(counted(given.down / ticks)),
        "lost_each": shared(counted(given.lost / failures)),
        "goodput_async": shared(counted(eager / ticks)),
        "goodput_repair": shared(counted(hosts["repair"] / ticks)),
        "goodput_spares": shared(counted(hosts["spares"] / ticks)),
        "no_spare": shared(counted(alone / failures)),
    }


def in_all(numbers):
    """The sums over all ranks: whole numbers, exact."""
    total = ring_sum(torch.tensor(numbers, dtype=torch.float64, device=device()))
    return [int(each) for each in total.tolist()]


def drawing(runs, length, every, save):
    """The first stretches of this rank's first run."""
    letters = {"K": "kept steps", "S": "saves", "L": "lost steps", "D": "down"}
    with virtual_clock("the first failures", 0.0, **letters) as clock:
        for up in runs:
            for number, (begin, end) in enumerate(up[:6]):
                row = accounted([(begin, end)], length, every, save)
                if begin > clock.now:
                    clock.spend(begin - clock.now, f"D{number}")
                for letter, spent in zip("KSL", (row.kept, row.saving, row.lost), strict=True):
                    clock.spend(spent, f"{letter}{number}")


def unlike(seed):
    """How many counts of a short, unlucky run differ from those of a run tick by tick."""
    length, wrong = 3000, 0
    failures = drawn_failures(50, 50 * 120.0, length, seed).tolist()
    for every, stall, write in ((20, 5, 0), (13, 2, 11), (1, 1, 2)):
        for restart, repair, spares in ((7, 0, 0), (7, 300, 0), (4, 300, 2)):
            up = stretches(failures, length, restart, repair, spares)
            fast = accounted(up, length, every, stall, write)
            slow = by_the_tick(failures, length, every, stall, write, restart, repair, spares)
            wrong += fast != slow
    return wrong


def by_the_tick(failures, length, every, stall, write, restart, repair, spares):
    """The same, one tick after the other."""
    fails, back = {*failures}, []
    kept = lost = saving = down = 0
    left, at, fresh, writing = 0, 0, 0, []  # restart, place in the period, steps not yet saved
    for now in range(length):
        kept += sum(steps for safe, steps in writing if safe <= now)
        writing = [(safe, steps) for safe, steps in writing if safe > now]
        if now in fails:
            back += [now + repair] * failures.count(now)
            lost += fresh + sum(steps for _, steps in writing)
            left, at, fresh, writing = restart, 0, 0, []
        if sum(each > now for each in back) > spares:
            down += 1
        elif left:
            down, left = down + 1, left - 1
        else:
            fresh, saving = fresh + (at < every), saving + (at >= every)
            at = (at + 1) % (every + stall)
            if at == 0:
                writing, fresh = [*writing, (now + 1 + write, fresh)], 0
    return Ticks(kept + fresh + sum(steps for _, steps in writing), lost, saving, down)


BREAKS = {
    "redone-counts-twice": Break(
        old="safe = steps if end == length else saved",
        new="safe = steps",
        expect="counts equal a run tick by tick",
        ranks=1,
        source="throughput times time in operation: steps done again after a restart count",
    ),
    "safe-at-the-snapshot": Break(
        old="max(0, end - begin - write) //",
        new="(end - begin) //",
        expect="counts equal a run tick by tick",
        ranks=1,
        source="asynchronous saves that move `latest` when the write begins, not when it is done",
    ),
    "mtbf-of-one-gpu": Break(
        old="    ideal = formula(save, mtbf)",
        new="    ideal = formula(save, mtbf_each)",
        expect="the best interval lies by the formula",
        ranks=1,
        source="'a GPU runs for years, so failures are rare': the job has thousands of them",
    ),
}

if __name__ == "__main__":
    run(__file__)
