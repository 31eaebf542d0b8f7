"""Whole experts and slices of them: against one process, and what each sends and multiplies."""

from math import comb
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("expert-cuts")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {}),
        (2, {"k": 1, "tokens": 1, "hot": 3.0}),
        (3, {"k": 6, "width": 5, "nodes": 3}),
        (4, {"k": 5, "hot": 5.0}),
        (6, {"tokens": 7, "k": 3}),
        (8, {"k": 8, "balanced": True}),
    ],
)
def test_both_ways_are_one_process(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    assert max(report["metrics"]["gradient_error"]) < 1e-12


@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (4, 2), (4, 8), (8, 2)])
def test_what_is_sent_and_multiplied_where_routing_is_even(run: Run, n: int, k: int) -> None:
    # As many tokens on each rank as there are experts: each rank's rows go to all experts alike.
    measured = run(n, k=k, balanced=True, experts=2 * n, tokens=2 * n, width=4, inner=24)["metrics"]
    row = 4 * 8
    assert measured["sent_tp"] == [2 * (n - 1) * 2 * n * row] * n
    assert measured["sent_ep"] == [2 * k * (n - 1) * 2 * row] * n
    assert [tp * k for tp in measured["sent_tp"]] == [n * ep for ep in measured["sent_ep"]]
    assert measured["macs_ep"] == measured["macs_tp"] == [2 * n * k * 2 * 4 * 24] * n
    assert (measured["gemms_ep"], measured["gemms_tp"]) == ([2] * n, [2 * n] * n)
    assert (measured["inner_ep"], measured["inner_tp"]) == ([24] * n, [24 // n] * n)
    assert measured["rows_mean"] == measured["rows_most"] == n * k
    assert measured["rows_routed"] == 2 * n * n * k


def test_a_popular_expert_is_one_ranks_or_everybodys(run: Run) -> None:
    measured = run(4, hot=6.0)["metrics"]
    assert max(measured["macs_ep"]) == measured["macs_ep"][0] > 1.5 * measured["macs_tp"][0]
    assert len({*measured["macs_tp"]}) == 1


@pytest.mark.parametrize(
    ("experts", "tokens", "k", "block"), [(64, 512, 2, 128), (12, 50, 3, 16), (8, 3, 1, 32)]
)
def test_rows_are_padded_to_blocks(run: Run, experts: int, tokens: int, k: int, block: int) -> None:
    sizes = {"experts": experts, "tokens": tokens, "k": k, "block": block, "width": 2, "inner": 4}
    measured = run(4, balanced=True, **sizes)["metrics"]
    each, more = divmod(4 * tokens * k, experts)
    loads = [each + (e < more) for e in range(experts)]
    assert measured["rows_padded"] == sum(-(-load // block) * block for load in loads)


@pytest.mark.parametrize(("experts", "nodes", "k"), [(256, 8, 8), (64, 8, 6), (12, 3, 2)])
def test_nodes_of_a_token(run: Run, experts: int, nodes: int, k: int) -> None:
    measured = run(4, experts=experts, nodes=nodes, k=k, inner=4)["metrics"]
    elsewhere = comb(experts - experts // nodes, k) / comb(experts, k)
    assert measured["nodes_mean"] == pytest.approx(nodes * (1 - elsewhere), rel=5e-3)


@pytest.mark.parametrize(("experts", "k"), [(8, 2), (12, 1), (4, 4)])
def test_active_are_those_outside_and_k_experts(run: Run, experts: int, k: int) -> None:
    measured = run(4, experts=experts, k=k)["metrics"]
    one, outside = 2 * 6 * 24, 6 * 6 + 6 * experts
    assert measured["params_expert"] == one
    assert measured["params_total"] == outside + experts * one
    assert measured["params_active"] == outside + k * one


def test_what_a_break_leaves_right(run: Run) -> None:
    assert failed(run(4, "gathered-one-way")) == ["tp: gradients equal one process"]
    assert not [name for name in failed(run(4, "dealt-out-in-turn")) if name.startswith("tp")]


@pytest.mark.parametrize(
    "args",
    [{"experts": 6}, {"inner": 6}, {"k": 9}, {"k": 0}, {"nodes": 3}, {"block": 0}, {"tokens": 0}],
)
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(4, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
