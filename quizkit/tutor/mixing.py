"""In which order a handful of questions is put: topics take turns, siblings keep apart."""

from collections import Counter
from collections.abc import Sequence

from quizkit.bank.entry import Entry


def siblings(one: Entry, other: Entry) -> bool:
    """Whether one gives the other away: they catch the same misconception, or one follows it."""
    if other.id in one.follows.split() or one.id in other.follows.split():
        return True
    return bool({*one.myths.split()} & {*other.myths.split()})


def mixed(entries: Sequence[Entry], before: Entry | None = None) -> list[Entry]:
    """The same order as far as neither topic nor sibling follows itself where another is left."""
    left, order = [*entries], list[Entry]()
    counts = Counter(each.topic for each in left)
    while left:
        most = max(counts, key=lambda topic: counts[topic])
        last = before.topic if before else None
        # More than half of the rest: later this topic could not be kept apart any more.
        crowded = 2 * counts[most] > len(left) and most != last
        fits = [i for i, e in enumerate(left) if (e.topic == most if crowded else e.topic != last)]
        apart = (i for i in fits if not (before and siblings(before, left[i])))
        before = left.pop(next(apart, fits[0] if fits else 0))
        order.append(before)
        counts[before.topic] -= 1
    return order
