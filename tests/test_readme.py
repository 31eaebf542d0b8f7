"""What the README promises, something here has checked."""

import json
import os
import re
import shlex
from collections.abc import Callable

import pytest
import started
from typer.testing import CliRunner

from quizkit.calc.sheet import option as option_of
from quizkit.calc.sheets import sheet
from quizkit.cli.app import app
from quizkit.lab.catalogue import catalogue
from quizkit.lab.report import Report
from quizkit.paths import DEMOS, QUESTIONS

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


def test_it_can_be_read_in_five_minutes():
    assert len(README.splitlines()) <= 120


def values(run: Report, name: str) -> list[float]:
    """A metric on every rank; of one that is shared, the one value."""
    found = run.metrics[name]
    return [float(each) for each in (found if isinstance(found, tuple) else (found,))]


def counts(run: Report, name: str) -> list[str]:
    return [f"{each:g}" for each in values(run, name)]


def share(run: Report, name: str) -> str:
    [found] = values(run, name)
    return f"{found * 100:.1f} %"


def below(run: Report, *names: str) -> list[str]:
    assert max(each for name in names for each in values(run, name)) < 1e-12
    return ["1e-12"]


CLAIMS: dict[str, Callable[[Report], list[str]]] = {
    "pipeline": lambda run: [
        *{share(run, "bubble_1f1b"), share(run, "bubble_gpipe")},
        *counts(run, "peak_live_1f1b"),
        *{*counts(run, "peak_live_gpipe")},
    ],
    "all-reduce": lambda run: [
        f"{max(values(run, 'sent_bytes_ring')):.0f}",
        f"{values(run, 'payload_bytes')[0]:.0f}",
        f"{max(values(run, 'sent_bytes_ring')) / values(run, 'payload_bytes')[0]:.3g}",
    ],
    "flash": lambda run: below(run, "out_error", "grad_error"),
    "accumulation": lambda run: [share(run, "means_error"), *below(run, "grad_error")],
    "tp-gradients": lambda run: [
        *below(run, "column_dw_share", "row_dw_share"),
        *{*counts(run, "backward_sums")},
    ],
}
"""What a run must have said for the README's row about it: each is found there, as it is."""


@pytest.mark.demo
@pytest.mark.parametrize("demo", CLAIMS)
def test_what_people_say_is_refuted_by_the_run_beside_it(demo: str):
    rows = re.findall(rf"^\|.*`quizkit (demo {demo}(?: .*)?)` \| (.*) \|$", README, re.MULTILINE)
    assert len(rows) == 2  # in each language
    assert len({command for command, _ in rows}) == 1
    done = started.quizkit(*rows[0][0].split(), "--json", env=os.environ, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    run = Report.from_json(json.loads(done.stdout))
    for _, said in rows:
        told = re.findall(r"\d+(?:\.\d+)?(?:e-\d+| %)?", said.replace("1F1B", "").replace(",", ""))
        for number in CLAIMS[demo](run):
            assert number in told, (number, said)


def test_five_things_people_say():
    rows = re.findall(r"^\|.*`quizkit demo ([a-z-]+)", README, re.MULTILINE)
    assert rows == [*CLAIMS] * 2


def test_every_link_leads_somewhere():
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", text):
            assert (ROOT / target).exists(), target
