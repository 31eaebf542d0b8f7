"""The first minutes on a real terminal: a level found, a topic learnt from its beginning."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import started

from quizkit.answer import Answer
from quizkit.bank.library import Library
from quizkit.diary import Diary
from quizkit.paths import QUESTIONS, cache_folder
from quizkit.tutor.placement import LENGTH as MANY

Start = Callable[..., object]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def quizkit(terminal, home: Path):
    def start(*words: str, **more: str):
        command = ["-m", "quizkit", *words]
        return terminal(command, 100, 50, QUIZKIT_HOME=str(home), QUIZKIT_LANG="en", **more)

    return start


def answered(home: Path) -> int:
    with Diary(home / "diary.sqlite3") as diary:
        return len(diary.answers())


def answer(question: str) -> Answer:
    at = datetime.now(UTC)
    row = Answer(uuid="a", at=at, device="d", session="s", question=question, lang="en", seed=1)
    return replace(row, given=1, score=1.0, right=True, grade=3)


def test_the_level_is_found_and_study_begins_there(quizkit, home: Path):
    desk = quizkit("study")
    desk.until("Where to begin")
    desk.until("go on  t 中文  s skip")
    desk.press("t")
    desk.until("先定个级")
    desk.press("?")
    desk.until("往下：做题")
    desk.press("x", "\r")
    for number in range(1, MANY + 1):
        desk.until(f"{number}/{MANY}")
        desk.until("t English")
        desk.press("1")
        shown = desk.wait(lambda text: "1-4 改评分" in text or "[x]" in text, "a verdict")
        if "[x]" in shown:  # several can be right: the tick is handed in
            desk.press("\r")
            desk.until("1-4 改评分")
        desk.press("\r")
    told = desk.until("要改：quizkit config level N")
    found = re.search(r"定级：第 ([1-5]) 级（12 题答对 (\d+) 题）", told)
    assert found
    rows = re.findall(r"第 [1-5] 级的题：(\d+) 题对 (\d+) 题", told)
    assert [sum(map(int, column)) for column in zip(*rows, strict=True)] == [MANY, int(found[2])]
    assert answered(home) == MANY
    assert (home / "config.yaml").read_text() == f"level: {found[1]}\n"
    desk.press("\r")
    desk.until("1/20")  # the whole of the day's share: finding the level took nothing off it
    desk.press("\x03")
    assert desk.close() == 130
    assert desk.echoes
    again = quizkit("study")
    again.until("1/")
    assert "Where to begin" not in again.text  # how a session is left is tested elsewhere


def test_who_skips_it_begins_at_once_and_who_leaves_leaves(quizkit, home: Path):
    desk = quizkit("study")
    desk.until("Where to begin")
    desk.press("q")
    assert desk.close() == 0
    assert not (home / "config.yaml").exists()
    desk = quizkit("study")
    desk.until("Where to begin")
    desk.press("s")
    desk.until("1/20")  # a day's share
    desk.press("\x03")
    assert desk.close() == 130


def test_who_leaves_is_told_so_in_the_language_on_the_screen(quizkit, home: Path):
    desk = quizkit("study", "--topic", "comm", "--kind", "numeric")
    desk.until("Ctrl-T")
    desk.press("\x14")
    desk.until("提示")
    desk.press("\x03")
    assert desk.close() == 130
    assert "已退出" in desk.text


def begun(desk: Any) -> str:
    """The first line of the question, which comes after the line that counts."""
    shown = desk.wait(lambda text: "1/" in text and text.splitlines()[2], "a question")
    return shown.splitlines()[2]


def test_a_topic_from_its_introduction_on(quizkit, home: Path):
    desk = quizkit("learn", "comm", "--seed", "1")
    assert "s skip" not in desk.until("Collectives and topology")
    desk.press("s", "t")  # there is nothing to skip
    desk.until("集合通信与拓扑")
    desk.press("t", "\r")
    first = begun(desk)
    desk.press("\x03")  # where something is typed, q is a letter
    assert desk.close() == 130
    with Diary(home / "diary.sqlite3") as diary, Library([QUESTIONS], cache_folder()) as library:
        last = library.topics()["comm"].order[-1]
        diary.append(answer(f"comm/{last}"))
    desk = quizkit("learn", "comm", "--seed", "1")
    desk.until("1 of them answered so far")
    desk.press("\r")
    assert begun(desk) == first  # where it was left
    desk.press("\x03")
    assert desk.close() == 130


def test_a_course_begins_where_its_reading_order_does(home: Path):
    with Library([QUESTIONS], cache_folder()) as library:
        topic = library.topics()["optim"]
    ideas = [idea.ask for idea in topic.ideas]
    order = [*ideas, *(slug for slug in topic.order if slug not in ideas)]
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    done = started.quizkit("learn", "optim", "--json", env=env, given='{"command": "skip"}\n' * 6)
    assert done.returncode == 0
    said = [json.loads(line) for line in done.stdout.splitlines()]
    asked = [line["ask"]["id"] for line in said if "ask" in line]
    ahead = len(ideas) + 2
    assert asked[:ahead] == [f"optim/{slug}" for slug in order[:ahead]]
    # A page before each idea's question, and none before what comes after them.
    told = [next(iter(line)) for line in said if "page" in line or "ask" in line]
    assert told[: 2 * len(ideas) + 2] == ["page", "ask"] * len(ideas) + ["ask", "ask"]
    pages = [line["page"] for line in said if "page" in line]
    assert [page["number"] for page in pages] == [*range(1, len(ideas) + 1)]
    assert [page["text"].split("\n\n")[0] for page in pages] == topic.paragraphs("en")


def test_one_goes_on_back_and_away_between_ideas(quizkit):
    desk = quizkit("learn", "pp", "--seed", "1")
    assert "u/← back" not in desk.until("Pipeline parallelism  1/7")
    desk.until("From a recorded run (quizkit demo pipeline, ranks: 4)")
    desk.until("rank 3 |......F0")
    desk.press("\r")
    begun(desk)
    desk.press("s")
    desk.until("Pipeline parallelism  2/7")
    desk.press("u")
    desk.until("Pipeline parallelism  1/7")
    desk.press("\r")
    desk.until("Pipeline parallelism  2/7")
    desk.press("t")
    desk.until("流水线并行  2/7")
    desk.press("\r")
    desk.wait(lambda text: "2/" in text.splitlines()[0] and "pp  2" in text, "a question")
    desk.press("\x03")
    assert desk.close() == 130
    desk = quizkit("learn", "pp", "--seed", "1")
    desk.until("Pipeline parallelism  1/7")
    desk.press("q")
    assert desk.close() == 0


def test_a_topic_that_rests_on_others_says_so(quizkit):
    desk = quizkit("study", "--topic", "dp", "--seed", "1")
    desk.until("quizkit learn comm")
    desk.press("\x03")
    assert desk.close() == 130
