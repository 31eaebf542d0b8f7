"""Compares what a question claims with what its runs measured.

A claim is a statement about every run of the proof: it holds if it is true in all of them. The
claim of a wrong option and the trap of a number are such statements too, and one counterexample
refutes them. An error (a missing name, NaN, a wrong shape) is neither: it fails the proof.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quizkit.bank.entry import points_of
from quizkit.bank.formula import Formula, FormulaError
from quizkit.bank.functions import Scalar, Value, is_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Text, Trace
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report
from quizkit.proof.said import both, plain
from quizkit.proof.setting import Bindings

Truth = Literal["true", "false", "error"]
Role = Literal["claim", "right", "refuted", "point", "trap"]

ROUNDING = 1e-9  # a difference below this may be either, where a demo does not say


@dataclass(frozen=True, slots=True)
class BoundRun:
    """One run of a proof: what was bound, and what came back."""

    bindings: Bindings
    report: Report


@dataclass(frozen=True, slots=True)
class Judged:
    """One claim against the runs. `place` is where it stands in the question's file.

    A trap is the claim with `answer` replaced by the `instead` of the trap.
    """

    place: str
    role: Role
    claim: Formula
    truths: tuple[Truth, ...]
    error: Text | None = None
    instead: Formula | None = None

    @property
    def wanted(self) -> bool:
        """Tell whether the key says it is true; wrong options and traps are to be refuted."""
        return self.role not in ("refuted", "trap")

    @property
    def holds(self) -> bool:
        """Tell whether it came out as the key says: true in every run, or refuted by one."""
        if "error" in self.truths or self.error:
            return False
        return ("false" not in self.truths) is self.wanted


@dataclass(frozen=True, slots=True)
class Judgement:
    """A proof's outcome: every run must have ended as declared, every claim as the key says."""

    runs: tuple[BoundRun, ...]
    claims: tuple[Judged, ...]
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Tell whether the key stands."""
        return not self.reason and all(claim.holds for claim in self.claims)


def judge(question: Question, runs: Sequence[BoundRun], demo: Demo) -> Judgement:
    """Hold a question's key against the runs of its proof."""
    reason = next((why for run in runs if (why := _outcome(question, run.report, demo))), "")
    if reason:
        return Judgement(tuple(runs), (), reason)
    claims = tuple(_judged(question, runs, demo, *each) for each in statements(question))
    return Judgement(tuple(runs), claims)


def statements(question: Question) -> Iterator[tuple[str, Role, Formula, Mapping[str, Formula]]]:
    """Yield all of the key that a run can decide: (place, role, claim, names it replaces)."""
    proof = question.proof
    if proof is None:
        return
    for index, claim in enumerate(proof.claims):
        yield f"proof.claims.{index}", "claim", claim, {}
    match question:
        case Choice():
            for index, option in enumerate(question.options):
                if option.claim:
                    role: Role = "right" if option.correct else "refuted"
                    yield f"options.{index}.claim", role, option.claim, {}
        case Numeric():
            naming = [claim for claim in proof.claims if "answer" in claim.names]
            for index, trap in enumerate(question.traps):
                for claim in naming:
                    yield f"traps.{index}.formula", "trap", claim, {"answer": trap.formula}
        case Bug() | Essay():
            for place, point in points_of(question):
                if point.claim:
                    yield f"{place}.claim", "point", point.claim, {}
        case _:
            pass


def scope(
    question: Question, run: BoundRun, demo: Demo, replaced: Mapping[str, Formula] | None = None
) -> dict[str, Value]:
    """Map a claim's names to values: metrics, arguments, ranks, outcome, parameters, the key."""
    report = run.report
    defaults: dict[str, Scalar] = {name: p.default for name, p in demo.parameters.items()}
    values: dict[str, Value] = {**defaults, **report.args}
    values |= {"ranks": report.ranks, "outcome": report.outcome} | dict(run.bindings)
    for name, metric in report.metrics.items():
        floor = report.floors.get(name, 0.0)
        values[name] = (
            [_floored(each, floor) for each in metric]
            if isinstance(metric, tuple)
            else _floored(metric, floor)
        )
    key = {**key_names(question), **(replaced or {})}
    for name, meaning in key.items():
        values[name] = meaning(values) if isinstance(meaning, Formula) else meaning
    return values


def _floored(value: Scalar, floor: float) -> int | float | bool:
    """The measurement; up to the floor that its demo declares, a difference is none."""
    assert not isinstance(value, str)
    return 0 if floor and abs(value) <= floor else value


def key_names(question: Question) -> dict[str, Formula | Value]:
    """Return the names that the kind binds in claims: `answer`, each gap, each step's position."""
    match question:
        case Numeric():
            return {"answer": question.answer}
        case Trace(answer=answer):
            return {"answer": list(answer) if isinstance(answer, tuple) else answer}
        case Cloze():
            return {name: gap.value for name, gap in question.gaps.items() if gap.value}
        case Order(steps=steps):
            places: dict[str, Formula | Value] = {s.id: i for i, s in enumerate(steps, start=1)}
            return {**places, "order": list(range(1, len(steps) + 1))}
        case _:
            return {}


def _judged(
    question: Question,
    runs: Sequence[BoundRun],
    demo: Demo,
    place: str,
    role: Role,
    claim: Formula,
    replaced: Mapping[str, Formula],
) -> Judged:
    truths: list[Truth] = []
    wrong: Text | None = None
    for run in runs:
        try:
            values = scope(question, run, demo, replaced)
            truth = claim.truth(values)
            truths.append("true" if truth else "false")
        except FormulaError as error:
            truths.append("error")
            wrong = plain(str(error))
        else:
            wrong = wrong or _rounding(claim, truth, values, run.report)
    wrong = wrong or _unmeasured(question, claim, runs)
    return Judged(place, role, claim, tuple(truths), wrong, replaced.get("answer"))


def _rounding(
    claim: Formula, truth: bool, values: Mapping[str, Value], report: Report
) -> Text | None:
    """Return the fault of a claim that turns on whether a difference of 1e-15 is one, or None."""
    for name in sorted(claim.names & report.how.keys()):
        if report.how[name] != "compared" or name in report.floors:
            continue
        value = values[name]
        parts = value if isinstance(value, list) else [value]
        small = [each for each in parts if is_number(each) and 0 < abs(each) < ROUNDING]
        if not small:
            continue
        nought: Value = 0
        if isinstance(value, list):
            nought = [0 if each in small else each for each in value]
        without = {**values, name: nought}
        try:
            same = claim.truth(without) is truth
        except FormulaError:
            same = False
        if not same:
            return both("prove.rounding", name=name, value=f"{small[0]:.2g}")
    return None


def _unmeasured(question: Question, claim: Formula, runs: Sequence[BoundRun]) -> Text | None:
    """Return why a claim rests on nothing that was measured, or None."""
    # How a run ended says something where a bug was planted; a healthy one has to finish anyway.
    if "outcome" in claim.names and question.proof and question.proof.broken:
        return None
    for run in runs:
        how = [run.report.how.get(name) for name in claim.names & set(run.report.metrics)]
        if not any(each and each != "computed" for each in how):
            return both("prove.unmeasured")
    return None


def _outcome(question: Question, report: Report, demo: Demo) -> str:
    """Say why the run did not end as declared, or nothing."""
    proof = question.proof
    assert proof is not None
    if proof.broken is not None:
        expect = demo.breaks[proof.broken].expect
        if report.shows(expect):
            return ""
        return f"the break `{proof.broken}` did not show `{expect}`; the run {_ended(report)}"
    if report.verdict == "pass":
        return ""
    return f"the run {_ended(report)}"


def _ended(report: Report) -> str:
    if report.error is not None:
        return f"{report.outcome}: {report.error.message.strip().splitlines()[-1]}"
    broken = [check.name for check in report.checks if not check.holds]
    return f"failed its check `{broken[0]}`" if broken else f"{report.outcome} ({report.verdict})"
