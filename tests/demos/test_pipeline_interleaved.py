"""Chunks divide the bubble; what they cost in messages and activations; and the planted bugs."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quizkit.calc.schedule import order, place, simulate

from .conftest import Run, failed

DEMOS = Path(__file__).parents[2] / "demos"
SOURCE = (DEMOS / "pipeline_interleaved.py").read_text(encoding="utf-8")

Schedule = list[tuple[str, int, int]]


def interleaved() -> Callable[..., Schedule]:
    """The schedule by itself: the file's other lines need torch."""
    [function] = [
        node
        for node in ast.parse(SOURCE).body
        if isinstance(node, ast.FunctionDef) and node.name == "schedule_interleaved"
    ]
    space: dict[str, Any] = {}
    exec(compile(ast.Module([function], []), "pipeline_interleaved.py", "exec"), space)
    return space[function.name]


def test_the_order_is_the_calculators_where_ranks_divide_the_batch() -> None:
    schedule = interleaved()
    for stages in range(1, 6):
        for microbatches in (stages, 2 * stages, 3 * stages):
            for chunks in (1, 2, 3):
                theirs = order("interleaved", stages, microbatches, chunks)
                ours = [schedule(r, stages, microbatches, chunks) for r in range(stages)]
                assert ours == theirs


@pytest.mark.parametrize(("p", "m", "group"), [(4, 6, 6), (4, 10, 5), (3, 8, 4), (4, 3, 3)])
def test_groups_are_equal_and_each_goes_through_all_chunks(p: int, m: int, group: int) -> None:
    ran = interleaved()(p - 1, p, m, 2)
    forwards = [(stage, i) for kind, stage, i in ran if kind == "F"]
    assert forwards[: 2 * group] == [(s, i) for s in (p - 1, 2 * p - 1) for i in range(group)]
    assert sorted(forwards) == [(s, i) for s in (p - 1, 2 * p - 1) for i in range(m)]


@pytest.mark.demo
@pytest.mark.parametrize(
    ("p", "m", "v"), [(1, 3, 2), (2, 2, 2), (2, 6, 3), (3, 6, 2), (4, 8, 2), (4, 8, 4), (8, 8, 1)]
)
def test_the_laws_hold_on_real_ranks(run: Run, p: int, m: int, v: int) -> None:
    report = run(p, microbatches=m, chunks=v)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["overhead_1f1b"] == (p - 1) / m
    assert measured["overhead_interleaved"] == pytest.approx((p - 1) / (v * m))
    assert measured["bubble_interleaved"] == pytest.approx((p - 1) / (v * m + p - 1))
    assert measured["makespan_interleaved"] == pytest.approx(3 * m + 3 * (p - 1) / v)
    warm = [(v - 1) * p + 2 * (p - 1 - r) + 1 for r in range(p)]
    assert measured["peak_live_interleaved"] == [min(w, v * m) / v for w in warm]
    if p > 1:
        assert sum(measured["messages_interleaved"]) == 2 * m * (p * v - 1)
        assert sum(measured["messages_1f1b"]) == 2 * m * (p - 1)
    sent = measured["messages_interleaved"]
    assert measured["sent_bytes_interleaved"] == [4 * 16 * 8 * each for each in sent]


@pytest.mark.demo
@pytest.mark.parametrize(("p", "m", "hop"), [(4, 8, 0.25), (3, 6, 0.5)])
def test_slow_messages_cost_what_the_simulator_says(run: Run, p: int, m: int, hop: float) -> None:
    from quizkit.calc.schedule import Costs

    costs = Costs(forward=1 / 2, backward_input=1 / 2, backward_weight=1 / 2, latency=hop)
    played = simulate(order("interleaved", p, m, 2), place("interleaved", p, m, 2), costs)
    measured = run(p, microbatches=m, hop=hop)["metrics"]
    assert measured["makespan_interleaved"] == pytest.approx(played.makespan)


@pytest.mark.demo
def test_a_shorter_warm_up_saves_memory_and_pays_for_slow_messages(run: Run) -> None:
    far, near = run(4)["metrics"], run(4, ahead=1)["metrics"]
    assert near["makespan_interleaved"] == far["makespan_interleaved"] == 28.5
    assert near["peak_live_interleaved"] == [4, 3.5, 3, 2.5]
    far, near = run(4, hop=0.25)["metrics"], run(4, ahead=1, hop=0.25)["metrics"]
    assert (far["makespan_interleaved"], near["makespan_interleaved"]) == (32, 36)


@pytest.mark.demo
def test_what_ranks_do_not_divide_runs_in_larger_groups(run: Run) -> None:
    report = run(4, microbatches=6)
    assert report["verdict"] == "pass"
    assert report["metrics"]["makespan_interleaved"] == 18 + 3 * 3 / 2
    assert report["metrics"]["peak_live_interleaved"] == [6, 5.5, 4.5, 3.5]
    few = run(4, microbatches=3)  # fewer than ranks: the way round is longer than a group
    assert few["verdict"] == "pass"
    assert few["metrics"]["makespan_interleaved"] == 15


@pytest.mark.demo
def test_live_bytes_are_live_chunks(run: Run) -> None:
    # A layer keeps its input and what tanh gave; rank 0 never keeps a loss.
    measured = run(3, microbatches=6, chunks=3, rows=2, width=8)["metrics"]
    assert measured["saved_bytes_interleaved"][0] == (2 * 3 + 2 * 2 + 1) * 2 * (2 * 8 * 8)
    assert measured["saved_bytes_1f1b"][0] == 3 * 3 * 2 * (2 * 8 * 8)


@pytest.mark.demo
def test_chunks_in_the_wrong_place_change_nothing_but_the_numbers(run: Run) -> None:
    report = run(4, "contiguous-chunks")
    assert failed(report) == ["interleaved gradients equal one process"]
    assert run(1, "contiguous-chunks")["verdict"] == "pass"


@pytest.mark.demo
def test_breadth_first_idles_as_little_and_keeps_the_whole_batch(run: Run) -> None:
    report = run(4, "breadth-first")
    assert failed(report) == ["no more chunks alive than the warm-up needs"]
    assert report["metrics"]["makespan_interleaved"] == 28.5
    assert report["metrics"]["peak_live_interleaved"][0] == 7.5
    assert "no more chunks alive than the warm-up needs" in failed(run(1, "breadth-first"))


@pytest.mark.demo
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_warm_up_of_one_chunk_ends_on_the_last_rank(run: Run, ranks: int) -> None:
    report = run(ranks, "warm-up-of-one-chunk")
    assert report["outcome"] == "crashed"
    assert report["error"]["rank"] == ranks - 1
    assert f"KeyError: ({2 * ranks - 1}, 0)" in report["error"]["message"]


@pytest.mark.demo
@pytest.mark.parametrize(
    ("args", "what"),
    [
        ({"microbatches": 9}, "take 8 or 10"),
        ({"microbatches": 13}, "take 12 or 15"),
        ({"chunks": 0}, "start at 1"),
        ({"ahead": 3}, "1 or 2"),
        ({"hop": -1}, "hop may be 0"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, float], what: str
) -> None:
    report = run(4, **args)
    assert report["outcome"] == "refused"
    assert what in report["error"]["message"]
    if "take" in what:
        for size in re.findall(r"\d+", what):
            assert run(4, microbatches=int(size))["verdict"] == "pass"
