"""Norms and softmax on shards are those of the whole row; what each planted bug leaves standing."""

import re
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("parallel-norm-softmax")

pytestmark = pytest.mark.demo

RIGHT = (
    "layer_norm",
    "layer_norm_grad",
    "layer_norm_weight",
    "rms_norm",
    "rms_norm_grad",
    "softmax",
    "softmax_grad",
    "loss",
    "loss_grad",
    "batch_norm",
    "gelu",
    "layer_norm_rows",
)
WRONG = ("softmax_handed_on", "loss_reduced", "batch_norm_rows", "weight_rows", "gelu_partial")


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {}),
        (2, {"hidden": 6, "rows": 5, "spread": 0.0}),
        (3, {"hidden": 21, "rows": 7, "spread": -2.0}),
        (4, {}),
        (8, {}),
    ],
)
def test_shards_agree_with_the_whole(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert max(measured[f"{name}_off"] for name in RIGHT) < 1e-12
    # On one rank nothing is cut, so nothing is wrong.
    for name in WRONG:
        assert (measured[f"{name}_off"] > 1e-2) == (ranks > 1), name
    assert measured["loss_reduced_off"] == pytest.approx(ranks - 1, abs=1e-12)
    assert measured["loss_reduced_scale"] == pytest.approx(ranks, rel=1e-12)
    # The shards' means lie as far apart as whole numbers, times the spread.
    between = args.get("spread", 3.0) ** 2 * (ranks**2 - 1) / 12
    assert measured["variance"] == pytest.approx(1 + between, rel=1e-12)
    assert measured["variance_within"] == pytest.approx(1, rel=1e-12)
    assert measured["norm_collectives"] == measured["softmax_collectives"] == [2] * ranks
    assert measured["local_collectives"] == [0] * ranks
    assert "computed" not in report["how"].values()


def reds(report: dict[str, Any]) -> set[str]:
    return set(failed(report))


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.expect in reds(run(planted.ranks, name))
    assert not reds(run(planted.ranks - 1, name))


def test_averaged_variances_forget_how_far_the_means_lie_apart(run: Run) -> None:
    report = run(4, "averaged-variances")
    assert report["metrics"]["variance"] == pytest.approx(1, rel=1e-12)
    assert reds(report) == {
        "layer norm as on one",
        "layer norm grad as on one",
        "layer norm weight as on one",
    }


def test_an_all_reduce_that_autograd_does_not_see_spares_every_result(run: Run) -> None:
    report = run(4, "unseen-all-reduce")
    # Where the sum becomes a loss that all have whole, handing its gradient on is even right.
    assert reds(report) == {
        f"{name} grad as on one" for name in ("layer norm", "rms norm", "softmax")
    }
    assert report["metrics"]["layer_norm_weight_off"] < 1e-12


def test_reduced_again_is_as_many_times_too_long_as_there_are_ranks(run: Run) -> None:
    for ranks in (2, 3):
        report = run(ranks, "reduced-again")
        assert reds(report) == {"loss grad as on one"}
        assert report["metrics"]["loss_grad_off"] == pytest.approx(ranks - 1, abs=1e-12)


@pytest.mark.parametrize(
    ("args", "nearest"),
    [
        ({"hidden": 10}, "hidden 12"),
        ({"hidden": 4}, "hidden 8"),
        ({"rows": 7}, "rows from 8"),
        ({"spread": 1e3}, "spread up to 100"),
    ],
)
def test_what_cannot_be_divided_is_refused(run: Run, args: dict[str, Any], nearest: str) -> None:
    report = run(4, **args)
    assert report["outcome"] == "refused"
    assert re.search(nearest, report["error"]["message"])
