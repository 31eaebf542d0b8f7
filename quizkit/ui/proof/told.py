"""A proof to read outside a session: what is run, and what a recorded run of it showed."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.draw import FIRST
from quizkit.bank.entry import statements_of, words_of
from quizkit.bank.model import Numeric, Question
from quizkit.proof.view import ProofView
from quizkit.tutor.asked import ask
from quizkit.ui.pictures.chart import charts
from quizkit.ui.proof.agreement import fitted
from quizkit.ui.proof.bearing import bearing, sentences, setting
from quizkit.ui.proof.glance import command
from quizkit.ui.proof.pictured import pictured
from quizkit.ui.proof.proof_screen import telling
from quizkit.ui.proof.statements import SIGNS
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.screens.parts import below, colon
from quizkit.ui.screens.report_screen import pictures
from quizkit.ui.text.inline import CODE, inline
from quizkit.words import Lang, say

_MOST = 4  # measurements of one claim


def told(
    question: Question, proof: ProofView | None, lang: Lang, plain: bool
) -> Iterator[RenderableType]:
    """Yield the command; then where it ran, and in words what the claims look at."""
    assert question.proof is not None
    if proof is None:
        broken = f" --break {question.proof.broken}" if question.proof.broken else ""
        yield Text(f"  quizkit demo {question.proof.demo}{broken}", CODE)
        yield Text("  " + say("bank.unrecorded", lang, name=question.id), overflow="fold")
        return
    report = proof.report
    yield Text(f"  {command(proof)}", CODE)
    where = say(
        f"glance.where_{report.origin}", lang,
        ranks=report.ranks, backend=report.backend, device=report.device, torch=report.torch,
    )  # fmt: skip
    bound = say("glance.set_to", lang, setting=setting(proof.bindings)) if proof.bindings else ""
    yield Text("  " + " · ".join(filter(None, (where, bound))), "dim", overflow="fold")
    yield from _shown(question, proof, lang, plain)


def _shown(
    question: Question, proof: ProofView, lang: Lang, plain: bool
) -> Iterator[RenderableType]:
    if isinstance(question, Numeric) and proof.measured is not None:
        measured, _, _ = fitted(proof.measured, question.unit)
        yield below(Text(f"{say('glance.measured', lang)}{colon(lang)}{measured}"), 2)
    known: set[str] = set()
    for judged in proof.claims:
        if judged.role == "claim":
            lines = sentences(question, proof, judged, lang, _MOST)
            yield from (below(inline(each, plain), 2) for each in lines if each not in known)
            known |= {*lines}
    for place, text in _statements(question, lang):
        found = bearing(question, proof, f"{place}.claim", lang)
        if found.mark != "open":
            sign, style = SIGNS[found.mark]
            mark = say(f"glance.{found.mark}", lang) + colon(lang) if plain else f"{sign} "
            yield below(Text.assemble((mark, style), inline(text, plain)), 2)
            yield from (below(inline(each, plain)) for each in found.lines)


def _statements(question: Question, lang: Lang) -> Iterator[tuple[str, str]]:
    """Yield what a run may decide, by its place: options in file order, points, reasons."""
    asked = ask(question, FIRST)
    for place, each in statements_of(question):
        yield place, asked.fill(words_of(each), lang)


def drawn(proof: ProofView, width: int, lang: Lang) -> list[str]:
    """Return the first picture that the deciding numbers are about, line by line; or nothing."""
    report = proof.report
    every = telling(charts(report.timeline, report.ranks), proof)
    found = [*pictures(every[:1], width, lang)] if every else []
    if not found:
        for each in pictured(proof, demo_words(proof.demo, lang), width, False, lang):
            if found and each.style == "bold":  # the title of the next one
                break
            found.append(each)
    text = "\n".join(each.plain for each in found if isinstance(each, Text))
    return [line.rstrip() for line in text.strip("\n").split("\n")]
