"""A caching allocator keeps what is freed: reserved is not allocated, and free is not one piece.

The trick
    Asking the driver is slow, so what tensors free is kept, in segments, and dealt out again: a
    size is rounded up to 512 bytes, the smallest free block that fits is taken, and cut if enough
    is left over; free neighbours in a segment become one block. Up to 1 MiB comes from segments
    of 2 MiB, below 10 MiB from segments of 20, more from one of its own. The driver gets back
    segments that are free as a whole: if asked (empty_cache), or before the allocator gives up.
    So a request may fail although enough bytes are free, in many holes. Expandable segments grow
    by pages, and neighbours of all requests can join.

    These are the rules of torch's CUDA allocator, for one stream (docs: CUDA semantics, Memory
    management; the note that opens CUDACachingAllocator.cpp); the code is ours. What is dealt out
    is no fiction: a Transformer trains on the meta device, and each storage it makes and drops is
    written down in order. --longest is what batches are padded to; `varied` takes each batch at
    its own length. Workspaces of kernels are left out, and expandable pages freed in the middle.

Watch
    allocated_padded (shared, bytes)      most allocated at once, every batch --longest
    reserved_padded (shared, bytes)       of all segments at the end, every batch --longest
    steps_padded (shared, steps)          done within --capacity, every batch --longest
    allocated_varied (shared, bytes)      most allocated at once, lengths varied
    reserved_varied (shared, bytes)       of all segments at the end, lengths varied
    steps_varied (shared, steps)          done within --capacity, lengths varied
    allocated_expandable (shared, bytes)  most allocated at once, lengths varied, expandable
    reserved_expandable (shared, bytes)   of all segments at the end, lengths varied, expandable
    steps_expandable (shared, steps)      done within --capacity, lengths varied, expandable
    first_peak (shared, bytes)      most allocated in step 1, every batch --longest
    second_peak (shared, bytes)     most allocated in step 2, every batch --longest
    resident_1 (shared, bytes)      allocated when step 1 begins: the weights
    resident_2 (shared, bytes)      allocated when step 2 begins: the optimizer's states as well
    retries (shared, count)         cache emptied within --capacity, lengths varied, so often
    asked (shared, bytes)           found no room within --capacity, lengths varied; 0 if all did
    free_then (shared, bytes)       of --capacity not allocated when that found no room
    largest_then (shared, bytes)    largest piece of those: a free block, or what is not reserved
    left_trained (shared, bytes)    more allocated after a step whose loss went into a list
    left_judged (shared, bytes)     more allocated after a batch of validation, under no_grad
    left_graph (shared, bytes)      more allocated after a batch of validation, loss and graph kept
    one_allocated (shared, bytes)   for a single tensor of --single bytes
    one_reserved (shared, bytes)    for a single tensor of --single bytes, nothing reserved before
    resident_end (shared, bytes)    allocated between steps at the end, lengths varied
    emptied (shared, bytes)         still reserved then, after empty_cache

Run
    quizkit demo allocator
    python demos/allocator.py --capacity 1400 --longest 1024
    torchrun --nproc-per-node 1 demos/allocator.py
"""

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from _bench import Break, Metrics, check, counted, picture, refuse, run, shared, virtual_clock
from _bench.tape import Event, Tape

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

TOPIC = "memory"
MIB = 2**20
SMALL, PAGE = MIB, 20 * MIB


@dataclass(eq=False)
class Block:
    """Neighbouring bytes of a segment."""

    segment: "Segment"
    size: int
    free: bool = True


@dataclass(eq=False)
class Segment:
    """What the driver gave; a page is the least that it takes back."""

    small: bool
    page: int
    blocks: list[Block] = field(default_factory=list)


class OutOfMemoryError(MemoryError):
    """No block fits, and the driver has not enough left for a segment."""

    def __init__(self, size: int) -> None:
        super().__init__(f"Tried to allocate {size / MIB:.2f} MiB")
        self.size = size


class Allocator:
    """Segments, each a row of blocks, one after the other."""

    def __init__(self, capacity: int, expandable: bool = False) -> None:
        self.capacity, self.expandable = capacity, expandable
        self.segments: list[Segment] = []
        self.retries = 0

    def malloc(self, size: int) -> Block:
        """The smallest free block that fits, cut to size."""
        size = up(max(size, 1), 512)
        small = size <= SMALL
        block = self.best_fit(size, small)
        if block is None:
            self.grow(size, small)
            block = self.best_fit(size, small)
        assert block is not None
        rest = block.size - size
        if rest >= 512 if small or self.expandable else rest > SMALL:
            blocks = block.segment.blocks
            blocks.insert(blocks.index(block) + 1, Block(block.segment, rest))
            block.size = size
        block.free = False
        return block

    def best_fit(self, size: int, small: bool) -> Block | None:
        """The smallest free block of the pool that is large enough; the first of equal ones."""
        fits = [b for s in self.segments if s.small == small for b in s.blocks]
        fits = [b for b in fits if b.free and b.size >= size]
        return min(fits, key=lambda block: block.size, default=None)

    def grow(self, size: int, small: bool, last_try: bool = False) -> None:
        """Ask the driver for a segment, or for more pages of an expandable one."""
        page = 2 * MIB if small else PAGE
        room = page if size < 10 * MIB else up(size, 2 * MIB)
        row = next((s for s in self.segments if s.small == small and self.expandable), None)
        if self.expandable:
            spare = row.blocks[-1].size if row and row.blocks[-1].free else 0
            room = up(size - spare, page)
        if self.reserved() + room > self.capacity:
            if last_try:
                raise OutOfMemoryError(size)
            self.retries += 1
            self.empty_cache()
            return self.grow(size, small, last_try=True)
        if row is None:
            row = Segment(small, page if self.expandable else room)
            self.segments.append(row)
        row.blocks.append(Block(row, room))
        return self.join(row.blocks[-1])

    def free(self, block: Block) -> None:
        """Keep it for whoever comes next."""
        block.free = True
        self.join(block)

    def join(self, block: Block) -> None:
        """A free block and its free neighbours in the segment become one."""
        blocks = block.segment.blocks
        at = blocks.index(block)
        for other in [*blocks[at + 1 : at + 2], *blocks[max(at - 1, 0) : at]]:
            if other.free:
                block.size += other.size
                blocks.remove(other)

    def empty_cache(self) -> None:
        """Give back whole segments that are free; of expandable ones, free pages at the end."""
        for segment in self.segments:
            *others, last = segment.blocks
            before = sum(block.size for block in others)
            last.size = up(before, segment.page) - before if last.free else last.size
            segment.blocks = [*others, *[last] * (last.size > 0)]
        self.segments = [segment for segment in self.segments if segment.blocks]

    def reserved(self) -> int:
        """Bytes held from the driver."""
        return sum(block.size for segment in self.segments for block in segment.blocks)


def up(size: int, step: int) -> int:
    """The next multiple."""
    return -(-size // step) * step


class Replay:
    """Deals out what a tape asks for, and keeps how full it was in each phase."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator, self.held = allocator, dict[int | str, Block]()
        self.phases, self.allocated = list[SimpleNamespace](), 0

    def play(self, events: list[Event]) -> "Replay":
        """All of it, in order. Raises OutOfMemoryError where there is no room."""
        for kind, key, size in events:
            if kind == "mark":
                now = {"at": self.allocated, "peak": self.allocated}
                self.phases.append(SimpleNamespace(name=key, **now))
            elif kind == "make":
                self.held[key] = self.allocator.malloc(size)
                self.allocated += self.held[key].size
                self.phases[-1].peak = max(self.phases[-1].peak, self.allocated)
            else:
                block = self.held.pop(key)
                self.allocated -= block.size
                self.allocator.free(block)
        return self


def main(
    layers: int = 4,  # layers of the Transformer
    hidden: int = 512,  # hidden size
    longest: int = 1024,  # longest sequence, and the length that batches are padded to
    batch: int = 2,  # sequences of a batch
    steps: int = 8,  # training steps
    judged: int = 3,  # batches of validation, half as long, after one step
    capacity: int = 784,  # MiB of the device in the runs that can fail
    single: int = 3000000,  # bytes of a tensor on an empty device
    seed: int = 0,  # seed of the random lengths
) -> Metrics:
    """Write down a training, then deal it out: with room for all of it, and with less."""
    if min(layers, hidden, batch, single) < 1 or min(longest, judged) < 2 or steps < 3:
        refuse("sizes start at 1, longest and judged at 2, steps at 3")
    if hidden % HEADS:
        refuse(f"{HEADS} heads share hidden evenly: take {up(hidden, HEADS)}")
    torch.manual_seed(seed)
    model = layers, hidden, batch
    varied = written(*model, torch.randint(longest // 2, longest + 1, (steps,)).tolist())
    plans = {"padded": written(*model, [longest] * steps), "varied": varied, "expandable": varied}
    roomy = {name: Replay(Allocator(2**50, name == "expandable")) for name in plans}
    tight = {name: Replay(Allocator(capacity * MIB, name == "expandable")) for name in plans}
    counts, asked, free = dict[str, int](), 0, [0]
    for name, tape in plans.items():
        roomy[name].play(tape.until("done"))
        try:
            tight[name].play(tape.events)
        except OutOfMemoryError as error:
            if name == "varied":
                asked, free = error.size, told(tight[name], error.size)
                picture("tiles", "large segments when it failed", **tiles(tight[name].allocator))
        counts[f"allocated_{name}"] = max(phase.peak for phase in roomy[name].phases)
        counts[f"reserved_{name}"] = roomy[name].allocator.reserved()
        counts[f"steps_{name}"] = sum(p.name[:6] == "update" for p in tight[name].phases[:-1])
    judging = written(*model, [longest // 2], judged)
    judge, graph = Replay(Allocator(capacity * MIB)), Replay(Allocator(2**50))
    need = graph.play(judging.events).allocator.reserved()
    try:
        judge.play(judging.until("graph"))
    except OutOfMemoryError as error:
        if not any(phase.name == "done" for phase in judge.phases):
            refuse(f"{capacity} MiB do not hold a step: take capacity {-(-need // MIB)}")
        told(judge, error.size)
        raise
    alone = Allocator(2**50)
    one = alone.malloc(single)
    phases, left = roomy["padded"].phases, judge.phases[-2].at - judge.phases[-3].at
    counts |= {
        "first_peak": max(phase.peak for phase in phases[1:4]),
        "second_peak": max(phase.peak for phase in phases[4:7]),
        "resident_1": phases[1].at,
        "resident_2": phases[4].at,
        "retries": tight["varied"].allocator.retries,
        "asked": asked,
        "free_then": sum(free),
        "largest_then": max(free),
        "left_trained": phases[7].at - phases[4].at,
        "left_judged": left,
        "left_graph": graph.phases[-1].at - graph.phases[-2].at,
        "resident_end": roomy["varied"].allocated,
        "one_allocated": one.size,
        "one_reserved": alone.reserved(),
    }
    roomy["varied"].allocator.empty_cache()
    counts["emptied"] = roomy["varied"].allocator.reserved()

    everybody = (*roomy.values(), *tight.values(), judge)
    rows = [segment.blocks for each in everybody for segment in each.allocator.segments]
    split = sum(one.free and other.free for row in rows for one, other in pairwise(row))
    check("free neighbours are one block", split, "==", 0)
    check("validation leaves its loss and no more", left, "==", 512)
    return {name: shared(counted(number)) for name, number in counts.items()}


# Below: what is dealt out, and what is reported.

HEADS, VOCABULARY = 8, 2048
linear = partial(nn.Linear, device="meta")


class Layer(nn.Module):
    """Attention that keeps its scores, and an MLP of four times the width."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(hidden, device="meta") for _ in range(2)])
        self.qkv, self.out = linear(hidden, 3 * hidden), linear(hidden, hidden)
        self.up, self.down = linear(hidden, 4 * hidden), linear(4 * hidden, hidden)

    def forward(self, x: Tensor) -> Tensor:
        """As before any kernel was fused: each result is a tensor of its own."""
        q, k, v = self.qkv(self.norms[0](x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(gelu(self.up(self.norms[1](x))))


@torch.no_grad()
def update(parameters: list[Tensor], kept: list[list[Tensor]]) -> None:
    """Adam, in place; what it keeps comes into being at the first step, as in torch.optim."""
    if not kept:
        kept += [[torch.zeros_like(weight) for _ in range(2)] for weight in parameters]
    for weight, (momentum, variance) in zip(parameters, kept, strict=True):
        assert weight.grad is not None
        momentum.lerp_(weight.grad, 0.1)
        variance.lerp_(weight.grad.square(), 0.001)
        weight.addcdiv_(momentum, variance.sqrt() + 1e-8, value=-1e-3)
        weight.grad = None


def validate(model: nn.Module, batches: list[Tensor], tape: Tape) -> list[Tensor]:
    """The loss of each batch; nothing goes backward, so nothing need be kept for it."""
    losses = []
    with torch.no_grad():
        for number, tokens in enumerate(batches, 1):
            tape.mark(f"batch.{number}")
            losses.append(loss_of(model, tokens))
    return losses


def loss_of(model: nn.Module, tokens: Tensor) -> Tensor:
    """What next tokens are, say; only sizes count here."""
    return cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def written(layers: int, hidden: int, batch: int, lengths: list[int], judged: int = 0):
    """A training, written down: a forward, a backward and an update for each length."""
    # What first operations on the meta device import: once for all ranks.
    import torch._dynamo
    import torch.fx.experimental.symbolic_shapes

    def tokens(length: int) -> Tensor:
        return torch.empty(batch, length, dtype=torch.int64, device="meta")

    with Tape() as tape:
        tape.mark("weights")
        words = nn.Embedding(VOCABULARY, hidden, device="meta")
        parts = [Layer(hidden) for _ in range(layers)]
        model = nn.Sequential(words, *parts, linear(hidden, VOCABULARY))
        kept, losses = [], []
        for step, length in enumerate(lengths, 1):
            tape.mark(f"forward.{step}")
            loss = loss_of(model, tokens(length))
            tape.mark(f"backward.{step}")
            loss.backward()
            tape.mark(f"update.{step}")
            update([*model.parameters()], kept)
            losses.append(loss)
            del loss
        tape.mark("done")
        if judged:
            losses += validate(model, [tokens(lengths[-1]) for _ in range(judged)], tape)
            tape.mark("graph")
            losses.append(loss_of(model, tokens(lengths[-1])))
            tape.mark("end")
    return tape


def told(replay: Replay, asked: int) -> list[int]:
    """Keep for the log what each phase took, and what was free when there was no room."""
    allocator = replay.allocator
    free = [b.size for s in allocator.segments for b in s.blocks if b.free]
    free.append(allocator.capacity - allocator.reserved())
    numbers = {phase.name: phase.peak for phase in replay.phases}
    numbers |= {"tried": asked, "allocated": replay.allocated, "reserved": allocator.reserved()}
    with virtual_clock("device memory") as clock:
        for name, size in (numbers | {"free": sum(free), "largest": max(free)}).items():
            clock.spend(1, f"{name} {size / MIB:.1f} MiB")
    return free


def tiles(allocator: Allocator) -> dict[str, Any]:
    """A row for each large segment, a cell for each 2 MiB: whether its middle is in use."""
    large = [segment.blocks for segment in allocator.segments if not segment.small]
    rows = [[1 + (not b.free) for b in row for _ in range(b.size // 512)] for row in large]
    cells = nn.utils.rnn.pad_sequence([torch.tensor(row[2048::4096]) for row in rows], True)
    named = {"legend": ["not reserved", "free", "in use"], "down": "segment", "across": "2 MiB"}
    return {"cells": cells, **named}


BREAKS = {
    "joins-one-side": Break(
        old="for other in [*blocks[at + 1 : at + 2], *blocks[max(at - 1, 0) : at]]:",
        new="for other in blocks[max(at - 1, 0) : at]:",
        expect="free neighbours are one block",
        ranks=1,
        source="home-made pools that look back and not ahead: the freed block's next stays apart",
    ),
    "graph-kept": Break(
        old="    with torch.no_grad():\n        for number",
        new="    with torch.enable_grad():\n        for number",
        expect="crashes: OutOfMemoryError",
        ranks=1,
        source="validation without no_grad whose losses go into a list, to be averaged later",
    ),
}

if __name__ == "__main__":
    run(__file__)
