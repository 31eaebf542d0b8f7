"""Replicas come and go: shrink if a replacement takes longer than a resize, grow to who has stayed.

The trick
    A synchronous job stands still once a replica is gone. It can wait for a replacement, or pay for
    a resize (drain, new groups, states dealt anew), go on with fewer, and pay again to grow. The
    batch is kept: a step takes as long as the largest share of it, ceil(m / n) micro-batches.

    Waiting is no free way: a replacement knows no weights, so to take it in costs a resize as well
    (`rejoin`). The way back is paid either way, so that only the first resize is weighed against
    the wait: shrinking pays once the replacement takes longer than a resize. Were it free to take a
    replica back, the break-even would be price (1 + slow / fast), of a step with one less.

    A replica that comes and goes makes a job that follows it pay twice each time. So growing waits
    till who is back has stayed for a while, counted from its last return. Shrinking cannot be put
    off like that, but a job may first wait for as long as the break-even. Four rules meet the same
    losses on a virtual clock; a step that a loss cuts short is done again.

Watch
    step_full (shared, ticks)           of a step of all replicas: its largest share
    step_one_less (shared, ticks)       of a step of all replicas but one
    break_even (shared, ticks)          for which a replica is away: beyond it shrinking loses less
                                        than waiting, by the formula
    break_even_counted (shared, ticks)  for which a replica is away: the longest at which waiting
                                        loses no more, both ways run for each
    lost_waiting (shared, ticks)        to one replica that is --away, nothing else: waiting for it
    lost_shrinking (shared, ticks)      to one replica that is --away, nothing else: going on
                                        without
    losses (shared, count)              of replicas that go away, one of them again and again
    ideal (shared, steps)               of a job that loses nobody
    done_wait (shared, steps)           finished, never resizing
    done_eager (shared, steps)          finished, resizing at once
    done_steady (shared, steps)         finished, shrinking at once, growing to who has stayed
    done_patient (shared, steps)        finished, waiting for the break-even first, then steady
    resizes_wait (shared, count)        of changes of size, never resizing
    resizes_eager (shared, count)       of changes of size, resizing at once
    resizes_steady (shared, count)      of changes of size, shrinking at once, growing to who has
                                        stayed
    resizes_patient (shared, count)     of changes of size, waiting for the break-even first
    rejoins_wait (shared, count)        of times that a replica takes its old place again, never
                                        resizing
    rejoins_eager (shared, count)       of times that a replica takes its old place again, resizing
                                        at once: lost and back within a resize
    rejoins_steady (shared, count)      of times that a replica takes its old place again, shrinking
                                        at once: lost and back within a resize
    rejoins_patient (shared, count)     of times that a replica takes its old place again, waiting
                                        for the break-even first
    resizing_wait (shared, ticks)       in rejoins, never resizing
    resizing_eager (shared, ticks)      in resizes and rejoins, resizing at once
    resizing_steady (shared, ticks)     in resizes and rejoins, shrinking at once, growing to who
                                        has stayed
    resizing_patient (shared, ticks)    in resizes and rejoins, waiting for the break-even first
    waiting_wait (shared, ticks)        for replicas, never resizing
    waiting_eager (shared, ticks)       for replicas, resizing at once: below --least only
    waiting_steady (shared, ticks)      for replicas, shrinking at once: below --least only
    waiting_patient (shared, ticks)     for replicas, waiting for the break-even first

Run
    quizkit demo resize-policy --gpus 4
    python demos/resize_policy.py --ranks 8 --flaps 8 --every 0
"""

from math import inf
from random import Random
from types import SimpleNamespace
from typing import NamedTuple

from _bench import Break, Metrics, check, clocked, computed, counted, picture, rank, ranks, refuse
from _bench import run, shared, virtual_clock

TOPIC = "fault"


class Job(NamedTuple):
    """What a step is, and what a change costs."""

    batch: int  # micro-batches of a step
    price: int  # ticks of a resize
    rejoin: int  # ticks to take a replica back into its old place
    least: int  # replicas below which it waits


class Rule(NamedTuple):
    """When it resizes."""

    patience: float  # ticks it waits for a lost replica, if that one had stayed, before it shrinks
    stay: float  # ticks for which a replica must be back before it is let in


def step_time(batch, replicas):
    """The whole batch, dealt to whoever is there: the largest share sets the pace."""
    return -(-batch // replicas)


def break_even(job, n):
    """How long a replica may be away before shrinking loses less.

    Waiting loses away + rejoin; shrinking 2 price + (away - price) (1 - fast / slow).
    """
    fast, slow = step_time(job.batch, n), step_time(job.batch, n - 1)
    return (job.price * (fast + slow) - job.rejoin * slow) / fast


def stood(outages, now):
    """For how long a replica has been there without a break; -1 if it is away."""
    if any(lost <= now < back for lost, back in outages):
        return -1
    return now - max((back for _, back in outages if back <= now), default=-inf)


def walk(trace, rule, job, until=inf, steps=inf):
    """One job under one rule, from one thing that happens to the next."""
    n = len(trace)
    seen = SimpleNamespace(now=0, done=0, resizes=[], rejoins=0, spans=[])
    seen.ticks = dict.fromkeys(("working", "undone", "waiting", "resizing"), 0)
    members, synced = set(range(n)), -1

    def spend(kind, end):
        end = min(end, until)
        seen.ticks[kind] += end - seen.now
        seen.spans.append((kind, seen.now, end, frozenset(members)))
        seen.now = end

    while seen.now < until and seen.done < steps:
        now = seen.now
        here = {each: stood(trace[each], now) for each in range(n)}
        gone = {each for each in members if here[each] < 0}
        target = members - gone | {each for each in here if here[each] >= rule.stay}
        fallen = {m: lost for m in members for lost, _ in trace[m] if synced < lost <= now}
        trusted = all(stood(trace[m], lost - 1) >= rule.stay for m, lost in fallen.items())
        given_up = min(fallen.values()) + rule.patience if fallen and trusted else now
        if gone and (now < given_up or len(target) < job.least):
            events = [given_up, *(at for outages in trace for pair in outages for at in pair)]
            spend("waiting", min((at for at in events if at > now), default=until))
        elif gone or target != members:
            seen.resizes.append((now, target - members, len(target)))
            members, synced = target, now
            spend("resizing", now + job.price)
        elif fallen:  # all are back, and some have forgotten everything
            seen.rejoins, synced = seen.rejoins + 1, now
            spend("resizing", now + job.rejoin)
        else:
            end = now + step_time(job.batch, len(members))
            losses_ahead = [lost for m in members for lost, _ in trace[m] if lost > now]
            cut = min([*losses_ahead, until])
            whole = end <= cut
            spend("working" if whole else "undone", min(end, cut))
            seen.done += whole
    return seen


def losses(n, until, rng, every, repair, flaps, up, down):
    """(lost, back) of each replica: the last comes and goes, the others fail now and then."""
    trace = [[] for _ in range(n)]
    trace[-1] = [(at, at + down) for at in range(up, up + flaps * (up + down), up + down)]
    for outages in trace[:-1] if every else []:
        back = 0
        while (lost := back + 1 + int(rng.expovariate(1 / every))) < until:
            back = lost + 1 + int(rng.expovariate(1 / repair))
            outages.append((lost, back))
    return [[pair for pair in outages if pair[0] < until] for outages in trace]


def one_loss(job, n, away, patience):
    """Ticks lost to one replica that is away from the start, nothing else."""
    fast = step_time(job.batch, n)
    steps = (away + 2 * job.price) // fast + 2
    trace = [[(0, away)], *([[]] * (n - 1))]
    return walk(trace, Rule(patience, 0), job, steps=steps).now - steps * fast


def main(
    batch: int = 24,  # micro-batches of a step, dealt to the replicas: a tick each
    price: int = 20,  # ticks of a resize
    rejoin: int = -1,  # ticks to take a replica back into its old place; -1: as a resize
    stay: int = 90,  # ticks for which a steady job wants a replica to be back
    least: int = 1,  # replicas below which any job waits
    flaps: int = 6,  # times that the last replica goes away
    up: int = 60,  # ticks it stays each time
    down: int = 10,  # ticks it is away each time
    every: int = 700,  # mean ticks until another replica fails; 0: none does
    repair: int = 100,  # mean ticks until it is back
    away: int = 68,  # ticks of a single loss, for what waiting and shrinking lose
    until: int = 800,  # ticks of the trace
    seed: int = 0,  # seed of the losses
    only: str = "all",  # the rule whose timeline is kept: wait, eager, steady or patient
) -> Metrics:
    """The same losses under four rules; and where waiting and shrinking cost the same."""
    n = ranks()
    if n < 2:
        refuse("one replica cannot go on without itself: take 2 or more")
    if not (n <= batch <= 500 and 1 <= price <= 100 and -1 <= rejoin <= price):
        refuse(f"batch lies in {n} to 500, price in 1 to 100, rejoin in -1 to {price}")
    if not (1 <= least <= n and 0 <= flaps <= 50 and min(up, down, stay, repair) >= 1):
        refuse(f"least lies in 1 to {n}, flaps in 0 to 50; up, down, stay and repair start at 1")
    if not (every >= 0 and 1 <= away <= 500 and 1 <= until <= 5000):
        refuse("every starts at 0, away lies in 1 to 500, until in 1 to 5000")
    job = Job(batch, price, price if rejoin < 0 else rejoin, least)
    fast, slow = (step_time(batch, each) for each in (n, n - 1))
    even = break_even(job, n)
    rules = {
        "wait": Rule(patience=inf, stay=0),
        "eager": Rule(patience=0, stay=0),
        "steady": Rule(patience=0, stay=stay),
        "patient": Rule(patience=even, stay=stay),
    }
    rng = Random(seed)  # noqa: S311
    if only not in ("all", *rules):
        refuse(f"no rule is called {only}: take {', '.join(rules)} or all")
    trace = losses(n, until, rng, every, repair, flaps, up, down)
    seen = {way: walk(trace, rule, job, until) for way, rule in rules.items()}

    for way, each in seen.items():
        whole = sum(kind == "working" for kind, *_ in each.spans)
        check("a step cut short is not done", each.done, "==", whole)
        check("every tick is spent once", sum(each.ticks.values()), "==", until)
        backs = [
            now - back
            for now, joined, _ in each.resizes
            for one in joined
            for lost, back in trace[one]
            if lost < now
        ]
        check("who is let in has stayed", min(backs, default=inf), ">=", rules[way].stay)
        if only in ("all", way):
            show(way, each.spans)

    lines = {"waiting": {}, "shrinking": {}}
    for ticks in range(1, int(even) + 2 * slow + 2):
        for line, patience in (("waiting", inf), ("shrinking", 0)):
            lines[line][ticks] = one_loss(job, n, ticks, patience)
    no_more = [at for at, lost in lines["waiting"].items() if lost <= lines["shrinking"][at]]
    check("break-even as counted", abs(max(no_more) - even), "<=", slow)
    lost = {"waiting": one_loss(job, n, away, inf), "shrinking": one_loss(job, n, away, 0)}
    check("waiting loses the time away and a rejoin", lost["waiting"], "==", away + job.rejoin)

    picture("curve", "lost to one replica", series=lines, x="ticks away", y="ticks lost")
    slots = [until * (2 * slot + 1) / 120 for slot in range(60)]
    cells = [[state(each.spans, at, n) for at in slots] for each in seen.values()]
    legend = ("standing still", "resizing", "training with fewer", "training with all")
    picture("tiles", "what the job does", cells=cells, legend=legend, down="rules", across="time")
    return {
        "step_full": shared(counted(fast)),
        "step_one_less": shared(counted(slow)),
        "break_even": shared(computed(even)),
        "break_even_counted": shared(clocked(max(no_more))),
        **{f"lost_{line}": shared(clocked(ticks)) for line, ticks in lost.items()},
        "losses": shared(counted(sum(map(len, trace)))),
        "ideal": shared(counted(walk([[]] * n, rules["wait"], job, until).done)),
        **{f"done_{way}": shared(counted(each.done)) for way, each in seen.items()},
        **{f"resizes_{way}": shared(counted(len(each.resizes))) for way, each in seen.items()},
        **{f"rejoins_{way}": shared(counted(each.rejoins)) for way, each in seen.items()},
        **{
            f"{kind}_{way}": shared(clocked(each.ticks[kind]))
            for kind in ("resizing", "waiting")
            for way, each in seen.items()
        },
    }


def state(spans, at, n):
    """What a job does at this time, as the legend counts."""
    for kind, start, end, members in spans:
        if start <= at < end:
            busy = 3 if len(members) == n else 2
            return {"waiting": 0, "resizing": 1}.get(kind, busy)
    return 0


def show(way, spans):
    """This replica's part of the timeline; steps of one size in a row are one bar."""
    letters = {"T": "training, {} replicas", "R": "resize or rejoin", "U": "step cut short"}
    bars = []
    for kind, start, end, members in spans:
        name = {"working": f"T{len(members)}", "undone": "U", "resizing": "R"}.get(kind)
        if name and rank() in members:
            if bars and bars[-1][0] == name and bars[-1][2] == start:
                start = bars.pop()[1]
            bars.append((name, start, end))
    with virtual_clock(way, 0.0, **letters) as clock:
        for name, start, end in bars:
            clock.reach(start)
            clock.spend(end - start, name)


BREAKS = {
    "no-stay": Break(
        old="if here[each] >= rule.stay}",
        new="if here[each] >= 0}",
        expect="who is let in has stayed",
        ranks=2,
        source="autoscaling without a cool-down thrashes: Kubernetes has a stabilization window",
    ),
    "uptime-added-up": Break(
        old="return now - max((back for _, back in outages if back <= now), default=-inf)",
        new="return now - sum(back - lost for lost, back in outages if back <= now)",
        expect="who is let in has stayed",
        ranks=2,
        source="a health score of total uptime: a replica that flaps has a lot of it",
    ),
    "step-cut-short-counts": Break(
        old="seen.done += whole",
        new="seen.done += 1",
        expect="a step cut short is not done",
        ranks=2,
        source="progress counted at the start of a step: what a loss interrupts is counted twice",
    ),
    "way-back-forgotten": Break(
        old="- job.rejoin * slow) / fast",
        new=") / fast",
        expect="break-even as counted",
        ranks=2,
        source="both resizes charged to shrinking: a replacement has to be taken in either way",
    ),
}

if __name__ == "__main__":
    run(__file__)
