"""The bank as a reader sees it: one question whole, and the terms."""

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.text import Text as Line

from quizkit.bank.draw import FIRST, number_of_draws, show_number
from quizkit.bank.entry import parts_of
from quizkit.bank.formula import Formula, FormulaError
from quizkit.bank.model import (
    Bug,
    Choice,
    Cloze,
    Essay,
    Numeric,
    Order,
    Question,
    RubricPoint,
    Term,
    Text,
    Trace,
)
from quizkit.proof.code import code_of
from quizkit.proof.view import ProofView
from quizkit.tutor.asked import Asked, ask
from quizkit.tutor.stem import stem
from quizkit.ui.proof.told import told
from quizkit.ui.screens.parts import below, colon, kind
from quizkit.ui.screens.worked import worked
from quizkit.ui.text.code import listing
from quizkit.ui.text.inline import inline
from quizkit.ui.text.markup import prose
from quizkit.words import Lang, listed, say


def whole(
    question: Question, lang: Lang, plain: bool = False, proof: ProofView | None = None
) -> RenderableType:
    """Draw a question with all it knows, its answer too, worked for one draw of its numbers.

    `proof` is a run that was recorded of it, which says in words what its claims rest on.
    Raises UsageError where no number can be drawn.
    """
    asked = ask(question, FIRST)
    parts: list[RenderableType] = [Line(_heading(question, lang), style="bold"), Line("")]
    parts += [prose(stem(asked, lang).markdown(), plain), Line("")]
    parts += list(_key(asked, lang, plain))
    for index, hint in enumerate(question.hints, start=1):
        parts += [_title("hints", lang, f" {index}"), _told(asked, hint, lang, plain)]
    parts += [_title("explain", lang), _told(asked, question.explain, lang, plain)]
    if question.say:
        parts += [_title("say", lang), _told(asked, question.say, lang, plain)]
    if question.proof:
        parts += [_title("proof", lang), *told(question, proof, lang, plain)]
    if question.sources:
        parts += [_title("sources", lang), *(Line(f"  {line}") for line in question.sources)]
    return Group(*parts)


def term_table(terms: Mapping[str, Term], lang: Lang) -> RenderableType:
    """Draw the terms, both languages side by side, with their conventions."""
    parts: list[RenderableType] = []
    for term in terms.values():
        first, second = (term.zh, term.en) if lang == "zh" else (term.en, term.zh)
        also = dict.fromkeys((*term.also.zh, *term.also.en))
        told = say("bank.also", lang) + listed(also, lang) if also else ""
        heading = first if first == second else f"{first} · {second}"
        parts += [Line.assemble((heading, "bold"), f"  {told}"), prose(term.note[lang]), Line("")]
    return Group(*parts)


def _told(asked: Asked, text: Text, lang: Lang, plain: bool) -> RenderableType:
    return prose(asked.fill(text, lang), plain)


def _heading(question: Question, lang: Lang) -> str:
    facts = [question.id, kind(question, lang), say(f"ui.level_{question.level}", lang)]
    return " · ".join([*facts, ", ".join((*question.tags, *parts_of(question)))])


def _key(asked: Asked, lang: Lang, plain: bool) -> Iterable[RenderableType]:
    match question := asked.question:
        case Choice():
            yield _title("options", lang)
            for option in question.options:
                mark = say("bank.right" if option.correct else "bank.wrong", lang)
                yield prose(f"- **{mark}**{colon(lang)}{option.text[lang]}", plain)
                if option.why:
                    yield below(inline(option.why[lang], plain))
        case Numeric():
            if number_of_draws(question) > 1:
                drawn = (f"{name} = {show_number(each)}" for name, each in asked.values.items())
                yield Line(say("bank.drawn", lang, values=listed(drawn, lang)) + "\n")
            number = f"{show_number(asked.answer())} {question.unit}".strip()
            yield _answer(number, lang)
            for line in worked(question.answer, asked.values, question.unit, lang):
                yield below(Line(line), 2)
            if question.traps:
                yield _title("traps", lang)
            for trap in question.traps:
                forgot = asked.fill(trap.forgot, lang)
                yield prose(f"- `{slipped(trap.formula, asked, lang)}`{colon(lang)}{forgot}", plain)
        case Order():
            yield _title("answer", lang)
            for index, step in enumerate(question.steps, start=1):
                yield prose(f"{index}. {step.text[lang]}", plain)
        case Cloze():
            text = question.text[lang]
            for number, name in enumerate(question.gaps, start=1):
                text = text.replace(f"[[{name}]]", f"[{number} ____]")
            yield prose(text, plain)
            answers = [gap.answer[lang] for gap in question.gaps.values()]
            yield _answer(" · ".join(f"[{n}] {each}" for n, each in enumerate(answers, 1)), lang)
        case Trace():
            yield _code(question, plain)
            yield _answer(str(question.answer), lang)
        case Bug():
            yield _code(question, plain)
            yield from _rubric(question.reasons, lang, plain)
        case Essay():
            yield from _rubric(question.rubric, lang, plain)
            if question.vetoes:
                yield _title("vetoes", lang)
            for veto in question.vetoes:
                yield prose(f"- {veto.says[lang]}{colon(lang)}{veto.why[lang]}", plain)
        case _:
            raise AssertionError(question.kind)


def slipped(formula: Formula, asked: Asked, lang: Lang) -> str:
    """Work a slip through as the answer is; of one that needs several sums say what it comes to."""
    try:
        lines = [*worked(formula, asked.values, "", lang)]
        return lines[0] if len(lines) == 1 else show_number(formula.number(dict(asked.values)))
    except FormulaError:
        return str(formula)


def _code(question: Question, plain: bool) -> RenderableType:
    """The function shown; what a planted break changed is marked."""
    shown = code_of(question)
    assert shown is not None
    return listing(shown.lines, dict.fromkeys(shown.changed, ("<", "bold")), plain)


def _rubric(points: Iterable[RubricPoint], lang: Lang, plain: bool) -> Iterable[RenderableType]:
    yield _title("rubric", lang)
    for point in points:
        yield prose(f"- ({point.points}) {point.says[lang]}", plain)


def _answer(text: str, lang: Lang) -> Line:
    return Line(f"{say('bank.answer', lang)}  {text}")


def _title(key: str, lang: Lang, more: str = "") -> Line:
    return Line(f"\n{say(f'bank.{key}', lang)}{more}", style="bold")
