"""Understand what a candidate says to the interviewer beside the answer.

h         a hint          1, 2, ...   a look at recorded evidence
t         中/En           !           how sure I am
n TEXT    a note          anything else is a question
"""

import unicodedata
from collections.abc import Mapping
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
    said = text.strip()
    plain = unicodedata.normalize("NFKC", said).casefold()
    if plain in _WORDS:
        return _WORDS[plain], ""
    if plain.isdecimal():
        return "look", plain
    if plain.partition(" ")[0] in ("n", "note", "记"):
        return "note", " ".join(said.split(maxsplit=1)[1:])  # in the candidate's own signs
    return "question", said


def answered(question: str, facts: Mapping[int, ToldFact]) -> tuple[int, ...]:
    """Return the numbers of the facts that a question asks for."""
    return tuple(n for n, fact in facts.items() if evidence(question, fact.keywords))
