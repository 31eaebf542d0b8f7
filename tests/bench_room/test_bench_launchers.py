"""Under torchrun the demo joins, rank 0 reports; alone it minds what the launcher is told."""

import json
import socket
import sys

import pytest

from .conftest import FAULTS, Programs, free_port

pytestmark = pytest.mark.demo

TORCHRUN = (sys.executable, "-m", "torch.distributed.run")


def joined(programs: Programs, *options: object, ranks: int = 2) -> tuple[int, list[dict], str]:
    path = programs.write("faults", FAULTS)
    done = programs.run(*TORCHRUN, f"--nproc-per-node={ranks}", path, "--json", *options)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_ranks_of_a_launcher_give_one_report(programs: Programs):
    code, reports, _ = joined(programs)
    (report,) = reports
    assert (code, report["verdict"], report["start"]) == (0, "pass", "torchrun")
    assert (report["ranks"], report["metrics"]) == (2, {"number": [0, 1]})


def test_two_launchers_make_one_run(programs: Programs):
    path = programs.write("faults", FAULTS)
    common = (
        *(*TORCHRUN, "--nnodes=2", "--nproc-per-node=1", "--master-addr=127.0.0.1"),
        f"--master-port={free_port()}",
    )
    with programs.start(*common, "--node-rank=1", path, "--json") as second:
        first = programs.run(*common, "--node-rank=0", path, "--json")
        out, err = second.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + err
    assert out == ""
    assert json.loads(first.stdout)["metrics"] == {"number": [0, 1]}


@pytest.mark.parametrize(
    ("kind", "outcome", "words"),
    [
        ("raise while another works", "crashed", "rank 1 raised ValueError: chunk 7 is missing"),
        ("kill while another works", "crashed", "rank 1 ended without a word"),
        ("sleep", "hung", "rank 1 never arrived within 1 s: rank 0 waited"),
    ],
)
def test_a_failing_rank_is_named_there_too(programs: Programs, kind: str, outcome: str, words: str):
    deadline = 1 if kind == "sleep" else 60
    code, reports, _ = joined(programs, "--kind", kind, "--deadline", deadline)
    (report,) = reports
    assert code == 1
    assert (report["outcome"], report["error"]["rank"]) == (outcome, 1)
    assert report["error"]["message"].split("\n")[0] == words
    if kind == "sleep":
        assert "time.sleep(600)" in report["error"]["stacks"][1]


def alone(programs: Programs, path: object, *options: object):
    """One rank, started by hand with what a launcher would set."""
    place = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
    place["MASTER_PORT"] = str(free_port())
    return programs.run(sys.executable, path, *options, **place)


def test_ranks_on_the_command_line_cannot_overrule_the_launcher(programs: Programs):
    done = alone(programs, programs.write("faults", FAULTS), "--ranks", 3)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "--ranks 3 disagrees with the launcher, which started 1: leave it out\n"


def test_environment_variables_are_launcher_enough(programs: Programs):
    done = alone(programs, programs.write("faults", FAULTS), "--ranks", 1, "--json")
    assert json.loads(done.stdout)["metrics"] == {"number": [0]}
    assert done.returncode == 0


PLACE = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"MASTER_ADDR": "", "MASTER_PORT": ""},
            "RANK and WORLD_SIZE are set, as a launcher does, but not MASTER_ADDR and MASTER_PORT:"
            " start with torchrun, or unset RANK to start ranks from here",
        ),
        ({"RANK": "first"}, "RANK=first, WORLD_SIZE=1, MASTER_PORT=29500: RANK must be a number"),
        ({"RANK": "1"}, "RANK=1, WORLD_SIZE=1, MASTER_PORT=29500: RANK must be a number below"),
        ({"WORLD_SIZE": "9" * 5000}, f"RANK=0, WORLD_SIZE={'9' * 20}, MASTER_PORT=29500: RANK"),
        ({"WORLD_SIZE": "9" * 12}, f"RANK=0, WORLD_SIZE={'9' * 12}, MASTER_PORT=29500: RANK must"),
        ({"WORLD_SIZE": "-1"}, "RANK=0, WORLD_SIZE=-1, MASTER_PORT=29500: RANK must be"),
        ({"MASTER_PORT": "http"}, "RANK=0, WORLD_SIZE=1, MASTER_PORT=http: RANK must be"),
    ],
)
def test_what_no_launcher_would_set_is_a_sentence(
    programs: Programs, change: dict[str, str], words: str
):
    path = programs.write("faults", FAULTS)
    done = programs.run(sys.executable, path, **(PLACE | change))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(words)


def test_a_port_that_is_taken_is_a_sentence(programs: Programs):
    path = programs.write("faults", FAULTS)
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        done = programs.run(sys.executable, path, **(PLACE | {"MASTER_PORT": port}))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"127.0.0.1:{port} (MASTER_ADDR, MASTER_PORT) is taken by another program:"
        " name another port\n"
    )


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_does_not_come_is_not_waited_for_beyond_the_deadline(
    programs: Programs, rank: int
):
    path = programs.write("faults", FAULTS)
    code = f"""
import runpy, sys
sys.argv = [{str(path)!r}, "--deadline", "1"]
sys.path.insert(0, {str(path.parent)!r})
from _bench import torchrun
torchrun.MEETING = 0.5  # importing torch may take some ranks long: 10 s, else
runpy.run_path({str(path)!r}, run_name="__main__")
"""
    place = PLACE | {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_PORT": str(free_port())}
    done = programs.run(sys.executable, "-c", code, **place)
    assert done.returncode == 124
    how = "1 of 2 ranks came" if rank == 0 else f"no rank 0 at 127.0.0.1:{place['MASTER_PORT']}"
    assert done.stderr.splitlines()[-1] == f"the ranks did not meet within 1 s: {how}"


OWN = """
import os
import signal
import subprocess
import sys
import time

from _bench import check, counted, rank, ranks, run, shared

LAUNCH = "own"


def main(kind: str = "none"):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    if kind == "raise":
        raise ValueError("no")
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "sleep":
        print("here", flush=True)
        time.sleep(600)
    check("main runs once", rank(), "==", 0)
    return {"of": counted([10 * each for each in range(ranks())]), "n": shared(counted(ranks()))}


if __name__ == "__main__":
    run(__file__)
"""


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("none", 0, ""),
        ("raise", 1, "rank 0 raised ValueError: no"),
        ("kill", 1, "rank 0 died of SIGKILL"),
        ("sleep", 124, "rank 0 did not finish within 1 s"),
    ],
)
def test_a_demo_that_starts_processes_leaves_none(
    programs: Programs, kind: str, code: int, words: str
):
    path = programs.write("elastic", OWN)
    options = ("--ranks", 3, "--kind", kind, "--deadline", 1)
    ended, report, _ = programs.demo(path, *options)
    assert ended == code
    if kind == "none":
        assert report["metrics"] == {"of": [0, 10, 20], "n": 3}
    else:
        assert report["error"]["message"].startswith(words)
    assert programs.nothing_left()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_not_even_when_the_program_is_killed_outright(programs: Programs, start: str):
    path = programs.write("elastic", OWN)
    with programs.start(sys.executable, path, "--kind", "sleep", QUIZKIT_START=start) as process:
        assert process.stderr
        assert "here" in process.stderr.readline()
        process.kill()
        process.communicate(timeout=30)
    assert programs.nothing_left()


def test_a_demo_that_starts_processes_has_no_use_for_a_launcher(programs: Programs):
    done = alone(programs, programs.write("elastic", OWN))
    assert (done.returncode, done.stdout) == (2, "")
    assert "run it with python, not a launcher" in done.stderr
