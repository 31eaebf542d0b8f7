"""A rank dies: whoever shares its connections hears at once; stopped, it shows by a time-out only.

The trick
    An agent starts the ranks and watches them; what has to survive lies on disk. Ranks train as one
    body: no update without everybody's gradient. So one that is gone takes all others with it, and
    what is recovered is the whole job: end all ranks, start as many anew, go on from the last save.

    A dead rank's connections close. Its neighbours in the ring get an error and leave, their
    connections close as well, and so all hear of it. A stopped rank keeps its connections open:
    nothing tells it from a slow one but time. Those that complain are the healthy ones. Let each
    rank count what it enters, where the agent can read it: the one with the smallest count is it.
    A slow rank misses nothing; it is the one that comes last, again and again.

    Under NCCL the others may get a remote error, or hang until PyTorch's watchdog times out. That
    is said by the documentation of both, nothing here has run it.

    Steps since the last save are done twice. Started from that save with the same data, ranks reach
    the weights of a run without a failure, to the last bit.

Watch
    heard_killed (shared, ranks)    that got an error by a closed connection, one rank killed
    late_killed (shared, ranks)     that waited until their time-out, one rank killed
    heard_stopped (shared, ranks)   that got an error by a closed connection, one rank stopped
    late_stopped (shared, ranks)    that waited until their time-out, one rank stopped
    alarms_slowed (shared, ranks)   that got an error or a time-out, one rank slowed
    entered_killed (calls)          of the sum that this rank had entered, one rank killed
    entered_stopped (calls)         of the sum that this rank had entered, one rank stopped
    behind_killed (shared, rank)    the one the counts name, one rank killed; -1 if none
    behind_stopped (shared, rank)   the one the counts name, one rank stopped; -1 if none
    behind_slowed (shared, rank)    the one the counts name, one rank slowed; -1 if none
    often_last (shared, rank)       the one that came last to most sums, one rank slowed
    done_before (shared, steps)     done by the whole job when a rank was killed
    resumed_at (shared, steps)      that the save held which the job went on from
    redone (shared, steps)          done before the failure and once more after it, one rank killed
    redone_stopped (shared, steps)  done before the failure and once more after it, one rank stopped
    same_killed (yes/no)            whether this rank's last weights are bit by bit those of a run
                                    without a failure, one rank killed
    same_stopped (yes/no)           whether this rank's last weights are bit by bit those of a run
                                    without a failure, one rank stopped
    weight_error (shared, difference)  largest one of any rank's last weights from one process

Run
    quizkit demo fault --gpus 4
    python demos/fault.py --ranks 4 --culprit 1 --at 6
    python demos/fault.py --ranks 8 --break nobody-leaves
"""

import os
import re
import signal
import tempfile
import time
import traceback
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from mmap import mmap
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

from _bench import Break, Metrics, check, compared, counted, identical, refuse, run, shared
from _bench import max_error, ranks, virtual_clock
from _bench.body import die_with
from _bench.here import here, settle

import torch
from torch.distributed import FileStore, PrefixStore, ProcessGroupGloo

TOPIC = "fault"
LAUNCH = "own"  # the ranks are children of this file's agent: a bench would end with the first

ENTERED, DONE, LAST, WORD = range(4)  # what each rank writes where the agent can read it
CLOSED, LATE = 1, 2  # its last word
RATE, KEEP = 0.1, 0.9


def work(me, job, board, members, number, trouble):
    """One rank: join, read the last save, train; say what stopped it."""
    torch.set_num_threads(1)
    # Keys of its own for each start: under the old ones stand the addresses of dead ranks, and
    # whoever reads before they are written over fails (torchrun of PyTorch 2.13, by default).
    store = PrefixStore(f"start {number}", FileStore(str(job.folder / "store"), -1))
    seat, seats = members.index(me), len(members)
    group = ProcessGroupGloo(store, seat, seats, timedelta(seconds=30))
    step, weights, momentum = newest(job)
    with tell_why(me, board):
        for turn in range(step, job.steps):
            trouble(me, turn)
            x, y = job.inputs[turn, me], job.targets[turn, me]
            gradient = x.T @ (x @ weights - y)
            board[me, LAST] += all(board[each, ENTERED] > turn for each in members if each != me)
            board[me, ENTERED] = turn + 1
            summing = group.allreduce([gradient])  # pyright: ignore
            summing.wait(timedelta(seconds=job.patience))
            momentum = KEEP * momentum + gradient / job.inputs[turn].shape[:2].numel()
            weights = weights - RATE * momentum
            board[me, DONE] = turn + 1
            if (turn + 1) % job.every == 0 and seat == 0:
                save(job, turn + 1, weights, momentum)
    job.ends[me] = weights


@contextmanager
def tell_why(me, board):
    """Who lost a connection leaves, so that others lose theirs; who waited in vain stays."""
    try:
        yield
    except RuntimeError as error:
        if re.search("timed out|timeout", str(error), re.IGNORECASE):
            board[me, WORD] = LATE
            signal.pause()  # until the agent has seen it and ends all
        board[me, WORD] = CLOSED
        os._exit(3)


def save(job, step, weights, momentum):
    """Under another name first: a file with the right name is whole."""
    made = {"step": step, "weights": weights, "momentum": momentum}
    torch.save(made, job.folder / "new")
    (job.folder / "new").replace(job.folder / f"step-{step}")


def newest(job):
    """The last save, or the beginning."""
    names = [path.name for path in job.folder.glob("step-*")]
    if not names:
        return 0, torch.zeros_like(job.ends[0]), torch.zeros_like(job.ends[0])
    last = max(names, key=lambda name: int(name.removeprefix("step-")))
    held = torch.load(job.folder / last)
    return held["step"], held["weights"], held["momentum"]


def start(job, members, number, trouble):
    """The agent: a process for each rank, until all are through or none goes on; ends them all."""
    n = len(job.ends)
    made = SimpleNamespace(resumed=newest(job)[0], board=common(n, 4, torch.int64))
    made.board[:, :LAST] = made.resumed
    parent, children = os.getpid(), {}
    for me in members:
        if pid := os.fork():
            children[me] = pid
            continue
        try:
            die_with(parent)
            work(me, job, made.board, members, number, trouble)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)
    made.codes = watched(children, made, job.patience)
    for me in children.keys() - made.codes.keys():
        os.kill(children[me], signal.SIGKILL)
        os.waitpid(children[me], 0)
    made.through = len(made.codes) == len(members) and not any(made.codes.values())
    return made


def watched(children, made, patience):
    """Wait for all to end, or to say that they wait in vain. Gives the exit codes there are."""
    codes, seen, since = {}, 0, time.monotonic()
    while len(codes) < len(children):
        for me in children.keys() - codes.keys():
            pid, status = os.waitpid(children[me], os.WNOHANG)
            if pid:
                codes[me] = os.waitstatus_to_exitcode(status)
        spoken = {me for me in children if made.board[me, WORD]} | codes.keys()
        silent = len(children) - len(spoken)
        if not silent or (silent == 1 and spoken and not codes):
            break  # all, or all but one, wait in vain
        begun = made.board[:, ENTERED].max() > made.resumed
        if any(codes.values()) and not begun:
            break  # they never met
        if (now := int(made.board.sum()) + len(spoken)) != seen:
            seen, since = now, time.monotonic()
        if time.monotonic() - since > (2 * patience if begun else 30):
            break  # no heart beats
        time.sleep(0.002)
    return codes


def named(board):
    """The rank that has entered less than all others; -1 if there is none."""
    counts = board[:, ENTERED].tolist()
    least = [me for me, count in enumerate(counts) if count == min(counts)]
    return least[0] if len(least) == 1 else -1


def survived(job, trouble):
    """Train through whatever happens: after a failure all ranks start anew from the last save."""
    everybody = [*range(len(job.ends))]
    first = start(job, everybody, 0, trouble)
    if not first.through:
        first.culprit = named(first.board)
        first.again = start(job, everybody, 1, lambda *_: None)
        if not first.again.through:
            raise RuntimeError("the second start failed as well")
    return first


def main(
    steps: int = 16,  # of the run
    every: int = 4,  # steps from one save to the next
    at: int = 14,  # steps done when the culprit is killed or stopped
    culprit: int = -1,  # the rank that fails; -1 is the last
    patience: float = 1.0,  # seconds until a wait for a stopped rank is in vain
    pause: float = 0.02,  # seconds that the culprit sleeps in each step while it is slow
    rows: int = 4,  # samples of a step on each rank
    width: int = 6,  # weights
    drawn: Literal["killed", "stopped"] = "killed",  # which run's last calls are drawn
) -> Metrics:
    """The same training four times: undisturbed, one rank killed, stopped, slowed."""
    n, culprit = ranks(), culprit % ranks()
    if not (1 <= at < steps <= 200 and min(every, rows, width) >= 1):
        refuse("every, at, rows and width start at 1, and at < steps <= 200")
    if not (0.1 <= patience <= 5 and 0.001 <= pause <= 0.1):
        refuse("patience is 0.1 to 5 seconds, pause 0.001 to 0.1")
    inputs = torch.randn(steps, n, rows, width, dtype=torch.float64)
    targets = inputs.sum(-1) + 0.1 * torch.randn(steps, n, rows, dtype=torch.float64)

    def killed(me, turn):
        if (me, turn) == (culprit, at):
            os.kill(os.getpid(), signal.SIGKILL)

    def stopped(me, turn):
        if (me, turn) == (culprit, at):
            os.kill(os.getpid(), signal.SIGSTOP)

    def slowed(me, _):
        if me == culprit:
            time.sleep(pause)

    troubles = {"plain": lambda *_: None, "killed": killed, "stopped": stopped, "slowed": slowed}
    ends, runs = {}, {}
    with tempfile.TemporaryDirectory() as top:
        for name, trouble in troubles.items():
            (folder := Path(top, name)).mkdir()
            waits = patience if name == "stopped" else 2 * patience
            ends[name] = common(n, width, torch.float64)
            job = SimpleNamespace(
                folder=folder,
                inputs=inputs,
                targets=targets,
                steps=steps,
                every=every,
                patience=waits,
                ends=ends[name],
            )
            runs[name] = survived(job, trouble)

    words = {name: made.board[:, WORD].tolist() for name, made in runs.items()}
    redone, same = {}, {}
    for name in ("killed", "stopped"):
        made = runs[name]
        redone[name] = int(made.board[:, DONE].max()) - made.again.resumed
        same[name] = [torch.equal(*both) for both in zip(ends[name], ends["plain"], strict=True)]
        check("the counts name the one that failed", made.culprit, "==", culprit)
        check("no more is done again than since the last save", redone[name], "==", at % every)
        check("weights equal a run without a failure", sum(same[name]), "==", n)
    often_last = int(runs["slowed"].board[:, LAST].argmax())
    alarms = sum(map(bool, words["slowed"]))
    off = max_error(ends["plain"], alone(inputs, targets, width).expand(n, width))
    check("every survivor of a death hears at once", words["killed"].count(CLOSED), "==", n - 1)
    check("of one that stopped they learn by waiting", words["stopped"].count(LATE), "==", n - 1)
    check("a slow rank raises no alarm", alarms, "==", 0)
    check("a slow rank comes last", often_last, "==", culprit)
    check("weights equal one process", off, "<", 1e-12)
    drawing(runs[drawn], n, every, steps)
    return {
        "heard_killed": shared(counted(words["killed"].count(CLOSED))),
        "late_killed": shared(counted(words["killed"].count(LATE))),
        "heard_stopped": shared(counted(words["stopped"].count(CLOSED))),
        "late_stopped": shared(counted(words["stopped"].count(LATE))),
        "alarms_slowed": shared(counted(alarms)),
        "entered_killed": counted(runs["killed"].board[:, ENTERED].tolist()),
        "entered_stopped": counted(runs["stopped"].board[:, ENTERED].tolist()),
        "behind_killed": shared(counted(runs["killed"].culprit)),
        "behind_stopped": shared(counted(runs["stopped"].culprit)),
        "behind_slowed": shared(counted(named(runs["slowed"].board) if n > 1 else -1)),
        "often_last": shared(counted(often_last)),
        "done_before": shared(counted(int(runs["killed"].board[:, DONE].max()))),
        "resumed_at": shared(counted(runs["killed"].again.resumed)),
        "redone": shared(counted(redone["killed"])),
        "redone_stopped": shared(counted(redone["stopped"])),
        "same_killed": identical(same["killed"]),
        "same_stopped": identical(same["stopped"]),
        "weight_error": shared(compared(off)),
    }


def common(rows, columns, kind):
    """A table that all processes forked from here write into and read."""
    return torch.frombuffer(mmap(-1, rows * columns * 8), dtype=kind).view(rows, columns)


def alone(inputs, targets, width):
    """The weights of one process that has every rank's samples."""
    weights = momentum = torch.zeros(width, dtype=torch.float64)
    for x, y in zip(inputs.flatten(1, 2), targets.flatten(1, 2), strict=True):
        momentum = KEEP * momentum + x.T @ (x @ weights - y) / len(x)
        weights = weights - RATE * momentum
    return weights


def drawing(made, n, every, steps):
    """Each rank's last calls, the one that never ended too; and its first after the restart."""
    agent = here()
    said = {0: "", CLOSED: " connection closed", LATE: " timed out"}
    done = int(made.board[:, DONE].max())
    for me in range(n):
        settle(replace(agent, rank=me))  # in its name
        with virtual_clock("the last calls") as clock:
            for call in range(max(0, done - 3), int(made.board[me, ENTERED])):
                word = said[int(made.board[me, WORD])] if call == done else ""
                clock.now = 2.0 * (call - max(0, done - 3))
                clock.spend(4 if word else 1, f"sum.{call + 1}{word}")
                if me == 0 and call < done and (call + 1) % every == 0:
                    clock.spend(1, f"saved.{call + 1}")
        with virtual_clock("after the restart") as clock:
            clock.spend(1, f"loaded.{made.again.resumed}")
            for call in range(made.again.resumed, min(made.again.resumed + 4, steps)):
                clock.spend(1, f"sum.{call + 1}")
    settle(agent)


BREAKS = {
    "newest-by-name": Break(
        old='max(names, key=lambda name: int(name.removeprefix("step-")))',
        new="max(names)",
        expect="no more is done again than since the last save",
        ranks=1,
        source="the last save picked by its name: as text step-8 comes after step-12",
    ),
    "step-starts-anew": Break(
        old='    return held["step"], held',
        new="    return 0, held",
        expect="weights equal a run without a failure",
        ranks=1,
        source="a save with weights and moments but no step: schedule and data begin again",
    ),
    "without-the-dead": Break(
        old="first.again = start(job, everybody, 1",
        new="first.again = start(\n"
        "            job, [me for me in everybody if me != first.culprit] or everybody, 1",
        expect="weights equal a run without a failure",
        ranks=2,
        source="survivors go on without the dead rank's samples, and divide by as many as before",
    ),
    "first-to-complain": Break(
        old="    return least[0] if len(least) == 1 else -1",
        new="    return next((me for me in range(len(counts)) if board[me, WORD]), 0)",
        expect="the counts name the one that failed",
        ranks=2,
        source="the host whose error stands first in the log is taken out of the cluster",
    ),
    "nobody-leaves": Break(
        old="        os._exit(3)",
        new="        signal.pause()",
        expect="every survivor of a death hears at once",
        ranks=4,
        source="training loops that catch a collective's error and stay: others wait for them",
    ),
}

if __name__ == "__main__":
    run(__file__)
