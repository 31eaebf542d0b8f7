"""From training's layout to serving's: logits stay, and wrong cuts fit."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

TINY = {"layers": 1, "hidden": 5, "head_dim": 3}
WRONG = ("block", "across", "padded")


@pytest.mark.parametrize(
    ("ranks", "serve_tp", "groups", "ffn", "vocab"),
    [(1, 2, 4, 6, 9), (2, 3, 6, 12, 17), (3, 2, 6, 6, 5), (4, 1, 8, 4, 33), (6, 2, 6, 6, 50)],
)
def test_logits_are_what_they_were(
    run: Run, ranks: int, serve_tp: int, groups: int, ffn: int, vocab: int
) -> None:
    args = {"serve_tp": serve_tp, "groups": groups, "ffn": ffn, "vocab": vocab, **TINY}
    for queries in (1, 3):
        report = run(ranks, queries=queries, **args)
        assert report["verdict"] == "pass", report
        measured = report["metrics"]
        assert measured["padded_rows"] == -vocab % (8 * ranks)
        assert measured["block_misfits"] == measured["across_misfits"] == 0
        parts = [5, 5, 5, 5 * 3 * groups * queries, 5 * 3 * groups * (queries + 2), 15 * ffn]
        held = [*parts[:3]] + [part // ranks for part in parts[3:]]
        held += [2 * 5 * (vocab + measured["padded_rows"]) // ranks]
        assert measured["joined_bytes"] == [8 * (ranks - 1) * sum(held)] * ranks


def test_wrong_cuts_fit_and_are_wrong(run: Run) -> None:
    measured = run(4)["metrics"]
    assert all(measured[f"{name}_error"] > 0.1 for name in WRONG)
    assert measured["block_changed"] > 0


@pytest.mark.parametrize("serve_tp", [12, 24])
def test_rows_in_a_block_are_right_where_a_rank_has_one_kv_head(run: Run, serve_tp: int) -> None:
    measured = run(2, serve_tp=serve_tp)["metrics"]
    assert (measured["block_error"] < 1e-12) == (serve_tp == 24)
    assert measured["across_error"] > 0.1


@pytest.mark.parametrize("name", ["gate-and-up-across", "wrong-axis"])
def test_joining_wrongly_takes_more_than_one_part(run: Run, name: str) -> None:
    for ranks in (2, 3):
        report = run(ranks, name)
        assert "serving says what one process says" in failed(report)
        assert report["metrics"]["train_error"] < 1e-12
    assert run(1, name)["verdict"] == "pass"


def test_a_wrong_block_shows_on_one_rank_too(run: Run) -> None:
    assert failed(run(1, "qkv-as-one-block")) == ["serving says what one process says"]


def test_rows_of_padding_take_a_share(run: Run) -> None:
    assert "serving knows the tokens there are" in failed(run(2, "padding-kept"))
    assert run(2, "padding-kept", vocab=48)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"serve_tp": 5}, "groups 25 and ffn 50"),
        ({"groups": 6, "serve_tp": 2}, "groups 8"),
        ({"tokens": 0}, "start at 1"),
    ],
)
def test_what_cannot_be_cut_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
