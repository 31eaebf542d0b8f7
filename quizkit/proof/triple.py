"""Formula, simulator and run of the same configuration, side by side: the three must agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Literal

from quizkit.bank.formula import FormulaError, parse
from quizkit.bank.functions import Value
from quizkit.calc.sheets import sheet
from quizkit.errors import QuizkitError
from quizkit.lab.report import Report, Setting
from quizkit.proof.prove import NOT_HERE, Runner

Outcome = Literal["agree", "differ", "skipped"]


@dataclass(frozen=True, slots=True)
class Triple:
    """One figure of a calculator and the smallest real run that measures it.

    `measured` is a formula of the run's metrics; `formula` and `simulator` name figures of the
    sheet, and the one that does not exist for this sum is empty.
    """

    sheet: str
    inputs: Mapping[str, Value]
    formula: str
    simulator: str
    demo: str
    ranks: int
    args: Mapping[str, int | float | bool | str]
    measured: str

    @property
    def setting(self) -> Setting:
        """The run that the sum is held against."""
        return Setting(self.demo, self.ranks, tuple(sorted(self.args.items())), None)


@dataclass(frozen=True, slots=True)
class Compared:
    """A triple with its numbers; None where there is no such number."""

    triple: Triple
    formula: Value | None
    simulator: Value | None
    measured: Value | None
    outcome: Outcome
    reason: str = ""


def compare(triples: Sequence[Triple], run: Runner) -> list[Compared]:
    """Run each configuration once and hold its numbers against the sheet's."""
    reports: dict[Setting, Report | QuizkitError] = {}
    for triple in triples:
        if triple.setting not in reports:
            try:
                reports[triple.setting] = run(triple.setting)
            except QuizkitError as error:
                reports[triple.setting] = error
    return [_compared(triple, reports[triple.setting]) for triple in triples]


def _compared(triple: Triple, report: Report | QuizkitError) -> Compared:
    figures = sheet(triple.sheet).work(triple.inputs).figures
    formula, simulator = figures.get(triple.formula), figures.get(triple.simulator)
    if isinstance(report, QuizkitError):
        outcome: Outcome = "skipped" if report.key in NOT_HERE else "differ"
        return Compared(triple, formula, simulator, None, outcome, str(report))
    if report.verdict != "pass":
        return Compared(triple, formula, simulator, None, "differ", f"the run: {report.outcome}")
    try:
        measured = parse(triple.measured)(_metrics(report))
    except FormulaError as error:
        return Compared(triple, formula, simulator, None, "differ", str(error))
    named = [(triple.formula, formula), (triple.simulator, simulator)]
    missing = [name for name, value in named if name and value is None]
    if missing or not any(name for name, _ in named):
        reason = f"no figure {', '.join(missing) or 'named'}"
        return Compared(triple, formula, simulator, measured, "differ", reason)
    agree = all(_same(value, measured) for name, value in named if name)
    return Compared(triple, formula, simulator, measured, "agree" if agree else "differ")


def _metrics(report: Report) -> dict[str, Value]:
    """Return what was measured; a computed value would be a formula held against itself."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in report.metrics.items()
        if report.how.get(name) != "computed"
    }


def _same(a: Value | None, b: Value | None) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return isclose(a, b, rel_tol=1e-9)
    return False
