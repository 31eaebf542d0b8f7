"""Changes keys one at a time: a proof that still holds with a wrong key proves nothing.

The recorded runs are judged again with each key changed; only the removed break needs another run.
"""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import cast

from quizkit.bank.formula import Formula
from quizkit.bank.functions import Number
from quizkit.bank.model import (
    Bug,
    Choice,
    Cloze,
    Essay,
    Numeric,
    Order,
    Question,
    RubricPoint,
    Trace,
)
from quizkit.proof.jointly import before, ordered


@dataclass(frozen=True, slots=True)
class Mutant:
    """A question with one thing of its key changed; `healthy` asks for a run without the break."""

    what: str
    question: Question
    healthy: bool = False


def mutants(question: Question) -> Iterator[Mutant]:
    """Yield every changed key of a question with a proof."""
    proof = question.proof
    assert proof is not None, question.id
    match question:
        case Choice():
            yield from _choice(question)
        case Numeric():
            for what, formula in _numbers(question.answer):
                yield Mutant(f"answer {what}", replace(question, answer=formula))
            for index, trap in enumerate(question.traps):
                changed = replace(question, answer=trap.formula, traps=())
                yield Mutant(f"answer = trap {index + 1}", changed)
        case Trace():
            for what, answer in _answers(question.answer):
                yield Mutant(f"answer {what}", replace(question, answer=answer))
        case Cloze():
            yield from _cloze(question)
        case Order():
            yield from _order(question)
        case Bug():
            for index, changed in _reversed_points(question.reasons):
                yield Mutant(f"reason {index + 1} reversed", replace(question, reasons=changed))
        case Essay():
            for index, changed in _reversed_points(question.rubric):
                yield Mutant(f"point {index + 1} reversed", replace(question, rubric=changed))
        case _:
            raise AssertionError(question.kind)
    for what, claims in _reversed(proof.claims):
        yield Mutant(what, replace(question, proof=replace(proof, claims=claims)))
    if proof.broken is not None:
        yield Mutant(f"break {proof.broken} removed", question, healthy=True)
        yield from _without_bug(question)


def without_break(question: Question) -> Question:
    """Return the same question asking for a healthy run."""
    assert question.proof is not None
    return replace(question, proof=replace(question.proof, broken=None))


def _without_bug(question: Question) -> Iterator[Mutant]:
    """Each point or reason alone, of a run without the bug: what is true there too is no damage."""
    assert question.proof is not None
    healthy = replace(question.proof, broken=None, claims=())
    match question:
        case Bug():
            for index, each in enumerate(question.reasons):
                if each.claim:
                    alone = replace(question, proof=healthy, reasons=(each,))
                    yield Mutant(f"reason {index + 1} without the bug", alone, healthy=True)
        case Essay():
            for index, each in enumerate(question.rubric):
                if each.claim:
                    alone = replace(question, proof=healthy, rubric=(each,))
                    yield Mutant(f"point {index + 1} without the bug", alone, healthy=True)
        case _:
            pass


def _choice(question: Choice) -> Iterator[Mutant]:
    options = question.options
    right = [i for i, option in enumerate(options) if option.correct]
    wrong = [i for i, option in enumerate(options) if not option.correct]
    for i in right:
        for j in wrong:
            swapped = list(options)
            swapped[i] = replace(options[i], correct=False)
            # Without its own claim, which would be false of anything: option i's has to refuse.
            swapped[j] = replace(options[j], correct=True, claim=None)
            what = f"option {j + 1} right instead of {i + 1}"
            yield Mutant(what, replace(question, options=tuple(swapped)))
    for i in right:
        claim = options[i].claim
        for what, changed in _reversals(claim) if claim else ():
            swapped = list(options)
            swapped[i] = replace(options[i], claim=changed)
            yield Mutant(f"option {i + 1}: {what}", replace(question, options=tuple(swapped)))


def _cloze(question: Cloze) -> Iterator[Mutant]:
    for name, gap in question.gaps.items():
        if gap.value is None:
            yield Mutant(f"{name} changed", question)  # nothing hangs on it: it survives
            continue
        for what, formula in _numbers(gap.value):
            gaps = {**question.gaps, name: replace(gap, value=formula)}
            yield Mutant(f"{name} {what}", replace(question, gaps=gaps))


def _order(question: Order) -> Iterator[Mutant]:
    steps = {step.id: step for step in question.steps}
    for first, second in ordered(question):
        turned = tuple(steps[each] for each in before([*steps], first, second))
        yield Mutant(f"{first} after {second}", replace(question, steps=turned))


def _numbers(formula: Formula) -> Iterator[tuple[str, Formula]]:
    steps: list[tuple[str, ast.operator, float]]
    steps = [("* 1.1", ast.Mult(), 1.1), ("+ 1", ast.Add(), 1), ("- 1", ast.Sub(), 1)]
    if isinstance(formula.tree, ast.Constant) and not formula.tree.value:
        steps[0] = ("+ 0.1", ast.Add(), 0.1)  # a tenth of nothing changes nothing
    for what, op, by in steps:
        tree = ast.BinOp(formula.tree, op, ast.Constant(by))
        # Built, not written and read again: it may be longer and deeper than what can be read.
        yield what, Formula(ast.unparse(tree), formula.names, tree)


def _answers(
    answer: Number | tuple[Number, ...],
) -> Iterator[tuple[str, Number | tuple[Number, ...]]]:
    if not isinstance(answer, tuple):
        yield ("* 1.1", answer * 1.1) if answer else ("+ 0.1", 0.1)
        yield "+ 1", answer + 1
        yield "- 1", answer - 1
        return
    for i in range(len(answer)):
        for what, step in (("+ 1", 1), ("- 1", -1)):
            yield f"[{i}] {what}", (*answer[:i], answer[i] + step, *answer[i + 1 :])


def _reversed_points(
    points: tuple[RubricPoint, ...],
) -> Iterator[tuple[int, tuple[RubricPoint, ...]]]:
    for i, point in enumerate(points):
        for _, changed in _reversals(point.claim) if point.claim else ():
            yield i, (*points[:i], replace(point, claim=changed), *points[i + 1 :])


def _reversed(claims: tuple[Formula, ...]) -> Iterator[tuple[str, tuple[Formula, ...]]]:
    for i, claim in enumerate(claims):
        for what, changed in _reversals(claim):
            yield what, (*claims[:i], changed, *claims[i + 1 :])


def _reversals(claim: Formula) -> Iterator[tuple[str, Formula]]:
    """The claim with each of its comparisons negated."""
    for index, node in enumerate(ast.walk(claim.tree)):
        if _compares(node):
            tree = deepcopy(claim.tree)
            target = [*ast.walk(tree)][index]
            negated = cast("ast.expr", _Negate(target).visit(tree))
            changed = Formula(ast.unparse(negated), claim.names, negated)
            yield f"not {ast.unparse(node)}", changed


def _compares(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("isclose", "all_equal")
    return isinstance(node, ast.Compare)


class _Negate(ast.NodeTransformer):
    """Puts `not` before one node of a tree."""

    def __init__(self, target: ast.AST) -> None:
        self.target = target

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.target and isinstance(node, ast.expr):
            return ast.UnaryOp(ast.Not(), node)
        return self.generic_visit(node)
