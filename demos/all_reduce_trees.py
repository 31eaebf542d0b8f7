"""Halving and doubling takes a ring's bytes in 2 log2 N rounds; two trees share one tree's load.

The trick
    Partners (`halving_doubling`). Trade the half of the payload that the partner N/2 away is to add
    up, then a quarter with the one N/4 away, and so on: each rank ends up with one finished N-th.
    The same partners in reverse double what a rank holds until it holds all. Where even that is too
    many rounds, trade whole payloads (`doubling`): every rank adds up everything, in log2 N rounds,
    for log2 N payloads. Both need a power of two. Ranks beyond it hand their payload in first and
    get the sum back: up to two more rounds, and one payload more for the ranks that help.

    A tree has no such need, but its inner ranks send up to thrice what a leaf does. Take two trees,
    each for half of the payload, so laid over the ranks that nobody is inner in both: number ranks
    from 1, read the numbers as a search tree in which odd ones are leaves, and shift the numbering
    by one for the second tree (`relatives`). Cut into pieces, the next one climbs before the last
    has arrived.

Watch
    payload_bytes (shared, bytes)       each rank brings to the sum
    sent_bytes_ring (bytes)             by this rank in a ring all-reduce, for comparison
    sent_bytes_halving (bytes)          by this rank in halving and doubling: a ring's, for N = 2^k
    sent_bytes_doubling (bytes)         by this rank if whole payloads are traded: log2 N of them
    sent_bytes_one_tree (bytes)         by this rank in a binary tree: a payload for each neighbour
    sent_bytes_two_trees (bytes)        by this rank in two trees, each for a half: two payloads at
                                        most
    sent_messages_ring (messages)       sent by this rank in a ring all-reduce
    sent_messages_halving (messages)    sent by this rank by halving and doubling
    sent_messages_doubling (messages)   sent by this rank if whole payloads are traded
    sent_messages_one_tree (messages)   sent by this rank in one tree
    sent_messages_two_trees (messages)  sent by this rank in two trees
    inner_in (count)                    of the two trees, those in which this rank adds up others'
                                        sums
    time_ring (shared, ticks)           of a ring, until the last rank is done: a message takes
                                        byte_cost * bytes at its sender and arrives hop_cost later;
                                        by default the longest chain of messages; adding takes none
    time_halving (shared, ticks)        of halving and doubling, until the last rank is done
    time_doubling (shared, ticks)       of trading whole payloads, until the last rank is done
    time_one_tree (shared, ticks)       of one tree, until the last rank is done
    time_two_trees (shared, ticks)      of two trees, until the last rank is done
    max_error (shared, difference)      largest one of all five ways from dist.all_reduce
    ways_unlike (shared, count)         of the five ways, those after which some rank holds other
                                        bits than rank 0

Run
    quizkit demo all-reduce-trees --gpus 4
    python demos/all_reduce_trees.py --ranks 6 --pieces 16 --byte-cost 0.001
    torchrun --nproc-per-node 4 demos/all_reduce_trees.py
"""

from collections.abc import Callable

from _bench import Break, Metrics, check, clocked, compared, computed, counted, refuse, run, shared
from _bench import Flight, all_gather, all_reduce, device, everyone, exchange, isend, max_error
from _bench import picture, rank, ranks, recv, send, virtual_clock, wire

import torch
from torch import Tensor
from torch.nn.functional import pad

TOPIC = "comm"

Toll = Callable[[Tensor], object]


def halving_doubling(row: Tensor, toll: Toll) -> None:
    """On a power of two of ranks: sum up one part here, then collect the others' parts."""
    me, low, high = rank(), 0, len(row)
    core = power_below(ranks())
    reaches = [core >> i for i in range(1, core.bit_length())]  # N/2, N/4, ... 1
    for reach in reaches:
        middle = (low + high) // 2
        mine = row[low:middle]
        theirs = row[middle:high]
        if me & reach:  # the upper partner sums up the upper half
            mine, theirs = theirs, mine
        mine += trade(theirs, me ^ reach, toll)
        low, high = (middle, high) if me & reach else (low, middle)
    # The nearest partner was the last to split with me: its part lies beside mine.
    for reach in reversed(reaches):
        beside = low - (high - low) if me & reach else high
        arrived = trade(row[low:high], me ^ reach, toll)
        row[beside : beside + len(arrived)] = arrived
        low, high = min(low, beside), max(high, beside + len(arrived))


def doubling(row: Tensor, toll: Toll) -> None:
    """On a power of two of ranks: partners trade all they have and both add it up."""
    reach = 1
    while reach < power_below(ranks()):
        # a + b here is b + a there, to the bit: partners never drift apart.
        row += trade(row, rank() ^ reach, toll)
        reach *= 2


def trade(out: Tensor, partner: int, toll: Toll) -> Tensor:
    """As much from the partner as I give."""
    toll(out)
    return exchange(out, partner, torch.empty_like(out), partner).wait()


def folded(algorithm: Callable[[Tensor, Toll], object], row: Tensor, toll: Toll) -> None:
    """Run what needs a power of two on any number of ranks."""
    core = power_below(ranks())
    if rank() >= core:
        toll(row)
        send(row, rank() - core)
        recv(row, rank() - core)
        return
    helped = rank() + core
    if helped < ranks():
        row += recv(torch.empty_like(row), helped)
    algorithm(row, toll)
    if helped < ranks():
        toll(row)
        send(row, helped)


def power_below(n: int) -> int:
    """The largest power of two that is not above n."""
    return 1 << (n.bit_length() - 1)


def tree_all_reduce(row: Tensor, trees: int, pieces: int, toll: Toll) -> None:
    """Cut the row evenly between the trees, and between the pieces of each."""
    jobs = [(tree, part.chunk(pieces)) for tree, part in enumerate(row.chunk(trees))]
    # A leaf has nothing to wait for on the way up, and nobody waits for it on the way down.
    jobs.sort(key=lambda job: len(relatives(job[0])[1]))
    for flight in [flight for tree, parts in jobs for flight in climb(parts, tree, toll)]:
        flight.wait()
    jobs.reverse()
    for flight in [flight for tree, parts in jobs for flight in descend(parts, tree, toll)]:
        flight.wait()


def climb(pieces: tuple[Tensor, ...], tree: int, toll: Toll) -> list[Flight[None]]:
    """Towards the root: add what my children have, and pass it on."""
    flights, (parent, children) = [], relatives(tree)
    for piece in pieces:
        for child in children:
            piece += recv(torch.empty_like(piece), child, tree)
        for above_me in parent:
            toll(piece)
            flights.append(isend(piece, above_me, tree))
    return flights


def descend(pieces: tuple[Tensor, ...], tree: int, toll: Toll) -> list[Flight[None]]:
    """Away from the root: the finished pieces, to my children as well."""
    flights, (parent, children) = [], relatives(tree)
    for piece in pieces:
        for above_me in parent:
            recv(piece, above_me, tree)
        for child in children:
            toll(piece)
            flights.append(isend(piece, child, tree))
    return flights


def relatives(tree: int) -> tuple[list[int], list[int]]:
    """Whom I send my sum to (nobody, for the root), and who sends theirs to me."""
    n = ranks()
    root = power_below(ranks())
    parents = {place: above(place) for place in range(1, n + 1) if place != root}
    me = (rank() + tree) % n + 1  # one place further in the second tree: leaves turn inner
    up = [parents[me]] if me in parents else []
    down = [place for place, parent in parents.items() if parent == me]
    return [(place - 1 - tree) % n for place in up], [(place - 1 - tree) % n for place in down]


def above(place: int) -> int:
    """In a search tree of 1, 2, 3 ..., odd places are leaves: 1 and 3 under 2, 2 and 6 under 4."""
    low_bit = place & -place
    up = (place - low_bit) | (2 * low_bit)
    # The tree is cut off after place N: whoever is missing is stepped over.
    return up if up <= ranks() else above(up)


def main(
    elements: int = 24_001,  # fp64 elements each rank brings to the sum
    pieces: int = 4,  # pieces a tree cuts its share of the payload into
    hop_cost: float = 1.0,  # virtual time a message is under way once it is sent
    byte_cost: float = 0.0,  # virtual time each byte of a message keeps its sender busy
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Sum the ranks' payloads by partners and by trees; compare with dist.all_reduce and a ring."""
    if min(elements, pieces) < 1:
        refuse(f"elements is {elements} and pieces is {pieces}: both start at 1")
    if min(hop_cost, byte_cost) < 0:
        refuse("hop-cost and byte-cost are times: 0 or more")
    n = ranks()
    core = power_below(ranks())
    torch.manual_seed(seed + 1000 * rank())
    payload = torch.randn(elements, dtype=torch.float64).to(device())
    reference = all_reduce(payload.clone())

    algorithms = {
        "ring": (n, ring_all_reduce),
        "halving": (core, lambda row, toll: folded(halving_doubling, row, toll)),
        "doubling": (1, lambda row, toll: folded(doubling, row, toll)),
        "one_tree": (pieces, lambda row, toll: tree_all_reduce(row, 1, pieces, toll)),
        "two_trees": (2 * pieces, lambda row, toll: tree_all_reduce(row, 2, pieces, toll)),
    }
    size = {}
    sent = {}
    messages = {}
    times = {}
    errors = {}
    unlike = 0
    for name, (parts, algorithm) in algorithms.items():
        row = pad(payload, (0, -elements % parts)).clone()  # equal parts; zeros add nothing
        with wire() as counts, virtual_clock(name, transfer=hop_cost) as clock:
            algorithm(row, lambda message: clock.spend(byte_cost * message.nbytes, "send"))
            times[name] = clock.makespan()
        picture("messages", f"{name}: sent by each rank to each", row=counts.to, unit="bytes")
        size[name] = row.nbytes
        sent[name], messages[name] = counts.sent_bytes, counts.sent_messages
        errors[name] = everyone(max_error(row[:elements], reference)).max().item()
        # As integers: two NaNs can be the same bits, and 0.0 == -0.0 are not.
        bits = all_gather(row.view(torch.int64))
        unlike += any(not torch.equal(bits[0], other) for other in bits)
        check(f"{name} equals all_reduce", errors[name], "<", 1e-12)

    inner_in = 0
    for tree in range(2):
        row = payload.clone()
        for flight in climb(row.chunk(pieces), tree, lambda message: None):
            flight.wait()
        inner_in += not torch.equal(row, payload)  # somebody's sum was added to mine
    traded = size["halving"] * 2 * (core - 1) // core if rank() < core else 0
    folds = rank() >= core or rank() + core < n
    trades = core.bit_length() - 1 if rank() < core else 0
    check("all leave the same bits on every rank", unlike, "==", 0)
    check("halving sends 2(N-1)/N", sent["halving"], "==", traded + folds * size["halving"])
    check("doubling sends log2 N messages", messages["doubling"], "==", trades + folds)
    check("nobody is inner in both trees", inner_in, "<=", 1)
    check("two trees: two payloads at most", sent["two_trees"], "<=", 2 * size["two_trees"])
    in_all = int(everyone(messages["two_trees"]).sum().item())
    check("each piece crosses its N-1 edges twice", in_all, "==", 2 * (n - 1) * 2 * pieces)
    due = 2 * (n - 1) * (hop_cost + byte_cost * size["ring"] / n)
    check("a ring takes 2(N-1) steps", abs(times["ring"] - due), "<=", 1e-9 * due)
    one = times["one_tree"] * size["two_trees"] / size["one_tree"]  # padding counts in a short row
    check("two trees take no longer than one", times["two_trees"], "<=", one * (1 + 1e-9))
    return {
        "payload_bytes": shared(computed(payload.nbytes)),
        **{f"sent_bytes_{name}": counted(count) for name, count in sent.items()},
        **{f"sent_messages_{name}": counted(count) for name, count in messages.items()},
        "inner_in": counted(inner_in),
        **{f"time_{name}": shared(clocked(time)) for name, time in times.items()},
        "max_error": shared(compared(torch.tensor([*errors.values()]).max().item())),
        "ways_unlike": shared(counted(unlike)),
    }


# Below: what they are all held against.


def ring_all_reduce(row: Tensor, toll: Toll) -> None:
    """Reduce-scatter and all-gather round a ring."""
    me, n = rank(), ranks()
    chunks = list(row.chunk(n))
    for step in range(2 * (n - 1)):
        toll(chunks[(me - step) % n])
        target = chunks[(me - step - 1) % n]
        arriving = torch.empty_like(target)
        exchange(chunks[(me - step) % n], (me + 1) % n, arriving, (me - 1) % n).wait()
        target.copy_(arriving + target if step < n - 1 else arriving)


BREAKS = {
    "part-not-added": Break(
        old="        row += recv(torch.empty_like(row), helped)",
        new="        recv(torch.empty_like(row), helped)",
        expect="halving equals all_reduce",
        ranks=3,
        source="a fold that powers of two, the sizes people test, never enter",
    ),
    "partner-beyond": Break(
        old="    while reach < power_below(ranks()):",
        new="    while reach < ranks():",
        expect="crashes: ValueError",
        ranks=3,
        source="rank ^ reach with N no power of two: some partners do not exist",
    ),
    "rebinds": Break(
        old="        row += trade(row, rank() ^ reach, toll)",
        new="        row = row + trade(row, rank() ^ reach, toll)",
        expect="doubling equals all_reduce",
        ranks=2,
        source="the sum goes to a new tensor, and the caller keeps the old one",
    ),
    "one-tree-twice": Break(
        old="(rank() + tree) % n + 1  # one place further in the second tree: leaves turn inner",
        new="rank() + 1\n    tree = 0",
        expect="nobody is inner in both trees",
        ranks=2,
        source="two copies of one tree: right results, and the same ranks are the busy ones",
    ),
}

if __name__ == "__main__":
    run(__file__)
