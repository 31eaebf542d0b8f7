"""The placement: quick questions that settle at the learner's level, whatever luck does."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from quizkit.bank.entry import Entry, entry
from quizkit.bank.model import Question
from quizkit.bank.reader import Bank
from quizkit.tutor.placement import ENOUGH, LENGTH, LIKELY, MINUTES, Placement

NOW = datetime(2026, 3, 1, 8, tzinfo=UTC)
TOPICS = ("comm", "dp", "tp", "pp")


@pytest.fixture
def question(bank: Bank) -> Question:
    return bank.questions["pp/stages"]


@pytest.fixture
def shelf(question: Question) -> list[Entry]:
    """Three questions of each topic and level."""
    same = entry(question)
    return [
        same._replace(id=f"{topic}/{level}-{i}", topic=topic, level=level)
        for topic in TOPICS
        for level in range(1, 6)
        for i in range(3)
    ]


def taken(
    shelf: list[Entry], question: Question, knows: Callable[[Entry], bool], seed: int = 1
) -> tuple[Placement, list[Entry]]:
    """A placement taken by somebody who knows some of the questions."""
    placement, known = Placement(shelf, seed, lambda: NOW), {each.id: each for each in shelf}
    met: list[Entry] = []
    while turn := placement.next():
        met.append(known[turn.question])
        placement.follow(replace(question, id=turn.question), knows(met[-1]))
    return placement, met


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_who_knows_all_up_to_a_level_is_placed_there(
    shelf: list[Entry], question: Question, level: int
):
    for seed in range(10):
        placement, met = taken(shelf, question, lambda each: each.level <= level, seed)
        assert placement.level in (level, min(5, level + 1))
        assert len(met) == LENGTH
        assert len({each.id for each in met}) == LENGTH


def test_a_guess_now_and_then_moves_little(shelf: list[Entry], question: Question):
    for seed in range(20):
        lucky = {each.id for each in shelf if Random(f"{seed}{each.id}").random() < 0.25}
        placement, _ = taken(
            shelf, question, lambda each, by=lucky: each.level <= 3 or each.id in by, seed
        )
        assert placement.level in (3, 4, 5)


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4, 5])
def test_guessing_leads_nowhere_and_a_slip_does_little_harm(
    shelf: list[Entry], question: Question, level: int
):
    found: list[int] = []
    for seed in range(100):
        draw = Random(f"{level}:{seed}")  # who does not know picks one of four
        placement, _ = taken(
            shelf,
            question,
            lambda each, by=draw: by.random() < (0.9 if each.level <= level else 0.25),
            seed,
        )
        assert placement.level
        found.append(placement.level)
    if level == 0:
        assert found.count(1) >= 95
    else:
        assert found.count(level) >= 80
    assert sum(abs(each - max(1, level)) <= 1 for each in found) >= 95


def test_one_right_answer_is_not_a_level(shelf: list[Entry], question: Question):
    placement = Placement(shelf, 1, lambda: NOW)
    levels: list[int | None] = []
    for _ in range(3):
        turn = placement.next()
        assert turn
        placement.follow(replace(question, id=turn.question), True)
        levels.append(placement.level)
    assert levels[0] == 1
    assert levels[1] in (2, 3)
    assert levels == sorted(levels, key=lambda each: each or 0)


def test_topics_take_turns_and_the_level_follows(shelf: list[Entry], question: Question):
    _, met = taken(shelf, question, lambda _: True)
    assert [each.level for each in met] == [2, 3, 4, *[5] * 9]
    for start in range(0, LENGTH, len(TOPICS)):
        assert {each.topic for each in met[start : start + len(TOPICS)]} == {*TOPICS}
    _, met = taken(shelf, question, lambda _: False)
    assert [each.level for each in met] == [2, *[1] * 11]


def test_only_quick_kinds_and_as_many_as_there_are(shelf: list[Entry], question: Question):
    few = [*shelf[:2], shelf[2]._replace(kind="essay")]
    placement, met = taken(few, question, lambda _: True)
    assert sorted(each.id for each in met) == sorted(each.id for each in few[:2])
    assert placement.level == 1  # who was asked nothing else has shown nothing else
    nobody = Placement([], 1, lambda: NOW)
    assert (nobody.next(), nobody.level, len(nobody)) == (None, None, 0)


def test_a_level_that_too_few_questions_ask_for_is_left_open(
    shelf: list[Entry], question: Question
):
    hardest = [each for each in shelf if each.level == 5]
    short = [each for each in shelf if each not in hardest[1:]]
    for questions, knows, found in (
        (short, 5, (4, True)),
        (short, 3, (3, False)),
        (shelf, 5, (5, False)),
        (shelf, 4, (4, False)),
        ([each for each in shelf if each.level == 1], 0, (1, False)),
    ):
        placement, _ = taken(questions, question, lambda each, up=knows: each.level <= up)
        result = placement.result
        assert result
        assert (placement.level, result.open_above) == found


def test_the_result_says_what_held_and_how_likely_the_next_level_is(
    shelf: list[Entry], question: Question
):
    # Right at levels 3 to 5 where it could be luck, wrong where it should not happen.
    placement, met = taken(shelf, question, lambda each: each.level != 2)
    result = placement.result
    assert result
    assert result.level == placement.level
    assert sum(count for _, count, _ in result.rows) == len(met)
    for level, count, right in result.rows:
        assert count == sum(each.level == level for each in met)
        assert right == (0 if level == 2 else count)
    if result.level < 5 and not result.open_above:
        assert result.chance < LIKELY or result.rights < ENOUGH
    nobody, _ = taken(shelf, question, lambda _: False)
    assert nobody.result
    assert (nobody.result.level, nobody.result.held) == (1, False)
    assert Placement(shelf, 1, lambda: NOW).result is None


def test_ten_minutes_are_enough(shelf: list[Entry], question: Question):
    now = [NOW]
    placement = Placement(shelf, 1, lambda: now[0])
    for _ in range(3):
        turn = placement.next()
        assert turn
        placement.follow(replace(question, id=turn.question), True)
    now[0] += timedelta(minutes=MINUTES)
    assert placement.next() is None
    assert placement.level == 3


def test_an_undone_answer_does_not_count(shelf: list[Entry], question: Question):
    placement = Placement(shelf, 1, lambda: NOW)
    first = placement.next()
    assert first
    placement.follow(replace(question, id=first.question), False)
    second = placement.next()
    assert second
    placement.undo(first, second)
    assert placement.level is None
    assert placement.next() is first
    placement.follow(replace(question, id=first.question), True)
    assert placement.next() is second
    placement.follow(replace(question, id=second.question), True)
    third = placement.next()
    assert third
    placement.follow(replace(question, id=third.question), True)
    assert placement.level == 2  # 1 if the first were still wrong
    fourth = placement.next()  # answered, and taken back before it was gone on from
    assert fourth
    placement.undo(fourth)
    assert placement.level == 2
