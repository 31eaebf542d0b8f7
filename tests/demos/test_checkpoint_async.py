"""What a save costs the training in three ways, when it counts, and how it is torn."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "layers", "numbers", "compute", "memory", "storage"),
    [
        (1, 3, 16, 8.0, 16.0, 8.0),
        (2, 5, 10, 4.0, 64.0, 16.0),
        (3, 4, 7, 30.0, 8.0, 4.0),
        (4, 1, 20, 0.0, 32.0, 32.0),
    ],
)
def test_what_each_way_waits_for(
    run: Run,
    ranks: int,
    layers: int,
    numbers: int,
    compute: float,
    memory: float,
    storage: float,
) -> None:
    args: dict[str, Any] = {"layers": layers, "numbers": numbers, "compute": compute}
    report = run(ranks, **args, memory=memory, storage=storage, steps=32, every=12)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    size = layers * numbers * 8
    assert measured["copied_bytes"] == [size] * ranks
    assert measured["step_ticks"] == compute + layers
    assert size / memory + size / storage < 12 * (compute + layers)  # nobody waits for buffers
    assert measured["stall_blocking"] == pytest.approx(2 * size / storage)
    assert measured["stall_snapshot"] == pytest.approx(2 * size / memory)
    assert measured["stall_overlapped"] == pytest.approx(2 * max(0, size / memory - compute))
    assert measured["mixed_steps"] == 1
    assert measured["same_dcp"]


def test_a_checkpoint_counts_when_it_is_written(run: Run) -> None:
    measured = run(2, steps=24, every=12)["metrics"]
    # 512 bytes take 64 ticks to write after 16 to copy; a step takes 12.
    assert measured["usable_blocking"] == 0
    assert measured["usable_snapshot"] == -(-64 // 12)
    assert measured["usable_overlapped"] == -(-(64 + 8) // 12)


def test_a_save_that_comes_too_soon_waits_for_the_buffers(run: Run) -> None:
    often, seldom = (run(2, steps=24, every=each)["metrics"] for each in (2, 12))
    assert often["stall_snapshot"] > 12 * seldom["stall_snapshot"] / 2
    assert often["stall_snapshot"] < often["stall_blocking"]


def test_references_make_a_file_of_several_steps(run: Run) -> None:
    slow, fast = (run(1, storage=each)["metrics"]["mixed_live"] for each in (8.0, 1000.0))
    assert slow == 3
    assert fast == 1  # luck: written before the next update


def test_a_torn_copy_needs_a_copy_longer_than_the_backward(run: Run) -> None:
    assert failed(run(2, "update-too-soon"))
    assert run(2, "update-too-soon", compute=16.0)["verdict"] == "pass"


def test_buffers_are_free_if_saves_are_rare(run: Run) -> None:
    assert run(2, "buffers-too-soon", steps=24, every=12)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"every": 13}, "1 to steps"),
        ({"steps": 40}, "below 33"),
        ({"storage": 0.5}, "start at 1"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
