"""What checkpoints keep and cost inside a pipeline, and what each planted bug does."""

from collections.abc import Callable
from math import ceil
from typing import Any

import pytest

from .conftest import Run, failed


def kept(p: int, m: int, layers: int, k: int, live: Callable[[int], int]) -> list[float]:
    """Segment inputs of all live micro-batches and one segment, counted by walking through it."""
    own = layers // p
    peaks: list[float] = []
    for stage in range(p):
        segments = [min(k, own - start) for start in range(0, own, k)]
        now = most = live(stage) * len(segments)
        for length in reversed(segments):
            most = max(most, now + length)
            now -= 1
        peaks.append(most)
    return peaks


@pytest.mark.demo
@pytest.mark.parametrize(
    ("p", "m", "layers", "k"),
    [(1, 1, 7, 3), (2, 5, 14, 7), (3, 2, 15, 2), (3, 7, 9, 9), (4, 8, 24, 2), (5, 3, 10, 1)],
)
def test_the_laws_hold_on_real_ranks(run: Run, p: int, m: int, layers: int, k: int) -> None:
    report = run(p, microbatches=m, layers=layers, segment=k, dropout=0)
    assert report["verdict"] == "pass", failed(report)
    measured = report["metrics"]

    def one(stage: int) -> int:
        return min(p - stage, m)

    assert measured["kept_none_gpipe"] == [m * layers / p] * p
    assert measured["kept_none_1f1b"] == [one(s) * layers / p for s in range(p)]
    assert measured["kept_segments_gpipe"] == kept(p, m, layers, k, lambda stage: m)
    assert measured["kept_segments_1f1b"] == kept(p, m, layers, k, one)
    assert measured["kept_torch_1f1b"] == measured["kept_segments_1f1b"]
    assert measured["kept_leaf_1f1b"] == measured["kept_none_1f1b"]
    segments = ceil(layers / p / k)
    assert measured["between_segments_gpipe"] == [m * segments] * p
    assert measured["between_segments_1f1b"] == [one(s) * segments for s in range(p)]
    for schedule in ("gpipe", "1f1b"):
        assert measured[f"makespan_none_{schedule}"] == (m + p - 1) * 3
        assert measured[f"makespan_segments_{schedule}"] == (m + p - 1) * 4
    assert measured["forwards_none_1f1b"] == [1] * p
    assert measured["forwards_segments_1f1b"] == [2] * p
    assert measured["forwards_leaf_1f1b"] == [2] * p


@pytest.mark.demo
def test_one_process_peaks_at_segments_plus_a_segment(run: Run) -> None:
    peaks = {}
    for k in (1, 8, 16, 64):
        report = run(1, microbatches=1, layers=64, segment=k, dropout=0)
        [peaks[k]] = report["metrics"]["kept_segments_1f1b"]
        assert report["metrics"]["kept_none_1f1b"] == [64]
    # One segment is worse than no checkpoint: the input is kept besides all that it was to spare.
    assert peaks == {1: 65, 8: 16, 16: 20, 64: 65}


@pytest.mark.demo
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_the_first_stage_keeps_as_much_however_many_there_are(run: Run, p: int) -> None:
    measured = run(p, microbatches=6, layers=12, segment=1, dropout=0)["metrics"]
    assert measured["kept_none_1f1b"][0] == 12
    assert measured["between_segments_1f1b"][0] == 12


@pytest.mark.demo
def test_a_mask_weighs_an_eighth(run: Run) -> None:
    measured = run(2, microbatches=3, layers=8, segment=2, dropout=0.5)["metrics"]
    assert measured["kept_none_1f1b"] == [2 * 4 * 1.125, 4 * 1.125]
    assert measured["kept_segments_1f1b"] == [2 * 2 + 2 * 1.125, 2 + 2 * 1.125]


@pytest.mark.demo
@pytest.mark.parametrize(("backward", "none", "segments"), [(1, 16, 24), (3, 32, 40)])
def test_the_price_depends_on_what_a_backward_costs(
    run: Run, backward: float, none: float, segments: float
) -> None:
    measured = run(4, microbatches=5, backward=backward)["metrics"]
    assert measured["makespan_none_1f1b"] == none
    assert measured["makespan_segments_1f1b"] == segments


@pytest.mark.demo
def test_an_input_that_wants_no_gradient_is_what_torch_says_of_it(run: Run) -> None:
    error = run(1, "input-wants-no-gradient")["error"]
    assert "does not require grad" in error["message"]


@pytest.mark.demo
def test_other_dice_are_harmless_where_nothing_is_thrown(run: Run) -> None:
    assert failed(run(2, "other-dice")) == [
        "segments_gpipe gradients equal one process",
        "segments_1f1b gradients equal one process",
    ]
    assert run(2, "other-dice", dropout=0)["verdict"] == "pass"


@pytest.mark.demo
def test_gpipe_hides_that_the_dice_are_not_put_back(run: Run) -> None:
    # All its forwards have thrown theirs before the first backward throws them again.
    assert failed(run(2, "dice-not-put-back")) == [
        "segments_1f1b gradients equal one process",
        "leaf_1f1b gradients equal one process",
    ]


@pytest.mark.demo
def test_wrapped_twice_runs_three_times_and_keeps_no_less(run: Run) -> None:
    twice, once = run(2, "wrapped-twice")["metrics"], run(2)["metrics"]
    assert twice["forwards_segments_1f1b"] == [3, 3]
    assert twice["kept_segments_1f1b"] == once["kept_segments_1f1b"]
    assert twice["makespan_segments_1f1b"] == 9 * 5
    assert twice["error_segments_1f1b"] < 1e-12


@pytest.mark.demo
@pytest.mark.parametrize(
    ("args", "hint"),
    [
        ({"layers": 25}, "26"),
        ({"segment": 0}, "1"),
        ({"dropout": 1}, "0"),
        ({"backward": 0}, "1"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, Any], hint: str
) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert hint in report["error"]["message"]
