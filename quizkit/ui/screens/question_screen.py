"""A question on the screen, with as much of the answer as has been given."""

import re
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from quizkit.bank.evidence import evidence
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Order, RubricPoint, Trace, Veto
from quizkit.tutor.desk import Moment
from quizkit.tutor.stem import stem
from quizkit.ui.screens.parts import Anchored, bracketed, head, numbered, said, section
from quizkit.ui.terminal.draft import Draft
from quizkit.ui.text.code import listing
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import say

_GAP = re.compile(r"\[\[(\w+)\]\]")
_CODE = re.compile(r"(```.*?```|~~~.*?~~~|`[^`]*`)", re.DOTALL)
_MARKS = re.compile(r"([\\`*_$\[\]|<>#])")


def question_screen(moment: Moment, draft: Draft, plain: bool = False) -> RenderableType:
    """Draw everything above the footer while an answer is awaited."""
    return Group(*question_body(moment, draft, plain), *said(moment, plain))


def question_body(moment: Moment, draft: Draft, plain: bool = False) -> list[RenderableType]:
    """Return the question, the answer so far and the hints, without what was said about it."""
    parts = [head(moment, plain), asked(moment, plain), *_body(moment, draft, plain)]
    if moment.answer_in and isinstance(moment.question, Essay | Cloze):
        told = say(f"ui.write_in_{moment.answer_in}", moment.lang)
        parts += [Text(""), Text(told, "bold")]
    return [*parts, *hints(moment, plain)]


def asked(moment: Moment, plain: bool) -> RenderableType:
    """Return the question's text. Where no key unfolds them, all conditions are told."""
    folded = not (plain or moment.unfolded)
    return prose(stem(moment.asked, moment.lang).markdown(folded=folded), plain)


def hints(moment: Moment, plain: bool, since: int = 0) -> list[RenderableType]:
    """Return the hints that were asked for, from number `since` on."""
    parts: list[RenderableType] = []
    shown = moment.question.hints[: moment.hints_shown]
    for number, hint in enumerate(shown, start=1):
        total = len(moment.question.hints)
        title = say("ui.hint", moment.lang, number=number, total=total)
        if number == 1:
            title += bracketed([say("ui.hint_cost", moment.lang)], moment.lang)
        if number > since:
            told = section(title, prose(moment.asked.fill(hint, moment.lang), plain))
            parts.append(Anchored(f"hint {number}", *told))
    return parts


def options(moment: Moment, plain: bool) -> list[Text]:
    """Return the options of a choice, in the places this asking gave them."""
    question = moment.question
    assert isinstance(question, Choice)
    texts = [question.options[index].text for index in moment.asked.order]
    return [inline(moment.asked.fill(text, moment.lang), plain) for text in texts]


def steps(moment: Moment, plain: bool) -> list[Text]:
    """Return the steps of an order, in the places this asking gave them."""
    question = moment.question
    assert isinstance(question, Order)
    texts = [question.steps[index].text for index in moment.asked.order]
    return [inline(moment.asked.fill(text, moment.lang), plain) for text in texts]


def gapped(moment: Moment, filled: Sequence[str], here: int | None = None) -> str:
    """Return the text of a cloze, its gaps numbered and holding what was filled in so far."""
    question = moment.question
    assert isinstance(question, Cloze)
    names = [*question.gaps]

    def show(gap: re.Match[str], in_code: bool) -> str:
        if gap[1] not in names:
            return gap[0]
        at = names.index(gap[1])
        typed = filled[at] if at < len(filled) else ""
        if in_code:
            return f"[{at + 1} {typed or '____'}]"
        shown = _MARKS.sub(r"\\\1", f"[{at + 1} {typed or '____'}]")
        return f"**{shown}**" if at == here else shown

    pieces = _CODE.split(moment.asked.fill(question.text, moment.lang))
    return "".join(
        _GAP.sub(lambda gap, code=bool(at % 2): show(gap, code), piece)
        for at, piece in enumerate(pieces)
    )


def rubric(moment: Moment, plain: bool) -> tuple[list[RubricPoint], list[Veto], list[Text]]:
    """Return what can be ticked, points before vetoes, and a row for each."""
    question = moment.question
    points = question.reasons if isinstance(question, Bug) else ()
    vetoes: Sequence[Veto] = ()
    if isinstance(question, Essay):
        points, vetoes = question.rubric, question.vetoes
    rows: list[Text] = []
    for point in points:
        row = inline(moment.asked.fill(point.says, moment.lang), plain)
        worth = say("ui.points", moment.lang, points=point.points)
        rows.append(row.append(bracketed([worth], moment.lang), "dim"))
    rows += [inline(moment.asked.fill(veto.says, moment.lang), plain) for veto in vetoes]
    return list(points), list(vetoes), rows


def pre_ticked(moment: Moment, text: str) -> Draft:
    """Return a rubric's draft, ticked where the text has a keyword; the learner decides."""
    points, vetoes, _ = rubric(moment, True)
    said_points = [i for i, point in enumerate(points) if evidence(text, point.keywords)]
    said_vetoes = [i for i, veto in enumerate(vetoes) if evidence(text, veto.keywords)]
    value = {"text": text, "points": said_points, "vetoes": said_vetoes}
    return Draft(value, stage="rubric")


def _body(moment: Moment, draft: Draft, plain: bool) -> list[RenderableType]:
    question, lang, blank = moment.question, moment.lang, Text("")
    match question:
        case Choice() if question.several and not plain:
            chosen = [index in draft.picked for index in moment.asked.order]
            return [blank, numbered(options(moment, plain), ticked=chosen, here=draft.place)]
        case Choice():
            return [blank, numbered(options(moment, plain))]
        case Order():
            ids = [question.steps[index].id for index in moment.asked.order]
            taken = {step: str(n) for n, step in enumerate(draft.steps, 1)}
            signs = None if plain else [(f"[{taken.get(step, ' ')}]", "dim") for step in ids]
            return [blank, numbered(steps(moment, plain), signs), *_placed(moment, draft, plain)]
        case Cloze():
            filled = [str(draft.parts.get(name, "")) for name in question.gaps]
            here = None if draft.stage else draft.place
            return [blank, prose(gapped(moment, filled, here), plain)]
        case Trace() | Bug() if moment.asked.code is not None:
            code = [blank, listing(moment.asked.code.lines, _chosen_line(draft, lang), plain)]
            return [*code, *_ticks(moment, draft, plain)] if draft.stage == "reasons" else code
        case Essay() if draft.stage == "rubric":
            return _ticks(moment, draft, plain)
        case _:
            return []


def _chosen_line(draft: Draft, lang: str) -> dict[int, tuple[str, str]]:
    line = draft.parts.get("line")
    return {line: (">", "bold")} if isinstance(line, int) else {}


def _placed(moment: Moment, draft: Draft, plain: bool) -> list[RenderableType]:
    """The order as chosen so far."""
    question, lang = moment.question, moment.lang
    assert isinstance(question, Order)
    if not draft.steps:
        if plain:
            return []
        return [Text(""), Text(say("ui.order_open", lang, total=len(question.steps)), "dim")]
    by_id = {step.id: moment.asked.fill(step.text, lang) for step in question.steps}
    chosen = [inline(by_id[each], plain) for each in draft.steps]
    return section(say("ui.your_order", lang), numbered(chosen))


def _ticks(moment: Moment, draft: Draft, plain: bool) -> list[RenderableType]:
    """The rubric to tick, and the words it is held against."""
    lang = moment.lang
    points, vetoes, rows = rubric(moment, plain)
    part = "points" if isinstance(moment.question, Essay) else "reasons"
    chosen = [i in draft.ticks(part) for i in range(len(points))]
    chosen += [i in draft.ticks("vetoes") for i in range(len(vetoes))]
    text = str(draft.parts.get("text", ""))
    for row, each in zip(rows, [*points, *vetoes], strict=True):
        if evidence(text, each.keywords):
            row.append(" *", "bold")
    parts: list[RenderableType] = []
    if text:
        parts += section(say("ui.your_text", lang), Text(text, "italic", overflow="fold"))
    asked = "ui.points_asked" if part == "points" else "ui.reasons_asked"
    here = None if plain else draft.place
    split = len(points)
    told = section(say(asked, lang), _rows(rows[:split], chosen[:split], 0, here))
    parts.append(Anchored("ticks", *told))
    if vetoes:
        asked = "ui.vetoes_asked"
        parts += section(say(asked, lang), _rows(rows[split:], chosen[split:], split, here))
    return parts


def _rows(
    rows: Sequence[Text], chosen: Sequence[bool], first: int, here: int | None
) -> RenderableType:
    return numbered(rows, ticked=chosen, here=None if here is None else here - first, first=first)
