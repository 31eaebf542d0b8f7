"""What to ask next: what is due before what is new, topics mixed, the same thing never twice.

Everything follows from the questions, the cards, the time and the seed.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from quizkit.answer import Card
from quizkit.bank.model import Choice, Essay, Numeric, Question

_LATER = 2
"""A question with the same myth comes after this many others."""


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A question to ask, and with which seed. Each is one of its kind, however often it is put."""

    question: Question
    seed: int
    repeat: bool = False


def chosen(
    questions: Iterable[Question],
    topics: Collection[str] = (),
    levels: tuple[int, int] = (1, 5),
    kinds: Collection[str] = (),
) -> list[Question]:
    """The questions that were asked for."""
    low, high = levels
    return [
        question
        for question in questions
        if (not topics or question.topic in topics)
        and low <= question.level <= high
        and (not kinds or question.kind in kinds)
    ]


def due(questions: Iterable[Question], cards: Mapping[str, Card], now: datetime) -> list[Question]:
    """The questions that are due, the longest overdue first."""
    late = [q for q in questions if q.id in cards and cards[q.id].due <= now]
    return sorted(late, key=lambda q: (cards[q.id].due, q.id))


def myths(question: Question) -> set[str]:
    """The misconceptions that the question can catch."""
    match question:
        case Choice(options=options):
            found = [option.myth for option in options]
        case Numeric(traps=traps):
            found = [trap.myth for trap in traps]
        case Essay(vetoes=vetoes):
            found = [veto.myth for veto in vetoes]
        case _:
            found = []
    return {myth for myth in found if myth}


class Queue:
    """The questions of one session, in order. What happens changes what comes next.

    `limit` is how many different questions; those that went wrong come back once, on top of it.
    Where nothing is due and nothing is new, what is due soonest is asked ahead of its time.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        cards: Mapping[str, Card],
        now: datetime,
        seed: int,
        limit: int | None = None,
    ) -> None:
        self._seed = seed
        self._all = {question.id: question for question in questions}
        self._times: dict[str, int] = {}
        new = [question for question in questions if question.id not in cards]
        self._repeated: set[str] = set()
        self._back: list[Turn] = []
        plan = _mixed(due(questions, cards, now))
        plan += _mixed(sorted(new, key=self._ease), plan[-1:])
        self.ahead = not plan
        if not plan:
            plan = _mixed(sorted(questions, key=lambda q: (cards[q.id].due, q.id)))
        count = len(plan) if limit is None else limit
        self._plan = [question.id for question in plan[:count]]
        self._waiting = {question.id for question in plan[count:]}
        self._limited = limit is not None

    def __len__(self) -> int:
        """How many are still to come."""
        return len(self._back) + len(self._plan)

    def next(self) -> Turn | None:
        """The next question, or None at the end."""
        if self._back:
            return self._back.pop()
        if not self._plan:
            return None
        name = self._plan.pop(0)
        times = self._times[name] = self._times.get(name, 0) + 1
        seed = Random(f"{self._seed}:{name}:{times}").getrandbits(31)  # noqa: S311  not a secret
        return Turn(self._all[name], seed, name in self._repeated)

    def undo(self, turn: Turn, then: Turn | None = None) -> None:
        """Ask that one again just as it was, and after it the one that was on the screen."""
        name = turn.question.id
        self._back += [each for each in (then, turn) if each]
        if name in self._repeated and not turn.repeat:
            # It was wrong and planned once more; that is forgotten with the answer.
            self._repeated.discard(name)
            self._plan = [each for each in self._plan if each != name]
            self._back = [each for each in self._back if each == turn or each.question.id != name]

    def repeats(self, turn: Turn) -> bool:
        """Whether it would come back if it went wrong now."""
        return turn.question.id not in self._repeated

    def wrong(self, turn: Turn, myth: str | None) -> None:
        """It comes back at the end, once; another one with the same myth comes sooner."""
        if self.repeats(turn):
            self._repeated.add(turn.question.id)
            self._plan.append(turn.question.id)
        if myth:
            asked = {*self._times}
            others = [q for q in self._all.values() if myth in myths(q) and q.id not in asked]
            others.sort(key=lambda q: (q.id not in self._plan, self._ease(q)))
            if others:
                self._bring(others[0].id, _LATER)

    def following(self, question: Question, right: bool) -> Question | None:
        """What an interviewer would ask next, if it is to be asked in this session at all."""
        happened = ("always", "right" if right else "wrong")
        for each in question.followups:
            wanted = each.ask in self._plan or each.ask in self._waiting
            if each.when in happened and wanted and each.ask not in self._times:
                return self._all[each.ask]
        return None

    def follow(self, question: Question, right: bool) -> None:
        """Put that next."""
        found = self.following(question, right)
        if found:
            self._bring(found.id, 0)

    def _bring(self, name: str, place: int) -> None:
        if name in self._plan:
            if self._plan.index(name) <= place:
                return
            self._plan.remove(name)
        elif self._limited:
            # As many as were asked for: the last one that would be new makes room.
            fresh = [each for each in self._plan if each not in self._repeated]
            if not fresh:
                return
            self._plan.remove(fresh[-1])
            self._waiting.add(fresh[-1])
        self._waiting.discard(name)
        self._plan.insert(place, name)

    def _ease(self, question: Question) -> tuple[int, float]:
        """Easy ones first, in an order of the seed's."""
        return question.level, Random(f"{self._seed}:{question.id}").random()  # noqa: S311


def _mixed(questions: Sequence[Question], before: Sequence[Question] = ()) -> list[Question]:
    """The same order as far as no topic follows itself where another is left."""
    left, mixed = [*questions], [*before]
    counts = Counter(question.topic for question in left)
    while left:
        last = mixed[-1].topic if mixed else None
        most = max(counts, key=lambda topic: counts[topic])
        # More than half of the rest: later this topic could not be kept apart any more.
        crowded = 2 * counts[most] > len(left) and most != last
        fits = (i for i, q in enumerate(left) if (q.topic == most if crowded else q.topic != last))
        mixed.append(left.pop(next(fits, 0)))
        counts[mixed[-1].topic] -= 1
    return mixed[len(before) :]
