"""What is asked next follows from the questions, the cards, the time and the seed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from quizkit.answer import Card
from quizkit.bank.entry import Entry, entry
from quizkit.bank.model import FollowUp, Question
from quizkit.bank.reader import Bank
from quizkit.tutor.lineup import Allowance, chosen, course, due, targets, today
from quizkit.tutor.mixing import mixed
from quizkit.tutor.queue import Queue

NOW = datetime(2026, 3, 1, 8, tzinfo=UTC)


def card(question: str, days: float) -> Card:
    """A card that is due so many days from now."""
    return Card(question, 1.0, 5.0, NOW + timedelta(days=days), NOW - timedelta(days=9), 1, 0)


def shelf(bank: Bank, *names: str) -> list[Entry]:
    """Questions of these names, of one kind, that do not know each other."""
    same = entry(bank.questions["pp/stages"])._replace(follows="", myths="")
    return [same._replace(id=name, topic=name.split("/")[0]) for name in names]


def queued(
    questions: list[Entry], cards: dict[str, Card], now: datetime, seed: int, **more: Any
) -> Queue:
    """A day's questions, queued."""
    return Queue(questions, today(questions, cards, now, seed, **more), seed)


def asked(bank: Bank, name: str, *followups: FollowUp) -> Question:
    """A question of the shelf as it was read, with what an interviewer would ask next."""
    return replace(bank.questions["pp/stages"], id=name, followups=followups, proof=None)


def drain(queue: Queue) -> list[str]:
    found: list[str] = []
    while turn := queue.next():
        found.append(turn.question)
    return found


def test_what_is_due_comes_before_what_is_new(bank: Bank):
    questions = shelf(bank, "a/new", "a/late", "a/later", "a/known")
    cards = {c.question: c for c in (card("a/late", -1), card("a/later", -5), card("a/known", 3))}
    queue = queued(questions, cards, NOW, seed=1)
    assert len(queue) == 3
    assert drain(queue) == ["a/later", "a/late", "a/new"]
    assert [q.id for q in due(questions, cards, NOW)] == ["a/later", "a/late"]


def test_topics_are_mixed(bank: Bank):
    names = [f"{topic}/{i}" for topic in ("a", "b", "c") for i in range(4)]
    late = [name for name in names if name[-1] in "01"]
    cards = {name: card(name, -30 + i) for i, name in enumerate(late)}
    for seed in range(10):
        order = [
            name.split("/")[0] for name in drain(queued(shelf(bank, *names), cards, NOW, seed))
        ]
        assert len(order) == 12
        assert all(one != other for one, other in pairwise(order))


def test_easy_ones_come_first(bank: Bank):
    questions = [
        q._replace(level=1 + i % 5)
        for i, q in enumerate(shelf(bank, *(f"a/{i}" for i in range(15))))
    ]
    levels = {q.id: q.level for q in questions}
    order = [levels[name] for name in drain(queued(questions, {}, NOW, seed=3))]
    assert order == sorted(order)


def test_the_seed_decides_and_nothing_else(bank: Bank):
    questions = shelf(bank, *(f"a/{i}" for i in range(9)))

    def run(seed: int) -> list[tuple[str, int]]:
        queue = queued(questions, {}, NOW, seed)
        turns = iter(queue.next, None)
        return [(turn.question, turn.seed) for turn in turns if turn]

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert len({seed for _, seed in run(1)}) == 9


def test_a_days_share_and_what_it_spares(bank: Bank):
    names = [f"a/{i}" for i in range(9)]
    cards = {name: card(name, -1 - i) for i, name in enumerate(names[:4])}
    questions = shelf(bank, *names)
    queue = queued(questions, cards, NOW, 1, allowance=Allowance(new=2, reviews=3))
    assert (len(queue), queue.spared) == (5, 4)
    order = drain(queue)
    assert order[:3] == ["a/3", "a/2", "a/1"]  # the longest overdue
    assert len({*order[3:]} - cards.keys()) == 2
    none = queued(questions, cards, NOW, 1, allowance=Allowance(0, 0))
    assert (none.next(), none.spared, none.ahead) == (None, 9, False)
    said = queued(questions, cards, NOW, 1, limit=7, allowance=Allowance(0, 0))
    assert (len(said), said.spared) == (7, 0)  # who says how many has said it


def test_nothing_due_and_nothing_new_is_asked_ahead(bank: Bank):
    questions = shelf(bank, "a/1", "a/2")
    cards = {c.question: c for c in (card("a/1", 5), card("a/2", 2))}
    queue = queued(questions, cards, NOW, 1)
    assert queue.ahead
    assert drain(queue) == ["a/2", "a/1"]
    assert not queued(questions, {"a/1": card("a/1", 5)}, NOW, 1).ahead


def test_a_wrong_one_comes_back_once_at_the_end(bank: Bank):
    queue = queued(shelf(bank, "a/1", "a/2", "a/3"), {}, NOW, 1, limit=2)
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
    queue = queued(shelf(bank, "a/1", "a/2"), {}, NOW, 1)
    first, second = queue.next(), queue.next()
    assert first
    assert second
    queue.wrong(first, None)
    queue.undo(first, second)
    assert queue.next() is first
    assert queue.next() is second
    assert queue.next() is None  # with its answer, its coming back was forgotten


def test_undo_while_the_repeat_is_on_the_screen(bank: Bank):
    queue = queued(shelf(bank, "a/1"), {}, NOW, 1)
    first = queue.next()
    assert first
    queue.wrong(first, None)
    repeat = queue.next()
    queue.undo(first, repeat)
    assert queue.next() is first
    assert queue.next() is None


def test_the_same_myth_comes_again_soon(bank: Bank):
    plain = shelf(bank, *(f"a/{i}" for i in range(8)))
    tricky = [
        each._replace(level=level, myths="1f1b-cuts-bubble")
        for each, level in zip(shelf(bank, "a/first", "a/second"), (1, 2), strict=True)
    ]
    queue = queued([*plain, *tricky], {}, NOW, 1)
    while (turn := queue.next()) and turn.question != "a/first":
        pass
    assert turn
    assert len(queue) > 3
    queue.wrong(turn, "1f1b-cuts-bubble")
    order = drain(queue)
    assert (order.index("a/second"), order.index("a/first")) == (2, len(order) - 1)


def test_a_myth_is_met_again_even_in_what_is_known(bank: Bank):
    known, new = (
        each._replace(myths="1f1b-cuts-bubble") for each in shelf(bank, "a/known", "a/new")
    )
    queue = queued([known, new], {"a/known": card("a/known", 9)}, NOW, 1)
    turn = queue.next()
    assert turn
    assert turn.question == new.id
    queue.wrong(turn, "1f1b-cuts-bubble")
    assert sorted(drain(queue)) == ["a/known", "a/new"]


@pytest.mark.parametrize(
    ("when", "right", "comes"),
    [("always", True, True), ("right", True, True), ("wrong", True, False), ("wrong", False, True)],
)
def test_what_an_interviewer_asks_next(bank: Bank, when: str, right: bool, comes: bool):
    questions = shelf(bank, *(f"a/{i}" for i in range(9)))
    queue = queued(questions, {}, NOW, 1)
    turn = queue.next()
    assert turn
    last = drain(queued(questions, {}, NOW, 1))[-1]
    asking = asked(bank, turn.question, FollowUp(last, when))  # pyright: ignore
    assert queue.following(asking, right) == (last if comes else None)
    queue.follow(asking, right)
    after = queue.next()
    assert after
    assert (after.question == last) is comes


def test_a_followup_keeps_to_the_limit_and_to_what_is_asked_for(bank: Bank):
    questions = shelf(bank, *(f"a/{i}" for i in range(9)))
    order = drain(queued(questions, {}, NOW, 1))
    queue = queued(questions, {}, NOW, 1, limit=3)
    first = queue.next()
    assert first
    beyond = asked(bank, first.question, FollowUp("b/elsewhere"), FollowUp(order[-1]))
    queue.follow(beyond, True)
    assert drain(queue) == [order[-1], order[1]]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"myths": "one belief"}, {"myths": "belief two"}),
        ({"follows": "b/1"}, {}),
        ({}, {"follows": "a/1"}),
    ],
)
def test_siblings_keep_apart(bank: Bank, mine: dict[str, str], theirs: dict[str, str]):
    first, sibling, other, last = shelf(bank, "a/1", "b/1", "b/2", "a/2")
    first, sibling = first._replace(**mine), sibling._replace(**theirs)
    order = mixed([first, sibling, other, last])
    assert [each.id for each in order] == ["a/1", "b/2", "a/2", "b/1"]
    assert [each.id for each in mixed([sibling, other], first)] == ["b/2", "b/1"]
    assert [each.id for each in mixed([first, sibling])] == ["a/1", "b/1"]  # nothing between them


def test_after_a_wrong_answer_comes_an_easier_one_on_the_same_run(bank: Bank):
    hard, easier, easiest, other = shelf(bank, "a/hard", "a/easier", "a/easiest", "a/other")
    ladder = [
        hard._replace(level=4, demo="pipeline"),
        easier._replace(level=3, demo="pipeline"),
        easiest._replace(level=2, demo="pipeline"),
        other._replace(level=3, demo="ring-attention"),
    ]
    question = replace(
        bank.questions["pp/trace-list"], id="a/hard", level=4, followups=()
    )  # its proof runs `pipeline`
    cards = {"a/hard": card("a/hard", -1)}
    queue = queued(ladder, cards, NOW, 1)
    turn = queue.next()
    assert turn
    assert turn.question == "a/hard"
    assert queue.following(question, True) is None
    assert queue.following(question, False) == "a/easier"
    queue.follow(question, False)
    assert drain(queue)[0] == "a/easier"
    assert queue.following(question, False) is None  # both easier ones were asked


def test_thousands_are_not_put_in_order_at_once(bank: Bank):
    names = [f"{topic}/{i}" for topic in ("a", "b", "c") for i in range(500)]
    queue = queued(shelf(bank, *names), {}, NOW, 1)
    assert len(queue) == 1500
    first = queue.next()
    assert first
    queue.wrong(first, None)
    assert len(queue) == 1500
    order = drain(queue)
    assert len({*order, first.question}) == 1500
    assert order[-1] == first.question
    assert sum(one[0] == other[0] for one, other in pairwise(order)) <= 25  # where handfuls meet


def test_new_questions_begin_at_the_level_and_go_up_as_answers_hold(bank: Bank):
    questions = [
        each._replace(level=1 + i // 5)
        for i, each in enumerate(shelf(bank, *(f"a/{i}" for i in range(25))))
    ]
    order = drain(queued(questions, {}, NOW, 1, start=3))
    levels = {each.id: each.level for each in questions}
    assert {levels[name] for name in order[:5]} == {3}
    assert {levels[name] for name in order[5:15]} == {2, 4}
    held = {each.id: card(each.id, 5) for each in questions if each.level == 3}
    assert targets(questions, held, 3) == {"a": 3}  # a day is not yet held
    held = {name: replace(each, stability=3.0) for name, each in held.items()}
    assert targets(questions, held, 3) == {"a": 4}
    assert targets(questions, dict([*held.items()][:3]), 3) == {"a": 3}
    order = drain(queued(questions, held, NOW, 1, start=3))
    assert {levels[name] for name in order[:5]} == {4}
    assert (
        targets(questions, {e.id: replace(card(e.id, 1), stability=9.0) for e in questions}, 1)["a"]
        == 5
    )


def test_a_course_goes_in_reading_order_and_nowhere_else(bank: Bank):
    questions = [each._replace(myths="belief") for each in shelf(bank, "a/1", "a/2", "a/3", "a/4")]
    order = ["a/3", "a/1", "a/gone", "a/2"]
    lineup = course(questions, order, {"a/1": card("a/1", 3)})
    assert lineup.plan == ["a/3", "a/2", "a/4"]
    queue = Queue(questions, lineup, 1, strict=True)
    first = queue.next()
    assert first
    queue.wrong(first, "belief")
    leading = asked(bank, "a/3", FollowUp("a/4"))
    assert queue.following(leading, True) is None
    queue.follow(leading, True)
    assert drain(queue) == ["a/2", "a/4", "a/3"]


def test_only_what_was_asked_for(bank: Bank):
    questions = [entry(question) for question in bank.questions.values()]
    assert {q.level for q in chosen(questions, levels=(3, 4))} == {3, 4}
    assert {q.kind for q in chosen(questions, kinds=["order", "bug"])} == {"order", "bug"}
    assert len(chosen(questions)) == len(bank.questions)
