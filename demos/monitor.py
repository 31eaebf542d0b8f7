"""Steps take equally long on all ranks, so alarms read each rank's own books, not its step time.

The trick
    Everyone waits for the slowest in the all-reduce, and the slowest hardly waits: who waits least
    is late, who waits longest is innocent. Why it is late its own books tell: input, tokens, or
    time per token. If even the last to come stays in the all-reduce longer than usual, it is the
    network. What is usual is a median over ranks and healthy steps; a mean hides one of many.

    All of them are ticks beyond the usual, held against a share of the usual step, and have to last
    some steps, as single steps stumble for no reason. What is not finite, a norm five times the
    usual before the sum, other bits than most ranks' weights, or a rank that does not turn up in
    the all-reduce, is told at once; memory is, once it has grown for as many steps in a row.

    The training is real, and so are losses, norms, checksums and bytes; times are drawn with noise.

Watch
    named (shared, count)         with a fault, in which the first alarm names it and its ranks
    faults (shared, count)        with a fault that has had the time to be seen
    false_alarms (shared, count)  without a fault, in which there is any alarm
    healthy_runs (shared, count)  without a fault
    delay (shared, steps)         from the shown run's fault to its alarm, -1 without one
    alarmed (yes/no)              1 if the alarm of the shown run names this rank
    step_calm (ticks, step)       before the fault in the shown run, mean of steps
    step_ill (ticks, step)        from the fault on in the shown run, mean of steps
    data_calm (ticks, step)       waiting for input, before the fault
    data_ill (ticks, step)        waiting for input, from the fault on
    compute_calm (ticks, step)    forward and backward, before the fault
    compute_ill (ticks, step)     forward and backward, from the fault on
    reduce_calm (ticks, step)     in the all-reduce, waiting for others included, before the fault
    reduce_ill (ticks, step)      in the all-reduce, waiting included, from the fault on
    tokens_ill (tokens)           of this rank, from the fault on, mean of steps
    held_calm (bytes)             what autograd holds between steps, before the fault, in the end
    held_ill (bytes)              what autograd holds between steps, after the last step
    loss_own (loss)               of this rank's samples, in the last step of the shown run
    norm_own (norm)               of this rank's gradient before the sum, in the last step
    norm_sum (shared, norm)       of the gradient that is used, in the last step
    steps_skipped (shared, steps) skipped by all ranks of the shown run, as the sum is not finite
    weights_error (difference)    largest one from one process, all runs with equal weights on ranks

Run
    quizkit demo monitor --gpus 4
    python demos/monitor.py --ranks 4 --fault stall --culprit 2
    torchrun --nproc-per-node 4 demos/monitor.py
"""

from copy import deepcopy
from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import picture
from _bench import Layer, device, everyone, max_error, rank, ranks, ring_gather
from _bench import saved_activations, virtual_clock

import torch

TOPIC = "debug"
REGIME = ("fault",)
FIELDS = "data", "compute", "reduce", "tokens", "held", "loss", "norm", "bits"  # of a rank's step
KINDS = "slow", "long", "stall", "network", "leak", "spike", "nan", "drift", "hang"
WIDTH, TOKENS, RATE = 4, 20, 0.01
LETTERS = {"D": "input", "C": "forward and backward", "R": "all-reduce"}


def alarms(seen, calm, share, patience, timeout):
    """What each step's books tell, by kind: [steps, ranks], whether there is an alarm."""

    def usual(values):
        return values[:calm].median()  # over ranks and healthy steps

    step = seen.data + seen.compute + seen.reduce  # the same on all ranks: it names nobody
    limit = share * usual(step)
    pace = usual(seen.compute / seen.tokens)
    transfer = seen.reduce.min(1, keepdim=True).values.expand_as(step)  # of the last to come
    entered = seen.data + seen.compute
    excess = {
        "slow": seen.compute - seen.tokens * pace,
        "long": (seen.tokens - usual(seen.tokens)) * pace,
        "stall": seen.data - usual(seen.data),
        "network": transfer - usual(transfer),
    }
    grown = seen.held.diff(dim=0, prepend=seen.held[:1]) > 0
    finite = seen.norm.isfinite()
    return {
        "hang": entered > entered.min(1, keepdim=True).values + timeout,
        **{kind: lasting(ticks > limit, patience) for kind, ticks in excess.items()},
        "leak": lasting(grown, patience),
        "nan": ~finite,
        "spike": finite & (seen.norm > 5 * usual(seen.norm)),
        "drift": seen.bits != seen.bits.mode(1, keepdim=True).values,
    }


def lasting(flags, patience):
    """Where it has been so for that many steps in a row."""
    never = torch.zeros_like(flags[:1]).expand(patience - 1, -1)
    return torch.cat([never, flags]).unfold(0, patience, 1).all(-1)


def first_alarm(raised):
    """(step, kind, ranks) of what is told first; the rest may come of it."""
    when = {kind: flags.any(1).nonzero()[0].item() for kind, flags in raised.items() if flags.any()}
    if not when:
        return -1, "", []
    kind = min(when, key=when.__getitem__)
    return when[kind], kind, raised[kind][when[kind]].nonzero().flatten().tolist()


def train(model, work, onset, drawn):
    """One rank's steps, and its books of them."""
    mine = SimpleNamespace(books=[], kept=[], skipped=0, total=torch.zeros(()))
    with saved_activations(model.parameters()) as mine.saved:
        for phase, steps in (("before", work[:onset]), ("after", work[onset:])):
            with virtual_clock(phase, 0.0, **LETTERS) as clock:
                for every in steps:
                    mine.books.append(step(model, every, clock, drawn, mine))
    return mine


def step(model, every, clock, drawn, mine):
    """Input, gradient, sum over the ranks, update; and the line that goes into the books."""

    def spend(ticks, name):
        clock.spend(ticks, name) if drawn else clock.reach(clock.now + ticks)

    own = every[rank()]
    spend(own.data, "D")
    whole = sum(each.tokens for each in every)
    loss, row = gradient(model, own.batch, whole)
    spend(own.compute, "C")
    entered = clock.now
    rows = ring_gather(row[None])  # messages carry clocks: now it is as late as the last to come
    waited, clock.now = clock.now - entered, entered
    spend(waited + own.transfer, "R")
    mine.total = rows.sum(0)
    if mine.total.isfinite().all():  # the same sum on all ranks: all of them skip, or none
        update(model, mine.total)
    else:
        mine.skipped += 1
    if own.leaks:
        mine.kept.append(loss_of(model, own.batch))  # for a log, with the graph it came from
    if own.flips:
        next(model.parameters()).data[0, 0] *= 1 + 2**-40
    weights = torch.cat([w.detach().flatten() for w in model.parameters()])
    bits = weights.view(torch.int64).remainder(2**31 - 1).sum().item()
    spent = own.data, own.compute, clock.now - entered
    return *spent, own.tokens, mine.saved.live_bytes, loss, row.norm().item(), bits


def gradient(model, batch, whole):
    """The mean loss of my tokens; my part of the gradient of the mean over everybody's."""
    model.zero_grad()
    loss = loss_of(model, batch)
    (loss / whole).backward()
    row = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    return loss.item() / len(batch[0]), row


def loss_of(model, batch):
    """Squared errors added up."""
    inputs, targets = batch
    return (model(inputs) - targets).square().sum() / WIDTH


def update(model, row):
    """One step down the gradient."""
    sizes = [weight.numel() for weight in model.parameters()]
    for weight, part in zip(model.parameters(), row.split(sizes), strict=True):
        weight.data -= RATE * part.view_as(weight)


def main(
    fault: Literal[
        "each", "none", "slow", "long", "stall", "network", "leak", "spike", "nan", "drift", "hang"
    ] = "each",  # what goes wrong: a slow GPU, more tokens, late input, ...; or one run of each
    culprit: int = -1,  # rank where it does, the first one of each; -1 is the last
    times: float = 2.0,  # times as long or as many: a slow GPU, tokens, the network; input waits
    steps: int = 16,  # steps of a run
    onset: int = 8,  # healthy steps before the fault
    healthy: int = 6,  # runs without a fault
    share: float = 0.15,  # of a usual step: so much beyond what is usual is an alarm
    patience: int = 4,  # steps in a row that it has to last
    timeout: float = 40.0,  # ticks after the first rank at which one is missing in an all-reduce
    noise: float = 0.05,  # standard deviation of times; half of it are steps that stumble
    seed: int = 0,  # of the noise
) -> Metrics:
    """Train with and without faults, and read the books of all ranks."""
    n, culprit = ranks(), culprit % ranks()
    fits = {"network": 2, "hang": 2, "drift": 3}  # ranks that it takes to be seen at all
    if fits.get(fault, 1) > n:
        refuse(f"nobody can tell {fault} with {n} ranks: take {fits[fault]} or more")
    if not (0 < steps <= 64 and onset >= 1 and 0 <= healthy <= 64 and 1 <= patience <= onset):
        refuse("steps lie in 1 to 64, healthy in 0 to 64, patience in 1 to onset")
    if not (1 < times <= 4 and 0 <= noise <= 0.1 and share > 0 and timeout > 0):
        refuse("times lies above 1 and up to 4, noise in 0 to 0.1; share and timeout above 0")
    like = {"dtype": torch.float64, "device": device()}
    start = torch.nn.Sequential(Layer(WIDTH, WIDTH, **like), torch.nn.Linear(WIDTH, WIDTH, **like))
    data = torch.randn(2, steps, n, 4 * TOKENS, WIDTH, **like)
    kinds = [kind for kind in KINDS if fits.get(kind, 1) <= n] if fault == "each" else [fault]
    kinds = [kind for kind in kinds if kind != "none"]
    plays = [(kind, (culprit + i) % n, seed) for i, kind in enumerate(kinds)]
    plays += [("none", 0, seed + 1 + i) for i in range(max(healthy, not kinds))]

    right, seen_faults, false, innocent, errors, shown = 0, 0, 0, 0, [0.0], None
    for kind, who, each in plays:
        work = day(data, each, noise, kind, who, onset, times)
        model = deepcopy(start)
        mine = train(model, work, onset, shown is None)
        books = everyone([float(number) for line in mine.books for number in line])
        books = books.view(n, steps, -1).permute(2, 1, 0)
        seen = SimpleNamespace(**dict(zip(FIELDS, books, strict=True)))
        raised = alarms(seen, onset, share, patience, timeout)
        at, told, named = first_alarm(raised)
        shown = shown or SimpleNamespace(mine=mine, seen=seen, at=at, named=named)
        step_ticks = seen.data + seen.compute + seen.reduce
        spread = (step_ticks.max(1).values - step_ticks.min(1).values).max().item()
        check("a step takes as long on all ranks", spread, "<", 1e-9)
        if kind == "none":
            false += told != ""
        elif steps - onset >= patience:
            seen_faults += 1
            whole = [*range(n)] if kind == "network" else [who]
            right += (told, named) == (kind, whole) and at >= onset
            if kind in ("slow", "long", "stall"):
                innocent += seen.reduce[onset:].sum(0).argmin().item() != who
        if kind != "drift":
            errors.append(max(map(max_error, model.parameters(), alone(start, work))))
            check("weights equal one process", errors[-1], "<", 1e-12)
            same = (seen.bits == seen.bits[:, :1]).all().item()
            check("replicas hold the same bits", int(same), "==", 1)
    check("each fault is told, with its ranks", right, "==", seen_faults)
    check("no alarm without a fault", false, "==", 0)
    check("who is late waits least", innocent, "==", 0)

    seen, mine, me = shown.seen, shown.mine, rank()
    waits = {f"rank {r}": seen.reduce[:, r].tolist() for r in range(n)}
    picture("curve", "time in the all-reduce", series=waits, x="step", y="ticks")

    def part(values, ill):
        values = values[onset:, me] if ill else values[:onset, me]
        return round(values.mean().item(), 6) if len(values) else 0.0

    ticks = {"data": seen.data, "compute": seen.compute, "reduce": seen.reduce}
    ticks["step"] = sum(ticks.values())
    both = {
        f"{name}_{when}": clocked(part(each, when == "ill"))
        for name, each in ticks.items()
        for when in ("calm", "ill")
    }
    return {
        "named": shared(counted(right)),
        "faults": shared(counted(seen_faults)),
        "false_alarms": shared(counted(false)),
        "healthy_runs": shared(counted(sum(kind == "none" for kind, _, _ in plays))),
        "delay": shared(counted(shown.at - onset if shown.named else -1)),
        "alarmed": counted(int(me in shown.named)),
        **both,
        "tokens_ill": counted(part(seen.tokens, True)),
        "held_calm": counted(int(seen.held[:onset, me][-1])),
        "held_ill": counted(int(seen.held[-1, me])),
        "loss_own": counted(seen.loss[-1, me]),
        "norm_own": counted(seen.norm[-1, me]),
        "norm_sum": shared(counted(mine.total.norm())),
        "steps_skipped": shared(counted(mine.skipped)),
        "weights_error": compared(max(errors)),
    }


def day(data, seed, noise, fault, culprit, onset, times):
    """What each rank will do in each step, and how long it takes; from the onset on, a fault."""
    inputs, targets = data
    steps, n, most = inputs.shape[0], ranks(), inputs.shape[2] // 4
    chance = torch.Generator().manual_seed(seed)
    about = 1 + noise * torch.randn(3, steps, n, generator=chance).clamp(-4, 4)
    stumbles = torch.rand(steps, n, generator=chance) < noise / 2  # for no reason, no two in a row
    fewer = torch.randint(most // 5 + 1, (steps, n), generator=chance)
    work = []
    for now in range(steps):
        ill, first, every = now >= onset, now == onset, []
        transfer = 2 * about[0, now, 0].item() * (times if ill and fault == "network" else 1)
        for r in range(n):
            has = fault if ill and r == culprit else ""
            tokens = int((most - fewer[now, r].item()) * (times if has == "long" else 1))
            compute = 0.3 * tokens * about[1, now, r].item() * (times if has == "slow" else 1)
            waits = 0.5 * about[2, now, r].item() + 3 * (times - 1) * (has == "stall")
            if stumbles[now, r] and not (now and stumbles[now - 1, r]):
                waits += 3
            batch = [inputs[now, r, :tokens].clone(), targets[now, r, :tokens]]
            if first and has in ("spike", "nan"):
                batch[0] *= 30 if has == "spike" else torch.inf
            every.append(
                SimpleNamespace(
                    data=eighths(waits),
                    compute=eighths(compute) + 60 * (has == "hang" and first),
                    transfer=eighths(transfer) * (n > 1),
                    tokens=tokens,
                    batch=batch,
                    leaks=has == "leak",
                    flips=has == "drift" and first,
                )
            )
        work.append(every)
    return work


def eighths(ticks):
    """So that sums of times come out even."""
    return round(8 * ticks) / 8


def alone(start, work):
    """The truth: one process with everybody's batches; it leaves out what is not finite."""
    model = deepcopy(start)
    for every in work:
        batch = [torch.cat(part) for part in zip(*(each.batch for each in every), strict=True)]
        _, row = gradient(model, batch, len(batch[0]))
        if row.isfinite().all():
            update(model, row)
    return [*model.parameters()]


BREAKS = {
    "step-time-alone": Break(
        old='"slow": seen.compute - seen.tokens * pace,',
        new='"slow": step - usual(step),',
        expect="each fault is told, with its ranks",
        ranks=1,
        source="an alarm on step time: synchronous ranks all have the same, so it names everybody",
    ),
    "longest-wait": Break(
        old='"slow": seen.compute - seen.tokens * pace,',
        new='"slow": seen.reduce - usual(seen.reduce),',
        expect="each fault is told, with its ranks",
        ranks=1,
        source='traces read as "this rank has the longest all-reduce, so it is the slow one"',
    ),
    "mean-over-ranks": Break(
        old="lasting(ticks > limit, patience) for",
        new="lasting((ticks.mean(1, keepdim=True) > limit).expand_as(step), patience) for",
        expect="each fault is told, with its ranks",
        ranks=2,
        source="dashboards of means over ranks: of many, one slow rank moves the mean too little",
    ),
    "one-step-is-enough": Break(
        old=".unfold(0, patience, 1).all(-1)",
        new=".unfold(0, patience, 1)[..., -1]",
        expect="no alarm without a fault",
        ranks=1,
        source="threshold rules without a duration: any step that stumbles wakes somebody",
    ),
    "looks-after-the-sum": Break(
        old="loss, row.norm().item(), bits",
        new="loss, mine.total.norm().item(), bits",
        expect="each fault is told, with its ranks",
        ranks=2,
        source="clip_grad_norm_'s norm logged by rank under DDP: it is that of the sum on all",
    ),
}

if __name__ == "__main__":
    run(__file__)
