"""A layout changes where an activation lies, not what it is: gathered rightly, findings agree.

The trick
    A hook sees what its rank has. Under TP that is some columns of the MLP's inner activation, and
    before the all-reduce a partial sum, which is no activation at all. Under SP the stream between
    layers is some of the tokens; under DP some of the samples, in the sampler's order and, if they
    do not divide, some twice; under PP a layer is on one stage alone.

    So each is gathered in its own way: columns joined, partial sums read after the sum, tokens
    joined, samples put back by their index, and then a broadcast from the stage that has the layer.
    Weights likewise. What differs then between layouts is the order of sums, hence rounding: a
    linear probe comes to the same verdict. In fp64 here; in fp32 and bf16 it is measured.

Watch
    hook_columns (count, forward)     of the MLP's inner activation that this rank sees under TP
    hook_tokens (tokens, forward)     of a sample in the stream that this rank sees under SP
    hook_samples (rows, forward)      that this rank sees under DP, those seen twice included
    gather_bytes (bytes, sent)        by this rank under TP, for the inner activation of one layer
    whole_error (shared, difference)  any activation of any layout from one process, gathered
    part_error (shared, difference)   the MLP's output on a TP rank before the sum, from the whole
    order_error (shared, difference)  DP's samples joined rank by rank, from the right order
    probe_right (shared, share)       of tokens that a probe on one process's activation tells
    shard_apart (shared, tokens)      told otherwise by a probe on rank 0's columns
    probe_apart (shared, tokens)      told otherwise by a probe in any layout
    probe_apart_bf16 (shared, tokens) the same in bf16, among layouts
    fp32_apart (shared, difference)   any layout from one process, both in fp32
    bf16_apart (shared, difference)   any layout from one process, both in bf16
    pp_bits_fp32 (shared, yes/no)     whether PP gives the bits of one process

Run
    quizkit demo whole-activations --gpus 4
    python demos/whole_activations.py --ranks 8 --at 5
"""

from math import inf
from types import SimpleNamespace
from typing import NamedTuple

from _bench import Break, Metrics, broadcast, check, compared, counted, identical, refuse, run
from _bench import device, everyone, max_error, rank, ranks, recv, ring_gather, ring_scatter_sum
from _bench import ring_sum, send, shared, wire

import torch
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention

TOPIC = "debug"
HEAD = 2  # width of a head
VOCAB = 16
CUT = {"inner": -1, "out": 1, "stream": 1}  # the dimension that TP cuts, or SP


class Layout(NamedTuple):
    """Degrees; rank = (stage * dp + dp index) * tp + tp index."""

    tp: int = 1
    dp: int = 1
    pp: int = 1
    sp: bool = False

    def mine(self):
        """Stage, DP index and TP index of this rank."""
        rest, t = divmod(rank(), self.tp)
        return *divmod(rest, self.dp), t

    def tp_group(self):
        """Ranks that share my layers and my samples."""
        first = rank() // self.tp * self.tp
        return range(first, first + self.tp)

    def dp_group(self):
        """Ranks that have what I have of other samples."""
        stage, _, t = self.mine()
        return [(stage * self.dp + d) * self.tp + t for d in range(self.dp)]


def samples(batch, layout, d):
    """As torch's DistributedSampler deals them, unshuffled: in turn, and from the front again."""
    each = -(-batch // layout.dp)
    return [index % batch for index in range(d, each * layout.dp, layout.dp)]


def stage_of(layer, layers, layout):
    """The first stages have a layer more where they do not divide."""
    return [layer in part for part in torch.arange(layers).tensor_split(layout.pp)].index(True)


def cut(weights, layout, t):
    """My heads and my inner columns of a layer's weights."""
    return {
        "qkv": weights["qkv"].chunk(layout.tp, 1)[t],
        "o": weights["o"].chunk(layout.tp, 1)[t],
        "up": weights["up"].chunk(layout.tp)[t],
        "down": weights["down"].chunk(layout.tp, 1)[t],
    }


def hooked(model, tokens, layout, at):
    """My samples through my stage; what hooks on this rank see of layer `at`, if it is here."""
    (stage, d, t), group, seen = layout.mine(), layout.tp_group(), {}
    neighbour = layout.tp * layout.dp
    mine = tokens[samples(len(tokens), layout, d)]
    x = model["embed"][mine]
    x = x.chunk(layout.tp, 1)[t] if layout.sp else x
    if stage:
        x = recv(torch.empty_like(x), rank() - neighbour)
    for number, whole in enumerate(model["layers"]):
        if stage_of(number, len(model["layers"]), layout) != stage:
            continue
        weights = cut(whole, layout, t)
        h = enter(normed(x), layout, group)
        x = x + leave(attention(h, weights), layout, group)
        inner = gelu(linear(enter(normed(x), layout, group), weights["up"]))
        part = linear(inner, weights["down"])
        out = leave(part, layout, group)
        x = x + out
        if number == at:
            seen = {"inner": inner, "out": out, "stream": x, "part": part, **weights}
    if stage < layout.pp - 1:
        send(x, rank() + neighbour)
    return seen


def enter(x, layout, group):
    """All tokens for the matrices."""
    return ring_gather(x, 1, group) if layout.sp else x


def leave(part, layout, group):
    """Partial sums become a sum: all of it, or under SP my tokens of it."""
    return ring_scatter_sum(part, 1, group) if layout.sp else ring_sum(part, group)


def attention(h, weights):
    """Causal, of these heads, up to what they add to the output."""
    q, k, v = (linear(h, part).unflatten(-1, (-1, HEAD)).transpose(1, 2) for part in weights["qkv"])
    mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
    return linear(mixed.transpose(1, 2).flatten(2), weights["o"])


def whole_of(kind, seen, layout, like, owner):
    """An activation as one process has it, on all ranks."""
    result = torch.empty_like(like)
    if kind in seen:
        part = seen[kind]
        if kind == "inner" or layout.sp:
            part = ring_gather(part, CUT[kind], layout.tp_group())
        parts = ring_gather(part[None], group=layout.dp_group())
        for d, each in enumerate(parts):
            result[samples(len(result), layout, d)] = each
    return broadcast(result, owner)


def whole_weights(seen, layout, like, owner):
    """A layer's matrices again: rows joined where outputs were cut, columns where inputs were."""
    result = {name: torch.empty_like(tensor) for name, tensor in like.items()}
    for name, tensor in result.items():
        if name in seen:
            dim = {"up": 0, "qkv": 1, "down": 1, "o": 1}[name]
            joined = ring_gather(seen[name], dim, layout.tp_group())
            tensor.copy_(joined.view_as(tensor))
        broadcast(tensor, owner)
    return result


def main(
    layers: int = 8,  # of the model
    at: int = 3,  # the layer that is looked into, counted from 0
    heads: int = 24,  # of attention, of width 2; TP divides them
    ffn: int = 48,  # inner width of the MLP; TP divides it
    hidden: int = 12,  # width of the stream
    seq: int = 24,  # tokens of a sample; SP divides them
    batch: int = 10,  # samples
) -> Metrics:
    """Take one layer's activations out of five layouts; gather them, and fit a probe to each."""
    n = ranks()
    if min(layers, heads, ffn, hidden, seq) < 1 or batch < 2 or not 0 <= at < layers:
        refuse("sizes start at 1, batch at 2; at is one of the layers, counted from 0")
    if layers < n or any(size % n for size in (heads, ffn, seq)):
        h, f, s = (-(-size // n) * n for size in (heads, ffn, seq))
        refuse(f"{n} ranks take heads {h}, ffn {f}, seq {s} and {max(n, layers)} layers")
    two = 2 - n % 2
    layouts = {
        "tp": Layout(tp=n),
        "sp": Layout(tp=n, sp=True),
        "dp": Layout(dp=n),
        "pp": Layout(pp=n),
        "tp_pp": Layout(tp=two, pp=n // two),
    }
    model = model_of(layers, heads, ffn, hidden)
    tokens = torch.randint(VOCAB, (batch, seq), device=device())

    wide = looked_into(model, tokens, at, layouts)
    single = looked_into(cast(model, torch.float32), tokens, at, layouts)
    half = looked_into(cast(model, torch.bfloat16), tokens, at, layouts)
    check("activations are those of one process", max(wide.errors.values()), "<", 1e-12)
    check("weights are those of one process", wide.other_weights, "==", 0)
    told = {way: probe(found["inner"], tokens) for way, found in wide.found.items()}
    apart = {way: int((each != told["one"]).sum()) for way, each in told.items()}
    check("a probe comes to the same verdict", max(apart.values()), "==", 0)
    largest = wide.found["one"]["inner"].abs().max().item()
    for share, less in ((1e-5, single), (0.2, half)):
        off = max(less.errors.values()) / largest
        check("less precise, but for rounding the same", off, "<", share)
    told_half = {way: probe(found["inner"], tokens) for way, found in half.found.items()}
    half_apart = [int((each != told_half["one"]).sum()) for each in told_half.values()]
    bits = {
        way: torch.equal(f["inner"], single.found["one"]["inner"])
        for way, f in single.found.items()
    }

    truth = wide.found["one"]
    dealt = [index for d in range(n) for index in samples(batch, layouts["dp"], d)][:batch]
    here = stage_of(at, layers, layouts["tp"]) == 0
    part = max_error(wide.seen["tp"]["part"], truth["out"]) if here else 0.0
    shard = probe(truth["inner"][..., : ffn // n], tokens)
    right = labels(tokens)[batch // 2 :].flatten()
    return {
        "hook_columns": counted(wide.seen["tp"]["inner"].shape[-1]),
        "hook_tokens": counted(wide.seen["sp"]["stream"].shape[1]),
        "hook_samples": counted(len(wide.seen["dp"]["inner"])),
        "gather_bytes": counted(wide.sent["tp"]),
        "whole_error": shared(compared(max(wide.errors.values()))),
        "part_error": shared(compared(everyone(part).max().item())),
        "order_error": shared(compared(max_error(truth["inner"][dealt], truth["inner"]))),
        "probe_right": shared(compared((told["one"] == right).double().mean())),
        "shard_apart": shared(counted(int((shard != told["one"]).sum()))),
        "probe_apart": shared(counted(max(apart.values()))),
        "probe_apart_bf16": shared(counted(max(half_apart))),
        "fp32_apart": shared(compared(max(single.errors.values()), floor=0)),
        "bf16_apart": shared(compared(max(half.errors.values()), floor=0)),
        "pp_bits_fp32": shared(identical(bits["pp"])),
    }


def looked_into(model, tokens, at, layouts):
    """Layer `at` under every layout: what hooks saw, and the whole of it."""
    truth = one_process(model, tokens, at)
    result = SimpleNamespace(found={"one": truth}, seen={}, errors={}, sent={}, other_weights=0)
    for way, layout in layouts.items():
        seen = result.seen[way] = hooked(model, tokens, layout, at)
        owner = stage_of(at, len(model["layers"]), layout) * layout.dp * layout.tp
        found = result.found[way] = {}
        for kind, like in truth.items():
            with wire() as counts:
                found[kind] = whole_of(kind, seen, layout, like, owner)
            result.sent.setdefault(way, counts.sent_bytes)  # of the first kind
        gaps = [gap(found[kind], truth[kind]) for kind in truth]
        result.errors[way] = everyone(max(gaps)).max().item()
        like = model["layers"][at]
        again = whole_weights(seen, layout, like, owner)
        result.other_weights += sum(not torch.equal(again[name], like[name]) for name in like)
    return result


def gap(ours, truth):
    """The largest difference, in fp64; without end if shapes differ."""
    return max_error(ours.double(), truth.double()) if ours.shape == truth.shape else inf


def model_of(layers, heads, ffn, hidden):
    """Weights in fp64, of a scale at which all layers matter."""

    def matrix(*shape):
        return torch.randn(*shape, dtype=torch.float64, device=device()) / shape[-1] ** 0.5

    def layer():
        qkv, o = matrix(3, heads * HEAD, hidden), matrix(hidden, heads * HEAD)
        return {"qkv": qkv, "o": o, "up": matrix(ffn, hidden), "down": matrix(hidden, ffn)}

    return {"embed": matrix(VOCAB, hidden), "layers": [layer() for _ in range(layers)]}


def cast(model, dtype):
    """The same model, rounded."""
    stack = [{name: each.to(dtype) for name, each in layer.items()} for layer in model["layers"]]
    return {"embed": model["embed"].to(dtype), "layers": stack}


def normed(x):
    """Layer norm, without weights."""
    return layer_norm(x, x.shape[-1:])


def one_process(model, tokens, at):
    """The truth: the same layers, whole and in one place."""
    x = model["embed"][tokens]
    for weights in model["layers"][: at + 1]:
        x = x + attention(normed(x), weights)
        inner = gelu(linear(normed(x), weights["up"]))
        out = linear(inner, weights["down"])
        x = x + out
    return {"inner": inner, "out": out, "stream": x}


def labels(tokens):
    """What a probe is asked of each token: is it in the vocabulary's first half?"""
    return tokens < VOCAB // 2


def probe(activation, tokens):
    """Ridge regression on half of the samples; its verdicts on the tokens of the others."""
    half = len(tokens) // 2
    x = torch.cat([activation.double(), torch.ones_like(activation[..., :1]).double()], -1)
    y = labels(tokens).double() * 2 - 1
    known, asked = x[:half].flatten(0, 1), x[half:].flatten(0, 1)
    normal = known.mT @ known + torch.eye(x.shape[-1]).to(x)
    return asked @ torch.linalg.solve(normal, known.mT @ y[:half].flatten()) > 0


BREAKS = {
    "own-shard": Break(
        old="part = ring_gather(part, CUT[kind], layout.tp_group())",
        new="part = torch.cat([part] * layout.tp, CUT[kind])",
        expect="activations are those of one process",
        ranks=2,
        source="hooks written for one GPU, run under TP: a rank's columns taken for the layer's",
    ),
    "before-the-sum": Break(
        old='"out": out, "stream": x, "part"',
        new='"out": out if layout.sp else part, "stream": x, "part"',
        expect="activations are those of one process",
        ranks=2,
        source="a hook on the Linear inside a row-parallel layer: its output is a partial sum",
    ),
    "joined-by-rank": Break(
        old="result[samples(len(result), layout, d)] = each",
        new="here = result[d * len(each) : (d + 1) * len(each)]\n"
        "            here.copy_(each[: len(here)])",
        expect="activations are those of one process",
        ranks=2,
        source="evaluation under DistributedSampler: parts concatenated, though dealt in turn",
    ),
    "weights-by-rows": Break(
        old='dim = {"up": 0, "qkv": 1, "down": 1, "o": 1}[name]',
        new='dim = {"up": 0, "qkv": 1, "down": 0, "o": 0}[name]',
        expect="weights are those of one process",
        ranks=2,
        source="merge scripts with one torch.cat(parts) for all weights, cut by rows or by columns",
    ),
}

if __name__ == "__main__":
    run(__file__)
