"""A table on both ends of a pipeline: what goes over the wire for it, and what each bug leaves."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

GRADIENTS, COPIES = "gradients equal one process", "both copies are one table still"


@pytest.mark.parametrize(
    ("p", "args"),
    [
        (1, {}),
        (2, {"microbatches": 1, "steps": 1}),
        (2, {"vocab": 7, "width": 3, "microbatches": 3}),
        (3, {"length": 1, "microbatches": 5}),
        (4, {}),
    ],
)
def test_the_ends_swap_the_table_once_a_step(run: Run, p: int, args: dict[str, int]) -> None:
    report = run(p, **args)
    assert report["verdict"] == "pass", report
    of = {"vocab": 32, "width": 8, "microbatches": 4, "length": 6, "steps": 3} | args
    measured = report["metrics"]
    ends = [p > 1 and rank in (0, p - 1) for rank in range(p)]
    assert measured["tied_messages"] == [int(end) for end in ends]
    assert measured["tied_bytes"] == [8 * of["vocab"] * of["width"] * end for end in ends]
    message = 8 * of["length"] * of["width"] * of["microbatches"]
    assert measured["boundary_bytes"] == [message * ((r > 0) + (r < p - 1)) for r in range(p)]
    assert [lack > 0 for lack in measured["missing"]] == ends
    assert measured["table_scale"] == pytest.approx(1)
    assert measured["copy_gap"] == measured["copy_start_gap"] == 0


def test_not_added_the_copies_drift_apart(run: Run) -> None:
    gaps = [run(4, "not-added", steps=steps)["metrics"]["copy_gap"] for steps in (1, 5)]
    assert 0 < gaps[0] < gaps[1]
    assert COPIES in failed(run(4, "not-added"))
    # With as many stages as fit on one rank there is one table, and nothing to add.
    assert failed(run(1, "not-added")) == []


@pytest.mark.parametrize("name", ["averaged", "every-micro-batch"])
def test_equal_copies_are_no_proof(run: Run, name: str) -> None:
    report = run(4, name)
    assert report["metrics"]["copy_gap"] == 0
    assert GRADIENTS in failed(report)
    assert COPIES not in failed(report)


def test_a_mean_is_half_a_sum(run: Run) -> None:
    assert run(4, "averaged")["metrics"]["table_scale"] == pytest.approx(0.5)


def test_each_micro_batch_adds_again_what_was_added(run: Run) -> None:
    assert failed(run(2, "every-micro-batch", microbatches=1)) == []
    longer = [run(2, "every-micro-batch", microbatches=m)["metrics"]["table_scale"] for m in (2, 4)]
    assert 1 < longer[0] < longer[1]
    assert run(4, "every-micro-batch")["metrics"]["tied_messages"] == [4, 0, 0, 4]


def test_other_dice_show_before_the_first_step(run: Run) -> None:
    report = run(2, "other-dice")
    assert report["metrics"]["copy_start_gap"] > 0.1
    assert "both ends start from one table" in failed(report)


@pytest.mark.parametrize("args", [{"vocab": 1}, {"width": 0}, {"steps": 0}])
def test_nothing_to_train_is_refused(run: Run, args: dict[str, int]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert "starts at 2" in report["error"]["message"]
