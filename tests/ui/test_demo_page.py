"""What there is to run, and what one demo says of itself, at the widths people have."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from quizkit.lab.catalogue import Break, Demo, Parameter, Watch, in_topics
from quizkit.ui.screens.demo_page import by_topic, page
from quizkit.ui.text import linebreak
from quizkit.words import Lang

DEMO = Demo(
    name="ring-attention",
    path=Path("ring_attention.py"),
    topic="cp",
    law="Queries stay where they are while keys and values travel round the ring of ranks.",
    trick="Prose that was broken\nto fit the file.\n\n    rank 0 -> rank 1\n    rank 1 -> rank 0",
    watch={
        "sent_bytes": Watch(False, "bytes that each rank handed to the wire in one forward"),
        "max_error": Watch(True, "largest difference from ordinary attention"),
    },
    parameters={
        "causal": Parameter("causal", "bool", True),
        "layout": Parameter("layout", "str", "zigzag", ("contiguous", "zigzag")),
        "transfer_cost": Parameter("transfer_cost", "float", 0.5, (), "time of a block's hop"),
        "order": Parameter("order", "str", ""),
    },
    breaks={
        "stale-kv": Break("a", "b", "output equals full attention", 2, "seen in a pull request"),
        "stuck": Break("a", "b", "hangs", 2),
        "typo": Break("a", "b", "crashes: NameError", 2),
    },
    own_launch=False,
    source="",
    story="",
)
OTHER = replace(DEMO, name="all-reduce", topic="comm", law="Two laws.", breaks={})


def shown(what: RenderableType, width: int) -> str:
    linebreak.install()
    file = io.StringIO()
    Console(file=file, width=width, color_system=None, markup=False, emoji=False).print(what)
    text = file.getvalue()
    assert max(cell_len(line) for line in text.splitlines()) <= width
    return text


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_list_is_topic_by_topic_a_line_for_each_demo(lang: Lang) -> None:
    shelves = in_topics([OTHER, replace(DEMO, name="a-later-one"), DEMO])
    lines = shown(by_topic(shelves, {"cp": "long"}, lang), 200).splitlines()
    at = lines.index("cp  long")
    assert lines[at - 1] == ""
    # What is to be read first comes before what comes first in the alphabet.
    assert [line.split()[0] for line in lines[at + 1 : at + 3]] == ["ring-attention", "a-later-one"]
    assert lines[at + 1].endswith(f"  {DEMO.law}")
    assert lines[lines.index("comm") + 1] == f"  all-reduce      {OTHER.law}"
    assert "all-reduce, ring" not in lines[0]
    assert "ring-attention, all-reduce" in lines[0]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_says_everything(lang: Lang, width: int, plain: bool) -> None:
    text = shown(page(DEMO, lang, plain), width)
    joined = " ".join(text.split())
    for said in (
        *("--causal/--no-causal", "--layout contiguous|zigzag", "--transfer-cost X", "0.5", "''"),
        *("sent_bytes", "max_error", "stale-kv", "seen in a pull request", "NameError"),
        "Prose that was broken to fit the file.",
        "time of a block's hop",
    ):
        assert said in joined
    assert "".join(DEMO.law.split()) in "".join(text.split())
    assert "    rank 0 -> rank 1\n    rank 1 -> rank 0\n" in text  # a figure keeps its lines
    # What is left out is said as it would be typed, not as Python writes it.
    assert ("默认 --causal" if lang == "zh" else "default --causal") in joined
    assert ("一个值" if lang == "zh" else "one for the whole run") in joined
