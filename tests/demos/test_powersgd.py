"""PowerSGD's factors: summed as if one process had the mean, counted, and torch's beside them."""

import pytest

from .conftest import Run

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {"height": 1, "width": 1, "factor_rank": 1, "steps": 1}),
        (3, {"height": 7, "width": 13, "factor_rank": 3, "decay": 1.0}),
        (3, {"height": 13, "width": 7, "factor_rank": 7, "spread": 100.0, "steps": 4}),
        (2, {"height": 5, "width": 40, "factor_rank": 1, "decay": 0.05, "spread": 0.001}),
    ],
)
def test_odd_settings_are_right(run: Run, ranks: int, args: dict[str, float]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report


@pytest.mark.parametrize(
    ("ranks", "side", "r", "factor"),
    [(2, 64, 2, 16), (4, 32, 4, 4), (3, 30, 15, 1), (4, 32, 32, 0.5)],
)
def test_the_factor_is_counted(run: Run, ranks: int, side: int, r: int, factor: float) -> None:
    measured = run(ranks, height=side, width=side, factor_rank=r, steps=1)["metrics"]
    dense, thin = (sum(measured[f"sent_bytes_{name}"]) for name in ("dense", "factors"))
    assert dense == 2 * (ranks - 1) * 8 * side**2
    assert dense == factor * thin


def test_a_warm_start_comes_to_the_best(run: Run) -> None:
    measured = run(2, steps=9)["metrics"]
    assert measured["error_best"] <= measured["error_warm"] < 1.001 * measured["error_best"]
    assert measured["error_cold"] > 1.2 * measured["error_best"]
    assert measured["error_first"] > 1.2 * measured["error_best"]


def test_feedback_sends_later_what_it_does_not_send_now(run: Run) -> None:
    few, many = (run(2, steps=steps)["metrics"] for steps in (6, 24))
    assert many["missing_feedback"] < 0.6 * few["missing_feedback"]
    assert many["missing_plain"] > 0.99 * many["error_best"]


def test_full_rank_is_the_mean_and_own_decompositions_are_not(run: Run) -> None:
    measured = run(2, factor_rank=32)["metrics"]
    assert measured["error_first"] < 1e-12
    assert measured["error_averaged"] > 0.1
    assert run(1)["metrics"]["error_averaged"] == pytest.approx(run(1)["metrics"]["error_best"])


def test_one_column_needs_no_right_angles(run: Run) -> None:
    assert run(2, "any-columns", factor_rank=1)["verdict"] == "pass"


@pytest.mark.parametrize("args", [{"factor_rank": 0}, {"factor_rank": 33}, {"decay": 0.0}])
def test_nonsense_is_refused(run: Run, args: dict[str, float]) -> None:
    assert run(2, **args)["outcome"] == "refused"
