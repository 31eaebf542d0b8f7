"""Read a typed text as an answer: in an interview everything is typed, under one clock.

choice   the number of the option as shown, or with several all of them: 1 3
order    the numbers of all steps as shown: 3 1 2
cloze    what belongs in the gaps, in order, with ; between
bug      the number of the line, then why: 12 the gradient is not reduced
written  a layout or a schedule, see `written`
numeric, trace, essay  the text itself
"""

import re

from quizkit.bank.evidence import evidence
from quizkit.bank.model import Bug, Choice, Cloze, Order
from quizkit.bank.script import WrittenTask
from quizkit.mock.misread import MisreadError
from quizkit.mock.written import read_written
from quizkit.tutor.asked import Asked

_LINE = re.compile(r"(?si)\s*(?:第|line|l)?\s*(\d{1,4})\s*(?:行)?\s*[:：,，.。;；-]?\s*(.*)")


def read(asked: Asked, typed: str) -> object:
    """Read the answer into the shape that `judge` documents; of an essay its text."""
    text = typed.strip()
    if not text:
        raise MisreadError("mock.nothing_typed")
    match asked.question:
        case Choice() as question:
            numbers = _numbers(text, len(question.options))
            if not numbers or (len(numbers) > 1 and not question.several):
                key = "pick_several" if question.several else "pick_one"
                raise MisreadError(f"mock.{key}", last=len(question.options))
            return [asked.order[number - 1] for number in numbers]
        case Order() as question:
            numbers = _numbers(text, len(question.steps))
            if len(numbers) != len(question.steps):
                raise MisreadError("mock.all_steps", last=len(question.steps))
            return [question.steps[asked.order[number - 1]].id for number in numbers]
        case Cloze() as question:
            parts = [part.strip() for part in re.split("[;；]", text)]
            if len(parts) != len(question.gaps) or not all(parts):
                raise MisreadError("mock.all_gaps", count=len(question.gaps))
            return dict(zip(question.gaps, parts, strict=True))
        case Bug() as question:
            found = _LINE.fullmatch(text)
            last = len(asked.code.lines) if asked.code else 0
            if found is None or not 1 <= int(found[1]) <= last:
                raise MisreadError("mock.line_misread", last=last)
            said = [n for n, p in enumerate(question.reasons) if evidence(found[2], p.keywords)]
            return {"line": int(found[1]), "text": found[2].strip(), "reasons": said}
        case WrittenTask() as question:
            return read_written(question.write, text)
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
