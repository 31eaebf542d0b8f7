"""One reduction a step: its bytes, what it hides behind, and what other times and groups do."""

import re
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

SIZES = [(1, 1, 3), (2, 1, 3), (2, 2, 1), (3, 3, 4), (4, 2, 4), (4, 1, 2), (6, 3, 5), (8, 2, 6)]


@pytest.mark.parametrize(("ranks", "d", "m"), SIZES)
def test_bytes_and_times_on_real_ranks(run: Run, ranks: int, d: int, m: int) -> None:
    report = run(ranks, replicas=d, microbatches=m, width=8)
    assert report["verdict"] == "pass", report
    measured, p = report["metrics"], ranks // d
    psi = (8 * 8 + 8) * 8
    assert measured["stage_gradient_bytes"] == [psi] * ranks
    assert measured["dp_bytes_once"] == [2 * (d - 1) * psi // d] * ranks
    assert measured["dp_bytes_every"] == [2 * (d - 1) * psi // d * m] * ranks
    assert measured["stage_bytes"] == [2 * psi] * ranks
    drained = 3 * (m + p - 1)
    stage = [rank // d for rank in range(ranks)]
    assert measured["ready"] == [drained - 2 * s for s in stage]
    reduction = 3 if d > 1 else 0
    assert measured["exposed_reduction"] == [max(0, reduction - 2 * s) for s in stage]
    assert measured["makespan_once"] == drained + reduction
    # Stage 0 reduces between its backwards: nothing of it is hidden.
    assert measured["makespan_every"] >= drained + reduction
    assert measured["shuffled_error"] < [1e-14] * ranks
    assert measured["drift"] == [0] * ranks
    names = {check["name"] for check in report["checks"]}
    assert ("once: gradients equal torch's" in names) == (m >= p)


def test_a_part_that_does_not_divide_is_padded(run: Run) -> None:
    # 5 * 5 + 5 numbers among 4 copies: parts of 8.
    measured = run(4, replicas=4, width=5)["metrics"]
    assert measured["dp_bytes_once"] == [6 * 8 * 8] * 4


def test_copies_bring_samples_and_no_room(run: Run) -> None:
    alone, twice = (run(n, replicas=d)["metrics"] for n, d in ((2, 1), (4, 2)))
    for name in ("stage_bytes", "saved_bytes", "ready"):
        assert twice[name] == [alone[name][0]] * 2 + [alone[name][1]] * 2


@pytest.mark.parametrize("ranks", [2, 4, 6])
def test_a_sample_counts_as_much_in_a_larger_micro_batch(run: Run, ranks: int) -> None:
    report = run(ranks, replicas=2, extra_rows=3, steps=3)
    assert report["verdict"] == "pass"
    assert report["metrics"]["grad_error"] < 1e-12


def test_the_right_numbers_in_wrong_places_have_the_right_mean(run: Run) -> None:
    measured = run(4)["metrics"]
    assert max(measured["reversed_mean_error"]) < 1e-15
    assert min(measured["reversed_error"]) > 1


@pytest.mark.parametrize("name", ["too-early", "pipeline-as-group"])
def test_as_many_bytes_may_carry_the_wrong_gradient(run: Run, name: str) -> None:
    report = run(4, name)
    assert report["metrics"]["dp_bytes_once"] == run(4)["metrics"]["dp_bytes_once"]
    assert "once: gradients equal one process" in failed(report)
    assert "outputs equal one process" not in failed(report)


def test_reducing_too_early_leaves_nothing_exposed(run: Run) -> None:
    report = run(4, "too-early")
    assert report["metrics"]["exposed_reduction"] == [0] * 4
    assert "every: gradients equal one process" not in failed(report)
    assert failed(run(2, "too-early", microbatches=6)) == []


def test_summing_the_sum_spares_the_single_reduction(run: Run) -> None:
    assert "once: gradients equal one process" not in failed(run(2, "sums-the-sum"))


@pytest.mark.parametrize(("ranks", "d"), [(2, 2), (3, 3), (4, 2)])
def test_averaging_again_shortens_the_gradient(run: Run, ranks: int, d: int) -> None:
    report = run(ranks, "averaged-again", replicas=d)
    assert report["metrics"]["grad_scale"] == pytest.approx(1 / d, rel=1e-12)


def test_what_has_parted_stays_apart(run: Run) -> None:
    one, four = (run(4, "skips-a-step", steps=n)["metrics"] for n in (1, 4))
    for measured in (one, four):
        assert measured["drift"][0] == 0 < measured["drift"][1]
        assert measured["drift"][2:] == [0, 0]
        assert measured["dp_bytes_once"][:2] == [0, 0] < measured["dp_bytes_once"][2:]
    assert four["drift"][1] > one["drift"][1] / 2


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"replicas": 3}, r"one of \[1, 2, 4\]"),
        ({"replicas": -1}, r"one of \[1, 2, 4\]"),
        ({"microbatches": 0}, "start at 1"),
        ({"backward": 0}, r"start at 0\.001"),
        ({"reduction": float("inf")}, "below 1000"),
        ({"extra_rows": -1}, "at 0"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, Any], says: str
) -> None:
    report = run(4, **args)
    assert report["outcome"] == "refused"
    assert re.search(says, report["error"]["message"])
