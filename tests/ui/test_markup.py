"""Question prose on the screen: blocks, spans, formulas, and code that nothing touches."""

import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from quizkit.ui.text import linebreak
from quizkit.ui.text.inline import cells, inline
from quizkit.ui.text.markup import prose

WIDTHS = (60, 80, 120)


def drawn(source: str, width: int = 60, plain: bool = False) -> str:
    linebreak.install()
    console = Console(width=width, color_system=None, markup=False, highlight=False)
    with console.capture() as shown:
        console.print(prose(source, plain))
    return "\n".join(line.rstrip() for line in shown.get().split("\n"))


def styled(source: str) -> dict[str, str]:
    text = inline(source)
    return {text.plain[span.start : span.end]: str(span.style) for span in text.spans}


def test_spans():
    text = inline("a `b_c` **d `e`** *f* $x_1$ [g](h) \\*i\\* some_name_here")
    assert text.plain == "a b_c d e f x₁ g (h) *i* some_name_here"
    assert styled("`b` **d** *f*") == {"b": "magenta", "d": "bold", "f": "italic"}


def test_plain_keeps_the_backticks_that_colour_replaces():
    assert inline("a `b`", plain=True).plain == "a `b`"


@pytest.mark.parametrize(
    "literal",
    ["$5 and $6", "2*3*4", "a * b * c", "costs $5-$6", "snake_case_name", "x < y > z", "`$x$`[0]"],
)
def test_what_only_looks_like_markup_is_left_alone(literal: str):
    assert inline(literal).plain == literal.replace("`", "")


def test_formulas_stand_next_to_chinese():
    assert inline("共$n^2$个，用`f`求").plain == "共n²个，用f求"


def test_lines_of_a_paragraph_join_with_a_space_only_where_one_belongs():
    assert inline("第一行\n第二行").plain == "第一行第二行"
    assert inline("one\ntwo").plain == "one two"
    assert inline("one  \ntwo").plain == "one\ntwo"


def test_a_fence_is_shown_as_it_is():
    code = "def f(x_1):\n    # costs $x$ and *y*\n    return `x`"
    shown = drawn(f"before\n\n```python\n{code}\n```\n\nafter")
    assert "\n".join(f"  {line}" for line in code.split("\n")) in shown
    assert shown.startswith("before\n\n")
    assert shown.rstrip().endswith("\n\nafter")


def test_a_displayed_formula_has_a_line_of_its_own():
    assert drawn("so:\n\n$$\n\\frac{a}{b+c}\n$$\n\nthen") == "so:\n\n    a/(b+c)\n\nthen\n"


def test_lists_hang_and_nest():
    source = "- " + "字" * 40 + "\n  - inner\n- last\n\n1. one\n2. two"
    lines = drawn(source).split("\n")
    assert lines[0].startswith(" - 字")
    assert lines[1].startswith("   字")
    assert lines[2] == "   - inner"
    assert lines[3] == " - last"
    assert lines[-3:-1] == ["1. one", "2. two"]


def test_tables_align_and_know_bars_inside_code():
    assert cells("| `a|b` | $|x|$ | c \\| d |") == ["`a|b`", "$|x|$", "c \\| d"]
    source = "| way | bytes |\n| --- | ---: |\n| ring | $2S$ |\n| 很长的名字 | 8 |"
    lines = drawn(source).split("\n")
    assert lines[0].split() == ["way", "bytes"]
    assert set(lines[1]) == {"-"}
    ends = {cell_len(line) for line in (lines[0], lines[2], lines[3])}
    assert len(ends) == 1
    assert "|" not in "".join(lines)
    assert drawn(source, plain=True) == "way | bytes\nring | 2S\n很长的名字 | 8\n"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("plain", [False, True])
def test_nothing_is_wider_than_the_terminal_or_drawn_in_doubtful_characters(
    width: int, plain: bool
):
    source = (
        "在 4 张卡上做环形注意力（ring attention），" * 6
        + "\n\n| 方案 | 通信量 | 备注 |\n| - | - | - |\n| ring | $2\\frac{n-1}{n}S$ | "
        + "很长的备注，" * 12
        + "|\n\n- item "
        + "word " * 40
        + "\n\n```\n"
        + "x = " * 50
        + "\n```\n> "
        + "引文" * 50
        + "\n\n---\n\n# "
        + "标题" * 40
    )
    shown = drawn(source, width, plain)
    assert max(cell_len(line) for line in shown.split("\n")) <= width
    assert not re.search(r"^\s*[，。、；：？！）]", shown, re.MULTILINE)
    # Lines and dots that a terminal set for Chinese draws two columns wide.
    assert not set("─│┃━•·→") & set(shown)


def test_where_there_is_no_colour_code_keeps_its_marks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert inline("the group `all`").plain == "the group all"
    monkeypatch.setenv("NO_COLOR", "1")
    assert inline("the group `all`").plain == "the group `all`"
