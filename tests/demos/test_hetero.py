"""Rows dealt by speed: who gets how many, who waits, what gradients weigh, what must not differ."""

from itertools import product

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "batch", "fast", "slow"),
    [(1, 5, 3.0, 1), (2, 33, 3.0, 1), (3, 17, 10.0, 2), (4, 4, 40.0, 1), (5, 31, 0.5, 2)],
)
def test_it_is_the_big_batch_and_ends_with_the_slowest_rank(
    run: Run, ranks: int, batch: int, fast: float, slow: int
) -> None:
    report = run(ranks, batch=batch, fast=fast, slow=slow, steps=2, width=5)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    speeds = [fast] * (ranks - slow) + [1.0] * slow
    assert sum(measured["rows"]) == sum(measured["equal_rows"]) == batch
    assert min(measured["rows"]) >= 1
    for plan, held in (("equal", measured["equal_rows"]), ("dealt", measured["rows"])):
        busy = [rows / speed for rows, speed in zip(held, speeds, strict=True)]
        assert measured[f"time_{plan}"] == pytest.approx(max(busy))
        assert measured[f"idle_{plan}"] == pytest.approx([max(busy) - own for own in busy])


@pytest.mark.parametrize(("batch", "fast", "slow"), [(17, 10.0, 1), (12, 2.5, 2), (9, 3.0, 1)])
def test_no_split_of_whole_rows_ends_sooner(run: Run, batch: int, fast: float, slow: int) -> None:
    measured = run(3, batch=batch, fast=fast, slow=slow)["metrics"]
    speeds = [fast] * (3 - slow) + [1.0] * slow
    splits = product(range(1, batch), repeat=3)
    best = min(
        max(rows / speed for rows, speed in zip(split, speeds, strict=True))
        for split in splits
        if sum(split) == batch
    )
    assert measured["time_dealt"] == pytest.approx(best)


def test_what_truncation_leaves_out(run: Run) -> None:
    measured = run(3, batch=32)["metrics"]
    assert measured["truncated_rows"] == [13, 13, 4]
    assert measured["lost_rows"] == 2
    measured = run(2, batch=32, fast=40.0)["metrics"]
    assert measured["truncated_rows"] == [31, 0]
    assert measured["rows"] == [31, 1]


def test_what_a_gradient_weighs(run: Run) -> None:
    measured = run(4, batch=40)["metrics"]  # 12, 12, 12 and 4: shares of speed are shares of rows
    assert measured["rows"] == [12, 12, 12, 4]
    assert measured["speed_error"] < 1e-12
    assert measured["plain_error"] > 0.1
    assert run(4, batch=33)["metrics"]["speed_error"] > 0.01
    assert run(4, fast=1.0, batch=40)["metrics"]["plain_error"] < 1e-12


def test_a_rate_of_ones_own_parts_replicas_at_once(run: Run) -> None:
    measured = run(3)["metrics"]
    assert measured["rate_gap"][:2] == [0, 0]  # as fast as rank 0
    assert measured["rate_gap"][2] > 0.01
    assert measured["drift"] == [0, 0, 0]


def test_what_a_break_leaves_right(run: Run) -> None:
    # As many rows for all: a plain mean is right, and nobody notices.
    assert run(3, "plain-mean", fast=1.0)["verdict"] == "pass"
    # Wrong weights are wrong on all ranks alike; a wrong rate is not.
    assert "replicas stay alike" not in failed(run(3, "by-speed"))
    assert "every row counts once a step" not in failed(run(3, "rate-by-speed"))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"batch": 1}, "take 2 or more"),
        ({"fast": 0.0}, "0.01 to 100"),
        ({"steps": 21}, "steps in 1 to 20"),
        ({"slow": -1}, "slow starts at 0"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, float], says: str) -> None:
    report = run(2, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
