"""The same proof in another regime: with another value of an option that changes what a metric is.

Claims that name the option have to notice; claims that hold `regardless` of it have to hold still.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from quizkit.bank.model import Question
from quizkit.lab.catalogue import Demo
from quizkit.proof.setting import rows, setting


@dataclass(frozen=True, slots=True)
class Regime:
    """A question whose runs are made with another value; `named`: its claims should notice."""

    what: str
    question: Question
    named: bool


def regimes(question: Question, demos: Mapping[str, Demo]) -> Iterator[Regime]:
    """The proof with each other value of each option of the regime, one at a time."""
    proof = question.proof
    demo = demos.get(proof.demo) if proof else None
    if proof is None or demo is None:
        return
    asked = [demo.filled(setting(question, row)) for row in rows(question)]
    for name in demo.regime:
        parameter = demo.parameters[name]
        for value in parameter.choices or ((False, True) if parameter.kind == "bool" else ()):
            other = replace(proof, args={**proof.args, name: value}, regardless=())
            changed = replace(question, proof=other)
            if [demo.filled(setting(changed, row)) for row in rows(changed)] == asked:
                continue
            named = name in proof.args
            shown = str(value).lower() if isinstance(value, bool) else value
            what = f"{name}: {shown} instead; say `regardless: [{name}]`"
            lost = f"fails with {name}: {shown}, though `regardless: [{name}]`"
            yield Regime(what if named else lost, changed, named)
