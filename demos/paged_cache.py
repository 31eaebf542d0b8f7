"""PagedAttention: a sequence's cache in blocks, waste in its last one only, sharing until a write.

The trick
    Nobody knows how long an answer gets. Reserve the longest for each sequence and most of the
    cache stays empty. Take it in blocks of a few tokens, wherever one is free, and let a table
    say where they lie: then only a sequence's last block has room to spare.
    A block that two tables name is kept once, and counts of references say who may write: a fork
    shares all its blocks, and an unfinished one is copied by whoever writes while others read it.
    Later prompts can find full blocks, by their tokens AND the key of the block before: from layer
    2 on, a token's keys and values know all that came before it. --block as long as a sequence is
    the contiguous cache. Ranks share the heads; all have the same tables. It is inference: there
    are no gradients. Left out: blocks still to be found after their last reader, and eviction.

Watch
    utilisation_paged (shared, share)      tokens of slots taken: sequences of each length up to
        --longest
    utilisation_reserved (shared, share)   tokens of slots taken if each sequence reserves --longest
        slots
    empty_most (shared, tokens)            most empty slots of any sequence up to --longest, paged
    blocks_samples (shared, blocks)        named by samples of one prompt, --steps tokens after it,
        each once
    blocks_copied (shared, blocks)         copied before a write, as others still read them
    hit_tokens (shared, tokens)            of its prompt that a late request finds; --common are as
        in the first
    blocks_left (shared, blocks)           not free when everybody is gone
    alone_error (shared, difference)       second request: from one process without a cache, largest
    fork_error (shared, difference)        samples of the first request: from one process, largest
    hit_error (shared, difference)         late request: from one process without a cache, largest
    alone_last_error (shared, difference)  second request, last token: from one process without a
        cache

Run
    quizkit demo paged-cache --gpus 4
    python demos/paged_cache.py --ranks 4 --block 8 --samples 5
    torchrun --nproc-per-node 4 demos/paged_cache.py
"""

from collections.abc import Iterator
from hashlib import sha256

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks

import torch
from torch import Tensor
from torch.nn.functional import rms_norm, scaled_dot_product_attention

TOPIC = "attention"
HEADS, DIM, VOCABULARY = 24, 4, 64


class Pool:
    """A rank's blocks: which are free, how many tables name each, which can be found by key."""

    def __init__(self, blocks: int, size: int, layers: int) -> None:
        shape = (layers, 2, blocks, size, HEADS // ranks(), DIM)  # 2: keys and values
        # Not zeros: memory holds whatever was there before.
        self.memory = torch.randn(shape, dtype=torch.float64).to(device())
        self.size, self.free, self.references = size, list(range(blocks)), [0] * blocks
        self.known, self.copies = dict[str, int](), 0

    def take(self) -> int:
        """A free block. Without one, a request waits or another has to make room."""
        block = self.free.pop()
        self.references[block] = 1
        return block

    def drop(self, blocks: list[int]) -> None:
        """One table less names them; free once none does, and not to be found any more."""
        for block in blocks:
            self.references[block] -= 1
            if self.references[block] == 0:
                self.free.append(block)
                self.known = {key: kept for key, kept in self.known.items() if kept != block}

    def to_write(self, block: int) -> int:
        """A block to write to: this one if nobody else reads it, otherwise a copy."""
        if self.references[block] == 1:
            return block
        copy = self.take()
        self.memory[:, :, copy] = self.memory[:, :, block]
        self.drop([block])
        self.copies += 1
        return copy

    def read(self, layer: int, sequence: "Sequence") -> Tensor:
        """Keys and values in order of their tokens; a real kernel reads them where they lie."""
        in_last = (len(sequence.tokens) - 1) % self.size + 1  # it may be full, but not empty
        length = (len(sequence.table) - 1) * self.size + in_last
        return self.memory[layer][:, sequence.table].flatten(1, 2)[:, :length]


class Sequence:
    """The tokens so far, the blocks that hold their keys and values, and the outputs."""

    def __init__(self, tokens: list[int], table: list[int], *outputs: Tensor) -> None:
        self.tokens, self.table, self.outputs = tokens, table, list(outputs)

    def extend(self, new: list[int], pool: Pool) -> None:
        """Room for new tokens: in the last block, and in as many more as it takes."""
        if len(self.tokens) % pool.size:
            self.table[-1] = pool.to_write(self.table[-1])
        self.tokens += new
        while len(self.table) * pool.size < len(self.tokens):
            self.table.append(pool.take())

    def fork(self, pool: Pool) -> "Sequence":
        """Another sequence that goes on from here. Nothing is copied yet."""
        for block in self.table:
            pool.references[block] += 1
        return Sequence([*self.tokens], [*self.table], *self.outputs)


def admit(prompt: list[int], pool: Pool) -> tuple[Sequence, list[int]]:
    """A new sequence on blocks found in the pool, and the tokens of its prompt left to run."""
    found: list[int] = []
    for key in keys(prompt[:-1], pool.size):  # the last token has to run: its output is wanted
        if key not in pool.known:
            break
        found.append(pool.known[key])
        pool.references[found[-1]] += 1
    length = len(found) * pool.size
    return Sequence(prompt[:length], found), prompt[length:]


def keys(tokens: list[int], size: int) -> Iterator[str]:
    """What names each full block: the tokens in it, and all that came before them."""
    key = ""
    for start in range(0, len(tokens) - size + 1, size):
        key = sha256(f"{key} {tokens[start : start + size]}".encode()).hexdigest()
        yield key


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The last queries over all keys: the newest sees every key, the one before all but one."""
    scores = torch.einsum("thd,shd->hts", q, k) * q.shape[-1] ** -0.5
    visible = torch.ones_like(scores, dtype=torch.bool).tril(len(k) - len(q))
    return torch.einsum("hts,shd->thd", scores.masked_fill(~visible, -torch.inf).softmax(-1), v)


def forward(batch: list[tuple[Sequence, list[int]]], model: list[Tensor], pool: Pool) -> None:
    """New tokens of several sequences at once; each rank adds what its heads say."""
    spots, sizes = [], [len(new) for _, new in batch]
    for seq, new in batch:
        start = len(seq.tokens)
        seq.extend(new, pool)
        spots += [(start + i, new[i], seq.table[(start + i) // pool.size]) for i in range(len(new))]
    positions, tokens, blocks = torch.tensor(spots, device=device()).T
    words, places, layers = model
    x = words[tokens] + places[positions]
    for layer, weights in enumerate(layers):
        *of_qkv, of_out = (weight.chunk(ranks())[rank()] for weight in weights)
        q, k, v = (torch.einsum("tw,hdw->thd", rms_norm(x, [HEADS * DIM]), w) for w in of_qkv)
        pool.memory[layer][:, blocks, positions % pool.size] = torch.stack([k, v])
        queries = zip(q.split(sizes), batch, strict=True)
        mixed = [attend(mine, *pool.read(layer, seq)) for mine, (seq, _) in queries]
        x = x + all_reduce(torch.einsum("thd,hdw->tw", torch.cat(mixed), of_out))
    for (seq, _), output in zip(batch, x.split(sizes), strict=True):
        seq.outputs.append(output)
        for key, block in zip(keys(seq.tokens, pool.size), seq.table, strict=False):
            pool.known.setdefault(key, block)  # it is full, so nobody writes to it any more


def serve(prompts: list[list[int]], later: list[list[int]], model: list[Tensor], pool: Pool):
    """Two requests, the first sampled several times; then one sample ends and a third comes in.

    `later` has what is decoded: a row for each sample, one for the second request, one for the
    third. The last two tokens of a row are for after the change.
    """
    parent, rest = admit(prompts[0], pool)
    alone, other = admit(prompts[1], pool)
    forward([(parent, rest), (alone, other)], model, pool)
    samples = [parent, *(parent.fork(pool) for _ in later[3:])]
    running = [*samples, alone]
    for i in range(len(later[0]) - 2):
        forward([(seq, later[j][i : i + 1]) for j, seq in enumerate(running)], model, pool)
    blocks = len({block for seq in samples for block in seq.table})
    ends = [(seq, i + pool.size) for seq in samples for i in range(0, len(seq.tokens), pool.size)]
    begun = len({tuple(seq.tokens[:end]) for seq, end in ends})
    check("one block for each beginning", blocks, "==", begun)

    pool.drop(samples[0].table)  # the blocks it leaves are the next to be taken
    late, rest = admit(prompts[2], pool)
    found = {"blocks_samples": blocks, "hit_tokens": len(late.tokens)}
    forward([(late, rest)], model, pool)
    running = [*running[1:], late]
    for i in (-2, -1):
        forward([(seq, [later[j + 1][i]]) for j, seq in enumerate(running)], model, pool)
    for seq in running:
        pool.drop(seq.table)
    found |= {"blocks_copied": pool.copies, "blocks_left": len(pool.references) - len(pool.free)}
    return {"alone": [alone], "fork": samples, "hit": [late]}, found


def main(
    block: int = 16,  # tokens that a block holds
    prompt: int = 45,  # tokens of each prompt
    common: int = 16,  # tokens with which the late prompt begins as the first does
    samples: int = 3,  # samples of the first prompt, 2 at least
    steps: int = 4,  # tokens decoded before a sample ends and the late request comes
    layers: int = 2,  # layers, of attention alone
    longest: int = 2048,  # where slots are counted: one sequence of each length up to this
) -> Metrics:
    """Serve a few requests from blocks; then count slots for all lengths."""
    if min(block, prompt, steps, layers, longest, samples - 1) < 1 or samples > VOCABULARY:
        refuse(f"sizes start at 1, samples at 2; samples end at {VOCABULARY}")
    if not 0 <= common <= prompt:
        refuse(f"{common} of {prompt} prompt tokens cannot be common: take common 0 to {prompt}")
    if HEADS % ranks():
        refuse(f"{HEADS} heads fit 1, 2, 3, 4, 6, 8, 12 and 24 ranks")
    length, width = prompt + steps + 2, HEADS * DIM
    shapes = (VOCABULARY, width), (length, width), (layers, 4, HEADS, DIM, width)
    model = [torch.randn(each, dtype=torch.float64).to(device()) for each in shapes]
    model[-1] /= width**0.5
    first, second = torch.randint(VOCABULARY, (2, prompt)).tolist()
    prompts = [first, second, first[:common] + second[common:]]
    later = torch.randint(VOCABULARY, (samples + 2, steps + 2))
    later[:samples, 0] = torch.arange(samples)  # no two samples say the same
    pool = Pool((samples + 2) * -(-length // block), block, layers)
    served, found = serve(prompts, later.tolist(), model, pool)
    gaps = {}
    for kind, group in served.items():
        ours = [torch.cat(seq.outputs) for seq in group]
        truth = [one_process(x.tokens, model)[-len(y) :] for x, y in zip(group, ours, strict=True)]
        gaps[kind] = max_error(torch.cat(ours), torch.cat(truth))
        if kind == "alone":
            last_gap = max_error(ours[0][-1], truth[0][-1])
    (tokens, slots, empty), (_, reserved, _) = occupy(longest, block), occupy(longest, longest)

    check("a request alone equals the whole sequence", gaps["alone"], "<", 1e-12)
    check("samples equal sequences of their own", gaps["fork"], "<", 1e-12)
    check("a hit changes no output", gaps["hit"], "<", 1e-12)
    check("copies while others read", pool.copies, "==", (samples - 1) * bool(prompt % block))
    check("all blocks come home", found["blocks_left"], "==", 0)
    check("no free block is to be found", len(pool.known), "==", 0)
    check("only the last block has room to spare", empty, "<=", block - 1)
    counts = {
        "utilisation_paged": tokens / slots,
        "utilisation_reserved": tokens / reserved,
        "empty_most": empty,
        "blocks_samples": found["blocks_samples"],
        "blocks_copied": found["blocks_copied"],
        "hit_tokens": found["hit_tokens"],
        "blocks_left": found["blocks_left"],
    }
    metrics = {name: shared(counted(n)) for name, n in counts.items()}
    metrics |= {f"{kind}_error": shared(compared(gap)) for kind, gap in gaps.items()}
    return metrics | {"alone_last_error": shared(compared(last_gap))}


def occupy(longest: int, size: int) -> list[int]:
    """A sequence of each length, all at once: tokens, slots taken, most left empty in one."""
    lengths = range(1 + rank(), longest + 1, ranks())
    pool, empty = Pool(sum(-(-length // size) for length in lengths), size, 0), [0]
    for length in lengths:
        sequence = Sequence([], [])
        sequence.extend([0] * length, pool)
        empty.append(len(sequence.table) * size - length)
    counts = torch.tensor([sum(lengths), size * (len(pool.references) - len(pool.free))])
    return [*all_reduce(counts.to(device())).tolist(), int(everyone(max(empty)).max())]


def one_process(tokens: list[int], model: list[Tensor]) -> Tensor:
    """The truth: the whole sequence at once, all heads, torch's attention, nothing kept."""
    words, places, layers = model
    x = words[tokens] + places[: len(tokens)]
    for *of_qkv, of_out in layers:
        q, k, v = (torch.einsum("tw,hdw->htd", rms_norm(x, [HEADS * DIM]), w)[None] for w in of_qkv)
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)[0]
        x = x + torch.einsum("htd,hdw->tw", mixed, of_out)
    return x


BREAKS = {
    "written-without-a-copy": Break(
        old="if self.references[block] == 1:",
        new="if self.references[block] >= 1:",
        expect="samples equal sequences of their own",
        ranks=1,
        source="forks that write where their siblings still read; the last to write wins",
    ),
    "freed-while-shared": Break(
        old="if self.references[block] == 0:",
        new="if self.references[block] >= 0:",
        expect="samples equal sequences of their own",
        ranks=1,
        source="blocks freed with the sequence that ends, whoever else reads them",
    ),
    "full-block-seen-as-empty": Break(
        old="(len(sequence.tokens) - 1) % self.size + 1  # it may be full, but not empty",
        new="len(sequence.tokens) % self.size",
        expect="a request alone equals the whole sequence",
        ranks=1,
        source="the fill of the last block as a remainder: 0 when it is full",
    ),
    "key-without-parent": Break(
        old='f"{key} {tokens[start : start + size]}"',
        new='f"{tokens[start : start + size]}"',
        expect="a hit changes no output",
        ranks=1,
        source="a prefix cache that knows blocks by their tokens alone",
    ),
}

if __name__ == "__main__":
    run(__file__)
