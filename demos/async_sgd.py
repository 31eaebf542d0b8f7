"""Asynchronous SGD waits for nobody; a gradient of N workers is on average N - 1 updates late.

The trick
    Rank 0 keeps the weights (`serve`), all other ranks work for it (`work`). It applies each
    gradient as it comes, alone, and sends the new weights to that worker only, who goes on at once.
    All others go on with what they have: their gradients come late, by the updates made since their
    weights were sent. With N workers N gradients are under way at any time: so the mean is N - 1,
    whatever the speeds. A slow worker's are later than that, the others' less late.

    For a loss of a/2 w^2 and gradients l updates late, w shrinks while eta a is below 2 sin(pi /
    (4l + 2)): 2 if nothing is late, 1 at one update, 0.62 at two, later as 1/l. Divided by l + 1
    any rate below pi/2 will do; but then N updates go about as far as a synchronous one, which
    waits for all workers and takes the mean of their gradients.

    Messages and updates take no time here, and the last rank is the slow one.

Watch
    applied (count)                     of gradients of this worker that were applied, asynchronous
                                        (rank 0 has none)
    staleness (count)                   most updates between this worker being sent weights and its
                                        gradient being applied, asynchronous
    staleness_mean (shared, count)      of updates that a gradient is late, mean of all gradients,
                                        asynchronous
    last_met (count)                    of updates already in the weights that this worker took its
                                        last gradient at, asynchronous
    idle_async (ticks)                  this worker waits for the server, asynchronous
    idle_sync (ticks)                   this worker waits for the server, synchronous
    time_async (shared, ticks)          until workers * rounds gradients are applied, asynchronous;
                                        messages and updates take none
    time_sync (shared, ticks)           until workers * rounds gradients are applied, synchronous;
                                        messages and updates take none
    updates_async (shared, count)       of updates made of workers * rounds gradients, asynchronous
    updates_sync (shared, count)        of updates made of workers * rounds gradients, synchronous
    loss_start (shared, loss)           of the first weights, on all samples
    loss_prompt (shared, loss)          last one if each gradient is applied alone and none comes
                                        late
    loss_async (shared, loss)           last one, asynchronous: each gradient applied alone, most
                                        come late
    loss_sync (shared, loss)            last one, synchronous: means of all workers' gradients, at
                                        the same rate
    loss_large (shared, loss)           last one, synchronous, at as many times the rate as there
                                        are workers
    limit_async (shared, value)         largest stable rate * curvature, asynchronous, equal speeds,
                                        to 2%
    limit_scaled (shared, value)        largest stable rate * curvature, asynchronous, equal speeds,
                                        each step divided by 1 + its staleness, to 2%
    limit_sync (shared, value)          largest stable rate * curvature, synchronous, to 2%
    version_error (shared, difference)  of weights after any update, from one process that takes
                                        gradients at the same versions

Run
    quizkit demo async-sgd --gpus 4
    python demos/async_sgd.py --ranks 4 --slow 5 --jitter 0.5
    torchrun --nproc-per-node 4 demos/async_sgd.py
"""

from types import SimpleNamespace

from _bench import Break, Metrics, check, clocked, compared, counted, picture, refuse, run, shared
from _bench import broadcast, device, max_error, rank, ranks, recv, send, virtual_clock

import torch

TOPIC = "dp"


def serve(weights, total, rate, together, scaled):
    """The server: an update as soon as so many gradients are there, new weights to their senders.

    Gives the weights after each update, and of each gradient its worker, version and staleness.
    """
    path = [weights]  # after each update
    log = []  # of each gradient: its worker, the version it was taken at, by how many it is late
    ready = {}  # when each worker that has work will be done

    def hand_out(worker):
        more = len(log) + len(ready) < total
        version = weights.new_tensor([len(path) - 1 if more else -1])
        send(torch.cat([version, path[-1]]), worker)
        if more:
            ready[worker] = recv(torch.empty_like(version), worker).item()

    for worker in range(1, ranks()):
        hand_out(worker)
    while ready:
        # Of two at the same time, the one that began first: it stands first.
        first = sorted(ready, key=ready.__getitem__)[:together]
        step = torch.zeros_like(weights)
        for worker in first:
            del ready[worker]
            version, gradient = recv(weights.new_empty(1 + len(weights)), worker).tensor_split([1])
            late = len(path) - 1 - int(version)
            log.append((worker, int(version), late))
            step += (rate / (late + 1) if scaled else rate) * gradient / together
        path.append(path[-1] - step)
        for worker in first:
            hand_out(worker)
    return torch.stack(path), torch.tensor(log)


def work(clock, slope, costs, row):
    """A worker: weights in, gradient out, until it is told to stop. Gives the time it waited."""
    turn = 0
    waited = 0.0
    while True:
        since = clock.now
        version, weights = recv(row, 0).tensor_split([1])
        waited += clock.now - since
        if version < 0:
            return waited
        cost = costs[turn % len(costs)]
        # Said first: the server takes gradients in the order of the clock, which can be repeated.
        send(torch.zeros_like(version) + clock.now + cost, 0)
        if cost:
            clock.spend(cost, f"G{turn}")
        send(torch.cat([version, slope(weights, rank(), turn)]), 0)
        turn += 1


def train(name, weights, slope, costs, total, rate, together=1, scaled=False):
    """Run server and workers until so many gradients are applied."""
    waited = 0.0
    with virtual_clock(name) as clock:
        if rank() == 0:
            path, log = serve(weights, total, rate, together, scaled)
        else:
            row = weights.new_empty(1 + len(weights))
            waited = work(clock, slope, costs[rank()].tolist(), row)
            path = weights.expand(total // together + 1, -1).clone()  # room for the server's
            log = torch.empty(total, 3).long()
        time = clock.makespan()
    path = broadcast(path, 0)
    log = broadcast(log.to(device()), 0)
    return SimpleNamespace(
        path=path, log=log.tolist(), waited=round(waited, 9), time=round(time, 9)
    )


# Rates times curvature to be tried on the quadratic, each 2% above the one before.
LADDER = 0.02 * 1.02 ** torch.arange(245, dtype=torch.float64)


def main(
    rounds: int = 8,  # gradients of each worker when synchronous; as many in all when not
    slow: float = 3.0,  # the last rank's virtual time for a gradient; the others take 1
    jitter: float = 0.0,  # up to this share more for each gradient, drawn
    rate: float = 0.1,  # learning rate
    rows: int = 16,  # samples of a gradient
    width: int = 6,  # weights
    seed: int = 0,  # of samples, noise and jitter
) -> Metrics:
    """Linear regression, synchronous and not; then a quadratic with many curvatures at once."""
    workers = ranks() - 1
    if workers < 1:
        refuse("a server alone has no gradients: take 2 ranks or more")
    if min(rounds, rows, width) < 1 or not (1 <= slow <= 100 and 0 <= jitter <= 10):
        refuse("rounds, rows and width start at 1; slow is 1 to 100, jitter 0 to 10")
    if not 0 < rate <= 2:
        refuse("rate is above 0 and up to 2, for example 0.1")
    torch.manual_seed(seed)
    truth = torch.randn(width).double().to(device())
    samples = torch.randn(ranks(), rounds, rows, width).double().to(device())
    noise = torch.randn(ranks(), rounds, rows).double().to(device())
    targets = samples @ truth + 0.1 * noise
    total = workers * rounds
    costs = 1 + jitter * torch.rand(ranks(), total).double()
    costs[-1] *= slow

    def slope(weights, worker, turn):  # of half the squared error, mean over a mini-batch
        x = samples[worker, turn % rounds]
        y = targets[worker, turn % rounds]
        return x.T @ (x @ weights - y) / rows

    def loss(weights):
        return ((samples[1:] @ weights - targets[1:]) ** 2).mean().item() / 2

    start = torch.zeros_like(truth)
    ran = {}
    errors = []
    for name, together in (("async", 1), ("sync", workers)):
        ran[name] = seen = train(name, start, slope, costs, total, rate, together)
        known = one_process(start, slope, seen.log, rate, together)
        errors.append(max_error(seen.path, known) / max(1, known.abs().max().item()))
        check(f"{name}: weights equal one process", errors[-1], "<", 1e-12)
    eager = ran["async"]
    whole = ran["sync"]
    losses = {
        name: {at * pace: loss(weights) for at, weights in enumerate(ran[name].path)}
        for name, pace in (("async", 1), ("sync", workers))
    }
    picture("curve", "the loss on the way", series=losses, x="gradients applied", y="loss")
    late = [late for _, _, late in eager.log]
    mine = [(met, late) for worker, met, late in eager.log if worker == rank()]
    # N are under way at each update but the last N - 1 ones: nothing more is handed out.
    owed = (workers - 1) * total - workers * (workers - 1) // 2
    check("async: mean staleness N - 1 but for the start", sum(late), "==", owed)
    check("async: no worker waits", eager.waited, "==", 0.0)
    slowest = costs[1:, :rounds].amax(0).sum().item()
    check("sync: each round as long as its slowest", whole.time, "==", round(slowest, 9))
    check("sync: nothing is late", max(late for _, _, late in whole.log), "==", 0)

    def pull(weights, *_):  # of half the curvature times the square
        return LADDER.to(weights) * weights

    limits = {}
    ones = torch.ones_like(LADDER).to(device())
    free = 0 * costs[:, :1]
    kinds = {"async": (1, False), "sync": (workers, False), "scaled": (1, True)}
    for name, (together, scaled) in kinds.items():
        seen = train(name, ones, pull, free, 24 * workers, 1.0, together, scaled)
        steady = {late for _, _, late in seen.log[workers:]}
        behind = 0 if name == "sync" else workers - 1
        check(f"{name}: at equal speeds all are as late", steady == {behind}, "==", True)
        roots = largest_root(LADDER / (behind + 1 if scaled else 1), behind)
        limits[name] = LADDER[growth(seen.path) < 1].max().item()
        off = abs(limits[name] / LADDER[roots < 1].max().item() - 1)
        check(f"{name}: stable as long as its roots are", off, "<", 0.03)
    prompt = one_process(start, slope, eager.log, rate, prompt=True)
    large = one_process(start, slope, whole.log, workers * rate, workers)
    return {
        "applied": counted(len(mine)),
        "staleness": counted(max([late for _, late in mine], default=0)),
        "staleness_mean": shared(counted(sum(late) / total)),
        "last_met": counted(max([met for met, _ in mine], default=0)),
        "idle_async": clocked(eager.waited),
        "idle_sync": clocked(whole.waited),
        "time_async": shared(clocked(eager.time)),
        "time_sync": shared(clocked(whole.time)),
        "updates_async": shared(counted(len(eager.path) - 1)),
        "updates_sync": shared(counted(len(whole.path) - 1)),
        "loss_start": shared(counted(loss(start))),
        "loss_prompt": shared(counted(loss(prompt[-1]))),
        "loss_async": shared(counted(loss(eager.path[-1]))),
        "loss_sync": shared(counted(loss(whole.path[-1]))),
        "loss_large": shared(counted(loss(large[-1]))),
        "limit_async": shared(counted(limits["async"])),
        "limit_scaled": shared(counted(limits["scaled"])),
        "limit_sync": shared(counted(limits["sync"])),
        "version_error": shared(compared(max(errors))),
    }


# Below: what the runs are held against.


def one_process(weights, slope, log, rate, together=1, prompt=False):
    """The same updates in one place, each gradient at the version it met, or at the newest."""
    path = [weights]
    turns = [0] * ranks()
    for at in range(0, len(log), together):
        step = torch.zeros_like(weights)
        for worker, version, _ in log[at : at + together]:
            gradient = slope(path[-1 if prompt else version], worker, turns[worker])
            step += rate * gradient / together
            turns[worker] += 1
        path.append(path[-1] - step)
    return torch.stack(path)


def largest_root(rates, late):
    """Growth an update of w' = w - rate w_late: the largest root of its characteristic equation."""
    matrix = torch.zeros(len(rates), late + 1, late + 1, dtype=torch.float64)
    matrix[:, 1:, :-1] = torch.eye(late, dtype=torch.float64)
    matrix[:, 0, 0] = 1
    matrix[:, 0, -1] -= rates
    return torch.linalg.eigvals(matrix).abs().amax(1)


def growth(path):
    """By what the weights grew from the middle third of a run to its last."""
    middle, last = path[len(path) // 3 :].abs().tensor_split(2)
    return (last.amax(0) / middle.amax(0).clamp(min=1e-300)).cpu()


BREAKS = {
    "mean-over-workers": Break(
        old="else rate) * gradient / together",
        new="else rate) * gradient / (ranks() - 1)",
        expect="async: weights equal one process",
        ranks=3,
        source="a synchronous server made asynchronous: a lone gradient is divided by N as well",
    ),
    "before-its-own": Break(
        old="send(torch.cat([version, path[-1]]), worker)",
        new="send(torch.cat([version, path[-2 if len(path) > 1 else -1]]), worker)",
        expect="async: weights equal one process",
        ranks=2,
        source="the reply is read before the update: a worker goes on without its own gradient",
    ),
    "applied-twice": Break(
        old="        path.append(path[-1] - step)\n        for worker",
        new="        path.append(path[-1] - step * (1 + (len(path) == 2)))\n        for worker",
        expect="async: weights equal one process",
        ranks=2,
        source="a push is repeated after a time-out and the server does not know it from a new one",
    ),
    "in-turn": Break(
        old="sorted(ready, key=ready.__getitem__)[:together]",
        new="list(ready)[:together]",
        expect="async: no worker waits",
        ranks=3,
        source="a server loop that receives from the workers by number: asynchronous by name only",
    ),
}

if __name__ == "__main__":
    run(__file__)
