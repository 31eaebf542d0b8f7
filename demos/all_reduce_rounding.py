"""All ranks get the same bits; another algorithm, order or number of ranks gives other bits.

The trick
    Floating point rounds after each addition, so (a + b) + c need not be a + (b + c). A ring adds
    up each chunk along one path and copies the sum: all ranks agree to the bit, in every run. Let
    the path begin elsewhere, add in pairs, or deal the same gradients to half as many ranks, and
    last bits change. Integers never mind.

    The fewer bits, the more it shows. A chain rounds N - 1 times, on and on what it has rounded
    before: for random numbers errors grow as the root of N / 2; in pairs, as the root of log2 N. In
    bf16, with 8 bits, 256 + 1 is 256: a sum of ones ends there. fp16 overflows past 65,504, so that
    gradients are divided by N before they are summed, and small ones vanish instead. Each hop of a
    ring writes its sum in the dtype that travels, whatever it was added in. Sent to the owner of
    their chunk and added there in fp32 (`owner_sum`), the same bytes are rounded once.

Watch
    unlike (shared, ranks)                  whose bits are not those of rank 0, after the ring in
                                            fp32
    rerun_differ (shared, count)            of sums that get other bits when the same fp32 ring runs
                                            again
    differ_halves (shared, share)           of sums with other bits than the ring's: a
                                            reduce-scatter whose paths begin one rank further, then
                                            an all-gather
    differ_gathered (shared, share)         of sums with other bits than the ring's if each rank
                                            gathers all parts and adds from rank 0 on
    differ_pairs (shared, share)            of sums with other bits than the ring's if parts are
                                            added in pairs, and the sums in pairs
    differ_integers (shared, share)         of integer sums unlike the ring's: halves, gathered and
                                            pairs, all three added up
    differ_dealt (shared, share)            of sums with other bits if `parts` fp32 gradients are
                                            added in twos before the chain, as on half the ranks
    ones_bf16 (shared, value)               of a one from each of `ones` ranks, added in a chain in
                                            bf16
    ones_fp16 (shared, value)               of a one from each of `ones` ranks, added in a chain in
                                            fp16
    ones_pairs (shared, value)              of a one from each of `ones` ranks, added in pairs in
                                            bf16
    lost_sum_first (shared, elements)       not finite in a mean of fp16 gradients: summed, then
                                            divided
    lost_divide_first (shared, elements)    not finite in a mean of fp16 gradients: divided, then
                                            summed
    mean_divide_first (shared, value)       fp16 mean of `gradient`, an equal one from every rank,
                                            divided first
    error_once (shared, difference)         relative rms error of the exact sum rounded to bf16 once
    error_ring (shared, difference)         relative rms error of a ring with bf16 at every hop
    error_owner (shared, difference)        relative rms error if bf16 goes to its chunk's owner,
                                            who adds in fp32
    error_wide (shared, difference)         relative rms error of a ring in fp32, rounded to bf16 at
                                            the end
    sent_bytes_ring (bytes)                 by this rank in a ring all-reduce, in bf16
    sent_bytes_owner (bytes)                by this rank if bf16 goes to its chunk's owner, then to
                                            all
    sent_bytes_wide (bytes)                 by this rank in a ring all-reduce, in fp32
    error_fp32_ring (shared, difference)    relative rms error of a ring in fp32
    error_fp32_halves (shared, difference)  relative rms error of a reduce-scatter, then an
                                            all-gather, in fp32
    error_chain (shared, ratio)             error of `parts` bf16 gradients added in a chain, over
                                            rounding once
    error_pairs (shared, ratio)             error of `parts` bf16 gradients added in pairs, over
                                            rounding once
    error_parts (shared, difference)        relative rms error of the sum of `parts` bf16 gradients,
                                            rounded once

Run
    quizkit demo all-reduce-rounding --gpus 4
    python demos/all_reduce_rounding.py --ranks 8 --gradient 10000 --parts 256
    torchrun --nproc-per-node 4 demos/all_reduce_rounding.py
"""

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, all_reduce, device, everyone, exchange, max_error, rank, ranks
from _bench import ring_gather, ring_scatter_sum, ring_sum, wire

import torch
from torch import Tensor

TOPIC = "comm"


def chain(parts: list[Tensor]) -> Tensor:
    """One after the other, as a path round the ring adds; rounded at each step."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def in_pairs(parts: list[Tensor]) -> Tensor:
    """Neighbours first, then their sums: as many levels as log2 of the parts, rounded up."""
    while len(parts) > 1:
        parts = [chain(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def gathered_sum(part: Tensor) -> Tensor:
    """Every rank gets every part and adds them all up, in the same order as the others."""
    parts = all_gather(part)
    return chain(parts)


def halves_sum(part: Tensor) -> Tensor:
    """Reduce-scatter, then all-gather: here the path of chunk c begins at rank c + 1."""
    return ring_gather(ring_scatter_sum(part))


def owner_sum(part: Tensor) -> Tensor:
    """Chunk c of everybody goes to rank c, is added up there, rounded, and sent to all."""
    me, n = rank(), ranks()
    chunks = part.chunk(n)
    arrived = {me: chunks[me]}
    for step in range(1, n):
        to, source = (me + step) % n, (me - step) % n
        arrived[source] = exchange(chunks[to], to, torch.empty_like(chunks[me]), source).wait()
    wide = [arrived[source].float() for source in range(n)]
    return ring_gather(chain(wide).to(part.dtype))


def mean(gradient: Tensor) -> Tensor:
    """Divided before it is summed: a sum of fp16 gradients may not fit into fp16."""
    return ring_sum(gradient / ranks())


def main(
    elements: int = 4800,  # elements each rank brings to a sum, a multiple of the ranks
    parts: int = 64,  # gradients, as of so many ranks, in sums that a rank does by itself
    ones: int = 1024,  # ones in a sum, as from so many ranks
    gradient: float = 20_000.0,  # what every rank brings to the fp16 mean, in each element
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """The same sums by several ways: whose bits agree, and what few bits do to them."""
    n = ranks()
    if elements < n or elements % n:
        near = max(elements // n, 1) * n
        refuse(f"{n} ranks cannot cut {elements} elements evenly: use {near} or {near + n}")
    if parts < 2 or ones < 1:
        refuse(f"parts is {parts} and ones is {ones}: take 2 parts and 1 one, or more")
    if not abs(gradient) <= 60_000:
        refuse(f"gradient is {gradient}: fp16 ends at 65,504, take -60,000 to 60,000")
    half = torch.bfloat16
    wide = torch.float32
    fp64 = torch.float64
    torch.manual_seed(seed + 1000 * rank())
    part = torch.randn(elements, dtype=wide).to(device())
    whole = torch.randint(-(2**40), 2**40, (elements,)).to(device())

    # 1. Whose bits are the same?
    ring = ring_sum(part)
    gathered = gathered_sum(part)
    everybodys = all_gather(part)
    unlike = unlike_rank_0(ring)
    again = int((bits(ring_sum(part)) != bits(ring)).sum())
    ways = {"halves": halves_sum(part), "gathered": gathered, "pairs": in_pairs(everybodys)}
    integers = [halves_sum(whole), gathered_sum(whole), in_pairs(all_gather(whole))]
    differ_integers = sum(share(other, ring_sum(whole)) for other in integers)
    precise = part.to(fp64)
    truth = all_reduce(precise.clone())
    results = [way(precise) for way in (ring_sum, halves_sum, gathered_sum)]
    results.append(in_pairs(all_gather(precise)))
    errors = [max_error(result, truth) for result in results]
    check("in fp64 all are all_reduce", torch.tensor(errors).max().item(), "<", 1e-12)
    check("parts differ from rank to rank", unlike_rank_0(part), "==", n - 1)
    check("the ring leaves the same bits on every rank", unlike, "==", 0)
    check("the same ring gives the same bits again", again, "==", 0)
    check("so do sums of gathered parts", unlike_rank_0(gathered), "==", 0)
    check("the ring adds in a chain", share(path_sum(everybodys, 0), ring), "==", 0)
    further = path_sum(everybodys, 1)
    check("halves begin one rank further", share(further, ways["halves"]), "==", 0)
    check("integers are the same any way", differ_integers, "==", 0)

    # 2. As many ranks as parts: each rank plays them all.
    torch.manual_seed(seed)
    drawn = list(torch.randn(parts, 2400, device=device()))
    gradients = [one.to(half) for one in drawn]
    total = torch.stack(gradients).to(fp64).sum(0)
    error_parts = off(total.to(half), total)
    dealt = [chain(drawn[i : i + 2]) for i in range(0, parts, 2)]
    check("half the ranks hold two gradients each", len(dealt), "==", (parts + 1) // 2)
    a_one = {dtype: torch.ones(1, dtype=dtype, device=device()) for dtype in (half, torch.float16)}
    counts = {dtype: chain([one] * ones).item() for dtype, one in a_one.items()}

    check("ones end where one is half a step", counts[half], "==", min(ones, 256))

    # 3. A mean in fp16.
    equal = torch.full((elements,), gradient, dtype=torch.float16, device=device())
    sum_first = ring_sum(equal) / n
    divide_first = mean(equal)
    lost = [int((~x.isfinite()).sum()) for x in (sum_first, divide_first)]
    mean_first = divide_first[0].item()
    due = equal[0].item()
    overflows = int((~chain([equal] * n).isfinite()).sum())
    check("summed first, it is lost where a chain overflows", lost[0], "==", overflows)
    check("divided first, the mean is finite", lost[1], "==", 0)
    # 1e-6: what the smallest numbers of fp16 lose when they are divided.
    check("and near the gradient", abs(mean_first - due), "<=", 0.02 * abs(due) + 1e-6)

    # 4. In bf16, what travels is rounded.
    narrow = part.to(half)
    exact = all_reduce(narrow.to(fp64))
    rounded = {"once": exact.to(half)}
    sent = {}
    for name, way in {"ring": ring_sum, "owner": owner_sum, "wide": ring_sum}.items():
        with wire() as counts_sent:
            rounded[name] = way(narrow.to(wide) if name == "wide" else narrow).to(half)
        sent[name] = counts_sent.sent_bytes
    errors = {name: off(result, exact) for name, result in rounded.items()}
    check("added by the owner, sums are rounded once", errors["owner"], "<=", 1.02 * errors["once"])
    check("for the bytes of the ring", sent["owner"], "==", sent["ring"])
    check("fp32 costs twice the bytes", sent["wide"], "==", 2 * sent["ring"])

    # Rounding is the subject: no difference is too small to count, so no error has a floor.
    return {
        "unlike": shared(counted(unlike)),
        "rerun_differ": shared(counted(again)),
        **{f"differ_{name}": shared(counted(worst(share(x, ring)))) for name, x in ways.items()},
        "differ_integers": shared(counted(differ_integers)),
        "differ_dealt": shared(counted(share(chain(dealt), chain(drawn)))),
        "ones_bf16": shared(counted(counts[half])),
        "ones_fp16": shared(counted(counts[torch.float16])),
        "ones_pairs": shared(counted(in_pairs([a_one[half]] * ones).item())),
        "lost_sum_first": shared(counted(lost[0])),
        "lost_divide_first": shared(counted(lost[1])),
        "mean_divide_first": shared(counted(mean_first)),
        **{f"error_{name}": shared(compared(error, floor=0)) for name, error in errors.items()},
        **{f"sent_bytes_{name}": counted(count) for name, count in sent.items()},
        "error_fp32_ring": shared(compared(worst(off(ring, truth)), floor=0)),
        "error_fp32_halves": shared(compared(worst(off(ways["halves"], truth)), floor=0)),
        "error_chain": shared(compared(off(chain(gradients), total) / error_parts, floor=0)),
        "error_pairs": shared(compared(off(in_pairs(gradients), total) / error_parts, floor=0)),
        "error_parts": shared(compared(error_parts, floor=0)),
    }


# Below: what the results are held against.


def path_sum(parts: list[Tensor], first: int) -> Tensor:
    """What a ring's paths come to, from everybody's parts: chunk c begins at rank c + first."""
    n = len(parts)
    cut = [part.chunk(n) for part in parts]
    return torch.cat([chain([cut[(c + first + hop) % n][c] for hop in range(n)]) for c in range(n)])


def bits(tensor: Tensor) -> Tensor:
    """As integers: two NaNs can be the same bits, and 0.0 == -0.0 are not."""
    views = {2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(views[tensor.element_size()])


def unlike_rank_0(result: Tensor) -> int:
    """How many ranks hold other bits than rank 0 does."""
    first, *others = all_gather(bits(result))
    return sum(not torch.equal(first, other) for other in others)


def share(one: Tensor, other: Tensor) -> float:
    """How much of two results has different bits."""
    return (bits(one) != bits(other)).double().mean().item()


def off(result: Tensor, exact: Tensor) -> float:
    """Root mean square error, relative to the sum."""
    return ((result.double() - exact).norm() / exact.norm()).item()


def worst(mine: float) -> float:
    """The largest of what the ranks found: only a bug makes it differ from rank to rank."""
    return everyone(mine).max().item()


BREAKS = {
    "own-part-first": Break(
        old="    return chain(parts)",
        new="    return chain(parts[rank() :] + parts[: rank()])",
        expect="so do sums of gathered parts",
        ranks=3,
        source="each rank begins with what it has at hand; parameters then drift apart",
    ),
    "sum-first": Break(
        old="    return ring_sum(gradient / ranks())",
        new="    return ring_sum(gradient) / ranks()",
        expect="divided first, the mean is finite",
        ranks=4,
        source="the mean as the textbook writes it; 80,000 is beyond fp16, 20,000 is not",
    ),
    "added-narrow": Break(
        old="    wide = [arrived[source].float() for source in range(n)]",
        new="    wide = [arrived[source] for source in range(n)]",
        expect="added by the owner, sums are rounded once",
        ranks=3,
        source="an accumulator in the dtype of what arrives; with two ranks nothing is lost",
    ),
}

if __name__ == "__main__":
    run(__file__)
