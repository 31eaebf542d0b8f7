"""Gradients that some ranks lack, or all of them, in our reducer and in torch's."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize("skip", ["nobody", "one", "all"])
def test_zeros_travel_and_what_nobody_used_stays_none(run: Run, ranks: int, skip: str) -> None:
    report = run(ranks, skip=skip, rows=3, width=8)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    here = {"nobody": [0] * ranks, "one": [0] * (ranks - 1) + [1], "all": [1] * ranks}[skip]
    nobody = all(here)
    assert measured["skipped_here"] == here
    assert measured["skipped_by_all"] == nobody
    assert measured["weights_without_grad"] == [int(nobody)] * ranks
    # As many bytes, whoever skips: 2(N-1)/N of three weights, in chunks that may not be equal.
    assert (
        measured["sum_bytes"] == run(ranks, skip="nobody", rows=3, width=8)["metrics"]["sum_bytes"]
    )
    if ranks == 4:
        assert measured["sum_bytes"] == [2 * 3 * 3 * 8 * 8 * 8 // 4] * 4
    assert measured["grad_error"] < 1e-12
    for name in ("weights_gap", "torch_error"):
        assert max(measured[name]) < 1e-12


@pytest.mark.parametrize("ranks", [1, 3])
def test_torch_raises_one_forward_late_and_has_summed_nothing(run: Run, ranks: int) -> None:
    measured = run(ranks)["metrics"]
    assert (measured["default_raises"], measured["default_sums"]) == (2, 0)
    assert all(drift > 1e-3 for drift in measured["default_drift"][1:])
    # A graph that is always the same may be declared so.
    assert (measured["static_raises"], measured["static_sums"]) == (0, 1)


def test_what_does_not_come_is_waited_for(run: Run) -> None:
    report = run(2, "no-zeros")
    assert report["outcome"] == "hung"
    stacks = report["error"]["stacks"]
    assert "in arrived" in stacks[0]
    assert "in prepare" in stacks[1]  # a step ahead
    # Only a rank alone in skipping is waited for.
    assert failed(run(2, "no-zeros", ends=True, skip="nobody")) == []


def test_the_other_breaks(run: Run) -> None:
    divided = failed(run(2, "divides-by-its-users"))
    assert "gradients equal one process" in divided
    assert "what nobody used is left alone" not in divided
    own = failed(run(2, "own-view"))
    assert "weights equal one process" in own
    for name in ("divides-by-its-users", "own-view"):
        assert failed(run(1, name)) == []
        assert failed(run(2, name, skip="all")) == []
    for ranks in (1, 3):
        zeros = failed(run(ranks, "zeros-for-nobody", skip="all"))
        assert zeros[0] == "what nobody used is left alone"
        assert "weights equal torch's" in zeros
    assert failed(run(2, "zeros-for-nobody")) == []


def test_sizes_below_one_are_refused(run: Run) -> None:
    report = run(2, steps=0)
    assert report["outcome"] == "refused"
    assert "start at 1" in report["error"]["message"]
