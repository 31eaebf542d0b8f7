"""What to ask next: a lineup of questions, and how it changes with what happens."""

from collections.abc import Iterable
from random import Random

from quizkit.bank.entry import Entry
from quizkit.bank.model import Question
from quizkit.tutor.lineup import HANDFUL, Lineup, shuffled
from quizkit.tutor.mixing import mixed
from quizkit.tutor.turns import Turn

_LATER = 2
"""A question with the same myth comes after this many others."""


class Queue:
    """The questions of one session, in order. What went wrong comes back once, on top of them.

    With `strict` the order is the point: nothing comes before its place.
    """

    def __init__(
        self, entries: Iterable[Entry], lineup: Lineup, seed: int, *, strict: bool = False
    ) -> None:
        self._all = {each.id: each for each in entries}
        self._seed = seed
        self._strict = strict
        self._plan = [*lineup.plan]
        self._later = [[*part] for part in lineup.later]
        self._waiting = {*lineup.waiting}
        self._limited = not lineup.later
        self._times: dict[str, int] = {}
        self._repeated: set[str] = set()
        self._back: list[Turn] = []
        self._last: str | None = None
        self.ahead, self.spared = lineup.ahead, lineup.spared
        self._mix_more()

    def __len__(self) -> int:
        """How many are still to come."""
        return len(self._back) + len(self._plan) + sum(map(len, self._later))

    def next(self) -> Turn | None:
        """The next question, or None at the end."""
        if self._back:
            return self._back.pop()
        if not self._plan:
            self._mix_more()
        if not self._plan:
            return None
        name = self._last = self._plan.pop(0)
        times = self._times[name] = self._times.get(name, 0) + 1
        seed = Random(f"{self._seed}:{name}:{times}").getrandbits(31)  # noqa: S311  not a secret
        return Turn(name, seed, name in self._repeated)

    def undo(self, turn: Turn, then: Turn | None = None) -> None:
        """Ask that one again just as it was, and after it the one that was on the screen."""
        name = turn.question
        self._back += [each for each in (then, turn) if each]
        if name in self._repeated and not turn.repeat:
            # It was wrong and planned once more; that is forgotten with the answer.
            self._repeated.discard(name)
            self._drop(name)
            self._back = [each for each in self._back if each == turn or each.question != name]

    def repeats(self, turn: Turn) -> bool:
        """Whether it would come back if it went wrong now."""
        return turn.question not in self._repeated

    def wrong(self, turn: Turn, myth: str | None) -> None:
        """It comes back at the end, once; another one with the same myth comes sooner."""
        if self.repeats(turn):
            self._repeated.add(turn.question)
            if self._later:
                self._later.append([self._all[turn.question]])
            else:
                self._plan.append(turn.question)
        if myth and not self._strict:
            others = [
                each
                for each in self._all.values()
                if myth in each.myths.split() and each.id not in self._times
            ]
            others.sort(
                key=lambda e: (self._open(e.id) != "planned", e.level, shuffled(self._seed, e.id))
            )
            if others:
                self._bring(others[0].id, _LATER)

    def following(self, question: Question, right: bool) -> str | None:
        """What an interviewer would ask next, if it is to be asked in this session at all."""
        if self._strict:
            return None
        happened = ("always", "right" if right else "wrong")
        for each in question.followups:
            if each.when in happened and each.ask not in self._times and self._open(each.ask):
                return each.ask
        return None if right else self._easier(question)

    def follow(self, question: Question, right: bool) -> None:
        """Put that next."""
        found = self.following(question, right)
        if found:
            self._bring(found, 0)

    def _easier(self, question: Question) -> str | None:
        """One step down where nothing was named: the same demo and topic, a lower level."""
        demo = question.proof.demo if question.proof else ""
        below = [
            each
            for each in self._all.values()
            if demo
            and each.demo == demo
            and each.topic == question.topic
            and each.level < question.level
            and each.id not in self._times
            and self._open(each.id)
        ]
        return max(below, key=lambda each: (each.level, each.id)).id if below else None

    def _open(self, name: str) -> str:
        """How a question that was not asked yet can still come: planned, or waiting for room."""
        if name in self._plan or any(e.id == name for part in self._later for e in part):
            return "planned"
        return "waiting" if name in self._waiting else ""

    def _mix_more(self) -> None:
        """Put the next handful in order."""
        handful: list[Entry] = []
        before = self._plan[-1] if self._plan else self._last
        last = self._all[before] if before else None
        while self._later and not handful:
            part = self._later[0]
            handful, self._later[0] = part[:HANDFUL], part[HANDFUL:]
            self._later = self._later if self._later[0] else self._later[1:]
        self._plan += [each.id for each in mixed(handful, last)]

    def _drop(self, name: str) -> None:
        self._plan = [each for each in self._plan if each != name]
        self._later = [kept for part in self._later if (kept := [e for e in part if e.id != name])]

    def _bring(self, name: str, place: int) -> None:
        if self._open(name) == "planned":
            if name in self._plan[: place + 1]:
                return
            self._drop(name)
        elif self._limited:
            # As many as were asked for: the last one that would be new makes room.
            fresh = [each for each in self._plan if each not in self._repeated]
            if not fresh:
                return
            self._plan.remove(fresh[-1])
            self._waiting.add(fresh[-1])
        self._waiting.discard(name)
        while self._later and len(self._plan) < place:
            self._mix_more()
        self._plan.insert(place, name)
