"""Questions, verdicts and proofs as JSON, for whoever drives a session from outside."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from quizkit.bank.model import (
    Bug,
    Choice,
    Cloze,
    Essay,
    Numeric,
    Order,
    RubricPoint,
    Text,
    Trace,
    Veto,
)
from quizkit.tutor.desk import Moment, Summary
from quizkit.tutor.stem import stem
from quizkit.tutor.verdict import Note
from quizkit.ui.screens.parts import note
from quizkit.words import Lang, say

if TYPE_CHECKING:
    from quizkit.proof.view import ProofView

Json = dict[str, Any]


def ask_json(moment: Moment) -> Json:
    """Return the question as it is asked; nothing in it gives the answer away."""
    asked, lang = moment.asked, moment.lang
    question, told = asked.question, stem(asked, lang)
    said: Json = {
        "id": question.id,
        "kind": question.kind,
        "topic": question.topic,
        "level": question.level,
        "tags": list(question.tags),
        "lang": lang,
        "number": moment.number,
        "total": moment.total,
        "seed": asked.seed,
        "values": dict(asked.values),
        "hints": len(question.hints),
        "proof": question.proof is not None,
        "why_now": note(moment.why_now, lang) if moment.why_now else None,
        "prompt": told.prompt,
        "assume": [*told.assume, *told.usual],
        "evidence": [{"kind": each.kind, "text": each.text} for each in told.evidence],
    }
    match question:
        case Choice(options=options):
            said["several"] = question.several
            said["options"] = [
                {"id": i, "text": asked.fill(options[i].text, lang)} for i in asked.order
            ]
        case Numeric():
            said["unit"] = question.unit
        case Order(steps=steps):
            said["steps"] = [
                {"id": steps[i].id, "text": asked.fill(steps[i].text, lang)} for i in asked.order
            ]
        case Cloze():
            said["text"] = asked.fill(question.text, lang)
            said["gaps"] = list(question.gaps)
        case Trace() | Bug():
            code = asked.code
            said["code"] = {"lines": list(code.lines), "first": code.first} if code else None
        case _:
            pass
    return said


def verdict_json(moment: Moment) -> Json:
    """Return the verdict, with what was expected and why; `uuid` is the row that is on disk."""
    verdict, asked, lang = moment.verdict, moment.asked, moment.lang
    assert verdict is not None
    question = asked.question
    said: Json = {
        "uuid": moment.uuid,
        "question": question.id,
        "right": verdict.right,
        "score": verdict.score,
        "grade": moment.grade,
        "lowered": [say(key, lang, **values) for key, values in moment.lowered],
        "given": moment.given,
        "number": verdict.number,
        "expected": verdict.expected[lang],
        "myth": verdict.myth,
        "forgot": asked.fill(verdict.trap.forgot, lang) if verdict.trap else None,
        "notes": [say(key, lang, **values) for key, values in verdict.notes],
        "explain": asked.fill(question.explain, lang).strip(),
        "due": moment.due.isoformat() if moment.due else None,
        "followup": moment.followup.question.id if moment.followup else None,
        "last": moment.number == moment.total,
    }
    match question:
        case Choice(options=options):
            said["correct"] = [i for i, option in enumerate(options) if option.correct]
        case Bug():
            said["changed"] = sorted(asked.code.changed) if asked.code else []
            said["reasons"] = _points(question.reasons, lang)
        case Essay():
            said["rubric"] = _points(question.rubric, lang)
            said["vetoes"] = _vetoes(question.vetoes, lang)
        case _:
            pass
    return said


def hint_json(moment: Moment) -> Json:
    """Return the last hint that was asked for."""
    hints, shown = moment.question.hints, moment.hints_shown
    text = moment.asked.fill(hints[shown - 1], moment.lang)
    return {"question": moment.question.id, "number": shown, "of": len(hints), "text": text}


def why_json(moment: Moment) -> Json:
    """Return the reasons for and against each thing that could have been answered."""
    asked, lang = moment.asked, moment.lang
    said: Json = {"question": asked.question.id}
    match asked.question:
        case Choice(options=options):
            said["options"] = [
                {
                    "id": i,
                    "text": asked.fill(options[i].text, lang),
                    "correct": options[i].correct,
                    "why": _filled(moment, options[i].why),
                    "myth": options[i].myth,
                }
                for i in asked.order
            ]
        case Numeric(traps=traps):
            said["answer"] = asked.question.answer.source
            said["traps"] = [
                {
                    "formula": trap.formula.source,
                    "forgot": _filled(moment, trap.forgot),
                    "myth": trap.myth,
                }
                for trap in traps
            ]
        case Essay(vetoes=vetoes):
            said["vetoes"] = _vetoes(vetoes, lang)
        case _:
            said["explain"] = _filled(moment, asked.question.explain)
    return said


def proof_json(view: "ProofView", lang: Lang) -> Json:
    """Return the report of the run, and what became of each claim."""
    claims = [
        {
            "place": judged.place,
            "role": judged.role,
            "claim": judged.claim.source,
            "answer": judged.instead.source if judged.instead else None,
            "truth": judged.truths[0] if judged.truths else "error",
            "holds": judged.holds,
            "error": judged.error.en if judged.error else "",
        }
        for judged in view.claims
    ]
    return {
        "proof": view.report.to_json(),
        "own": view.own,
        "holds": view.holds,
        "reason": view.judgement.reason,
        "measured": view.measured,
        "claims": claims,
        "parts": asdict(view.parts) if view.parts else None,
        "shows": {place: text[lang] for place, text in view.shows.items()},
    }


def note_json(note: Note, lang: Lang) -> Json:
    """Return a message, by its key and in words."""
    key, values = note
    plain = {name: _plain(value) for name, value in values.items()}
    return {"key": key, "text": say(key, lang, **values), **plain}


def end_json(summary: Summary) -> Json:
    """Return the summary of a session that ended: counts, seconds, what was wrong, what is due."""
    return {
        "answered": summary.answered,
        "right": summary.right,
        "skipped": summary.skipped,
        "seconds": round(summary.seconds, 3),
        "wrong": [asked.question.id for asked in summary.wrong],
        "myths": dict(summary.myths),
        "due": summary.due_now,
        "spared": summary.spared,
        "next_due": summary.next_due.isoformat() if summary.next_due else None,
    }


def _filled(moment: Moment, text: Text | None) -> str | None:
    return None if text is None else moment.asked.fill(text, moment.lang).strip()


def _points(points: Sequence[RubricPoint], lang: Lang) -> list[Json]:
    return [{"id": i, "points": p.points, "says": p.says[lang]} for i, p in enumerate(points)]


def _vetoes(vetoes: Sequence[Veto], lang: Lang) -> list[Json]:
    return [
        {"id": i, "says": veto.says[lang], "why": veto.why[lang], "myth": veto.myth}
        for i, veto in enumerate(vetoes)
    ]


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | None) else str(value)
