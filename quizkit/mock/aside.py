"""Understand what a candidate says to the interviewer beside the answer.

h         a hint          1, 2, ...   a look at recorded evidence
t         中/En           !           how sure I am
n TEXT    a note          anything else is a question
"""

import unicodedata
from collections.abc import Sequence
from typing import Literal

from quizkit.bank.evidence import evidence
from quizkit.bank.script import ToldFact

Wish = Literal["hint", "look", "note", "toggle", "sure", "question"]
_WORDS: dict[str, Wish] = {
    "h": "hint",
    "hint": "hint",
    "提示": "hint",
    "t": "toggle",
    "toggle": "toggle",
    "中": "toggle",
    "en": "toggle",
    "!": "sure",
    "sure": "sure",
}


def understood(text: str) -> tuple[Wish, str]:
    """Return what is wanted, and the rest: a look's number, a note, a question."""
    text = unicodedata.normalize("NFKC", text).strip()
    word, _, rest = text.partition(" ")
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()], ""
    if text.isdecimal():
        return "look", text
    if word.casefold() in ("n", "note", "记"):
        return "note", rest.strip()
    return "question", text


def answered(question: str, facts: Sequence[ToldFact]) -> tuple[int, ...]:
    """Return the facts that a question asks for."""
    return tuple(n for n, fact in enumerate(facts) if evidence(question, fact.keywords))
