"""Logits are the largest tensor of a step; a loss in chunks of tokens never has them whole.

The trick
    A token's loss needs its own V logits and nobody else's. Plain torch makes all of them in 16
    bits, once more in fp32, once more as log-softmax, which backward keeps, and as large gradients:
    12 bytes a logit at the peak. A chunk's logits can go as soon as two things are made of them:
    its part of the loss, and (softmax - onehot) / tokens that count, of which follow the gradients
    for the hidden states and, added up, for the head. That is done in forward, at no more FLOPs;
    or backward makes each chunk's logits again, which costs a third product more.

    The mean is over all tokens that have a target: each chunk's sum is divided by their number in
    the whole batch. A mean of chunk means weighs a token of a chunk with few of them more.

Watch
    all_logits (shared, elements)                tokens x vocabulary
    peak_whole (shared, bytes, both)             most alive at once, hidden states, head and targets
                                                 apart, all logits at once
    peak_chunked (shared, bytes, both)           most alive at once, those apart, by chunks with
                                                 gradients made in forward
    peak_recomputed (shared, bytes, both)        most alive at once, those apart, by chunks of which
                                                 backward makes the logits again
    kept_whole (shared, bytes, forward)          of that, still alive when forward is done, all
                                                 logits at once
    kept_chunked (shared, bytes, forward)        still alive when forward is done, gradients made in
                                                 forward
    kept_recomputed (shared, bytes, forward)     still alive when forward is done, logits to be made
                                                 again
    head_flops_whole (shared, FLOPs, both)       of matrix products, multiply-add 2, all logits at
                                                 once
    head_flops_chunked (shared, FLOPs, both)     of matrix products, gradients made in forward
    head_flops_recomputed (shared, FLOPs, both)  of matrix products, logits made again in backward
    counting (shared, tokens)                    tokens that have a target
    chunk_counting (shared, tokens)              of the first chunk, those that have a target
    mean_loss (shared, loss)                     mean over the tokens that have a target, by chunks
    means_loss (shared, loss)                    mean over chunks of their means: a trap
    loss_error (shared, difference)              of the losses by chunks, largest from torch's
                                                 cross_entropy, fp64
    x_grad_error (shared, difference)            of the gradients of hidden states, from whole
                                                 logits, fp64
    output_grad_error (shared, difference)       of the head's gradients, from whole logits, fp64
    tied_grad_error (shared, difference)         of a table's that is the head too, from whole
                                                 logits, fp64
    linear_ce_error (shared, difference)         loss and gradients, from torch's own
                                                 linear_cross_entropy in chunks, fp64

Run
    quizkit demo chunked-loss
    python demos/chunked_loss.py --tokens 512 --chunk 64
    python demos/chunked_loss.py --prompt 100 --break mean-of-means
"""

from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, device, max_error, picture, refuse
from _bench import run, shared

import torch
from torch.autograd import grad
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.functional import cross_entropy, linear
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

TOPIC = "memory"
IGNORED = -100  # torch's mark for a token without a target


class ChunkedLoss(torch.autograd.Function):
    """Mean cross entropy of `linear(x, head)`, both gradients made in forward, chunk by chunk."""

    @staticmethod
    def forward(ctx, x, head, targets, chunk):
        """Leading dimensions are tokens; sums are fp32 at least."""
        ctx.shape, x, targets = x.shape, x.reshape(-1, x.shape[-1]), targets.reshape(-1)
        wide = torch.promote_types(x.dtype, torch.float32)
        counting = (targets != IGNORED).sum()
        for_x, for_head = torch.empty_like(x), torch.zeros_like(head, dtype=wide)
        loss = sum(
            add_chunk(*part, head, for_head, counting)
            for part in zip(x.split(chunk), targets.split(chunk), for_x.split(chunk), strict=True)
        )
        ctx.found = for_x, for_head.to(head.dtype)
        return loss

    @staticmethod
    def backward(ctx, gradient):
        """All is there but for the factor of what was done with the loss; it goes in once."""
        if ctx.found is None:
            raise RuntimeError("the gradients are used up: go forward again")
        (for_x, for_head), ctx.found = ctx.found, None
        return for_x.mul_(gradient).view(ctx.shape), for_head.mul_(gradient), None, None


def add_chunk(x, targets, for_x, head, for_head, counting):
    """A chunk's part of the loss; its logits become their own gradient in place, and then go."""
    counts = targets != IGNORED
    share = counts.to(for_head.dtype) / counting
    at = targets.masked_fill(~counts, 0)[:, None]
    logits = linear(x, head).to(for_head.dtype)
    logits -= logits.amax(1, keepdim=True)
    hit = logits.gather(1, at)[:, 0]
    total = logits.exp_().sum(1)
    slope = logits.div_(total[:, None]).scatter_add_(1, at, -torch.ones_like(hit)[:, None])
    slope *= share[:, None]
    for_x.copy_(slope.to(x.dtype) @ head)
    for_head.addmm_(slope.T, x.to(slope.dtype))
    return ((total.log() - hit) * share).sum()


def sum_of(x, head, targets):
    """The sum of the tokens' losses, as plain torch has it: logits in fp32 at least."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return cross_entropy(linear(x, head).to(wide), targets, reduction="sum")


def recomputed_loss(x, head, targets, chunk):
    """The same mean by autograd: a checkpoint a chunk, so that backward makes its logits again."""
    parts = []
    for at in range(0, len(x), chunk):
        part = x[at : at + chunk], head, targets[at : at + chunk]
        parts.append(checkpoint(sum_of, *part, use_reentrant=False))
    return torch.stack(parts).sum() / (targets != IGNORED).sum()


def whole_loss(x, head, targets, _chunk):
    """All logits at once."""
    return sum_of(x, head, targets) / (targets != IGNORED).sum()


def means_loss(x, head, targets, chunk):
    """A trap: the mean of the chunks' means, of those in which a token has a target."""
    means = []
    for part, wanted in zip(x.split(chunk), targets.split(chunk), strict=True):
        if counting := (wanted != IGNORED).sum():
            means.append(sum_of(part, head, wanted) / counting)
    return torch.stack(means).mean()


def main(
    tokens: int = 256,  # tokens of the batch
    vocab: int = 1000,  # rows of the head
    width: int = 16,  # of a hidden state
    chunk: int = 64,  # tokens of a chunk; the last one may be shorter
    prompt: int = 40,  # the first tokens, which have no target
    dtype: Literal["bf16", "fp32"] = "bf16",  # of hidden states and head where bytes are counted
) -> Metrics:
    """Count what is alive at once in each way, and compare all gradients in fp64."""
    if min(tokens, width, chunk) < 1 or vocab < 16:
        refuse("tokens, width and chunk start at 1, vocab at 16")
    if not 0 <= prompt < tokens:
        refuse(f"prompt lies from 0 to {tokens - 1}")
    table = torch.randn(vocab, width, dtype=torch.float64, device=device())
    ids = torch.randint(vocab, (2, tokens)).to(device())
    targets = ids[1].clone()
    targets[:prompt] = IGNORED

    kind = {"bf16": torch.bfloat16, "fp32": torch.float32}[dtype]
    short = [table[ids[0]].to(kind), table.to(kind), targets]
    seen = {name: watched(way, short, chunk) for name, way in WAYS.items()}
    sizes = {-(-tokens // parts) for parts in (1, 2, 4, 8, 16)}
    names = {"chunked": "gradients in forward", "recomputed": "logits made again"}
    series = {
        text: {-(-tokens // size): watched(WAYS[name], short, size).peak for size in sorted(sizes)}
        for name, text in names.items()
    }
    picture("curve", "most alive at once", series=series, x="chunks", y="bytes")
    for name, text in names.items():
        check(f"{text}: no logits are kept", seen[name].kept, "<", 2 * (tokens + width) * vocab)

    exact = (table[ids[0]].tanh(), table, targets)
    truth = gradients(whole_loss, *exact, chunk)
    found = [gradients(WAYS[name], *exact, chunk) for name in names]
    tied = [tied_gradient(way, table, ids[0], targets, chunk) for way in WAYS.values()]
    errors = {
        "loss_error": max(max_error(each[0], truth[0]) for each in found),
        "x_grad_error": max(max_error(each[1], truth[1]) for each in found),
        "output_grad_error": max(max_error(each[2], truth[2]) for each in found),
        "tied_grad_error": max(max_error(each, tied[0]) for each in tied[1:]),
        "linear_ce_error": max(map(max_error, truth, gradients(torchs_loss, *exact, chunk))),
    }
    for name, error in errors.items():
        what = name.removesuffix("_error").replace("_", " ")
        check(f"{what} as from whole logits", error, "<", 1e-12)
    counts = targets != IGNORED
    return {
        "all_logits": shared(counted(tokens * vocab)),
        **{f"peak_{name}": shared(counted(each.peak)) for name, each in seen.items()},
        **{f"kept_{name}": shared(counted(each.kept)) for name, each in seen.items()},
        **{f"head_flops_{name}": shared(counted(each.flops)) for name, each in seen.items()},
        "counting": shared(counted(counts.sum())),
        "chunk_counting": shared(counted(counts[:chunk].sum())),
        "mean_loss": shared(compared(found[0][0])),
        "means_loss": shared(compared(means_loss(*exact, chunk))),
    } | {name: shared(compared(error)) for name, error in errors.items()}


WAYS = {
    "whole": whole_loss,
    "chunked": ChunkedLoss.apply,
    "recomputed": recomputed_loss,
}


def gradients(way, x, head, targets, chunk):
    """A loss, and the gradients of a quarter of it, as for one of 4 micro-batches."""
    x, head = x.detach().requires_grad_(), head.detach().requires_grad_()
    loss = way(x, head, targets, chunk)
    return loss.detach(), *grad(loss / 4, (x, head))


def tied_gradient(way, table, ids, targets, chunk):
    """The gradient of a table that is looked up first, and is the head as well."""
    table = table.detach().requires_grad_()
    return grad(way(table[ids].tanh(), table, targets, chunk), table)[0]


def torchs_loss(x, head, targets, chunk):
    """torch's own, in chunks of the same size."""
    import torch._dynamo  # a checkpoint and a dispatch mode want it: so all ranks share one import

    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=chunk, chunking_method=None)
    return torch.nn.functional.linear_cross_entropy(x, head, targets, options=options)


class Alive(TorchDispatchMode):
    """Counts bytes of tensors alive after each of torch's operations, those given apart."""

    def __init__(self, apart):
        super().__init__()
        self.apart = {tensor.untyped_storage()._cdata for tensor in apart}
        self.held = {}  # by address: the memory, held weakly, and its bytes
        self.peak = self.flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Called for each operation, in backward as well."""
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(tensor, torch.Tensor):
                memory = tensor.untyped_storage()
                at = memory._cdata
                if at not in self.apart and (at not in self.held or self.held[at][0].expired()):
                    self.held[at] = StorageWeakRef(memory), memory.nbytes()
        self.peak = max(self.peak, self.now())
        if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm_.default):
            left, right = args[-2:]
            self.flops += 2 * left.shape[0] * left.shape[1] * right.shape[1]
        return out

    def now(self):
        """Bytes that are alive."""
        self.held = {at: each for at, each in self.held.items() if not each[0].expired()}
        return sum(size for _, size in self.held.values())


def watched(way, tensors, chunk):
    """What is alive at most and after forward, and FLOPs, of a loss and its gradients."""
    x, head, targets = tensors
    x, head = x.detach().requires_grad_(), head.detach().requires_grad_()
    with Alive([x, head, targets]) as alive:
        loss = way(x, head, targets, chunk)
        kept = alive.now()
        grad(loss, (x, head))
    return SimpleNamespace(peak=alive.peak, kept=kept, flops=alive.flops)


BREAKS = {
    "mean-of-means": Break(
        old="    return torch.stack(parts).sum() / (targets != IGNORED).sum()\n",
        new="    counts = [(part != IGNORED).sum().clamp(min=1) for part in targets.split(chunk)]\n"
        "    return (torch.stack(parts) / torch.stack(counts)).mean()\n",
        expect="loss as from whole logits",
        ranks=1,
        source="a mean for each chunk; github.com/NVIDIA-NeMo/Automodel/issues/3803 adds them up",
    ),
    "ignored-tokens-teach": Break(
        old="    slope *= share[:, None]\n",
        new="    slope /= counting\n",
        expect="output grad as from whole logits",
        ranks=1,
        source="the mask is applied to the loss only: the loss is right, prompts get a gradient",
    ),
    "factor-forgotten": Break(
        old="for_x.mul_(gradient).view(ctx.shape), for_head.mul_(gradient)",
        new="for_x.view(ctx.shape), for_head",
        expect="x grad as from whole logits",
        ranks=1,
        source="gradients made in forward know nothing of loss / K or of a loss scale",
    ),
    "no-checkpoint": Break(
        old="checkpoint(sum_of, *part, use_reentrant=False)",
        new="sum_of(*part)",
        expect="logits made again: no logits are kept",
        ranks=1,
        source="a loop over chunks alone: autograd keeps each one's log-softmax until backward",
    ),
}

if __name__ == "__main__":
    run(__file__)
