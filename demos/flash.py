"""FlashAttention moves N^2 d^2 / M numbers, not N^2; its second version turns the loops round.

The trick
    A kernel loads tiles from slow memory (HBM), works on chip and stores tiles back; load and store
    count what they move. Plain attention hands N x N matrices from kernel to kernel that way; flash
    stores no score. Version 1 has K/V outside: queries pass by tile after tile, and each time their
    output is loaded, rescaled, divided and stored. Version 2 has queries outside: the output stays
    on chip unnormalised, is divided and stored once, and one lse per row is enough for backward.
    Both do the same matrix products. With --causal they leave out the tiles that lie wholly ahead;
    plain attention computes them and hides them. The ranks share the heads. With --pack the query
    heads of a group share each tile of K and V that is loaded.

Watch
    out_error (shared, difference)             of either version from plain attention, in fp64,
        largest
    grad_error (shared, difference)            of dq, dk, dv from plain attention: torch's backward
        on version 2's out, lse
    sdpa_error (shared, difference)            of either version from torch's attention, largest
    traffic_plain (shared, elements, forward)  loaded and stored by plain attention, over all heads
    flops_plain (shared, FLOPs, forward)       of plain attention's matrix products, over all heads,
        hidden pairs included
    traffic_v1 (shared, elements, forward)     loaded and stored by version 1, over all heads
    q_loads_v1 (shared, elements, forward)     queries that version 1 loads, over all heads
    kv_loads_v1 (shared, elements, forward)    keys and values that version 1 loads, over all heads
    o_loads_v1 (shared, elements, forward)     outputs that version 1 loads, over all heads
    o_stores_v1 (shared, elements, forward)    outputs that version 1 stores, over all heads
    divisions_v1 (shared, elements, forward)   outputs that version 1 divides, over all heads
    tiles_v1 (shared, blocks, forward)         tiles of scores that version 1 computes, over all
        heads
    flops_v1 (shared, FLOPs, forward)          of version 1's matrix products, over all heads; tiles
        wholly ahead are left out under --causal
    traffic_v2 (shared, elements, forward)     loaded and stored by version 2, over all heads
    q_loads_v2 (shared, elements, forward)     queries that version 2 loads, over all heads
    kv_loads_v2 (shared, elements, forward)    keys and values that version 2 loads, over all heads
    o_loads_v2 (shared, elements, forward)     outputs that version 2 loads, over all heads: none
    o_stores_v2 (shared, elements, forward)    outputs that version 2 stores, over all heads
    divisions_v2 (shared, elements, forward)   outputs that version 2 divides, over all heads
    tiles_v2 (shared, blocks, forward)         tiles of scores that version 2 computes, over all
        heads; a packed group's is one
    flops_v2 (shared, FLOPs, forward)          of version 2's matrix products, over all heads; tiles
        wholly ahead are left out under --causal
    on_chip (shared, elements, forward)        most that version 2 held on chip at once: q, k, v,
        out, scores; no row's maximum or sum

Run
    quizkit demo flash --gpus 2
    python demos/flash.py --ranks 1 --seq 512 --causal --kv-heads 1
    torchrun --nproc-per-node 2 demos/flash.py
"""

from collections import Counter
from dataclasses import dataclass

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "attention"
REGIME = ("causal",)


def flash_1(chip: "Machine", shape: "Shape") -> None:
    """K/V outside. Each row's output, maximum and sum wait in slow memory for the next tile."""
    for head in range(shape.heads):
        for cols in tiles(shape.keys, shape.block_k):
            k = chip.load("k", head // shape.group, cols)
            v = chip.load("v", head // shape.group, cols)
            for rows in tiles(shape.queries, shape.block_q):
                if shape.causal and rows.stop + shape.keys - shape.queries <= cols.start:
                    continue  # the whole tile lies ahead of these rows
                q, out = chip.load("q", head, rows), chip.load("out", head, rows)
                peak, total = chip.load("peak", head, rows), chip.load("total", head, rows)
                scores = score(chip, q, k, rows, cols, shape)
                higher = torch.maximum(peak, scores.amax(-1, keepdim=True))
                shrink, weights = torch.exp(peak - higher), torch.exp(scores - higher)
                larger = shrink * total + weights.sum(-1, keepdim=True)
                # What lies in memory was divided by the old sum: undo that, then divide by the new.
                out = chip.divide(total * shrink * out + chip.matmul(weights, v), larger)
                chip.store("out", head, rows, out)
                chip.store("peak", head, rows, higher)
                chip.store("total", head, rows, larger)


def flash_2(chip: "Machine", shape: "Shape") -> None:
    """Queries outside. No tile of rows needs another, so each may be a thread block of its own."""
    served = shape.group if shape.pack else 1  # heads that use a K/V tile while it is on chip
    for head in range(0, shape.heads, served):
        kv_head = head // shape.group
        heads = range(head, head + served)
        for rows in tiles(shape.queries, shape.block_q):
            q = torch.cat([chip.load("q", each, rows) for each in heads])
            peak, total = torch.full_like(q[:, :1], -torch.inf), torch.zeros_like(q[:, :1])
            out = torch.zeros_like(q)
            seen = rows.stop + shape.keys - shape.queries if shape.causal else shape.keys
            for cols in tiles(shape.keys, shape.block_k):
                if cols.start >= seen:
                    break  # the whole tile lies ahead of these rows, and so do all after it
                k, v = chip.load("k", kv_head, cols), chip.load("v", kv_head, cols)
                scores = score(chip, q, k, rows, cols, shape)
                higher = torch.maximum(peak, scores.amax(-1, keepdim=True))
                shrink, weights = torch.exp(peak - higher), torch.exp(scores - higher)
                total = shrink * total + weights.sum(-1, keepdim=True)
                out = shrink * out + chip.matmul(weights, v)
                peak = higher
                chip.hold(q, k, v, out, scores)
            out, lse = chip.divide(out, total), peak + total.log()
            for i, each in enumerate(heads):
                chip.store("out", each, rows, out.chunk(served)[i])
                chip.store("lse", each, rows, lse.chunk(served)[i])


def score(
    chip: "Machine", q: Tensor, k: Tensor, rows: slice, cols: slice, shape: "Shape"
) -> Tensor:
    """One tile of scores, -inf where a row would look ahead. The scale is in q already."""
    row = torch.arange(rows.start, rows.stop, device=q.device) + shape.keys - shape.queries
    row = row.repeat(len(q) // len(row)).unsqueeze(1)  # once for each head in q
    col = torch.arange(cols.start, cols.stop, device=q.device)
    chip.done["tiles"] += 1
    chip.visited.add((rows.start, cols.start))
    return chip.matmul(q, k.T).masked_fill(shape.causal & (col > row), -torch.inf)


def tiles(length: int, block: int) -> list[slice]:
    """The places from 0 to length, a block at a time."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


@dataclass(frozen=True)
class Shape:
    """Heads, tokens and tiles: query head h reads the keys of head h // group."""

    heads: int
    group: int
    queries: int
    keys: int
    block_q: int
    block_k: int
    causal: bool
    pack: bool = False

    def __post_init__(self) -> None:
        # Causal: the last query stands where the last key does, whatever came before (a cache).
        if self.causal and self.queries > self.keys:
            raise ValueError(
                f"causal, the first of {self.queries} queries see none of {self.keys} keys"
            )


class Machine:
    """Slow memory and a chip beside it. Whatever crosses between them is counted."""

    def __init__(self, **memory: Tensor) -> None:
        self.memory = memory
        self.on_chip = 0
        self.moved: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.visited: set[tuple[int, int]] = set()  # where tiles of scores began

    def load(self, name: str, head: int, place: slice) -> Tensor:
        """A copy of a tile, on chip, where sums take fp32 at least."""
        tile = self.memory[name][head, place]
        self.moved[f"{name} in"] += tile.numel()
        return tile.to(torch.promote_types(tile.dtype, torch.float32), copy=True)

    def store(self, name: str, head: int, place: slice, tile: Tensor) -> None:
        """Write a tile back."""
        self.moved[f"{name} out"] += tile.numel()
        self.memory[name][head, place] = tile

    def matmul(self, a: Tensor, b: Tensor) -> Tensor:
        """A matrix product, two FLOPs for each multiply-add."""
        self.done["flops"] += 2 * a.numel() * b.shape[-1]
        return a @ b

    def divide(self, out: Tensor, total: Tensor) -> Tensor:
        """Normalise a tile of outputs."""
        self.done["divisions"] += out.numel()
        return out / total

    def hold(self, *tiles: Tensor) -> None:
        """Note what is on chip now."""
        self.on_chip = max(self.on_chip, sum(tile.numel() for tile in tiles))


def main(
    seq: int = 96,  # tokens, each a query and a key
    block_q: int = 16,  # query rows of a tile
    block_k: int = 16,  # keys of a tile, with their values
    kv_heads: int = 8,  # K/V heads in all, dealt out to the ranks, one at least to each
    group: int = 2,  # query heads that read the same K/V head; 1 is MHA
    dim: int = 16,  # features of a head
    causal: bool = False,  # whether a query looks at no later key; plain computes those pairs too
    pack: bool = False,  # whether a group's query heads share the K/V tiles version 2 loads
) -> Metrics:
    """Both versions in this rank's heads, against plain attention and torch's."""
    if min(seq, block_q, block_k, group, dim) < 1 or kv_heads < ranks():
        refuse(f"sizes start at 1, and kv-heads at {ranks()}: one for each rank")
    mine = list(range(rank(), kv_heads, ranks()))  # with all query heads that read these keys
    drawn = torch.randn(2 * group + 2, kv_heads, seq, dim, dtype=torch.float64)[:, mine]
    k, v, *rest = drawn.to(device())
    q, dout = (torch.stack(x, 1).flatten(0, 1) for x in (rest[:group], rest[group:]))
    q /= dim**0.5
    shape = Shape(len(q), group, seq, seq, block_q, block_k, causal, pack)
    ahead = torch.ones(seq, seq, dtype=torch.bool, device=device()).triu(1) & causal

    def machine(**more: Tensor) -> Machine:
        return Machine(**{"q": q, "k": k, "v": v, "out": torch.zeros_like(q)} | more)

    column = torch.zeros_like(q[..., :1])
    square = q.new_zeros(len(q), seq, seq)
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    whole = machine(scores=square, weights=square.clone(), **dict(zip("qkv", leaves, strict=True)))
    first = machine(peak=column - torch.inf, total=column.clone())
    second = machine(lse=column)
    plain(whole, shape, ahead)
    flash_1(first, shape)
    flash_2(second, shape)
    truth = whole.memory["out"]
    outs = [first.memory["out"], second.memory["out"]]
    textbook = torch.autograd.grad((truth * dout).sum(), leaves)
    ours = backward_of_torch(dout, q, k, v, outs[1], column[..., 0], causal)
    sdpa = scaled_dot_product_attention(q, k, v, is_causal=causal, scale=1.0, enable_gqa=True)
    errors = {
        "out_error": max_error(torch.cat(outs), torch.cat([truth, truth]).detach()),
        "grad_error": max_error(torch.cat(ours), torch.cat(textbook)),
        "sdpa_error": max_error(torch.cat(outs), torch.cat([sdpa, sdpa])),
    }
    errors = {name: everyone(error).max().item() for name, error in errors.items()}
    check("outputs equal plain attention", errors["out_error"], "<", 1e-12)
    check("outputs equal torch's attention", errors["sdpa_error"], "<", 1e-12)
    check("gradients from output and lse equal plain attention's", errors["grad_error"], "<", 1e-12)
    served = group if pack else 1
    grid = [(rows, cols) for rows in tiles(seq, block_q) for cols in tiles(seq, block_k)]
    met = len(q) * sum(not ahead[rows][:, cols].all() for rows, cols in grid)
    cells = [
        [
            ((rows.start, cols.start) in second.visited) * (2 - bool(ahead[rows][:, cols].any()))
            for cols in tiles(seq, block_k)
        ]
        for rows in tiles(seq, block_q)
    ]
    legend = ("never computed", "computed, masked in part", "computed as a whole")
    title = "tiles of scores that version 2 computes"
    picture("tiles", title, cells=cells, legend=legend, down="queries", across="keys")
    check("version 1 visits the tiles with a pair to see", first.done["tiles"], "==", met)
    check("version 2 visits the tiles with a pair to see", second.done["tiles"], "==", met / served)
    check("version 2 stores an output once", second.moved["out out"], "==", q.numel())

    found = {"traffic_plain": whole.moved.total(), "flops_plain": whole.done["flops"]}
    for version, chip in (("v1", first), ("v2", second)):
        found |= {
            f"traffic_{version}": chip.moved.total(),
            f"q_loads_{version}": chip.moved["q in"],
            f"kv_loads_{version}": chip.moved["k in"] + chip.moved["v in"],
            f"o_loads_{version}": chip.moved["out in"],
            f"o_stores_{version}": chip.moved["out out"],
            f"divisions_{version}": chip.done["divisions"],
            f"tiles_{version}": chip.done["tiles"],
            f"flops_{version}": chip.done["flops"],
        }
    counts = all_reduce(torch.tensor(list(found.values()), device=device())).tolist()
    metrics = {name: shared(compared(error)) for name, error in errors.items()}
    metrics |= {name: shared(counted(n)) for name, n in zip(found, counts, strict=True)}
    return metrics | {"on_chip": shared(counted(second.on_chip))}


def plain(chip: "Machine", shape: "Shape", ahead: Tensor) -> None:
    """Three kernels that hand each other whole matrices, each granted a single read of each."""
    rows, cols = slice(0, shape.queries), slice(0, shape.keys)
    for head in range(shape.heads):
        k = chip.load("k", head // shape.group, cols)
        scores = chip.matmul(chip.load("q", head, rows), k.T)
        chip.store("scores", head, rows, scores.masked_fill(ahead, -torch.inf))
        chip.store("weights", head, rows, chip.load("scores", head, rows).softmax(-1))
        v = chip.load("v", head // shape.group, cols)
        chip.store("out", head, rows, chip.matmul(chip.load("weights", head, rows), v))


def backward_of_torch(dout, q, k, v, out, lse, causal: bool) -> list[Tensor]:
    """What torch's own kernel makes of the output and lse that version 2 leaves it."""
    assert not causal or q.shape[1] == k.shape[1], "torch's mask begins at the first key"
    group = len(q) // len(k)
    k, v = (x.repeat_interleave(group, 0) for x in (k, v))
    batch = [x[None].cpu() for x in (dout, q, k, v, out, lse)]
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    dq, *shared_by = (x[0].to(q.device) for x in kernel(*batch, 0.0, causal, scale=1.0))
    # Heads that read the same keys add up what they owe them.
    return [dq, *(x.unflatten(0, (-1, group)).sum(1) for x in shared_by)]


BREAKS = {
    "divided-twice": Break(
        old="                out = shrink * out + chip.matmul(weights, v)",
        new="                out = chip.divide(shrink * out + chip.matmul(weights, v), total)",
        expect="outputs equal plain attention",
        ranks=1,
        source="version 1's division kept in the loop, though one comes after the loop as well",
    ),
    "one-tile-short": Break(
        old="if cols.start >= seen:",
        new="if cols.stop >= seen:",
        expect="outputs equal plain attention",
        ranks=1,
        source="a loop bound that compares a tile's end: the tile on the diagonal is lost",
    ),
    "lse-without-maximum": Break(
        old="peak + total.log()",
        new="total.log()",
        expect="gradients from output and lse equal plain attention's",
        ranks=1,
        source="log of the running sum, which is relative to the running maximum",
    ),
    "wrong-kv-head": Break(
        old="kv_head = head // shape.group",
        new="kv_head = head % (shape.heads // shape.group)",
        expect="outputs equal plain attention",
        ranks=1,
        source="keys repeated as a whole, abab, where each has to be repeated in place, aabb",
    ),
}

if __name__ == "__main__":
    run(__file__)
