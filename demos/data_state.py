"""One global order of packed rows; a small dict says where it is, whoever reads on from there.

The trick
    Rows are made by a chain: a source whose turn it is, its next document, a shuffle buffer, a
    packer that cuts documents into windows. Each link remembers something: epoch and cursor of each
    source, documents in the buffer and how many draws were made, the rest of a document that did
    not fit. All of it is one dict, and seeds do the rest: a draw depends on (seed, number of the
    draw), an order on (seed, source, epoch). Restored at any row, the chain goes on as if it had
    never stopped. One part left out, and it does not.

    Rows have numbers in this one order, and replica r of d takes every d-th. So the state serves
    any number of replicas. The ranks of a tensor-parallel group are one replica: they hold slices
    of one model and must see the same rows. What workers have made ahead of the training step is
    not read yet: the state that is saved is that of the last row taken.

Watch
    rows_in_all (shared, rows)         of the run, in the global order
    cuts_equal (shared, count)         of stops that give the same tail, of 64 rows at most
    equal_no_rest (shared, count)      of such rows if the rest of a document is not saved
    equal_no_buffer (shared, count)    of such rows if the shuffle buffer is not saved
    equal_no_draws (shared, count)     of such rows if the number of draws is not saved
    equal_no_place (shared, count)     of such rows if epochs and cursors are not saved
    lost_no_rest (shared, tokens)      never read if the run resumes without the rest
    lost_no_buffer (shared, tokens)    never read if the run resumes without the buffer
    place_bytes (shared, bytes)        of the state at the stop, as JSON
    drawn_again (shared, count)        of documents drawn to come to the stop without a state
    tokens_read (tokens)               that this rank fetched, of its own rows
    never_read (shared, rows)          of the global order, by no replica of the resumed run
    read_again (shared, rows)          of the global order, more than once in the resumed run
    passes_large (shared, ratio)       of tokens drawn from the largest source to its own
    passes_small (shared, ratio)       of tokens drawn from the smallest source to its own
    out_error (shared, difference)     largest one of any output from one process
    grad_error (shared, difference)    largest one of any gradient from one process
    loss (shared, loss)                of the last step's rows, before its update
    loss_held (shared, loss)           of held-out rows, before the last step's update

Run
    quizkit demo data-state --gpus 4
    python demos/data_state.py --ranks 8 --tp 2 --steps 12 --stop 6
"""

import json
from collections import deque
from copy import deepcopy
from functools import cache
from itertools import accumulate
from random import Random
from types import SimpleNamespace
from zlib import crc32

from _bench import Break, Metrics, check, compared, counted, picture, refuse, run, shared
from _bench import device, everyone, max_error, rank, ranks, ring_sum, virtual_clock

import torch
from torch.nn.functional import mse_loss

TOPIC = "data"
LENGTHS = (3, 1, 9, 2, 17, 4, 6, 2, 11, 5)  # of documents, over and over
SHARD = 4  # documents in a file, which is read from its front to its end
WIDTH, RATE, SEED, VOCABULARY, COMMON = 256, 0.05, 3, 100_000, 32


@cache
def order(documents, *key):
    """A source's documents in one epoch: files are shuffled, what is in a file is not."""
    files = [range(documents)[at : at + SHARD] for at in range(0, documents, SHARD)]
    Random(repr(key)).shuffle(files)  # noqa: S311
    return [document for file in files for document in file]


class Chain:
    """Packed rows of a mixture in one global order; all that changes is in `at`."""

    def __init__(self, plan, at=None):
        self.plan, self.drawn = plan, 0
        start = {part: [0] * len(plan.sources) for part in ("epoch", "cursor", "taken")}
        start |= {"row": 0, "buffer": [], "draws": 0, "rest": []}
        self.at: dict = deepcopy(at or start)

    def draw(self):
        """The next document of the source that is furthest behind its share."""
        at, plan, self.drawn = self.at, self.plan, self.drawn + 1
        source = min(range(len(plan.shares)), key=lambda s: at["taken"][s] / plan.shares[s])
        epoch, documents = at["epoch"][source], len(plan.sources[source])
        found = order(documents, SEED, source, epoch)[at["cursor"][source]]
        at["taken"][source] += plan.sources[source][found]
        at["cursor"][source] += 1
        if at["cursor"][source] == documents:
            at["epoch"][source], at["cursor"][source] = epoch + 1, 0
        return [source, epoch, found]

    def shuffled(self):
        """One of the documents in the buffer, by a draw that depends on its number alone."""
        at = self.at
        while len(at["buffer"]) < self.plan.room:
            at["buffer"].append(self.draw())
        at["draws"] += 1
        return at["buffer"].pop(crc32(f"{SEED} {at['draws']}".encode()) % self.plan.room)

    def __next__(self):
        """A row: its number, and the pieces of documents that fill the window."""
        at, pieces, free = self.at, [], self.plan.window
        while free:
            source, epoch, found, begin = at["rest"] or [*self.shuffled(), 0]
            length = self.plan.sources[source][found]
            end = min(begin + free, length)
            pieces.append((source, epoch, found, begin, end))
            at["rest"] = [source, epoch, found, end] if end < length else []
            free -= end - begin
        at["row"] += 1
        return at["row"] - 1, pieces

    def save(self):
        """Where the chain is."""
        return json.dumps(self.at)


class Loader:
    """Makes rows ahead of the training step; its state is that of the last row taken."""

    def __init__(self, chain, ahead):
        self.chain, self.ahead, self.ready = chain, ahead, deque()
        self.state = chain.save()

    def __next__(self):
        while len(self.ready) <= self.ahead:
            self.ready.append((next(self.chain), self.chain.save()))
        row, self.state = self.ready.popleft()
        return row


def my_rows(loader, batch, replica, replicas):
    """Of the next global batch: all replicas walk the same order, each takes every d-th row."""
    rows = [next(loader) for _ in range(batch)]
    return [row for row in rows if row[0] % replicas == replica]


def fetch(store, rows):
    """Now the tokens themselves, of these rows alone."""
    pieces = [[store.tokens[s][store.begins[s][d] :][b:e] for s, _, d, b, e in row] for row in rows]
    return torch.stack([torch.cat(each) for each in pieces])


def features(tokens):
    """A vector for each token; those of different tokens are nearly orthogonal."""
    angle = torch.Generator().manual_seed(1)
    turns, begins = 6.283185 * torch.rand(2, WIDTH, dtype=torch.float64, generator=angle)
    return ((2 / WIDTH) ** 0.5 * torch.cos(tokens[..., None] * turns + begins)).to(device())


def step(weights, tokens, many, group):
    """Predict each next token's vector. A tensor-parallel rank multiplies its slice of features."""
    x, wanted = features(tokens[:, :-1]), features(tokens[:, 1:])
    mine = torch.arange(WIDTH, device=device()).tensor_split(len(group))[group.index(rank())]
    out = ring_sum(x[..., mine] @ weights[mine], group)  # partial sums: of the same rows, or else
    gradient = torch.zeros_like(weights)
    gradient[mine] = x[..., mine].flatten(0, 1).T @ (out - wanted).flatten(0, 1) * 2 / many
    return out, (out - wanted).square().sum() / many, gradient


def train(seen, loader, weights, steps, plan, replica, replicas):
    """Some steps of this rank. One beyond the replicas reads nothing and only sums gradients."""
    first = rank() // plan.tp * plan.tp
    many = plan.batch * (plan.window - 1)  # predictions in a global batch
    for _ in range(steps):
        now = SimpleNamespace(rows=[], out=None, loss=0.0, gradient=torch.zeros_like(weights))
        now.weights = weights.clone()
        if replica < replicas:
            now.rows = my_rows(loader, plan.batch, replica, replicas)
        if now.rows:
            now.tokens = fetch(plan, [pieces for _, pieces in now.rows])
            group = range(first, first + plan.tp)
            now.out, now.loss, now.gradient = step(weights, now.tokens, many, group)
        now.gradient = ring_sum(now.gradient)  # over slices and replicas
        weights -= RATE * min(many, 100) * now.gradient
        seen.append(now)


def main(
    tp: int = 0,  # ranks of one replica, all reading its rows; 0: 2 if ranks are even, else 1
    batch: int = 8,  # rows of a step, all replicas together
    steps: int = 6,  # of the whole run
    stop: int = 3,  # steps before the run is stopped and resumed
    after: int = 0,  # replicas that go on after the stop; 0 for half of them, rounded up
    window: int = 12,  # tokens of a row
    room: int = 6,  # documents in the shuffle buffer; 1 shuffles nothing
    ahead: int = 2,  # rows that a loader makes ahead of the training step
    large: int = 90,  # documents of the largest source
    middle: int = 30,  # documents of the middle source
    small: int = 10,  # documents of the smallest source
    power: float = 0.5,  # a source gets its tokens to this power; 1: in proportion, 0: equally
) -> Metrics:
    """Save at every row and go on; train, stop, and go on with fewer replicas."""
    n, me = ranks(), rank()
    tp = tp or 2 - n % 2
    if tp < 1 or n % tp:
        refuse(f"a replica of {tp} ranks does not divide {n} ranks: take 1 or {n}")
    d = n // tp
    after = after or -(-d // 2)
    if not 1 <= after <= d:
        refuse(f"after is a number of replicas: take 1 to {d}, or 0")
    if not (1 <= steps <= 16 and 0 <= stop <= 16 and d <= batch <= 32):
        refuse(f"steps lie in 1 to 16, stop in 0 to 16, batch in {d} to 32")
    if not (2 <= window <= 64 and 1 <= room <= 64 and 0 <= ahead <= 16 and 0 <= power <= 1):
        refuse("window lies in 2 to 64, room in 1 to 64, ahead in 0 to 16, power in 0 to 1")
    if not 1 <= small <= middle <= large <= 10_000:
        refuse("sources lie in 1 to 10000 documents, small <= middle <= large")
    plan = corpus((large, middle, small))
    plan.tp, plan.batch, plan.window, plan.room = tp, batch, window, room
    plan.shares = [sum(lengths) ** power for lengths in plan.sources]
    total, stop = steps * batch, min(stop, steps)

    truth, end = [], Chain(plan)
    states, drawn = [end.save()], [0]
    for _ in range(total):
        truth.append(next(end))
        states.append(end.save())
        drawn.append(end.drawn)
    forget = {"none": {}, "rest": {"rest": []}, "buffer": {"buffer": []}, "draws": {"draws": 0}}
    forget["place"] = {part: [0] * 3 for part in ("epoch", "cursor", "taken")}
    equal = torch.zeros(len(forget), dtype=torch.float64, device=device())
    for row in range(me, total, n):
        for which, less in enumerate(forget.values()):
            chain = Chain(plan, json.loads(states[row]) | less)
            equal[which] += all(next(chain) == right for right in truth[row : row + 64])
    equal = dict(zip(forget, map(int, ring_sum(equal)), strict=True))
    check("every row is a place to stop", equal["none"], "==", total)
    cut, lost = stop * batch, {}
    for part in ("none", "rest", "buffer"):
        chain = Chain(plan, json.loads(states[cut]) | forget[part])
        for _ in truth[cut:]:
            next(chain)
        lost[part] = lost_by(chain)
    check("no token is lost", lost["none"], "==", 0)

    # Training that stops, and goes on with another number of replicas.
    replica, replicas = me // tp, n // tp
    weights = torch.zeros(WIDTH, WIDTH, dtype=torch.float64, device=device())
    seen, loader = [], Loader(Chain(plan), ahead)
    train(seen, loader, weights, stop, plan, replica, replicas)
    state = loader.state  # saved with the weights, one for all ranks
    loader = Loader(Chain(plan, json.loads(state)), ahead)
    check("it goes on where it stopped", json.loads(loader.state)["row"], "==", cut)
    train(seen, loader, weights, steps - stop, plan, replica, after)

    reads = torch.zeros(2, total, dtype=torch.float64, device=device())
    phases = {"before the stop": seen[:stop], "after the stop": seen[stop:]}
    for phase, (name, part) in enumerate(phases.items()):
        with virtual_clock(name, R="row {}") as clock:
            for number, _ in (row for now in part for row in now.rows):
                clock.spend(1.0, f"R{number}")
                reads[phase, number % total] += number < total
    cells = everyone((reads[0] + 2 * reads[1]).clamp(max=3).tolist()).int().tolist()
    legend = ("no", "before the stop", "after it", "both")
    picture("tiles", "who reads which row", cells=cells, legend=legend, down="ranks", across="rows")
    times = ring_sum(reads.sum(0))
    check("each row is read by one replica", int((times != tp).sum()), "==", 0)
    output = gradient = 0.0
    for now, right in zip(seen, alone(plan, truth, steps), strict=True):
        gradient = max(gradient, max_error(now.gradient, right.gradient))
        if now.rows:
            mine = [number % batch for number, _ in now.rows]
            output = max(output, max_error(now.out, right.out[mine]))
    check("outputs equal one process", output, "<", 1e-12)
    check("gradients equal one process", gradient, "<", 1e-12)
    losses = everyone([float(now.loss) for now in seen])[::tp].sum(0).tolist()
    held = [held_out(now.weights, plan) for now in seen]
    lines = {"trained on": losses, "held out": held}
    picture("curve", "loss, stopped and resumed", series=lines, x="steps", y="loss")
    passes = [end.at["taken"][source] / sum(plan.sources[source]) for source in (0, -1)]
    return {
        "rows_in_all": shared(counted(total)),
        "cuts_equal": shared(counted(equal.pop("none"))),
        **{f"equal_no_{part}": shared(counted(count)) for part, count in equal.items()},
        **{f"lost_no_{part}": shared(counted(lost[part])) for part in ("rest", "buffer")},
        "place_bytes": shared(counted(len(states[cut]))),
        "drawn_again": shared(counted(drawn[cut])),
        "tokens_read": counted(sum(now.tokens.numel() for now in seen if now.rows)),
        "never_read": shared(counted(int((times == 0).sum()))),
        "read_again": shared(counted(int((times > tp).sum()))),
        "passes_large": shared(counted(passes[0])),
        "passes_small": shared(counted(passes[1])),
        "out_error": shared(compared(everyone(output).max().item())),
        "grad_error": shared(compared(everyone(gradient).max().item())),
        "loss": shared(compared(losses[-1])),
        "loss_held": shared(compared(held[-1])),
    }


# Below: the data, and what the runs are held against.


def corpus(documents):
    """Three sources of tokens, and rows that are in none of them."""
    made, plan = torch.Generator().manual_seed(SEED), SimpleNamespace(tokens=[], begins=[])
    plan.sources = [[LENGTHS[i % len(LENGTHS)] for i in range(many)] for many in documents]
    for lengths in plan.sources:
        plan.tokens.append(tokens_of(sum(lengths), made))
        plan.begins.append([0, *accumulate(lengths)])
    plan.unseen = tokens_of(32 * 64, made).view(32, 64)
    return plan


def tokens_of(many, made):
    """Tokens of which every fourth can be told from the one before it; half of them are rare."""
    tokens = torch.randint(COMMON, VOCABULARY, (many,), generator=made)
    tokens[::4] = torch.randint(COMMON, tokens[::4].shape, generator=made)
    tokens[1::4] = (tokens[::4][: len(tokens[1::4])] + 1) % COMMON
    return tokens


def lost_by(chain):
    """Tokens of the documents drawn so far that are neither in a row nor on their way."""
    at, sources = chain.at, chain.plan.sources
    waiting = sum(sources[source][document] for source, _, document in at["buffer"])
    if at["rest"]:
        source, _, document, begin = at["rest"]
        waiting += sources[source][document] - begin
    return sum(at["taken"]) - at["row"] * chain.plan.window - waiting


def alone(plan, truth, steps):
    """One process that is never stopped, with autograd: outputs and gradients of each step."""
    weights = torch.zeros(WIDTH, WIDTH, dtype=torch.float64, device=device()).requires_grad_()
    result = []
    for turn in range(steps):
        rows = truth[turn * plan.batch : (turn + 1) * plan.batch]
        tokens = fetch(plan, [pieces for _, pieces in rows])
        out = features(tokens[:, :-1]) @ weights
        loss = WIDTH * mse_loss(out, features(tokens[:, 1:]))
        (gradient,) = torch.autograd.grad(loss, weights)
        result.append(SimpleNamespace(out=out.detach(), gradient=gradient))
        with torch.no_grad():
            weights -= RATE * min(plan.batch * (plan.window - 1), 100) * gradient
    return result


def held_out(weights, plan):
    """Loss on rows that are never trained on."""
    out = features(plan.unseen[:, :-1]) @ weights
    return WIDTH * mse_loss(out, features(plan.unseen[:, 1:])).item()


BREAKS = {
    "no-remainder": Break(
        old="return json.dumps(self.at)",
        new='return json.dumps(self.at | {"rest": []})',
        expect="every row is a place to stop",
        ranks=1,
        source="loaders that resume by counting documents: the packer starts at a fresh document",
    ),
    "buffer-lost": Break(
        old="return json.dumps(self.at)",
        new='return json.dumps(self.at | {"buffer": []})',
        expect="no token is lost",
        ranks=1,
        source="huggingface/datasets 7444: the buffer is not in the state and is filled anew",
    ),
    "global-rank": Break(
        old="replica, replicas = me // tp, n // tp",
        new="replica, replicas, after = me, n, n",
        expect="outputs equal one process",
        ranks=2,
        source="DeepSpeed issue 99: a sampler asks for the global rank under model parallelism",
    ),
    "cursor-per-rank": Break(
        old="loader = Loader(Chain(plan, json.loads(state)), ahead)",
        new="past = Chain(plan)\n"
        '    for _ in range(json.loads(state)["row"] // replicas * after):\n'
        "        next(past)\n"
        "    loader = Loader(past, ahead)",
        expect="it goes on where it stopped",
        ranks=3,
        source="each rank saves the rows it has had and skips as many of its own",
    ),
    "ahead-is-read": Break(
        old="row, self.state = self.ready.popleft()",
        new="(row, _), self.state = self.ready.popleft(), self.chain.save()",
        expect="each row is read by one replica",
        ranks=1,
        source="a state taken where rows are made, in the worker, and not where they are used",
    ),
}

if __name__ == "__main__":
    run(__file__)
