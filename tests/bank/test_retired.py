"""Retired ids: read, checked, and noticed when the file changes."""

import json
import os
import time
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from quizkit.bank.index import Index
from quizkit.bank.library import Library
from quizkit.bank.lint import lint
from quizkit.bank.mocks import mock_problems
from quizkit.bank.model import Retired, Text
from quizkit.bank.reader import Bank
from quizkit.bank.schema import schema

QUESTION = """\
kind: choice
level: 1
prompt: {zh: 哪一个, en: Which one}
options:
  - text: {zh: 对的选项, en: right one}
    correct: true
  - text: {zh: 错的选项, en: wrong one}
    why: {zh: 有人这么说, en: people say so}
    myth: a-myth
hints: [{zh: 提示, en: hint}]
explain: {zh: 讲解, en: explained}
say: {zh: 这样说, en: say this}
sources: [a paper]
"""
RETIRED = """\
# why they went
pp/gone:
  reason: {zh: 题面有歧义。, en: The prompt could be read in two ways.}
  see: pp/one
pp/old:
  reason: {zh: 换了一道更好的题, en: a better question took its place}
  see: pp/two
"""
MOCK = """\
title: {zh: 面试, en: An interview}
opening: {zh: 开场白, en: Opening}
level: 1
minutes: 1
pause_minutes: 0
weights: {numbers: 1}
pass: {overall: 3}
stations:
  - id: first
    ask: pp/old
    seconds: 20
    speaks: {numbers: 1}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pp = tmp_path / "bank" / "pp"
    pp.mkdir(parents=True)
    (pp / "_topic.yaml").write_text("title: PP\nintro: words\norder: [two, one]\n")
    (pp / "_myths.yaml").write_text("a-myth: {zh: 误解, en: a myth}\n")
    for name in ("one", "two"):
        (pp / f"{name}.yaml").write_text(QUESTION)
    (pp.parent / "_retired.yaml").write_text(RETIRED)
    return pp.parent


def found(folder: Path) -> list[str]:
    return [str(problem) for problem in lint(Bank.load(folder), folder)]


def test_a_reason_and_a_question_instead(folder: Path):
    assert found(folder) == []
    assert Bank.load(folder).retired["pp/old"] == Retired(
        Text("换了一道更好的题", "a better question took its place"), "pp/two"
    )
    # An author who has nothing to retire yet: no file, and a file with nothing in it but `{}`.
    (folder / "_retired.yaml").write_text("# nothing\n{}\n")
    assert (found(folder), Bank.load(folder).retired) == ([], {})
    (folder / "_retired.yaml").unlink()
    assert (found(folder), Bank.load(folder).retired) == ([], {})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("pp/old:", "pp/a:", "_retired.yaml:5: error: `pp/a` comes before `pp/gone`: sort"),
        ("pp/old:", "pp/two:", "_retired.yaml:5: error: `pp/two` is still a question"),
        ("pp/old:", "old:", "_retired.yaml:5: error: `old` is no id; an id is topic/slug"),
        ("see: pp/two", "see: pp/tow", "_retired.yaml:7: error: unknown question `pp/tow`; did"),
        (
            "see: pp/two",
            "see: pp/gone",
            "_retired.yaml:7: error: `pp/gone` is retired (The prompt could be read in two ways); "
            "name `pp/one` instead",
        ),
        ("  see: pp/two\n", "", "_retired.yaml:6: error: key `see` is missing in `pp/old`"),
        ("see: pp/two", "sea: pp/two", "_retired.yaml:7: error: unknown key `sea`; did you mean"),
        (
            "{zh: 换了一道更好的题, en: a better question took its place}",
            "{zh: 换了一道更好的题}",
            "_retired.yaml:6: error: `pp/old.reason` has no `en`",
        ),
        (
            "{zh: 换了一道更好的题, en: a better question took its place}",
            "a better one",
            "_retired.yaml:6: error: the reason of `pp/old` is in one language",
        ),
    ],
)
def test_what_lint_says_of_it(folder: Path, old: str, new: str, said: str):
    assert RETIRED.count(old) == 1
    (folder / "_retired.yaml").write_text(RETIRED.replace(old, new))
    problems = found(folder)
    assert [each for each in problems if said in each], problems


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "pp/one.yaml",
            "sources:",
            "followups: [{if: right, ask: pp/old}]\nsources:",
            "pp/one.yaml:13: error: `pp/old` is retired (a better question took its place); "
            "name `pp/two` instead",
        ),
        ("pp/one.yaml", "sources:", "was: [pp/old]\nsources:", "pp/one.yaml:13: error: `pp/old`"),
        (
            "pp/_topic.yaml",
            "order: [two, one]",
            "order:\n  - two\n  - one\n  - old",
            "pp/_topic.yaml:6: error: `order`: `pp/old` is retired",
        ),
        (
            "pp/_topic.yaml",
            "[two, one]",
            "[two, on]",
            "pp/_topic.yaml:3: error: `order`: unknown question `pp/on`; did you mean `pp/one`?",
        ),
    ],
)
def test_who_names_a_retired_id_is_told_what_to_name(
    folder: Path, file: str, old: str, new: str, said: str
):
    text = (folder / file).read_text()
    assert text.count(old) == 1
    (folder / file).write_text(text.replace(old, new))
    problems = found(folder)
    assert [each for each in problems if said in each], problems


def test_a_script_that_asks_one(folder: Path):
    (folder / "mocks").mkdir()
    (folder / "mocks" / "small.yaml").write_text(MOCK)
    (problem,) = mock_problems(folder, Bank.load(folder), {})
    assert str(problem).startswith("mocks/small.yaml:10: error: `pp/old` is retired (a better")


def test_the_schema_holds_the_file():
    part = schema()["definitions"]["retired"]
    good = {"pp/old": {"reason": {"zh": "旧", "en": "old"}, "see": "pp/two"}}
    check = Draft7Validator(part)
    assert not [*check.iter_errors(good)]
    assert [*check.iter_errors({"pp/old": {"see": "pp/two"}})]


def test_the_index_notices_each_change_of_the_file(folder: Path, tmp_path: Path):
    cache = tmp_path / "cache"
    cache.mkdir()
    file = folder / "_retired.yaml"

    def told() -> list[str]:
        index = Index(folder, cache, thorough=False)
        try:
            return [*index.retired()]
        finally:
            index.close()

    then = time.time() - 60
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (then, then))
    assert told() == ["pp/gone", "pp/old"]
    file.write_text(RETIRED.partition("pp/old")[0])
    assert told() == ["pp/gone"]
    file.unlink()
    assert told() == []
    file.write_text("pp/gone: {reason: {}, see: pp/one}\n")
    with Library([folder], cache, thorough=False) as shelves:
        assert shelves.retired() == {}
        (problem,) = shelves.problems()
        assert str(problem).startswith("_retired.yaml:1: error: `pp/gone.reason` has no `zh`")


def test_a_bank_of_ones_own_may_retire_too(folder: Path, tmp_path: Path):
    own = tmp_path / "own"
    (own / "mine").mkdir(parents=True)
    (own / "mine" / "_topic.yaml").write_text("title: Mine\nintro: words\n")
    (own / "mine" / "new.yaml").write_text(QUESTION)
    said = {"mine/old": {"reason": {"zh": "旧", "en": "old"}, "see": "mine/new"}}
    (own / "_retired.yaml").write_text(json.dumps(said))
    with Library([folder, own], None) as shelves:
        assert [*shelves.retired()] == ["pp/gone", "pp/old", "mine/old"]
    both = Bank.load(folder).joined(Bank.load(own))
    assert [*both.retired] == ["pp/gone", "pp/old", "mine/old"]
