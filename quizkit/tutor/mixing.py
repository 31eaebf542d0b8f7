"""Put a handful of questions in order: topics take turns, siblings keep apart."""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from quizkit.bank.entry import Entry

_STEP = 1
"""Where levels rise, nothing comes forward that is further than this above what is next."""


def siblings(one: Entry, other: Entry) -> bool:
    """Tell whether one gives the other away: both catch one misconception, or one follows it."""
    if other.id in one.follows.split() or one.id in other.follows.split():
        return True
    return bool({*one.myths.split()} & {*other.myths.split()})


def is_essay(entry: Entry) -> bool:
    """Tell whether it takes minutes to write: two of them on end tire."""
    return entry.kind == "essay"


def mixed(
    entries: Sequence[Entry], before: Entry | None = None, *, rising: bool = False
) -> list[Entry]:
    """Keep the order, except that nothing follows its like where another is left.

    Its like is an essay, a sibling, a question of the same topic. With `rising` the order is one
    in which levels rise, and a topic rather follows itself than that the level jumps.
    """
    left, order = [*entries], list[Entry]()
    while left:
        near = _steady(left) if rising else left
        before = _fitting(_paced(near, left, before), before)
        left.remove(before)
        order.append(before)
    return order


def _steady(left: Sequence[Entry]) -> list[Entry]:
    """Return what comes before the level drops or jumps."""
    steps = range(left[0].level, left[0].level + _STEP + 1)
    return [*takewhile(lambda each: each.level in steps, left)]


def _paced(near: Sequence[Entry], left: Sequence[Entry], before: Entry | None) -> Sequence[Entry]:
    """Return what may come as far as essays go: of `near` or, if need be, of all that is left."""
    quick = [each for each in left if not is_essay(each)]
    if before and is_essay(before):
        return [each for each in near if not is_essay(each)] or quick or near
    essays = [each for each in left if is_essay(each)]
    # More than half of the rest: later they could not be kept apart any more.
    return essays if 2 * len(essays) > len(left) else near


def _fitting(near: Sequence[Entry], before: Entry | None) -> Entry:
    """The first of another topic that is no sibling, as far as there is one."""
    counts = Counter(each.topic for each in near)
    most = max(counts, key=lambda topic: counts[topic])
    last = before.topic if before else None
    crowded = 2 * counts[most] > len(near) and most != last
    fits = [e for e in near if (e.topic == most if crowded else e.topic != last)]
    apart = (each for each in fits if not (before and siblings(before, each)))
    return next(apart, fits[0] if fits else near[0])
