"""What is damaged or of no use in a diary takes nothing else with it, and is told of."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import started

from quizkit.answer import Answer, SessionEvent
from quizkit.diary import Diary
from quizkit.mock.sitting import sittings
from quizkit.tutor.memory import RECIPE, Memory

AT = datetime(2026, 3, 1, 8, tzinfo=UTC)
BEGUN = {"script": "x", "lang": "zh", "total": 60.0, "budget": 30.0, "scale": 1.0}


def answer(number: int) -> Answer:
    return Answer(
        uuid=f"u{number}", device="d", at=AT + timedelta(hours=number), session="s",
        question=f"pp/q{number % 7}", lang="zh", seed=number, given={"text": "气泡" * 30},
        score=1.0, right=True, grade=3,
    )  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose diary has five answers and an interview."""
    folder = tmp_path / "home"
    folder.mkdir()
    with Diary(folder / "diary.sqlite3") as diary:
        for number in range(5):
            diary.append(answer(number))
        diary.log(SessionEvent(device="d", at=AT, session="m", name="start", note=BEGUN))
    return folder


def run(home: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    return started.quizkit(*words, env=env, given=given)


def spoil(home: Path, *statements: str) -> None:
    """What a bad disk does, and what no row of ours would be allowed to."""
    with closing(sqlite3.connect(home / "diary.sqlite3")) as db:
        for trigger in ("answers_are_final", "events_are_final"):
            db.execute(f"drop trigger {trigger}")
        for statement in statements:
            db.execute(statement)
        db.commit()


SPOILT = {
    "no JSON": "update answers set given = '{' where id = 2",
    "no text": "update answers set question = cast(x'70702fff' as text) where id = 2",
    "far ahead": "update answers set at = 253402300799999 where id = 2",
    "before time": "update answers set at = -1 where id = 2",
    "escape": "update answers set question = 'pp/\x1b[31m' where id = 2",
    "no language": "update answers set lang = 'fr' where id = 2",
}


@pytest.mark.parametrize("how", SPOILT)
def test_one_spoilt_row_takes_nothing_else_with_it(home: Path, how: str):
    spoil(home, SPOILT[how])
    done = run(home, "data", "--export")
    said = json.loads(done.stdout)
    assert done.returncode == 4
    assert [each["uuid"] for each in said["answers"]] == ["u0", "u2", "u3", "u4"]
    assert len(said["events"]) == 1
    (left,) = said["left_out"]
    assert left["place"] == "answers 2"
    assert left["row"]["uuid"] == "u1"
    assert "answers 2" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    # It is gone from a diary that is made of the rest, as the message says.
    run(home, "data", "--erase", "--yes")
    again = run(home, "data", "--merge", "-", given=done.stdout)
    assert (again.returncode, again.stderr) == (0, "")
    assert run(home, "data", "--export").returncode == 0


def test_spoilt_rows_are_counted_where_one_can_act_on_it(home: Path):
    sound = run(home, "data", "--where")
    assert sound.returncode == 0
    assert "nothing can use" not in sound.stdout
    spoil(
        home,
        "update answers set at = 253402300799999 where id in (1, 2)",
        "update events set note = '{}'",
    )
    done = run(home, "data", "--where")
    assert done.returncode == 0
    assert "nothing counts: 3" in done.stdout
    assert "answers 1 (at: 253402300799999)" in done.stdout
    assert "data --export" in done.stdout
    said = json.loads(run(home, "data", "--where", "--json").stdout)
    assert [each["place"] for each in said["left_out"]] == ["answers 1", "answers 2", "events 1"]


def test_spoilt_rows_break_no_other_command(home: Path):
    spoil(home, "update answers set at = 253402300799999 where id = 1")
    with Diary(home / "diary.sqlite3") as diary:
        for name in ("start", "done", "alive"):
            diary.log(SessionEvent(device="d", at=AT, session="x", name=name, note={}))
    for words in (("due",), ("stats",), ("stats", "--json"), ("mock", "--history"), ("mock",)):
        done = run(home, *words)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    with Diary(home / "diary.sqlite3") as diary:
        assert [each.session for each in sittings(diary)] == ["m"]


def test_what_a_damaged_page_does_not_hide_is_exported(home: Path):
    path = home / "diary.sqlite3"
    with Diary(path) as diary:
        for number in range(5, 400):
            diary.append(answer(number))
    data = bytearray(path.read_bytes())
    page = 4096 * (len(data) // 4096 // 2)
    data[page : page + 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    for words in (("data", "--where"), ("stats",)):
        done = run(home, *words)
        assert done.returncode == 4
        assert "data --export" in done.stderr
    done = run(home, "data", "--export")
    said = json.loads(done.stdout)
    assert done.returncode == 4
    # A page has some ten of these rows, and each of the others has been read.
    assert 360 <= len(said["answers"]) < 400
    assert said["left_out"]
    other = home.with_name("other")
    other.mkdir()
    assert run(other, "data", "--merge", "-", given=done.stdout).returncode == 0
    with Diary(other / "diary.sqlite3") as diary:
        assert len(diary.answers()) == len(said["answers"])


def test_a_flag_from_elsewhere_moves_no_cursor(home: Path):
    note = replace(answer(9), right=None, grade=None, note="flag: \x1b[2J typo")
    with Diary(home / "diary.sqlite3") as diary:
        diary.append(note)
    done = run(home, "bank", "flags")
    assert done.returncode == 0
    assert "typo" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_damaged_index_loses_no_row(home: Path):
    path = home / "diary.sqlite3"
    with closing(sqlite3.connect(path)) as db:
        query = "select rootpage from sqlite_master where name = 'answers_question'"
        page = 4096 * (db.execute(query).fetchone()[0] - 1)
        db.execute("pragma wal_checkpoint(truncate)")
    data = bytearray(path.read_bytes())
    data[page + 8 : page + 4096] = bytes(4088)
    path.write_bytes(data)
    done = run(home, "data", "--export")
    assert done.returncode == 4
    assert "every row" in done.stderr
    assert len(json.loads(done.stdout)["answers"]) == 5


@pytest.mark.parametrize(
    "statement",
    [
        "update cards set stability = -1",
        "update cards set due = 9223372036854775807",
        "update cards set seen = 99",
        "update cards set last = null",
    ],
)
def test_a_damaged_cache_of_cards_is_made_anew(home: Path, statement: str):
    with Diary(home / "diary.sqlite3") as diary:
        before = dict(Memory(diary).cards)
    spoil(home, statement)
    with Diary(home / "diary.sqlite3") as diary:
        assert Memory(diary).cards == before
    with Diary(home / "diary.sqlite3") as diary:
        assert diary.cards(RECIPE) == (5, before)


def test_the_machines_name_is_never_a_spoilt_one(home: Path):
    spoil(home, "update answers set device = 'd\x07' where id < 3")
    with Diary(home / "diary.sqlite3") as diary:
        assert diary.device == "d"


def test_an_export_of_a_link_that_leads_nowhere_is_no_empty_diary(tmp_path: Path):
    for name, target in (("gone", "drive/diary.sqlite3"), ("loop", "diary.sqlite3")):
        home = tmp_path / name
        home.mkdir()
        (home / "diary.sqlite3").symlink_to(home / target)
        for words in (("data", "--export"), ("data", "--where"), ("mock",), ("due",)):
            done = run(home, *words)
            assert done.returncode == 4, words
            assert "Traceback" not in done.stderr
            assert "schema" not in done.stdout


def test_without_a_diary_the_export_is_empty(tmp_path: Path):
    done = run(tmp_path, "data", "--export")
    assert done.returncode == 0
    assert json.loads(done.stdout)["answers"] == []
    assert [*tmp_path.iterdir()] == []


# Root may read and write everywhere. Without its capabilities it may do what any owner may.
OWNER = """
import ctypes, os, sys
if os.geteuid() == 0:
    version, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version, none) == 0
from quizkit.cli.app import run
sys.argv[0] = "quizkit"
sys.exit(run())
"""


def as_owner(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", OWNER, *words]
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def closed(home: Path) -> Iterator[Path]:
    """A home whose permissions a test may take away."""
    yield home
    home.chmod(0o755)


def test_a_diary_that_may_only_be_read_is_exported(closed: Path):
    path = closed / "diary.sqlite3"
    path.chmod(0o444)
    closed.chmod(0o555)
    before = path.read_bytes()
    done = as_owner(closed, "data", "--export")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["answers"]) == 5
    assert path.read_bytes() == before
    assert [*closed.iterdir()] == [path]


def test_a_home_that_cannot_be_entered_says_so(closed: Path):
    closed.chmod(0o000)
    for words in (("data", "--export"), ("data", "--where"), ("mock",)):
        done = as_owner(closed, *words)
        assert (done.returncode, "Traceback" in done.stderr) == (4, False), done.stderr
