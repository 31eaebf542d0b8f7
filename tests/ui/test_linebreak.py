"""Lines break where Chinese and English may, and no character is lost on the way."""

import random
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from quizkit import words
from quizkit.ui.text import linebreak
from quizkit.ui.text.linebreak import breaks
from quizkit.words import Lang

OPENS_NO_LINE = "，。、；：？！）》」』】”’…"
ENDS_NO_LINE = "（《「『【“‘"


def pieces(text: str, width: int) -> list[str]:
    cuts = [0, *breaks(text, width), len(text)]
    return [text[a:b] for a, b in pairwise(cuts)]


def test_chinese_breaks_between_characters_but_not_before_punctuation():
    assert pieces("一二三四，五六", 8) == ["一二三", "四，五六"]
    assert pieces("一二三（四五）六", 8) == ["一二三", "（四五）", "六"]
    assert pieces("一二三pipeline四", 10) == ["一二三", "pipeline四"]


def test_english_breaks_at_spaces_only():
    assert pieces("one two-three (four) five", 9) == ["one ", "two-three ", "(four) ", "five"]


def test_a_word_that_fits_nowhere_is_cut():
    assert pieces("abcdefghij，k", 5) == ["abcde", "fghi", "j，k"]
    assert breaks("abcdefghij", 5, fold=False) == []


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_mixed_text_of_any_kind_keeps_the_rules(width: int):
    source = random.Random(width)
    words = [
        "气泡",
        "率",
        "，",
        "。",
        "（",
        "）",
        "“",
        "”",
        "pipeline",
        "(p-1)/m",
        "3/11",
        " ",
        "、",
    ]
    words += ["all_reduce(x)", "；", "《", "》", "microbatches", "a" * 30, "：", "！"]
    for _ in range(400):
        text = "".join(source.choices(words, k=40)).strip()
        parts = pieces(text, width)
        assert "".join(parts) == text
        for part in parts:
            assert cell_len(part.rstrip()) <= width
        for before, after in pairwise(parts):
            # A run of punctuation as wide as the line leaves no choice.
            run = before.rstrip().strip("".join(OPENS_NO_LINE + ENDS_NO_LINE) + " ")
            if run:
                assert after[0] not in OPENS_NO_LINE, (before, after)
                assert before[-1] not in ENDS_NO_LINE, (before, after)


def test_rich_breaks_its_lines_by_it():
    # The name that is replaced is rich's own; if it moves, this says so.
    linebreak.install()
    console = Console(width=8, file=None)
    with console.capture() as shown:
        console.print(Text("一二三四，五六"))
    assert shown.get() == "一二三\n四，五六\n"


def test_a_gap_stays_with_its_number():
    text = "and is idle for [2 ____] slots"
    assert pieces(text, 18) == ["and is idle for ", "[2 ____] slots"]


def sentences(lang: Lang) -> list[str]:
    """Every sentence of the interface that names a command."""
    rooms = [import_module(f"quizkit.words.{room.name}") for room in iter_modules(words.__path__)]
    said = [pair[lang] for room in rooms for pair in getattr(room, "WORDS", {}).values()]
    lines = [line for text in said for line in text.split("\n") if "quizkit " in line]
    return [re.sub(r"\{\w+\}", "some-name", line) for line in lines]


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("width", [40, 47, 53, 60, 66, 80, 100, 120])
def test_no_message_breaks_inside_a_command(lang: Lang, width: int):
    # What a reader would copy: the command's name and what follows it up to its last option.
    typed = re.compile(
        r"quizkit(?: [a-z]+)(?:(?: [\w/{}.-]+)? --[a-z-]+(?: [\w{}.-]+)?)*", re.ASCII
    )
    seen = 0
    for text in sentences(lang):
        cuts = set(breaks(text, width))
        for found in typed.finditer(text):
            if cell_len(found[0]) < width:
                seen += 1
                assert not cuts & {*range(found.start() + 1, found.end())}, (found[0], width)
    assert seen > 60


def test_a_command_wider_than_the_line_breaks_between_its_words():
    parts = pieces("再做：quizkit study --topic pp --kind numeric", 24)
    assert parts == ["再做：", "quizkit study --topic pp ", "--kind numeric"]


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_terminal_is_told_in_whole_words(terminal, tmp_path: Path, lang: Lang, columns: int):
    command = ["-m", "quizkit", "plan", "--lang", lang]
    at = terminal(command, columns=columns, QUIZKIT_HOME=str(tmp_path))
    assert at.close() == 2
    shown = [line for line in at.text.split("\n") if "quizkit plan" in line]
    example = "quizkit plan --interview 2027-03-01"
    assert [example in line for line in shown] == [True]
    if columns > len(example) + len(" --minutes 40"):
        assert f"{example} --minutes 40" in shown[0]
