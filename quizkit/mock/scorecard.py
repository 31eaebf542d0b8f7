"""Score an interview: dimensions with the answers they stand on, time, myths, a verdict.

Nothing decides here but the key, the rubric and the script's weights:

    dimension   4 x the mean of its answers' scores, weighted by how far each speaks to it
    free text   that nobody ticked is half of a dimension at most: the exact answers decide the
                rest, and where there are none the rest is 0
    hint        takes 1/16 of its answer, a quarter point of four
    overall     the mean of the dimensions, weighted as the script says
    no answer   counts 0, and so does a question the clock did not reach
    a veto      one must-not-say that was said, and stands, caps the overall at 2.0
    pass        overall and every dimension the script names reach their marks
"""

from collections.abc import Sequence
from dataclasses import dataclass

from quizkit.bank.script import BEST, Script
from quizkit.mock.desk import Stop
from quizkit.mock.marks import Mark
from quizkit.mock.sitting import InterviewState
from quizkit.words import Lang

VETO_CAP = 2.0
HALF = 0.5
"""The most of a dimension that free text can be, unless somebody has ticked it."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Rated:
    """One dimension: its score from 0 to 4, and the answers it stands on with their shares.

    `words` is the part of the dimension, 0 to 1, that free text nobody ticked has decided.
    """

    dimension: str
    weight: float
    score: float
    needed: float | None
    evidence: tuple[tuple[Mark, float], ...]
    words: float


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
    """An interview's whole result. `asked` are the numbers of the facts that were asked for.

    `lang` is the language that was spoken at its end.
    """

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
    asked: tuple[int, ...] = ()
    looks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lang: Lang = "en"

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
        loose = [each for each in evidence if each[0].unticked]
        firm = [each for each in evidence if not each[0].unticked]
        shares = sum(share for _, share in evidence)
        words = min(HALF, sum(share for _, share in loose) / shares)
        score = BEST * (words * _mean(loose) + (1 - words) * _mean(firm))
        needed = script.pass_mark.get(dimension)
        rated.append(Rated(dimension, weight, score, needed, evidence, words))
    return tuple(rated)


def _mean(evidence: Sequence[tuple[Mark, float]]) -> float:
    """Return the mean score by share; of nothing it is 0."""
    shares = sum(share for _, share in evidence)
    return sum(mark.score * share for mark, share in evidence) / shares if shares else 0.0


def scorecard(
    script: Script, sitting: InterviewState, at: str, marks: Sequence[Mark], spent: Spent
) -> Scorecard:
    """Add the marks up to a scorecard."""
    assert sitting.stop is not None
    rated = rate(script, marks)
    weights = sum(each.weight for each in rated)
    overall = sum(each.weight * each.score for each in rated) / weights
    capped = any(mark.said for mark in marks) and overall > VETO_CAP
    overall = VETO_CAP if capped else overall
    floors = [(overall, script.pass_mark["overall"])]
    floors += [(each.score, each.needed) for each in rated if each.needed is not None]
    return Scorecard(
        session=sitting.session,
        script=script,
        at=at,
        stop=sitting.stop,
        marks=tuple(marks),
        rated=rated,
        spent=spent,
        overall=overall,
        capped=capped,
        passed=all(score >= mark - _ROUNDING for score, mark in floors),
        asked=tuple(n for n in sitting.told if n < len(script.facts)),
        looks=tuple(sitting.looks),
        notes=tuple(sitting.notes),
        lang=sitting.lang,
    )
