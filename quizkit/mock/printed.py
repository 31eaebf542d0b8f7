"""A scorecard as `--json` prints it and as the diary keeps it: `quizkit/scorecard/1`."""

from typing import Any

from quizkit.bank.script import BEST
from quizkit.mock.marks import Mark
from quizkit.mock.scorecard import VETO_CAP, Scorecard
from quizkit.words import Lang, say

SCHEMA = "quizkit/scorecard/1"
CONVENTIONS = ("scale", "overall", "unreached", "judged", "probed", "capped", "clock")
"""Facts needed to read the numbers; sentences `card.rule_...` in the words."""


def printed(card: Scorecard, lang: Lang) -> dict[str, Any]:
    """Return the scorecard as JSON, its words in one language."""
    script = card.script
    return {
        "schema": SCHEMA,
        "session": card.session,
        "mock": script.slug,
        "edition": script.digest,
        "title": script.title[lang],
        "lang": lang,
        "at": card.at,
        "verdict": "pass" if card.passed else "fail",
        "overall": _round(card.overall),
        "capped": card.capped,
        "best": BEST,
        "pass": dict(script.pass_mark),
        "dimensions": [
            {
                "name": each.dimension,
                "weight": each.weight,
                "score": _round(each.score),
                "needed": each.needed,
                "evidence": [
                    {"station": mark.station.id, "share": share, "score": _round(mark.score)}
                    for mark, share in each.evidence
                ],
            }
            for each in card.rated
        ],
        "answers": [_answer(mark, lang) for mark in card.marks],
        "time": {
            "ended_by": card.stop,
            "total": _round(card.spent.total),
            "used": _round(card.spent.used),
            "pause_budget": _round(card.spent.budget),
            "paused": _round(card.spent.paused),
            "charged_for_pauses": _round(card.spent.charged),
        },
        "myths": [*card.myths],
        "review": [*card.review],
        "conventions": [convention(name, lang) for name in CONVENTIONS],
    }


def convention(name: str, lang: Lang) -> str:
    """Say one convention in words."""
    return say(f"card.rule_{name}", lang, best=f"{BEST:g}", cap=f"{VETO_CAP:g}")


def _answer(mark: Mark, lang: Lang) -> dict[str, object]:
    verdict = mark.verdict
    return {
        "station": mark.station.id,
        "question": mark.question.id,
        "kind": mark.question.kind,
        "probe": mark.probe,
        "reached": mark.reached,
        "given": mark.given,
        "expected": verdict.expected[lang] if verdict and mark.judge == "key" else None,
        "right": bool(verdict and verdict.right),
        "score": _round(mark.score),
        "judge": mark.judge,
        "hit": [text[lang] for text in mark.hit],
        "missed": [text[lang] for text in mark.missed],
        "said": [text[lang] for text in mark.said],
        "seconds": _round(mark.seconds),
        "target": _round(mark.target),
        "late": mark.late,
    }


def _round(number: float) -> float:
    return round(number, 4)
