"""Finds questions by any words in either language; two Chinese characters are enough."""

import unicodedata
from collections.abc import Iterable

from quizkit.bank.language import texts_of
from quizkit.bank.model import Question


def search(questions: Iterable[Question], wanted: str) -> list[Question]:
    """The questions that hold every word of `wanted`, best first: in the id or prompt, then last.

    Plain containment, without regard to case or width: Chinese has no spaces to split at.
    """
    words = folded(wanted).split()
    found: list[tuple[int, str, Question]] = []
    for question in questions:
        front = folded(f"{question.id} {' '.join(question.tags)} {_both(question, 'prompt')}")
        whole = f"{front} {folded(_both(question))}"
        if words and all(word in whole for word in words):
            missing = sum(word not in front for word in words)
            found.append((missing, question.id, question))
    return [question for _, _, question in sorted(found, key=lambda each: each[:2])]


def folded(text: str) -> str:
    """Without case and width: ＧＰｉｐｅ is gpipe."""
    return unicodedata.normalize("NFKC", text).casefold()


def _both(question: Question, start: str = "") -> str:
    texts = (text for place, text in texts_of(question) if place.startswith(start))
    return " ".join(f"{text.zh} {text.en}" for text in texts)
