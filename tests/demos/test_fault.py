"""A rank that dies, stops or slows down: who notices, who is named, what is done again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("fault")

pytestmark = pytest.mark.demo

SIZES = [  # ranks, steps, steps between saves, steps done at the failure, the rank that fails
    (1, 7, 3, 5, 0),
    (2, 9, 4, 4, 0),
    (3, 8, 5, 3, 1),
    (4, 16, 4, 14, 2),
    (5, 11, 2, 9, 0),
    (8, 13, 6, 12, 7),
]


@pytest.mark.parametrize(("ranks", "steps", "every", "at", "culprit"), SIZES)
def test_who_notices_and_what_is_done_again(
    run: Run, ranks: int, steps: int, every: int, at: int, culprit: int
) -> None:
    report = run(ranks, steps=steps, every=every, at=at, culprit=culprit)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    others = ranks - 1
    assert (measured["heard_killed"], measured["late_killed"]) == (others, 0)
    assert (measured["heard_stopped"], measured["late_stopped"]) == (0, others)
    assert measured["alarms_slowed"] == 0
    assert measured["behind_slowed"] == -1
    assert measured["often_last"] == culprit
    counts = [at if rank == culprit else at + 1 for rank in range(ranks)]
    for way in ("killed", "stopped"):
        assert measured[f"entered_{way}"] == counts
        assert measured[f"behind_{way}"] == culprit
        assert measured[f"same_{way}"] == [True] * ranks
    assert measured["done_before"] == at
    assert measured["resumed_at"] == at // every * every
    assert measured["redone"] == measured["redone_stopped"] == at % every


@pytest.mark.parametrize("drawn", ["killed", "stopped"])
def test_the_log_ends_where_each_rank_did(run: Run, drawn: str) -> None:
    events = run(4, culprit=1, drawn=drawn)["timeline"]["events"]
    word = {"killed": "connection closed", "stopped": "timed out"}[drawn]
    last = {each["rank"]: each["name"] for each in events if each["schedule"] == "the last calls"}
    assert last == {0: f"sum.15 {word}", 1: "sum.14", 2: f"sum.15 {word}", 3: f"sum.15 {word}"}
    after = [e["name"] for e in events if e["schedule"] == "after the restart" and e["rank"] == 1]
    assert after == ["loaded.12", "sum.13", "sum.14", "sum.15", "sum.16"]


def test_by_name_an_older_save_is_the_newest(run: Run) -> None:
    measured = run(2, "newest-by-name")["metrics"]
    assert (measured["resumed_at"], measured["redone"]) == (8, 6)
    assert all(measured["same_killed"])  # wrong and slow, but right in the end
    assert run(2, "newest-by-name", at=9)["verdict"] == "pass"


def test_who_stays_keeps_the_others_waiting(run: Run) -> None:
    report = run(4, "nobody-leaves")
    assert failed(report) == ["every survivor of a death hears at once"]
    # The neighbours in the ring have lost a connection, the rank across has not.
    assert (report["metrics"]["heard_killed"], report["metrics"]["late_killed"]) == (2, 1)
    assert run(3, "nobody-leaves")["verdict"] == "pass"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"at": 16}, "at < steps"), ({"every": 0}, "start at 1"), ({"patience": 9.0}, "0.1 to 5")],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(2, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]


def marked(mark: str) -> list[tuple[int, str]]:
    """The processes that were started with this in their environment, and their states."""
    found: list[tuple[int, str]] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (place / "environ").read_bytes():
                state = (place / "stat").read_text().rsplit(") ", 1)[1][0]
                found.append((int(place.name), state))
        except OSError:
            continue
    return [each for each in found if each[1] != "Z"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nobody_is_left_behind_not_even_a_stopped_rank(number: signal.Signals) -> None:
    mark = uuid4().hex
    command = [sys.executable, str(DEMO.path), "--ranks", "3", "--patience", "5"]
    bench = subprocess.Popen(
        command, env=os.environ | {"MARK": mark}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until = time.monotonic() + 60
    while "T" not in [state for _, state in marked(mark)]:
        assert time.monotonic() < until
        assert bench.poll() is None, bench.communicate()
        time.sleep(0.02)
    bench.send_signal(number)
    bench.communicate(timeout=20)
    until = time.monotonic() + 10
    while left := marked(mark):
        assert time.monotonic() < until, left
        time.sleep(0.05)


TORCHRUN = (
    "--standalone",
    "--nproc-per-node=2",
    "--max-restarts=1",
    "--monitor-interval=0.1",
)
JOB = """
import os, signal, sys, torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo")
me, saved, hurt = dist.get_rank(), sys.argv[1], sys.argv[2] == "hurt"
begun = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
step, weight = torch.load(saved) if os.path.exists(saved) else (0, torch.ones(3))
if me == 0:
    print("from", step, flush=True)
while step < 9:
    if hurt and (me, step, begun) == (1, 7, 0):
        os.kill(os.getpid(), signal.SIGKILL)
    gradient = torch.sin(weight + step + me)
    dist.all_reduce(gradient)
    step, weight = step + 1, weight - 0.1 * gradient
    if step % 5 == 0 and me == 0:
        torch.save((step, weight), saved + ".new")
        os.replace(saved + ".new", saved)
if me == 0:
    print("weights", [number.hex() for number in weight.tolist()], flush=True)
dist.barrier()
os._exit(0)
"""


def test_torchrun_restarts_all_ranks_too(tmp_path: Path) -> None:
    """Without the variable PyTorch 2.13 has the second start meet under the old keys."""
    (tmp_path / "job.py").write_text(JOB)
    place = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", "GLOO_SOCKET_IFNAME": "lo"}
    said: list[list[str]] = []
    for how in ("whole", "hurt"):
        job = str(tmp_path / "job.py"), str(tmp_path / how)
        done = subprocess.run(
            [sys.executable, "-m", "torch.distributed.run", *TORCHRUN, *job, how],
            env=os.environ | place,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.splitlines())
    assert said[0][0] == "from 0"
    assert said[1][:2] == ["from 0", "from 5"]
    assert said[0][-1] == said[1][-1]
    assert said[0][-1].startswith("weights")
