"""Sums in fewer bits: fp16 halves the bytes; int8 wraps at the first addition, unless widened.

The trick
    A cast to fp16, a division by N so that the sum fits, the sum, and back: half the bytes of fp32,
    by register_comm_hook(state, hook) of DDP; the hook's second parameter has to be named bucket.

    int8 is a code with a scale, q = round(x / s). 127 + 127 does not fit in it: a ring that adds
    codes wraps. Scales N times as large keep room for the sum and lose log2 N bits. Or each hop
    takes the code apart, adds in fp32 and rounds again: N roundings. Or all parts of a chunk go to
    its owner, who adds them in fp32 and rounds once. Both send a quarter of fp32's bytes. Gathering
    all codes everywhere sends (N-1)n bytes: from N = 8 on no less than fp32's ring.

Watch
    sent_bytes_fp32 (bytes)             sent by this rank in a ring in fp32, for the whole gradient
    sent_bytes_fp16 (bytes)             sent by this rank in a ring in fp16
    sent_bytes_codes (bytes)            sent by this rank in a ring that adds int8 codes
    sent_bytes_hops (bytes)             sent by this rank in a ring that rounds at every hop, with
        scales
    sent_bytes_owner (bytes)            sent by this rank if a chunk's owner adds it up, with scales
    sent_bytes_all (bytes)              sent by this rank if every rank's codes go to every rank,
        with scales
    wrapped (shared, elements)          entries of the int8 ring that are not the sum of the codes
    first_entry (shared, value)         the int8 ring's sum of codes that are 127 on every rank
    error_fp16 (shared, difference)     relative, of the mean from the exact one: fp16
    error_wrapped (shared, difference)  relative, of the mean from the exact one: int8 codes that
        wrap
    error_room (shared, difference)     relative, of the mean from the exact one: codes with N times
        the scale
    error_hops (shared, difference)     relative, of the mean from the exact one: rounding at every
        hop
    error_owner (shared, difference)    relative, of the mean from the exact one: rounding before
        and after it
    error_all (shared, difference)      relative, of the mean from the exact one: rounding once
    same_as_hook (yes/no)               whether our fp16 hook's gradient is torch's
        fp16_compress_hook's, bit for bit
    takes_flag (shared, count)          how many of compression= and comm_hook= DDP(model, ...) does
        not refuse
    strangers (shared, ranks)           whose results are not bit for bit those of rank 0

Run
    quizkit demo quantised-sum --gpus 4
    python demos/quantised_sum.py --ranks 3 --elements 1000
    torchrun --nproc-per-node 4 demos/quantised_sum.py
"""

from functools import partial

from _bench import Break, Metrics, check, compared, counted, identical, refuse, run, shared
from _bench import all_gather, device, everyone, exchange, max_error, rank, ranks, ring_gather
from _bench import ring_sum, wire

import torch
import torch._dynamo  # DDP wants it: here it is imported once, before the ranks are forked
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.functional import pad
from torch.nn.parallel import DistributedDataParallel

TOPIC = "compress"
HALF = torch.float16


def half_hook(state, bucket):
    """What DDP calls with each full bucket instead of its own all-reduce: half the bytes."""
    # Before the sum: it would not fit where the mean does. fp16 ends at 65504.
    half = bucket.buffer().to(HALF).div_(ranks())
    flight = dist.all_reduce(half, group=state, async_op=True).get_future()
    return flight.then(lambda done: done.value()[0].to(bucket.buffer().dtype))


def sum_codes(row, top):
    """Add int8 codes of at most `top` in a ring, on one scale: their sum, and the mean it means."""
    scale = everyone(row.abs().max().item()).max().float().to(row.device) / top
    total = ring_sum(encode(row, scale)[0])
    return total, total * scale / ranks()


def sum_hops(row):
    """A ring whose every hop unpacks what comes, adds its own part in fp32 and packs the sum."""
    n, chunks, right = ranks(), row.view(ranks(), -1), (rank() + 1) % ranks()
    passing = pack(chunks[rank()])
    for hop in range(1, n):
        passing = exchange(passing, right, torch.empty_like(passing), (rank() - 1) % n).wait()
        passing = pack(unpack(passing) + chunks[(rank() - hop) % n])
    return publish(passing).roll(1, 0).flatten() / n  # rank r has finished chunk r + 1


def sum_owner(row):
    """Chunk r of every rank goes to rank r, which adds them in fp32 and packs the sum once."""
    n, chunks = ranks(), row.view(ranks(), -1)
    parts = {rank(): pack(chunks[rank()])}
    for far in range(1, n):
        to, source = (rank() + far) % n, (rank() - far) % n
        flight = exchange(pack(chunks[to]), to, torch.empty_like(parts[rank()]), source)
        parts[source] = flight.wait()
    total = torch.stack([unpack(parts[each]) for each in range(n)]).sum(0)
    return publish(pack(total)).flatten() / n


def sum_all(row):
    """Every rank's codes to every rank: nothing is rounded twice."""
    return publish(pack(row)).sum(0) / ranks()


def publish(message):
    """All ranks' finished chunks, unpacked: the owner, too, goes on with what the others get."""
    return torch.stack([unpack(each) for each in ring_gather(message).view(ranks(), -1)])


def encode(row, scale=None):
    """int8 codes and their scale: the largest entry becomes 127."""
    scale = (row.abs().max() / 127).clamp(min=1e-30) if scale is None else scale
    return (row / scale).round().clamp(-127, 127).to(torch.int8), scale


def pack(row):
    """A message: the codes of a row, and behind them their scale."""
    codes, scale = encode(row)
    return torch.cat([codes.view(torch.uint8), scale.reshape(1).view(torch.uint8)])


def unpack(message):
    """What the codes of a message stand for."""
    return message[:-4].view(torch.int8) * message[-4:].clone().view(torch.float32)


def ddp_gradient(gradient, hook):
    """The gradient after DDP has had the hook combine it."""
    where = torch.device("cpu") if dist.get_backend() == "gloo" else device()  # gloo: host only
    model = DistributedDataParallel(torch.nn.Linear(len(gradient), 1, bias=False).to(where))
    model.register_comm_hook(None, hook)
    model(gradient.to(where)).sum().backward()  # of w * x, the gradient is x
    return model.module.weight.grad[0].to(device())


def accepted(keywords):
    """How many of the arguments said to turn compression on DDP's constructor knows."""
    known = 0
    for keyword in keywords:
        try:
            option = {keyword: fp16_compress_hook}
            DistributedDataParallel(torch.nn.Linear(1, 1), **option)  # pyright: ignore
            known += 1
        except TypeError:
            continue
    return known


def main(
    elements: int = 1200,  # entries of the gradient
    spread: float = 0.5,  # standard deviation of what each rank has of its own; of the rest it is 1
    peak: float = 40000.0,  # largest entry on every rank, after scaling
) -> Metrics:
    """Average gradients that are alike but for a spread; loss scaling has made them large."""
    if elements < 1 or not (0 <= spread <= 100 and 1e-9 <= peak <= 60000):
        refuse("take 1 element or more, a spread of 0 to 100 and a peak of 1e-9 to 60000")
    if ranks() > 127:
        refuse("127 codes are too few for more than 127 ranks: take 127 or fewer")
    n, alike = ranks(), torch.randn(elements)
    torch.manual_seed(1 + rank())
    drawn = alike + spread * torch.randn(elements)
    drawn[0] = drawn.abs().max()  # the largest on every rank, and of the same sign
    row = pad(drawn / drawn[0] * peak, (0, -elements % n)).to(device())
    rows = torch.stack(all_gather(row))
    exact, chunk = rows.double().mean(0), len(row) // n

    def error(mean):
        return everyone(((mean.double() - exact).norm() / exact.norm()).item()).max().item()

    tops = {"wrapped": 127, "room": 127 // n}
    ways = {
        "fp32": lambda: ring_sum(row) / n,
        "fp16": lambda: ring_sum(row.half() / n).float(),
        "wrapped": partial(sum_codes, row, tops["wrapped"]),
        "room": partial(sum_codes, row, tops["room"]),
        "hops": partial(sum_hops, row),
        "owner": partial(sum_owner, row),
        "all": partial(sum_all, row),
    }
    means, sent, totals = {}, {}, {}
    for name, way in ways.items():
        with wire() as wired:
            found = way()
        sent[name] = wired.sent_bytes
        if name in tops:
            totals[name], found = found
        means[name] = found
    check("fp32: equals the mean", error(means["fp32"]), "<", 1e-6)
    # 11 bits of each of n parts and their sums, nothing finer than 2^-24: the smallest vanish.
    bound = peak * (n + 3) * 2**-12 + n * 2**-24
    check("fp16: nearly the mean", max_error(means["fp16"], exact) / bound, "<", 1)
    for name, mean in zip(("hops", "owner", "all"), one_process(rows), strict=True):
        check(f"{name}: equals one process", max_error(means[name], mean) / peak, "<", 1e-7)
    check("fp16: half the bytes", 2 * sent["fp16"], "==", sent["fp32"])
    check("codes: a quarter of the bytes", 4 * sent["wrapped"], "==", sent["fp32"])
    for name in ("hops", "owner"):
        check(f"{name}: 1 byte an entry, 4 a scale", sent[name], "==", 2 * (n - 1) * (chunk + 4))

    def unlike(name):
        """Entries of the int8 ring that are not the sum of the codes."""
        codes = encode(rows, rows.abs().max() / tops[name])[0].int().sum(0)
        return int((totals[name].int() != codes).sum())

    check("with room no sum wraps", unlike("room"), "==", 0)
    off = max_error(means["room"], exact) * tops["room"] / peak
    check("room: half a code off", off, "<", 0.501)
    results = torch.stack([means[name] for name in ("fp16", "hops", "owner", "all")])
    differ = int(everyone(int(max_error(results, all_gather(results)[0]) > 0)).sum())
    check("all ranks hold the same bits", differ, "==", 0)
    ours, theirs = (ddp_gradient(row, hook) for hook in (half_hook, fp16_compress_hook))
    check("our hook equals torch's", max_error(ours, theirs), "==", 0)
    return {
        "sent_bytes_fp32": counted(sent["fp32"]),
        "sent_bytes_fp16": counted(sent["fp16"]),
        "sent_bytes_codes": counted(sent["wrapped"]),
        "sent_bytes_hops": counted(sent["hops"]),
        "sent_bytes_owner": counted(sent["owner"]),
        "sent_bytes_all": counted(sent["all"]),
        "wrapped": shared(counted(unlike("wrapped"))),
        "first_entry": shared(counted(int(totals["wrapped"][0]))),
        **{f"error_{name}": shared(compared(error(means[name]), floor=0)) for name in [*ways][1:]},
        "same_as_hook": identical(torch.equal(ours, theirs)),
        "takes_flag": shared(counted(accepted(["compression", "comm_hook"]))),
        "strangers": shared(counted(differ)),
    }


def one_process(rows):
    """The three sums that widen before they add, with all ranks' rows in one place."""
    n, hops, owner = len(rows), [], []
    for chunk, parts in enumerate(rows.view(n, n, -1).unbind(1)):
        passing = rounded(parts[chunk])
        for far in range(1, n):
            passing = rounded(passing + parts[(chunk + far) % n])
        hops.append(passing)
        owner.append(rounded(torch.stack([*map(rounded, parts)]).sum(0)))
    everything = torch.stack([*map(rounded, rows)]).sum(0)
    return [torch.cat(hops) / n, torch.cat(owner) / n, everything / n]


def rounded(row):
    """On one process: to multiples of 1/127 of the largest entry."""
    scale = (row.abs().max() / 127).clamp(min=1e-30)
    return (row / scale).round() * scale


BREAKS = {
    "adds-codes": Break(
        old="passing = pack(unpack(passing) + chunks[(rank() - hop) % n])",
        new="own = pack(chunks[(rank() - hop) % n])\n"
        "        codes = passing[:-4].view(torch.int8) + own[:-4].view(torch.int8)\n"
        "        passing = torch.cat([codes.view(torch.uint8), own[-4:]])",
        expect="hops: equals one process",
        ranks=2,
        source="int8 handed to an ordinary all-reduce: it adds in the type it is given",
    ),
    "no-room-to-round": Break(
        old="scale = everyone(row.abs().max().item()).max().float().to(row.device) / top",
        new="top = 127 / (127 // top)\n"
        "    scale = everyone(row.abs().max().item()).max().float().to(row.device) / top",
        expect="with room no sum wraps",
        ranks=2,
        source="room for N codes of 127 / N: two of 63.5 are rounded to 64 and make 128",
    ),
    "foreign-scale": Break(
        old="unpack(parts[each]) for each",
        new="unpack(torch.cat([parts[each][:-4], parts[rank()][-4:]])) for each",
        expect="owner: equals one process",
        ranks=2,
        source="codes are sent without their scale and taken apart with the receiver's own",
    ),
    "owner-keeps-exact": Break(
        old="return publish(pack(total)).flatten() / n",
        new="done = publish(pack(total))\n    done[rank()] = total\n    return done.flatten() / n",
        expect="all ranks hold the same bits",
        ranks=2,
        source="the owner of a chunk keeps its sum as it was before rounding: the copies part",
    ),
    "divides-last": Break(
        old="half = bucket.buffer().to(HALF).div_(ranks())\n"
        "    flight = dist.all_reduce(half, group=state, async_op=True).get_future()\n"
        "    return flight.then(lambda done: done.value()[0].to(bucket.buffer().dtype))",
        new="half = bucket.buffer().to(HALF)\n"
        "    flight = dist.all_reduce(half, group=state, async_op=True).get_future()\n"
        "    return flight.then(lambda done: done.value()[0].to(bucket.buffer().dtype) / ranks())",
        expect="our hook equals torch's",
        ranks=2,
        source="a mean taken after the sum, as in fp32: the sum of two large gradients is inf",
    ),
    "another-name": Break(
        old="def half_hook(state, bucket):\n",
        new="def half_hook(state, gradients):\n    bucket = gradients\n",
        expect="crashes: KeyError",
        ranks=1,
        source="DDP looks the hook's second parameter up by its name, and that has to be bucket",
    ),
}

if __name__ == "__main__":
    run(__file__)
