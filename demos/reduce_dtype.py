"""A step on a TP x DP grid: bf16 for activations, fp32 where gradients add up, one skip for all.

The trick
    Ranks form a grid. TP cuts the layers (columns of the first matrix, rows of the second), DP has
    other samples. Weights are fp32, products bf16. On TP's axis partial sums of activations travel
    in bf16, the dtype in which the next product takes them. Gradients have the dtype of the
    weights, fp32: in that they are added up over micro-batches, and in that DDP sends them, twice
    the bytes of bf16. In bf16 each addition rounds again all that was added before.

    In fp16 one TP shard's gradient may overflow while the others stay finite. DP's sum takes the
    inf to the replicas of that shard. The other shards learn of it by a MAX over TP's axis; without
    it they step and these skip.

    Here the inf is planted: in the last TP shard of the first replica.

Watch
    sent_bytes_tp (bytes, forward)      sent by this rank on TP's axis: activations of all
                                        micro-batches in bf16
    sent_bytes_dp (bytes)               sent by this rank on DP's axis: gradients in fp32
    sent_bytes_dp_bf16 (bytes)          sent by this rank on DP's axis: gradients in bf16
    error_tp (shared, difference)       relative error of activations summed over TP's axis in bf16
    error_fp32 (shared, difference)     relative error of gradients added up and sent in fp32, from
                                        the exact sum of the same
    error_wire (shared, difference)     same as error_fp32, but sent in bf16
    error_kept (shared, difference)     same as error_fp32, but added up over micro-batches in bf16
    found_own (yes/no)                  1 if there is an inf in this rank's gradient
    found_sum (yes/no)                  1 if there is an inf in its gradient after DP's sum
    found_all (yes/no)                  1 if it learns of one by then or from a MAX over TP's axis

Run
    quizkit demo reduce-dtype --gpus 4
    python demos/reduce_dtype.py --ranks 8 --tp 2 --microbatches 32
    torchrun --nproc-per-node 4 demos/reduce_dtype.py
"""

from math import inf

from _bench import Break, Metrics, check, compared, counted, device, everyone, rank, ranks, refuse
from _bench import ring_sum, run, shared, wire

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

TOPIC = "precision"
FP32, BF16 = torch.float32, torch.bfloat16


def axes(tp: int) -> tuple[list[int], list[int]]:
    """The ranks of this rank's model, and those with its shard in all the models."""
    first = rank() - rank() % tp
    return list(range(first, first + tp)), list(range(rank() % tp, ranks(), tp))


def gradient(shards: list[Tensor], batch: tuple[Tensor, Tensor], model: list[int]) -> Tensor:
    """A micro-batch's gradient of this rank's shards, in their dtype."""
    inputs, targets = batch
    first, second = (shard.detach().requires_grad_() for shard in shards)
    part = torch.tanh(inputs.to(BF16) @ first.to(BF16)) @ second.to(BF16)
    whole = ring_sum(part, model).float().requires_grad_()
    mse_loss(whole, targets).backward()
    assert whole.grad is not None
    found = torch.autograd.grad(part, (first, second), whole.grad.to(BF16))
    return torch.cat([each.flatten() for each in found])


def added(gradients: list[Tensor], kept: torch.dtype) -> Tensor:
    """The sum over micro-batches, in the dtype it is kept in."""
    total = torch.zeros_like(gradients[0], dtype=kept)
    for each in gradients:
        total += each.to(kept)
    return total


def reduced(total: Tensor, sent: torch.dtype, replicas: list[int]) -> Tensor:
    """The sum over DP's axis, in the dtype that is sent."""
    return ring_sum(total.to(sent), replicas).to(total.dtype)


def overflow(total: Tensor, model: list[int]) -> bool:
    """Whether any shard of the model has an inf or a NaN after DP's sum: all its ranks agree."""
    mine = odd(total).float()
    return bool(ring_sum(mine, model, torch.maximum))


def odd(numbers: Tensor) -> Tensor:
    """Whether an inf or a NaN is among them, as a tensor of one."""
    return ~numbers.isfinite().all().view(1)


def main(
    tp: int = 2,  # ranks that share a model, a divisor of the ranks
    microbatches: int = 8,  # whose gradients are added up before DP's sum
    width: int = 16,  # features in and out; four times as many between
    tokens: int = 32,  # rows of a micro-batch on each replica
) -> Metrics:
    """One step's gradients in several dtypes against their exact sum; then who knows of an inf."""
    n, me = ranks(), rank()
    if tp < 1 or n % tp:
        refuse(f"{n} ranks cannot form models of {tp} ranks: tp is a divisor of {n}")
    if not (1 <= microbatches <= 256 and 1 <= tokens <= 1024 and 1 <= width <= 128):
        refuse("microbatches go to 256, tokens to 1024, width to 128")
    if 4 * width % tp:
        refuse(f"{4 * width} columns cannot be cut into {tp}: 4 x width is a multiple of tp")
    model, replicas = axes(tp)
    first, second = draw(width, 4 * width) / 4, draw(4 * width, width) / 8
    shards = [first.chunk(tp, 1)[me % tp], second.chunk(tp, 0)[me % tp]]
    torch.manual_seed(me // tp)  # replicas draw other samples, the ranks of a model the same
    batches = [(draw(tokens, width), draw(tokens, width)) for _ in range(microbatches)]
    with wire() as tp_wire:
        gradients = [gradient(shards, batch, model) for batch in batches]
    exact = ring_sum(torch.stack(gradients).double().sum(0), replicas)
    total = added(gradients, FP32)
    with wire() as wide:
        found = reduced(total, FP32, replicas)
    with wire() as narrow:
        rough = reduced(total, BF16, replicas)
    kept = reduced(added(gradients, BF16).float(), FP32, replicas)
    check("gradients are summed as in fp32", off(found, exact), "<", 1e-5)
    inputs = batches[0][0].to(BF16)
    part = torch.tanh(inputs @ shards[0].to(BF16)) @ shards[1].to(BF16)
    error_tp = off(ring_sum(part, model), ring_sum(part.double(), model))
    check("activations are summed as bf16 can", error_tp, "<", 2.0**-8 * tp**0.5)

    bad = total.clone()
    if me == tp - 1:
        bad[0] = inf
    summed = reduced(bad, FP32, replicas)
    skip = overflow(summed, model)
    skips = everyone(float(skip))
    check("all ranks skip or none", skips.min(), "==", skips.max())
    return {
        "sent_bytes_tp": counted(tp_wire.sent_bytes),
        "sent_bytes_dp": counted(wide.sent_bytes),
        "sent_bytes_dp_bf16": counted(narrow.sent_bytes),
        # Rounding is the subject: no difference is too small to count, so no error has a floor.
        "error_tp": shared(compared(error_tp, floor=0)),
        "error_fp32": shared(compared(off(found, exact), floor=0)),
        "error_wire": shared(compared(off(rough, exact), floor=0)),
        "error_kept": shared(compared(off(kept, exact), floor=0)),
        "found_own": counted(int(odd(bad))),
        "found_sum": counted(int(odd(summed))),
        "found_all": counted(int(skip)),
    }


# Below: what the results are held against.


def draw(rows: int, columns: int) -> Tensor:
    """Random numbers."""
    return torch.randn(rows, columns, device=device())


def off(result: Tensor, exact: Tensor) -> float:
    """Relative rms error over all ranks."""
    squares = [(result.double() - exact).square().sum().item(), exact.square().sum().item()]
    error, size = everyone(squares).sum(0)
    return (error / size).sqrt().item()


BREAKS = {
    "kept-in-bf16": Break(
        old="dtype=kept)",
        new="dtype=BF16)",
        expect="gradients are summed as in fp32",
        ranks=2,
        source="model.bfloat16(): .grad has the weight's dtype, and accumulation rounds each time",
    ),
    "sent-in-bf16": Break(
        old="ring_sum(total.to(sent), replicas)",
        new="ring_sum(total.to(BF16), replicas)",
        expect="gradients are summed as in fp32",
        ranks=2,
        source="reduce_dtype=torch.bfloat16 in FSDP's MixedPrecision; DDP's bf16_compress_hook",
    ),
    "own-flag": Break(
        old="    return bool(ring_sum(mine, model, torch.maximum))",
        new="    return bool(mine)",
        expect="all ranks skip or none",
        ranks=2,
        source="torch.amp.GradScaler as it is for DDP, put around tensor-parallel shards",
    ),
    "max-over-replicas": Break(
        old="skip = overflow(summed, model)",
        new="skip = overflow(summed, replicas)",
        expect="all ranks skip or none",
        ranks=2,
        source="MAX over the group at hand, that of the gradients, where all have the flag already",
    ),
}

if __name__ == "__main__":
    run(__file__)
