"""Who sees an overflow, what the scale does, and that shards step together or not at all."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {"scale_log2": 0}),
        (2, {"growth_interval": 1, "steps": 9}),
        (3, {"bad": 0, "rows": 1}),
        (5, {"bad": 1, "spike": 1e9, "steps": 2}),
        (2, {"scale_log2": 24, "steps": 12}),
        (4, {"spike": 0.0, "limit": 1.0}),
    ],
)
def test_shards_step_as_one_process_under_torchs_scaler(
    run: Run, ranks: int, args: dict[str, Any]
) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    assert report["metrics"]["weight_error"] < 1e-12


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_sum_shows_an_overflow_to_all_and_a_shard_to_its_owner(run: Run, ranks: int) -> None:
    measured = run(ranks)["metrics"]
    others = [0] * (ranks - 1)
    assert measured["found_own"] == [1, *others]
    assert measured["found_sum"] == [1] * ranks
    assert measured["found_shard"] == [*others, 1]
    # Without an agreement the owner halves its scale, the others double theirs.
    assert measured["scale_alone"] == [2.0**17] * (ranks - 1) + [2.0**15]
    assert measured["error_alone"] > 1e-3


def test_nothing_overflows_without_the_bad_target(run: Run) -> None:
    measured = run(4, spike=0.0, limit=1.0)["metrics"]
    assert measured["found_sum"] == [0] * 4
    assert measured["skipped"] == [0] * 4
    assert measured["error_alone"] < 1e-12


@pytest.mark.parametrize(
    ("steps", "interval", "ends"),
    [(1, 2, 13), (3, 2, 13), (4, 2, 14), (6, 2, 15), (5, 3, 14), (5, 9, 13)],
)
def test_the_scale_halves_at_once_and_doubles_after_good_steps_in_a_row(
    run: Run, steps: int, interval: int, ends: int
) -> None:
    measured = run(2, steps=steps, growth_interval=interval, bad=min(1, steps - 1))["metrics"]
    assert measured["scale"] == [2.0**ends] * 2
    assert measured["skipped"] == [1, 1]


@pytest.mark.parametrize("scale_log2", [0, 10, 16])
def test_clipping_first_leaves_a_step_that_is_short_by_the_scale(run: Run, scale_log2: int) -> None:
    measured = run(3, scale_log2=scale_log2)["metrics"]
    ratio = measured["update_norm"] / measured["update_clip_first"]
    assert ratio == pytest.approx(2**scale_log2, rel=1e-4)


def test_small_gradients_vanish_without_a_scale(run: Run) -> None:
    measured = run(4)["metrics"]
    assert min(measured["zeros_plain"]) > 0
    assert measured["zeros_scaled"] == [0] * 4
    assert run(4, scale_log2=0)["metrics"]["zeros_scaled"] == measured["zeros_plain"]


def test_adam_in_half_divides_by_zero(run: Run) -> None:
    measured = run(1)["metrics"]
    assert measured["eps_half"] == 0
    assert measured["adam_half_bad"] == 2
    assert measured["adam_single_bad"] == 0


def test_what_a_break_leaves_right(run: Run) -> None:
    # Without an overflow nobody has to agree on anything.
    for name in ("own-skip", "own-scale", "counts-on"):
        assert failed(run(2, name, spike=0.0, limit=1.0)) == []
    # A step that is too short is no overflow: the scale knows nothing of it.
    assert failed(run(2, "clip-before-unscale")) == ["weights equal one process"]
    assert run(4, "own-scale")["metrics"]["skipped"] == [1] * 4


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"scale_log2": 25}, "scale-log2 lies from 0 to 24"),
        ({"bad": 7}, "bad below"),
        ({"growth_interval": 0}, "growth-interval from 1"),
        ({"rows": 0}, "rows between 1 and 100"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, args: dict[str, int], says: str) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
