"""Two levels take 2(g-1) + 2(M-1) steps, a flat ring 2(gM-1); bytes are not what they save.

The trick
    M nodes of g ranks (`two_level_all_reduce`). Sum up inside each node so that every rank holds
    one finished g-th of the payload S (reduce-scatter), let the ranks of the same place in all
    nodes, a rail, sum up their g-th (all-reduce), and collect the parts inside the node
    (all-gather).

    A flat ring through one node after the other leaves a node at one rank only, with what any rank
    of N = gM in a ring sends: 2(N-1)/N S. By two levels the g ranks of a node send 2(M-1)/M S out
    of it together. With two nodes that is much less, with many nodes about the same: never a g-th.
    What two levels save is steps; and what leaves is spread over g ranks, each with a network card
    of its own. g flat rings, each for a g-th of the payload and leaving at another rank, spread it
    as well, but keep their many steps. Traffic does grow g-fold where a ring changes nodes at every
    step, or where rails sum whole payloads.

Watch
    payload_bytes (shared, bytes)       each rank brings to the sum
    sent_bytes_flat (bytes)             by this rank in one flat ring
    sent_bytes_two_level (bytes)        by this rank by two levels
    crossing_bytes_flat (bytes)         that this rank sends to another node in one flat ring
    crossing_bytes_rails (bytes)        that this rank sends to another node in g flat rings, each
                                        of which leaves at another rank
    crossing_bytes_scattered (bytes)    that this rank sends to another node in a flat ring that
                                        changes nodes at every step
    crossing_bytes_two_level (bytes)    that this rank sends to another node by two levels
    sent_messages_flat (messages)       sent by this rank in the flat ring
    sent_messages_two_level (messages)  sent by this rank by two levels
    crossing_messages (messages)        sent by this rank to another node by two levels
    time_flat (shared, ticks)           of the flat ring, until the last rank is done: a message
                                        keeps its ends busy for hop_cost + byte_cost * bytes,
                                        between nodes `slow` times as long; by default: steps
    time_rails (shared, ticks)          of the slowest of g flat rings, all at once and in nobody's
                                        way
    time_scattered (shared, ticks)      of the ring that changes nodes at every step
    time_two_level (shared, ticks)      of two levels, until the last rank is done
    max_error (shared, difference)      largest one of all four ways from dist.all_reduce
    unlike (shared, ranks)              whose bits are not those of rank 0, after two levels

Run
    quizkit demo all-reduce-two-level --gpus 4
    python demos/all_reduce_two_level.py --ranks 8 --per-node 4 --slow 9
    torchrun --nproc-per-node 4 demos/all_reduce_two_level.py
"""

from collections.abc import Callable, Sequence

from _bench import Break, Metrics, check, clocked, compared, computed, counted, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, exchange, max_error, rank, ranks
from _bench import picture, virtual_clock, wire

import torch
from torch import Tensor
from torch.nn.functional import pad

TOPIC = "comm"

Group = Sequence[int]
Toll = Callable[[int, Tensor], object]


def two_level_all_reduce(row: Tensor, per_node: int, toll: Toll) -> None:
    """Inside, across, inside: only a g-th of the payload is ever sent across by one rank."""
    place = rank() % per_node
    first = rank() - rank() % per_node
    node = range(first, first + per_node)
    rail = range(place, ranks(), per_node)
    chunks = row.chunk(len(node))
    # The same place in every node finishes the same chunk: the rail agrees on what it sums up.
    mine = ring_reduce_scatter(chunks, node, toll)
    ring_all_reduce(mine, rail, toll)
    ring_all_gather(chunks, node, toll)


def ring_all_reduce(row: Tensor, group: Group, toll: Toll) -> None:
    """The sum over the group, in place."""
    chunks = row.chunk(len(group))
    ring_reduce_scatter(chunks, group, toll)
    ring_all_gather(chunks, group, toll)


def ring_reduce_scatter(chunks: Sequence[Tensor], group: Group, toll: Toll) -> Tensor:
    """Each chunk is added up on its way round; gives the one that is finished here."""
    me, n = group.index(rank()), len(group)
    arriving = torch.empty_like(chunks[0])
    for step in range(n - 1):
        step_round(chunks[(me - step) % n], arriving, group, toll)
        chunks[(me - step - 1) % n].add_(arriving)
    return chunks[(me + 1) % n]


def ring_all_gather(chunks: Sequence[Tensor], group: Group, toll: Toll) -> None:
    """Each finished chunk goes round once more and is copied."""
    me, n = group.index(rank()), len(group)
    for step in range(n - 1):
        step_round(chunks[(me + 1 - step) % n], chunks[(me - step) % n], group, toll)


def step_round(out: Tensor, into: Tensor, group: Group, toll: Toll) -> None:
    """One step of a ring over the group: one chunk to the right, one from the left."""
    me = group.index(rank())
    right, left = group[(me + 1) % len(group)], group[me - 1]
    toll(right, out)
    exchange(out, right, into, left).wait()


def node_by_node(per_node: int, turn: int = 0) -> list[int]:
    """All ranks, node after node; a turn begins each node at another rank."""
    return [
        first + (turn + place) % per_node
        for first in range(0, ranks(), per_node)
        for place in range(per_node)
    ]


def main(
    elements: int = 24_001,  # fp64 elements each rank brings to the sum
    per_node: int = 2,  # ranks of a node; divides the number of ranks
    hop_cost: float = 1.0,  # virtual time each message costs, whatever its size
    byte_cost: float = 0.0,  # virtual time each byte of a message adds
    slow: float = 1.0,  # how many times as long a message takes between nodes
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Sum the ranks' payloads over flat rings and over two levels, and count what leaves a node."""
    n = ranks()
    if min(elements, per_node) < 1:
        refuse(f"elements is {elements} and per-node is {per_node}: both start at 1")
    if n % per_node:
        valid = [size for size in range(1, n + 1) if n % size == 0]
        refuse(f"nodes of {per_node} are not filled by {n} ranks: per-node can be one of {valid}")
    if min(hop_cost, byte_cost, slow) < 0:
        refuse("hop-cost, byte-cost and slow are 0 or more")
    nodes = n // per_node

    torch.manual_seed(seed + 1000 * rank())
    payload = torch.randn(elements, dtype=torch.float64).to(device())
    reference = all_reduce(payload.clone())
    # Every algorithm cuts the same row evenly; the zeros add nothing to a sum.
    padded = pad(payload, (0, -elements % (n * per_node)))

    def measure(name: str, row: Tensor, algorithm: Callable[[Tensor, Toll], object]):
        """Sum up the row: what was sent, the messages that left the node, and how long it took."""
        crossing: list[int] = []

        def toll(to: int, message: Tensor) -> None:
            far = to // per_node != rank() // per_node
            crossing.extend([message.nbytes] * far)
            cost = hop_cost + byte_cost * message.nbytes
            clock.spend(cost * (slow if far else 1), "across" if far else "inside")

        with wire() as sent, virtual_clock(name) as clock:
            algorithm(row, toll)
            return sent, crossing, clock.makespan()

    def over(order: Group) -> Callable[[Tensor, Toll], None]:
        return lambda row, toll: ring_all_reduce(row, order, toll)

    flat, rails, scattered, two_level = (padded.clone() for _ in range(4))
    changing = [first + place for place in range(per_node) for first in range(0, n, per_node)]
    flat_wire, flat_crossing, time_flat = measure("flat", flat, over(node_by_node(per_node)))
    two_wire, two_crossing, time_two_level = measure(
        "two levels", two_level, lambda row, toll: two_level_all_reduce(row, per_node, toll)
    )
    for name, sent in (("flat", flat_wire), ("two levels", two_wire)):
        title = f"{name}: sent by each rank to each"
        picture("messages", title, row=sent.to, unit="bytes", node=per_node)
    _, scattered_crossing, time_scattered = measure("scattered", scattered, over(changing))
    # Each ring has a g-th of the payload, and a clock of its own: they run at the same time.
    turns = [
        measure(f"rail {turn}", part, over(node_by_node(per_node, turn)))
        for turn, part in enumerate(rails.chunk(per_node))
    ]
    rails_bytes = sum(sum(crossing) for _, crossing, _ in turns)

    results = {"flat": flat, "rails": rails, "scattered": scattered, "two_level": two_level}
    errors = torch.zeros(len(results), dtype=torch.float64)
    for i, (name, row) in enumerate(results.items()):
        errors[i] = everyone(max_error(row[:elements], reference)).max()
        check(f"{name} equals all_reduce", errors[i].item(), "<", 1e-12)
    unlike = ranks_unlike_rank_0(two_level)
    leaving = int((everyone(sum(flat_crossing)) > 0).sum().item())
    share = 2 * (nodes - 1) * padded.nbytes // n  # what a rail's ring sends for a g-th
    check("two levels leave the same bits on every rank", unlike, "==", 0)
    check("a rank sends 2(M-1)/M of a g-th across", sum(two_crossing), "==", share)
    steps = 2 * (per_node - 1) + 2 * (nodes - 1)
    check("two levels take 2(g-1) + 2(M-1) steps", two_wire.sent_messages, "==", steps)
    check("a flat ring leaves each node at one rank", leaving, "==", nodes if nodes > 1 else 0)
    most = 2 * (n - 1) * padded.nbytes // (n * per_node) if nodes > 1 else 0
    check("g rings leave a node at every rank", rails_bytes, "==", most)
    all_of_it = flat_wire.sent_bytes if nodes > 1 else 0
    check("changing nodes, a ring sends all across", sum(scattered_crossing), "==", all_of_it)
    inside = 2 * (per_node - 1) * (hop_cost + byte_cost * padded.nbytes / per_node)
    due = inside + 2 * (nodes - 1) * slow * (hop_cost + byte_cost * padded.nbytes / n)
    check("only steps between nodes are slow", abs(time_two_level - due), "<=", 1e-9 * due)
    return {
        "payload_bytes": shared(computed(payload.nbytes)),
        "sent_bytes_flat": counted(flat_wire.sent_bytes),
        "sent_bytes_two_level": counted(two_wire.sent_bytes),
        "crossing_bytes_flat": counted(sum(flat_crossing)),
        "crossing_bytes_rails": counted(rails_bytes),
        "crossing_bytes_scattered": counted(sum(scattered_crossing)),
        "crossing_bytes_two_level": counted(sum(two_crossing)),
        "sent_messages_flat": counted(flat_wire.sent_messages),
        "sent_messages_two_level": counted(two_wire.sent_messages),
        "crossing_messages": counted(len(two_crossing)),
        "time_flat": shared(clocked(time_flat)),
        "time_rails": shared(clocked(max(time for _, _, time in turns))),
        "time_scattered": shared(clocked(time_scattered)),
        "time_two_level": shared(clocked(time_two_level)),
        "max_error": shared(compared(errors.max().item())),
        "unlike": shared(counted(unlike)),
    }


# Below: what the results are held against.


def ranks_unlike_rank_0(result: Tensor) -> int:
    """How many ranks hold other bits than rank 0 does."""
    # As integers: two NaNs can be the same bits, and 0.0 == -0.0 are not.
    first, *others = all_gather(result.view(torch.int64))
    return sum(not torch.equal(first, other) for other in others)


BREAKS = {
    "whole-payload": Break(
        old="    ring_all_reduce(mine, rail, toll)\n    ring_all_gather(chunks, node, toll)",
        new="    ring_all_gather(chunks, node, toll)\n    ring_all_reduce(row, rail, toll)",
        expect="a rank sends 2(M-1)/M of a g-th across",
        ranks=4,
        source="all-reduce inside, then across: right, but each rank sends the whole payload out",
    ),
    "levels-swapped": Break(
        old="    chunks = row.chunk(len(node))",
        new="    node, rail = rail, node\n    chunks = row.chunk(len(node))",
        expect="a rank sends 2(M-1)/M of a g-th across",
        ranks=4,
        source="a mesh with its axes in the wrong order: right results, the big step on slow links",
    ),
    "leaders-only": Break(
        old="    ring_all_reduce(mine, rail, toll)",
        new="    if place == 0:\n        ring_all_reduce(mine, rail, toll)",
        expect="two_level equals all_reduce",
        ranks=4,
        source="one leader a node does for a reduce inside, not for a reduce-scatter",
    ),
    "own-part-for-the-rail": Break(
        old="    return chunks[(me + 1) % n]",
        new="    return chunks[me]",
        expect="two_level equals all_reduce",
        ranks=4,
        source="rank r is taken to finish part r, as reduce_scatter does; this ring finishes r + 1",
    ),
}

if __name__ == "__main__":
    run(__file__)
