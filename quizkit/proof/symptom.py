"""Reasons that name a symptom: they are as true of other bugs of the demo."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from quizkit.bank.model import Bug, Question
from quizkit.lab.catalogue import Demo
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.reading.about import kin
from quizkit.proof.reading.phrase import stems
from quizkit.proof.worlds import names_of

FEWEST = 2  # other bugs; one may be a near relation


def other_bugs(question: Question, demos: Mapping[str, Demo]) -> Iterator[Question]:
    """Yield the same question with each other bug planted whose run goes on to its end."""
    proof = question.proof
    demo = demos.get(proof.demo) if proof else None
    if not isinstance(question, Bug) or proof is None or demo is None or proof.broken is None:
        return
    first = replace(proof, at=proof.at[:1])
    for name, planted in demo.breaks.items():
        if name != proof.broken and not planted.expect.startswith(("hangs", "crashes")):
            yield replace(question, proof=replace(first, broken=name))


def same_check(question: Question, demos: Mapping[str, Demo]) -> frozenset[str]:
    """Return the other bugs that the same check of the demo gives away."""
    proof = question.proof
    if proof is None or proof.broken is None:
        return frozenset()
    breaks = demos[proof.demo].breaks
    expect = breaks[proof.broken].expect
    return frozenset(
        name for name, each in breaks.items() if name != proof.broken and each.expect == expect
    )


def names_cause(question: Question, place: str, demos: Mapping[str, Demo]) -> bool:
    """Tell whether a reason has a word of the bug's name, or of what it changes in the code.

    One whose claim is of more than a difference says something else of its own.
    """
    proof = question.proof
    if not isinstance(question, Bug) or proof is None or proof.broken is None:
        return True
    demo, reason = demos[proof.demo], question.reasons[int(place.split(".")[1])]
    if reason.claim is None or not _only_differs(reason.claim.tree, demo):
        return True
    planted = demo.breaks[proof.broken]
    old, new = (stems(each.replace("_", " ")) for each in (planted.old, planted.new))
    cause = stems(proof.broken.replace("-", " ")) | (old ^ new)
    return bool(kin(stems(reason.says.en)) & cause)


def _only_differs(claim: ast.expr, demo: Demo) -> bool:
    """Tell whether a claim says that there is a difference, and nothing more."""
    return all(
        isinstance(part, ast.Compare)
        and isinstance(part.ops[0], ast.Gt | ast.NotEq)
        and isinstance(part.comparators[0], ast.Constant)
        and all(demo.watch[n].unit == "difference" for n in names_of(part) & demo.watch.keys())
        for part in parts_of(claim)
    )
