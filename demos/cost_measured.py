"""Fit alpha and beta on what you predict: a ping-pong does not price N ranks that send at once.

The trick
    In a ping-pong one message is under way, and its two ranks have the machine to themselves. In
    each step of a ring all N ranks send. What they share (cores here, else a NIC or a switch) then
    serves several at a time, and each waits for the others. So bounce messages (`bounce`) for one
    line alpha + beta bytes, let all ranks shift at once (`shifts`) for another, and ask both what a
    ring takes.

    On the virtual clock ranks that share one of --cores take turns on it, a baton going round
    (`turn`): the ping-pong's line is wrong by just the number of ranks on a core, the other by
    nothing.

    On the wall clock nothing is that clean. Runs of all kinds alternate, so that a busy spell hits
    each of them, and the mean of --repeats counts: ranks that share cores now run, now wait, and
    minima and medians jump from one to the other. Lines are judged at sizes they were not fitted
    on.

Watch
    at_once_pair (shared, messages)   under way at once in a ping-pong, if none has to share a core
    at_once_all (shared, messages)    under way at once in a ring, if none has to share a core
    ring_messages (shared, messages)  sent by each rank in a ring all-reduce
    ring_bytes (shared, bytes)        sent by each rank in a ring all-reduce of 49152 fp64 numbers
    clock_off_pair (shared, ratio)    virtual time of a ring, over what the ping-pong's line says
    clock_off_all (shared, ratio)     virtual time of a ring, over what the line of shifts at once
                                      says
    alpha_pair_us (shared, value)     latency of a message in a ping-pong on the wall clock, in
                                      microseconds
    alpha_all_us (shared, value)      latency of a message while all ranks send, wall clock, in
                                      microseconds
    beta_pair_ns (shared, value)      price of a byte in a ping-pong on the wall clock, in
                                      nanoseconds
    beta_all_ns (shared, value)       price of a byte while all ranks send, wall clock, in
                                      nanoseconds
    off_pair (shared, ratio)          wall time of a ring over what the ping-pong's line says, where
                                      that is furthest from 1; at sizes that were not fitted
    off_all (shared, ratio)           wall time of a ring over what the line of shifts says, where
                                      that is furthest from 1; at sizes that were not fitted

Run
    quizkit demo cost-measured --gpus 4
    python demos/cost_measured.py --ranks 8 --cores 3 --repeats 9
    torchrun --nproc-per-node 4 demos/cost_measured.py
"""

from contextlib import contextmanager
from math import log
from time import perf_counter

from _bench import Break, Metrics, check, clocked, counted, refuse, run, shared
from _bench import all_reduce, barrier, device, everyone, exchange, max_error, rank, ranks, recv
from _bench import send, virtual_clock, wire

import torch

TOPIC = "comm"
VARIES = ("alpha_pair_us", "alpha_all_us", "beta_pair_ns", "beta_all_ns", "off_pair", "off_all")

FITTED = (1, 30_000, 200_000)  # elements of the messages that lines are fitted on
JUDGED = (96, 49152, 393216)  # elements of the payloads that are predicted
BATON = 1  # the tag of a core that is handed on


def free(message):
    """The toll where a real clock runs."""


def bounce(row, toll=free):
    """One message from rank 0 to rank 1 and back: one at a time."""
    for source, target in ((0, 1), (1, 0)):
        if rank() == source:
            toll(row)
            send(row, target)
        elif rank() == target:
            recv(row, source)


def shifts(row, toll=free):
    """What a ring does, less its sums: all ranks send to the right at once, 2(N-1) times."""
    me = rank()
    n = ranks()
    arriving = torch.empty_like(row)
    for _ in range(2 * (n - 1)):
        toll(row)
        exchange(row, (me + 1) % n, arriving, (me - 1) % n).wait()


def ring(row, toll=free):
    """All-reduce: each chunk is added up on its way round, then handed round once more."""
    me, n = rank(), ranks()
    size = -(-len(row) // n)
    total = torch.cat([row, row.new_zeros(n * size - len(row))])
    chunks = total.view(n, size)
    arriving = row.new_empty(size)
    for step in range(2 * (n - 1)):
        out = chunks[(me - step) % n]
        into = chunks[(me - step - 1) % n]
        toll(out)
        exchange(out, (me + 1) % n, arriving, (me - 1) % n).wait()
        into.copy_(into + arriving if step < n - 1 else arriving)
    return total[: len(row)]


def fitted(times, messages):
    """The line through times of so many messages in a row: alpha and beta, by relative error."""
    # Least squares for alpha p + beta q = 1, which is the line divided by the time it should give.
    p = [messages / time for time in times]
    q = [messages * 8 * size / time for size, time in zip(FITTED, times, strict=True)]
    pp = dot(p, p)
    pq = dot(p, q)
    qq = dot(q, q)
    alpha = (sum(p) * qq - sum(q) * pq) / (pp * qq - pq**2)
    beta = (sum(q) * pp - sum(p) * pq) / (pp * qq - pq**2)
    if beta < 0:  # noise: nothing has a price below 0
        return sum(p) / pp, 0.0
    if alpha < 0:
        return 0.0, sum(q) / qq
    return alpha, beta


def dot(one, other):
    """The sum of their products."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def ring_time(line, elements):
    """What a line says of a ring."""
    return 2 * (ranks() - 1) * (line[0] + line[1] * 8 * -(-elements // ranks()))


@contextmanager
def turn(cores):
    """This rank's turn on its core: after the ranks before it there, who hand it on."""
    me = rank()
    n = ranks()
    baton = torch.zeros(1).to(device())
    last = me + (n - 1 - me) // cores * cores
    if me >= cores:
        recv(baton, me - cores, BATON)
    yield
    if last > me:
        send(baton, me + cores, BATON)
    elif me >= cores:
        send(baton, me % cores, BATON)
    if me < cores and last > me:  # the next step begins when all have had their turn
        recv(baton, last, BATON)


def row_of(elements):
    """What a rank brings."""
    return torch.randn(elements, dtype=torch.float64).to(device()) + rank()


def on_the_clock(algorithm, elements, cores, alpha, beta, drawn=""):
    """Virtual time of an algorithm on so many cores."""
    with virtual_clock(drawn or "not drawn") as clock:

        def toll(message):
            with turn(cores):
                if drawn:
                    clock.spend(alpha + beta * message.nbytes, "M")
                else:
                    clock.now += alpha + beta * message.nbytes

        algorithm(row_of(elements), toll)
        return clock.makespan()


def on_the_wall(repeats, **runs):
    """Mean seconds of each run, until its last rank is done: in turns, not each in a row."""
    mean = dict.fromkeys(runs, 0.0)
    for _ in range(repeats):
        for name, (algorithm, row) in runs.items():
            barrier()
            start = perf_counter()
            algorithm(row)
            if row.is_cuda:
                torch.cuda.synchronize()  # there, calls return before they are done
            mean[name] += everyone(perf_counter() - start).max().item() / repeats
    return mean


def main(
    cores: int = 2,  # cores that the ranks share on the virtual clock
    alpha: float = 20.0,  # virtual time on a core that each message costs, whatever its size
    beta: float = 0.01,  # virtual time on a core that each byte of a message adds
    repeats: int = 5,  # runs of each kind on the wall clock; their mean counts
) -> Metrics:
    """Fit a line on a ping-pong and one on shifts at once; let both predict rings."""
    n = ranks()
    payload = JUDGED[1]
    if n < 2:
        refuse("a message needs two ranks: take --ranks 2 or more")
    if cores < 1 or repeats < 1 or beta <= 0 or not 1 <= alpha / beta <= 1e6:
        refuse("take 1 core or more, 1 repeat or more, and an alpha of 1 to 1000000 times beta")

    # The virtual clock: nobody shares anything in a ping-pong, all do in a ring.
    prices = alpha, beta
    pair = fitted([on_the_clock(bounce, size, n, *prices) for size in FITTED], 2)
    every = [on_the_clock(shifts, size, cores, *prices) for size in FITTED]
    every = fitted(every, 2 * (n - 1))
    time = on_the_clock(ring, payload, cores, *prices, "ring")
    off_pair = time / ring_time(pair, payload)
    off_all = time / ring_time(every, payload)
    check("the ping-pong gives its own price", abs(pair[0] / alpha - 1), "<", 1e-9)
    check("fitted on shifts at once, the line holds", abs(off_all - 1), "<", 1e-9)
    check("off by the ranks on a core", abs(off_pair - -(-n // cores)), "<", 1e-9)

    # How many messages are under way at once, if no core is shared: all their time over the run's.
    one = alpha + beta * 8 * 1000
    at_once_pair = 2 * one / on_the_clock(bounce, 1000, n, *prices, "ping-pong")
    at_once_all = 2 * (n - 1) * n * one / on_the_clock(shifts, 1000, n, *prices)

    row = row_of(payload)
    truth = all_reduce(row.clone())
    with wire() as sent:
        total = ring(row)
    error = everyone(max_error(total, truth)).max().item()
    check("the ring equals all_reduce", error, "<", 1e-9)
    chunk = 8 * -(-payload // n)
    check("the ring sends what the model counts", sent.sent_bytes, "==", 2 * (n - 1) * chunk)

    # The wall clock.
    runs = {f"{how.__name__} {s}": (how, row_of(s)) for s in FITTED for how in (bounce, shifts)}
    runs |= {f"ring {s}": (ring, row_of(s)) for s in JUDGED}
    mean = on_the_wall(repeats, **runs)
    wall_pair = fitted([mean[f"bounce {s}"] for s in FITTED], 2)
    wall_all = fitted([mean[f"shifts {s}"] for s in FITTED], 2 * (n - 1))

    def furthest(line):
        """A ring's time over what the line says, where that is furthest from 1."""
        off = [mean[f"ring {s}"] / ring_time(line, s) for s in JUDGED]
        return max(off, key=lambda times: abs(log(times)))

    return {
        "at_once_pair": shared(clocked(round(at_once_pair, 9))),
        "at_once_all": shared(clocked(round(at_once_all, 9))),
        "ring_messages": shared(counted(sent.sent_messages)),
        "ring_bytes": shared(counted(sent.sent_bytes)),
        "clock_off_pair": shared(clocked(off_pair)),
        "clock_off_all": shared(clocked(off_all)),
        "alpha_pair_us": shared(clocked(1e6 * wall_pair[0])),
        "alpha_all_us": shared(clocked(1e6 * wall_all[0])),
        "beta_pair_ns": shared(clocked(1e9 * wall_pair[1])),
        "beta_all_ns": shared(clocked(1e9 * wall_all[1])),
        "off_pair": shared(clocked(furthest(wall_pair))),
        "off_all": shared(clocked(furthest(wall_all))),
    }


BREAKS = {
    "pair-for-all": Break(
        old="    every = fitted(every, 2 * (n - 1))",
        new="    every = pair",
        expect="fitted on shifts at once, the line holds",
        ranks=3,
        source="a collective priced from a point-to-point benchmark between two ranks",
    ),
    "round-trip": Break(
        old="n, *prices) for size in FITTED], 2)",
        new="n, *prices) for size in FITTED], 1)",
        expect="the ping-pong gives its own price",
        ranks=2,
        source="ping-pong times taken for one way",
    ),
}

if __name__ == "__main__":
    run(__file__)
