"""The alpha-beta model: exact on the virtual clock, at odd sizes too."""

from math import ceil, log2

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

FP64 = 8


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_what_the_clock_says(run: Run, ranks: int) -> None:
    alpha, beta, elements = 3.0, 0.25, 101
    report = run(ranks, alpha=alpha, beta=beta, elements=elements, slow_link=2.5)
    measured = report["metrics"]
    assert report["verdict"] == "pass"
    step = alpha + beta * FP64 * ceil(elements / ranks)
    whole = alpha + beta * FP64 * elements
    assert measured["time_message"] == pytest.approx(whole)
    assert measured["time_ring"] == pytest.approx(2 * (ranks - 1) * step)
    assert measured["time_ring_slow"] == pytest.approx(2 * (ranks - 1) * 2.5 * step)
    assert measured["time_tree"] == pytest.approx(2 * ceil(log2(ranks)) * whole)
    assert measured["alpha_fit"] == pytest.approx(alpha)
    assert measured["beta_fit"] == pytest.approx(beta)
    assert measured["predicted_ring"] == pytest.approx(measured["time_ring"])
    assert measured["predicted_tree"] == pytest.approx(measured["time_tree"])


def test_below_the_crossover_the_tree_wins_and_above_it_the_ring(run: Run) -> None:
    cross = run(4)["metrics"]["crossover_clock"]
    assert cross == pytest.approx(20 / 0.01 * (3 - 2) / (2 - 3 / 4))
    elements = round(cross / FP64)
    below = run(4, elements=elements - 4)["metrics"]
    above = run(4, elements=elements + 4)["metrics"]
    assert below["time_tree"] < below["time_ring"]
    assert above["time_ring"] < above["time_tree"]


@pytest.mark.parametrize("ranks", [2, 3])
def test_few_ranks_have_no_use_for_a_tree(run: Run, ranks: int) -> None:
    # As many rounds as the ring, and more bytes in each.
    assert run(ranks)["metrics"]["crossover_clock"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (1.0, 1e-6), (1e6, 1.0)])
def test_the_fit_at_the_ends_of_its_range(run: Run, alpha: float, beta: float) -> None:
    assert run(2, alpha=alpha, beta=beta)["verdict"] == "pass"


@pytest.mark.parametrize("elements", [1, 4])
def test_fewer_elements_than_ranks(run: Run, elements: int) -> None:
    assert run(5, elements=elements)["verdict"] == "pass"


@pytest.mark.parametrize(
    "options",
    [{"elements": 0}, {"slow_link": 0.5}, {"beta": 0}, {"alpha": 0}, {"beta": -1.0, "alpha": -20}],
)
def test_what_is_no_price_is_refused(run: Run, options: dict[str, float]) -> None:
    assert run(2, **options)["outcome"] == "refused"


def test_one_rank_has_nobody_to_talk_to(run: Run) -> None:
    report = run(1)
    assert report["outcome"] == "refused"
    assert "2" in report["error"]["message"]


def test_what_each_break_leaves_right(run: Run) -> None:
    # The sums are right in all of them, and the clock is: only the prediction is not.
    assert failed(run(2, "average-link")) == ["the slowest link sets the pace"]
    assert "the ring takes what was predicted" in failed(run(2, "bytes-over-bandwidth"))
    assert "the ring takes what was predicted" in failed(run(2, "one-latency"))
    twice = run(2, "round-trip")["metrics"]
    assert twice["alpha_fit"] == pytest.approx(2 * 20)
    assert twice["beta_fit"] == pytest.approx(2 * 0.01)
