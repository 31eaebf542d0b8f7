"""In a column-row pair only the gradient of the column-parallel input is a share to be summed.

The trick
    A gradient is summed over the ranks where, forward, a value was copied to them. A column-
    parallel product copies its input: each rank's outputs tell only a share of dX. Nobody else
    has a share in the gradient of a weight slice, for nobody else multiplied by it. What comes
    back to a row-parallel product, dY, is the gradient of a sum that all ranks hold: it is the
    same on all of them, and complete. Summed it is t times too large; and slices of weights
    whose gradients are summed learn from each other's columns. Errors below are relative to the
    largest entry of the right gradient.

Watch
    backward_sums (collectives, backward)   all-reduces each rank ran: one, for the column-parallel
                                            input
    column_dx_share (difference, backward)  error of a rank's own share of dX in the column-parallel
                                            product
    column_dx_summed (difference, backward)  error of dX in the column-parallel product once the
                                            shares are summed
    column_dw_share (difference, backward)  error of a rank's own slice of dW in the column-parallel
                                            product
    column_dw_summed (difference, backward)  error of dW in the column-parallel product if the
                                            ranks' are summed
    column_db_share (difference, backward)  error of a rank's own slice of db in the column-parallel
                                            product
    row_dy_share (difference, backward)     error of dY, the gradient that comes back to the row-
                                            parallel product
    row_dy_summed (difference, backward)    error of dY in the row-parallel product if the ranks'
                                            are summed
    row_dy_scale (ratio, backward)          length of dY summed over the ranks, over the right
                                            length
    row_dx_share (difference, backward)     error of a rank's own slice of dX in the row-parallel
                                            product
    row_dw_share (difference, backward)     error of a rank's own slice of dW in the row-parallel
                                            product
    row_dw_summed (difference, backward)    error of dW in the row-parallel product if the ranks'
                                            are summed
    row_db_share (difference, backward)     error of db in the row-parallel product, whole on every
                                            rank

Run
    quizkit demo tp-gradients --gpus 4
    python demos/tp_gradients.py --ranks 4 --tokens 5
    torchrun --nproc-per-node 4 demos/tp_gradients.py
"""

from _bench import Break, Metrics, check, compared, counted, refuse, run
from _bench import all_reduce, device, max_error, rank, ranks, wire

import torch
from torch.nn.functional import linear

TOPIC = "tp"


def row(x, weight, bias):
    """A slice of the inputs on each rank, one sum of all outputs on all ranks."""
    return all_reduce(linear(x, weight)) + bias


def row_backward(gradient, x, weight):
    """The sum's gradient is each summand's too. dX is the slice that came in, dW this rank's."""
    return gradient @ weight, gradient.T @ x, gradient.sum(0)


def column(x, weight, bias):
    """One input on all ranks, a slice of the outputs on each."""
    return linear(x, weight, bias)


def column_backward(gradient, x, weight):
    """All ranks multiplied the same x, each by its slice: the shares of dX make one gradient."""
    shares = gradient @ weight
    return all_reduce(shares), gradient.T @ x, gradient.sum(0)


def boundary(x, weights, towards):
    """Where two blocks meet: the row-parallel end of one, the column-parallel start of the next."""
    y = row(x, weights["down"], weights["down_bias"])
    z = column(y, weights["up"], weights["up_bias"])
    found = {}
    with wire() as sent:  # the loss is the sum of z * towards
        found["dy"], *back = column_backward(towards, y, weights["up"])
        found |= dict(zip(("up", "up_bias"), back, strict=True))
        back = row_backward(found["dy"], x, weights["down"])
        found |= dict(zip(("x", "down", "down_bias"), back, strict=True))
    return z, found, sent.collectives


def one_process(whole, towards):
    """What autograd finds where nothing is cut."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in whole.items()}
    y = linear(leaves["x"], leaves["down"], leaves["down_bias"])
    z = linear(y, leaves["up"], leaves["up_bias"])
    wanted = leaves | {"dy": y}
    found = torch.autograd.grad((z * towards).sum(), list(wanted.values()))
    return z.detach(), dict(zip(wanted, found, strict=True))


def main(
    tokens: int = 12,  # tokens, the same on every rank
    hidden: int = 10,  # width where the two products meet, whole on every rank
    wide: int = 48,  # width at the outer ends, in all; the ranks share it evenly
) -> Metrics:
    """Each gradient as one rank finds it by itself, and as it is once all ranks' are summed."""
    t = ranks()
    if min(tokens, hidden, wide) < 1 or wide % t:
        fit = max(1, -(-wide // t)) * t
        refuse(f"sizes start at 1, and {t} ranks share wide evenly: take wide {fit}")

    like = {"dtype": torch.float64, "device": device()}
    shapes = {"x": (tokens, wide), "down": (hidden, wide), "down_bias": (hidden,)}
    shapes |= {"up": (wide, hidden), "up_bias": (wide,)}
    whole = {name: torch.randn(shape, **like) for name, shape in shapes.items()}
    towards = torch.randn(tokens, wide, **like)
    # Which dimension holds the slices; a weight lies as [outputs, inputs].
    cuts = {"x": 1, "down": 1, "up": 0, "up_bias": 0}

    def mine(name, tensor):
        return tensor.chunk(t, cuts[name])[rank()] if name in cuts else tensor

    z, truth = one_process(whole, towards)
    right = {name: mine(name, gradient) for name, gradient in truth.items()}
    own = {name: mine(name, tensor) for name, tensor in whole.items()}
    weights = {name: own[name] for name in own if name != "x"}
    out, found, sums = boundary(own["x"], weights, towards.chunk(t, 1)[rank()])

    def error(name, gradient):
        return max_error(gradient, right[name]) / right[name].abs().max().item()

    check("outputs equal one process", max_error(out, z.chunk(t, 1)[rank()]), "<", 1e-12)
    words = {"dy": "column dX", "up": "column dW", "up_bias": "column db"}
    words |= {"x": "row dX", "down": "row dW", "down_bias": "row db"}
    for name, word in words.items():
        check(f"{word} equals one process", error(name, found[name]), "<", 1e-12)
    check("one all-reduce backward", sums, "==", 1)

    # The same gradients, and the ones that need no sum summed all the same.
    share = towards.chunk(t, 1)[rank()] @ own["up"]
    summed = {name: all_reduce(found[name].clone()) for name in ("dy", "up", "down")}
    return {
        "backward_sums": counted(sums),
        "column_dx_share": compared(error("dy", share)),
        "column_dx_summed": compared(error("dy", all_reduce(share.clone()))),
        "column_dw_share": compared(error("up", found["up"])),
        "column_dw_summed": compared(error("up", summed["up"])),
        "column_db_share": compared(error("up_bias", found["up_bias"])),
        "row_dy_share": compared(error("dy", found["dy"])),
        "row_dy_summed": compared(error("dy", summed["dy"])),
        "row_dy_scale": compared((summed["dy"].norm() / right["dy"].norm()).item()),
        "row_dx_share": compared(error("x", found["x"])),
        "row_dw_share": compared(error("down", found["down"])),
        "row_dw_summed": compared(error("down", summed["down"])),
        "row_db_share": compared(error("down_bias", found["down_bias"])),
    }


BREAKS = {
    "dx-not-summed": Break(
        old="return all_reduce(shares), gradient.T",
        new="return shares, gradient.T",
        expect="column dX equals one process",
        ranks=2,
        source="hand-written layers without Megatron's f: each rank goes on with its own share",
    ),
    "dx-averaged": Break(
        old="return all_reduce(shares), gradient.T",
        new="return all_reduce(shares) / ranks(), gradient.T",
        expect="column dX equals one process",
        ranks=2,
        source="a helper taken over from data parallelism, where gradients are averaged",
    ),
    "dw-summed": Break(
        old="return all_reduce(shares), gradient.T @ x, gradient",
        new="return all_reduce(shares), all_reduce(gradient.T @ x), gradient",
        expect="column dW equals one process",
        ranks=2,
        source="said of column parallelism with data parallelism in mind; DDP over the TP group",
    ),
    "dy-summed": Break(
        old="return gradient @ weight, gradient.T",
        new="gradient = all_reduce(gradient.clone())\n    return gradient @ weight, gradient.T",
        expect="row dX equals one process",
        ranks=2,
        source="torch.distributed.nn.functional.all_reduce, whose backward is an all-reduce too",
    ),
}

if __name__ == "__main__":
    run(__file__)
