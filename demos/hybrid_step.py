"""On TP x PP x DP a step is one process's if each sum goes over its own group, once.

The trick
    t ranks share each layer, p stages the layers, d copies the samples. Inside layers TP gathers
    tokens and scatters sums; stages hand on activations, m times a step. Then come the sums of a
    step, each once. What TP replicates, norms and row biases, has met its own tokens alone
    (sequence parallel): sum over TP. The tied table is looked up on the first stage and compared
    with on the last: the two add. A stage's gradient: sum over DP, behind its last backward. The
    norm: squares from all ranks, of what TP replicates from one, of the table from one stage.
    ZeRO-1: a copy updates its d-th of the weights and gathers the rest. The clock prices that run;
    only what stages hand on overlaps with compute. Left out: dropout, recomputing, bf16.

Watch
    step_time (shared, ticks)        first step: matrix products and messages, all else is free
    tp_wait (ticks, step)            this rank in TP's collectives
    pp_wait (ticks, step)            this rank for neighbouring stages: bubble and transfer
    dp_wait (ticks, step)            this rank in DP's collectives
    product_flops (FLOPs, step)      of this rank's matrix products, a multiply-add is 2
    tp_bytes (bytes, step)           sent by this rank to its TP group
    pp_bytes (bytes, step)           sent by this rank to neighbouring stages, the table apart
    dp_bytes (bytes, step)           sent by this rank to its DP group
    tied_bytes (bytes, sent)         for the table in a step; no activations
    node_bytes (bytes, step)         of all that this rank sent, to other nodes
    tp_messages (messages, step)     sent by this rank to its TP group
    pp_messages (messages, step)     sent by this rank to neighbouring stages, the table apart
    dp_messages (messages, step)     sent by this rank to its DP group
    gradient_bytes (bytes)           of this rank's weights, with zeros until d divides them
    adam_bytes (bytes)               of Adam's two moments on this rank
    last_loss (shared, loss)         of the global batch before the last update
    step_loss_error (shared, difference)  largest one of any step's loss from one process
    step_grad_error (shared, difference, backward)  largest gap of gradients from one process
    step_norm_error (shared, ratio)  largest deviation of any step's norm from one process's
    step_weight_error (shared, difference)  largest one of any weight from one process, at the end
    norm_ratio_all (shared, ratio)   first norm over one process's, were all that ranks hold counted

Run
    quizkit demo hybrid-step --gpus 8
    python demos/hybrid_step.py --ranks 8 --tp 2 --pp 4 --order tp-pp-dp
    torchrun --nproc-per-node 8 demos/hybrid_step.py
"""

from collections import Counter
from contextlib import contextmanager
from math import gcd
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, isend, max_error, rank, ranks, recv, ring_gather
from _bench import ring_scatter_sum, ring_sum, virtual_clock, wire

import torch
from torch.nn.functional import embedding, gelu, layer_norm, pad
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "hybrid"
LIMIT, RATE = 0.5, 1e-3  # of the gradient's norm, and Adam's

# What TP cuts and along which dimension; norms and the biases behind row matrices it replicates.
CUT = {"table": 0, "qkv": 2, "out": 0, "up": 1, "down": 0}
GATHER, SCATTER = (ring_gather, ring_scatter_sum), (ring_scatter_sum, ring_gather)  # and back


def step(samples, w, moments, number, me):
    """One training step of one rank: its loss, its part of the summed gradient, the norm."""
    loss = pipeline(samples, w, me)
    owed = [weight.grad for name, weight in w.items() if name.split(".")[0] not in CUT]
    vector_to_parameters(collect(me, "tp", ring_sum, parameters_to_vector(owed)), owed)
    if "tied" in me.groups:
        w["table"].grad = collect(me, "tied", ring_sum, w["table"].grad)
    part = collect(me, "dp", ring_scatter_sum, row([each.grad for each in w.values()], me))
    norm = global_norm(part, answered(w, me), me)
    clipped = part * min(1.0, LIMIT / (norm + 1e-6))
    weights = row(w.values(), me)
    if moments.shape[1] < len(weights):  # ZeRO-1: Adam for this copy's part
        own = weights.chunk(me.size["dp"])[me.at["dp"]] - adam(moments, clipped, number)
        weights = collect(me, "dp", ring_gather, own)
    else:
        weights -= adam(moments, collect(me, "dp", ring_gather, clipped), number)
    vector_to_parameters(weights, w.values())
    return loss, part, norm


def pipeline(samples, w, me):
    """1F1B: the loss, on the last stage; afterwards each weight has the gradient of all samples."""
    for weight in w.values():
        weight.grad = torch.zeros_like(weight)
    alive, flights, loss, done = {}, [], 0.0, Counter()
    warmup = min(me.size["pp"] - 1 - me.at["pp"], len(samples))
    for way in "F" * warmup + "FB" * (len(samples) - warmup) + "B" * warmup:
        i, (source, target) = done[way], me.neighbours[way]
        with watched(me, "pp"):
            arrived = None if source is None else recv(torch.empty_like(me.boundary), source)
        if way == "F":
            x, before = arrived, me.flops
            y = forward(x if x is None else x.requires_grad_(), samples[i], w, me)
            cost = me.flops - before
            alive[i], result = (x, y, cost), y.detach()
            loss += y.item() if target is None else 0
        else:
            x, y, cost = alive.pop(i)
            y.backward(arrived)
            cost, result = 2 * cost, None if x is None else x.grad
            me.flops += cost  # two products for each of the forward's
        me.clock.spend(cost / me.speed, f"{way}{i}")
        if target is not None and result is not None:
            with watched(me, "pp"):
                flights.append(isend(result, target, name=f"{way}{i}"))
        done[way] += 1
    for flight in flights:
        flight.wait()
    return loss


def forward(x, sample, w, me):
    """One micro-batch through this stage: from activations or ids to activations or the loss."""
    via, shape = Conjugate.apply, w[f"norm1.{me.layers[0]}"].shape[1:]
    (ids, targets), table = sample, w.get("table")
    if x is None:
        mine = ids // len(table) == me.at["tp"]
        x = via(embedding(ids % len(table), table) * mine[..., None], me, *SCATTER)
    for i in me.layers:
        y = via(layer_norm(x, shape, *w[f"norm1.{i}"]), me, *GATHER)
        y = attention(y, w[f"qkv.{i}"], w[f"out.{i}"], me)
        x = x + via(y, me, *SCATTER) + w[f"out_bias.{i}"]
        y = via(layer_norm(x, shape, *w[f"norm2.{i}"]), me, *GATHER)
        y = product(gelu(product(y, w[f"up.{i}"], me)), w[f"down.{i}"], me)
        x = x + via(y, me, *SCATTER) + w[f"down_bias.{i}"]
    if me.at["pp"] < me.size["pp"] - 1:
        return x
    y = via(layer_norm(x, shape, *w["norm"]), me, *GATHER)
    return loss_of(product(y, table.T, me), targets, me) / me.tokens  # of the global batch


def attention(y, qkv, out, me):
    """Causal, of this rank's heads: their share of the output, of all tokens."""
    heads = product(y, qkv.flatten(1), me).unflatten(2, qkv.shape[1:])
    q, k, v = heads.permute(2, 1, 3, 0, 4)  # each is [batch, heads, seq, size]
    scores = product(q, k.mT, me) / q.shape[-1] ** 0.5
    later = torch.ones_like(scores, dtype=torch.bool).triu(1)
    seen = product(scores.masked_fill(later, -torch.inf).softmax(-1), v, me)
    return product(seen.permute(2, 0, 1, 3).flatten(2), out.flatten(0, 1), me)


def answered(w, me):
    """1 for each number that counts on this rank, 0 for a copy of what counts on another."""
    ones = []
    for name, weight in w.items():
        replica = name.split(".")[0] not in CUT and me.at["tp"] > 0
        second_table = name == "table" and me.at["pp"] > 0
        ones.append(torch.full_like(weight, float(not (replica or second_table))))
    return row(ones, me).chunk(me.size["dp"])[me.at["dp"]]


def global_norm(part, counts, me):
    """Of the whole gradient: squares add up over TP, over PP, and over the parts under DP."""
    squares = (part.square() * counts).sum().view(1)
    return collect(me, "world", ring_gather, squares).sum().sqrt().item()


def row(tensors, me):
    """All their numbers in a row, and zeros behind until DP can share it out."""
    flat = parameters_to_vector(tensors).detach()
    return pad(flat, (0, -len(flat) % me.size["dp"]))


def main(
    tp: int = 0,  # ranks that share a layer's matrices; 0: 2 if the ranks are even, else 1
    pp: int = 0,  # stages; 0: 2 if what is left is even, else all of it. DP is what then remains
    microbatches: int = 4,  # micro-batches of each copy in a step
    layers: int = 4,  # blocks of the model: attention, and an MLP of 4 x hidden
    hidden: int = 16,  # width of a token between the blocks
    heads: int = 8,  # heads of an attention
    seq: int = 16,  # tokens of a sample
    vocab: int = 32,  # rows of the table: looked up at the start, compared with at the end
    batch: int = 8,  # samples in a step, of all copies
    steps: int = 3,  # training steps; bytes, operations and times are of the first
    zero: int = 1,  # 1: Adam's moments are cut over the copies (ZeRO-1); 0: each has all
    order: str = "tp-dp-pp",  # of the axes: whose coordinate changes first from rank to rank
    per_node: int = 4,  # ranks of a node
    speed: float = 1000.0,  # operations of a rank in a tick
    inside: float = 100.0,  # bytes in a tick from a rank to another one of its node
    across: float = 25.0,  # bytes in a tick from a rank to another node
    latency: float = 1.0,  # ticks that a message takes besides
) -> Metrics:
    """Train a few steps in this layout and in one process, and price the first on a clock."""
    tp = tp or 2 - ranks() % 2
    pp = pp or (2 if ranks() // tp % 2 == 0 else ranks() // tp)
    dp, most = max(1, ranks() // (tp * pp)), gcd(heads, seq, vocab)
    least = min(microbatches, layers, hidden, heads, seq, vocab, batch, steps, per_node)
    slowest, axes = min(speed, inside, across, latency + 0.001), sorted(order.split("-"))
    if least < 1 or slowest < 0.001 or hidden % heads or axes != ["dp", "pp", "tp"]:
        refuse("sizes start at 1, rates at 0.001; heads divides hidden; order is tp-dp-pp or so")
    if tp * pp * dp != ranks() or most % tp or pp > layers or batch % (dp * microbatches):
        refuse(
            f"{tp} x {pp} x {dp} does not fit: the product is {ranks()} ranks, tp divides {most},"
            f" pp is at most {layers}, dp x {microbatches} micro-batches divides {batch} samples"
        )

    like = {"dtype": torch.float64, "device": device()}
    whole = model(layers, hidden, heads, vocab, like)
    data = torch.randint(vocab, (steps, batch, seq + 1), device=device())
    axes = groups({"tp": tp, "pp": pp, "dp": dp}, order)
    away = [to // per_node != rank() // per_node for to in range(ranks())]
    rate = [across if each else inside for each in away]
    me = seat(axes | {"world": [[*range(ranks())]]}, layers, batch * seq, speed)
    me.boundary = torch.empty(seq // tp, batch // dp // microbatches, hidden, **like)
    w = cut(whole, me)
    moments = torch.zeros(2, len(row(w.values(), me)) // (dp if zero else 1), **like)
    with (
        virtual_clock("step", lambda to, size: latency + size / rate[to]) as me.clock,
        wire() as sent,
    ):
        loss, part, norm = step(my_samples(data[0], microbatches, me), w, moments, 1, me)
        step_time = round(me.clock.makespan(), 9)
    metrics = {
        "step_time": shared(clocked(step_time)),
        **{f"{axis}_wait": clocked(me.waited[axis]) for axis in axes},
        **{f"{axis}_bytes": counted(me.bytes[axis]) for axis in (*axes, "tied")},
        **{f"{axis}_messages": counted(me.messages[axis]) for axis in axes},
        "product_flops": counted(me.flops),
        "node_bytes": counted(sum(size for to, size in enumerate(sent.to) if away[to])),
        "gradient_bytes": counted(part.nbytes * dp),
        "adam_bytes": counted(moments.nbytes),
        "norm_ratio_all": shared(compared(global_norm(part, 1, me) / norm)),
    }
    picture("messages", "sent in a step", row=sent.to, node=per_node, groups=axes)

    me.clock = SimpleNamespace(now=0.0, spend=lambda *_: None)  # the other steps are not timed
    alone = seat({axis: [[rank()]] for axis in (*axes, "world")}, layers, batch * seq, speed)
    truth = cut(whole, alone)
    right_moments = torch.zeros(2, len(row(truth.values(), alone)), **like)
    errors = []
    for number, ids in enumerate(data, 1):
        if number > 1:
            loss, part, norm = step(my_samples(ids, microbatches, me), w, moments, number, me)
        right, _, length = step(my_samples(ids, 1, alone), truth, right_moments, number, alone)
        gradients = cut({name: weight.grad for name, weight in truth.items()}, me)
        last_loss = everyone(loss / tp).sum().item()
        off = max_error(part, row(gradients.values(), me).chunk(dp)[me.at["dp"]])
        gap = max_error(row(w.values(), me), row(cut(truth, me).values(), me))
        errors.append((abs(last_loss - right), off, abs(norm / length - 1), gap))
    worst = everyone(torch.tensor(errors).amax(0).tolist()).amax(0)
    for name, error in zip(("loss", "grad", "norm", "weight"), worst, strict=True):
        check(f"{name} as in one process", error, "<", 1e-12)
        metrics[f"step_{name}_error"] = shared(compared(error, floor=0.0))
    return metrics | {"last_loss": shared(compared(last_loss))}


def adam(moments, gradient, steps):
    """What a step takes off the weights; the moments' rows are of the gradient and its square."""
    moments[0].lerp_(gradient, 0.1)
    moments[1].lerp_(gradient.square(), 0.001)
    mean, square = moments[0] / (1 - 0.9**steps), moments[1] / (1 - 0.999**steps)
    return RATE * mean / (square.sqrt() + 1e-6)


def collect(me, axis, collective, part, **how):
    """A collective of ring steps in one of this rank's groups."""
    with watched(me, axis):
        return collective(part.detach(), group=me.groups[axis], **how)


@contextmanager
def watched(me, axis):
    """Count for an axis what this rank sends inside, and how long that takes."""
    start = me.clock.now
    with wire() as sent:
        yield
    me.bytes[axis] += sent.sent_bytes
    me.messages[axis] += sent.sent_messages
    me.waited[axis] += me.clock.now - start


def groups(sizes, order):
    """The groups of each axis; the first of the order changes first from rank to rank."""
    names = order.split("-")[::-1]
    mesh = torch.arange(ranks()).view([sizes[axis] for axis in names])
    lines = {axis: mesh.movedim(names.index(axis), -1) for axis in sizes}
    return {axis: line.reshape(-1, sizes[axis]).tolist() for axis, line in lines.items()}


def seat(axes, layers, tokens, speed):
    """This rank's place: its groups, its neighbours, the layers of its stage, what it counts."""
    me = SimpleNamespace(tokens=tokens, speed=speed, flops=0)
    me.bytes, me.messages, me.waited = Counter(), Counter(), Counter()
    me.clock = SimpleNamespace(now=0.0, spend=lambda *_: None)  # for steps that are not timed
    mine = {axis: next(each for each in all_ if rank() in each) for axis, all_ in axes.items()}
    me.groups = mine
    me.size = {axis: len(members) for axis, members in mine.items()}
    me.at = {axis: members.index(rank()) for axis, members in mine.items()}
    stages, stage = mine["pp"], me.at["pp"]
    before, _, after = [None, *stages, None][stage : stage + 3]
    me.neighbours = {"F": (before, after), "B": (after, before)}
    me.layers = torch.arange(layers).tensor_split(len(stages))[stage].tolist()
    if len(stages) > 1 and None in (before, after):
        me.groups["tied"] = [stages[0], stages[-1]]
    return me


def cut(whole, me):
    """This rank's weights: of its stage, and its part of what TP cuts."""
    stage, last, found = me.at["pp"], me.size["pp"] - 1, {}
    for name, weight in whole.items():
        stages = {"table": (0, last), "norm": (last,)}.get(name)
        if stage in stages if stages else int(name.split(".")[1]) in me.layers:
            dim = CUT.get(name.split(".")[0])
            part = weight if dim is None else weight.chunk(me.size["tp"], dim)[me.at["tp"]]
            found[name] = part.detach().clone().requires_grad_()
    return found


def my_samples(ids, microbatches, me):
    """The micro-batches of this rank's copy, tokens first; a token's target is the next one."""
    mine = ids.chunk(me.size["dp"])[me.at["dp"]].chunk(microbatches)
    return [(each[:, :-1].T, each[:, 1:].T) for each in mine]


def product(a, b, me):
    """a @ b, counted: 2 for each multiply-add."""
    me.flops += 2 * a.numel() * b.shape[-1]
    return a @ b


class Conjugate(torch.autograd.Function):
    """A collective of TP forward, and the one that belongs to it backward, if any."""

    @staticmethod
    def forward(ctx, x, me, there, back):
        """There."""
        ctx.me, ctx.back = me, back
        return collect(me, "tp", there, x)

    @staticmethod
    def backward(ctx, gradient):
        """And back."""
        back = collect(ctx.me, "tp", ctx.back, gradient) if ctx.back else gradient
        return back, None, None, None


def loss_of(logits, targets, me):
    """Cross entropy summed over all tokens, from this rank's part of their logits."""
    rows = logits.shape[2]
    largest = collect(me, "tp", ring_sum, logits.amax(2), combine=torch.maximum)
    own = targets // rows == me.at["tp"]
    hit = logits.gather(2, (targets % rows)[..., None])[..., 0] * own
    shares = torch.stack(((logits - largest[..., None]).exp().sum(2), hit))
    total, hit = Conjugate.apply(shares, me, ring_sum, None)
    return (total.log() + largest - hit).sum()


def model(layers, hidden, heads, vocab, like):
    """The whole model: numbers around 0, the norms' factors around 1."""
    h, size = hidden, hidden // heads
    shapes = {"table": (vocab, h), "norm": (2, h)}
    for i in range(layers):
        shapes |= {f"qkv.{i}": (h, 3, heads, size), f"out.{i}": (heads, size, h)}
        shapes |= {f"up.{i}": (h, 4 * h), f"down.{i}": (4 * h, h)}
        shapes |= {f"norm1.{i}": (2, h), f"norm2.{i}": (2, h)}
        shapes |= {f"out_bias.{i}": (h,), f"down_bias.{i}": (h,)}
    whole = {name: torch.randn(shape, **like) / h**0.5 for name, shape in shapes.items()}
    for name in whole:
        whole[name][0] += "norm" in name
    return whole


BREAKS = {
    "replicas-counted": Break(
        old='not in CUT and me.at["tp"] > 0',
        new='not in CUT and me.at["dp"] > 0',
        expect="norm as in one process",
        ranks=2,
        source="Megatron-LM leaves TP's duplicates out of the norm; here DP's coordinate is asked",
    ),
    "own-tokens-only": Break(
        old='collect(me, "tp", ring_sum, parameters_to_vector(owed))',
        new='collect(me, "dp", ring_sum, parameters_to_vector(owed))',
        expect="grad as in one process",
        ranks=2,
        source="Megatron-LM sums layer norm gradients over TP under sequence parallelism; here DP",
    ),
    "table-not-added": Break(
        old='w["table"].grad = collect(me, "tied", ring_sum, w["table"].grad)',
        new='w["table"].grad = collect(me, "dp", ring_sum, w["table"].grad)',
        expect="grad as in one process",
        ranks=3,
        source="stages cut by hand: each end sums over its own copies and trains its own table",
    ),
    "every-backward": Break(
        old="            y.backward(arrived)\n",
        new="            y.backward(arrived)\n            for each in w.values():\n"
        '                each.grad = collect(me, "dp", ring_sum, each.grad)\n',
        expect="grad as in one process",
        ranks=8,
        source="hooks that sum .grad behind each backward: what was summed is summed again",
    ),
}


if __name__ == "__main__":
    run(__file__)
