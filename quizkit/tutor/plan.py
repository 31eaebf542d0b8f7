"""Plan what to practise on which day, so that most is remembered on the interview's day.

Day 0 is today; the interview is on day `len(budgets)`. A question is worth asking for what it adds
to the chance of a right answer on that day, times its weight, for each second it takes. Each day
is filled with what is worth most then. What comes of an answer is not known beforehand, so a
question goes on as two: answered right, and answered wrong, each with its chance.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from quizkit.tutor.plan_memory import AGAIN, GOOD, Fsrs, MemoryTrace

_LEAST = 0.001
"""What adds less than this to the chance is not asked: the day is over sooner."""


class Hold(NamedTuple):
    """A memory as it may be: each trace with its chance, and the day of the last answer.

    Where chances come to less than 1, the rest is that nothing is known. Before the first answer
    that is all but the chance of knowing it anyway, which fades like what was answered right today.
    """

    traces: tuple[tuple[float, MemoryTrace], ...]
    last: float = 0.0
    met: bool = True


class Task(NamedTuple):
    """A question as a plan sees it: `seconds` are the first time's, `again` those of later ones."""

    id: str
    topic: str
    weight: float
    seconds: float
    hold: Hold
    again: float | None = None

    def price(self, hold: Hold) -> float:
        """Return the seconds that asking it takes then."""
        return self.again if hold.met and self.again is not None else self.seconds


@dataclass(frozen=True, slots=True)
class Day:
    """A day's questions, the most worth first."""

    reviews: tuple[str, ...]
    new: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The days until the interview, and the chances on its day: without practice, and with it."""

    days: tuple[Day, ...]
    without: Mapping[str, float]
    practised: Mapping[str, float]


def unmet(chance: float, model: Fsrs) -> Hold:
    """Return the memory of a question never asked, which the learner may know anyway."""
    return Hold(((chance, model.first(GOOD)),), met=False)


def expected(hold: Hold, day: float, model: Fsrs) -> float:
    """Return the chance of a right answer on a day."""
    days = max(0.0, day - hold.last)
    return sum(chance * model.recall(trace.stability, days) for chance, trace in hold.traces)


def asked(hold: Hold, day: float, model: Fsrs) -> Hold:
    """Return what may be left after the question is asked on a day."""
    if not hold.met:
        right = sum(chance for chance, _ in hold.traces)
        return Hold(((right, model.first(GOOD)), (1 - right, model.first(AGAIN))), day)
    days = max(0.0, day - hold.last)
    rights, wrongs = list[tuple[float, MemoryTrace]](), list[tuple[float, MemoryTrace]]()
    for chance, trace in hold.traces:
        right = model.recall(trace.stability, days)
        rights.append((chance * right, model.after(trace, days, GOOD)))
        wrongs.append((chance * (1 - right), model.after(trace, days, AGAIN)))
    return Hold((*_one(rights), *_one(wrongs)), day)


def _one(parts: Sequence[tuple[float, MemoryTrace]]) -> Iterator[tuple[float, MemoryTrace]]:
    """Ways to the same answer as one: else there would be twice as many after each."""
    total = sum(chance for chance, _ in parts)
    if len(parts) == 1:
        yield parts[0]
    elif total > 0:
        stability = sum(chance * log(trace.stability) for chance, trace in parts) / total
        difficulty = sum(chance * trace.difficulty for chance, trace in parts) / total
        yield total, MemoryTrace(exp(stability), difficulty)


def ranked(
    tasks: Iterable[Task], holds: Mapping[str, Hold], day: float, until: float, model: Fsrs
) -> list[Task]:
    """List what is worth asking on a day, the most for its time first; of equals the first task."""
    gains: dict[Hold, float] = {}
    found: list[tuple[float, Task]] = []
    for task in tasks:
        hold = holds[task.id]
        if hold not in gains:
            gains[hold] = _gain(hold, day, until, model)
        if gains[hold] >= _LEAST:
            found.append((gains[hold] * task.weight / task.price(hold), task))
    return [task for _, task in sorted(found, key=lambda each: -each[0])]


def _gain(hold: Hold, day: float, until: float, model: Fsrs) -> float:
    """Return what asking on a day adds to the chance on another."""
    if not hold.met:
        return expected(asked(hold, day, model), until, model) - expected(hold, until, model)
    since, ahead, found = max(0.0, day - hold.last), until - day, 0.0
    for chance, trace in hold.traces:
        right = model.recall(trace.stability, since)
        found += chance * right * model.recall(model.stability(trace, since, GOOD), ahead)
        found += chance * (1 - right) * model.recall(model.stability(trace, since, AGAIN), ahead)
    return found - expected(hold, until, model)


def plan(tasks: Sequence[Task], budgets: Sequence[float], model: Fsrs) -> Plan:
    """Fill the days, each with so many seconds at most."""
    until = len(budgets)
    holds = {task.id: task.hold for task in tasks}
    days: list[Day] = []
    for stretch in stretches(until):
        left = ranked(tasks, holds, stretch[len(stretch) // 2], until, model)
        for day in stretch:
            chosen, left = taken(left, holds, budgets[day])
            seconds = sum(task.price(holds[task.id]) for task in chosen)
            new = [task.id for task in chosen if not holds[task.id].met]
            reviews = [task.id for task in chosen if holds[task.id].met]
            for task in chosen:
                holds[task.id] = asked(holds[task.id], day, model)
            days.append(Day(tuple(reviews), tuple(new), seconds))
    without = {task.id: expected(task.hold, until, model) for task in tasks}
    practised = {name: expected(hold, until, model) for name, hold in holds.items()}
    return Plan(tuple(days), without, practised)


def stretches(until: int) -> Iterator[range]:
    """Yield days that share one ranking: today by itself, far days in a handful."""
    first, size = 0, 1
    while first < until:
        yield range(first, first + size)
        first += size
        size = max(1, (until - first) // 8)


def taken(
    tasks: Sequence[Task], holds: Mapping[str, Hold], seconds: float
) -> tuple[list[Task], list[Task]]:
    """Part the tasks into what fits into the time, and what is left for another day."""
    chosen, left = list[Task](), list[Task]()
    for task in tasks:
        price = task.price(holds[task.id])
        if price <= seconds:
            chosen.append(task)
            seconds -= price
        else:
            left.append(task)
    return chosen, left
