"""A demo is read without being run; whatever is wrong in its file is told with file and line."""

import subprocess
import sys
from pathlib import Path

import pytest

from quizkit.errors import LabError, UsageError
from quizkit.lab.catalogue import Break, Parameter, Watch, catalogue, find, names

GOOD = '''"""A law in one line.

The trick
    First thought.

    Second thought.

Watch
    sent_bytes       bytes each rank sent,
                     counted on the wire
    error (shared)   distance from the reference
Run
    quizkit demo tiny
"""

from typing import Literal

TOPIC = "cp"
LAUNCH = "own"

raise SystemExit("a demo that is only read never gets here")


def step(x):
    return x + 1


def main(
    size: int = 8,  # rows of the input
    scale: float = 2,
    exact: bool = True,
    *,
    layout: Literal["zigzag", "contiguous"] = "zigzag",
    note: str = "#",  # what to say; "#" says nothing
):
    return {}


BREAKS = {
    "off-by-one": Break(
        old="x + 1",
        new="x",
        expect="sum is right",
        ranks=3,
        source="told in "
        "two pieces",
    ),
    "stuck": Break(old="return {}", new="while True: pass", expect="hangs"),
}
'''


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    (tmp_path / "tiny_demo.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "_helper.py").write_text("not a demo", encoding="utf-8")
    return tmp_path


def test_a_demo_says_what_it_is(demos: Path) -> None:
    demo = find("tiny-demo", demos)
    assert (demo.name, demo.topic, demo.law) == ("tiny-demo", "cp", "A law in one line.")
    assert demo.trick == "First thought.\n\nSecond thought."
    assert demo.own_launch
    assert dict(demo.watch) == {
        "sent_bytes": Watch(False, "bytes each rank sent, counted on the wire"),
        "error": Watch(True, "distance from the reference"),
    }
    assert list(demo.parameters.values()) == [
        Parameter("size", "int", 8, text="rows of the input"),
        Parameter("scale", "float", 2.0),
        Parameter("exact", "bool", True),
        Parameter("layout", "str", "zigzag", ("zigzag", "contiguous")),
        Parameter("note", "str", "#", text='what to say; "#" says nothing'),
    ]
    assert type(demo.parameters["scale"].default) is float
    assert demo.breaks["off-by-one"] == Break("x + 1", "x", "sum is right", 3, "told in two pieces")
    assert demo.breaks["stuck"].ranks == 2
    assert demo.story == GOOD.partition("BREAKS = {")[0]


def test_names_come_from_files_alone(demos: Path) -> None:
    assert names(demos) == ["tiny-demo"]
    assert list(catalogue(demos)) == ["tiny-demo"]
    assert catalogue(demos) is catalogue(demos)


def test_a_bad_neighbour_harms_only_the_whole_list(demos: Path) -> None:
    (demos / "bad.py").write_text("def", encoding="utf-8")
    assert find("tiny-demo", demos).topic == catalogue(demos)["tiny-demo"].topic == "cp"
    with pytest.raises(LabError, match=r"bad\.py:1: "):
        dict(catalogue(demos))


@pytest.mark.parametrize(
    ("asked", "hint"),
    [("tiny_demo", "tiny-demo"), ("tinydemo", "tiny-demo"), ("../tiny_demo", "tiny-demo")],
)
def test_an_unknown_name_gets_the_nearest(demos: Path, asked: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(asked, demos)
    assert caught.value.exit_code == 2
    assert caught.value.values["hint"] == hint


def test_reading_imports_nothing(demos: Path) -> None:
    read = (
        "import sys; from pathlib import Path; from quizkit.lab.catalogue import find;"
        "find('tiny-demo', Path(sys.argv[1]));"
        "print(sorted({'tiny_demo', 'torch'} & {*sys.modules}))"
    )
    command = [sys.executable, "-c", read, str(demos)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# What is replaced in GOOD, by what, the line that must be named, a piece of the message.
MISTAKES = [
    ("return x + 1", "return x +", 25, "invalid syntax"),
    ("x + 1", "x + \x00 1", 1, "null"),
    ('"""A law in one line.\n', '"""\nA law.\n\n', 1, "the law in one line"),
    ("one line.\n", "one line\nand more.\n", 2, "'and more.' belongs to no part"),
    ('"""A law', 'pass\n"""A law', 1, "docstring is missing"),
    ("The trick\n", "", 1, "The trick, Watch, Run"),
    ("Watch\n", "Look\n", 8, "'Look' belongs to no part"),
    ("Run\n    quizkit demo tiny\n", "", 1, "The trick, Watch, Run"),
    ("    error (shared)   distance from the reference", "    error (shared)", 11, "say what"),
    ("    error (shared)   ", "    sent_bytes ", 11, "twice"),
    ("    error (shared)   ", "    Error! ", 11, "a metric is one line"),
    ('TOPIC = "cp"\n', "", 1, "TOPIC"),
    ('TOPIC = "cp"', "TOPIC = str(1)", 18, "without being run"),
    ('TOPIC = "cp"', 'TOPIC = "cp"; TOPIC = "tp"', 18, "already assigned on line 18"),
    ('LAUNCH = "own"', 'LAUNCH = "torchrun"', 19, '"own"'),
    ("def main(", "def mean(", 1, "def main"),
    ("size: int = 8", "size: int", 29, "size needs a default"),
    ("size: int = 8", "size=8", 29, "size must be annotated"),
    ("size: int = 8", "size: int = 8.5", 29, "size does not fit"),
    ("size: int = 8", "size: int = True", 29, "size does not fit"),
    ("size: int = 8", "size: int = len('abc')", 29, "without being run"),
    ('= "zigzag"', '= "zigzug"', 33, "layout does not fit"),
    ('"zigzag", "contiguous"]', '"zigzag", 2]', 33, "choices of layout"),
    ("    *,\n", "    *more,\n", 28, "named arguments only"),
    ('old="x + 1"', 'old="x + 2"', 40, "stands 0 times"),
    ('old="x + 1"', 'old="return"', 40, "stands 2 times"),
    ('old="x + 1"', 'old=f"{1}"', 41, "without being run"),
    ("ranks=3", "ranks='3'", 40, "ranks of break 'off-by-one' must be int"),
    ("ranks=3", "rank=3", 40, "takes no 'rank'"),
    (', expect="hangs"', "", 48, "lacks expect="),
    ('Break(old="return {}", new', 'Break("return {}", new', 48, "by name"),
    ('"stuck": Break', '"off-by-one": Break', 48, "listed twice"),
    ('"stuck": Break', '"stuck": dict', 48, "a break is written"),
    ("BREAKS = {", "BREAKS = OTHER or {", 39, "written out"),
    ('LAUNCH = "own"', 'REGIME = "size"', 19, "REGIME is a tuple"),
    ('LAUNCH = "own"', 'REGIME = ("sise",)', 19, "there is no option 'sise'"),
    ('LAUNCH = "own"', 'VARIES = ("eror",)', 19, "there is no metric 'eror'"),
    ("error (shared)", "error (shared, furlongs)", 11, "'furlongs' is none of bytes"),
    ("error (shared)", "error (bytes, shared)", 11, "'shared' is none of"),
]


def test_what_a_metric_counts_stands_in_brackets(demos: Path) -> None:
    text = GOOD.replace("sent_bytes  ", "sent_bytes (bytes, backward)  ")
    text = text.replace("error (shared)", "error (shared, difference)")
    text = text.replace('LAUNCH = "own"', 'REGIME = ("exact", "layout")')
    (demos / "tiny_demo.py").write_text(text, encoding="utf-8")
    demo = find("tiny-demo", demos)
    assert demo.regime == ("exact", "layout")
    assert demo.watch == {
        "sent_bytes": Watch(
            False, "bytes each rank sent, counted on the wire", "bytes", "backward"
        ),
        "error": Watch(True, "distance from the reference", "difference"),
    }


@pytest.mark.parametrize(("old", "new", "line", "message"), MISTAKES)
def test_each_mistake_names_its_line(
    demos: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in GOOD
    (demos / "tiny_demo.py").write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LabError) as caught:
        find("tiny-demo", demos)
    text = str(caught.value)
    assert f"tiny_demo.py:{line}: " in text
    assert message in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'"""Law."""\n# \xff\n', "tiny_demo.py:2: "),
        (b"x = " + b"(" * 5000 + b")" * 5000, "tiny_demo.py:1: "),
        (b'"""Law."""\nTOPIC = ' + b"-" * 3000 + b"1\n", "tiny_demo.py:"),
        (b"", "docstring is missing"),
        ("\ufeff".encode() + GOOD.encode(), "tiny_demo.py:1: "),
    ],
)
def test_hostile_files_end_in_one_clear_error(demos: Path, content: bytes, message: str) -> None:
    (demos / "tiny_demo.py").write_bytes(content)
    with pytest.raises(LabError) as caught:
        find("tiny-demo", demos)
    assert message in str(caught.value)


def test_a_form_feed_ends_no_line(demos: Path) -> None:
    source = GOOD.replace("First thought.", "First\x0c thought.")
    (demos / "tiny_demo.py").write_text(source, encoding="utf-8")
    assert find("tiny-demo", demos).story.endswith("return {}\n\n\n")
