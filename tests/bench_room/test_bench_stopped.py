"""Somebody stops a program: one line, the right exit code, and no rank that stays."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

from _bench import stop
from _bench.blame import Ending
from _bench.body import HEAD

import pytest

from .conftest import FAULTS, Programs

pytestmark = pytest.mark.demo


def stopped(programs: Programs, number: int, busy: str, **extra: str) -> tuple[int, str, str]:
    """Stop a program with a signal while its ranks are busy with something."""
    text = FAULTS.replace("    barrier()\n", f"    print('here', flush=True)\n    {busy}\n", 1)
    path = programs.write("faults", text)
    with programs.start(sys.executable, path, "--ranks", "2", **extra) as process:
        assert process.stderr
        while "here" not in (line := process.stderr.readline()):
            assert line
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=30)
    err = "".join(line + "\n" for line in err.splitlines() if not line.startswith("[rank"))
    return process.returncode, out, err


SLEEP = "time.sleep(600)"
LEAVES_A_PROCESS = f"os.fork() or os.setsid(); {SLEEP}"


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_ctrl_c_while_ranks_run(programs: Programs, start: str):
    programs.popen = subprocess.Popen
    ended = stopped(programs, signal.SIGINT, LEAVES_A_PROCESS, QUIZKIT_START=start)
    assert ended == (130, "", "interrupted\n")
    assert programs.nothing_left()


@pytest.mark.parametrize(
    ("start", "busy"),
    [
        ("fork", SLEEP),
        ("spawn", SLEEP),
        ("fork", f"ctypes.CDLL(None).prctl(1, 0); {SLEEP}"),  # not told by the kernel: by its pipe
        ("fork", "ctypes.PyDLL(None).sleep(600)"),  # holds the interpreter's lock: no thread runs
    ],
)
def test_a_program_killed_outright_takes_its_ranks_along(programs: Programs, start: str, busy: str):
    code, _, _ = stopped(programs, signal.SIGKILL, busy, QUIZKIT_START=start)
    assert code == -signal.SIGKILL
    assert programs.nothing_left()


def test_sigterm(programs: Programs):
    programs.popen = subprocess.Popen
    assert stopped(programs, signal.SIGTERM, LEAVES_A_PROCESS) == (143, "", "")
    assert programs.nothing_left()


def test_ctrl_c_while_torch_is_imported(programs: Programs):
    programs.popen = subprocess.Popen
    announced = "from _bench import run\nimport os\nos.write(1, b'importing\\n')\nimport torch\n"
    path = programs.write("announced", announced)
    with programs.start(sys.executable, path) as process:
        assert process.stdout
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_ctrl_c_while_results_are_collected(programs: Programs):
    """One rank has reported, the other has not."""
    slow = FAULTS.replace(
        '    return {"number"',
        "    if rank() == 1:\n        print('here', flush=True)\n"
        "        time.sleep(600)\n"
        '    return {"number"',
        1,
    )
    path = programs.write("faults", slow)
    with programs.start(sys.executable, path, "--ranks", "2") as process:
        assert process.stderr
        assert "here" in process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_long_report_is_printed(programs: Programs):
    path = programs.write(
        "long",
        """
from _bench import check, rank, run, virtual_clock

def main():
    check("any", 1, "==", 1)
    with virtual_clock("long") as clock:
        for number in range(20_000):
            clock.spend(1.0, "F")
    return {}

if __name__ == "__main__":
    run(__file__)
""",
    )
    with programs.start(sys.executable, path, "--ranks", "2", "--json") as process:
        assert process.stdout
        assert process.stdout.read(100).startswith('{"schema"')  # the pipe is full by now
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "interrupted\n")


def test_a_reader_that_has_seen_enough(programs: Programs):
    path = programs.write("faults", FAULTS)
    with programs.start(sys.executable, path) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=30)
    assert (process.returncode, err) == (1, "")


def test_time_in_which_nobody_ran_does_not_count(programs: Programs):
    """As Ctrl-Z and `fg` do it, for longer than the deadline."""
    busy = "while not os.path.exists('go'):\n        time.sleep(0.01)\n    time.sleep(0.5)"
    text = FAULTS.replace("    barrier()\n", f"    print('here', flush=True)\n    {busy}\n", 1)
    path = programs.write("faults", text)
    with programs.start(sys.executable, path, "--ranks", "2", "--deadline", "3") as process:
        assert process.stderr
        assert {process.stderr.readline() for _ in range(2)} == {
            "[rank 0] here\n",
            "[rank 1] here\n",
        }
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(3.5)
        (programs.folder / "go").touch()
        os.killpg(process.pid, signal.SIGCONT)
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.splitlines()[-1]) == (0, "pass (finished)")


def test_nor_does_time_lost_between_two_looks_at_the_ranks(monkeypatch: pytest.MonkeyPatch):
    """SIGSTOP comes at any instruction: here while the ranks' words are being taken."""
    skipped = 0.0
    real = time.monotonic
    monkeypatch.setattr(stop.time, "monotonic", lambda: real() + skipped)
    (results, speaks), (output, _), (asked, asks) = os.pipe(), os.pipe(), os.pipe()
    rank = stop.Started(-1, results, output, -1, Ending(0), -1)
    said = json.dumps({"kind": "returned", "at": 0.0}).encode()

    def listened() -> bool:
        nonlocal skipped
        os.read(asked, 1)
        skipped = 10 * stop.START_LIMIT
        threading.Timer(0.05, os.write, (speaks, HEAD.pack(len(said)) + said)).start()
        return False

    os.write(asks, b"!")
    assert stop.attended([rank], 60.0, {asked: listened}) == (None, False)
    assert rank.ending.kind == "returned"
