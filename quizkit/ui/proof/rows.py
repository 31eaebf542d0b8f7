"""The table of a glance: each option, number, step or line with what the run has to say of it."""

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_value
from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Value, is_number
from quizkit.bank.model import Bug, Choice, Essay, Numeric
from quizkit.proof.judge import BoundRun, key_names, scope
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.agreement import fitted
from quizkit.ui.proof.bearing import sentences
from quizkit.ui.proof.filled import filled
from quizkit.ui.proof.planted import ending, planted
from quizkit.ui.proof.statements import listed, options, points
from quizkit.ui.screens.parts import WRONG, colon, short
from quizkit.ui.text.inline import inline
from quizkit.words import say


def rows(
    moment: Moment, proof: ProofView, plain: bool, width: int, room: int, numbers: bool
) -> list[RenderableType]:
    """Draw the table, with sentences as far as `room` lines have place for them; without `numbers`
    only the signs of options.
    """
    lang = moment.lang
    match moment.question:
        case Choice():
            found = options(moment, proof)
            end = ending(proof, lang, width)
            left = room - len(end) if numbers else len(found)
            return listed(found, lang, plain, width, left) + end
        case Essay():
            end = ending(proof, lang, width)
            return listed(points(moment, proof), lang, plain, width, room - len(end)) + end
        case Bug():
            bug = planted(proof, lang, width)
            left = room - len(bug)
            return bug + listed(points(moment, proof)[:left], lang, plain, width, left)
        case Numeric() as question if proof.measured is not None:
            return _numbers(moment, proof, question, width)[:room]
        case _:
            shown = filled(moment, proof, plain)[1:]
            return shown or _claimed(moment, proof, width)[:room]


def _numbers(
    moment: Moment, proof: ProofView, question: Numeric, width: int
) -> list[RenderableType]:
    """Each number with where it comes from: the run, the key, and the traps; the one hit first."""
    lang, hit = moment.lang, moment.verdict.trap if moment.verdict else None
    assert proof.measured is not None
    names = scope(question, BoundRun(proof.bindings, proof.report), proof.demo)
    shown, unit, scale = fitted(proof.measured, question.unit)

    def written(number: Value) -> str:
        return show_value(number if scale == 1 or not is_number(number) else number * scale)

    # A unit stands with the numbers only where it is not the one of the question.
    measured = shown if unit != question.unit else written(proof.measured)
    found = [(measured, say("glance.measured", lang), "bold")]
    key = say("glance.key" if proof.own else "glance.key_there", lang)
    found.append((written(question.answer(names)), key, ""))
    for trap in sorted(question.traps, key=lambda each: each is not hit):
        try:
            value = written(trap.formula(names))
        except FormulaError:  # a wrong formula need not have a value everywhere
            continue
        text = moment.asked.fill(trap.forgot, lang)
        if trap is hit:
            text = f"{say('glance.your_way', lang)}{colon(lang)}{text}"
        found.append((value, text, WRONG if trap is hit else ""))
    wide = max(len(value) for value, _, _ in found)
    return [_number(value.rjust(wide), text, style, width) for value, text, style in found]


def _number(value: str, text: str, style: str, width: int) -> Text:
    line = Text("").append(f"  {value}  ", style or "bold")
    return line.append(short(inline(text, True), width - line.cell_len).plain, style)


def _claimed(moment: Moment, proof: ProofView, width: int) -> list[RenderableType]:
    """List what the claims that name the key look at, where it was not measured by itself."""
    keys = {*key_names(moment.question)}
    claims = [judged for judged in proof.claims if judged.role == "claim"]
    found: dict[str, None] = {}
    for judged in [c for c in claims if c.claim.names & keys] or claims:
        found |= dict.fromkeys(sentences(moment.question, proof, judged, moment.lang))
    return [short(inline(f"  {sentence}", True), width) for sentence in found]
