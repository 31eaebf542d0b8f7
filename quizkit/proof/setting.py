"""Find the runs a question's key hangs on: one setting for each row of `at`."""

import math
from collections.abc import Mapping, Sequence

from quizkit.bank.formula import Formula, FormulaError
from quizkit.bank.functions import Number, Scalar, Value
from quizkit.bank.model import Numeric, Proof, Question
from quizkit.lab.demo import Demo
from quizkit.lab.report import Setting

Bindings = Mapping[str, Number]


def rows(question: Question) -> Sequence[Bindings]:
    """Return what the proof's free names are bound to, run by run."""
    proof = _proof(question)
    return proof.at or ({},)


def setting(question: Question, bindings: Bindings) -> Setting:
    """Return the run that one row asks for. Raises FormulaError if a size is no whole number."""
    proof = _proof(question)
    ranks = _whole(proof.ranks, bindings) if isinstance(proof.ranks, Formula) else proof.ranks
    args = tuple(sorted((name, _argument(arg, bindings)) for name, arg in proof.args.items()))
    return Setting(proof.demo, ranks, args, proof.broken)


def runs_of(question: Question, demo: Demo) -> list[Setting]:
    """Return the run of each row, with every argument named."""
    return [demo.filled(setting(question, row)) for row in rows(question)]


def taken(question: Question) -> frozenset[str]:
    """Return the names that a run is made with; what else was drawn enters claims, or nothing."""
    proof = _proof(question)
    wanted = (proof.ranks, *proof.args.values())
    return frozenset[str]().union(*(w.names for w in wanted if isinstance(w, Formula)))


def own_draw(question: Question, drawn: Bindings) -> bool:
    """Tell if the learner's own numbers are run as they are: small enough, or listed in `at`."""
    proof = _proof(question)
    if not isinstance(question, Numeric):
        return False
    listed = any(dict(row) == dict(drawn) for row in rows(question))
    return listed or (proof.when is not None and proof.when.truth(dict(drawn)))


def nearest(question: Question, drawn: Bindings) -> Bindings:
    """Return the row of `at` nearest to the learner's numbers: most the same, then by ratio.

    A number may name a case (the stage of ZeRO), and a run of another case answers nothing.
    """

    def distance(row: Bindings) -> tuple[int, float]:
        shared = [(row[name], drawn[name]) for name in row if name in drawn]
        ratios = [abs(math.log2(max(a, 1e-9) / max(b, 1e-9))) for a, b in shared]
        return -sum(a == b for a, b in shared), sum(ratios)

    return min(rows(question), key=distance)


def _proof(question: Question) -> Proof:
    assert question.proof is not None, question.id
    return question.proof


def _argument(value: Formula | Scalar, bindings: Bindings) -> Scalar:
    if not isinstance(value, Formula):
        return value
    result: Value = value(dict(bindings))
    if isinstance(result, list):
        raise FormulaError(f"`{value}` is a list, and an argument is one value")
    if isinstance(result, float) and result.is_integer():
        return int(result)
    return result


def _whole(formula: Formula, bindings: Bindings) -> int:
    number = formula.number(dict(bindings))
    if number != int(number):
        raise FormulaError(f"`{formula}` is {number}, not a whole number of ranks")
    return int(number)
