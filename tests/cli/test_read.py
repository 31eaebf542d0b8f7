"""`show`, `list`, `search`, `glossary` as a reader meets them, in both languages."""

import json
import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
import yaml
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from quizkit.bank.reader import Bank
from quizkit.cli.app import app
from quizkit.errors import UsageError
from quizkit.paths import QUESTIONS
from quizkit.words import Lang

NARROW = {"COLUMNS": "60", "QUIZKIT_LANG": "en"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all that only looks: its index of the bank is made once."""
    return tmp_path_factory.mktemp("home")


def read(home: Path, *words: str) -> Result:
    done = CliRunner().invoke(app, [*words], env=NARROW | {"QUIZKIT_HOME": str(home)})
    assert (done.exit_code, done.stderr) == (0, ""), done.stderr
    return done


@pytest.mark.parametrize(
    "words", [("show", "pp/bubble-share"), ("list", "--covers"), ("export", "sheet")], ids=" ".join
)
def test_no_line_in_a_pipe_ends_in_blanks(home: Path, words: tuple[str, ...]):
    lines = read(home, *words).stdout.split("\n")
    assert len(lines) > 10
    assert [line for line in lines if line != line.rstrip()] == []


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
    mark = {"zh": "对：", "en": "right: "}[lang]
    right = sum(option.correct for option in question.options)  # pyright: ignore
    assert right > 1
    assert sum(line.startswith(f"- {mark}") for line in shown.splitlines()) == right


def test_the_list_and_the_search_find_the_same_question(tmp_path: Path):
    listed = json.loads(read(tmp_path, "list", "--topic", "tp", "--json").stdout)["questions"]
    assert {each["topic"] for each in listed} == {"tp"}
    assert [*listed] == sorted(listed, key=lambda each: each["id"])
    found = json.loads(read(tmp_path, "search", "GELU", "--json").stdout)["questions"]
    assert "tp/elementwise-on-shards" in {each["id"] for each in found}
    assert {each["id"] for each in found if each["topic"] == "tp"} < {each["id"] for each in listed}


def test_a_search_is_utf_8_whatever_the_locale_is(home: Path):
    wanted = json.loads(read(home, "search", "气泡", "--json").stdout)
    assert wanted["questions"]
    env = os.environ | NARROW | {"QUIZKIT_HOME": str(home), "LC_ALL": "C"}
    env |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # what a locale that is not UTF-8 does

    def said(*words: str | bytes) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "quizkit", *words]
        return subprocess.run(command, capture_output=True, text=True, env=env, encoding="utf-8")

    assert json.loads(said("search", "气泡", "--json").stdout) == wanted
    assert "pipeline bubble" in said("glossary", "气泡").stdout
    for words, code in (
        (("search", b"\xff\xfe"), 1),
        (("glossary", b"\xff"), 1),
        (("show", b"pp/\xff"), 2),
        (("study", "气泡"), 2),
    ):
        done = said(*words)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert "Traceback" not in done.stderr


def test_every_command_speaks_json():
    # One that does not is named here with its reason.
    silent = {
        "export sheet": "a page",
        "bank new": "writes a file",
        "bank evidence": "shows or writes a file",
        "bank record": "writes files",
        "bank schema": "is JSON",
    }
    commands = [("", each) for each in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance
        commands += [(f"{group.name} ", each) for each in group.typer_instance.registered_commands]
    mute = {
        prefix + (each.name or each.callback.__name__)
        for prefix, each in commands
        if each.callback and "json" not in signature(each.callback).parameters
    }
    assert {name for name in mute if not name.startswith("calc ")} == silent.keys()


@pytest.mark.parametrize(
    ("line", "noun"),
    [
        ("glossary bubble", "glossary"),
        ("search xyzzy plugh", "questions"),
        ("due --topic zero", "due"),
        ("config", "config"),
        ("data", "data"),
        ("data --export", "diary"),
        ("data --erase --yes", "erased"),
        ("mock --list", "mocks"),
        ("bank flags", "flags"),
        ("calc memory --params 7B --dp 8", "calc.memory"),
    ],
)
def test_json_says_what_it_is(home: Path, line: str, noun: str):
    said = json.loads(read(home, *line.split(), "--json").stdout)
    assert said["schema"] == f"quizkit/{noun}/1"


def test_the_history_says_which_edition_it_is(home: Path):
    said = json.loads(read(home, "mock", "--history", "--json").stdout)
    assert said == {"schema": "quizkit/scorecards/2", "attempts": [], "scorecards": []}


def test_show_as_json_has_all_that_the_file_has(home: Path):
    said = json.loads(read(home, "show", "pp/bubble-share", "--json").stdout)
    assert said["schema"] == "quizkit/questions/1"
    (row,) = said["questions"]
    whole = row.pop("whole")
    (listed,) = [
        each
        for each in json.loads(read(home, "list", "--topic", "pp", "--json").stdout)["questions"]
        if each["id"] == "pp/bubble-share"
    ]
    assert row == listed
    with (QUESTIONS / "pp" / "bubble-share.yaml").open(encoding="utf-8") as file:
        written = yaml.safe_load(file)
    assert written.keys() <= whole.keys()
    for key in ("level", "tags", "params", "where", "answer", "sources", "followups"):
        assert whole[key] == written[key]
    assert whole["proof"]["claims"] == written["proof"]["claims"]
    assert whole["explain"]["zh"].strip() == written["explain"]["zh"].strip()


def test_what_covers_the_common_70_as_json(home: Path):
    said = json.loads(read(home, "list", "--covers", "--topic", "pp", "--json").stdout)
    assert said["schema"] == "quizkit/coverage/1"
    assert len(said["common"]) == 70
    (row,) = [each for each in said["common"] if each["id"] == "basics-9"]
    assert "pp/bubble-share" in row["questions"]
    assert {name.split("/")[0] for each in said["common"] for name in each["questions"]} == {"pp"}
    for each in said["common"]:
        assert {name for part in each["parts"] for name in part["questions"]} <= {
            *each["questions"]
        }
        open_parts = [part["id"] for part in each["parts"] if not part["questions"]]
        assert each["parts"]
        assert each["covered"] is (not open_parts)


def test_every_one_of_the_common_70_is_listed_with_what_it_lacks(home: Path):
    shown = read(home, "list", "--covers", "--topic", "pp").stdout
    for name in ("basics-4", "three-d-16", "deep-dive-8"):
        assert f"\n{name} " in shown
    whole = json.loads(read(home, "list", "--covers", "--topic", "pp", "--json").stdout)["common"]
    for each in whole:
        stated = sum(bool(part["questions"]) for part in each["parts"])
        (line,) = re.findall(rf"^{each['id']} .*$", shown, re.MULTILINE)
        assert f" {stated}/{len(each['parts'])} " in line
    lacking = sum(not part["questions"] for each in whole for part in each["parts"])
    assert " ".join(shown.split()).count("(none yet)") == lacking > 0
    assert f"{sum(each['covered'] for each in whole)} of the common 70" in shown


def test_one_of_the_common_70_is_shown_part_by_part(home: Path):
    shown = read(home, "list", "--covers", "basics-13", "--topic", "hybrid").stdout
    (row,) = json.loads(
        read(home, "list", "--covers", "basics-13", "--topic", "hybrid", "--json").stdout
    )["common"]
    for part in row["parts"]:
        name = part["id"].partition(".")[2]
        (stated,) = re.findall(rf"^\.{name}  (?:.*\n)*?(?=\n\.|\Z)", shown, re.MULTILINE)
        found = re.findall(r"^  (\w+/[\w-]+) ", stated, re.MULTILINE)
        assert sorted(found) == sorted(part["questions"])
    assert "quizkit demo hybrid-step" in shown
    lacking = read(home, "list", "--covers", "basics-13", "--topic", "pp").stdout
    assert re.search(r"^\.product .*\n(.+\n)*  \(none yet\)$", lacking, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--covers", "basic-13"), "None of the common 70 is called basic-13. Try: basics-13."),
        (("basics-13",), "quizkit list has no use for basics-13."),
    ],
)
def test_a_name_that_list_cannot_use_is_refused(home: Path, words: tuple[str, ...], said: str):
    done = CliRunner().invoke(app, ["list", *words], env=NARROW | {"QUIZKIT_HOME": str(home)})
    assert done.stdout == ""
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_a_term_stands_beside_its_other_name(tmp_path: Path):
    assert "流水线气泡" in read(tmp_path, "glossary", "bubble").stdout


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "less than 881 elements"), ("zh", "小于 881 个元素")]
)
def test_a_shown_proof_is_told_in_words_from_the_recorded_run(lang: str, said: str):
    shown = CliRunner().invoke(app, ["show", "attention/eos-is-no-wall", "--lang", lang]).stdout
    proof = shown.split("证明" if lang == "zh" else "\nProof")[1]
    assert "quizkit demo varlen --ranks 1" in proof
    assert ("not run here" if lang == "en" else "没在这里跑") in proof
    assert said in proof
    assert "scores_varlen" not in proof


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_covers_the_common_70_is_read_whole_on_a_narrow_screen(home: Path, lang: Lang):
    shown = read(home, "list", "--covers", "basics-1", "--lang", lang).stdout
    assert ".copies " in shown
    assert " dp/who-holds-what" in shown
    said = "computes on its own data" if lang == "en" else "各算各的梯度"
    assert said.replace(" ", "") in "".join(shown.split())
    assert max(map(cell_len, shown.splitlines())) <= 60
