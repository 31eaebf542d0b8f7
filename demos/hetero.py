"""Ranks of unlike speed: rows are dealt by speed, gradients weighed by rows; nothing else differs.

The trick
    A step of data parallelism ends when its slowest rank does: at the largest rows / speed. Give
    each rank a row and deal out the others, each to the rank that would be done with it first
    (`deal`): none is lost, and no split in which nobody goes without ends sooner. Each rank's mean
    gradient then counts by its rows over the batch (`weighed`). A plain mean would weigh a slow
    rank's few rows too much; shares of speed are not shares of rows either, for rows are whole.

    Everything else is one for all ranks: weights, optimizer and its state, learning rate, number of
    steps, the order in which the data are drawn. A learning rate by speed parts the replicas in the
    first step: their gradient is the same, their update is not.

Watch
    rows (rows)                       of the batch on this rank, dealt by speed
    equal_rows (rows)                 of the batch on this rank, split evenly
    truncated_rows (rows)             of the batch on this rank by int(batch * speed / all speeds),
                                      the usual one-liner
    lost_rows (shared, rows)          of the batch that are on no rank by int(batch * speed / all
                                      speeds)
    time_equal (shared, ticks)        of a step, split evenly; sums and the update take none
    time_dealt (shared, ticks)        of a step, rows dealt by speed; sums and the update take none
    idle_equal (ticks)                that this rank waits for others in a step, split evenly
    idle_dealt (ticks)                that this rank waits for others in a step, rows dealt by speed
    plain_error (shared, difference)  relative, of the plain mean of gradients from the right one,
                                      rows dealt by speed
    speed_error (shared, difference)  relative, of the mean of gradients weighed by speed from the
                                      right one, rows dealt by speed
    grad_error (shared, difference)   largest one from one process with the whole batch, at any step
    rate_gap (difference)             of weights from rank 0's after one step at a rate times speed
    drift (difference)                of weights from rank 0's after all steps at one rate

Run
    quizkit demo hetero --gpus 4
    python demos/hetero.py --ranks 3 --batch 17 --fast 10
    torchrun --nproc-per-node 4 demos/hetero.py --slow 2
"""

from copy import deepcopy
from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import Layer, all_gather, device, everyone, max_error, rank, ranks, ring_sum
from _bench import take_gradient, virtual_clock

import torch
from torch.nn.functional import mse_loss
from torch.nn.utils import parameters_to_vector, vector_to_parameters

TOPIC = "dp"
RATE = 0.1  # of plain SGD, on every rank


def deal(batch, speeds):
    """Row by row, each to the rank that would be done with it first."""
    held = [1] * len(speeds)  # a rank without rows would still have to take part in every sum
    for _ in range(batch - len(speeds)):
        first = min(range(len(speeds)), key=lambda number: (held[number] + 1) / speeds[number])
        held[first] += 1
    return held


def my_rows(batch, held, step):
    """Which rows are mine in this step: all ranks shuffle alike, and each takes its piece."""
    order = torch.randperm(batch, generator=torch.Generator().manual_seed(step))
    before = sum(held[: rank()])
    return order[before : before + held[rank()]]


def weighed(gradient, share):
    """The gradient of the batch: every rank's mean counts by its share of the rows."""
    return ring_sum(gradient * share)


def step(model, batch, mine, speed, clock):
    """Forward and backward at my speed, the sum over all ranks, the update."""
    inputs = batch[0][mine]
    targets = batch[1][mine]
    clock.spend(len(mine) / speed / 3, "F0")
    outputs = model(inputs)
    clock.spend(len(mine) / speed * 2 / 3, "B0")
    mse_loss(outputs, targets).backward()
    done = clock.now
    gradient = weighed(take_gradient(model), len(mine) / len(batch[0]))
    update(model, gradient, RATE)
    return SimpleNamespace(outputs=outputs.detach(), gradient=gradient, idle=clock.now - done)


def update(model, gradient, rate):
    """Plain SGD."""
    weights = parameters_to_vector(model.parameters()).detach()
    vector_to_parameters(weights - rate * gradient, model.parameters())


def even(batch, speeds):
    """As many rows for everyone; the first ranks have one more if it must be."""
    n = len(speeds)
    return [batch // n + (number < batch % n) for number in range(n)]


def truncated(batch, speeds):
    """Shares of the speed, cut down to whole rows."""
    return [int(batch * speed / sum(speeds)) for speed in speeds]


def weights_of(model):
    """All in one row."""
    return parameters_to_vector(model.parameters()).detach()


def main(
    batch: int = 33,  # rows of the batch, of all ranks together
    fast: float = 3.0,  # rows a fast rank goes through in a unit of time; a slow one does 1
    slow: int = 1,  # how many ranks are slow, the last ones; 0: none
    steps: int = 3,  # training steps with each split
    width: int = 12,  # numbers in a row; a layer's weight is width x width
) -> Metrics:
    """Train with the batch split evenly and by speed; the last `slow` ranks have speed 1."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork
    from torch.nn.parallel import DistributedDataParallel

    n = ranks()
    if batch < n:
        refuse(f"{batch} rows do not go round {n} ranks: take {n} or more")
    if not 0.01 <= fast <= 100 or min(slow, width - 1) < 0 or not 1 <= steps <= 20:
        refuse("fast lies in 0.01 to 100, steps in 1 to 20; slow starts at 0, width at 1")
    speeds = [1.0 if number >= n - slow else fast for number in range(n)]
    speed = speeds[rank()]
    like = {"dtype": torch.float64, "device": device()}
    origin = torch.nn.Sequential(Layer(width, width, **like), Layer(width, width, **like))
    rows = torch.randn(batch, width, **like), torch.randn(batch, width, **like)
    true_gradients, true_weights = alone(deepcopy(origin), rows, steps)
    true_outputs = origin(rows[0]).detach()

    idle = {}
    time = {}
    worked = {}
    errors = []
    plans = {"equal": even(batch, speeds), "dealt": deal(batch, speeds)}
    for name, held in plans.items():
        model = deepcopy(origin)
        seen = []  # what each step came to
        counts = torch.zeros(batch, **like)  # how often I have worked on each row
        with virtual_clock(name) as clock:
            for turn in range(steps):
                mine = my_rows(batch, held, turn)
                counts[mine] += 1
                seen.append(step(model, rows, mine, speed, clock))
            time[name] = round(clock.makespan() / steps, 9)
        idle[name] = round(seen[0].idle, 9)
        worked[name] = int(counts.sum()) // steps
        uneven = (ring_sum(counts) != steps).sum().item()
        check("every row counts once a step", uneven, "==", 0)
        truth = true_outputs[my_rows(batch, held, 0)]
        check("outputs equal one process", max_error(seen[0].outputs, truth), "<", 1e-12)
        errors.append(max(map(max_error, [each.gradient for each in seen], true_gradients)))
        check("gradients equal one process", errors[-1], "<", 1e-12)
        check("weights equal one process", max_error(weights_of(model), true_weights), "<", 1e-12)
        drift = from_rank_0(weights_of(model))
        check("replicas stay alike", drift, "==", 0.0)
        longest = max(own / pace for own, pace in zip(held, speeds, strict=True))
        check("a step ends with its slowest rank", abs(time[name] - longest), "<", 1e-8)
    held = plans["dealt"]
    sooner = min((own + 1) / pace for own, pace in zip(held, speeds, strict=True))
    longest = max(own / pace if own > 1 else 0 for own, pace in zip(held, speeds, strict=True))
    check("no row would be done sooner elsewhere", sooner, ">=", longest)

    mine = my_rows(batch, held, 0)
    # gloo takes a tensor from host memory only.
    place = "cpu" if torch.distributed.get_backend() == "gloo" else device()

    def by_torch(weight):
        """The gradient that torch's DDP averages over ranks, each rank's mean times its weight."""
        replica = DistributedDataParallel(deepcopy(origin).to(place))
        inputs, targets = (each[mine].to(place) for each in rows)
        (mse_loss(replica(inputs), targets) * weight).backward()
        return take_gradient(replica).to(device())

    def relative(gradient):
        return ((gradient - true_gradients[0]).norm() / true_gradients[0].norm()).item()

    theirs = by_torch(n * len(mine) / batch)
    check("gradients equal torch's DDP", max_error(seen[0].gradient, theirs), "<", 1e-12)
    paced = deepcopy(origin)
    update(paced, theirs, RATE * speed)
    left = my_rows(batch, truncated(batch, speeds), 0)
    counts = torch.zeros(batch, **like)
    counts[left] = 1
    lost = int((ring_sum(counts) == 0).sum())
    check("cut down, the ranks lose less than a row each", lost, "<", n)
    return {
        "rows": counted(worked["dealt"]),
        "equal_rows": counted(worked["equal"]),
        "truncated_rows": counted(len(left)),
        "lost_rows": shared(counted(lost)),
        "time_equal": shared(clocked(time["equal"])),
        "time_dealt": shared(clocked(time["dealt"])),
        "idle_equal": clocked(idle["equal"]),
        "idle_dealt": clocked(idle["dealt"]),
        "plain_error": shared(compared(relative(by_torch(1.0)))),
        "speed_error": shared(compared(relative(by_torch(n * speed / sum(speeds))))),
        "grad_error": shared(compared(everyone(max(errors)).max().item())),
        "rate_gap": compared(from_rank_0(weights_of(paced))),
        "drift": compared(drift),
    }


# Below: what the runs are held against.


def from_rank_0(tensor):
    """How far this rank's is from rank 0's."""
    return max_error(tensor, all_gather(tensor)[0])


def alone(model, batch, steps):
    """The truth: the whole batch on one process, torch's SGD."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    gradients = []
    for _ in range(steps):
        mse_loss(model(batch[0]), batch[1]).backward()
        gradients.append(torch.cat([weight.grad.flatten() for weight in model.parameters()]))
        optimizer.step()
        optimizer.zero_grad()
    return gradients, weights_of(model)


BREAKS = {
    "plain-mean": Break(
        old="ring_sum(gradient * share)",
        new="ring_sum(gradient) / ranks()",
        expect="gradients equal one process",
        ranks=2,
        source="local batches by speed under DDP, which averages whatever it is given",
    ),
    "by-speed": Break(
        old="len(mine) / len(batch[0])",
        new="speed / everyone(speed).sum().item()",
        expect="gradients equal one process",
        ranks=2,
        source="shares of speed taken for shares of the batch: off by the rounding to whole rows",
    ),
    "truncated": Break(
        old='"dealt": deal(batch, speeds)',
        new='"dealt": truncated(batch, speeds)',
        expect="every row counts once a step",
        ranks=2,
        source="int(batch * speed / total): the remainders belong to nobody, a slow rank may get 0",
    ),
    "own-shuffle": Break(
        old="manual_seed(step)",
        new="manual_seed(step + 1000 * rank())",
        expect="every row counts once a step",
        ranks=2,
        source="a shuffling loader on every rank with a seed of its own: rows twice, rows never",
    ),
    "rate-by-speed": Break(
        old="update(model, gradient, RATE)",
        new="update(model, gradient, RATE * speed * ranks() / everyone(speed).sum().item())",
        expect="replicas stay alike",
        ranks=2,
        source="optimizers built on each rank with a learning rate for its own batch size",
    ),
}

if __name__ == "__main__":
    run(__file__)
