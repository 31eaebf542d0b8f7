"""Tell what a proof says of one statement: if it holds, in which run, by which numbers."""

from dataclasses import dataclass
from typing import Literal

from quizkit.bank.draw import show_value
from quizkit.bank.entry import points_of
from quizkit.bank.formula import FormulaError
from quizkit.bank.model import Choice, Question
from quizkit.proof.facts import facts
from quizkit.proof.judge import BoundRun, Judged, scope
from quizkit.proof.setting import Bindings
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.measurement import all_told
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.screens.parts import bracketed
from quizkit.words import Lang, say

Mark = Literal["holds", "refuted", "open"]

_MOST = 2  # measurements of one claim; more say less at a glance


@dataclass(frozen=True, slots=True)
class Bearing:
    """A run's word on one claim: `lines` have its numbers; `at` is the run that decides, if any."""

    mark: Mark
    lines: tuple[str, ...] = ()
    at: ProofView | None = None


def claimable(moment: Moment) -> list[str]:
    """List the places of what a run may decide of an answer, in the order they were shown in."""
    question = moment.question
    if isinstance(question, Choice):
        return [f"options.{index}.claim" for index in moment.asked.order]
    return [f"{place}.claim" for place, _ in points_of(question)]


def bearing(question: Question, proof: ProofView, place: str, lang: Lang) -> Bearing:
    """Return what this run says of the claim at a place, else what a run beside it says."""
    for each in (proof, *proof.beside):
        judged = next((claim for claim in each.claims if claim.place == place), None)
        mark = _mark(judged, each)
        if judged is not None and mark != "open":
            lines = sentences(question, each, judged, lang)
            if each is not proof and lines:
                lines = (f"{where(each, proof, lang)}{lines[0]}", *lines[1:])
            return Bearing(mark, lines, each)
    return Bearing("open")


def _mark(judged: Judged | None, proof: ProofView) -> Mark:
    if judged is None or not judged.truths or proof.judgement.reason:
        return "open"
    truth = judged.truths[-1]
    # A wrong option that a run lets stand is not right for that: another run refutes it.
    stands = judged.role == "refuted" and truth == "true"
    if judged.error or truth == "error" or judged.place in proof.untested or stands:
        return "open"
    return "holds" if truth == "true" else "refuted"


def sentences(
    question: Question, proof: ProofView, judged: Judged, lang: Lang, most: int = _MOST
) -> tuple[str, ...]:
    """Return what the author wrote of it, else the measurements it looks at, never its formula."""
    if judged.place in proof.shows:
        return (" ".join(proof.shows[judged.place][lang].split()),)
    try:
        world = scope(question, BoundRun(proof.bindings, proof.report), proof.demo)
    except FormulaError:
        return ()
    metrics = frozenset(proof.report.metrics)
    words = demo_words(proof.demo, lang)
    holds = bool(judged.truths) and judged.truths[-1] == "true"
    found = facts(judged.claim.tree, world, metrics)
    return all_told(found[:most], holds, proof.demo, words, lang)


def where(other: ProofView, proof: ProofView, lang: Lang) -> str:
    """Say in which setting another run was, by what differs from this run; and, unless that is as
    with this one, that it was not run just now.
    """
    changed = {n: v for n, v in other.bindings.items() if v != proof.bindings.get(n)}
    origin = other.report.origin
    alike = origin == proof.report.origin
    told = "" if alike else bracketed([say(f"glance.{origin}", lang)], lang)
    return say("glance.at", lang, setting=setting(changed), origin=told)


def setting(bindings: Bindings) -> str:
    """Write numbers by their names: `p=4, slow=2`."""
    return ", ".join(f"{name}={show_value(value)}" for name, value in bindings.items())
