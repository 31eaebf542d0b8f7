"""A plan for this learner: from the bank, the cards and every answer so far to an interview's day.

Nothing is kept between calls: what was done, and what was not, is in the answers.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from quizkit.answer import Answer, Card, counted
from quizkit.bank.entry import Entry
from quizkit.tutor.forecast import forecast
from quizkit.tutor.lineup import Lineup, targets
from quizkit.tutor.mixing import mixed
from quizkit.tutor.plan import Day, Hold, Plan, Task, plan, ranked, taken, unmet
from quizkit.tutor.plan_evidence import (
    AGAIN_TAKES,
    READING,
    Recalled,
    after,
    chances,
    fitted,
    later,
    pace,
    usual,
    within_reason,
)
from quizkit.tutor.plan_memory import Fsrs, MemoryTrace
from quizkit.tutor.plan_weights import Weigh, alike
from quizkit.words import Lang

LITTLE = 0.005
"""Half a point of the mean: what is below it, nobody would notice."""
_MORE = 2
"""So many times the minutes are tried where today changes little."""

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """A plan's aim: when, how many minutes a day, and what counts how much.

    Of new questions worth the same, those nearest to `level` come first. They are read in `lang`.
    """

    interview: date
    minutes: float
    weigh: Weigh = alike
    level: int = 1
    lang: Lang = "en"


class Prospect(NamedTuple):
    """Chances of a right answer on the day, means by weight: without practice, and with it."""

    questions: int
    met: int
    without: float
    practised: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The plan as it is shown. `slip` is what leaving out today's practice takes off the mean."""

    days: Sequence[tuple[date, Day]]
    due: Sequence[int]
    """The number due on each day by memory alone: what stats and each verdict say."""
    late: Collection[str]
    """The questions that are due today."""
    topics: Mapping[str, Prospect]
    whole: Prospect
    slip: float
    best: tuple[str, Prospect] | None
    """The topic that practice changes most, if it changes any."""
    more: tuple[float, float] | None
    """Minutes a day that would change the mean, and by how much; None where that is little too,
    or where today counts."""
    spent: float
    """Seconds of today that are used: answering, and reading why."""
    too_long: int
    """Questions that fit into no day's time."""
    unmet: Mapping[str, int]
    """Questions that will not have been met by then, by kind."""
    reviews: int
    """Answers that told something of how this learner forgets."""
    model: Fsrs


class _Learner(NamedTuple):
    """The learner as the plan sees them: the questions, and what the answers so far say."""

    tasks: list[Task]
    model: Fsrs
    recalled: Sequence[Recalled]
    spent: float


def outlook(
    entries: Sequence[Entry],
    cards: Mapping[str, Card],
    answers: Iterable[Answer],
    aim: Aim,
    now: datetime,
    zone: tzinfo | None = None,
    *,
    placed: Collection[str] = (),
) -> Outlook:
    """Return how it looks now, in days of the zone's calendar (None: the clock on the wall).

    `placed` are sessions that looked for the learner's level: they take nothing off today.
    """
    learner = _learner(entries, cards, answers, aim, now, zone, placed)
    tasks, model = learner.tasks, learner.model
    today = now.astimezone(zone).date()
    budgets = [60 * aim.minutes] * (aim.interview - today).days
    later_days = budgets[1:]
    found = plan(tasks, [max(0.0, budgets[0] - learner.spent), *later_days], model)
    slipped = plan(tasks, [0.0, *later_days], model)
    topics = {
        topic: _prospect([task for task in tasks if task.topic == topic], found)
        for topic in sorted({task.topic for task in tasks})
    }
    whole = _prospect(tasks, found)
    slip = max(0.0, whole.practised - _prospect(tasks, slipped).practised)
    best = max(topics.items(), key=lambda each: _gain(each[1]), default=None)
    more: tuple[float, float] | None = None
    if aim.minutes and slip < LITTLE:
        longer = plan(tasks, [_MORE * each for each in budgets], model)
        gained = _prospect(tasks, longer).practised - whole.practised
        more = (_MORE * aim.minutes, gained) if gained >= LITTLE else None
    known = [cards[task.id] for task in tasks if task.id in cards]
    return Outlook(
        late={each.question for each in known if each.due.astimezone(zone).date() <= today},
        due=[count for _, count in forecast(known, now, zone, len(found.days)).days],
        best=best if best and _gain(best[1]) >= LITTLE else None,
        more=more,
        days=[(today + i * _DAY, day) for i, day in enumerate(found.days)],
        topics=topics,
        whole=whole,
        slip=slip,
        spent=learner.spent,
        unmet=_unmet(entries, tasks, found),
        too_long=sum(task.price(task.hold) > budgets[0] for task in tasks),
        reviews=len(learner.recalled),
        model=model,
    )


def planned_today(
    entries: Sequence[Entry],
    cards: Mapping[str, Card],
    answers: Iterable[Answer],
    aim: Aim,
    now: datetime,
    zone: tzinfo | None = None,
    *,
    placed: Collection[str] = (),
) -> Lineup:
    """Line up what is left of today's plan, topics mixed as far as order by worth allows."""
    learner = _learner(entries, cards, answers, aim, now, zone, placed)
    until = (aim.interview - now.astimezone(zone).date()).days
    holds = {task.id: task.hold for task in learner.tasks}
    worth = ranked(learner.tasks, holds, 0.0, until, learner.model)
    chosen, _ = taken(worth, holds, 60 * aim.minutes - learner.spent)
    known = {each.id: each for each in entries}
    plan = [each.id for each in mixed([known[task.id] for task in chosen])]
    return Lineup(plan=plan, cards=cards, levels=targets(entries, cards, aim.level))


def _learner(
    entries: Sequence[Entry],
    cards: Mapping[str, Card],
    answers: Iterable[Answer],
    aim: Aim,
    now: datetime,
    zone: tzinfo | None,
    placed: Collection[str],
) -> _Learner:
    known = {each.id: each for each in entries}
    names = {old: each.id for each in entries for old in each.was.split()}
    judged = [(names.get(row.question, row.question), row) for row in counted(answers)]
    firsts: dict[str, bool] = {}
    for name, row in judged:
        if name in known:
            firsts.setdefault(name, bool(row.right))
    study = [*_studied(judged, known)]
    today = now.astimezone(zone).date()
    recalled = later(
        (name, (row.at - now) / _DAY, row.grade) for name, row in judged if row.grade is not None
    )
    timed = [
        (met, (each.kind, usual(each, row.lang), within_reason(each.kind, row.seconds)))
        for row, each, met in study
        if each and row.seconds > 0
    ]
    first = pace((took for met, took in timed if not met), 1.0)
    again = pace((took for met, took in timed if met), AGAIN_TAKES)
    chance = chances((name.split("/")[0], right) for name, right in firsts.items())
    model = fitted(recalled)

    def task(each: Entry, weight: float) -> Task:
        asks = usual(each, aim.lang)
        once = asks * first(each.kind) + after(each, aim.lang, met=False)
        later_on = asks * again(each.kind) + after(each, aim.lang, met=True)
        if each.id in cards:
            return Task(each.id, each.topic, weight, once, _hold(cards[each.id], now), later_on)
        right = chance(each.topic)
        # What goes wrong the first time comes back once before the session ends.
        once += (1 - right) * later_on
        return Task(each.id, each.topic, weight, once, unmet(right, model), later_on)

    tasks = [
        task(each, weight)
        for each in _spread(entries, aim.level)
        if (weight := aim.weigh(each)) > 0
    ]
    spent = sum(
        within_reason(each.kind if each else "", row.seconds)
        + (after(each, row.lang, met=met) if each else READING)
        for row, each, met in study
        if row.at.astimezone(zone).date() == today and row.session not in placed
    )
    return _Learner(tasks, model, recalled, spent)


def _studied(
    judged: Iterable[tuple[str, Answer]], known: Mapping[str, Entry]
) -> Iterator[tuple[Answer, Entry | None, bool]]:
    """Answers of study, each with its question, if that is still there, and whether it was met."""
    seen: set[str] = set()
    for name, row in judged:
        if row.mode == "study":
            yield row, known.get(name), name in seen
        seen.add(name)


def _spread(entries: Iterable[Entry], level: int) -> list[Entry]:
    """Order what is otherwise equal: topics in step, the nearest level first."""
    shelves: dict[str, list[Entry]] = {}
    for each in sorted(entries, key=lambda each: (abs(each.level - level), each.id)):
        shelves.setdefault(each.topic, []).append(each)
    places = [
        ((number + 0.5) / len(shelf), each)
        for shelf in shelves.values()
        for number, each in enumerate(shelf)
    ]
    return [each for _, each in sorted(places)]


def _hold(card: Card, now: datetime) -> Hold:
    # A clock that was set back makes no answer come after now.
    return Hold(
        ((1.0, MemoryTrace(card.stability, card.difficulty)),), -max(0.0, (now - card.last) / _DAY)
    )


def _unmet(entries: Iterable[Entry], tasks: Iterable[Task], found: Plan) -> Mapping[str, int]:
    kinds = {each.id: each.kind for each in entries}
    met = {name for day in found.days for name in day.new}
    left = (task.id for task in tasks if not task.hold.met and task.id not in met)
    return Counter(kinds[name] for name in left)


def _gain(of: Prospect) -> float:
    return of.practised - of.without


def _prospect(tasks: Sequence[Task], found: Plan) -> Prospect:
    weight = sum(task.weight for task in tasks) or 1.0
    without = sum(task.weight * found.without[task.id] for task in tasks)
    practised = sum(task.weight * found.practised[task.id] for task in tasks)
    met = sum(task.hold.met for task in tasks)
    return Prospect(len(tasks), met, without / weight, practised / weight)
