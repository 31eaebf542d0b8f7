"""What a trace of real steps says: what is hidden, what is exposed, what is done once."""

from typing import Any

import pytest

from .conftest import Run

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {}),
        (2, {}),
        (3, {"layers": 5, "buckets": 2, "width": 7, "rows": 3}),
        (2, {"layers": 1, "buckets": 1, "width": 1, "rows": 1, "gap": 0, "transfer": 0}),
    ],
)
def test_a_trace_is_read_right(run: Run, ranks: int, args: dict[str, int]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    buckets = args.get("buckets", 4)
    assert measured["early_after"] == [0] * ranks
    assert measured["early_hooked"] == [buckets - 1] * ranks
    assert measured["hidden_after"] == [0] * ranks
    assert measured["once"] == 0


def test_the_picture_is_of_the_real_steps(run: Run) -> None:
    report = run(2)
    timeline, measured = report["timeline"], report["metrics"]
    assert timeline["clock"] == "wall"
    for name in ("after", "hooked"):
        for rank in range(2):
            drawn = [e for e in timeline["events"] if (e["schedule"], e["rank"]) == (name, rank)]
            step = measured[f"step_{name}"][rank]
            assert {e["name"][0] for e in drawn} <= set("FBR")
            assert all(0 <= e["start"] < e["end"] <= step for e in drawn)
            assert all(e["end"] - e["start"] >= step / 30 for e in drawn)


# By hand: an operator of 10, 2 of nothing, and so on; each all-reduce of 8 begins behind its own
# operator, so 2 of it lie in the gap. The last has nothing beside it. Slower ones queue.
@pytest.mark.parametrize(
    ("args", "exposed", "hidden", "step", "summed"),
    [
        ({}, 3 * 2 + 8, 3 * 6, 54, 60 + 32),
        ({"gap": 0}, 8, 24, 48, 92),
        ({"gap": 9, "transfer": 8}, 32, 0, 75, 92),
        ({"buckets": 2, "operator": 5, "gap": 1, "transfer": 9}, 1 + 3 + 9, 5, 23, 16 + 18),
    ],
)
def test_a_drawn_step_is_read_as_by_hand(
    run: Run, args: dict[str, Any], exposed: int, hidden: int, step: int, summed: int
) -> None:
    measured = run(1, **args)["metrics"]
    assert (measured["drawn_exposed"], measured["drawn_hidden"]) == (exposed, hidden)
    assert (measured["drawn_step"], measured["drawn_summed"]) == (step, summed)


def test_a_wait_in_the_hook_is_early_and_hides_nothing(run: Run) -> None:
    measured = run(2, "waits-in-the-hook")["metrics"]
    assert measured["early_hooked"] == [3, 3]
    assert measured["hidden_hooked"] == [0, 0]


@pytest.mark.parametrize(
    "args", [{"buckets": 5}, {"layers": 0, "buckets": 0}, {"gap": -1}, {"operator": 1001}]
)
def test_what_cannot_be_traced_is_refused(run: Run, args: dict[str, int]) -> None:
    assert run(2, **args)["outcome"] == "refused"
