"""Short dtypes in a training step: bf16 weights lose updates, fp16 loses gradients.

The trick
    The step is the same in five modes: products of matrices in the dtype of the mode, Adam. What
    differs is where numbers are kept.

        fp32         all of it
        bf16         fp32 weights, cast to bf16 for the products
        pure         weights, gradients and Adam's states in bf16
        fp16         fp32 weights, cast to fp16 for the products
        fp16-scaled  as fp16; the loss is multiplied by a scale, gradients are divided by it in fp32

    With a learning rate as low as at the end of a schedule, an update is less than half a step of
    most bf16 weights: the sum is rounded back, and they stand still. fp32 weights add up what bf16
    cannot show. With a loss that is a mean over many tokens, each one's gradient is small: below
    3e-8 fp16 makes it 0, and Adam, which would undo any factor, gets nothing to undo.

Watch
    loss (shared, loss)       after `steps` steps in `mode`
    loss_fp32 (shared, loss)  after `steps` steps in fp32
    grad_norm (shared, norm)  of all gradients of the last step in `mode`, the scale divided out
    zeros (shared, share)     of the entries of gradients in the last step in `mode`
    still (shared, share)     of the weights' entries that no step in `mode` has moved

Run
    quizkit demo master-weights --gpus 1
    python demos/master_weights.py --mode pure --lr 0.00003 --steps 20
    torchrun --nproc-per-node 2 demos/master_weights.py
"""

from dataclasses import dataclass
from typing import Literal

from _bench import Break, Metrics, check, counted, device, picture, refuse, run, shared

import torch
from torch import Tensor

TOPIC = "precision"
SHORT = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp16-scaled": torch.float16}
Batch = tuple[Tensor, Tensor]


@dataclass
class Recipe:
    """How to train."""

    steps: int
    lr: float
    loss_weight: float  # what the loss is multiplied by, scale apart
    scale: float


@dataclass
class Trained:
    """What came of it: the loss after each step, the gradients of the last, the weights."""

    losses: list[float]
    gradients: list[Tensor]
    weights: list[Tensor]


class Adam:
    """Its states have the dtype of the weights."""

    def __init__(self, weights: list[Tensor]) -> None:
        self.weights = weights
        self.first = [torch.zeros_like(weight) for weight in weights]
        self.second = [torch.zeros_like(weight) for weight in weights]

    def step(self, gradients: list[Tensor], number: int, lr: float) -> None:
        """Move each weight; the sum is rounded to the weight's dtype."""
        rows = zip(self.weights, gradients, self.first, self.second, strict=True)
        for weight, gradient, first, second in rows:
            first.lerp_(gradient, 0.1)
            second.lerp_(gradient.square(), 0.05)
            spread = (second / (1 - 0.95**number)).sqrt() + 1e-12
            weight -= lr * (first / (1 - 0.9**number) / spread)


def loss_of(weights: list[Tensor], batch: Batch, dtype: torch.dtype) -> Tensor:
    """Two layers, whose products are in the dtype; the loss is in fp32."""
    inputs, targets = batch
    first, second = (weight.to(dtype) for weight in weights)
    hidden = torch.tanh(inputs.to(dtype) @ first)
    return ((hidden @ second).float() - targets).square().mean()


def gradients_of(
    weights: list[Tensor], batch: Batch, dtype: torch.dtype, weight: float, scale: float
) -> list[Tensor]:
    """Backward from the loss, times its weight and a scale; the scale is divided out after it."""
    leaves = [each.detach().requires_grad_() for each in weights]
    found = torch.autograd.grad(loss_of(leaves, batch, dtype) * weight * scale, leaves)
    return [each / scale for each in found]


def train(start: list[Tensor], batch: Batch, mode: str, recipe: Recipe) -> Trained:
    """Steps in a mode: losses of the weights as fp32 sees them, the last gradients, weights."""
    kept = torch.bfloat16 if mode == "pure" else torch.float32
    weights = [weight.to(kept, copy=True) for weight in start]
    adam = Adam(weights)
    dtype, scale = SHORT.get(mode, kept), recipe.scale if mode == "fp16-scaled" else 1.0
    losses: list[float] = []
    gradients: list[Tensor] = []
    for number in range(1, recipe.steps + 1):
        gradients = gradients_of(weights, batch, dtype, recipe.loss_weight, scale)
        adam.step(gradients, number, recipe.lr)
        wide = [weight.float() for weight in weights]
        losses.append(loss_of(wide, batch, torch.float32).item())
    return Trained(losses, gradients, weights)


def main(
    mode: Literal["fp32", "bf16", "pure", "fp16", "fp16-scaled"] = "pure",  # how steps are trained
    steps: int = 10,  # steps to train
    lr: float = 0.00003,  # Adam's learning rate
    loss_weight: float = 1e-6,  # what the loss is multiplied by, as 1 / tokens of a large batch
    scale_log2: int = 16,  # log2 of the loss scale in mode fp16-scaled
    width: int = 32,  # features of a token
) -> Metrics:
    """Train in the mode, and in all others to see that each does what it is known for."""
    if not (1 <= steps <= 60 and 0 < lr <= 0.01 and 0 < loss_weight <= 1):
        refuse("steps go to 60, lr to 0.01, loss-weight to 1, all above 0")
    if not (0 <= scale_log2 <= 24 and 1 <= width <= 256):
        refuse("scale-log2 lies from 0 to 24, width from 1 to 256")
    start = [torch.randn(width, width, device=device()) / width**0.5 for _ in range(2)]
    start = [weight.bfloat16().float() for weight in start]  # every mode begins with the same
    inputs, noise = (torch.randn(64, width, device=device()) for _ in range(2))
    batch = inputs, torch.tanh(inputs.roll(1, 1)) + noise / 10
    recipe = Recipe(steps, lr, loss_weight, 2.0**scale_log2)
    modes = ("fp32", "bf16", "pure", "fp16", "fp16-scaled")
    ways = {name: train(start, batch, name, recipe) for name in modes}
    first = loss_of(start, batch, torch.float32).item()
    way, whole = ways[mode], ways["fp32"]
    gain = first - whole.losses[-1]
    for name in ("bf16", "fp16-scaled"):
        behind = abs(ways[name].losses[-1] - whole.losses[-1])
        check(f"{name} follows fp32", behind, "<", 0.02 * gain)
    picture(
        "curve",
        "the loss in each mode",
        series={name: [first, *each.losses] for name, each in ways.items()},
        x="steps",
        y="loss",
    )
    norm = torch.stack([each.float().norm() for each in way.gradients]).norm()
    moved = [a.float() != b for a, b in zip(way.weights, start, strict=True)]
    return {
        "loss": shared(counted(way.losses[-1])),
        "loss_fp32": shared(counted(whole.losses[-1])),
        "grad_norm": shared(counted(norm)),
        "zeros": shared(counted(share([each == 0 for each in way.gradients]))),
        "still": shared(counted(1 - share(moved))),
    }


def share(found: list[Tensor]) -> float:
    """Of all entries, those for which something is true."""
    return torch.cat([each.flatten() for each in found]).double().mean().item()


BREAKS = {
    "no-master": Break(
        old='    kept = torch.bfloat16 if mode == "pure" else torch.float32',
        new='    kept = torch.float32 if mode[:2] == "fp" else torch.bfloat16',
        expect="bf16 follows fp32",
        ranks=1,
        source="model.bfloat16() before the optimizer is made: it has no fp32 weights then",
    ),
    "divided-in-half": Break(
        old="    return [each / scale for each in found]",
        new="    return [(each.to(dtype) / scale).to(each.dtype) for each in found]",
        expect="fp16-scaled follows fp32",
        ranks=1,
        source="unscaled in fp16, where what the scale has saved is 0 again",
    ),
    "scale-left-out": Break(
        old="* weight * scale, leaves)",
        new="* weight, leaves)",
        expect="fp16-scaled follows fp32",
        ranks=1,
        source="loss.backward() for scaler.scale(loss).backward(): it is divided all the same",
    ),
}

if __name__ == "__main__":
    run(__file__)
