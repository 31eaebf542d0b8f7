"""Feeding a pipeline from both ends: what it idles, what it holds, and what the bugs do."""

import ast
from pathlib import Path
from typing import Any

import pytest

from quizkit.calc.schedule import Costs, Name, order, place, simulate

from .conftest import Run, failed

DEMOS = Path(__file__).parents[2] / "demos"
SOURCE = (DEMOS / "pipeline_dualpipe.py").read_text(encoding="utf-8")


def two_sided(near: int, far: int, microbatches: int) -> list[list[tuple[str, int, int]]]:
    """The schedule by itself: the file's other lines need torch."""
    tree = ast.parse(SOURCE).body
    wanted: list[ast.stmt] = [
        node
        for node in tree
        if (isinstance(node, ast.ImportFrom) and node.module == "collections")
        or (isinstance(node, ast.FunctionDef) and node.name in ("schedule_two_sided", "numbered"))
    ]
    space: dict[str, Any] = {}
    exec(compile(ast.Module(wanted, []), "pipeline_dualpipe.py", "exec"), space)
    return space["schedule_two_sided"](near, far, microbatches)


@pytest.mark.parametrize(("p", "m"), [(1, 2), (2, 4), (3, 6), (4, 9), (5, 12)])
def test_every_micro_batch_goes_through_both_chunks(p: int, m: int) -> None:
    for near in range(p):
        ran = [part for parts in two_sided(near, p - 1 - near, m) for part in parts]
        everything = [(kind, chunk, i) for kind in "FBW" for chunk in (0, 1) for i in range(m)]
        assert sorted(ran) == sorted(everything)
        for chunk in (0, 1):
            for i in range(m):
                at = [ran.index((kind, chunk, i)) for kind in "FBW"]
                assert at == sorted(at)


@pytest.mark.demo
@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (4, 10), (6, 12), (8, 16)])
def test_the_laws_hold_on_real_ranks(run: Run, p: int, m: int) -> None:
    report = run(p, microbatches=m)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["idle_1f1b"] == 3 * (p - 1)
    assert measured["idle_dualpipe"] == p - 2
    assert measured["idle_dualpipe_v"] == p - 1
    whole = measured["parameters_1f1b"]
    assert whole == [2 * (16 * 16 + 16)] * p
    assert measured["parameters_dualpipe"] == [2 * each for each in whole]
    assert measured["parameters_dualpipe_v"] == whole
    assert measured["peak_live_1f1b"] == [min(p - r, m) for r in range(p)]
    assert measured["peak_live_dualpipe"] == [p + 1] * p
    assert measured["peak_live_dualpipe_v"] == [p + 0.5] * p


@pytest.mark.demo
@pytest.mark.parametrize(("f", "b", "w"), [(1, 1, 1), (2, 2, 1), (1, 2, 1), (2, 1, 3)])
def test_the_clock_says_what_the_simulator_says(run: Run, f: float, b: float, w: float) -> None:
    p, m = 4, 8
    measured = run(p, microbatches=m, forward=f, backward_input=b, backward_weight=w)["metrics"]
    pairs: list[tuple[str, Name, int]] = [
        ("dualpipe", "dualpipe", 1),
        ("dualpipe_v", "dualpipe-v", 2),
    ]
    for name, theirs, share in pairs:
        costs = Costs(f / share, b / share, w / share)
        played = simulate(order(theirs, p, m), place(theirs, p, m), costs)
        assert measured[f"idle_{name}"] == pytest.approx(played.makespan - m * (f + b + w))


@pytest.mark.demo
def test_a_pair_that_is_quicker_makes_a_smaller_hole(run: Run) -> None:
    # DeepSeek's formula with F&B = 0.8 (F + B): (4/2 - 1)(2.4 + 2 - 3).
    report = run(4, microbatches=8, pair=0.8)
    assert report["verdict"] == "pass"
    assert report["metrics"]["idle_dualpipe"] == pytest.approx(1.4)


@pytest.mark.demo
def test_the_timeline_lets_both_ways_in_at_once(run: Run) -> None:
    events = [e for e in run(4)["timeline"]["events"] if e["schedule"] == "dualpipe"]
    assert len(events) == 4 * 3 * 16
    begun = {rank: min(e["start"] for e in events if e["rank"] == rank) for rank in range(4)}
    assert begun == {0: 0, 1: 1, 2: 1, 3: 0}


@pytest.mark.demo
@pytest.mark.parametrize("name", ["copies-not-added", "loss-of-one-way"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_only_two_ways_can_go_wrong(run: Run, name: str, ranks: int) -> None:
    report = run(ranks, name)
    assert failed(report) == ["dualpipe gradients equal one process"]
    assert report["metrics"]["idle_dualpipe"] == ranks - 2


@pytest.mark.demo
@pytest.mark.parametrize(
    ("ranks", "args", "what"),
    [
        (1, {}, "take 2"),
        (3, {}, "take 2 or 4"),
        (4, {"microbatches": 6}, "take 8"),
        (4, {"microbatches": 9}, "take 10"),
        (2, {"pair": 0}, "from 0.001"),
        (2, {"forward": -1}, "from 0.001"),
        (2, {"backward_weight": 1e9}, "to 1000"),
        (2, {"width": 0}, "starts at 1"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, ranks: int, args: dict[str, float], what: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert what in report["error"]["message"]
