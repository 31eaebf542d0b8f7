"""A proof as a learner sees it: one run, the numbers that decide, every claim of the key."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.functions import Number, Value, is_number
from quizkit.bank.model import Cloze, Gap, Order, Question, Text
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report
from quizkit.proof.judge import BoundRun, Judged, Judgement, judge, key_names, scope, statements
from quizkit.proof.measured import measured, moments
from quizkit.proof.parts import Parts, parts
from quizkit.proof.setting import Bindings
from quizkit.proof.shows import generated, written


@dataclass(frozen=True, slots=True)
class ProofView:
    """A proof to show: what `bindings` bound (the own draw if `own`), the report, what it decides.

    `measured` is the run's value of the number (or list) that was asked, where claims compare one
    with `answer`; `keyed` is the same of each gap, and of each step of an order. `values` are the
    metrics the claims name, `demo` says what they are. `untested` are the places of claims that
    this run says nothing of: `cut != 0 or error < 1e-9` if cut is 1. `shows` has by its place in
    the question what each claim, trap, gap and step would have shown, and what was. `parts` says
    how much of the key carries claims at all. `beside` are the runs of the question's other
    settings that are known without running them now, those that differ least first.
    """

    bindings: Bindings
    own: bool
    demo: Demo
    report: Report
    judgement: Judgement
    measured: Number | list[Number] | None
    values: Mapping[str, Value]
    untested: frozenset[str] = frozenset()
    keyed: Mapping[str, Value] = field(default_factory=dict[str, Value])
    shows: Mapping[str, Text] = field(default_factory=dict[str, Text])
    parts: Parts | None = None
    beside: "tuple[ProofView, ...]" = ()

    @property
    def claims(self) -> tuple[Judged, ...]:
        """Every claim of the key against this one run."""
        return self.judgement.claims

    @property
    def holds(self) -> bool:
        """Tell whether the key stands in this run; what only another run refutes does not count."""
        return not self.judgement.reason and all(c.holds for c in self.claims if c.wanted)

    def lets_stand(self, given: object) -> int:
        """Count the options that were picked and this run does not decide.

        That is a wrong one it does not refute, or a right one it does not test.
        """
        picked = cast("Sequence[object]", given) if isinstance(given, Sequence) else (given,)
        places = {f"options.{each}.claim" for each in picked}
        refutable = (c for c in self.claims if c.role == "refuted" and c.place in places)
        standing = sum("false" not in claim.truths for claim in refutable)
        rights = {c.place for c in self.claims if c.role == "right"}
        return standing + len(places & rights & self.untested)


def view(
    question: Question, bindings: Bindings, own: bool, report: Report, demo: Demo
) -> ProofView:
    """Hold one run against the key, for showing."""
    run = BoundRun(bindings, report)
    judgement = judge(question, [run], demo)
    answer: Number | list[Number] | None = None
    values: dict[str, Value] = {}
    untested: set[str] = set()
    keyed: Mapping[str, Value] = {}
    shows: Mapping[str, Text] = {}
    if not judgement.reason:
        try:
            names = scope(question, run, demo)
        except FormulaError:
            names = {}
        tested: list[Formula] = []
        for place, _, claim, _ in statements(question):
            metrics = sorted(claim.names & set(report.metrics) & set(names))
            values |= {name: names[name] for name in metrics}
            if _is_excused(claim, names, set(report.metrics)):
                untested.add(place)
            else:
                tested.append(claim)
        if "answer" in key_names(question):
            answer = measured("answer", tested, names, report.metrics)
        keyed = _keyed(question, tested, names, report)
        shows = written(question, names)[0] | generated(question, names, answer, keyed)
    places = frozenset(untested)
    return ProofView(
        bindings, own, demo, report, judgement, answer, values, places, keyed, shows,
        parts(question),
    )  # fmt: skip


def _keyed(
    question: Question, claims: Sequence[Formula], names: Mapping[str, Value], report: Report
) -> Mapping[str, Value]:
    """Return what the run measured of what the learner filled in, or put in order."""
    match question:
        case Cloze(gaps=gaps):
            numbers = [name for name, gap in gaps.items() if _is_number(gap)]
            found = {name: measured(name, claims, names, report.metrics) for name in numbers}
            return {name: value for name, value in found.items() if value is not None}
        case Order(steps=steps):
            return moments([step.id for step in steps], claims, names, report.metrics)
        case _:
            return {}


def _is_number(gap: Gap) -> bool:
    """Tell if a number is to be filled in; a claim may also count words, as 1 and 2."""
    try:
        return is_number(parse(gap.answer.en)({}))
    except FormulaError:
        return False


def _is_excused(claim: Formula, names: Mapping[str, Value], metrics: set[str]) -> bool:
    """Tell whether a claim is true by what was set, before anything measured is looked at."""
    if not (isinstance(claim.tree, ast.BoolOp) and isinstance(claim.tree.op, ast.Or)):
        return False
    for part in (parse(ast.unparse(each)) for each in claim.tree.values):
        try:
            if part.names & metrics:
                return False
            if part.truth(names):
                return True
        except FormulaError:
            return False
    return False
