"""The files a timeline is written to: one SVG that needs nothing else, one Chrome trace."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from quizkit.lab.report import Event, Report, Timeline
from quizkit.ui.pictures.chart import charts
from quizkit.ui.pictures.svg import picture, svg
from quizkit.ui.pictures.trace import trace
from quizkit.words import Lang

REPORTS = Path(__file__).parents[1] / "lab" / "reports"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def pipeline() -> Report:
    return Report.from_json(json.loads((REPORTS / "pipeline.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(("lang", "said"), [("zh", "实测事件"), ("en", "measured event")])
def test_an_svg_has_one_bar_for_each_event(pipeline: Report, lang: Lang, said: str) -> None:
    source = svg(pipeline, lang)
    root = ElementTree.fromstring(source)
    assert said in source
    groups = root.findall(f"{SVG}g")
    tips = sorted(group.findtext(f"{SVG}title") or "" for group in groups)
    assert tips == sorted(
        f"rank {e.rank} {e.name}: {e.start:g} - {e.end:g}" for e in pipeline.timeline.events
    )
    # One unit of time is as wide in every bar.
    scale = 880 / 18
    for group, event in zip(groups, _drawn(pipeline), strict=True):
        bar = group.find(f"{SVG}rect")
        assert bar is not None
        assert float(bar.attrib["width"]) == pytest.approx(
            (event.end - event.start) * scale, abs=0.01
        )
        assert float(bar.attrib["x"]) == pytest.approx(70 + event.start * scale, abs=0.01)


def _drawn(report: Report) -> list[Event]:
    schedules = list(dict.fromkeys(event.schedule for event in report.timeline.events))
    return sorted(
        report.timeline.events, key=lambda e: (schedules.index(e.schedule), e.rank, e.start)
    )


def test_an_svg_fetches_nothing_and_tells_nothing_of_its_maker(pipeline: Report) -> None:
    source = svg(pipeline, "zh")
    assert re.findall(r"https?://[^\"' ]+", source) == ["http://www.w3.org/2000/svg"]
    for word in ("url(", "@import", "<script", "href", str(Path.home()), "/"):
        rest = source.replace("http://www.w3.org/2000/svg", "")
        assert word not in re.sub(r"</\w+>|/>", "", rest), word


def test_names_cannot_break_out_of_the_markup(pipeline: Report) -> None:
    event = Event('</svg>"&', 0, "<script>'", 0.0, 1.0)
    report = replace(pipeline, timeline=Timeline("virtual", (event,)))
    root = ElementTree.fromstring(svg(report, "en"))
    assert [title.text for title in root.iter(f"{SVG}title")][1] == "rank 0 <script>': 0 - 1"


def test_a_trace_holds_every_event_and_names_its_rows(pipeline: Report) -> None:
    data = json.loads(json.dumps(trace(pipeline), allow_nan=False))
    bars = [event for event in data["traceEvents"] if event["ph"] == "X"]
    names = {
        event["pid"]: event["args"]["name"]
        for event in data["traceEvents"]
        if event["name"] == "process_name"
    }
    assert names == {1: "gpipe", 2: "1f1b"}
    found = {(names[b["pid"]], b["tid"], b["name"], b["ts"], b["dur"]) for b in bars}
    assert found == {
        (e.schedule, e.rank, e.name, e.start * 1000, (e.end - e.start) * 1000)
        for e in pipeline.timeline.events
    }
    rows = [e["args"]["name"] for e in data["traceEvents"] if e["name"] == "thread_name"]
    assert rows == ["rank 0", "rank 1", "rank 2", "rank 3"] * 2
    assert "1 ms" in data["otherData"]["clock"]


def test_seconds_stay_seconds_in_a_trace(pipeline: Report) -> None:
    event = Event("s", 0, "A", 5.25, 5.5)
    data = trace(replace(pipeline, timeline=Timeline("wall", (event,))))
    bar = next(event for event in data["traceEvents"] if event["ph"] == "X")
    assert (bar["ts"], bar["dur"]) == (0, 0.25e6)


def test_bars_too_thin_to_point_at_are_one_shape_a_kind() -> None:
    events = [Event("s", 0, f"F{i}", float(i), i + 1.0) for i in range(600)]
    events += [Event("s", 0, f"I{i}", 600.0 + i, 601.0 + i) for i in range(600)]
    source = picture(charts(Timeline("simulated", tuple(events)), 1), "t", "c", "en")
    root = ElementTree.fromstring(source)
    forward, backward = root.findall(f"{SVG}path")
    assert (forward.findtext(f"{SVG}title"), backward.findtext(f"{SVG}title")) == (
        "rank 0 F: 600",
        "rank 0 I: 600",
    )
    starts = [float(x) for x in re.findall(r"M([\d.]+) ", forward.attrib["d"])]
    assert starts == pytest.approx([70 + 880 * i / 1200 for i in range(600)], abs=0.001)
    assert forward.attrib["fill"] != backward.attrib["fill"]
    assert "simulated, not measured" in source
