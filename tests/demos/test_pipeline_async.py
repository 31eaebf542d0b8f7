"""Versions, lateness and idle time without a flush and with one, and what each planted bug does."""

import re
from typing import Any

import pytest

from .conftest import Run

pytestmark = pytest.mark.demo

SIZES = [(1, 4, 2), (2, 9, 3), (3, 10, 5), (4, 16, 4), (5, 9, 3), (4, 8, 8)]


@pytest.mark.parametrize(("p", "n", "m"), SIZES)
def test_the_laws_hold_on_real_ranks(run: Run, p: int, n: int, m: int) -> None:
    report = run(p, minibatches=n, per_update=m, width=8)
    assert report["verdict"] == "pass", report
    measured, one = report["metrics"], 2 * (8 * 8 + 8) * 8
    assert measured["versions_stash"] == [p - s for s in range(p)]
    assert measured["weight_bytes_stash"] == [(p - s) * one for s in range(p)]
    assert measured["late_stash"] == [p - 1 - s for s in range(p)]
    assert measured["last_met_stash"] == [n - p + s for s in range(p)]
    assert measured["updates_stash"] == [n] * p
    assert measured["idle_stash"] == [0] * p
    assert measured["makespan_stash"] == (n + p - 1) * 3
    assert measured["bubble_stash"] == pytest.approx((p - 1) / (n + p - 1))
    assert measured["versions_flush"] == [1] * p
    assert measured["weight_bytes_flush"] == [one] * p
    assert measured["late_flush"] == [0] * p
    assert measured["updates_flush"] == [n // m] * p
    assert measured["makespan_flush"] == n // m * (m + p - 1) * 3
    assert measured["bubble_flush"] == pytest.approx((p - 1) / (m + p - 1))
    # What is under way is the same: a flush saves weights, not activations.
    assert measured["peak_live_stash"] == [p - s for s in range(p)]
    assert measured["peak_live_flush"] == [min(p - s, m) for s in range(p)]
    # Late updates are other updates; with one stage there are none.
    assert (min(measured["sync_gap"]) > 1e-4) == (p > 1)


def test_with_few_mini_batches_there_is_no_steady_state(run: Run) -> None:
    report = run(4, minibatches=3, per_update=3)
    assert report["verdict"] == "pass"
    # Stage 0 sends all forward on its first weights; besides them it has only the latest.
    assert report["metrics"]["versions_stash"] == [2, 2, 2, 1]
    assert report["metrics"]["late_stash"] == [2, 2, 1, 0]


def test_other_costs_leave_no_idle_time_either(run: Run) -> None:
    measured = run(3, forward=0.1, backward=0.3)["metrics"]
    assert measured["idle_stash"] == [0, 0, 0]
    assert measured["makespan_stash"] == pytest.approx(18 * 0.4)


def test_without_a_stash_only_the_last_stage_meets_its_weights_again(run: Run) -> None:
    report = run(4, "no-stash")
    # Until its first update a stage cannot go wrong: those are the backwards of version 0.
    assert report["metrics"]["changed_stash"] == [15, 15, 15, 0]
    assert min(report["metrics"]["stash_error"]) > 1e-4
    assert max(report["metrics"]["flush_error"]) < 1e-12


def test_a_stash_that_is_never_emptied_grows_with_every_update(run: Run) -> None:
    assert max(run(3, "keeps-all")["metrics"]["versions_stash"]) == 16
    assert run(3, "keeps-all")["metrics"]["versions_stash"][2] == 1


def test_accumulating_gradients_is_not_a_flush(run: Run) -> None:
    measured = run(4, "flush-left-out")["metrics"]
    assert measured["updates_flush"] == [4] * 4
    assert measured["versions_flush"] == [2, 2, 2, 1]
    assert measured["late_flush"] == [1, 1, 1, 0]
    assert measured["makespan_flush"] == measured["makespan_stash"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"minibatches": 10}, "take 12"),
        ({"minibatches": 0}, "start at 1"),
        ({"per_update": 0}, "start at 1"),
        ({"forward": 0}, r"0\.001 to 1000"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, Any], says: str
) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert re.search(says, report["error"]["message"])
