"""Find questions a step down from one: easier, of its topic, and about the same thing."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property

from quizkit.bank.entry import Entry


class Ladder:
    """The easier relatives of each question, looked for once the first is wanted."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = entries

    def below(self, entry: Entry) -> list[Entry]:
        """List easier questions that share the run, a myth or a tag; the nearest first."""
        found = [
            (
                not self._close(entry, each),
                entry.level - each.level,
                -self._shared(entry, each),
                each,
            )
            for each in self._topics[entry.topic]
            if each.level < entry.level
        ]
        return [each for far, _, shared, each in sorted(found) if shared or not far]

    @cached_property
    def _topics(self) -> dict[str, list[Entry]]:
        topics: dict[str, list[Entry]] = defaultdict(list)
        for each in self._entries:
            topics[each.topic].append(each)
        return topics

    @cached_property
    def _tagged(self) -> Counter[str]:
        return Counter(tag for each in self._entries for tag in each.tags.split())

    def _close(self, one: Entry, other: Entry) -> bool:
        same_run = bool(one.demo) and one.demo == other.demo
        return same_run or bool({*one.myths.split()} & {*other.myths.split()})

    def _shared(self, one: Entry, other: Entry) -> float:
        """Weigh the tags in common: the fewer questions have a tag, the more it says."""
        tags = {*one.tags.split()} & {*other.tags.split()}
        return sum(1 / self._tagged[tag] for tag in tags)
