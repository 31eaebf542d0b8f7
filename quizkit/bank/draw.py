"""Lists every draw of numbers that a question can make."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from random import Random

from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Number, Value
from quizkit.bank.model import Numeric, Question
from quizkit.bank.places import put

MOST_DRAWS = 500
_TRIES = 1000
FIRST = 0
"""The seed where nobody is asked: what is shown twice or exported twice has the same numbers."""


def draws(question: Numeric) -> Iterator[dict[str, Number]]:
    """Yield every combination of the parameters that `where` lets through."""
    names = [*question.params]
    for values in itertools.product(*question.params.values()):
        drawn = dict(zip(names, values, strict=True))
        if fits(question, drawn):
            yield drawn


def fits(question: Numeric, drawn: Mapping[str, Number]) -> bool:
    """Tell whether `where` lets a draw through. Raises FormulaError where it cannot tell."""
    try:
        return question.where is None or question.where.truth(dict(drawn))
    except FormulaError as error:
        raise FormulaError(f"`where` at {dict(drawn)}: {error}") from error


def draw(question: Numeric, seed: int) -> dict[str, Number]:
    """Return the seed's own draw. Raises FormulaError where there is none."""
    # Not Random.choice: only random() is promised to stay the same from Python to Python.
    random = Random(f"{seed}:values")  # noqa: S311  a draw, not a secret
    for _ in range(_TRIES):
        drawn = {
            name: values[int(random.random() * len(values))]
            for name, values in question.params.items()
        }
        if fits(question, drawn):
            return drawn
    for drawn in draws(question):
        return drawn
    raise FormulaError("`where` lets no draw through")


def number_of_draws(question: Numeric) -> int:
    """Count the combinations there are before `where`."""
    return math.prod(len(values) for values in question.params.values())


def show_number(number: Number) -> str:
    """Return a number as people write it: whole ones whole, others with six digits."""
    if isinstance(number, float) and number.is_integer() and abs(number) < 1e15:
        number = int(number)
    return str(number) if isinstance(number, int) else f"{number:.6g}"


def show_roughly(number: Number) -> str:
    """Return a number as one says it: three digits, and whatever more stands before the point."""
    if float(number).is_integer() or abs(number) < 1e-4:
        return show_number(number)
    return f"{number:.0f}" if abs(number) >= 100 else show_number(float(f"{number:.3g}"))


def show_value(value: Value) -> str:
    """Return a number, a truth value or a list of them, as short as is honest."""
    if isinstance(value, list):
        return "[" + ", ".join(show_value(each) for each in value) + "]"
    return str(value) if isinstance(value, bool | str) else show_number(value)


def with_numbers(question: Question, text: str) -> str:
    """Fill a text with the numbers of the question's first draw, those that `show` has too."""
    if not isinstance(question, Numeric):
        return text
    try:
        values = draw(question, FIRST)
    except FormulaError:
        return with_letters(question, text)
    return put(text, lambda name: show_number(values[name]) if name in values else None)


def with_letters(question: Question, text: str) -> str:
    """Write a text before its numbers are drawn: `{p}` is p, and so is `p = {p}`."""
    if not isinstance(question, Numeric):
        return text
    params = question.params
    for name in params:
        text = re.sub(rf"(?<!\w)(\$?){name}\1 = \{{{name}\}}", rf"\1{name}\1", text)
    return put(text, lambda name: name if name in params else None)
