"""`show`, `list`, `search`, `glossary` as a reader meets them, in both languages."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from quizkit.bank.reader import Bank
from quizkit.cli.app import app
from quizkit.paths import QUESTIONS
from quizkit.words import Lang

NARROW = {"COLUMNS": "60", "QUIZKIT_LANG": "en"}


def read(home: Path, *words: str) -> Result:
    done = CliRunner().invoke(app, [*words], env=NARROW | {"QUIZKIT_HOME": str(home)})
    assert (done.exit_code, done.stderr) == (0, ""), done.stderr
    return done


@pytest.mark.parametrize(
    ("lang", "several", "one"), [("en", "several answers", "one answer"), ("zh", "多选", "单选")]
)
def test_what_is_to_be_done_is_said_first(tmp_path: Path, lang: Lang, several: str, one: str):
    for name, wanted in (("tp/elementwise-on-shards", several), ("pp/gpipe-or-1f1b", one)):
        head = read(tmp_path, "show", name, "--lang", lang).stdout.splitlines()[0]
        assert head.split(" · ")[:2] == [name, wanted]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_right_option_is_marked(tmp_path: Path, lang: Lang):
    question = Bank.load(QUESTIONS, ["tp"]).questions["tp/elementwise-on-shards"]
    shown = read(tmp_path, "show", question.id, "--lang", lang).stdout
    mark = {"zh": "对", "en": "right"}[lang]
    right = sum(option.correct for option in question.options)  # pyright: ignore
    assert right > 1
    assert sum(line.startswith(f"- {mark} ") for line in shown.splitlines()) == right


def test_the_list_and_the_search_find_the_same_question(tmp_path: Path):
    listed = json.loads(read(tmp_path, "list", "--topic", "tp", "--json").stdout)["questions"]
    assert {each["topic"] for each in listed} == {"tp"}
    assert [*listed] == sorted(listed, key=lambda each: each["id"])
    found = json.loads(read(tmp_path, "search", "GELU", "--json").stdout)["questions"]
    assert "tp/elementwise-on-shards" in {each["id"] for each in found}
    assert {each["id"] for each in found if each["topic"] == "tp"} < {each["id"] for each in listed}


def test_every_one_of_the_common_70_is_listed(tmp_path: Path):
    shown = read(tmp_path, "list", "--covers").stdout
    for name in ("basics-4", "three-d-16", "deep-dive-8"):
        assert f"{name} " in shown


def test_a_term_stands_beside_its_other_name(tmp_path: Path):
    assert "流水线气泡" in read(tmp_path, "glossary", "bubble").stdout
