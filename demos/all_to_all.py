"""All-to-all: a rank sends (N-1)/N of what it holds; gathering everything to pick from, N times it.

The trick
    Part i of each rank's buffer is for rank i: a transposition of who holds what, and done twice,
    everything is home again. In step k each rank sends to the one k further and receives from the
    one k before, so that nobody is sent to by two at a time (`in_pairs`).

    N - 1 short messages cost N - 1 latencies. Bruck's way (`bruck`) takes log2 N, rounded up: a
    part that has d ranks to go travels by the powers of two in d, with all others that go that far.
    Each round moves about half of the buffer, so that bytes grow to about log2 N / 2 buffers.

    Without it people gather every buffer everywhere and pick their parts: as many bytes again for
    every rank there is. Summing a table of everybody's buffers, zeros for those of others, is twice
    as dear. Factors look alike, (N-1)/N of something each time: of one buffer, or of all.

Watch
    buffer_bytes (shared, bytes)     one rank holds, before and after
    sent_bytes_pairs (bytes)         by this rank pair by pair: (N-1)/N of the buffer
    sent_bytes_bruck (bytes)         by this rank in Bruck's log2 N rounds
    sent_bytes_gather (bytes)        by this rank in a ring all-gather of the buffers
    sent_bytes_sum (bytes)           by this rank in a ring all-reduce of a table with a row for
                                     each rank's buffer
    sent_messages_pairs (messages)   sent by this rank pair by pair
    sent_messages_bruck (messages)   sent by this rank in Bruck's way
    sent_messages_gather (messages)  sent by this rank in the ring all-gather
    sent_messages_sum (messages)     sent by this rank in the ring all-reduce of the table
    max_error (shared, difference)   largest one of all four ways from torch's all_to_all_single
    back (shared, difference)        largest one from what was sent, once it was sent back

Run
    quizkit demo all-to-all --gpus 4
    python demos/all_to_all.py --ranks 3 --rows 5
    torchrun --nproc-per-node 4 demos/all_to_all.py
"""

from _bench import Break, Metrics, check, compared, computed, counted, picture, refuse, run, shared
from _bench import device, everyone, exchange, max_error, rank, ranks, ring_gather, ring_sum, wire

import torch
import torch.distributed as dist
from torch import Tensor

TOPIC = "comm"


def in_pairs(parts: Tensor) -> Tensor:
    """Part i goes to rank i: N-1 messages, each with another partner."""
    me, n = rank(), ranks()
    came = {me: parts[me]}  # my own part stays off the wire
    for step in range(1, n):
        to, source = (me + step) % n, (me - step) % n
        came[source] = exchange(parts[to], to, torch.empty_like(parts[me]), source).wait()
    return torch.stack([came[source] for source in range(n)])


def bruck(parts: Tensor) -> Tensor:
    """The same in log2 N rounds: parts travel by powers of two, together."""
    me, n = rank(), ranks()
    ahead = parts.roll(-me, 0)  # row d has d ranks to go
    reach = 1
    while reach < n:
        moving = [d for d in range(n) if d & reach]
        out = ahead[moving]
        ahead[moving] = exchange(
            out, (me + reach) % n, torch.empty_like(out), (me - reach) % n
        ).wait()
        reach *= 2
    # Row d has come d ranks far: from rank me - d.
    return ahead[[(me - source) % n for source in range(n)]]


def gather_and_pick(parts: Tensor) -> Tensor:
    """Every buffer to every rank, of which a rank wants one part each."""
    return ring_gather(parts[None])[:, rank()]


def sum_a_table(parts: Tensor) -> Tensor:
    """A row for every rank's buffer, all but mine empty: the sum is everybody's buffers."""
    table = parts.new_zeros(ranks(), *parts.shape)
    table[rank()] = parts
    return ring_sum(table)[:, rank()]


def torchs(parts: Tensor) -> Tensor:
    """What torch makes of it."""
    given = parts if dist.get_backend() == "nccl" else parts.cpu()
    taken = torch.empty_like(given)
    dist.all_to_all_single(taken, given)
    return taken.to(parts.device)


def main(
    rows: int = 6,  # rows of a part: a rank holds one part for each rank
    width: int = 500,  # fp64 numbers in a row
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """The same exchange in four ways: what each puts on the wire."""
    if min(rows, width) < 1:
        refuse(f"rows is {rows} and width is {width}: both start at 1")
    n = ranks()
    torch.manual_seed(seed + 1000 * rank())
    parts = torch.randn(n, rows, width, dtype=torch.float64).to(device())
    expected = torchs(parts)

    ways = {"pairs": in_pairs, "bruck": bruck, "gather": gather_and_pick, "sum": sum_a_table}
    sent = {}
    messages = {}
    errors = []
    for name, way in ways.items():
        with wire() as counts:
            result = way(parts)
        sent[name], messages[name] = counts.sent_bytes, counts.sent_messages
        picture("messages", f"{name}: sent by each rank to each", row=counts.to, unit="bytes")
        errors.append(everyone(max_error(result, expected)).max().item())
        check(f"{name}: part i of rank r is part r of rank i", errors[-1], "==", 0.0)
    back = everyone(max_error(in_pairs(in_pairs(parts)), parts)).max().item()
    check("sent back, all is home", back, "==", 0.0)
    check("pairs send (N-1)/N of the buffer", sent["pairs"] * n, "==", (n - 1) * parts.nbytes)
    check("gathering sends N times that", sent["gather"], "==", n * sent["pairs"])
    rounds = (n - 1).bit_length()
    check("Bruck's way takes log2 N messages", messages["bruck"], "==", rounds)
    return {
        "buffer_bytes": shared(computed(parts.nbytes)),
        **{f"sent_bytes_{name}": counted(count) for name, count in sent.items()},
        **{f"sent_messages_{name}": counted(count) for name, count in messages.items()},
        "max_error": shared(compared(torch.tensor(errors).max().item())),
        "back": shared(compared(back)),
    }


BREAKS = {
    "as-they-came": Break(
        old="    return torch.stack([came[source] for source in range(n)])",
        new="    return torch.stack([*came.values()])",
        expect="pairs: part i of rank r is part r of rank i",
        ranks=2,
        source="parts joined in the order of arrival: every shape is right, and rows are mixed up",
    ),
    "own-part-forgotten": Break(
        old="    came = {me: parts[me]}  # my own part stays off the wire",
        new="    came = {me: torch.zeros_like(parts[me])}",
        expect="pairs: part i of rank r is part r of rank i",
        ranks=1,
        source="a loop over the others that nobody follows with the part kept at home",
    ),
    "log-rounds-down": Break(
        old="    while reach < n:",
        new="    while 2 * reach <= n:",
        expect="bruck: part i of rank r is part r of rank i",
        ranks=3,
        source="log2 N rounded down: right for 2, 4 and 8 ranks",
    ),
}

if __name__ == "__main__":
    run(__file__)
