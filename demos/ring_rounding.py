"""A ring is not one rank bit for bit; keeping fp32, it errs sqrt(2) times as much at any size.

The trick
    Merging is exact on paper; every number kept between two merges is rounded. Kernels write
    partial outputs in bf16 anyway: all such errors weigh as much as the one rounding of the result.
    An output kept in bf16 is rounded again at each merge, over what it was before: the error grows
    as the root of the number of merges. The lse is worse: near 6 bf16 steps by 1/32, so weights are
    off by percents, and a block that adds less than half a step is never added. What is kept stays
    at home, fp32 or not; dK and dV travel, and only they cost bytes. Each rank begins with its own
    block and merges in an order of its own: other bits, but the same ones at every run.
    `pieces` cuts each rank's tokens, so that its merges are those of a ring `pieces` times larger.
    "Narrow": the inputs' dtype; "wide": fp32, or fp64 for fp32. No mask. Kernels round at the end.

Watch
    differ (shared, share, forward)             of outputs, as written, whose bits are not one
        kernel's
    reordered (shared, share, forward)          of outputs kept wide whose bits change in another
        rank's order
    reordered_written (shared, share, forward)  of outputs kept wide that change in another's order
        as they are written
    reordered_narrow (shared, share, forward)   of outputs kept narrow that change in another rank's
        order
    rerun_differ (shared, count)                outputs and gradients that change when the same ring
        runs again
    row_sum_off (shared, difference)            lse kept narrow: weights of a row, added up, from 1,
        largest
    exact_error (shared, difference)            of the ring in fp64 from torch's attention, output
        and gradients
    sent_backward (bytes, backward)             sent by a rank, dK and dV wide
    sent_backward_narrow (bytes, backward)      sent by a rank, dK and dV narrow
    torch_ring (shared, yes/no)                 1 if torch's own ring was compared; 0: none to call,
        nothing checked
    error_one (shared, difference)              relative rms of the output of one kernel over whole
        rows, from fp64
    error_wide (shared, difference)             relative rms of the ring's output, all it keeps wide
    error_narrow (shared, difference)           relative rms of the ring's output, partial outputs
        kept narrow
    error_lse (shared, difference)              relative rms of the ring's output, lse alone kept
        narrow
    grad_one (shared, difference)               relative rms of the worst of dq, dk and dv: one
        kernel
    grad_wide (shared, difference)              relative rms of the worst of dq, dk and dv: ring,
        all wide
    grad_narrow (shared, difference)            relative rms of the worst of dq, dk and dv: ring,
        sums kept narrow
    grad_lse (shared, difference)               relative rms of the worst of dq, dk and dv: ring,
        lse kept narrow
    torch_exact (shared, difference)            of torch's ring in fp64 from torch's attention
    error_torch (shared, difference)            relative rms of the output of torch's ring, inputs'
        dtype

Run
    quizkit demo ring-rounding --gpus 4
    python demos/ring_rounding.py --ranks 2 --pieces 32 --dtype fp16
    torchrun --nproc-per-node 4 demos/ring_rounding.py
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_gather, device, exchange, max_error, rank, ranks, wire

import torch
import torch.distributed as dist
from torch import Tensor

TOPIC = "cp"
REGIME = ("dtype",)

KEPT = ("one", "wide", "narrow", "lse")
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


def forward(
    q: Tensor, blocks: Iterable[Tensor], pieces: int, keep_out: torch.dtype, keep_lse: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Attend to a piece at a time, and merge it with what the rows have so far."""
    out = torch.zeros(q.shape, dtype=keep_out, device=q.device)
    lse = torch.full((*q.shape[:-1], 1), -torch.inf, dtype=keep_lse, device=q.device)
    for block in blocks:
        for k, v in cut(block, pieces):
            new_out, new_lse = attend(q, k, v)
            # In the wider dtype of the two; to be kept, it is rounded to what keeps it.
            both = torch.logaddexp(lse, new_lse)
            out.copy_((lse - both).exp() * out + (new_lse - both).exp() * new_out)
            lse.copy_(both)
    return out, lse


def attend(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """A kernel on one block: wide inside; the output is written narrow, its lse wide."""
    wide = wider(q.dtype)
    scores = q.to(wide) @ k.to(wide).mT / q.shape[-1] ** 0.5
    lse = scores.logsumexp(-1, keepdim=True)
    return ((scores - lse).exp() @ v.to(wide)).to(q.dtype), lse


def ring(kv: Tensor) -> Iterator[Tensor]:
    """The blocks of all ranks, mine first, then as they come round."""
    for step in range(ranks()):
        yield kv
        if step < ranks() - 1:
            kv = pass_on(kv)


def pass_on(block: Tensor) -> Tensor:
    """My block goes ahead, and the one from behind is here."""
    ahead, behind = (rank() + 1) % ranks(), (rank() - 1) % ranks()
    return exchange(block, ahead, torch.empty_like(block), behind).wait()


def backward(
    dout: Tensor, q: Tensor, kv: Tensor, out: Tensor, lse: Tensor, pieces: int, keep: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Blocks go round with the sums of their gradients on board; dq stays."""
    dkv = torch.zeros(kv.shape, dtype=keep, device=q.device)
    dout, q, out, lse = (torch.stack(cut(x, pieces)) for x in (dout, q, out, lse))
    dq = torch.zeros(q.shape, dtype=keep, device=q.device)
    for step, block in enumerate(ring(kv)):
        dkv = pass_on(dkv) if step else dkv
        for (k, v), sums in zip(cut(block, pieces), cut(dkv, pieces), strict=True):
            found, from_pieces = pull_back(dout, q, k, v, out, lse)
            dq += found  # adds, and rounds, in place
            # Each piece of queries adds its own, as the ranks of a larger ring would.
            for part in from_pieces.unbind(1):
                sums.add_(part)
    dkv = pass_on(dkv) if ranks() > 1 else dkv  # after its last visit it is one hop short of home
    return torch.cat(dq.unbind(), dim=-2), dkv


def pull_back(dout, q, k, v, out, lse: Tensor) -> tuple[Tensor, Tensor]:
    """The backward kernel on one block, given whole rows' out and lse: dq, and dk with dv."""
    narrow, scale, wide = q.dtype, q.shape[-1] ** -0.5, wider(q.dtype)
    dout, q, k, v, out, lse = (x.to(wide) for x in (dout, q, k, v, out, lse))
    weights = (q @ k.mT * scale - lse).exp()
    dscores = weights * (dout @ v.mT - (dout * out).sum(-1, keepdim=True)) * scale
    return (dscores @ k).to(narrow), torch.stack([dscores.mT @ q, weights.mT @ dout]).to(narrow)


def cut(tensor: Tensor, pieces: int) -> tuple[Tensor, ...]:
    """Views of its tokens, piece by piece."""
    return tensor.chunk(pieces, dim=-2)


def wider(dtype: torch.dtype) -> torch.dtype:
    """What sums are kept in that should not feel the dtype."""
    return torch.float32 if dtype.itemsize == 2 else torch.float64


def main(
    seq: int = 384,  # tokens of the whole sequence
    heads: int = 4,  # heads; each rank has all of them
    dim: int = 32,  # features of a head
    pieces: int = 4,  # pieces of each rank's tokens, merged one by one
    dtype: Literal["bf16", "fp16", "fp32"] = "bf16",  # of the inputs: what "narrow" means
) -> Metrics:
    """The same ring, what it keeps being wide or narrow, against fp64 and against one kernel."""
    blocks = ranks() * max(pieces, 1)
    if min(seq, heads, dim, pieces) < 1 or seq % blocks:
        near = max(seq // blocks, 1) * blocks
        refuse(f"sizes start at 1, and {blocks} must divide seq: use {near} or {near + blocks}")
    narrow, wide, fp64 = DTYPES[dtype], wider(DTYPES[dtype]), torch.float64
    inputs = torch.randn(4, heads, seq, dim, dtype=fp64).to(device(), narrow)
    mine = shard(inputs[0], rank()), shard(inputs[1:3], rank()), shard(inputs[3], rank())

    def travel(inner: torch.dtype, keep: torch.dtype, keep_lse: torch.dtype):
        q, kv, dout = (x.to(inner) for x in mine)
        out, lse = forward(q, ring(kv), pieces, keep, keep_lse)
        with wire() as sent:
            dq, dkv = backward(dout, q, kv, out, lse, pieces, keep)
        written = torch.stack([x.to(inner) for x in (out, dq, *dkv)])
        return written, out, lse, sent.sent_bytes

    truth = shard(reference(*inputs.double()), rank())
    one = shard(one_kernel(inputs), rank())
    in_fp64, _, true_lse, _ = travel(fp64, fp64, fp64)
    in_wide, out, _, bytes_wide = travel(narrow, wide, wide)
    in_narrow, _, _, bytes_narrow = travel(narrow, narrow, wide)
    in_lse, _, lse, _ = travel(narrow, wide, narrow)
    again, out_again, _, _ = travel(narrow, wide, wide)

    # The same queries, merged in the order in which another rank meets the blocks.
    reordered = torch.zeros(3, dtype=fp64, device=device())
    for first in set(range(ranks())) - {rank()}:
        met = [shard(inputs[1:3], (first - step) % ranks()) for step in range(ranks())]
        x, _ = forward(mine[0], met, pieces, wide, wide)
        y, _ = forward(mine[0], met, pieces, narrow, wide)
        unlike = [(x != out).sum(), (x.to(narrow) != in_wide[0]).sum(), (y != in_narrow[0]).sum()]
        reordered += torch.stack(unlike) / (ranks() - 1)
    differ = (in_wide[0] != one[0]).sum()
    shares = over_ranks(torch.stack([*reordered, differ])).sum(0) / inputs[0].numel()
    rerun = (again != in_wide).sum() + (out_again != out).sum()
    rerun_differ = int(over_ranks(rerun).sum())

    errors, grads = {}, {}
    for name, found in zip(KEPT, (one, in_wide, in_narrow, in_lse), strict=True):
        errors[name], *gradients = relative_errors(found, truth)
        grads[name] = max(gradients)
    exact_error = largest(max_error(in_fp64, truth))
    row_sum_off = largest(max_error((true_lse - lse).exp(), torch.ones_like(true_lse)))

    check("in fp64 the ring is full attention", exact_error, "<", 1e-12)
    check("output within twice one kernel's error", errors["wide"], "<=", 2 * errors["one"])
    check("gradients within twice one kernel's error", grads["wide"], "<=", 2 * grads["one"])
    check("the same ring gives the same bits again", rerun_differ, "==", 0)
    theirs = [torch_ring(*shard(inputs, rank()).to(x)) for x in (fp64, narrow)]
    metrics = {
        "differ": shared(counted(shares[3].item())),
        "reordered": shared(counted(shares[0].item())),
        "reordered_written": shared(counted(shares[1].item())),
        "reordered_narrow": shared(counted(shares[2].item())),
        "rerun_differ": shared(counted(rerun_differ)),
        "row_sum_off": shared(compared(row_sum_off, floor=0)),
        "exact_error": shared(compared(exact_error)),
        "sent_backward": counted(bytes_wide),
        "sent_backward_narrow": counted(bytes_narrow),
        "torch_ring": shared(counted(int(theirs[0] is not None))),
    }
    metrics |= {f"error_{x}": shared(compared(y, floor=0)) for x, y in errors.items()}
    metrics |= {f"grad_{x}": shared(compared(y, floor=0)) for x, y in grads.items()}
    if theirs[0] is not None and theirs[1] is not None:
        torch_exact = largest(max_error(theirs[0], truth))
        check("in fp64 torch's ring is full attention", torch_exact, "<", 1e-12)
        metrics["torch_exact"] = shared(compared(torch_exact))
        error_torch, *_ = relative_errors(theirs[1], truth)
        metrics["error_torch"] = shared(compared(error_torch, floor=0))
    return metrics


def shard(tensors: Tensor, owner: int) -> Tensor:
    """The tokens of one rank."""
    return cut(tensors, ranks())[owner]


def over_ranks(mine: Tensor) -> Tensor:
    """What every rank has, the same on all of them."""
    return torch.stack(all_gather(mine))


def largest(mine: float) -> float:
    """The largest on any rank."""
    return over_ranks(torch.tensor(mine, dtype=torch.float64, device=device())).max().item()


def relative_errors(found: Tensor, truth: Tensor) -> list[float]:
    """Root mean squares over all ranks, relative to the truth's own: of out, dq, dk and dv."""
    both = torch.stack([found.double() - truth, truth])
    off, size = over_ranks(both.square().sum((-1, -2, -3))).sum(0)
    return (off / size).sqrt().tolist()


def one_kernel(inputs: Tensor) -> Tensor:
    """Out, dq, dk and dv of one kernel that has whole rows."""
    q, k, v, dout = inputs
    out, lse = attend(q, k, v)
    dq, dkv = pull_back(dout, q, k, v, out, lse)
    return torch.stack([out, dq, *dkv])


def reference(q: Tensor, k: Tensor, v: Tensor, dout: Tensor) -> Tensor:
    """Torch's attention over everything, by autograd."""
    q, k, v = (x.clone().requires_grad_() for x in (q, k, v))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return torch.stack([out, *torch.autograd.grad((out * dout).sum(), (q, k, v))]).detach()


def torch_ring(q: Tensor, k: Tensor, v: Tensor, dout: Tensor) -> Tensor | None:
    """Out, dq, dk, dv of torch's own ring over these ranks; None where it cannot be called."""
    if q.device.type != "cpu":
        return None  # the kernel below is the CPU's
    try:
        import torch._dynamo  # torch's ring asks for it: imported once, before the ranks are forked
        import torch.distributed.tensor.experimental._context_parallel._attention as theirs

        ahead, back = theirs._templated_ring_attention, theirs._templated_ring_attention_backward
        kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        pull = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
        options = theirs._cp_options
        options.rotate_method = theirs._RotateMethod.ALL_TO_ALL
        options.enable_load_balance = False
        # fp32 for what it keeps is its default; fp64 must not be cut down to that.
        options.convert_to_f32 = q.dtype != torch.float64
    except (ImportError, AttributeError):
        return None  # a private entry, which moves from version to version
    q, k, v, dout = (x[None].contiguous() for x in (q, k, v, dout))
    group = dist.distributed_c10d._get_default_group()
    out, lse, *_ = ahead(group, 2, kernel, q, k, v, False, dropout_p=0.0)
    found = back(group, 2, pull, dout, "grad_out", q, k, v, out, lse, False, dropout_p=0.0)
    return torch.cat([out, *found[:3]])


BREAKS = {
    "out-like-q": Break(
        old="out = torch.zeros(q.shape, dtype=keep_out, device=q.device)",
        new="out = torch.zeros_like(q)",
        expect="output within twice one kernel's error",
        ranks=2,
        source="an accumulator made like the query takes over its dtype; copy_ rounds in silence",
    ),
    "lse-like-q": Break(
        old="lse = torch.full((*q.shape[:-1], 1), -torch.inf, dtype=keep_lse, device=q.device)",
        new="lse = q.new_full((*q.shape[:-1], 1), -torch.inf)",
        expect="output within twice one kernel's error",
        ranks=1,
        source="an lse made like the query is bf16 too, whose steps are percents of a weight",
    ),
    "gradients-like-kv": Break(
        old="dkv = torch.zeros(kv.shape, dtype=keep, device=q.device)",
        new="dkv = torch.zeros_like(kv)",
        expect="gradients within twice one kernel's error",
        ranks=2,
        source="dK and dV travel in bf16, for half the bytes; each rank's share is rounded away",
    ),
    "as-they-arrive": Break(
        old="for block in blocks:",
        new="for block in sorted(blocks, key=lambda _: torch.rand(()).item()):",
        expect="the same ring gives the same bits again",
        ranks=3,
        source="merging whatever is there first, as code that gathers from several streams may",
    ),
}

if __name__ == "__main__":
    run(__file__)
