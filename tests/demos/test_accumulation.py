"""What a share, a forgotten 1/K, a norm and a learning rate do to K accumulated micro-batches."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


def lengths(ranks: int, k: int, tokens: int = 8, spread: int = 4) -> list[list[int]]:
    """Tokens of each rank's micro-batches."""
    return [[tokens + spread * ((r * k + i) % 3) for i in range(k)] for r in range(ranks)]


@pytest.mark.parametrize(("ranks", "k"), [(1, 4), (2, 5), (3, 3), (4, 4), (8, 2)])
def test_shares_and_memory(run: Run, ranks: int, k: int) -> None:
    report = run(ranks, microbatches=k)
    assert report["verdict"] == "pass", report
    measured, sizes = report["metrics"], lengths(ranks, k)
    assert measured["all_tokens"] == sum(map(sum, sizes))
    assert measured["grad_error"] < 1e-12
    assert measured["means_error"] > 0.01
    assert (measured["own_tokens_error"] > 0.001) == (len({sum(own) for own in sizes}) > 1)
    for live, whole, own in zip(
        measured["live_bytes"], measured["live_bytes_whole"], sizes, strict=True
    ):
        assert live * sum(own) == whole * max(own)
    assert measured["grad_bytes"] == measured["grad_bytes_whole"] == [1152] * ranks
    assert min(measured["batch_norm_error"]) > 1e-3
    assert max(measured["layer_norm_error"]) < 1e-12
    assert measured["trained_error"] < 1e-12
    assert measured["root_rate_error"] > 1e-3


@pytest.mark.parametrize("k", [2, 3, 7])
def test_what_a_forgotten_division_does(run: Run, k: int) -> None:
    measured = run(2, microbatches=k)["metrics"]
    assert measured["sgd_ratio"] == pytest.approx(k)
    assert measured["adam_ratio"] == pytest.approx(1, abs=1e-5)
    assert 1.2 < measured["eps_ratio"] < k
    assert measured["clip_ratio"] == pytest.approx(1.5)
    assert measured["leak_ratio"] == pytest.approx(2)


def test_spread_of_the_mean(run: Run) -> None:
    measured = run(1)["metrics"]
    assert measured["bias"] < 1e-14
    assert measured["variance_2"] == pytest.approx(1 / 2)
    assert measured["variance_4"] == pytest.approx(1 / 4)


def test_equal_parts_may_be_averaged(run: Run) -> None:
    measured = run(3, microbatches=2, spread=0)["metrics"]
    assert measured["means_error"] < 1e-12
    assert measured["own_tokens_error"] < 1e-12
    assert run(3, "mean-of-means", microbatches=2, spread=0)["verdict"] == "pass"
    assert run(2, "own-tokens", spread=0)["verdict"] == "pass"


def test_one_micro_batch_is_the_batch(run: Run) -> None:
    report = run(2, microbatches=1)
    assert report["verdict"] == "pass"
    measured = report["metrics"]
    assert max(measured["batch_norm_error"]) < 1e-12
    assert measured["root_rate_error"] < 1e-12
    assert measured["live_bytes"] == measured["live_bytes_whole"]


BREAKS = {
    "mean-of-means": ("gradients equal one process", 1),
    "own-tokens": ("gradients equal one process", 2),
    "adds-up-losses": ("one micro-batch is alive", 1),
    "no-zero-grad": ("the same learning rate trains alike", 1),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    expect, ranks = BREAKS[name]
    assert expect in failed(run(ranks, name))
    if ranks > 1:
        assert failed(run(ranks - 1, name)) == []


def test_summed_losses_are_right_and_dear(run: Run) -> None:
    report = run(2, "adds-up-losses")
    assert failed(report) == ["one micro-batch is alive"]
    measured = report["metrics"]
    assert measured["live_bytes"] >= measured["live_bytes_whole"]


@pytest.mark.parametrize(
    "args", [{"microbatches": 0}, {"steps": 0}, {"width": 0}, {"spread": -1}, {"tokens": 3}]
)
def test_what_is_refused(run: Run, args: dict[str, int]) -> None:
    report = run(1, **args)
    assert report["outcome"] == "refused"
    assert next(iter(args)) in report["error"]["message"]
