"""Gather what a question tells the learner into one English text: its conditions' words."""

import re
from collections.abc import Iterator

from quizkit.bank.model import Choice, Cloze, Essay, Order, Question
from quizkit.bank.spelt import numbers_in

# ZeRO-3, 1F1B, bf16, H100: which one it is, and not how many.
CALLED = re.compile(r"[a-z]+-\d+|\d+[a-z]+\d+[a-z]*|[a-z]+\d+\w*")


def numbers_told(words: str) -> Iterator[float]:
    """Yield the numbers in small English letters, those in names aside."""
    yield from numbers_in(CALLED.sub(" ", words))


def words_told(question: Question) -> str:
    """Return prompt, conditions, and what is chosen from, filled or claimed, in small letters."""
    texts = [*question.asks]
    match question:
        case Choice():
            texts += [option.text for option in question.options]
        case Order():
            texts += [step.text for step in question.steps]
        case Cloze():
            texts.append(question.text)
        case Essay():
            texts += [point.says for point in question.rubric]
        case _:
            pass
    return " ".join(" ".join(text.en for text in texts).lower().split())
