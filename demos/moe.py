"""MoE: tokens go to the ranks of their experts and come home: two all-to-alls, two more backward.

The trick
    A router scores all E experts for a token, and the best k compute it. Rank r holds E/N of them.
    Each rank routes its own tokens, sorts the k copies by expert, tells every rank how many to
    expect (no two counts are alike) and sends them: dispatch. Experts run on what came, the results
    go back the way they came: combine. They are put into the order of before, weighed and added up.

    The gradient of an all-to-all is the reverse one. An expert sees tokens of all ranks, so that
    its gradient is whole on its own rank; the router's is a sum over ranks. With experts equally
    liked a rank sends (N-1)/N of its k copies each way; gathering all tokens on all ranks sends its
    tokens N-1 times each way, which is less only if k > N. All wait for the busiest rank.

Watch
    copies (rows)                     that this rank's tokens are sent out as, k each
    rows_here (rows)                  that the experts of this rank compute, from all ranks
    busiest_expert (shared, rows)     of the expert with the most
    busiest_rank (shared, rows)       of the rank with the most
    sent_counts (bytes, forward)      sent by this rank to say how many rows will come
    sent_dispatch (bytes, forward)    sent by this rank, tokens to experts
    sent_combine (bytes, forward)     sent by this rank, results back to tokens
    sent_back (bytes, backward)       sent by this rank, both reverse all-to-alls
    sent_around (bytes, forward)      sent by this rank if all tokens are gathered everywhere and
                                      the results reduce-scattered, rings
    row_trips_forward (collectives)   all-to-alls of rows in a forward, that of counts left out
    row_trips_backward (collectives)  all-to-alls of rows in a backward
    layer_time (shared, ticks)        till all ranks have their results: 1 a row, messages none
    layer_idle (ticks)                of this rank till the last one is through with its rows
    turn_gate (shared, index)         turn of routing
    turn_permute (shared, index)      turn of sorting the copies by expert
    turn_counts (shared, index)       turn of telling how many rows will come
    turn_dispatch (shared, index)     turn of the first all-to-all of rows
    turn_experts (shared, index)      turn of the experts
    turn_combine (shared, index)      turn of the second all-to-all of rows
    turn_unpermute (shared, index)    turn of restoring the copies' order
    turn_weigh (shared, index)        turn of weighing a token's results and adding them up
    out_gap (shared, difference)      of outputs from a loop over tokens on one process, largest
    token_gap (shared, difference)    of the gradient of tokens from that loop's, largest
    router_gap (shared, difference)   of the router's gradient from that loop's, largest
    expert_gap (shared, difference)   of any expert's gradient from that loop's, largest
    order_gap (shared, difference)    between the softmax of the k best scores and the softmax of
                                      all scores, its best k divided by their sum
    kept_weight (shared, ratio)       sum of the k best of a softmax of all scores, not divided,
                                      mean over tokens
    flipped_bf16 (shared, tokens)     of 4096 whose set of experts is another one if scores are made
                                      in bf16 instead of fp32

Run
    quizkit demo moe --gpus 4
    python demos/moe.py --ranks 3 --top 3 --hot 2
    torchrun --nproc-per-node 4 demos/moe.py
"""

from copy import deepcopy
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, exchange, max_error, rank, ranks, ring_gather
from _bench import ring_scatter_sum, ring_sum, virtual_clock, wire

import torch
import torch.distributed as dist

TOPIC = "moe"
TURNS = ["gate", "permute", "counts", "dispatch", "experts", "combine", "unpermute", "weigh"]


def moe(x, gate, experts, top, total, seen):
    """The layer for my tokens; `experts` are mine, by their number among all `total`."""
    chosen, weights = route(x, gate, top)
    seen.turn("gate")
    wanted = chosen.flatten()  # a token's k copies stand side by side
    order = wanted.argsort(stable=True)  # by expert, and so by rank: each has a run of experts
    rows = x[order // top]
    seen.turn("permute")
    sending = wanted.bincount(minlength=total)
    coming = tell(sending, experts)  # from each rank for each of my experts
    to, source = per_rank(sending, total), coming.sum(1).tolist()
    seen.turn("counts")
    rows = travel(rows, to, source)
    seen.turn("dispatch")
    mine = torch.tensor([*experts], device=x.device).repeat(ranks())
    results = compute(rows, mine.repeat_interleave(coming.flatten()), experts)
    seen.turn("experts", len(rows))
    results = travel(results, source, to)
    seen.turn("combine")
    back = torch.empty_like(results)
    back[order] = results
    seen.turn("unpermute")
    y = (back.unflatten(0, (-1, top)) * weights[..., None]).sum(1)
    seen.turn("weigh")
    seen.to, seen.source = to, source
    return y


def route(x, gate, top):
    """The k best experts of each token, and how much each counts: in all 1."""
    scores, chosen = (x @ gate).topk(top, dim=1)
    return chosen, scores.softmax(1)


def place(expert, total):
    """The rank that holds an expert: runs of equal length, or nearly."""
    return expert * ranks() // total


def per_rank(sending, total):
    """How many rows go to each rank."""
    to = [0] * ranks()
    for expert, rows in enumerate(sending.tolist()):
        to[place(expert, total)] += rows
    return to


def tell(sending, experts):
    """Say how many rows come for each expert; gives what all ranks say to me, a row each."""
    homes = [place(expert, len(sending)) for expert in range(len(sending))]
    sizes = [homes.count(number) for number in range(ranks())]
    came = deliver(sending, sizes, [len(experts)] * ranks())
    return came.view(ranks(), -1)


def compute(rows, numbers, experts):
    """Each expert on the rows that are meant for it, and on no others."""
    results = torch.zeros_like(rows)
    for number, expert in experts.items():
        meant = numbers == number
        results[meant] = expert(rows[meant])
    return results


def deliver(rows, to, source):
    """All-to-all: so many rows go to each rank, so many come from each, in order of rank."""
    parts = [*rows.detach().split(to)]
    came, flights = {rank(): parts[rank()]}, {}
    for step in range(1, ranks()):
        # At each step all send to somebody else, and nobody is waited for by two.
        ahead, behind = (rank() + step) % ranks(), (rank() - step) % ranks()
        room = rows.new_empty(source[behind], *rows.shape[1:])
        flights[behind] = exchange(parts[ahead].contiguous(), ahead, room, behind)
    for number, flight in flights.items():
        came[number] = flight.wait()
    return torch.cat([came[number] for number in range(ranks())])


class Travel(torch.autograd.Function):
    """Autograd does not look into messages: it is told that the gradient goes the way back."""

    trips = 0

    @staticmethod
    def forward(ctx, rows, to, source):
        """Rows to where they are wanted."""
        ctx.to, ctx.source = to, source
        Travel.trips += 1
        return deliver(rows, to, source)

    @staticmethod
    def backward(ctx, gradient):
        """Their gradients to where they came from."""
        Travel.trips += 1
        return deliver(gradient, ctx.source, ctx.to), None, None


def travel(rows, to, source):
    """An all-to-all with a gradient."""
    return Travel.apply(rows, to, source)


def by_gathering(x, gate, experts, top):
    """No token is sent to anybody: all are everywhere, and results are added up at home."""
    everything = ring_gather(x)
    chosen, weights = route(everything, gate, top)
    partial = torch.zeros_like(everything)
    for number, expert in experts.items():
        token, which = (chosen == number).nonzero(as_tuple=True)
        partial[token] += expert(everything[token]) * weights[token, which, None]
    return ring_scatter_sum(partial)


def one_loop(x, gate, experts, top):
    """One process, token by token and expert by expert: no sorting, no sending."""
    probabilities = (x @ gate).softmax(1)
    rows = []
    for token, row in zip(x, probabilities, strict=True):
        best = row.topk(top)
        share = best.values / best.values.sum()
        rows.append(sum(experts[e](token) * w for e, w in zip(best.indices, share, strict=True)))
    return torch.stack(rows)


def main(
    tokens: int = 10,  # tokens of each rank
    experts: int = 8,  # experts of the layer, over all ranks
    top: int = 2,  # experts that compute a token, k
    width: int = 12,  # numbers in a token
    hot: float = 0.0,  # added to the score of expert 0 for every token
) -> Metrics:
    """One MoE layer, forward and backward, its experts dealt over the ranks."""
    n = ranks()
    if experts < n:
        refuse(f"{experts} experts leave some of {n} ranks without one: take {n} or more")
    if not 1 <= top <= experts:
        refuse(f"top lies in 1 to {experts}, the number of experts")
    if min(tokens, width) < 1 or not abs(hot) <= 100:
        refuse("tokens and width start at 1, hot lies in -100 to 100")
    like = {"dtype": torch.float64, "device": device()}
    x = torch.randn(n, tokens, width, **like)
    x[..., 0] = 1.0  # what the first row of the router adds to its scores
    gate = torch.randn(width, experts, **like) / width**0.5
    gate[0, 0] += hot
    every = [expert_of(width, like) for _ in range(experts)]
    goal = torch.randn(n, tokens, width, **like)

    truth = deepcopy(every)
    flat, router = x.flatten(0, 1).clone().requires_grad_(), gate.clone().requires_grad_()
    outputs = one_loop(flat, router, truth, top)
    (outputs * goal.flatten(0, 1)).sum().backward()

    mine = {e: every[e] for e in range(experts) if place(e, experts) == rank()}
    own, my_gate = x[rank()].clone().requires_grad_(), gate.clone().requires_grad_()
    seen = Seen()
    Travel.trips = 0
    with wire() as seen.wire, virtual_clock("layer", E="experts") as seen.clock:
        y = moe(own, my_gate, mine, top, experts, seen)
        end = seen.clock.makespan()
    forward = Travel.trips
    with wire() as backward:
        (y * goal[rank()]).sum().backward()
    trips = Travel.trips - forward
    whole = ring_sum(gradient(my_gate))

    out_gap = max_error(y, outputs.view_as(x)[rank()])
    gaps = {
        "token": max_error(gradient(own), gradient(flat).view_as(x)[rank()]),
        "router": max_error(whole, gradient(router)),
        "expert": max(gradient_gap(mine[e], truth[e]) for e in mine),
    }
    check("outputs equal a loop over tokens", out_gap, "<", 1e-12)
    for name, gap in gaps.items():
        check(f"{name}: gradient equals that loop's", gap, "<", 1e-12)
    with wire() as around:
        gathered = by_gathering(x[rank()], gate, mine, top)
    check("gathering comes to the same", max_error(gathered, y), "<", 1e-12)
    copies = x[rank()].repeat(top, 1)
    theirs = torchs(copies, seen.to, seen.source)
    ours = deliver(copies, seen.to, seen.source)
    check("our all-to-all is torch's", max_error(ours, theirs), "==", 0.0)

    sent = {turn: sum(seen.sent[turn]) for turn in ("counts", "dispatch", "combine")}
    out, home = (everyone(sent[turn]).sum().item() for turn in ("dispatch", "combine"))
    check("as much comes home as was sent out", home, "==", out)
    both = sent["dispatch"] + sent["combine"]
    check("backward sends what forward sent", backward.sent_bytes, "==", both)
    rows_here = sum(seen.source)
    loads = everyone(rows_here)
    per_expert = route(x.flatten(0, 1), gate, top)[0].flatten().bincount(minlength=experts)
    check("no copy is lost", loads.sum().item(), "==", n * tokens * top)
    check("all wait for the busiest rank", end, "==", loads.max().item())
    picture("messages", "dispatch: sent by each rank to each", row=seen.sent["dispatch"])
    picture("messages", "combine: sent by each rank to each", row=seen.sent["combine"])
    steps = {f"expert {e}": [rows] for e, rows in enumerate(per_expert.tolist())}
    picture("staircase", "rows of each expert", parts=("rows",), steps=steps, unit="rows")

    probabilities = (x.flatten(0, 1) @ gate).softmax(1).topk(top).values
    renormalised = probabilities / probabilities.sum(1, keepdim=True)
    order_gap = max_error(route(x.flatten(0, 1), gate, top)[1], renormalised)
    check("softmax of the best is the best of a softmax, divided", order_gap, "<", 1e-12)
    turns = {f"turn_{name}": shared(counted(seen.turns.index(name))) for name in TURNS}
    return {
        "copies": counted(sum(seen.to)),
        "rows_here": counted(rows_here),
        "busiest_expert": shared(counted(per_expert.max().item())),
        "busiest_rank": shared(counted(int(loads.max()))),
        **{f"sent_{name}": counted(count) for name, count in sent.items()},
        "sent_back": counted(backward.sent_bytes),
        "sent_around": counted(around.sent_bytes),
        "row_trips_forward": counted(forward),
        "row_trips_backward": counted(trips),
        "layer_time": shared(clocked(end)),
        "layer_idle": clocked(end - rows_here),
        **turns,
        "out_gap": shared(compared(everyone(out_gap).max().item())),
        **{f"{of}_gap": shared(compared(everyone(gap).max().item())) for of, gap in gaps.items()},
        "order_gap": shared(compared(order_gap)),
        "kept_weight": shared(compared(probabilities.sum(1).mean().item())),
        "flipped_bf16": shared(counted(flipped(experts, top))),
    }


# Below: what is looked at, and what it is held against.


class Seen(SimpleNamespace):
    """The turns of a layer: in which order, and what was sent in each."""

    def __init__(self):
        super().__init__()
        self.turns, self.sent, self.before = [], {}, [0] * ranks()

    def turn(self, name, rows=0):
        """A turn is through; rows take time, one each."""
        if rows:
            self.clock.spend(rows, "E")
        now = [*self.wire.to]
        self.turns.append(name)
        self.sent[name] = [after - before for after, before in zip(now, self.before, strict=True)]
        self.before = now


def expert_of(width, like):
    """An expert: two layers with a bend between them."""
    into, out = (
        torch.nn.Linear(*sizes, **like) for sizes in ((width, 2 * width), (2 * width, width))
    )
    return torch.nn.Sequential(into, torch.nn.SiLU(), out)


def gradient(weight):
    """Of an expert that nobody chose there is none, which is zero."""
    return torch.zeros_like(weight) if weight.grad is None else weight.grad


def gradient_gap(ours, truth):
    """The largest difference of a gradient of two experts."""
    pairs = zip(ours.parameters(), truth.parameters(), strict=True)
    return max(max_error(gradient(mine), gradient(theirs)) for mine, theirs in pairs)


def torchs(rows, to, source):
    """What torch makes of it."""
    given = rows.detach() if dist.get_backend() == "nccl" else rows.detach().cpu()
    taken = given.new_empty(sum(source), rows.shape[1])
    dist.all_to_all_single(taken, given.contiguous(), source, to)
    return taken.to(rows.device)


def flipped(experts, top):
    """Tokens of 4096 whose experts change if the router computes in bf16; 64 wide."""
    tokens, gate = torch.randn(4096, 64), torch.randn(64, experts) / 8
    exact = (tokens @ gate).topk(top, 1).indices.sort(1).values
    rough = (tokens.bfloat16() @ gate.bfloat16()).topk(top, 1).indices.sort(1).values
    return (exact != rough).any(1).sum().item()


BREAKS = {
    "local-numbers": Break(
        old="for number, expert in experts.items():\n        meant",
        new="for number, expert in enumerate(experts.values()):\n        meant",
        expect="outputs equal a loop over tokens",
        ranks=2,
        source="github.com/flashinfer-ai/flashinfer/issues/3547: numbers among all taken for"
        " numbers on this rank; rank 0 is right, where they are the same",
    ),
    "no-gradient": Break(
        old="return Travel.apply(rows, to, source)",
        new="return deliver(rows, to, source)",
        expect="expert: gradient equals that loop's",
        ranks=1,
        source="github.com/pytorch/pytorch/issues/25284: what a plain collective brings has no"
        " grad_fn",
    ),
    "order-of-arrival": Break(
        old="    back[order] = results\n",
        new="    back = results\n",
        expect="outputs equal a loop over tokens",
        ranks=1,
        source="results taken as they lie after combine, by expert: every shape is right",
    ),
    "sorted-again": Break(
        old="    back[order] = results\n",
        new="    back = results[order]\n",
        expect="outputs equal a loop over tokens",
        ranks=1,
        source="github.com/sgl-project/sgl-kernel-npu/pull/546: places and numbers swapped, which"
        " permutes once more instead of undoing it",
    ),
    "router-alone": Break(
        old="    whole = ring_sum(gradient(my_gate))",
        new="    whole = gradient(my_gate)",
        expect="router: gradient equals that loop's",
        ranks=2,
        source="expert parallelism taken for no data parallelism: the router's copies drift apart",
    ),
}

if __name__ == "__main__":
    run(__file__)
