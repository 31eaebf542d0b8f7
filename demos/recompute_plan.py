"""Which layers to recompute: the fewest FLOPs again that fit a budget of bytes.

The trick
    A layer that is kept holds all that its backward pass wants. A piece of layers that runs again
    holds its input alone, and all of it for a moment, when its turn comes: at that moment there
    have to be room for the piece and for what lies before it. So a plan is a row of pieces, kept or
    run again; its peak is the most that is held at once, its price the forward FLOPs of what runs
    again.

    Two numbers tell how far a row has come: bytes held, FLOPs run again. Of two rows of the same
    length the one with more of both is dropped: what is left is short, and its cheapest end is the
    best plan. Dropping the largest layers first is not: what counts is FLOPs for a byte, and a
    piece of several layers holds one input.

Watch
    peak_none (shared, bytes)            held at once at the most, everything kept
    peak_full (shared, bytes)            held at once at the most, each layer a piece that runs
                                         again
    again_full (shared, ratio)           FLOPs run again over a forward's, each layer a piece
    peak_sqrt (shared, bytes)            held at once at the most, pieces of sqrt(layers) run again
    again_sqrt (shared, ratio)           FLOPs run again over a forward's, pieces of sqrt(layers)
    peak_selective (shared, bytes)       held at once at the most, attention runs again
    again_selective (shared, ratio)      FLOPs run again over a forward's, attention runs again
    peak_largest (shared, bytes)         held at once at the most, the largest layers run again
                                         until it fits
    again_largest (shared, ratio)        FLOPs run again over a forward's, largest layers first
    peak_plan (shared, bytes)            held at once at the most, the best plan in budget
    again_plan (shared, ratio)           FLOPs run again over a forward's, the best plan in budget
    again_tried (shared, ratio)          FLOPs run again over a forward's, least of all plans that
                                         fit, every one of them tried
    plans_tried (shared, count)          plans there are: each row of pieces, kept or run again
    budget_bytes (shared, bytes)         what there is room for: a share of peak_none
    attention_bytes (shared, bytes)      one attention layer keeps, its input included
    mlp_bytes (shared, bytes)            the widest MLP keeps, its input included
    attention_intensity (shared, ratio)  FLOPs to make an attention layer again, over bytes it frees
    mlp_intensity (shared, ratio)        FLOPs to make the widest MLP again, over bytes it frees
    grad_error (shared, difference)      largest one of any gradient from keeping everything, all
                                         plans

Run
    quizkit demo recompute-plan
    python demos/recompute_plan.py --budget 0.4 --seq 96
    torchrun --nproc-per-node 1 demos/recompute_plan.py
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

from _bench import Break, Metric, Metrics, check, compared, computed, counted, picture, refuse
from _bench import run, shared, device, max_error, saved_activations, take_gradient

import torch
from torch import Tensor, nn

TOPIC = "memory"


class Piece(NamedTuple):
    """Layers from `start` up to `end`: kept, or run again as one."""

    start: int
    end: int
    again: bool


class Layers(NamedTuple):
    """What was measured of each layer: bytes it keeps, bytes of its input, FLOPs of its forward."""

    kept: Sequence[int]
    inputs: Sequence[int]
    flops: Sequence[int]


Plan = tuple[Piece, ...]


def best_plan(layers: Layers, budget: float) -> Plan | None:
    """The plan within the budget that runs the fewest FLOPs again; None if nothing fits."""
    rows: list[list[tuple[int, int, Plan]]] = [[(0, 0, ())]]  # by length: held, FLOPs again, plan
    for end in range(1, len(layers.kept) + 1):
        longer: list[tuple[int, int, Plan]] = []
        for start in range(end):
            whole, flops = sum(layers.kept[start:end]), sum(layers.flops[start:end])
            for held, again, plan in rows[start]:
                if held + whole > budget:  # kept or run again, it is there whole once
                    continue
                piece = Piece(start, end, True)
                longer.append((held + layers.inputs[start], again + flops, (*plan, piece)))
                if end == start + 1:
                    longer.append((held + whole, again, (*plan, Piece(start, end, False))))
        rows.append(frontier(longer))
    return rows[-1][-1][2] if rows[-1] else None


def frontier(rows: list[tuple[int, int, Plan]]) -> list[tuple[int, int, Plan]]:
    """Without the rows than which another holds less and runs less again; cheapest last."""
    left: list[tuple[int, int, Plan]] = []
    least = inf
    for row in sorted(rows):
        if row[1] < least:
            left.append(row)
            least = row[1]
    return left


def peak(layers: Layers, plan: Plan) -> int:
    """The most bytes held at once: each piece whole, beside what the pieces before it hold."""
    held = most = 0
    for piece in plan:
        whole = sum(layers.kept[piece.start : piece.end])
        most = max(most, held + whole)
        held += layers.inputs[piece.start] if piece.again else whole
    return most


def again(layers: Layers, plan: Plan) -> int:
    """The forward FLOPs that run a second time."""
    return sum(sum(layers.flops[piece.start : piece.end]) for piece in plan if piece.again)


class Recompute(torch.autograd.Function):
    """Keep a piece's input alone, and run the piece again when its gradient is wanted."""

    @staticmethod
    def forward(ctx, piece: nn.Module, x: Tensor) -> Tensor:
        """Inside a Function autograd saves nothing of its own."""
        ctx.piece = piece
        ctx.save_for_backward(x)
        return piece(x)

    @staticmethod
    def backward(ctx, slope: Tensor):
        """Now the piece saves what it would have saved, goes backward, and lets it go."""
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.piece(x)
        y.backward(slope)
        return None, x.grad


def through(chain: nn.Sequential, plan: Plan, x: Tensor) -> Tensor:
    """The chain's layers, piece by piece."""
    for piece in plan:
        part = chain[piece.start : piece.end]
        x = Recompute.apply(part, x) if piece.again else part(x)  # pyright: ignore
    return x


class Attention(nn.Module):
    """One head, x + out(softmax(q k^T) v): a little arithmetic, and a square of scores kept."""

    def __init__(self, width: int, **like):
        super().__init__()
        self.query, self.key, self.value, self.out = (
            nn.Linear(width, width, bias=False, **like) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        """[seq, width] both ways."""
        scores = self.query(x) @ self.key(x).mT / x.shape[-1] ** 0.5
        return x + self.out(scores.softmax(-1) @ self.value(x))


class Mlp(nn.Sequential):
    """x + down(gelu(up(x))): much arithmetic, twice its inner width kept."""

    def __init__(self, width: int, inner: int, **like):
        up, down = nn.Linear(width, inner, **like), nn.Linear(inner, width, **like)
        super().__init__(up, nn.GELU(), down)

    def forward(self, input: Tensor) -> Tensor:
        """[seq, width] both ways."""
        return input + super().forward(input)


def profile(chain: nn.Sequential, x: Tensor) -> Layers:
    """Each layer alone: what it keeps, its input, and the FLOPs of its products."""
    from torch.utils.flop_counter import FlopCounterMode

    kept, inputs, flops = [], [], []
    for layer in chain:
        here = x.detach().requires_grad_()
        counter = FlopCounterMode(display=False)
        with saved_activations(chain.parameters()) as saved, counter:
            x = layer(here)
            kept.append(saved.live_bytes)
        inputs.append(here.nbytes)
        flops.append(counter.get_total_flops())
    return Layers(kept, inputs, flops)


def step(chain: nn.Sequential, plan: Plan, x: Tensor, slope: Tensor) -> tuple[int, int, Tensor]:
    """Forward and backward: the most bytes held at once, FLOPs of all products, all gradients."""
    from torch.utils.flop_counter import FlopCounterMode

    here, counter = x.clone().requires_grad_(), FlopCounterMode(display=False)
    with saved_activations(chain.parameters()) as saved, counter:
        through(chain, plan, here).backward(slope)
    assert here.grad is not None
    gradients = torch.cat([here.grad.flatten(), take_gradient(chain)])
    return saved.peak_bytes, counter.get_total_flops(), gradients


def main(
    pairs: int = 4,  # layers of attention and as many MLPs, in turn
    seq: int = 48,  # tokens
    width: int = 16,  # hidden size; MLPs are 1, 2, 4 and 8 times as wide inside
    budget: float = 0.5,  # room for activations, as a share of what keeping everything takes
) -> Metrics:
    """Measure each layer, plan within the budget, then run the plans and count what they hold."""
    if min(pairs, seq, width) < 1 or pairs > 4:
        refuse("seq and width start at 1, pairs are 1 to 4: every plan is tried")
    like = {"dtype": torch.float64, "device": device()}
    modules: list[nn.Module] = []
    for pair in range(pairs):
        modules += [Attention(width, **like), Mlp(width, width * 2**pair, **like)]
    chain = nn.Sequential(*modules)
    x, slope = torch.randn(2, seq, width, **like)
    layers = profile(chain, x)
    room = int(budget * sum(layers.kept))
    every = [(peak(layers, plan), again(layers, plan)) for plan in all_plans(len(chain))]
    best = best_plan(layers, room)
    if best is None:
        least = min(every)[0] / sum(layers.kept)
        refuse(f"no plan fits into {room} bytes: take a budget of {least + 5e-4:.3f} or more")
    assert best is not None
    plans = {
        "none": each(layers, set()),
        "full": pieces(layers, 1),
        "sqrt": pieces(layers, round((2 * pairs) ** 0.5)),
        "selective": each(layers, set(range(0, 2 * pairs, 2))),
        "largest": largest_first(layers, room),
        "plan": best,
    }
    forward = sum(layers.flops)
    seen = {name: step(chain, plan, x, slope) for name, plan in plans.items()}
    errors = [max_error(gradients, seen["none"][2]) for _, _, gradients in seen.values()]
    metrics: dict[str, Metric] = {}
    for (name, plan), error in zip(plans.items(), errors, strict=True):
        held, ran, _ = seen[name]
        check(f"{name} holds what its plan says", held, "==", peak(layers, plan))
        check(f"{name} runs again what its plan says", ran - 3 * forward, "==", again(layers, plan))
        check(f"{name}: gradients equal keeping everything", error, "<", 1e-12)
        metrics[f"peak_{name}"] = shared(counted(held))
        if name != "none":
            metrics[f"again_{name}"] = shared(counted((ran - 3 * forward) / forward))
    check("the plan fits", seen["plan"][0], "<=", room)
    least = min(ran for held, ran in every if held <= room)
    check("no plan that fits runs less again", again(layers, best), "==", least)
    steps = {name: [held] for name, (held, _, _) in seen.items()}
    title = "activations held at the most"
    picture("staircase", title, parts=["activations"], steps=steps, unit="bytes", budget=room)
    freed = [kept - own for kept, own in zip(layers.kept, layers.inputs, strict=True)]
    return metrics | {
        "again_tried": shared(counted(least / forward)),
        "plans_tried": shared(counted(len(every))),
        "budget_bytes": shared(computed(room)),
        "attention_bytes": shared(counted(layers.kept[0])),
        "mlp_bytes": shared(counted(layers.kept[-1])),
        "attention_intensity": shared(counted(layers.flops[0] / freed[0])),
        "mlp_intensity": shared(counted(layers.flops[-1] / freed[-1])),
        "grad_error": shared(compared(max(errors))),
    }


def largest_first(layers: Layers, budget: float) -> Plan:
    """What one would do by hand: run the largest layers again, one more until it fits."""
    order = sorted(range(len(layers.kept)), key=lambda layer: -layers.kept[layer])
    for count in range(len(order) + 1):
        plan = each(layers, set(order[:count]))
        if peak(layers, plan) <= budget:
            break
    return plan


def each(layers: Layers, again: set[int]) -> Plan:
    """Every layer a piece of its own, some of them run again."""
    return tuple(Piece(i, i + 1, i in again) for i in range(len(layers.kept)))


def pieces(layers: Layers, length: int) -> Plan:
    """Pieces of so many layers, all run again."""
    count = len(layers.kept)
    return tuple(Piece(i, min(i + length, count), True) for i in range(0, count, length))


def all_plans(count: int) -> Iterator[Plan]:
    """Every plan there is: by brute force, what the frontier is held against."""
    if count == 0:
        yield ()
    for start in range(count):
        for plan in all_plans(start):
            yield (*plan, Piece(start, count, True))
            if start == count - 1:
                yield (*plan, Piece(start, count, False))


BREAKS = {
    "inputs-alone": Break(
        old="if held + whole > budget:",
        new="if held + layers.inputs[start] > budget:",
        expect="the plan fits",
        ranks=1,
        source="the sum of all checkpoints taken for the peak: what runs again comes back whole",
    ),
    "bytes-alone": Break(
        old="        if row[1] < least:\n",
        new="        if not left:\n",
        expect="no plan that fits runs less again",
        ranks=1,
        source="checkpoint everything as soon as memory is short: the least bytes, the most FLOPs",
    ),
    "input-without-gradient": Break(
        old="        return None, x.grad\n",
        new="        return None, slope\n",
        expect="full: gradients equal keeping everything",
        ranks=1,
        source="a checkpoint by hand that hands on what it was given: the residual path alone",
    ),
}

if __name__ == "__main__":
    run(__file__)
