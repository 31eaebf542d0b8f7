"""Read a plan's evidence from the learner's answers: how long a kind takes, what is known
anyway, and along which curve it is forgotten.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import log
from statistics import median
from typing import NamedTuple, cast

from quizkit.bank.entry import Entry
from quizkit.bank.model import Kind
from quizkit.tutor.memory import TARGETS
from quizkit.tutor.plan_memory import AGAIN, WEIGHTS, Fsrs, MemoryTrace
from quizkit.words import Lang

ENOUGH = 10
"""Answers of a kind from which on the learner's own time counts."""
READING = 30.0
"""Seconds to read why, where the question's length is not known."""
AGAIN_TAKES = 0.6
"""The share of its first time a question met before takes. A judgement, until it is measured."""
_WORK: Mapping[Kind, float] = {
    "choice": 45, "numeric": 90, "order": 60, "cloze": 60, "trace": 90, "bug": 120, "essay": 300,
    "written": 180,
}  # fmt: skip
"""Seconds to think and to write beside the reading, with the code where there is some. A judgement,
until the learner's own times are known."""
_LONGEST: dict[str, float] = {kind: 5 * target for kind, target in TARGETS.items()}
"""Seconds: who takes longer has left the keyboard."""
_OTHERS = 4
"""So many answers' worth has the whole bank's share in that of a topic."""
_CURVES = [*product((1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4), (WEIGHTS[20], 0.3, 0.5, 0.8))]
"""How many times as long things are kept, and the decay. The decays are those FSRS allows."""
_RECENT = 300
"""So many of the last reviews tell the curve."""


class Recalled(NamedTuple):
    """An answer on a later day than the one before: the stability it met, the days, and how."""

    stability: float
    days: float
    right: bool


def usual(entry: Entry, lang: Lang) -> float:
    """Return the seconds to read the question in the language and to answer it."""
    asks = entry.asks_zh if lang == "zh" else entry.asks_en
    kind = cast("Kind", entry.kind)
    return asks + _WORK[kind] if asks else TARGETS[kind]


def after(entry: Entry, lang: Lang, *, met: bool) -> float:
    """Return the seconds to read why; nobody's clock runs then. Who knows it reads half of it."""
    tells = entry.tells_zh if lang == "zh" else entry.tells_en
    return (tells or READING) * (0.5 if met else 1.0)


def pace(spent: Iterable[tuple[str, float, float]], otherwise: float) -> Callable[[str], float]:
    """Return the learner's time as a factor of the usual, by kind, from (kind, usual, spent).

    A kind's own median where there are ten answers of it, else that of all, else `otherwise`.
    """
    own: dict[str, list[float]] = {}
    for kind, usually, each in spent:
        own.setdefault(kind, []).append(each / usually)
    every = [each for found in own.values() for each in found]
    overall = median(every) if len(every) >= ENOUGH else otherwise
    kinds = {kind: median(found) for kind, found in own.items() if len(found) >= ENOUGH}
    return lambda kind: kinds.get(kind, overall)


def within_reason(kind: str, seconds: float) -> float:
    """Return the time an answer took, without that in which nobody was there."""
    return min(seconds, _LONGEST.get(kind, max(_LONGEST.values())))


def chances(firsts: Iterable[tuple[str, bool]]) -> Callable[[str], float]:
    """Estimate, by topic, how likely a question never met is answered right, from first answers.

    Before there is an answer that is one half; a topic without answers has the share of all.
    """
    met, right = Counter[str](), Counter[str]()
    for topic, was_right in firsts:
        met[topic] += 1
        right[topic] += was_right
    overall = (right.total() + 1) / (met.total() + 2)
    return lambda topic: (right[topic] + _OTHERS * overall) / (met[topic] + _OTHERS)


def later(answers: Iterable[tuple[str, float, int]]) -> list[Recalled]:
    """List what the answers (question, day, grade), as they came, show of forgetting."""
    model, held = Fsrs(), dict[str, tuple[MemoryTrace, float]]()
    found: list[Recalled] = []
    for question, day, grade in answers:
        if question in held:
            trace, last = held[question]
            days = max(0.0, day - last)
            if days >= 1:
                found.append(Recalled(trace.stability, days, grade != AGAIN))
            held[question] = model.after(trace, days, grade), last + days
        else:
            held[question] = model.first(grade), day
    return found


def fitted(recalled: Sequence[Recalled]) -> Fsrs:
    """Fit the curve under which what was recalled is likeliest, FSRS's own unless told better."""
    return max((Fsrs(times=t, decay=d) for t, d in _CURVES), key=lambda m: _likely(m, recalled))


def _likely(model: Fsrs, recalled: Sequence[Recalled]) -> float:
    """The logarithm of how likely the last reviews are, and the curve itself."""
    found = -(log(model.times) ** 2) / 2 - log(model.decay / WEIGHTS[20]) ** 2
    for stability, days, right in recalled[-_RECENT:]:
        chance = model.recall(stability, days)
        found += log(chance if right else 1 - chance)
    return found
