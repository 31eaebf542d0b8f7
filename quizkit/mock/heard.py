"""Read what an answer showed while the clock ran: enough to go on by, no verdict yet.

Exact kinds are graded at once, in silence. An essay is listened to for its keywords: evidence to
probe on, and to tick beforehand when the learner judges it at the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quizkit.bank.evidence import evidence
from quizkit.bank.functions import Value
from quizkit.bank.mocks import Script, Station
from quizkit.bank.model import Essay, RubricPoint, Text, Veto
from quizkit.tutor.asked import Asked
from quizkit.tutor.grade import grade
from quizkit.tutor.verdict import Verdict

Heard = Mapping[str, Value]
"""The names that a probe's condition knows: right, wrong, score, point1, veto1, ..."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """An answer as the diary keeps it, its verdict, and what a probe may go by.

    The verdict of an essay is provisional: it stands on keywords until the learner has judged.
    """

    given: object
    verdict: Verdict
    heard: Heard


def weigh(asked: Asked, value: object) -> Weighed:
    """Weigh an answer as `typed.read` gives it; None is none.

    Raises UnreadableError for what is no answer of this kind.
    """
    question = asked.question
    if not isinstance(question, Essay):
        verdict = Verdict(False, 0.0, Text("", "")) if value is None else grade(asked, value)
        return Weighed(value, verdict, _names(verdict))
    text = value if isinstance(value, str) else ""
    points, vetoes = shown(text, question.rubric), shown(text, question.vetoes)
    given = {"text": text, "points": [*points], "vetoes": [*vetoes]}
    verdict = grade(asked, given)
    named = {f"point{n}": n - 1 in points for n in range(1, len(question.rubric) + 1)}
    named |= {f"veto{n}": n - 1 in vetoes for n in range(1, len(question.vetoes) + 1)}
    return Weighed(given if text else None, verdict, _names(verdict) | named)


def shown(text: str, points: Sequence[RubricPoint | Veto]) -> tuple[int, ...]:
    """Return the points of which the text holds a keyword."""
    return tuple(n for n, point in enumerate(points) if evidence(text, point.keywords))


def route(script: Script, heard: Mapping[str, Heard]) -> Iterator[tuple[Station, bool]]:
    """Yield this interview's stations and whether each is a probe, by what was heard at each.

    After an answer the first probe whose condition holds is put: an interviewer follows up one
    thing at a time.
    """

    def follow(station: Station, probe: bool) -> Iterator[tuple[Station, bool]]:
        yield station, probe
        if station.id in heard:
            for candidate in station.probes:
                if candidate.when.truth(heard[station.id]):
                    yield from follow(candidate, True)
                    return

    for station in script.stations:
        yield from follow(station, False)


def _names(verdict: Verdict) -> dict[str, Value]:
    return {"right": verdict.right, "wrong": not verdict.right, "score": verdict.score}
