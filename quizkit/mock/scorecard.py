"""Score an interview: dimensions with the answers they stand on, time, myths, a verdict.

Nothing decides here but the key, the rubric and the script's weights:

    dimension   4 x the mean of its answers' scores, weighted by how far each speaks to it
    overall     the mean of the dimensions, weighted as the script says
    no answer   counts 0, and so does a question the clock did not reach
    a veto      one must-not-say that was said caps the overall at 2.0
    pass        overall and every dimension the script names reach their marks
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quizkit.bank.mocks import BEST, Script, Station
from quizkit.bank.model import Essay, Question, Text
from quizkit.mock.desk import Stop
from quizkit.tutor.asked import Asked
from quizkit.tutor.verdict import Verdict, as_list, as_mapping

VETO_CAP = 2.0
_ROUNDING = 1e-9

Judge = Literal["key", "learner", "keywords", "nobody"]
"""The judge of an answer: the key, the learner by the rubric, keywords alone, or no answer."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One station of the interview, and what the answer was worth."""

    station: Station
    probe: bool
    asked: Asked
    given: object = None
    verdict: Verdict | None = None
    judge: Judge = "nobody"
    reached: bool = True
    late: bool = False
    seconds: float = 0.0
    target: float = 0.0

    @property
    def question(self) -> Question:
        """The question that was asked."""
        return self.asked.question

    @property
    def score(self) -> float:
        """The score that counts: 0 where there is no answer."""
        return self.verdict.score if self.verdict and self.given is not None else 0.0

    @property
    def hit(self) -> tuple[Text, ...]:
        """The points of the rubric that were said."""
        return self._points(True)

    @property
    def missed(self) -> tuple[Text, ...]:
        """The points that were not."""
        return self._points(False)

    @property
    def said(self) -> tuple[Text, ...]:
        """The false things that were said."""
        if not isinstance(self.question, Essay):
            return ()
        return tuple(self.question.vetoes[n].says for n in self._ticked("vetoes"))

    @property
    def myths(self) -> tuple[str, ...]:
        """The misconceptions the answer showed."""
        if isinstance(self.question, Essay):
            vetoes = (self.question.vetoes[n] for n in self._ticked("vetoes"))
            return tuple(veto.myth for veto in vetoes if veto.myth)
        return (self.verdict.myth,) if self.verdict and self.verdict.myth else ()

    def _points(self, wanted: bool) -> tuple[Text, ...]:
        if not isinstance(self.question, Essay):
            return ()
        ticked = self._ticked("points")
        rubric = enumerate(self.question.rubric)
        return tuple(point.says for n, point in rubric if (n in ticked) is wanted)

    def _ticked(self, name: str) -> list[int]:
        ticked = as_list(as_mapping(self.given).get(name, [])) if self.given else []
        return [each for each in ticked if isinstance(each, int)]


@dataclass(frozen=True, slots=True)
class Rated:
    """One dimension: its score from 0 to 4, and the answers it stands on with their shares."""

    dimension: str
    weight: float
    score: float
    needed: float | None
    evidence: tuple[tuple[Mark, float], ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """The time that was spent, in seconds; `charged` is time away that the budget could not pay."""

    total: float
    used: float
    budget: float
    paused: float
    charged: float


@dataclass(frozen=True, slots=True)
class Scorecard:
    """An interview's whole result."""

    session: str
    script: Script
    at: str
    stop: Stop
    marks: tuple[Mark, ...]
    rated: tuple[Rated, ...]
    spent: Spent
    overall: float
    capped: bool
    passed: bool

    @property
    def myths(self) -> tuple[str, ...]:
        """Every misconception met, once."""
        return tuple(dict.fromkeys(myth for mark in self.marks for myth in mark.myths))

    @property
    def review(self) -> tuple[str, ...]:
        """The questions of the bank to look at again."""
        again = (m for m in self.marks if m.station.ask and not (m.verdict and m.verdict.right))
        return tuple(dict.fromkeys(mark.question.id for mark in again))


def rate(script: Script, marks: Sequence[Mark]) -> tuple[Rated, ...]:
    """Rate the script's dimensions, in its order."""
    rated: list[Rated] = []
    for dimension, weight in script.weights.items():
        evidence = tuple(
            (mark, mark.station.speaks[dimension])
            for mark in marks
            if dimension in mark.station.speaks
        )
        shares = sum(share for _, share in evidence)
        score = BEST * sum(mark.score * share for mark, share in evidence) / shares
        needed = script.pass_mark.get(dimension)
        rated.append(Rated(dimension, weight, score, needed, evidence))
    return tuple(rated)


def scorecard(
    script: Script, session: str, at: str, stop: Stop, marks: Sequence[Mark], spent: Spent
) -> Scorecard:
    """Add the marks up to a scorecard."""
    rated = rate(script, marks)
    weights = sum(each.weight for each in rated)
    overall = sum(each.weight * each.score for each in rated) / weights
    capped = any(mark.said for mark in marks) and overall > VETO_CAP
    overall = VETO_CAP if capped else overall
    floors = [(overall, script.pass_mark["overall"])]
    floors += [(each.score, each.needed) for each in rated if each.needed is not None]
    return Scorecard(
        session=session,
        script=script,
        at=at,
        stop=stop,
        marks=tuple(marks),
        rated=rated,
        spent=spent,
        overall=overall,
        capped=capped,
        passed=all(score >= mark - _ROUNDING for score, mark in floors),
    )
