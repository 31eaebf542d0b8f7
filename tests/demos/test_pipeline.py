"""The laws of the two schedules, as data and as runs, and what each planted bug does."""

import ast
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, failed

DEMOS = Path(__file__).parents[2] / "demos"
SOURCE = (DEMOS / "pipeline.py").read_text(encoding="utf-8")

Schedule = list[tuple[str, int]]


def schedule_of(name: str) -> Callable[[int, int, int], Schedule]:
    """One schedule function by itself: the file's other lines need torch."""
    [function] = [
        node
        for node in ast.parse(SOURCE).body
        if isinstance(node, ast.FunctionDef) and node.name == f"schedule_{name}"
    ]
    space: dict[str, Any] = {}
    exec(compile(ast.Module([function], []), "pipeline.py", "exec"), space)
    return space[function.name]


def peak(order: Schedule) -> int:
    alive = highest = 0
    for kind, _ in order:
        alive += 1 if kind == "F" else -1
        highest = max(highest, alive)
    return highest


@pytest.mark.parametrize("name", ["gpipe", "1f1b"])
def test_a_schedule_runs_every_micro_batch_forward_and_then_back(name: str) -> None:
    schedule = schedule_of(name)
    for stages in range(1, 7):
        for microbatches in range(1, 10):
            for stage in range(stages):
                order = schedule(stage, stages, microbatches)
                each = list(range(microbatches))
                # Both directions in order: a neighbour takes messages as they were sent.
                assert [i for kind, i in order if kind == "F"] == each
                assert [i for kind, i in order if kind == "B"] == each
                assert all(order.index(("F", i)) < order.index(("B", i)) for i in each)
                alive = microbatches if name == "gpipe" else min(stages - stage, microbatches)
                assert peak(order) == alive


def test_stage_0_of_4_in_1f1b() -> None:
    order = schedule_of("1f1b")(0, 4, 8)
    written = "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7"
    assert " ".join(f"{kind}{i}" for kind, i in order) == written


@pytest.mark.demo
@pytest.mark.parametrize(
    ("p", "m"), [(1, 8), (2, 1), (2, 3), (3, 7), (3, 2), (4, 8), (4, 4), (8, 8), (8, 3), (4, 16)]
)
def test_the_laws_hold_on_real_ranks(run: Run, p: int, m: int) -> None:
    report = run(p, microbatches=m)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    for name in ("gpipe", "1f1b"):
        assert measured[f"makespan_{name}"] == (m + p - 1) * (1 + 2)
        assert measured[f"bubble_{name}"] == (p - 1) / (m + p - 1)
        assert measured[f"overhead_{name}"] == (p - 1) / m
        # The first stage is the last to finish: its last gradient comes the longest way.
        assert measured[f"finish_{name}"] == [(m + p - 1) * 3 - 2 * s for s in range(p)]
    assert measured["peak_live_gpipe"] == [m] * p
    assert measured["peak_live_1f1b"] == [min(p - s, m) for s in range(p)]
    assert measured["first_backward_gpipe"] == [m + p - 1 + 2 * (p - 1 - s) for s in range(p)]
    assert measured["first_backward_1f1b"] == [p + 2 * (p - 1 - s) for s in range(p)]
    assert measured["backwards_1f1b"] == [m] * p
    assert measured["stale_1f1b"] == [0] * p
    neighbours = [(s > 0) + (s < p - 1) for s in range(p)]
    assert measured["messages_1f1b"] == [m * n for n in neighbours]
    assert measured["sent_bytes_1f1b"] == [m * n * 4 * 16 * 8 for n in neighbours]
    assert measured["grad_error"] < 1e-12
    assert measured["grad_scale"] == pytest.approx(1, rel=1e-12)
    names = {check["name"] for check in report["checks"]}
    assert "gpipe gradients equal torch's" in names
    assert ("1f1b gradients equal torch's" in names) == (m >= p)


@pytest.mark.demo
def test_live_bytes_are_live_micro_batches(run: Run) -> None:
    # A layer keeps its input and what tanh gave; the loss keeps the output and the target.
    small = run(3, microbatches=5, layers_per_stage=1, rows=2, width=8)["metrics"]
    one = 2 * 8 * 8
    assert small["saved_bytes_gpipe"] == [5 * 2 * one, 5 * 2 * one, 5 * 4 * one]
    assert small["saved_bytes_1f1b"] == [3 * 2 * one, 2 * 2 * one, 1 * 4 * one]


@pytest.mark.demo
def test_other_costs_change_the_length_and_not_the_bubble(run: Run) -> None:
    measured = run(3, microbatches=5, forward=0.1, backward=0.3)["metrics"]
    assert measured["makespan_gpipe"] == measured["makespan_1f1b"] == pytest.approx(7 * 0.4)
    assert measured["bubble_1f1b"] == pytest.approx(2 / 7)


@pytest.mark.demo
@pytest.mark.parametrize(
    ("changed", "gpipe", "one"), [({"imbalance": 2}, 57, 51), ({"hop": 0.25}, 34.5, 37)]
)
def test_unequal_stages_favour_1f1b_and_slow_messages_gpipe(
    run: Run, changed: dict[str, float], gpipe: float, one: float
) -> None:
    report = run(4, **changed)
    assert report["verdict"] == "pass"
    assert report["metrics"]["makespan_gpipe"] == gpipe
    assert report["metrics"]["makespan_1f1b"] == one


@pytest.mark.demo
def test_the_timeline_keeps_the_order_that_data_imposes(run: Run) -> None:
    # 2 stages, 3 micro-batches and equal costs take 8 slots; drawings that show 7 start a backward
    # before the next stage has finished its own.
    report = run(2, microbatches=3, backward=1)
    assert report["metrics"]["makespan_gpipe"] == 8
    for name in ("gpipe", "1f1b"):
        events = [e for e in report["timeline"]["events"] if e["schedule"] == name]
        assert len(events) == 2 * 2 * 3
        at = {(e["rank"], e["name"]): e for e in events}
        for i in range(3):
            assert at[0, f"F{i}"]["end"] <= at[1, f"F{i}"]["start"]
            assert at[1, f"B{i}"]["end"] <= at[0, f"B{i}"]["start"]
        for rank in range(2):
            own = sorted((e["start"], e["end"]) for e in events if e["rank"] == rank)
            assert all(before[1] <= after[0] for before, after in pairwise(own))


@pytest.mark.demo
def test_without_cooldown_each_stage_owes_its_warm_up(run: Run) -> None:
    report = run(4, "no-cooldown")
    assert report["metrics"]["backwards_1f1b"] == [5, 6, 7, 8]
    assert set(failed(report)) == {
        "1f1b gradients equal one process",
        "1f1b gradients equal torch's",
    }


@pytest.mark.demo
def test_an_undivided_loss_gives_a_gradient_m_times_too_long(run: Run) -> None:
    report = run(2, "loss-not-divided", microbatches=5)
    assert report["metrics"]["grad_scale"] == pytest.approx(5, rel=1e-12)


@pytest.mark.demo
def test_one_warm_up_too_many_costs_memory_and_no_time(run: Run) -> None:
    report = run(4, "warmup-off-by-one")
    assert report["metrics"]["peak_live_1f1b"] == [5, 4, 3, 2]
    assert report["metrics"]["makespan_1f1b"] == 33
    assert set(failed(report)) == {"1f1b keeps at most min(p - s, m) alive"}


@pytest.mark.demo
def test_updates_in_flight_spare_the_last_stage(run: Run) -> None:
    report = run(4, "update-in-flight")
    assert report["metrics"]["stale_1f1b"] == [7, 7, 7, 0]


@pytest.mark.demo
@pytest.mark.parametrize(
    "args",
    [{"microbatches": 0}, {"width": 0}, {"forward": 0}, {"imbalance": -1}, {"hop": -0.5}],
)
def test_what_cannot_run_is_refused_with_what_can(run: Run, args: dict[str, float]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert re.search(r"\b[01]\b", report["error"]["message"])
