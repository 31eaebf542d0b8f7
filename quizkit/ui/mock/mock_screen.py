"""Draw what stands above an interview's prompt: the opening, a question, a rubric to judge by."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from quizkit.bank.evidence import evidence
from quizkit.bank.model import Choice, Cloze, Essay, Numeric, Order
from quizkit.mock.desk import Opening, OpenQuestion, RubricSheet
from quizkit.mock.judge import rubric
from quizkit.mock.timer import Timer, face
from quizkit.tutor.desk import Moment
from quizkit.tutor.stem import stem
from quizkit.ui.screens.parts import bracketed, note, numbered, rule, section
from quizkit.ui.screens.question_screen import gapped, options, steps
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import say


def opening_screen(opening: Opening, plain: bool) -> RenderableType:
    """Draw the title, the interviewer's first words, the rules."""
    script, lang = opening.script, opening.lang
    rules = say(
        "mock.rules",
        lang,
        questions=len(script.stations),
        minutes=face(opening.minutes * 60),
        pause=face(opening.pause_minutes * 60),
    )
    return Group(
        Text(script.title[lang], "bold", overflow="fold"),
        *([] if plain else [rule()]),
        prose(script.opening[lang], plain),
        Text(""),
        Text(rules, overflow="fold"),
        Text(say("mock.silence", lang), overflow="fold"),
    )


def mock_question_screen(moment: OpenQuestion, plain: bool, lines: bool) -> RenderableType:
    """Draw a question and how to answer it. Nothing here tells if anything was right."""
    lang = moment.lang
    key = "mock.probe" if moment.probe else "mock.number"
    number = say(key, lang, number=moment.number, total=moment.total)
    target = say("mock.target", lang, target=face(moment.target))
    parts: list[RenderableType] = []
    if moment.message is not None:
        parts += [Text(note(moment.message, lang), "bold", overflow="fold"), Text("")]
    parts.append(Text.assemble((number, "bold"), f"  {target}", overflow="fold"))
    if not plain:
        parts.append(rule())
    if moment.lead:
        parts += [prose(moment.lead, plain), Text("")]
    parts.append(prose(stem(moment.asked, lang).markdown(), plain))
    parts += _body(moment, plain)
    parts += [Text(""), Text(_how(moment, lines), "dim", overflow="fold")]
    parts.append(Text(say("mock.keys_lines" if lines else "mock.keys", lang), "dim"))
    return Group(*parts)


def clock_line(timer: Timer, target: float, lang: str) -> str:
    """Write the clock as it stands in the prompt, four times a second."""
    left, question = face(timer.left()), target - timer.spent()
    spoken = "zh" if lang == "zh" else "en"
    if question >= 0:
        return say("mock.clock", spoken, left=left, question=face(question))
    return say("mock.clock_over", spoken, left=left, over=face(-question))


def judge_screen(sheet: RubricSheet, plain: bool) -> RenderableType:
    """Draw an essay and its rubric, points first, then what must not be said, with numbers."""
    lang, question, fill = sheet.lang, sheet.asked.question, sheet.asked.fill
    wanted = rubric(question)
    points = [inline(fill(point.says, lang), plain) for point in wanted]
    for row, point in zip(points, wanted, strict=True):
        row.append(bracketed([say("mock.points", lang, points=point.points)], lang), "dim")
        if evidence(sheet.text, point.keywords):
            row.append(" *", "bold")
    false = question.vetoes if isinstance(question, Essay) else ()
    vetoes = [inline(fill(veto.says, lang), plain) for veto in false]
    for row, veto in zip(vetoes, false, strict=True):
        if evidence(sheet.text, veto.keywords):
            row.append(" *", "bold")
    title = say("mock.judge", lang, number=sheet.number, total=sheet.total)
    parts: list[RenderableType] = [Text(title, "bold", overflow="fold")]
    if not plain:
        parts.append(rule())
    parts.append(prose(stem(sheet.asked, lang).markdown(), plain))
    parts += section(say("mock.your_words", lang), Text(sheet.text, "italic", overflow="fold"))
    parts += section(say("mock.judge_points", lang), numbered(points))
    if vetoes:
        asked = say("mock.judge_vetoes", lang)
        parts += section(asked, numbered(vetoes, first=len(points)))
    return Group(*parts)


def _body(moment: OpenQuestion, plain: bool) -> Sequence[RenderableType]:
    shown = Moment("question", moment.asked, moment.lang, moment.number)
    match moment.asked.question:
        case Choice():
            return [Text(""), numbered(options(shown, plain))]
        case Order():
            return [Text(""), numbered(steps(shown, plain))]
        case Cloze():
            return [Text(""), prose(gapped(shown, ()), plain)]
        case _:
            return []


def _how(moment: OpenQuestion, lines: bool) -> str:
    lang = moment.lang
    match moment.asked.question:
        case Choice() as question:
            return say("mock.ask_several" if question.several else "mock.ask_choice", lang)
        case Order():
            return say("mock.ask_order", lang)
        case Cloze() as question:
            return say("mock.ask_cloze", lang, count=len(question.gaps))
        case Numeric() as question if question.unit:
            return say("mock.ask_numeric", lang, unit=question.unit)
        case Essay():
            return say("mock.ask_essay_lines" if lines else "mock.ask_essay", lang)
        case _:
            return say("mock.ask_number", lang)
