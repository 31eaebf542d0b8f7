"""Find points or reasons that say what another says, or the declared bug shows by itself."""

import ast
from collections.abc import Iterator, Sequence
from itertools import islice

from quizkit.bank.model import Bug, Essay, Question, Text
from quizkit.proof.judge import statements
from quizkit.proof.said import both
from quizkit.proof.worlds import Scene, Search, names_of, truth_of

_TRIED = 60  # reports in which one is false, and in each of them others


def loose_points(question: Question, scenes: Sequence[Scene]) -> Iterator[Text]:
    """Yield what is wrong with points whose claims are true, and prove nothing of their own."""
    claims = [
        (place, claim.tree)
        for place, role, claim, _ in statements(question)
        if role in ("point", "right")
    ]
    measured = frozenset[str]().union(*(each.measured for each in scenes))
    for index, (place, claim) in enumerate(claims):
        if isinstance(question, Bug | Essay) and not names_of(claim) & measured - {"outcome"}:
            yield both("prove.loose_declared", place=place)
        for before, (other, said) in enumerate(claims):
            if before == index or not names_of(claim) & names_of(said) & measured:
                continue
            # Of two that say the same, the second one is too much.
            if not _apart(claim, said, scenes) and (before < index or _apart(said, claim, scenes)):
                yield both("prove.loose_repeated", place=place, other=other)
                break


def _apart(claim: ast.expr, other: ast.expr, scenes: Sequence[Scene]) -> bool:
    """Tell whether some report makes the claim false and leaves the other one true."""
    for scene in scenes:
        for found in islice(Search(scene).worlds(claim, False, scene.values), _TRIED):
            mended = islice(Search(scene).worlds(other, True, found), _TRIED)
            if any(truth_of(claim, each) is False for each in mended):
                return True
    return False
