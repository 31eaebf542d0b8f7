"""Lists every draw of numbers that a question can make."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping

from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Number
from quizkit.bank.model import Numeric, Question
from quizkit.bank.places import put

MOST_DRAWS = 500


def draws(question: Numeric) -> Iterator[dict[str, Number]]:
    """Every combination of the parameters that `where` lets through."""
    names = [*question.params]
    for values in itertools.product(*question.params.values()):
        drawn = dict(zip(names, values, strict=True))
        if fits(question, drawn):
            yield drawn


def fits(question: Numeric, drawn: Mapping[str, Number]) -> bool:
    """Whether `where` lets a draw through. Raises FormulaError where it cannot tell."""
    try:
        return question.where is None or question.where.truth(dict(drawn))
    except FormulaError as error:
        raise FormulaError(f"`where` at {dict(drawn)}: {error}") from error


def number_of_draws(question: Numeric) -> int:
    """How many combinations there are before `where`."""
    return math.prod(len(values) for values in question.params.values())


def with_letters(question: Question, text: str) -> str:
    """A text of the question before its numbers are drawn: `{p}` is p, and so is `p = {p}`."""
    if not isinstance(question, Numeric):
        return text
    params = question.params
    for name in params:
        text = re.sub(rf"(?<!\w)(\$?){name}\1 = \{{{name}\}}", rf"\1{name}\1", text)
    return put(text, lambda name: name if name in params else None)
