"""Lists every draw of numbers that a question can make."""

import itertools
import math
from collections.abc import Iterator

from quizkit.bank.functions import Number
from quizkit.bank.model import Numeric, Question

MOST_DRAWS = 500


def draws(question: Numeric) -> Iterator[dict[str, Number]]:
    """Every combination of the parameters that `where` lets through."""
    names = [*question.params]
    for values in itertools.product(*question.params.values()):
        drawn = dict(zip(names, values, strict=True))
        if question.where is None or question.where.truth(dict(drawn)):
            yield drawn


def number_of_draws(question: Numeric) -> int:
    """How many combinations there are before `where`."""
    return math.prod(len(values) for values in question.params.values())


def with_letters(question: Question, text: str) -> str:
    """A text of the question before its numbers are drawn: `{p}` is p."""
    for name in question.params if isinstance(question, Numeric) else ():
        text = text.replace(f"{{{name}}}", name)
    return text
