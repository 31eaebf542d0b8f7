"""A resume with everything is exact; with anything left out it is not, whatever the sizes."""

from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

PARTS = ("weights", "master", "optimizer", "schedule", "scaler", "random", "data", "step")


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {}),
        (2, {"rows": 3, "samples": 7}),
        (3, {"width": 7, "seed": 5}),
        (4, {"steps": 7}),
        (5, {"steps": 20, "saved": 19, "rows": 1}),
        (8, {"width": 2, "rows": 1}),
    ],
)
def test_all_of_it_is_exact_and_each_part_is_needed(
    run: Run, ranks: int, args: dict[str, Any]
) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["same_all"]
    assert not any(measured[f"same_{part}"] for part in PARTS)
    assert measured["parts_that_matter"] == len(PARTS)
    assert measured["loss_resumed"] == measured["loss_whole"]


@pytest.mark.parametrize(("ranks", "width"), [(1, 4), (2, 5), (3, 5), (4, 6)])
def test_what_is_saved_takes_fourteen_bytes_a_weight(run: Run, ranks: int, width: int) -> None:
    measured = run(ranks, width=width)["metrics"]
    held = -(-2 * width * width // ranks)
    assert measured["held_weights"] == [held] * ranks
    assert measured["saved_bytes"] == [(2 + 4 + 4 + 4) * held] * ranks


@pytest.mark.parametrize("part", ["weights", "random", "data"])
def test_what_the_first_forward_reads_shows_in_its_loss(run: Run, part: str) -> None:
    measured = run(2, steps=7, without=part)["metrics"]
    assert measured["loss_resumed"] != measured["loss_whole"]


@pytest.mark.parametrize("part", ["master", "optimizer", "schedule", "scaler"])
def test_what_the_update_reads_shows_a_step_later(run: Run, part: str) -> None:
    first, second = (run(2, steps=each, without=part)["metrics"] for each in (7, 8))
    assert first["loss_resumed"] == first["loss_whole"]
    assert second["loss_resumed"] != second["loss_whole"]


def test_without_its_number_a_run_only_ends_too_late(run: Run) -> None:
    report = run(2, without="step")
    lines = {each["label"]: each["y"] for each in report["pictures"][0]["series"]}
    assert len(lines["never interrupted"]) == 14
    assert not report["metrics"]["same_step"]


def test_before_the_save_there_is_nothing_to_resume(run: Run) -> None:
    report = run(2, steps=6, without="master")
    assert report["verdict"] == "pass"
    assert report["metrics"]["parts_that_matter"] == 0
    assert report["metrics"]["loss_resumed"] == report["metrics"]["loss_whole"]


def test_a_wrong_generator_leaves_the_rest_alone(run: Run) -> None:
    assert failed(run(3, "random-of-rank-0")) == ["a resume equals the uninterrupted run"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"saved": 5}, "6 to 60"), ({"steps": 65}, "1 to 64"), ({"samples": 0}, "1 to 1000")],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
