"""You said, the run says: two lines in the words of the question."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_number, show_value
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.bearing import Mark, bearing, claimable, setting
from quizkit.ui.proof.predicted import said_number
from quizkit.ui.screens.parts import RIGHT, WRONG, colon, short
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.text.inline import inline
from quizkit.words import say

Said = tuple[str, str, bool | None]
"""What the learner said, what the run says, and whether it bears the learner out, if it can."""


def agreement(moment: Moment, proof: ProofView, width: int) -> list[tuple[str, RenderableType]]:
    """The two, the run's in the colour of whether it agrees."""
    lang = moment.lang
    mine, run, agrees = _said(moment, proof)
    style = "" if agrees is None else RIGHT if agrees else WRONG
    labels = [say(f"glance.{key}", lang) for key in ("you", "run")]
    room = width - max(Text(label).cell_len for label in labels) - 2
    yours = short(inline(mine or say("glance.nothing", lang), True), room)
    theirs = short(inline(run, True), room)
    theirs.stylize(style or "bold")
    return [(labels[0], yours), (labels[1], theirs)]


def _said(moment: Moment, proof: ProofView) -> Said:
    match moment.question:
        case Choice() as question:
            return _option(moment, proof, question)
        case Bug():
            return _line(moment, proof)
        case Essay():
            return _points(moment, proof)
        case Order() as question:
            return _order(moment, proof, question)
        case Cloze() as question:
            return _gaps(moment, proof, question)
        case _:
            return _number(moment, proof)


def _option(moment: Moment, proof: ProofView, question: Choice) -> Said:
    """Of one option its words; of several their numbers, as their words stand below."""
    lang, picked = moment.lang, Draft(moment.given).picked
    marks: list[Mark] = [bearing(question, proof, place, lang).mark for place in claimable(moment)]
    mine = [n for n, index in enumerate(moment.asked.order, start=1) if index in picked]
    held, out = _with(marks, "holds"), _with(marks, "refuted")
    agrees = None
    if mine and mine == held:
        agrees = True
    elif {*mine} & {*out} or {*held} - {*mine}:
        agrees = False
    if agrees:
        run = say("glance.agrees", lang)
    elif held:
        run = _named(moment, question, held)
    else:
        run = say("glance.not", lang, what=_named(moment, question, out)) if out else ""
    return _named(moment, question, mine), run or say("glance.silent", lang), agrees


def _with(marks: Sequence[Mark], mark: Mark) -> list[int]:
    return [number for number, each in enumerate(marks, start=1) if each == mark]


def _named(moment: Moment, question: Choice, which: Sequence[int]) -> str:
    if len(which) == 1:
        option = question.options[moment.asked.order[which[0] - 1]]
        return f"{which[0]}) {moment.asked.fill(option.text, moment.lang).strip()}"
    return ", ".join(map(str, which))


def _line(moment: Moment, proof: ProofView) -> Said:
    lang, code = moment.lang, moment.asked.code
    mine = Draft(moment.given).parts.get("line")
    wrong = sorted(code.changed) if code else []

    def shown(numbers: Sequence[object]) -> str:
        told = say("glance.line", lang, line=", ".join(map(str, numbers)))
        if code and len(numbers) == 1 and isinstance(numbers[0], int):
            told += f"{colon(lang)}{code.lines[numbers[0] - 1].strip()}"
        return told

    agrees = isinstance(mine, int) and mine in wrong
    run = say("glance.agrees", lang) if agrees else shown(wrong)
    return shown([mine]) if isinstance(mine, int) else "", run, agrees if proof.holds else None


def _points(moment: Moment, proof: ProofView) -> Said:
    lang, places = moment.lang, claimable(moment)
    marks = [bearing(moment.question, proof, place, lang).mark for place in places]
    ticked = len(Draft(moment.given).ticks("points"))
    counts = {"held": marks.count("holds"), "out": marks.count("refuted")}
    run = say("glance.points_run", lang, rest=marks.count("open"), **counts)
    return say("glance.points", lang, said=ticked, of=len(places)), run, None


def _order(moment: Moment, proof: ProofView, question: Order) -> Said:
    """Steps by the numbers that they were shown with."""
    lang, key = moment.lang, [step.id for step in question.steps]
    shown = {key[index]: number for number, index in enumerate(moment.asked.order, start=1)}
    mine = Draft(moment.given).steps
    right = moment.verdict is not None and moment.verdict.right
    run = say("glance.agrees", lang) if right else _arrows([shown[step] for step in key])
    return _arrows([shown[step] for step in mine]), run, right if proof.holds else None


def _arrows(numbers: Sequence[int]) -> str:
    return " → ".join(map(str, numbers))


def _gaps(moment: Moment, proof: ProofView, question: Cloze) -> Said:
    lang, parts = moment.lang, Draft(moment.given).parts
    typed = [
        str(parts.get(name, Draft(moment.given).text)).strip() or "-" for name in question.gaps
    ]
    right = moment.verdict is not None and moment.verdict.right
    answers = " · ".join(gap.answer[lang] for gap in question.gaps.values())
    run = say("glance.agrees", lang) if right else answers
    return " · ".join(typed) if any(t != "-" for t in typed) else "", run, right


def _number(moment: Moment, proof: ProofView) -> Said:
    question, lang = moment.question, moment.lang
    unit = question.unit if isinstance(question, Numeric) else ""
    right = moment.verdict is not None and moment.verdict.right
    said = said_number(moment, proof.measured if proof.measured is not None else 0)
    mine = _with_unit(show_value(said), unit) if said is not None else Draft(moment.given).text
    if proof.measured is None:
        return mine, _keyed(moment, right), right if proof.holds else None
    measured = proof.measured
    run = _with_unit(show_value([*measured] if isinstance(measured, list) else measured), unit)
    if isinstance(question, Numeric) and not proof.own:
        answer = _with_unit(show_number(moment.asked.answer()), unit)
        bound = setting(proof.bindings)
        run = say("glance.elsewhere", lang, answer=answer, value=run, setting=bound)
    return mine, run, right if proof.holds else None


def _keyed(moment: Moment, right: bool) -> str:
    """What the run bears out, where it measured the number only along with others."""
    question, lang = moment.question, moment.lang
    if right:
        return say("glance.agrees", lang)
    if isinstance(question, Numeric):
        return _with_unit(show_number(moment.asked.answer()), question.unit)
    return moment.verdict.expected[lang] if moment.verdict else ""


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}".strip()
