"""Which questions a session has, and in which order: a day's, or a topic's from its beginning.

Everything follows from the index's lines, the cards, the time and the seed.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b

from quizkit.answer import Card
from quizkit.bank.entry import Entry
from quizkit.tutor.mixing import mixed

HANDFUL = 60
"""So many are put in order at a time: nobody waits for the order of thousands."""

HELD = 2.0
"""Days: what will be remembered as long as this was answered well."""

_ENOUGH = 4
"""Held answers at a level, or above it, after which a topic goes one level up."""

HIGHEST = 5


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many questions may still be asked today, of what is new and of what is due."""

    new: int
    reviews: int


@dataclass(frozen=True, slots=True)
class Lineup:
    """`plan` is in order, `later` comes after it and is mixed as it comes near.

    `waiting` may come in place of what is planned. `ahead`: nothing is due and nothing is new, so
    this is asked before its time. `spared` is how many a day's limit left for another day.
    """

    plan: Sequence[str] = ()
    later: Sequence[Sequence[Entry]] = ()
    waiting: Collection[str] = field(default_factory=frozenset[str])
    ahead: bool = False
    spared: int = 0


def chosen(
    entries: Iterable[Entry], levels: tuple[int, int] = (1, HIGHEST), kinds: Collection[str] = ()
) -> list[Entry]:
    """The questions that were asked for."""
    low, high = levels
    return [
        each for each in entries if low <= each.level <= high and (not kinds or each.kind in kinds)
    ]


def due(entries: Iterable[Entry], cards: Mapping[str, Card], now: datetime) -> list[Entry]:
    """What is due, the longest overdue first."""
    late = [each for each in entries if each.id in cards and cards[each.id].due <= now]
    return sorted(late, key=lambda each: (cards[each.id].due, each.id))


def shuffled(seed: int, name: str) -> bytes:
    """Where a question stands in the seed's own order."""
    return blake2b(f"{seed}:{name}".encode(), digest_size=4).digest()


def targets(entries: Iterable[Entry], cards: Mapping[str, Card], start: int) -> dict[str, int]:
    """The level at which each topic goes on: where the learner started, and up as answers hold."""
    held: dict[str, Counter[int]] = {}
    for each in entries:
        levels = held.setdefault(each.topic, Counter())
        if each.id in cards and cards[each.id].stability >= HELD:
            levels[each.level] += 1
    found: dict[str, int] = {}
    for topic, levels in held.items():
        level = start
        while level < HIGHEST and sum(levels[n] for n in range(level, HIGHEST + 1)) >= _ENOUGH:
            level += 1
        found[topic] = level
    return found


def today(
    entries: Sequence[Entry],
    cards: Mapping[str, Card],
    now: datetime,
    seed: int,
    *,
    limit: int | None = None,
    allowance: Allowance | None = None,
    start: int = 1,
) -> Lineup:
    """What is due before what is new, topics mixed, at each topic's level.

    `limit` is how many; without it an `allowance` may say how many of which are left for today.
    Where nothing is due and nothing is new, what is due soonest is asked ahead of its time.
    """
    late = due(entries, cards, now)
    level = targets(entries, cards, start)
    unseen = [each for each in entries if each.id not in cards]
    new = sorted(
        unseen, key=lambda each: (abs(each.level - level[each.topic]), shuffled(seed, each.id))
    )
    ahead, spared = not late and not new, 0
    if ahead:
        late = sorted(entries, key=lambda each: (cards[each.id].due, each.id))
    elif allowance and limit is None:
        late, new = late[: allowance.reviews], new[: allowance.new]
        spared = len([e for e in entries if e.id not in cards or cards[e.id].due <= now])
        spared -= len(late) + len(new)
    if limit is None:
        return Lineup(later=(late, new), ahead=ahead, spared=spared)
    first = mixed(late[: max(limit, HANDFUL)])
    first += mixed(new[: max(limit, HANDFUL)], first[-1] if first else None)
    plan = [each.id for each in first[:limit]]
    rest = {each.id for each in (*late, *new)} - {*plan}
    return Lineup(plan=plan, waiting=rest, ahead=ahead)


def course(entries: Iterable[Entry], order: Sequence[str], cards: Mapping[str, Card]) -> Lineup:
    """A topic from its beginning, in reading order, without what was already answered."""
    known = {each.id for each in entries}
    every = [*order, *sorted(known - {*order})]
    return Lineup(plan=[name for name in every if name in known and name not in cards])
