"""What the README promises, something here has checked."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quizkit.calc.sheet import option as option_of
from quizkit.calc.sheets import sheet
from quizkit.cli.app import app
from quizkit.lab.catalogue import catalogue
from quizkit.paths import DEMOS, QUESTIONS
from quizkit.ui import keymap

ROOT = DEMOS.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines() if line.startswith("quizkit")]


def words(line: str) -> list[str]:
    return shlex.split(line, comments=True)[1:]


@pytest.mark.parametrize("line", LINES)
def test_every_command_and_option_exists(line: str):
    asked = words(line)
    if not asked:
        return
    depth = 2 if asked[0] in [group.name for group in app.registered_groups] else 1
    command = [word for word in asked[:depth] if not word.startswith("-")]
    helped = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
    assert helped.exit_code == 0, helped.output
    known = helped.output
    if asked[0] == "demo" and len(asked) > 1:
        demo = catalogue()[asked[1]]
        known += " ".join(f"--{name.replace('_', '-')}" for name in demo.parameters)
        if "--break" in asked:
            assert asked[asked.index("--break") + 1] in demo.breaks
    if asked[0] == "calc" and not asked[1].startswith("--"):
        known += " ".join(option_of(each.name) for each in sheet(asked[1]).inputs)
        known += " --explain --quiz --json"
    for option in (word for word in asked if word.startswith("--")):
        assert option in known, option
    for option, folder in (("--topic", QUESTIONS),):
        if option in asked:
            assert (folder / asked[asked.index(option) + 1]).is_dir()
    if asked[0] == "mock":
        assert (QUESTIONS / "mocks" / f"{asked[1]}.yaml").is_file()
    if asked[0] == "show":
        assert (QUESTIONS / f"{asked[1]}.yaml").is_file()


def test_the_gate_runs_the_readmes_test_command():
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for part in ("-c constraints.txt -e '.[dev]'", "-m pytest -q -n 2"):
        assert part in gate
        assert part in README


def test_both_languages_give_the_same_commands():
    english, chinese = README.split("## 中文")
    for block in re.findall(r"```sh\n(python3 -m venv.*?)```", english, re.DOTALL):
        assert block in chinese


def test_the_tree_matches_the_disk():
    tree = README.split("## How it is built")[1].split("```")[1]
    folder = Path()
    for line in tree.strip().splitlines():
        name = line.split()[0]
        folder = Path(name) if not line.startswith(" ") else folder
        path = ROOT / (folder if not line.startswith(" ") else folder / name)
        assert path.exists(), path
    package = tree.split("\nquestions/")[0]
    listed = set(re.findall(r"^  ([a-z_]+)(?:/|\.py) ", package, re.MULTILINE))
    rooms = {path.stem for path in (ROOT / "quizkit").iterdir() if path.name[0] not in "_."}
    helpers = {"interrupt", "near", "errors", "answer"}  # too small to be rooms of the tree
    assert listed == rooms - helpers


@pytest.mark.parametrize("lang", ["en"])
def test_the_key_table_is_the_keymap(lang: str):
    assert keymap.markdown("en" if lang == "en" else "zh").strip() in README


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
