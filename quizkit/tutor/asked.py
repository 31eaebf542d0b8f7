"""One asking of a question: its numbers drawn, its options in their places.

A seed says all of it, so that an undone answer is asked again exactly as it was and every answer in
the diary can be looked at as the learner saw it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from quizkit.bank.draw import draw, show_number, show_roughly
from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Number
from quizkit.bank.model import Choice, Numeric, Order, Question, Text
from quizkit.bank.places import put
from quizkit.errors import UsageError
from quizkit.words import Lang

if TYPE_CHECKING:  # only `trace` and `bug` show code; the others need not load the laboratory
    from quizkit.lab.excerpt import Excerpt


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was asked: its drawn values, and the order in which things are shown."""

    question: Question
    seed: int
    values: Mapping[str, Number] = field(default_factory=dict[str, Number])
    order: tuple[int, ...] = ()
    code: "Excerpt | None" = None

    def fill(self, text: Text, lang: Lang) -> str:
        """Return the text with this asking's numbers in it; other braces are left alone."""
        return put(text[lang], self._shown)

    def answer(self) -> Number:
        """Return the right number of a `numeric`, for these values."""
        if not isinstance(self.question, Numeric):
            raise TypeError(f"{self.question.id} is not numeric")
        return self.question.answer.number(self.values)

    def _shown(self, name: str) -> str | None:
        if name in self.values:
            return show_number(self.values[name])
        # Prompts never name it (they would give it away); explanations of a drawn number need it.
        if name == "answer" and isinstance(self.question, Numeric):
            return show_roughly(self.answer())
        return None


def ask(question: Question, seed: int, code: "Excerpt | None" = None) -> Asked:
    """Make one asking; the same seed gives the same one.

    Raises UsageError for a number that cannot be drawn or has no answer.
    """
    values: Mapping[str, Number] = {}
    if isinstance(question, Numeric):
        try:
            values = draw(question, seed)
            question.answer.number(values)
        except FormulaError as error:
            raise UsageError("question_broken", problems=f"{question.file}: {error}") from error
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


def _shuffled(count: int, seed: int) -> tuple[int, ...]:
    random = Random(f"{seed}:order")  # noqa: S311
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = int(random.random() * (last + 1))
        order[last], order[other] = order[other], order[last]
    return tuple(order)
