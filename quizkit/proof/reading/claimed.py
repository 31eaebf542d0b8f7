"""Yield what a question asks or says to be true, with the claim that is to bear it out."""

import re
from collections.abc import Iterator

from quizkit.bank.entry import points_of, statements_of, words_of
from quizkit.bank.formula import Formula
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, Question, Text, Trace
from quizkit.proof.reading.phrase import main_clause


def claimed(question: Question) -> Iterator[tuple[str, str, Formula]]:
    """Yield what is asked or said to be true, in small English letters, with its claim."""
    assert question.proof is not None
    match question:
        case Choice(options=options):
            for index, option in enumerate(options):
                if option.claim and option.correct:
                    yield f"options.{index}.claim", main_clause(option.text.en), option.claim
        case Essay() | Bug():
            for place, point in points_of(question):
                if point.claim:
                    yield f"{place}.claim", main_clause(point.says.en), point.claim
        case Numeric() | Trace():
            for index, claim in enumerate(question.proof.claims):
                if "answer" in claim.names:
                    yield f"proof.claims.{index}", last_sentence(question), claim
        case Order():
            asked = " ".join(question.prompt.en.lower().split())
            for index, claim in enumerate(question.proof.claims):
                yield f"proof.claims.{index}", asked, claim
        case Cloze():
            clauses = re.split(r"[.;:,](?=\s|$)", " ".join(question.text.en.lower().split()))
            for index, claim in enumerate(question.proof.claims):
                of = [each for each in clauses if any(f"[[{n}]]" in each for n in claim.names)]
                said = re.sub(r"\[\[\w+\]\]|\d+ ?[kmgt]i?b\b", " ", ". ".join(of))
                yield f"proof.claims.{index}", said, claim
        case _:
            pass


def last_sentence(question: Question) -> str:
    """Return what a prompt asks last, in small English letters, without what leads to it."""
    asked = question.prompt.en.lower().rsplit("?", 1)[0].strip()
    return re.split(r"(?<=[.;])\s", asked)[-1]


def used_names(question: Question) -> frozenset[str]:
    """Return all names that any claim of a question looks at."""
    assert question.proof is not None
    claims = [*question.proof.claims]
    if isinstance(question, Choice):
        claims += [option.claim for option in question.options if option.claim]
    return frozenset[str]().union(*(claim.names for claim in claims))


def texts_of(question: Question) -> dict[str, Text]:
    """Return what each option, point or reason says, by the place of its claim."""
    return {f"{place}.claim": words_of(part) for place, part in statements_of(question)}
