"""Decide what to ask next: a lineup of questions, and how it changes with what happens."""

from collections.abc import Iterable, Iterator
from random import Random

from quizkit.bank.entry import Entry
from quizkit.bank.model import Question
from quizkit.tutor.coming import Coming
from quizkit.tutor.ladder import Ladder
from quizkit.tutor.lineup import Lineup, is_leech, shuffled, was_right
from quizkit.tutor.mixing import is_essay
from quizkit.tutor.reach import Reach
from quizkit.tutor.turns import Turn
from quizkit.tutor.verdict import Note

_LATER = 2
"""A question with the same myth comes after this many others."""

_ABOVE = 1
"""Nothing is brought forward that is further than this above what the learner has reached."""


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
        self._coming = Coming(self._all, lineup)
        self._waiting = {*lineup.waiting}
        self._limited = not lineup.later
        self._cards, self._levels = lineup.cards, lineup.levels
        self._ladder, self._reach = Ladder(self._all.values()), Reach(lineup.levels)
        self._times: dict[str, int] = {}
        self._repeated: set[str] = set()
        self._led: set[str] = set()
        self._leading = frozenset(lineup.first)
        self._brought: set[str] = {*lineup.first}
        self._reasons: dict[str, Note] = (
            dict.fromkeys(lineup.first, lineup.why) if lineup.why else {}
        )
        # How many follow-ups led to a question.
        self._links: dict[str, int] = {}
        self._back: list[Turn] = []
        self._turn: Turn | None = None
        self.ahead, self.spared = lineup.ahead, lineup.spared

    def __len__(self) -> int:
        """Count the questions still to come."""
        return len(self._back) + len(self._coming)

    def next(self) -> Turn | None:
        """Return the next question, or None at the end."""
        if self._back:
            self._turn = self._back.pop()
            return self._turn
        if not (self._coming.plan or self._coming.mix()):
            return None
        if not self._strict:
            self._look_ahead()
        name = self._coming.take()
        self._turn = self.as_next(name)
        self._times[name] = self._times.get(name, 0) + 1
        return self._turn

    def as_next(self, name: str) -> Turn:
        """Return a question with the numbers it has when it is asked next."""
        times = self._times.get(name, 0) + 1
        seed = Random(f"{self._seed}:{name}:{times}").getrandbits(31)  # noqa: S311  not a secret
        return Turn(name, seed, name in self._repeated, self._reasons.get(name))

    def undo(self, turn: Turn, then: Turn | None = None) -> None:
        """Ask that one again just as it was, and after it the one that was on the screen."""
        name = turn.question
        self._reach.undone(turn)
        self._back += [each for each in (then, turn) if each]
        if name in self._repeated and not turn.repeat:
            # It was wrong and planned once more; that is forgotten with the answer.
            self._repeated.discard(name)
            self._coming.drop(name)
            self._back = [each for each in self._back if each == turn or each.question != name]

    def repeats(self, turn: Turn) -> bool:
        """Tell whether it would come back if wrong now; what will not stay comes another day."""
        name = turn.question
        return name not in self._repeated and (self._strict or not is_leech(name, self._cards))

    def wrong(self, turn: Turn, myth: str | None) -> None:
        """Bring it back at the end, once; another one with the same myth comes sooner."""
        if self.repeats(turn):
            self._repeated.add(turn.question)
            self._coming.append(turn.question)
        if not myth or self._strict:
            return
        own = self._all[turn.question].level
        others = [
            each
            for each in self._all.values()
            if myth in each.myths.split()
            and each.id not in self._times
            and each.level <= max(own, self._reach.level(each.topic)) + _ABOVE
        ]
        others, planned = self._able(others), {*self._coming.names()}
        others.sort(key=lambda e: (e.id not in planned, e.level, shuffled(self._seed, e.id)))
        if others:
            self._reasons[others[0].id] = ("study.now_belief", {})
            self._bring(others[0].id, _LATER)

    def following(self, question: Question, right: bool) -> str | None:
        """Return what comes next because of an answer, if this session is to ask it at all.

        After a right one it is what an interviewer would ask; after a wrong one a step down.
        """
        if self._strict:
            return None
        happened = ("always", "right" if right else "wrong")
        mine = self._all[question.id]
        named = [each.ask for each in question.followups if each.when in happened]
        known = [self._all[name] for name in named if name in self._all]
        if right:
            return self._first(each for each in known if self._leads_on(mine, each))
        return self._easier(mine, known) or self._first(
            each for each in known if each.level == mine.level
        )

    def follow(self, question: Question, right: bool) -> None:
        """Put next what follows from the answer, if anything does, and take the answer in."""
        found = self.following(question, right)  # as it was told with the verdict
        if found:
            self._reasons[found] = self._followed(question.id, found, right)
            self._bring(found, 0)
        if self._turn:
            self._reach.answered(self._turn, self._all[question.id], right)

    def _followed(self, name: str, found: str, right: bool) -> Note:
        """Say what the next question is to the one before: a step down, or a link of a chain."""
        if not right and self._all[found].level < self._all[name].level:
            return "study.now_down", {}
        number = self._links[found] = self._links.get(name, 0) + 1
        count = number + self._ahead(found)
        if count == 1:
            return "study.now_followup", {}
        return "study.now_link", {"number": number, "of": count}

    def _ahead(self, name: str) -> int:
        """Count the follow-ups that come after a question, as long as all goes well."""
        seen, at = {name}, self._all[name]
        while True:
            named = [self._all[each] for each in at.follows.split() if each in self._all]
            harder = (e for e in named if e.level >= at.level and self._leads_on(at, e))
            found = self._first(each for each in harder if each.id not in seen)
            if found is None:
                return len(seen) - 1
            seen.add(found)
            at = self._all[found]

    def _leads_on(self, one: Entry, other: Entry) -> bool:
        """Tell whether it can follow a right answer: of this session, no leap, no second essay."""
        leap = other.level > max(one.level, self._reach.level(other.topic)) + _ABOVE
        mine = other.id in self._waiting or other.id in self._coming.names()
        return mine and not leap and not (is_essay(one) and is_essay(other))

    def _easier(self, entry: Entry, named: Iterable[Entry]) -> str | None:
        """One step down: what is named for it, else what is about the same thing."""
        down = self._first(each for each in named if each.level < entry.level)
        return down or self._first(self._ladder.below(entry))

    def _first(self, entries: Iterable[Entry]) -> str | None:
        """The first that can come; what was never answered right goes before what was."""
        able = self._able(entries)
        able.sort(key=lambda each: (was_right(each.id, self._cards), each.id in self._times))
        return able[0].id if able else None

    def _able(self, entries: Iterable[Entry]) -> list[Entry]:
        """List what is planned, at all or again, or finds room; leeches keep their place."""
        planned, spare = {*self._coming.names()}, any(self._spare())
        return [
            each
            for each in entries
            if not is_leech(each.id, self._cards)
            and (each.id in planned or (each.id not in self._times and self._room(each.id, spare)))
        ]

    def _room(self, name: str, spare: bool) -> bool:
        return spare or (not self._limited and name in self._cards)

    def _new(self, name: str) -> bool:
        """Tell whether nobody has met it yet."""
        return name not in self._cards and name not in self._times

    def _spare(self) -> Iterator[str]:
        """Yield what can make room, the last first: what is new, so that a day's share holds.

        Where the number of questions was asked for, whatever has not been asked.
        """
        ahead = [name for name in self._coming.names()[::-1] if name not in self._leading]
        yield from (name for name in ahead if self._new(name))
        if self._limited:
            yield from (name for name in ahead if name in self._cards and name not in self._times)

    def _look_ahead(self) -> None:
        """Put what should be next in front: at the level reached by now, and not what is stuck."""
        at = self._suits(0)
        while at == len(self._coming.plan) and self._coming.mix():
            at = self._suits(at)
        if at < len(self._coming.plan):
            self._coming.plan.insert(0, self._coming.plan.pop(at))
        front = self._coming.plan[0]
        if is_leech(front, self._cards) and front not in self._led:
            self._led.add(front)
            entry = self._all[front]
            named = [self._all[n] for n in entry.follows.split() if n in self._all]
            easier = self._easier(entry, named)
            if easier:
                self._reasons[easier] = ("study.now_down", {})
                self._bring(easier, 0)

    def _suits(self, start: int) -> int:
        """Return the place of what may come now, from `start` on; past the end if nothing may."""
        for at in range(start, len(self._coming.plan)):
            name = self._steered(self._coming.plan[at])
            first = name in self._leading
            begins_stuck = not self._times and is_leech(name, self._cards) and not first
            if not begins_stuck and not self._too_hard(name):
                return at
        return len(self._coming.plan)

    def _can_move(self, entry: Entry) -> bool:
        """Tell whether its place follows from its level alone."""
        fixed = entry.topic not in self._levels or entry.id in self._brought
        return not fixed and self._new(entry.id)

    def _too_hard(self, name: str) -> bool:
        entry = self._all[name]
        limit = self._reach.level(entry.topic) + _ABOVE
        return self._can_move(entry) and entry.level > limit

    def _steered(self, name: str) -> str:
        """In its place, what is new in its topic and nearest to where the session has come."""
        topic = self._all[name].topic
        if not self._reach.moved(topic) or not self._can_move(self._all[name]):
            return name
        level = self._reach.level(topic)
        essays = sum(is_essay(each) for each in map(self._all.__getitem__, self._times))
        new = [e for e in self._all.values() if e.topic == topic and self._can_move(e)]
        best = min(
            new,
            key=lambda e: (
                abs(e.level - level) + essays * is_essay(e),  # one by one, as in a lineup
                e.id != name,
                shuffled(self._seed, e.id),
            ),
        )
        if best.id in self._waiting:
            self._waiting ^= {name, best.id}
        self._coming.swap(name, best.id)
        return best.id

    def _bring(self, name: str, place: int) -> None:
        if name in self._coming.names():
            if name in self._coming.plan[: place + 1]:
                self._brought.add(name)
                return
            self._coming.drop(name)
        elif self._limited or name not in self._cards:
            # As many as were asked for, or as many new ones as a day has: another makes room.
            spare = next(self._spare(), None)
            if spare is None:
                return
            self._coming.drop(spare)
            self._waiting.add(spare)
        self._waiting.discard(name)
        self._brought.add(name)
        self._coming.insert(place, name)
