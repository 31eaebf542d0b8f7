"""Evidence lies beside its question, sealed: what a run did not write is an error."""

from pathlib import Path

import pytest

from quizkit.bank.exhibits import place_of, sealed
from quizkit.bank.lint import lint
from quizkit.bank.model import Evidence, Exhibit
from quizkit.bank.reader import Bank

QUESTION = """\
kind: choice
level: 1
prompt: {zh: 问什么, en: What}
evidence: {demo: deadlock, ranks: 2, args: {steps: 2}, break: two-orders, show: [log, bytes]}
options:
  - {text: {zh: 对的, en: right}, correct: true}
  - {text: {zh: 错的, en: wrong}, why: {zh: 有人说, en: some say}, myth: a-myth}
hints: [{zh: 提示, en: hint}]
explain: {zh: 讲解, en: explained}
say: {zh: 这样说, en: say this}
sources: [a paper]
"""
EVIDENCE = Evidence("deadlock", ("log", "bytes"), 2, {"steps": 2}, "two-orders")
EXHIBITS = (Exhibit("log", "rank 0  a\nrank 1  b"), Exhibit("bytes", "sent  [8, 16]"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pp").mkdir()
    (tmp_path / "pp" / "_topic.yaml").write_text("title: PP\nintro: words\n")
    (tmp_path / "pp" / "_myths.yaml").write_text("a-myth: {zh: 误解, en: a myth}\n")
    (tmp_path / "pp" / "q.yaml").write_text(QUESTION)
    place_of(tmp_path, "pp/q").write_text(sealed(EVIDENCE, EXHIBITS))
    return tmp_path


def found(folder: Path) -> list[str]:
    return [str(problem) for problem in lint(Bank.load(folder), folder)]


def test_what_was_recorded_is_read_with_its_question(folder: Path):
    question = Bank.load(folder).questions["pp/q"]
    assert (question.evidence, question.exhibits) == (EVIDENCE, EXHIBITS)
    assert found(folder) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("[8, 16]", "[8, 8]"), ("digest ", "digest 0"), ("--ranks 2", "--ranks 4"), ("[bytes]\n", "")],
)
def test_evidence_edited_by_hand_is_an_error(folder: Path, old: str, new: str):
    path = place_of(folder, "pp/q")
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    assert found(folder) == [
        "pp/q.yaml:4: error: `q.evidence.txt` was edited by hand;"
        " run quizkit bank evidence pp/q --write"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [("two-orders", "send-first"), ("steps: 2", "steps: 3"), ("[log, bytes]", "[bytes, log]")],
)
def test_evidence_of_another_run_is_an_error(folder: Path, old: str, new: str):
    assert QUESTION.count(old) == 1
    (folder / "pp" / "q.yaml").write_text(QUESTION.replace(old, new))
    assert "pp/q.yaml:4: error: `q.evidence.txt` was recorded of another run;" in found(folder)[0]


def test_evidence_that_is_missing_or_that_nobody_asks_for(folder: Path):
    path = place_of(folder, "pp/q")
    text = path.read_text()
    path.unlink()
    assert "pp/q.yaml:4: error: nothing is recorded yet; run quizkit bank" in found(folder)[0]
    path.write_text(text)
    lines = [line for line in QUESTION.splitlines(keepends=True) if "evidence" not in line]
    (folder / "pp" / "q.yaml").write_text("".join(lines))
    assert found(folder) == [
        "pp/q.evidence.txt:1: error: `pp/q` asks for no `evidence`; delete the file"
    ]
    (folder / "pp" / "q.yaml").unlink()
    assert found(folder) == [
        "pp/q.evidence.txt:1: error: there is no question `pp/q`; delete the file"
    ]
