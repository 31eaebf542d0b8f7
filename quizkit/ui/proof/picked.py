"""Show what the learner picked or ticked beside what the run measured of it."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import show_value
from quizkit.bank.model import Bug, Choice, Essay
from quizkit.bank.model import Text as Said
from quizkit.proof.judge import Judged
from quizkit.proof.reading.sayings import told_whole
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.screens.parts import RIGHT, WRONG, pairs, short
from quizkit.ui.terminal.draft import Draft, found_line
from quizkit.ui.text.inline import inline
from quizkit.words import say

Row = tuple[str, RenderableType]

_LONGEST = 60  # columns


def picked(moment: Moment, proof: ProofView, plain: bool) -> list[RenderableType]:
    """Show, for each picked option and each point that was ticked or not, its words, the numbers
    its claim is about, and what they say to it.
    """
    claims = {judged.place: judged for judged in proof.claims}
    rows: list[Row] = []
    for place, text, said, whole in _statements(moment):
        judged = claims.get(place)
        if judged is not None and judged.truths and "error" not in judged.truths:
            label = say("ui.you_said" if said else "ui.you_left_out", moment.lang)
            words = inline(moment.asked.fill(text, moment.lang), plain)
            # A point is long, and stands in full with the verdict.
            choice = isinstance(moment.question, Choice)
            rows.append((label, words if choice else short(words, _LONGEST)))
            rows += _measured(moment, proof, judged, whole, plain)
    return [Text(""), pairs(rows)] if rows else []


def _statements(moment: Moment) -> Iterator[tuple[str, Said, bool, bool]]:
    """Yield what can be claimed of an answer: its place, its words, if the learner said it, and if
    its claim has all that it says.
    """
    question, given = moment.question, Draft(moment.given)
    match question:
        case Choice():
            for index in sorted(given.picked, key=moment.asked.order.index):
                yield f"options.{index}.claim", question.options[index].text, True, True
        case Bug(reasons=points) if found_line(moment, given):  # others were not asked why
            for index, point in enumerate(points):
                yield (
                    f"reasons.{index}.claim",
                    point.says,
                    index in given.ticks("reasons"),
                    told_whole(question, point),
                )
        case Essay(rubric=points) if moment.given is not None:
            for index, point in enumerate(points):
                yield (
                    f"rubric.{index}.claim",
                    point.says,
                    index in given.ticks("points"),
                    told_whole(question, point),
                )
        case _:
            pass


def _measured(
    moment: Moment, proof: ProofView, judged: Judged, whole: bool, plain: bool
) -> Iterator[Row]:
    """The numbers, and whether they bear it out."""
    lang = moment.lang
    if judged.place in proof.untested:
        yield "", Text(say("ui.said_untested", lang), "dim")
        return
    shows = proof.shows.get(judged.place)
    if shows:
        yield say("ui.measured", lang), inline(shows[lang], plain)
    else:
        named = [name for name in proof.values if name in judged.claim.names]
        numbers = "\n".join(f"{name} = {show_value(proof.values[name])}" for name in named)
        yield say("ui.measured", lang), Text(numbers, overflow="fold")
    holds = judged.truths[-1] == "true"
    bears = "ui.point_holds" if judged.role == "point" else "ui.said_holds"
    bears += "" if whole else "_in_part"
    yield "", Text(say(bears if holds else "ui.said_fails", lang), RIGHT if holds else WRONG)
