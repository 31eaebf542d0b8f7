"""Draws a question's numbers, and lists every draw there is."""

import itertools
import math
import random
from collections.abc import Iterator, Mapping

from quizkit.bank.functions import Number
from quizkit.bank.model import Numeric

MOST_DRAWS = 500
_TRIES = 1000


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


def draw(question: Numeric, seed: int) -> Mapping[str, Number]:
    """The draw of a seed: the same seed, the same numbers, on every machine."""
    chance = random.Random(seed)  # noqa: S311
    for _ in range(_TRIES):
        drawn = {name: chance.choice(values) for name, values in question.params.items()}
        if question.where is None or question.where.truth(dict(drawn)):
            return drawn
    return next(draws(question))
