"""What narrow numbers do to attention: variance, overflow, masks and rounding."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("attention-numbers")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_the_defaults_hold_and_mean_the_same_on_any_number_of_ranks(run: Run, ranks: int) -> None:
    report = run(ranks)
    assert report["verdict"] == "pass", report
    alone = run(1)["metrics"]
    assert [*DEMO.watch] == [*alone]
    for name, value in report["metrics"].items():
        assert value == pytest.approx(alone[name], rel=1e-12)


@pytest.mark.parametrize("dim", [16, 50, 256])
def test_scores_have_the_variance_of_their_length(run: Run, dim: int) -> None:
    found = run(1, dim=dim)["metrics"]
    assert found["score_variance"] == pytest.approx(dim, rel=0.08)
    assert found["score_variance_scaled"] == pytest.approx(found["score_variance"] / dim, rel=1e-12)
    assert found["saturated_scaled"] == 0


def test_more_rows_saturate_the_longer_they_are(run: Run) -> None:
    shares = [run(1, dim=dim)["metrics"]["saturated"] for dim in (16, 64, 256)]
    assert shares == sorted(shares)
    assert shares[0] < 0.1 < 0.3 < shares[2]
    found = run(1, dim=256)["metrics"]
    assert found["gradient"] < found["gradient_scaled"] / 3


@pytest.mark.parametrize(
    ("dtype", "limit", "billions"), [("fp16", 12, 7), ("bf16", 89, 0), ("fp32", 89, 0)]
)
def test_limits_and_masks_depend_on_the_dtype(
    run: Run, dtype: str, limit: int, billions: int
) -> None:
    report = run(2, dtype=dtype, padding=7, seq=50)
    assert report["verdict"] == "pass", report
    found = report["metrics"]
    assert found["exp_limit"] == limit
    assert found["nan_rows_unsafe"] == 50
    assert found["blind_rows"] == found["nan_rows_inf"] == 7
    assert found["nan_rows_1e9"] == billions
    assert found["nan_rows_min"] == 0
    assert found["leak_min"] == pytest.approx(1, abs=0.01)


def test_without_padding_nothing_is_blind(run: Run) -> None:
    found = run(1, dtype="fp16", padding=0)["metrics"]
    assert found["blind_rows"] == found["nan_rows_inf"] == found["nan_rows_1e9"] == 0


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
def test_tiles_differ_and_are_as_near_as_torch(run: Run, dtype: str) -> None:
    found = run(1, dtype=dtype, seq=100, dim=33, block=24)["metrics"]
    assert 0.4 < found["differ"] < 1
    assert 0 < found["differ_tiles"] < found["differ"]
    assert found["error_tiled"] < found["error_plain"]
    assert found["error_torch"] < 1.3 * found["error_tiled"]
    assert found["alarms_rtol"] > 1000 or dtype == "fp32"
    assert found["alarms_both"] == 0


def test_one_tile_is_the_whole_matrix_twice_over(run: Run) -> None:
    assert run(1, block=128)["metrics"]["differ_tiles"] == 0


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red_and_no_other(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.ranks == 1
    for ranks in (1, 2):
        assert failed(run(ranks, name)) == [planted.expect]


@pytest.mark.parametrize(
    "args", [{"seq": 1, "padding": 0}, {"spread": 0.0}, {"spread": 1000.0, "dtype": "fp16"}]
)
def test_the_ends_of_the_scale_hold_as_well(run: Run, args: dict[str, Any]) -> None:
    assert run(1, **args)["verdict"] == "pass"


def test_a_small_shift_forgives_the_missing_maximum(run: Run) -> None:
    assert run(1, "no-maximum", shift=0.0)["verdict"] == "pass"
    assert run(1, "unguarded", padding=0)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("ranks", "args", "end"),
    [
        (4, {"heads": 3}, "4: one for each rank"),
        (1, {"dim": 0}, "1: one for each rank"),
        (1, {"padding": 128}, "use 0 to 127"),
        (1, {"shift": float("nan")}, "not 1.0"),
        (1, {"spread": float("inf")}, "not inf"),
    ],
)
def test_what_cannot_be_shared_is_refused(
    run: Run, ranks: int, args: dict[str, Any], end: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(end)
