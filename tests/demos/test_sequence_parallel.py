"""Norm and dropout cut by tokens: what stays equal, what is divided, what is owed."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, failed

SOURCE = (Path(__file__).parents[2] / "demos" / "sequence_parallel.py").read_text(encoding="utf-8")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("t", "seq", "batch", "hidden", "keep"),
    [
        (1, 3, 1, 5, "shard"),
        (2, 6, 3, 7, "gathered"),
        (3, 9, 1, 10, "shard"),
        (4, 8, 2, 24, "shard"),
    ],
)
def test_equal_bytes_forward_and_a_share_of_what_is_kept(
    run: Run, t: int, seq: int, batch: int, hidden: int, keep: str
) -> None:
    report = run(t, seq=seq, batch=batch, hidden=hidden, ffn=12, keep=keep)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    once = seq * batch * hidden * 8
    for way in ("forward", "backward"):
        # An all-reduce by ring; in shards of whole tokens it divides evenly.
        assert measured[f"sent_{way}_tp"] == [2 * (t - 1) * once // t] * t
        assert measured[f"calls_{way}_tp"] == [1] * t
    assert measured["sent_forward_sp"] == measured["sent_forward_tp"]
    assert measured["calls_forward_sp"] == [2] * t
    # Who keeps a shard gathers it once more: a third half.
    halves = 3 if keep == "shard" else 2
    assert measured["sent_backward_sp"] == [halves * (t - 1) * once // t] * t
    assert measured["calls_backward_sp"] == [halves] * t
    assert measured["input_bytes_tp"] == [once] * t
    assert measured["input_bytes_sp"] == [once // t if keep == "shard" else once] * t
    # The norm keeps its input and two statistics of each token; dropout a byte for each number.
    kept = once + 2 * seq * batch * 8 + once // 8
    assert measured["region_bytes_tp"] == [kept] * t
    assert measured["region_bytes_sp"] == [kept // t] * t
    assert measured["norm_sent"] == [0] * t
    assert measured["norm_error"] == [0] * t
    assert measured["torch_owes_norm"] == 1
    for name in ("norm_local_error", "bias_local_error"):
        assert all((error > 0.1) == (t > 1) for error in measured[name])


def test_watch_lists_what_a_run_reports(run: Run) -> None:
    report = run(4)
    watch = (ast.get_docstring(ast.parse(SOURCE)) or "").split("Watch\n")[1].split("\nRun\n")[0]
    listed = dict(re.findall(r"^    (\w+)( \(shared)?", watch, re.MULTILINE))
    assert set(listed) == set(report["metrics"])
    for name, value in report["metrics"].items():
        assert isinstance(value, list) == (not listed[name]), name
    assert set(report["how"].values()) == {"counted", "compared"}


BREAKS = {
    "norm-not-summed": "sp norms",
    "bias-not-summed": "sp down_bias",
    "slice-for-backward": "sp x",
    "one-mask-for-all": "sp out",
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared(run: Run, name: str) -> None:
    expect = f"{BREAKS[name]} as on one process"
    declared = re.search(rf'"{name}": Break\(.*?expect="(.*?)",\s*ranks=(\d+)', SOURCE, re.DOTALL)
    assert declared is not None
    assert declared.groups() == (expect, "2")
    assert expect in failed(run(2, name))


@pytest.mark.parametrize(
    ("name", "only"), [("norm-not-summed", "norms"), ("bias-not-summed", "down_bias")]
)
def test_what_is_owed_is_all_that_is_missing(run: Run, name: str, only: str) -> None:
    assert failed(run(2, name)) == [f"sp {only} as on one process"]


def test_a_sliced_gradient_spares_the_matrices(run: Run) -> None:
    report = run(2, "slice-for-backward")
    wrong = {"norms", "x"}
    red = {name for name in failed(report) if name.endswith("as on one process")}
    assert red == {f"sp {name} as on one process" for name in wrong}
    # A slice sends nothing, so that one of the backward's three halves is missing.
    assert report["metrics"]["sent_backward_sp"] == report["metrics"]["sent_backward_tp"]
    assert max(report["metrics"][f"{name}_error"] for name in ("out", "matrix_grad")) < 1e-12


@pytest.mark.parametrize(
    ("t", "args", "fits"),
    [
        (2, {"seq": 5}, "seq 6"),
        (3, {"ffn": 20}, "ffn 21"),
        (2, {"batch": 0}, "start at 1"),
        (2, {"dropout": 1.0}, "below 1"),
    ],
)
def test_what_cannot_be_shared_is_refused_with_what_can(
    run: Run, t: int, args: dict[str, Any], fits: str
) -> None:
    report = run(t, **args)
    assert report["outcome"] == "refused"
    assert fits in report["error"]["message"]
