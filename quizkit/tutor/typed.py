"""Grade what was typed: numbers, gaps, predictions. Spelling makes no right answer wrong."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from quizkit.bank.draw import show_number
from quizkit.bank.evidence import folded
from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Number, is_number
from quizkit.bank.model import Cloze, Gap, Numeric, Question, Trace, Trap
from quizkit.bank.spelt import SPELT, SPELT_OUT
from quizkit.tutor.asked import Asked
from quizkit.tutor.expected import expected
from quizkit.tutor.letters import formula, same
from quizkit.tutor.measure import Measure, in_base, read_measure
from quizkit.tutor.numbers import number_list, plain_number, rounding, split_number, tidy
from quizkit.tutor.numerals import LETTERS
from quizkit.tutor.units import read_unit
from quizkit.tutor.verdict import Note, UnreadableError, Verdict, as_mapping

_EXACT = 1e-9
_COUNTERS = ("倍", "x", "个", "times")


def near(number: float, wanted: Number, within: float) -> bool:
    """Tell whether a number is within the tolerance: relative, or absolute where 0 is wanted."""
    room = max(within, _EXACT) * (abs(wanted) or 1.0)
    return abs(number - wanted) <= room * (1 + _EXACT)


def grade_numeric(question: Numeric, asked: Asked, given: object) -> Verdict:
    """Grade a number in any unit that converts to the asked one, with the trap that was hit."""
    measure = _measured(_typed(given), question, asked)
    answer = question.answer.number(asked.values)
    verdict = Verdict(False, 0.0, expected(asked))
    readings = (*measure.values, *measure.shares)
    accepted = [v for v in readings if near(v, answer, question.within)]
    if not accepted and measure.about:
        accepted = [v for v in readings if _rounds(v, measure, answer)]
        wrong = _traps(question, asked, answer)
        if accepted and any(_rounds(v, measure, value) for v in accepted for _, value in wrong):
            raise UnreadableError("too_rough", typed=_typed(given).strip())
    if accepted:
        return replace(verdict, right=True, score=1.0, number=accepted[0])
    if not measure.values:
        words = {"typed": measure.unit, "asked": question.unit or "1"}
        return replace(verdict, notes=(("study.wrong_unit", words),))
    # Right but for a unit that was not said: an interviewer would ask which.
    if not measure.unit and any(
        near(v, answer, question.within) for v in in_base(measure.raw, question.unit)
    ):
        raise UnreadableError("which_unit", typed=_typed(given).strip(), asked=question.unit)
    number = measure.values[0]
    verdict = replace(verdict, number=number)
    if measure.converted:
        typed = f"{show_number(measure.raw)} {measure.unit}"
        turned = f"{show_number(number)} {question.unit}".strip()
        note: Note = ("study.converted", {"typed": typed, "turned": turned})
        verdict = replace(verdict, notes=(note,))
    trap = _trap(question, asked, number, measure, answer)
    return replace(verdict, trap=trap, myth=trap.myth) if trap else verdict


def _measured(typed: str, question: Numeric, asked: Asked) -> Measure:
    """A number with its unit, or a formula in the letters whose numbers were drawn."""
    try:
        return read_measure(typed, question.unit, _named(question))
    except UnreadableError:
        written = formula(typed, asked.values)
        if written is None:
            raise
        try:
            value = float(written.number(asked.values))
        except (FormulaError, OverflowError):
            raise UnreadableError("not_a_number", text=typed.strip()) from None
        return Measure(value, "", (value,))


def _traps(question: Numeric, asked: Asked, answer: Number) -> Iterator[tuple[Trap, float]]:
    """The wrong formulas that with these numbers give something else than the answer."""
    for trap in question.traps:
        try:
            value = float(trap.formula.number(asked.values))
        except (FormulaError, OverflowError):  # for this draw it has no value: nobody got it
            continue
        if not near(value, answer, question.within):
            yield trap, value


def _rounds(number: float, measure: Measure, to: Number) -> bool:
    """Tell whether what was said to be about so much may be this."""
    return abs(number - to) <= measure.about * abs(number) * (1 + _EXACT)


def _trap(
    question: Numeric, asked: Asked, number: float, measure: Measure, answer: Number
) -> Trap | None:
    """The trap that was hit, the nearest if several were."""
    hit = [
        (abs(number - value), trap)
        for trap, value in _traps(question, asked, answer)
        if near(number, value, question.within) or _rounds(number, measure, value)
    ]
    return min(hit, key=lambda each: each[0])[1] if hit else None


def grade_cloze(question: Cloze, asked: Asked, given: object) -> Verdict:
    """Grade gaps: by spelling, by synonym, or by being the same number."""
    names = [*question.gaps]
    filled = {names[0]: given} if isinstance(given, str) and len(names) == 1 else as_mapping(given)
    if any(not isinstance(filled.get(name), str) for name in names):
        raise UnreadableError("every_gap", gaps=", ".join(names))
    # Gaps are numbered on the screen; their names are for claims.
    wrong: list[str] = []
    for number, (name, gap) in enumerate(question.gaps.items(), start=1):
        typed = str(filled[name])
        bare = _without_words(question, typed)
        if not _fits(gap, typed, asked) and not _fits(gap, bare, asked):
            wrong.append(str(number))
    verdict = Verdict(
        right=not wrong,
        score=1 - len(wrong) / len(names),
        expected=expected(asked),
    )
    if wrong and len(names) > 1:
        return replace(verdict, notes=(("study.gaps", {"gaps": ", ".join(wrong)}),))
    return verdict


def gap_number(question: Cloze, typed: str) -> float | None:
    """Return the number that was filled in, if any: also in words, or with its counting word."""
    for text in (typed, _without_words(question, typed)):
        number = plain_number(text)
        if number is not None:
            return number
    return None


def _without_words(question: Cloze, typed: str) -> str:
    """Drop words that the sentence has anyway: "第 6 格" and "six slots" are 6."""
    typed = SPELT_OUT.sub(lambda found: str(SPELT[found[0].lower()]), typed)
    text = folded(typed)
    digits = [i for i, letter in enumerate(text) if letter.isdigit() or letter in LETTERS]
    if digits:
        words = (text[: digits[0]], text[digits[-1] + 1 :].lstrip("×*"))
        said = (folded(question.text.zh), folded(question.text.en))
        for sentence in said:
            if any(words) and all(word in sentence or word in _COUNTERS for word in words):
                typed = text[digits[0] : digits[-1] + 1]
    return typed


def _fits(gap: Gap, typed: str, asked: Asked) -> bool:
    spellings = (gap.answer.zh, gap.answer.en, *gap.also)
    if folded(typed) in {folded(spelling) for spelling in spellings}:
        return True
    number = plain_number(typed)
    if gap.value is not None and number is not None:
        try:
            value = gap.value(asked.values)
        except FormulaError:  # it stands for something that only a run knows
            value = None
        if is_number(value) and near(number, value, rounding(typed)):
            return True
    return any(_same_measure(typed, each) or _same_formula(typed, each) for each in spellings)


def _same_formula(typed: str, spelling: str) -> bool:
    """Tell whether both are one formula: 2(N-1)/N and 2 - 2/N."""
    mine, wanted = formula(typed), formula(spelling)
    return mine is not None and wanted is not None and same(mine, wanted)


def _same_measure(typed: str, spelling: str) -> bool:
    """Tell whether both are one number: 0.5 and 1/2, 16 GB and 16000 MB; 1F1B is no number."""
    wanted, found = split_number(tidy(spelling)), split_number(tidy(typed))
    if wanted is None or found is None or bool(wanted[1]) != bool(found[1]):
        return wanted is not None and found is not None and _percents(wanted, found)
    if not wanted[1]:
        return near(found[0], wanted[0], rounding(typed))
    units = read_unit(wanted[1], None)
    if not units or not (units[0].dimensions or wanted[1] == "%"):
        return False
    try:
        found_in = read_measure(typed, wanted[1])
        return any(near(v, wanted[0], found_in.about) for v in found_in.values)
    except UnreadableError:
        return False


def _percents(one: tuple[float, str], other: tuple[float, str]) -> bool:
    """Tell whether one has a percent sign, the other none, and both are the same share."""
    if {one[1], other[1]} != {"%", ""}:
        return False
    shares = [number / 100 if unit else number for number, unit in (one, other)]
    return near(shares[0], shares[1], 0)


def grade_trace(question: Trace, asked: Asked, given: object) -> Verdict:
    """Grade what a run prints or counts: a number, or a list of them."""
    answer = question.answer
    if not isinstance(answer, tuple):
        measure = read_measure(_typed(given), "", _named(question))
        within = max(question.within, measure.about)
        right = [v for v in measure.values if near(v, answer, within)]
        number = right[0] if right else measure.raw
        return Verdict(bool(right), float(bool(right)), expected(asked), number=number)
    if isinstance(given, list):
        given = " ".join(str(each) for each in cast("list[object]", given))
    typed = _typed(cast("object", given))
    numbers = number_list(typed, len(answer))
    if not numbers:
        raise UnreadableError("not_numbers", text=typed.strip())
    hits = sum(near(n, a, question.within) for n, a in zip(numbers, answer, strict=False))
    right = hits == len(answer) == len(numbers)
    verdict = Verdict(right, hits / max(len(answer), len(numbers)), expected(asked))
    if len(numbers) != len(answer):
        note: Note = ("study.length", {"given": len(numbers), "wanted": len(answer)})
        return replace(verdict, notes=(note,))
    return verdict


def _named(question: Question) -> str:
    """Return the texts that name what is counted, in both languages."""
    return "\n".join(f"{text.zh}\n{text.en}" for text in question.asks)


def _typed(given: object) -> str:
    if isinstance(given, str) and given.strip():
        return given
    if is_number(given):
        return repr(given)
    raise UnreadableError("nothing_typed")
