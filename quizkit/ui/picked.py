"""What the learner picked beside what the run measured of it: "you said ...; measured ..."."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.model import Choice
from quizkit.proof.view import ProofView
from quizkit.tutor.asked import show_value
from quizkit.tutor.desk import Moment
from quizkit.ui.draft import Draft
from quizkit.ui.inline import inline
from quizkit.ui.parts import RIGHT, WRONG, pairs
from quizkit.words import say


def picked(moment: Moment, proof: ProofView, plain: bool) -> list[RenderableType]:
    """Of each picked option its words, the numbers its claim is about, and what they say to it."""
    rows = [*_rows(moment, proof, plain)]
    return [Text(""), pairs(rows)] if rows else []


def _rows(moment: Moment, proof: ProofView, plain: bool) -> Iterator[tuple[str, RenderableType]]:
    question, lang = moment.question, moment.lang
    if not isinstance(question, Choice):
        return
    claims = {judged.place: judged for judged in proof.claims}
    for index in sorted(Draft(moment.given).picked, key=moment.asked.order.index):
        judged = claims.get(f"options.{index}.claim")
        if judged is None or not judged.truths or "error" in judged.truths:
            continue
        text = moment.asked.fill(question.options[index].text, lang)
        yield say("ui.you_said", lang), inline(text, plain)
        if judged.place in proof.untested:
            yield "", Text(say("ui.said_untested", lang), "dim")
            continue
        named = [name for name in proof.values if name in judged.claim.names]
        numbers = "\n".join(f"{name} = {show_value(proof.values[name])}" for name in named)
        yield say("ui.measured", lang), Text(numbers, overflow="fold")
        holds = judged.truths[-1] == "true"
        word = say("ui.said_holds" if holds else "ui.said_fails", lang)
        yield "", Text(word, RIGHT if holds else WRONG)
