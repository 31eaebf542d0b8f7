"""Another program has the diary locked: it is waited for, it is said, and nothing typed is lost."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from quizkit.bank.entry import entry
from quizkit.bank.reader import Bank
from quizkit.diary import Diary
from quizkit.diary import file as module
from quizkit.errors import DiaryError
from quizkit.tutor.desk import Command, Given, Interrupted, Moment, Page, Summary
from quizkit.tutor.lineup import Lineup
from quizkit.tutor.queue import Queue
from quizkit.tutor.study import Study
from quizkit.ui.terminal.draft import draft_of

ESSAY = {"text": "GPipe keeps all of them", "points": [], "vetoes": []}
NOW = datetime(2026, 3, 1, 8, tzinfo=UTC)


class Desk:
    """Somebody at a terminal; the other program lets go while they are told to wait, or later."""

    interactive = True

    def __init__(self, *replies: Given | Command | BaseException, frees: str = "") -> None:
        self.replies = [*replies]
        self.frees = frees
        self.met: list[Moment] = []
        self.told: list[str] = []
        self.other: sqlite3.Connection | None = None
        self.path = Path()

    def lock(self) -> None:
        """What another program does."""
        self.other = sqlite3.connect(self.path, isolation_level=None)
        self.other.execute("begin immediate")

    def free(self) -> None:
        assert self.other
        self.other.close()
        self.other = None

    def meet(self, moment: Moment) -> Given | Command:
        self.met.append(moment)
        if self.other is None and len(self.met) == 1:
            self.lock()
        elif self.other and self.frees == "meeting":
            self.free()
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        self.told.append(text)
        if self.frees == "waiting":
            self.free()
        yield

    def read(self, page: Page) -> Command:
        raise AssertionError(page)

    def end(self, summary: Summary) -> None:
        pass


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a minute; how long is no part of what is tested."""
    monkeypatch.setattr(module, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(module, "_PATIENT_SECONDS", 0.05)


def study(folder: Path, bank: Bank, name: str, desk: Desk) -> Any:
    """A session over one question; gives what is in the diary after it."""
    desk.path = folder / "diary.sqlite3"
    entries = [entry(bank.questions[name])]
    with Diary(desk.path) as diary:
        try:
            Study(
                entries, diary, desk, lambda: NOW, lang="en", read=bank.questions.get,
                queue=lambda _: Queue(entries, Lineup(plan=[name]), 1),
                prove=lambda *_: None, show=lambda _: None,  # pyright: ignore
            ).run()  # fmt: skip
        finally:
            if desk.other:
                desk.free()
    with Diary(desk.path) as diary:
        kept = [e.note["text"] for e in diary.events(name="unsent")]
        return [row.given for row in diary.answers()], kept


QUIT = Command("quit")


def test_a_lock_is_waited_for_and_that_is_said(tmp_path: Path, bank: Bank):
    desk = Desk(Given(ESSAY), QUIT, frees="waiting")
    assert study(tmp_path, bank, "pp/essay", desk) == ([ESSAY], [])
    assert len(desk.told) == 1
    assert "locked" in desk.told[0]
    assert [each.phase for each in desk.met] == ["question", "verdict"]


def test_an_answer_that_cannot_be_written_is_still_there(tmp_path: Path, bank: Bank):
    desk = Desk(Given(ESSAY), Given(ESSAY), QUIT, frees="meeting")
    assert study(tmp_path, bank, "pp/essay", desk) == ([ESSAY], [])
    again = desk.met[1]
    assert again.phase == "question"
    assert draft_of(again).typed == ESSAY["text"]  # what the editor begins with
    assert again.message is not None
    assert again.message[0] == "study.unwritten"
    assert [each.phase for each in desk.met] == ["question", "question", "verdict"]


def test_who_waits_can_stop_waiting(tmp_path: Path, bank: Bank, monkeypatch: pytest.MonkeyPatch):
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_PATIENT_SECONDS", 60.0)
    monkeypatch.setattr(module, "sleep", interrupted)
    desk = Desk(Given(ESSAY), Given(ESSAY), QUIT, frees="meeting")
    assert study(tmp_path, bank, "pp/essay", desk) == ([ESSAY], [])
    assert desk.met[1].draft == ESSAY["text"]


@pytest.mark.parametrize("leaving", [Command("quit", unsent="half"), Interrupted("half")])
def test_an_essay_that_is_left_is_kept_once_the_lock_is_gone(
    tmp_path: Path, bank: Bank, leaving: Command | Interrupted
):
    desk = Desk(leaving, leaving, frees="meeting")
    try:
        said = study(tmp_path, bank, "pp/essay", desk)
    except Interrupted:
        with Diary(desk.path) as diary:
            said = [], [e.note["text"] for e in diary.events(name="unsent")]
    assert said == ([], ["half"])
    assert desk.met[1].draft == "half"
    assert desk.met[1].message is not None


def test_who_leaves_all_the_same_is_given_the_text(tmp_path: Path, bank: Bank):
    desk = Desk(*[Command("quit", unsent="half a sentence")] * 2)
    with pytest.raises(DiaryError) as caught:
        study(tmp_path, bank, "pp/essay", desk)
    assert "half a sentence" in caught.value.message("en")
    assert "half a sentence" in caught.value.message("zh")


def test_where_nobody_can_try_again_the_session_ends(tmp_path: Path, bank: Bank):
    desk = Desk(Given(ESSAY))
    desk.interactive = False
    with pytest.raises(DiaryError) as caught:
        study(tmp_path, bank, "pp/essay", desk)
    assert caught.value.key == "diary_busy"


@pytest.mark.parametrize("name", ["flag", "undo", "right", "grade"])
def test_a_command_that_cannot_be_written_can_be_repeated(tmp_path: Path, bank: Bank, name: Any):
    command = Command(name, value=2 if name == "grade" else None)

    class Later(Desk):
        def meet(self, moment: Moment) -> Given | Command:
            if len(self.met) == 1:
                self.lock()  # only once the answer is written
            if self.other and len(self.met) == 2:
                self.free()
            self.met.append(moment)
            reply = self.replies.pop(0)
            assert not isinstance(reply, BaseException)
            return reply

    desk = Later(Given("0.9"), command, command, QUIT, QUIT)
    study(tmp_path, bank, "comm/idle-share", desk)
    assert desk.met[2].message is not None
    assert desk.met[2].message[0] == "study.unwritten"
    with Diary(desk.path) as diary:
        assert len(diary.answers()) == 2
