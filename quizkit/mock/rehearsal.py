"""Rehearse a script: every way an answer can turn out, and what the interviewer would do then.

Finds what no reading of the file shows: a probe that nothing brings about, a check that cannot
fail, a veto nobody asks about, a dimension that words alone decide.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product

from quizkit.bank.functions import Value
from quizkit.bank.model import Bug, Choice, Essay, Numeric, Question
from quizkit.bank.rules import MOST_HINTS, Rule
from quizkit.bank.script import Probe, Script, Station, WrittenTask
from quizkit.mock.heard import Heard, fires
from quizkit.mock.written import passed
from quizkit.tutor.grade import PASS

_HALF = 0.5
_TOLD = ("communication",)
"""Dimensions that nothing but free text can show."""


def rehearsed(script: Script, questions: Mapping[str, Question]) -> Iterator[Rule]:
    """Yield what is wrong with a script once it is played. Its questions are all there."""
    for place, step in script.placed():
        question = script.question(step, questions)
        if isinstance(question, WrittenTask):
            yield from ((f"{place}.write{at}", told) for at, told in _written(question))
        if step.essay:
            heard = {probe.when.source for probe in step.probes}
            for index in range(len(step.essay.vetoes)):
                if f"veto{index + 1}" not in heard:
                    yield (
                        f"{place}.essay.vetoes.{index}",
                        f"nobody asks about it: a probe needs `if: veto{index + 1}`",
                    )
        met = {
            each.id
            for heard in outcomes(question, step.probes, script)
            if (each := put(step.probes, heard))
        }
        for index, probe in enumerate(step.probes):
            if probe.id not in met:
                yield (
                    f"{place}.probes.{index}.if",
                    "is never put: whatever is answered, it does not hold or an earlier one does",
                )
    yield from _told(script, questions)


def put(probes: Sequence[Probe], heard: Heard) -> Probe | None:
    """Return the probe that an answer brings about, if any."""
    return next((probe for probe in probes if fires(probe, heard)), None)


def outcomes(question: Question, probes: Sequence[Probe], script: Script) -> Iterator[Heard]:
    """Yield every outcome of an answer that makes a difference to these probes."""
    asked = {name for probe in probes for name in probe.when.names}
    ranges: dict[str, Sequence[Value]] = {
        name: (False, True) for name in asked if name.startswith("look")
    }
    if "left" in asked:
        ranges["left"] = [*range(script.minutes + 1)]
    if "hints" in asked:
        ranges["hints"] = range(MOST_HINTS + 1)
    always: dict[str, Value] = {"left": float(script.minutes), "hints": 0, "silent": False}
    for answer in answers(question):
        for values in product(*ranges.values()):
            yield {**always, **answer, **dict(zip(ranges, values, strict=True))}


def answers(question: Question) -> Iterator[dict[str, Value]]:
    """Yield every way an answer can turn out, by the names that conditions use."""
    match question:
        case Essay():
            points, vetoes = len(question.rubric), len(question.vetoes)
            every = sum(point.points for point in question.rubric)
            for made in _subsets(points):
                share = sum(question.rubric[n].points for n in made) / every
                names = _named("point", points, made) | _named("veto", vetoes, ())
                yield _scored(share, share >= PASS) | names
            for veto, made in product(range(vetoes), ((), tuple(range(points)))):
                share = min(_HALF, float(len(made)))
                yield (
                    _scored(share, False)
                    | _named("point", points, made)
                    | _named("veto", vetoes, (veto,))
                )
            none = _named("point", points, ()) | _named("veto", vetoes, ())
            yield _scored(0.0, False) | none | {"silent": True}
        case Choice():
            right = {n for n, option in enumerate(question.options) if option.correct}
            for picked in _subsets(len(question.options)):
                if len(picked) > 1 and not question.several:
                    continue
                hits, misses = len(right & {*picked}), len({*picked} - right)
                score = max(0.0, (hits - misses) / len(right))
                names = _named("option", len(question.options), picked)
                yield _scored(score, {*picked} == right) | names | {"silent": not picked}
        case Numeric():
            traps = len(question.traps)
            for low, high, hit in (
                (False, False, ()),
                *((side, not side, ()) for side in (True, False)),
                *((side, not side, (n,)) for side in (True, False) for n in range(traps)),
            ):
                right = not (low or high)
                names = {"low": low, "high": high, **_named("trap", traps, hit)}
                yield _scored(float(right), right) | names
            names = {"low": False, "high": False, **_named("trap", traps, ())}
            yield _scored(0.0, False) | names | {"silent": True}
        case WrittenTask():
            write = question.write
            every = sum(check.points for check in write.checks)
            for given in (write.example, *write.wrong, None):
                held = passed(write, given) if given else (False,) * len(write.checks)
                got = sum(c.points for c, ok in zip(write.checks, held, strict=True) if ok)
                made = [n for n, ok in enumerate(held) if ok]
                names = _named("check", len(held), made)
                yield _scored(got / every, all(held)) | names | {"silent": given is None}
        case Bug():
            count = len(question.reasons)
            every = sum(reason.points for reason in question.reasons)
            for line, made in product((True, False), _subsets(count)):
                share = sum(question.reasons[n].points for n in made) / every
                score = (1 + share) / 2 if line else 0.0
                yield _scored(score, line) | {"line": line} | _named("reason", count, made)
            none = {"line": False, "silent": True, **_named("reason", count, ())}
            yield _scored(0.0, False) | none
        case _:
            yield _scored(1.0, True)
            for percent in range(0, 100, 5):
                yield _scored(percent / 100, False)
            yield _scored(0.0, False) | {"silent": True}


def _scored(score: float, right: bool) -> dict[str, Value]:
    return {"score": score, "right": right, "wrong": not right}


def _named(name: str, count: int, there: Sequence[int]) -> dict[str, Value]:
    return {f"{name}{n + 1}": n in there for n in range(count)}


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(count), n) for n in range(count + 1))


def _written(question: WrittenTask) -> Iterator[Rule]:
    write = question.write
    failing = [n for n, ok in enumerate(passed(write, write.example)) if not ok]
    for number in failing:
        yield ".example", f"fails check {number + 1}, `{write.checks[number].when}`"
    held = [passed(write, wrong) for wrong in write.wrong]
    for number in range(len(write.checks)):
        if all(each[number] for each in held):
            yield f".checks.{number}", "holds of every `wrong` example: add one that fails it"


def _told(script: Script, questions: Mapping[str, Question]) -> Iterator[Rule]:
    """Yield the dimensions of which words alone would decide more than half."""

    def shares(name: str, wanted: Callable[[Station], bool]) -> float:
        steps = (step for step in script.stations if wanted(step))
        return sum(step.speaks.get(name, 0) for step in steps)

    def free(step: Station) -> bool:
        return isinstance(script.question(step, questions), Essay)

    for name in script.weights:
        if name not in _TOLD and shares(name, free) > _HALF * shares(name, lambda _: True):
            yield (
                f"weights.{name}",
                "free answers are more than half of its evidence on the main line",
            )
