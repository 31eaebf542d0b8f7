"""The desk that is lines: for pipes and screen readers. Real streams, no terminal anywhere."""

import io
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from quizkit.diary import Diary
from quizkit.tutor.desk import Command, Given, Moment
from quizkit.tutor.grade import grade
from quizkit.ui.lines.line_asking import read_numbers
from quizkit.ui.lines.line_desk import LineDesk
from quizkit.words import Lang

from . import shelf

ROOT = Path(__file__).parents[2]


def meet(moment: Moment, written: str) -> tuple[Given | Command, str]:
    told = io.StringIO()
    return LineDesk(io.StringIO(written), told).meet(moment), told.getvalue()


def asking(name: str, lang: Lang = "en") -> Moment:
    return Moment("question", shelf.asked(name), lang, 3, 10)


@pytest.mark.parametrize(
    ("name", "written", "given"),
    [
        ("single", "2\n", [3]),
        ("single", "２\n", [3]),
        ("several", "3 1\n", [1, 2]),
        ("several", "31\n", [1, 2]),
        ("several", "1、3\n", [1, 2]),
        ("number", "3/7 \n", "3/7"),
        ("order", "3 1 4 2\n", ["warm", "steady", "drain", "step"]),
        ("cloze", "优化器状态\n梯度\n", {"gap1": "优化器状态", "gap2": "梯度"}),
        ("trace", "2\n", "2"),
        ("bug", "5\n1\n", {"line": 5, "reasons": [0]}),
        ("bug", "5\n\n", {"line": 5, "reasons": []}),
        ("bug", "4\n1\n", {"line": 4, "reasons": []}),
        ("essay", "分母\n好\n\n\n", {"text": "分母\n好", "points": [0], "vetoes": []}),
        ("essay", "分母\n\n2 3\n", {"text": "分母", "points": [1], "vetoes": [0]}),
        ("essay", "分母\n\n0\n", {"text": "分母", "points": [], "vetoes": []}),
        ("essay", "分母", {"text": "分母", "points": [0], "vetoes": []}),
    ],
)
def test_every_kind_is_answered_by_lines(name: str, written: str, given: object):
    said, told = meet(asking(name), written)
    assert said == Given(given)
    assert told.lstrip().startswith("Question 3 of 10. pp, level 2")
    assert "\x1b" not in told


def test_an_order_that_lacks_a_step_is_asked_for_with_how_many_there_are():
    said, told = meet(asking("order"), "3 1 4\n3 1 4 2\n")
    assert isinstance(said, Given)
    assert told.count("All 4 steps in order") == 2


@pytest.mark.parametrize("name", shelf.KINDS)
def test_the_end_of_the_input_quits_kindly(name: str):
    said, told = meet(asking(name), "")
    assert isinstance(said, Command)
    assert said.name == "quit"
    assert "every answer is kept" in told


@pytest.mark.parametrize(
    ("written", "command"),
    [
        (":t\n", "toggle"),
        ("：t\n", "toggle"),
        (":hint\n", "hint"),
        (":!\n", "sure"),
        (":s\n", "skip"),
        (":u\n", "undo"),
        (":q\n", "quit"),
    ],
)
def test_commands_begin_with_a_colon(written: str, command: str):
    for name in shelf.KINDS:
        said, _ = meet(asking(name), written)
        assert isinstance(said, Command)
        assert said.name == command


@pytest.mark.parametrize(
    ("written", "word"),
    [
        (":f two are right\n", "two are right"),
        (":f\nunclear wording\n", "unclear wording"),
        (":f\n  \n", None),
        (":f", None),
    ],
)
@pytest.mark.parametrize("name", ["single", "essay"])
def test_a_flag_takes_the_rest_of_its_line_or_the_next(name: str, written: str, word: str | None):
    said, told = meet(asking(name), written)
    assert isinstance(said, Command)
    assert (said.name, said.value) == ("flag", word)
    assert ("What is wrong with it?" in told) == ("two" not in written)
    assert "Cannot read" not in told


def test_a_flag_that_is_taken_back_asks_for_no_word():
    said, told = meet(replace(asking("single"), flagged=True), ":f\n1\n")
    assert isinstance(said, Command)
    assert (said.value, "What is wrong" in told) == (None, False)


class Interrupted(io.StringIO):
    """Ctrl-C once the first line has been read, and then more lines."""

    def readline(self, *_: object) -> str:
        line = super().readline()
        if line == "^C\n":
            raise KeyboardInterrupt
        return line


def test_ctrl_c_at_the_word_of_a_flag_ends_the_flag_alone():
    source = Interrupted("分母\n:f\n^C\nand more\n\n\n")
    said = LineDesk(source, io.StringIO()).meet(asking("essay"))
    assert isinstance(said, Given)
    assert said.value["text"] == "分母\nand more"  # type: ignore[index]


def test_what_cannot_be_read_is_asked_again():
    said, told = meet(asking("single"), "9\nh\n:p\n1 2\n1\n")
    assert said == Given([1])
    assert told.count("Cannot read") == 3
    assert told.count(":p means nothing just now") == 1


def test_help_lists_the_commands_of_this_state():
    _, told = meet(asking("single"), ":?\n1\n")
    assert ":h" in told
    assert ":p" not in told
    assert "Ctrl-Z" not in told
    asked, given = shelf.asked("order"), ["warm", "steady", "drain", "step"]
    verdict = Moment("verdict", asked, "en", 3, 10, given=given, verdict=grade(asked, given))
    _, told = meet(verdict, ":?\n\n")
    listed = re.findall(r"^(:\S)  ", told, re.MULTILINE)
    assert listed == [":y", ":t", ":f", ":u", ":?", ":q"]  # it was right, with no run and no myths


def test_an_empty_line_asks_back_once():
    said, told = meet(asking("number"), "\n\n")
    assert isinstance(said, Command)
    assert said.name == "continue"
    assert told.count("counts as not known") == 1


def test_a_command_in_the_middle_keeps_what_was_written():
    for name, written, rest, given in (
        ("essay", "分母\n:t\n", "and more\n\n\n", "分母\nand more"),
        ("cloze", "优化器状态\n:t\n", "梯度\n", None),
    ):
        first, _ = meet(asking(name), written)
        assert isinstance(first, Command)
        moment = replace(asking(name, "zh"), draft=first.draft)
        said, _ = meet(moment, rest)
        assert isinstance(said, Given)
        assert isinstance(said.value, dict)
        if given:
            assert said.value["text"] == given
        else:
            assert said.value == {"gap1": "优化器状态", "gap2": "梯度"}


def test_each_thing_is_told_once():
    told = io.StringIO()
    desk = LineDesk(io.StringIO(":h\n:h\n:!\n2\n:w\n3\n:t\n\n"), told)
    news: list[str] = []

    def tell(moment: Moment) -> Given | Command:
        told.seek(0)
        told.truncate()
        said = desk.meet(moment)
        news.append(told.getvalue())
        return said

    moment = asking("single")
    tell(moment)
    tell(replace(moment, hints_shown=1))
    tell(replace(moment, hints_shown=2))
    tell(replace(moment, hints_shown=2, sure=True))
    given = [3]
    verdict = grade(moment.asked, given)
    after = replace(moment, phase="verdict", given=given, verdict=verdict, grade=1)
    tell(after)
    tell(replace(after, why=True))
    tell(replace(after, why=True, grade=3))
    tell(replace(after, why=True, grade=3, lang="zh"))
    once: list[tuple[str, Callable[[int], bool]]] = [
        ("Ring attention runs", lambda at: at == 0),
        ("Draw it first.", lambda at: at == 1),
        ("Then count.", lambda at: at == 2),
        ("Because of this", lambda at: at == 4),
        ("Option by option", lambda at: at == 5),
        ("grade 3: good", lambda at: at == 6),
        ("环形注意力", lambda at: at == 7),
    ]
    for sentence, wanted in once:
        assert [sentence in text for text in news] == [wanted(at) for at in range(len(news))]


def test_a_misconception_beside_an_option_is_called_one():
    told = io.StringIO()
    desk = LineDesk(io.StringIO(":w\n\n"), told)
    moment = asking("single")
    verdict = grade(moment.asked, [2])
    after = replace(moment, phase="verdict", given=[2], verdict=verdict, grade=1, why=True)
    desk.meet(after)
    text = " ".join(told.getvalue().split())
    assert "That is all-gather. (Misconception: gathers-all)" in text
    assert "[gathers-all]" not in text
    told.seek(0)
    told.truncate()
    LineDesk(io.StringIO("\n"), told).meet(replace(after, why=False))
    text = " ".join(told.getvalue().split())
    assert "That is all-gather." in text
    assert text.count("gathers-all") == 1  # beside "Misconception", not once more behind the reason


def test_numbers_are_read_however_they_are_separated():
    assert read_numbers("1 3", 4) == read_numbers("1,3", 4) == read_numbers("13", 4) == [1, 3]
    assert read_numbers("１、３", 4) == [1, 3]
    assert read_numbers("13", 20) == [13]
    assert read_numbers("1 1", 4) is None
    assert read_numbers("5", 4) is None
    assert read_numbers("a", 4) is None


def test_a_pipe_gets_a_whole_session(tmp_path: Path):
    command = [sys.executable, str(ROOT / "tests/ui/driver.py"), str(tmp_path / "log")]
    run = subprocess.run(
        [*command, "number", "--study", "--lang", "zh"],
        input=":t\n0.5\n:t\n\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=20,
        # A locale that does not exist must not turn Chinese into a crash.
        env={"PATH": "", "PYTHONPATH": str(ROOT), "LC_ALL": "xx_XX.UTF-8", "PYTHONUTF8": "0"},
    )
    assert run.returncode == 0, run.stderr
    assert "\x1b" not in run.stdout
    with Diary(tmp_path / "log") as diary:
        assert [(row.given, row.right) for row in diary.answers()] == [("0.5", True)]
    assert "答了 1 题，对 1 题" in run.stdout
