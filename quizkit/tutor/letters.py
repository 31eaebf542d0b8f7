"""Formulas as people type them: 2(p-1)/p is 2*(p-1)/p, and the same as 2 - 2/p."""

import re
from collections.abc import Mapping

from quizkit.bank.formula import Formula, FormulaError, parse
from quizkit.bank.functions import Number
from quizkit.tutor.numbers import LONGEST, tidy

_NAME = r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*"
_SIDE = re.compile(r"^\s*[A-Za-z_ ]{1,20}\s*=(?!=)\s*")
_TRIALS = ((2, 3, 5, 7, 11, 13), (4, 6, 9, 10, 14, 15), (3.5, 8, 2.25, 17, 19, 23))
_CLOSE = 1e-9


def formula(text: str, names: Mapping[str, Number] | None = None) -> Formula | None:
    """Read the formula that was typed, or None; with `names`, one that uses no others.

    A product of letters needs its sign (`p*m`), since `pm` may be a name.
    """
    if len(text) > LONGEST:
        return None
    source = _SIDE.sub("", tidy(text)).replace("^", "**").replace("[", "(").replace("]", ")")
    source = re.sub(r"[×·⋅]", "*", source)
    source = re.sub(rf"√\s*(\d+\.?\d*|{_NAME})", r"sqrt(\1)", source).replace("√", "sqrt")
    if not source.isascii():
        return None
    source = re.sub(rf"(?<![A-Za-z0-9_.])(\d+\.?\d*)\s*(?={_NAME}|\()", r"\1*", source)
    source = re.sub(rf"\)\s*(?=\(|\d|{_NAME})", ")*", source)
    if names:  # `p(p-1)`: of these names none is a function
        known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        source = re.sub(rf"\b({known})\s*\(", r"\1*(", source)
    try:
        found = parse(source)
    except FormulaError:
        return None
    return None if names is not None and found.names - names.keys() else found


def same(one: Formula, other: Formula) -> bool:
    """Tell whether two formulas of the same letters agree, at numbers that no accident unites."""
    if one.names != other.names or not one.names or len(one.names) > len(_TRIALS[0]):
        return False
    for trial in _TRIALS:
        values = dict(zip(sorted(one.names), trial, strict=False))
        try:
            left, right = one.number(values), other.number(values)
        except FormulaError:
            return False
        if abs(left - right) > _CLOSE * max(abs(left), abs(right), 1.0):
            return False
    return True
