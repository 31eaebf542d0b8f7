"""Online softmax: maximum and sum in one pass, so attention never holds an N x N matrix.

The trick
    exp(s) overflows, so a row's largest score is subtracted first; but it is known only at the end
    of the row. Carry on with the largest so far; when a larger one comes, shrink what was summed by
    exp(old - new). Sum and output are then right for the keys seen so far, however many.
    So attention can be built tile by tile, and one number per row, lse = max + log(sum), is all the
    backward pass needs to make any tile of weights again. That costs a matrix product per tile
    (five, not four): fewer bytes are kept and moved, no work is saved. The ranks share the heads.

Watch
    out_error (shared, difference)                    of outputs from plain attention, in fp64,
        largest
    grad_error (shared, difference)                   of dq, dk and dv from plain attention, largest
    sdpa_error (shared, difference)                   of output and gradients from torch's
        attention, largest
    same_bits (shared, yes/no)                        whether outputs are plain attention's bit for
        bit
    same_gradient_bits (shared, yes/no)               whether dq, dk and dv are plain attention's
        bit for bit
    row_sum_off (shared, difference)                  of a row's weights, added up, from 1, largest
    softmax_error (shared, difference)                of one row's online softmax from torch's,
        largest
    largest_tensor (shared, elements, both)           of the largest tensor tiled attention makes
        for a head
    largest_plain (shared, elements, forward)         of plain attention's largest tensor for a
        head: seq * seq
    saved_bytes_tiled (shared, bytes, forward)        kept for the backward of one head: q, k, v,
        out, lse
    saved_bytes_plain (shared, bytes, forward)        kept by plain attention for a head's backward,
        matrices too
    tiles (shared, blocks, forward)                   tiles of scores computed, over all heads
    masked_rows (shared, rows, forward)               that may look at no key (left padding), over
        all heads
    overflow_rows (shared, rows, forward)             whose sum is inf or 0 if no maximum is taken
        off, over all heads
    matmuls_forward (shared, calls, forward)          matrix products, over all heads: two for each
        tile
    matmuls_backward (shared, calls, backward)        matrix products, over all heads: five for each
        tile
    matmuls_backward_plain (shared, calls, backward)  matrix products of plain attention, over all
        heads, each of whole matrices

Run
    quizkit demo online-softmax --gpus 2
    python demos/online_softmax.py --ranks 1 --seq 256 --padding 0 --slope 16
    torchrun --nproc-per-node 2 demos/online_softmax.py
"""

from collections import Counter
from typing import NamedTuple

from _bench import Break, Metrics, check, compared, counted, identical, refuse, run, shared
from _bench import all_gather, all_reduce, device, max_error, rank, ranks, saved_activations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

TOPIC = "attention"
REGIME = ("causal",)


def absorb(peak: Tensor, total: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Take one more block of scores into the maximum and the sum of each row."""
    higher = torch.maximum(peak, scores.amax(-1, keepdim=True))
    # Sums under the old maximum are too large by exp(new - old). Before the first key this is 0.
    shrink = torch.exp(peak - finite(higher))
    weights = torch.exp(scores - finite(higher))
    return higher, shrink * total + weights.sum(-1, keepdim=True), shrink, weights


def finite(peak: Tensor) -> Tensor:
    """What to subtract from a row: its maximum, or 0 while it has seen no key."""
    # -inf - -inf is NaN; -inf - 0 is -inf, and its exp is the 0 that a masked key must weigh.
    return peak.masked_fill(peak == -torch.inf, 0.0)


def online_softmax(row: Tensor, block: int) -> Tensor:
    """Two passes over a row, not three: maximum and sum together, then the result."""
    peak, total = row.new_full((1,), -torch.inf), row.new_zeros(1)
    for part in row.split(block):
        peak, total, _, _ = absorb(peak, total, part)
    return torch.cat([torch.exp(part - finite(peak)) / total for part in row.split(block)])


def attend(q: Tensor, k: Tensor, v: Tensor, rule: "Rule") -> tuple[Tensor, Tensor]:
    """Attention of [..., tokens, features]: its output, and the log of each row's normaliser."""
    out = q.new_zeros(*q.shape[:-1], v.shape[-1])
    lse = out.new_zeros(q.shape[:-1], dtype=torch.promote_types(q.dtype, torch.float32))
    earlier = k.shape[-2] - q.shape[-2]  # keys from before the first query, as in a cache
    for rows in tiles(q.shape[-2], rule.block):
        # Queries outside: a tile of rows has this state to itself and writes its output once.
        peak = torch.full_like(lse[..., rows, None], -torch.inf)
        total = torch.zeros_like(peak)
        summed = torch.zeros_like(tile(out, rows))
        for cols in tiles(rows.stop + earlier if rule.causal else k.shape[-2], rule.block):
            scores = score(q, k, rows, cols, rule)
            peak, total, shrink, weights = absorb(peak, total, scores)
            summed = shrink * summed + weights @ tile(v, cols)
        # One division for each row, at the end. No key at all would be 0 / 0: the output is 0.
        out[..., rows, :] = (summed / total).masked_fill(total == 0, 0.0)
        lse[..., rows] = (peak + total.log()).squeeze(-1)
    return out, lse


def attend_backward(q, k, v, out, lse, dout: Tensor, rule: "Rule") -> list[Tensor]:
    """dq, dk and dv from what the forward pass kept; every tile of weights is made again."""
    dq, dk, dv = (torch.zeros_like(x, dtype=lse.dtype) for x in (q, k, v))
    # Weights sum to 1, so softmax takes the weighted mean off a row's gradient. It is dout . out.
    mean = (dout.to(lse.dtype) * out).sum(-1, keepdim=True)
    earlier = k.shape[-2] - q.shape[-2]
    for rows in tiles(q.shape[-2], rule.block):
        for cols in tiles(rows.stop + earlier if rule.causal else k.shape[-2], rule.block):
            weights = torch.exp(score(q, k, rows, cols, rule) - finite(lse[..., rows, None]))
            dv[..., cols, :] += weights.mT @ tile(dout, rows)
            dweights = tile(dout, rows) @ tile(v, cols).mT
            dscores = weights * (dweights - mean[..., rows, :]) * rule.scale
            dq[..., rows, :] += dscores @ tile(k, cols)
            dk[..., cols, :] += dscores.mT @ tile(q, rows)
    return [gradient.to(q.dtype) for gradient in (dq, dk, dv)]


def score(q: Tensor, k: Tensor, rows: slice, cols: slice, rule: "Rule") -> Tensor:
    """One tile of scores, -inf where a row may not look: at padding and, if causal, ahead."""
    row = torch.arange(rows.start, rows.stop, device=q.device).unsqueeze(1)
    col = torch.arange(cols.start, cols.stop, device=q.device)
    ahead = col > row + k.shape[-2] - q.shape[-2]  # the last query stands where the last key does
    scores = tile(q, rows) @ tile(k, cols).mT * rule.scale + (rule.offset + rule.slope * col)
    return scores.masked_fill((col < rule.padding) | (rule.causal & ahead), -torch.inf)


class Rule(NamedTuple):
    """How scores come about: their scale, the mask, what is added, and the size of a tile."""

    scale: float
    causal: bool = False
    block: int = 64
    padding: int = 0
    offset: float = 0.0
    slope: float = 0.0


def tile(x: Tensor, place: slice) -> Tensor:
    """Some rows of each head. Sums over tiles take fp32 at least: bf16 would round every one."""
    return x[..., place, :].to(torch.promote_types(x.dtype, torch.float32))


def tiles(length: int, block: int) -> list[slice]:
    """The places from 0 to length, a block at a time."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


class TiledAttention(torch.autograd.Function):
    """For a model: `TiledAttention.apply(q, k, v, True)` is causal attention, of usual scale.

    Where there are more keys than queries, causal means that the last query sees the last key.
    """

    @staticmethod
    def forward(ctx, q, k, v, causal=False, rule=None):
        """Keeps four matrices and a number for each row: nothing of N x N."""
        ctx.rule = rule or Rule(q.shape[-1] ** -0.5, causal)
        out, lse = attend(q, k, v, ctx.rule)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, dout):
        """Neither the mask nor the rule has a gradient."""
        q, k, v, out, lse = ctx.saved_tensors
        return *attend_backward(q, k, v, out, lse, dout, ctx.rule), None, None


def main(
    seq: int = 150,  # tokens, each a query and a key
    block: int = 32,  # rows of a tile of scores, and its columns
    heads: int = 8,  # heads in all, dealt out to the ranks
    dim: int = 16,  # features of a head
    padding: int = 40,  # tokens of left padding, which nobody may see; 0 is none
    causal: bool = True,  # whether a query looks at no later key
    offset: float = 1e4,  # added to every score: softmax stays; if it is large, exp overflows
    slope: float = 0.0,  # added to a score for each place of its key; above 0, maxima rise
    seed: int = 0,  # seed of the random numbers
) -> Metrics:
    """Tiled attention in this rank's share of the heads, against plain attention and torch's."""
    if min(seq, block, dim) < 1 or heads < ranks():
        refuse(f"seq, block and dim must be 1 or more, heads {ranks()} or more: one for each rank")
    if not 0 <= padding < seq:
        refuse(f"padding {padding} leaves no key of {seq}: use 0 to {seq - 1}")
    torch.manual_seed(seed)
    drawn = torch.randn(4, heads, seq, dim, dtype=torch.float64).to(device())
    rule = Rule(dim**-0.5, causal, block, padding, offset, slope)
    place = torch.arange(seq, dtype=torch.float64, device=device())
    hidden = ((place < padding) | (causal & (place > place[:, None]))).expand(seq, seq)
    blind = hidden.all(-1)
    bias = offset + slope * place
    masked = bias.expand(seq, seq).masked_fill(hidden, -torch.inf)

    forward, backward, whole, products = Ledger(), Ledger(), Ledger(), Products()
    tally = Counter(tiles=0, masked_rows=0, overflow_rows=0, nans=0)
    errors, saved_bytes, saved_plain = [], 0, 0
    for head in range(rank(), heads, ranks()):
        q, k, v, dout = drawn[:, head]
        with forward:
            out, lse = attend(q, k, v, rule)
        with backward:
            gradients = attend_backward(q, k, v, out, lse, dout, rule)
        ours = torch.stack([out, *gradients])

        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        with saved_activations([]) as saved:
            function = TiledAttention.apply(*leaves, causal, rule)
            saved_bytes = saved.live_bytes
        with saved_activations([]) as saved, whole:
            plain = plain_attention(*leaves, bias=bias, hidden=hidden)
            saved_plain = saved.live_bytes
        sdpa = scaled_dot_product_attention(*(x[None] for x in leaves), attn_mask=masked)[0]
        as_function, official = (with_gradients(x, dout, leaves) for x in (function, sdpa))
        with products:
            textbook = with_gradients(plain, dout, leaves)

        scores = q @ k.T * rule.scale + masked
        sums, _ = attend(q, k, torch.ones_like(v), rule)  # of each row's weights
        unsafe = torch.exp(scores).sum(-1)  # no maximum subtracted
        tally["overflow_rows"] += int(((unsafe == torch.inf) | (unsafe == 0) & ~blind).sum())
        tally["masked_rows"] += int((lse == -torch.inf).sum())
        tally["nans"] += int(ours.isnan().sum())
        errors.append(
            [
                max_error(ours[0], textbook[0]),
                max_error(ours[1:], textbook[1:]),
                max_error(ours, official),
                max_error(online_softmax(scores[-1], block), scores[-1].softmax(0)),
                float(ours[:2, blind].abs().sum()),
                int((as_function != ours).sum()),
                int((out != textbook[0]).sum()),
                int((ours[1:] != textbook[1:]).sum()),
                max_error(sums[~blind], torch.ones_like(sums[~blind])),
            ]
        )

    tally["tiles"] = forward.calls["maximum"]  # each tile raises its rows' maxima once
    tally["matmuls_forward"] = forward.calls["matmul"]
    tally["matmuls_backward"] = backward.calls["matmul"]
    tally["matmuls_backward_plain"] = products.count
    worst = torch.tensor(errors, dtype=torch.float64, device=device()).amax(0)
    worst = torch.stack(all_gather(worst)).amax(0).tolist()
    sums = all_reduce(torch.tensor(list(tally.values()), device=device())).tolist()
    found = dict(zip(tally, sums, strict=True))
    largest = max(forward.largest, backward.largest)

    close = 1e-12 + 1e-14 * (abs(offset) + abs(slope) * seq)  # large scores have fewer decimals
    check("output equals plain attention", worst[0], "<", close)
    check("gradients equal plain attention", worst[1], "<", close)
    check("both equal torch's attention", worst[2], "<", close)
    check("online softmax equals torch.softmax", worst[3], "<", close)
    check("nothing is NaN", found.pop("nans"), "==", 0)
    check("rows without a key give zeros", worst[4], "==", 0)
    check("the autograd function gives just that", worst[5], "==", 0)
    check("rows without a key have lse -inf", found["masked_rows"], "==", heads * int(blind.sum()))
    check("no tensor exceeds a tile and an output", largest, "<=", max(block**2, seq * dim))

    return {
        "out_error": shared(compared(worst[0], floor=close)),
        "grad_error": shared(compared(worst[1], floor=close)),
        "sdpa_error": shared(compared(worst[2], floor=close)),
        "same_bits": shared(identical(worst[6] == 0)),
        "same_gradient_bits": shared(identical(worst[7] == 0)),
        "row_sum_off": shared(compared(worst[8], floor=close)),
        "softmax_error": shared(compared(worst[3], floor=close)),
        "largest_tensor": shared(counted(largest)),
        "largest_plain": shared(counted(whole.largest)),
        "saved_bytes_tiled": shared(counted(saved_bytes)),
        "saved_bytes_plain": shared(counted(saved_plain)),
        **{name: shared(counted(number)) for name, number in found.items()},
    }


def plain_attention(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, hidden: Tensor) -> Tensor:
    """The textbook's: a whole matrix of scores, a whole matrix of weights."""
    scores = q @ k.T / q.shape[-1] ** 0.5 + bias
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return weights.masked_fill(hidden, 0.0) @ v  # a row that sees no key was all NaN


def with_gradients(out: Tensor, dout: Tensor, leaves: list[Tensor]) -> Tensor:
    """The output, and the gradients of q, k and v."""
    return torch.stack([out, *torch.autograd.grad((out * dout).sum(), leaves)]).detach()


class Products(TorchDispatchMode):
    """Counts the matrix products that autograd's own backward makes."""

    def __init__(self):
        from torch import _dynamo  # noqa: F401  # torch's modes want it: once, before the fork

        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func is torch.ops.aten.mm.default
        return func(*args, **(kwargs or {}))


class Ledger(torch.overrides.TorchFunctionMode):
    """Watches every torch call made under it: how often which is made, and the largest tensor."""

    def __init__(self):
        super().__init__()
        self.largest = 0
        self.calls = Counter()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.largest = max(self.largest, result.numel())
        self.calls[function.__name__.strip("_")] += 1
        return result


BREAKS = {
    "no-rescale": Break(
        old="summed = shrink * summed + weights @ tile(v, cols)",
        new="summed = summed + weights @ tile(v, cols)",
        expect="output equals plain attention",
        ranks=1,
        source="the sum is rescaled but the output is not",
    ),
    "wrong-sign": Break(
        old="shrink = torch.exp(peak - finite(higher))",
        new="shrink = torch.exp(finite(higher) - peak)",
        expect="output equals plain attention",
        ranks=1,
        source="new minus old: what was summed grows when it must shrink",
    ),
    "unguarded": Break(
        old="    return peak.masked_fill(peak == -torch.inf, 0.0)\n",
        new="    return peak\n",
        expect="nothing is NaN",
        ranks=1,
        source="-inf - -inf where a row has met only masked keys so far",
    ),
    "softmax-per-block": Break(
        old="summed = shrink * summed + weights @ tile(v, cols)",
        new="summed = shrink * summed + torch.softmax(scores, -1).nan_to_num() @ tile(v, cols)",
        expect="output equals plain attention",
        ranks=1,
        source="each block normalised by itself before the blocks are joined",
    ),
    "whole-matrix": Break(
        old="tile(q, rows) @ tile(k, cols).mT * rule.scale",
        new="(q @ k.mT)[..., rows, cols] * rule.scale",
        expect="no tensor exceeds a tile and an output",
        ranks=1,
        source="right numbers, but the N x N matrix is there after all",
    ),
    "no-mean": Break(
        old="(dweights - mean[..., rows, :])",
        new="dweights",
        expect="gradients equal plain attention",
        ranks=1,
        source="softmax differentiated as if its sum did not depend on the score",
    ),
}

if __name__ == "__main__":
    run(__file__)
