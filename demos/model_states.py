"""Model states: mixed-precision Adam keeps 16 bytes for a parameter; ZeRO cuts them by stages.

The trick
    16-bit weights and gradients are 4 bytes a parameter; fp32 master weights, momentum and variance
    are 12 more. With data parallelism every rank keeps all 16. Stage 1 cuts the optimizer's 12 over
    the ranks, stage 2 gradients too, stage 3 weights too: 4 + 12/N, 2 + 14/N, 16/N bytes.

    Stages 1 and 2 put the update between the reduce-scatter and the all-gather of an all-reduce and
    so send what plain data parallelism sends, 2(N-1)/N of the parameters. Stage 3 gathers weights
    to go forward and again to go back: 3(N-1)/N. With K micro-batches to an update, 0 and 1 still
    send 2; 2 gives each gradient away at once: K + 1; 3 sends 3K. Layers are flat rows, padded.

Watch
    parameters (shared, elements)  weights of the model: layers * width^2
    padding (shared, elements)     zeros among the flat rows; 0 if N divides width^2
    state_bytes_0 (bytes)          of all tensors alive after backward, activations gone, plain data
                                   parallelism
    state_bytes_1 (bytes)          of all tensors alive after backward, activations gone, ZeRO-1:
                                   optimizer's state cut
    state_bytes_2 (bytes)          of all tensors alive after backward, activations gone, ZeRO-2:
                                   gradients cut too
    state_bytes_3 (bytes)          of all tensors alive after backward, activations gone, ZeRO-3:
                                   weights cut too
    weights_bytes_0 (bytes)        of the weights that passes compute with, plain data parallelism
    weights_bytes_1 (bytes)        of the weights that passes compute with, ZeRO-1
    weights_bytes_2 (bytes)        of the weights that passes compute with, ZeRO-2
    weights_bytes_3 (bytes)        of the weights that passes compute with, ZeRO-3
    gradients_bytes_0 (bytes)      of gradients alive after backward, plain data parallelism
    gradients_bytes_1 (bytes)      of gradients alive after backward, ZeRO-1
    gradients_bytes_2 (bytes)      of gradients alive after backward, ZeRO-2
    gradients_bytes_3 (bytes)      of gradients alive after backward, ZeRO-3
    optimizer_bytes_0 (bytes)      of master weights, momentum and variance, plain data parallelism
    optimizer_bytes_1 (bytes)      of master weights, momentum and variance, ZeRO-1
    optimizer_bytes_2 (bytes)      of master weights, momentum and variance, ZeRO-2
    optimizer_bytes_3 (bytes)      of master weights, momentum and variance, ZeRO-3
    sent_bytes_0 (bytes, step)     sent by this rank for gradients and weights, plain data
                                   parallelism
    sent_bytes_1 (bytes, step)     sent by this rank for gradients and weights, ZeRO-1
    sent_bytes_2 (bytes, step)     sent by this rank for gradients and weights, ZeRO-2
    sent_bytes_3 (bytes, step)     sent by this rank for gradients and weights, ZeRO-3
    moved_weights (elements)       weights of this rank's part that have changed by the end, stage 3
    weights_same (yes/no)          every stage's weights, bit by bit, as on one process
    states_same (yes/no)           master weights, momentum, variance, bit by bit

Run
    quizkit demo model-states --gpus 4
    python demos/model_states.py --ranks 3 --width 11 --microbatches 4
    torchrun --nproc-per-node 4 demos/model_states.py
"""

import gc
from collections import namedtuple
from collections.abc import Callable
from itertools import product
from typing import Literal

from _bench import Break, Metrics, check, counted, identical, picture, refuse, run, shared
from _bench import device, rank, ranks, ring_gather, ring_scatter_sum, wire

import torch
from torch import Tensor
from torch.nn.functional import pad

TOPIC = "zero"
Recipe = namedtuple("Recipe", "weights gradients lr microbatches")  # how to train


class Replica:
    """What one rank keeps at one stage."""

    def __init__(self, stage: int, rows: Tensor, width: int, recipe: Recipe):
        self.stage, self.width, self.recipe, self.steps = stage, width, recipe, 0
        self.weights = (mine(rows) if stage >= 3 else rows).to(recipe.weights, copy=True)
        self.gradients: dict[int, Tensor] = {}  # by layer; none until a backward pass
        self.optimizer = fresh(mine(rows) if stage >= 1 else rows)

    def whole(self, layer: int) -> Tensor:
        """A layer's weights, gathered first if this rank has only its part of them."""
        row = ring_gather(self.weights[layer]) if self.stage >= 3 else self.weights[layer]
        return row[: self.width**2].view(self.width, self.width)

    def collect(self, layer: int, gradient: Tensor) -> None:
        """Add a micro-batch's gradient to those of the micro-batches before."""
        row = pad(gradient.flatten(), (0, -gradient.numel() % ranks())).to(self.recipe.gradients)
        row = ring_scatter_sum(row) if self.stage >= 2 else row
        self.gradients[layer] = self.gradients[layer] + row if layer in self.gradients else row

    def step(self) -> None:
        """Sum over the ranks what is not summed yet, update this rank's part, give it to all."""
        self.steps += 1
        rows = [self.gradients.pop(layer) for layer in range(len(self.weights))]
        rows = [*map(ring_scatter_sum, rows)] if self.stage <= 1 else rows
        rows = [*map(ring_gather, rows)] if self.stage == 0 else rows
        mean = torch.stack(rows).float() / (ranks() * self.recipe.microbatches)
        update(self.optimizer, mean, self.steps, self.recipe.lr)
        own = mine(self.weights) if self.stage in (1, 2) else self.weights
        own.copy_(self.optimizer[0])
        if self.stage in (1, 2):
            self.weights = torch.stack([*map(ring_gather, own)])


def mine(rows: Tensor) -> Tensor:
    """This rank's part of a flat row, or of each of several: a view, not a copy."""
    return rows.view(*rows.shape[:-1], ranks(), -1)[..., rank(), :]


def fresh(rows: Tensor) -> Tensor:
    """What Adam keeps, in fp32: master weights, momentum, variance."""
    return torch.stack([rows, torch.zeros_like(rows), torch.zeros_like(rows)])


def update(kept: Tensor, gradient: Tensor, step: int, lr: float) -> None:
    """One step of Adam on the master weights."""
    # Every operation rounds on its own: so a number comes out the same wherever a row is cut.
    master, momentum, variance = kept
    momentum.mul_(0.9).add_(0.1 * gradient)
    variance.mul_(0.999).add_(0.001 * (gradient * gradient))
    spread = (variance / (1 - 0.999**step)).sqrt() + 1e-8
    master -= lr * (momentum / (1 - 0.9**step) / spread)


def passes(layers: int, whole: Callable, collect: Callable, batch: Tensor) -> None:
    """Forward and backward, y = tanh(x @ w): `whole` lends weights, `collect` takes gradients."""
    kept, target = [batch[0]], batch[1]
    for layer in range(layers):
        kept.append((kept[-1] @ whole(layer)).tanh())
    slope = (kept[-1] - target) / len(target)
    for layer in reversed(range(layers)):
        y = kept.pop()
        slope = slope * (1 - y * y)
        collect(layer, kept[-1].T @ slope)
        slope = slope @ whole(layer).T  # stage 3 threw these weights away after going forward


def alive() -> int:
    """Bytes of all tensors made since gc.freeze(), asked of Python; a view keeps all it views."""
    storages = [each.untyped_storage() for each in gc.get_objects() if type(each) is Tensor]
    return sum({each.data_ptr(): each.nbytes() for each in storages}.values())


def train(replica: Replica, batches: Tensor, steps: int) -> dict[str, int]:
    """All steps; what was alive between the last backward pass and its update, and what is sent."""
    kept, layers = {}, len(replica.weights)
    for _ in range(steps):
        with wire() as sent:
            for microbatch in range(replica.recipe.microbatches):
                passes(layers, replica.whole, replica.collect, batches[rank(), microbatch])
            kept = {
                "state": alive(),
                "weights": replica.weights.nbytes,
                "gradients": sum(row.nbytes for row in replica.gradients.values()),
                "optimizer": replica.optimizer.nbytes,
            }
            replica.step()
    return {**kept, "sent": sent.sent_bytes}


def main(
    layers: int = 3,  # layers of the model, each a matrix of width x width
    width: int = 24,  # hidden size, the same in every layer
    microbatches: int = 1,  # micro-batches of each rank to an update, K
    steps: int = 3,  # updates in training
    dtype: Literal["bf16", "fp32"] = "bf16",  # of activations, and of the weights passes use
    grad_dtype: Literal["bf16", "fp32"] = "bf16",  # in which gradients are kept and added up
    lr: float = 1e-3,  # learning rate of Adam
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Train at each stage from the same start; count what is kept and sent, compare what comes."""
    if min(layers, width, microbatches, steps) < 1:
        refuse("layers, width, microbatches and steps must be 1 or more")
    kinds, n = {"bf16": torch.bfloat16, "fp32": torch.float32}, ranks()
    recipe = Recipe(kinds[dtype], kinds[grad_dtype], lr, microbatches)
    torch.manual_seed(seed)
    batches = torch.randn(n, microbatches, 2, 4, width).to(device(), recipe.weights)
    drawn = torch.randn(layers, width**2).to(device()) / width**0.5
    rows = pad(drawn, (0, -(width**2) % n))
    w, g, part = recipe.weights.itemsize, recipe.gradients.itemsize, rows.numel() // n
    # Reduce-scatters of gradients and gathers, of gradients at stage 0 and of weights elsewhere.
    moves = (2 * g, g + w, microbatches * g + w, microbatches * (g + 2 * w))
    keeps = (n * (w + g + 12), n * (w + g) + 12, n * w + g + 12, w + g + 12)

    seen, same = [], []
    for stage in range(4):
        gc.freeze()  # what is there already is not counted
        replica = Replica(stage, rows, width, recipe)
        seen.append(train(replica, batches, steps))
        state, sent = seen[stage]["state"], seen[stage]["sent"]
        check(f"stage {stage} keeps its share, no more", state, "==", keeps[stage] * part)
        check(f"stage {stage} sends its share", sent, "==", moves[stage] * part * (n - 1))
        weights, states = alone(rows, width, recipe, batches, steps, early=stage >= 2)
        weights = mine(weights) if stage >= 3 else weights
        states = mine(states) if stage >= 1 else states
        same.append([torch.equal(replica.weights, weights), torch.equal(replica.optimizer, states)])
    parts = ("weights", "gradients", "optimizer")
    steps_down = {
        f"stage {stage}": [each[part] for part in parts] for stage, each in enumerate(seen)
    }
    title = "kept by a rank between backward and update"
    picture("staircase", title, parts=parts, steps=steps_down, unit="bytes")
    moved = int((replica.weights != mine(rows).to(recipe.weights)).sum())
    same_weights, same_states = (all(stages) for stages in zip(*same, strict=True))
    check("weights equal training on one process", same_weights, "==", True)
    check("optimizer state equals training on one process", same_states, "==", True)

    return {
        "parameters": shared(counted(drawn.numel())),
        "padding": shared(counted(rows.numel() - drawn.numel())),
        **{f"{k}_bytes_{z}": counted(seen[z][k]) for k, z in product(seen[0], range(4))},
        "moved_weights": counted(moved),
        "weights_same": identical(same_weights),
        "states_same": identical(same_states),
    }


def added_round(rows: Tensor) -> Tensor:
    """All ranks' rows, each part added on one process in the order in which the ring adds it."""
    n, cut = len(rows), rows.unflatten(-1, (len(rows), -1))
    turns = [[cut[(part + 1 + hop) % n, :, part] for hop in range(n)] for part in range(n)]
    return torch.cat([sum(turn) for turn in turns], -1)  # pyright: ignore


def alone(rows: Tensor, width: int, recipe: Recipe, batches: Tensor, steps: int, early: bool):
    """The same training on one process, with nothing cut: weights and the optimizer's state."""
    weights, optimizer = rows.to(recipe.weights), fresh(rows)
    lent = weights[:, : width**2].unflatten(-1, (width, width))
    found = batches.new_zeros(*batches.shape[:2], *rows.shape, dtype=recipe.gradients)
    for step in range(1, steps + 1):
        for place in product(*map(range, batches.shape[:2])):
            taken = found[place][:, : width**2].unflatten(-1, (width, width))
            passes(len(rows), lent.__getitem__, taken.__setitem__, batches[place])
        turns = found.unbind(1)  # micro-batches: stages 2 and 3 sum each over the ranks at once
        total = sum(map(added_round, turns)) if early else added_round(sum(turns))  # pyright: ignore
        update(optimizer, total.float() / (ranks() * len(turns)), step, recipe.lr)  # pyright: ignore
        weights.copy_(optimizer[0])
    return weights, optimizer


BREAKS = {
    "no-master": Break(
        old="own.copy_(self.optimizer[0])",
        new="self.optimizer[0].copy_(own.copy_(self.optimizer[0]))",
        expect="weights equal training on one process",
        ranks=1,
        source="github.com/workofart/ml-by-hand/pull/85: an update of 6e-4 rounds away in 16 bits",
    ),
    "no-average": Break(
        old="/ (ranks() * self.recipe.microbatches)",
        new="/ self.recipe.microbatches",
        expect="optimizer state equals training on one process",
        ranks=2,
        source="reduce-scatter sums; Adam divides by the gradient's size and so nearly hides it",
    ),
    "stale-weights": Break(
        old="        if self.stage in (1, 2):\n",
        new="        if False:\n",
        expect="weights equal training on one process",
        ranks=2,
        source="github.com/lodestone-rock/RamTorch/issues/13: only the owner has the new weights",
    ),
    "all-reduce-first": Break(
        old="rows = [*map(ring_gather, rows)] if self.stage == 0 else rows",
        new="rows = [*map(ring_gather, rows)] if self.stage <= 1 else rows\n"
        "        rows = [*map(mine, rows)] if self.stage == 1 else rows",
        expect="stage 1 sends its share",
        ranks=2,
        source="github.com/karpathy/llm.c/pull/421: gradients gathered, then the weights as well",
    ),
    "part-is-a-view": Break(
        old="row = ring_scatter_sum(row) if",
        new="row = mine(ring_gather(ring_scatter_sum(row))) if",
        expect="stage 2 keeps its share, no more",
        ranks=2,
        source="all-reduced, then sliced: a slice keeps all of it alive, and no memory is saved",
    ),
}

if __name__ == "__main__":
    run(__file__)
