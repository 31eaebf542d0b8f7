"""What `--help` says of every command, in both languages, and of a line that is wrong."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import started
from typer.main import get_command

from quizkit.cli.app import app, asked
from quizkit.ui.text.linebreak import breaks
from quizkit.words import Lang
from quizkit.words.help import WORDS
from quizkit.words.options import CHINESE

WIDTHS = (60, 80, 120)
CHARACTER = re.compile(r"[\u4e00-\u9fff]")
# Three words on end are a sentence and no name; a line to be typed is not prose.
PROSE = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")
LINE = re.compile(r"quizkit [a-z]+[^，。]*")
# A process for each page would take a minute; one prints them all.
PRINT = """
import io, json, os, sys
from contextlib import redirect_stdout, suppress
from quizkit.cli.app import run
found = []
for words, lang, width in json.load(sys.stdin):
    os.environ.update(QUIZKIT_LANG=lang, COLUMNS=str(width))
    sys.argv = ["quizkit", *words, "--help"]
    with redirect_stdout(io.StringIO()) as out, suppress(SystemExit):
        run()
    found.append(out.getvalue())
json.dump(found, sys.stdout)
"""


class Page(NamedTuple):
    """The help of one command, as it was printed."""

    words: tuple[str, ...]
    lang: Lang
    width: int
    text: str


@cache
def commands() -> dict[tuple[str, ...], list[str]]:
    """Each command, group and the front door, with what is said of its options in English."""
    found: dict[tuple[str, ...], list[str]] = {}
    waiting = [((), get_command(app))]
    while waiting:
        words, command = waiting.pop()
        context = command.make_context("quizkit", [], resilient_parsing=True)
        options = command.get_params(context)
        shown = [each for each in options if not getattr(each, "hidden", False)]
        found[words] = [getattr(each, "help", "") for each in shown]
        below = getattr(command, "commands", {})
        waiting += [((*words, name), each) for name, each in below.items()]
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Page]:
    langs: tuple[Lang, ...] = ("zh", "en")
    wanted: list[tuple[tuple[str, ...], Lang, int]] = [
        (words, lang, width)
        for words in [*commands(), ("calc", "memory")]
        for lang in langs
        for width in WIDTHS
    ]
    done = subprocess.run(
        [sys.executable, "-c", PRINT],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        env=os.environ | {"QUIZKIT_HOME": str(tmp_path_factory.mktemp("home"))},
        timeout=60,
        check=True,
    )
    return [Page(*how, text) for how, text in zip(wanted, json.loads(done.stdout), strict=True)]


def test_all_that_options_are_for_has_its_chinese_and_nothing_more():
    english = {line for lines in commands().values() for line in lines}
    assert english == {*CHINESE}
    assert [line for line, chinese in CHINESE.items() if not CHARACTER.search(chinese)] == []
    names = {"_".join(words) or "quizkit" for words in commands()}
    assert names == {*WORDS}


def test_every_line_of_help_is_chinese_for_who_reads_chinese(pages: list[Page]):
    for page in (each for each in pages if each.lang == "zh"):
        assert CHARACTER.search(page.text), page.words
        for line in page.text.splitlines():
            assert not PROSE.search(LINE.sub("", line)), line
        if page.width == WIDTHS[-1] and page.words[:1] != ("calc",):
            rows = re.findall(r"^  (\S.*?)  +(\S.*)$", page.text, re.MULTILINE)
            assert rows, page.words
            assert [said for _, said in rows if not CHARACTER.search(said)] == []
        told = "".join(page.text.split())
        for english in commands().get(page.words, ()):
            assert "".join(CHINESE[english].split()) in told, page.words


def test_and_no_line_of_it_for_who_does_not(pages: list[Page]):
    for page in (each for each in pages if each.lang == "en"):
        assert not CHARACTER.search(page.text), page.words
        told = "".join(page.text.split())
        for english in commands().get(page.words, ()):
            assert "".join(english.split()).removesuffix(".") in told, page.words


def test_a_page_keeps_to_its_width_and_has_no_colour_in_a_file(pages: list[Page]):
    for page in pages:
        assert "\x1b" not in page.text
        for line in page.text.splitlines():
            assert breaks(line, page.width) == [], line
            assert line == line.rstrip() or page.words == ("calc", "memory")


def test_where_it_is_narrow_what_an_option_is_for_stands_below_it(pages: list[Page]):
    plans = {each.width: each.text for each in pages if each[:2] == (("plan",), "en")}
    below, beside = "  --save\n      Keep it: ", f"  {'--save':34}Keep it: "
    assert [below in plans[width] for width in WIDTHS] == [True, False, False]
    assert [beside in plans[width] for width in WIDTHS] == [False, True, True]


def test_of_all_commands_only_the_one_that_is_named_is_made():
    whole = {words[0] for words in commands() if words}
    for name in whole:
        made = get_command(asked([name, "--help"]))
        assert [*getattr(made, "commands", ())] == [name]
    for words in ([], ["studdy"], ["--version"], ["--lang", "zh", "due"]):
        assert {*getattr(get_command(asked(words)), "commands", ())} == whole


WRONG = [
    ("study --limt 3", "--limt. Try: --limit.", "--limt。可以试试：--limit。"),
    ("study --nonsense", "no option --nonsense. All", "没有选项 --nonsense。全部"),
    ("--json", "--json belongs after a command", "--json 要写在命令后面"),
    ("--level 2", "as in: quizkit study --level A-B", "例如：quizkit study --level A-B"),
    ("demo --rnks 4", "the nearest is --ranks", "最接近的是 --ranks"),
    ("stdy", "no command stdy. Try: study.", "stdy 这个命令。可以试试：study。"),
    ("bank", "needs a command after it: flags, record", "后面要跟一个命令：flags, record"),
    ("show", "needs ID (a question, as in", "还缺 ID（题目编号，"),
    ("bank new pp/x", "needs --kind KIND (choice,", "还缺 --kind KIND（题型"),
    (
        "due too much",
        "no use for too much. Usage: quizkit due",
        "用不上 too much。用法：quizkit due",
    ),
    ("study --limit", "needs a value after it (a whole", "后面要跟一个值（至少为 1 的整数）"),
    ("study --limit x", "a whole number, at least 1, not x", "不能是 x，要的是：至少为 1 的整数"),
    ("plan --minutes 2000", "0 to 1440, not 2000", "不能是 2000，要的是：0 到 1440 的整数"),
    ("demo --device tpu", "takes auto|cuda|cpu, not tpu", "不能是 tpu，要的是：auto|cuda|cpu"),
    ("due --json=1", "--json is a switch", "--json 是开关"),
]


@pytest.mark.parametrize(("line", "english", "chinese"), WRONG)
def test_a_wrong_line_is_one_sentence_in_the_readers_language(
    tmp_path: Path, line: str, english: str, chinese: str
):
    for lang, said in (("en", english), ("zh", chinese)):
        env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": lang}
        done = started.quizkit(*line.split(), env=env)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_language_of_a_line_holds_for_what_is_wrong_in_it(tmp_path: Path):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path), "QUIZKIT_LANG": "en"}
    for words in (["study", "--lang", "zh"], ["study", "--lang=zh"]):
        done = started.quizkit(*words, "--limt", env=env)
        assert "没有选项 --limt" in done.stderr
