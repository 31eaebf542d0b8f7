"""Averaging weights every H steps: where it rests, what it sends, when it is data parallelism."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


def losses(ranks: int, steep: float = 3.0) -> list[tuple[float, float]]:
    """Each rank's a and c."""
    ways = [rank / max(1, ranks - 1) for rank in range(ranks)]
    return [(1 + (steep - 1) * way, way) for way in ways]


@pytest.mark.parametrize(("ranks", "every"), [(1, 4), (2, 2), (3, 8), (4, 4)])
def test_where_they_rest_and_how_often_they_meet(run: Run, ranks: int, every: int) -> None:
    report = run(ranks, every=every)
    assert report["verdict"] == "pass", report
    measured, each = report["metrics"], losses(ranks)
    optimum = sum(a * c for a, c in each) / sum(a for a, _ in each)
    pulls = [(1 - (1 - 0.2 * a) ** every, c) for a, c in each]
    settled = sum(k * c for k, c in pulls) / sum(k for k, _ in pulls)
    assert measured["optimum"] == pytest.approx(optimum)
    assert measured["settled"] == pytest.approx(settled)
    assert measured["settled_outer"] == pytest.approx(settled)
    assert measured["reductions_each"] == 3 * every
    assert measured["reductions_local"] == 3
    assert measured["apart"] < 1e-14
    if ranks > 1:
        assert measured["plain_mean"] < measured["settled"] < measured["optimum"]
        assert min(measured["stray"]) > 1e-3


def test_often_is_the_optimum_and_seldom_the_plain_mean(run: Run) -> None:
    often, seldom = (run(2, every=every)["metrics"] for every in (1, 200))
    assert often["settled"] == pytest.approx(often["optimum"], abs=1e-12)
    assert seldom["settled"] == pytest.approx(seldom["plain_mean"], abs=1e-12)


def test_equal_curves_have_one_resting_place(run: Run) -> None:
    # Optima may differ: without a difference in steepness nobody pulls harder.
    measured = run(3, steep=1.0)["metrics"]
    assert measured["settled"] == pytest.approx(measured["optimum"], abs=1e-12)


def test_one_step_is_data_parallelism_for_linear_rules(run: Run) -> None:
    for ranks in (2, 3):
        measured = run(ranks)["metrics"]
        assert measured["one_step_sgd"] < 1e-14
        assert measured["one_step_momentum"] < 1e-14
        assert measured["one_step_adam"] > 1e-5


def test_outer_momentum_where_a_round_does_little(run: Run) -> None:
    measured = run(2, rate=0.05, every=2)["metrics"]
    assert measured["rounds_outer"] < measured["rounds_plain"]


BREAKS = {
    "wrong-sign": ("local SGD rests where all pulls cancel", 1),
    "sum-of-weights": ("local SGD rests where all pulls cancel", 2),
    "heavy-ball": ("outer steps equal torch's", 1),
    "gradients-only-then": ("local SGD rests where all pulls cancel", 2),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    expect, ranks = BREAKS[name]
    assert expect in failed(run(ranks, name))
    if ranks > 1:
        assert failed(run(ranks - 1, name)) == []


def test_what_a_break_leaves(run: Run) -> None:
    # A sum of gradients is a larger rate: it still leads to the optimum.
    measured = run(2, "sum-of-weights")["metrics"]
    assert measured["optimum"] == pytest.approx(0.75)
    # H gradients of the same weights are accumulation: the optimum, not local SGD.
    measured = run(2, "gradients-only-then")["metrics"]
    assert measured["settled"] == pytest.approx(0.75)
    assert failed(run(1, "heavy-ball", outer_momentum=0.0)) == []


@pytest.mark.parametrize(
    "args",
    [
        {"every": 0},
        {"every": 1001},
        {"rounds": 0},
        {"width": 0},
        {"rate": 0.01},
        {"steep": 0.5},
        {"steep": 10.0},
        {"outer_momentum": 1.0},
    ],
)
def test_what_is_refused(run: Run, args: dict[str, float]) -> None:
    report = run(1, **args)
    assert report["outcome"] == "refused"
    assert next(iter(args)).replace("_", "-") in report["error"]["message"]
