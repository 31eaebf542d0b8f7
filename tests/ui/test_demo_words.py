"""Every demo says in Chinese all that it says in English; what has no Chinese stays as it is."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from quizkit.errors import LabError
from quizkit.lab.catalogue import Demo, find, names
from quizkit.ui.screens.demo_words import demo_words

CHINESE = re.compile("[\u4e00-\u9fff]")


def texts(demo: Demo, function: str) -> Iterator[str]:
    """What the demo's source calls `function` with, a 7 where something is put in in the run."""
    for node in ast.walk(ast.parse(demo.story)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            text = node.args[0]
            if node.func.id == function and isinstance(text, ast.Constant):
                yield str(text.value)
            elif node.func.id == function and isinstance(text, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "7" for p in text.values)
                yield "".join(map(str, parts))
            elif node.func.id == function:
                # A check's name may be handed on; a refusal is said where it is found out.
                assert function == "check", ast.unparse(node)


@pytest.mark.parametrize("name", names())
def test_a_demo_says_everything_in_chinese(name: str) -> None:
    demo = find(name)
    told, own = demo_words(demo, "zh"), demo_words(demo, "en")
    assert told.watch.keys() == own.watch.keys()
    assert told.breaks.keys() == own.breaks.keys()
    assert told.options.keys() == own.options.keys()
    assert all(own.options.values()), own.options  # beside each option's default
    said = {"law": told.law, "trick": told.trick}
    said |= {f"watch.{name}": text for name, text in told.watch.items()}
    said |= {f"options.{name}": text for name, text in told.options.items()}
    said |= {f"breaks.{name}": text for name, text in told.breaks.items()}
    said |= {f"checks.{name}": text for name, text in told.checks.items()}
    # What would be shown: a name spelt another way here than in the demo is not.
    expected = {each.expect for each in demo.breaks.values()}
    shown = {each for each in expected if each != "hangs" and not each.startswith("crashes:")}
    said |= {each: told.check(each) for each in shown}
    said |= {each: told.check(each) for each in texts(demo, "check")}
    said |= {each: told.ending(each) for each in texts(demo, "refuse")}
    english = {what: text for what, text in said.items() if not CHINESE.search(text)}
    assert not english
    assert told.law.endswith("。")
    assert cell_len(told.law) <= 100


def test_a_check_put_together_in_the_run(tmp_path: Path) -> None:
    (tmp_path / "zh").mkdir()
    (tmp_path / "zh" / "mine.yaml").write_text(
        "checks:\n  '{} of rank {}': rank {1} 的 {0}\n  sums: 求和\n", encoding="utf-8"
    )
    mine = replace(find("all-reduce"), name="mine", path=tmp_path / "mine.py")
    told = demo_words(mine, "zh")
    assert told.check("bytes of rank 3") == "rank 3 的 bytes"
    assert told.check("sums") == "求和"
    assert told.check("sums of") == "sums of"
    # The rest is the demo's own.
    assert (told.law, told.trick) == (mine.law, mine.trick)
    assert told.watch == demo_words(mine, "en").watch
    assert demo_words(mine, "en").check("sums") == "sums"


def test_an_ending_and_what_was_put_into_it(tmp_path: Path) -> None:
    mine = replace(find("all-reduce"), name="mine", path=tmp_path / "mine.py")
    told = demo_words(mine, "zh")
    trace = '  File "mine.py", line 3, in main'
    said = told.ending(
        f"rank 2 raised ValueError: no\n{trace}\nin its wake: rank 0 lost its connection; rank 1 no"
    )
    assert said.split("\n") == [
        "rank 2 抛出 ValueError：no",
        trace,
        "受它牵连：rank 0 的连接断了；rank 1 no",
    ]
    late = told.ending("rank 2 never arrived within 3 s: ranks 0, 1 and 3 waited")
    assert late == "rank 2 过了 3 秒也没有来，rank 0, 1 和 3 一直在等"
    english = demo_words(mine, "en")
    assert english.ending("rank 2 did not finish") == "rank 2 did not finish"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("law: 一\nlaws: 二\n", 2, "unknown key `laws`"),
        ("law: 一\nwatch: 二\n", 2, "`watch` must be a line each name"),
        ("checks:\n  a:\n    b: c\n", 1, "`checks` must be a line each name"),
        ("law: [\n", 2, "not YAML"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str, line: int, reason: str) -> None:
    (tmp_path / "zh").mkdir()
    file = tmp_path / "zh" / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LabError) as told:
        demo_words(replace(find("all-reduce"), path=tmp_path / "mine.py"), "zh")
    assert f"{file}" in str(told.value)
    assert reason in str(told.value)
    assert f"{line}" in str(told.value)
