"""The map of ranks: groups of each axis, what was sent along it, and what of that left a node."""

import io
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from quizkit.lab.picture import Messages, read_picture
from quizkit.ui.pictures import messages
from quizkit.ui.pictures.measured import draw, in_words
from quizkit.words import Lang


def cube(n: int = 8, node: int = 4, **amounts: int) -> dict[str, Any]:
    """A mesh of tp 2 (fastest), dp n / 4 and pp 2, where ranks send this much round each group."""
    half = n // 2
    groups = {
        "tp": [[i, i + 1] for i in range(0, n, 2)],
        "dp": [[*range(at, at + half, 2)] for at in (0, 1, half, half + 1)],
        "pp": [[i, i + half] for i in range(half)],
    }
    cells = [[0] * n for _ in range(n)]
    for axis, amount in {"tp": 100, "dp": 20, "pp": 3, **amounts}.items():
        for group in groups[axis]:
            for one, other in zip(group, [*group[1:], group[0]], strict=True):
                cells[one][other] += amount
    axes = [{"label": axis, "ranks": each} for axis, each in groups.items()]
    title = {"kind": "messages", "title": "step", "unit": "bytes"}
    return {**title, "node": node, "cells": cells, "groups": axes}


def drawn(data: dict[str, Any], width: int = 80, lang: Lang = "en", plain: bool = False) -> str:
    console = Console(width=width, no_color=True, file=io.StringIO(), color_system=None)
    with console.capture() as said:
        for line in draw(read_picture(data), width, plain, lang):
            console.print(line)
    return said.get()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_ranks_of_one_group_have_one_letter(width: int):
    assert drawn(cube(), width).splitlines()[-5:] == [
        "rank  0 1 2 3  | 4 5 6 7  within nodes  between nodes",
        "tp    a a b b  | c c d d           800              0",
        "dp    a b a b  | c d c d           160              0",
        "pp    a b c d  | a b c d             0             24",
        "within nodes 960, between nodes 24",
    ]


def test_the_map_speaks_chinese_in_columns():
    assert drawn(cube(), 60, "zh").splitlines()[-5:] == [
        "rank  0 1 2 3  | 4 5 6 7  节点内  跨节点",
        "tp    a a b b  | c c d d     800       0",
        "dp    a b a b  | c d c d     160       0",
        "pp    a b c d  | a b c d       0      24",
        "节点内 960，跨节点 24",
    ]


def test_another_order_sends_other_bytes_across():
    # Two ranks to a node: dp leaves as well; one, and all does.
    assert "dp    a b  | a b  | c d  | c d             0            160" in drawn(cube(node=2))
    alone = drawn(cube(node=1), 120)
    assert "within nodes 0, between nodes 984" in alone


def test_without_nodes_there_is_one_column():
    said = drawn(cube(node=0)).splitlines()
    assert said[-4:] == [
        "rank  0 1 2 3 4 5 6 7  sent",
        "tp    a a b b c c d d   800",
        "dp    a b a b c d c d   160",
        "pp    a b c d a b c d    24",
    ]
    assert "sent 800; dp groups {0 2} {1 3}" in drawn(cube(node=0), plain=True).replace("\n", " ")


def test_what_is_too_wide_for_a_map_is_told_in_words():
    said = drawn(cube(16), 60).replace("\n", " ")
    assert "tp groups {0 1} {2 3} {4 5} {6 7} {8 9}" in said
    assert "dp groups {0 2 4 6} {1 3 5 7}" in said
    assert "160 within nodes, 160 between" in said
    many = drawn(cube(64), 80).replace("\n", " ")
    assert "tp groups {0 1} {2 3} {4 5} {6 7} and 28 more, 6,400 within nodes, 0 between" in many
    assert "rank" in drawn(cube(16), 120).splitlines()[-5], "and where there is room it is drawn"


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("ranks", [4, 8, 16, 64])
def test_no_line_is_wider_than_the_terminal(ranks: int, width: int, lang: Lang):
    for line in draw(read_picture(cube(ranks)), width, False, lang):
        assert line.no_wrap is not True or line.cell_len <= width


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "tp groups {0 1} {2 3} {4 5} {6 7}, 800 within nodes, 0 between; dp groups"),
        ("zh", "tp 组 {0 1} {2 3} {4 5} {6 7}，节点内 800，跨节点 0；dp 组"),
    ],
)
def test_in_words_every_axis_is_named(lang: Lang, words: str):
    [said] = draw(read_picture(cube()), 80, True, lang)
    assert words in said.plain


def test_many_groups_are_numbered_and_a_rank_in_none_has_a_dash():
    wide = cube(128)
    first = messages.lines(read_messages(wide), 1000, "en")
    assert any(line.plain.startswith("tp      0   0   1   1") for line in first)
    ends = cube() | {"groups": [{"label": "ends", "ranks": [[0, 4]]}]}
    assert "ends  a - - -  | a - - -" in drawn(ends)


def test_axes_are_named_in_the_learner_s_language():
    told = in_words(read_picture(cube()), lambda text: text.upper())
    assert isinstance(told, Messages)
    assert [axis.label for axis in told.axes] == ["TP", "DP", "PP"]


def read_messages(data: dict[str, Any]) -> Messages:
    read = read_picture(data)
    assert isinstance(read, Messages)
    return read


def test_an_svg_has_a_colour_for_each_axis_and_says_which():
    source, high = messages.shapes(read_messages(cube()), 0, 0, "en")
    root = ElementTree.fromstring(f"<svg>{source}</svg>")
    colour = {
        (each.findtext("title") or "")[-3:-1]: path.attrib["stroke"]
        for each in root.iter("g")
        if (path := each.find("path")) is not None
    }
    assert colour.keys() == {"tp", "dp", "pp"}
    assert len({*colour.values()}) == 3
    boxes = {
        title[-3:-1]: each.attrib["fill"]
        for each in root.iter("rect")
        if re.search(r"\((tp|dp|pp)\)$", title := each.findtext("title") or "")
    }
    assert boxes == colour
    legend = [each.text or "" for each in root.iter("text") if "groups" in (each.text or "")]
    assert [text[:2] for text in legend] == ["tp", "dp", "pp"]
    assert all(float(each.attrib["y"]) <= high for each in root.iter("text"))
