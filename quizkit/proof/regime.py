"""The same proof in another regime, for claims that are said to hold `regardless` of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from quizkit.bank.model import Question, Text
from quizkit.lab.catalogue import Demo
from quizkit.proof.said import both


@dataclass(frozen=True, slots=True)
class Regime:
    """A question whose runs are made with another value, and what is wrong if it fails there."""

    what: Text
    question: Question


def regimes(question: Question, demos: Mapping[str, Demo]) -> Iterator[Regime]:
    """Yield the proof with each other value of each option that its claims hold regardless of."""
    proof = question.proof
    demo = demos.get(proof.demo) if proof else None
    if proof is None or demo is None:
        return
    for name in proof.regardless:
        parameter = demo.parameters[name]
        for value in parameter.choices or ((False, True) if parameter.kind == "bool" else ()):
            if value == parameter.default:
                continue
            other = replace(proof, args={**proof.args, name: value}, regardless=())
            shown = str(value).lower() if isinstance(value, bool) else value
            what = both("prove.not_regardless", name=name, value=shown)
            yield Regime(what, replace(question, proof=other))
