"""From training's layout to serving's: join along the right axis, take apart what is fused, recut.

The trick
    Training cut each weight for its own TP degree; serving wants another. Joining the ranks' parts
    is not enough. Matrices that read a cut activation (output, down) were cut by columns, all
    others by rows. The fused QKV lies by groups, [q q k v] for each KV head, so that TP may cut
    anywhere between groups; serving wants [Q; K; V] of a rank's own heads. Each rank's [gate; up]
    has two halves, to be joined half by half. Rows that pad the vocabulary go.

    A wrong cut has the right shapes and says nothing. So logits are compared, before and after:
    here in fp64, where what is left is rounding. The ranks of this run are training's; those of
    serving, be they more or fewer, are played by these in turn.

Watch
    joined_bytes (bytes, sent)         by this rank, until all have every training part
    padded_rows (shared, rows)         of training's table that are no tokens
    train_error (shared, difference)   log-probabilities in training's layout, from one process
    serve_error (shared, difference)   in serving's layout, from one process
    block_error (shared, difference)   the same, the fused QKV cut as rows in a block
    across_error (shared, difference)  the same, [gate; up] cut as rows in a block
    padded_error (shared, difference)  the same, tables with the rows that pad them
    block_misfits (shared, tensors)    of another shape, the fused QKV cut as rows in a block
    across_misfits (shared, tensors)   of another shape, [gate; up] cut as rows in a block
    block_changed (shared, tokens)     that would be said instead, the fused QKV cut in a block

Run
    quizkit demo serving-layout --gpus 4
    python demos/serving_layout.py --ranks 4 --serve-tp 2
"""

from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, max_error, rank, ranks, ring_gather, ring_sum, wire

import torch
from torch.nn.functional import linear, log_softmax, scaled_dot_product_attention, silu

TOPIC = "hybrid"


def train_cut(kind, whole, t, tp, size):
    """What a training rank holds of a tensor."""
    if kind == "norm":
        return whole
    if kind in ("down", "out"):
        return whole.chunk(tp, 1)[t]
    if kind == "gate_up":
        return torch.cat([half.chunk(tp)[t] for half in whole.chunk(2)])
    if kind == "table":  # padded, so that all ranks have as many rows
        more = padded(size.vocab, tp) - size.vocab
        whole = torch.cat([whole, torch.randn(more, whole.shape[1]).to(whole)])
    return whole.chunk(tp)[t]


def padded(vocab, tp):
    """Rows of training's table: a multiple of 8 on each rank."""
    return -(-vocab // (8 * tp)) * 8 * tp


def joined(kind, parts, size):
    """The whole tensor again, from the parts of all training ranks in their order."""
    if kind == "norm":
        return parts[0]
    if kind in ("out", "down"):
        return torch.cat(parts, 1)
    if kind == "gate_up":
        gates, ups = zip(*(part.chunk(2) for part in parts), strict=True)
        return torch.cat([*gates, *ups])
    whole = torch.cat(parts)
    return whole[: size.vocab] if kind == "table" else whole


def serve_cut(kind, whole, t, tp, size):
    """What a serving rank holds of it."""
    if kind == "norm":
        return whole
    if kind in ("out", "down"):
        return whole.chunk(tp, 1)[t]
    if kind == "qkv":
        return by_kind(whole, t, tp, size)
    if kind == "gate_up":
        gate, up = whole.chunk(2)
        return torch.cat([gate.chunk(tp)[t], up.chunk(tp)[t]])
    return whole.tensor_split(tp)[t]


def by_kind(qkv, t, tp, size):
    """Of my groups, [q q k v] each: all queries, then all keys, then all values."""
    mine = qkv.unflatten(0, (size.groups, size.queries + 2, size.head_dim)).chunk(tp)[t]
    q, k, v = mine.split([size.queries, 1, 1], dim=1)
    return torch.cat([part.flatten(0, 2) for part in (q, k, v)])


def heads_of(qkv, size, by_groups):
    """Queries, keys and values [heads, tokens, head_dim] of a rank's product with its QKV."""
    groups = qkv.shape[1] // (size.head_dim * (size.queries + 2))
    if by_groups:
        parts = qkv.unflatten(1, (groups, size.queries + 2, size.head_dim))
        q, k, v = parts.split([size.queries, 1, 1], dim=2)
    else:
        q, k, v = qkv.unflatten(1, (-1, size.head_dim)).split(
            [groups * size.queries, groups, groups], dim=1
        )
    return (part.reshape(len(qkv), -1, size.head_dim).transpose(0, 1) for part in (q, k, v))


def logits_of(parts, tokens, size, by_groups):
    """Logits from the parts that this rank plays; what is partial is added up over all ranks."""

    def total(*shape, add):
        result = torch.zeros(*shape, dtype=torch.float64, device=device())
        for start, weights in parts:
            add(result, start, weights)
        return ring_sum(result)

    def look_up(x, start, weights):
        table = weights["embed.table"]
        here = (tokens >= start) & (tokens < start + len(table))
        x[here] += table[tokens[here] - start]

    x = total(len(tokens), size.hidden, add=look_up)
    for layer in range(size.layers):

        def attend(y, _, weights, x=x, at=f"{layer}."):
            h = normed(x, weights[at + "attention.norm"])
            q, k, v = heads_of(linear(h, weights[at + "qkv"]), size, by_groups)
            mixed = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            y += linear(mixed.transpose(0, 1).flatten(1), weights[at + "out"])

        x = x + total(*x.shape, add=attend)

        def mlp(y, _, weights, x=x, at=f"{layer}."):
            gate, up = linear(normed(x, weights[at + "mlp.norm"]), weights[at + "gate_up"]).chunk(
                2, 1
            )
            y += linear(silu(gate) * up, weights[at + "down"])

        x = x + total(*x.shape, add=mlp)

    def say(y, start, weights):
        table = weights["head.table"]
        y[:, start : start + len(table)] = linear(normed(x, weights["norm"]), table)

    ends = [start + len(weights["head.table"]) for start, weights in parts]
    return total(len(tokens), int(everyone(max(ends, default=0)).max()), add=say)


def main(
    serve_tp: int = 4,  # TP degree of serving; training's is the number of ranks
    layers: int = 2,  # of the model
    groups: int = 24,  # KV heads; both TP degrees divide them
    queries: int = 2,  # query heads of each KV head
    head_dim: int = 2,  # width of a head
    hidden: int = 12,  # width of the model
    ffn: int = 48,  # width of the gate, and of up; both TP degrees divide it
    vocab: int = 50,  # tokens there are; training pads its tables to a multiple of 8 x TP
    tokens: int = 7,  # of the sequence that is asked
) -> Metrics:
    """Hold the model in training's layout, convert it, and ask both."""
    n = ranks()
    if min(serve_tp, layers, groups, queries, head_dim, hidden, ffn, vocab, tokens) < 1:
        refuse("all sizes start at 1")
    for tp in n, serve_tp:
        if groups % tp or ffn % tp:
            g, f = (-(-count // tp) * tp for count in (groups, ffn))
            refuse(f"tp {tp} has to divide groups and ffn: take groups {g} and ffn {f}")
    size = SimpleNamespace(groups=groups, queries=queries, head_dim=head_dim)
    size.layers, size.hidden, size.vocab = layers, hidden, vocab
    whole = model(size, ffn)
    asked = torch.randint(vocab, (tokens,), device=device())
    truth = one_process(whole, asked, size)

    mine = {name: train_cut(kind_of(name), whole[name], rank(), n, size) for name in whole}
    start = rank() * padded(vocab, n) // n
    before = logits_of([(start, mine)], asked, size, by_groups=True)[:, :vocab]
    with wire() as counts:
        every = {name: ring_gather(part[None]).unbind() for name, part in mine.items()}
    again = {name: joined(kind_of(name), parts, size) for name, parts in every.items()}
    tables = {name: torch.cat(every[name]) for name in again if kind_of(name) == "table"}

    def roles(cuts, source):
        """The serving ranks that this one plays; the kinds in `cuts` are cut as rows in a block."""
        found = []
        for t in range(rank(), serve_tp, n):
            part = {}
            for name, tensor in source.items():
                kind = kind_of(name)
                whole_rows = tensor.chunk(serve_tp)
                right = serve_cut(kind, tensor, t, serve_tp, size)
                part[name] = whole_rows[t] if kind in cuts else right
            rows = [len(each) for each in source["embed.table"].tensor_split(serve_tp)]
            found.append((sum(rows[:t]), part))
        return found

    ways = {
        "serve": roles((), again),
        "block": roles(("qkv",), again),
        "across": roles(("gate_up",), again),
        "padded": roles((), again | tables),
    }
    said = {
        name: log_softmax(logits_of(parts, asked, size, False), -1) for name, parts in ways.items()
    }
    errors = {name: max_error(each[:, :vocab], truth) for name, each in said.items()}
    errors["train"] = max_error(log_softmax(before, -1), truth)
    check("training says what one process says", errors["train"], "<", 1e-12)
    check("serving says what one process says", errors["serve"], "<", 1e-12)
    check("serving knows the tokens there are", said["serve"].shape[1], "==", vocab)
    same = sum(not torch.equal(again[name], whole[name]) for name in whole)
    check("tensors joined are what they were", same, "==", 0)
    for way, title in (
        ("serve", "fused QKV on serving ranks"),
        ("block", "the same, cut in a block"),
    ):
        draw(title, size, serve_tp, way == "serve")
    return {
        "joined_bytes": counted(counts.sent_bytes),
        "padded_rows": shared(counted(len(tables["embed.table"]) - vocab)),
        **{f"{name}_error": shared(compared(error)) for name, error in errors.items()},
        "block_misfits": shared(counted(misfits(ways["serve"], ways["block"]))),
        "across_misfits": shared(counted(misfits(ways["serve"], ways["across"]))),
        "block_changed": shared(counted(int((said["block"].argmax(1) != truth.argmax(1)).sum()))),
    }


def kind_of(name):
    """The last word of its name."""
    return name.split(".")[-1]


def misfits(ours, others):
    """Tensors of another shape, on all ranks together."""
    pairs = zip(ours, others, strict=True)
    mine = sum(a[name].shape != b[name].shape for (_, a), (_, b) in pairs for name in a)
    return int(everyone(mine).sum())


def model(size, ffn):
    """Weights in fp64, of a scale at which all layers matter."""
    rows = size.groups * (size.queries + 2) * size.head_dim
    shapes: dict[str, tuple[int, ...]] = {"embed.table": (size.vocab, size.hidden)}
    for layer in range(size.layers):
        shapes[f"{layer}.attention.norm"] = shapes[f"{layer}.mlp.norm"] = (size.hidden,)
        shapes[f"{layer}.qkv"] = rows, size.hidden
        shapes[f"{layer}.out"] = size.hidden, size.groups * size.queries * size.head_dim
        shapes[f"{layer}.gate_up"] = 2 * ffn, size.hidden
        shapes[f"{layer}.down"] = size.hidden, ffn
    shapes["norm"], shapes["head.table"] = (size.hidden,), shapes["embed.table"]
    like = {"dtype": torch.float64, "device": device()}
    return {name: torch.randn(shape, **like) / shape[-1] ** 0.5 for name, shape in shapes.items()}


def normed(x, weight):
    """RMS norm; the weight is told apart from 1."""
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * (1 + weight)


def one_process(whole, tokens, size):
    """The truth: log-probabilities of the whole model in one place, attention written out."""
    x = whole["embed.table"][tokens]
    later = torch.ones(len(tokens), len(tokens), dtype=torch.bool, device=device()).triu(1)
    for layer in range(size.layers):
        at = f"{layer}."
        h = normed(x, whole[at + "attention.norm"])
        fused = whole[at + "qkv"].view(size.groups, size.queries + 2, size.head_dim, -1)
        q, k, v = (
            torch.einsum("gjdh,th->gjtd", part, h) for part in fused.split([size.queries, 1, 1], 1)
        )
        scores = (q @ k.mT / size.head_dim**0.5).masked_fill(later, -torch.inf)
        mixed = (scores.softmax(-1) @ v).flatten(0, 1)
        x = x + mixed.transpose(0, 1).flatten(1) @ whole[at + "out"].mT
        gate, up = whole[at + "gate_up"].chunk(2)
        h = normed(x, whole[at + "mlp.norm"])
        x = x + (silu(h @ gate.mT) * (h @ up.mT)) @ whole[at + "down"].mT
    return log_softmax(normed(x, whole["norm"]) @ whole["head.table"].mT, -1)


def draw(title, size, tp, right):
    """Whose rows a serving rank takes for queries, keys and values: a row of cells a rank."""
    kinds = torch.tensor([0] * size.queries + [1, 2]).repeat(size.groups)[:, None]
    one = SimpleNamespace(groups=size.groups, queries=size.queries, head_dim=1)
    cells = [by_kind(kinds, t, tp, one) if right else kinds.chunk(tp)[t] for t in range(tp)]
    cells = [part.flatten().tolist() for part in cells]
    picture(
        "tiles", title, cells=cells, legend=["Q", "K", "V"], down="serving ranks", across="heads"
    )


BREAKS = {
    "qkv-as-one-block": Break(
        old="return by_kind(whole, t, tp, size)",
        new="return whole.chunk(tp)[t]",
        expect="serving says what one process says",
        ranks=1,
        source="NVIDIA-NeMo/Automodel #1324: fused projections sharded evenly, silently wrong",
    ),
    "gate-and-up-across": Break(
        old="return torch.cat([*gates, *ups])",
        new="return torch.cat(parts)",
        expect="serving says what one process says",
        ranks=2,
        source="pytorch/torchtitan #4535: TP has to cut within gate and up, not the fused rows",
    ),
    "wrong-axis": Break(
        old="return torch.cat(parts, 1)",
        new="return torch.cat(parts).view(len(parts[0]), -1)",
        expect="serving says what one process says",
        ranks=2,
        source="merge scripts with one torch.cat(parts) for all weights, cut by rows or by columns",
    ),
    "padding-kept": Break(
        old='return whole[: size.vocab] if kind == "table" else whole',
        new="return whole",
        expect="serving knows the tokens there are",
        ranks=1,
        source="NVIDIA-NeMo/Megatron-Bridge #5375: exports with the rows that pad the vocabulary",
    ),
}

if __name__ == "__main__":
    run(__file__)
