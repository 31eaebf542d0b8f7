"""Say in both languages what is wrong with a proof: which claim, the numbers, what to do."""

from collections.abc import Iterator, Mapping
from typing import cast

from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Value
from quizkit.bank.model import Cloze, Numeric, Question, Text, Trace
from quizkit.lab.catalogue import Demo
from quizkit.proof.judge import BoundRun, Judged, Judgement, key_names, scope
from quizkit.proof.measured import measured
from quizkit.proof.said import both, plain
from quizkit.proof.shows import written


def told(question: Question, judgement: Judgement, demo: Demo) -> Iterator[Text]:
    """Yield everything that is wrong, one line each."""
    if judgement.reason:
        yield plain(judgement.reason)
    for judged in judgement.claims:
        if not judged.holds:
            yield _wrong(question, judgement, judged, demo)
    yield from _unshown(question, judgement, demo)


def _unshown(question: Question, judgement: Judgement, demo: Demo) -> Iterator[Text]:
    """Each `shows` that a run cannot fill, at the first such run: a learner would not see it."""
    seen: set[str] = set()
    for run in () if judgement.reason else judgement.runs:
        try:
            names = scope(question, run, demo)
        except FormulaError:  # then no claim holds either
            continue
        for place, error in written(question, names)[1].items():
            if place not in seen:
                seen.add(place)
                yield both(
                    "prove.shows_fails", place=place, where=where(run), error=plain(str(error))
                )


def _wrong(question: Question, judgement: Judgement, judged: Judged, demo: Demo) -> Text:
    place = judged.place
    claim = str(judged.claim)
    if judged.error:
        return both("prove.claim_error", place=place, claim=claim, error=judged.error)
    runs = len(judged.truths)
    if not judged.wanted:
        if judged.role == "trap":
            return both("prove.trap_stands", place=place, trap=judged.instead, runs=runs)
        return both("prove.option_stands", place=place, claim=claim, runs=runs)
    false = [
        run for run, truth in zip(judgement.runs, judged.truths, strict=True) if truth == "false"
    ]
    said: dict[str, object] = {"place": place, "claim": claim, "false": len(false), "runs": runs}
    said["where"] = where(false[0])
    numbers = _numbers(question, judged, false[0], demo)
    return both("prove.key_differs" if numbers else "prove.claim_false", numbers=numbers, **said)


def where(run: BoundRun) -> str:
    """Return the arguments of one run: what `at` bound, else what it was started with."""
    bound: Mapping[str, object] = run.bindings or run.report.args
    return ", ".join(f"{name}={show(value)}" for name, value in bound.items()) or "-"


def show(value: object) -> str:
    """Return a value as one writes it down."""
    if isinstance(value, list):
        return f"[{', '.join(show(each) for each in cast('list[object]', value))}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _numbers(question: Question, judged: Judged, run: BoundRun, demo: Demo) -> str:
    """`answer 0.375 · measured 0.272727`, for each name of the key that a claim compares."""
    if not isinstance(question, Numeric | Trace | Cloze):
        return ""
    try:
        names: Mapping[str, Value] = scope(question, run, demo)
    except FormulaError:
        return ""
    found: list[str] = []
    for name in sorted(judged.claim.names & {*key_names(question)}):
        other = measured(name, [judged.claim], names, run.report.metrics)
        if other is not None:
            found.append(f"{name} {show(names[name])} · measured {show(other)}")
    return "; ".join(found)
