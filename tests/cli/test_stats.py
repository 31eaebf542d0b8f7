"""`quizkit stats` as a person or a program meets it: a real diary, real processes."""

import json
import os
import socket
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import started

from quizkit.answer import Answer
from quizkit.diary import Diary

QUESTION = """
kind: choice
level: {level}
prompt: {{zh: 题, en: question}}
options:
  - {{text: {{zh: 对, en: right}}, correct: true}}
  - text: {{zh: 错, en: wrong}}
    why: {{zh: 不对, en: not so}}
    myth: wrong-way
explain: {{zh: 如题, en: as stated}}
sources: ["https://example.org"]
"""
TOPIC = "title: {zh: 专题, en: A topic}\nintro: {zh: 专题, en: A topic}\n"
USER = "anna-quizzer"
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank of two questions in the topic `alpha`, and a diary of eight rows about them."""
    folder = tmp_path_factory.mktemp("stats")
    shelf = folder / "bank" / "alpha"
    shelf.mkdir(parents=True)
    (shelf / "_topic.yaml").write_text(TOPIC, encoding="utf-8")
    (shelf / "_myths.yaml").write_text("wrong-way: {zh: 反着来, en: It is the other way}\n")
    for level in (1, 2):
        text = QUESTION.format(level=level)
        (shelf / f"q{level}.yaml").write_text(text, encoding="utf-8")
    (folder / "home").mkdir()
    wrong = {"right": False, "grade": 1, "note": "myth: wrong-way"}
    with Diary(folder / "home" / "diary.sqlite3") as diary:
        for i in range(5):
            diary.append(_row(i, "alpha/q1", days=9 - i, **wrong))
        diary.append(_row(5, "alpha/q2", days=4, right=True, grade=3, sure=True))
        diary.append(_row(6, "alpha/q2", days=1, right=True, grade=3, mode="mock"))
        diary.append(_row(7, "alpha/q1", days=1, sure=True, **wrong))
    return folder


def _row(number: int, question: str, *, days: float, **more: Any) -> Answer:
    at = NOW - timedelta(days=days)
    known: dict[str, Any] = {"device": "d", "session": "s", "lang": "en", "seed": 1}
    return Answer(uuid=f"{number}", question=question, at=at, **known, **more)


def stats(place: Path, *words: str, home: str = "home") -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(place / home), "COLUMNS": "80", "LC_ALL": "C"}
    env |= {"USER": USER, "LOGNAME": USER}
    return started.quizkit("stats", "--bank", place / "bank", *words, env=env)


def test_as_json(place: Path):
    done = stats(place, "--json", "--topic", "alpha")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert (said["schema"], said["chosen"]) == ("quizkit/stats/1", ["alpha"])
    counts = {name: said["study"][name] for name in ("questions", "met", "answered", "right")}
    assert counts == {"questions": 2, "met": 2, "answered": 7, "right": 1}
    assert said["mock"] == {"answered": 1, "right": 1}
    assert [(row["level"], row["answered"]) for row in said["levels"]] == [(1, 6), (2, 1)]
    assert [(row["kind"], row["answered"]) for row in said["kinds"]] == [("choice", 7)]
    # A right answer to q2 laid the first five to rest, in the end an interview's; one came after.
    assert [(m["myth"], m["times"], m["caught"]) for m in said["myths"]] == [
        ("wrong-way", 1, ["alpha/q2"])
    ]
    assert (said["calibration"]["sure_wrong"], said["calibration"]["unsaid"]) == (1, 5)
    assert said["calibration"]["mistaken"] == ["alpha/q1"]
    leech = {"question": "alpha/q1", "topic": "alpha", "demo": "", "lapses": 6}
    assert said["leeches"] == [leech]
    # q1 came back four days in a row, and once more: five reviews, none of them right.
    reviews = said["retention"]["all"]
    assert (reviews["reviews"], reviews["right"], reviews["recalled"]) == (5, 0, 0)
    assert 0 < reviews["predicted"] < 5
    assert (len(said["forecast"]["days"]), len(said["activity"]["days"])) == (14, 14)
    assert (said["activity"]["active"], said["gone"], said["flags"]) == (7, 0, 0)


@pytest.mark.parametrize(("options", "bars"), [([], True), (["--plain"], False)])
def test_on_the_screen(place: Path, options: list[str], bars: bool):
    done = stats(place, "--topic", "alpha", "--lang", "en", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Answers: 7, right: 1 (14%)" in done.stdout
    assert "It is the other way" in done.stdout
    assert "quizkit learn alpha" in done.stdout
    assert "quizkit show alpha/q1" in done.stdout
    assert ("####" in done.stdout) == bars
    assert "\x1b" not in done.stdout


def test_as_a_page(place: Path):
    file = place / "page.html"
    done = stats(place, "--topic", "alpha", "--lang", "zh", "--html", str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"已写入 {file}\n")
    text = file.read_text(encoding="utf-8")
    assert "反着来" in text
    assert "作答 7 次，答对 1 次（14%）" in text
    for private in (USER, socket.gethostname(), str(Path.home()), str(place), "/home", "/tmp"):
        assert private not in text


def test_what_cannot_be_and_an_empty_diary(place: Path):
    done = stats(place, "--topic", "alpah", "--lang", "en")
    assert done.returncode == 2
    assert "Try: alpha." in done.stderr
    done = stats(place, "--html", str(place / "nowhere" / "page.html"), "--lang", "en")
    assert done.returncode == 2
    assert "Cannot write" in done.stderr
    # What the index knows of the bank by now need not be found out again.
    done = stats(place, "--lang", "en", home="fresh")
    assert done.returncode == 0
    assert "quizkit place" in done.stdout
