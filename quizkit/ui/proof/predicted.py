"""The number that was predicted beside the one that was measured, each with its own key."""

from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_number, show_value
from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Number, Value
from quizkit.bank.model import Numeric
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.tutor.numbers import number_list
from quizkit.ui.screens.parts import pairs
from quizkit.ui.terminal.draft import Draft
from quizkit.words import Lang, say

_CLOSE = 1e-9
_FEW = 100  # what is counted up to here is off by so many, what is more by a share


def predicted(moment: Moment, proof: ProofView, names: Mapping[str, Value]) -> list[RenderableType]:
    """Show what the learner said and what came out; `names` have their values in this run.

    Where the run was of other numbers, what was said stands beside the key for the numbers that
    were asked, and what was measured beside the key for the numbers that ran.
    """
    if proof.measured is None:
        return []
    question, lang = moment.question, moment.lang
    said = said_number(moment, proof.measured)
    measured = Text(_shown(proof.measured), "bold")
    rows: list[tuple[str, RenderableType]] = []
    if said is not None:
        rows.append((say("ui.predicted", lang), Text(_shown(said), "bold", overflow="fold")))
    if isinstance(question, Numeric) and not proof.own:
        if said is not None:
            key = moment.asked.answer()
            beside = Text.assemble(show_number(key), f"  {off(said, key, lang)}")
            rows.append((say("ui.key_asked", lang), beside))
        rows.append((say("ui.measured", lang), measured))
        try:
            key = show_number(question.answer.number(names))
            rows.append((say("ui.key_there", lang), Text(key)))
        except FormulaError:  # the claims say what is missing
            pass
        return [Text(""), pairs(rows)]
    if said is not None:
        measured.append(f"  {off(said, proof.measured, lang)}", "not bold")
    rows.append((say("ui.measured", lang), measured))
    return [Text(""), pairs(rows)]


def said_number(moment: Moment, measured: Number | list[Number]) -> Number | list[Number] | None:
    """Return the learner's number; of a trace that asks for a list, the list."""
    number = moment.verdict.number if moment.verdict else None
    if number is not None or not isinstance(measured, list):
        return number
    numbers = number_list(Draft(moment.given).text, len(measured))
    return [*numbers] if numbers else None


def _shown(number: Number | list[Number]) -> str:
    return show_value([*number] if isinstance(number, list) else number)


def off(said: Number | list[Number], measured: Number | list[Number], lang: Lang) -> str:
    """Say how far apart they are; nothing of lists that differ, as they show where."""
    if isinstance(said, list) or isinstance(measured, list):
        return say("ui.exact", lang) if said == measured else ""
    gap = abs(said - measured)
    if gap <= _CLOSE * max(abs(said), abs(measured)):
        return say("ui.exact", lang)
    whole = float(said).is_integer() and float(measured).is_integer()
    if not measured or (whole and abs(measured) <= _FEW):
        return say("ui.off", lang, error=show_number(gap))
    percent = 100 * gap / abs(measured)
    return say("ui.off", lang, error=f"{percent:.0f}%" if percent >= 100 else f"{percent:.3g}%")
