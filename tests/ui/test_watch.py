"""A timeline is played as it was recorded: the playhead, the ways, the keys."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from quizkit.lab.report import Event, Report, Timeline
from quizkit.ui.pictures.chart import Chart, charts, colour
from quizkit.ui.pictures.way import doing, moments, way
from quizkit.ui.screens.watch_screen import frame, told
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.watching import watched
from quizkit.words import Lang

REPORTS = Path(__file__).parents[1] / "lab" / "reports"


def drawn(name: str) -> tuple[Chart, ...]:
    text = (REPORTS / f"{name}.json").read_text(encoding="utf-8")
    report = Report.from_json(json.loads(text))
    return charts(report.timeline, report.ranks)


def chart(*events: tuple[int, str, float, float]) -> Chart:
    made = tuple(Event("s", *each) for each in events)
    return charts(Timeline("virtual", made), 1 + max(each[0] for each in events))[0]


def screen(made: Chart, at: float, *, width: int = 80, height: int = 24) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        for part in frame(made, "ring-attention", at, width, height, "en"):
            console.print(part)
    return captured.get().rstrip("\n").split("\n")


def test_blocks_travel_as_they_were_recorded() -> None:
    (ring,) = drawn("ring_attention")
    ranks = ring.ranks
    for event in (each for row in ring.rows for each in row.events):
        # A causal mask, tokens in order: rank 2 sees all three blocks, rank 0 its own alone.
        source = int(event.name[1])
        assert [*way(ring, event)] == ([] if source == 2 else [*range(source, ranks)])
        assert doing(ring, event.rank, event.start) == [event]
        lines = screen(ring, event.start)[-ranks:]
        assert lines[event.rank].startswith(f"rank {event.rank}  {event.name}")
        assert (f"[{event.rank}]" in lines[event.rank]) == (source < 2)
    assert screen(ring, moments(ring)[2])[-3:] == [
        "rank 0  idle",
        "rank 1  idle",
        "rank 2  A0   0 > 1 > [2]   ",
    ]
    block = [event for row in ring.rows for event in row.events if event.name == "A0"]
    assert len({colour(event.name, ring.kinds, 6) for event in block}) == 1
    assert len({colour(f"A{rank}", ring.kinds, 6) for rank in range(ranks)}) == min(ranks, 6)


def test_what_stays_where_it_is_has_no_way() -> None:
    weights = chart((0, "W0", 0, 1), (1, "W0", 1, 2))
    assert not way(weights, weights.rows[0].events[0])
    at_once = chart((0, "F0", 0, 2), (1, "F0", 1, 3))
    assert not way(at_once, at_once.rows[0].events[0])
    twice = chart((0, "F0", 0, 1), (1, "F0", 1, 2), (0, "F0", 2, 3))
    assert not way(twice, twice.rows[0].events[0])
    goes = chart((1, "B0", 0, 1), (0, "B0", 1, 2))
    assert way(goes, goes.rows[0].events[0]) == [1, 0]


def test_the_playhead_stands_over_the_bar_that_begins() -> None:
    for made in drawn("pipeline"):
        for event in (each for row in made.rows for each in row.events):
            lines = screen(made, event.start)
            head = next(n for n, line in enumerate(lines) if line.strip() == "v")
            row = lines[head + 1 + event.rank]
            assert row[lines[head].index("v") :].startswith(event.name)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 24), (40, 24), (40, 15)])
def test_of_a_folded_picture_the_part_with_the_playhead_is_always_there(
    width: int, height: int
) -> None:
    made = chart(*((r, f"F{i}", i + r, i + r + 1) for r in range(4) for i in range(32)))
    for at in moments(made):
        lines = screen(made, at, width=width, height=height)
        assert sum(line.strip() == "v" for line in lines) == 1
        assert max(map(len, lines)) <= width
        if (width, height) != (40, 15):
            assert len(lines) <= height - 4  # the footer and the cursor


def test_in_lines_every_moment_is_told_once() -> None:
    (ring,) = drawn("ring_attention")
    lines = [*told([ring], "en")]
    assert [float(line.split(":")[0]) for line in lines[1:-1]] == pytest.approx(
        moments(ring)[:-1], rel=1e-5
    )
    assert "rank 1 A0, from rank 0" in lines[2]
    made = chart((0, "F0", 0, 1), (1, "F0", 1, 2))
    assert [*told([made], "zh")][1:3] == [
        "0: rank 0 F0，下一站 rank 1; rank 1 空闲",
        "1: rank 0 空闲; rank 1 F0，来自 rank 0",
    ]


class Pressed(Keyboard):
    """Keys that are pressed without waiting; `late` is time that passes."""

    def __init__(self, keys: Iterator[str]) -> None:
        self.keys = keys
        self.waited: list[bool] = []

    def __enter__(self) -> "Pressed":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, status: Callable[[], str] | None = None, deadline: float | None = None) -> str:
        self.waited.append(deadline is None)
        return next(self.keys)


def play(keys: list[str], made: tuple[Chart, ...]) -> tuple[list[str], list[bool], Lang]:
    """The times shown, whether it stood still at each, and the language at the end."""
    out = io.StringIO()
    pressed = Pressed(iter([*keys, "q"]))
    painted = Screen(Console(file=out, width=80, height=24, force_terminal=False))
    lang = watched(painted, pressed, made, "ring-attention", "en")
    lines = out.getvalue().split("\n")
    return [line for line in lines if line.startswith(("at ", "时刻"))], pressed.waited, lang


def test_it_plays_to_the_end_and_stands_still_there() -> None:
    times, still, _ = play(["late"] * 60, drawn("ring_attention"))
    span = drawn("ring_attention")[0].span
    shown = [float(line.split()[1]) for line in times]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, pytest.approx(span, rel=1e-3))
    assert still == [False] * 60 + [True]
    times, still, _ = play(["late"] * 60 + ["space"], drawn("ring_attention"))
    assert (times[-1].split()[1], still[-1]) == ("0", False)


def test_keys_step_from_event_to_event() -> None:
    (ring,) = drawn("ring_attention")
    at = [f"at {each:.4g} of {ring.span:.4g}" for each in moments(ring)]
    keys = ["right", "right", "left", "end", "right", "home", "left", "space"]
    times, still, _ = play(keys, (ring,))
    assert times == [at[n] for n in (0, 1, 2, 1, -1, -1, 0, 0, 0)]
    assert still == [False, *[True] * 7, False]


def test_another_schedule_and_the_other_language() -> None:
    pipes = drawn("pipeline")
    times, still, lang = play(["right", "n", "t"], pipes)
    assert [line.split()[1] for line in times[:3]] == ["0", "1", "0"]
    assert still == [False, True, False, False]
    assert times[3].startswith("时刻 0，")
    assert lang == "zh"
