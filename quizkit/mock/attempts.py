"""List the interviews of a diary as attempts: each with what changed since the one before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from quizkit.bank.model import Text
from quizkit.bank.script import BEST
from quizkit.mock.readback import read_card
from quizkit.mock.sitting import InterviewState


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference to the attempt before at a script, for dimensions that both have."""

    overall: float
    dimensions: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One interview: begun `at`; without a verdict it was not finished."""

    session: str
    script: str
    title: Text
    at: datetime
    verdict: Literal["pass", "fail"] | None = None
    overall: float = 0.0
    best: float = BEST
    dimensions: Mapping[str, float] = field(default_factory=dict[str, float])
    change: Change | None = None


def attempts(sittings: Sequence[InterviewState]) -> list[Attempt]:
    """Return them, the last one first, as `sittings` has them."""
    before: dict[str, Attempt] = {}
    found: list[Attempt] = []
    for sitting in reversed(sittings):
        attempt = _attempt(sitting, before.get(sitting.script))
        found.append(attempt)
        if attempt.verdict:
            before[sitting.script] = attempt
    return found[::-1]


def _attempt(sitting: InterviewState, before: Attempt | None) -> Attempt:
    name = Text(sitting.script, sitting.script)
    if sitting.card is None:
        return Attempt(session=sitting.session, script=sitting.script, title=name, at=sitting.at)
    # A card from elsewhere may have no more than these three.
    raw, card = sitting.card, read_card(sitting.card)
    overall = float(raw["overall"])
    dimensions = {each.name: each.score for each in card.dimensions} if card else {}
    change = None
    if before:
        both = [each for each in dimensions if each in before.dimensions]
        change = Change(
            overall=round(overall - before.overall, 4),
            dimensions={n: round(dimensions[n] - before.dimensions[n], 4) for n in both},
        )
    return Attempt(
        session=sitting.session,
        script=sitting.script,
        title=card.title if card else name,
        at=sitting.at,
        verdict=raw["verdict"],
        overall=overall,
        best=float(raw["best"]),
        dimensions=dimensions,
        change=change,
    )
