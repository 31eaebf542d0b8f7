"""Ranks with different numbers of batches: who shadows whom, what the sums mean, what hangs."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("uneven-inputs")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(("ranks", "fewest", "extra"), [(1, 2, 5), (2, 1, 3), (3, 3, 2), (4, 2, 1)])
def test_all_make_equally_many_calls_and_torch_does_the_same(
    run: Run, ranks: int, fewest: int, extra: int
) -> None:
    report = run(ranks, fewest=fewest, extra=extra)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    batches = measured["batches"]
    most = fewest + extra * (ranks > 1)
    assert (min(batches), max(batches)) == (fewest, most)
    assert measured["steps_join"] == most
    assert measured["steps_fewest"] == fewest
    assert measured["shadowed"] == [most - mine for mine in batches]
    assert measured["left_over"] == [mine - fewest for mine in batches]
    assert measured["active_last"] == batches.count(most)

    share = batches.count(most) / ranks
    assert measured["lone_all"] == pytest.approx(share)
    assert measured["lone_torch_all"] == pytest.approx(share)
    assert measured["lone_active"] == pytest.approx(1)
    assert measured["lone_torch_active"] == pytest.approx(1)

    # Who was done early fell behind, and only those.
    assert [far > 0 for far in measured["apart_before"]] == [mine < most for mine in batches]
    assert measured["apart_after"] == [0] * ranks
    for error in ("join_error", "active_error", "weighted_error"):
        assert max(measured[error]) < 1e-12


def test_equal_inputs_need_none_of_it(run: Run) -> None:
    report = run(3, extra=0, extra_rows=0)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["shadowed"] == measured["left_over"] == [0, 0, 0]
    assert measured["lone_all"] == pytest.approx(1)
    assert measured["apart_before"] == [0, 0, 0]
    assert max(measured["unweighted_error"]) < 1e-12


def test_sizes_are_another_matter_than_numbers(run: Run) -> None:
    # As many batches on each rank, but rank 0's are larger: no call is missing, the mean is wrong.
    measured = run(2, extra=0, extra_rows=9)["metrics"]
    assert measured["shadowed"] == [0, 0]
    assert min(measured["unweighted_error"]) > 0.1
    assert max(measured["weighted_error"]) < 1e-12


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_at_its_number_of_ranks_and_not_below(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    report = run(planted.ranks, name)
    if planted.expect == "hangs":
        assert report["outcome"] == "hung"
        where = "barrier" if name == "barrier" else "all_reduce"
        stuck = report["error"]["stacks"][1]
        assert "in train_fewest" in stuck
        assert f", in {where}" in stuck
    else:
        assert planted.expect in failed(report)
    assert run(planted.ranks - 1, name, ends=True)["verdict"] == "pass"


def test_what_a_break_leaves_right(run: Run) -> None:
    # The first step has everybody in it: only later ones are short.
    assert failed(run(2, "padding-counts")) == ["weighted batches equal one process"]
    assert run(2, "padding-counts", extra=0)["verdict"] == "pass"
    # Batches of one size: the mean of means is the mean.
    assert run(2, "ranks-count-alike", extra=0, extra_rows=0)["verdict"] == "pass"


@pytest.mark.parametrize("bad", [{"fewest": 0}, {"rows": 0}, {"extra": -1}, {"extra_rows": -1}])
def test_what_makes_no_sense_is_refused(run: Run, bad: dict[str, int]) -> None:
    report = run(2, **bad)
    assert report["outcome"] == "refused"
    assert "start at" in report["error"]["message"]


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2, "keeps-its-own")["metrics"]]
