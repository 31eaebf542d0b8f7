"""A rank fails: the right one is named, with its stack, and nothing is left of any."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from .conftest import FAULTS, Programs, Warm, left_behind

pytestmark = pytest.mark.demo

CRASHES = {
    "raise": ("rank 1 raised ValueError: chunk 7 is missing", "wrong_turn()"),
    "segv": ("rank 1 died of SIGSEGV", "ctypes.string_at(0)"),
    "kill": ("rank 1 died of SIGKILL (out of memory, perhaps)", ""),
    "exit": ("rank 1 ended without a word (exit code 7)", ""),
}


@pytest.mark.parametrize("kind", CRASHES)
def test_a_crash_is_told_of_the_rank_that_crashed(warm: Warm, kind: str):
    report = warm.run("faults", 3, args={"kind": kind})
    first, *rest = report["error"]["message"].split("\n")
    headline, code = CRASHES[kind]
    assert (report["outcome"], report["verdict"]) == ("crashed", "error")
    assert (report["error"]["rank"], first) == (1, headline)
    assert code in "\n".join(rest)
    assert rest[-1] == "in its wake: rank 0 lost its connection; rank 2 lost its connection"
    assert [bool(each) for each in report["error"]["stacks"]] == [True, bool(code), True]


def test_a_message_larger_than_its_buffer_aborts_the_receiver_and_says_why(warm: Warm):
    error = warm.run("faults", 2, args={"kind": "large"})["error"]
    assert error["rank"] == 0
    assert error["message"].startswith("rank 0 died of SIGABRT\n")
    assert "recv(torch.ones(10), 1)" in error["message"]
    assert "4000 vs 40" in error["message"]


@pytest.mark.parametrize("kind", ["sleep", "stop"])
def test_at_the_deadline_the_rank_that_never_arrived_is_named(warm: Warm, kind: str):
    report = warm.run("faults", 3, args={"kind": kind}, deadline=1.5)
    error = report["error"]
    assert report["outcome"] == "hung"
    assert error["rank"] == 1
    assert error["message"] == "rank 1 never arrived within 1.5 s: ranks 0 and 2 waited"
    assert "time.sleep(600)" in error["stacks"][1] or "SIGSTOP" in error["stacks"][1]
    assert all("    barrier()" in error["stacks"][rank] for rank in (0, 2))


def test_without_a_deadline_in_sight_the_groups_time_out_ends_a_hang(warm: Warm):
    report = warm.run("faults", 2, args={"kind": "sleep"}, deadline=10)
    assert report["outcome"] == "hung"
    assert report["seconds"] < 9
    assert report["error"]["message"] == "rank 1 never arrived: rank 0 waited"
    assert "Timed out" in report["error"]["stacks"][0]
    assert "time.sleep(600)" in report["error"]["stacks"][1]


def test_a_rank_that_returns_early_is_named(warm: Warm):
    report = warm.run("faults", 3, args={"kind": "early"})
    assert report["outcome"] == "hung"
    assert report["error"]["rank"] == 1
    assert report["error"]["message"] == "rank 1 returned early: ranks 0 and 2 waited"
    assert "Timed out" not in str(report["error"]["stacks"])  # they were told before that


def test_all_send_first_is_a_deadlock_of_all(warm: Warm):
    report = warm.run("faults", 3, args={"kind": "ring"}, deadline=1)
    assert report["outcome"] == "hung"
    assert report["error"]["rank"] is None
    assert "ranks 0, 1 and 2 waited for each other within 1 s" in report["error"]["message"]
    assert all("send(torch.ones(4)" in stack for stack in report["error"]["stacks"])


def test_a_refusal_is_told_once_and_crashes_nothing(warm: Warm):
    report = warm.run("faults", 3, args={"kind": "refuse"})
    message = "3 ranks cannot share 5 chunks: take 1 or 5"
    assert report["outcome"] == "refused"
    assert report["error"] == {"rank": None, "message": message, "stacks": []}


def test_fifty_runs_leave_nothing_behind(warm: Warm):
    assert warm.run("faults", 3)["verdict"] == "pass"
    before = warm.descriptors()
    for number in range(50):
        kind = ("none", "raise", "none", "kill", "segv")[number % 5]
        report = warm.run("faults", 3, args={"kind": kind})
        assert (report["error"] or {"rank": None})["rank"] == (None if kind == "none" else 1)
    assert warm.descriptors() == before
    assert list(left_behind(warm.programs.marker, patience=0)) == [warm.process.pid]
    assert list(warm.programs.scratch.iterdir()) == []


def test_six_programs_at_once_do_not_meet(programs: Programs):
    path = programs.write("faults", FAULTS)
    kinds = ["none", "raise", "none", "segv", "none", "kill"]
    with ThreadPoolExecutor(len(kinds)) as pool:
        ran = list(pool.map(lambda kind: programs.demo(path, "--kind", kind), kinds))
    assert [code for code, _, _ in ran] == [0, 1, 0, 1, 0, 1]
    for kind, (_, report, _) in zip(kinds, ran, strict=True):
        assert report["metrics"] == ({"number": [0, 1, 2, 3]} if kind == "none" else {})
        assert (report["error"] or {"rank": None})["rank"] == (None if kind == "none" else 1)


def test_spawned_ranks_fail_alike(programs: Programs):
    path = programs.write("faults", FAULTS)

    def run(kind: str, *options: object):
        options = ("--kind", kind, "--ranks", 2, *options)
        code, report, _ = programs.demo(path, *options, QUIZKIT_START="spawn")
        assert report["start"] == "spawn"
        return code, report

    code, report = run("none")
    assert (code, report["metrics"]) == (0, {"number": [0, 1]})
    code, report = run("raise", "--break", "another")
    first = report["error"]["message"].split("\n")[0]
    assert (code, report["error"]["rank"], first) == (1, 1, "rank 1 raised ValueError: chunk 8")
    assert '    raise ValueError("chunk 8")\n' in report["error"]["stacks"][1]  # as planted
    code, report = run("sleep", "--deadline", 1)
    assert (code, report["outcome"], report["error"]["rank"]) == (124, "hung", 1)


def test_without_nameless_files_a_folder_is_used_and_removed(programs: Programs):
    """As on a Mac: no memfd, no /proc/self/fd, no fork."""
    path = programs.write("faults", FAULTS)
    as_elsewhere = f"""
import os, runpy, sys
sys.argv = [{str(path)!r}, "--ranks", "2", "--json"] + sys.argv[1:]
sys.path.insert(0, {str(path.parent)!r})
del os.memfd_create
from _bench import launch
launch.OWN_FILES = launch.Path("/nowhere")
runpy.run_path({str(path)!r}, run_name="__main__")
"""
    options = ("--kind", "none")
    done = programs.run(sys.executable, "-c", as_elsewhere, *options, QUIZKIT_START="spawn")
    assert json.loads(done.stdout)["metrics"] == {"number": [0, 1]}, done.stderr
    programs.nothing_left()
