"""A verdict on the screen: right or wrong in words, what was expected, and why."""

from collections.abc import Sequence
from typing import Literal

from rich.console import Group, RenderableType
from rich.text import Text

from quizkit.bank.model import Bug, Choice, Cloze, Essay, Order, Trace
from quizkit.tutor.corrected import disputable
from quizkit.tutor.desk import Moment
from quizkit.tutor.verdict import Note, Verdict
from quizkit.ui.screens.explain_screen import (
    explains_options,
    explanation,
    followup,
    named,
    spoken,
    why,
)
from quizkit.ui.screens.parts import (
    PARTLY,
    RIGHT,
    WRONG,
    Anchored,
    Flow,
    below,
    bracketed,
    colon,
    head,
    note,
    numbered,
    pairs,
    rule,
    said,
    section,
)
from quizkit.ui.screens.question_screen import asked, gapped, options, rubric, steps
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.text.code import listing
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import Lang, say

Section = Literal["why", "say", "proof"]
"""A part that is shown only when it is asked for."""

SECTIONS: tuple[Section, ...] = ("why", "say", "proof")


def verdict_screen(
    moment: Moment, width: int, plain: bool = False, opened: Sequence[Section] = SECTIONS
) -> RenderableType:
    """Draw everything above the footer once the answer is graded."""
    body = verdict_body(moment, width, plain, opened)
    return Group(*body, *said(moment, plain), *standing(moment, plain))


def verdict_body(
    moment: Moment, width: int, plain: bool = False, opened: Sequence[Section] = SECTIONS
) -> list[RenderableType]:
    """Draw the verdict, the reasons, what was asked for in `opened`'s order, then the question.

    The question was on the screen a moment ago: it stands last, to be looked up.
    """
    parts = [head(moment, plain), *outcome(moment, plain), *explanation(moment, plain)]
    parts += followup(moment, plain)
    for name in opened:
        if name == "why" and moment.why:
            parts.append(Anchored("why", *why(moment, plain)))
        elif name == "say" and moment.say:
            parts.append(Anchored("say", *spoken(moment, plain)))
        elif name == "proof" and moment.proof:
            parts.append(Anchored("proof", *proved(moment, width, plain)))
    title = say("ui.question", moment.lang)
    parts += [Text(""), Text(title, "bold") if plain else rule(title)]
    return [*parts, asked(moment, plain), *recap(moment, plain)]


def nothing_to_show(moment: Moment) -> list[str]:
    """Name the commands that lead nowhere now."""
    question, verdict = moment.question, moment.verdict
    empty = {"assume": not question.usual}
    if verdict is None:
        empty["hint"] = moment.hints_shown >= len(question.hints)
        return [name for name, is_empty in empty.items() if is_empty]
    empty |= {
        "right": verdict.right or not disputable(question, moment.given),
        "prove": question.proof is None,
        "full": moment.proof is None,
        "why": not explains_options(question),
        "say": question.say is None,
    }
    return [name for name, is_empty in empty.items() if is_empty]


def sections(moment: Moment) -> list[Section]:
    """Name the sections that have been asked for."""
    shown = {"why": moment.why, "say": moment.say, "proof": moment.proof is not None}
    return [name for name in SECTIONS if shown[name]]


def recap(moment: Moment, plain: bool) -> list[RenderableType]:
    """Draw the question's own parts, marked with what was right and what was given."""
    question, given = moment.question, Draft(moment.given)
    match question:
        case Choice():
            return [Text(""), _marked_options(moment, given.picked, plain)]
        case Order():
            return [Text(""), numbered(steps(moment, plain))]
        case Cloze():
            answers = [gap.answer[moment.lang] for gap in question.gaps.values()]
            return [Text(""), prose(gapped(moment, answers), plain)]
        case Trace() if moment.asked.code:
            return [Text(""), listing(moment.asked.code.lines, plain=plain)]
        case Bug() if moment.asked.code:
            marks: dict[int, tuple[str, str]] = dict.fromkeys(
                moment.asked.code.changed, ("!", WRONG)
            )
            line = given.parts.get("line")
            if isinstance(line, int):
                sign = ">!" if line in marks else ">"
                marks[line] = (sign, RIGHT if line in marks else WRONG)
            return [Text(""), listing(moment.asked.code.lines, marks, plain)]
        case _:
            return []


_NOT_KNOWN: Note = ("study.not_known", {})


def headline(verdict: Verdict, lang: Lang, sure: bool | None = None) -> Text:
    """Say right, partly, wrong or not known: in words first, in colour too."""
    if verdict.right:
        return Text(say("ui.right", lang), RIGHT)
    if verdict.score > 0:
        return Text(say("ui.partly", lang, score=f"{100 * verdict.score:.0f}%"), PARTLY)
    if _NOT_KNOWN in verdict.notes:
        return Text(say("ui.not_known", lang), WRONG)
    return Text(say("ui.sure_wrong" if sure else "ui.wrong", lang), WRONG)


def outcome(moment: Moment, plain: bool) -> list[RenderableType]:
    """Draw the verdict: answer against answer, and which mistake it was."""
    verdict, lang = moment.verdict, moment.lang
    assert verdict is not None
    title = headline(verdict, lang, moment.sure)
    parts: list[RenderableType] = [Text("")]
    parts.append(title if plain else rule(title.plain, str(title.style)))
    if moment.sure and not verdict.right and _NOT_KNOWN not in verdict.notes:
        parts += [Text(""), Text(say("ui.sure_wrong_note", lang), "bold", overflow="fold")]
    parts += _answers(moment, plain)
    rows: list[tuple[str, RenderableType]] = []
    if verdict.trap:
        forgot = inline(moment.asked.fill(verdict.trap.forgot, lang), plain)
        rows.append((say("ui.trap", lang), forgot))
    if verdict.myth and not verdict.right:
        rows.append((say("ui.myth", lang), named(verdict.myth, moment.names, lang)))
    if rows:
        parts += [Text(""), pairs(rows)]
    notes = [each for each in verdict.notes if each != _NOT_KNOWN]  # the title says it
    parts += [Text(note(each, lang), overflow="fold") for each in notes]
    return parts


def proved(moment: Moment, width: int, plain: bool) -> list[RenderableType]:
    """Draw the run, if there was one: at a glance, or all of it."""
    # Loaded when somebody asks for a proof: it brings the laboratory with it.
    from quizkit.ui.proof.glance import glance
    from quizkit.ui.proof.proof_screen import proof_screen

    return proof_screen(moment, width, plain) if moment.full else glance(moment, width, plain)


def standing(moment: Moment, plain: bool) -> list[RenderableType]:
    """Return the last line: the verdict again (its first may have left the screen), grade, date."""
    assert moment.verdict is not None
    line = headline(moment.verdict, moment.lang, moment.sure)
    facts: list[str] = []
    short = _short_answer(moment)
    if not moment.verdict.right and short and not plain:
        facts.append(f"{say('ui.expected', moment.lang)} {short}")
    if moment.grade is not None:
        why = [note(each, moment.lang) for each in moment.lowered]
        reasons = bracketed(why, moment.lang) if why else ""
        facts.append(say(f"ui.grade_{moment.grade}", moment.lang) + reasons)
    if moment.due is not None:
        date = moment.due.astimezone().date().isoformat()
        facts.append(say("ui.due", moment.lang, date=date))
    if plain:
        comma = "，" if moment.lang == "zh" else ", "
        return [Text(comma.join(facts))] if facts else []
    return [Text(""), Flow([line, *(Text(fact) for fact in facts)])]


def _short_answer(moment: Moment) -> str:
    """The right answer where a few letters say it, else nothing."""
    question, verdict = moment.question, moment.verdict
    assert verdict is not None
    if isinstance(question, Choice):
        right = [n for n, i in enumerate(moment.asked.order, 1) if question.options[i].correct]
        return ", ".join(map(str, right))
    text = verdict.expected[moment.lang]
    return text if len(text) <= 24 and "\n" not in text else ""


def _answers(moment: Moment, plain: bool) -> list[RenderableType]:
    """The learner's answer beside the right one, where the recap does not show both already."""
    question, verdict, lang = moment.question, moment.verdict, moment.lang
    assert verdict is not None
    match question:
        case Choice():
            return [Text(""), *_options_that_count(moment, plain)]
        case Essay():
            return _rubric_said(moment, plain)
        case Order():
            by_id = {step.id: moment.asked.fill(step.text, lang) for step in question.steps}
            right = [inline(by_id[step.id], plain) for step in question.steps]
            parts = section(say("ui.step_right", lang), numbered(right))
            if not verdict.right:
                mine = [by_id.get(each, each) for each in Draft(moment.given).steps]
                rows = numbered([inline(each, plain) for each in mine])
                none = Text(say("ui.no_answer", lang))
                parts += section(say("ui.yours", lang), rows if mine else none)
            return parts
        case _:
            answers: list[tuple[str, RenderableType]] = [
                (say("ui.yours", lang), Text(_given(moment), overflow="fold")),
                (say("ui.expected", lang), Text(verdict.expected[lang], overflow="fold")),
            ]
            return [Text(""), pairs(answers)]


def _given(moment: Moment) -> str:
    """The answer as the learner gave it."""
    given, lang = Draft(moment.given), moment.lang
    match moment.question:
        case Cloze() as question:
            shown = " · ".join(str(given.parts.get(name, "")) for name in question.gaps)
        case Bug():
            line = given.parts.get("line")
            shown = "" if line is None else say("ui.line_chosen", lang, line=line)
        case _:
            shown = given.text
    return (shown.strip(" ·") and shown) or say("ui.no_answer", lang)


def _marked_options(moment: Moment, picked: Sequence[int], plain: bool) -> RenderableType:
    """All options, those that are right and those that were picked marked."""
    rows = [_marked(moment, place, picked, plain) for place in range(len(moment.asked.order))]
    return numbered([row for _, row in rows], None if plain else [sign for sign, _ in rows])


def _options_that_count(moment: Moment, plain: bool) -> list[RenderableType]:
    """The options that were picked or are right; what is wrong comes first, with its reason."""
    question, picked = moment.question, Draft(moment.given).picked
    assert isinstance(question, Choice)
    parts: list[RenderableType] = []
    counting: list[tuple[bool, int]] = [
        (question.options[index].correct, place)
        for place, index in enumerate(moment.asked.order)
        if question.options[index].correct or index in picked
    ]
    for correct, place in sorted(counting):
        sign, row = _marked(moment, place, picked, plain)
        parts.append(numbered([row], None if plain else [sign], first=place))
        option = question.options[moment.asked.order[place]]
        if option.why and not correct:
            reason = inline(moment.asked.fill(option.why, moment.lang), plain)
            parts.append(below(reason, 0 if plain else 5))
    return parts


def _marked(
    moment: Moment, place: int, picked: Sequence[int], plain: bool
) -> tuple[tuple[str, str], Text]:
    """One option with the sign before it and the words behind it."""
    question, lang = moment.question, moment.lang
    assert isinstance(question, Choice)
    index = moment.asked.order[place]
    correct, mine = question.options[index].correct, index in picked
    words = [say("ui.option_right", lang)] if correct else []
    words += [say("ui.option_yours", lang)] if mine else []
    style = RIGHT if correct else WRONG if mine else ""
    row = options(moment, plain)[place]
    sign = ("✓" if correct else "✗" if mine else " ", style)
    return sign, row.append(bracketed(words, lang), style) if words else row


def _rubric_said(moment: Moment, plain: bool) -> list[RenderableType]:
    """List what was asked for and whether it was said."""
    lang, given = moment.lang, Draft(moment.given)
    points, vetoes, rows = rubric(moment, plain)
    split = len(points)
    lines: list[RenderableType] = []
    for at, row in enumerate(rows[:split]):
        told = at in given.ticks("points")
        word = say("ui.said" if told else "ui.unsaid", lang)
        lines.append(Text(word + colon(lang), "green" if told else "red").append_text(_plain(row)))
    for at, row in enumerate(rows[split:]):
        if at in given.ticks("vetoes"):
            reason = inline(moment.asked.fill(vetoes[at].why, lang), plain)
            line = Text(say("ui.said_false", lang) + colon(lang), WRONG).append_text(_plain(row))
            lines.append(line.append(colon(lang)).append_text(_plain(reason)))
    text = str(given.parts.get("text", "")) or given.text
    if text:
        mine = Text(text, "italic", overflow="fold")
        lines = [*section(say("ui.your_text", lang), mine), *_before(moment), Text(""), *lines]
    return lines


def _before(moment: Moment) -> list[RenderableType]:
    """Show what the learner wrote the last time, to see what has changed."""
    row = moment.before
    text = str(Draft(row.given).parts.get("text", "")) if row else ""
    if not row or not text:
        return []
    date = row.at.astimezone().date().isoformat()
    title = say("ui.before", moment.lang, date=date)
    return section(title, Text(text, "italic dim", overflow="fold"))


def _plain(row: Text) -> Text:
    """The row with a style of its own, so that it does not take its neighbour's."""
    row.style = "not bold default"
    return row
