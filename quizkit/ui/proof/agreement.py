"""Draw three lines in the question's words: you said, the run says, the right answer."""

from collections.abc import Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_number, show_value
from quizkit.bank.entry import points_of
from quizkit.bank.functions import Number, is_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Trace
from quizkit.proof.reading.sayings import told_whole
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.bearing import Mark, bearing, claimable, setting
from quizkit.ui.proof.predicted import said_number
from quizkit.ui.screens.parts import RIGHT, WRONG, colon, short
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.text.inline import inline
from quizkit.words import say

Said = tuple[str, str, bool | None]
"""The learner's words, the run's, and True if it bears the learner out; None if it cannot say."""

_SI, _IEC = ("TB", "GB", "MB", "kB", "B"), ("TiB", "GiB", "MiB", "KiB", "B")
_TIMES = ("s", "ms", "us", "ns")
_SMALL = 0.01  # below this a unit is too large for a number


def agreement(moment: Moment, proof: ProofView, width: int) -> list[tuple[str, RenderableType]]:
    """Return the three lines, the run's in the colour of whether it agrees with the learner."""
    lang = moment.lang
    mine, run, agrees = _said(moment, proof)
    style = "" if agrees is None else RIGHT if agrees else WRONG
    labels = [say(f"glance.{key}", lang) for key in ("you", "run", "right_one")]
    room = width - max(Text(label).cell_len for label in labels) - 2
    yours = short(inline(mine or say("glance.nothing", lang), True), room)
    theirs = short(inline(run, True), room)
    theirs.stylize(style or "bold")
    return [(labels[0], yours), (labels[1], theirs), (labels[2], _right(moment, proof, room))]


def _right(moment: Moment, proof: ProofView, room: int) -> Text:
    """The right answer, and whether this run agrees with it."""
    lang = moment.lang
    word = say(f"glance.{_agrees(proof)}", lang)
    answer = short(Text(right_answer(moment)), room - cell_len(word) - 2)
    return answer.append(f"  {word}", RIGHT if proof.holds else WRONG)


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
            return number_said(moment, proof)


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


def _agrees(proof: ProofView) -> str:
    """The word for whether this run agrees: with all, or with the options and not beside them."""
    if proof.holds:
        return "bears"
    rights = [claim for claim in proof.claims if claim.role == "right"]
    wrongs = [claim for claim in proof.claims if claim.role == "refuted"]
    stands = any(claim.truths and claim.truths[-1] == "true" for claim in wrongs)
    apart = rights and all(claim.holds for claim in rights) and not stands
    return "beside" if apart else "fails"


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

    right = isinstance(mine, int) and mine in wrong
    said = shown([mine]) if isinstance(mine, int) else ""
    return said, *_borne_out(moment, proof, right, shown(wrong))


def _points(moment: Moment, proof: ProofView) -> Said:
    lang, places = moment.lang, claimable(moment)
    marks = [bearing(moment.question, proof, place, lang).mark for place in places]
    ticked = len(Draft(moment.given).ticks("points"))
    told = [told_whole(moment.question, point) for _, point in points_of(moment.question)]
    held = [whole for mark, whole in zip(marks, told, strict=True) if mark == "holds"]
    counts = {"held": sum(held), "part": len(held) - sum(held), "out": marks.count("refuted")}
    run = say("glance.points_run", lang, rest=marks.count("open"), **counts)
    return say("glance.points", lang, said=ticked, of=len(places)), run, None


def _order(moment: Moment, proof: ProofView, question: Order) -> Said:
    """Steps by the numbers that they were shown with, in the order of what was measured of each."""
    lang, key = moment.lang, [step.id for step in question.steps]
    shown = {key[index]: number for number, index in enumerate(moment.asked.order, start=1)}
    said = _arrows([shown[step] for step in Draft(moment.given).steps])
    right = moment.verdict is not None and moment.verdict.right
    moments = {step: value for step, value in proof.keyed.items() if is_number(value)}
    if len(moments) < len(key):
        return said, *_borne_out(moment, proof, right, _arrows([shown[step] for step in key]))
    if right and proof.holds:
        return said, say("glance.agrees", lang), True
    rising = groupby(sorted(moments, key=lambda step: moments[step]), key=lambda s: moments[s])
    at_once = [" = ".join(str(shown[step]) for step in steps) for _, steps in rising]
    return said, " → ".join(at_once), right if proof.holds else None


def _arrows(numbers: Sequence[int]) -> str:
    return " → ".join(map(str, numbers))


def _gaps(moment: Moment, proof: ProofView, question: Cloze) -> Said:
    lang, parts = moment.lang, Draft(moment.given).parts
    typed = [
        str(parts.get(name, Draft(moment.given).text)).strip() or "-" for name in question.gaps
    ]
    said = " · ".join(typed) if any(t != "-" for t in typed) else ""
    right = moment.verdict is not None and moment.verdict.right
    if not proof.keyed:
        answers = " · ".join(gap.answer[lang] for gap in question.gaps.values())
        return said, *_borne_out(moment, proof, right, answers)
    if right and proof.holds:
        return said, say("glance.agrees", lang), True
    found = {name: show_value(value) for name, value in proof.keyed.items()}
    run = " · ".join(found.get(name, "?") for name in question.gaps)
    return said, run, right if proof.holds else None


def _borne_out(moment: Moment, proof: ProofView, right: bool, key: str) -> tuple[str, bool | None]:
    """Say whether the run bears out a key that its claims decide without measuring it."""
    if not proof.holds:
        return say("glance.not_borne_out", moment.lang), None
    return say("glance.agrees" if right else "glance.borne_out", moment.lang, answer=key), right


def number_said(moment: Moment, proof: ProofView) -> Said:
    """Return a number as the learner said it and as the run measured it, each in its unit."""
    question, lang = moment.question, moment.lang
    unit = question.unit if isinstance(question, Numeric) else ""
    right = moment.verdict is not None and moment.verdict.right
    said = said_number(moment, proof.measured if proof.measured is not None else 0)
    mine = _with_unit(show_value(said), unit) if said is not None else Draft(moment.given).text
    if proof.measured is None:
        return mine, *_borne_out(moment, proof, right, right_answer(moment))
    measured = proof.measured
    run = fitted(measured, unit)[0]
    if isinstance(question, Numeric) and not proof.own and not proof.holds:
        run = say("glance.measured_at", lang, value=run, setting=setting(proof.bindings))
    elif isinstance(question, Numeric) and not proof.own:
        run = say("glance.elsewhere", lang, value=run, setting=setting(proof.bindings))
    return mine, run, right if proof.holds else None


def right_answer(moment: Moment) -> str:
    """Return the key in the numbers that the question was shown with; an essay has points."""
    lang, question = moment.lang, moment.question
    match question:
        case Choice(options=options):
            order = enumerate(moment.asked.order, start=1)
            return ", ".join(str(number) for number, index in order if options[index].correct)
        case Bug():
            lines = sorted(moment.asked.code.changed) if moment.asked.code else []
            return say("glance.line", lang, line=", ".join(map(str, lines)))
        case Order(steps=steps):
            places = [moment.asked.order.index(index) + 1 for index in range(len(steps))]
            return _arrows(places)
        case Cloze(gaps=gaps):
            return " · ".join(gap.answer[lang] for gap in gaps.values())
        case Numeric(unit=unit):
            return _with_unit(show_number(moment.asked.answer()), unit)
        case Trace():
            return moment.verdict.expected[lang] if moment.verdict else ""
        case _:
            return say("glance.all_points", lang)


def fitted(value: Number | list[Number], unit: str) -> tuple[str, str, float]:
    """Return a measured number with its unit, that unit, and how many of it the question's unit
    is: a small run of what is asked in GB measures bytes.
    """
    if isinstance(value, list):
        return _with_unit(show_value([*value]), unit), unit, 1
    scale = 1.0
    small = 0 < abs(value) < _SMALL
    for names, step in ((_SI, 1000), (_IEC, 1024), (_TIMES, 1000)):
        while small and unit in names[:-1] and abs(value) * scale < 1:
            unit, scale = names[names.index(unit) + 1], scale * step
    return _with_unit(show_number(value * scale), unit), unit, scale


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}".strip()
