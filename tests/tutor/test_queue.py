"""What is asked next follows from the questions, the cards, the time and the seed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from quizkit.answer import Card
from quizkit.bank.model import FollowUp, Question
from quizkit.bank.reader import Bank
from quizkit.tutor.queue import Queue, chosen, due, myths

NOW = datetime(2026, 3, 1, 8, tzinfo=UTC)


def card(question: str, days: float) -> Card:
    """A card that is due so many days from now."""
    return Card(question, 1.0, 5.0, NOW + timedelta(days=days), NOW - timedelta(days=9), 1, 0)


def shelf(bank: Bank, *names: str) -> list[Question]:
    """Questions of these names, all of one kind."""
    return [replace(bank.questions["pp/stages"], id=name, followups=()) for name in names]


def drain(queue: Queue) -> list[str]:
    found: list[str] = []
    while turn := queue.next():
        found.append(turn.question.id)
    return found


def test_what_is_due_comes_before_what_is_new(bank: Bank):
    questions = shelf(bank, "a/new", "a/late", "a/later", "a/known")
    cards = {c.question: c for c in (card("a/late", -1), card("a/later", -5), card("a/known", 3))}
    queue = Queue(questions, cards, NOW, seed=1)
    assert len(queue) == 3
    assert drain(queue) == ["a/later", "a/late", "a/new"]
    assert [q.id for q in due(questions, cards, NOW)] == ["a/later", "a/late"]


def test_topics_are_mixed(bank: Bank):
    names = [f"{topic}/{i}" for topic in ("a", "b", "c") for i in range(4)]
    late = [name for name in names if name[-1] in "01"]
    cards = {name: card(name, -30 + i) for i, name in enumerate(late)}
    for seed in range(10):
        order = [name.split("/")[0] for name in drain(Queue(shelf(bank, *names), cards, NOW, seed))]
        assert len(order) == 12
        assert all(one != other for one, other in pairwise(order))


def test_easy_ones_come_first(bank: Bank):
    questions = [
        replace(q, level=1 + i % 5)
        for i, q in enumerate(shelf(bank, *(f"a/{i}" for i in range(15))))
    ]
    levels = {q.id: q.level for q in questions}
    order = [levels[name] for name in drain(Queue(questions, {}, NOW, seed=3))]
    assert order == sorted(order)


def test_the_seed_decides_and_nothing_else(bank: Bank):
    questions = shelf(bank, *(f"a/{i}" for i in range(9)))

    def run(seed: int) -> list[tuple[str, int]]:
        queue = Queue(questions, {}, NOW, seed)
        turns = iter(queue.next, None)
        return [(turn.question.id, turn.seed) for turn in turns if turn]

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert len({seed for _, seed in run(1)}) == 9


def test_nothing_due_and_nothing_new_is_asked_ahead(bank: Bank):
    questions = shelf(bank, "a/1", "a/2")
    cards = {c.question: c for c in (card("a/1", 5), card("a/2", 2))}
    queue = Queue(questions, cards, NOW, 1)
    assert queue.ahead
    assert drain(queue) == ["a/2", "a/1"]
    assert not Queue(questions, {"a/1": card("a/1", 5)}, NOW, 1).ahead


def test_a_wrong_one_comes_back_once_at_the_end(bank: Bank):
    queue = Queue(shelf(bank, "a/1", "a/2", "a/3"), {}, NOW, 1, limit=2)
    first = queue.next()
    assert first
    assert queue.repeats(first)
    queue.wrong(first, None)
    second = queue.next()
    assert second
    again = queue.next()
    assert again
    assert again.question == first.question
    assert (first.repeat, second.repeat, again.repeat) == (False, False, True)
    assert again.seed != first.seed
    assert not queue.repeats(again)
    queue.wrong(again, None)
    assert queue.next() is None


def test_undo_asks_again_just_as_it_was(bank: Bank):
    queue = Queue(shelf(bank, "a/1", "a/2"), {}, NOW, 1)
    first, second = queue.next(), queue.next()
    assert first
    assert second
    queue.wrong(first, None)
    queue.undo(first, second)
    assert queue.next() is first
    assert queue.next() is second
    assert queue.next() is None  # with its answer, its coming back was forgotten


def test_undo_while_the_repeat_is_on_the_screen(bank: Bank):
    queue = Queue(shelf(bank, "a/1"), {}, NOW, 1)
    first = queue.next()
    assert first
    queue.wrong(first, None)
    repeat = queue.next()
    queue.undo(first, repeat)
    assert queue.next() is first
    assert queue.next() is None


def test_the_same_myth_comes_again_soon(bank: Bank):
    plain = [replace(q, options=q.options[:1]) for q in shelf(bank, *(f"a/{i}" for i in range(8)))]  # pyright: ignore
    tricky = shelf(bank, "a/first", "a/second")
    tricky = [replace(tricky[0], level=1), replace(tricky[1], level=5)]
    assert myths(tricky[0]) == {"1f1b-cuts-bubble"}
    queue = Queue([*plain, *tricky], {}, NOW, 1)
    while (turn := queue.next()) and turn.question.id != "a/first":
        pass
    assert turn
    assert len(queue) > 3
    queue.wrong(turn, "1f1b-cuts-bubble")
    order = drain(queue)
    assert (order.index("a/second"), order.index("a/first")) == (2, len(order) - 1)


def test_a_myth_is_met_again_even_in_what_is_known(bank: Bank):
    known, new = shelf(bank, "a/known", "a/new")
    queue = Queue([known, new], {"a/known": card("a/known", 9)}, NOW, 1)
    turn = queue.next()
    assert turn
    assert turn.question is new
    queue.wrong(turn, "1f1b-cuts-bubble")
    assert sorted(drain(queue)) == ["a/known", "a/new"]


@pytest.mark.parametrize(
    ("when", "right", "comes"),
    [("always", True, True), ("right", True, True), ("wrong", True, False), ("wrong", False, True)],
)
def test_what_an_interviewer_asks_next(bank: Bank, when: str, right: bool, comes: bool):
    questions = shelf(bank, *(f"a/{i}" for i in range(9)))
    queue = Queue(questions, {}, NOW, 1)
    turn = queue.next()
    assert turn
    last = drain(Queue(questions, {}, NOW, 1))[-1]
    asking = replace(turn.question, followups=(FollowUp(last, when),))  # pyright: ignore
    found = queue.following(asking, right)
    assert (found.id if found else None) == (last if comes else None)
    queue.follow(asking, right)
    after = queue.next()
    assert after
    assert (after.question.id == last) is comes


def test_a_followup_keeps_to_the_limit_and_to_what_is_asked_for(bank: Bank):
    questions = shelf(bank, *(f"a/{i}" for i in range(9)))
    order = drain(Queue(questions, {}, NOW, 1))
    queue = Queue(questions, {}, NOW, 1, limit=3)
    first = queue.next()
    assert first
    beyond = replace(first.question, followups=(FollowUp("b/elsewhere"), FollowUp(order[-1])))
    queue.follow(beyond, True)
    assert drain(queue) == [order[-1], order[1]]


def test_only_what_was_asked_for(bank: Bank):
    questions = bank.questions.values()
    assert {q.topic for q in chosen(questions, topics=["comm"])} == {"comm"}
    assert {q.level for q in chosen(questions, levels=(3, 4))} == {3, 4}
    assert {q.kind for q in chosen(questions, kinds=["order", "bug"])} == {"order", "bug"}
    assert len(chosen(questions)) == len(bank.questions)
