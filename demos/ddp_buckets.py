"""DDP's buckets: an all-reduce starts when its bucket's last gradient is there, in a fixed order.

The trick
    A weight's hook says that its gradient is complete. When the last one of a bucket is in, and
    all earlier buckets have gone, its all-reduce starts, and backward goes on beside it
    (`Reducer.ready`). Who shares a bucket is fixed before backward, alike on all ranks: sums meet
    by order, not by name, so none overtakes another. What is left of them when backward ends is
    exposed: at least the last bucket.

    A bucket is closed once it holds its cap or more, so it may be larger. The first backward has
    one bucket of everything; then they are cut anew, in the order in which gradients became ready
    on rank 0, the first at a small cap to start early. (With find_unused_parameters: as registered,
    back to front, for good.)

Watch
    grad_error (shared, difference)        largest one from one process on all ranks' rows, in any
                                           backward
    overtaken (buckets)                    started out of turn on this rank, in all backwards
    exposed_registered (shared, ticks)     of sums left after backward, buckets cut as registered
    held_back (shared, ticks)              most that a complete bucket waits for an earlier one to
                                           start, buckets cut as registered
    buckets_whole (shared, collectives)    all-reduces of the first backward, of one bucket
    exposed_whole (shared, ticks)          of the sum left after the first backward, of one bucket
    buckets_rebuilt (shared, collectives)  all-reduces of the second backward, of rebuilt buckets
    first_rebuilt (shared, count)          units of --unit bytes in the rebuilt bucket that starts
                                           first
    last_rebuilt (shared, count)           units of --unit bytes in the rebuilt bucket that starts
                                           last
    exposed_rebuilt (shared, ticks)        of sums left after backward, of rebuilt buckets
    largest_rebuilt (shared, count)        units of --unit bytes in the largest rebuilt bucket
    first_start (shared, ticks)            until the first rebuilt bucket starts; backward starts at
                                           0
    last_start (shared, ticks)             until the last rebuilt bucket starts; backward starts at
                                           0
    kept_views (shared, bytes)             of torch's gradients and buckets, gradient_as_bucket_view
    kept_copies (shared, bytes)            of torch's gradients and buckets, each with its own
                                           memory

Run
    quizkit demo ddp-buckets --gpus 4
    python demos/ddp_buckets.py --ranks 4 --tensors 8 --size 1 --cap 1
    torchrun --nproc-per-node 4 demos/ddp_buckets.py
"""

from copy import deepcopy
from functools import partial

from _bench import Break, Metrics, check, clocked, compared, counted, refuse, run, shared
from _bench import broadcast, device, everyone, exchange, max_error, rank, ranks
from _bench import virtual_clock

import torch
import torch.distributed as dist

TOPIC = "dp"
WIDTH, ROW = 16, 16 * 8  # fp64 numbers in a row of a weight, and their bytes


class Reducer(torch.nn.Module):
    """Data parallelism of any model: gradients are averaged during backward, in buckets.

    After `backward()` comes `finish()`. Every weight that learns must have had a gradient by then.
    """

    def __init__(self, model, caps=(2**20, 25 * 2**20), buckets=None):
        super().__init__()
        self.model = model
        for tensor in (*model.parameters(), *model.buffers()):
            broadcast(tensor, 0)
        self.weights = [weight for weight in model.parameters() if weight.requires_grad]
        self.buckets = buckets or as_registered(self.weights, caps)
        self.home = {i: number for number, bucket in enumerate(self.buckets) for i in bucket}
        for i, weight in enumerate(self.weights):
            weight.register_post_accumulate_grad_hook(partial(self.ready, i))
        self.begin()

    def forward(self, *inputs):
        """The model's own."""
        return self.model(*inputs)

    def begin(self):
        """Before a backward everything is missing, and nothing flies."""
        self.missing = [len(bucket) for bucket in self.buckets]
        self.flying = {}

    def ready(self, i, weight):
        """A gradient is complete: one less is missing in its bucket, and it may be time to go."""
        self.missing[self.home[i]] -= 1
        while (turn := len(self.flying)) < len(self.buckets) and not self.missing[turn]:
            self.flying[turn] = self.start(turn)  # meanwhile backward goes on

    def start(self, number):
        """Copy a bucket's gradients into one row, and send it on its way."""
        row = torch.cat([self.weights[i].grad.flatten() for i in self.buckets[number]])
        return row, send_to_all(row)

    def finish(self):
        """Wait at the end of backward: then every .grad is the mean."""
        if any(self.missing):
            raise RuntimeError(f"{sum(self.missing)} weights had no gradient in this backward")
        for number in self.flying:
            self.land(number)
        self.begin()

    def land(self, number):
        """Add up what all ranks have, in the same order everywhere, and copy it back."""
        row, arriving = self.flying[number]
        parts = [arriving[i].wait() if i in arriving else row for i in range(ranks())]
        weights = [self.weights[i] for i in self.buckets[number]]
        means = torch.stack(parts).mean(0).split([weight.numel() for weight in weights])
        for weight, mean in zip(weights, means, strict=True):
            weight.grad.copy_(mean.view_as(weight))


def send_to_all(row):
    """The simplest all-reduce, on its way: my row goes to all others, theirs come to me."""
    arriving = {}
    for step in range(1, ranks()):
        to, source = (rank() + step) % ranks(), (rank() - step) % ranks()
        arriving[source] = exchange(row, to, torch.empty_like(row), source)
    return arriving


def assign(order, sizes, caps):
    """Fill buckets in this order; one is closed as soon as it holds its cap or more."""
    buckets = [[]]
    held = 0
    for tensor in order:
        buckets[-1].append(tensor)
        held += sizes[tensor]
        if held >= caps[min(len(buckets), len(caps)) - 1]:
            buckets.append([])
            held = 0
    return [bucket for bucket in buckets if bucket]


def as_registered(weights, caps):
    """What is known before any backward: the last weights first. A bucket is of one dtype."""
    sizes = [weight.nbytes for weight in weights]
    alike = {}
    for i, weight in enumerate(weights):
        alike.setdefault(weight.dtype, []).append(i)
    buckets = [bucket for some in alike.values() for bucket in assign(some, sizes, caps)]
    return sorted(buckets, reverse=True)


def rebuild(arrived, sizes, caps):
    """Buckets in the order of arrival: rank 0's, for the others may have had another."""
    order = broadcast(torch.tensor(arrived, device=device()), 0)
    return assign(order.tolist(), sizes, caps)


class Clocked(Reducer):
    """The same reducer, which notes on a virtual clock what happens when."""

    def __init__(self, model, buckets, clock, backward_time, comm_time):
        super().__init__(model, buckets=buckets)
        self.clock = clock
        self.each = backward_time / len(self.weights)  # of a weight's gradient
        self.per_byte = comm_time / sum(weight.nbytes for weight in self.weights)
        self.arrived = []  # the weights whose gradients are ready, in that order
        self.complete = {}  # of each bucket: when its last gradient was ready
        self.started = {}  # and when it went, after how many gradients
        self.overtaken = 0  # buckets that started out of turn
        self.stream = 0.0  # until when the sums so far keep the communication stream busy
        self.bucket_bytes = []

    def ready(self, i, weight):
        """Backward has come so far."""
        self.clock.spend(self.each, f"B{i}")
        self.arrived.append(i)
        self.complete[self.home[i]] = self.clock.now  # the last of its gradients stays
        super().ready(i, weight)

    def start(self, number):
        """Note when, and whether it is the bucket's turn."""
        self.overtaken += number != len(self.started)
        self.started[number] = self.clock.now, len(self.arrived)
        return super().start(number)

    def finish(self):
        """Sums follow one another on a stream of their own: what outlasts backward is exposed."""
        backward_end = self.clock.now
        lane = self.clock.schedule
        self.clock.schedule = f"{lane}, sums"
        super().finish()
        self.clock.schedule = lane
        self.clock.now = max(backward_end, self.stream)
        self.exposed = round(self.clock.now - backward_end, 6)

    def land(self, number):
        """Not before the last rank has started this bucket, nor before the sum that goes before."""
        row, _ = self.flying[number]
        self.clock.now = max(self.stream, self.started[number][0])
        super().land(number)
        self.last_start = self.clock.now
        self.clock.spend(self.per_byte * row.nbytes, f"R{number}")
        self.stream = self.clock.now
        self.bucket_bytes.append(row.nbytes)


def main(
    tensors: int = 10,  # weights of the model, all of one size
    size: int = 5,  # size of each weight, in units
    first: int = 1,  # cap of the bucket that is cut first, in units
    cap: int = 25,  # cap of each other bucket, in units
    unit: int = 1024,  # bytes of a unit, a multiple of 128
    against: bool = False,  # whether forward runs the weights against their registered order
    backward_time: float = 300.0,  # virtual time of a whole backward
    comm_time: float = 200.0,  # virtual time of all of a backward's sums; a rank alone has none
) -> Metrics:
    """Run a backward with each way of cutting buckets, and the same in torch's DDP."""
    if min(tensors, size, first) < 1 or first > cap:
        refuse("tensors, size, first and cap start at 1, and first is at most cap")
    if unit < ROW or unit % ROW:
        refuse(f"a weight is rows of {ROW} bytes: take a unit of {-(-max(unit, 1) // ROW) * ROW}")
    if not (0.001 <= backward_time <= 1e6 and 0 <= comm_time <= 1e6):
        refuse("backward-time is 0.001 to 1000000, comm-time 0 to 1000000")
    n = ranks()
    caps = (first * unit, cap * unit)
    model = Branches(tensors, size * unit // ROW)
    x = torch.randn(n, 4, WIDTH, dtype=torch.float64).to(device())
    sizes = [size * unit] * tensors
    forward = [*range(tensors)]
    if against:
        forward.reverse()
    model(x.flatten(0, 1), forward).square().mean().backward()
    truth = model.gradient()
    errors = []
    overtaken = []

    def backward(name, buckets, orders, backward_time, comm_time):
        """One backward, in which rank r runs the branches in orders[r]."""
        with virtual_clock(name) as clock:
            reducer = Clocked(deepcopy(model), buckets, clock, backward_time, comm_time)
            reducer(x[rank()], orders[rank()]).square().mean().backward()
            reducer.finish()
        prompt = [after for _, after in reducer.started.values()]
        on_time = int(prompt == needed(orders[rank()], buckets))
        check("a bucket starts when its last gradient is ready", on_time, "==", 1)
        off = abs(reducer.exposed - law(orders, buckets, backward_time, comm_time))
        check("exposed is what could not be hidden", off, "<", 1e-5)
        overtaken.append(reducer.overtaken)
        errors.append(max_error(reducer.model.gradient(), truth))
        check("gradients equal one process", errors[-1], "<", 1e-12)
        return reducer

    times = backward_time, comm_time if n > 1 else 0.0
    alike = [forward] * n
    one_bucket = [[*range(tensors)]]
    registered = backward("registered", as_registered(model.weights, caps), alike, *times)
    whole = backward("whole", one_bucket, alike, *times)
    rebuilt = backward("rebuilt", rebuild(whole.arrived, sizes, caps), alike, *times)
    # Each rank begins with another branch: so do, from its end, the gradients of its backward.
    turned = [forward[r * tensors // n :] + forward[: r * tensors // n] for r in range(n)]
    seen = backward("turned, whole", one_bucket, turned, 0.0, 0.0)  # only for its order
    backward("turned", rebuild(seen.arrived, sizes, caps[:1]), turned, *times)

    mine = x[rank()]
    default, theirs, copies = by_torch(model, mine, forward, caps)
    gradient = rebuilt.model.gradient().to(theirs)
    check("gradients equal torch's", max_error(gradient, theirs), "<", 1e-12)
    options = {"find_unused_parameters": True, "gradient_as_bucket_view": True}
    never_rebuilt, _, views = by_torch(model, mine, forward, caps, **options)
    ours = [whole, rebuilt, registered, registered]
    ours = [[set(bucket) for bucket in each.buckets] for each in ours]
    check("buckets are torch's", int(ours == default + never_rebuilt), "==", 1)
    waited = [registered.started[i][0] - registered.complete[i] for i in registered.complete]
    units = [nbytes / unit for nbytes in rebuilt.bucket_bytes]
    return {
        "grad_error": shared(compared(everyone(max(errors)).max())),
        "overtaken": counted(sum(overtaken)),
        "exposed_registered": shared(clocked(registered.exposed)),
        "held_back": shared(clocked(round(max(waited), 6))),
        "buckets_whole": shared(counted(len(whole.started))),
        "exposed_whole": shared(clocked(whole.exposed)),
        "buckets_rebuilt": shared(counted(len(rebuilt.started))),
        "first_rebuilt": shared(counted(units[0])),
        "last_rebuilt": shared(counted(units[-1])),
        "exposed_rebuilt": shared(clocked(rebuilt.exposed)),
        "largest_rebuilt": shared(counted(max(units))),
        "first_start": shared(clocked(round(rebuilt.started[0][0], 6))),
        "last_start": shared(clocked(round(rebuilt.last_start, 6))),
        "kept_views": shared(counted(views)),
        "kept_copies": shared(counted(copies)),
    }


# Below: the model, and what the runs are held against.


class Branches(torch.nn.Module):
    """Branches side by side: the one that ran last has its gradient first."""

    def __init__(self, number, rows):
        super().__init__()
        drawn = torch.randn(number, rows, WIDTH, dtype=torch.float64).to(device()) / 4
        self.weights = torch.nn.ParameterList([each.clone() for each in drawn])

    def forward(self, x, order):
        """The mean of the branches, run in this order."""
        weights = [self.weights[i] for i in order]
        return x + sum(torch.tanh(x @ w.T) @ w / len(w) for w in weights) / len(weights)

    def gradient(self):
        """All gradients in a row."""
        return torch.cat([weight.grad.flatten() for weight in self.weights])


def kept(tensors):
    """Bytes of the memory that these tensors lie in, each piece counted once."""
    pieces = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return sum(pieces.values())


def by_torch(model, x, order, caps, **options):
    """torch's DDP: who shares its buckets in two backwards, the last gradients, the bytes kept."""
    from torch import _dynamo  # noqa: F401  # DDP wants it: imported once, before the fork
    from torch.nn.parallel import distributed as ddp

    place = torch.device("cpu") if dist.get_backend() == "gloo" else device()

    class Small(ddp.DistributedDataParallel):
        """Before torch 2.13 the default of 25 MiB stands in the constructor."""

        def _ddp_init_helper(self, *args, **kwargs):
            self.bucket_bytes_cap = caps[-1]
            super()._ddp_init_helper(*args, **kwargs)

    before = dist._DEFAULT_FIRST_BUCKET_BYTES, getattr(ddp, "_DEFAULT_BUCKET_CAP_MB", 25)
    # Defaults of 1 and 25 MiB give way to smaller ones, which are quicker to look at.
    dist._DEFAULT_FIRST_BUCKET_BYTES = caps[0]
    ddp._DEFAULT_BUCKET_CAP_MB = caps[-1] / 2**20
    replica = deepcopy(model).to(place)
    seen = []
    shared_by = []
    number = {weight: i for i, weight in enumerate(replica.weights)}
    if "find_unused_parameters" in options:  # it warns if it finds none
        replica.unused = torch.nn.Parameter(torch.empty(0, dtype=torch.float64, device=place))
    module = Small(replica, **options)
    dist._DEFAULT_FIRST_BUCKET_BYTES, ddp._DEFAULT_BUCKET_CAP_MB = before

    def hook(_, bucket):
        seen.append((bucket.buffer(), {number[w] for w in bucket.parameters() if w in number}))
        work = dist.all_reduce(bucket.buffer().div_(ranks()), async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    module.register_comm_hook(None, hook)
    for _ in range(2):
        seen.clear()
        module.zero_grad()
        module(x.to(place), order).square().mean().backward()
        shared_by.append([members for _, members in seen])
    grads = [weight.grad for weight in replica.weights]
    return shared_by, replica.gradient(), kept([row for row, _ in seen] + grads)


def needed(order, buckets):
    """How many gradients are there when a bucket starts: all of its own and of those before it."""
    there = [len(order) - min(order.index(i) for i in bucket) for bucket in buckets]
    return [max(there[: number + 1]) for number in range(len(there))]


def law(orders, buckets, backward, comm):
    """Exposed time: a bucket waits for all ranks' gradients and for the sum before it."""
    stream = 0.0
    one = 1 / len(orders[0])
    for bucket, *there in zip(buckets, *(needed(order, buckets) for order in orders), strict=True):
        stream = max(stream, max(there) * one * backward) + len(bucket) * one * comm
    return stream - backward


BREAKS = {
    "overtakes": Break(
        old="while (turn := len(self.flying)) < len(self.buckets) and not self.missing[turn]:",
        new="if not self.missing[turn := self.home[i]]:",
        expect="gradients equal one process",
        ranks=2,
        source="reducers written by hand: collectives meet by order, so other tensors are summed",
    ),
    "own-arrivals": Break(
        old="order = broadcast(torch.tensor(arrived, device=device()), 0)",
        new="order = torch.tensor(arrived)",
        expect="gradients equal one process",
        ranks=2,
        source="buckets rebuilt from local timing; torch's reducer broadcasts rank 0's",
    ),
    "after-backward": Break(
        old="< len(self.buckets) and not self.missing[turn]:",
        new="< len(self.buckets) and not any(self.missing):",
        expect="a bucket starts when its last gradient is ready",
        ranks=1,
        source="gradient synchronization told as a phase between backward and step",
    ),
}

if __name__ == "__main__":
    run(__file__)
