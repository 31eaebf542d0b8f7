"""Dtypes on the axes of a grid, their bytes and errors, and who knows of an overflow."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("reduce-dtype")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(("ranks", "tp"), [(1, 1), (2, 2), (3, 1), (4, 2), (6, 3), (8, 2), (8, 8)])
def test_errors_and_bytes(run: Run, ranks: int, tp: int) -> None:
    report = run(ranks, tp=tp, width=24)
    assert report["verdict"] == "pass", report
    measured, dp = report["metrics"], ranks // tp
    parameters = 8 * 24**2 // tp
    assert sum(measured["sent_bytes_dp"]) == ranks * 2 * (dp - 1) / dp * parameters * 4
    assert measured["sent_bytes_dp_bf16"] == [each / 2 for each in measured["sent_bytes_dp"]]
    assert sum(measured["sent_bytes_tp"]) == 8 * dp * 2 * (tp - 1) * 32 * 24 * 2
    assert measured["error_fp32"] < 1e-6
    assert 1e-3 < measured["error_wire"] < 1e-2
    assert 1e-3 < measured["error_kept"] < 1e-2


def test_errors_in_bf16_grow_with_what_is_added_up(run: Run) -> None:
    few, many = (run(2, tp=1, microbatches=k)["metrics"] for k in (4, 64))
    assert many["error_kept"] > 1.7 * few["error_kept"]
    two, eight = (run(n, tp=1)["metrics"] for n in (2, 8))
    assert eight["error_wire"] > 1.2 * two["error_wire"]


@pytest.mark.parametrize(("ranks", "tp"), [(4, 2), (6, 3), (6, 2), (8, 4)])
def test_an_overflow_goes_up_a_column_and_then_along_the_rows(
    run: Run, ranks: int, tp: int
) -> None:
    measured = run(ranks, tp=tp, width=24)["metrics"]
    assert measured["found_own"] == [int(rank == tp - 1) for rank in range(ranks)]
    assert measured["found_sum"] == [int(rank % tp == tp - 1) for rank in range(ranks)]
    assert measured["found_all"] == [1] * ranks


def test_every_bug_shows(run: Run) -> None:
    for name, planted in DEMO.breaks.items():
        assert planted.expect in failed(run(planted.ranks, name))


@pytest.mark.parametrize("args", [{"tp": 3}, {"tp": 0}, {"microbatches": 0}])
def test_what_cannot_be_is_refused(run: Run, args: dict[str, int]) -> None:
    assert run(4, **args)["outcome"] == "refused"


def test_columns_that_cannot_be_cut_are_refused(run: Run) -> None:
    message = run(8, tp=8, width=5)["error"]["message"]
    assert message == "20 columns cannot be cut into 8: 4 x width is a multiple of tp"
