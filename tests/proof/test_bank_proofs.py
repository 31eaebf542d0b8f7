"""Drafts, and `prove` as it is called. The gate itself proves the whole shipped bank with it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import started

from quizkit.bank.model import KINDS, Kind
from quizkit.bank.reader import Bank
from quizkit.bank.template import template
from quizkit.lab.bench import Bench
from quizkit.lab.catalogue import catalogue
from quizkit.proof.prove import Prover, on_bench

pytestmark = pytest.mark.demo


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    demos = catalogue()
    with Bench() as bench:
        yield Prover(demos, on_bench(bench, demos))


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_holds_against_its_run_as_it_stands(prover: Prover, kind: Kind, tmp_path: Path):
    (tmp_path / "pp").mkdir()
    (tmp_path / "pp" / "draft.yaml").write_text(template(kind), encoding="utf-8")
    result = prover.prove(Bank.load(tmp_path).questions["pp/draft"])
    assert result.status == "proved", result.reasons


def test_a_proof_asked_for_by_name_says_what_decided(tmp_path: Path):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path)}
    done = started.quizkit("prove", "pp/bubble-share", "--lang", "en", env=env)
    assert done.returncode == 0, done.stderr
    assert "p=3, m=5: bubble_1f1b = 0.285714" in done.stderr
    assert "(clocked)" in done.stderr
