"""When steps end with input loaded ahead and without, and where the time of each rank goes."""

import pytest

from .conftest import Run

COMPUTE = 3.0
EVEN = {"slow_every": 0, "reduction": 1.0}

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {"load": 0.0, "steps": 4}),
        (2, {"loaders": 3, "depth": 4, "steps": 5, "slow_every": 2, "slow_times": 9.0}),
        (3, {"buckets": 6, "reduction": 0.0, "slow_rank": 0, "steps": 4}),
        (3, {"buckets": 5, "reduction": 40.0, "loaders": 1, "depth": 1, "load": 7.3, "steps": 4}),
    ],
)
def test_odd_settings_are_right(run: Run, ranks: int, args: dict[str, float]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report


@pytest.mark.parametrize(("load", "loaders"), [(2.0, 1), (8.0, 2), (15.0, 3)])
def test_a_step_takes_the_longer_with_loaders_and_the_sum_without(
    run: Run, load: float, loaders: int
) -> None:
    measured = run(2, load=load, loaders=loaders, reduction=0.0, buckets=1, slow_every=0)["metrics"]
    assert measured["step_inline"] == load + COMPUTE
    longer = max(load / loaders, COMPUTE)
    assert measured["step_one"] == measured["step_deep"] == pytest.approx(longer, rel=1e-6)


def test_depth_helps_where_loads_vary(run: Run) -> None:
    # 2, 6 and 2 to load, 10 on the way to 3 steps of 3.5: enough, if there is room to work ahead.
    given = {"slow_every": 3, "load": 2.0, "loaders": 1, "reduction": 1.0}
    measured = run(2, **given)["metrics"]
    assert measured["step_deep"] == 3.5 < measured["step_one"]
    assert run(2, **given, depth=1)["metrics"]["step_deep"] > 4


def test_one_in_one_is_every_batch(run: Run) -> None:
    # A load is 12 instead of 4: all of it when a batch is due, half of it between two loaders.
    every = run(2, slow_every=1)["metrics"]
    assert every["step_inline"] == run(2, slow_every=0)["metrics"]["step_inline"] + 8.0
    assert every["step_deep"] == 6.0


@pytest.mark.parametrize("slow", [0, 2])
def test_the_all_reduce_looks_slow_on_all_but_the_slow_rank(run: Run, slow: int) -> None:
    even, measured = (run(3, slow_rank=each, **EVEN)["metrics"] for each in (-1, slow))
    others = [each for each in range(3) if each != slow]
    assert measured["step_deep"] == 6.0 > even["step_deep"]
    for each in others:
        assert measured["all_reduce"][each] > 3 * measured["transfer"][each]
        # Shares of steady steps: the first batch, which nobody could hide, is not in them.
        assert measured["busy"][each] == pytest.approx(1)
        assert measured["computes"][each] == pytest.approx(COMPUTE / 6.0)
        assert measured["waits"][each] == 0 < 0.4 < measured["waits"][slow]
    assert measured["all_reduce"][slow] == pytest.approx(measured["transfer"][slow])


def test_buckets_hide_what_is_ready_early(run: Run) -> None:
    for buckets, exposed in ((1, 1.0), (4, 0.25)):
        measured = run(2, buckets=buckets, load=0.0, reduction=1.0)["metrics"]
        assert measured["step_deep"] == COMPUTE + exposed
        assert measured["transfer"][0] * measured["step_deep"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "args", [{"steps": 3}, {"buckets": 7}, {"slow_rank": 2}, {"forward": 0.0}, {"depth": 0}]
)
def test_nonsense_is_refused(run: Run, args: dict[str, float]) -> None:
    assert run(2, **args)["outcome"] == "refused"


def test_the_picture_has_room_at_80_columns(run: Run) -> None:
    events = run(4)["timeline"]["events"]
    assert {e["name"] for e in events} == {f"{what}{step}" for what in "FBR" for step in range(6)}
    assert max(e["end"] for e in events) <= 80 - len("rank 0 ||")
