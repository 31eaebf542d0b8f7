"""What authors start from: drafts, the schema, search."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from quizkit.bank.draw import FIRST, draw, show_number, with_letters
from quizkit.bank.lint import lint
from quizkit.bank.listed import listed
from quizkit.bank.model import KINDS, Kind, Numeric, Problem
from quizkit.bank.places import places
from quizkit.bank.reader import Bank, read
from quizkit.bank.schema import schema
from quizkit.bank.template import template
from quizkit.lab.catalogue import catalogue
from quizkit.paths import QUESTIONS
from quizkit.proof.static import wrong_names


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_is_read_and_its_names_exist_but_lint_wants_it_filled_in(
    tmp_path: Path, kind: Kind
):
    path = tmp_path / "pp" / "draft.yaml"
    path.parent.mkdir()
    path.write_text(template(kind), encoding="utf-8")
    problems: list[Problem] = []
    question = read(tmp_path, path, problems)
    assert problems == []
    assert question is not None
    assert [*wrong_names(question, catalogue())] == []
    left = [p for p in lint(Bank.load(tmp_path), tmp_path) if "TODO is left" in p.message]
    assert len(left) >= 3


def resolved(node: Any) -> Any:
    """What a YAML language server sees: YAML's own types."""
    return yaml.load(node, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def test_every_shipped_question_is_valid_by_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft7Validator(schema())
    files = [path for path in QUESTIONS.glob("*/*.yaml") if not path.name.startswith("_")]
    files = [path for path in files if path.parent.name != "mocks"]
    assert files
    for path in files:
        errors = [*validator.iter_errors(resolved(path.read_text(encoding="utf-8")))]
        assert errors == [], path


def test_the_topics_and_the_common_questions_are_valid_by_their_own_schemas():
    jsonschema = pytest.importorskip("jsonschema")
    parts = schema()["definitions"]
    files = dict.fromkeys(QUESTIONS.glob("*/_topic.yaml"), parts["topic"])
    files[QUESTIONS / "_common70.yaml"] = parts["common70"]
    assert len(files) > 10
    for path, part in files.items():
        validator = jsonschema.Draft7Validator(part)
        assert [*validator.iter_errors(resolved(path.read_text(encoding="utf-8")))] == [], path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("level: 2", "level: 7"),
        ("level: 2 ", "levle: 2 "),
        ("explain:", "explane:"),
        ("ranks: 4", "ranks: [4]"),
        ("core: false", "core: 1"),
        ("assume: []", "assume: [{zh: only}]"),
        ('{bubble_1f1b}"}', '{bubble_1f1b}", fr: no}'),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(old: str, new: str):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft7Validator(schema())
    text = template("choice")
    assert [*validator.iter_errors(resolved(text))] == []
    assert text.count(old) == 1
    assert [*validator.iter_errors(resolved(text.replace(old, new)))] != []


def test_a_list_names_a_question_by_the_numbers_that_show_has(shipped: Bank):
    drawn = [q for q in shipped.questions.values() if isinstance(q, Numeric)]
    for question in drawn:
        title, values = listed(question).title, draw(question, FIRST)
        for lang in ("zh", "en"):
            assert not places(title[lang]), question.id
            line = question.prompt[lang].strip().split("\n")[0]
            for name in places(line) & values.keys():
                assert show_number(values[name]) in title[lang], question.id
    # Not "layers layers" and "bB parameters".
    english = [listed(question).title.en for question in drawn]
    assert not [each for each in english if re.search(r"\b([a-z]+) \1\b|\b[a-z]B\b", each)]


def test_a_question_without_its_numbers_is_read_with_letters(shipped: Bank):
    drawn = [q for q in shipped.questions.values() if isinstance(q, Numeric)]
    texts = [with_letters(each, each.prompt[lang]) for each in drawn for lang in ("zh", "en")]
    assert texts
    assert not [text for text in texts if places(text)]
    assert not [text for text in texts if re.search(r"(?<!\w)(\$?)(\w+)\1 = \2\b", text)]
    written = replace(drawn[0], params={"s": (1, 2), "h": (3,)})
    text = "s = {s}，$h$ = {h}，2s = {s}，S = {s}：{h}"
    assert with_letters(written, text) == "s，$h$，2s = s，S = s：h"
