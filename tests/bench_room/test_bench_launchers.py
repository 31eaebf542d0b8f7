"""Under torchrun the demo joins, rank 0 reports; alone it minds what the launcher is told."""

import json
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
