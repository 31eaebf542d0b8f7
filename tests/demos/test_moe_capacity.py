"""Slots for every expert: against a loop that counts seats, and arithmetic."""

import math
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run

DEMO = find("moe-capacity")

pytestmark = pytest.mark.demo

ODD = {"tokens": 17, "held": 3, "top": 3, "width": 5, "factor": 0.9}


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 5)),
        *((ranks, ODD) for ranks in (1, 2, 3)),
        (3, {"held": 1, "top": 1, "tokens": 1, "width": 1}),
        (4, {"hot": 50.0}),
        (2, {"factor": 0.01}),
        (2, {"factor": 100.0, "top": 4}),
    ],
)
def test_the_layer_is_a_loop_that_counts_seats(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    assert max(report["metrics"]["out_gap"], report["metrics"]["grad_gap"]) < 1e-12


@pytest.mark.parametrize(
    ("ranks", "tokens", "held", "top", "factor"),
    [(2, 24, 2, 2, 1.0), (3, 10, 2, 1, 1.25), (4, 7, 1, 3, 0.5), (2, 9, 4, 2, 8.0)],
)
def test_slots_and_bytes(
    run: Run, ranks: int, tokens: int, held: int, top: int, factor: float
) -> None:
    args = {"tokens": tokens, "held": held, "top": top, "factor": factor, "width": 6}
    measured = run(ranks, **args)["metrics"]
    slots = math.ceil(factor * top * tokens / (held * ranks))
    assert measured["expert_slots"] == slots
    sent = 2 * (ranks - 1) * held * slots * 6 * 8
    assert measured["sent_slots"] == [sent] * ranks
    assert all(filled <= sent for filled in measured["sent_filled"])
    for dropped, empty in zip(measured["dropped"], measured["empty"], strict=True):
        assert empty - dropped == held * ranks * slots - tokens * top


def test_without_a_drop_nothing_is_lost(run: Run) -> None:
    measured = run(3, factor=6.0)["metrics"]
    assert measured["dropped"] == measured["passed"] == [0, 0, 0]
    assert measured["lost_choice"] == measured["lost_weight"] == 0


def test_a_hot_expert_drops_all_but_its_slots(run: Run) -> None:
    measured = run(4, hot=50.0, top=1)["metrics"]
    assert measured["expert_slots"] == 3
    assert measured["dropped"] == measured["passed"] == measured["dropped_first"] == [21] * 4
    assert measured["lost_choice"] == pytest.approx(21 / 24)


def test_chance_alone_drops_at_one(run: Run) -> None:
    measured = run(4)["metrics"]
    assert 0 < measured["dropped_even"] < 0.02
    assert measured["dropped_zipf"] > 0.2
    roomy = run(4, factor=1.25)["metrics"]
    assert roomy["dropped_even"] == 0
    assert 0.1 < roomy["dropped_zipf"] < measured["dropped_zipf"]


def test_by_weight_less_of_it_is_lost(run: Run) -> None:
    for ranks in (2, 3, 4, 8):
        measured = run(ranks)["metrics"]
        assert measured["lost_weight"] < measured["lost_choice"]


@pytest.mark.parametrize(
    "args", [{"tokens": 0}, {"held": 0}, {"top": 0}, {"top": 5}, {"factor": 0.0}, {"hot": 200.0}]
)
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(2, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
