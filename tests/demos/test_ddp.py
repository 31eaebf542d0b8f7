"""Replicas against one process and against torch's DDP; what tokens weigh, what stays apart."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "tokens", "extra"), [(1, 4, 3), (2, 1, 30), (3, 5, 2), (3, 1, 0), (5, 6, 6)]
)
def test_replicas_are_one_big_batch_and_means_of_means_are_not(
    run: Run, ranks: int, tokens: int, extra: int
) -> None:
    report = run(ranks, tokens=tokens, extra=extra, steps=3, width=5, classes=3)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    held = [tokens + extra] + [tokens] * (ranks - 1)
    assert measured["held_tokens"] == held
    weights = [sum(held) / (ranks * own) for own in held]
    assert measured["mean_weight"] == pytest.approx(weights)
    assert (measured["mean_error"] < 1e-12) == (ranks == 1 or extra == 0)
    assert measured["sum_scale"] == pytest.approx(sum(held) / ranks)
    assert measured["drift"] == [0.0] * ranks
    assert measured["grad_scale"] == pytest.approx(1)


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_what_is_sent_and_what_every_rank_keeps(run: Run, ranks: int) -> None:
    measured = run(ranks)["metrics"]
    weights = 3 * (24 * 24 + 24)
    assert measured["gradient_bytes"] == [8 * weights] * ranks
    assert measured["sent_bytes_ring"] == [2 * (ranks - 1) * 8 * weights // ranks] * ranks
    # No rank keeps less for there being more ranks.
    for held in ("held_weight_bytes", "held_momentum_bytes"):
        assert measured[held] == [8 * weights] * ranks


def test_weights_are_sent_once_and_buffers_at_every_forward(run: Run) -> None:
    measured = run(3)["metrics"]
    assert measured["drawn_gap"][0] == 0
    assert min(measured["drawn_gap"][1:]) > 0.1
    assert measured["pushed_weight_gap"] == pytest.approx([0, 1, 2])
    assert measured["pushed_buffer_gap"] == [0, 0, 0]
    assert measured["pushed_momentum_gap"] == [0, 1, 2]
    # After the last forward each rank has its own again.
    assert measured["buffer_gap"][0] == 0
    assert min(measured["buffer_gap"][1:]) > 0.01


def test_what_a_break_leaves_right(run: Run) -> None:
    after = "weights and momentum equal one process"
    # Wrong, and alike on all ranks: comparing replicas cannot find it.
    assert failed(run(3, "mean-of-means")) == ["gradients equal one process", after]
    # Nor can it find N times the gradient: its length is what tells that from 1/N of it.
    assert "replicas stay alike" not in failed(run(3, "sum-not-divided"))
    assert run(3, "sum-not-divided")["metrics"]["grad_scale"] == pytest.approx(3)
    # Equally many tokens hide a mean of means.
    assert run(3, "mean-of-means", extra=0)["verdict"] == "pass"
    # Buffers touch no gradient.
    assert all("gradient" not in name for name in failed(run(3, "buffers-left")))


def test_odd_sizes_are_right_too(run: Run) -> None:
    for sizes in ({"steps": 20, "width": 1}, {"width": 100, "classes": 2}, {"steps": 1}):
        assert run(2, **sizes)["verdict"] == "pass", sizes


@pytest.mark.parametrize(
    "wrong",
    [{"tokens": 0}, {"extra": -1}, {"classes": 1}, {"steps": 0}, {"steps": 21}, {"width": 0}],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, int]) -> None:
    report = run(2, **wrong)
    assert report["outcome"] == "refused"
    assert "1 to 20" in report["error"]["message"]
