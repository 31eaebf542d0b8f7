"""What each stage of ZeRO sends and keeps behind a pipeline, and what its planted bugs do."""

import re
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

SIZES = [(1, 1, 3), (2, 2, 1), (3, 3, 4), (4, 2, 5), (6, 3, 2), (8, 4, 3)]


@pytest.mark.parametrize(("ranks", "d", "m"), SIZES)
def test_bytes_and_what_is_kept(run: Run, ranks: int, d: int, m: int) -> None:
    report = run(ranks, replicas=d, microbatches=m, width=12)
    assert report["verdict"] == "pass", report
    measured, psi = report["metrics"], (12 * 12 + 12) * 8
    half, part = (d - 1) * psi // d, psi // d
    assert measured["stage_gradient_bytes"] == [psi] * ranks
    for stage, halves in enumerate((2, 2, m + 1, 3 * m)):
        assert measured[f"dp_bytes_{stage}"] == [halves * half] * ranks
        assert measured[f"reductions_{stage}"] == [m if stage >= 2 else 1] * ranks
    assert measured["kept_bytes_0"] == [2 * psi] * ranks
    # With a single backward ZeRO-1 has its part as soon as ZeRO-2.
    assert measured["kept_bytes_1"] == [2 * psi if m > 1 else psi + part] * ranks
    assert measured["kept_bytes_2"] == [psi + part] * ranks
    assert measured["kept_bytes_3"] == [2 * part] * ranks
    assert max(measured["weights_error"]) < 1e-12


def test_reducing_every_time_is_right_and_dear(run: Run) -> None:
    report = run(4, "reduces-every-time")
    assert failed(report) == ["ZeRO-1: halves of an all-reduce"]
    assert report["metrics"]["dp_bytes_1"] == report["metrics"]["dp_bytes_2"]


def test_an_overwritten_sum_is_not_seen_with_one_micro_batch(run: Run) -> None:
    assert failed(run(2, "overwritten", microbatches=1)) == []


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"replicas": 4}, r"one of \[1, 2, 3, 6\]"),
        ({"replicas": 6, "width": 16}, "take width 18"),
        ({"microbatches": 0}, "start at 1"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, Any], says: str
) -> None:
    report = run(6, **args)
    assert report["outcome"] == "refused"
    assert re.search(says, report["error"]["message"])
