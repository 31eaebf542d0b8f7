"""A save that is killed at each of its points: what a restart finds, and what it never may."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("checkpoint")

pytestmark = pytest.mark.demo

POINTS = 6  # of the writing of a file
FILES = 3  # that rank 0 writes: its shard, the manifest, the pointer


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_every_kill_leaves_the_previous_checkpoint_or_the_new_one(run: Run, ranks: int) -> None:
    report = run(ranks)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["kills"] == POINTS * (FILES + ranks - 1)
    assert measured["found_none"] == 0
    # The pointer's own rename, and the sync that follows it.
    assert measured["found_new"] == 2
    assert measured["found_previous"] == measured["kills"] - 2
    assert measured["steps_again"] == measured["found_previous"]
    assert measured["same_after_kills"]
    assert measured["same_dcp"]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_the_kills_changes_nothing(run: Run, seed: int) -> None:
    measured = run(2, seed=seed)["metrics"]
    assert (measured["found_new"], measured["found_none"]) == (2, 0)


def test_a_larger_shard_is_a_larger_file(run: Run) -> None:
    small, large = (run(2, weights=each)["metrics"]["file_bytes"] for each in (8, 1000))
    assert [b - a for a, b in zip(small, large, strict=True)] >= [2 * 992 * 8] * 2


def names(report: dict[str, Any], rank: int) -> list[str]:
    return [each["name"] for each in report["timeline"]["events"] if each["rank"] == rank]


def test_the_timeline_ends_where_the_saver_did(run: Run) -> None:
    report = run(3, victim=1, point=2)
    assert names(report, 1) == ["open rank-1", "half rank-1", "written rank-1"]
    assert len(names(report, 0)) == len(names(report, 2)) == POINTS  # and no manifest
    late = run(3, victim=0, point=POINTS + 1)
    assert names(late, 0)[-2:] == ["open manifest", "half manifest"]


def test_a_file_written_in_place_is_torn_where_it_is_read(run: Run) -> None:
    # The pointer, empty or cut in half; shards lie in a folder that nothing points to yet.
    assert run(2, "final-path")["metrics"]["found_none"] == 2


def test_a_pointer_that_does_not_wait_is_worse_the_more_ranks_there_are(run: Run) -> None:
    few, many = (run(ranks, "latest-before-all")["metrics"] for ranks in (1, 3))
    assert few["found_none"] < many["found_none"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    words = [sys.executable, str(DEMO.path), "--ranks", "2"]
    env = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [*tmp_path.glob("checkpoint-*")] == []
    assert living(tmp_path) == []


def test_no_saver_outlives_a_run_that_is_killed(tmp_path: Path) -> None:
    words = [sys.executable, str(DEMO.path), "--ranks", "2"]
    env = os.environ | {"TMPDIR": str(tmp_path)}
    started = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waited_for(lambda: [*tmp_path.glob("checkpoint-*/step-1")])
    started.kill()
    started.wait()
    waited_for(lambda: not living(tmp_path))


def waited_for(true: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def living(folder: Path) -> list[str]:
    """The processes whose temporary folder this is."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another's, or gone by now
            if f"TMPDIR={folder}".encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
    return found


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"victim": 4}, "0 to 3"),
        ({"victim": 1, "point": 6}, "to 5 on others"),
        ({"victim": 0, "point": 18}, "0 to 17"),
        ({"weights": 0}, "1 to 100000"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]


def test_more_goes_red_with_one_folder(run: Run) -> None:
    assert "every kill leaves a whole checkpoint" in failed(run(2, "one-folder"))
