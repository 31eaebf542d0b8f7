"""Batch norm over all ranks: forward, backward, running statistics; and what plain DDP leaves."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("sync-batchnorm")
FP64 = 8

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "rows", "extra_rows", "width"),
    [(1, 2, 0, 1), (2, 2, 5, 3), (3, 4, 0, 6), (8, 3, 1, 5)],
)
def test_it_is_one_batch_norm_whatever_the_parts(
    run: Run, ranks: int, rows: int, extra_rows: int, width: int
) -> None:
    report = run(ranks, rows=rows, extra_rows=extra_rows, width=width)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    for error in ("out_error", "weight_grad_error"):
        assert measured[error] < 1e-12
    for error in ("input_error", "running_error"):
        assert max(measured[error]) < 1e-12
    # Statistics and no samples: more rows cost no more bytes.
    assert measured["sent_forward"] == [(ranks - 1) * (2 * width + 1) * FP64] * ranks
    assert sum(measured["sent_backward"]) == 2 * (ranks - 1) * 2 * width * FP64
    if ranks > 1:
        assert min(measured["out_error_own"]) > 0.1


@pytest.mark.parametrize(("ranks", "apart", "spread"), [(2, 10, 1), (3, 3, 2), (4, 0, 5)])
def test_the_law_of_total_variance(run: Run, ranks: int, apart: float, spread: float) -> None:
    measured = run(ranks, apart=apart, spread=spread)["metrics"]
    numbers = [rank * apart + each for rank in range(ranks) for each in (0, 2 * spread)]
    mean = sum(numbers) / len(numbers)
    truth = sum((each - mean) ** 2 for each in numbers) / len(numbers)
    assert measured["within"] == pytest.approx(spread**2)
    assert measured["whole"] == pytest.approx(truth)
    assert measured["within"] + measured["between"] == pytest.approx(truth)


def test_squares_lose_the_digits_that_the_mean_takes(run: Run) -> None:
    near, far = (run(2, offset=offset)["metrics"] for offset in (0.0, 1000.0))
    assert near["sums_error"] < 1e-5
    assert far["sums_error"] > 1e-3
    assert far["parts_error"] < 1e-5


def test_ddp_copies_what_rank_0_has_seen(run: Run) -> None:
    one, three = (run(3, steps=steps)["metrics"] for steps in (1, 3))
    # One step: the copies come before it, and every rank has moved by its own samples alone.
    assert one["drift_ddp"] == one["drift_alone"]
    assert one["drift_ddp"][0] == 0 < one["drift_ddp"][1]
    # Later the copies hold the ranks within a step of each other, and still to rank 0's samples.
    assert all(
        ddp < alone
        for ddp, alone in zip(three["drift_ddp"][1:], three["drift_alone"][1:], strict=True)
    )
    assert three["saved_error"] == 0 < three["saved_gap"]


def test_what_a_break_leaves_right(run: Run) -> None:
    # As many samples on each rank: counts are all alike.
    assert run(2, "counts-alike", extra_rows=0)["verdict"] == "pass"
    # Outputs say nothing of a wrong backward, nor of what is kept for an evaluation.
    gradients = ["input gradients equal one process", "weight gradients equal one process"]
    assert failed(run(2, "own-sums-backward")) == gradients
    assert failed(run(2, "own-correction")) == ["running statistics equal one process"]
    assert failed(run(2, "summed-twice")) == ["weight gradients equal one process"]


@pytest.mark.parametrize(
    "bad",
    [{"rows": 1}, {"width": 0}, {"steps": 0}, {"extra_rows": -1}, {"apart": -1}, {"spread": 0}],
)
def test_what_makes_no_sense_is_refused(run: Run, bad: dict[str, int]) -> None:
    report = run(2, **bad)
    assert report["outcome"] == "refused"
    assert next(iter(bad)).replace("_", "-") in report["error"]["message"]


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2, "own-correction")["metrics"]]
