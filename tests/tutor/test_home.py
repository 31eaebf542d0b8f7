"""The next useful thing, by where the learner is."""

from dataclasses import replace
from datetime import UTC, datetime

from quizkit.tutor.beliefs import Belief
from quizkit.tutor.home import Home

NEWCOMER = Home(
    level=None, days=None, minutes=30, reviews=0, new=20, topics={}, belief=None, begun=False
)
HELD = Belief("a-myth", 2, datetime(2026, 1, 1, tzinfo=UTC), ("a/x",), ("a/1", "a/2", "a/3", "a/4"))


def test_a_newcomer_finds_a_level_and_nobody_else_has_to():
    assert NEWCOMER.words == ("place",)
    assert replace(NEWCOMER, level=1).words == ("study",)
    assert replace(NEWCOMER, begun=True).words == ("study",)


def test_today_comes_before_a_belief_and_a_belief_before_the_interview():
    done = replace(NEWCOMER, level=2, begun=True, new=0, belief=HELD)
    assert replace(done, reviews=1).words == ("study",)
    assert done.words == ("study", "a/1", "a/2", "a/3")
    assert replace(done, belief=replace(HELD, caught=())).words == ("study", "a/x")
    assert replace(done, belief=None).words == ("mock",)
