"""A key said in GiB and worked out in GB, or the other way round: 7 % apart, and alike to see."""

import ast
import re
from collections.abc import Iterator

from quizkit.bank.model import Cloze, Numeric, Question

Rule = tuple[str, str]

_BINARY = re.compile(r"(?<![A-Za-z])[KMGT]i(?:B|bytes?)(?![A-Za-z])|\b1024 bytes")
_DECIMAL = re.compile(r"(?<![A-Za-z])[kKMGT](?:B|bytes?)(?![A-Za-z])")
_POWERS = range(1, 5)


def mixed_units(question: Question) -> Iterator[Rule]:
    """Yield (place, message) of a formula that divides by 1000 what is counted by 1024."""
    asked = " ".join(f"{text.zh} {text.en}" for text in question.asks)
    match question:
        case Numeric(answer=answer, unit=unit):
            yield from _mixed("answer", "answer", answer.tree, unit, asked)
        case Cloze():
            asked = f"{asked} {question.text.zh} {question.text.en}"
            for name, gap in question.gaps.items():
                said = f"{gap.answer.zh} {gap.answer.en}"
                if gap.value is not None:
                    yield from _mixed(f"gaps.{name}.value", name, gap.value.tree, said, asked)
        case _:
            pass


def _mixed(place: str, name: str, key: ast.expr, said: str, asked: str) -> Iterator[Rule]:
    binary, decimal = _sizes(key)
    unit = _one(_BINARY, said) or _one(_BINARY, asked)
    if unit and decimal and not binary and not _DECIMAL.search(asked):
        yield place, f"`{name}` is said in {unit} and worked out by thousands"
    if _DECIMAL.search(said) and binary and not decimal and not _BINARY.search(asked):
        yield place, f"`{name}` is said in {_one(_DECIMAL, said)} and worked out by 1024"


def _one(unit: re.Pattern[str], said: str) -> str:
    found = unit.search(said)
    return found[0] if found else ""


def _sizes(formula: ast.expr) -> tuple[bool, bool]:
    """Tell whether a formula goes by powers of 1024, and of 1000."""
    values = {each.value for each in ast.walk(formula) if isinstance(each, ast.Constant)}
    values |= {
        each.left.value**each.right.value
        for each in ast.walk(formula)
        if isinstance(each, ast.BinOp)
        and isinstance(each.op, ast.Pow)
        and isinstance(each.left, ast.Constant)
        and isinstance(each.right, ast.Constant)
        and isinstance(each.left.value, int)
        and isinstance(each.right.value, int)
        and 0 <= each.right.value < 50
    }
    return any(1024**k in values for k in _POWERS), any(1000**k in values for k in _POWERS)
