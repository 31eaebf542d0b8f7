"""A chain restored anywhere: the same tail, each row once, and what a missing part costs."""

from math import ceil
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

LENGTHS = (3, 1, 9, 2, 17, 4, 6, 2, 11, 5)

SIZES = [  # ranks, tp, after, batch, steps, stop
    (1, 1, 1, 3, 4, 2),
    (2, 1, 1, 5, 3, 1),
    (2, 2, 1, 4, 4, 4),
    (3, 1, 2, 7, 4, 2),
    (4, 1, 3, 9, 3, 0),
    (4, 4, 1, 2, 5, 3),
    (6, 2, 1, 8, 3, 2),
    (6, 3, 2, 4, 3, 1),
    (8, 2, 4, 8, 2, 1),
]


@pytest.mark.parametrize(("ranks", "tp", "after", "batch", "steps", "stop"), SIZES)
def test_every_row_is_a_place_to_stop_and_each_is_read_once(
    run: Run, ranks: int, tp: int, after: int, batch: int, steps: int, stop: int
) -> None:
    report = run(ranks, tp=tp, after=after, batch=batch, steps=steps, stop=stop, window=7)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    total, cut = steps * batch, min(stop, steps) * batch
    assert measured["rows_in_all"] == measured["cuts_equal"] == total
    assert measured["never_read"] == measured["read_again"] == 0
    replicas = ranks // tp
    mine = [
        sum(row % replicas == rank // tp for row in range(cut))
        + sum(row % after == rank // tp for row in range(cut, total))
        for rank in range(ranks)
    ]
    assert measured["tokens_read"] == [7 * rows for rows in mine]
    assert measured["out_error"] < 1e-12
    assert measured["grad_error"] < 1e-12


def test_the_order_and_the_curve_do_not_know_how_many_ranks_there_are(run: Run) -> None:
    one, *others = (run(ranks)["metrics"] for ranks in (1, 2, 3, 4, 5))
    for other in others:
        for name in ("place_bytes", "drawn_again", "lost_no_rest", "lost_no_buffer"):
            assert other[name] == one[name]
        for name in ("loss", "loss_held"):
            assert other[name] == pytest.approx(one[name], rel=1e-12)


@pytest.mark.parametrize("room", [1, 4, 16])
def test_without_a_part_the_tail_is_another(run: Run, room: int) -> None:
    measured = run(1, room=room)["metrics"]
    assert measured["cuts_equal"] == measured["rows_in_all"] == 48
    for part in ("rest", "buffer", "draws", "place"):
        kept = measured[f"equal_no_{part}"]
        if (part, room) in {("buffer", 1), ("draws", 1)}:
            assert kept == 48, "a buffer of one is empty after a draw, and draws are no choice"
        else:
            assert 1 <= kept < 24, part


def test_a_lost_buffer_loses_what_was_in_it(run: Run) -> None:
    lost = [run(1, room=room)["metrics"]["lost_no_buffer"] for room in (1, 8, 32)]
    assert lost[0] == 0
    assert 7 <= lost[1] < lost[2]
    assert 31 <= lost[2] <= 31 * 17


def test_at_the_front_there_is_nothing_to_lose(run: Run) -> None:
    measured = run(2, stop=0)["metrics"]
    assert measured["drawn_again"] == measured["lost_no_rest"] == measured["lost_no_buffer"] == 0


def test_the_longer_a_run_the_more_is_drawn_again_and_the_state_stays_small(run: Run) -> None:
    each = [run(1, steps=16, stop=stop, large=300)["metrics"] for stop in (1, 4, 16)]
    drawn = [one["drawn_again"] for one in each]
    assert drawn[0] < drawn[1] < drawn[2]
    mean = sum(LENGTHS) / len(LENGTHS)
    assert drawn[2] == pytest.approx(16 * 8 * 12 / mean, rel=0.1)
    assert max(one["place_bytes"] for one in each) < 250


@pytest.mark.parametrize("power", [1.0, 0.5, 0.3, 0.0])
def test_a_source_is_passed_over_as_often_as_its_share_says(run: Run, power: float) -> None:
    args: dict[str, Any] = {"large": 900, "middle": 90, "small": 10, "power": power}
    measured = run(1, **args, steps=16, batch=32, window=16, room=1)["metrics"]
    own = [6 * documents for documents in (900, 90, 10)]
    shares = [tokens**power for tokens in own]
    for name, source in (("large", 0), ("small", 2)):
        drawn = 16 * 32 * 16 * shares[source] / sum(shares)
        assert measured[f"passes_{name}"] == pytest.approx(
            drawn / own[source], abs=40 / own[source]
        )


def test_a_cursor_of_each_rank_reads_again_on_fewer_and_skips_on_more(run: Run) -> None:
    for ranks, after in ((4, 2), (4, 1), (3, 2)):
        args = {"tp": 1, "after": after, "batch": 12}
        measured = run(ranks, "cursor-per-rank", **args)["metrics"]
        repeated = 36 - 36 // ranks * after
        assert measured["read_again"] == measured["never_read"] == repeated
    assert run(4, "cursor-per-rank", tp=1, after=4)["verdict"] == "pass"


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_what_was_made_ahead_is_never_read(run: Run, ahead: int) -> None:
    report = run(2, "ahead-is-read", ahead=ahead)
    assert "each row is read by one replica" in failed(report)
    assert report["metrics"]["never_read"] == ahead
    assert report["metrics"]["read_again"] == 0
    assert run(2, "ahead-is-read", ahead=0)["verdict"] == "pass"


@pytest.mark.parametrize("ranks", [2, 4, 6])
def test_a_group_that_reads_different_rows_is_wrong(run: Run, ranks: int) -> None:
    red = failed(run(ranks, "global-rank"))
    assert {"outputs equal one process", "gradients equal one process"} <= {*red}
    assert run(ranks, "global-rank", tp=1, after=ranks)["verdict"] == "pass"


def test_rows_read_again_show_in_their_loss_and_not_in_that_of_others(run: Run) -> None:
    sources = {"large": 900, "middle": 300, "small": 100}
    args: dict[str, Any] = {"stop": 6, "tp": 1, "after": 2, **sources}
    ends = (6, 7, 9, 10)  # a run each, as long as the step it is asked of
    curve = {k: run(4, "cursor-per-rank", steps=k, **args)["metrics"] for k in ends}
    loss = {k: one["loss"] for k, one in curve.items()}
    held = {k: one["loss_held"] for k, one in curve.items()}
    assert max(loss[7], loss[9]) < 0.85 < min(loss[6], loss[10])
    assert abs(held[7] - held[9]) < 0.03
    assert ceil(100 * held[9]) >= ceil(100 * held[6])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"tp": 3}, "take 1 or 4"),
        ({"after": 3}, "take 1 to 2"),
        ({"batch": 1}, "2 to 32"),
        ({"steps": 17}, "1 to 16"),
        ({"window": 1}, "2 to 64"),
        ({"small": 40}, "small <= middle"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
