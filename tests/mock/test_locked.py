"""Another program has the diary locked while an interview goes on: nothing typed is lost."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from quizkit.diary import file as module
from quizkit.errors import DiaryError
from quizkit.mock.desk import Left
from quizkit.mock.ledger import HEARTBEAT


class Other:
    """Another program."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: sqlite3.Connection | None = None

    def lock(self) -> None:
        self._held = sqlite3.connect(self._path, isolation_level=None)
        self._held.execute("begin immediate")

    def free(self) -> None:
        if self._held:
            self._held.close()
        self._held = None


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Other]:
    # How long somebody waits is no part of what is tested.
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.05)
    found = Other(tmp_path / "diary.sqlite3")  # the one of `room`
    yield found
    found.free()


def test_an_answer_that_cannot_be_written_is_still_there(room, other: Other):
    def locked(moment) -> str:
        other.lock()
        return room.right(moment)

    def freed(moment) -> str:
        other.free()
        assert moment.message[0] == "study.unwritten"
        assert moment.draft == room.right(moment)
        return moment.draft

    desk = room.desk((30, locked), (5, freed), (1, Left("")))
    desk.interactive = True
    assert room.begin(desk).run() is None
    assert desk.met() == ["bubble", "bubble", "why"]
    (row,) = room.diary.answers()
    assert (row.right, row.seconds) == (True, 35)  # the clock runs on meanwhile


def test_a_lock_while_somebody_types_stops_nobody(room, other: Other):
    def typing(moment) -> Left:
        other.lock()
        room.clock.pass_(HEARTBEAT)
        moment.keep("activ")
        assert room.diary.events(name="alive") == []
        other.free()
        room.clock.pass_(HEARTBEAT)
        moment.keep("activ")
        return Left("activation")

    room.begin(room.desk((10, typing))).run()
    (alive,) = room.diary.events(name="alive")
    assert alive.note["draft"] == "activ"


def test_who_leaves_is_asked_again_and_then_given_the_text(room, other: Other):
    def locked(moment) -> Left:
        other.lock()
        return Left("half a thought")

    def again(moment) -> Left:
        assert moment.message[0] == "study.unwritten"
        return Left(moment.draft)

    desk = room.desk((30, locked), (5, again))
    desk.interactive = True
    with pytest.raises(DiaryError) as caught:
        room.begin(desk).run()
    assert "half a thought" in caught.value.message("en")


def test_where_nobody_is_there_the_interview_stops_and_can_be_resumed(room, other: Other):
    def locked(moment) -> str:
        other.lock()
        return room.right(moment)

    with pytest.raises(DiaryError) as caught:
        room.begin(room.desk((30, locked))).run()
    assert caught.value.key == "diary_busy"
    other.free()
    desk = room.desk((1, Left("")))
    room.resume(desk).run()
    assert desk.met() == ["bubble"]
