"""The record of all demos on a GPU, rehearsed where there is none: runs, faults, going on."""

import json
import sys
import time
from pathlib import Path

from _bench import backend, gpu_record
from _bench.early import MissingError

import pytest

from .conftest import DEMOS, Programs

PROGRAM = DEMOS / "_bench" / "gpu_record.py"

PLANTED = '''
"""What a demo can do to a bench."""

import ctypes
import os
import signal
import time

from _bench import Metrics, barrier, check, rank, refuse, run


def main() -> Metrics:
    if {what!r} == "refuses":
        refuse("take 3 ranks")
    barrier()
    if {what!r} == "fails":
        check("two and two", 5, "==", 4)
    if rank() == 1:
        if {what!r} == "crashes":
            ctypes.string_at(0)
        if {what!r} == "hangs":
            time.sleep(600)
        if {what!r} == "kills":
            os.kill(os.getppid(), signal.SIGKILL)
    barrier()
    check("came through", 1, "==", 1)
    return {{}}


if __name__ == "__main__":
    run(__file__)
'''

FAULTS = ("crashes", "fails", "hangs", "kills", "refuses", "works")


def recorded(programs: Programs, *options: object) -> tuple[int, dict, str, str]:
    out = programs.folder / "record.json"
    done = programs.run(sys.executable, PROGRAM, "--device", "cpu", "--out", out, *options)
    return done.returncode, json.loads(out.read_text()), done.stdout, done.stderr


def planted(programs: Programs) -> Path:
    folder = programs.folder / "planted"
    folder.mkdir()
    for what in FAULTS:
        (folder / f"{what}.py").write_text(PLANTED.format(what=what))
    return folder


@pytest.mark.demo
def test_demos_are_recorded_and_not_made_twice(programs: Programs):
    names = ("all-reduce", "flash", "pipeline-dualpipe")
    options = ("--only", *names, "--ranks", 1, 2)
    code, record, out, err = recorded(programs, *options)
    assert (code, err) == (0, "")
    assert record["rehearsal"] is True
    assert record["machine"]["gpus"] == []
    assert record["machine"]["torch"]
    rows = {(each["demo"], each["ranks"]): each for each in record["runs"]}
    assert list(rows) == [(name, ranks) for name in names for ranks in (1, 2)]
    assert {each["state"] for each in record["runs"]} == {"gloo on cpu"}
    assert rows["pipeline-dualpipe", 1]["outcome"] == "refused"
    green = [each for each in record["runs"] if each["outcome"] != "refused"]
    assert {each["verdict"] for each in green} == {"pass"}
    assert all(each["checks"] and each["seconds"] for each in green)
    assert record["counts"] == {"pass": 5, "refused": 1}
    assert [line.split(":")[0] for line in out.splitlines()[1:-1]] == list(names)
    assert out.splitlines()[-1].startswith("rehearsal on the CPU: 5 pass, 1 refused, 0 not")

    more = ("--ranks", 1, 2, "--minutes", 0.001)
    code, again, out, _ = recorded(programs, *more)
    assert code == 124
    assert again["runs"] == record["runs"]
    assert "async-read cpu 2" in again["left"]
    assert "the same command again goes on from here" in out


@pytest.mark.demo
def test_whatever_a_demo_does_is_recorded_and_the_next_one_runs(programs: Programs):
    folder = planted(programs)
    code, record, out, _ = recorded(
        *(programs, "--demos", folder, "--ranks", 2, "--deadline", 1.5, "--lanes", 2)
    )
    assert code == 1
    rows = {each["demo"]: each for each in record["runs"]}
    assert {name: each["outcome"] for name, each in rows.items()} == {
        "crashes": "crashed",
        "fails": "finished",
        "hangs": "hung",
        "kills": "bench gone",
        "refuses": "refused",
        "works": "finished",
    }
    assert rows["fails"]["failed"] == [
        {"name": "two and two", "measured": 5, "relation": "==", "expected": 4}
    ]
    assert "rank 1 died of SIGSEGV" in rows["crashes"]["error"]
    assert "rank 1 never arrived within 1.5 s" in rows["hangs"]["error"]
    assert rows["kills"]["error"] == "the bench is gone (SIGKILL)"
    # What did not come out was tried once more by itself, and both are kept.
    assert [name for name, each in rows.items() if each.get("alone")] == list(FAULTS[:4])
    assert rows["hangs"]["beside_others"]["outcome"] == "hung"
    assert "again, alone: fails gloo×2: FAIL two and two: 5 == 4" in out
    assert str(programs.folder) not in json.dumps(record)
    assert 'File "planted/crashes.py", line ' in rows["crashes"]["error"]


@pytest.mark.demo
def test_without_a_gpu_there_is_nothing_to_record(programs: Programs):
    if backend.gpus_here():
        pytest.skip("there is a GPU")
    done = programs.run(sys.executable, PROGRAM, "--out", programs.folder / "record.json")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "no CUDA GPU found: --device cpu rehearses without one\n"


def test_a_record_of_another_machine_is_not_gone_on_with(tmp_path: Path):
    head = {"schema": gpu_record.SCHEMA, "rehearsal": False, "machine": {"torch": "2.11"}}
    record = gpu_record.Record(tmp_path / "record.json", head)
    record.save(())
    gpu_record.Record(record.path, head).resume()
    with pytest.raises(SystemExit):
        gpu_record.Record(record.path, head | {"machine": {"torch": "2.6"}}).resume()
    record.path.write_text("{}")
    with pytest.raises(SystemExit):
        gpu_record.Record(record.path, head).resume()


def test_one_gpu_is_one_rank_of_nccl_and_shared_by_the_others():
    runs = gpu_record.wanted("cuda", 1, ["flash"], gpu_record.RANKS)
    assert [(run.device, run.ranks) for run in runs] == [
        ("nccl", 1),
        *(("shared", ranks) for ranks in (1, 2, 4)),
    ]
    assert [run.state for run in runs] == ["nccl × 1", *3 * ["cuda, shared, staged"]]
    assert [run.short for run in runs] == ["nccl×1", "shared×1", "shared×2", "shared×4"]
    many = gpu_record.wanted("cuda", 4, ["flash"], (2,))
    assert [run.state for run in many if run.device == "nccl"] == [f"nccl × {n}" for n in (1, 2, 4)]


def test_the_page_says_there_is_none_for_as_long_as_there_is_none():
    kept = sorted((DEMOS.parent / "tests" / "gpu_records").glob("*.json"))
    page = " ".join((DEMOS / "README.md").read_text(encoding="utf-8").split())
    assert ("no demo has run on a GPU so far" in page) == (kept == [])
    for path in kept:
        record = json.loads(path.read_text(encoding="utf-8"))
        assert record["schema"] == gpu_record.SCHEMA
        assert not record["rehearsal"]
        assert record["machine"]["gpus"]


def test_each_state_is_what_the_bench_would_choose():
    for run in gpu_record.wanted("cuda", 1, ["flash"], gpu_record.RANKS):
        asked = "cuda" if run.device == "nccl" else run.device
        choice = backend.decide(asked, run.ranks, 1)
        state = backend.state(choice.backend, choice.device, choice.staged, run.ranks)
        assert state == run.state
    with pytest.raises(MissingError):
        backend.decide("shared", 1, 0)


def test_a_run_in_another_state_does_not_count():
    run = gpu_record.Run("flash", "shared", 2)
    choice = {"backend": "gloo", "device": "cpu", "staged": False, "reason": "no CUDA GPU found"}
    reply = {"report": {**choice, "ranks": 2, "verdict": "pass"}}
    kept = gpu_record.row(run, reply)
    assert (kept["verdict"], kept["outcome"]) == ("error", "not run")
    assert kept["error"] == (
        "this ran as 'gloo on cpu' and not as 'cuda, shared, staged': no CUDA GPU found"
    )


def test_a_state_that_never_works_does_not_take_the_others_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made: list[str] = []
    told = {"backend": "gloo", "device": "cuda", "staged": True, "ranks": 1, "error": None}
    told |= {"verdict": "pass", "outcome": "finished", "seconds": 1.0, "checks": []}

    class Lane(gpu_record.Lane):
        def run(self, run: gpu_record.Run, deadline: float, until: float) -> dict:
            made.append(run.device)
            if run.device == "nccl":
                raise gpu_record.GoneError("no answer")
            return {"report": told}

    monkeypatch.setattr(gpu_record, "Lane", Lane)
    demos = [f"demo-{number}" for number in range(6)]
    todo = gpu_record.wanted("cuda", 1, demos, (1,))
    record = gpu_record.Record(tmp_path / "record.json", {"rehearsal": False})
    gpu_record.Rounds(record, todo, tmp_path, time.monotonic() + 60, 5.0).go(1)
    first, then, again = made[:6], made[6:12], made[12:]
    assert first == 3 * ["nccl", "shared"]
    assert then == 3 * ["shared"] + 3 * ["nccl"]
    assert again == 6 * ["nccl"]  # once more, alone
    assert len(record.rows) == 12
