"""Shrink or wait, and whom to let in: what each rule does on losses that are easy to add up."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("resize-policy")

pytestmark = pytest.mark.demo

RULES = ("wait", "eager", "steady", "patient")


def step(batch: int, replicas: int) -> int:
    return -(-batch // replicas)


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
@pytest.mark.parametrize(("batch", "price", "rejoin"), [(24, 20, -1), (8, 33, 0), (70, 60, 25)])
def test_when_shrinking_pays(run: Run, ranks: int, batch: int, price: int, rejoin: int) -> None:
    report = run(ranks, batch=batch, price=price, rejoin=rejoin)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    fast, slow = step(batch, ranks), step(batch, ranks - 1)
    assert (measured["step_full"], measured["step_one_less"]) == (fast, slow)
    back = price if rejoin < 0 else rejoin
    # Waiting: away + back. Shrinking: price, slow steps until it is back, price.
    due = price if rejoin < 0 else price * (1 + slow / fast) - back * slow / fast
    assert measured["break_even"] == pytest.approx(due)
    assert -1 <= measured["break_even_counted"] - due <= slow


@pytest.mark.parametrize(("ranks", "away"), [(2, 20), (3, 65), (4, 68), (8, 200)])
def test_what_one_loss_takes(run: Run, ranks: int, away: int) -> None:
    measured = run(ranks, away=away)["metrics"]
    assert measured["lost_waiting"] == away + 20
    fast, slow = step(24, ranks), step(24, ranks - 1)
    steps = -(-max(0, away - 20) // slow)
    assert measured["lost_shrinking"] == 2 * 20 + steps * (slow - fast)


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("flaps", [1, 3, 6])
def test_following_a_replica_that_flaps_costs_two_resizes_each_time(
    run: Run, ranks: int, flaps: int
) -> None:
    args = {"every": 0, "flaps": flaps}
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["losses"] == flaps
    assert measured["resizes_eager"] == 2 * flaps
    assert measured["resizing_eager"] == 2 * flaps * 20
    assert measured["resizes_steady"] == 2
    assert measured["resizing_steady"] == 40
    assert (measured["resizes_wait"], measured["rejoins_wait"]) == (0, flaps)
    assert (measured["waiting_wait"], measured["resizing_wait"]) == (10 * flaps, 20 * flaps)
    # The first time it had stayed: it is waited for. Then it is shut out until it stays.
    assert (measured["resizes_patient"], measured["rejoins_patient"]) == (2 * (flaps > 1), 1)
    assert measured["waiting_patient"] == 10
    assert measured["ideal"] == 800 // step(24, ranks)


def test_no_rule_loses_anything_where_nobody_leaves(run: Run) -> None:
    measured = run(3, every=0, flaps=0)["metrics"]
    assert {measured[f"done_{rule}"] for rule in RULES} == {measured["ideal"]}
    assert {measured[f"resizes_{rule}"] for rule in RULES} == {0}


def test_the_longer_the_stay_the_fewer_resizes(run: Run) -> None:
    args = {"every": 0, "flaps": 6}
    resizes = [run(4, **args, stay=stay)["metrics"]["resizes_steady"] for stay in (1, 30, 60, 90)]
    # Up for 60 ticks each time: 60 and less let it in each time it is back.
    assert resizes[0] == run(4, **args)["metrics"]["resizes_eager"] == 12
    assert resizes == sorted(resizes, reverse=True)
    assert resizes[-1] == 2


def test_one_timeline_of_four(run: Run) -> None:
    def rules(**args: Any) -> set[str]:
        return {each["schedule"] for each in run(4, **args)["timeline"]["events"]}

    assert rules() == set(RULES)
    assert rules(only="eager") == {"eager"}


def test_below_the_least_a_job_waits(run: Run) -> None:
    measured = run(4, every=0, least=4)["metrics"]
    assert {measured[f"resizes_{rule}"] for rule in RULES} == {0}
    assert {measured[f"waiting_{rule}"] for rule in RULES} == {60}


@pytest.mark.parametrize("seed", range(4))
def test_every_seed_is_accounted_for(run: Run, seed: int) -> None:
    assert run(4, seed=seed, every=150)["verdict"] == "pass"


@pytest.mark.parametrize("name", DEMO.breaks)
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_a_bug_goes_red(run: Run, ranks: int, name: str) -> None:
    assert DEMO.breaks[name].expect in failed(run(ranks, name))


def test_a_rule_without_a_stay_is_as_eager_as_any(run: Run) -> None:
    measured = run(4, "no-stay", every=0)["metrics"]
    assert measured["resizes_steady"] == measured["resizes_eager"] == 12


@pytest.mark.parametrize(
    ("ranks", "wrong", "says"),
    [
        (1, {}, "take 2"),
        (4, {"batch": 3}, "4 to 500"),
        (4, {"price": 0}, "1 to 100"),
        (4, {"rejoin": 21}, "-1 to 20"),
        (4, {"least": 5}, "1 to 4"),
        (4, {"up": 0}, "start at 1"),
        (4, {"every": -1}, "starts at 0"),
        (4, {"until": 0}, "1 to 5000"),
        (4, {"only": "never"}, "steady, patient or all"),
    ],
)
def test_what_cannot_be_run_is_refused(
    run: Run, ranks: int, wrong: dict[str, Any], says: str
) -> None:
    report = run(ranks, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
