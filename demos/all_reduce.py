"""Ring all-reduce: each rank sends 2(N-1)/N of the payload, however many ranks there are.

The trick
    Cut the payload into N chunks and let every chunk travel round the ring. In the first N-1 steps
    each rank adds its own part to the chunk that passes (`ring_reduce_scatter`), so that each rank
    ends up with one finished chunk. In N-1 more steps the finished chunks go round once more and
    are only copied (`ring_all_gather`). Every link carries one chunk in every step, and there is no
    root.

    Gather and broadcast moves as many bytes in all, but the root is one end of every message. Of
    the three a tree needs the fewest rounds, but each of its messages is the whole payload: trees
    for short messages, rings for long ones. Set --hop-cost and --byte-cost to find where they
    cross.

    A chunk is added up along one path and then copied, so all ranks hold the same bits.

Watch
    payload_bytes (shared, bytes)      each rank brings to the sum
    sent_bytes_ring (bytes)            by this rank in a ring all-reduce: 2(N-1)/N of the payload if
                                       N divides the length, else 2(N-1) chunks of the length / N
                                       rounded up
    sent_messages_ring (messages)      sent by this rank in a ring all-reduce: one in each of its
                                       2(N-1) steps
    sent_bytes_reduce_scatter (bytes)  by this rank in the first half of the ring: N-1 chunks
    sent_bytes_naive (bytes)           by this rank in gather and broadcast: N-1 payloads at the
                                       root, elsewhere one
    sent_messages_naive (messages)     sent by this rank in gather and broadcast
    sent_bytes_tree (bytes)            by this rank up a tree and down: a payload for each neighbour
    sent_messages_tree (messages)      sent by this rank up a tree and down it
    time_ring (shared, ticks)          of the ring, until the last rank is done: a message keeps
                                       both of its ends busy for hop_cost + byte_cost * bytes; by
                                       default this counts the rounds; adding takes none
    time_naive (shared, ticks)         of gather and broadcast, until the last rank is done; by
                                       default its rounds
    time_tree (shared, ticks)          of the tree, until the last rank is done; by default its
                                       rounds
    finished_chunk (index)             of the chunk this rank has all parts of after the
                                       reduce-scatter, from 0; -1 where a rank finished none
    max_error (shared, difference)     largest one of ring, gather and tree from dist.all_reduce
    identical (shared, yes/no)         whether all ranks hold the same bits after the ring

Run
    quizkit demo all-reduce --gpus 4
    python demos/all_reduce.py --ranks 4 --elements 1200
    torchrun --nproc-per-node 4 demos/all_reduce.py
"""

from collections.abc import Callable

from _bench import Break, Metrics, check, clocked, compared, computed, counted, identical, refuse
from _bench import all_reduce, broadcast, device, everyone, exchange, max_error, rank, ranks, recv
from _bench import picture, run, send, shared, virtual_clock, wire

import torch
from torch import Tensor
from torch.nn.functional import pad

TOPIC = "comm"

Toll = Callable[[str, Tensor], object]


def free(label: str, message: Tensor) -> None:
    """The toll of a message where nobody asks how long it takes."""


def ring_all_reduce(payload: Tensor, toll: Toll = free) -> None:
    """Sum the payload over all ranks, in place, without a root."""
    row, chunks = cut(payload, ranks())
    ring_reduce_scatter(chunks, toll)
    ring_all_gather(chunks, toll)
    if row.data_ptr() != payload.data_ptr():
        payload.copy_(row[: payload.numel()].view_as(payload))


def ring_reduce_scatter(chunks: list[Tensor], toll: Toll = free) -> None:
    """First half: rank r starts chunk r on its way and adds its part to each chunk that passes."""
    me, n = rank(), ranks()
    arriving = torch.empty_like(chunks[0])  # one buffer for all steps
    for step in range(n - 1):
        shift(chunks[(me - step) % n], arriving, toll)
        # The left neighbour is one chunk behind. What it sent is the sum of all parts so far.
        chunks[(me - step - 1) % n].add_(arriving)


def ring_all_gather(chunks: list[Tensor], toll: Toll = free) -> None:
    """Second half: pass on the chunk finished here, then each finished chunk that comes in."""
    me, n = rank(), ranks()
    for step in range(n - 1):
        shift(chunks[(me + 1 - step) % n], chunks[(me - step) % n], toll)


def shift(out: Tensor, into: Tensor, toll: Toll) -> None:
    """One step of the ring: my chunk goes to the right while the left neighbour's arrives."""
    right, left = (rank() + 1) % ranks(), (rank() - 1) % ranks()
    toll(f"to {right}", out)
    # Both at once. If every rank first sent and then received, every rank would wait for ever.
    exchange(out, right, into, left).wait()


def cut(payload: Tensor, parts: int) -> tuple[Tensor, list[Tensor]]:
    """The payload as one row of equal chunks: views of it, or of a copy where it must be."""
    row = payload.reshape(-1)
    # Equal chunks keep the ranks in step and every buffer reusable; zeros add nothing to a sum.
    missing = -row.numel() % parts
    row = pad(row, (0, missing)) if missing else row
    size = row.numel() // parts
    return row, [row[i * size : (i + 1) * size] for i in range(parts)]


def naive_all_reduce(payload: Tensor, toll: Toll = free) -> None:
    """Rank 0 collects every payload, adds them up, and sends the sum to everyone."""
    me, n = rank(), ranks()
    if me == 0:
        arriving = torch.empty_like(payload)
        for other in range(1, n):
            toll(f"from {other}", payload)
            payload.add_(recv(arriving, other))
        for other in range(1, n):
            toll(f"to {other}", payload)
            send(payload, other)
    else:
        toll("to 0", payload)
        send(payload, 0)
        toll("from 0", payload)
        recv(payload, 0)


def tree_all_reduce(payload: Tensor, toll: Toll = free) -> None:
    """Halve the ranks that still hold something until rank 0 has the sum, then undo the halving."""
    me, n = rank(), ranks()
    # Partners 1, 2, 4 ... apart: as many rounds as it takes to reach the last rank from rank 0.
    reaches = [2**i for i in range((n - 1).bit_length())]
    arriving = torch.empty_like(payload)
    for reach in reaches:
        if me % (2 * reach) == reach:
            toll(f"to {me - reach}", payload)
            send(payload, me - reach)
        elif me % (2 * reach) == 0 and me + reach < n:
            toll(f"from {me + reach}", payload)
            payload.add_(recv(arriving, me + reach))
    for reach in reversed(reaches):
        if me % (2 * reach) == reach:
            toll(f"from {me - reach}", payload)
            recv(payload, me - reach)
        elif me % (2 * reach) == 0 and me + reach < n:
            toll(f"to {me + reach}", payload)
            send(payload, me + reach)


def main(
    elements: int = 100_003,  # fp64 elements each rank brings to the sum
    hop_cost: float = 1.0,  # virtual time each message costs, whatever its size
    byte_cost: float = 0.0,  # virtual time each byte of a message adds
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Sum the ranks' payloads in three ways and compare each with dist.all_reduce."""
    if elements < 1:
        refuse(f"elements is {elements}: the smallest payload is 1 element")
    n = ranks()

    # fp64: three orders of adding then agree to 1e-12, and a real bug cannot hide in rounding.
    torch.manual_seed(seed + 1000 * rank())
    payload = torch.randn(elements, dtype=torch.float64).to(device())
    reference = payload.clone()
    all_reduce(reference)

    def measure(name: str, algorithm: Callable[[Tensor, Toll], object]):
        """One algorithm on a copy of the payload: the result, what was sent, how long it took."""
        result = payload.clone()
        with wire() as sent, virtual_clock(name) as clock:
            # Paid at both ends before the message: a link takes one message at a time each way.
            algorithm(result, lambda label, m: clock.spend(hop_cost + byte_cost * m.nbytes, label))
            return result, sent, clock.makespan()

    ring, ring_wire, time_ring = measure("ring", ring_all_reduce)
    naive, naive_wire, time_naive = measure("naive", naive_all_reduce)
    tree, tree_wire, time_tree = measure("tree", tree_all_reduce)
    for name, sent in (("ring", ring_wire), ("naive", naive_wire), ("tree", tree_wire)):
        picture("messages", f"{name}: sent by each rank to each", row=sent.to, unit="bytes")
    with wire() as half:
        ring_reduce_scatter(cut(payload.clone(), n)[1])

    # A one from every rank: after the first half a chunk holds the number of parts in it.
    parts = torch.ones(n, dtype=torch.float64, device=device())
    ring_reduce_scatter(list(parts.split(1)))
    finished = [chunk for chunk, held in enumerate(parts.tolist()) if held == n]

    errors = [over_ranks(max_error(ours, reference)) for ours in (ring, naive, tree)]
    worst = torch.tensor(errors, dtype=torch.float64).max().item()
    unlike = ranks_unlike_rank_0(ring)
    chunk_bytes = -(-elements // n) * payload.element_size()

    check("ring equals all_reduce", errors[0], "<", 1e-12)
    check("naive equals all_reduce", errors[1], "<", 1e-12)
    check("tree equals all_reduce", errors[2], "<", 1e-12)
    check("ring leaves the same bits on every rank", unlike, "==", 0)
    check("ring sends 2(N-1) chunks", ring_wire.sent_bytes, "==", 2 * (n - 1) * chunk_bytes)
    check("one chunk is finished after half the ring", len(finished), "==", 1)

    return {
        "payload_bytes": shared(computed(payload.nbytes)),
        "sent_bytes_ring": counted(ring_wire.sent_bytes),
        "sent_messages_ring": counted(ring_wire.sent_messages),
        "sent_bytes_reduce_scatter": counted(half.sent_bytes),
        "sent_bytes_naive": counted(naive_wire.sent_bytes),
        "sent_messages_naive": counted(naive_wire.sent_messages),
        "sent_bytes_tree": counted(tree_wire.sent_bytes),
        "sent_messages_tree": counted(tree_wire.sent_messages),
        "time_ring": shared(clocked(time_ring)),
        "time_naive": shared(clocked(time_naive)),
        "time_tree": shared(clocked(time_tree)),
        "finished_chunk": counted(finished[0] if finished else -1),
        "max_error": shared(compared(worst)),
        "identical": shared(identical(unlike == 0)),
    }


# Below: what the results are held against.


def over_ranks(value: float) -> float:
    """The largest of the ranks' values; a NaN on any rank stays a NaN."""
    return everyone(value).max().item()


def ranks_unlike_rank_0(result: Tensor) -> int:
    """How many ranks hold other bits than rank 0 does."""
    first = broadcast(result.clone(), 0)
    # As integers: two NaNs can be the same bits, and 0.0 == -0.0 are not.
    unlike = not torch.equal(first.view(torch.int64), result.view(torch.int64))
    return int(all_reduce(torch.tensor([int(unlike)], device=device())).item())


BREAKS = {
    "wrong-chunk": Break(
        old="shift(chunks[(me - step) % n], arriving, toll)",
        new="shift(chunks[(me + step) % n], arriving, toll)",
        expect="ring equals all_reduce",
        ranks=3,
        source="the chunk index runs with the ring instead of against it; two ranks hide it",
    ),
    "second-phase-adds": Break(
        old="        shift(chunks[(me + 1 - step) % n], chunks[(me - step) % n], toll)",
        new="        arriving = torch.empty_like(chunks[0])\n"
        "        shift(chunks[(me + 1 - step) % n], arriving, toll)\n"
        "        chunks[(me - step) % n].add_(arriving)",
        expect="ring equals all_reduce",
        ranks=2,
        source="the second phase reuses the body of the first and counts parts twice",
    ),
    "send-then-receive": Break(
        old="    exchange(out, right, into, left).wait()",
        new="    send(out, right)\n    recv(into, left)",
        expect="hangs",
        ranks=2,
        source="a blocking send in a ring waits for a receive that nobody has reached",
    ),
    "average": Break(
        old="    ring_all_gather(chunks, toll)\n",
        new="    ring_all_gather(chunks, toll)\n    row.div_(ranks())\n",
        expect="ring equals all_reduce",
        ranks=2,
        source="the mean is taken for the meaning of all-reduce; the default operation is the sum",
    ),
    "no-padding": Break(
        old="missing = -row.numel() % parts",
        new="missing = 0",
        expect="ring equals all_reduce",
        ranks=2,
        source="the elements left over when N does not divide the length are never summed",
    ),
    "powers-of-two": Break(
        old="range((n - 1).bit_length())",
        new="range(n.bit_length() - 1)",
        expect="tree equals all_reduce",
        ranks=3,
        source="log2 N rounded down: right for 2, 4 and 8 ranks, else those beyond are cut off",
    ),
}

if __name__ == "__main__":
    run(__file__)
