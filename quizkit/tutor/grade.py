"""Judge an answer, for every kind of question. Pure: nothing is read, run or shown.

What is given, by kind (all of it can be JSON):

    choice   [index, ...] into question.options
    numeric  the text as typed
    order    [step id, ...]
    cloze    {gap: text}
    trace    the text as typed
    bug      {"line": counted from 1 in the excerpt, "reasons": [index ticked, ...]}
    essay    {"text": words, "points": [index ticked, ...], "vetoes": [index ticked, ...]}

(None for any of them: not known) and how it is scored:

    choice   right if exactly the right options are picked; with several, the score is the share
             (picked right - picked wrong) / right ones, at least 0
    numeric  within the question's tolerance, in any unit that can be turned into the asked one
    order    share of the pairs that the key puts in an order; right if all of them are
    cloze    share of the gaps
    trace    exact or within the tolerance; of a list, the share of its elements
    bug      right if the line is; the line is half of the score, the reasons the other half
    essay    ticked points / all points; right from 70 %. Each veto that was said halves what the
             score can be at most, and with one the answer is not right
"""

from collections.abc import Sequence
from dataclasses import replace

from quizkit.bank.evidence import evidence
from quizkit.bank.functions import is_number
from quizkit.bank.model import Bug, Choice, Cloze, Essay, Numeric, Order, RubricPoint, Trace
from quizkit.tutor.asked import Asked
from quizkit.tutor.expected import expected
from quizkit.tutor.typed import grade_cloze, grade_numeric, grade_trace
from quizkit.tutor.verdict import Note, UnreadableError, Verdict, as_list, as_mapping

__all__ = ["Note", "UnreadableError", "Verdict", "grade", "ordered_pairs"]

PASS = 0.7


def grade(asked: Asked, given: object) -> Verdict:
    """Return the verdict. Raises UnreadableError where what was given is no answer at all."""
    if given is None:
        return Verdict(False, 0.0, expected(asked), notes=(("study.not_known", {}),))
    match asked.question:
        case Choice() as question:
            return _choice(question, asked, given)
        case Numeric() as question:
            return grade_numeric(question, asked, given)
        case Order() as question:
            return _order(question, asked, given)
        case Cloze() as question:
            return grade_cloze(question, asked, given)
        case Trace() as question:
            return grade_trace(question, asked, given)
        case Bug() as question:
            return _bug(question, asked, given)
        case Essay() as question:
            return _essay(question, asked, given)
        case _:
            raise AssertionError(asked.question.kind)


def _choice(question: Choice, asked: Asked, given: object) -> Verdict:
    picked = _ticks([given] if is_number(given) else given, len(question.options))
    if not picked or (len(picked) > 1 and not question.several):
        raise UnreadableError("pick_some" if question.several else "pick_one")
    right = {i for i, option in enumerate(question.options) if option.correct}
    hits, misses = len(right & picked), len(picked - right)
    exact = picked == right
    wrong = [question.options[i] for i in sorted(picked - right)]
    verdict = Verdict(
        right=exact,
        score=max(0.0, (hits - misses) / len(right)),
        expected=expected(asked),
        myth=next((option.myth for option in wrong if option.myth), None),
    )
    if not question.several or exact:
        return verdict
    note: Note = ("study.partial", {"hits": hits, "of": len(right), "misses": misses})
    return replace(verdict, notes=(note,))


def _order(question: Order, asked: Asked, given: object) -> Verdict:
    known = [step.id for step in question.steps]
    order = [str(each) for each in as_list(given)]
    if sorted(order) != sorted(known):
        raise UnreadableError("every_step_once", steps=", ".join(sorted(known)))
    pairs = ordered_pairs(question)
    kept = sum(order.index(first) < order.index(second) for first, second in pairs)
    verdict = Verdict(
        right=kept == len(pairs),
        score=kept / len(pairs) if pairs else 1.0,
        expected=expected(asked),
    )
    if verdict.right:
        return verdict
    return replace(verdict, notes=(("study.pairs", {"kept": kept, "of": len(pairs)}),))


def ordered_pairs(question: Order) -> list[tuple[str, str]]:
    """List pairs of steps, first before second: all, or with `after` what follows from it."""
    ids = [step.id for step in question.steps]
    if question.after is None:
        return [(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]]
    before: dict[str, set[str]] = {}
    for step in ids:  # a step is listed after everything that comes before it
        direct = set(question.after.get(step, ()))
        before[step] = direct.union(*(before.get(each, set()) for each in direct))
    return [(first, step) for step in ids for first in ids if first in before[step]]


def _bug(question: Bug, asked: Asked, given: object) -> Verdict:
    code = asked.code
    if code is None:
        raise TypeError(f"{question.id} is a bug and was asked without its code")
    parts = as_mapping({"line": given} if is_number(given) else given)
    line = parts.get("line")
    if not is_number(line) or line not in range(1, len(code.lines) + 1):
        raise UnreadableError("no_such_line", last=len(code.lines))
    hit = line in code.changed
    ticked = _ticks(parts.get("reasons", []), len(question.reasons))
    share = _points(question.reasons, ticked)
    return Verdict(
        right=hit,
        score=(1 + share) / 2 if hit else 0.0,
        expected=expected(asked),
        notes=(("study.reasons", {"percent": round(100 * share)}),) if hit else (),
    )


def _essay(question: Essay, asked: Asked, given: object) -> Verdict:
    parts = as_mapping({"text": given} if isinstance(given, str) else given)
    text = str(parts.get("text", ""))
    ticked, said = parts.get("points"), parts.get("vetoes")
    # Nobody there to tick: then the keywords do.
    if ticked is None:
        ticked = [i for i, p in enumerate(question.rubric) if evidence(text, p.keywords)]
    if said is None:
        said = [i for i, v in enumerate(question.vetoes) if evidence(text, v.keywords)]
    ticked = _ticks(ticked, len(question.rubric))
    said = _ticks(said, len(question.vetoes))
    share = _points(question.rubric, ticked)
    score = min(share, 0.5 ** len(said))
    vetoes = [question.vetoes[i] for i in sorted(said)]
    notes: list[Note] = [
        ("study.points", {"percent": round(100 * share), "need": round(100 * PASS)})
    ]
    if vetoes:
        notes.append(("study.vetoes", {"count": len(vetoes), "percent": round(100 * score)}))
    return Verdict(
        right=share >= PASS and not vetoes,
        score=score,
        expected=expected(asked),
        myth=next((veto.myth for veto in vetoes if veto.myth), None),
        notes=tuple(notes),
    )


def _points(points: Sequence[RubricPoint], ticked: set[int]) -> float:
    every = sum(point.points for point in points)
    return sum(points[i].points for i in ticked) / every if every else 1.0


def _ticks(given: object, count: int) -> set[int]:
    ticked = [each for each in as_list(given) if is_number(each) and each in range(count)]
    if len(ticked) != len(as_list(given)):
        raise UnreadableError("no_such_option", last=count - 1)
    return {int(each) for each in ticked}
