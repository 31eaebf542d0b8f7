"""The interview as a person meets it: a real terminal, real kills, both languages."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hurried import Hurried
from terminal import Terminal

from quizkit.diary import Diary
from quizkit.mock.sitting import load, sittings

RUN = "from quizkit.__main__ import main; main()"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def quizkit(terminal: Callable[..., Terminal], home: Path, folder: Path) -> Callable[..., Terminal]:
    """`quizkit mock ...` on a terminal."""

    def start(*options: str, run: str = RUN) -> Terminal:
        words = ["-c", run, "mock", *options, "--bank", folder]
        return terminal(words, QUIZKIT_HOME=str(home))

    return start


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
def test_the_clock_runs_while_chinese_is_typed(quizkit, home, lang, enter, clock, own, typed):
    quiz = quizkit("small", "--lang", lang)
    quiz.until(enter)
    quiz.press("\r")
    quiz.until(own)
    for character in typed:
        quiz.press(character)
    quiz.until(typed)
    before = [seconds(quiz.text, word) for word in (clock, own)]
    # No key is pressed: the screen changes by itself, and what was typed stays.
    later = quiz.wait(
        lambda text: all(seconds(text, w) < b for w, b in zip((clock, own), before, strict=True)),
        "a second less",
    )
    line = next(line for line in later.split("\n") if own in line)
    assert typed in line
    assert line.startswith("[")
    quiz.press("\x7f\x7f")
    quiz.until(typed[:-2], gone=typed[:-1])
    quiz.press("\x03")
    assert quiz.close() == 130
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        assert load(diary, sitting.session).draft == typed[:-2]


def test_killed_between_questions_and_in_mid_answer(quizkit, home):
    quiz = quizkit("small", "--lang", "en")
    quiz.until("Press Enter")
    quiz.press("\r")
    quiz.until("share of the step")
    quiz.press("0.99\r")
    # The next question is on the screen, so the answer before it is on disk.
    quiz.until("What does 1F1B save")
    quiz.kill()
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        sitting = load(diary, sitting.session)
        assert [*sitting.answers] == ["bubble"]
        assert sitting.station == "bubble-again"

    quiz = quizkit("--resume", "--lang", "en")
    quiz.until("Welcome back. You were away")
    quiz.press("1\r")
    quiz.until("Why 1F1B")
    quiz.press("activation memory\r")
    quiz.until("activation memory")
    quiz.kill()

    quiz = quizkit("--resume", "--lang", "en")
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
    quiz.press("lower activation memory\r\r")
    quiz.until("What does the bubble depend on")
    quiz.press("\x13")
    quiz.until("Against the rubric")
    quiz.press("\r")
    quiz.until("any key goes back")
    quiz.press("q")
    assert quiz.close() == 0
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        assert sitting.card is not None
        answered = {each["station"]: each for each in sitting.card["answers"]}
        assert answered["why"]["given"]["text"] == "lower activation memory"
        assert [*answered] == ["bubble", "bubble-again", "why", "parts"]


def test_time_away_beyond_the_budget_shows_on_the_clock(quizkit, home, folder):
    quiz = quizkit("small", "--lang", "zh")
    quiz.until("按回车")
    quiz.press("\r")
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
    quiz = quizkit("--resume", "--lang", "zh")
    text = quiz.wait(lambda text: "[剩余" in text.partition("欢迎回来")[2], "the clock")
    assert "暂停已经用完" in text
    assert 360 <= seconds(text, "剩余") <= 420
    quiz.press("\x03")
    assert quiz.close() == 130
    assert start.note["budget"] == 120


def test_when_time_is_up_what_was_typed_is_judged(quizkit, home):
    hurried = Hurried(home, RUN)
    quiz = quizkit("small", "--lang", "zh", run=hurried.run)
    quiz.until("按回车")
    quiz.press("\r")
    quiz.until("本题")
    quiz.press("0.9")
    quiz.until("0.9")
    hurried.forward(600)
    quiz.until("按任意键返回")
    quiz.press("q")
    assert quiz.close() == 0
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        assert sitting.card is not None
        bubble = sitting.card["answers"][0]
        assert (bubble["given"], bubble["late"], bubble["right"]) == ("0.9", True, False)
        assert sitting.card["time"]["ended_by"] == "time"
    assert "时间到时交的" in quiz.text


def test_the_draft_comes_back_into_the_editor(quizkit):
    quiz = quizkit("small", "--lang", "zh")
    quiz.until("按回车")
    quiz.press("\r")
    quiz.until("本题")
    # All in one go: Ctrl-C comes before the text was ever drawn.
    quiz.press("三分之一\x03")
    assert quiz.close() == 130
    assert "quizkit mock --resume" in quiz.text
    quiz = quizkit("--resume", "--lang", "zh")
    quiz.until("] 三分之一")
    quiz.press("\x03")
    assert quiz.close() == 130


def test_a_kill_in_mid_answer_leaves_the_draft(quizkit, home):
    fast = f"from quizkit.mock import ledger; ledger.HEARTBEAT = 0.1; {RUN}"
    quiz = quizkit("small", "--lang", "zh", run=fast)
    quiz.until("按回车")
    quiz.press("\r")
    quiz.until("本题")
    quiz.press("三分之一")

    def on_disk(_: str) -> bool:
        with Diary(home / "diary.sqlite3") as diary:
            return any(
                event.note.get("draft") == "三分之一" for event in diary.events(name="alive")
            )

    quiz.wait(on_disk, "the draft on disk")
    quiz.kill()
    quiz = quizkit("--resume", "--lang", "zh")
    quiz.until("] 三分之一")


def test_ctrl_c_before_the_clock_starts_leaves_nothing(quizkit, home):
    quiz = quizkit("small", "--lang", "zh")
    quiz.until("按回车")
    quiz.press("\x03")
    assert quiz.close() == 130
    with Diary(home / "diary.sqlite3") as diary:
        assert sittings(diary) == []


def test_a_second_interview_at_once_is_refused(quizkit):
    first = quizkit("small", "--lang", "en")
    first.until("Press Enter")
    for options in (("small",), ("--resume",)):
        second = quizkit(*options, "--lang", "en")
        second.until("An interview is going on in another terminal")
        assert second.close() == 2
    first.kill()
    third = quizkit("small", "--lang", "en")
    third.until("Press Enter")
    third.press("\x03")
    assert third.close() == 130
