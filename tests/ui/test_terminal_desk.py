"""The terminal desk as a person meets it: a real pseudo-terminal, real keys."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from quizkit.diary import Diary
from quizkit.ui.terminal import keymap
from quizkit.words import Lang

COLOUR = re.compile(rb"\x1b\[(?:[\d;]*;)?(?:3[0-79]|4[0-79]|9\d|10\d|[34]8;[\d;]*)m")
DRIVER = Path(__file__).parent / "driver.py"


# Only where they lead somewhere.
SOMETIMES = ("assume", "right", "prove", "full", "why", "say", *keymap.SCROLLING)


def footer_is_whole(text: str, state: keymap.State, lang: Lang, last: int) -> bool:
    lines = " ".join(text.split())
    footer = keymap.footer(state, lang, last, without=SOMETIMES)
    return all(" ".join(item.split()) in lines for item in footer)


@pytest.mark.parametrize(("lang", "columns"), [("en", 80), ("zh", 60), ("zh", 120)])
def test_every_kind_is_answered(sit, written, lang: Lang, columns: int):
    names = ("single", "several", "number", "order", "cloze", "trace", "bug", "essay")
    desk = sit(*names, "--lang", lang, columns=columns, rows=45)
    here = {number: f"{number}/8" for number in range(1, 9)}

    def shows(number: int, state: keymap.State, last: int = 0) -> None:
        ready = f"{here[number]}  pp"
        desk.wait(lambda t: ready in t and footer_is_whole(t, state, lang, last), ready + state)

    def go_on(verdict: str) -> None:
        desk.wait(lambda text: footer_is_whole(text, "verdict", lang, 4), verdict)
        desk.press("\r")

    shows(1, "pick", 4)
    desk.press("1")
    go_on("single")
    shows(2, "tick", 3)
    desk.press("1", "\x1b[B", " ", "1", "3", "\r")  # the first is ticked and taken off again
    go_on("several")
    shows(3, "type")
    desk.press("50%", "\r")
    go_on("number")
    shows(4, "order", 4)
    desk.press("1", "1", "3", "\x7f", "2", "3", "4", "\r")
    go_on("order")
    shows(5, "type")
    desk.press("优化器状态", "\r")
    desk.until("[1 优化器状态]" if lang == "zh" else "gap 2>")
    desk.press("grad", "\r")
    desk.wait(lambda text: footer_is_whole(text, "review", lang, 2), "review")
    desk.press("2")
    desk.until("grad")
    desk.press("ients", "\r")
    desk.wait(lambda text: footer_is_whole(text, "review", lang, 2), "review again")
    desk.press("\r")
    go_on("cloze")
    shows(6, "type")
    desk.press("2", "\r")
    go_on("trace")
    shows(7, "line")
    desk.press("4", "\x7f", "5", "\r")
    desk.until("[ ]")
    desk.press("2", "\r")
    go_on("bug")
    shows(8, "compose")
    desk.press("分母 spans", "\r", "second line", "\x1b\r")
    desk.until("[x]")
    desk.press("\x1b[B", " ", "\r")
    go_on("essay")
    assert desk.close() == 0
    given = [line["given"] for line in written() if "given" in line]
    assert given == [
        [1],
        [0, 2],
        "50%",
        ["steady", "step", "warm", "drain"],
        {"gap1": "优化器状态", "gap2": "gradients"},
        "2",
        {"line": 5, "reasons": [1]},
        {"text": "分母 spans\nsecond line", "points": [0, 1], "vetoes": []},
    ]
    assert desk.echoes


def test_toggling_keeps_what_is_typed_and_where_options_stand(sit, written):
    desk = sit("number", "single", "essay", rows=45)
    desk.until("answer>")
    desk.press("0.5")
    desk.until("answer> 0.5")
    desk.press("\x1b[D", "\x14")
    desk.until("答案> 0.5")
    assert "气泡（bubble）占整步多少" in desk.text
    desk.press("2", "\r")  # the cursor is where it was: before the 5
    desk.until("1-4 改评分")
    desk.press(" ")
    desk.until("不会，看答案")
    places = re.findall(r"^\d\) (?:one|two|four)$", desk.text, re.MULTILINE)
    desk.press("t")
    desk.until("1-4 answer")
    assert len(places) == 3
    assert re.findall(r"^\d\) (?:one|two|four)$", desk.text, re.MULTILINE) == places
    desk.press("1", " ")
    desk.until("Why carry")
    desk.press("first", "\r", "第二行")
    desk.until("第二行")
    desk.press("\x14")
    desk.until("为什么要携带")
    desk.press("完", "\r", "\r")  # an empty line ends it
    desk.until("[ ]")
    desk.press("t", "\r")
    desk.until("1-4 grade")
    given = [line["given"] for line in written() if "given" in line]
    assert given[0] == "0.25"
    assert given[2]["text"] == "first\n第二行完"


def test_chinese_is_edited_as_it_looks(sit, written):
    desk = sit("cloze", "--lang", "zh", columns=60)
    desk.until("第 1 空>")
    desk.press("气泡率abc")
    desk.until("气泡率abc")
    desk.press("\x7f\x7f\x7f\x7f")
    desk.until("空> 气泡", gone="率")
    desk.press("\x1b[D", "小")
    desk.until("空> 气小泡")
    desk.press("\x7f\x7f", "\x05", "\x7f", "优化器状态")
    desk.until("空> 优化器状态", gone="泡")
    desk.press("\r", "梯度", "\r", "\r")
    desk.until("答对了")
    assert written()[-1]["given"] == {"gap1": "优化器状态", "gap2": "梯度"}


def test_commands_by_key_and_by_chord(sit, written):
    desk = sit("single", "number", rows=80)
    desk.until("? help")
    desk.press("h")
    desk.until("Draw it first.")
    desk.press("!")
    desk.until("  sure")
    desk.press("f")
    desk.until("What is wrong with it")
    desk.press("typo", "\r")
    desk.until("flagged")
    desk.press("?")
    desk.until("any key goes back")
    shown = " ".join(desk.text.split())
    assert all(
        f"{key} {does}" in shown
        for key, does in keymap.explained("pick", "en", 4, without=SOMETIMES)
    )
    desk.press("x")
    desk.until("1-4 answer", gone="any key")
    desk.press("\r")
    desk.until("Enter once more")
    desk.press("\r")  # shown, as not known
    desk.until("answer>")
    desk.press("12", "\x12")
    desk.until("Draw it first.")
    desk.press("\x07")
    desk.until("any key goes back")
    desk.press("x")
    desk.until("answer> 12")
    desk.press("\r")
    desk.until("1-4 grade")
    desk.press("p")
    desk.until("0.5  Measured")
    assert "isclose(" not in desk.text
    desk.press("v")
    desk.until("isclose(bubble_1f1b, answer)", gone="0.5  Measured")
    desk.press("v")
    desk.until("0.5  Measured", gone="isclose(")
    desk.press("y", "w", "2")
    desk.until("grade 2: hard")
    # What was asked for last stands lowest, where a small screen still shows it.
    asked = [desk.text.index(t) for t in ("The run -", "Said aloud", "How people get it wrong")]
    assert asked == sorted(asked)
    desk.press("q")
    assert desk.close() == 0
    assert [(line["command"], line["value"]) for line in written() if "command" in line] == [
        ("hint", None),
        ("sure", None),
        ("flag", "typo"),
        ("continue", None),
        ("hint", None),
        ("prove", None),
        ("full", None),
        ("full", None),
        ("say", None),
        ("why", None),
        ("grade", 2),
        ("quit", None),
    ]


def test_help_lists_what_leads_somewhere_as_the_footer_does(sit):
    desk = sit("order")
    desk.until("h hint")
    desk.press("h", "h")
    desk.until("Then count.", gone="h hint")
    desk.press("1", "2", "3", "4", "\r")
    shown = desk.wait(lambda text: "1-4 grade" in text and "q quit" in text, "a verdict")
    footer = shown[shown.index("Space/Enter") :]
    offered = re.findall(r"(?:^|  )(\S+) ", footer, re.MULTILINE)
    assert offered[0] == "Space/Enter"
    assert not {"p", "w", "h", "s"} & {*offered}
    desk.press("?")
    helped = re.findall(r"^(\S+)  ", desk.until("any key goes back"), re.MULTILINE)
    assert helped == [*offered, "Ctrl-L", "Ctrl-Z", "Ctrl-C"]


def test_the_usual_conditions_open_with_a_key_also_while_a_number_is_typed(sit):
    desk = sit("assumed")
    desk.until("2 usual")
    desk.press("2", "\x16")
    desk.until("transfers take no time", gone="2 usual")
    desk.press("2", "\r")
    desk.until("1-4 grade")
    assert "Right" in desk.text
    desk.press("a")
    desk.until("2 usual", gone="transfers take no time")


def test_a_slip_of_the_hand_answers_nothing(sit, written):
    desk = sit("single")
    desk.until("? help")
    desk.press("\x1b[200~1\r2\r\x1b[201~")  # pasted text
    desk.press("\x1b[1;5C", "\x1b[<0;1;1M", "\x1b]11;rgb:1/1/1\x07", "7", "9", "x", "、")
    desk.press("\x0c")
    desk.press("２")  # full width, as a Chinese input method sends it
    desk.until("1-4 grade")
    assert written() == [{"given": [3], "right": False}]


def test_only_who_has_the_line_of_a_bug_is_asked_why(sit, written):
    for line, asked in (("3", False), ("5", True)):
        desk = sit("bug")
        desk.until("1-5)>")
        assert "denominators" not in desk.text
        desk.press(line, "\r")
        if asked:
            desk.until("That is the line.")
            assert "1) [ ] weigh by the denominators" in desk.text
            desk.press("1", "\r")
        desk.until("1-4 grade")
        assert ("weigh by" in desk.text) is False
        desk.press("q")
        desk.close()
    given = [line["given"] for line in written() if "given" in line]
    assert given == [{"line": 3, "reasons": []}, {"line": 5, "reasons": [0]}]


def test_a_real_session_undoes_and_asks_again_just_as_it_was(sit, tmp_path):
    desk = sit("single", "--study", rows=80)
    desk.until("? help")
    options = re.findall(r"^\d\) .*$", desk.text, re.MULTILINE)
    wrong = next(line[0] for line in options if line.endswith("one"))
    right = next(line[0] for line in options if line.endswith("two"))
    desk.press("!", wrong)
    desk.until("Misconception  one-buffer")
    desk.press("p")
    desk.until("would be 4 blocks")
    desk.press("v")
    desk.until("Of 4 options the run decides 1", gone="would be 4 blocks")
    desk.press("u")
    desk.until("? help", gone="1-4 grade")
    assert re.findall(r"^\d\) .*$", desk.text, re.MULTILINE) == options
    desk.press(right)
    desk.until("1-4 grade")
    assert "Right" in desk.text
    desk.press(" ")
    desk.until("1 answered, 1 right")
    assert desk.close() == 0
    with Diary(tmp_path / "log") as diary:
        first, undo, second = diary.answers()
    assert (first.right, first.sure, undo.undoes, second.right) == (False, True, first.uuid, True)
    assert first.seed == second.seed


def test_ctrl_c_ends_the_session_and_keeps_everything(sit, written):
    for name, shown in (("single", "? help"), ("number", "answer>"), ("bug", "1-5)>")):
        desk = sit(name)
        desk.until(shown)
        assert not desk.echoes
        desk.press("\x03")
        assert desk.close() == 130
        assert desk.screen.cursor.x == 0  # what is said next has a line of its own
        assert desk.echoes
        assert written()[-1] == {"interrupted": True}


def test_ctrl_c_during_a_run_stops_the_run_only(sit, written):
    desk = sit("single", "--busy")
    desk.until("? help")
    desk.press("1")
    desk.until("Ctrl-C stops this")
    desk.press("\x03")
    desk.until("1-4 grade")
    desk.press(" ")
    assert desk.close() == 0
    assert written()[-1]["command"] == "continue"
    assert {"cancelled": True} in written()


def test_what_is_pressed_during_a_run_is_not_kept_for_later(sit, written, tmp_path):
    desk = sit("single", "--busy")
    desk.until("? help")
    desk.press("1")
    desk.until("Ctrl-C stops this")
    desk.press("q", "4", "w")
    (tmp_path / "log.go").touch()
    desk.until("1-4 grade")
    desk.press("\r")
    assert desk.close() == 0
    assert [line["command"] for line in written() if "command" in line] == ["continue"]


def test_a_killed_session_gives_the_terminal_back(sit):
    desk = sit("single")
    desk.until("? help")
    desk.process.signal(signal.SIGTERM)
    assert desk.close() == -signal.SIGTERM
    assert desk.echoes


def test_ctrl_d_on_an_empty_line_quits_and_unsent_text_is_given_back(sit, written):
    desk = sit("number")
    desk.until("answer>")
    desk.press("\x04")
    desk.until("Everything is kept")
    assert desk.close() == 0
    desk = sit("number")
    desk.until("answer>")
    desk.press("half an answer", "\x11")
    desk.until("Everything is kept")
    assert "not handed in" in desk.text
    assert desk.text.count("half an answer") == 2
    assert [line["command"] for line in written()] == ["quit", "quit"]


def test_ctrl_z_and_fg(terminal, tmp_path, written):
    # Not bash, which sets the terminal right itself when a job stops.
    shell = terminal([which("dash") or "sh", "-i"], PS1="$ ")
    shell.until("$")
    command = f"{sys.executable} {DRIVER} {tmp_path / 'log'} single number"
    shell.press(command, "\r")
    shell.until("? help")
    for number, ready in ((1, "? help"), (2, "answer>")):
        shell.press("\x1a")
        shell.wait(lambda text: "Stopped" in text and text.rstrip().endswith("\n$"), "a prompt")
        shell.press("stty -a | tr ' ' '\\n' | grep -x -e echo -e icanon | wc -l", "\r")
        shell.until("\n2\n")
        shell.press("clear; fg", "\r")
        shell.until(ready, gone="Stopped")
        shell.press("3" if number == 1 else "0.5\r")
        shell.until("1-4 grade")
        shell.press(" ")
        shell.until("answer>" if number == 1 else "Everything is kept")
    assert [line["given"] for line in written() if "given" in line] == [[0], "0.5"]


def test_a_new_size_is_drawn_anew(sit):
    desk = sit("single", "number", columns=120)
    desk.until("? help")
    desk.resize(60, 40)
    desk.until("-" * 60, gone="-" * 61)
    desk.wait(lambda text: footer_is_whole(text, "pick", "en", 4), "footer")
    desk.press("1", " ")
    desk.until("answer>")
    desk.press("0.2")
    desk.resize(100, 40)
    desk.until("-" * 100)
    desk.until("answer> 0.2")


def test_no_colour_where_none_is_wanted(sit):
    for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        desk = sit("several", "number", **more)
        desk.until("? help")
        desk.press("1", "\r")
        desk.until("Wrong")
        desk.press(" ")
        desk.until("answer>")
        desk.press("0.4", "\r")
        desk.until("1-4 grade")
        assert bool(COLOUR.search(desk.raw)) is coloured, COLOUR.findall(desk.raw)


def test_a_narrow_terminal_goes_line_by_line(sit, written):
    desk = sit("single", columns=39)
    desk.until("going line by line")
    desk.until("lists commands")
    desk.press("2\r")
    desk.until("Enter goes on")
    desk.press("\r")
    assert desk.close() == 0
    assert b"\x1b" not in desk.raw
    assert written()[0]["given"] == [3]


def test_plain_writes_no_codes(sit, written):
    desk = sit("single", "essay", "--plain", "--lang", "zh", columns=60)
    desk.until(":? 看命令")
    desk.press(":h\r")
    desk.until("先画一张图")
    desk.press("2\r")
    desk.until("回车继续")
    desk.press("\r", "分母\r", "\r")
    desk.until("直接回车表示 1")
    desk.press("\r", "\r")
    assert desk.close() == 0
    assert b"\x1b" not in desk.raw
    assert [line["given"] for line in written() if "given" in line] == [
        [3],
        {"text": "分母", "points": [0], "vetoes": []},
    ]


def test_the_clock_runs_in_the_prompt_and_takes_what_is_typed(terminal):
    script = (
        "import time; from quizkit.ui.terminal.typing import type_text;"
        "end = time.monotonic() + 1.2;"
        "left = lambda: f'[{end - time.monotonic():.1f}] ';"
        "print(type_text(left, commands={}, deadline=end))"
    )
    desk = terminal(["-c", script])
    desk.until("]")
    desk.press("气泡")
    desk.until("气泡")
    desk.wait(lambda text: re.search(r"\[0\.\d\] 气泡$", text.strip()) is not None, "the clock")
    desk.until("late=True")
    assert "Typed(text='气泡', command=None, late=True" in desk.text


def test_the_editor_and_the_laboratory_wait_until_they_are_needed():
    script = (
        "import sys, quizkit.ui.terminal.terminal_desk;"
        "late = ('prompt_toolkit', 'quizkit.proof', 'quizkit.lab', 'rich.markdown', 'pygments');"
        "print([name for name in late if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_chords_act_at_once_where_the_editor_knows_longer_ones(sit, written):
    desk = sit("number", rows=60)
    desk.until("answer>")
    desk.press("12", "\x1d")
    desk.until("  sure")
    desk.press("\x18")
    desk.until("What is wrong with it")
    desk.press("typo", "\r")
    desk.until("answer> 12")
    desk.press("5", "\r")
    desk.wait(lambda text: footer_is_whole(text, "verdict", "en", 4), "verdict")
    desk.press("q")
    assert desk.close() == 0
    said = [line.get("command", line.get("given")) for line in written()]
    assert said[:3] == ["sure", "flag", "125"]


def test_what_is_asked_back_about_nothing_goes_once_there_is_something(sit, written):
    desk = sit("essay", rows=60)
    desk.until("Alt-Enter")
    desk.press("\r")
    desk.until("Nothing answered yet")
    desk.press("分母 spans", "\x1b\r")
    desk.until("[x]")
    assert "Nothing answered yet" not in desk.text
    desk.press("\r")
    desk.until("1-4 grade")
    desk.press("q")
    assert desk.close() == 0


@pytest.mark.parametrize("leave", ["\x03", "q"])
def test_what_was_handed_in_is_kept_when_the_ticking_is_left(sit, written, leave: str):
    desk = sit("essay", rows=60)
    desk.until("Alt-Enter")
    desk.press("分母 spans", "\x1b\r")
    desk.until("[x]")
    desk.press(leave)
    desk.until("kept with the ticks it had")
    desk.press("y")  # whoever looks further has not left
    desk.until("Said aloud", gone="kept with the ticks it had")
    desk.press("q")
    assert desk.close() == 0
    given = [line["given"] for line in written() if "given" in line]
    assert given == [{"text": "分母 spans", "points": [0], "vetoes": []}]


@pytest.mark.parametrize("name", ["essay", "number"])
def test_what_was_typed_is_given_back_at_ctrl_c(sit, written, name: str):
    desk = sit(name)
    desk.until("Alt-Enter" if name == "essay" else "answer")
    desk.press("2(p-1)/p 乘 S")
    desk.until("乘 S")
    desk.press("\x03")
    assert desk.close() == 130
    kept = "To go on with it: quizkit study pp/essay"
    title = kept if name == "essay" else "What you had typed and not handed in:"
    _, given_back = desk.text.split(title)
    assert given_back.strip() == "2(p-1)/p 乘 S"
    assert desk.echoes


@pytest.mark.parametrize("leave", ["\x03", "\x11", "\x13"])  # Ctrl-C, quit, skip
def test_an_essay_begun_is_there_the_next_time(sit, leave: str):
    desk = sit("essay", "--study")
    desk.until("Alt-Enter")
    desk.press("分母 spans", "\r", "second line")
    desk.until("second line")
    desk.press(leave)
    assert desk.close() == (130 if leave == "\x03" else 0)
    desk = sit("essay", "--study")
    desk.until("second line")
    assert "What you had begun last time" in desk.text
    assert "分母 spans\n" in desk.text
    desk.press(" goes on", "\x1b\r")
    desk.until("[x]", gone="begun last time")
    desk.press("\r")
    desk.until("1-4 grade")
    assert "second line goes on" in desk.text
    desk.press("q")
    assert desk.close() == 0
    desk = sit("essay", "--study")
    desk.until("Alt-Enter")
    assert "begun last time" not in desk.text


def test_an_essay_begun_line_by_line_is_there_too(sit, tmp_path):
    desk = sit("essay", "--study", "--plain")
    desk.until("empty line")
    desk.press("first\r", "second\r")
    desk.wait(lambda text: text.count(">") == 3, "a third prompt")  # read, and not only echoed
    desk.press("\x03")
    assert desk.close() == 130
    desk = sit("essay", "--study", "--plain")
    desk.until("first\nsecond\n>")
    desk.press("third\r", "\r")
    desk.until("numbers you said")
    desk.press("\r")
    desk.until("1-4 grades")
    with Diary(tmp_path / "log") as diary:
        given = diary.answers()[-1].given
    assert isinstance(given, dict)
    assert given["text"] == "first\nsecond\nthird"


def test_ctrl_c_at_the_flag_ends_the_flag_alone(sit, written):
    desk = sit("number", "single")
    desk.until("1/2")
    desk.press("0.5", "\x18")  # Ctrl-X
    desk.until("What is wrong")
    desk.press("nothing, really", "\x03")
    desk.until("> 0.5", gone="nothing, really")
    desk.press("\r")
    desk.until("1-4 grade")
    desk.press("f")
    desk.until("What is wrong")
    desk.press("\x03")
    desk.until("1-4 grade", gone="What is wrong")
    desk.press("q")
    assert desk.close() == 0


def test_from_the_ticks_back_to_the_text(sit, written):
    desk = sit("essay")
    desk.until("Ctrl-Q quit")
    desk.press("分母")
    desk.until("分母")
    desk.press("\x1b\r")
    desk.until("[x]")
    desk.press("\x7f")
    desk.until("Alt-Enter hand in", gone="[x]")
    desk.press("，再加溢出")
    desk.until("分母，再加溢出")
    desk.press("\x1b\r")
    desk.until("[x]")
    desk.press("\r")
    desk.until("1-4 grade")
    desk.press("q")
    assert desk.close() == 0
    given = next(line["given"] for line in written() if "given" in line)
    assert given["text"] == "分母，再加溢出"
