"""Pictures of what a run counted: in a terminal of any width, as a sentence, as a file."""

import ast
import io
import itertools
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len
from rich.console import Console

from quizkit.lab.catalogue import find, names
from quizkit.lab.picture import Kind, Messages, Picture, read_picture
from quizkit.lab.report import Report
from quizkit.paths import DEMOS, RECORD
from quizkit.ui.pictures import messages
from quizkit.ui.pictures.measured import draw, in_words, shapes
from quizkit.ui.pictures.svg import svg
from quizkit.ui.proof.pictured import telling
from quizkit.ui.screens.demo_words import demo_words
from quizkit.words import Lang

STAIRS = {
    "kind": "staircase",
    "title": "kept",
    "unit": "bytes",
    "parts": ["weights", "optimizer"],
    "steps": [{"label": "stage 0", "values": [4, 12]}, {"label": "stage 3", "values": [1, 3000]}],
}
RING = {
    "kind": "messages",
    "title": "ring: sent",
    "unit": "bytes",
    "node": 2,
    "cells": [[0, 800, 0, 0], [0, 0, 800, 0], [0, 0, 0, 800], [1200000, 0, 0, 0]],
}
TILES = {
    "kind": "tiles",
    "title": "tiles",
    "legend": ["no", "rank 0", "rank 1"],
    "down": "queries",
    "across": "keys",
    "cells": [[1, 0], [2, 2]],
}
CURVE = {
    "kind": "curve",
    "title": "alive",
    "x": "ticks",
    "y": "count",
    "series": [{"label": "a", "x": [0, 2, 4], "y": [0, 2, 0]}],
}
ALL = [STAIRS, RING, TILES, CURVE]
REPORT = Path(__file__).parents[1] / "lab" / "reports" / "pipeline.json"


def drawn(data: dict[str, Any], width: int = 80, lang: Lang = "en", plain: bool = False) -> str:
    console = Console(width=width, no_color=True, file=io.StringIO(), color_system=None)
    with console.capture() as said:
        for line in draw(read_picture(data), width, plain, lang):
            console.print(line)
    return said.get()


def test_a_staircase_shows_every_part_however_small():
    assert drawn(STAIRS, 40).splitlines() == [
        "",
        "kept (bytes)",
        "stage 0  #=  16",
        "stage 3  #======================  3,001",
        "# weights   = optimizer",
    ]


def test_a_budget_is_a_line_through_all_steps():
    full = {"label": "full", "values": [1, 1000]}
    narrow = STAIRS | {"budget": 1000, "steps": [*STAIRS["steps"], full]}
    assert drawn(narrow, 40).splitlines()[2:] == [
        "stage 0  #=     |  16",
        "stage 3  #======|===============  3,001",
        "full     #======|=  1,001",
        "# weights   = optimizer",
        "| budget 1,000",
    ]
    roomy = drawn(STAIRS | {"budget": 6002}, 40).splitlines()[3]
    assert roomy == "stage 3  #==========          |  3,001"
    assert drawn(STAIRS | {"budget": 6002}, plain=True, lang="zh").endswith("| 上限 6,002\n")
    assert "stroke-dasharray" in shapes(read_picture(narrow), 0, 0, "en")[0]
    assert "stroke-dasharray" not in shapes(read_picture(STAIRS), 0, 0, "en")[0]


def test_a_message_map_tells_a_ring_and_what_leaves_a_node():
    assert drawn(RING).splitlines()[2:] == [
        "        to 0    1  |    2    3",
        "from 0     .  800  |    .    .",
        "from 1     .    .  |  800    .",
        "",
        "from 2     .    .  |    .  800",
        "from 3  1.2M    .  |    .    .",
        "one ring: 0 -> 1 -> 2 -> 3 -> 0",
        "within nodes 1,600, between nodes 1,200,800",
    ]
    other = RING | {"node": 0, "cells": [[0, 1, 1], [1, 0, 0], [0, 0, 0]]}
    assert drawn(other).splitlines()[-2:] == ["0 -> 1, 2", "1 -> 0"]


def test_two_rings_are_not_one():
    two = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert "one ring" not in drawn(RING | {"cells": two})


def test_many_ranks_are_shaded():
    wide = [[100 * ((to - rank) % 24 == 1) for to in range(24)] for rank in range(24)]
    said = drawn(RING | {"cells": wide, "node": 0}, 60).splitlines()
    assert said[2].split()[:3] == ["0", ".", "#"]


def test_tiles_have_a_rank_s_own_digit_and_are_counted():
    assert drawn(TILES).splitlines()[2:] == [
        "down: queries; across: keys",
        "  0 .",
        "  1 1",
        ". no (1)   0 rank 0 (1)   1 rank 1 (2)",
    ]


def test_a_curve_stands_where_its_points_are():
    assert drawn(CURVE, 16).splitlines()[2:] == [
        "count",
        "2 |      a",
        "  |",
        "0 |a          a",
        "   0          4",
        "a a",
    ]


def test_what_is_no_number_has_no_place_on_a_curve():
    lost = {"label": "lost", "x": [0, 1], "y": ["NaN", "Infinity"]}
    said = drawn(CURVE | {"series": [lost]})
    assert "nan" not in said.lower()
    assert drawn(CURVE | {"series": [lost, *CURVE["series"]]}, 40).count("b") == 4


def test_far_apart_is_logarithmic():
    far = {"label": "loss", "x": [0, 1, 2], "y": [1000, 10, 0.1]}
    assert "count (logarithmic)" in drawn(CURVE | {"series": [far]})
    middle = [line for line in drawn(CURVE | {"series": [far]}).splitlines() if "|" in line]
    assert [i for i, line in enumerate(middle) if "a" in line] == [0, 4, 8]


@pytest.mark.parametrize("data", ALL, ids=lambda data: data["kind"])
@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(data: dict[str, Any], lang: Lang, width: int):
    for line in draw(read_picture(data), width, False, lang):
        assert line.no_wrap is not True or line.cell_len <= width


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (STAIRS, "stage 0 16 (weights 4, optimizer 12); stage 3 3,001"),
        (RING, "4 pairs of ranks talk, 1,202,400 in all, 1,200,000 on the busiest (bytes)"),
        (TILES, "2 down (queries), 2 across (keys): no (1), rank 0 (1), rank 1 (2)"),
        (CURVE, "a from 0 at 0 to 0 at 4, lowest 0, highest 2"),
    ],
    ids=lambda each: each["kind"] if isinstance(each, dict) else "",
)
def test_plain_is_one_sentence_with_the_numbers(data: dict[str, Any], words: str):
    [said] = draw(read_picture(data), 80, True, "en")
    assert words in said.plain
    assert said.plain.startswith(f"\n{data['title']}")
    assert said.plain.endswith(".")


def test_an_svg_holds_them_all_in_words_and_fetches_nothing():
    data = json.loads(REPORT.read_text(encoding="utf-8")) | {"pictures": ALL}
    source = svg(Report.from_json(data), "zh", lambda text: f"<{text}>")
    root = ElementTree.fromstring(source)
    texts = {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"<kept>（<bytes>）", "<tiles>", "<alive>", "<stage 3>", "3,001"} <= texts
    assert re.findall(r"https?://[^\"' ]+", source) == ["http://www.w3.org/2000/svg"]
    assert len(root.findall(".//{http://www.w3.org/2000/svg}polyline")) == 1
    high = float(root.attrib["height"])
    assert all(float(each.attrib["y"]) < high for each in root.iter() if "y" in each.attrib)


def test_a_proof_shows_the_ways_that_its_numbers_are_about():
    tree = RING | {"title": "two_trees: sent"}
    kept = [read_picture(each) for each in (STAIRS, RING, tree)]
    assert [each.title for each in telling(kept, ["sent_bytes_ring"])] == ["kept", "ring: sent"]
    assert [each.title for each in telling(kept, ["time_two_trees"])] == ["kept", tree["title"]]


def test_each_kind_is_used_by_four_demos_at_least():
    users: dict[str, set[str]] = defaultdict(set)
    for name in names():
        for node in ast.walk(ast.parse(find(name).path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                kind = node.args[0]
                if node.func.id == "picture" and isinstance(kind, ast.Constant):
                    users[str(kind.value)].add(name)
    assert {kind: len(users[kind]) >= 4 for kind in get_args(Kind)} == dict.fromkeys(
        get_args(Kind), True
    )


def recorded(name: str) -> Iterator[Picture]:
    """The pictures of the recorded runs of a demo."""
    file = RECORD / f"{name.replace('-', '_')}.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines()[1:] if file.is_file() else ():
        yield from map(read_picture, json.loads(line).get("pictures", ()))


@pytest.mark.parametrize("name", names())
def test_a_demo_s_pictures_speak_chinese(name: str):
    demo = find(name)
    assert demo.path.parent == DEMOS
    told = demo_words(demo, "zh")
    missing: set[str] = set()

    def noted(text: str) -> str:
        known = told.picture(text) != text or text in told.pictures
        if not known and not re.fullmatch(r"((rank|stage) )?\d+", text):
            missing.add(text)
        return told.picture(text)

    for picture in recorded(name):
        title = in_words(picture, noted).title
        assert re.search("[\u4e00-\u9fff]", title), title
        assert cell_len(title) <= 60
    assert not missing


def circles(cells: list[list[int]], node: int = 0) -> list[tuple[float, float]]:
    picture = read_picture(RING | {"cells": cells, "node": node})
    assert isinstance(picture, Messages)
    made, high = messages.shapes(picture, 70, 48, "en")
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', made)
    spots = [(float(x), float(y)) for x, y in found]
    assert all(70 <= x <= 950 and 48 < y < 48 + high for x, y in spots)
    assert all(math.dist(a, b) > 24 for a, b in itertools.combinations(spots, 2))
    return spots


def test_ranks_that_talk_along_a_tree_stand_as_one():
    tree = [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
    (_, root), (_, one), (_, two), (_, leaf) = circles(tree)
    assert root < one == two < leaf
    ring = [[int((to - rank) % 4 == 1) for to in range(4)] for rank in range(4)]
    assert len({y for _, y in circles(ring)}) == 3
    apart = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert len({y for _, y in circles(apart)}) == 3, "two pairs are no tree"


@pytest.mark.parametrize(("ranks", "node"), [(4, 2), (8, 2), (8, 4), (16, 4), (16, 8), (6, 4)])
def test_ranks_of_a_node_stand_together(ranks: int, node: int):
    ring = [[int((to - rank) % ranks == 1) for to in range(ranks)] for rank in range(ranks)]
    spots = circles(ring, node)
    assert len(spots) == ranks
    for rank, (one, other) in enumerate(itertools.pairwise(spots)):
        if rank // node == (rank + 1) // node:
            assert math.dist(one, other) < 44 * node


def test_where_all_talk_to_all_the_table_says_it_alone():
    full = [[int(to != rank) for to in range(8)] for rank in range(8)]
    assert circles(full) == []
    assert len(circles([row[:4] for row in full[:4]])) == 4
