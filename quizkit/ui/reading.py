"""The bank as a reader sees it: one question whole, and the terms."""

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.text import Text as Line

from quizkit.bank.draw import with_letters
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
from quizkit.lab.catalogue import find
from quizkit.lab.excerpt import excerpt
from quizkit.ui.code import listing
from quizkit.ui.inline import inline
from quizkit.ui.markup import prose
from quizkit.ui.parts import below, colon, kind
from quizkit.words import Lang, listed, say


def whole(question: Question, lang: Lang, plain: bool = False) -> RenderableType:
    """One question with everything it knows, its answer too."""
    parts: list[RenderableType] = [Line(_heading(question, lang), style="bold"), Line("")]
    parts += [_told(question, question.prompt, lang, plain), Line("")]
    parts += list(_key(question, lang, plain))
    for index, hint in enumerate(question.hints, start=1):
        parts += [_title("hints", lang, f" {index}"), _told(question, hint, lang, plain)]
    parts += [_title("explain", lang), _told(question, question.explain, lang, plain)]
    if question.say:
        parts += [_title("say", lang), _told(question, question.say, lang, plain)]
    if question.proof:
        proof = question.proof
        told = [f"demo {proof.demo}" + (f" --break {proof.broken}" if proof.broken else "")]
        told += [claim.source for claim in proof.claims]
        parts += [_title("proof", lang), *(Line(f"  {line}") for line in told)]
    if question.sources:
        parts += [_title("sources", lang), *(Line(f"  {line}") for line in question.sources)]
    return Group(*parts)


def term_table(terms: Mapping[str, Term], lang: Lang) -> RenderableType:
    """The terms, both languages side by side, with their conventions."""
    parts: list[RenderableType] = []
    for term in terms.values():
        first, second = (term.zh, term.en) if lang == "zh" else (term.en, term.zh)
        also = dict.fromkeys((*term.also.zh, *term.also.en))
        told = say("bank.also", lang) + listed(also, lang) if also else ""
        heading = first if first == second else f"{first} · {second}"
        parts += [Line.assemble((heading, "bold"), f"  {told}"), prose(term.note[lang]), Line("")]
    return Group(*parts)


def _told(question: Question, text: Text, lang: Lang, plain: bool) -> RenderableType:
    """A text of the question without a draw: letters for its numbers, a word for its answer."""
    told = with_letters(question, text[lang])
    if isinstance(question, Numeric):
        told = told.replace("{answer}", f"[{say('bank.answer', lang)}]")
    return prose(told, plain)


def _heading(question: Question, lang: Lang) -> str:
    facts = [question.id, kind(question, lang), say(f"ui.level_{question.level}", lang)]
    return " · ".join([*facts, ", ".join((*question.tags, *question.covers))])


def _key(question: Question, lang: Lang, plain: bool) -> Iterable[RenderableType]:
    match question:
        case Choice():
            yield _title("options", lang)
            for option in question.options:
                mark = say("bank.right" if option.correct else "bank.wrong", lang)
                yield prose(f"- **{mark}**{colon(lang)}{option.text[lang]}", plain)
                if option.why:
                    yield below(inline(option.why[lang], plain))
        case Numeric():
            yield _answer(f"{question.answer} {question.unit}", lang)
            if question.traps:
                yield _title("traps", lang)
            for trap in question.traps:
                forgot = with_letters(question, trap.forgot[lang])
                yield prose(f"- `{trap.formula}`{colon(lang)}{forgot}", plain)
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
            yield _code(question, question.function, plain)
            yield _answer(str(question.answer), lang)
        case Bug():
            yield _code(question, question.function, plain)
            yield from _rubric(question.reasons, lang, plain)
        case Essay():
            yield from _rubric(question.rubric, lang, plain)
            if question.vetoes:
                yield _title("vetoes", lang)
            for veto in question.vetoes:
                yield prose(f"- {veto.says[lang]}{colon(lang)}{veto.why[lang]}", plain)
        case _:
            raise AssertionError(question.kind)


def _code(question: Question, function: str, plain: bool) -> RenderableType:
    """The function shown; what a planted break changed is marked."""
    assert question.proof is not None
    shown = excerpt(find(question.proof.demo), function, question.proof.broken)
    return listing(shown.lines, dict.fromkeys(shown.changed, ("<", "bold")), plain)


def _rubric(points: Iterable[RubricPoint], lang: Lang, plain: bool) -> Iterable[RenderableType]:
    yield _title("rubric", lang)
    for point in points:
        yield prose(f"- ({point.points}) {point.says[lang]}", plain)


def _answer(text: str, lang: Lang) -> Line:
    return Line(f"{say('bank.answer', lang)}  {text}")


def _title(key: str, lang: Lang, more: str = "") -> Line:
    return Line(f"\n{say(f'bank.{key}', lang)}{more}", style="bold")
