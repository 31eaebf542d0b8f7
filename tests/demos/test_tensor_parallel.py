"""The column-row pair: what it sends, what it sums, and what each planted bug does."""

import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, failed

SOURCE = (Path(__file__).parents[2] / "demos" / "tensor_parallel.py").read_text(encoding="utf-8")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("t", "args"),
    [
        (1, {"blocks": 3}),
        (2, {"blocks": 1, "tokens": 5, "hidden": 7, "wide": 6}),
        (3, {"blocks": 2, "tokens": 7, "hidden": 5, "wide": 9}),
        (3, {"blocks": 2, "tokens": 10, "hidden": 4, "wide": 3, "microbatches": 5}),
        (4, {}),
    ],
)
def test_one_all_reduce_a_block_each_way(run: Run, t: int, args: dict[str, int]) -> None:
    report = run(t, **args)
    assert report["verdict"] == "pass", report
    asked, measured = report["args"], report["metrics"]
    rounds = asked["blocks"] * asked["microbatches"]
    assert measured["f_forward_sums"] == measured["g_backward_sums"] == [0] * t
    assert measured["f_backward_sums"] == measured["g_forward_sums"] == [rounds] * t
    # Chunks of a ring may be uneven; what all ranks send together is not.
    law = 2 * (t - 1) * asked["blocks"] * asked["tokens"] * asked["hidden"] * 8
    assert sum(measured["sent_forward"]) == sum(measured["sent_backward"]) == law
    assert max(*measured["output_error"], measured["grad_error"]) < 1e-12
    assert measured["norm_spread"] == 0
    assert measured["bias_times"] == pytest.approx([1] * t)
    names = {check["name"] for check in report["checks"]}
    assert names >= {"output equals torch's", "gradients equal torch's"}


def test_norms_and_the_row_bias_are_whole_on_every_rank(run: Run) -> None:
    measured = run(3, blocks=2, tokens=7, hidden=5, wide=9)["metrics"]
    assert measured["elements_cut"] == [2 * (2 * 5 * 9 + 9) // 3] * 3
    assert measured["elements_whole"] == [2 * 3 * 5] * 3


def test_torch_keeps_a_weight_as_outputs_by_inputs(run: Run) -> None:
    measured = run(4)["metrics"]
    assert (measured["column_dim"], measured["row_dim"]) == (0, 1)


def test_micro_batches_divide_the_messages_and_not_the_bytes(run: Run) -> None:
    whole, split = run(4)["metrics"], run(4, microbatches=3)["metrics"]
    assert split["sent_forward"] == whole["sent_forward"]
    assert split["g_forward_sums"] == [3 * n for n in whole["g_forward_sums"]]


BREAKS = {
    "no-f": "gradients equal one process",
    "no-g": "output equals one process",
    "g-sums-backward": "gradients equal one process",
    "bias-before-the-sum": "output equals one process",
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_on_two_ranks_and_not_on_one(run: Run, name: str) -> None:
    declared = re.search(rf'"{name}": Break\(.*?expect="(.*?)",\s*ranks=(\d+)', SOURCE, re.DOTALL)
    assert declared is not None
    assert declared.groups() == (BREAKS[name], "2")
    assert BREAKS[name] in failed(run(2, name))
    assert BREAKS[name] not in failed(run(1, name))


def test_without_f_the_output_and_the_last_weights_stay_right(run: Run) -> None:
    report = run(2, "no-f")
    assert "output equals one process" not in failed(report)
    measured = report["metrics"]
    assert measured["grad_scale_last"] == pytest.approx([1, 1], rel=1e-12)
    assert all(abs(scale - 1) > 0.1 for scale in measured["grad_scale_first"])
    # Weights that all ranks hold whole drift apart.
    assert measured["norm_spread"] > 0.1


@pytest.mark.parametrize(("t", "blocks"), [(2, 2), (3, 2), (2, 3)])
def test_summed_twice_a_gradient_grows_t_times_a_block(run: Run, t: int, blocks: int) -> None:
    measured = run(t, "g-sums-backward", blocks=blocks)["metrics"]
    assert measured["grad_scale_last"] == pytest.approx([t] * t, rel=1e-12)
    assert measured["grad_scale_first"] == pytest.approx([t**blocks] * t, rel=1e-12)


def test_a_bias_before_the_sum_counts_t_times(run: Run) -> None:
    measured = run(3, "bias-before-the-sum", blocks=1)["metrics"]
    assert measured["bias_times"] == pytest.approx([3] * 3)


@pytest.mark.parametrize(
    ("args", "fits"),
    [({"wide": 50}, "51"), ({"microbatches": 5}, "25"), ({"hidden": 1}, "2"), ({"blocks": 0}, "1")],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, Any], fits: str
) -> None:
    report = run(3, **args)
    assert report["outcome"] == "refused"
    assert re.search(rf"\b{fits}\b", report["error"]["message"])
