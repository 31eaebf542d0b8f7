"""The level at which a topic is asked, as the answers of one session move it."""

from collections.abc import Mapping

from quizkit.bank.entry import Entry
from quizkit.tutor.lineup import HIGHEST
from quizkit.tutor.turns import Turn

_DOWN = 2
"""So many wrong answers on end, with nothing right between, and the topic goes one level down."""
_UP = 3
"""So many right ones at its level, or above it, and the topic goes one level up."""


class Reach:
    """A topic's level: where it goes on from, and where the session's answers have brought it."""

    def __init__(self, levels: Mapping[str, int]) -> None:
        self._levels = levels
        self._answers: list[tuple[Turn, Entry, bool]] = []

    def moved(self, topic: str) -> bool:
        """Tell whether the session has brought the topic to another level."""
        return self.level(topic) != self._levels.get(topic, 1)

    def level(self, topic: str) -> int:
        """Return the topic's level now."""
        level, streak = self._levels.get(topic, 1), 0
        for _, entry, right in self._answers:
            if entry.topic != topic:
                continue
            # What is right below the level, or wrong far above it, was to be expected.
            if right and entry.level >= level:
                streak = max(streak, 0) + 1
            elif not right and entry.level <= level + 1:
                streak = min(streak, 0) - 1
            if streak in (-_DOWN, _UP):
                level = min(HIGHEST, max(1, level + (1 if streak > 0 else -1)))
                streak = 0
        return level

    def answered(self, turn: Turn, entry: Entry, right: bool) -> None:
        """Take in one more answer."""
        self._answers.append((turn, entry, right))

    def undone(self, turn: Turn) -> None:
        """Drop an answer that was taken back."""
        self._answers = [each for each in self._answers if each[0] is not turn]
