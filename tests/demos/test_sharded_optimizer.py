"""ZeRO-1 round torch's optimizers: equal to one process, and each byte of state on one rank."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("sharded-optimizer")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("optimizer", ["AdamW", "SGD"])
@pytest.mark.parametrize(
    ("ranks", "sizes"),
    [(1, {}), (2, {"vocabulary": 7, "width": 5, "rows": 1}), (3, {"steps": 7}), (5, {"width": 3})],
)
def test_it_trains_as_one_process_does(
    run: Run, ranks: int, sizes: dict[str, Any], optimizer: str
) -> None:
    report = run(ranks, **sizes, optimizer=optimizer)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    width, vocabulary = sizes.get("width", 12), sizes.get("vocabulary", 24)
    # The embedding is the head as well and is dealt once; the frozen layer is not dealt at all.
    learns = vocabulary * width + width * width + width
    assert measured["weights_all"] == sum(measured["weights_owned"]) == learns
    assert sum(measured["optimizer_bytes"]) == measured["optimizer_bytes_whole"]
    scalars = 3 * 4 if optimizer == "AdamW" else 0  # a step count for each of three weights
    per_number = 16 if optimizer == "AdamW" else 8
    assert measured["optimizer_bytes_whole"] == per_number * learns + scalars


def test_a_weight_is_never_cut(run: Run) -> None:
    # 288, 144 and 12 numbers: a fourth rank has nothing to do.
    assert run(4)["metrics"]["weights_owned"] == [288, 144, 12, 0]
    assert run(2)["metrics"]["weights_owned"] == [288, 156]


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_at_its_number_of_ranks(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    for ranks in (planted.ranks, 3):
        assert planted.expect in failed(run(ranks, name))


def test_what_a_break_leaves_right(run: Run) -> None:
    assert failed(run(2, "state-for-all")) == ["state is kept once"]
    # Nothing changes a learning rate before the second step.
    assert run(2, "schedule-unheard", steps=1)["verdict"] == "pass"
    assert "state is kept once" not in failed(run(2, "nobody-told"))


@pytest.mark.parametrize("args", [{"steps": 0}, {"width": 0}, {"rows": -1}])
def test_what_cannot_run_is_refused(run: Run, args: dict[str, int]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert "start at 1" in report["error"]["message"]
