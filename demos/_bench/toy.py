"""A small residual model, and its gradients from one process: what pipelines are held against."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

if TYPE_CHECKING:
    from torch.nn import Module


class Layer(torch.nn.Linear):
    """One residual layer, so that gradients do not fade on the way up. [rows, width] both ways."""

    def forward(self, input: Tensor) -> Tensor:
        """Add what the layer has to say."""
        return input + torch.tanh(super().forward(input))


def take_gradient(block: "Module") -> Tensor:
    """The gradient of all weights in one row; the next step starts from zero."""
    gradient = torch.cat([_flat(weight.grad) for weight in block.parameters()])
    block.zero_grad(set_to_none=False)
    return gradient


def _flat(gradient: Tensor | None) -> Tensor:
    """A weight's gradient in a row; that there is none is a demo's mistake."""
    assert gradient is not None, "a weight has no gradient: its backward never ran"
    return gradient.flatten()


def one_process(
    blocks: "Sequence[Module]", inputs: Iterable[Tensor], targets: Iterable[Tensor]
) -> list[Tensor]:
    """The truth: the whole model in one place, the whole batch at once; a row for each block."""
    model = torch.nn.Sequential(*blocks)
    mse_loss(model(torch.cat(list(inputs))), torch.cat(list(targets))).backward()
    return [take_gradient(block) for block in blocks]
