"""Tell somebody who comes back where they are, what today holds and what is next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quizkit.tutor.after_mock import Practice
from quizkit.tutor.beliefs import Belief
from quizkit.tutor.tally import Tally

Step = Literal["place", "study", "belief", "mock"]
"""The one thing to do next."""

_TRIED = 3
"""Questions that go at one belief: enough to see it gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The learner's place. `level` is None until one was found or settled.

    `days` are those to the interview, of `minutes` each; None where none is settled. `reviews` and
    `new` are today's, as `study` would ask them. `topics` say of each how many of its questions
    will be remembered tomorrow. `begun`: whether anything was ever answered. `practice` are the
    questions, counted in above, that an interview of late left to practise.
    """

    level: int | None
    days: int | None
    minutes: int
    reviews: int
    new: int
    topics: Mapping[str, Tally]
    belief: Belief | None
    begun: bool
    practice: Practice | None = None

    @property
    def step(self) -> Step:
        """The next useful thing: a level first, then today's, then what is still believed."""
        if self.level is None and not self.begun and not self.practice:
            return "place"
        if self.reviews or self.new:
            return "study"
        return "belief" if self.belief else "mock"

    @property
    def words(self) -> Sequence[str]:
        """The command of that step, after `quizkit`."""
        if self.step == "belief":
            assert self.belief
            return ("study", *(self.belief.caught or self.belief.shown)[:_TRIED])
        return (self.step,)
