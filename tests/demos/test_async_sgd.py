"""Asynchronous SGD: how late gradients are, who waits, and which learning rates last."""

from math import pi, sin

import pytest

from .conftest import Run

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (2, {"rounds": 1, "rows": 1, "width": 1}),
        (3, {"slow": 2.5, "jitter": 0.7, "seed": 3}),
        (4, {"slow": 100.0, "rounds": 3, "jitter": 10.0}),
        (4, {"rate": 2.0, "rows": 1, "width": 9}),
    ],
)
def test_odd_settings_are_right(run: Run, ranks: int, args: dict[str, float]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured, workers = report["metrics"], ranks - 1
    total = workers * args.get("rounds", 8)
    assert sum(measured["applied"]) == measured["updates_async"] == total
    assert measured["updates_sync"] == total / workers
    assert measured["staleness_mean"] == (workers - 1) * (1 - workers / 2 / total)
    assert measured["idle_async"] == [0.0] * ranks


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_equal_speeds_go_round(run: Run, ranks: int) -> None:
    measured, workers = run(ranks, slow=1.0)["metrics"], ranks - 1
    assert measured["applied"] == [0] + [8] * workers
    assert measured["staleness"] == [0] + [workers - 1] * workers
    # The last round begins at the worker's own update of the round before.
    assert measured["last_met"] == [0] + [6 * workers + 1 + each for each in range(workers)]
    assert measured["idle_sync"] == [0.0] * ranks
    assert measured["time_async"] == measured["time_sync"] == 8


def test_the_slow_one_is_late_and_holds_up_nobody(run: Run) -> None:
    measured = run(4, slow=3.0)["metrics"]
    assert measured["applied"] == [0, 10, 10, 4]
    assert measured["staleness"] == [0, 2, 2, 6]
    assert measured["idle_sync"] == [0.0, 16.0, 16.0, 0.0]
    assert measured["time_async"] == 12
    assert measured["time_sync"] == 24
    even = run(4, slow=1.0)["metrics"]
    assert measured["staleness_mean"] == even["staleness_mean"]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_limit_of_the_rate(run: Run, ranks: int) -> None:
    measured, late = run(ranks, slow=1.0)["metrics"], ranks - 2
    limit = 2 * sin(pi / (4 * late + 2))
    assert measured["limit_async"] == pytest.approx(limit, rel=0.03)
    assert measured["limit_scaled"] == pytest.approx((late + 1) * limit, rel=0.03)
    assert measured["limit_sync"] == pytest.approx(2, rel=0.03)


def test_what_lateness_costs(run: Run) -> None:
    fast = run(4, rate=0.8, slow=1.0)["metrics"]
    assert max(fast["loss_prompt"], fast["loss_sync"]) < 0.01 < 5 < fast["loss_start"]
    assert fast["loss_async"] > 100 * fast["loss_start"]
    # Well below its limit it is like all that make as many steps, or as large ones.
    slow = run(4)["metrics"]
    assert max(slow["loss_async"], slow["loss_large"], slow["loss_prompt"]) < 0.1
    assert slow["loss_sync"] > 0.5


@pytest.mark.parametrize(
    "args",
    [
        {"rounds": 0},
        {"rows": 0},
        {"width": 0},
        {"slow": 0.5},
        {"jitter": -1.0},
        {"rate": 0.0},
        {"rate": 2.5},
    ],
)
def test_nonsense_is_refused(run: Run, args: dict[str, float]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert next(iter(args)) in report["error"]["message"]


def test_a_server_alone_is_refused(run: Run) -> None:
    report = run(1)
    assert report["outcome"] == "refused"
    assert "2 ranks" in report["error"]["message"]
