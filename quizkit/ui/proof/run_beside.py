"""Say in a few words what a recorded run measured of a number that an interview asked."""

from quizkit.bank.formula import FormulaError
from quizkit.bank.model import Numeric, Text
from quizkit.mock.kept_card import KeptRun
from quizkit.mock.marks import Mark
from quizkit.proof.judge import BoundRun, scope
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.agreement import fitted, number_said
from quizkit.ui.proof.bearing import setting
from quizkit.words import Lang


def run_beside(mark: Mark, proof: ProofView) -> KeptRun | None:
    """Return what was said and what the run says; None where it measures nothing that was asked."""
    if proof.measured is None or mark.verdict is None:
        return None

    def told(lang: Lang) -> tuple[str, str, bool | None]:
        moment = Moment("verdict", mark.asked, lang, 1, given=mark.given, verdict=mark.verdict)
        return number_said(moment, proof)

    other = _of_other_numbers(mark, proof)
    (mine, run, agrees), (in_english, run_in_english, _) = told("zh"), told("en")
    return KeptRun(
        said=Text(mine, in_english),
        run=other[1] if other else Text(run, run_in_english),
        demo=proof.demo.name,
        agrees=agrees,
        at=other[0] if other else "",
        key=other[2] if other else None,
    )


def _of_other_numbers(mark: Mark, proof: ProofView) -> tuple[str, Text, Text | None] | None:
    """Return the numbers that ran, what was measured and what the formula gives for them."""
    question, measured = mark.question, proof.measured
    if not isinstance(question, Numeric) or proof.own or measured is None:
        return None
    at = {name: value for name, value in proof.bindings.items() if name in mark.asked.values}
    try:
        run = BoundRun(proof.bindings, proof.report)
        key = question.answer.number(scope(question, run, proof.demo))
    except FormulaError:
        there = None
    else:
        there = _same(fitted(key, question.unit)[0])
    return setting(at or proof.bindings), _same(fitted(measured, question.unit)[0]), there


def _same(text: str) -> Text:
    return Text(text, text)
