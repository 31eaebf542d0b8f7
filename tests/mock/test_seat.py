"""The candidate's seat as a person has it: the interviewer, the clock's words, an editor, kinds."""

import io
import os
import re
import signal
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
import started
from hurried import Hurried
from rich.console import Console, RenderableType
from terminal import Terminal

from quizkit.diary import Diary
from quizkit.mock.desk import Handed, OpenQuestion, Talk
from quizkit.mock.sitting import InterviewState, Kept, load, sittings
from quizkit.mock.timer import Timer
from quizkit.tutor.asked import ask
from quizkit.ui.lines.lines import Lines
from quizkit.ui.mock.answer_page import AnswerPage
from quizkit.ui.mock.line_hand import LineHand
from quizkit.ui.mock.mock_desk import MockDesk
from quizkit.ui.mock.talk_parts import given as drawn_talk
from quizkit.ui.mock.talk_parts import news
from quizkit.ui.terminal.typing import Typed
from quizkit.words.mock import WORDS

RUN = "from quizkit.__main__ import main; main()"
SCRIPT = """\
title: {zh: 谈一谈, en: A talk}
level: 3
opening: {zh: 你好。, en: Hello.}
minutes: 10
pause_minutes: 2
weights: {correctness: 60, numbers: 40}
pass: {overall: 2}
facts:
  - asks: {zh: 带宽, en: bandwidth}
    keywords: [带宽, bandwidth]
    answer: {zh: 每张卡 50 GB/s。, en: "50 GB/s per GPU."}
stations:
  - id: open
    essay:
      prompt: {zh: 它停住了，先看什么？, en: "It hangs, what do you look at?"}
      rubric: [{points: 1, says: {zh: 堆栈, en: stacks}, keywords: [stack, 堆栈]}]
      explain: {zh: 如题, en: As stated}
    seconds: 120
    speaks: {correctness: 1}
    hints: [{zh: 重启会丢什么？, en: What does a restart lose?}]
    looks:
      - id: calls
        of: debug/who-is-missing
        show: log
        seconds: 60
        name: {zh: 调用记录, en: the calls}
  - id: layout
    write:
      prompt: {zh: 写一个布局。, en: Write a layout.}
      fields: {tp: {zh: 张量并行度, en: tensor-parallel degree}, pp: {zh: 流水线段数, en: stages}}
      checks: [{points: 1, says: {zh: 八张卡, en: 8 GPUs}, if: tp * pp == 8}]
      example: {tp: 8, pp: 1}
      wrong: [{tp: 1, pp: 1}]
      explain: {zh: 如题, en: As stated}
    seconds: 60
    speaks: {numbers: 1}
  - id: schedule
    write:
      prompt: {zh: 写一个调度。, en: Write a schedule.}
      schedule: {stages: 2, microbatches: 2}
      checks: [{points: 1, says: {zh: 跑得完, en: it ends}, if: runs}]
      example: [F0 F1 B0 B1, F0 B0 F1 B1]
      wrong: [[B0 F0 F1 B1, F0 B0 F1 B1]]
      explain: {zh: 如题, en: As stated}
    seconds: 60
    speaks: {numbers: 1}
  - id: bug
    ask: zero/last-one-counts
    seconds: 60
    speaks: {correctness: 1}
"""


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    (tmp_path / "bank/mocks").mkdir(parents=True)
    (tmp_path / "bank/mocks/talk.yaml").write_text(SCRIPT, encoding="utf-8")
    return tmp_path / "bank"


@pytest.fixture
def hurried(tmp_path: Path) -> Hurried:
    return Hurried(tmp_path, RUN)


@pytest.fixture
def seat(
    terminal: Callable[..., Terminal], tmp_path: Path, bank: Path, hurried: Hurried
) -> Callable[..., Terminal]:
    """An interview at a terminal, its first question open."""

    def sit(*options: str, lang: str = "en", **more: str | int) -> Terminal:
        words = ["-c", hurried.run, "mock", "talk", "--lang", lang, "--bank", bank, *options]
        quiz = terminal(words, QUIZKIT_HOME=str(tmp_path), **more)
        quiz.until({"zh": "按回车", "en": "Press Enter"}[lang])
        quiz.press("\r")
        quiz.until({"zh": "先看什么", "en": "what do you look at"}[lang])
        return quiz

    return sit


@pytest.fixture
def editor(tmp_path: Path) -> Callable[[str], str]:
    """A program in the place of an editor: shell lines that find the file in $1."""

    def make(lines: str) -> str:
        path = tmp_path / "an editor.sh"
        path.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return f"'{path}'"

    return make


def given(state: InterviewState, station: str) -> dict[str, object]:
    answer = state.answers[station].given
    assert isinstance(answer, dict)
    return answer


def kept(home: Path) -> InterviewState:
    with Diary(home / "diary.sqlite3") as diary:
        [sitting] = sittings(diary)
        return load(diary, sitting.session)


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_word_to_the_interviewer_leaves_text_and_cursor(seat, tmp_path, columns):
    quiz = seat(lang="zh", columns=columns)
    quiz.press("先看栈\r")
    quiz.press("再看 log\x1b[D\x1b[D")
    quiz.until("再看 log")
    quiz.press("\x0f")
    text = quiz.until("对面试官说>")
    # What is typed stands above, with the cursor's place in it.
    assert text.index("> 再看 l|og") < text.index("对面试官说>")
    quiz.press("带宽多少\r")
    quiz.until("每张卡 50 GB/s", gone="对面试官说>")
    quiz.press("\x12")  # a hint
    quiz.until("重启会丢什么")
    quiz.press("\x0f")
    quiz.until("对面试官说>")
    quiz.press("1\r")
    quiz.until("rank 0", gone="对面试官说>")
    quiz.press("\x0f")
    quiz.until("对面试官说>")
    quiz.press("n 记住 rank 2\r")
    quiz.until("你记的", gone="对面试官说>")
    quiz.press("\x1d")
    quiz.until("| 有把握]")
    quiz.press("\x14")  # the other language: the whole page, and not a letter of what is typed
    quiz.until("Ctrl-S no answer")
    quiz.until("再看 log")
    quiz.press("!")
    quiz.until("再看 l!og")
    quiz.press("\x03")
    assert quiz.close() == 130
    state = kept(tmp_path)
    assert state.draft == "先看栈\n再看 l!og"
    assert (state.hints, state.looks, state.told) == ({"open": 1}, ["calls"], [0])
    assert (state.notes, state.sure, state.lang) == (["记住 rank 2"], {"open": True}, "en")
    assert state.used >= 60  # what was looked at took its minute


ASKED = {"zh": "它停住了，先看什么？", "en": "It hangs, what do you look at?"}
SIZES = [(100, 32), (60, 20)]


@pytest.fixture
def full_page(bank: Path) -> None:
    """The first question is longer than the screen."""
    short = 'prompt: {zh: 它停住了，先看什么？, en: "It hangs, what do you look at?"}'
    shown = ["prompt:"]
    for lang, asked in ASKED.items():
        shown += [f"{lang}: |", f"  {asked}", *(f"\n          Part {n}." for n in range(1, 30))]
    text = SCRIPT.replace(short, "\n        ".join(shown))
    assert text != SCRIPT
    (bank / "mocks/talk.yaml").write_text(text, encoding="utf-8")


def hand_rows(quiz: Terminal) -> list[str]:
    """The rows below the clock."""
    quiz.wait(lambda text: "\n[" in text, "the clock")
    rows = [line.rstrip() for line in quiz.screen.display]
    clock = max(at for at, row in enumerate(rows) if row.startswith("["))
    return rows[clock + 1 :]


@pytest.mark.usefixtures("full_page")
@pytest.mark.parametrize(("columns", "rows"), SIZES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_is_typed_stays_in_sight_above_a_line_that_is_begun(
    seat, tmp_path, lang, columns, rows
):
    quiz = seat(lang=lang, columns=columns, rows=rows)
    word = {"zh": "停", "en": "hang "}[lang]
    room = len(hand_rows(quiz))
    assert rows // 3 - 2 <= room <= rows // 3
    # One paragraph, as many rows as there are and one more.
    text = word * (room * (columns - 2) // (2 if lang == "zh" else len(word))) + "终点"
    quiz.press(text)
    quiz.until("终点")
    quiz.press("\r")
    quiz.wait(lambda _: quiz.screen.cursor.y == rows - 1 and hand_rows(quiz)[-1] == "", "a row")
    shown = hand_rows(quiz)
    assert "终点" in shown[-2]
    assert all(each.strip() for each in shown[:-1])
    # And back up in it, and down again: never an empty row below while text stands above.
    quiz.press("\x1b[A" * (room + 2))
    quiz.wait(lambda _: quiz.screen.cursor.y < rows - 2, "the cursor further up")
    assert all(each.strip() for each in hand_rows(quiz)[:-1])
    quiz.press("\x03")
    assert quiz.close() == 130
    assert kept(tmp_path).draft == f"{text}\n"


@pytest.mark.usefixtures("full_page")
@pytest.mark.parametrize(
    ("lang", "label", "sure"),
    [("zh", "Ctrl-] 对这题有把握", " | 有把握]"), ("en", "Ctrl-] sure of this answer", " | sure]")],
)
def test_being_sure_stands_in_the_clock_and_says_of_what(seat, lang, label, sure):
    quiz = seat(lang=lang, rows=32)
    quiz.until(label)
    assert sure not in quiz.text
    quiz.press("\x1b[6~\x1d")
    text = quiz.until(sure)
    assert {"zh": "第 1 题", "en": "Question 1"}[lang] not in text
    quiz.press("\x0f")
    quiz.until({"zh": "对面试官说>", "en": "to the interviewer>"}[lang])
    assert sure in quiz.text
    quiz.press("!\r")
    quiz.wait(lambda text: sure not in text and label in text, "unsure")


@pytest.mark.usefixtures("full_page")
@pytest.mark.parametrize(("columns", "rows"), SIZES)
@pytest.mark.parametrize(
    ("lang", "reply"),
    [("zh", "把假设讲清楚就行"), ("en", "say what you assume")],
)
def test_a_reply_stands_right_above_the_prompt_and_beside_the_next_word(
    seat, lang, reply, columns, rows
):
    quiz = seat(lang=lang, columns=columns, rows=rows)
    beside = {"zh": "对面试官说>", "en": "to the interviewer>"}[lang]
    quiz.press("\x0f")
    quiz.until(beside)
    quiz.press("who?\r")
    text = quiz.wait(lambda text: reply in text and "\n[" in text, "the reply")
    above, _, _ = text.rpartition("\n[")
    assert reply in above.rsplit("\n", 1)[-1]
    quiz.press("\x0f")
    assert reply in quiz.until(beside)


@pytest.mark.usefixtures("full_page")
@pytest.mark.parametrize(
    ("lang", "asked", "told"),
    [
        ("zh", "带宽？", "带宽：每张卡 50 GB/s。"),
        ("en", "bandwidth?", "bandwidth: 50 GB/s per GPU."),
    ],
)
def test_a_fact_is_shown_with_what_it_is_about(seat, lang, asked, told):
    quiz = seat(lang=lang)
    quiz.press("\x0f")
    quiz.until({"zh": "对面试官说>", "en": "to the interviewer>"}[lang])
    quiz.press(f"{asked}\r")
    quiz.until(told)


class Pages:
    """A hand that keeps the pages it is given."""

    attended = True

    def __init__(self, lines: bool) -> None:
        self.lines = lines
        self.pages: list[AnswerPage] = []

    def type(self, page: AnswerPage) -> Typed:
        self.pages.append(page)
        return Typed("")

    def tell(self, *parts: object) -> None:
        pass

    def busy(self, text: str) -> AbstractContextManager[object]:
        raise AssertionError(text)


def drawn(parts: Sequence[RenderableType]) -> str:
    console = Console(width=80, file=io.StringIO())
    with console.capture() as told:
        console.print(*parts, sep="\n")
    return told.get()


@pytest.mark.parametrize("lines", [False, True])
def test_the_interviewers_reply_is_told_once_and_as_facts_are(room, monkeypatch, lines):
    monkeypatch.setitem(WORDS, "reply", {"zh": "面试官：{text}", "en": "Interviewer: {text}"})
    reply = ("mock.reply", {"text": "`50 GB/s` per GPU.\n8 GPUs."})
    told = (("bandwidth", "`50 GB/s` per GPU."), ("size", "8 GPUs."))
    first = OpenQuestion(
        ask(room.questions["pp/bubble"], 1), "en", 1, 3, False, "", 80.0,
        Timer(room.clock, total=100, budget=0), lambda _: None,
    )  # fmt: skip
    hand = Pages(lines)
    desk = MockDesk(hand, plain=lines)
    desk.meet(first)
    desk.meet(replace(first, message=reply, talk=Talk(told=told, asks=True)))
    page = hand.pages[-1]
    said = drawn(page.told if lines else page.said)
    assert said.splitlines()[:2] == [
        "Interviewer: `50 GB/s` per GPU." if lines else "Interviewer: 50 GB/s per GPU.",
        "8 GPUs.",
    ]
    assert said.count("8 GPUs.") == 1
    assert page.show == "told 1"
    # In the other language nothing is new, and the page stays where it is.
    desk.meet(replace(first, lang="zh", talk=Talk(told=(("带宽", "每张卡 50 GB/s。"),), asks=True)))
    assert hand.pages[-1].show == ""


def test_what_is_gone_with_its_question_does_not_hide_what_is_told_at_the_next():
    before = Talk(told=(("a", "1"), ("b", "2")))
    now = Talk(told=(("a", "1"), ("c", "3")))
    assert news(before, now) == "told 2"
    assert "c: 3" in drawn(drawn_talk(now, "en", plain=True, since=before))
    assert "a: 1" not in drawn(drawn_talk(now, "en", plain=True, since=before))


@pytest.mark.parametrize(
    ("lang", "said"),
    [("zh", "这题还有 1 条"), ("en", "a hint; 1 left for this question, each costs")],
)
def test_hints_are_those_of_this_question(seat, lang, said):
    assert said in " ".join(seat(lang=lang, columns=120).text.split())


def test_ctrl_c_beside_the_text_ends_what_is_said_alone(seat, tmp_path):
    quiz = seat()
    quiz.press("half a thought\x0f")
    quiz.until("to the interviewer>")
    quiz.press("no mat\x03")
    quiz.until("> half a thought", gone="to the interviewer>")
    quiz.press("\x0f")
    quiz.until("to the interviewer>")
    quiz.press("\r")
    quiz.until("> half a thought", gone="to the interviewer>")
    quiz.press("\x03")
    assert quiz.close() == 130
    assert (kept(tmp_path).draft, kept(tmp_path).told) == ("half a thought", [])


def test_when_time_is_up_beside_the_text_the_text_is_handed_in(seat, hurried, tmp_path):
    quiz = seat()
    quiz.press("the stacks\x0f")
    quiz.until("to the interviewer>")
    quiz.press("which band")
    quiz.until("which band")
    hurried.forward(600)
    quiz.until("Against the rubric")
    quiz.press("\r")
    closes_the_card(quiz)
    assert quiz.close() == 0
    state = kept(tmp_path)
    assert given(state, "open")["text"] == "the stacks"
    assert Kept.of(state.answers["open"]).late


@pytest.mark.parametrize(
    ("lang", "one", "whole"), [("zh", "该收尾了", "快到点了"), ("en", "wrap up", "nearly over")]
)
def test_the_clock_warns_in_words_and_in_a_style_without_colour(seat, hurried, lang, one, whole):
    quiz = seat(lang=lang, NO_COLOR="1")
    assert one not in quiz.text
    quiz.press("栈")
    quiz.until("> 栈")
    hurried.forward(96)  # of 120
    quiz.until(one)
    assert "栈" in quiz.text
    assert re.search(rb"\x1b\[[0-9;]*;7m", quiz.raw)
    assert whole not in quiz.text
    hurried.forward(480 - 96)  # of 600
    quiz.until(whole)
    assert "栈" in quiz.text
    assert not re.search(rb"\x1b\[[0-9;]*\b3[1-7]m", quiz.raw)


def test_an_editor_has_the_text_and_gives_it_back(seat, editor, tmp_path):
    quiz = seat(EDITOR="false", VISUAL=editor("echo '第二行' >> \"$1\""))
    quiz.press("first\x18")
    quiz.until("第二行")
    quiz.until("> first")
    quiz.press(", and on")
    quiz.until("第二行, and on")
    quiz.press("\x03")
    assert quiz.close() == 130
    assert kept(tmp_path).draft == "first\n第二行, and on"
    assert quiz.echoes


@pytest.mark.parametrize(
    ("typed", "made", "enters"),
    [
        ("first", "sed -i s/first/edited/", 2),
        ("first\r", "sed -i s/first/edited/", 1),
        ("first", "printf edited >", 2),
        ("first", "echo edited >", 2),
        ("first", "printf 'edited\\n\\n\\n' >", 1),
    ],
)
def test_after_an_editor_enter_on_an_empty_line_hands_in(
    seat, editor, tmp_path, typed, made, enters
):
    quiz = seat(EDITOR=editor(f'{made} "$1"'))
    quiz.press(f"{typed}\x18")
    quiz.until("> edited")
    if enters > 1:
        at = quiz.screen.cursor.y
        quiz.press("\r")
        quiz.wait(lambda _: quiz.screen.cursor.y == at + 1, "the next line")
    quiz.press("\r")
    quiz.until("Write a layout")
    assert given(kept(tmp_path), "open")["text"] == "edited"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "No editor is set"),
        ("no-such-editor", "did not end well"),
        ("false", "did not end well"),
    ],
)
def test_an_editor_that_is_none_says_so_and_loses_nothing(seat, command, said):
    quiz = seat(EDITOR=command)
    quiz.press("what I wrote\x18")
    quiz.until(said)
    quiz.until("> what I wrote")
    quiz.press("!")
    quiz.until("what I wrote!")


def test_an_editor_that_fails_with_a_torn_file_loses_nothing(seat, editor):
    quiz = seat(EDITOR=editor(': > "$1"; exit 3'))
    quiz.press("what I wrote\x18")
    quiz.until("did not end well")
    quiz.until("> what I wrote")


# It says so when keys reach it: the terminal is handed over after it has begun.
STAYS = """\
trap 'echo heard' INT
echo saved > "$1"
until read -r all < /proc/$$/stat; set -- ${all##*) }; [ "$6" = $$ ]; do :; done
echo editing
while :; do sleep 0.1; done"""


def test_when_time_is_up_in_the_editor_what_was_saved_is_taken(seat, hurried, editor, tmp_path):
    quiz = seat(EDITOR=editor(STAYS))
    quiz.press("first\x18")
    quiz.until("editing")
    quiz.press("\x03")  # the editor's own affair
    quiz.until("heard")
    hurried.forward(600)
    quiz.until("Against the rubric")
    quiz.press("\r")
    closes_the_card(quiz)
    assert quiz.close() == 0
    state = kept(tmp_path)
    assert given(state, "open")["text"] == "saved"
    assert Kept.of(state.answers["open"]).late
    assert quiz.echoes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_kill_during_the_editor_keeps_what_was_saved(seat, editor, tmp_path, number):
    quiz = seat(EDITOR=editor(f"echo $$ > '{tmp_path}/number'; {STAYS}"))
    quiz.press("first\x18")
    quiz.until("editing")
    quiz.process.signal(number)
    assert quiz.close() == 130
    assert kept(tmp_path).draft == "saved"
    with pytest.raises(ProcessLookupError):  # and no editor is left at the terminal
        os.kill(int((tmp_path / "number").read_text()), 0)
    assert quiz.echoes


def test_an_editor_that_pauses_comes_back(seat, editor):
    # With no shell above it, nothing pauses: the editor is let go on, and nothing hangs.
    quiz = seat(EDITOR=editor('kill -TSTP 0; echo after > "$1"'))
    quiz.press("first\x18")
    quiz.until("> after")


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    ("lang", "shown"),
    [
        (
            "zh",
            ["tp=…", "张量并行度", "每项一个正整数：tp=… pp=…"],
        ),
        ("en", ["tp=…", "tensor-parallel degree", "a whole number for each: tp=… pp=…"]),
    ],
)
def test_every_kind_says_how_it_is_answered(seat, tmp_path, lang, shown, columns):
    quiz = seat(lang=lang, columns=columns, rows=50)
    quiz.press("\x13")
    quiz.until("tp=…")
    text = " ".join(quiz.text.split())
    assert all(each in text for each in shown)
    quiz.press("tp=8 pp=2\r")
    quiz.until({"zh": "一个 stage 一行", "en": "One line for each stage"}[lang])
    quiz.press("F0 F1 B0 B1\rF0 B0 F1 B1\r\r")
    # The code, each line with its number, and how a line is named.
    text = quiz.until({"zh": "行号", "en": "wrong line"}[lang])
    assert re.search(r"^ *1 +def ", text, re.MULTILINE)
    quiz.press("4 nobody sums\r\r")
    quiz.until({"zh": "对照评分点", "en": "Against the rubric"}[lang])
    quiz.press("\r")
    closes_the_card(quiz)
    assert quiz.close() == 0
    state = kept(tmp_path)
    assert state.answers["layout"].given == {"tp": 8, "pp": 2}
    assert state.answers["schedule"].given == ["F0 F1 B0 B1", "F0 B0 F1 B1"]
    assert given(state, "bug")["line"] == 4


def closes_the_card(quiz: Terminal) -> None:
    """A finished interview shows its card until a key is pressed."""
    quiz.wait(lambda text: "any key goes back" in text or "按任意键返回" in text, "the card")
    quiz.press("q")


def lines(tmp_path: Path, bank: Path, typed: str, *options: str, **more: str):
    env = {**os.environ, "QUIZKIT_HOME": str(tmp_path), **more}
    return started.quizkit("mock", "talk", *options, "--bank", bank, env=env, given=typed)


def test_a_line_with_a_colon_is_said_to_the_interviewer(tmp_path, bank):
    typed = "first\n:h\n：带宽是多少\n:? 温度\n:n mind rank 2，又一句\n:1\n:!\nsecond\n:e\n\n"
    done = lines(tmp_path, bank, typed, "--lang", "en")
    assert done.returncode == 130
    out = done.stdout
    for said in (
        "What does a restart lose?",
        "50 GB/s per GPU.",
        "Assume what you need, and say what you assume.",
        "mind rank 2，又一句",
        "rank 2  gradient.7",
        "There is no terminal here for an editor.",
    ):
        assert out.count(said) == 1, said
    # The question is not written again for each of them.
    assert out.count("It hangs, what do you look at?") == 1
    assert "\x1b" not in out
    state = kept(tmp_path)
    assert given(state, "open")["text"] == "first\nsecond"
    assert state.answers["open"].hints == 1
    assert state.answers["open"].sure is True


def test_a_colon_and_a_question_mark_list_what_was_given_and_what_can_be_had(tmp_path, bank):
    typed = ":bandwidth?\n:s\n:?\n:\n"
    out = lines(tmp_path, bank, typed, "--lang", "en").stdout
    first, second = out.split("Question 2 of 4")
    assert first.count("50 GB/s per GPU.") == 1
    assert "Write a layout" in second
    assert second.count("50 GB/s per GPU.") == 2
    assert second.count("a note to yourself") == 3


def test_the_other_language_is_written_whole(tmp_path, bank):
    done = lines(tmp_path, bank, "half\n:t\n\n", "--lang", "en")
    assert "它停住了，先看什么？" in done.stdout
    assert given(kept(tmp_path), "open")["text"] == "half"
    assert kept(tmp_path).answers["open"].lang == "zh"


class Slow(io.StringIO):
    """Lines that take their time to come."""

    def __init__(self, clock, *lines: tuple[float, str]) -> None:
        super().__init__()
        self.clock, self.coming = clock, [*lines]

    def readline(self, *_: object) -> str:
        seconds, line = self.coming.pop(0)
        self.clock.pass_(seconds)
        return f"{line}\n"


def test_lines_are_warned_once_a_line_is_sent(room):
    timer = Timer(room.clock, total=100, budget=0)
    out = io.StringIO()
    source = Slow(room.clock, (50, "0.1"), (20, "0.2"), (15, "0.3"), (5, "0.4"))
    desk = MockDesk(LineHand(Lines(source, out), attended=False), plain=True)
    told: list[str] = []
    for _ in range(4):
        moment = OpenQuestion(
            ask(room.questions["pp/bubble"], 1), "en", 1, 3, False, "", 80.0, timer, lambda _: None
        )
        assert isinstance(desk.meet(moment), Handed)
        told.append(out.getvalue()[sum(map(len, told)) :])
    ones = ["four fifths of its target" in each for each in told]
    wholes = ["Four fifths of the time is gone" in each for each in told]
    assert ones == [False, True, False, False]
    assert wholes == [False, False, True, False]
    # From then on the clock itself says so.
    assert "[00:15 left, nearly over | over by 00:05]" in told[3]


def test_an_editor_at_a_terminal_without_a_screen(terminal, tmp_path, bank, editor):
    words = ["-c", RUN, *["mock", "talk", "--plain", "--lang", "en", "--bank"], bank]
    made = editor('echo whole > "$1"')
    quiz = terminal(words, QUIZKIT_HOME=str(tmp_path), EDITOR=made)
    quiz.until("Press Enter")
    quiz.press("\r")
    quiz.until("this one 02:00")
    quiz.press("half\r:e\r")
    quiz.until("So far (Enter alone hands it in as it is):")
    quiz.press("\r")
    quiz.until("Write a layout")
    assert given(kept(tmp_path), "open")["text"] == "whole"
    quiz.press("\x03")
    assert quiz.close() == 130
