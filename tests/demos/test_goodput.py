"""Goodput: the interval that is best, what a failure loses, what spares are good for."""

from itertools import pairwise
from math import exp, expm1, factorial, sqrt
from typing import Any

import pytest

from .conftest import Run

pytestmark = pytest.mark.demo

SIZES = [  # GPUs, ticks between failures of one, ticks of a save, of a restart, steps between
    (16384, 182.4e6, 60, 300, 3600),
    (1000, 1e7, 15, 0, 700),
    (777, 7.7e6, 120, 1000, 2000),
    (1, 5e4, 10, 50, 5000),
]


@pytest.mark.parametrize(("gpus", "each", "save", "restart", "every"), SIZES)
@pytest.mark.parametrize("ranks", [1, 3])
def test_shares_are_those_of_the_renewal_formula(
    run: Run, ranks: int, gpus: int, each: float, save: int, restart: int, every: int
) -> None:
    mtbf = each / gpus
    args: dict[str, Any] = {"accelerators": gpus, "mtbf_each": each, "save": save}
    report = run(
        ranks, **args, restart=restart, every=every, length=int(400 * mtbf), seeds=24, snapshot=1
    )
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["job_mtbf"] == pytest.approx(mtbf, rel=0.04)
    ideal = sqrt(2 * save * mtbf)
    assert measured["every_formula"] == pytest.approx(ideal)
    assert measured["every_even"] + save == pytest.approx(ideal, rel=0.06)
    # A period begun anew at each failure, which may come in a restart as well (Daly 2006).
    for interval, goodput in (
        (every, measured["goodput_given"]),
        (measured["every_best"], measured["goodput_best"]),
    ):
        period = mtbf * exp(restart / mtbf) * expm1((interval + save) / mtbf)
        assert goodput == pytest.approx(interval / period, rel=0.02)
    parts = [measured[f"{part}_given"] for part in ("goodput", "saving", "lost", "down")]
    assert sum(parts) == pytest.approx(1)
    assert measured["goodput_async"] > measured["goodput_best"] >= measured["goodput_given"]


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_runs_shared_out_come_to_the_same(run: Run, ranks: int) -> None:
    assert run(ranks)["metrics"] == run(1)["metrics"]


def test_more_ranks_than_runs(run: Run) -> None:
    assert run(3, seeds=2)["metrics"] == run(1, seeds=2)["metrics"]


@pytest.mark.parametrize("spares", [0, 4, 8, 13])
def test_spares_run_out_as_poisson_says(run: Run, spares: int) -> None:
    measured = run(2, spares=spares)["metrics"]
    mean = 86400 * 16384 / 182.4e6
    fewer = sum(exp(-mean) * mean**k / factorial(k) for k in range(spares))
    assert measured["no_spare"] == pytest.approx(1 - fewer, abs=0.03)
    assert measured["goodput_repair"] <= measured["goodput_spares"] <= measured["goodput_best"]


def test_a_repair_of_no_time_needs_no_spare(run: Run) -> None:
    measured = run(1, repair=0, spares=0)["metrics"]
    assert measured["goodput_repair"] == measured["goodput_spares"] == measured["goodput_best"]
    assert measured["no_spare"] == 0


def test_the_timeline_is_the_first_run(run: Run) -> None:
    report = run(4)
    events = [each for each in report["timeline"]["events"] if each["rank"] == 2]
    assert [each["name"][0] for each in events[:4]] == ["K", "S", "L", "D"]
    assert all(a["end"] == b["start"] for a, b in pairwise(events))


def test_counting_what_is_done_again_hides_the_loss(run: Run) -> None:
    right, wrong = run(1)["metrics"], run(1, "redone-counts-twice")["metrics"]
    assert wrong["lost_given"] == 0
    assert wrong["goodput_given"] == pytest.approx(right["goodput_given"] + right["lost_given"])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"seeds": 0}, "seeds start at 1"),
        ({"save": 300}, "a 50th"),
        ({"length": 100000}, "20 failures"),
        ({"restart": -1}, "at 0"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(2, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
