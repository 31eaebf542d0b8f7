"""What a gather ahead hides and what it costs, against closed forms; and what its bugs do."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("fsdp-prefetch")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("args", [{}, {"units": 7, "width": 5, "rows": 1}, {"units": 1}])
def test_it_is_exact_and_one_ahead_hides_all_but_the_ends(
    run: Run, ranks: int, args: dict[str, Any]
) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured, units = report["metrics"], args.get("units", 4)
    assert measured["computing"] == 3 * units
    gather = 0.5 * (ranks > 1)
    assert measured["exposed_0"] == 3 * units * gather
    assert measured["exposed_1"] == measured["exposed_2"] == 3 * gather
    for depth in range(3):
        assert (
            measured[f"whole_peak_{depth}"]
            == [min(depth + 1, units) * measured["unit_bytes"]] * ranks
        )


@pytest.mark.parametrize("gather", [0.0, 0.25, 1.0, 1.5, 4.0, 30.0])
def test_what_does_not_fit_shows(run: Run, gather: float) -> None:
    report = run(2, units=5, gather_time=gather)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    exposed = [measured[f"exposed_{depth}"] for depth in range(3)]
    assert exposed[0] == 3 * 5 * gather
    assert exposed[0] >= exposed[1] >= exposed[2]
    # The lane has 15 messages to carry, and the last unit's forward and backward hide none.
    assert exposed[2] >= max(3 * gather, 15 * gather - measured["computing"])


def test_what_a_break_leaves_right(run: Run) -> None:
    for name in DEMO.breaks:
        assert not [check for check in failed(run(2, name)) if "process" in check]
    # Asked for early, waited for at once: as slow as at its turn, and it takes the room.
    measured = run(2, "waits-at-once")["metrics"]
    assert measured["whole_peak_1"] == run(2)["metrics"]["whole_peak_1"]
    assert measured["exposed_1"] > run(2)["metrics"]["exposed_1"]


@pytest.mark.parametrize(
    "args", [{"units": 0}, {"rows": 0}, {"width": 0}, {"gather_time": -1.0}, {"forward_time": 1e9}]
)
def test_what_cannot_run_is_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(2, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
