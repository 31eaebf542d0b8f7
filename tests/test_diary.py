"""An answer is never lost: real files, real processes, real kills."""

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from errno import EACCES
from pathlib import Path

import pytest
import started

from quizkit.answer import PLACEMENT, UNDO, Answer, SessionEvent, counted, flagged
from quizkit.diary import Diary, erase
from quizkit.diary import file as module
from quizkit.errors import DiaryError

AT = datetime(2026, 3, 1, 8, 0, 0, 123000, UTC)

# A child that appends answers `<name>-0`, `<name>-1`, ... and says so once each is on disk.
WRITER = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from quizkit.diary import Answer, Diary
from quizkit.errors import DiaryError
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
try:
    with Diary(path) as diary:
        for i in range(count):
            diary.append(Answer(uuid=f"{name}-{i}", device="d", at=datetime.now(UTC), right=True,
                session=name, question="pp/x", lang="zh", seed=i, given="x" * 200, grade=3))
            print(f"{name}-{i}", flush=True)
except DiaryError as error:
    sys.exit(error.key)
"""


def answer(uuid: str, **values: object) -> Answer:
    base: dict[str, object] = {
        "uuid": uuid,
        "device": "d1",
        "at": AT,
        "session": "s",
        "question": "pp/bubble",
        "lang": "zh",
        "seed": 7,
        "given": ["气泡", 1],
        "score": 0.5,
        "right": True,
        "grade": 3,
    }
    return Answer(**(base | values))  # pyright: ignore[reportArgumentType]


def writer(path: Path, name: str, count: int) -> started.Talk:
    return started.Talk("-c", WRITER, path, name, count, env=os.environ)


def test_what_is_written_is_read(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    rows = [
        answer("a", hints=2, seconds=1.5, sure=False, bank_hash="abc", mode="mock", lang="en"),
        answer("b", given={"gap1": "x"}, sure=True, note="flag: 题面有误"),
        answer("c", score=None, right=None, grade=None, given=None, undoes="a", note=UNDO),
    ]
    with Diary(path) as diary:
        for row in rows:
            diary.append(row)
        assert diary.answers() == rows
    with Diary(path) as diary:
        assert diary.answers() == rows
        assert diary.device == "d1"


def test_events_lie_beside_the_answers(tmp_path: Path):
    def event(session: str, name: str, **note: object) -> SessionEvent:
        return SessionEvent(device="d2", at=AT, session=session, name=name, note=note)

    begun = {"lang": "zh", "total": 60.0, "budget": 0.0, "scale": 1.0}
    card = {"verdict": "pass", "overall": 4.0, "best": 5.0}
    rows = [
        event("a", "start", script="第一轮", **begun),
        event("b", "start", script="x", **begun),
        event("a", "done", card=card),
    ]
    with Diary(tmp_path / "d") as diary:
        for row in rows:
            diary.log(row)
        assert diary.events() == rows
        assert diary.events(session="a") == [rows[0], rows[2]]
        assert diary.events(name="start") == rows[:2]
        assert diary.events(session="b", name="done") == []
        assert diary.device == "d2"
        assert diary.answers() == []


def test_what_was_taken_back_does_not_count():
    undo = answer("c", right=None, undoes="a", note=UNDO)
    corrected = answer("d", undoes="b", note="i-was-right")
    rows = [answer("a"), answer("b"), undo, corrected, answer("e", right=None, note="flag: typo")]
    assert [row.uuid for row in counted(rows)] == ["d"]
    assert [row.uuid for row in flagged(rows)] == ["d", "e"]
    # Undoing what was corrected forgets it altogether; the first verdict does not come back.
    rows.append(answer("f", right=None, undoes="d", note=UNDO))
    assert counted(rows) == []
    assert [row.uuid for row in flagged(rows)] == ["e"]


def test_what_a_day_has_seen(tmp_path: Path):
    def row(uuid: str, question: str, hours: float, **more: object) -> Answer:
        return answer(uuid, question=question, at=AT + timedelta(hours=hours), **more)

    with Diary(tmp_path / "d") as diary:
        for each in (
            row("1", "a/old", -30),
            row("2", "a/again", -30),
            row("3", "a/again", 1),
            row("4", "a/new", 1),
            row("5", "a/new", 2, grade=1, right=False),
            row("6", "a/undone", 1),
            row("7", "a/undone", 2, grade=None, right=None, undoes="6", note=UNDO),
            row("8", "a/flagged", 2, grade=None, right=None, note="flag"),
        ):
            diary.append(each)
        assert diary.asked_since(AT) == (1, 1)
        assert diary.asked_since(AT - timedelta(hours=40)) == (3, 0)
        assert diary.asked_since(AT + timedelta(hours=3)) == (0, 0)
        # What a placement asked is none of the day's, until it is asked again.
        diary.log(SessionEvent(device="d", at=AT, session="placing", name=PLACEMENT, note={}))
        diary.append(row("9", "a/placed", 1, session="placing"))
        diary.append(row("10", "a/again", 2, session="placing"))
        assert diary.asked_since(AT) == (1, 1)
        diary.append(row("11", "a/placed", 2))
        assert sum(diary.asked_since(AT)) == 3


def test_rows_are_final(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    with Diary(path) as diary:
        diary.append(answer("a"))
        with pytest.raises(DiaryError):
            diary.append(answer("a"))
    db = sqlite3.connect(path)
    for statement in ("delete from answers", "update answers set right = 0"):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(statement)
    db.close()


def test_the_file_is_the_learners_alone(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    path.touch(0o644)
    with Diary(path) as diary:
        diary.append(answer("a"))
        beside = sorted(tmp_path.iterdir())
        assert len(beside) == 3
        assert {stat.S_IMODE(each.stat().st_mode) for each in beside} == {0o600}


def test_a_killed_writer_loses_no_acknowledged_answer(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    chance = random.Random(3)
    acknowledged: set[str] = set()
    for batch in range(10):
        children = [writer(path, f"{batch}.{i}", 100_000) for i in range(3)]
        for child in children:
            # Read some lines, so that the kill comes in the middle of the writing.
            for _ in range(chance.randrange(1, 120)):
                acknowledged.add(child.read().strip())
        for child in children:
            child.signal(signal.SIGKILL)
        for child in children:
            code, rest, error = child.end()
            assert code == -signal.SIGKILL, error
            # What comes after the last line break was cut off in the middle of being said.
            acknowledged |= set(rest.split("\n")[:-1])
    with Diary(path) as diary:
        kept = {row.uuid for row in diary.answers()}
    assert len(acknowledged) > 30
    assert acknowledged <= kept
    check = sqlite3.connect(path)
    assert check.execute("pragma integrity_check").fetchone() == ("ok",)
    check.close()


def test_an_answer_outlives_a_power_cut(tmp_path: Path):
    # Which only a machine without power could show; what is asked of SQLite can be read.
    with Diary(tmp_path / "diary.sqlite3") as diary:
        database = diary._file._db  # pyright: ignore[reportPrivateUsage]
        assert database.execute("pragma synchronous").fetchone() == (2,)  # full
        assert database.execute("pragma journal_mode").fetchone() == ("wal",)


def test_many_processes_at_once(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    children = [writer(path, f"p{i}", 100) for i in range(4)]
    ends = [child.end() for child in children]
    assert [end for end in ends if end[0]] == []
    with Diary(path) as diary:
        assert len({row.uuid for row in diary.answers()}) == 400


def test_a_locked_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "diary.sqlite3"
    Diary(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.05)
    with Diary(path) as diary, pytest.raises(DiaryError) as error:
        diary.append(answer("a"))
    other.close()
    assert error.value.key == "diary_busy"


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    path.write_bytes(b"not a database at all, but a shopping list\n" * 50)
    before = path.read_bytes()
    with pytest.raises(DiaryError) as error:
        Diary(path)
    assert error.value.key == "diary_foreign"
    assert error.value.exit_code == 4
    assert str(path) in error.value.message("zh")
    assert path.read_bytes() == before


def kept_list(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table shopping (item text)")
        db.execute(f"pragma user_version = {version}")


def some_table_of_that_name(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table answers (uuid text, at integer, question text)")
        db.execute(f"pragma user_version = {version}")


@pytest.mark.parametrize("version", [0, 1, 99])
@pytest.mark.parametrize("made", [kept_list, some_table_of_that_name])
def test_another_programs_database_is_left_alone(
    tmp_path: Path, made: Callable[[Path, int], None], version: int
):
    path = tmp_path / "diary.sqlite3"
    made(path, version)
    path.chmod(0o644)
    before = path.read_bytes(), path.stat().st_mode
    with pytest.raises(DiaryError) as error:
        Diary(path)
    if made is kept_list or version < 99:
        assert error.value.key == "diary_others"
        assert made is not kept_list or "shopping" in error.value.message("zh")
    else:
        assert error.value.key == "diary_newer"  # which may have other columns
    assert (path.read_bytes(), path.stat().st_mode) == before
    assert [*tmp_path.iterdir()] == [path]


def test_a_pipe_in_the_diarys_place_is_not_waited_for(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    os.mkfifo(path)
    with pytest.raises(DiaryError) as error:
        Diary(path)
    assert error.value.key == "diary_foreign"


def test_a_link_that_leads_nowhere_begins_no_second_diary(tmp_path: Path):
    path, drive = tmp_path / "diary.sqlite3", tmp_path / "drive"
    drive.mkdir()  # where the drive will be once it is mounted
    path.symlink_to(drive / "diary.sqlite3")
    with pytest.raises(DiaryError) as error:
        Diary(path)
    assert error.value.key == "diary_link"
    assert str(drive) in error.value.message("en")
    assert [*drive.iterdir()] == []
    Diary(drive / "diary.sqlite3").close()
    with Diary(path) as diary:
        diary.append(answer("a"))
    assert (drive / "diary.sqlite3").stat().st_size > 0


def test_a_damaged_file_says_so(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    with Diary(path) as diary:
        for i in range(300):
            diary.append(answer(str(i)))
    data = bytearray(path.read_bytes())
    data[8192:-8192] = os.urandom(len(data) - 16384)
    path.write_bytes(data)
    with pytest.raises(DiaryError) as error, Diary(path) as diary:
        diary.answers()
    assert error.value.key == "diary_corrupt"


def test_a_newer_file_is_left_alone(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    Diary(path).close()
    db = sqlite3.connect(path)
    db.execute("pragma user_version = 99")
    db.close()
    with pytest.raises(DiaryError) as error:
        Diary(path)
    assert error.value.key == "diary_newer"
    assert "99" in error.value.message("en")


def test_an_older_file_is_brought_up_to_date_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "diary.sqlite3"
    with Diary(path) as diary:
        diary.append(answer("a"))
    newer = (*module.MIGRATIONS, ("create table extra (x integer) strict",))
    monkeypatch.setattr(module, "MIGRATIONS", newer)
    with Diary(path) as diary:
        assert [row.uuid for row in diary.answers()] == ["a"]
    backup = tmp_path / "diary.sqlite3.v1.backup"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    for file, version, tables in ((backup, 1, 3), (path, 2, 4)):
        db = sqlite3.connect(file)
        assert db.execute("pragma user_version").fetchone() == (version,)
        query = "select count(*) from sqlite_master where type = 'table'"
        assert db.execute(query).fetchone() == (tables,)
        assert db.execute("select uuid from answers").fetchall() == [("a",)]
        db.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "diary.sqlite3"
    with Diary(path) as diary:
        diary.append(answer("a"))
    broken = (*module.MIGRATIONS, ("create table extra (x integer) strict", "not sql"))
    with monkeypatch.context() as context:
        context.setattr(module, "MIGRATIONS", broken)
        with pytest.raises(DiaryError):
            Diary(path)
    with Diary(path) as diary:
        assert [row.uuid for row in diary.answers()] == ["a"]


# Root may write everywhere: then the child becomes somebody who may not.
NOBODY = """
import os, quizkit.diary
if os.geteuid() == 0: os.setuid(65534)
"""


def test_a_folder_that_cannot_be_written_says_so():
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    try:
        child = child_of(NOBODY + WRITER, folder / "diary.sqlite3", 1)
        assert child.stderr.strip() == "diary_open"
        assert list(folder.iterdir()) == []
    finally:
        folder.chmod(0o755)
        folder.rmdir()


# No file may grow past 200 KB: what a full disk does, for those who may not mount a small one.
LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
"""


def test_a_file_that_cannot_grow_loses_nothing(tmp_path: Path):
    fill(tmp_path / "diary.sqlite3", LIMITED, "diary_io")


def test_a_disk_that_is_full_loses_nothing(tmp_path: Path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a small file system")
    try:
        fill(tmp_path / "diary.sqlite3", "", "diary_full")
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def fill(path: Path, before: str, reason: str) -> None:
    """Write until it fails; what was acknowledged must be there."""
    child = child_of(before + WRITER, path, 100_000)
    assert child.stderr.strip() == reason
    acknowledged = child.stdout.split()
    assert len(acknowledged) > 5
    with Diary(path) as diary:
        assert [row.uuid for row in diary.answers()][: len(acknowledged)] == acknowledged


def child_of(program: str, path: Path, count: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, str(path), "x", str(count)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_erase_leaves_nothing_but_what_is_not_ours(tmp_path: Path):
    path = tmp_path / "diary.sqlite3"
    other = tmp_path / "config.yaml"
    other.touch()
    diary = Diary(path)
    diary.append(answer("a"))
    (tmp_path / "diary.sqlite3.v1.backup").touch()
    assert len(erase(path)) == 4
    diary.close()
    assert list(tmp_path.iterdir()) == [other]
    with Diary(path) as diary:
        assert diary.answers() == []


def test_erase_follows_a_link_to_where_the_answers_are(tmp_path: Path):
    far, home = tmp_path / "far", tmp_path / "home"
    far.mkdir()
    home.mkdir()
    there, path = far / "mine.sqlite3", home / "diary.sqlite3"
    there.touch()
    path.symlink_to(there)
    with Diary(path) as diary:
        diary.append(answer("a"))
        (home / "diary.sqlite3.v1.backup").touch()
        assert {there, path} <= {*erase(path)}
    assert [*far.iterdir(), *home.iterdir()] == []


def test_erase_does_not_call_gone_what_it_cannot_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refused(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(EACCES, "Permission denied", str(self))

    path = tmp_path / "diary.sqlite3"
    path.touch()
    for call in ("unlink", "stat"):  # of a folder to be read only, and of one that is closed
        with monkeypatch.context() as patched:
            patched.setattr(Path, call, refused)
            with pytest.raises(DiaryError, match="Permission denied") as raised:
                erase(path)
        assert raised.value.key == "diary_open"
    assert path.exists()


def test_given_is_any_json(tmp_path: Path):
    with Diary(tmp_path / "d") as diary:
        for i, given in enumerate([None, "x\ud7ff\n\"'", 1.5, [1, [2]], {"a": {"b": None}}]):
            diary.append(answer(str(i), given=given))
            assert diary.answers()[-1].given == json.loads(json.dumps(given))


def test_half_a_character_does_not_lose_the_rest_of_an_answer(tmp_path: Path):
    # A terminal in another encoding hands over what is no text; UTF-8 cannot hold it.
    with Diary(tmp_path / "diary.sqlite3") as diary:
        diary.append(answer("a", given={"text": "KV\udcc4\ud800块"}, note="flag: \udcff"))
        diary.log(
            SessionEvent(device="d", at=AT, session="s", name="begin", note={"text": "\ud800"})
        )
        (kept,) = diary.answers()
        assert (kept.given, kept.note) == ({"text": "KV??块"}, "flag: ?")
        assert diary.events()[0].note == {"text": "?"}


def test_a_number_larger_than_the_file_can_hold_does_not_lose_an_answer(tmp_path: Path):
    with Diary(tmp_path / "diary.sqlite3") as diary:
        diary.append(answer("a", seconds=10**30))
        assert diary.answers()[0].seconds == 1e30
