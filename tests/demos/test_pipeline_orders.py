"""Orders as data: which are legal; calculator, torch and real ranks agree on that."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from quizkit.calc.schedule import Costs, StagePlacement, simulate
from quizkit.calc.sheet import CalcError
from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("pipeline-orders")

Order = list[list[tuple[str, int]]]


def functions(*names: str) -> SimpleNamespace:
    """Some of its functions by themselves: the file's other lines need torch."""
    nodes = [
        node
        for node in ast.parse(DEMO.source).body
        if isinstance(node, ast.FunctionDef) and node.name in names
    ]
    space: dict[str, Any] = {}
    exec(compile(ast.Module([*nodes], []), "pipeline_orders.py", "exec"), space)
    return SimpleNamespace(**space)


PAPER = functions("rehearse", "circle", "schedule_1f1b")


def any_order(stages: int, microbatches: int, dice: Random) -> Order:
    """Every backward after its forward; otherwise anything, legal or not."""
    orders: Order = []
    for _ in range(stages):
        line = [("F", i) for i in range(microbatches)] * 2
        dice.shuffle(line)
        orders.append(
            [("B", i) if ("F", i) in line[:k] else op for k, op in enumerate(line) for i in op[1:]]
        )
    return orders


def nearly_1f1b(stages: int, microbatches: int, dice: Random) -> Order:
    """1F1B with a few neighbours in a line swapped: about half of these are legal."""
    orders: Order = []
    for stage in range(stages):
        line = PAPER.schedule_1f1b(stage, stages, microbatches, dice.choice([-1, 0, 1]))
        for _ in range(dice.randrange(3)):
            k = dice.randrange(len(line) - 1)
            if line[k][1] != line[k + 1][1]:
                line[k], line[k + 1] = line[k + 1], line[k]
        orders.append(line)
    return orders


def text(orders: Order, between: str = " / ") -> str:
    return between.join(" ".join(f"{kind}{i}" for kind, i in line) for line in orders)


def makespan(orders: Order, microbatches: int) -> float | None:
    """What the calculator's simulator says; None for a deadlock."""
    stages = len(orders)
    placement = StagePlacement(stages, microbatches, tuple(range(stages)))
    ops = [[(kind, stage, i) for kind, i in line] for stage, line in enumerate(orders)]
    try:
        return simulate(ops, placement, Costs(1, 1, 1)).makespan
    except CalcError as error:
        if error.key != "calc_deadlock":
            raise
        return None


def drawn(make: Callable[[int, int, Random], Order], count: int) -> list[tuple[Order, int]]:
    dice = Random(7)
    sizes = [(dice.randrange(1, 6), dice.randrange(1, 6)) for _ in range(count)]
    return [(make(stages, m, dice), m) for stages, m in sizes]


CASES = drawn(any_order, 150) + drawn(nearly_1f1b, 150)


def test_paper_and_calculator_find_the_same_deadlocks() -> None:
    legal = 0
    for orders, m in CASES:
        at, waits = PAPER.rehearse(orders, "buffered")
        assert bool(waits) == (makespan(orders, m) is None), text(orders)
        legal += not waits
        if waits:
            ring, words = PAPER.circle(orders, at, waits)
            # Stages stand in a line: it takes two neighbours, never more, to wait in a circle.
            assert len(ring) == 2
            assert [waits[rank] for rank in ring] == ring[::-1]
            assert words.count("waits for") == 2
    assert 60 < legal < 240


def test_whoever_needs_no_buffer_needs_no_rendezvous_either() -> None:
    kinds = set[tuple[bool, bool]]()
    for orders, _ in CASES:
        buffered, rendezvous = (
            bool(PAPER.rehearse(orders, s)[1]) for s in ("buffered", "rendezvous")
        )
        assert rendezvous or not buffered
        kinds.add((buffered, rendezvous))
    assert kinds == {(False, False), (False, True), (True, True)}


@pytest.mark.parametrize("stages", range(2, 7))
@pytest.mark.parametrize("m", [1, 2, 5])
def test_1f1b_needs_sends_that_do_not_wait(stages: int, m: int) -> None:
    orders = [PAPER.schedule_1f1b(stage, stages, m, 0) for stage in range(stages)]
    gpipe = [PAPER.schedule_1f1b(stage, stages, m, m) for stage in range(stages)]
    assert not PAPER.rehearse(orders, "buffered")[1]
    assert not PAPER.rehearse(gpipe, "rendezvous")[1]
    assert bool(PAPER.rehearse(orders, "rendezvous")[1]) == (m > 1)


@pytest.mark.demo
def test_torch_refuses_the_same_orders() -> None:
    from torch.distributed.pipelining import schedules

    for orders, _ in CASES:
        actions: Any = {
            rank: [schedules._Action.from_str(f"{rank}{kind}{i}") for kind, i in line]
            for rank, line in enumerate(orders)
        }
        try:
            schedules._add_send_recv(actions, lambda stage: stage, len(orders))
            refused = False
        except AssertionError as error:
            refused = "Malformed compute schedule" in str(error)
        assert refused == bool(PAPER.rehearse(orders, "buffered")[1]), text(orders)


@pytest.mark.demo
def test_real_ranks_take_as_long_as_the_calculator_says(run: Run) -> None:
    legal = [(orders, m) for orders, m in CASES if makespan(orders, m) and 2 <= len(orders) <= 4]
    stuck = [(orders, m) for orders, m in CASES if not makespan(orders, m) and len(orders) <= 4]
    for orders, m in legal[:2] + legal[-2:]:
        report = run(len(orders), microbatches=m, order=text(orders))
        assert report["verdict"] == "pass", report
        assert report["metrics"]["makespan"] == makespan(orders, m)
        assert report["metrics"]["deadlocked"] == report["metrics"]["cycle"] == 0
    for orders, m in stuck[:1] + stuck[-1:]:
        report = run(len(orders), microbatches=m, order=text(orders))
        assert report["outcome"] == "refused"
        assert re.search(r"deadlock: rank \d \([FB]\d\) waits for", report["error"]["message"])
        measured = run(len(orders), microbatches=m, order=text(orders), deadlock="report")
        assert measured["verdict"] == "pass"
        assert measured["metrics"]["deadlocked"] == 1
        assert measured["metrics"]["cycle"] == 2
        assert sum(measured["metrics"]["operations"]) < 2 * m * len(orders)


@pytest.mark.demo
def test_a_file_means_what_it_means_to_the_calculator(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("# by hand\n\nF0 F1 B1 B0  # newest first\nF0.0 F1 B0 B1\n", encoding="utf-8")
    report = run(2, microbatches=2, order=str(file))
    assert report["verdict"] == "pass"
    assert report["metrics"]["makespan"] == makespan(
        [[("F", 0), ("F", 1), ("B", 1), ("B", 0)], [("F", 0), ("F", 1), ("B", 0), ("B", 1)]], 2
    )
    other = tmp_path / "other.txt"  # equal settings are run once, whatever the file says by then
    other.write_text("F0 B0 F1 B1\n\nF1 F0 B0 B1\n", encoding="utf-8")
    refused = run(2, microbatches=2, order=str(other))
    assert "rank 0 (B0) waits for rank 1 (F1) waits for rank 0" in refused["error"]["message"]


@pytest.mark.demo
@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("F0 F1 B0 B1", "order has 1 lines, one for each rank: take --ranks 1"),
        ("F0 F0 B0 B1 / F0 B0 F1 B1", "order:1: rank 0: F0 runs 2 times"),
        ("F0 F1 B0 B1 / B0 F0 F1 B1", "order:2: rank 1: B0 needs F0 first"),
        ("F0 F1 B0 / F0 B0 F1 B1", "order:1: rank 0: B1 is missing"),
        ("F0 F9 B0 B1 / F0 B0 F1 B1", "order:1: rank 0: F9 is not one of --microbatches 2"),
        ("F0 F1 I0 B1 / F0 B0 F1 B1", "order:1: rank 0: I0 cannot run here"),
        ("F0 F1.1 B0 B1 / F0 B0 F1 B1", "order:1: rank 0: F1.1 cannot run here"),
        ("F0 F1+B0 B1 / F0 B0 F1 B1", r"order:1: rank 0: F1\+B0 cannot run here"),
        ("no-such-file", "cannot read the order no-such-file"),
        ("/dev/null", "/dev/null is empty: F0 B0 would be a line"),
    ],
)
def test_what_cannot_run_is_refused_where_it_stands(run: Run, order: str, says: str) -> None:
    report = run(2, microbatches=2, order=order)
    assert report["outcome"] == "refused"
    assert re.match(says, report["error"]["message"])


@pytest.mark.demo
def test_a_warm_up_too_short_costs_time_and_one_too_long_memory(run: Run) -> None:
    for extra, length, peaks in [
        (-1, 54, [3, 2, 1, 1]),
        (0, 33, [4, 3, 2, 1]),
        (1, 33, [5, 4, 3, 2]),
    ]:
        measured = run(4, schedule="1f1b", extra=extra)["metrics"]
        assert measured["makespan"] == length
        assert measured["peak_live"] == peaks


@pytest.mark.demo
@pytest.mark.parametrize(("p", "m", "k"), [(1, 3, 2), (3, 7, 4), (4, 8, 0), (4, 2, 1), (5, 9, 3)])
def test_the_forward_before_a_backward(run: Run, p: int, m: int, k: int) -> None:
    measured = run(p, microbatches=m, schedule="1f1b", follow=k)["metrics"]
    assert measured["before_backward"] == [min(k + p - 1 - s, m - 1) for s in range(p)]
    assert measured["backward_place"] == [k + 1 + min(k + p - s, m) for s in range(p)]


@pytest.mark.demo
def test_only_the_idle_time_of_the_first_stage_lies_in_the_middle(run: Run) -> None:
    for schedule in ("gpipe", "1f1b"):
        measured = run(4, schedule=schedule)["metrics"]
        assert measured["makespan"] == 33
        assert measured["idle_between"] == [9, 6, 3, 0]


@pytest.mark.demo
@pytest.mark.parametrize("seed", [1, 2])
def test_any_legal_order_has_the_same_gradient(run: Run, seed: int) -> None:
    report = run(3, microbatches=5, seed=seed)
    assert report["verdict"] == "pass"
    assert report["metrics"]["grad_error"] < 1e-12


@pytest.mark.demo
def test_rendezvous_runs_gpipe_and_stops_1f1b(run: Run) -> None:
    assert run(4, schedule="gpipe", sends="rendezvous")["metrics"]["makespan"] == 33
    report = run(4, schedule="1f1b", sends="rendezvous", deadlock="report")
    assert report["verdict"] == "pass"
    assert report["metrics"]["waits_for"] == [1, 2, 3, 2]
    assert report["metrics"]["operations"] == [4, 3, 2, 2]
    assert run(4, schedule="1f1b", sends="rendezvous")["outcome"] == "refused"


@pytest.mark.demo
@pytest.mark.parametrize("name", ["first-come", "kept-in-a-queue"])
def test_what_mixes_micro_batches_up_spoils_the_gradient_alone(run: Run, name: str) -> None:
    assert failed(run(2, name)) == ["gradients equal one process"]
    # Where neighbours keep one order and backwards come oldest first, it cannot be seen.
    assert failed(run(4, name, schedule="1f1b")) == []
