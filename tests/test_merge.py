"""Two machines, one learner: every row of both, in the order they were given, and nothing lost."""

import json
import os
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import started

from quizkit.answer import UNDO, Answer, SessionEvent
from quizkit.diary import Diary, Pages, backups, exchange, exported, imported, pages
from quizkit.errors import DiaryError
from quizkit.tutor.memory import Memory

START = datetime(2026, 3, 1, 8, 0, 0, 123000, UTC)


def row(name: str, day: float, grade: int, device: str = "one", **more: Any) -> Answer:
    at = START + timedelta(days=day)
    question = more.pop("question", "pp/x")
    return Answer(
        uuid=name, device=device, at=at, session="s", question=question, lang="zh", seed=7,
        given={"答": [0, 1.5]}, score=1.0, right=grade > 1, grade=grade, **more,
    )  # fmt: skip


def happened(name: str, device: str = "one", session: str = "m", **note: object) -> SessionEvent:
    return SessionEvent(device=device, at=START, session=session, name=name, note=note)


LAPTOP = [row("a", 0, 3), row("b", 9, 1), row("c", 12, 3, question="pp/y")]
TOWER = [
    row("d", 3, 3, "two"),
    row("e", 5, 4, "two", question="pp/y", sure=True, hints=1),
    row("f", 6, 1, "two"),
    replace(row("g", 6, 1, "two"), right=None, grade=None, undoes="f", note=UNDO, score=None),
]
BEGUN = {"script": "x", "lang": "zh", "total": 60.0, "budget": 30.0, "scale": 1.0}
CARD = {"verdict": "pass", "overall": 4.0, "best": 5.0, "a": 1}
TALKS = [happened("start", "two", **BEGUN), happened("done", "two", card=CARD)]


def written(path: Path, rows: list[Answer], events: list[SessionEvent] = []) -> Path:  # noqa: B006
    with Diary(path) as diary:
        for each in rows:
            diary.append(each)
        for event in events:
            diary.log(event)
    return path


def merged(path: Path, found: Pages) -> tuple[int, int, Path | None]:
    with Diary(path) as diary:
        return diary.take_in(found.answers, found.events)


def run(home: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    env = os.environ | {"QUIZKIT_HOME": str(home), "QUIZKIT_LANG": "en"}
    return started.quizkit(*words, env=env, given=given)


def test_older_rows_make_the_cards_that_time_order_makes(tmp_path: Path):
    laptop = written(tmp_path / "laptop", LAPTOP)
    with Diary(laptop) as diary:
        before = Memory(diary).cards
    merged(laptop, pages(written(tmp_path / "tower", TOWER)))
    every = sorted([*LAPTOP, *TOWER], key=lambda each: each.at)
    with Diary(laptop) as diary, Diary(written(tmp_path / "one", every)) as once:
        assert diary.answers() == every
        assert Memory(diary).cards == Memory(once).cards != before
        assert diary.last("pp/y") == LAPTOP[2]


def test_both_ways_end_in_the_same_place(tmp_path: Path):
    laptop, tower = written(tmp_path / "l", LAPTOP), written(tmp_path / "t", TOWER, TALKS)
    assert merged(laptop, pages(tower))[:2] == (4, 2)
    assert merged(tower, pages(laptop))[:2] == (3, 1)  # the laptop's own name is new here
    assert merged(laptop, pages(tower))[:2] == (0, 1)
    sizes = laptop.read_bytes(), tower.read_bytes()
    assert merged(tower, pages(laptop)) == merged(laptop, pages(tower)) == (0, 0, None)
    assert (laptop.read_bytes(), tower.read_bytes()) == sizes
    with Diary(laptop) as one, Diary(tower) as two:
        assert one.answers() == two.answers()
        assert Memory(one).cards == Memory(two).cards
        assert (one.device, two.device) == ("one", "two")
        assert one.events(session="m") == TALKS


def test_a_new_machine_keeps_a_name_of_its_own(tmp_path: Path):
    tower = written(tmp_path / "t", TOWER, TALKS)
    merged(tmp_path / "new", pages(tower))
    with Diary(tmp_path / "new") as diary:
        name = diary.device
        assert name not in ("one", "two")
    merged(tower, pages(tmp_path / "new"))
    with Diary(tower) as diary:
        assert diary.device == "two"


def test_what_was_exported_comes_back_whole(tmp_path: Path):
    tower = written(tmp_path / "t", TOWER, TALKS)
    found = pages(tower)
    assert (found.answers, found.events) == (TOWER, TALKS)
    text = json.dumps(exported(found), ensure_ascii=False).encode()
    assert imported(text, "stdin") == found


def test_the_file_it_comes_from_is_only_read(tmp_path: Path):
    tower = tmp_path / "t"
    with Diary(tower) as diary:  # open, so that its rows still lie in the file beside it
        for each in TOWER:
            diary.append(each)
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
        assert before.keys() == {"t", "t-wal", "t-shm"}
        assert pages(tower).answers == TOWER
        after = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
        assert {name: after[name] for name in ("t", "t-wal")} == {
            name: before[name] for name in ("t", "t-wal")
        }


def test_the_command_keeps_the_diary_as_it_was(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    mine = written(home / "diary.sqlite3", LAPTOP)
    text = json.dumps(exported(Pages(TOWER, TALKS)))
    done = run(home, "data", "--merge", "-", "--json", given=text)
    said = json.loads(done.stdout)
    assert {**said, "backup": None} == {
        "schema": "quizkit/merge/1", "answers": 4, "events": 2, "backup": None, "left_out": [],
    }  # fmt: skip
    kept = Path(said["backup"])
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert pages(kept).answers == LAPTOP
    assert merged(mine, pages(kept)) == (0, 0, None)  # nothing was new: the copy stays as it is
    assert pages(kept).answers == LAPTOP
    rows = json.loads(run(home, "data", "--export").stdout)
    assert [each["uuid"] for each in rows["answers"]] == ["a", "d", "e", "f", "g", "b", "c"]
    assert {each["name"] for each in rows["events"]} == {"start", "done", "diary"}
    assert pages(mine).answers == sorted([*LAPTOP, *TOWER], key=lambda each: each.at)


def test_no_copy_of_the_diary_is_ever_overwritten(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    written(home / "diary.sqlite3", LAPTOP)
    named: list[str] = []
    for number, rows in enumerate((TOWER, [row("h", 20, 3, "three")], [row("i", 21, 3, "four")])):
        file = written(tmp_path / f"other{number}", rows)
        named.append(run(home, "data", "--merge", str(file)).stdout.split()[-1])
    kept = backups(home / "diary.sqlite3")
    assert [str(each) for each in kept] == named
    assert [len(pages(each).answers) for each in kept] == [3, 7, 8]
    assert {stat.S_IMODE(each.stat().st_mode) for each in kept} == {0o600}
    assert json.loads(run(home, "data", "--json").stdout)["backups"] == named
    assert all(name in run(home, "data").stdout for name in named)
    gone = run(home, "data", "--erase", "--yes").stdout
    assert all(f"Removed {name}\n" in gone for name in named)
    assert [*home.iterdir()] == []


def torn(path: Path) -> None:
    written(path, [replace(each, uuid=f"{each.uuid}{i}") for i in range(40) for each in TOWER])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"\xff" * 3000 + whole[len(whole) // 2 + 3000 :])


def newer(path: Path) -> None:
    written(path, TOWER)
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 99")


def another(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("create table answers (x)")


def loosened(path: Path) -> None:
    """The right names, but nothing of what the tables promise."""
    written(path, [])
    with sqlite3.connect(path) as db:
        db.execute("drop table answers")
        names = "id, uuid, device, at, session, mode, question, lang, seed, given, score, right,"
        db.execute(f"create table answers ({names} grade, hints, seconds, sure, undoes,"
                   " bank_hash, note)")  # fmt: skip
        db.execute("insert into answers values (1, 'u', 'd', 1, 's', 'exam', 'q', 'zh', 1, '1',"
                   " 1, 1, 3, 0, 1, 0, null, '', '')")  # fmt: skip


def told(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        said = json.loads(json.dumps(exported(Pages(TOWER, TALKS))))
        change(said)
        path.write_text(json.dumps(said), encoding="utf-8")

    return write


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (lambda path: path.mkdir(), "file_kind"),
    "a pipe": (os.mkfifo, "file_kind"),
    "nothing there": (lambda path: None, "file_read"),
    "empty": (lambda path: path.write_bytes(b""), "merge_foreign"),
    "a list": (lambda path: path.write_text("[1, 2]"), "merge_foreign"),
    "other JSON": (lambda path: path.write_text('{"schema": "quizkit/due/1"}'), "merge_foreign"),
    "newer JSON": (lambda path: path.write_text('{"schema": "quizkit/diary/2"}'), "merge_newer"),
    "no text": (lambda path: path.write_bytes(b"\xff\xfe{"), "merge_foreign"),
    "torn": (torn, "merge_foreign"),
    "newer": (newer, "merge_newer"),
    "another program's": (another, "merge_foreign"),
    "loosened": (loosened, "merge_foreign"),
    "no events": (told(lambda said: said.pop("events")), "merge_foreign"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_diary_is_refused(tmp_path: Path, case: str):
    write, key = BAD[case]
    file = tmp_path / "other"
    write(file)
    with pytest.raises(DiaryError) as caught:
        pages(file)
    assert caught.value.key == key
    assert "other" in caught.value.message("en")
    assert "other" in caught.value.message("zh")


def test_a_refused_file_leaves_one_sentence_and_no_trace(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    mine = written(home / "diary.sqlite3", LAPTOP)
    before = mine.read_bytes()
    torn(tmp_path / "torn")
    done = run(home, "data", "--merge", str(tmp_path / "torn"))
    assert (done.returncode, done.stdout) == (4, "")
    assert len(done.stderr.splitlines()) == 1
    assert "Nothing was changed" in done.stderr
    assert [each.name for each in home.iterdir()] == ["diary.sqlite3"]
    assert mine.read_bytes() == before


LATER = datetime(9999, 12, 31, tzinfo=UTC).isoformat()
NESTED = eval("[" * 60 + "]" * 60)
ODD: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a key short": (lambda said: said["answers"][2].pop("seed"), "answers[2]"),
    "a key more": (lambda said: said["answers"][2].update(more=1), "answers[2]"),
    "no object": (lambda said: said["answers"].insert(2, 7), "answers[2]"),
    "grade": (lambda said: said["answers"][2].update(grade=5), "answers[2]"),
    "too large": (lambda said: said["answers"][2].update(seed=2**63), "answers[2]"),
    "no truth": (lambda said: said["answers"][2].update(right=1), "answers[2]"),
    "no time": (lambda said: said["answers"][2].update(at="noon"), "answers[2]"),
    "no zone": (lambda said: said["answers"][2].update(at="2026-03-01"), "answers[2]"),
    "nan": (lambda said: said["answers"][2].update(seconds=float("nan")), "answers[2]"),
    "far ahead": (lambda said: said["answers"][2].update(at=LATER), "answers[2]"),
    "before time": (
        lambda said: said["answers"][2].update(at="0001-01-01T00:00:00+14:00"),
        "answers[2]",
    ),
    "escape": (lambda said: said["answers"][2].update(question="pp/\x1b[2J"), "answers[2]"),
    "half a character": (lambda said: said["events"][0].update(device="\ud800"), "events[0]"),
    "nested": (lambda said: said["answers"][2].update(given=NESTED), "answers[2]"),
    "note": (lambda said: said["events"][0].update(note="x"), "events[0]"),
    "an empty start": (lambda said: said["events"][0].update(note={}), "events[0]"),
    "an empty end": (lambda said: said["events"][1].update(note={}), "events[1]"),
    "a start of letters": (lambda said: said["events"][0]["note"].update(total="x"), "events[0]"),
    "a clock beyond all time": (
        lambda said: said["events"][0]["note"].update(total=1e300),
        "events[0]",
    ),
    "a clock that ran back": (
        lambda said: said["events"][0]["note"].update(budget=-1),
        "events[0]",
    ),
    "an escape in a script": (
        lambda said: said["events"][0]["note"].update(script="\x1b[2J"),
        "events[0]",
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_a_row_that_nothing_can_use_is_refused_and_named(tmp_path: Path, case: str):
    change, place = ODD[case]
    told(change)(tmp_path / "other")
    found = pages(tmp_path / "other")
    assert [each.place for each in found.left_out] == [place]
    assert len(found.answers) + len(found.events) == len(TOWER) + len(TALKS) - (
        case != "no object"
    )  # all others
    home = tmp_path / "home"
    home.mkdir()
    done = run(home, "data", "--merge", str(tmp_path / "other"))
    assert done.returncode == 4
    assert place in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    reads_it = ("stats",) if place.startswith("answers") else ("mock", "--history")
    assert run(home, *reads_it).returncode == 0


def test_a_row_of_tomorrow_is_taken_and_one_of_next_week_is_not(tmp_path: Path):
    now = START + timedelta(days=12)
    written(tmp_path / "fast", LAPTOP)  # the last one is of this moment
    assert len(pages(tmp_path / "fast", now - timedelta(hours=20)).answers) == 3
    found = pages(tmp_path / "fast", now - timedelta(days=7))
    assert [each.uuid for each in found.answers] == ["a"]
    assert [each.place for each in found.left_out] == ["answers b", "answers c"]


def test_of_many_refused_rows_the_first_few_are_named(tmp_path: Path):
    def spoil(said: dict[str, Any]) -> None:
        for each in said["answers"]:
            each["lang"] = "fr"

    told(spoil)(tmp_path / "other")
    done = run(tmp_path, "data", "--merge", str(tmp_path / "other"))
    assert "left out: 4, such as answers[0] (lang: 'fr'); answers[1] (lang: 'fr');" in done.stderr
    assert "answers[3]" not in done.stderr
    said = json.loads(run(tmp_path, "data", "--merge", str(tmp_path / "other"), "--json").stdout)
    assert len(said["left_out"]) == 4
    assert (said["answers"], said["events"]) == (0, 0)


def test_what_is_no_file_is_not_read(tmp_path: Path):
    done = run(tmp_path, "data", "--merge", "/dev/zero")
    assert done.returncode == 4
    assert "no regular file" in done.stderr


def test_more_than_can_be_an_export_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exchange, "LARGEST", 1000)
    large = tmp_path / "large"
    large.write_bytes(b" " * 1001)
    for read in (lambda: pages(large), lambda: imported(large.read_bytes(), str(large))):
        with pytest.raises(DiaryError) as caught:
            read()
        assert caught.value.key == "file_large"
        assert "1,000" in caught.value.message("en")


# Four processes that have the same rows in hand before any of them may begin.
TAKER = """
import sys
from pathlib import Path
from quizkit.diary import Diary, pages
rows = pages(Path(sys.argv[2]))
with Diary(Path(sys.argv[1])) as diary:
    print("ready", flush=True)
    sys.stdin.readline()
    print(*diary.take_in(rows.answers, rows.events)[:2])
"""


def test_the_same_file_merged_by_many_at_once_is_taken_in_once(tmp_path: Path):
    talks = [happened("alive", "two", spent=n, used=n, paused=0) for n in range(500)]
    tower = written(tmp_path / "t", TOWER)
    merged(tower, Pages([], talks))
    home = written(tmp_path / "mine", LAPTOP)
    takers = [started.Talk("-c", TAKER, home, tower, env=os.environ) for _ in range(4)]
    for each in takers:
        assert each.read() == "ready\n"
    for each in takers:
        each.say("")
    told = sorted(each.end()[1] for each in takers)
    assert told == ["0 0\n"] * 3 + ["4 501\n"]
    with Diary(home) as diary:
        assert len(diary.events(name="alive")) == 500
        assert len(diary.answers()) == 7
    assert len(backups(home)) == 1


# A merge that is killed at a step of its backup.
KILLED = """
import os, signal, sys
from pathlib import Path
from quizkit.diary import Diary, pages
rows, steps = pages(Path(sys.argv[2])), int(sys.argv[3])
names = ("open", "rename", "sqlite3.connect", "os.chmod")
def watch(event, details):
    global steps
    if event in ("open", "os.rename", "os.chmod", "sqlite3.connect", "os.remove", "os.link"):
        steps -= 1
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
with Diary(Path(sys.argv[1])) as diary:
    sys.addaudithook(watch)
    diary.take_in(rows.answers, rows.events)
"""


def test_a_killed_merge_leaves_no_empty_copy(tmp_path: Path):
    tower = written(tmp_path / "t", TOWER)
    code, steps = -1, 0
    while code != 0:
        steps += 1
        assert steps < 30
        home = tmp_path / f"home{steps}"
        home.mkdir()
        mine = written(home / "diary.sqlite3", LAPTOP)
        words = ["-c", KILLED, mine, tower, steps]
        code = started.python(words, os.environ).returncode
        assert [len(pages(each).answers) for each in backups(mine)] in ([], [3])
        with Diary(mine) as diary:
            assert len(diary.answers()) in (3, 7)
        if code:  # the next one clears up after it, and takes in the rest
            assert merged(mine, pages(tower))[0] == 4
        left = {each.name for each in home.iterdir()}
        assert all(name.endswith(("sqlite3", ".backup")) for name in left)
    assert steps > 3
