"""Splits by cost against every split there is, and the pace of a real pipeline under them."""

import ast
from itertools import accumulate, combinations, count, pairwise
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from quizkit.calc.schedule import Costs, order, place, simulate
from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("pipeline-partition")


def functions(*names: str) -> SimpleNamespace:
    """Some of its functions by themselves: the file's other lines need torch."""
    nodes = [
        node
        for node in ast.parse(DEMO.source).body
        if isinstance(node, ast.FunctionDef) and node.name in names
    ]
    space: dict[str, Any] = {"accumulate": accumulate, "count": count}
    exec(compile(ast.Module([*nodes], []), "pipeline_partition.py", "exec"), space)
    return SimpleNamespace(**space)


PAPER = functions("split_evenly", "split_by_cost", "lightest_possible")


def slowest(costs: list[int], cuts: list[int]) -> int:
    return max(sum(costs[start:end]) for start, end in pairwise(cuts))


def test_no_split_is_better() -> None:
    dice = Random(3)
    for _ in range(200):
        costs = [dice.randrange(1, 8) for _ in range(dice.randrange(1, 9))]
        stages = dice.randrange(1, len(costs) + 1)
        every = combinations(range(1, len(costs)), stages - 1)
        best = min(slowest(costs, [0, *cuts, len(costs)]) for cuts in every)
        cuts = PAPER.split_by_cost(costs, stages)
        assert cuts[0] == 0
        assert cuts[-1] == len(costs)
        assert all(start < end for start, end in pairwise(cuts)), "a stage without layers"
        assert slowest(costs, cuts) == best == PAPER.lightest_possible(costs, stages)


def test_an_even_split_differs_by_one_layer_beside_the_head() -> None:
    for layers in range(1, 20):
        for stages in range(1, layers + 2):
            sizes = [b - a for a, b in pairwise(PAPER.split_evenly([1] * layers + [5], stages))]
            body = [*sizes[:-1], sizes[-1] - 1]
            assert sum(body) == layers
            assert max(body) - min(body) <= 1


@pytest.mark.demo
@pytest.mark.parametrize(
    ("p", "layers", "head", "m"),
    [(4, 30, 3, 8), (3, 7, 5, 4), (5, 4, 1, 3), (2, 6, 10, 1), (1, 2, 2, 2)],
)
def test_the_slowest_stage_sets_the_pace(run: Run, p: int, layers: int, head: int, m: int) -> None:
    report = run(p, layers=layers, head=head, microbatches=m)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    for name in ("even", "best"):
        load = measured[f"load_{name}"]
        assert sum(load) == layers + head
        assert sum(measured[f"layers_{name}"]) == layers + 1
        assert measured[f"makespan_{name}"] == 3 * (layers + head + (m - 1) * max(load))
        played = simulate(order("1f1b", p, m), place("1f1b", p, m), Costs(1, 1, 1, 0, load))
        assert measured[f"makespan_{name}"] == played.makespan
        assert measured[f"bubble_{name}"] == pytest.approx(
            1 - 3 * m * sum(load) / p / played.makespan
        )
    assert max(measured["load_best"]) <= max(measured["load_even"])


@pytest.mark.demo
def test_thirty_layers_and_a_head_of_three(run: Run) -> None:
    measured = run(4)["metrics"]
    assert measured["load_even"] == [8, 7, 8, 10]
    assert measured["load_best"] == [8, 8, 8, 9]


@pytest.mark.demo
def test_a_head_above_the_mean_is_the_floor(run: Run) -> None:
    for p in (2, 4):
        assert max(run(p, layers=6, head=10)["metrics"]["load_best"]) == 10


@pytest.mark.demo
def test_each_bug_spoils_what_it_should(run: Run) -> None:
    lightest = ["no split has a lighter slowest stage"]
    assert failed(run(4, "costs-ignored")) == lightest
    assert failed(run(4, "only-the-last-stage")) == lightest
    assert "best gradients equal one process" in failed(run(4, "layer-on-both-sides"))


@pytest.mark.demo
def test_too_few_layers_are_refused(run: Run) -> None:
    report = run(4, layers=2)
    assert report["outcome"] == "refused"
    assert "3 stages at most" in report["error"]["message"]
    assert run(4, layers=3)["verdict"] == "pass"
    assert run(2, head=0)["outcome"] == "refused"
