"""Activations out of five layouts: what a hook has, what the whole is, what a probe makes of it."""

from math import ceil
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "layers", "at", "batch"), [(1, 1, 0, 2), (2, 3, 2, 5), (3, 4, 1, 7), (6, 7, 6, 4)]
)
def test_hooks_see_a_share_and_findings_agree(
    run: Run, ranks: int, layers: int, at: int, batch: int
) -> None:
    args = {"layers": layers, "at": at, "batch": batch, "hidden": 5, "seq": 6, "heads": 6}
    report = run(ranks, ffn=12, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["hook_columns"] == [12 // ranks] * ranks
    assert measured["hook_tokens"] == [6 // ranks] * ranks
    assert measured["hook_samples"] == [ceil(batch / ranks)] * ranks
    # The columns travel round the ring; then there is one DP rank, and a broadcast.
    part = batch * 6 * (12 // ranks) * 8
    assert measured["gather_bytes"] == [(ranks - 1) * part] * ranks
    assert measured["probe_apart"] == 0
    assert measured["pp_bits_fp32"] is True


def test_rounding_grows_with_fewer_bits_and_no_more(run: Run) -> None:
    measured = run(4)["metrics"]
    assert 0 < measured["whole_error"] < 1e-12
    assert 1e-8 < measured["fp32_apart"] < 1e-4
    assert 1e-3 < measured["bf16_apart"] < 0.5
    assert min(measured["part_error"], measured["order_error"]) > 1


def test_samples_joined_by_rank_mislead_a_probe(run: Run) -> None:
    assert "a probe comes to the same verdict" in failed(run(4, "joined-by-rank"))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"heads": 6}, "heads 8"), ({"layers": 3, "at": 0}, "4 layers"), ({"at": 8}, "from 0")],
)
def test_what_cannot_be_cut_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
