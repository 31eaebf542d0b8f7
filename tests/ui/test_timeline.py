"""The timeline in the terminal: every bar where the run measured it, no line too long."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from quizkit.lab.report import Event, Report, Timeline
from quizkit.ui.pictures.chart import Chart, charts
from quizkit.ui.pictures.drawn import Picture
from quizkit.ui.pictures.timeline import draw, headline, letters

REPORTS = Path(__file__).parents[1] / "lab" / "reports"


def report(name: str) -> Report:
    return Report.from_json(json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8")))


def chart(*events: tuple[int, str, float, float], clock: str = "virtual", ranks: int = 2) -> Chart:
    made = (Event("s", rank, name, start, end) for rank, name, start, end in events)
    return charts(Timeline(clock, tuple(made)), ranks)[0]


def text(picture: Picture) -> list[str]:
    return ["".join(span.text for span in line) for line in picture.lines]


def test_a_pipeline_as_it_was_measured() -> None:
    gpipe, one = charts(report("pipeline").timeline, 4)
    assert (gpipe.schedule, gpipe.span, gpipe.idle) == ("gpipe", 18.0, pytest.approx(0.5))
    assert (one.schedule, one.span, one.idle) == ("1f1b", 18.0, pytest.approx(0.5))
    assert text(draw(one, 50, "en")) == [
        "rank 0 |F0F1F2..............B0--..B1--..B2--|",
        "rank 1 |..F0F1F2........B0--..B1--..B2--....|",
        "rank 2 |....F0F1....B0--F2B1--..B2--........|",
        "rank 3 |......F0B0--F1B1--F2B2--............|",
        "        0         5         10        15  18",
    ]
    assert "50.0% of the step" in headline(one, "en")
    assert "50.0%" in headline(one, "zh")


@pytest.mark.parametrize("name", ["pipeline", "ring_attention", "all_reduce_average"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_line_is_too_long_at_any_width(name: str, lang: str) -> None:
    run = report(name)
    for width in range(1, 130):
        for each in charts(run.timeline, run.ranks):
            picture = draw(each, width, lang)  # pyright: ignore[reportArgumentType]
            assert picture.lines
            assert max(map(len, text(picture))) <= max(width, 3)
            assert all(line.isascii() for line in text(picture))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_bars_are_where_the_events_are(width: int) -> None:
    run = report("pipeline")
    for each in charts(run.timeline, run.ranks):
        lines = text(draw(each, width, "en"))[:4]
        columns = len(lines[0]) - len("rank 0 ||")
        assert columns % 18 == 0  # every unit of time as wide as any other
        for event in run.timeline.events:
            if event.schedule == each.schedule:
                row = lines[event.rank].split("|")[1]
                start, end = (round(t * columns / 18) for t in (event.start, event.end))
                assert row[start:end].rstrip("-") in (event.name, event.name[0])
        busy = sum(len(line.split("|")[1].replace(".", "")) for line in lines)
        assert busy / (4 * columns) == pytest.approx(1 - each.idle)


def test_half_a_number_is_never_written() -> None:
    made = chart((0, "F1000", 0, 1), (0, "F1001", 1, 2), (1, "B10", 0, 2))
    assert text(draw(made, 13, "en"))[:2] == ["rank 0 |F-F-|", "rank 1 |B10-|"]
    assert draw(made, 13, "en").notes
    made = chart((0, "F10", 0, 1), (0, "F11", 1, 2), (1, "B10", 0, 2))
    assert text(draw(made, 15, "en"))[0] == "rank 0 |F10F11|"
    assert not draw(made, 15, "en").notes


@pytest.mark.parametrize("width", [17, 20, 26, 32, 40, 60, 80])
def test_times_under_the_picture_never_touch(width: int) -> None:
    thirds = chart(*((0, f"F{i}", 4 * i / 3, 4 * (i + 1) / 3) for i in range(3)), ranks=1)
    axis = text(draw(thirds, width, "en"))[-1].split()
    assert axis[0] == "0"
    assert axis[-1] == "4"
    assert set(axis) <= {"0", "1.333", "2.667", "4"}


def test_too_narrow_for_bars_gives_a_short_order_instead() -> None:
    made = chart((0, "F0", 0, 1), (0, "B0", 1, 100), (1, "F0", 0, 1))
    picture = draw(made, 20, "en")
    assert text(picture) == ["rank 0: F0 B0", "rank 1: F0"]
    assert "narrow" in picture.notes[0]


@pytest.mark.parametrize("width", range(3, 90))
def test_names_are_never_listed_over_more_than_six_lines(width: int) -> None:
    made = chart(*((rank, f"F{i}", i, i + 1) for rank in range(4) for i in range(64)), ranks=4)
    lines = text(draw(made, width, "en"))
    listed = [line for line in lines if "|" not in line and line.strip(" 0123456789.")]
    assert len(listed) <= 6


def test_a_long_schedule_goes_on_in_rows_below_and_nothing_is_lost() -> None:
    made = charts(report("pipeline").timeline, 4)[1]
    picture = draw(made, 40, "en")
    assert text(picture) == [
        "rank 0 |F0-F1-F2-..................|",
        "rank 1 |...F0-F1-F2-............B0-|",
        "rank 2 |......F0-F1-......B0----F2-|",
        "rank 3 |.........F0-B0----F1-B1----|",
        "        0     2     4     6       9",
        "rank 0 |...B0----...B1----...B2----|",
        "rank 1 |---...B1----...B2----......|",
        "rank 2 |B1----...B2----............|",
        "rank 3 |F2-B2----..................|",
        "        9     11    13    15     18",
    ]
    assert picture.notes == ("Time goes on in the rows below: 2 stretches.",)


@pytest.mark.parametrize(("width", "rows"), [(20, 4), (40, 12), (60, 8), (80, 12)])
def test_many_operations_on_a_narrow_screen_stay_a_picture(width: int, rows: int) -> None:
    made = chart(*((rank, f"F{i}", i, i + 1) for rank in range(4) for i in range(64)), ranks=4)
    picture = draw(made, width, "en")
    lines = text(picture)
    assert sum("|" in line for line in lines) == rows
    assert [line[:8] for line in lines[:4]] == [f"rank {rank} |" for rank in range(4)]
    assert ("Too many operations to number" in picture.notes[0]) == (width == 20)
    assert max(map(len, lines)) <= width


def test_many_ranks_are_not_folded_into_more_rows_than_one_can_look_at() -> None:
    made = chart(*((r, f"F{i}", i, i + 1) for r in range(16) for i in range(64)), ranks=16)
    assert sum("|" in line for line in text(draw(made, 40, "en"))) == 16


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (("FB",), "B backward (gradients of input and weights)"),
        (("FBW",), "W gradient of the weights"),
        (("FB", "FBW"), "where there is a W"),
        (("A",), ""),
        (("F",), ""),
    ],
)
def test_letters_are_told_in_words(kinds: tuple[str, ...], said: str) -> None:
    drawn = [chart(*((0, f"{k}0", i, i + 1) for i, k in enumerate(each))) for each in kinds]
    told = letters(drawn, "en")
    assert said in told
    assert bool(told) == bool(said)


def test_times_that_share_no_unit_are_rounded_and_it_is_said() -> None:
    made = chart((0, "A", 0, 1 / 3), (0, "B", 1 / 3, 0.77123), (1, "C", 0.1, 0.5000001))
    picture = draw(made, 60, "en")
    assert "rounded" in picture.notes[0]
    assert text(picture)[2].split() == ["0", "0.2", "0.4", "0.7712"]


def test_waiting_for_the_first_message_is_idle_time_on_a_virtual_clock() -> None:
    made = chart((0, "A", 0, 1), (1, "A", 1, 2))
    assert made.idle == 0.5
    late = chart((0, "A", 1, 2), (1, "A", 1, 2))
    assert (late.span, late.idle) == (2, 0.5)
    # Seconds since some moment mean nothing: there the picture starts with the first event.
    wall = chart((0, "A", 1001, 1002), (1, "A", 1000, 1001), clock="wall")
    assert (wall.span, wall.idle) == (2, 0.5)
    assert " s " in headline(wall, "en")


def test_a_rank_that_did_nothing_keeps_its_row() -> None:
    lines = text(draw(chart((0, "A", 0, 4), ranks=3), 60, "en"))
    assert [line.split("|")[0] for line in lines[:3]] == ["rank 0 ", "rank 1 ", "rank 2 "]
    assert set(lines[2].split("|")[1]) == {"."}


def test_two_things_at_once_get_two_rows_and_count_once() -> None:
    made = chart((0, "A", 0, 2), (0, "C", 1, 3), (0, "A", 2, 4), ranks=1)
    assert [[e.name for e in row.events] for row in made.rows] == [["A", "A"], ["C"]]
    assert made.idle == 0


def test_what_took_no_time_is_not_drawn() -> None:
    assert charts(Timeline("virtual", (Event("s", 0, "A", 1.0, 1.0),)), 1) == ()
    assert charts(replace(report("pipeline").timeline, events=()), 4) == ()


def crowd(ranks: int, microbatches: int) -> tuple[Event, ...]:
    """All forwards, a pause, then all backwards at twice the time."""
    return tuple(
        Event("s", rank, f"{kind}{i}", start, start + cost)
        for rank in range(ranks)
        for i in range(microbatches)
        for kind, cost, start in (
            ("F", 1.0, float(rank + i)),
            ("B", 2.0, float(microbatches + 3 * ranks - 2 * rank + 2 * i)),
        )
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_crowd_is_shown_by_what_was_done_most(width: int) -> None:
    made = charts(Timeline("virtual", crowd(64, 512)), 64)[0]
    picture = draw(made, width, "en")
    lines = text(picture)
    assert len(lines) == 65
    assert {len(line) for line in lines[:64]} == {width}
    assert "Too many operations to number" in picture.notes[0]
    columns = width - len("rank 10 ||")
    for rank, line in enumerate(lines[:64]):
        row = line.split("|")[1]
        # Forwards end and backwards begin where the events do, to the column.
        scale = columns / made.span
        assert row[: int(rank * scale)] == "." * int(rank * scale)
        assert abs(row.count("F") - 512 * scale) <= 1
        assert abs(row.count("B") - 1024 * scale) <= 1
        assert row.strip(".").lstrip("F").lstrip(".").strip("B") == ""


def test_a_column_that_was_mostly_idle_says_so() -> None:
    events = [(0, f"F{i}", 10.0 * i, 10.0 * i + 4) for i in range(400)]
    events += [(1, f"W{i}", 10.0 * i, 10.0 * i + 6) for i in range(400)]
    lines = text(draw(chart(*events), 60, "en"))
    assert set(lines[0].split("|")[1]) == {"."}
    assert set(lines[1].split("|")[1]) == {"W"}


def test_what_was_simulated_is_not_called_measured() -> None:
    made = chart((0, "F0", 1, 2), clock="simulated")
    assert (made.span, "simulated, not measured" in headline(made, "en")) == (2, True)
    assert "不是实测" in headline(made, "zh")
