"""Experts whole on a rank, or a slice of each on all: rows travel k times, or every token to all.

The trick
    EP: a rank holds E / N whole experts. A token goes to the ranks of its k experts and its results
    come back: 2k (N-1) / N rows of it on the wire where routing is even. TP: a rank holds 1 / N of
    every expert. Tokens are all-gathered and partial results reduce-scattered: 2 (N-1) rows of it,
    whatever k is. So TP sends N / k times EP's bytes, and fewer than EP does if k is above N.

    An expert's GEMM has as many rows either way, tokens x k / E of them. EP keeps its width, TP
    makes E of them on every rank, N times as thin. But a popular expert is everybody's under TP and
    one rank's under EP, and the others wait for it.

    Rows of an expert are padded to the blocks of a grouped GEMM. A token's experts lie on several
    nodes, drawn at random on m (1 - (1 - 1/m)^k) of m, roughly. And a token meets k of E experts:
    the weights it has a gradient for are the active ones.

    Left out: tokens that two experts on a rank could share, overlap, capacity, experts cut both
    ways, biases and gates.

Watch
    sent_ep (bytes, forward)       by this rank with whole experts, dispatch and combine, no counts
    sent_tp (bytes, forward)       by this rank with sliced experts, gather and reduce-scatter
    macs_ep (MACs, forward)        of this rank's experts, whole
    macs_tp (MACs, forward)        of this rank's slices of experts
    gemms_ep (count, forward)      first products of experts on this rank, whole, with rows or not
    gemms_tp (count, forward)      first products of slices on this rank
    inner_ep (count)               columns of such a product, whole experts
    inner_tp (count)               columns of such a product, slices
    rows_mean (shared, rows)       tokens of an expert, on average
    rows_most (shared, rows)       tokens of the busiest expert
    rows_padded (shared, rows)     of all experts, each padded to blocks of --block
    rows_routed (shared, rows)     of all experts, tokens times k
    nodes_mean (shared, count)     different nodes among a token's experts, on average over 20000
                                   drawn at random, --nodes of as many experts each
    params_total (shared, elements)   of the layer: dense part, router, experts
    params_active (shared, elements)  those with a gradient from a single token
    params_expert (shared, elements)  of one expert
    gradient_error (difference)    largest one of a gradient from one process, both ways

Run
    quizkit demo expert-cuts --gpus 4
    python demos/expert_cuts.py --ranks 8 --k 1 --hot 3
    torchrun --nproc-per-node 4 demos/expert_cuts.py
"""

from functools import partial
from types import SimpleNamespace

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, exchange, max_error, rank, ranks, ring_gather
from _bench import ring_scatter_sum, ring_sum, wire

import torch

TOPIC = "moe"


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


def swap(rows, out, into):
    """All-to-all: out[i] rows go to rank i, and into[i] come from it."""
    me, n, pieces = rank(), ranks(), rows.split(out)
    came = [rows.new_empty(count, *rows.shape[1:]) for count in into]
    came[me] = pieces[me]
    for step in range(1, n):
        to, source = (me + step) % n, (me - step) % n
        exchange(pieces[to], to, came[source], source).wait()
    return torch.cat(came)


def compute(rows, owner, first, last, seen):
    """Each expert here on its own rows: two products."""
    done = torch.zeros_like(rows)
    for e in range(len(first)):
        at = (owner == e).nonzero().flatten()
        done = done.index_add(0, at, torch.tanh(rows[at] @ first[e]) @ last[e])
        seen.gemms, seen.inner = seen.gemms + 1, first.shape[2]
        seen.macs += len(at) * (first[e].numel() + last[e].numel())
    return done


def whole_experts(tokens, chosen, shares, first, last, seen):
    """EP: rows go to the rank of their expert, and results come back."""
    k, n = chosen.shape[1], ranks()
    order = chosen.flatten().argsort(stable=True)
    counts = chosen.flatten().bincount(minlength=n * len(first)).view(n, -1)
    ours = swap(counts, [1] * n, [1] * n)  # from each rank, for each expert here
    out, into = counts.sum(1).tolist(), ours.sum(1).tolist()
    dispatch, combine = partial(swap, out=out, into=into), partial(swap, out=into, into=out)
    place = torch.arange(len(first), device=tokens.device).repeat(n)
    owner = place.repeat_interleave(ours.flatten())
    with wire() as seen.sent:
        rows = Way.apply(tokens[order // k], dispatch, combine)
        home = Way.apply(compute(rows, owner, first, last, seen), combine, dispatch)
    weighed = home * shares.flatten()[order, None]
    return torch.zeros_like(tokens).index_add(0, order // k, weighed)


def sliced_experts(tokens, chosen, shares, first, last, seen):
    """TP: everybody's tokens meet a slice of every expert, and the slices' results are added."""
    k = chosen.shape[1]
    chosen = ring_gather(chosen)
    shares = Way.apply(shares, ring_gather, ring_scatter_sum)
    with wire() as seen.sent:
        gathered = Way.apply(tokens, ring_gather, ring_scatter_sum)
        done = compute(gathered.repeat_interleave(k, 0), chosen.flatten(), first, last, seen)
        weighed = done * shares.flatten()[:, None]
        whole = weighed.view(-1, k, tokens.shape[1]).sum(1)
        return Way.apply(whole, ring_scatter_sum, ring_gather)


def cut(experts, way):
    """This rank's part of them: some whole ones, or columns and rows of all."""
    first, last = experts
    if way == "ep":
        return first.chunk(ranks())[rank()], last.chunk(ranks())[rank()]
    return first.chunk(ranks(), 2)[rank()], last.chunk(ranks(), 1)[rank()]


def route(hidden, router, k, balanced, start):
    """k experts a token and their shares; `balanced` deals them out in turn, not by score."""
    shares = (hidden @ router).softmax(1)
    chosen = shares.topk(k).indices
    if balanced:
        turn = torch.arange(start * k, (start + len(hidden)) * k, device=hidden.device)
        chosen = (turn % router.shape[1]).view(-1, k)
    return chosen, shares.gather(1, chosen)


def main(
    experts: int = 0,  # of the layer; 0: two for each rank
    k: int = 2,  # experts of a token
    tokens: int = 12,  # tokens of a rank
    balanced: bool = False,  # deal experts out in turn, so that loads are equal
    hot: float = 0.0,  # added to every token's score for expert 0
    block: int = 8,  # rows of a block of the grouped GEMM
    nodes: int = 2,  # nodes that the experts are drawn on, for nodes_mean
    width: int = 6,  # hidden size
    inner: int = 24,  # inner width of an expert
) -> Metrics:
    """The same layer with whole experts and with sliced ones, against one process."""
    n = ranks()
    experts = experts or 2 * n
    if experts % n or inner % n:
        refuse(f"{experts} experts and an inner width of {inner} must be multiples of {n} ranks")
    if min(experts, tokens, block, nodes, width, inner) < 1 or not 0 < k <= experts:
        refuse(f"sizes start at 1, and k lies in 1 to {experts}")
    if experts % nodes or experts > 4096:
        refuse(f"{experts} experts, 4096 at most, must be a multiple of {nodes} nodes")
    shapes = (width, width), (width, experts), (experts, width, inner), (experts, inner, width)
    random = partial(torch.randn, dtype=torch.float64, device=device())
    whole = [random(shape) / shape[-2] ** 0.5 for shape in shapes]
    whole[1][:, 0] += hot / width
    inputs, targets = random(2, n * tokens, width).chunk(2)
    inputs, targets = inputs[0] + (hot > 0), targets[0]

    truth = [weight.clone().requires_grad_() for weight in whole]
    expected, chosen = alone(truth, inputs, k, balanced)
    (expected - targets).square().sum().backward()
    wanted = [weight.grad for weight in truth]
    loads = chosen.flatten().bincount(minlength=experts)
    found, errors = {}, []
    for way, run_experts in (("ep", whole_experts), ("tp", sliced_experts)):
        seen = found[way] = SimpleNamespace(gemms=0, inner=0, macs=0)
        pieces = [*whole[:2], *cut(whole[2:], way)]
        dense, router, first, last = [(piece + 0.0).requires_grad_() for piece in pieces]
        here = slice(rank() * tokens, (rank() + 1) * tokens)
        hidden = inputs[here] + torch.tanh(inputs[here] @ dense)
        picks = route(hidden, router, k, balanced, rank() * tokens)
        outputs = hidden + run_experts(hidden, *picks, first, last, seen)
        (outputs - targets[here]).square().sum().backward()
        off = max_error(outputs, expected[here])
        check(f"{way}: outputs equal one process", off, "<", 1e-12)
        ours = [ring_sum(dense.grad), ring_sum(router.grad), first.grad, last.grad]
        right = [*wanted[:2], *cut(wanted[2:], way)]
        errors += [max_error(*pair) for pair in zip(ours, right, strict=True)]
        check(f"{way}: gradients equal one process", max(errors[-4:]), "<", 1e-12)
        picture("messages", f"{way}: forward", row=seen.sent.to)
    ep, tp = found["ep"], found["tp"]
    work = everyone([ep.macs, tp.macs]).sum(0).tolist()
    check("as many products either way", work[0], "==", work[1])
    once = (n - 1) * tokens * width * whole[0].itemsize
    check("slices send each token to all, and back", tp.sent.sent_bytes, "==", 2 * once)

    one = [weight.clone().requires_grad_() for weight in whole]
    alone(one, inputs[:1], k, balanced)[0].square().sum().backward()
    drawn = torch.rand(20000, experts, device=device()).topk(k).indices // (experts // nodes)
    met = torch.zeros(20000, nodes, device=device()).scatter(1, drawn, 1.0).sum(1)
    return {
        "sent_ep": counted(ep.sent.sent_bytes),
        "sent_tp": counted(tp.sent.sent_bytes),
        "macs_ep": counted(ep.macs),
        "macs_tp": counted(tp.macs),
        "gemms_ep": counted(ep.gemms),
        "gemms_tp": counted(tp.gemms),
        "inner_ep": counted(ep.inner),
        "inner_tp": counted(tp.inner),
        "rows_mean": shared(counted(loads.double().mean().item())),
        "rows_most": shared(counted(loads.max().item())),
        "rows_padded": shared(counted(sum(-(-load // block) * block for load in loads.tolist()))),
        "rows_routed": shared(counted(loads.sum().item())),
        "nodes_mean": shared(counted(met.double().mean().item())),
        "params_total": shared(counted(sum(weight.numel() for weight in whole))),
        "params_active": shared(counted(sum((w.grad != 0).sum().item() for w in one))),
        "params_expert": shared(counted(whole[2][0].numel() + whole[3][0].numel())),
        "gradient_error": compared(max(errors)),
    }


# Below: what it is held against.


def alone(weights, inputs, k, balanced):
    """One process, every expert for every token, most of them times 0; and who was chosen."""
    dense, router, first, last = weights
    hidden = inputs + torch.tanh(inputs @ dense)
    chosen, shares = route(hidden, router, k, balanced, 0)
    times = torch.zeros_like(hidden @ router).scatter(1, chosen, shares)
    answers = torch.tanh(hidden @ first) @ last  # [experts, tokens, width]
    return hidden + (times.T[..., None] * answers).sum(0), chosen


BREAKS = {
    "gathered-one-way": Break(
        old="Way.apply(tokens, ring_gather, ring_scatter_sum)",
        new="Way.apply(tokens, ring_gather, lambda g: g.chunk(ranks())[rank()])",
        expect="tp: gradients equal one process",
        ranks=2,
        source="github.com/NVIDIA-NeMo/Automodel/pull/1260: no reduce-scatter after the gather",
    ),
    "dealt-out-in-turn": Break(
        old="return first.chunk(ranks())[rank()], last.chunk(ranks())[rank()]",
        new="return first[rank() :: ranks()], last[rank() :: ranks()]",
        expect="ep: outputs equal one process",
        ranks=2,
        source="vLLM places experts linear or round_robin: weights and routing must be of one kind",
    ),
}


if __name__ == "__main__":
    run(__file__)
