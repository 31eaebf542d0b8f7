"""`quizkit mock` as programs and pipes use it."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
import started

from quizkit.answer import SessionEvent
from quizkit.diary import Diary
from quizkit.mock.sitting import sittings

RUN = "from quizkit.__main__ import main; main()"


@pytest.fixture
def mock(folder: Path, tmp_path: Path):
    def run(*options: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
        return started.quizkit("mock", *options, "--bank", folder, env=env, given=typed)

    return run


def test_a_pipe_answers_line_by_line_and_gets_the_scorecard(mock):
    lines = "0.99\n:s\nLower activation memory\nand the same bubble.\n\n1 2\n\n"
    done = mock("small", "--json", typed=lines)
    assert done.returncode == 0, done.stderr
    card = json.loads(done.stdout)
    assert card["schema"] == "quizkit/scorecard/2"
    assert [(each["station"], each["judge"]) for each in card["answers"]] == [
        ("bubble", "key"),
        ("bubble-again", "nobody"),
        ("why", "learner"),
        ("parts", "key"),
    ]
    assert card["answers"][2]["given"]["text"] == "Lower activation memory\nand the same bubble."
    # Questions and clock go to stderr, one after the other, without an escape sequence.
    assert "Question 1, a follow-up" in done.stderr
    assert "[10:00 left | this one 02:00]" in done.stderr
    assert "\x1b" not in done.stderr + done.stdout

    listed = json.loads(mock("--history", "--json").stdout)
    assert (listed["schema"], listed["scorecards"]) == ("quizkit/scorecards/2", [card])
    [attempt] = listed["attempts"]
    assert (attempt["overall"], attempt["change"]) == (card["overall"], None)
    shown = mock("--history").stdout
    assert f"{card['overall']:.2f} / 4" in shown


def test_where_the_input_ends_at_the_rubric_keywords_stand_and_say_so(mock):
    done = mock("small", "--json", typed="0.99\n:s\nactivation\n\n1 2\n")
    card = json.loads(done.stdout)
    assert card["answers"][2]["judge"] == "keywords"
    done = mock("small", typed="0.99\n:s\nactivation\n\n1 2\n")
    assert "By keywords alone, nobody confirmed" in done.stdout


def test_where_the_input_ends_before_it_can_be_gone_on_with(mock, tmp_path):
    done = mock("small", typed="0.99\n")
    assert done.returncode == 130
    assert "quizkit mock --resume" in done.stderr
    assert "Scorecard" not in done.stdout
    done = mock("--resume", "--json", typed=":s\n:s\n:s\n:s\n")
    assert done.returncode == 0
    assert json.loads(done.stdout)["answers"][0]["given"] == "0.99"
    done = mock("--resume")
    assert (done.returncode, done.stdout) == (2, "")
    with Diary(tmp_path / "diary.sqlite3") as diary:
        assert len(sittings(diary)) == 1


def test_the_open_one_is_named_by_the_list_and_when_another_begins(mock):
    still_open = "An interview is still open: small"
    assert still_open not in mock().stderr
    mock("small", typed="0.99\n")
    assert still_open in mock().stderr
    assert still_open in mock("small", typed="").stderr


def test_the_list(mock):
    listed = json.loads(mock("--list", "--json").stdout)
    assert listed["schema"] == "quizkit/mocks/1"
    [small] = [each for each in listed["mocks"] if each["id"] == "small"]
    assert (small["minutes"], small["questions"], small["probes"]) == (10, 3, 2)
    assert small["title"] == {"zh": "流水线小测", "en": "A pipeline screen"}
    for done in (mock(), mock("--list")):
        assert done.returncode == 0
        assert "quizkit mock small" in done.stdout


def test_a_name_that_is_not_there(mock):
    done = mock("smal", "--lang", "zh")
    assert done.returncode == 2
    assert "small" in done.stderr
    assert done.stdout == ""


def test_a_script_that_cannot_be_used(mock, tmp_path):
    (tmp_path / "mocks").mkdir()
    (tmp_path / "mocks/torn.yaml").write_text("title: x\n", encoding="utf-8")
    done = mock("torn", "--bank", str(tmp_path))
    assert done.returncode == 4
    assert "mocks/torn.yaml:1: error: key `opening` is missing" in done.stderr


def test_a_card_is_shown_again_by_script_session_or_as_the_last(mock, tmp_path):
    assert mock("--card").returncode == 2
    card = json.loads(mock("small", "--json", typed="0.99\n:s\nactivation\n\n1 2\n\n").stdout)
    for name in ([], ["small"], [card["session"][:8]]):
        assert json.loads(mock(*name, "--card", "--json").stdout) == card
    assert "Scorecard: A pipeline screen" in mock("--card").stdout
    # In the interview's language unless another is asked for.
    assert mock("--markdown", "--card").stdout.startswith("# Scorecard")
    assert mock("--markdown", "--card", "--lang", "zh").stdout.startswith("# 面试评分")
    page = tmp_path / "card.html"
    assert mock("--card", "--html", str(page)).returncode == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert str(tmp_path) not in page.read_text(encoding="utf-8")
    assert mock("other", "--card").returncode == 2


def test_an_old_card_is_listed_exported_merged_and_erased(mock, tmp_path, old_card):
    at = datetime(2026, 2, 1, 8, 0, tzinfo=UTC)
    start = {"script": "small", "lang": "en", "total": 600, "budget": 120, "scale": 1}
    with Diary(tmp_path / "diary.sqlite3") as diary:
        for name, note in (("start", start), ("done", {"card": old_card})):
            diary.log(SessionEvent(device="d", at=at, session="0ld", name=name, note=note))

    def data(*options: str, home: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return started.quizkit("data", *options, env={**os.environ, "QUIZKIT_HOME": str(home)})

    assert "1.50 / 4" in mock("--history").stdout
    assert "No pass" in mock("--card").stdout
    file, other = tmp_path / "out.json", tmp_path / "other"
    other.mkdir()
    file.write_text(data("--export").stdout, encoding="utf-8")
    assert data("--merge", str(file), home=other).returncode == 0
    with Diary(other / "diary.sqlite3") as diary:
        [event] = diary.events(name="done")
        assert event.note["card"] == old_card
    assert data("--erase", "--yes").returncode == 0
    assert json.loads(mock("--history", "--json").stdout)["attempts"] == []


def test_the_interviewers_sheet_has_keys_and_conditions_in_words(mock):
    assert mock("--interviewer").returncode == 2
    text = mock("small", "--interviewer").stdout
    assert text.startswith("# A pipeline screen\n")
    assert "not: said “names the activation peak” or the score (0 to 1) < 0.5" in text
    assert "the answer is not right" in text
    assert "3 pt: names the activation peak" in text
    assert "the bubble shrinks: it does not" in text
    assert "point1" not in text
    assert "没有：说到“说到激活峰值”，或者" in mock("small", "--interviewer", "--lang", "zh").stdout
