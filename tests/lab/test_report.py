"""A report crosses the wall as JSON; these were printed by real runs and kept."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizkit.errors import LabError
from quizkit.lab.report import Check, Event, Failure, Hop, Report, Setting

REPORTS = Path(__file__).parent / "reports"


def stored(name: str) -> dict[str, Any]:
    return json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", sorted(REPORTS.glob("*.json")), ids=lambda file: file.stem)
def test_nothing_is_lost_between_json_and_report(file: Path) -> None:
    data = stored(file.stem)
    again = Report.from_json(data).to_json()
    assert json.loads(json.dumps(again, allow_nan=False)) == data | {"origin": "ran"}


def test_a_finished_run() -> None:
    report = Report.from_json(stored("pipeline"))
    assert (report.demo, report.ranks, report.verdict) == ("pipeline", 4, "pass")
    assert report.metrics["peak_live_1f1b"] == (3, 3, 2, 1)
    # 3 micro-batches on 4 stages: (p - 1) / (m + p - 1) = 3 / 6.
    assert report.metrics["bubble_1f1b"] == pytest.approx(0.5)
    assert report.how["bubble_1f1b"] == "clocked"
    assert report.timeline.clock == "virtual"
    assert Event("gpipe", 0, "F0", 0.0, 1.0) in report.timeline.events
    assert Hop("gpipe", 0, 1, "F0", 1.0, 1.0) in report.timeline.hops


def test_numbers_that_json_cannot_say() -> None:
    data = stored("pipeline")
    data["metrics"] = {"error": "NaN", "worst": ["Infinity", "-Infinity", 1.5]}
    data["checks"][0] |= {"measured": "NaN", "holds": False}
    report = Report.from_json(data)
    assert math.isnan(report.metrics["error"])  # pyright: ignore[reportArgumentType]
    assert report.metrics["worst"] == (math.inf, -math.inf, 1.5)
    assert math.isnan(report.checks[0].measured)
    assert report.to_json()["metrics"] == data["metrics"]
    data["metrics"] = {"error": "nan", "worst": ["inf", "-inf", 1.5]}  # as Python spells them
    assert Report.from_json(data).to_json()["metrics"]["worst"] == ["Infinity", "-Infinity", 1.5]
    json.dumps(report.to_json(), allow_nan=False)


def test_text_stays_text_among_the_arguments() -> None:
    data = stored("ring_attention")
    assert Report.from_json(data).args["layout"] == "contiguous"
    data["args"]["layout"] = "zigzag"
    assert Report.from_json(data).args["layout"] == "zigzag"


TILES = {"kind": "tiles", "title": "t", "legend": ["no", "yes"], "down": "d", "across": "a"}
STAIRS = {"kind": "staircase", "title": "t", "unit": "bytes", "parts": ["kept"]}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"schema": "quizkit/report/2"}, "quizkit/report/2"),
    ({"schema": None}, "None"),
    ({"outcome": "exploded"}, "exploded"),
    ({"verdict": "maybe"}, "maybe"),
    ({"ranks": "4"}, "'4'"),
    ({"ranks": True}, "True"),
    ({"metrics": {"loss": "low"}}, "low"),
    ({"metrics": {"loss": None}}, "None"),
    ({"metrics": [1]}, "[1]"),
    ({"checks": [{"name": "x"}]}, "measured is missing"),
    ({"error": {"rank": 0, "message": "x"}}, "stacks is missing"),
    ({"timeline": {"clock": "virtual", "events": [{"rank": 0}]}}, "schedule is missing"),
    ({"pictures": [{"kind": "pie", "title": "x"}]}, "pie"),
    ({"pictures": [{"kind": "curve", "title": "x", "y": "", "series": []}]}, "x is missing"),
    ({"pictures": [TILES | {"cells": [[0, 2]]}]}, "none of the 2"),
    ({"pictures": [TILES | {"cells": [[0], [0, 1]]}]}, "differ in length"),
    ({"pictures": [STAIRS | {"steps": [{"label": "a", "values": [1, 2]}]}]}, "1 values"),
    ({"pictures": [STAIRS | {"steps": [{"label": "a", "values": [-1]}]}]}, "0 or more"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_is_not_a_report_is_an_error(change: dict[str, Any], message: str) -> None:
    with pytest.raises(LabError) as caught:
        Report.from_json(stored("pipeline") | change)
    assert message in str(caught.value)


def test_a_report_without_a_field_is_an_error() -> None:
    data = stored("pipeline")
    for name in data.keys() - {"pictures"}:
        with pytest.raises(LabError):
            Report.from_json({key: value for key, value in data.items() if key != name})


def test_a_report_from_before_there_were_pictures_has_none() -> None:
    data = stored("pipeline")
    del data["pictures"]
    assert Report.from_json(data).pictures == ()


def test_a_report_from_before_messages_were_kept_has_none() -> None:
    data = stored("ring_attention")
    del data["timeline"]["hops"], data["timeline"]["letters"]
    timeline = Report.from_json(data).timeline
    assert (timeline.hops, timeline.letters, len(timeline.events)) == ((), {}, 6)


def test_a_break_shows_only_as_declared() -> None:
    failed = Report.from_json(stored("all_reduce_average"))
    assert failed.shows("ring equals all_reduce")
    assert not failed.shows("tree equals all_reduce")  # it holds
    assert not failed.shows("ring")  # no such check
    assert not failed.shows("hangs")
    hung = Report.from_json(stored("all_reduce_hung"))
    assert hung.shows("hangs")
    assert not hung.shows("ring equals all_reduce")
    crashed = replace(
        failed,
        outcome="crashed",
        error=Failure(1, "rank 1 raised KeyError: 'ValueError'\n...\nrank 0 raised OSError"),
    )
    assert crashed.shows("crashes: KeyError")
    for other in ("ValueError", "OSError", "Key", "Error"):
        assert not crashed.shows(f"crashes: {other}")
    assert not crashed.shows("ring equals all_reduce")


def test_settings_are_told_apart_by_what_matters() -> None:
    one = Setting("pipeline", 4, (("microbatches", 8),))
    assert one == Setting("pipeline", 4, (("microbatches", 8),), None)
    assert len({one, replace(one, ranks=3), replace(one, broken="x"), replace(one, args=())}) == 4
    assert Check("x", 1, "<", 2, True) == Check("x", 1, "<", 2, True)
