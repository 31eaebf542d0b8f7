"""A step's trace: exposed communication is the time an all-reduce runs and no operator does.

The trick
    Take the union of the times at which an operator runs, and that of the all-reduces. What they
    share is hidden; what is left of the all-reduces is exposed. Durations are not added up, for
    operators nest: aten::mm runs inside aten::matmul. A span round backward hides nothing, for it
    has gaps between its operators; and the call that launches an all-reduce returns at once.

    Reduced after backward all of it is exposed; launched from hooks only the last bucket has to be.
    The first step, in which momentum is made, warms up and is not recorded. Backward here computes
    until the reductions under way are done, so that some is hidden on any machine. The picture
    omits what is under a 30th of its step.

Watch
    step_after (seconds)            length of a step that reduces after backward
    compute_after (seconds)         time in which an operator runs, reduced after backward
    communication_after (seconds)   time in which an all-reduce runs, reduced after backward
    hidden_after (seconds)          time in which both run, reduced after backward
    exposed_after (seconds)         time in which only an all-reduce runs, reduced after backward
    early_after (collectives)       all-reduces begun before backward's last operator, reduced after
                                    it
    step_hooked (seconds)           length of a step that launches its all-reduces from hooks
    compute_hooked (seconds)        time in which an operator runs, launched from hooks
    communication_hooked (seconds)  time in which an all-reduce runs, launched from hooks
    hidden_hooked (seconds)         time in which both run, launched from hooks
    exposed_hooked (seconds)        time in which only an all-reduce runs, launched from hooks
    early_hooked (collectives)      all-reduces begun before backward's last operator, launched from
                                    hooks
    waited_hooked (collectives)     all-reduces waited for behind backward, launched from hooks
    once (shared, count)            names of events in the first of the recorded hooked steps alone
    drawn_step (shared, ticks)      length of a step drawn from --operator, --gap and --transfer
    drawn_hidden (shared, ticks)    time in which both run in the drawn step
    drawn_exposed (shared, ticks)   time in which only an all-reduce runs in the drawn step
    drawn_summed (shared, ticks)    all times of the drawn step's operators and all-reduces added up
    weights_error (difference)      largest one of the hooked weights from one process's, all steps

Run
    quizkit demo step-profile --gpus 4
    python demos/step_profile.py --ranks 4 --layers 8 --buckets 2
    torchrun --nproc-per-node 4 demos/step_profile.py
"""

import os
from collections import namedtuple

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import barrier, everyone, max_error, rank, ranks, timed

import torch
import torch.distributed as dist
from torch import _inductor  # noqa: F401  # the profiler wants it: imported once, before the fork
from torch.profiler import profile, record_function, schedule

TOPIC = "perf"
OPERATOR, COLLECTIVE = "aten::", "gloo:all_reduce"  # how the names of these events begin


def read(events):
    """Where the time of a step went."""
    operators = spans(events, OPERATOR)
    running, moving = union(operators), union(spans(events, COLLECTIVE))
    return {
        "step": length(spans(events, "step")),
        "compute": length(running),
        "communication": length(moving),
        "hidden": length(both(running, moving)),
        "exposed": length(without(moving, running)),
    }


def spans(events, name):
    """Start and end of the events whose names begin so."""
    return [(event.start, event.end) for event in events if event.name.startswith(name)]


def union(intervals):
    """The same moments as intervals in order, none of which touch."""
    joined = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def both(some, others):
    """Where an interval of the one lies in one of the other."""
    met = [(max(a, c), min(b, d)) for a, b in some for c, d in others]
    return [(start, end) for start, end in met if start < end]


def without(some, others):
    """What is left of the one union outside of the other."""
    left = []
    for start, end in some:
        for begin, close in both([(start, end)], others):
            left.append((start, begin))
            start = close
        left.append((start, end))
    return left


def length(intervals):
    """Their times added up."""
    return sum(end - start for start, end in intervals)


Event = namedtuple("Event", "name start end thread", defaults=[0])
RECORDED = 2  # steps that a trace holds
os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else the profiler tells of its own start and end


def traced(replica, x):
    """Profile steps: all events of each step that was recorded, in whole nanoseconds."""
    plan = schedule(wait=0, warmup=1, active=RECORDED, repeat=1)
    with profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan) as profiler:
        for _ in range(1 + RECORDED):
            barrier()
            with record_function("step"):
                replica.step(x)
            profiler.step()
    events = []
    for each in profiler.events() or ():
        start, end = (round(1000 * t) for t in (each.time_range.start, each.time_range.end))
        events.append(Event(each.name, start, end, each.thread))
    steps = [each for each in events if each.name == "step"]
    return [[e for e in events if s.start <= e.start and e.end <= s.end] for s in steps]


class Replica:
    """A model whose gradients are averaged over ranks in buckets; without buckets, not at all."""

    def __init__(self, weights, buckets, hooked=False, group=None):
        self.weights = [w.clone().requires_grad_() for w in weights]
        self.optimizer = torch.optim.SGD(self.weights, lr=0.1, momentum=0.9)
        self.group, self.flights, self.rows, self.waited = group, [], [], 0
        order = torch.arange(len(weights)).flip(0)  # backward's: the last layer is ready first
        self.buckets = [part.tolist() for part in order.tensor_split(buckets)] if buckets else []
        for bucket in self.buckets if hooked else ():  # it is full with its last layer's gradient
            self.weights[bucket[-1]].register_post_accumulate_grad_hook(
                lambda _, bucket=bucket: self.reduce(bucket)
            )

    def reduce(self, *buckets):
        """Start an all-reduce for each bucket; the calls may return before one has begun."""
        rows = [torch.cat([self.weights[i].grad.flatten() for i in bucket]) for bucket in buckets]
        for row in rows:  # all copied by now: no operator of this function runs beside them
            self.flights.append(dist.all_reduce(row, group=self.group, async_op=True))
        self.rows += rows

    def busy(self, gradient):
        """Compute in backward until the reductions under way are done."""
        while not all(flight.is_completed() for flight in self.flights):
            torch.matmul(gradient, self.weights[0])

    def step(self, x):
        """Forward, backward, averaged gradients, update."""
        self.flights, self.rows = [], []
        self.optimizer.zero_grad()
        with record_function("forward"):
            for w in self.weights:
                x = x + torch.tanh(x) @ w
                x.register_hook(self.busy)
            loss = x.square().mean()
        with record_function("backward"):
            loss.backward()
        if not self.rows:  # no hook has done it
            self.reduce(*self.buckets)
        for flight in self.flights:
            flight.wait()
        self.waited = len(self.flights)
        for bucket, row in zip(self.buckets, self.rows, strict=True):
            for i, part in zip(bucket, row.div_(ranks()).chunk(len(bucket)), strict=True):
                self.weights[i].grad = part.view_as(self.weights[i])
        self.optimizer.step()


def main(
    layers: int = 4,  # layers of the model
    buckets: int = 4,  # buckets in which a step's gradients are reduced
    width: int = 192,  # width of a layer
    rows: int = 128,  # rows of a rank's batch
    operator: int = 10,  # drawn step: time of the operator before each bucket
    gap: int = 2,  # drawn step: time between two operators
    transfer: int = 8,  # drawn step: time of a bucket's all-reduce
) -> Metrics:
    """Trace steps that reduce after backward and from hooks; read them, and a drawn one."""
    sizes = layers, buckets, width, rows, operator, gap + 1, transfer + 1
    if min(sizes) < 1 or max(sizes) > 1000 or buckets > layers:
        refuse("sizes are 1 to 1000, gap and transfer 0 to 999; no more buckets than layers")
    group = None if dist.get_backend() == "gloo" else dist.new_group(backend="gloo")
    n, scale = ranks(), width**-0.5 / layers
    weights = [scale * torch.randn(width, width, dtype=torch.float64) for _ in range(layers)]
    x = torch.randn(n, rows, width, dtype=torch.float64)
    metrics, truth = {}, Replica(weights, 0)
    for _ in range(1 + RECORDED):
        truth.step(x.flatten(0, 1))
    for name, hooked in (("after", False), ("hooked", True)):
        replica = Replica(weights, buckets, hooked, group)
        steps = traced(replica, x[rank()])
        for events in steps:
            [main_thread] = {event.thread for event in events if event.name == "step"}
            beside = [e for e in events if e.name == COLLECTIVE and e.thread != main_thread]
            check(f"{name}: an all-reduce a bucket, on other threads", len(beside), "==", buckets)
            should = (buckets - 1) * hooked
            check(f"{name}: all-reduces begin when they should", early(events), "==", should)
        # Names that the first recorded step has, and no step after it.
        once = len(set.difference(*({event.name for event in events} for events in steps)))
        check(f"{name}: nothing is done in the first step alone", once, "==", 0)
        error = max(max_error(*pair) for pair in zip(replica.weights, truth.weights, strict=True))
        check(f"{name}: weights equal one process", error, "<", 1e-12)
        told = [read(events) for events in steps]
        for each, events in zip(told, steps, strict=True):
            books(name, events, each)
        hidden = everyone(sum(each["hidden"] for each in told)).sum().item()
        if not hooked:
            check(f"{name}: only hooks hide something", hidden, "==", 0)
        elif n > 1 and buckets > 3:  # fewer may all meet a gap
            check(f"{name}: only hooks hide something", hidden, ">", 0)
        picture(name, steps[-1])
        metrics |= {f"{what}_{name}": clocked(ns / 1e9) for what, ns in told[-1].items()}
        metrics[f"early_{name}"] = counted(early(steps[-1]))
    drawn = drawn_step(buckets, operator, gap, transfer)
    told = read(drawn)
    books("drawn", drawn, told)
    # The same once more, tick by tick.
    moving = {tick for span in spans(drawn, COLLECTIVE) for tick in range(*span)}
    running = {tick for span in spans(drawn, OPERATOR) for tick in range(*span)}
    check("drawn: exposed is what is counted", told["exposed"], "==", len(moving - running))
    return metrics | {
        "waited_hooked": counted(replica.waited),
        "once": shared(counted(once)),
        **{f"drawn_{what}": shared(counted(told[what])) for what in ("step", "hidden", "exposed")},
        "drawn_summed": shared(counted(sum(e.end - e.start for e in drawn[1:]))),
        "weights_error": compared(error),
    }


def books(name, events, told):
    """Check that a step's times add up."""
    operators = spans(events, OPERATOR)
    busy = union(operators + spans(events, COLLECTIVE))
    rest = length(without(spans(events, "step"), busy))
    apart = told["exposed"] + told["hidden"] - told["communication"]
    check(f"{name}: hidden and exposed are the communication", apart, "==", 0)
    apart = told["compute"] + told["exposed"] + rest - told["step"]
    check(f"{name}: compute, exposed and the rest are the step", apart, "==", 0)
    check(f"{name}: nested operators add up to more", length(operators), ">", told["compute"])


def early(events):
    """All-reduces that begin before the last operator of backward does."""
    [(begin, end)] = spans(events, "backward")
    last = max(start for start, _ in spans(events, OPERATOR) if begin <= start < end)
    return sum(start < last for start, _ in spans(events, COLLECTIVE))


def drawn_step(buckets, operator, gap, transfer):
    """A step of given times: an operator (with another inside) and an all-reduce a bucket."""
    events, start, end = [], 0, 0
    for _ in range(buckets):
        ready = start + operator
        begin = max(ready, end)  # all-reduces queue
        end = begin + transfer
        events.append(Event(OPERATOR, start, ready))
        events.append(Event(OPERATOR, start + operator // 2, ready))
        events.append(Event(COLLECTIVE, begin, end))
        start = ready + gap
    return [Event("step", 0, end), *events]


def picture(name, events):
    """Keep for the timeline, in seconds of the step, what is at least a 30th of it."""
    [(zero, end)] = spans(events, "step")
    kept = [("F", *spans(events, "forward")), ("B", *spans(events, "backward"))]
    kept += [(f"R{i}", each) for i, each in enumerate(sorted(spans(events, COLLECTIVE)))]
    for label, (start, close) in kept:
        if close - start >= (end - zero) / 30:
            timed(name, label, (start - zero) / 1e9, (close - zero) / 1e9)


BREAKS = {
    "overlap-by-event": Break(
        old="length(both(running, moving))",
        new="length(both(operators, moving))",
        expect="drawn: hidden and exposed are the communication",
        ranks=1,
        source="scripts that walk over a trace and add up what each event overlaps",
    ),
    "no-warm-up": Break(
        old="schedule(wait=0, warmup=1,",
        new="schedule(wait=0, warmup=0,",
        expect="hooked: nothing is done in the first step alone",
        ranks=1,
        source="a profile of the very first steps, with all that is made once",
    ),
    "times-the-call": Break(
        old='"gloo:all_reduce"',
        new='"c10d::allreduce_"',
        expect="hooked: an all-reduce a bucket, on other threads",
        ranks=1,
        source="a timer round an asynchronous call, which returns before the work is done",
    ),
    "waits-in-the-hook": Break(
        old="self.flights.append(dist.all_reduce(row, group=self.group, async_op=True))",
        new="dist.all_reduce(row, group=self.group)",
        expect="hooked: only hooks hide something",
        ranks=2,
        source="hooks that call a blocking all_reduce: early, and all of it exposed",
    ),
}

if __name__ == "__main__":
    run(__file__)
