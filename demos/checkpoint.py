"""A checkpoint is whole or not there: files under other names, then a manifest, then the pointer.

The trick
    Each rank writes its shard under another name, syncs it, then renames it. When all have, rank 0
    writes the manifest, with a hash of every shard, and last of all moves the pointer `latest`.
    Until that rename a restart finds the previous checkpoint, from then on the new one. Renames
    alone do not do: each file is whole, but they may be of different steps.

    One rank saves in a process of its own, and SIGKILL ends that: after each of its writes, syncs
    and renames in turn, for each rank, in shuffled order. The others learn that it is gone where
    they wait for it. Leftovers stay, and the run goes on from the checkpoint that is found. SIGKILL
    loses nothing that was handed to the kernel: what fsync is for, a machine that goes down, is not
    tried here.

Watch
    kills (shared, count)             savers that a SIGKILL ended, each at a point of its own
    found_previous (shared, count)    restarts after a kill that found the checkpoint before
    found_new (shared, count)         restarts after a kill that found the checkpoint being saved
    found_none (shared, count)        restarts after a kill that found none that is whole
    steps_again (shared, steps)       done twice, in all restarts
    file_bytes (bytes)                of this rank's shard, as written
    same_after_kills (shared, yes/no) whether the run that lives through all kills ends equal to
                                      the uninterrupted one, bit by bit
    same_dcp (shared, yes/no)         whether what torch's own DCP saves and loads equals the shards

Run
    quizkit demo checkpoint --gpus 4
    python demos/checkpoint.py --ranks 2 --victim 1 --point 1
"""

import os
import signal
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from io import BytesIO
from json import dumps, loads
from multiprocessing import Pipe
from pathlib import Path
from shutil import rmtree

from _bench import Break, Metrics, check, counted, identical, picture, refuse, run, shared
from _bench import all_gather, barrier, device, everyone, rank, ranks, ring_gather, virtual_clock

import torch

TOPIC = "fault"


def save(root, step, shard, point, meet):
    """Write my shard of a checkpoint; when all have, rank 0 makes it the latest."""
    folder = root / f"step-{step}"
    folder.mkdir(exist_ok=True)
    digest = write(folder / f"rank-{rank()}", shard, point)
    digests = meet(digest)  # all shards are there
    if rank() == 0:
        manifest = {"step": step, "digests": digests}
        write(folder / "manifest", dumps(manifest).encode(), point)
        write(root / "latest", folder.name.encode(), point)
    meet(digest)


def write(path, data, point):
    """A file that is whole or not there: under another name first. The hash of what is in it."""
    temporary = path.with_name(f"{path.name}.new")
    with temporary.open("wb", buffering=0) as file:
        point(f"open {path.name}")
        file.write(data[: len(data) // 2])
        point(f"half {path.name}")
        file.write(data[len(data) // 2 :])
        point(f"written {path.name}")
        os.fsync(file.fileno())
        point(f"synced {path.name}")
    temporary.replace(path)
    point(f"renamed {path.name}")
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)  # the name is in the folder, and has to last too
    os.close(folder)
    point(f"named {path.name}")
    return sha256(data).hexdigest()


def find(root):
    """My shard of the latest checkpoint. Raises DamagedError if it is not whole."""
    try:
        folder = root / (root / "latest").read_text()
        manifest = loads((folder / "manifest").read_bytes())
        shard = (folder / f"rank-{rank()}").read_bytes()
    except (OSError, ValueError) as error:
        raise DamagedError(f"no whole checkpoint: {error}") from None
    if sha256(shard).hexdigest() != manifest["digests"][rank()]:
        raise DamagedError(f"the shard of rank {rank()} is not the one in the manifest")
    return shard


class DamagedError(Exception):
    """What is to be the latest checkpoint is not one."""


def packed(state):
    """A state as bytes."""
    buffer = BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def unpacked(data):
    """The state in bytes."""
    held = torch.load(BytesIO(data), map_location="cpu")
    return {
        name: part.to(device()) if torch.is_tensor(part) else part for name, part in held.items()
    }


def trained(state):
    """One more step, every rank's weights having a part in it: SGD with momentum, on shards."""
    gradient = torch.sin(state["weights"] - ring_gather(state["weights"]).mean())
    momentum = 0.9 * state["momentum"] + gradient
    weights = state["weights"] - 0.1 * momentum
    return {"step": state["step"] + 1, "weights": weights, "momentum": momentum}


def main(
    victim: int = -1,  # the rank whose killed saver is the timeline; -1: the last one
    point: int = 1,  # the point of its save, from 0, at which it is killed there
    weights: int = 24,  # in each rank's shard
    seed: int = 0,  # of the order of the kills
) -> Metrics:
    """Kill a saver at every point of a save, restart each time, and go on to the end."""
    if not (-1 <= victim < ranks() and 0 <= point < (6 if victim % ranks() else 18)):
        refuse(f"victim lies in 0 to {ranks() - 1}, point in 0 to 17 on rank 0 and to 5 on others")
    if not 1 <= weights <= 100_000:
        refuse("weights lie in 1 to 100000")
    torch.manual_seed(rank())
    rows = [row.clone().to(device()) for row in torch.randn(2, weights, dtype=torch.float64)]
    state = {"step": 0, "weights": rows[0], "momentum": rows[1]}  # each in a storage of its own
    start = state

    kills = [(who, at) for who in range(ranks()) for at in range(6 if who else 18)]
    order = torch.randperm(len(kills), generator=torch.Generator().manual_seed(seed))
    found, again = {"previous": 0, "new": 0, "none": 0}, 0
    cells = [[0] * 18 for _ in range(ranks())]
    with shared_folder() as root:
        same_dcp = by_dcp(state, root / "dcp")
        save(root, 0, packed(state), lambda name: None, gathered)
        for who, at in (kills[each] for each in order):
            after = trained(state)
            reached = cut_short(root, after["step"], packed(after), who, at)
            if (who, at) == (victim % ranks(), point):
                drawn(reached)
            outcome, state = restarted(root, state, after)
            found[outcome] += 1
            again += after["step"] - state["step"]
            cells[who][at] = 1 + [*found].index(outcome)
    truth, state = start, trained(state)
    while truth["step"] < state["step"]:
        truth = trained(truth)
    same = agreed(packed(state) == packed(truth))
    check("every kill leaves a whole checkpoint", found["none"], "==", 0)
    check("the killed run equals the uninterrupted one", same, "==", 1)
    check("DCP gives the same tensors", same_dcp, "==", 1)

    legend = ["no such point", "the previous one", "the new one", "none that is whole"]
    picture(
        "tiles",
        "checkpoint found after a kill",
        cells=cells,
        legend=legend,
        down="rank killed",
        across="point of its save",
    )
    return {
        "kills": shared(counted(len(kills))),
        **{f"found_{outcome}": shared(counted(many)) for outcome, many in found.items()},
        "steps_again": shared(counted(again)),
        "file_bytes": counted(len(packed(state))),
        "same_after_kills": shared(identical(same)),
        "same_dcp": shared(identical(same_dcp)),
    }


# Below: savers that are killed, and what a run is held against.


@contextmanager
def shared_folder():
    """A folder that all ranks see, gone when all are through."""
    name = tempfile.mkdtemp(prefix="checkpoint-") if rank() == 0 else ""
    try:
        yield Path(gathered(name.ljust(300))[0].strip())
        barrier()
    finally:
        if rank() == 0:
            rmtree(name)


def gathered(word):
    """What each rank says, all words being equally long."""
    said = all_gather(torch.tensor([*word.encode()], dtype=torch.uint8, device=device()))
    return [bytes(each.tolist()).decode() for each in said]


def agreed(here):
    """Whether it is so on all ranks."""
    return bool(everyone(here).all())


def all_there(digest):
    """The shards' hashes, once every rank has its own written. Raises LostError if one is gone."""
    digests = gathered(digest)
    if not all(map(str.strip, digests)):
        raise LostError(f"rank {digests.index(GONE)} is gone")
    return digests


GONE = " " * 64  # said in the place of one that cannot say its hash any more


class LostError(Exception):
    """A rank was killed: the others would wait for ever, and their launcher ends them."""


def cut_short(root, step, shard, victim, at):
    """A save in which the victim's saver is killed at a point. The points that mine came to."""
    reached = []
    with suppress(LostError):
        if rank() != victim:
            save(root, step, shard, reached.append, all_there)
        else:
            killed(root, step, shard, at, reached)
    return reached


def killed(root, step, shard, at, reached):
    """Save in a process of its own, and kill it at a point."""
    mine, its = Pipe()
    child = os.fork()
    if child == 0:
        mine.close()
        saver(its, root, step, shard)
    its.close()
    try:
        while len(reached) <= at:
            kind, word = mine.recv()
            if kind == "meet":
                mine.send(all_there(word))
                continue
            reached.append(word)
            if len(reached) <= at:
                mine.send(None)
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        mine.close()
    check("the saver was killed", os.WTERMSIG(status), "==", signal.SIGKILL)
    all_there(GONE)


def saver(pipe, root, step, shard):
    """The life of a process that saves: it asks before it goes on, and never returns."""

    def ask(kind, word):
        pipe.send((kind, word))
        return pipe.recv()

    try:
        save(root, step, shard, partial(ask, "point"), partial(ask, "meet"))
    finally:
        os._exit(0)


def restarted(root, before, after):
    """Which of two checkpoints all ranks find, bit by bit, and its state; else a fresh start."""
    try:
        found = packed(unpacked(find(root)))
    except DamagedError:
        found = b""
    for outcome, state in (("new", after), ("previous", before)):
        if agreed(found == packed(state)):
            return outcome, state
    barrier()
    if rank() == 0:
        for folder in root.iterdir():
            rmtree(folder) if folder.is_dir() else folder.unlink()
    barrier()
    save(root, before["step"], packed(before), lambda name: None, gathered)
    return "none", before


def drawn(reached):
    """The timeline of a save: a tick for everything that was done."""
    with virtual_clock("save") as clock:
        for name in reached:
            if name.startswith("open manifest"):
                clock.reach(6)
            clock.spend(1, name)


def by_dcp(state, folder):
    """Whether what torch's own distributed checkpoint saves and loads equals my shard."""
    from torch.distributed import checkpoint

    def mine(fill):
        return {f"rank-{rank()}/{name}": fill(state[name]) for name in ("weights", "momentum")}

    checkpoint.save(mine(torch.clone), checkpoint_id=folder)
    loaded = mine(torch.zeros_like)
    checkpoint.load(loaded, checkpoint_id=folder)
    return agreed(all(torch.equal(loaded[key], each) for key, each in mine(torch.clone).items()))


BREAKS = {
    "final-path": Break(
        old='path.with_name(f"{path.name}.new")',
        new="path",
        expect="every kill leaves a whole checkpoint",
        ranks=1,
        source="github.com/vllm-project/speculators/pull/739: straight to the final paths",
    ),
    "latest-before-all": Break(
        old="    digests = meet(digest)  # all shards are there\n",
        new="    if rank() == 0:\n"
        '        write(root / "latest", folder.name.encode(), point)\n'
        "    digests = meet(digest)  # all shards are there\n",
        expect="every kill leaves a whole checkpoint",
        ranks=1,
        source="github.com/radixark/miles/pull/3187: a tracker that does not wait for all files",
    ),
    "one-folder": Break(
        old='folder = root / f"step-{step}"',
        new='folder = root / "checkpoint"',
        expect="every kill leaves a whole checkpoint",
        ranks=1,
        source="os.replace for each file taken for atomicity of all: shards of two steps",
    ),
}

if __name__ == "__main__":
    run(__file__)
