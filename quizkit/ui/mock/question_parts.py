"""The question of an interview: what there is to answer by, and how an answer is typed."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Trace
from quizkit.bank.script import WrittenTask
from quizkit.mock.desk import OpenQuestion
from quizkit.mock.timer import face
from quizkit.tutor.asked import Asked
from quizkit.tutor.desk import Moment
from quizkit.tutor.stem import stem
from quizkit.ui.screens.parts import Anchored, numbered, pairs, rule
from quizkit.ui.screens.question_screen import gapped, options, steps
from quizkit.ui.text.code import listing
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import Lang, say


def question_parts(moment: OpenQuestion, plain: bool) -> list[RenderableType]:
    """Draw the question: its number, what the interviewer says first, what is asked."""
    lang = moment.lang
    key = "mock.probe" if moment.probe else "mock.number"
    number = say(key, lang, number=moment.number, total=moment.total)
    target = say("mock.target", lang, target=face(moment.target))
    head = Text.assemble((number, "bold"), "  ", target, overflow="fold")
    parts: list[RenderableType] = [Anchored("question", head)]
    if not plain:
        parts.append(rule())
    if moment.lead:
        parts += [prose(moment.lead, plain), Text("")]
    parts.append(prose(stem(moment.asked, lang).markdown(), plain))
    return [*parts, *answered_by(moment.asked, lang, plain)]


def answered_by(asked: Asked, lang: Lang, plain: bool) -> Sequence[RenderableType]:
    """Draw what an answer picks from: options, steps, gaps, numbered code, fields."""
    shown = Moment("question", asked, lang, 0)
    match asked.question:
        case Choice():
            return [Text(""), numbered(options(shown, plain))]
        case Order():
            return [Text(""), numbered(steps(shown, plain))]
        case Cloze():
            return [Text(""), prose(gapped(shown, ()), plain)]
        case Trace() | Bug() if asked.code is not None:
            return [Text(""), listing(asked.code.lines, plain=plain)]
        case WrittenTask() as question if question.write.fields:
            fields = question.write.fields.items()
            rows = [(f"{name}=…", inline(asked.fill(what, lang), plain)) for name, what in fields]
            return [Text(""), pairs(rows)]
        case _:
            return []


def takes_lines(asked: Asked) -> bool:
    """Tell whether an answer may take several lines."""
    question = asked.question
    schedule = isinstance(question, WrittenTask) and question.write.schedule is not None
    return schedule or isinstance(question, Essay | Bug)


def how(asked: Asked, lang: Lang, lines: bool) -> str:
    """Say in one line how this kind is answered, and how that is handed in."""
    if not takes_lines(asked):
        return _typed(asked, lang) + say("mock.by_enter", lang)
    return _typed(asked, lang) + say("mock.by_blank_lines" if lines else "mock.by_blank", lang)


def _typed(asked: Asked, lang: Lang) -> str:
    match asked.question:
        case Choice() as question:
            return say("mock.ask_several" if question.several else "mock.ask_choice", lang)
        case Order():
            return say("mock.ask_order", lang)
        case Cloze() as question:
            return say("mock.ask_cloze", lang, count=len(question.gaps))
        case Trace() as question if isinstance(question.answer, tuple):
            return say("mock.ask_numbers", lang, count=len(question.answer))
        case Numeric() as question if question.unit:
            return say("mock.ask_numeric", lang, unit=question.unit)
        case Bug():
            return say("mock.ask_bug", lang)
        case WrittenTask() as question if question.write.schedule is not None:
            return say("mock.ask_schedule", lang, stages=question.write.schedule.stages)
        case WrittenTask() as question:
            typed = " ".join(f"{name}=…" for name in question.write.fields)
            return say("mock.ask_layout", lang, fields=typed)
        case Essay():
            return say("mock.ask_essay", lang)
        case _:
            return say("mock.ask_number", lang)
