"""Runs side by side: the same reports as one after another, and nobody left however it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import started

from quizkit.errors import LabError
from quizkit.lab.lanes import Lanes, lanes_for
from quizkit.lab.report import Setting

DEMO = '''"""A demo that says who ran it, and waits to be let go.

The trick
    None.
Watch
    bench   the process that started the rank
Run
    quizkit demo {name}
"""
import os, time
from _bench import Metrics, check, counted, run

TOPIC = "test"

def main(number: int = 0, waits: str = "") -> Metrics:
    while waits and not os.path.exists(waits):
        time.sleep(0.01)
    check("yes", 1, "==", 1)
    return {{"bench": counted(os.getppid())}}

if __name__ == "__main__":
    run(__file__)
'''


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    (tmp_path / "who.py").write_text(DEMO.format(name="who"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def lanes(demos: Path, family: object) -> Iterator[Lanes]:
    with Lanes(2, demos) as made:
        yield made


def waiting(number: int, door: Path) -> Setting:
    return Setting("who", 1, (("number", number), ("waits", str(door))))


@pytest.mark.parametrize(("runs", "fewest", "most"), [(0, 1, 1), (11, 1, 1), (10**6, 2, 8)])
def test_a_bench_more_must_be_worth_its_start(runs: int, fewest: int, most: int) -> None:
    assert fewest <= lanes_for(runs) <= most


@pytest.mark.demo
def test_two_runs_go_on_at_once_and_the_third_waits(lanes: Lanes, demos: Path) -> None:
    doors = [demos / str(number) for number in range(3)]
    settings = [waiting(*each) for each in enumerate(doors)]
    for each in settings:
        lanes.begin(each)
    # The second ends while the first still waits; so does the third, on the second's bench.
    doors[1].touch()
    second = lanes.run(settings[1]).metrics["bench"]
    doors[2].touch()
    assert lanes.run(settings[2]).metrics["bench"] == second
    doors[0].touch()
    assert lanes.run(settings[0]).metrics["bench"] != second
    lanes.settle()


@pytest.mark.demo
def test_what_was_begun_is_not_run_again(lanes: Lanes, demos: Path) -> None:
    once = Setting("who", 1)
    lanes.begin(once)
    first = lanes.run(once)
    lanes.begin(once)
    assert lanes.run(once) is first


@pytest.mark.demo
def test_a_bench_that_is_killed_fails_its_own_run_alone(lanes: Lanes, demos: Path, family) -> None:
    door = demos / "door"
    fine, hit = waiting(0, door), Setting("who", 1, (("number", 1),))
    bench = lanes.run(hit).metrics["bench"]
    assert isinstance(bench, tuple)
    lost = waiting(2, demos / "never")
    lanes.begin(fine)  # one of the two is on the bench that is known
    lanes.begin(lost)
    family.becomes(4)
    os.kill(int(bench[0]), signal.SIGKILL)
    door.touch()
    (demos / "never").touch()
    ended: list[object] = []
    for each in (fine, lost):
        try:
            ended.append(lanes.run(each).verdict)
        except LabError as error:
            ended.append(error.key)
    assert sorted(map(str, ended)) == ["bench_killed", "pass"]
    assert lanes.run(Setting("who", 1, (("number", 3),))).verdict == "pass"


@pytest.mark.demo
def test_closing_ends_what_runs_and_begins_nothing_that_waits(demos: Path, family) -> None:
    made = Lanes(2, demos)
    for number in range(5):
        made.begin(waiting(number, demos / "never"))
    family.becomes(4)
    made.close()
    family.becomes(0)


@pytest.mark.demo
@pytest.mark.parametrize("soon", [True, False])
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_end_prove_and_every_lane_and_keep_what_has_run(
    family, how: signal.Signals, code: int, soon: bool, tmp_path: Path
) -> None:
    """Soon: torch is being imported. Else: ranks are at work on more than one lane."""
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    env |= {"QUIZKIT_CACHE": str(tmp_path / "cache")}
    command = ["-m", "quizkit", "prove", "--topic", "pp"]
    if soon:
        command = [sys.executable, *command]
        with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as program:
            # The program and its benches: more than one, each of them still without ranks.
            while len(family.members()) < 3:
                assert program.poll() is None
            program.send_signal(how)
        assert program.returncode == code
    else:
        with started.Told(*command, env=env) as program:
            program.said.readline()
            program.signal(how)
            program.said.read()
            assert program.wait() == code
    family.becomes(0)
    assert bool([*(tmp_path / "cache" / "runs").glob("*.jsonl")]) is not soon
