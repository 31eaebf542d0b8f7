"""How buckets are cut, when they start and what stays exposed; and that torch's are the same."""

import re
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_the_defaults_of_torch_on_ten_tensors_of_five(run: Run, ranks: int) -> None:
    report = run(ranks)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["buckets_whole"] == 1
    rebuilt = [measured[f"{which}_rebuilt"] for which in ("first", "largest", "last")]
    assert rebuilt == [5, 25, 20]
    assert measured["buckets_rebuilt"] == 3
    assert measured["overtaken"] == [0] * ranks
    assert (measured["first_start"], measured["last_start"]) == (30, 300)
    exposed = [measured[f"exposed_{which}"] for which in ("whole", "rebuilt", "registered")]
    assert exposed == ([200, 80, 90] if ranks > 1 else [0, 0, 0])
    assert (measured["kept_views"], measured["kept_copies"]) == (51200, 102400)


# Closed at the cap or above it: 20 stays open, 40 does not.
@pytest.mark.parametrize(
    ("args", "sizes"),
    [
        ({"tensors": 4, "size": 20}, [20, 40, 20]),
        ({"tensors": 7, "size": 3, "first": 4, "cap": 8}, [6, 9, 6]),
        ({"tensors": 40, "size": 1}, [1, 25, 14]),
        ({"tensors": 10, "first": 25}, [25, 25, 25]),
        ({"tensors": 1, "size": 1, "cap": 1}, [1, 1, 1]),
    ],
)
def test_a_bucket_may_be_larger_than_its_cap(
    run: Run, args: dict[str, Any], sizes: list[int]
) -> None:
    report = run(2, **args)
    assert report["verdict"] == "pass", report
    assert [
        report["metrics"][f"{which}_rebuilt"] for which in ("first", "largest", "last")
    ] == sizes


def test_caps_in_real_mib_are_no_different(run: Run) -> None:
    small, real = (run(1, tensors=3, size=1, cap=2, unit=unit) for unit in (128, 2**20))
    assert real["verdict"] == "pass"
    assert real["metrics"]["kept_views"] == 3 * 2**20
    for name in ("buckets_rebuilt", "first_rebuilt", "last_rebuilt", "first_start"):
        assert real["metrics"][name] == small["metrics"][name]


@pytest.mark.parametrize(("comm", "exposed"), [(200, 25), (400, 137.5)])
def test_eight_buckets_hide_all_but_what_cannot_wait(run: Run, comm: float, exposed: float) -> None:
    report = run(3, tensors=8, size=1, cap=1, comm_time=comm)
    assert report["verdict"] == "pass", report
    assert report["metrics"]["exposed_rebuilt"] == exposed
    assert report["metrics"]["exposed_whole"] == comm


def test_registration_against_the_forward_exposes_everything_until_rebuilt(run: Run) -> None:
    measured = run(2, against=True)["metrics"]
    assert measured["exposed_registered"] == 200
    assert measured["exposed_rebuilt"] == 80


def test_each_lane_is_drawn_once(run: Run) -> None:
    events = [e for e in run(4)["timeline"]["events"] if e["rank"] == 2 and e["end"] > e["start"]]
    sums = [e for e in events if e["schedule"] == "rebuilt, sums"]
    assert [(e["name"], e["start"]) for e in sums] == [("R0", 30), ("R1", 180), ("R2", 300)]
    lanes = dict.fromkeys(e["schedule"] for e in events)
    names = ("registered", "whole", "rebuilt", "turned")
    assert [*lanes] == [lane for name in names for lane in (name, f"{name}, sums")]
    backward = [e["name"] for e in events if e["schedule"] == "registered"]
    assert backward == [f"B{i}" for i in reversed(range(10))]


BREAKS = {
    "overtakes": ("gradients equal one process", 2),
    "own-arrivals": ("gradients equal one process", 2),
    "after-backward": ("a bucket starts when its last gradient is ready", 1),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared(run: Run, name: str) -> None:
    expect, ranks = BREAKS[name]
    assert expect in failed(run(ranks, name))
    assert "gradients equal torch's" not in failed(run(ranks, name))


def test_what_the_breaks_leave_right(run: Run) -> None:
    assert max(run(2, "overtakes")["metrics"]["overtaken"]) > 0
    # Numbers are right, only late.
    assert "gradients equal one process" not in failed(run(2, "after-backward"))
    assert run(2, "after-backward")["metrics"]["exposed_rebuilt"] == 200
    # One tensor has nothing to overtake.
    assert failed(run(2, "overtakes", tensors=1)) == []
    assert failed(run(2, "own-arrivals", tensors=1)) == []


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"tensors": 0}, "start at 1"),
        ({"first": 3, "cap": 2}, "at most cap"),
        ({"unit": 1000}, "take a unit of 1024"),
        ({"unit": 0}, "take a unit of 128"),
        ({"comm_time": float("nan")}, "0 to 1000000"),
    ],
)
def test_what_cannot_run_is_refused(run: Run, args: dict[str, Any], says: str) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert re.search(says, report["error"]["message"])
