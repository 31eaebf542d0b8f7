"""Every answer of the shipped bank is held against its run, and every key is changed once."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quizkit.bank.model import KINDS, Kind
from quizkit.bank.reader import Bank
from quizkit.bank.template import template
from quizkit.lab.catalogue import catalogue
from quizkit.lab.lanes import Lanes, lanes_for
from quizkit.paths import QUESTIONS
from quizkit.proof.prove import Court, distinct, on_lanes

pytestmark = pytest.mark.demo
# By name alone: to read them all would keep every run waiting, this one or not.
FILES = [path for path in sorted(QUESTIONS.glob("*/*.yaml")) if path.name[0] != "_"]
PROVABLE = [
    f"{path.parent.name}/{path.stem}"
    for path in FILES
    if re.search("^proof:", path.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.fixture(scope="module")
def court(shipped: Bank, request: pytest.FixtureRequest) -> Iterator[Court]:
    """All that the tests to come will ask for is begun at once, side by side."""
    params = [getattr(each, "callspec", None) for each in request.session.items]
    asked = [each.params.get("name") for each in params if each]
    questions = [shipped.questions[name] for name in PROVABLE if name in asked]
    demos = catalogue()
    with Lanes(lanes_for(len(questions))) as lanes:
        yield Court(demos, on_lanes(lanes, demos, distinct(questions, demos, mutated=True)))


def test_every_proof_is_among_them(shipped: Bank):
    assert {*PROVABLE} == {name for name, each in shipped.questions.items() if each.proof}


@pytest.mark.parametrize("name", PROVABLE)
def test_the_key_hangs_on_the_run(court: Court, shipped: Bank, name: str):
    question = shipped.questions[name]
    result = court.prove(question)
    assert result.status == "proved", result.reasons
    assert court.mutate(question).survived == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_holds_against_its_run_as_it_stands(court: Court, kind: Kind, tmp_path: Path):
    (tmp_path / "pp").mkdir()
    (tmp_path / "pp" / "draft.yaml").write_text(template(kind), encoding="utf-8")
    result = court.prove(Bank.load(tmp_path).questions["pp/draft"])
    assert result.status == "proved", result.reasons


def test_a_proof_asked_for_by_name_says_what_decided(tmp_path: Path):
    command = [sys.executable, "-m", "quizkit", "prove", "pp/bubble-share", "--lang", "en"]
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    assert "p=3, m=5: bubble_1f1b = 0.285714" in done.stderr
    assert "(clocked)" in done.stderr
