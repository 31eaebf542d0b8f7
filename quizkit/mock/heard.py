"""Read what an answer showed while the clock ran: enough to go on by, no verdict yet.

Exact kinds are judged at once, in silence. A free text is listened to for its keywords: evidence to
probe on, and to tick beforehand when the learner judges it at the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quizkit.bank.evidence import evidence
from quizkit.bank.formula import FormulaError
from quizkit.bank.functions import Value
from quizkit.bank.model import Bug, Choice, Essay, Numeric, RubricPoint, Veto
from quizkit.bank.script import Probe, Script, Station, WrittenTask
from quizkit.mock.judge import judge
from quizkit.mock.written import passed
from quizkit.tutor.asked import Asked
from quizkit.tutor.verdict import Verdict, as_list, as_mapping

Heard = Mapping[str, Value]
"""The names that a probe's condition knows: right, wrong, score, point1, veto1, ..."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The facts beside an answer once it is in: minutes left, hints taken, what was looked at."""

    left: float
    hints: int = 0
    looks: tuple[bool, ...] = ()

    def names(self) -> dict[str, Value]:
        """Return it by the names that conditions use."""
        seen = {f"look{n}": each for n, each in enumerate(self.looks, start=1)}
        return {"left": self.left, "hints": self.hints, **seen}


@dataclass(frozen=True, slots=True)
class Weighed:
    """An answer as the diary keeps it, its verdict, and what a probe may go by.

    The verdict of an essay is provisional: it stands on keywords until the learner has judged.
    """

    given: object
    verdict: Verdict
    heard: Heard


def weigh(asked: Asked, value: object, beside: Beside) -> Weighed:
    """Weigh an answer as `typed.read` gives it; None is none.

    Raises UnreadableError for what is no answer of this kind.
    """
    question, given = asked.question, value
    if isinstance(question, Essay):
        text = value if isinstance(value, str) else ""
        points, vetoes = shown(text, question.rubric), shown(text, question.vetoes)
        # What is judged by keywords is judged so even where there is nothing to read.
        given = {"text": text, "points": [*points], "vetoes": [*vetoes]}
    verdict = judge(asked, given)
    if isinstance(question, Essay) and not value:
        given = None
    heard: dict[str, Value] = {
        "right": verdict.right,
        "wrong": not verdict.right,
        "score": verdict.score,
        "silent": given is None,
        **beside.names(),
        **_own(asked, given, verdict),
    }
    return Weighed(given, verdict, heard)


def _own(asked: Asked, given: object, verdict: Verdict) -> dict[str, Value]:
    """Return what only this kind of question shows."""
    question = asked.question
    match question:
        case Essay():
            points = _numbered("point", len(question.rubric), _part(given, "points"))
            return points | _numbered("veto", len(question.vetoes), _part(given, "vetoes"))
        case Choice():
            return _numbered("option", len(question.options), given or [])
        case Numeric():
            number = None if verdict.right else verdict.number
            answer = asked.answer()
            low, high = number is not None and number < answer, number is not None
            hit = [n for n, trap in enumerate(question.traps) if trap is verdict.trap]
            numbers: dict[str, Value] = {"low": low, "high": high and not low}
            return numbers | _numbered("trap", len(question.traps), hit)
        case WrittenTask():
            held = passed(question.write, given) if given else (False,) * len(question.write.checks)
            return {f"check{n}": each for n, each in enumerate(held, start=1)}
        case Bug():
            changed = asked.code.changed if asked.code else ()
            reasons = _numbered("reason", len(question.reasons), _part(given, "reasons"))
            return {"line": _part(given, "line") in [*changed], **reasons}
        case _:
            return {}


def _part(given: object, name: str) -> object:
    """Return a part of a free text or a bug; of no answer an empty one."""
    return as_mapping(given)[name] if given else []


def _numbered(name: str, count: int, there: object) -> dict[str, Value]:
    listed = as_list(there)
    return {f"{name}{n + 1}": n in listed for n in range(count)}


def shown(text: str, points: Sequence[RubricPoint | Veto]) -> tuple[int, ...]:
    """Return the points of which the text holds a keyword."""
    return tuple(n for n, point in enumerate(points) if evidence(text, point.keywords))


def route(script: Script, heard: Mapping[str, Heard]) -> Iterator[tuple[Station, Station | None]]:
    """Yield this interview's steps and what each of them probes, by what was heard at each.

    After an answer the first probe whose condition holds is put: an interviewer follows up one
    thing at a time. A station with a condition is left out where too little time was left after
    the answer before it.
    """
    left: Value = float(script.minutes)

    def follow(
        station: Station, parent: Station | None
    ) -> Iterator[tuple[Station, Station | None]]:
        nonlocal left
        yield station, parent
        if station.id in heard:
            left = heard[station.id].get("left", left)
            for candidate in station.probes:
                if fires(candidate, heard[station.id]):
                    yield from follow(candidate, station)
                    return

    for station in script.stations:
        if station.when is None or station.when.truth({"left": left}):
            yield from follow(station, None)


def fires(probe: Probe, heard: Heard) -> bool:
    """Tell whether what an answer showed brings the probe about."""
    try:
        return probe.when.truth(heard)
    except FormulaError:  # written by another edition of the script, which listened for less
        return False
