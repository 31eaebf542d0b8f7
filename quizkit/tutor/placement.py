"""Ten minutes that find the level to start at: one step up when right, one down when wrong.

A staircase settles where about half the answers are right (Levitt, J. Acoust. Soc. Am. 49, 1971).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from quizkit.bank.entry import Entry
from quizkit.bank.model import Question
from quizkit.tutor.lineup import HIGHEST, shuffled
from quizkit.tutor.record import Clock
from quizkit.tutor.turns import Turn

MINUTES = 10
LENGTH = 12
_FIRST = 2
_WARM_UP = 3  # answers that only lead to where it begins to be interesting


class Placement:
    """Turns of a placement: quick questions, a topic each, the level led by the answers."""

    def __init__(self, entries: Sequence[Entry], seed: int, clock: Clock) -> None:
        self.ahead, self.spared = False, 0
        self._seed = seed
        self._clock = clock
        self._until: datetime | None = None
        quick = [each for each in entries if each.kind == "choice"]
        self._left = sorted(quick, key=lambda each: shuffled(seed, each.id))
        self._size = min(LENGTH, len(self._left))
        self._asked: list[Entry] = []
        self._steps: dict[str, int] = {}
        self._back: list[Turn] = []

    @property
    def level(self) -> int | None:
        """The level found, or None before anything was answered."""
        met = [each.level for each in self._asked if each.id in self._steps]
        met.append(self._next_level())
        settled = met[_WARM_UP:] or met[-1:]
        return round(sum(settled) / len(settled)) if self._steps else None

    def __len__(self) -> int:
        """How many are still to come, if the time lasts."""
        return len(self._back) + self._size - len(self._asked)

    def next(self) -> Turn | None:
        """The question whose level is nearest, of the topic met least."""
        if self._back:
            return self._back.pop()
        now = self._clock()
        self._until = self._until or now + timedelta(minutes=MINUTES)
        if len(self._asked) >= self._size or now >= self._until:
            return None
        wanted = self._next_level()
        met = [each.topic for each in self._asked]
        found = min(self._left, key=lambda each: (met.count(each.topic), abs(each.level - wanted)))
        self._left.remove(found)
        self._asked.append(found)
        number = Random(f"{self._seed}:{found.id}").getrandbits(31)  # noqa: S311  not a secret
        return Turn(found.id, number)

    def undo(self, turn: Turn, then: Turn | None = None) -> None:
        """Ask that one again, and after it the one that was on the screen."""
        self._back += [each for each in (then, turn) if each]
        self._steps.pop(turn.question, None)

    def repeats(self, turn: Turn) -> bool:
        """Nothing comes back: it is no lesson."""
        return False

    def wrong(self, turn: Turn, myth: str | None) -> None:
        """What follows from an answer follows in `follow`."""

    def following(self, question: Question, right: bool) -> str | None:
        """The answers decide about levels, not about what is asked next."""
        return None

    def follow(self, question: Question, right: bool) -> None:
        """One step up or down."""
        self._steps[question.id] = 1 if right else -1

    def _next_level(self) -> int:
        level = _FIRST
        for step in self._steps.values():
            level = min(HIGHEST, max(1, level + step))
        return level
