"""A timeline is played as it was recorded: the playhead, the ways, the keys."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from quizkit.lab.catalogue import find
from quizkit.lab.report import Event, Hop, Report, Timeline
from quizkit.ui.pictures.chart import Chart, charts, colour
from quizkit.ui.pictures.playhead import moments, steps
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.screens.watch_screen import frame, legend, told
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.watching import watched
from quizkit.words import Lang

from .pressed import Pressed

REPORTS = Path(__file__).parents[1] / "lab" / "reports"


def drawn(name: str) -> tuple[Chart, ...]:
    text = (REPORTS / f"{name}.json").read_text(encoding="utf-8")
    report = Report.from_json(json.loads(text))
    return charts(report.timeline, report.ranks)


def chart(*events: tuple[int, str, float, float], hops: Sequence[Hop] = ()) -> Chart:
    made = tuple(Event("s", *each) for each in events)
    ranks = 1 + max(each[0] for each in events)
    return charts(Timeline("virtual", made, tuple(hops)), ranks)[0]


def screen(
    made: Chart, at: float, *, since: float | None = None, width: int = 80, height: int = 24
) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        for part in frame(made, at, at if since is None else since, width, height, "en"):
            console.print(part)
    return captured.get().rstrip("\n").split("\n")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_each_block_is_seen_to_go_from_its_sender_to_its_receiver(width: int) -> None:
    (ring,) = drawn("ring_attention")
    assert {(hop.rank, hop.to, hop.name) for hop in ring.hops} == {
        (0, 1, "KV0"), (1, 2, "KV1"), (2, 0, "KV2"),  # each its own, then the one that came
        (0, 1, "KV2"), (1, 2, "KV0"), (2, 0, "KV1"),
    }  # fmt: skip
    for hop in ring.hops:
        places: list[int] = []
        for at in (hop.start, (hop.start + hop.end) / 2, hop.end):
            line = screen(ring, at, width=width)[-ring.ranks :][hop.rank]
            assert len(line) <= width
            assert line.startswith(f"rank {hop.rank}  ")
            assert line.endswith(f"> {hop.to}")
            places.append(line.index(f"[{hop.name}]"))
        assert places == sorted(set(places))
        assert line.endswith(f"[{hop.name}]> {hop.to}")  # it has come
        after = screen(ring, hop.end + 0.01, width=width)[-ring.ranks :][hop.rank]
        assert f"[{hop.name}]" not in after
    assert len({colour(f"A{rank}", ring.kinds, 6) for rank in range(ring.ranks)}) == ring.ranks


def test_what_names_stand_for_is_what_the_run_said() -> None:
    (ring,) = drawn("ring_attention")
    said = "A2 attention over rank 2's K/V block, KV2 rank 2's K/V block"
    assert legend(ring, "en") == said
    assert said in screen(ring, 0)
    words = demo_words(find("ring-attention", None), "zh")
    told = "A2：用 rank 2 的 K/V 块算注意力；KV2：rank 2 的 K/V 块"
    assert legend(ring, "zh", words.picture) == told


def test_of_ranks_that_send_both_ways_each_way_has_its_place() -> None:
    *_, pipe = drawn("pipeline")
    for at in moments(pipe):
        lines = screen(pipe, at, width=60)[-pipe.ranks :]
        assert [line.count("> ") for line in lines] == [1, 2, 2, 1]
        assert len({line.index("> ") for line in lines}) == 1
    # A message that takes no time is seen when it comes, and while it plays until the next beat.
    assert "[F0]> 1" in screen(pipe, 1.0)[-pipe.ranks]
    assert "[F0]> 1" in screen(pipe, 1.2, since=0.9)[-pipe.ranks]
    assert "[F0]> 1" not in screen(pipe, 1.2, since=1.0)[-pipe.ranks]


def test_ways_that_do_not_fit_beside_each_other_go_below() -> None:
    hops = [Hop("s", 0, to, f"M{to}", 0.0, 1.0) for to in (1, 2, 3)]
    made = chart(*((rank, "F0", 0, 1) for rank in range(4)), hops=hops)
    lines = screen(made, 0, width=44)[-6:]
    assert [line.strip()[:4] for line in lines] == ["rank", "[M2]", "[M3]", *["rank"] * 3]
    assert max(map(len, lines)) <= 44


def test_without_messages_no_way_is_drawn() -> None:
    assert screen(chart((0, "F0", 0, 1), (1, "F0", 1, 2)), 1)[-2:] == ["rank 0  idle", "rank 1  F0"]


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
    assert [float(line.split(":")[0]) for line in lines[2:-1]] == pytest.approx(
        moments(ring)[:-1], rel=1e-5
    )
    assert "rank 1 A1, sends KV1 to rank 2;" in lines[2]
    assert "rank 1 A1, gets KV0 from rank 0;" in lines[3]
    made = chart((0, "F0", 0, 1), (1, "F0", 1, 2), hops=[Hop("s", 0, 1, "F0", 1.0, 1.0)])
    assert [*told([made], "zh")][1:3] == [
        "0：rank 0 F0；rank 1 空闲",
        "1：rank 0 空闲，发 F0 给 rank 1；rank 1 F0，收到 rank 0 的 F0",
    ]


def play(keys: list[str], made: tuple[Chart, ...]) -> tuple[list[str], list[bool], Lang]:
    """The times shown, whether it stood still at each, and the language at the end."""
    out = io.StringIO()
    pressed = Pressed([*keys, "q"])
    painted = Screen(Console(file=out, width=80, height=24, force_terminal=False))
    lang = watched(painted, pressed, made, lambda text, _: text, "en")
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
    at = [f"at {each:.4g} of {ring.span:.4g}" for each in steps(ring)]
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
