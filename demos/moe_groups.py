"""Experts' gradients: summed over those who hold the expert, divided by all who bring tokens.

The trick
    On N ranks every weight has a group of copies and a group of shards, and their sizes make N: for
    the dense layer DP and TP; for experts EDP = N / EP ranks that lie EP apart, and the EP ranks
    side by side; a router has N copies. Two meshes on the same ranks, and EP need not be TP.

    A rank's tokens go by all-to-all to experts anywhere in its EP group; their gradients go the
    same way. So after backward an expert's gradient holds the tokens of EP ranks, and the sum over
    its copies everybody's. A mean over tokens divides that by N, as for any other weight: by the
    EDP copies, it is EP times as long. A sum over all N adds up different experts.

    Adam forgets a constant factor; the global norm does not, and counts a weight once: its squares
    are summed over shards, not copies. Ranks that ask nobody clip by norms of their own, and copies
    of the dense layer part. ZeRO-1 cuts Adam's states over copies: 1 / N of all, whatever EP is.

    Left out: capacity and drops, balance losses, overlap, TP inside an expert.

Watch
    expert_copies (ranks)            with the same experts as this one, counted by comparing weights
    expert_next (rank)               the next one with the same experts, going round
    distinct_experts (shared, count) different ones among those of all ranks, at the start
    expert_bytes (bytes)             of the experts' gradient on this rank
    dense_bytes (bytes)              of the dense layer's gradient on this rank, router not
    expert_sent (bytes, step)        by this rank to reduce the experts' gradient; no tokens
    dense_sent (bytes, step)         by this rank to reduce the dense layer's gradient
    expert_states (bytes)            Adam's momentum and variance of experts, ZeRO-1 over copies
    gradient_error (difference)      largest one of a gradient from one process, all weights
    weight_gap (difference)          largest one of a weight from one process after the last step
    scale_by_copies (shared, ratio)  length of experts' gradients divided by EDP, by the right one
    averaged_error (shared, ratio)  error of experts' gradients averaged over all, by their length
    norm_used (norm)                 that this rank clips by in the first step
    norm_own (norm)                  of the reduced gradients that this rank holds
    adam_gap (shared, difference)    of the last weights, with experts' gradients EP times as long
    clipped_gap (shared, difference) the same where the global norm clips
    dense_drift (difference)         of the dense layer from its first copy after the last step
    own_drift (difference)           the same where each rank clips by norm_own
    expert_drift (difference)        of experts from their first copy's after the last step

Run
    quizkit demo moe-groups --gpus 4
    python demos/moe_groups.py --ranks 8 --ep 4 --tp 2
    torchrun --nproc-per-node 4 demos/moe_groups.py
"""

from collections import namedtuple
from functools import partial

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import all_gather, device, everyone, exchange, max_error, rank, ranks, ring_gather
from _bench import ring_scatter_sum, ring_sum, wire

import torch
from torch.nn.functional import pad
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "moe"
RATE, BETA, TINY = 0.01, 0.9, 1e-15
LIMIT = 0.1  # norm above which gradients are clipped
INNER = 5  # width inside an expert

Part = namedtuple("Part", "name weights copies shards")  # both are lists of ranks, this one in each


def line(apart, size):
    """This rank's group along one axis of a mesh: `size` ranks, `apart` from one to the next."""
    first = rank() - rank() // apart % size * apart
    return [*range(first, first + apart * size, apart)]


def parts_of(weights, tp, ep):
    """Which ranks hold the same weights as this one, and which hold the rest of them."""
    n = ranks()
    return [
        Part("dense", weights[:2], line(tp, n // tp), line(1, tp)),
        Part("router", weights[2:3], line(1, n), line(1, 1)),
        Part("experts", weights[3:], line(ep, n // ep), line(1, ep)),
    ]


def start(part):
    """Copies begin alike: with what the first of them holds."""
    for weight in part.weights:
        weight.data.copy_(ring_gather(weight[None], group=part.copies)[0])


class Way(torch.autograd.Function):
    """Values go `there`, and their gradients come `back`."""

    @staticmethod
    def forward(ctx, values, there, back):
        """Keep the way home."""
        ctx.back = back
        return there(values.detach())

    @staticmethod
    def backward(ctx, gradient):
        """Take it."""
        return ctx.back(gradient), None, None


def swap(rows, out, into, group):
    """All-to-all: out[i] rows go to the group's i-th rank, and into[i] come from it."""
    me, pieces = group.index(rank()), rows.split(out)
    came = [rows.new_empty(count, *rows.shape[1:]) for count in into]
    came[me] = pieces[me]
    for step in range(1, len(group)):
        to, source = (me + step) % len(group), me - step
        exchange(pieces[to], group[to], came[source], group[source]).wait()
    return torch.cat(came)


def layer(weights, tokens, tp, ep, k):
    """A dense layer cut over `tp`, then k experts a token of those on the ranks of `ep`."""
    up, down, router, first, last = weights
    gather, scatter = partial(ring_gather, group=tp), partial(ring_scatter_sum, group=tp)
    inner = torch.tanh(Way.apply(tokens, gather, scatter) @ up)
    hidden = tokens + Way.apply(inner @ down, scatter, gather)

    scores, chosen = (hidden @ router).topk(k)
    order = chosen.flatten().argsort(stable=True)  # a token k times, by expert
    counts = chosen.flatten().bincount(minlength=router.shape[1]).view(len(ep), -1)
    ours = swap(counts, [1] * len(ep), [1] * len(ep), ep)  # from each rank, for each expert here
    sizes = counts.sum(1).tolist(), ours.sum(1).tolist()
    dispatch, combine = (partial(swap, out=a, into=b, group=ep) for a, b in (sizes, sizes[::-1]))

    rows = Way.apply(hidden[order // k], dispatch, combine)
    place = torch.arange(len(first), device=rows.device).repeat(len(ep))
    place = place.repeat_interleave(ours.flatten())
    done = torch.zeros_like(rows)
    for e in range(len(first)):  # those without a token too: their gradient is 0, not missing
        at = (place == e).nonzero().flatten()
        done = done.index_add(0, at, torch.tanh(rows[at] @ first[e]) @ last[e])
    home = Way.apply(done, combine, dispatch) * scores.softmax(1).flatten()[order, None]
    return hidden.index_add(0, order // k, home)


def reduced(part):
    """The part's gradient in one row, of the mean over all tokens."""
    row = torch.cat([weight.grad.flatten() for weight in part.weights])
    return ring_sum(row, part.copies) / ranks()


def global_norm(parts, gradients):
    """Each weight counted once: over the ranks with other weights, not those with the same."""
    total = torch.zeros_like(gradients[0][0])
    for part, row in zip(parts, gradients, strict=True):
        total += ring_sum(row.square().sum(), part.shards)
    return total.sqrt()


def own_norm(_parts, gradients):
    """What a rank finds that asks nobody: for comparison."""
    return torch.cat(gradients).norm()


class Adam:
    """Momentum and variance of a part; with ZeRO-1, of this rank's share among its copies."""

    def __init__(self, part, zero):
        self.weights, self.group = part.weights, part.copies if zero else [rank()]
        self.share = self.cut(parameters_to_vector(part.weights).detach()).clone()
        self.momentum, self.variance = torch.zeros_like(self.share), torch.zeros_like(self.share)

    def cut(self, row):
        """This rank's piece, padded with zeros."""
        n = len(self.group)
        return pad(row, (0, -len(row) % n)).view(n, -1)[self.group.index(rank())]

    @torch.no_grad()
    def step(self, gradient):
        """Update the share, and take the others' from those who have them."""
        adam(self.share, self.momentum, self.variance, self.cut(gradient))
        row = ring_gather(self.share, group=self.group)
        vector_to_parameters(row[: len(gradient)], self.weights)


def adam(weights, momentum, variance, gradient):
    """One step in place; the last term keeps a gradient of 0 from 0 / 0."""
    momentum.lerp_(gradient, 1 - BETA)
    variance.lerp_(gradient.square(), 1 - BETA)
    weights -= RATE * momentum / (variance.sqrt() + TINY)


def main(
    ep: int = 0,  # expert-parallel size; 0: 2 if the number of ranks is even, else all of them
    tp: int = 1,  # tensor-parallel size of the dense layer; its ranks each bring tokens as well
    per_rank: int = 2,  # experts on a rank
    k: int = 2,  # experts of a token
    tokens: int = 6,  # tokens of a rank
    extra: int = 0,  # tokens that a rank has beyond those of a rank in the TP group before
    steps: int = 3,  # training steps; gradients and norms are of the first
    width: int = 8,  # hidden size
    ffn: int = 24,  # width inside the dense layer
) -> Metrics:
    """Two meshes on the same ranks: gradients, norms and weights against one process."""
    n = ranks()
    ep = ep or (2 if n % 2 == 0 else n)
    fit = [size for size in range(1, n + 1) if n % size == 0]
    if not {ep, tp} <= {*fit}:
        refuse(f"ep {ep} and tp {tp} must divide {n} ranks: take of {fit}")
    experts = ep * per_rank
    if min(per_rank, k, tokens, steps, width, ffn) < 1 or extra < 0 or k > experts or ffn % tp:
        refuse(f"sizes start at 1, extra at 0; k is {experts} at most, and {tp} divides ffn")
    shapes = (width, ffn), (ffn, width), (width, experts)
    shapes += (experts, width, INNER), (experts, INNER, width)
    random = partial(torch.randn, dtype=torch.float64, device=device())
    whole = [random(shape) / shape[-2] ** 0.5 for shape in shapes]
    sizes = [tokens + extra * (r // tp) for r in range(n)]
    batches = [random(steps, 2, size, width) for size in sizes]  # inputs and targets
    job = Job(whole, batches, tp, ep, k, sum(sizes) / n)

    weights, parts = job.begin()
    dense, _, sparse = parts
    held = all_gather(row_of(sparse.weights))
    alike = [r for r in range(n) if torch.equal(held[r], held[rank()])]
    distinct = len(torch.cat(all_gather(weights[3].detach())).unique(dim=0))
    check("copies hold the same experts", alike == sparse.copies, "==", True)
    check("every expert is another one", distinct, "==", experts)
    with wire() as of_tokens:
        outputs = job.backward(weights, parts, 0)
    expected, truth = job.alone(whole, 0)
    off = max_error(outputs, expected.split(sizes)[rank()])
    check("outputs equal one process", off, "<", 1e-12)

    right, raw = parts_of(job.cut(truth), tp, ep), row_of(w.grad for w in sparse.weights)
    gradients, sent, errors = [], [], []
    for part, wanted in zip(parts, right, strict=True):
        with wire() as counts:
            gradients.append(reduced(part))
        sent.append(counts)
        errors.append(max_error(gradients[-1], row_of(wanted.weights)))
        check(f"{part.name}: gradients equal one process", errors[-1], "<", 1e-12)
    true, by_copies = row_of(right[2].weights), ring_sum(raw, sparse.copies) / len(sparse.copies)
    rows = true, by_copies, ring_sum(raw) / n - true
    lengths = [ring_sum(row.square().sum(), sparse.shards).sqrt() for row in rows]
    wrong = max_error(global_norm(parts, gradients), row_of(truth).norm())
    check("a weight counts once", wrong, "<", 1e-12)

    plain, _, norms = job.train(global_norm, zero=False)
    sharded, kept, _ = job.train(global_norm, zero=True)
    parted, _, _ = job.train(own_norm, zero=False)
    wanted = [job.trained(1, clip) for clip in (False, True)]
    longer = [job.trained(ep, clip) for clip in (False, True)]
    late = [max_error(row_of(a), row_of(b)) for a, b in zip(wanted, longer, strict=True)]
    gaps = [max_error(row_of(each), row_of(job.cut(wanted[1]))) for each in (plain, sharded)]
    drifts = [apart(each[:2], dense.copies) for each in (plain, parted)]
    drifts += [apart(plain[3:], sparse.copies)]
    check("weights equal one process", max(gaps), "<", 1e-12)
    check("copies of the dense layer stay alike", drifts[0], "==", 0.0)
    check("copies of experts stay alike", drifts[2], "==", 0.0)

    axes = {"tp": dense.shards, "dp": dense.copies, "ep": sparse.shards, "edp": sparse.copies}
    groups = {name: sorted({*map(tuple, everyone(g).int().tolist())}) for name, g in axes.items()}
    picture("messages", "tokens, both ways", row=of_tokens.to, groups=groups)
    picture("messages", "dense gradients", row=sent[0].to, groups=groups)
    picture("messages", "expert gradients", row=sent[2].to, groups=groups)
    return {
        "expert_copies": counted(len(alike)),
        "expert_next": counted(alike[(alike.index(rank()) + 1) % len(alike)]),
        "distinct_experts": shared(counted(distinct)),
        "expert_bytes": counted(raw.nbytes),
        "dense_bytes": counted(gradients[0].nbytes),
        "expert_sent": counted(sent[2].sent_bytes),
        "dense_sent": counted(sent[0].sent_bytes),
        "expert_states": counted(kept.momentum.nbytes + kept.variance.nbytes),
        "gradient_error": compared(max(errors)),
        "weight_gap": compared(max(gaps)),
        "scale_by_copies": shared(compared((lengths[1] / lengths[0]).item())),
        "averaged_error": shared(compared((lengths[2] / lengths[0]).item())),
        "norm_used": compared(norms[0].item()),
        "norm_own": compared(own_norm(parts, gradients).item()),
        "adam_gap": shared(compared(late[0])),
        "clipped_gap": shared(compared(late[1])),
        "dense_drift": compared(drifts[0]),
        "own_drift": compared(drifts[1]),
        "expert_drift": compared(drifts[2]),
    }


# Below: a rank's job, and what it is held against.


class Job(namedtuple("Job", "whole batches tp ep k mean")):
    """All weights, all ranks' tokens, and how many a rank has on average."""

    def cut(self, whole):
        """This rank's piece of each: columns, rows, all of the router, some experts."""
        up, down, router, first, last = whole
        t, e = rank() % self.tp, rank() % self.ep
        dense = up.chunk(self.tp, 1)[t], down.chunk(self.tp)[t]
        return *dense, router, first.chunk(self.ep)[e], last.chunk(self.ep)[e]

    def begin(self):
        """Fresh weights in parts; copies but the first bring something else at first."""
        weights = [(each + 0.0).requires_grad_() for each in self.cut(self.whole)]
        parts = parts_of(weights, self.tp, self.ep)
        for part in parts:
            for weight in part.weights:
                weight.data += rank() - part.copies[0]
            start(part)
        return weights, parts

    def backward(self, weights, parts, step):
        """Forward and backward of this rank's tokens: the outputs."""
        inputs, targets = self.batches[rank()][step]
        for weight in weights:
            weight.grad = None
        outputs = layer(weights, inputs, parts[0].shards, parts[2].shards, self.k)
        ((outputs - targets).square().mean(1).sum() / self.mean).backward()
        return outputs

    def train(self, norm_of, zero):
        """All steps: the weights, the experts' optimizer, the norms."""
        weights, parts = self.begin()
        optimizers, norms = [Adam(part, zero) for part in parts], []
        for step in range(len(self.batches[0])):
            self.backward(weights, parts, step)
            gradients = [reduced(part) for part in parts]
            norms.append(norm_of(parts, gradients))
            for optimizer, gradient in zip(optimizers, gradients, strict=True):
                optimizer.step(gradient * (LIMIT / norms[-1]).clamp(max=1))
        return weights, optimizers[2], norms

    def alone(self, whole, step):
        """One process, all experts for all tokens, most of them times 0: outputs and gradients."""
        weights = up, down, router, first, last = [each.clone().requires_grad_() for each in whole]
        inputs, targets = torch.cat([each[step] for each in self.batches], 1)
        hidden = inputs + torch.tanh(inputs @ up) @ down
        best = (hidden @ router).topk(self.k)
        times = torch.zeros_like(hidden @ router).scatter(1, best.indices, best.values.softmax(1))
        answers = torch.tanh(hidden @ first) @ last  # [experts, tokens, width]
        outputs = hidden + (times.T[..., None] * answers).sum(0)
        (outputs - targets).square().mean().backward()
        return outputs.detach(), [weight.grad for weight in weights]

    def trained(self, scale, clip):
        """All steps on one process, experts' gradients `scale` times as long."""
        weights = [each.clone() for each in self.whole]
        states = [(torch.zeros_like(each), torch.zeros_like(each)) for each in weights]
        for step in range(len(self.batches[0])):
            gradients = self.alone(weights, step)[1]
            gradients[3:] = [gradient * scale for gradient in gradients[3:]]
            factor = (LIMIT / row_of(gradients).norm()).clamp(max=1) if clip else 1
            for weight, state, gradient in zip(weights, states, gradients, strict=True):
                adam(weight, *state, gradient * factor)
        return weights


def row_of(tensors):
    """All of them in one row."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def apart(weights, copies):
    """The largest difference from the first copy's."""
    return max_error(row_of(weights), ring_gather(row_of(weights)[None], group=copies)[0])


BREAKS = {
    "over-all-ranks": Break(
        old="ring_sum(row, part.copies) / ranks()",
        new="ring_sum(row) / ranks()",
        expect="experts: gradients equal one process",
        ranks=2,
        source="github.com/NVIDIA/Megatron-LM/pull/6080: no allreduce=False, so over DP",
    ),
    "divided-by-copies": Break(
        old="ring_sum(row, part.copies) / ranks()",
        new="ring_sum(row, part.copies) / len(part.copies)",
        expect="experts: gradients equal one process",
        ranks=2,
        source="github.com/deepspeedai/DeepSpeed/pull/6546: experts were divided by the EDP size",
    ),
    "skipped": Break(
        old="ring_sum(row, part.copies) / ranks()",
        new="(row if part.name == 'experts' else ring_sum(row, part.copies)) / ranks()",
        expect="copies of experts stay alike",
        ranks=4,
        source="github.com/facebookresearch/fairseq/issues/4220: the all-reduce skips experts",
    ),
    "norm-of-its-own": Break(
        old="ring_sum(row.square().sum(), part.shards)",
        new="row.square().sum()",
        expect="copies of the dense layer stay alike",
        ranks=2,
        source="github.com/NVIDIA-NeMo/Automodel/issues/3816: each EP rank clips by another norm",
    ),
    "starts-from-rank-0": Break(
        old="ring_gather(weight[None], group=part.copies)[0]",
        new="ring_gather(weight[None])[0]",
        expect="every expert is another one",
        ranks=2,
        source="github.com/microsoft/Tutel/issues/204: experts are to be kept out of DDP",
    ),
}


if __name__ == "__main__":
    run(__file__)
