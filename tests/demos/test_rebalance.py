"""Dealing anew: what a step takes, what a move costs, when it pays, and what must stay the same."""

from itertools import combinations, pairwise
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

SIZES = [  # ranks, copies, layers, batch, slow rank, its speed
    (1, 1, 3, 2, 0, 0.5),
    (2, 1, 5, 3, 0, 0.25),
    (2, 2, 3, 7, 1, 0.5),
    (3, 1, 7, 4, 2, 0.4),
    (3, 3, 2, 8, 1, 2.0),
    (4, 2, 6, 7, 2, 0.3),
    (6, 2, 7, 5, 3, 0.5),
    (8, 2, 9, 6, 4, 0.5),
]


def parts(whole: int, many: int) -> list[tuple[int, ...]]:
    """Every way to deal a whole to so many, nobody without."""
    inner = combinations(range(1, whole), many - 1)
    return [tuple(b - a for a, b in pairwise((0, *ends, whole))) for ends in inner]


def copy_time(cut: tuple[int, ...], held: int, speeds: list[float]) -> float:
    ticks = [3 * own / speed for own, speed in zip(cut, speeds, strict=True)]
    return sum(ticks) + (held - 1) * max(ticks)


@pytest.mark.parametrize(("ranks", "copies", "layers", "batch", "slow", "pace"), SIZES)
def test_no_deal_and_no_cut_makes_a_shorter_step(
    run: Run, ranks: int, copies: int, layers: int, batch: int, slow: int, pace: float
) -> None:
    args: dict[str, Any] = {"copies": copies, "layers": layers, "batch": batch, "width": 3}
    report = run(ranks, **args, slow=slow, pace=pace, left=1)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    by_rank = [pace if rank == slow else 1.0 for rank in range(ranks)]
    speeds = [by_rank[copy::copies] for copy in range(copies)]
    cuts = parts(layers, ranks // copies)
    deals = parts(batch, copies)
    best = min(
        max(
            min(copy_time(cut, held, own) for cut in cuts)
            for held, own in zip(deal, speeds, strict=True)
        )
        for deal in deals
    )
    assert measured["step_both"] == pytest.approx(best)
    first = batch // copies + (batch % copies > 0)
    even = min(copy_time(cut, first, [1.0] * (ranks // copies)) for cut in cuts)
    assert measured["step_before"] == pytest.approx(even)
    for way in ("shares", "layers"):
        assert best - 1e-6 <= measured[f"step_{way}"] <= measured["step_stay"] + 1e-6
    for copy in range(copies):
        assert sum(measured["layers_after"][copy::copies]) == layers
    assert sum(measured["shares_after"][:copies]) == batch
    assert measured["carried_shares"] == [0] * ranks
    assert measured["grad_error"] < 1e-12


def test_both_axes_beat_each_alone(run: Run) -> None:
    measured = run(4)["metrics"]
    steps = [measured[f"step_{way}"] for way in ("before", "stay", "shares", "layers", "both")]
    assert steps == [126, 234, 162, 168, 144]
    assert measured["layers_after"] == [8, 6, 4, 6]
    assert measured["shares_after"] == [5, 7, 5, 7]
    assert measured["busy_slow"] == [108, 108, 216, 108]


def test_what_a_move_and_a_restart_carry(run: Run) -> None:
    measured = run(4)["metrics"]
    layer = 3 * 8 * 9 * 8
    assert measured["carried_both"] == [0, 0, 2 * layer, 0]
    assert measured["wait_both"] == 2 * layer / 144
    assert measured["stored_restart"] == [14 * layer, 12 * layer, 10 * layer, 12 * layer]
    assert measured["wait_restart"] == 14 * layer / 144 + 200


@pytest.mark.parametrize("left", [1, 2, 3, 5])
def test_a_move_is_made_if_what_is_left_pays_for_it(run: Run, left: int) -> None:
    measured = run(4, left=left, bandwidth=48.0, width=8)["metrics"]
    stay, shares = left * (234 - 126), left * (162 - 126)
    both = 72 + left * (144 - 126)
    assert measured["lost_stay"] == stay
    assert measured["lost_both"] == both
    assert measured["lost_chosen"] == min(shares, both)


def test_with_nothing_left_nothing_is_moved(run: Run) -> None:
    report = run(4, left=0)
    assert report["verdict"] == "pass"
    assert report["metrics"]["lost_chosen"] == 0
    assert {each["schedule"] for each in report["timeline"]["events"]} == {"step 1", "step 2"}


def test_a_rank_with_less_memory_gets_less(run: Run) -> None:
    args = {"copies": 4, "layers": 2, "slow": 3, "room": 2}
    free, tight = (run(4, **args, tight=each)["metrics"] for each in (-1, 0))
    assert free["shares_after"] == [4, 4, 3, 1]
    assert tight["shares_after"] == [2, 4, 4, 2]
    layer = 8 * 9 * 8 * 4 + 2 * 2 * 8 * 8 * 8
    assert tight["both_peak_bytes"][0] == 2 * layer
    assert tight["step_both"] >= free["step_both"]


def test_equal_copies_are_right_while_shares_are_equal(run: Run) -> None:
    assert run(4, "equal-copies", pace=1.0)["verdict"] == "pass"
    assert "gradients equal one process" in failed(run(4, "equal-copies"))
    # Wrong alike on all copies: nobody sees it but who compares with one process.
    assert "a step is as promised" not in failed(run(4, "equal-copies"))


def test_a_variance_does_not_see_one_slow_rank(run: Run) -> None:
    measured = run(4, "variance-as-trigger")["metrics"]
    assert measured["lost_chosen"] == measured["lost_stay"] > 3 * measured["lost_both"]


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_that_decide_alone_wait_for_ever(run: Run, ranks: int) -> None:
    assert run(ranks, "decided-alone")["outcome"] == "hung"
    assert run(ranks, "decided-alone", ends=True, pace=1.0)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"copies": 3}, "take 1 or 4"),
        ({"layers": 1}, "2 to 12"),
        ({"batch": 1}, "2 to 64"),
        ({"slow": 4}, "below 4"),
        ({"pace": 0.0}, "0.01 to 100"),
        ({"copies": 4, "layers": 2, "batch": 64, "tight": 0, "room": 1, "left": 0}, ""),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    if says:
        assert report["outcome"] == "refused"
        assert says in report["error"]["message"]
