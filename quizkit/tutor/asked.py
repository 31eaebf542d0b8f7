"""One asking of a question: its numbers drawn, its options in their places.

A seed says all of it, so that an undone answer is asked again exactly as it was and every answer in
the diary can be looked at as the learner saw it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from quizkit.bank.formula import FormulaError, Number, Value
from quizkit.bank.model import Choice, Numeric, Order, Question, Text
from quizkit.words import Lang

_PLACE = re.compile(r"\{(\w+)\}")
_MOST_DRAWS = 1000


class Code(Protocol):
    """A function of a demo, as shown to the learner (an excerpt)."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines, in order."""
        ...

    @property
    def first(self) -> int:
        """The number in the demo's file of the first line."""
        ...

    @property
    def changed(self) -> frozenset[int]:
        """Which lines, counted from 1, the planted bug changed."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked: the question, its drawn values, and the order in which things are shown."""

    question: Question
    seed: int
    values: Mapping[str, Number] = field(default_factory=dict[str, Number])
    order: tuple[int, ...] = ()
    code: Code | None = None

    def fill(self, text: Text, lang: Lang) -> str:
        """The text with this asking's numbers in it; other braces are left alone."""
        return _PLACE.sub(self._shown, text[lang])

    def answer(self) -> Number:
        """The right number of a `numeric`, for these values."""
        if not isinstance(self.question, Numeric):
            raise TypeError(f"{self.question.id} is not numeric")
        return self.question.answer.number(self.values)

    def _shown(self, place: re.Match[str]) -> str:
        name = place[1]
        if name in self.values:
            return show_number(self.values[name])
        # Prompts never name it (they would give it away); explanations of a drawn number need it.
        if name == "answer" and isinstance(self.question, Numeric):
            return show_number(self.answer())
        return place[0]


def ask(question: Question, seed: int, code: Code | None = None) -> Asked:
    """One asking; the same seed gives the same one."""
    values = _draw(question, seed) if isinstance(question, Numeric) else {}
    order: tuple[int, ...] = ()
    match question:
        case Choice():
            order = _shuffled(len(question.options), seed)
        case Order():
            order = _shuffled(len(question.steps), seed)
            listed = tuple(range(len(order)))
            if order == listed:  # shown in the right order, there would be nothing to do
                order = order[1:] + order[:1]
        case _:
            pass
    return Asked(question, seed, values, order, code)


def show_number(number: Number) -> str:
    """A number as people write it: whole ones whole, others with six digits."""
    if isinstance(number, float) and number.is_integer() and abs(number) < 1e15:
        number = int(number)
    return str(number) if isinstance(number, int) else f"{number:.6g}"


def _draw(question: Numeric, seed: int) -> dict[str, Number]:
    random = Random(f"{seed}:values")  # noqa: S311  a draw, not a secret
    for _ in range(_MOST_DRAWS):
        values: dict[str, Number] = {
            name: choices[int(random.random() * len(choices))]
            for name, choices in question.params.items()
        }
        known: Mapping[str, Value] = values
        if question.where is None or question.where.truth(known):
            return values
    raise FormulaError(f"`{question.where}` lets almost no draw of {question.id} through")


def _shuffled(count: int, seed: int) -> tuple[int, ...]:
    # Not Random.shuffle: only random() is promised to stay the same from Python to Python.
    random = Random(f"{seed}:order")  # noqa: S311
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = int(random.random() * (last + 1))
        order[last], order[other] = order[other], order[last]
    return tuple(order)
