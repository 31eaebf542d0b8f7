"""Draws that a proof's rows do not stand for: what learners may be asked, and no run was like it.

A law may hold only at the sizes of the rows, or while one divides another or is the larger. So
draws are run with a size that no row has, or with sizes that stand to each other as in no row.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice

from quizkit.bank.draw import MOST_DRAWS, draws
from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import is_number
from quizkit.bank.model import Numeric, Question, Text
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Setting
from quizkit.proof.said import both
from quizkit.proof.setting import Bindings, runs_of, setting

MOST = 6  # draws run for one question
_RANKS = 8
_LARGER = 4  # times what a row asks for, at most: the rest is too large to be run

Relation = tuple[str, str, str]

# Draws that no learner's own machine runs are asked all the same: one at least is run here.
_KEPT_OUT: tuple[Relation, ...] = (("when", "is", "false"),)


@dataclass(frozen=True, slots=True)
class Undrawn:
    """A draw that no row is like, and the question with it as its only row."""

    drawn: Bindings
    question: Question

    @property
    def what(self) -> Text:
        """Say what to do about a key that does not hold there."""
        said = ", ".join(f"{name}={value:g}" for name, value in self.drawn.items())
        return both("prove.undrawn", drawn=said)


def undrawn(question: Question, demos: Mapping[str, Demo]) -> Iterator[Undrawn]:
    """Yield draws small enough to be run that differ most from all rows, the most telling first."""
    proof = question.proof
    demo = demos.get(proof.demo) if proof else None
    if proof is None or demo is None or not isinstance(question, Numeric) or not proof.at:
        return
    run = runs_of(question, demo)
    shown = {each for wanted in run for each in _relations(wanted)}
    found: list[tuple[Bindings, set[Relation]]] = []
    for drawn in islice(draws(question), MOST_DRAWS):
        try:
            wanted = demo.filled(setting(question, drawn))
        except FormulaError:
            continue
        if _fits(wanted, run):
            kept_out = proof.when is not None and not proof.when.truth(dict(drawn))
            found.append((drawn, {*_relations(wanted), *(_KEPT_OUT if kept_out else ())}))
    while found:
        drawn, new = max(found, key=lambda each: len(each[1] - shown))
        if not new - shown:
            return
        shown |= new
        found.remove((drawn, new))
        yield Undrawn(drawn, replace(question, proof=replace(proof, at=(drawn,))))


def _relations(wanted: Setting) -> Iterator[Relation]:
    """The whole sizes of a run, which of them is larger, and what divides what."""
    sizes = {name: value for name, value in wanted.args if name != "seed" and _is_size(value)}
    sizes["ranks"] = wanted.ranks
    for name, value in sizes.items():
        yield name, "is", f"{value}"
    for (one, a), (other, b) in combinations(sorted(sizes.items()), 2):
        assert is_number(a)
        assert is_number(b)
        yield one, other, "<" if a < b else ">" if a > b else "="
        large, small = max(a, b), min(a, b)
        if small > 1:
            yield one, other, "divides" if large % small == 0 else "does not divide"


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _fits(wanted: Setting, run: list[Setting]) -> bool:
    """Tell whether it is not much larger than what the rows ask for."""
    if wanted.ranks > max(_RANKS, *(each.ranks for each in run)):
        return False
    for name, value in wanted.args:
        if is_number(value):
            most = max((v for each in run if is_number(v := dict(each.args)[name])), default=0)
            if value > _LARGER * most:
                return False
    return True
