"""How long a step takes with and without overlap, and what undoes it."""

import re

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(("dw", "summing"), [(1.0, 0.75), (1.0, 1.0), (0.5, 2.0), (0.0, 0.5)])
def test_a_sum_hides_under_dw_and_no_further(run: Run, dw: float, summing: float) -> None:
    report = run(3, dw_cost=dw, sum_time=summing)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["backward_waits"] == pytest.approx(1 + summing + dw)
    assert measured["backward_overlaps"] == pytest.approx(1 + max(summing, dw))


@pytest.mark.parametrize(
    ("t", "hop", "launch"), [(2, 0.5, 0), (3, 3, 0), (4, 1, 0), (4, 0.25, 0.5), (8, 0.1, 1)]
)
def test_hops_hide_under_pieces(run: Run, t: int, hop: float, launch: float) -> None:
    measured = run(t, hop_time=hop, launch=launch)["metrics"]
    piece = launch + 4 / t
    assert measured["gather_waits"] == pytest.approx((t - 1) * hop + launch + 4)
    assert measured["gather_overlaps"] == pytest.approx(piece + (t - 1) * max(hop, piece))
    assert measured["products"] == [t] * t


def test_pieces_too_small_lose_more_than_they_hide(run: Run) -> None:
    measured = run(8, hop_time=0.1, launch=1)["metrics"]
    assert measured["gather_overlaps"] > measured["gather_waits"]


def test_the_timeline_shows_dw_while_the_sum_is_on_its_way(run: Run) -> None:
    report = run(2)
    ends = {
        (e["schedule"], e["name"]): (e["start"], e["end"])
        for e in report["timeline"]["events"]
        if e["rank"] == 0
    }
    assert ends["backward overlaps", "W0"] == (1, 2)
    assert ends["backward waits", "W0"] == (1.75, 2.75)
    measured = report["metrics"]
    turns = [measured[f"turn_{step}"] for step in ("dx", "start", "dw", "wait")]
    assert turns == [1, 2, 3, 4]


def test_one_rank_has_nothing_to_wait_for(run: Run) -> None:
    measured = run(1)["metrics"]
    assert measured["backward_waits"] == measured["backward_overlaps"] == 2
    assert measured["gather_waits"] == measured["gather_overlaps"] == 4


BREAKS = {
    "waits-at-once": ("the sum hides under dW", 2),
    "dw-first": ("the sum hides under dW", 2),
    "waits-before-the-product": ("hops hide under pieces", 2),
    "pieces-mislaid": ("overlaps: the product equals one process", 3),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    expect, ranks = BREAKS[name]
    assert expect in failed(run(ranks, name))
    assert expect not in failed(run(ranks - 1, name))


@pytest.mark.parametrize("name", ["waits-at-once", "dw-first"])
def test_lost_overlap_costs_the_whole_sum_and_no_digit(run: Run, name: str) -> None:
    report = run(2, name)
    assert failed(report) == ["the sum hides under dW"]
    measured = report["metrics"]
    assert measured["backward_overlaps"] == measured["backward_waits"] == 2.75
    assert max(measured["backward_error"]) < 1e-12


@pytest.mark.parametrize(
    ("args", "fits"), [({"wide": 25}, "27"), ({"tokens": 0}, "1"), ({"sum_time": -1.0}, "0")]
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, float], fits: str
) -> None:
    report = run(3, **args)
    assert report["outcome"] == "refused"
    assert re.search(rf"\b{fits}\b", report["error"]["message"])
