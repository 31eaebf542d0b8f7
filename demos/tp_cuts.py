"""Cut the first product by columns and the second by rows: one all-reduce, whatever the widths.

The trick
    A column cut wants all inputs and leaves a slice of complete outputs. A row cut wants a slice
    of the inputs and leaves shares of all outputs, to be summed. After columns the slices are
    what rows want, and an activation may act on them. Any other pairing has to sum or gather in
    between: an activation of shares is not the activation of their sum. With all-reduces and
    gathers a rank sends forward, in units of (t-1)/t tokens: 2h for column-row, w + h for column-
    column, 2w + h for row-column, 2w + 2h for row-row; h is the width outside, w that between.
    Where w < h, column-column sends the fewest bytes, but talks twice.

Watch
    sent_column_row (bytes, forward)        sent by each rank, column-row: one all-reduce of tokens
                                            x h
    sent_column_column (bytes, forward)     sent by each rank, column-column: two gathers
    sent_row_column (bytes, forward)        sent by each rank, row-column: an all-reduce and a
                                            gather
    sent_row_row (bytes, forward)           sent by each rank, row-row: two all-reduces
    talks_column_row (collectives, forward)  of column-row: one
    talks_column_column (collectives, forward)  of column-column: two
    talks_row_column (collectives, forward)  of row-column: two
    talks_row_row (collectives, forward)    of row-row: two
    out_error (shared, difference)          largest one of any of the four outputs from one process
    shares_gelu_error (difference, forward)  sum of gelu over the shares, against gelu of their sum
    shares_relu_error (difference, forward)  sum of relu over the shares, against relu of their sum
    shares_scale_error (difference, forward)  sum of the shares times 3, against their sum times 3
    shares_mask_error (difference, forward)  sum of shares under one dropout mask, against their sum
                                            under it
    slices_gelu_error (difference, forward)  gelu over the slices, gathered, against gelu of the
                                            whole

Run
    quizkit demo tp-cuts --gpus 4
    python demos/tp_cuts.py --ranks 4 --hidden 24 --wide 16
    torchrun --nproc-per-node 4 demos/tp_cuts.py
"""

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import device, everyone, max_error, rank, ranks, ring_gather, ring_sum, wire

import torch
from torch.nn.functional import gelu, linear, relu

TOPIC = "tp"

PAIRS = ("column_row", "column_column", "row_column", "row_row")

talks = []  # the collectives that ran


def gathered(piece):
    """The slices of all ranks side by side: each goes round the ring once."""
    talks.append("gather")
    return ring_gather(piece, -1)


def summed(share):
    """A ring all-reduce: a slice of the sum grows on its way round, then all are gathered."""
    talks.append("sum")
    return ring_sum(share)


def mine(tensor, dimension):
    """This rank's slice."""
    return tensor.chunk(ranks(), dimension)[rank()]


def column(x, weight, bias, after):
    """All inputs, a slice of the outputs: dimension 0, for torch keeps [outputs, inputs]."""
    return after(linear(x, mine(weight, 0), mine(bias, 0)))


def row(x, weight, bias, after):
    """A slice of the inputs, shares of all outputs: whatever is not linear waits for their sum."""
    return after(summed(linear(x, mine(weight, 1))) + bias)


def chain(pair, x, layers):
    """Two products, cut as the pair says; each is given the inputs that it wants."""
    sliced = False
    for cut, (weight, bias, after) in zip(pair.split("_"), layers, strict=True):
        if cut == "column":
            x = gathered(x) if sliced else x
            x = column(x, weight, bias, after)
        else:
            x = x if sliced else mine(x, -1)
            x = row(x, weight, bias, after)
        sliced = cut == "column"
    return gathered(x) if sliced else x


def main(
    tokens: int = 6,  # tokens, the same on every rank
    hidden: int = 24,  # h, the width of the first input and the last output; a cut is even
    wide: int = 96,  # w, the width between the two products in all; a cut is even
) -> Metrics:
    """The four pairings on the same weights, each against one process."""
    t = ranks()
    if min(tokens, hidden, wide) < 1:
        refuse("tokens, hidden and wide start at 1")
    if hidden % t or wide % t:
        fit, more = -(-hidden // t) * t, -(-wide // t) * t
        refuse(f"{t} ranks share both widths evenly: take hidden {fit} and wide {more}")

    like = {"dtype": torch.float64, "device": device()}
    x = torch.randn(tokens, hidden, **like)
    up, up_bias = torch.randn(wide, hidden, **like) / hidden**0.5, torch.randn(wide, **like)
    down, down_bias = torch.randn(hidden, wide, **like) / wide**0.5, torch.randn(hidden, **like)
    layers = [(up, up_bias, gelu), (down, down_bias, lambda out: out)]
    before = linear(x, up, up_bias)
    right = linear(gelu(before), down, down_bias)

    unit = (t - 1) * tokens * x.element_size()  # over all ranks, of a tensor one wide
    laws = (2 * hidden, wide + hidden, 2 * wide + hidden, 2 * wide + 2 * hidden)
    metrics, errors = {}, []
    for pair, law in zip(PAIRS, laws, strict=True):
        talks.clear()
        with wire() as sent:
            y = chain(pair, x, layers)
        metrics[f"sent_{pair}"] = counted(sent.sent_bytes)
        metrics[f"talks_{pair}"] = counted(len(talks))
        errors.append(max_error(y, right))
        name = pair.replace("_", "-")
        check(f"{name} equals one process", errors[-1], "<", 1e-12)
        check(f"{name} sends its law", everyone(sent.sent_bytes).sum().item(), "==", unit * law)
    check("column-row talks once", metrics["talks_column_row"].value, "==", 1)

    # What each activation makes of shares whose sum is the row-parallel product.
    share = linear(mine(x, -1), mine(up, 1)) + up_bias / t
    keep = (torch.rand_like(before) >= 0.5) / 0.5  # all ranks throw the same dice
    acts = {"gelu": gelu, "relu": relu, "scale": lambda part: 3 * part}
    acts |= {"mask": lambda part: part * keep}
    for name, act in acts.items():
        apart = max_error(summed(act(share)), act(summed(share)))
        metrics[f"shares_{name}_error"] = compared(apart)
    return metrics | {
        "out_error": shared(compared(everyone(torch.tensor(errors).max().item()).max())),
        "slices_gelu_error": compared(max_error(gathered(gelu(mine(before, -1))), gelu(before))),
    }


BREAKS = {
    "activation-before-the-sum": Break(
        old="after(summed(linear(x, mine(weight, 1))) + bias)",
        new="summed(after(linear(x, mine(weight, 1)) + bias / ranks()))",
        expect="row-column equals one process",
        ranks=2,
        source="fusing the activation into a row-parallel product, where it sees shares only",
    ),
    "joins-the-slices": Break(
        old="x = x if sliced else mine(x, -1)",
        new="x = mine(gathered(x) if sliced else x, -1)",
        expect="column-row talks once",
        ranks=1,
        source="said of the MLP: put the pieces of Y together before the second product",
    ),
    "joined-times-own-rows": Break(
        old="x = x if sliced else mine(x, -1)",
        new="x = gathered(x) if sliced else mine(x, -1)",
        expect="crashes: RuntimeError",
        ranks=2,
        source="written as Z_1 = Y B_1: the whole of Y has t times the columns B_1 has rows",
    ),
    "wrong-dimension": Break(
        old="linear(x, mine(weight, 0), mine(bias, 0))",
        new="linear(x, mine(weight, 1), mine(bias, 0))",
        expect="crashes: RuntimeError",
        ranks=2,
        source="the columns of Y = XW, looked for in dimension 1 of torch's nn.Linear.weight",
    ),
}

if __name__ == "__main__":
    run(__file__)
