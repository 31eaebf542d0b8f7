"""A step's messages in six orders of axes: bytes by formula, and which order is done first."""

from itertools import permutations
from typing import Any

import pytest

from quizkit.lab.catalogue import find
from quizkit.lab.report import Setting

from .conftest import Lab, Run, failed

DEMO = find("placement")

pytestmark = pytest.mark.demo

ORDERS = ["_".join(axes) for axes in permutations(("tp", "dp", "pp"))]


def times(measured: dict[str, Any]) -> dict[str, float]:
    """The step in each order, over the step on a free network."""
    return {order: measured[f"time_{order}"] / measured["time_free"] for order in ORDERS}


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 6, 8)),
        (6, {"tp": 3, "pp": 2, "hidden": 9, "tokens": 5, "microbatches": 3}),
        (8, {"tp": 1, "pp": 4, "per_node": 1, "microbatches": 1}),
        (4, {"tp": 2, "pp": 1, "params": 10, "layers": 1, "tokens": 1, "hidden": 2}),
    ],
)
def test_the_messages_are_right_in_every_order(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report


@pytest.mark.parametrize(("m", "tokens", "params"), [(4, 64, 0), (3, 10, 0), (2, 6, 500)])
def test_bytes_of_a_step_at_two_two_two(run: Run, m: int, tokens: int, params: int) -> None:
    measured = run(8, microbatches=m, tokens=tokens, params=params, layers=4)["metrics"]
    # 2 (2 - 1) / 2 of a payload is all of it: 4 sums a layer, 2 layers a stage.
    assert measured["along_tp"] == [m * 2 * 4 * tokens * 32 * 8] * 8
    assert measured["along_dp"] == [2 * (params or 12 * 32 * 32) // 2 * 8] * 8
    assert measured["along_pp"] == [m * tokens * 32 // 2 * 8] * 8
    for order in ORDERS:
        # Nodes of 4: the slowest of three axes of 2 crosses, and no other.
        along = measured[f"along_{order[-2:]}"]
        assert measured[f"across_{order}"] == along
        assert measured[f"busiest_{order}"] == along[0]


def test_a_step_that_is_computed_sends_as_much(run: Run, lab: Lab) -> None:
    sizes = {"tp": 2, "pp": 2, "layers": 4, "hidden": 16, "microbatches": 4}
    step = lab.run(Setting("hybrid-step", 8, (*sizes.items(), ("seq", 16), ("batch", 8))))
    assert step.verdict == "pass"
    ours = run(8, tokens=16, **sizes)["metrics"]
    found = {axis: step.metrics[f"{axis}_bytes"] for axis in ("tp", "dp", "pp")}
    assert found["pp"] == tuple(ours["along_pp"])
    for axis in ("tp", "dp"):
        # Its table, its loss and its norms come on top: a sixth, of so small a model.
        for theirs, here in zip(found[axis], ours[f"along_{axis}"], strict=True):  # pyright: ignore[reportArgumentType]
            assert here < theirs < 1.2 * here


def test_with_two_ranks_to_a_node_two_axes_cross(run: Run) -> None:
    measured = run(8, per_node=2)["metrics"]
    for order in ORDERS:
        first, second, third = order.split("_")
        both = measured[f"along_{second}"][0] + measured[f"along_{third}"][0]
        assert measured[f"across_{order}"] == [both] * 8
        assert first not in (second, third)
    assert len({round(time, 6) for time in times(measured).values()}) == 3


def test_tp_outside_costs_most_at_ordinary_sizes(run: Run) -> None:
    took = times(run(8)["metrics"])
    assert took["tp_dp_pp"] == took["dp_tp_pp"] < took["tp_pp_dp"] == took["pp_tp_dp"] < 1.06
    assert took["dp_pp_tp"] == took["pp_dp_tp"] > 1.25
    for order, time in times(run(8, per_node=2)["metrics"]).items():
        assert (time < 1.07) == order.startswith("tp")


def test_with_few_tokens_a_step_dp_belongs_inside(run: Run) -> None:
    few = {"tokens": 4, "microbatches": 1}
    took = times(run(8, per_node=2, **few)["metrics"])
    assert min(took, key=took.__getitem__)[:2] == "dp"
    assert took["tp_dp_pp"] > 1.6 * took["dp_tp_pp"]
    outside = times(run(8, **few)["metrics"])
    assert outside["dp_pp_tp"] < outside["tp_pp_dp"], "TP outside costs less than DP outside"


def test_pp_or_dp_outside_hangs_on_the_micro_batches(run: Run) -> None:
    few, many = (times(run(8, microbatches=m)["metrics"]) for m in (4, 8))
    assert few["tp_dp_pp"] < few["tp_pp_dp"]
    assert many["tp_dp_pp"] > many["tp_pp_dp"]
    # Behind the backward DP's sum is paid in full.
    behind = times(run(8, microbatches=8, overlap=False)["metrics"])
    assert behind["tp_pp_dp"] > many["tp_pp_dp"]


def test_on_links_of_one_speed_no_order_is_better(run: Run) -> None:
    took = times(run(8, across=1000.0)["metrics"])
    assert len({round(time, 9) for time in took.values()}) == 1


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.expect in failed(run(planted.ranks, name))
    assert planted.expect in failed(run(8, name))


def test_what_the_breaks_cost(run: Run) -> None:
    right, often = run(8)["metrics"], run(8, "summed-every-time")["metrics"]
    assert often["along_dp"] == [4 * each for each in right["along_dp"]]
    turned = run(8, "read-backwards")["metrics"]
    assert turned["time_tp_dp_pp"] == right["time_pp_dp_tp"]


@pytest.mark.parametrize(
    "args",
    [
        {"tp": 3},
        {"pp": 3},
        {"per_node": 3},
        {"layers": 3},
        {"params": 7},
        {"tokens": 0},
        {"inside": 0.0},
        {"latency": -1.0},
    ],
)
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    assert run(8, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
