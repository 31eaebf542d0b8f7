"""Ranks leave and come back: what must stay the same, what has to move, and how much it is."""

from itertools import pairwise
from typing import Any

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

SIZES = [  # ranks, what is asked for
    (2, {"batch": 5, "leaver": 0}),
    (3, {"lost": 2, "micro": 1, "hidden": 4}),
    (4, {"leaver": 1, "batch": 10, "micro": 3}),
    (4, {"lost": 2, "leaver": 3, "samples": 30, "leave": 1, "back": 3}),
    (4, {"leave": 5, "back": 5}),
    (8, {"lost": 3, "leaver": 2, "hidden": 7}),
    (8, {"batch": 3, "samples": 40, "leave": 1, "back": 13}),
]


def slices(numbers: int, members: list[int]) -> dict[int, set[int]]:
    """Who keeps which numbers' moments."""
    size = -(-numbers // len(members))
    return {
        each: set(range(place * size, min((place + 1) * size, numbers)))
        for place, each in enumerate(members)
    }


def moved(numbers: int, old: list[int], new: list[int], sender: int) -> int:
    """Bytes of two fp64 moments that lie with the sender before, with somebody else after."""
    before, after = slices(numbers, old), slices(numbers, new)
    stays = before.get(sender, set()) & after.get(sender, set())
    return 16 * len(before.get(sender, set()) - stays)


@pytest.mark.parametrize(("ranks", "args"), SIZES)
def test_what_moves_and_what_stays(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured, asked = report["metrics"], report["args"]
    lost = 1 if asked["lost"] < 0 else asked["lost"]
    first = ranks - lost if asked["leaver"] < 0 else asked["leaver"]
    everybody = list(range(ranks))
    away = {(first + each) % ranks for each in range(lost)}
    fewer = [each for each in everybody if each not in away]
    assert (measured["samples_twice"], measured["samples_never"]) == (0, 0)
    assert measured["batch_full"] == asked["batch"]
    numbers = 7 * asked["hidden"]
    assert measured["weights_whole"] == 8 * numbers
    assert measured["slice_bytes"] == [
        16 * len(each) for each in slices(numbers, everybody).values()
    ]
    assert measured["carried_leave"] == [
        moved(numbers, everybody, fewer, each) for each in everybody
    ]
    helped = [fewer[place % len(fewer)] for place in range(lost)]
    assert measured["carried_join"] == [
        moved(numbers, fewer, everybody, each) + helped.count(each) * 8 * (numbers + 2)
        for each in everybody
    ]
    after = slices(numbers, fewer)
    assert measured["read_slices"] == [
        8 * numbers + own + (8 * numbers + 16 * len(after[each]) if each in after else 0)
        for each, own in zip(everybody, measured["slice_bytes"], strict=True)
    ]
    assert measured["read_whole"] == [
        (2 if each in after else 1) * 24 * numbers for each in everybody
    ]
    if asked["leave"] < asked["back"]:
        assert measured["batch_fewer"] == asked["batch"]
        cuts = [asked["batch"] * place // len(fewer) for place in range(len(fewer) + 1)]
        most = {each: b - a for each, (a, b) in zip(fewer, pairwise(cuts), strict=True)}
        assert all(measured["share_fewer"][each] >= most[each] for each in fewer)
        assert max(measured["share_fewer"]) == -(-asked["batch"] // len(fewer))
        assert max(measured["passes_fewer"]) == -(-max(most.values()) // asked["micro"])
        assert [measured["share_fewer"][each] for each in away] == [0] * lost


def test_shares_of_a_batch_that_three_do_not_divide(run: Run) -> None:
    measured = run(4)["metrics"]
    assert measured["share_full"] == [2, 2, 2, 2]
    assert measured["share_fewer"] == [2, 3, 3, 0]
    assert max(measured["passes_fewer"]) == 2 * max(measured["passes_full"])


def test_less_moves_than_a_checkpoint_holds(run: Run) -> None:
    measured = run(4)["metrics"]
    carried = sum(measured["carried_leave"]) + sum(measured["carried_join"])
    assert carried < sum(measured["read_slices"]) < sum(measured["read_whole"])


def test_alone_nobody_leaves(run: Run) -> None:
    measured = run(1)["metrics"]
    assert measured["share_full"] == measured["share_fewer"] == [8]
    assert measured["carried_leave"] == measured["read_slices"] == [0]


@pytest.mark.parametrize(("ranks", "leaver"), [(2, 1), (3, 2), (4, 1), (4, 3), (8, 0)])
def test_a_copy_at_the_neighbours_replaces_a_farewell(run: Run, ranks: int, leaver: int) -> None:
    report = run(ranks, notice=False, leaver=leaver)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["carried_leave"][leaver] == 0
    size = 16 * -(-63 // (ranks - 1)) if ranks > 2 else 16 * -(-63 // 2)
    assert max(measured["mirrored"]) == size
    assert run(ranks, leaver=leaver)["metrics"]["mirrored"] == [0] * ranks


def test_means_of_ranks_are_right_while_shares_are_equal(run: Run) -> None:
    # 4 ranks, then 3: each takes as many samples as any other in every step.
    even = {"samples": 72, "batch": 12}
    assert run(4, "mean-of-means", **even, leave=2, back=4)["verdict"] == "pass"
    red = failed(run(4, "mean-of-means"))
    assert "weights equal one process" in red
    assert "every sample is read once" not in red


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_group_with_one_who_has_left_waits_for_ever(run: Run, ranks: int) -> None:
    assert run(ranks, "old-group")["outcome"] == "hung"
    assert run(ranks, "old-group", ends=True, lost=0)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"lost": 4}, "up to 3"),
        ({"leaver": 5}, "below 4"),
        ({"lost": 2, "notice": False}, "lost 1"),
        ({"batch": 0}, "start at 1"),
        ({"samples": 200, "batch": 3}, "64 batches"),
        ({"leave": 0}, "take 1 to 10"),
        ({"leave": 8}, "take 1 to 10"),
        ({"back": 11}, "take 1 to 10"),
    ],
)
def test_what_cannot_be_run_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(4, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
