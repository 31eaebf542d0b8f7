"""A topic begun anew: nothing is deleted, and nothing that was answered before counts any more."""

import json
import os
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import started

from quizkit.answer import Answer, SessionEvent, counted, forgotten
from quizkit.bank.entry import entry
from quizkit.bank.reader import Bank
from quizkit.diary import Diary, Pages, exported, imported
from quizkit.diary.topics import counting, forget, remember
from quizkit.tutor.memory import Memory
from quizkit.tutor.standing import standing
from quizkit.tutor.unsent import Unsent

AT = datetime(2026, 3, 1, 8, tzinfo=UTC)
LATER = datetime(2030, 1, 1, tzinfo=UTC)


def row(name: str, question: str, hours: float, right: bool = True, **more: Any) -> Answer:
    base: dict[str, Any] = {
        "uuid": name, "device": "d", "at": AT + timedelta(hours=hours), "session": "s",
        "question": question, "lang": "en", "seed": 1, "given": [0], "score": float(right),
        "right": right, "grade": 3 if right else 1,
    }  # fmt: skip
    return Answer(**(base | more))


ROWS = [
    row("a", "pp/x", 0),
    row("b", "pp/x", 1, False, note="myth: half"),
    row("c", "pp/y", 2),
    row("d", "ppp/x", 2),
    row("e", "tp/x", 3, False, note="myth: third"),
]
RESET = replace(row("r", "pp", 4), note="forget", right=None, score=None, grade=None, given=None)
AFTER = row("f", "pp/x", 5)


@pytest.fixture
def diary(tmp_path: Path) -> Any:
    with Diary(tmp_path / "diary.sqlite3") as opened:
        for each in ROWS:
            opened.append(each)
        yield opened


def hours(number: float) -> datetime:
    return AT + timedelta(hours=number)


def test_only_that_topic_is_forgotten_and_every_row_stays(diary: Diary):
    Memory(diary)  # so that cards are cached before
    forget(diary, "pp", hours(4), "en")
    assert {each.uuid for each in counted(diary.answers())} == {"d", "e"}
    assert Memory(diary).cards.keys() == {"ppp/x", "tp/x"}
    assert {"a", "b", "c"} <= {each["uuid"] for each in exported(diary.pages())["answers"]}
    assert [each["counts"] for each in exported(diary.pages())["answers"]].count(True) == 2
    assert diary.last("pp/x") is None
    assert diary.asked_since(AT) == (2, 0)
    assert (counting(diary, "pp"), counting(diary, "tp")) == (0, 1)


def test_what_is_answered_afterwards_counts_as_new(diary: Diary):
    forget(diary, "pp", hours(4), "en")
    diary.append(AFTER)
    assert diary.last("pp/x") == AFTER
    assert Memory(diary).cards["pp/x"].reps == 1
    assert diary.asked_since(hours(4.5)) == (1, 0)  # and not one that comes again


def test_it_can_be_taken_back(diary: Diary):
    before = dict(Memory(diary).cards)
    forget(diary, "pp", hours(4), "en")
    Memory(diary)
    assert remember(diary, "pp", hours(4.5), "en") is not None
    assert Memory(diary).cards == before
    assert len(counted(diary.answers())) == len(ROWS)
    assert remember(diary, "pp", hours(4.6), "en") is None
    # Of two the last is taken back, and the first holds.
    forget(diary, "pp", hours(0.5), "en")
    forget(diary, "pp", hours(4.7), "en")
    remember(diary, "pp", hours(4.8), "en")
    assert {each.uuid for each in counted(diary.answers())} == {"b", "c", "d", "e"}
    assert forgotten(diary.answers())["pp"].at == hours(0.5)


def test_what_is_believed_and_counted_follows(diary: Diary, shipped: Bank):
    names = ["dp/skipped-branch", "tp/head-memory"]
    entries = [entry(shipped.questions[name]) for name in names]
    myth = next(iter(entries[0].myths.split()), "")
    diary.append(row("m", names[0], 3, False, note=f"myth: {myth}"))
    diary.append(row("n", names[1], 3))
    before = standing(entries, Memory(diary).cards, diary.answers(), LATER)
    assert (before.study.answered, before.study.met) == (2, 2)
    assert [each.myth for each in before.beliefs] == [myth]
    forget(diary, "dp", hours(4), "en")
    after = standing(entries, Memory(diary).cards, diary.answers(), LATER)
    assert (after.study.answered, after.study.met) == (1, 1)
    assert after.beliefs == []
    assert after.calibration.unsaid == 1


def test_two_machines_mean_the_same_in_whatever_order_they_meet(tmp_path: Path):
    late = row("late", "pp/y", 3.5, device="two")  # answered elsewhere before, merged after
    parts = [
        Pages([*ROWS]),
        Pages([RESET]),
        Pages([late, AFTER]),
    ]
    found: list[Any] = []
    for number, order in enumerate(permutations(parts)):
        with Diary(tmp_path / f"d{number}") as diary:
            for part in order:
                text = json.dumps(exported(part)).encode()
                diary.take_in(imported(text, "x").answers, [])
                Memory(diary)  # cards are cached at every step
            found.append((diary.answers(), dict(Memory(diary).cards)))
    assert all(each == found[0] for each in found)
    assert {each.uuid for each in counted(found[0][0])} == {"d", "e", "f"}
    assert found[0][1]["pp/x"].reps == 1


def test_a_draft_from_before_does_not_come_back(diary: Diary, shipped: Bank):
    name = next(q.id for q in shipped.questions.values() if q.kind == "essay")
    question = shipped.questions[name]
    note = {"question": name, "text": "half"}
    diary.log(SessionEvent(device="d", at=hours(1), session="s", name="unsent", note=note))
    diary.append(row("z", name, 2))
    forget(diary, question.topic, hours(3), "en")
    unsent = Unsent(diary, lambda: hours(4), "s")
    assert unsent.text(question, diary.last(name)) == ""


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    return started.quizkit(*words, env=env)


def met(home: Path) -> dict[str, int]:
    """How many questions of each topic were ever answered, as far as that counts."""
    said = json.loads(run(home, "stats", "--json").stdout)
    return {each["topic"]: each["met"] for each in said["topics"]}


def test_the_command(tmp_path: Path):
    with Diary(tmp_path / "diary.sqlite3") as diary:
        for number, name in enumerate(("dp/skipped-branch", "tp/head-memory")):
            diary.append(row(str(number), name, number))
    assert (met(tmp_path)["dp"], met(tmp_path)["tp"]) == (1, 1)
    asked = run(tmp_path, "data", "--reset", "dp")
    assert (asked.returncode, asked.stdout) == (2, "")
    assert "--yes" in asked.stderr
    done = run(tmp_path, "data", "--reset", "dp", "--yes")
    assert done.returncode == 0
    assert json.loads(run(tmp_path, "due", "--json").stdout)["due"][0]["topic"] == "tp"
    assert "no longer count: 1." in done.stdout
    assert (met(tmp_path)["dp"], met(tmp_path)["tp"]) == (0, 1)
    assert json.loads(run(tmp_path, "stats", "--json").stdout)["study"]["answered"] == 1
    assert len(json.loads(run(tmp_path, "data", "--export").stdout)["answers"]) == 3
    said = json.loads(run(tmp_path, "data", "--reset", "dp", "--undo", "--json").stdout)
    assert (said["schema"], said["before"], said["after"]) == ("quizkit/reset/1", 0, 1)
    assert met(tmp_path)["dp"] == 1
    for words, said in (
        (("--reset", "dd", "--yes"), "Try: dp"),
        (("--reset", "dp", "--undo"), "nothing to take back"),
        (("--undo",), "Which topic?"),
        (("--reset", "dp", "--erase"), "at a time"),
    ):
        wrong = run(tmp_path, "data", *words)
        assert wrong.returncode == 2
        assert said in wrong.stderr
    assert met(tmp_path)["dp"] == 1


def test_a_topic_by_another_name(tmp_path: Path):
    with Diary(tmp_path / "diary.sqlite3") as diary:
        diary.append(row("a", "dp/skipped-branch", 0))
    for more, count in (((), 0), (("--undo",), 1)):
        done = run(tmp_path, "data", "--reset", "ddp", "--yes", "--json", *more)
        said = json.loads(done.stdout)
        assert (said["topic"], said["after"], met(tmp_path)["dp"]) == ("dp", count, count)


@pytest.mark.parametrize(("lang", "word"), [("en", "reset"), ("zh", "重来")])
def test_at_a_terminal_it_asks(tmp_path: Path, terminal, lang: str, word: str):
    with Diary(tmp_path / "diary.sqlite3") as diary:
        diary.append(row("a", "dp/skipped-branch", 0))
    for typed, count in (("no", 1), (word, 0)):
        words = ["-m", "quizkit", "data", "--reset", "dp", "--lang", lang]
        desk = terminal(words, QUIZKIT_HOME=str(tmp_path))
        desk.wait(lambda text: re.search(f"[:：] ?{word}", text), word)
        desk.press(f"{typed}\r")
        assert desk.close() == (1 if count else 0)
        with Diary(tmp_path / "diary.sqlite3") as diary:
            assert counting(diary, "dp") == count


def test_the_answers_to_some_questions_come_with_what_was_forgotten_of_their_topics(tmp_path: Path):
    rows = [row("1", "pp/a", 1), row("2", "pp/b", 2), row("3", "tp/a", 3), RESET]
    with Diary(tmp_path / "some.sqlite3") as diary:
        for each in rows:
            diary.append(each)
        assert diary.answers(["pp/a"]) == [rows[0], RESET]
        assert counted(diary.answers(["pp/a"])) == []
        assert diary.answers(["tp/a"]) == [rows[2]]
        assert diary.answers() == rows
