"""Flipped bits: which check sees them, when, whom it names, and what there is left to mend."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

WIDTH, TENSORS = 8, 6
ENTRIES = 3 * (WIDTH * WIDTH + WIDTH)


def late(step: int, every: int, steps: int) -> int:
    """The step, from 0, at whose end the next checksums are exchanged."""
    return min(-(-(step + 1) // every) * every, steps) - 1


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize(("where", "many"), [("weight", 1), ("moment", 2), ("sum", 3)])
def test_what_one_replica_has_alone_is_noticed(run: Run, ranks: int, where: str, many: int) -> None:
    report = run(ranks, where=where)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["alarm_step"] == late(4, 3, 12)
    assert measured["tensors_apart"] == many  # a moment takes its weight along, a sum all three
    assert measured["blamed"] == (ranks - 1 if ranks > 2 else -1)
    assert measured["apart_mended"] == 0 < measured["apart_bystander"]
    assert measured["misses"] == measured["false_alarms"] == 0


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("where", ["gradient", "sample"])
def test_what_all_have_alike_is_not(run: Run, ranks: int, where: str) -> None:
    measured = run(ranks, where=where)["metrics"]
    assert measured["alarm_step"] == measured["blamed"] == -1
    assert measured["misses"] == 0  # no bit differs between the ranks
    assert (measured["apart_mended"] > 0) == (where == "gradient")


@pytest.mark.parametrize("where", ["weight", "moment", "sum"])
def test_one_rank_has_nobody_to_compare_with(run: Run, where: str) -> None:
    report = run(1, where=where)
    assert report["verdict"] == "pass", report
    assert report["metrics"]["alarm_step"] == -1
    assert report["metrics"]["apart_mended"] > 0
    assert report["metrics"]["sums_bytes"] == [0]


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_what_checksums_see(run: Run, ranks: int) -> None:
    measured = run(ranks, where="none")["metrics"]
    assert measured["caught_weight"] == measured["caught_sum"] == (ranks > 1)
    assert measured["caught_gradient"] == measured["caught_sample"] == 0


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_computing_twice_finds_what_is_not_yet_added(run: Run, ranks: int) -> None:
    report = run(ranks, where="gradient", twice=2)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["alarm_step"] == 4
    assert measured["steps_redone"] == 0
    assert measured["blamed"] == (ranks - 1 if ranks > 2 else -1)
    assert measured["backwards"] == [12 + 6 + (2 if ranks > 2 else 1)] * ranks


def test_computing_twice_now_and_then_misses_the_rest(run: Run) -> None:
    measured = run(3, where="gradient", twice=3)["metrics"]  # steps 0, 3, 6, 9
    assert measured["alarm_step"] == -1
    assert measured["apart_mended"] > 0


@pytest.mark.parametrize("where", ["none", "sample"])
def test_no_false_alarm(run: Run, where: str) -> None:
    report = run(3, where=where, twice=1)
    assert report["verdict"] == "pass", report
    assert report["metrics"]["alarm_step"] == -1
    assert report["metrics"]["apart_mended"] == 0


@pytest.mark.parametrize(
    ("step", "every", "save", "steps", "back"),
    [
        (4, 3, 0, 12, 3),  # noticed after 6, agreed at 3
        (5, 3, 0, 12, 3),
        (6, 3, 0, 12, 6),
        (7, 2, 4, 12, 4),  # noticed after 8, agreed at 6, saved at 4 and, with the flip, at 8
        (6, 6, 4, 12, 4),  # noticed after 12, agreed at 6; what was saved at 8 has the flip
        (5, 4, 3, 11, 3),  # noticed after 8, agreed at 4; what was saved at 6 has it
        (9, 20, 5, 11, 0),  # noticed at the end; nothing was ever compared before
    ],
)
def test_back_to_what_is_not_younger_than_the_last_agreement(
    run: Run, step: int, every: int, save: int, steps: int, back: int
) -> None:
    report = run(3, step=step, every=every, save=save, steps=steps)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["alarm_step"] == late(step, every, steps)
    assert measured["steps_redone"] == measured["alarm_step"] + 1 - back
    assert measured["backwards"] == [steps + measured["steps_redone"]] * 3


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_bytes(run: Run, ranks: int) -> None:
    measured = run(ranks, where="none", twice=4)["metrics"]
    assert measured["exchanges"] == 4
    # weights and two moments, 8 bytes a tensor, around the ring
    assert measured["sums_bytes"] == [4 * 3 * TENSORS * 8 * (ranks - 1)] * ranks
    # a gradient each, from two ranks
    assert measured["twice_bytes"] == [3 * 2 * TENSORS * 8 * (ranks - 1)] * ranks
    assert sum(measured["reduced_bytes"]) == 12 * 2 * (ranks - 1) * ENTRIES * 4


@pytest.mark.parametrize(
    ("dtype", "bit"),
    [
        (dtype, bit)
        for dtype, size in (("bf16", 16), ("fp32", 32), ("fp64", 64))
        for bit in (0, 1, size // 2, size - 3, size - 2, size - 1)
    ],
)
@pytest.mark.parametrize("where", ["weight", "sum"])
def test_any_bit_of_any_type(run: Run, dtype: str, bit: int, where: str) -> None:
    report = run(3, dtype=dtype, bit=bit, where=where, step=1, every=2, steps=3)
    assert report["verdict"] == "pass", report
    # The lowest bits of a summed gradient may be rounded away before they reach a weight.
    assert report["metrics"]["blamed"] in ((2, -1) if where == "sum" and bit < 2 else (2,))


def test_the_loss_hides_it(run: Run) -> None:
    moved = [run(3, bit=bit)["metrics"] for bit in (0, 10, 20, 30)]
    small = [each["loss_moved"] for each in moved]
    assert small == sorted(small)
    assert small[1] < 0.001 * moved[1]["loss_wobble"]


def test_a_flip_comes_once_and_a_sample_again(run: Run) -> None:
    flip = run(3, bit=30, tensor=4)["metrics"]
    sample = run(3, where="sample")["metrics"]
    assert flip["jump"] > 1e6 * flip["jump_replayed"]
    assert sample["jump"] == sample["jump_replayed"] > 100


@pytest.mark.parametrize(
    "options",
    [
        {"step": 12},
        {"step": -1},
        {"bit": 32},
        {"bit": 16, "dtype": "bf16"},
        {"tensor": 6},
        {"every": 0},
        {"twice": -1},
        {"width": 0},
    ],
)
def test_what_is_not_there_is_refused(run: Run, options: dict[str, Any]) -> None:
    assert run(2, **options)["outcome"] == "refused"


@pytest.mark.parametrize(
    "options",
    [{"steps": 1, "step": 0}, {"depth": 1, "width": 1, "tensor": 1}, {"every": 1}, {"culprit": 0}],
)
def test_the_smallest(run: Run, options: dict[str, Any]) -> None:
    report = run(3, **options)
    assert report["verdict"] == "pass", report


def test_what_each_break_leaves_right(run: Run) -> None:
    assert failed(run(3, "against-the-mean")) == ["the vote names the culprit"]
    assert failed(run(3, "copies-a-neighbour")) == ["nothing is left of the flip"]
    # A neighbour is right as long as nobody has computed with the flip.
    assert run(3, "copies-a-neighbour", step=5)["metrics"]["apart_mended"] == 0
