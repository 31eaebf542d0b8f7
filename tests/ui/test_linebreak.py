"""Lines break where Chinese and English may, and no character is lost on the way."""

import random
from itertools import pairwise

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from quizkit.ui import linebreak
from quizkit.ui.linebreak import breaks

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
