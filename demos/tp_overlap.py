"""What does not need a message runs while it is on its way: the longer of the two, not their sum.

The trick
    Backward through a column-parallel product, dX must be summed over the ranks and dW must not.
    So: the product for dX, start the sum, the product for dW, and only then wait. Forward with
    sequence parallelism the product needs the very tokens that are being gathered, so there is
    nothing to run meanwhile until it is cut up: multiply the piece at hand while the next one
    comes round the ring. Only the last piece has no message to hide; where a hop takes longer
    than a piece, its rest shows at every step. --launch: a fixed cost of every product, which
    t pieces pay t times. On the timeline B is the product for dX, W for dW, F forward.

Watch
    backward_waits (shared, ticks, backward)  dX, its sum and dW, one after the other
    backward_overlaps (shared, ticks, backward)  dX, its sum and dW, with dW while the sum flies
    gather_waits (shared, ticks, forward)   a product that waits for all tokens
    gather_overlaps (shared, ticks, forward)  a product, each piece while the next one comes
    turn_dx (shared, index, backward)       turn of the product for dX in the overlapped backward,
                                            from 1
    turn_start (shared, index, backward)    turn in which the overlapped backward starts the sum of
                                            dX
    turn_dw (shared, index, backward)       turn of the product for dW in the overlapped backward
    turn_wait (shared, index, backward)     turn in which the overlapped backward waits for the sum
                                            of dX
    products (calls, forward)               products each rank ran for its gathered tokens, in
                                            pieces
    backward_error (difference, backward)   largest one of dX and dW from one process, either way
    product_error (difference, forward)     largest one of the gathered product from one process

Run
    quizkit demo tp-overlap --gpus 4
    python demos/tp_overlap.py --ranks 4 --sum-time 3
    torchrun --nproc-per-node 4 demos/tp_overlap.py
"""

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import device, exchange, max_error, rank, ranks, virtual_clock

import torch

TOPIC = "tp"


class Work:
    """Matrix products that take their time on the virtual clock."""

    def __init__(self, clock, costs, launch):
        self.clock, self.costs, self.launch = clock, costs, launch
        self.turns = []

    def __call__(self, name, left, right, part=1.0):
        """Part of a product takes that part of its time, but is launched like any other."""
        self.clock.spend(self.launch + self.costs[name[0]] * part, name)
        self.turns.append(name)
        return left @ right


def start_sum(share):
    """An all-reduce in one step: my share goes to all others, theirs come to me."""
    me, t = rank(), ranks()
    flying = {}
    for step in range(1, t):
        source = (me - step) % t
        flying[source] = exchange(share, (me + step) % t, torch.empty_like(share), source)
    return flying


def finish_sum(share, flying):
    """Wait for the shares, and add them up in the same order everywhere."""
    shares = [flying[i].wait() if i in flying else share for i in range(ranks())]
    return torch.stack(shares).sum(0)


def column_backward(gradient, x, weight, work, overlap):
    """dX needs the other ranks' shares. dW needs nobody's, and so need not wait for them."""
    share = work("B0", gradient, weight)
    flying = start_sum(share)
    work.turns.append("start")
    if not overlap:
        finish_sum(share, flying)
    dw = work("W0", gradient.T, x)
    dx = finish_sum(share, flying)
    work.turns.append("wait")
    return dx, dw


def gathered_product(piece, weight, work, overlap):
    """All tokens, of which each rank has a piece, times this rank's columns."""
    me, t = rank(), ranks()
    outputs, pieces = {}, {}
    for step in range(t):
        owner = (me - step) % t  # a piece that has come `step` ranks along the ring
        flight = None
        if step < t - 1:
            ahead, behind, name = (me + 1) % t, (me - 1) % t, f"X{owner}"
            flight = exchange(piece, ahead, torch.empty_like(piece), behind, name=name)
        if overlap:
            outputs[owner] = work(f"F{owner}", piece, weight.T, part=1 / t)
        else:
            pieces[owner] = piece
        piece = flight.wait() if flight else piece
    if not overlap:
        return work("F0", torch.cat([pieces[i] for i in range(t)]), weight.T)
    return torch.cat([outputs[i] for i in range(t)])


def main(
    tokens: int = 24,  # tokens in all; in the forward each rank starts with an even share
    hidden: int = 8,  # width of x, whole on every rank
    wide: int = 24,  # columns of the product in all; the ranks share them evenly
    dx_cost: float = 1.0,  # virtual time of the product for dX, without --launch
    dw_cost: float = 1.0,  # virtual time of the product for dW, without --launch
    sum_time: float = 0.75,  # virtual time that the sum of dX is on its way
    product_cost: float = 4.0,  # virtual time of the forward's product; a piece takes 1/t of it
    hop_time: float = 0.5,  # virtual time of one hop of the ring
    launch: float = 0.0,  # virtual time that every product, or piece of one, takes on top
) -> Metrics:
    """A backward and a forward, with and without overlap; the results are the same."""
    t = ranks()
    if min(tokens, hidden, wide) < 1:
        refuse("tokens, hidden and wide start at 1")
    if tokens % t or wide % t:
        fit, more = -(-tokens // t) * t, -(-wide // t) * t
        refuse(f"{t} ranks share tokens and wide evenly: take tokens {fit} and wide {more}")
    times = (dx_cost, dw_cost, product_cost, sum_time, hop_time, launch)
    if not all(0 <= time <= 1000 for time in times):
        refuse("costs, times and launch are from 0 to 1000")

    like = {"dtype": torch.float64, "device": device()}
    x, weight = torch.randn(tokens, hidden, **like), torch.randn(wide, hidden, **like)
    towards = torch.randn(tokens, wide, **like)
    right_dx, right_dw = towards @ weight, (towards.T @ x).chunk(t)[rank()]
    own, toward = weight.chunk(t)[rank()], towards.chunk(t, 1)[rank()]
    right_product = x @ own.T
    costs = {"B": dx_cost, "W": dw_cost, "F": product_cost}

    took, turns, backward_errors, product_errors = {}, {}, [], []
    for name, overlap in (("waits", False), ("overlaps", True)):
        with virtual_clock(f"backward {name}", sum_time) as clock:
            work = Work(clock, costs, launch)
            dx, dw = column_backward(toward, x, own, work, overlap)
            # The same costs added in another order may differ in a float's last digit.
            took[f"backward_{name}"] = round(clock.makespan(), 9)
            turns[f"backward_{name}"] = work.turns
        with virtual_clock(f"gather {name}", hop_time, X="rank {}'s tokens") as clock:
            work = Work(clock, costs, launch)
            product = gathered_product(x.chunk(t)[rank()], own, work, overlap)
            took[f"gather_{name}"] = round(clock.makespan(), 9)
            turns[f"gather_{name}"] = work.turns
        backward_errors += [max_error(dx, right_dx), max_error(dw, right_dw)]
        product_errors.append(max_error(product, right_product))
        check(f"{name}: dX and dW equal one process", max(backward_errors[-2:]), "<", 1e-12)
        check(f"{name}: the product equals one process", product_errors[-1], "<", 1e-12)

    dx_time, dw_time, piece = launch + dx_cost, launch + dw_cost, launch + product_cost / t
    sum_time, hops = sum_time * (t > 1), t - 1
    laws = {
        "backward_waits": ("one after the other", dx_time + sum_time + dw_time),
        "backward_overlaps": ("the sum hides under dW", dx_time + max(sum_time, dw_time)),
        "gather_waits": ("gather, then multiply", hops * hop_time + launch + product_cost),
        "gather_overlaps": ("hops hide under pieces", piece + hops * max(hop_time, piece)),
    }
    for name, (words, law) in laws.items():
        check(words, abs(took[name] - law), "<", 1e-8)
    turn = {step: place for place, step in enumerate(turns["backward_overlaps"], 1)}
    return {name: shared(clocked(time)) for name, time in took.items()} | {
        "turn_dx": shared(counted(turn["B0"])),
        "turn_start": shared(counted(turn["start"])),
        "turn_dw": shared(counted(turn["W0"])),
        "turn_wait": shared(counted(turn["wait"])),
        "products": counted(len(turns["gather_overlaps"])),
        "backward_error": compared(max(backward_errors)),
        "product_error": compared(max(product_errors)),
    }


BREAKS = {
    "waits-at-once": Break(
        old="    if not overlap:\n        finish_sum(share, flying)\n",
        new="    finish_sum(share, flying)\n",
        expect="the sum hides under dW",
        ranks=2,
        source="async_op=True with wait() on the next line: started early, and waited for early",
    ),
    "dw-first": Break(
        old="""
    share = work("B0", gradient, weight)
    flying = start_sum(share)
    work.turns.append("start")
    if not overlap:
        finish_sum(share, flying)
    dw = work("W0", gradient.T, x)
""",
        new="""
    dw = work("W0", gradient.T, x)
    share = work("B0", gradient, weight)
    flying = start_sum(share)
    work.turns.append("start")
    if not overlap:
        finish_sum(share, flying)
""",
        expect="the sum hides under dW",
        ranks=2,
        source="backwards that work out dW first: nothing is left to run during the sum",
    ),
    "waits-before-the-product": Break(
        old="\n        if overlap:\n",
        new="\n        flight and flight.wait()\n        if overlap:\n",
        expect="hops hide under pieces",
        ranks=2,
        source="a ring whose receive blocks: the next piece is there before this one is touched",
    ),
    "pieces-mislaid": Break(
        old="owner = (me - step) % t",
        new="owner = (me + step) % t",
        expect="overlaps: the product equals one process",
        ranks=3,
        source="the ring's direction mixed up: on two ranks both directions are the same",
    ),
}

if __name__ == "__main__":
    run(__file__)
