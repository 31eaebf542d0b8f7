"""Ten minutes that find the level to start at, from answers of which some are lucky guesses.

Each level has a chance of being the learner's. An answer moves the chances by Bayes' rule: at the
learner's level or below, a right one is likely; above it, it is a guess. What is asked next is what
is most open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from quizkit.bank.entry import Entry
from quizkit.bank.model import Question
from quizkit.tutor.lineup import HIGHEST, shuffled
from quizkit.tutor.record import Clock
from quizkit.tutor.turns import Turn

MINUTES = 10
LENGTH = 12
_LEVELS = range(1, HIGHEST + 1)

_KNOWS = 0.9
"""The chance of a right answer at the learner's level, or below it."""
_GUESSES = 0.25
"""The chance above it: a quick question has four options."""
_BEFORE = (3, 3, 3, 2, 2, 2)
"""How likely each level is before the first answer, from 0: a stranger is rather a beginner."""
LIKELY = 0.6
"""A level is found where it is at least as likely as this that the learner has it, or a higher."""
ENOUGH = 2
"""And where so many answers at it, or above, were right: one may be luck."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The level found, and how: (level, questions, right ones) from the easiest asked up.

    `chance` is how likely it is that the learner has the next level, `rights` how many answers at
    it, or above, were right. `held`: the level was shown, and is not only the lowest there is.
    `open_above`: a higher one cannot be shown, too few questions ask for it.
    """

    level: int
    rows: tuple[tuple[int, int, int], ...]
    chance: float
    rights: int
    held: bool
    open_above: bool


class Placement:
    """Turns of a placement: quick questions from all topics, the level led by the answers."""

    def __init__(self, entries: Sequence[Entry], seed: int, clock: Clock) -> None:
        self.ahead, self.spared = False, 0
        self._seed = seed
        self._clock = clock
        self._until: datetime | None = None
        quick = [each for each in entries if each.kind == "choice"]
        self._left = sorted(quick, key=lambda each: shuffled(seed, each.id))
        self._size = min(LENGTH, len(self._left))
        self._asked: list[Entry] = []
        self._right: dict[str, bool] = {}
        self._back: list[Turn] = []

    @property
    def level(self) -> int | None:
        """The level found, or None before anything was answered."""
        if not self._right:
            return None
        backed = [n for n in _LEVELS if self._backs(n)]
        return max((n for n in backed if self._chance(n) >= LIKELY), default=1)

    @property
    def result(self) -> Placed | None:
        """Return the level found and what speaks for it, or None before anything was answered."""
        level = self.level
        if level is None:
            return None
        met = [each for each in self._asked if each.id in self._right]
        rows = [
            (n, len(here), sum(self._right[each.id] for each in here))
            for n in _LEVELS
            if (here := [each for each in met if each.level == n])
        ]
        held = self._backs(level) and self._chance(level) >= LIKELY
        above = sum(each.level > level for each in (*self._left, *self._asked))
        return Placed(
            level,
            tuple(rows),
            self._chance(level + 1) if level < HIGHEST else 0.0,
            sum(right for n, _, right in rows if n > level),
            held,
            self._backs(level) and level < HIGHEST and above < ENOUGH,
        )

    def __len__(self) -> int:
        """Count the questions still to come, if the time lasts."""
        return len(self._back) + self._size - len(self._asked)

    def next(self) -> Turn | None:
        """Return the question nearest in level to what is most open, of the topic met least."""
        if self._back:
            return self._back.pop()
        now = self._clock()
        self._until = self._until or now + timedelta(minutes=MINUTES)
        if len(self._asked) >= self._size or now >= self._until:
            return None
        wanted = self._next_level()
        met = [each.topic for each in self._asked]
        found = min(self._left, key=lambda each: (abs(each.level - wanted), met.count(each.topic)))
        self._left.remove(found)
        self._asked.append(found)
        return self.as_next(found.id)

    def as_next(self, name: str) -> Turn:
        """Return a question with the numbers it has here: each is asked once."""
        number = Random(f"{self._seed}:{name}").getrandbits(31)  # noqa: S311  not a secret
        return Turn(name, number)

    def undo(self, turn: Turn, then: Turn | None = None) -> None:
        """Ask that one again, and after it the one that was on the screen."""
        self._back += [each for each in (then, turn) if each]
        self._right.pop(turn.question, None)

    def repeats(self, turn: Turn) -> bool:
        """Return False: nothing comes back, as this is no lesson."""
        return False

    def wrong(self, turn: Turn, myth: str | None) -> None:
        """Do nothing: what follows from an answer follows in `follow`."""

    def following(self, question: Question, right: bool) -> str | None:
        """Return None: answers decide about levels, not about what is asked next."""
        return None

    def follow(self, question: Question, right: bool) -> None:
        """Take in one more answer to go by."""
        self._right[question.id] = right

    def _backs(self, level: int) -> bool:
        """Tell whether enough answers at the level, or above, were right."""
        rights = [each for each in self._asked if self._right.get(each.id)]
        return sum(each.level >= level for each in rights) >= ENOUGH

    def _next_level(self) -> int:
        """The level of which it is most open whether the learner has it."""
        return min(_LEVELS, key=lambda level: abs(self._chance(level) - 0.5))

    def _chance(self, level: int) -> float:
        """Return how likely it is that the learner has this level, or a higher one."""
        likely = [float(each) for each in _BEFORE]
        for each in self._asked:
            if each.id in self._right:
                for at in range(len(likely)):
                    chance = _KNOWS if each.level <= at else _GUESSES
                    likely[at] *= chance if self._right[each.id] else 1 - chance
        return sum(likely[level:]) / sum(likely)
