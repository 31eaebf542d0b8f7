"""Somebody stops a program: one line, the right exit code, and no rank that stays."""

import os
import signal
import sys

import pytest

from .conftest import FAULTS, Programs

pytestmark = pytest.mark.demo


def killed_while_running(programs: Programs, number: int, **extra: str) -> tuple[int, str, str]:
    path = programs.write(
        "faults",
        FAULTS.replace("barrier()\n", "print('here', flush=True)\n    time.sleep(600)\n", 1),
    )
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


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_ctrl_c_while_ranks_run(programs: Programs, start: str):
    assert killed_while_running(programs, signal.SIGINT, QUIZKIT_START=start) == (
        130,
        "",
        "interrupted\n",
    )
    programs.nothing_left()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_program_killed_outright_takes_its_ranks_along(programs: Programs, start: str):
    code, _, _ = killed_while_running(programs, signal.SIGKILL, QUIZKIT_START=start)
    assert code == -signal.SIGKILL
    programs.nothing_left()


def test_sigterm(programs: Programs):
    assert killed_while_running(programs, signal.SIGTERM) == (143, "", "")


def test_ctrl_c_while_torch_is_imported(programs: Programs):
    announced = FAULTS.replace("import torch\n", "os.write(1, b'importing\\n')\nimport torch\n", 1)
    path = programs.write("faults", announced)
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
