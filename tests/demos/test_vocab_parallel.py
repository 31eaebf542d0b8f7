"""Who owns which id, what the loss sends, and what each planted bug leaves standing."""

import re
from math import isnan, nan
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("vocab-parallel")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {}),
        (2, {"vocab": 13, "multiple": 1}),
        (3, {"vocab": 100, "tokens": 50}),  # neither divides
        (4, {}),
        (8, {}),  # the last rank owns nothing but padding
        (3, {"vocab": 2, "multiple": 1, "tokens": 3}),  # fewer ids than ranks
        (2, {"lift": -1000.0}),
        (2, {"skew": 3.0}),
    ],
)
def test_rows_bytes_and_gradients(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    vocab, tokens = args.get("vocab", 101), args.get("tokens", 128)
    multiple = args.get("multiple", 8)
    rows = -(-vocab // (ranks * multiple)) * multiple
    assert measured["table_rows"] == [rows] * ranks
    assert measured["ownerless"] == 0
    assert sum(measured["own_ids"]) == tokens
    assert measured["logits"] == [tokens * rows] * ranks
    assert sum(measured["sent_lookup"]) == 2 * (ranks - 1) * tokens * 16 * 8
    assert sum(measured["sent_loss"]) == 2 * (ranks - 1) * tokens * 3 * 8
    assert measured["sent_gather"] == [(ranks - 1) * tokens * rows * 8] * ranks
    assert measured["sent_table_backward"] == measured["sent_loss_backward"] == [0] * ranks
    assert measured["loss_cut"] == pytest.approx([measured["loss_one"]] * ranks, rel=1e-12)
    assert "torch's loss_parallel, same loss" in {check["name"] for check in report["checks"]}
    assert "computed" not in report["how"].values()


def test_a_lift_is_not_in_the_loss(run: Run) -> None:
    high, low = run(2)["metrics"], run(2, lift=-1000.0)["metrics"]
    assert high["loss_cut"] == pytest.approx(low["loss_cut"], rel=1e-12)


def test_frequent_ids_crowd_on_one_rank_and_cost_it_nothing(run: Run) -> None:
    even, skewed = run(2)["metrics"], run(2, skew=3.0)["metrics"]
    assert skewed["own_ids"][0] > 105 > 75 > max(even["own_ids"])
    for name in ("logits", "sent_lookup", "sent_loss"):
        assert skewed[name] == even[name]


def test_an_all_reduce_of_the_shards_gradients_would_spoil_them(run: Run) -> None:
    assert run(1)["metrics"]["summed_grad_error"][0] < 1e-12
    assert min(run(4)["metrics"]["summed_grad_error"]) > 1e-2


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.expect in reds(run(planted.ranks, name))
    if planted.ranks > 1:
        assert planted.expect not in reds(run(planted.ranks - 1, name))


def reds(report: dict[str, Any]) -> set[str]:
    return set(failed(report))


def test_foreign_rows_add_row_0_of_every_other_shard(run: Run) -> None:
    measured = run(4, "foreign-rows-kept")["metrics"]
    assert max(measured["stray_error"]) < 1e-12 < 1 < min(measured["lookup_error"])
    assert min(run(4)["metrics"]["stray_error"]) > 1


@pytest.mark.parametrize(("ranks", "vocab", "lost"), [(2, 13, 1), (3, 101, 2)])
def test_floor_division_loses_the_tail(run: Run, ranks: int, vocab: int, lost: int) -> None:
    assert run(ranks, "tail-without-owner", vocab=vocab)["metrics"]["ownerless"] == lost


def test_with_local_maxima_each_rank_has_a_loss_of_its_own(run: Run) -> None:
    report = run(2, "local-max")
    assert "token loss as on one" in failed(report)
    assert "lookup as on one" not in failed(report)
    assert len(set(report["metrics"]["loss_cut"])) == 2
    # A shard of nothing but padding has no largest logit to subtract.
    assert isnan(run(3, "local-max", vocab=5)["metrics"]["loss_cut"][2])


def test_rows_of_zeros_still_count_in_the_denominator(run: Run) -> None:
    measured = run(1, "padding-counted")["metrics"]
    assert min(measured["loss_cut"]) > measured["loss_one"] + 1e-3
    assert not failed(run(1, "padding-counted", vocab=104))  # nothing is padded


def test_a_onehot_without_its_mask_spares_the_loss(run: Run) -> None:
    report = run(2, "onehot-everywhere")
    assert "token loss as on one" not in failed(report)
    assert "head grad as on one" in failed(report)


@pytest.mark.parametrize(
    "args",
    [{"vocab": 0}, {"multiple": 0}, {"tokens": 1}, {"skew": -1.0}, {"skew": nan}, {"lift": 1e4}],
)
def test_what_cannot_run_is_refused_with_what_can(run: Run, args: dict[str, float]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert re.search(r"start at 1, tokens at 2", report["error"]["message"])
