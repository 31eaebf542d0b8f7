"""Count what a text says: each clause that could be false by itself is a saying of its own.

A claim has to have a part for each. `They stay, because gradients are sent` says two things, and a
run that compares bytes has looked at one.
"""

import ast
import re
from collections.abc import Collection

from quizkit.bank.entry import words_of
from quizkit.bank.formula import Formula
from quizkit.bank.model import Option, Question, RubricPoint, Text
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.worlds import judges, names_of

# The answer to "is that right?" is borne out by what follows it.
_VERDICT = re.compile(
    r"^(?:yes|no|wrong|right|never|neither|true|false|both|it depends|half right|can't tell)\b"
    r"[;,. ]*"
    r"|^(?:对|不对|错|是|不是|能|不能|会|不会|有|没有|可以|不可以|不行|站不住|有道理|有条件|说不准|可能)[，。；]"
)
_JOINED = {
    "en": re.compile(
        r"[;.](?=\s|$)|\b(?:because|therefore|hence|thus|thereby)\b|"
        r"\bso\b(?! (?:far|many|much|long|often|that)\b)|\bsince\b|"
        r",? \bas\b(?! (?:it|they) (?:is|are|was|were)(?:[,.;]|$))"
        r"(?= (?:it|they|each|every|all|no|both|the (?:\w+ )?\w+ (?:is|are|has|have))\b)|"
        r", (?:and|but|which|while|whereas|as|whose|yet|nor)\b"
    ),
    "zh": re.compile(
        r"[；。]|因为|由于|所以|因此|因而|从而|于是|导致|使得|，(?:而|但|也|并且|故|又)"
    ),
}


def sayings(text: Text) -> int:
    """Return how many things a text says, in the language in which it says more."""
    return max(len(_split(text.zh, "zh")), len(_split(text.en.lower(), "en")), 1)


def _split(said: str, lang: str) -> list[str]:
    plain = _VERDICT.sub("", re.sub(r"`[^`]*`", "x", said.strip()))
    return [each for each in _JOINED[lang].split(plain) if re.search(r"\w", each)]


def told_whole(question: Question, part: Option | RubricPoint) -> bool:
    """Tell whether a claim has a part for each thing that its option, point or reason says."""
    return part.claim is not None and sayings(words_of(part)) <= tellings(question, part.claim)


def tellings(question: Question, claim: Formula) -> int:
    """Return how many things a claim tells of: its parts, and each case of one that knows cases.

    `(slower) == (v == 2)` tells of v = 2 and of any other v that a run is made with.
    """
    proof = question.proof
    at = {name for row in proof.at for name in row} if proof else set[str]()
    known = {"ranks", *at, *(proof.args if proof else ())}
    return _tellings(claim.tree, known)


def _tellings(claim: ast.expr, known: Collection[str]) -> int:
    return sum(_cases(part, known) for part in parts_of(claim))


def _cases(part: ast.expr, known: Collection[str]) -> int:
    match part:
        case ast.IfExp(_, yes, no):
            return _tellings(yes, known) + _tellings(no, known)
        case ast.Compare(left, [ast.Eq()], [right]) if judges(left) and judges(right):
            return 2 if any(names_of(side) <= {*known} for side in (left, right)) else 1
        case ast.Compare(_, [ast.Eq()], [ast.IfExp()]):
            return 2
        case ast.BoolOp(ast.Or(), parts):
            told = [each for each in parts if not names_of(each) <= {*known}]
            return max(_tellings(each, known) for each in told) if told else 1
        case _:
            return 1
