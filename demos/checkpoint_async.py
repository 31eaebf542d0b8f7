"""An asynchronous save copies first and writes later; what is copied must not change meanwhile.

The trick
    What is saved has to stay as it is until it is written, and training changes it in place at the
    next update. So every tensor is copied to a buffer of its own, and a writer takes its time over
    the buffers. A reference is not a copy: state_dict, detach, and .cpu() of what is on the CPU all
    give the tensor itself, and the file becomes a mix of steps that loads without an error.

    Weights do not change in forward and backward, so the copy may run beside those: training waits
    before the update, if the copy is not done by then. The buffers are free again when all is
    written, and a save that comes sooner waits for them. Nor is the checkpoint there before that:
    the pointer moves when all ranks have written, so a failure may find an older one.

    One rank is one process; copying and writing go on beside it on the virtual clock, layer by
    layer, into real files. All lies in host memory here.

Watch
    copied_bytes (bytes)                of one save, on this rank: also what the buffers take
    stall_blocking (shared, ticks)      training stands still, all saves, written before it goes on
    stall_snapshot (shared, ticks)      the same, copied before it goes on
    stall_overlapped (shared, ticks)    the same, copied beside forward and backward
    step_ticks (shared, ticks)          a step, no save in it
    usable_blocking (shared, steps)     most between a save and the pointer's move to it, blocking
    usable_snapshot (shared, steps)     the same, copied before training goes on
    usable_overlapped (shared, steps)   the same, copied beside forward and backward
    mixed_steps (shared, steps)         at most in one checkpoint; 1: each is of one step
    mixed_live (shared, steps)          at most in one file if references are saved in place of
                                        copies
    same_dcp (shared, yes/no)           whether what DCP's async_save writes is the state at the
                                        call, though it is changed at once

Run
    quizkit demo checkpoint-async --gpus 4
    python demos/checkpoint_async.py --ranks 2 --every 1 --storage 16
"""

import tempfile
from contextlib import contextmanager
from functools import partial
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any

from _bench import Break, Metrics, check, clocked, counted, identical, picture, refuse, run, shared
from _bench import all_gather, barrier, device, everyone, rank, virtual_clock

import torch

TOPIC = "fault"
NUMBERS = count()  # what is done at the same time is done in the order it was asked for


class Background:
    """What goes on beside training: in a lane one thing after the other, each in its own ticks."""

    def __init__(self):
        self.free = {"copies": 0.0, "writes": 0.0}
        self.jobs = []

    def add(self, lane, earliest, ticks, action):
        """Do this when all before it in the lane is done. When it will be."""
        self.free[lane] = max(self.free[lane], earliest) + ticks
        heappush(self.jobs, (self.free[lane], next(NUMBERS), action))
        return self.free[lane]

    def catch_up(self, now):
        """Do what is done by now, in order of time."""
        while self.jobs and self.jobs[0][0] <= now:
            heappop(self.jobs)[2]()


class Saver:
    """Copies a state into buffers of its own, then writes those to a file."""

    def __init__(self, state, root, memory, storage):
        self.state, self.root, self.memory, self.storage = state, root, memory, storage
        self.buffers = {name: torch.empty_like(each) for name, each in state.items()}
        self.work = Background()
        self.staged = self.written = 0.0
        self.complete, self.due = 0, {0: 0.0}

    def start(self, step, now, copies):
        """Copy now, write later; the buffers are free by then, their last file being written."""
        for name, each in self.state.items() if copies else ():
            copy = partial(self.buffers[name].copy_, each)
            self.staged = self.work.add("copies", now, each.nbytes / self.memory, copy)
        path = self.root / f"step-{step}-rank-{rank()}"
        for each in (self.buffers if copies else self.state).values():
            write = partial(self.append, path, each)
            first = max(now, self.staged)
            self.written = self.work.add("writes", first, each.nbytes / self.storage, write)
        self.due[step] = self.work.add("writes", now, 0, partial(self.done, step))

    def append(self, path, tensor):
        """Write one tensor to the end of a file."""
        with path.open("ab") as file:
            file.write(tensor.numpy().tobytes())

    def done(self, step):
        """All of my file is there."""
        self.complete = step


class Run:
    """Steps of training on this rank, saved every so often in some way; what that took."""

    def __init__(self, state, saver, clock, way, every):
        self.state, self.saver, self.clock = state, saver, clock
        self.way, self.every, self.stall = way, every, 0.0
        self.truth, self.latest, self.lags, self.early, self.ends = {}, 0, [0], 0, []

    def train(self, steps, compute):
        """Forward and backward leave the state alone, the update changes it layer by layer."""
        for step in range(1, steps + 1):
            self.spend(compute, f"C{step}")
            self.wait(self.saver.staged, "K")
            for each in self.state.values():
                self.spend(1, f"U{step}")
                update(each)
            self.commit(step)
            if self.every and step % self.every == 0:
                self.save(step)
            self.ends.append(self.clock.now)
        self.clock.reach(self.saver.written)  # the run ends with its last file
        self.saver.work.catch_up(self.clock.now)
        self.commit(steps)

    def save(self, step):
        """Wait till the buffers are free; then go on at once, after the copy, or after the file."""
        self.wait(self.saver.written, "W")
        self.truth[step] = {name: each.clone() for name, each in self.state.items()}
        self.saver.start(step, self.clock.now, copies=self.way in ("snapshot", "overlapped"))
        if self.way == "snapshot":
            self.wait(self.saver.staged, "K")
        if self.way == "blocking":
            self.wait(self.saver.written, "W")
            self.commit(step)

    def commit(self, step):
        """Ranks meet after each step: the pointer moves to what all of them have written."""
        self.clock.reach(self.clock.makespan())
        self.saver.work.catch_up(self.clock.now)
        complete = int(everyone(self.saver.complete).min())
        if complete > self.latest:
            self.latest = complete
            self.lags.append(step - complete)
            self.early += self.clock.now < self.saver.due[complete]

    def wait(self, until, name):
        """Stand still, while the background goes on."""
        self.stall += max(0.0, until - self.clock.now)
        self.spend(max(0.0, until - self.clock.now), name)

    def spend(self, ticks, name):
        """Let time pass here and in the background."""
        if ticks:
            self.clock.spend(ticks, name)
        self.saver.work.catch_up(self.clock.now)


def update(tensor):
    """In place, as optimizers do: first how often it was done, then the weights."""
    tensor[0] += 1
    tensor[1:].mul_(0.9).add_(torch.sin(tensor[1:]), alpha=0.3)


def main(
    steps: int = 12,  # of the run
    every: int = 4,  # steps between saves
    layers: int = 4,  # of the model
    numbers: int = 16,  # in a layer's state on each rank, fp64
    compute: float = 8.0,  # ticks of a forward and a backward
    memory: float = 32.0,  # bytes copied in a tick
    storage: float = 8.0,  # bytes written in a tick
) -> Metrics:
    """Train without a save, then save in three ways, then with references in place of copies."""
    if not (1 <= every <= steps <= 32 and 1 <= layers <= 16 and 2 <= numbers <= 10_000):
        refuse("every lies in 1 to steps, steps below 33, layers in 1 to 16, numbers in 2 to 10000")
    if not (0.0 <= compute <= 1000 and min(memory, storage) >= 1):
        refuse("compute lies in 0 to 1000; memory and storage start at 1")
    torch.manual_seed(rank())
    start = {f"layer-{each}": torch.randn(numbers, dtype=torch.float64) for each in range(layers)}
    for each in start.values():
        each[0] = 0

    letters = {"C": "forward and backward of step {}", "U": "update of step {}"}
    letters |= {"K": "waits for the copy", "W": "waits for storage"}
    runs, mixed = {}, {}
    for way in ("never", "blocking", "snapshot", "overlapped", "live"):
        state = {name: each.clone() for name, each in start.items()}
        with shared_folder() as root, virtual_clock(way, 0.0, **letters) as clock:
            saver = Saver(state, root, memory, storage)
            one = runs[way] = Run(state, saver, clock, way, 0 if way == "never" else every)
            one.train(steps, compute)
            mixed[way], same = looked_at(root, one)
            if way not in ("never", "live"):
                check("a checkpoint is of one step", mixed[way], "==", 1)
                check("it is the state at the save", same, "==", 1)
                check("the pointer waits for all ranks' files", one.early, "==", 0)
        kept = all(torch.equal(each, runs["never"].state[name]) for name, each in state.items())
        check("saving changes nothing", agreed(kept), "==", 1)
    with shared_folder() as root:
        same_dcp = by_dcp(start, root / "dcp")
    check("DCP's copy is the state at the call", same_dcp, "==", 1)
    ways = ("blocking", "snapshot", "overlapped")
    lines = {way: dict(enumerate(runs[way].ends, 1)) for way in ("never", *ways)}
    picture("curve", "when each step ends", series=lines, x="step", y="ticks")
    return {
        "copied_bytes": counted(sum(each.nbytes for each in start.values())),
        **{f"stall_{way}": shared(clocked(runs[way].stall)) for way in ways},
        "step_ticks": shared(clocked(runs["never"].ends[0])),
        **{f"usable_{way}": shared(counted(max(runs[way].lags))) for way in ways},
        "mixed_steps": shared(counted(max(mixed[way] for way in ways))),
        "mixed_live": shared(counted(mixed["live"])),
        "same_dcp": shared(identical(same_dcp)),
    }


# Below: what is looked at afterwards.


def looked_at(root, one):
    """Most steps in one of the files, and whether all are what they should be, on all ranks."""
    most, same = 1, True
    for step, truth in one.truth.items():
        path = root / f"step-{step}-rank-{rank()}"
        found = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.float64)
        found = found.view(len(truth), -1)
        most = max(most, len(found[:, 0].unique()))
        same = same and torch.equal(found, torch.stack([*truth.values()]))
    return int(everyone(most).max()), agreed(same)


def agreed(here):
    """Whether it is so on all ranks."""
    return bool(everyone(here).all())


@contextmanager
def shared_folder():
    """A folder that all ranks see, gone when all are through."""
    name = tempfile.mkdtemp(prefix="checkpoint-") if rank() == 0 else ""
    try:
        word = torch.tensor([*name.ljust(300).encode()], dtype=torch.uint8, device=device())
        yield Path(bytes(all_gather(word)[0].tolist()).decode().strip())
        barrier()
    finally:
        if rank() == 0:
            rmtree(name)


def by_dcp(start, folder):
    """Whether torch's own asynchronous save copies before it returns."""
    import torch.distributed as dist
    from torch.distributed import checkpoint

    state = {f"rank-{rank()}/{name}": each.clone() for name, each in start.items()}
    group: Any = dist.new_group(backend="gloo")
    pending: Any = checkpoint.async_save(state, checkpoint_id=folder, process_group=group)
    for each in state.values():
        update(each)
    pending.result()
    loaded = {name: torch.empty_like(each) for name, each in state.items()}
    checkpoint.load(loaded, checkpoint_id=folder)
    return agreed(all(torch.equal(loaded[f"rank-{rank()}/{n}"], each) for n, each in start.items()))


BREAKS = {
    "detach-for-copy": Break(
        old="self.buffers = {name: torch.empty_like(each)",
        new="self.buffers = {name: each.detach()",
        expect="a checkpoint is of one step",
        ranks=1,
        source="github.com/Lightning-AI/pytorch-lightning/issues/20953: live tensors in a thread",
    ),
    "cpu-for-copy": Break(
        old="self.buffers = {name: torch.empty_like(each)",
        new="self.buffers = {name: each.cpu()",
        expect="it is the state at the save",
        ranks=1,
        source="github.com/pytorch/pytorch/issues/144657: .cpu() of a CPU tensor copies nothing",
    ),
    "update-too-soon": Break(
        old='            self.wait(self.saver.staged, "K")\n            for each',
        new="            for each",
        expect="it is the state at the save",
        ranks=1,
        source="a copy on a side stream that the optimizer does not wait for",
    ),
    "buffers-too-soon": Break(
        old='        self.wait(self.saver.written, "W")\n        self.truth',
        new="        self.truth",
        expect="it is the state at the save",
        ranks=1,
        source="pinned buffers kept for the next save, and the last one not yet written",
    ),
    "latest-at-start": Break(
        old='        self.due[step] = self.work.add("writes", now, 0, partial(self.done, step))\n',
        new="        self.due[step] = self.written\n        self.done(step)\n",
        expect="the pointer waits for all ranks' files",
        ranks=1,
        source="the pointer moved when the save call returns, which is now before the file is",
    ),
}

if __name__ == "__main__":
    run(__file__)
