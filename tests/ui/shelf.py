"""Hand-made questions, one of each kind and more, and real runs to hold them against."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from quizkit.bank.model import Bug, Question, Trace
from quizkit.bank.reader import Bank
from quizkit.lab.catalogue import find
from quizkit.lab.excerpt import Excerpt
from quizkit.lab.report import Report
from quizkit.proof.view import ProofView, view
from quizkit.tutor.asked import Asked, ask

KINDS = ("single", "several", "number", "order", "cloze", "trace", "bug", "essay")
_HERE = Path(__file__).parent
STEMS = _HERE / "stems"
_REPORTS = _HERE.parent / "lab" / "reports"
_RUNS = {"single": "ring_attention", "number": "pipeline", "bug": "all_reduce_average"}
_CODE = (
    "def merge(out, lse, block_out, block_lse):",
    '    """Join two blocks."""',
    "    new_lse = torch.logaddexp(lse, block_lse)",
    "    # a comment that is rather long, so that sixty columns are not enough for all of it",
    "    return (out + block_out) / 2, new_lse",
)


@cache
def questions(folder: Path = _HERE / "shelf") -> Mapping[str, Question]:
    bank = Bank.load(folder)
    assert not bank.problems, bank.problems
    return MappingProxyType({q.id.split("/")[1]: q for q in bank.questions.values()})


def code(question: Question) -> Excerpt | None:
    if not isinstance(question, Trace | Bug):
        return None
    return Excerpt(_CODE, 10, frozenset({5}) if isinstance(question, Bug) else frozenset())


def asked(name: str, seed: int = 1) -> Asked:
    question = {**questions(), **questions(STEMS)}[name]
    return ask(question, seed, code(question))


def traced(folder: Path, answer: list[int], claims: list[str]) -> Question:
    """A prediction of a list, claimed of the pipeline's run."""
    return claimed(folder, "trace", claims, function="main", answer=answer)


def claimed(folder: Path, kind: str, claims: list[str], **more: object) -> Question:
    """A question of some kind, claimed of the pipeline's run."""
    path = folder / "pp" / "claimed.yaml"
    path.parent.mkdir(exist_ok=True)
    said = {
        "kind": kind, "level": 2, "proof": {"demo": "pipeline", "claims": claims}, **more,
        "prompt": {"zh": "多少？", "en": "How many?"}, "explain": {"zh": "数。", "en": "Count."},
    }  # fmt: skip
    path.write_text(json.dumps(said), encoding="utf-8")
    return Bank.load(folder).questions["pp/claimed"]


def run_of(question: Question, name: str) -> ProofView:
    """A run that was really made, held against a question without numbers of its own."""
    report = Report.from_json(json.loads((_REPORTS / f"{name}.json").read_text(encoding="utf-8")))
    assert question.proof
    return view(question, {}, False, report, find(question.proof.demo))


def proof(asked: Asked, own: bool = True) -> ProofView:
    """A run that was really made, held against the question's key."""
    question = asked.question
    assert question.proof
    path = _REPORTS / f"{_RUNS[question.id.split('/')[1]]}.json"
    report = Report.from_json(json.loads(path.read_text(encoding="utf-8")))
    return view(question, asked.values, own, report, find(question.proof.demo))
