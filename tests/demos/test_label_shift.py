"""Targets of a sequence that is cut: which a local shift loses, what each weighs, who sums."""

from itertools import pairwise
from math import isnan
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("label-shift")

pytestmark = pytest.mark.demo


def shards_of(seq: int, shards: int, layout: str) -> list[list[int]]:
    """Which tokens each shard holds, in its order."""
    if layout == "striped":
        return [[*range(shard, seq, shards)] for shard in range(shards)]
    n = seq // shards
    if layout == "contiguous":
        return [[*range(shard * n, shard * n + n)] for shard in range(shards)]
    n //= 2
    late = [2 * shards - 1 - shard for shard in range(shards)]
    return [
        [*range(early * n, early * n + n), *range(late[early] * n, late[early] * n + n)]
        for early in range(shards)
    ]


@pytest.mark.parametrize("layout", ["contiguous", "zigzag", "striped"])
@pytest.mark.parametrize(("ranks", "copies"), [(1, 1), (2, 1), (3, 1), (4, 1), (4, 2), (3, 3)])
def test_it_is_exact_and_counts_what_a_local_shift_gets_wrong(
    run: Run, ranks: int, copies: int, layout: str
) -> None:
    seq, batch, prompt, shards = 24, 3, 4, ranks // copies
    sizes = {"seq": seq, "batch": batch, "prompt": prompt, "vocab": 7, "width": 5}
    report = run(ranks, copies=copies, layout=layout, **sizes)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]

    mistaken, lost, targets = [], [], []
    for held in shards_of(seq, shards, layout):
        pairs = list(pairwise(held))
        mistaken.append(sum(later != place + 1 and place != seq - 1 for place, later in pairs))
        lost.append(int(held[-1] != seq - 1))
        targets.append(batch * sum(prompt <= place + 1 < seq for place in held))
    assert measured["mistaken"] == mistaken * copies
    assert measured["lost"] == lost * copies
    assert measured["targets"] == targets * copies
    wrong = {"contiguous": shards - 1, "zigzag": 2 * shards - 2, "striped": seq - 1}
    assert sum(mistaken + lost) == (wrong[layout] if shards > 1 else 0)

    assert measured["weight"] == pytest.approx([float(count > 0) for count in targets * copies])
    assert measured["nan_by_mean"] == [int(count == 0) for count in targets * copies]
    # Each group alone is enough only where the other axis has one rank.
    for name, enough in (("own", ranks == 1), ("dp", shards == 1), ("cp", copies == 1)):
        assert all((error < 1e-12) == enough for error in measured[f"{name}_error"]), name


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    for layout in ("contiguous", "zigzag", "striped"):
        assert planted.expect in failed(run(3, name, layout=layout, prompt=8))


def test_what_a_break_leaves_right(run: Run) -> None:
    unlike = ["gradients equal one process", "weights stay alike"]
    assert failed(run(2, "gradient-not-reduced")) == unlike
    # Plain data parallelism has always reduced over DP.
    assert run(3, "gradient-not-reduced", copies=3)["verdict"] == "pass"
    # Equal numbers of targets: a mean of means is the mean.
    assert "gradients equal one process" not in failed(run(3, "mean-of-means", copies=3))
    # Distributed or not, a model that shifts what is shifted predicts the token after next.
    assert "loss equals one process" in failed(run(1, "shifted-twice"))


def test_a_shard_without_targets(run: Run) -> None:
    args = {"layout": "contiguous", "seq": 40, "prompt": 24}
    measured = run(4, **args)["metrics"]
    assert measured["targets"] == [0, 0, 2 * 7, 2 * 9]
    assert measured["nan_by_mean"] == [1, 1, 0, 0]
    assert measured["grad_error"] < 1e-12
    # The loss that is logged is NaN; torch gives ignored targets no gradient, and training goes on.
    means = run(4, "mean-of-means", **args)["metrics"]
    assert isnan(means["loss_error"])
    assert 0.01 < means["grad_error"] < 1
    assert means["weight"] == pytest.approx([0, 0, 32 / (4 * 14), 32 / (4 * 18)])


@pytest.mark.parametrize(
    ("ranks", "args", "said"),
    [
        (3, {"copies": 2}, "[1, 3]"),
        (3, {"seq": 40}, "36 or 42"),
        (1, {"seq": 1, "layout": "contiguous"}, "2 or 3"),
        (3, {"seq": 40, "layout": "striped"}, "39 or 42"),
        (2, {"seq": 8, "prompt": 8}, "between 1 and 7"),
        (2, {"batch": 0}, "start at 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    run: Run, ranks: int, args: dict[str, Any], said: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert said in report["error"]["message"]
