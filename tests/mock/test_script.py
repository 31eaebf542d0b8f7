"""A script is read like a question: each mistake with its line; each id it asks exists."""

import os
from pathlib import Path

import pytest

from quizkit.bank.mocks import mock_problems, mock_slugs, read_mock
from quizkit.bank.model import Problem
from quizkit.bank.reader import Bank
from quizkit.mock.heard import route


def lint(folder: Path, text: str, tmp_path: Path) -> list[str]:
    (tmp_path / "mocks").mkdir(exist_ok=True)
    (tmp_path / "mocks" / "small.yaml").write_text(text, encoding="utf-8")
    return [str(problem) for problem in mock_problems(tmp_path, Bank.load(folder), {})]


def test_a_script_whose_name_is_no_text_is_told_and_left_out(folder, tmp_path):
    small = (folder / "mocks/small.yaml").read_text(encoding="utf-8")
    (tmp_path / "mocks").mkdir()
    (tmp_path / "mocks" / ".#small.yaml").symlink_to("me@host.1")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/mocks/\xff.yaml")).write_text("x")
    said = r"mocks/\xff.yaml:1: error: the name is not UTF-8; rename it"
    assert lint(folder, small, tmp_path) == [said]
    assert mock_slugs(tmp_path) == ["small"]


def test_a_script_is_a_graph(folder):
    problems: list[Problem] = []
    script = read_mock(folder, "small", problems)
    assert script is not None
    assert problems == []
    assert mock_slugs(folder) == ["small"]
    assert [(place, station.id) for place, station in script.placed()] == [
        ("stations.0", "bubble"),
        ("stations.0.probes.0", "bubble-again"),
        ("stations.1", "why"),
        ("stations.1.probes.0", "peak"),
        ("stations.2", "parts"),
    ]
    essay = script.question(script.stations[1], {})
    assert (essay.id, essay.kind, essay.digest) == ("mocks/small/why", "essay", script.digest)
    assert script.topics() == {"pp"}


def test_a_probe_may_have_probes_and_the_first_that_fires_is_put(folder, tmp_path):
    text = (folder / "mocks/small.yaml").read_text(encoding="utf-8")
    deeper = text.replace(
        "        speaks: {correctness: 1}\n  - id: why",
        "        speaks: {correctness: 1}\n"
        "        probes:\n"
        "          - {id: deepest, if: score < 0.5, ask: pp/order, seconds: 9, "
        "speaks: {numbers: 1}}\n"
        "      - {id: other, if: wrong, ask: pp/order, seconds: 9, speaks: {numbers: 1}}\n"
        "  - id: why",
    )
    assert deeper != text
    assert lint(folder, deeper, tmp_path) == []
    script = read_mock(tmp_path, "small", [])
    assert script is not None
    heard = {"bubble": {"right": False, "wrong": True, "score": 0.0}}
    met = [station.id for station, _ in route(script, heard)]
    assert met == ["bubble", "bubble-again", "why", "parts"]
    heard["bubble-again"] = {"right": False, "wrong": True, "score": 0.4}
    met = [(station.id, over.id if over else "") for station, over in route(script, heard)]
    assert met[:3] == [("bubble", ""), ("bubble-again", "bubble"), ("deepest", "bubble-again")]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ask: pp/parts", "ask: pp/part", "unknown question `pp/part`; did you mean `pp/parts`?"),
        ("ask: pp/parts", "ask: pp/trace", "unknown question `pp/trace`"),
        ("if: wrong", "if: worng", "unknown name `worng`; did you mean `wrong`?"),
        ("if: wrong", "if: point1", "unknown name `point1`"),
        ("if: not point1", "if: not point3", "unknown name `point3`"),
        ("if: wrong", "if: score", "neither true nor false"),
        ("if: wrong", "if: wrong or", "is not an expression"),
        ("[activation, 激活]", "[]", "`point1` has no keywords"),
        ("myth: 1f1b-cuts-bubble", "myth: 1f1b-cuts", "unknown myth `1f1b-cuts`; did you mean"),
        ("zh: 你好，我们开始。", "zh: 你好，第 1 题。", "numbers differ: 1"),
        ("id: parts", "id: why", "station `why` is there twice"),
        ("minutes: 10", "minutes: 6", "the longest way takes 510 s, the clock has 360 s"),
        ("    ask: pp/parts\n", "", "either `ask:` (a question's id), or one of"),
        ("numbers: 2}", "number: 2}", "unknown dimension `number`; did you mean `numbers`?"),
        ("numbers: 2}", "numbers: 0}", "a share is more than 0"),
        ("communication: 1}", "rigour: 1}", "`rigour` has no weight"),
        (", communication: 1}", "}", "no station speaks to communication"),
        ("numbers: 30", "numbers: -1", "a weight is more than 0"),
        ("overall: 2.3, ", "", "needs `overall`"),
        ("overall: 2.3", "overall: 4.5", "a mark is from 0 to 4"),
        ("correctness: 2}\n", "rigour: 2}\n", "unknown dimension `rigour`"),
        ("seconds: 90", "seconds: 0", "a question needs some time"),
        ("seconds: 90", "second: 90", "unknown key `second`; did you mean `seconds`?"),
        ("level: 2", "level: 7", "levels are 1 to 5"),
        ("speaks: {correctness: 1}\n  - id: why", "speaks: {}\n  - id: why", "is evidence"),
    ],
)
def test_each_mistake_is_named(folder, tmp_path, old, new, expected):
    text = (folder / "mocks/small.yaml").read_text(encoding="utf-8")
    assert lint(folder, text, tmp_path) == []
    assert old in text
    problems = lint(folder, text.replace(old, new, 1), tmp_path)
    assert any(expected in problem for problem in problems), problems


def test_a_mistake_says_its_line(folder, tmp_path):
    text = (folder / "mocks/small.yaml").read_text(encoding="utf-8")
    line = text[: text.index("ask: pp/stages")].count("\n") + 1
    [problem] = lint(folder, text.replace("pp/stages", "pp/stage"), tmp_path)
    assert problem.startswith(f"mocks/small.yaml:{line}: error: ")
