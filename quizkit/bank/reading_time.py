"""Estimate how long a question takes to read, in each language: asked, and told after it."""

import re
from collections.abc import Iterator

from quizkit.bank.model import Choice, Cloze, Essay, Order, Question, Text

_CHARACTERS, _WORDS = 250, 180
"""A minute, of technical prose that is read with care. A judgement; a learner's own times replace
it as soon as there are some."""

_WIDE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9_.]+")


def reading_time(text: str) -> float:
    """Return the seconds to read a text. A name or a number in Chinese counts as a word."""
    characters, words = len(_WIDE.findall(text)), len(_WORD.findall(text))
    return 60 * (characters / _CHARACTERS + words / _WORDS)


def length(text: str) -> int:
    """Count a text's Han characters and words; a formula without blanks is a word."""
    rest = (word for word in _WIDE.sub(" ", text).split() if any(map(str.isalnum, word)))
    return len(_WIDE.findall(text)) + sum(1 for _ in rest)


def choices_of(question: Question) -> Iterator[Text]:
    """Yield the words to choose from: options, steps, the text with gaps; often none."""
    match question:
        case Choice(options=options):
            yield from (option.text for option in options)
        case Order(steps=steps):
            yield from (step.text for step in steps)
        case Cloze(text=text):
            yield text
        case _:
            pass


def asking_time(question: Question) -> tuple[int, int]:
    """Return the seconds to read what is asked, in Chinese and in English. Code is not counted.

    Nor are conditions with a name: a topic's questions share them, so they are known.
    """
    unnamed = (each for each in question.assume if isinstance(each, Text))
    return _times([question.prompt, *unnamed, *choices_of(question)])


def telling_time(question: Question) -> tuple[int, int]:
    """Return the seconds to read what comes with the verdict: explanation, an essay's points."""
    parts = [question.explain]
    if isinstance(question, Essay):
        parts += [point.says for point in question.rubric]
    return _times(parts)


def _times(parts: list[Text]) -> tuple[int, int]:
    return (
        round(sum(reading_time(part.zh) for part in parts)),
        round(sum(reading_time(part.en) for part in parts)),
    )
