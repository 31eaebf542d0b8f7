"""What a run keeps to be drawn: small, of all ranks, and nothing that was not said by each."""

from collections.abc import Callable, Iterator
from typing import Any

from _bench import here, pictures

import pytest


@pytest.fixture
def told() -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """The pictures that so many ranks keep when each makes the calls it is given."""

    def run(ranks: int, make: Callable[[int], None]) -> list[dict[str, Any]]:
        kept = []
        for rank in range(ranks):
            me = here.Here(rank, ranks, device=None)  # pyright: ignore[reportArgumentType]
            here.settle(me)
            make(rank)
            kept.append(me.pictures)
        return pictures.merged(kept)

    yield run
    here.settle(None)


def sends(rank: int) -> None:
    pictures.picture("messages", "ring", row=[8 * (to == (rank + 1) % 3) for to in range(3)])


def test_of_a_message_map_each_rank_keeps_its_row(told: Callable):
    [made] = told(3, sends)
    assert made["cells"] == [[0, 8, 0], [0, 0, 8], [8, 0, 0]]
    assert (made["kind"], made["unit"], made["node"]) == ("messages", "bytes", 0)


def test_a_message_map_says_the_groups_of_each_axis(told: Callable):
    groups = {"tp": [(0, 1)], "dp": [range(1), range(1, 2)]}
    [made] = told(2, lambda rank: pictures.picture("messages", "m", row=[0, 0], groups=groups))
    assert made["groups"] == [
        {"label": "tp", "ranks": [[0, 1]]},
        {"label": "dp", "ranks": [[0], [1]]},
    ]


def test_a_rank_that_said_nothing_has_not_sent_nothing(told: Callable):
    assert told(3, lambda rank: sends(rank) if rank < 2 else None) == []


def test_a_rank_alone_sends_to_nobody(told: Callable):
    assert told(1, lambda rank: pictures.picture("messages", "alone", row=[0])) == []


def test_steps_and_lines_of_a_rank_s_own_are_added_and_shared_ones_are_rank_0_s(told: Callable):
    def make(rank: int) -> None:
        series = {"all": [rank], f"stage {rank}": {0.5: rank}}
        pictures.picture("curve", "alive", series=series, x="ticks", y="count")
        steps = {f"stage {rank}": [rank, 2]}
        pictures.picture("staircase", "kept", parts=("a", "b"), steps=steps, unit="bytes")

    curve, stairs = told(2, make)
    assert curve["series"] == [
        {"label": "all", "x": [0], "y": [0]},
        {"label": "stage 0", "x": [0.5], "y": [0]},
        {"label": "stage 1", "x": [0.5], "y": [1]},
    ]
    assert [step["values"] for step in stairs["steps"]] == [[0, 2], [1, 2]]


def test_a_long_curve_is_thinned_and_a_large_table_left_out(told: Callable):
    def make(rank: int) -> None:
        series = {"loss": [i / 3 for i in range(1000)]}
        pictures.picture("curve", "loss", series=series, x="steps", y="loss")
        for rows, columns in ((64, 64), (65, 1), (1, 65)):
            cells = [[1] * columns] * rows
            legend = ["no", "yes"]
            pictures.picture("tiles", "t", cells=cells, legend=legend, down="a", across="b")

    curve, tiles = told(1, make)
    [line] = curve["series"]
    assert len(line["x"]) <= 64
    assert line["y"][:2] == [0.0, 5.33333]  # a sixteenth of the points, as they were measured
    assert line["x"][:2] == [0, 16]
    assert len(tiles["cells"]) == 64


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"parts": ("a", "b"), "steps": {"x": [1]}, "unit": "bytes"}, "1 values for 2 parts"),
        ({"parts": ("a",), "unit": "bytes"}, "steps"),
    ],
)
def test_a_picture_that_cannot_be_is_said(told: Callable, data: dict[str, Any], words: str):
    with pytest.raises((ValueError, TypeError), match=words):
        told(1, lambda rank: pictures.picture("staircase", "t", **data))
