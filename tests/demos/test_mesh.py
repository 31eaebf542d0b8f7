"""Groups of any mesh: against lists written by hand, torch's mesh, and what crosses nodes."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("mesh")

pytestmark = pytest.mark.demo

AXES = ("tp", "cp", "dp", "pp")


def rings(left: list[int]) -> list[list[int]]:
    """The groups, each from its lowest rank on, that messages from the left went round in."""
    seen: set[int] = set()
    found = []
    for rank in range(len(left)):
        way, at = [], rank
        while at not in seen:
            seen.add(at)
            way.append(at)
            at = left[at]
        if way:
            found.append(sorted(way))
    return found


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 6, 8)),
        (6, {"dp": 6, "ep": 3}),
        (8, {"order": "dp-pp-cp-tp", "per_node": 2}),
        (8, {"cp": 2, "dp": 2, "pp": 1, "order": "cp-tp-pp-dp", "elements": 7}),
        (12, {"tp": 3, "dp": 2, "pp": 2, "per_node": 6, "elements": 1}),
    ],
)
def test_every_kind_of_group_is_right(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured, filled = report["metrics"], report["args"]
    degrees = {axis: measured[f"size_{axis}"] for axis in AXES}
    groups = 0
    for axis in AXES:
        [degree] = set(degrees[axis])
        assert filled[axis] in (0, degree)
        assert [len(each) for each in rings(measured[f"left_{axis}"])] == [degree] * (
            ranks // degree
        )
        groups += ranks // degree
    [grads], [expert] = set(measured["size_grads"]), set(measured["size_expert"])
    assert grads == degrees["dp"][0] * degrees["cp"][0]
    assert measured["groups_made"][0] >= groups + ranks // grads + ranks // expert


def test_the_groups_of_sixteen_ranks(run: Run) -> None:
    measured = run(16, tp=2, dp=4, pp=2)["metrics"]
    assert rings(measured["left_tp"]) == [[i, i + 1] for i in range(0, 16, 2)]
    assert rings(measured["left_dp"]) == [
        [0, 2, 4, 6],
        [1, 3, 5, 7],
        [8, 10, 12, 14],
        [9, 11, 13, 15],
    ]
    assert rings(measured["left_pp"]) == [[i, i + 8] for i in range(8)]
    assert rings(measured["left_expert"])[:4] == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_what_is_reduced_over_several_axes(run: Run) -> None:
    measured = run(8, tp=1, cp=2, dp=2, pp=2)["metrics"]
    assert rings(measured["left_cp"]) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert rings(measured["left_dp"]) == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert rings(measured["left_grads"]) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    deep = run(8, tp=2, dp=1, pp=4)["metrics"]
    assert deep["size_ends"] == [2, 2, 0, 0, 0, 0, 2, 2]
    assert deep["left_ends"] == [6, 7, -1, -1, -1, -1, 0, 1]


@pytest.mark.parametrize(
    ("order", "across"),
    [("tp-cp-dp-pp", "pp"), ("pp-tp-cp-dp", "dp"), ("dp-pp-cp-tp", "tp"), ("tp-pp-cp-dp", "dp")],
)
def test_the_slowest_axis_leaves_the_node(run: Run, order: str, across: str) -> None:
    measured = run(8, order=order, per_node=4, elements=96)["metrics"]
    for axis in ("tp", "dp", "pp"):
        assert measured[f"axis_bytes_{axis}"] == [768] * 8
        assert measured[f"axis_across_{axis}"] == [768 * (axis == across)] * 8


def test_a_ring_leaves_a_node_where_its_next_rank_is_elsewhere(run: Run) -> None:
    measured = run(8, tp=8, dp=1, pp=1, per_node=4, elements=80)["metrics"]
    assert measured["axis_bytes_tp"] == [2 * 7 * 80] * 8
    assert measured["axis_across_tp"] == [2 * 7 * 80 * (rank % 4 == 3) for rank in range(8)]


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.expect in failed(run(planted.ranks, name))
    assert planted.expect in failed(run(8, name, tp=4, dp=2, pp=1))


def test_what_equal_degrees_hide(run: Run) -> None:
    # tp 2 and pp 2 only: which degree has which name does not show.
    assert run(4, "degrees-misnamed")["verdict"] == "pass"
    complement = run(8, "fixes-one")["metrics"]
    assert rings(complement["left_tp"]) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    reversed_ = run(8, "slowest-first")
    assert rings(reversed_["metrics"]["left_tp"]) == [[i, i + 4] for i in range(4)]
    assert reversed_["metrics"]["size_tp"] == [2] * 8
    assert reversed_["metrics"]["dense_apart"] == [0] * 8


@pytest.mark.parametrize(
    "args",
    [
        {"tp": 3},
        {"dp": 3},
        {"cp": 0},
        {"ep": 3},
        {"per_node": 3},
        {"elements": 0},
        {"order": "tp-dp-pp"},
        {"order": "tp-tp-dp-pp"},
    ],
)
def test_meshes_that_cannot_be_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(8, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
