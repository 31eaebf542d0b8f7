"""The hunt for a bad number: what each way of looking sees, and what repairs nothing."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("cause", ["overflow", "all-masked", "log-times-zero"])
def test_born_in_forward(run: Run, cause: str) -> None:
    report = run(3, cause=cause, culprit=1, layer=2, step=1)
    measured = report["metrics"]
    assert report["verdict"] == "pass"
    assert measured["bad_step"] == 1
    assert measured["bad_before"] == measured["loss_bad"] == [0, 1, 0]
    assert measured["bad_after"] == [1, 1, 1]
    assert measured["bad_tensors"] == [0, 8, 0]  # all of them: they do not name the layer
    assert measured["first_forward"] == [-1, 2, -1]
    assert measured["first_backward"] == [-1, -1, -1]


def test_born_in_backward(run: Run) -> None:
    measured = run(3, cause="root-of-zero", culprit=0, layer=1, depth=4)["metrics"]
    assert measured["loss_bad"] == [0, 0, 0]
    assert measured["first_forward"] == [-1, -1, -1]
    assert measured["first_backward"] == [1, -1, -1]
    assert measured["bad_tensors"] == [4, 0, 0]  # its own and those below it


def test_clipping_spreads_it(run: Run) -> None:
    measured = run(3, cause="root-of-zero", culprit=0, layer=1, depth=4)["metrics"]
    entries, below = 4 * (8 * 8 + 8) + 9, 2 * (8 * 8 + 8)
    assert measured["unclipped"] == pytest.approx(below / entries)
    assert measured["clipped"] == 1


def test_a_bad_sample_is_one_rank_s(run: Run) -> None:
    measured = run(3, cause="sample", culprit=2)["metrics"]
    assert measured["input_bad"] == measured["bad_before"] == [0, 0, 1]
    assert measured["first_forward"] == [-1, -1, 0]


def test_a_bad_rate_is_everybody_s(run: Run) -> None:
    measured = run(3, cause="rate")["metrics"]
    assert measured["bad_before"] == [1, 1, 1]
    assert measured["input_bad"] == [0, 0, 0]
    assert measured["bad_step"] == 2  # one step after the update that did it


def test_torch_finds_the_step_on_the_same_ranks(run: Run) -> None:
    for options in ({}, {"cause": "root-of-zero"}, {"cause": "sample", "culprit": 0}):
        measured = run(3, **options)["metrics"]
        assert measured["anomaly"] == measured["bad_before"]


@pytest.mark.parametrize("options", [{"depth": 1, "layer": 0}, {"steps": 1, "step": 0}])
def test_the_smallest(run: Run, options: dict[str, int]) -> None:
    assert run(2, **options)["verdict"] == "pass"


def test_deep_and_long(run: Run) -> None:
    assert run(2, depth=30, layer=29, steps=30, step=29)["verdict"] == "pass"


@pytest.mark.parametrize(
    "options", [{"layer": 3}, {"layer": -1}, {"step": 4}, {"cause": "rate", "step": 0}]
)
def test_what_is_not_there_is_refused(run: Run, options: dict[str, int]) -> None:
    assert run(2, **options)["outcome"] == "refused"


def test_what_each_break_leaves_right(run: Run) -> None:
    # The inf of one module is the NaN of the next.
    report = run(1, "only-nan")
    assert failed(report) == ["the module is named"]
    assert report["metrics"]["first_forward"] == [2]
    # Looking too late finds the step, and every rank.
    report = run(2, "looks-after-the-sum")
    assert failed(report) == ["the rank is named"]
    assert report["metrics"]["bad_before"] == [1, 1]
    # Who skips alone keeps good weights, and the others do not; a step later nobody does.
    report = run(3, "skips-alone", step=3)
    assert "replicas stay equal" in failed(report)
    assert report["metrics"]["weights_bad"] == [1, 1, 0]
    assert run(3, "skips-alone")["metrics"]["weights_bad"] == [1, 1, 1]
    assert "weights stay finite" in failed(run(1, "clips-and-goes-on"))
