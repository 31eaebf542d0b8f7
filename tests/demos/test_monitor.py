"""The monitor: what it names, whom it leaves alone, and what the simpler alarms get wrong."""

from statistics import median
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

LATE = ["slow", "long", "stall"]


@pytest.mark.parametrize(("ranks", "kinds"), [(1, 6), (2, 8), (3, 9), (4, 9), (5, 9)])
def test_each_fault_is_named_and_no_healthy_run(run: Run, ranks: int, kinds: int) -> None:
    report = run(ranks)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["named"] == measured["faults"] == kinds
    assert measured["false_alarms"] == 0
    assert measured["healthy_runs"] == 6


def test_other_noise(run: Run) -> None:
    measured = run(4, seed=500, healthy=24)["metrics"]
    assert (measured["named"], measured["false_alarms"]) == (9, 0)


@pytest.mark.parametrize("culprit", [0, 2])
@pytest.mark.parametrize("fault", LATE)
def test_who_is_late_waits_least(run: Run, fault: str, culprit: int) -> None:
    measured = run(4, fault=fault, culprit=culprit, healthy=0)["metrics"]
    waits, steps = measured["reduce_ill"], measured["step_ill"]
    assert max(steps) - min(steps) < 1e-5  # step time names nobody
    assert min(waits) == waits[culprit] < 0.6 * median(waits)
    assert measured["alarmed"] == [int(rank == culprit) for rank in range(4)]
    books = {"slow": "compute_ill", "long": "tokens_ill", "stall": "data_ill"}[fault]
    assert max(measured[books]) == measured[books][culprit] > 1.7 * median(measured[books])
    pace = [c / t for c, t in zip(measured["compute_ill"], measured["tokens_ill"], strict=True)]
    assert (pace[culprit] > 1.7 * median(pace)) == (fault == "slow")
    assert measured["delay"] == 3  # the fourth step in a row


def test_a_slow_network_is_everybody_s(run: Run) -> None:
    measured = run(4, fault="network", healthy=0)["metrics"]
    assert measured["alarmed"] == [1, 1, 1, 1]
    assert min(measured["reduce_ill"]) > 1.5 * max(measured["reduce_calm"])
    assert max(measured["compute_ill"]) < 1.2 * min(measured["compute_ill"])


def test_held_bytes_grow_where_a_graph_is_kept(run: Run) -> None:
    measured = run(4, fault="leak", culprit=1, healthy=0, noise=0.0)["metrics"]
    assert measured["held_calm"] == [0, 0, 0, 0]
    ill = measured["held_ill"]
    assert ill[0] == ill[2] == ill[3] == 0 < ill[1]
    tokens = 8 * measured["tokens_ill"][1]
    per_token = 4 * 8  # a row of four, 8 bytes each, in as many places as autograd saves
    assert ill[1] % per_token == 0
    assert ill[1] >= 3 * tokens * per_token


@pytest.mark.parametrize("fault", ["spike", "nan"])
def test_a_norm_names_its_rank_before_the_sum(run: Run, fault: str) -> None:
    measured = run(4, fault=fault, culprit=1, healthy=0, steps=9)["metrics"]
    own = [float(norm) for norm in measured["norm_own"]]
    if fault == "nan":
        assert [norm != norm for norm in own] == [False, True, False, False]
        assert measured["steps_skipped"] == 1
    else:
        assert own[1] > 50 * max(own[0], own[2], own[3])
        assert measured["norm_sum"] > 50 * own[0]
    assert run(4, fault=fault, culprit=1, healthy=0)["metrics"]["alarmed"] == [0, 1, 0, 0]


def test_single_bits_and_missing_ranks_are_named_at_once(run: Run) -> None:
    for fault in ("drift", "hang"):
        measured = run(4, fault=fault, culprit=2, healthy=0)["metrics"]
        assert measured["alarmed"] == [0, 0, 1, 0]
        assert measured["delay"] == 0


def test_a_fault_too_short_to_tell_is_not_counted(run: Run) -> None:
    measured = run(4, fault="slow", steps=11, healthy=0)["metrics"]
    assert (measured["faults"], measured["delay"]) == (0, -1)
    assert run(2, fault="slow", steps=1, healthy=0)["verdict"] == "pass"


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    "name", ["step-time-alone", "longest-wait", "mean-over-ranks", "looks-after-the-sum"]
)
def test_alarms_that_name_the_wrong_ranks(run: Run, name: str, ranks: int) -> None:
    assert "each fault is told, with its ranks" in failed(run(ranks, name))


def test_step_time_names_everybody_and_the_wait_the_innocent(run: Run) -> None:
    args: dict[str, Any] = {"fault": "slow", "culprit": 1, "healthy": 0}
    assert run(4, "step-time-alone", **args)["metrics"]["alarmed"] == [1, 1, 1, 1]
    assert run(4, "longest-wait", **args)["metrics"]["alarmed"] == [1, 0, 1, 1]
    assert run(8, "mean-over-ranks", **args)["metrics"]["alarmed"] == [0] * 8
    assert run(4, **args)["metrics"]["alarmed"] == [0, 1, 0, 0]


@pytest.mark.parametrize("ranks", [1, 3])
def test_one_step_wakes_somebody_for_nothing(run: Run, ranks: int) -> None:
    report = run(ranks, "one-step-is-enough")
    assert "no alarm without a fault" in failed(report)
    assert report["metrics"]["false_alarms"] >= 2


@pytest.mark.parametrize(
    ("ranks", "wrong", "says"),
    [
        (1, {"fault": "network"}, "take 2 or more"),
        (2, {"fault": "drift"}, "take 3 or more"),
        (2, {"patience": 9}, "1 to onset"),
        (2, {"steps": 65}, "1 to 64"),
        (2, {"times": 1.0}, "above 1"),
        (2, {"noise": 0.2}, "0 to 0.1"),
    ],
)
def test_what_cannot_be_run_is_refused(
    run: Run, ranks: int, wrong: dict[str, Any], says: str
) -> None:
    report = run(ranks, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
