"""Two numbers price every message: fit alpha and beta on a few sizes, and predict the rest.

The trick
    A message of S bytes takes alpha + beta S: a latency that does not depend on its size, and a
    price for each byte. Bounce messages of a few sizes between two ranks, halve the round trip, and
    put a straight line through the times (`fitted`). Weigh each by 1/time, or the long messages
    drown alpha.

    Everything else is counting. A ring all-reduce is 2(N-1) steps of S/N bytes, a tree 2 log2 N
    rounds of S, rounded up; where both cost the same, the better one changes. All ranks of a ring
    go at the pace of its slowest link: what is slow is on every chunk's way.

    On the virtual clock a message keeps both of its ends busy for --alpha + --beta times bytes, and
    nobody has to share, so that model and measurement must agree to the last digit. On real
    machines messages that are under way at once share cores and links, and a line fitted on a
    ping-pong says too little.

Watch
    payload_bytes (shared, bytes)    each rank brings to the sum
    time_message (shared, ticks)     of one message with the whole payload
    time_ring (shared, ticks)        of the ring, until the last rank is done; adding takes none
    time_ring_slow (shared, ticks)   of the ring if the link from the last rank to rank 0 is
                                     --slow-link times as slow
    time_tree (shared, ticks)        of the tree, until the last rank is done; adding takes none
    alpha_fit (shared, ticks)        latency of a message, as fitted on the virtual clock
    beta_fit (shared, ticks)         price of a byte, as fitted on the virtual clock
    predicted_ring (shared, ticks)   of the ring, as the fitted numbers predict
    predicted_tree (shared, ticks)   of the tree, as the fitted numbers predict
    crossover (shared, bytes)        of the payload at which ring and tree take as long, from the
                                     fitted numbers; 0 if the ring needs no more steps
    crossover_clock (shared, bytes)  of the payload at which ring and tree take as long, from both
                                     at two sizes

Run
    quizkit demo cost-model --gpus 4
    python demos/cost_model.py --ranks 4 --alpha 5 --beta 0.00002 --elements 100000
    torchrun --nproc-per-node 4 demos/cost_model.py
"""

from _bench import Break, Metrics, check, clocked, computed, refuse, run, shared
from _bench import all_reduce, device, everyone, exchange, max_error, rank, ranks, recv, send
from _bench import virtual_clock

import torch

TOPIC = "comm"

FITTED = (1, 2048, 16384, 65536)  # elements of the messages that are bounced


def free(message, slower=1.0):
    """The toll where nobody asks how long a message takes."""


def bounce(row, toll=free):
    """One message from rank 0 to rank 1 and back; both ends are busy with it."""
    for source, target in ((0, 1), (1, 0)):
        if rank() == source:
            toll(row)
            send(row, target)
        elif rank() == target:
            toll(row)
            recv(row, source)


def ring(row, toll=free, slow_link=1.0):
    """All-reduce: each chunk is added up on its way round, then handed round once more."""
    me, n = rank(), ranks()
    right, left = (me + 1) % n, (me - 1) % n
    size = -(-len(row) // n)
    total = torch.cat([row, row.new_zeros(n * size - len(row))])
    chunks = total.view(n, size)
    arriving = row.new_empty(size)
    for step in range(2 * (n - 1)):
        out = chunks[(me - step) % n]
        toll(out, slow_link if right == 0 else 1.0)
        exchange(out, right, arriving, left).wait()
        into = chunks[(me - step - 1) % n]
        into.copy_(into + arriving if step < n - 1 else arriving)
    return total[: len(row)]


def tree(row, toll=free):
    """All-reduce: halve the ranks that still hold something, then undo the halving."""
    me, n = rank(), ranks()
    total = row.clone()
    arriving = torch.empty_like(row)
    reaches = [2**k for k in range((n - 1).bit_length())]
    for reach in reaches:
        if me % (2 * reach) == reach:
            toll(row)
            send(total, me - reach)
        elif me % (2 * reach) == 0 and me + reach < n:
            toll(row)
            total += recv(arriving, me + reach)
    for reach in reversed(reaches):
        if me % (2 * reach) == reach:
            toll(row)
            recv(total, me - reach)
        elif me % (2 * reach) == 0 and me + reach < n:
            toll(row)
            send(total, me + reach)
    return total


def fitted(sizes, times):
    """The line through the times, relative errors as small as can be: alpha and beta."""
    # Least squares for alpha p + beta q = 1, which is the line divided by the time it should give.
    p = [1 / time for time in times]
    q = [size / time for size, time in zip(sizes, times, strict=True)]
    pp = dot(p, p)
    pq = dot(p, q)
    qq = dot(q, q)
    alpha = (sum(p) * qq - sum(q) * pq) / (pp * qq - pq**2)
    beta = (sum(q) * pp - sum(p) * pq) / (pp * qq - pq**2)
    return alpha, beta


def dot(one, other):
    """The sum of their products."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def ring_time(alpha, beta, size, slowest=1.0):
    """What the model says of a ring."""
    n = ranks()
    return 2 * (n - 1) * slowest * (alpha + beta * 8 * -(-size // (8 * n)))


def tree_time(alpha, beta, size):
    """What it says of a tree."""
    return 2 * (ranks() - 1).bit_length() * (alpha + beta * size)


def crossing(alpha, beta):
    """The payload at which both take as long; 0 where the ring needs no more steps."""
    n = ranks()
    depth = (ranks() - 1).bit_length()
    return alpha / beta * (n - 1 - depth) / (depth - (n - 1) / n)


def main(
    elements: int = 840,  # fp64 elements each rank brings to the sum
    alpha: float = 20.0,  # virtual time each message costs, whatever its size
    beta: float = 0.01,  # virtual time each byte of a message adds
    slow_link: float = 4.0,  # how many times as slow one link is in time_ring_slow
) -> Metrics:
    """Fit two numbers on bounced messages; predict a ring and a tree, and run them."""
    n = ranks()
    if n < 2:
        refuse("a message needs two ranks: take --ranks 2 or more")
    if elements < 1 or slow_link < 1 or beta <= 0 or not 1 <= alpha / beta <= 1e6:
        refuse("take 1 element or more, a slow link of 1 or more, alpha of 1 to 1000000 times beta")

    def row(length):
        return torch.randn(length, dtype=torch.float64).to(device()) + rank()

    def on_the_clock(name, algorithm, length, *args):
        with virtual_clock(name) as clock:

            def price(message, slower=1.0):
                clock.spend(slower * (alpha + beta * message.nbytes), name)

            algorithm(row(length), price, *args)
            return clock.makespan()

    sizes = [8 * length for length in FITTED]
    times = [on_the_clock("bounce", bounce, length) / 2 for length in FITTED]
    alpha_fit, beta_fit = fitted(sizes, times)
    message = on_the_clock("bounce", bounce, elements) / 2

    payload = row(elements)
    truth = all_reduce(payload.clone())
    size = payload.nbytes
    time_ring = on_the_clock("ring", ring, elements)
    time_slow = on_the_clock("ring, one link slow", ring, elements, slow_link)
    time_tree = on_the_clock("tree", tree, elements)
    predicted = ring_time(alpha_fit, beta_fit, size), tree_time(alpha_fit, beta_fit, size)
    predicted_slow = ring_time(alpha_fit, beta_fit, size, slow_link)

    # Both times are straight lines over the payload: two points of each say where they cross.
    short, long = 8 * n, 800 * n
    (r0, r1), (t0, t1) = (
        [on_the_clock(name, how, bytes // 8) for bytes in (short, long)]
        for name, how in (("ring", ring), ("tree", tree))
    )
    clock = short - (r0 - t0) * (long - short) / ((r1 - t1) - (r0 - t0))
    cross = crossing(alpha_fit, beta_fit)

    errors = everyone([max_error(ring(payload), truth), max_error(tree(payload), truth)])
    check("ring and tree equal all_reduce", errors.max().item(), "<", 1e-9)
    check("alpha comes back", abs(alpha_fit / alpha - 1), "<", 1e-9)
    check("beta comes back", abs(beta_fit / beta - 1), "<", 1e-9)
    check("the ring takes what was predicted", abs(predicted[0] / time_ring - 1), "<", 1e-9)
    check("the tree takes what was predicted", abs(predicted[1] / time_tree - 1), "<", 1e-9)
    check("the slowest link sets the pace", abs(predicted_slow / time_slow - 1), "<", 1e-9)
    check("they cross where predicted", abs(clock - cross) / (cross + alpha / beta), "<", 1e-6)
    return {
        "payload_bytes": shared(computed(size)),
        "time_message": shared(clocked(message)),
        "time_ring": shared(clocked(time_ring)),
        "time_ring_slow": shared(clocked(time_slow)),
        "time_tree": shared(clocked(time_tree)),
        "alpha_fit": shared(clocked(alpha_fit)),
        "beta_fit": shared(clocked(beta_fit)),
        "predicted_ring": shared(computed(predicted[0])),
        "predicted_tree": shared(computed(predicted[1])),
        "crossover": shared(computed(cross)),
        "crossover_clock": shared(clocked(clock)),
    }


BREAKS = {
    "round-trip": Break(
        old="length) / 2 for length in FITTED]\n    alpha_fit",
        new="length) for length in FITTED]\n    alpha_fit",
        expect="alpha comes back",
        ranks=2,
        source="ping-pong times taken for one way",
    ),
    "bytes-over-bandwidth": Break(
        old="    return 2 * (n - 1) * slowest * (alpha + beta * 8 * -(-size // (8 * n)))",
        new="    return slowest * beta * size",
        expect="the ring takes what was predicted",
        ranks=2,
        source="payload over bandwidth, as in many an estimate on a slide",
    ),
    "one-latency": Break(
        old="2 * (n - 1) * slowest * (alpha + beta * 8 * -(-size // (8 * n)))",
        new="slowest * (alpha + 2 * (n - 1) * beta * 8 * -(-size // (8 * n)))",
        expect="the ring takes what was predicted",
        ranks=2,
        source="the latency paid for a call, not for each of its steps",
    ),
    "average-link": Break(
        old="predicted_slow = ring_time(alpha_fit, beta_fit, size, slow_link)",
        new="predicted_slow = ring_time(alpha_fit, beta_fit, size, (n - 1 + slow_link) / n)",
        expect="the slowest link sets the pace",
        ranks=2,
        source="one slow link among many taken for a small loss on average",
    ),
}

if __name__ == "__main__":
    run(__file__)
