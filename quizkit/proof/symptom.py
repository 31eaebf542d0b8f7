"""Reasons that name a symptom: as true of every other bug of the demo, they say nothing of this."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from quizkit.bank.model import Bug, Question
from quizkit.lab.catalogue import Demo

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
