"""Read a few things out of a text: what it is about, how many times, which variant it names."""

import ast
import math
import re
from collections.abc import Iterator, Mapping

from quizkit.bank.formula import Formula
from quizkit.bank.functions import Value, is_number
from quizkit.bank.model import Question
from quizkit.bank.spelt import SPELT
from quizkit.lab.catalogue import Demo
from quizkit.proof.setting import rows
from quizkit.proof.worlds import value_of

_LITTLE = """
    a an the of to in on at by for from with and or but not no nor is are was were be been it its
    this that these those as so if then than them they their there where when which what who how
    why do does did has have had will would can could should may might must one each every all
    any some more most less least fewer few many much only own other another same such too very
    also just both either neither into onto over under out up down off about after before between
    through while during per via within without because since until still again once here now
    even ever never always you your we our i he she his her itself themselves run runs take takes
    took get gets got go goes come comes make makes made give gives say says let put set like
    number value first last largest rank ranks gpu gpus process processes
"""
_COMMON = frozenset(_LITTLE.split())
_ENDINGS = re.compile(r"(?<=\w{3})(?:ations?|ions?|ings?|ers?|ed|es|s|ly|e)$")


def stems(text: str) -> frozenset[str]:
    """Return the words that say something, without their endings."""
    plain = re.sub(r"\{[^}]*\}", " ", text.lower())
    words = re.findall(r"[a-z0-9]+", plain)
    return frozenset(stem(each) for each in words if each not in _COMMON and not each.isdigit())


def stem(word: str) -> str:
    """Return a word without its ending."""
    return _ENDINGS.sub("", word)[:6]


_CLAUSE = re.compile(r"[,;:.](?=\s|$)|\b(?:as|since|because|though|while)\b(?! (?:much|many|l))")
_NUMBER = rf"(?:\d+(?:\.\d+)?|{'|'.join(SPELT)})"
_AMOUNTS: Mapping[re.Pattern[str], float] = {
    re.compile(rf"\b({_NUMBER})(?: ?[x×]|[- ]times|[- ]?fold)"): 0,
    re.compile(r"\b(\d+(?:\.\d+)?) ?(?:%|percent)"): 0.01,
    re.compile(r"\b(?:twice|doubl(?:es?|ed|ing))\b"): 2,
    re.compile(r"\bhal(?:f(?! right)|ve[sd]?|ving)\b"): 0.5,
    re.compile(r"\btripl\w+"): 3, re.compile(r"\ba third\b"): 1 / 3,
    re.compile(r"\ba quarter\b"): 0.25, re.compile(r"\ba hundred\b"): 100,
    re.compile(r"\ba thousand\b"): 1000, re.compile(r"\ba dozen\b"): 12,
}  # fmt: skip


def amounts(text: str) -> Iterator[float]:
    """Yield how many times, or what share, an English text says."""
    low = text.lower()
    for pattern, by in _AMOUNTS.items():
        for found in pattern.finditer(low):
            if not pattern.groups:
                yield by
            else:
                number = float(SPELT[found[1]]) if found[1] in SPELT else float(found[1])
                yield number * (by or 1)


def main_clause(text: str) -> str:
    """Return what an English text says, in small letters, without what it says why."""
    return _CLAUSE.split(text.lower())[0]


def known(question: Question, demo: Demo) -> dict[str, Value]:
    """Return the numbers that the first run is made with."""
    proof = question.proof
    assert proof is not None
    defaults = {name: each.default for name, each in demo.parameters.items()}
    given: dict[str, object] = {**defaults, **proof.args, **rows(question)[0]}
    ranks = {} if isinstance(proof.ranks, Formula) else {"ranks": proof.ranks}
    return {n: v for n, v in {**given, **ranks}.items() if is_number(v)}


def has(amount: float, claim: ast.expr, world: Mapping[str, Value]) -> bool:
    """Tell whether a claim has an amount, as it is said or as what is left of it."""
    found = [
        float(value)
        for node in ast.walk(claim)
        if isinstance(node, ast.expr) and is_number(value := value_of(node, world))
    ]
    alike = [amount, 1 / amount, 1 - amount, 1 + amount, 100 * amount, amount - 1]
    ratios = [*found, *(a / b for a in found for b in found if b)]
    # About as much may be said of a window: "about 1%" of `x > 0.005 and x < 0.02`.
    between = len(found) > 1 and min(found) < amount < max(found)
    return between or any(math.isclose(a, b, rel_tol=1e-6) for a in ratios for b in alike if b)


def apart(name: str, other: str) -> tuple[str, str] | None:
    """The one part in which two names differ."""
    one, two = name.split("_"), other.split("_")
    different = [(a, b) for a, b in zip(one, two, strict=False) if a != b]
    return different[0] if len(one) == len(two) and len(different) == 1 else None


def says(words: str, part: str) -> bool:
    """Tell whether words name a variant: a part of a metric's name."""
    if part.isdigit():
        return re.search(rf"zero[- ]?(?:stage[- ])?{part}\b|\bstages? {part}\b", words) is not None
    return re.search(rf"(?<![a-z]){re.escape(part[:6])}", words) is not None
