"""Read a typed line as an answer: in an interview everything is typed, under one clock.

choice   the number of the option as shown, or with several all of them: 1 3
order    the numbers of all steps as shown: 3 1 2
cloze    what belongs in the gaps, in order, with ; between
numeric  the text itself, read by the grader
essay    the text itself
"""

import re

from quizkit.bank.model import Choice, Cloze, Order
from quizkit.tutor.asked import Asked
from quizkit.tutor.verdict import Note


class MisreadError(ValueError):
    """The line is no answer to this kind of question; it is asked again, never counted as wrong."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.note: Note = (f"mock.{key}", values)


def read(asked: Asked, typed: str) -> object:
    """Read the answer into the shape that `grade` documents; of an essay its text."""
    text = typed.strip()
    if not text:
        raise MisreadError("nothing_typed")
    match asked.question:
        case Choice() as question:
            numbers = _numbers(text, len(question.options))
            if not numbers or (len(numbers) > 1 and not question.several):
                key = "pick_several" if question.several else "pick_one"
                raise MisreadError(key, last=len(question.options))
            return [asked.order[number - 1] for number in numbers]
        case Order() as question:
            numbers = _numbers(text, len(question.steps))
            if len(numbers) != len(question.steps):
                raise MisreadError("all_steps", last=len(question.steps))
            return [question.steps[asked.order[number - 1]].id for number in numbers]
        case Cloze() as question:
            parts = [part.strip() for part in re.split("[;；]", text)]
            if len(parts) != len(question.gaps) or not all(parts):
                raise MisreadError("all_gaps", count=len(question.gaps))
            return dict(zip(question.gaps, parts, strict=True))
        case _:
            return text


def _numbers(text: str, last: int) -> list[int]:
    """Numbers from 1 to `last`, each once, with or without spaces; empty if that is not it.

    No list has more than nine entries, so a digit is a number.
    """
    digits = re.sub(r"[\s,.、，>→-]+", "", text)
    if not digits.isdecimal():
        return []
    numbers = [int(digit) for digit in digits]
    whole = all(1 <= number <= last for number in numbers)
    return numbers if whole and len(set(numbers)) == len(numbers) else []
