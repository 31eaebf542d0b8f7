"""A proof as a learner sees it: one run, the numbers that decide, every claim of the key."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.functions import Number, Value, is_number
from quizkit.bank.model import Question
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report
from quizkit.proof.judge import Judged, Judgement, Run, judge, key_names, scope, statements
from quizkit.proof.setting import Bindings


@dataclass(frozen=True, slots=True)
class ProofView:
    """What `bindings` bound (the learner's own draw if `own`), what came back, what it decides.

    `measured` is the run's value of the number that was asked, where a claim compares one with
    `answer`; `values` are the metrics the claims name, `demo` says what they are.
    """

    bindings: Bindings
    own: bool
    demo: Demo
    report: Report
    judgement: Judgement
    measured: Number | None
    values: Mapping[str, Value]

    @property
    def claims(self) -> tuple[Judged, ...]:
        """Every claim of the key against this one run."""
        return self.judgement.claims

    @property
    def holds(self) -> bool:
        """Whether the key stands in this run; what only another run refutes does not count."""
        return not self.judgement.reason and all(c.holds for c in self.claims if c.wanted)

    def lets_stand(self, given: object) -> int:
        """How many of the wrong options that were picked this run does not refute."""
        picked = cast("Sequence[object]", given) if isinstance(given, Sequence) else (given,)
        places = {f"options.{each}.claim" for each in picked}
        refutable = (c for c in self.claims if c.role == "refuted" and c.place in places)
        return sum("false" not in claim.truths for claim in refutable)


def view(
    question: Question, bindings: Bindings, own: bool, report: Report, demo: Demo
) -> ProofView:
    """Hold one run against the key, for showing."""
    run = Run(bindings, report)
    judgement = judge(question, [run], demo)
    measured: Number | None = None
    values: dict[str, Value] = {}
    if not judgement.reason:
        try:
            names = scope(question, run, demo)
        except FormulaError:
            names = {}
        for _, _, claim, _ in statements(question):
            metrics = sorted(claim.names & set(report.metrics) & set(names))
            values |= {name: names[name] for name in metrics}
            if measured is None and "answer" in key_names(question):
                measured = _compared_with_answer(claim, names)
    return ProofView(bindings, own, demo, report, judgement, measured, values)


def _compared_with_answer(claim: Formula, names: Mapping[str, Value]) -> Number | None:
    """The value of what the claim holds against `answer`: x in `isclose(x, answer)`."""
    for node in ast.walk(claim.tree):
        match node:
            case ast.Call(func=ast.Name(id="isclose"), args=[left, right, *_]):
                sides = [left, right]
            case ast.Compare(left, [ast.Eq()], [right]):
                sides = [left, right]
            case _:
                continue
        other = [side for side in sides if not (isinstance(side, ast.Name) and side.id == "answer")]
        if len(other) == 1:
            try:
                value = parse(ast.unparse(other[0]))(names)
            except FormulaError:
                continue
            return value if is_number(value) else None
    return None
