"""Choose a session's questions and their order: a day's, or a topic's from its beginning.

Everything follows from the index's lines, the cards, the time and the seed.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b

from quizkit.answer import Card
from quizkit.bank.entry import Entry
from quizkit.tutor.memory import LEECH
from quizkit.tutor.mixing import is_essay, mixed
from quizkit.tutor.verdict import Note

HANDFUL = 60
"""So many are put in order at a time: nobody waits for the order of thousands."""

HELD = 2.0
"""Days: what will be remembered as long as this was answered well."""

HELD_ENOUGH = 4
"""Held answers at a level, or above it, after which a topic goes one level up."""

HIGHEST = 5

_LEECHES = 2
"""So many questions of a session at most are ones that will not stay."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The number of questions that may still be asked today, of what is new and of what is due."""

    new: int
    reviews: int

    def less(self, names: Collection[str], cards: Mapping[str, Card]) -> "Allowance":
        """Return what is left of it once these questions are asked, whatever it says of them."""
        known = sum(name in cards for name in names)
        return Allowance(max(0, self.new - len(names) + known), max(0, self.reviews - known))


@dataclass(frozen=True, slots=True)
class Lineup:
    """Questions to ask: `plan` is in order, `later` follows, mixed as it comes near.

    `waiting` may come in place of what is planned. `ahead`: nothing is due and nothing is new, so
    this is asked before its time. `spared` is how many a day's limit left for another day.
    `cards` are what it was made from, `levels` where each topic goes on, if that was looked at.
    `first` are those of the plan that keep their place at its front, because of `why`.
    """

    plan: Sequence[str] = ()
    later: Sequence[Sequence[Entry]] = ()
    waiting: Collection[str] = field(default_factory=frozenset[str])
    ahead: bool = False
    spared: int = 0
    cards: Mapping[str, Card] = field(default_factory=dict[str, Card])
    levels: Mapping[str, int] = field(default_factory=dict[str, int])
    first: Sequence[str] = ()
    why: Note | None = None


def is_leech(name: str, cards: Mapping[str, Card]) -> bool:
    """Tell whether it was forgotten so often that asking it again is no help."""
    return name in cards and cards[name].lapses >= LEECH


def was_right(name: str, cards: Mapping[str, Card]) -> bool:
    """Tell whether it was ever answered right."""
    return name in cards and cards[name].reps > cards[name].lapses


def chosen(
    entries: Iterable[Entry], levels: tuple[int, int] = (1, HIGHEST), kinds: Collection[str] = ()
) -> list[Entry]:
    """Return the questions of these levels and kinds; without kinds, of all."""
    low, high = levels
    return [
        each for each in entries if low <= each.level <= high and (not kinds or each.kind in kinds)
    ]


def core(entries: Sequence[Entry], met: Collection[str]) -> list[Entry]:
    """Return, of topics with core questions, only those, and whatever was met before."""
    chosen = {each.topic for each in entries if each.core}
    return [each for each in entries if each.core or each.id in met or each.topic not in chosen]


def due(entries: Iterable[Entry], cards: Mapping[str, Card], now: datetime) -> list[Entry]:
    """List what is due, the longest overdue first."""
    late = [each for each in entries if each.id in cards and cards[each.id].due <= now]
    return sorted(late, key=lambda each: (cards[each.id].due, each.id))


def shuffled(seed: int, name: str) -> bytes:
    """Return a key that sorts questions into the seed's own order."""
    return blake2b(f"{seed}:{name}".encode(), digest_size=4).digest()


def targets(entries: Iterable[Entry], cards: Mapping[str, Card], start: int) -> dict[str, int]:
    """Return each topic's level to go on at: where the learner started, and up as answers hold."""
    held: dict[str, Counter[int]] = {}
    for each in entries:
        levels = held.setdefault(each.topic, Counter())
        if each.id in cards and cards[each.id].stability >= HELD:
            levels[each.level] += 1
    found: dict[str, int] = {}
    for topic, levels in held.items():
        level = start
        while level < HIGHEST and sum(levels[n] for n in range(level, HIGHEST + 1)) >= HELD_ENOUGH:
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
    """Line up what is due before what is new, topics mixed, at each topic's level.

    What will not stay comes after all else that is due, and only a little of it.
    `limit` is how many; without it an `allowance` may say how many of which are left for today.
    Where nothing is due and nothing is new, what is due soonest is asked ahead of its time.
    """
    late = due(entries, cards, now)
    level = targets(entries, cards, start)
    unseen = [each for each in entries if each.id not in cards]
    off = _off(unseen, level, seed)

    def order(each: Entry) -> tuple[int, int, bytes]:
        distance, turn = off[each.id]
        return distance, each.level, turn

    new = sorted(unseen, key=lambda each: off[each.id])
    ahead, spared = not late and not new, 0
    if ahead:
        late = sorted(entries, key=lambda each: (cards[each.id].due, each.id))
    stuck = [each for each in late if is_leech(each.id, cards)][:_LEECHES]
    late = [each for each in late if not is_leech(each.id, cards)]
    if limit is not None:
        plan = mixed(late[: max(limit, HANDFUL)])[:limit]
        plan += stuck[: limit - len(plan)]
        new_ones = mixed(new[: max(limit, HANDFUL)])[: limit - len(plan)]
        new_ones.sort(key=order)
        plan += mixed(new_ones, plan[-1] if plan else None, rising=True)
        names = [each.id for each in plan]
        rest = {each.id for each in (*late, *new)} - {*names}
        return Lineup(plan=names, waiting=rest, ahead=ahead, cards=cards, levels=level)
    if allowance and not ahead:
        spared = len(late) + len(stuck) + len(new)
        late = late[: allowance.reviews]
        stuck, new = stuck[: allowance.reviews - len(late)], new[: allowance.new]
        spared -= len(late) + len(stuck) + len(new)
    return Lineup(
        later=(late, stuck, sorted(new, key=order)),
        ahead=ahead,
        spared=spared,
        cards=cards,
        levels=level,
    )


def _off(new: Sequence[Entry], level: Mapping[str, int], seed: int) -> dict[str, tuple[int, bytes]]:
    """Map each to its distance from its topic's level; of equals, the seed's order.

    At the highest level there is hardly anything but essays, and a day of essays is no day: each
    further one of a topic counts as one more off.
    """
    far = {e.id: (abs(e.level - level[e.topic]), shuffled(seed, e.id)) for e in new}
    essays = Counter[str]()
    for each in sorted(filter(is_essay, new), key=lambda each: far[each.id]):
        distance, turn = far[each.id]
        far[each.id] = distance + essays[each.topic], turn
        essays[each.topic] += 1
    return far


def course(entries: Iterable[Entry], order: Sequence[str], cards: Mapping[str, Card]) -> Lineup:
    """Line up a topic from its beginning, in reading order, without what was already answered."""
    known = {each.id for each in entries}
    every = [*order, *sorted(known - {*order})]
    return Lineup(plan=[name for name in every if name in known and name not in cards])
