"""Equal bits are `identical`: no bound, however small, bears out words that leave no rounding."""

import ast
import re
from collections.abc import Iterator, Sequence

from quizkit.bank.entry import points_of
from quizkit.bank.formula import Formula
from quizkit.bank.model import Bug, Choice, Essay, Question, Text
from quizkit.proof.conjuncts import parts_of
from quizkit.proof.judge import BoundRun
from quizkit.proof.said import both
from quizkit.proof.worlds import names_of

_BITS = (
    r"bit[- ](?:for|by)[- ]bit|bit[- ]?wise|bit[- ](?:exact|identical|equal)\w*|"
    r"(?:the )?(?:same|equal|identical) bits|"
    r"to the last (?:bit|digit)|(?:error|difference|gap) of (?:0|zero|nothing)|"
    r"(?:with|there is) (?:no|zero) (?:rounding |numerical )?"
    r"(?:error|difference|rounding)(?! beyond)|"
    r"exactly (?:the same|equal|zero|0|nothing)|(?:error|difference|gap) (?:is|are) exactly"
)
_BITS_ZH = (
    r"逐位|逐比特|逐 ?bit|按位(?:相同|一致|相等)|一位不差|一个(?:比特|bit)(?:也|都)不差|"
    r"比特(?:完全)?(?:一致|相同|一样)|(?:误差|(?<!偏)差|差别)(?:正好|恰好|严格)?"
    r"(?:为|是|等于) ?(?:0|零)(?!\.)|"
    r"完全(?:一样|相同|一致)的(?:比特|位)|毫无(?:误差|差别)|没有(?:任何)?(?:误差|舍入)"
)
_NOT = r"\b(?:not?|never|nor|without|than|less|beyond|up to)\b|n't\b|cannot|nowhere|hardly"
_EXACT = re.compile(rf"({_NOT})?[^.;,]{{0,40}}?\b(?:{_BITS})")
_EXACT_ZH = re.compile(rf"([不非没未无])?[^。；，]{{0,6}}?(?:{_BITS_ZH})")
_BOUND = re.compile(r"1e-\d|10\^\{?-|up to rounding|to rounding|within rounding")
_DIFFER = re.compile(r"\b(?:differ\w*|break\w*|los\w+|chang\w+|apart|unequal|wrong)\b|不再|差别")


def exact(question: Question, runs: Sequence[BoundRun]) -> Iterator[Text]:
    """Yield what says that bits are equal, and claims a size."""
    for place, text, claim in _said(question):
        if is_exact(text) and not any(_bears_out(part, runs) for part in parts_of(claim.tree)):
            yield both("prove.exact", place=place, claim=str(claim))


def is_exact(text: Text) -> bool:
    """Tell whether either language says that not a bit is different."""
    if _BOUND.search(text.en.lower()):
        return False  # how much is let by is said
    for said, pattern in ((text.en.lower(), _EXACT), (text.zh, _EXACT_ZH)):
        if not _DIFFER.search(said) and any(not found[1] for found in pattern.finditer(said)):
            return True
    return False


def _said(question: Question) -> Iterator[tuple[str, Text, Formula]]:
    """Yield the texts that a claim stands for, a small bound only; of a prompt, the right option's.

    A claim that something is apart answers a prompt that asks for equal bits as well.
    """
    match question:
        case Choice(options=options):
            for index, option in enumerate(options):
                if option.claim is None or not option.correct:
                    continue
                yield f"options.{index}.claim", option.text, option.claim
                if _agrees(option.claim.tree):
                    yield f"options.{index}.claim", question.prompt, option.claim
        case Essay() | Bug():
            for place, point in points_of(question):
                if point.claim:
                    yield f"{place}.claim", point.says, point.claim
        case _:
            pass


def _agrees(claim: ast.expr) -> bool:
    """Tell whether a claim is of small bounds alone."""
    return all(
        isinstance(part, ast.Compare)
        and isinstance(part.ops[0], ast.Lt | ast.LtE)
        and isinstance(part.comparators[0], ast.Constant)
        for part in parts_of(claim)
    )


def _bears_out(part: ast.expr, runs: Sequence[BoundRun]) -> bool:
    """Tell whether a part of a claim says that something is the same, and no rounding is let by."""
    how = runs[0].report.how
    measured = names_of(part) & how.keys()
    if any(how[name] == "identical" for name in measured):
        return True
    equals = any(
        isinstance(node, ast.Eq) or (isinstance(node, ast.Name) and node.id == "all_equal")
        for node in ast.walk(part)
    )
    strict = [
        n
        for n in measured
        if how[n] == "counted"
        or (how[n] == "compared" and not any(n in run.report.floors for run in runs))
    ]
    return equals and bool(strict)
