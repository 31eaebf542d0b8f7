"""A proof as a learner sees it: one run, the numbers that decide, every claim of the key."""

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
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

    `measured` is the run's value of the number (or list) that was asked, where claims compare one
    with `answer`; `values` are the metrics the claims name, `demo` says what they are. `untested`
    are the places of claims that this run says nothing of: `cut != 0 or error < 1e-9` if cut is 1.
    """

    bindings: Bindings
    own: bool
    demo: Demo
    report: Report
    judgement: Judgement
    measured: Number | list[Number] | None
    values: Mapping[str, Value]
    untested: frozenset[str] = frozenset()

    @property
    def claims(self) -> tuple[Judged, ...]:
        """Every claim of the key against this one run."""
        return self.judgement.claims

    @property
    def holds(self) -> bool:
        """Whether the key stands in this run; what only another run refutes does not count."""
        return not self.judgement.reason and all(c.holds for c in self.claims if c.wanted)

    def lets_stand(self, given: object) -> int:
        """How many of the options that were picked this run does not decide.

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
    run = Run(bindings, report)
    judgement = judge(question, [run], demo)
    measured: Number | list[Number] | None = None
    values: dict[str, Value] = {}
    untested: set[str] = set()
    if not judgement.reason:
        try:
            names = scope(question, run, demo)
        except FormulaError:
            names = {}
        stated = [(place, claim) for place, _, claim, _ in statements(question)]
        for place, claim in stated:
            metrics = sorted(claim.names & set(report.metrics) & set(names))
            values |= {name: names[name] for name in metrics}
            if _is_excused(claim, names, set(report.metrics)):
                untested.add(place)
        if "answer" in key_names(question):
            measured = _compared_with_answer([claim for _, claim in stated], names)
    return ProofView(bindings, own, demo, report, judgement, measured, values, frozenset(untested))


def _is_excused(claim: Formula, names: Mapping[str, Value], metrics: set[str]) -> bool:
    """Whether a claim is true by what was set, before anything that was measured is looked at."""
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


def _compared_with_answer(
    claims: Sequence[Formula], names: Mapping[str, Value]
) -> Number | list[Number] | None:
    """The value of what claims hold against `answer`: x in `isclose(x, answer)`.

    A list may be held against it number by number: x and y in `x == answer[0] and y == answer[1]`.
    What is in another unit is brought into the answer's: x / 100 in `isclose(answer * 100, x)`.
    """
    parts: dict[int, Number] = {}
    solved: Number | None = None
    for left, right in (sides for claim in claims for sides in _compared(claim)):
        for key, other in ((right, left), (left, right)):
            match key:
                case ast.Name(id="answer"):
                    value = _value(other, names)
                    if value is not None:
                        return value
                case ast.Subscript(ast.Name(id="answer"), ast.Constant(int(place))):
                    value = _value(other, names)
                    if value is not None and not isinstance(value, list):
                        parts.setdefault(place, value)
                case _:
                    solved = _solved(key, other, names) if solved is None else solved
    answer = names.get("answer")
    every = range(len(answer)) if isinstance(answer, list) else ()
    return [parts[place] for place in every] if parts and {*every} == {*parts} else solved


def _solved(side: ast.expr, other: ast.expr, names: Mapping[str, Value]) -> Number | None:
    """What `answer` would have to be for `side`, if that grows evenly with it, to equal `other`."""
    mine, theirs = (parse(ast.unparse(each)).names for each in (side, other))
    if "answer" not in mine or "answer" in theirs:
        return None
    zero, one, two = (_value(side, {**names, "answer": each}) for each in (0, 1, 2))
    sought = _value(other, names)
    if not (is_number(zero) and is_number(one) and is_number(two) and is_number(sought)):
        return None
    step = one - zero
    even = step != 0 and math.isclose(two - one, step, rel_tol=1e-9)
    return (sought - zero) / step if even else None


def _compared(claim: Formula) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a claim says to be equal."""
    for node in ast.walk(claim.tree):
        match node:
            case ast.Call(func=ast.Name(id="isclose"), args=[left, right, *_]):
                yield left, right
            case ast.Compare(left, [ast.Eq()], [right]):
                yield left, right
            case _:
                pass


def _value(side: ast.expr, names: Mapping[str, Value]) -> Number | list[Number] | None:
    """A number, or a list of them."""
    try:
        value = parse(ast.unparse(side))(names)
    except FormulaError:
        return None
    if isinstance(value, list):
        numbers = [each for each in value if is_number(each)]
        return numbers if len(numbers) == len(value) else None
    return value if is_number(value) else None
