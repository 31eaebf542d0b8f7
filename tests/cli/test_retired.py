"""A question that is gone: it breaks nothing, and who names it is told what to take instead."""

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import started

from quizkit.answer import Answer
from quizkit.diary import Diary

QUESTION = """
kind: choice
level: 1
prompt: {zh: 题, en: question}
options:
  - {text: {zh: 对, en: right}, correct: true}
  - text: {zh: 错, en: wrong}
    why: {zh: 不对, en: not so}
    myth: wrong-way
explain: {zh: 如题, en: as stated}
followups: [{ask: alpha/old}]
sources: ["https://example.org"]
"""
RETIRED = """
alpha/old:
  reason: {zh: 题面有歧义, en: The prompt could be read in two ways.}
  see: alpha/new
"""
SCRIPT = """
title: {zh: 面试, en: An interview}
opening: {zh: 开场, en: Opening}
level: 1
minutes: 1
pause_minutes: 0
weights: {numbers: 1}
pass: {overall: 3}
stations:
  - {id: first, ask: alpha/old, seconds: 20, speaks: {numbers: 1}}
"""
NOW = datetime.now(UTC).replace(microsecond=0)

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """One question left of two; the diary holds answers to both."""
    shelf = tmp_path / "bank" / "alpha"
    shelf.mkdir(parents=True)
    (shelf / "_topic.yaml").write_text("title: Alpha\nintro: words\norder: [old, new]\n")
    (shelf / "_myths.yaml").write_text("wrong-way: {zh: 反着来, en: It is the other way}\n")
    (shelf / "new.yaml").write_text(QUESTION)
    (shelf.parent / "_retired.yaml").write_text(RETIRED)
    (shelf.parent / "mocks").mkdir()
    (shelf.parent / "mocks" / "small-one.yaml").write_text(SCRIPT)
    (tmp_path / "home").mkdir()
    wrong: dict[str, Any] = {"right": False, "grade": 1, "note": "myth: wrong-way", "sure": True}
    with Diary(tmp_path / "home" / "diary.sqlite3") as diary:
        for days in (9, 6, 3):
            diary.append(_row(f"{days}", "alpha/old", days, **wrong))
        diary.append(_row("new", "alpha/new", 10, right=True, grade=3, sure=True))
    return shelf.parent


def _row(uuid: str, question: str, days: int, **more: Any) -> Answer:
    known: dict[str, Any] = {"device": "d", "session": "s", "lang": "en", "seed": 1}
    return Answer(uuid=uuid, question=question, at=NOW - timedelta(days=days), **known, **more)


@pytest.fixture
def run(bank: Path, tmp_path: Path) -> Run:
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path / "home"), "COLUMNS": "80", "LC_ALL": "C"}

    def run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return started.quizkit(*words, "--bank", str(bank), env=env, given=given)

    return run


@pytest.mark.parametrize("command", ["show", "study", "prove"])
@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("zh", "alpha/old 这道题已经下线：题面有歧义。请改做 alpha/new\n"),
        (
            "en",
            "alpha/old is retired: The prompt could be read in two ways. Take alpha/new instead\n",
        ),
    ],
)
def test_who_names_it_is_told_why_and_what_to_take(run: Run, command: str, lang: str, said: str):
    done = run(command, "alpha/old", "--lang", lang)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(said), done.stderr


def test_a_new_question_does_not_take_its_id(run: Run, bank: Path):
    done = run("bank", "new", "alpha/old", "--kind", "choice", "--lang", "en")
    assert done.returncode == 2
    assert "alpha/old is retired" in done.stderr
    assert not (bank / "alpha" / "old.yaml").exists()


def test_a_question_of_that_name_that_is_still_there_counts(run: Run, bank: Path):
    (bank / "alpha" / "old.yaml").write_text(QUESTION)
    assert run("show", "alpha/old").returncode == 0


def test_a_script_that_asks_it_says_so(run: Run):
    done = run("mock", "small-one", "--lang", "en")
    assert done.returncode == 4
    assert "mocks/small-one.yaml:10: error: `alpha/old` is retired (The prompt" in done.stderr
    assert "name `alpha/new` instead" in done.stderr


def test_it_is_never_due(run: Run):
    said = json.loads(run("due", "--json").stdout)
    assert "alpha/new" in json.dumps(said)
    assert "alpha/old" not in json.dumps(said)


def test_it_is_never_asked_as_what_is_due_or_as_a_follow_up(run: Run):
    lines = [*[json.dumps({"answer": [0]})] * 3, json.dumps({"command": "quit"})]
    options = ["--topic", "alpha", "--json", "--seed", "1"]
    done = run("study", *options, given="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["ask"]["id"] for each in told if "ask" in each} == {"alpha/new"}


def test_stats_beliefs_and_calibration_stand(run: Run):
    done = run("stats", "--json", "--topic", "alpha")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert {name: said["study"][name] for name in ("questions", "met", "answered")} == {
        "questions": 1,
        "met": 1,
        "answered": 1,
    }
    assert said["gone"] == 3
    # What its wrong answers showed is still believed, and a question that is left can catch it.
    (belief,) = said["myths"]
    assert (belief["myth"], belief["times"], belief["caught"]) == ("wrong-way", 3, ["alpha/new"])
    assert (said["calibration"]["sure_right"], said["calibration"]["sure_wrong"]) == (1, 0)
    assert said["calibration"]["mistaken"] == []
    assert run("stats").returncode == 0


def test_a_plan_is_made_without_it(run: Run):
    done = run("plan", "--interview", f"{date.today() + timedelta(days=20)}", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert "alpha/old" not in json.dumps(said)


def test_learn_goes_on_without_it(run: Run):
    done = run("learn", "alpha", "--again", "--json", given=json.dumps({"command": "quit"}) + "\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["page"]["title"] == "Alpha"
    assert "alpha/old" not in done.stdout


def test_who_exports_to_anki_is_told_how_to_find_its_card(run: Run, tmp_path: Path):
    file = str(tmp_path / "out.apkg")
    done = run("export", "anki", file, "--topic", "alpha", "--lang", "en")
    assert done.returncode == 0
    assert "Retired questions: 1." in done.stderr
    assert "\nnote:quizkit (Question:alpha/old)\n" in done.stderr
    said = json.loads(run("export", "anki", file, "--topic", "alpha", "--json").stdout)
    assert said["retired"] == ["alpha/old"]
