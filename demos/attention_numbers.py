"""Attention in narrow numbers: scores of variance d, exp past its limit, masks that turn to NaN.

The trick
    A score sums d products, so its variance is d; divided by sqrt(d) it is 1 whatever d is. Left
    alone, rows saturate, the more of them the larger d: one key takes all and no gradient returns.
    exp(12) is too large for fp16; with a row's largest score taken off, none is above 0. A mask is
    a large negative number: where it is -inf, a row with every key hidden is 0 / 0; where it is
    finite, such a row attends to what it may not see. Tiles sum in fp32 what whole matrices round
    on the way, so the bits differ, and tiles lie nearer to fp64. Forward; ranks share the heads.

Watch
    score_variance (shared, value, forward)         of the scores q . k, over many pairs of rows of
        variance 1
    score_variance_scaled (shared, value, forward)  of the scores q . k divided by sqrt(d), over the
        same pairs
    saturated (shared, share, forward)              of rows with a weight above 0.99, scores
        undivided
    saturated_scaled (shared, share, forward)       of rows with a weight above 0.99, scores divided
        by sqrt(d)
    gradient (shared, norm, backward)               of the scores' gradient in the median row,
        scores undivided
    gradient_scaled (shared, norm, backward)        of the scores' gradient in the median row,
        scores divided by sqrt(d)
    exp_limit (shared, value)                       least whole number whose exp is inf in this
        dtype
    nan_rows_unsafe (shared, rows, forward)         of NaN if softmax takes no maximum off, scores
        shifted up
    nan_rows_undivided (shared, rows, forward)      of NaN with scores undivided, the maximum taken
        off
    blind_rows (shared, rows, forward)              whose keys are all hidden; they are padding
    nan_rows_inf (shared, rows, forward)            of NaN where hidden scores are filled with -inf
    nan_rows_1e9 (shared, rows, forward)            of NaN where -1e9 is added to hidden scores
    nan_rows_min (shared, rows, forward)            of NaN where the dtype's least number is added
        to hidden scores
    leak_min (shared, share, forward)               of blind rows' weight on hidden keys, the
        dtype's least number added
    differ (shared, share, forward)                 of outputs that tiles and whole matrices round
        differently
    differ_tiles (shared, share, forward)           of outputs that tiles of --block and of twice
        that round apart
    error_tiled (shared, difference)                root mean square, of tiles' outputs from fp64
    error_plain (shared, difference)                root mean square, of whole matrices' outputs
        from fp64
    error_torch (shared, difference)                root mean square, of the output of torch's
        attention from fp64
    alarms_rtol (shared, elements, forward)         outputs (tiles, whole matrices) that differ for
        allclose(rtol=1e-3)
    alarms_both (shared, elements, forward)         outputs (tiles, whole matrices) that differ for
        rtol and atol 1e-2

Run
    quizkit demo attention-numbers --gpus 1 --dtype fp16
    python demos/attention_numbers.py --ranks 2 --dim 512
    torchrun --nproc-per-node 2 demos/attention_numbers.py
"""

from math import isfinite
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import device, everyone, max_error, rank, ranks

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "attention"
REGIME = ("dtype",)

PAIRS = 8192


def scale(scores: Tensor, dim: int) -> Tensor:
    """Bring a sum of dim products back to the variance of one."""
    return scores / dim**0.5


def safe_softmax(scores: Tensor) -> Tensor:
    """The largest exponent is 0, so nothing overflows; the shift cancels in the quotient."""
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    return weights / weights.sum(-1, keepdim=True)


def unsafe_softmax(scores: Tensor) -> Tensor:
    """As it stands in the formula."""
    return torch.exp(scores) / torch.exp(scores).sum(-1, keepdim=True)


def softmax_gradient(weights: Tensor, upstream: Tensor) -> Tensor:
    """What comes back to the scores: next to nothing where one weight is nearly 1."""
    return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))


def guarded_softmax(scores: Tensor, hidden: Tensor) -> Tensor:
    """Hidden keys weigh nothing, and a row that sees no key has no weights at all."""
    weights = safe_softmax(scores.masked_fill(hidden, -torch.inf))
    return weights.masked_fill(hidden, 0.0)


def plain_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Whole matrices: scores and weights are each rounded to the dtype, and passed on."""
    return (q @ k.mT).softmax(-1) @ v


def tiled_attention(q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
    """Tiles: inputs, weights and the result are rounded; what is summed stays wide."""
    narrow = q.dtype
    wide = torch.float64 if narrow == torch.float64 else torch.float32
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    peak = torch.full_like(q[..., :1], -torch.inf)
    total, out = torch.zeros_like(peak), torch.zeros_like(q)
    for keys, values in zip(k.split(block, 1), v.split(block, 1), strict=True):
        scores = q @ keys.mT
        higher = torch.maximum(peak, scores.amax(-1, keepdim=True))
        shrink, weights = torch.exp(peak - higher), torch.exp(scores - higher)
        total = shrink * total + weights.sum(-1, keepdim=True)
        # Matrix units take both factors in the narrow dtype, and add up in a wide one.
        out = shrink * out + weights.to(narrow).to(wide) @ values
        peak = higher
    return (out / total).to(narrow)


def nan_rows(weights: Tensor) -> int:
    """How many rows hold a NaN."""
    return int(weights.isnan().any(-1).sum())


def main(
    dtype: Literal["bf16", "fp16", "fp32"] = "bf16",  # of exp, masks, both attentions; rest fp64
    seq: int = 128,  # tokens, each a query and a key
    dim: int = 64,  # features of a head: the d of sqrt(d)
    heads: int = 8,  # heads in all, dealt out to the ranks
    block: int = 32,  # keys that a tile takes; for differ_tiles, twice as many too
    padding: int = 10,  # tokens of left padding, which nobody may see; 0 is none
    shift: float = 1000.0,  # added to every score to try softmax with, and without, the maximum
    spread: float = 1.0,  # factor on the scores of both attentions; the larger, the sharper
) -> Metrics:
    """Variances, limits, masks; then tiles against whole matrices in this rank's heads."""
    if min(seq, dim, block) < 1 or heads < ranks():
        refuse(f"seq, dim and block start at 1, heads at {ranks()}: one for each rank")
    if not 0 <= padding < seq:
        refuse(f"padding {padding} leaves no key of {seq}: use 0 to {seq - 1}")
    if not (isfinite(shift) and 0 <= spread <= 1000):
        refuse(f"shift must be finite, not {shift}; spread 0 to 1000, not {spread}")
    narrow = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[dtype]
    drawn = torch.randn(3, heads, seq, dim, dtype=torch.float64).to(device())

    # Scores of many pairs of rows; softmax and its gradient over a whole matrix of them.
    q, k = torch.randn(2, PAIRS, dim, dtype=torch.float64).to(device())
    products = (q * k).sum(-1)
    variance, variance_scaled = (x.var().item() for x in (products, scale(products, dim)))
    raw = drawn[0, 0] @ drawn[1, 0].mT
    upstream = torch.randn(seq, seq, dtype=torch.float64).to(device())
    sharp, even = safe_softmax(raw), safe_softmax(scale(raw, dim))
    lengths = [softmax_gradient(x, upstream).norm(dim=-1).median().item() for x in (sharp, even)]
    saturated = [(x.amax(-1) > 0.99).double().mean().item() for x in (sharp, even)]

    # Where exp ends, and what a shift does to a softmax with the maximum and without.
    whole = torch.arange(1000, device=device(), dtype=narrow)
    exp_limit = int(whole.exp().isinf().nonzero()[0, 0])
    scores = scale(raw, dim).to(narrow)
    unsafe = nan_rows(unsafe_softmax(scores + shift))
    undivided = nan_rows(safe_softmax(raw.to(narrow)))
    drift = max_error(safe_softmax(scale(raw, dim) + shift), even)

    # Rows that may see no key, under three masks and a guard.
    place = torch.arange(seq, device=device())
    hidden = (place < padding) | (place > place[:, None])  # left padding, and what lies ahead
    blind = hidden.all(-1)
    filled = safe_softmax(scores.masked_fill(hidden, -torch.inf))
    billion = safe_softmax(scores + hidden.to(narrow) * -1e9)
    least = safe_softmax(scores + hidden.to(narrow) * torch.finfo(narrow).min)
    guarded = guarded_softmax(scores, hidden)
    leak = (least * hidden).sum(-1)[blind].double().mean().item() if padding else 0.0

    # Tiles, whole matrices and torch's attention in this rank's heads, against fp64.
    q, k, v = drawn[:, rank() :: ranks()]
    q = scale(q, dim) * spread
    exact = max_error(tiled_attention(q, k, v, block), plain_attention(q, k, v))
    q, k, v = (x.to(narrow) for x in (q, k, v))
    truth = plain_attention(q.double(), k.double(), v.double())
    plain, tiled = plain_attention(q, k, v), tiled_attention(q, k, v, block)
    official = scaled_dot_product_attention(q[None], k[None], v[None], scale=1.0)[0]
    apart = (tiled - plain).abs().double()
    sums = [
        (tiled != plain).sum(),
        (tiled != tiled_attention(q, k, v, 2 * block)).sum(),
        *((x.double() - truth).square().sum() for x in (tiled, plain, official)),
        (apart > 1e-8 + 1e-3 * plain.abs().double()).sum(),
        (apart > 1e-2 + 1e-2 * plain.abs().double()).sum(),
    ]
    everybody = everyone([*map(float, sums), exact])
    elements = heads * seq * dim
    differ, other_tiles, *squares, alarms_rtol, alarms_both = everybody[:, :-1].sum(0).tolist()
    tiled_error, plain_error, torch_error = ((x / elements) ** 0.5 for x in squares)

    check("scaled scores have variance 1", abs(variance_scaled - 1), "<", 0.1)
    check("a shift leaves safe softmax alone", drift, "<", 1e-15 * (1 + abs(shift)))
    check("blind rows are zeros", float(guarded[blind].abs().sum()), "==", 0)
    check("other rows add up to 1", float((guarded[~blind].sum(-1) - 1).abs().max()), "<", 0.02)
    check("tiles equal whole matrices in fp64", everybody[:, -1].max().item(), "<", 1e-11)
    if dtype != "fp32":
        check("tiles are as near to fp64 as whole matrices", tiled_error, "<=", plain_error)
    return {
        "score_variance": shared(compared(variance)),
        "score_variance_scaled": shared(compared(variance_scaled)),
        "saturated": shared(counted(saturated[0])),
        "saturated_scaled": shared(counted(saturated[1])),
        "gradient": shared(compared(lengths[0])),
        "gradient_scaled": shared(compared(lengths[1])),
        "exp_limit": shared(counted(exp_limit)),
        "nan_rows_unsafe": shared(counted(unsafe)),
        "nan_rows_undivided": shared(counted(undivided)),
        "blind_rows": shared(counted(int(blind.sum()))),
        "nan_rows_inf": shared(counted(nan_rows(filled))),
        "nan_rows_1e9": shared(counted(nan_rows(billion))),
        "nan_rows_min": shared(counted(nan_rows(least))),
        "leak_min": shared(compared(leak, floor=torch.finfo(narrow).eps)),
        "differ": shared(counted(differ / elements)),
        "differ_tiles": shared(counted(other_tiles / elements)),
        "error_tiled": shared(compared(tiled_error, floor=0)),
        "error_plain": shared(compared(plain_error, floor=0)),
        "error_torch": shared(compared(torch_error, floor=0)),
        "alarms_rtol": shared(counted(int(alarms_rtol))),
        "alarms_both": shared(counted(int(alarms_both))),
    }


BREAKS = {
    "no-maximum": Break(
        old="torch.exp(scores - scores.amax(-1, keepdim=True))",
        new="torch.exp(scores)",
        expect="a shift leaves safe softmax alone",
        ranks=1,
        source="softmax as the formula has it: inf / inf as soon as scores are large",
    ),
    "scaled-by-dim": Break(
        old="return scores / dim**0.5",
        new="return scores / dim",
        expect="scaled scores have variance 1",
        ranks=1,
        source="the deviation is sqrt(d), the variance d; one taken for the other",
    ),
    "unguarded": Break(
        old="    return weights.masked_fill(hidden, 0.0)\n",
        new="    return weights\n",
        expect="blind rows are zeros",
        ranks=1,
        source="-inf in every place of a row: -inf - -inf is NaN, and so is 0 / 0",
    ),
    "narrow-sums": Break(
        old="wide = torch.float64 if narrow == torch.float64 else torch.float32",
        new="wide = narrow",
        expect="tiles are as near to fp64 as whole matrices",
        ranks=1,
        source="kernels whose running sum and output are kept in the dtype of the inputs",
    ),
}

if __name__ == "__main__":
    run(__file__)
