"""Options, points and reasons, a line each: does the run bear it out, whose it was, the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.text import Text

from quizkit.bank.entry import points_of
from quizkit.bank.model import Choice, Essay
from quizkit.proof.reading.sayings import told_whole
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.bearing import Bearing, Mark, bearing, claimable
from quizkit.ui.screens.parts import RIGHT, WRONG, bracketed, short
from quizkit.ui.terminal.draft import Draft, found_line
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say

SIGNS: dict[Mark, tuple[str, str]] = {
    "holds": ("✓", RIGHT),
    "refuted": ("✗", WRONG),
    "open": ("·", "dim"),
}
_INDENT = " " * 5


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, its number on the screen, what the run says of it, and whose it is."""

    number: int
    text: str
    bearing: Bearing
    note: str = ""
    in_part: bool = False  # it says more than the run decides


def options(moment: Moment, proof: ProofView) -> list[Statement]:
    """List every option in the order in which the learner saw it."""
    question, lang = moment.question, moment.lang
    assert isinstance(question, Choice)
    picked = Draft(moment.given).picked
    return [
        Statement(
            number,
            moment.asked.fill(question.options[index].text, lang),
            bearing(question, proof, place, lang),
            say("glance.yours", lang) if index in picked else "",
        )
        for number, (index, place) in enumerate(
            zip(moment.asked.order, claimable(moment), strict=True), start=1
        )
    ]


def points(moment: Moment, proof: ProofView) -> list[Statement]:
    """List points that a run decides, with whether they were said; the rest is counted."""
    question, lang, given = moment.question, moment.lang, Draft(moment.given)
    essay = isinstance(question, Essay)
    ticked = given.ticks("points" if essay else "reasons")
    was_asked = moment.given is not None and (essay or found_line(moment, given))
    found: list[Statement] = []
    for at, (place, point) in enumerate(points_of(question)):
        told = bearing(question, proof, f"{place}.claim", lang)
        note = say("glance.said" if at in ticked else "glance.left_out", lang)
        if told.mark != "open":
            text = moment.asked.fill(point.says, lang)
            part = not told_whole(question, point)
            found.append(Statement(at + 1, text, told, note if was_asked else "", part))
    return found


def listed(
    found: Sequence[Statement], lang: Lang, plain: bool, width: int, room: int
) -> list[RenderableType]:
    """Draw a line for each statement, and below it the numbers: those of what the learner said
    first, as far as there is room.
    """
    kept = {each.number: 0 for each in found}
    left = room - len(found)
    most = max((len(each.bearing.lines) for each in found), default=0)
    for depth in range(1, most + 1):
        for each in sorted(found, key=lambda each: not each.note):
            if left > 0 and len(each.bearing.lines) >= depth:
                kept[each.number], left = depth, left - 1
    parts: list[RenderableType] = []
    for each in found:
        parts.append(_line(each, lang, plain, width))
        for sentence in each.bearing.lines[: kept[each.number]]:
            lines = in_lines(sentence, width - len(_INDENT), 1 + (left > 0))
            left -= len(lines) - 1
            parts += [Text(_INDENT + line) for line in lines]
    return parts


def in_lines(sentence: str, width: int, most: int) -> list[str]:
    """Break the sentence into at most so many lines, the last of them cut where it goes on."""
    text = inline(" ".join(sentence.split()), True)
    if most == 1 or text.cell_len <= width:
        return [short(text, width).plain]
    first, *rest = text.wrap(Console(), width)
    more = " ".join(each.plain.strip() for each in rest)
    return [first.plain.rstrip(), short(Text(more), width).plain]


def _line(of: Statement, lang: Lang, plain: bool, width: int) -> Text:
    sign, style = SIGNS[of.bearing.mark]
    notes = [say(f"glance.{of.bearing.mark}", lang)] if plain else []
    notes += [of.note] if of.note else []
    notes += [say("glance.in_part", lang)] if of.in_part else []
    tail = bracketed(notes, lang) if notes else ""
    line = Text("").append("" if plain else f"{sign} ", style).append(f"{of.number}) ", "bold")
    text = short(inline(of.text, True), width - line.cell_len - Text(tail).cell_len)
    return line.append(text.plain).append(tail, "bold")
