"""The interview as a person meets it: a real terminal, real kills, both languages."""

import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

from quizkit.diary import Diary
from quizkit.mock.sitting import load, sittings

RUN = "from quizkit.__main__ import main; main()"
PATIENCE = 15


class Terminal:
    """`quizkit mock ...` on a pseudo-terminal of 80 columns."""

    def __init__(self, home: Path, *options: str, run: str = RUN) -> None:
        self.screen = pyte.Screen(80, 40)
        self._stream = pyte.Stream(self.screen)
        env = {**os.environ, "QUIZKIT_HOME": str(home), "TERM": "xterm-256color"}
        self.child = pexpect.spawn(
            sys.executable,
            ["-c", run, "mock", *options],
            env=env,
            dimensions=(40, 80),
            encoding="utf-8",
            timeout=PATIENCE,
        )

    def text(self) -> str:
        # pyte puts an empty cell after each wide character.
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, wanted: str | Callable[[str], object]) -> str:
        """Read on until the screen shows it."""
        holds = wanted if callable(wanted) else lambda text: re.search(wanted, text)
        while not holds(self.text()):
            try:
                self._stream.feed(self.child.read_nonblocking(65536, PATIENCE))
            except (pexpect.TIMEOUT, pexpect.EOF):
                pytest.fail(f"{wanted} did not come; the screen:\n{self.text()}")
        return self.text()

    def type(self, text: str) -> None:
        self.child.send(text)

    def end(self) -> int | None:
        """Read what is left and wait for the end; the exit code."""
        while True:
            try:
                self._stream.feed(self.child.read_nonblocking(65536, PATIENCE))
            except pexpect.EOF:
                break
        self.child.close()
        return self.child.exitstatus

    def kill(self) -> None:
        self.child.kill(signal.SIGKILL)
        self.child.wait()
        self.child.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def terminal(home: Path, folder: Path) -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def start(*options: str, run: str = RUN) -> Terminal:
        started.append(Terminal(home, *options, "--bank", str(folder), run=run))
        return started[-1]

    yield start
    for each in started:
        each.child.close(force=True)


def seconds(text: str, words: str) -> int:
    """The clock on the screen, in seconds."""
    shown = re.findall(words + r" ?(\d\d):(\d\d)", text)
    assert shown, text
    return int(shown[-1][0]) * 60 + int(shown[-1][1])


@pytest.mark.parametrize(
    ("lang", "enter", "clock", "own", "typed"),
    [
        ("zh", "按回车", "剩余", "本题", "气泡占3/11吧"),
        ("en", "Press Enter", r"\[", "this one", "气泡占3/11吧"),
    ],
)
def test_the_clock_runs_while_chinese_is_typed(terminal, home, lang, enter, clock, own, typed):
    quiz = terminal("small", "--lang", lang)
    quiz.until(enter)
    quiz.type("\r")
    quiz.until(own)
    for character in typed:
        quiz.type(character)
    quiz.until(typed)
    before = [seconds(quiz.text(), word) for word in (clock, own)]
    # No key is pressed: the screen changes by itself, and what was typed stays.
    later = quiz.until(
        lambda text: all(seconds(text, w) < b for w, b in zip((clock, own), before, strict=True))
    )
    line = next(line for line in later.split("\n") if own in line)
    assert typed in line
    assert line.startswith("[")
    quiz.type("\x7f\x7f")
    quiz.until(lambda text: typed[:-1] not in text and typed[:-2] in text)
    quiz.type("\x03")
    assert quiz.end() == 130
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        assert load(diary, sitting.session).draft == typed[:-2]


def test_killed_between_questions_and_in_mid_answer(terminal, home):
    quiz = terminal("small", "--lang", "en")
    quiz.until("Press Enter")
    quiz.type("\r")
    quiz.until("share of the step")
    quiz.type("0.99\r")
    # The next question is on the screen, so the answer before it is on disk.
    quiz.until("What does 1F1B save")
    quiz.kill()
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        sitting = load(diary, sitting.session)
        assert [*sitting.answers] == ["bubble"]
        assert sitting.station == "bubble-again"

    quiz = terminal("--resume", "--lang", "en")
    quiz.until("Welcome back. You were away")
    quiz.type("1\r")
    quiz.until("Why 1F1B")
    quiz.type("activation memory\r")
    quiz.until(lambda text: "activation memory" in text)
    quiz.kill()

    quiz = terminal("--resume", "--lang", "en")
    text = quiz.until("Welcome back")
    assert "Why 1F1B?" in text
    with Diary(home / "diary.sqlite3") as diary:
        backs = diary.events(name="back")
        away = [event.note["away"] for event in backs]
        assert len(away) == 2
        assert min(away) > 0
        # Both were paid by the pauses, in full, and nothing by the clock.
        assert backs[-1].note["paused"] == pytest.approx(sum(away))
        assert [event.note["charged"] for event in backs] == [0, 0]
    quiz.type("lower activation memory\r\r")
    quiz.until("What does the bubble depend on")
    quiz.type("\x13")
    quiz.until("Against the rubric")
    quiz.type("\r")
    assert quiz.end() == 0
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        assert sitting.card is not None
        answered = {each["station"]: each for each in sitting.card["answers"]}
        assert answered["why"]["given"]["text"] == "lower activation memory"
        assert [*answered] == ["bubble", "bubble-again", "why", "parts"]


def test_time_away_beyond_the_budget_shows_on_the_clock(terminal, home, folder):
    quiz = terminal("small", "--lang", "zh")
    quiz.until("按回车")
    quiz.type("\r")
    quiz.until("本题")
    quiz.kill()
    with Diary(home / "diary.sqlite3") as diary:
        [start] = diary.events(name="start")
    # The last sign of life was five minutes ago; two of them may be paused.
    db = sqlite3.connect(home / "diary.sqlite3")
    db.execute("drop trigger events_are_final")
    db.execute("update events set at = at - 300000")
    db.commit()
    db.close()
    quiz = terminal("--resume", "--lang", "zh")
    text = quiz.until(r"(?s)欢迎回来.*\[剩余")
    assert "暂停已经用完" in text
    assert 360 <= seconds(text, "剩余") <= 420
    quiz.type("\x03")
    assert quiz.end() == 130
    assert start.note["budget"] == 120


def test_when_time_is_up_what_was_typed_is_judged(terminal, home):
    quiz = terminal("small", "--lang", "zh", "--minutes", "0.05")
    quiz.until("按回车")
    quiz.type("\r")
    quiz.until("本题")
    quiz.type("0.9")
    assert quiz.end() == 0
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        assert sitting.card is not None
        bubble = sitting.card["answers"][0]
        assert (bubble["given"], bubble["late"], bubble["right"]) == ("0.9", True, False)
        assert sitting.card["time"]["ended_by"] == "time"
    assert "时间到时交的" in quiz.text()


def test_the_draft_comes_back_into_the_editor(terminal):
    quiz = terminal("small", "--lang", "zh")
    quiz.until("按回车")
    quiz.type("\r")
    quiz.until("本题")
    # All in one go: Ctrl-C comes before the text was ever drawn.
    quiz.type("三分之一\x03")
    assert quiz.end() == 130
    assert "quizkit mock --resume" in quiz.text()
    quiz = terminal("--resume", "--lang", "zh")
    quiz.until(r"\] 三分之一")
    quiz.type("\x03")
    assert quiz.end() == 130


def test_a_kill_in_mid_answer_leaves_the_draft(terminal, home):
    fast = f"from quizkit.mock import ledger; ledger.HEARTBEAT = 0.1; {RUN}"
    quiz = terminal("small", "--lang", "zh", run=fast)
    quiz.until("按回车")
    quiz.type("\r")
    quiz.until("本题")
    quiz.type("三分之一")

    def on_disk(_: str) -> bool:
        with Diary(home / "diary.sqlite3") as diary:
            return any(
                event.note.get("draft") == "三分之一" for event in diary.events(name="alive")
            )

    quiz.until(on_disk)
    quiz.kill()
    quiz = terminal("--resume", "--lang", "zh")
    quiz.until(r"\] 三分之一")


def test_ctrl_c_before_the_clock_starts_leaves_nothing(terminal, home):
    quiz = terminal("small", "--lang", "zh")
    quiz.until("按回车")
    quiz.type("\x03")
    assert quiz.end() == 130
    with Diary(home / "diary.sqlite3") as diary:
        assert sittings(diary) == []
