"""Autocast by hand: operations change their dtype, weights do not; what shrinks is what is kept.

The trick
    autocast goes by the name of an operation. Products of matrices take bf16: whatever else comes
    in is cast first. Losses take fp32. The rest computes in what it is given. Weights stay fp32,
    and so do their gradients (backward goes through the cast) and Adam's states.

    A weight that is used twice is cast once, and the copy is kept for backward. So the 16 bytes a
    parameter stay, 2 come on top, and what shrinks is the activations kept for backward: to more
    than half, as norms keep an fp32 residual stream. So memory does not halve; it comes the nearer
    to that, the more of it is activations.

    Pure bf16 halves weights, gradients and states too; demos/master_weights.py tells what that
    loses, and demos/loss_scale.py of the scaler that fp16 takes. torch's refuses fp16 gradients,
    such as those of model.half().

    The lists of operations are those of the CPU. On a GPU autocast also takes softmax, norms, exp,
    log and sums to fp32.

Watch
    grad_error (shared, difference)    largest one of gradients from torch.autocast's
    weights_narrow (shared, tensors)   weights, gradients and Adam's states that are not fp32, under
                                       autocast
    states_bytes_fp32 (shared, bytes)  of weights, gradients and Adam's states in fp32
    states_bytes (shared, bytes)       of weights, gradients and Adam's states under autocast,
                                       copies apart
    states_bytes_pure (shared, bytes)  of weights, gradients and Adam's states in pure bf16
    copy_bytes (shared, bytes)         of the bf16 copies of weights that autocast makes
    kept_bytes_fp32 (shared, bytes)    saved for backward in fp32, weights and targets apart
    kept_bytes (shared, bytes)         saved for backward under autocast, weights, their copies and
                                       targets apart
    kept_bytes_pure (shared, bytes)    saved for backward in pure bf16, weights and targets apart
    kept_wide_bytes (shared, bytes)    part of what is saved for backward under autocast that is
                                       fp32
    refused (shared, yes/no)           1 if torch's GradScaler refuses the gradients of a model in
                                       fp16

Run
    quizkit demo amp --gpus 1
    python demos/amp.py --tokens 512 --layers 4
    torchrun --nproc-per-node 2 demos/amp.py
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from typing import Any

from _bench import Break, Metrics, check, compared, counted, device, max_error, picture, refuse
from _bench import run, shared

import torch
from torch import Tensor
from torch.nn import Linear, Module
from torch.nn.functional import cross_entropy, gelu, layer_norm, softmax
from torch.overrides import TorchFunctionMode

TOPIC = "precision"
NARROW = {"linear", "matmul", "bmm", "addmm", "baddbmm", "scaled_dot_product_attention"}
WIDE = {"mse_loss", "l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits"}


class Autocast(TorchFunctionMode):
    """Inside, operations of the lists get their inputs in the dtype of their list."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.copies: dict[Tensor, Tensor] = {}  # of weights
        self.casts: list[Tensor] = []

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Called for every operation."""
        name, named = func.__name__, kwargs or {}
        if name in NARROW or name in WIDE:
            to = self.dtype if name in NARROW else torch.float32
            args = tuple(self.cast(each, to) for each in args)
            named = {key: self.cast(each, to) for key, each in named.items()}
        return func(*args, **named)

    def cast(self, given: Any, to: torch.dtype) -> Any:
        """A tensor of numbers in the dtype; of a weight, the copy that was made before."""
        if not isinstance(given, Tensor) or not given.is_floating_point() or given.dtype == to:
            return given
        if not (given.is_leaf and given.requires_grad):
            return given.to(to)
        if given not in self.copies:
            self.copies[given] = given.to(to)  # backward casts the gradient back to fp32
            self.casts.append(self.copies[given])
        return self.copies[given]


class Block(Module):
    """A transformer block, applied `layers` times with the same weights, and a layer on top."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = layers
        self.qkv, self.out = Linear(width, 3 * width), Linear(width, width)
        self.up, self.down = Linear(width, 4 * width), Linear(4 * width, width)
        self.head = Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """[tokens, width] both ways."""
        for _ in range(self.layers):
            q, k, v = self.qkv(layer_norm(x, x.shape[-1:])).chunk(3, -1)
            scores = softmax(q @ k.T / x.shape[-1] ** 0.5, -1)
            x = x + self.out(scores @ v)
            x = x + self.down(gelu(self.up(layer_norm(x, x.shape[-1:]))))
        return self.head(layer_norm(x, x.shape[-1:]))


@contextmanager
def kept_storages() -> Iterator[dict[int, Tensor]]:
    """What autograd saves inside for backward, by where it lies: a storage counts once."""
    kept: dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield kept


def a_step(
    model: Module, batch: tuple[Tensor, Tensor], cast: AbstractContextManager
) -> tuple[list[Tensor], list[Tensor]]:
    """Forward under the cast, then backward: the gradients, and what was kept for backward."""
    inputs, targets = batch
    dtype = next(model.parameters()).dtype
    with kept_storages() as kept, cast:
        loss = cross_entropy(model(inputs.to(dtype)), targets)
    loss.backward()
    return [weight.grad for weight in model.parameters() if weight.grad is not None], [
        *kept.values()
    ]


def main(
    tokens: int = 64,  # rows of the batch
    width: int = 32,  # features of a token
    layers: int = 2,  # times the block is applied
) -> Metrics:
    """One step in three precisions: dtypes, gradients, bytes."""
    if not (1 <= tokens <= 4096 and 1 <= width <= 256 and 1 <= layers <= 8):
        refuse("tokens go from 1 to 4096, width to 256, layers to 8")
    block = Block(width, layers).to(device())
    inputs = torch.randn(tokens, width, device=device())
    batch = inputs, inputs.argmax(1)
    cast, seen = Autocast(torch.bfloat16), Dtypes()
    state: dict[str, list[Tensor]] = {}
    kept: dict[str, list[Tensor]] = {}
    found: dict[str, list[Tensor]] = {}
    for name in ENDS:
        model = deepcopy(block).to(DTYPES[name])
        with seen if name == "autocast" else nullcontext():
            way = cast if name == "autocast" else nullcontext()
            found[name], saved = a_step(model, batch, way)
        weights = [*model.parameters()]
        adam = [torch.zeros_like(weight) for weight in weights for _ in ("first", "second")]
        state[name] = [*weights, *found[name], *adam]
        known = {place(each) for each in [*weights, *cast.casts]}
        floats = [each for each in saved if each.is_floating_point()]  # not the targets
        kept[name] = [each for each in floats if place(each) not in known]
    truth, dtypes = under_torch(block, batch)
    wrong = sum(ours != torchs for ours, torchs in zip(seen.found, dtypes, strict=True))
    check("operations have torch.autocast's dtypes", wrong, "==", 0)
    error = max(max_error(a.cpu(), b) for a, b in zip(found["autocast"], truth, strict=True))
    largest = max(each.abs().max().item() for each in truth)
    check("gradients are torch.autocast's", error, "<", 1e-3 * largest)
    narrow = sum(each.dtype != torch.float32 for each in state["autocast"])
    check("weights, gradients and states stay fp32", narrow, "==", 0)
    check("a weight is cast once", len(cast.casts), "==", len([*block.parameters()]))
    steps = {
        name: [total(each for each in held if each.dtype == dtype) for dtype in BOTH]
        for name, held in kept.items()
    }
    picture("staircase", "kept for backward", parts=["fp32", "bf16"], steps=steps, unit="bytes")
    return {
        "grad_error": shared(compared(error, floor=1e-6)),
        "weights_narrow": shared(counted(narrow)),
        **{f"states_bytes{end}": shared(counted(total(state[way]))) for way, end in ENDS.items()},
        "copy_bytes": shared(counted(total(cast.casts))),
        **{f"kept_bytes{end}": shared(counted(total(kept[way]))) for way, end in ENDS.items()},
        "kept_wide_bytes": shared(counted(steps["autocast"][0])),
        "refused": shared(counted(refused(block))),
    }


ENDS = {"fp32": "_fp32", "autocast": "", "pure": "_pure"}
BOTH = (torch.float32, torch.bfloat16)
DTYPES = {"fp32": torch.float32, "autocast": torch.float32, "pure": torch.bfloat16}


def total(tensors: Iterable[Tensor]) -> int:
    """Bytes of the storages, views of one counted once by whoever made the list."""
    return sum(each.untyped_storage().nbytes() for each in tensors)


def place(tensor: Tensor) -> int:
    """Where its storage lies."""
    return tensor.untyped_storage().data_ptr()


# Below: what the results are held against.


class Dtypes(TorchFunctionMode):
    """Notes the name of each operation and the dtype of its result."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, torch.dtype]] = []

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        first = found[0] if isinstance(found, tuple) else found
        if isinstance(first, Tensor) and func.__name__ in LOOKED_AT:
            self.found.append((func.__name__, first.dtype))
        return found


LOOKED_AT = NARROW | WIDE | {"layer_norm", "softmax", "gelu", "add", "truediv", "div", "chunk"}


def under_torch(
    block: Module, batch: tuple[Tensor, Tensor]
) -> tuple[list[Tensor], list[tuple[str, torch.dtype]]]:
    """Gradients and dtypes of the same step under torch.autocast, in host memory."""
    model, inputs, targets = deepcopy(block).cpu(), batch[0].cpu(), batch[1].cpu()
    with torch.autocast("cpu", torch.bfloat16), Dtypes() as seen:
        loss = cross_entropy(model(inputs), targets)
    loss.backward()
    return [each.grad for each in model.parameters() if each.grad is not None], seen.found


def refused(block: Module) -> int:
    """Whether GradScaler refuses to divide the gradients of the model turned to half."""
    model = deepcopy(block).half()
    for weight in model.parameters():
        weight.grad = torch.zeros_like(weight)
    scaler = torch.amp.GradScaler(device().type)
    scaler.scale(torch.zeros(1, device=device()))
    try:
        scaler.unscale_(Held(model))  # pyright: ignore[reportArgumentType]
    except ValueError as error:
        return int("FP16 gradients" in str(error))
    return 0


class Held:
    """As much of an optimizer as unscale_ looks at: one of torch's takes long to import."""

    def __init__(self, model: Module) -> None:
        self.param_groups = [{"params": [*model.parameters()]}]


BREAKS = {
    "half-first": Break(
        old="        model = deepcopy(block).to(DTYPES[name])",
        new="        model = deepcopy(block).to(DTYPES['fp32' if name == 'fp32' else 'pure'])",
        expect="weights, gradients and states stay fp32",
        ranks=1,
        source="the model is turned to half before autocast, as an interview note has it",
    ),
    "loss-not-cast": Break(
        old="name in NARROW or name in WIDE:",
        new="name in NARROW:",
        expect="operations have torch.autocast's dtypes",
        ranks=1,
        source="an autocast of one list: the loss is added up in bf16 where its inputs are",
    ),
    "cast-each-time": Break(
        old="        if given not in self.copies:",
        new="        if given not in self.copies or self.dtype.is_floating_point:",
        expect="a weight is cast once",
        ranks=1,
        source="torch.autocast(cache_enabled=False): each use of a weight keeps a copy of its own",
    ),
}

if __name__ == "__main__":
    run(__file__)
