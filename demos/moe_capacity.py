"""Capacity: as many slots for every expert, so that messages are equal; what finds none is dropped.

The trick
    A rank gives each expert C = factor * k * tokens / E slots, rounded up, and fills them one after
    the other. Every message then has C rows for each expert of its receiver: no counts are told
    beforehand and all shapes are fixed, but empty slots travel as well. A copy that comes too late
    is dropped: that expert adds nothing. The residual keeps the token; with no copy left it passes
    the layer unchanged.

    Who is late? By choice, first choices of all tokens sit down before any second one, in the order
    of the text. By weight, heavy copies sit first at every expert, and as many are dropped, but
    lighter ones. A factor of 1 is enough if loads are exactly even, which chance alone is not.

Watch
    expert_slots (shared, rows)        of each expert for the tokens of one rank
    dropped (rows)                     copies of this rank that find no slot, by choice
    dropped_first (rows)               of those the first choices of their tokens
    passed (tokens)                    of this rank that no expert computes, by choice
    empty (rows)                       slots of this rank that are sent empty, by choice
    sent_slots (bytes, forward)        sent by this rank there and back, empty slots included
    sent_filled (bytes, forward)       the same with empty slots left out, no counts added
    lost_choice (shared, ratio)        weight of dropped copies over that of all, by choice
    lost_weight (shared, ratio)        weight of dropped copies over that of all, by weight
    passed_gap (shared, difference)    of a token that no expert computes from what went in, largest
    dropped_even (shared, ratio)       of copies of 4096 tokens whose experts are drawn at random,
                                       all as likely
    dropped_zipf (shared, ratio)       the same if expert i is 1/i as likely as the first one
    out_gap (shared, difference)       of outputs from a loop over tokens that counts seats, largest
    grad_gap (shared, difference)      of any gradient from that loop's, largest: tokens, router,
                                       experts

Run
    quizkit demo moe-capacity --gpus 4
    python demos/moe_capacity.py --ranks 3 --factor 1.5 --top 3
    torchrun --nproc-per-node 4 demos/moe_capacity.py
"""

import math
from copy import deepcopy

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, exchange, max_error, rank, ranks, ring_sum, wire

import torch
from torch.nn.functional import one_hot

TOPIC = "moe"


def layer(x, gate, experts, top, factor, seats):
    """Residual and experts; `experts` are mine, as many on every rank."""
    total = gate.shape[1]
    chosen, weights = route(x, gate, top)
    slots = capacity(factor, top, len(x), total)
    place = seats(chosen, weights, total)
    seated = place < slots
    copy, choice = seated.nonzero(as_tuple=True)
    slot = chosen[copy, choice] * slots + place[copy, choice]
    rows = x.new_zeros(total * slots, x.shape[1]).index_copy(0, slot, x[copy])
    came = Turn.apply(rows)  # from each rank, `slots` rows for each of my experts
    mine = came.unflatten(0, (ranks(), len(experts), slots))
    results = [expert(mine[:, e]) for e, expert in enumerate(experts)]
    back = Turn.apply(torch.stack(results, 1).flatten(0, 2))
    # A dropped copy keeps its weight: the others are not made heavier for it.
    kept = back[slot] * weights[copy, choice, None]
    return x + torch.zeros_like(x).index_add(0, copy, kept), seated


def route(x, gate, top):
    """The k best experts of each token, the best first, and their weights: in all 1."""
    scores, chosen = (x @ gate).topk(top, dim=1)
    return chosen, scores.softmax(1)


def capacity(factor, top, tokens, total):
    """Slots of an expert for one rank's tokens."""
    return math.ceil(factor * top * tokens / total)


def queued(numbers, total):
    """Of copies in the order in which they come: how many came to the same expert before."""
    comes = one_hot(numbers, total)
    return (comes.cumsum(0) * comes).sum(1) - 1


def by_choice(chosen, _weights, total):
    """Each copy's place in the queue of its expert: all first choices, then all second ones."""
    top = chosen.shape[1]
    return queued(chosen.T.flatten(), total).view(top, -1).T


def by_weight(chosen, weights, total):
    """The same if heavy copies go before light ones."""
    order = weights.flatten().argsort(descending=True, stable=True)
    place = torch.empty_like(order)
    place[order] = queued(chosen.flatten()[order], total)
    return place.view_as(chosen)


def turned(rows):
    """All-to-all of equal parts: part r goes to rank r."""
    parts = rows.detach().chunk(ranks())
    came, flights = {rank(): parts[rank()]}, {}
    for step in range(1, ranks()):
        ahead, behind = (rank() + step) % ranks(), (rank() - step) % ranks()
        out = parts[ahead].contiguous()
        flights[behind] = exchange(out, ahead, torch.empty_like(out), behind)
    for number, flight in flights.items():
        came[number] = flight.wait()
    return torch.cat([came[number] for number in range(ranks())])


class Turn(torch.autograd.Function):
    """Equal parts are their own way back: the gradient takes the same all-to-all."""

    @staticmethod
    def forward(ctx, rows):
        """Slots to their experts, or home."""
        return turned(rows)

    @staticmethod
    def backward(ctx, gradient):
        """The gradient back."""
        return turned(gradient)


def one_loop(x, gate, experts, top, slots, heavy_first):
    """One process, seat by seat: whoever finds the expert's seats taken goes without."""
    ranked = (x @ gate).softmax(1).topk(top)
    weights = ranked.values / ranked.values.sum(1, keepdim=True)
    copies = [(token, choice) for choice in range(top) for token in range(len(x))]
    if heavy_first:
        copies.sort(key=lambda copy: -weights[copy].item())
    taken = [0] * len(experts)
    out = [*x]
    for token, choice in copies:
        number = ranked.indices[token, choice].item()
        taken[number] += 1
        if taken[number] <= slots:
            out[token] = out[token] + experts[number](x[token]) * weights[token, choice]
    return torch.stack(out)


def main(
    tokens: int = 24,  # tokens of each rank
    held: int = 2,  # experts on each rank
    top: int = 2,  # experts that compute a token, k
    factor: float = 1.0,  # slots of all experts over copies
    width: int = 10,  # numbers in a token
    hot: float = 0.0,  # added to the score of expert 0 for every token
) -> Metrics:
    """One MoE layer whose experts have a fixed number of slots, forward and backward."""
    n, total = ranks(), held * ranks()
    if min(tokens, held, width) < 1 or not abs(hot) <= 100:
        refuse("tokens, held and width start at 1, hot lies in -100 to 100")
    if not 1 <= top <= total:
        refuse(f"top lies in 1 to {total}, the number of experts")
    if not 0.01 <= factor <= 100:
        refuse("factor lies in 0.01 to 100")
    like = {"dtype": torch.float64, "device": device()}
    x = torch.randn(n, tokens, width, **like)
    x[..., 0] = 1.0  # what the first row of the router adds to its scores
    gate = torch.randn(width, total, **like) / width**0.5
    gate[0, 0] += hot
    every = [expert_of(width, like) for _ in range(total)]
    goal = torch.randn(n, tokens, width, **like)
    slots = capacity(factor, top, tokens, total)

    ample = slots * total >= factor * tokens * top
    check("slots hold factor times the copies", ample, "==", True)
    seen, lost, gaps = {}, {}, {"out": 0.0, "grad": 0.0}
    ways = {"weight": by_weight, "choice": by_choice}
    for name, seats in ways.items():
        truth, mine = deepcopy(every), deepcopy(every[rank() * held :][:held])
        true_x, true_gate = x.clone().requires_grad_(), gate.clone().requires_grad_()
        # Slots are for one rank's tokens: the loop starts anew for each.
        outputs = [one_loop(o, true_gate, truth, top, slots, name == "weight") for o in true_x]
        (torch.stack(outputs) * goal).sum().backward()

        own, my_gate = x[rank()].clone().requires_grad_(), gate.clone().requires_grad_()
        with wire() as sent:
            y, seated = layer(own, my_gate, mine, top, factor, seats)
        (y * goal[rank()]).sum().backward()
        gap = max_error(y, outputs[rank()])
        grads = {
            "tokens": max_error(gradient(own), gradient(true_x)[rank()]),
            "router": max_error(ring_sum(gradient(my_gate)), gradient(true_gate)),
            "experts": gradient_gap(mine, truth[rank() * held :][:held]),
        }
        check(f"by {name}: outputs equal a loop that counts seats", gap, "<", 1e-12)
        for of, far in grads.items():
            check(f"by {name}: gradients of {of} equal that loop's", far, "<", 1e-12)
        gaps["out"] = max(gaps["out"], gap)
        gaps["grad"] = max(gaps["grad"], *grads.values())
        weights = route(x[rank()], gate, top)[1]
        light, all_of_it = everyone([(weights * ~seated).sum(), weights.sum()]).sum(0)
        lost[name] = (light / all_of_it).item()
        seen[name] = y, ~seated, sent
    check("by weight no more of it is lost", lost["weight"], "<=", lost["choice"] + 1e-12)

    chosen = route(x[rank()], gate, top)[0]
    y, late, sent = seen["choice"]
    alone = late.all(1)
    passed_gap = everyone(max_error(y[alone], x[rank()][alone])).max().item()
    check("a token that no expert computes passes unchanged", passed_gap, "==", 0.0)
    row = x[0, 0].nbytes
    every_slot = 2 * (n - 1) * held * slots * row
    check("messages are as long for every router", sent.sent_bytes, "==", every_slot)
    homes = (chosen[~late] // held).bincount(minlength=n)
    filled = everyone(homes.tolist())
    filled.fill_diagonal_(0)  # what stays at home is not sent
    crossing = int(filled[rank()].sum() + filled[:, rank()].sum())
    per_expert = everyone(chosen.flatten().bincount(minlength=total).tolist()).int().tolist()
    steps = {f"expert {e}": [r[e] for r in per_expert] for e in range(total)}
    parts = [f"rank {r}" for r in range(n)]
    title = "copies that come to each expert, and slots in all"
    picture("staircase", title, parts=parts, steps=steps, unit="copies", budget=n * slots)
    loads = {"even": torch.ones(total), "zipf": 1 / torch.arange(1.0, total + 1)}
    drawn = {name: draw(likely, top) for name, likely in loads.items()}
    factors = [0.25 * step for step in range(1, 17)]
    series = {name: {c: too_many(d, c) for c in factors} for name, d in drawn.items()}
    picture("curve", "dropped copies by factor", series=series, x="factor", y="ratio")
    return {
        "expert_slots": shared(counted(slots)),
        "dropped": counted(int(late.sum())),
        "dropped_first": counted(int(late[:, 0].sum())),
        "passed": counted(int(alone.sum())),
        "empty": counted(total * slots - int((~late).sum())),
        "sent_slots": counted(sent.sent_bytes),
        "sent_filled": counted(crossing * row),
        **{f"lost_{name}": shared(compared(lost[name])) for name in ("choice", "weight")},
        "passed_gap": shared(compared(passed_gap)),
        **{f"dropped_{name}": shared(counted(too_many(d, factor))) for name, d in drawn.items()},
        **{f"{of}_gap": shared(compared(everyone(gaps[of]).max().item())) for of in gaps},
    }


# Below: what is looked at, and what it is held against.


def expert_of(width, like):
    """An expert: two layers with a bend between them."""
    sizes = (width, 2 * width), (2 * width, width)
    into, out = (torch.nn.Linear(*each, **like) for each in sizes)
    return torch.nn.Sequential(into, torch.nn.SiLU(), out)


def gradient(weight):
    """Of an expert that nobody chose there is none, which is zero."""
    return torch.zeros_like(weight) if weight.grad is None else weight.grad


def gradient_gap(ours, truth):
    """The largest difference of a gradient of any of the experts."""
    both = [torch.nn.ModuleList(experts).parameters() for experts in (ours, truth)]
    return max(
        max_error(gradient(mine), gradient(wanted)) for mine, wanted in zip(*both, strict=True)
    )


def draw(likely, top):
    """Experts of 4096 tokens, each token's drawn without repeats."""
    return likely.expand(4096, -1).multinomial(top).flatten().bincount(minlength=len(likely)), top


def too_many(drawn, factor):
    """The share of copies that come when an expert is full."""
    counts, top = drawn
    slots = capacity(factor, top, 4096, len(counts))
    return ((counts - slots).clamp(min=0).sum() / counts.sum()).item()


BREAKS = {
    "count-from-one": Break(
        old="    return (comes.cumsum(0) * comes).sum(1) - 1",
        new="    return (comes.cumsum(0) * comes).sum(1)",
        expect="by choice: outputs equal a loop that counts seats",
        ranks=1,
        source="github.com/lucidrains/mixture-of-experts/issues/4 asks why a sum leaves out its"
        " own row: else every expert's first slot stays empty",
    ),
    "token-by-token": Break(
        old="queued(chosen.T.flatten(), total).view(top, -1).T",
        new="queued(chosen.flatten(), total).view(-1, top)",
        expect="by choice: outputs equal a loop that counts seats",
        ranks=2,
        source="[tokens, k] flattened as it lies: early tokens' second choices before first ones",
    ),
    "k-forgotten": Break(
        old="    return math.ceil(factor * top * tokens / total)",
        new="    return math.ceil(factor * tokens / total)",
        expect="slots hold factor times the copies",
        ranks=1,
        source="the Switch Transformer's formula, where k is 1, for a layer with more",
    ),
    "residual-lost": Break(
        old="return x + torch.zeros_like(x).index_add",
        new="return torch.zeros_like(x).index_add",
        expect="by choice: outputs equal a loop that counts seats",
        ranks=1,
        source="github.com/deepspeedai/DeepSpeed/issues/1395: dropped tokens come out as zeros",
    ),
}

if __name__ == "__main__":
    run(__file__)
