"""Even loads by a loss or a bias: the loss's range and gradient, and what a bias leaves alone."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run

DEMO = find("moe-balance")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 5)),
        (3, {"tokens": 37, "experts": 5, "top": 3, "width": 7}),
        (2, {"top": 1, "skew": 3.0}),
        (2, {"top": 8}),
        (2, {"aux": 0.0, "speed": 0.0}),
        (2, {"experts": 1, "top": 1, "width": 1, "tokens": 1}),
    ],
)
def test_it_is_green(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["pull_gap"] < 1e-12
    assert measured["weight_shift"] < 1e-12
    assert measured["bias_apart"] == measured["pull_counts"] == 0


@pytest.mark.parametrize(("ranks", "experts"), [(1, 4), (3, 7), (2, 16)])
def test_the_range_of_the_loss(run: Run, ranks: int, experts: int) -> None:
    measured = run(ranks, experts=experts, steps=8)["metrics"]
    assert measured["aux_even"] == pytest.approx(1.0)
    assert measured["aux_collapsed"] == pytest.approx(experts)
    # A hair's breadth: all tokens go one way, and the loss hardly tells.
    assert 1.0 < measured["aux_hair"] < 1.01
    assert measured["hair_share"] == 1.0


def test_loads_fall_with_the_loss_and_with_the_bias(run: Run) -> None:
    measured = run(4)["metrics"]
    assert measured["load_none"] > 2 > measured["load_aux"] > 1
    assert measured["load_none"] > 1.5 > measured["load_bias"] > 1
    assert measured["picked_anew"] > 0
    assert measured["weight_added"] > 0.05
    idle = run(4, aux=0.0, speed=0.0)["metrics"]
    assert idle["load_aux"] == idle["load_bias"] == idle["load_none"] == measured["load_none"]
    assert idle["picked_anew"] == 0
    # Busier than this no expert can be: a token goes to it once.
    assert run(2, skew=20.0, speed=0.0)["metrics"]["load_none"] == 8 / 2


def test_a_curve_for_each_way(run: Run) -> None:
    (curve,) = (each for each in run(2)["pictures"] if each["kind"] == "curve")
    assert [line["label"] for line in curve["series"]] == ["none", "aux", "bias"]
    assert {len(line["y"]) for line in curve["series"]} == {32}


def test_a_loss_of_counts_changes_nothing(run: Run) -> None:
    measured = run(4, "hard-counts")["metrics"]
    assert measured["load_aux"] == measured["load_none"]
    assert measured["pull_aux"] == 0


@pytest.mark.parametrize(
    "args", [{"top": 0}, {"top": 9}, {"tokens": 0}, {"steps": 3}, {"aux": 2.0}, {"skew": 30.0}]
)
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(2, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
