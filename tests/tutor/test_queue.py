"""What is asked next follows from the questions, the cards, the time and the seed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from quizkit.answer import Card
from quizkit.bank.entry import Entry, entry
from quizkit.bank.model import FollowUp, Question
from quizkit.bank.reader import Bank
from quizkit.tutor.lineup import Allowance, Lineup, chosen, core, course, due, targets, today
from quizkit.tutor.memory import LEECH
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


BELIEF = "1f1b-cuts-bubble"


def stepped(entries: list[Entry], *levels: int) -> list[Entry]:
    """The same at these levels."""
    return [each._replace(level=level) for each, level in zip(entries, levels, strict=True)]


def test_a_myth_waits_until_its_level_is_reached(bank: Bank):
    plain = shelf(bank, *(f"a/{i}" for i in range(8)))
    tricky = [e._replace(myths=BELIEF) for e in shelf(bank, "a/first", "b/second")]

    def after(level: int, other: int, **more: Any) -> list[str]:
        questions = [*plain, *stepped(tricky, level, other)]
        lineup = Lineup(plan=["a/first", *(f"a/{i}" for i in range(5))], **more)
        queue = Queue(questions, lineup, 1)
        turn = queue.next()
        assert turn
        queue.wrong(turn, BELIEF)
        return drain(queue)

    assert "b/second" not in after(1, 5)
    assert "b/second" not in after(1, 3)
    assert after(1, 2)[2] == "b/second"
    assert after(4, 5)[2] == "b/second"  # one more than what went wrong
    assert after(1, 5, levels={"b": 4})[2] == "b/second"  # one more than what was reached


def test_a_wrong_answer_leads_one_step_down(bank: Bank):
    names = ("a/asked", "a/named", "a/same", "a/harder", "a/run", "a/tagged", "a/other", "b/run")
    asking, named, same, harder, run, tagged, other, away = stepped(
        shelf(bank, *names), 3, 2, 3, 4, 1, 2, 2, 2
    )
    asking = asking._replace(demo="ring", tags="bytes all")
    run, away = run._replace(demo="ring"), away._replace(demo="ring")
    tagged, other = tagged._replace(tags="bytes"), other._replace(tags="else")
    every = [asking, named, same, harder, run, tagged, other, away]
    question = asked(
        bank, "a/asked", FollowUp("a/harder"), FollowUp("a/same"), FollowUp("a/named", "wrong")
    )

    def down(*without: Entry, cards: dict[str, Card] | None = None) -> str | None:
        left = [each for each in every if each not in without]
        return Queue(left, today(left, cards or {}, NOW, 1), 1).following(question, False)

    assert down() == "a/named"
    assert down(named) == "a/run"
    assert down(named, run) == "a/tagged"
    assert down(named, run, tagged) == "a/same"
    assert down(named, run, tagged, same) is None  # nothing harder, nothing about something else
    right = replace(card("a/run", 5), reps=1, lapses=0)
    assert down(named, cards={"a/run": right}) == "a/tagged"
    assert down(named, cards={"a/run": replace(right, lapses=1)}) == "a/run"
    assert down(named, tagged, cards={"a/run": right}) == "a/run"  # sooner than nothing easier


def test_what_is_announced_comes(bank: Bank):
    """A step down is told with the verdict; a myth and the limit must not take its place."""
    names = ["a/asked", "a/easy", "a/belief", *(f"b/{i}" for i in range(4))]
    every = stepped(shelf(bank, *names), 2, 1, 2, 2, 2, 2, 2)
    every[0] = every[0]._replace(demo="ring", myths=BELIEF)
    every[1] = every[1]._replace(demo="ring")
    every[2] = every[2]._replace(myths=BELIEF)
    for planned in (["a/asked"], ["a/asked", "b/0"], ["a/asked", "b/0", "b/1"]):
        queue = Queue(every, Lineup(plan=planned), 1)
        turn = queue.next()
        assert turn
        question = asked(bank, "a/asked")
        told = queue.following(question, False)
        queue.wrong(turn, BELIEF)
        queue.follow(question, False)
        order = drain(queue)
        assert told == (None if len(planned) == 1 else "a/easy")
        assert order[0] == (told or "a/asked")
        assert len(order) == len(planned)  # with what was wrong, once more


def test_new_ones_of_a_day_make_room_for_a_new_one(bank: Bank):
    every = stepped(shelf(bank, *(f"a/{i}" for i in range(9))), *[2] * 8, 1)
    every = [each._replace(demo="ring") for each in every]
    cards = {"a/0": card("a/0", -1)}
    for new, comes in ((3, True), (0, False)):
        lineup = today(every, cards, NOW, 1, allowance=Allowance(new, 9), start=2)
        queue = Queue(every, lineup, 1)
        assert queue.next()
        question = asked(bank, "a/0")
        assert queue.following(question, False) == ("a/8" if comes else None)
        queue.follow(question, False)
        assert len(drain(queue)) == new


def test_the_level_comes_down_and_goes_up_with_the_answers(bank: Bank):
    every = [
        each._replace(level=1 + i // 8, myths="")
        for i, each in enumerate(shelf(bank, *(f"a/{i}" for i in range(40))))
    ]
    levels = {each.id: each.level for each in every}

    def met(answers: str, start: int) -> list[int]:
        lineup = today(every, {}, NOW, 1, allowance=Allowance(8, 9), start=start)
        queue, found = Queue(every, lineup, 1), list[int]()
        for answer in answers:
            turn = queue.next()
            assert turn
            found.append(levels[turn.question])
            if answer == "-":
                queue.wrong(turn, None)
            queue.follow(asked(bank, turn.question), answer == "+")
        return found

    assert met("--------", 3) == [3, 3, 2, 2, 1, 1, 1, 1]
    assert met("++++++++", 3) == [3, 3, 3, 4, 4, 4, 5, 5]
    assert met("-+-+-+-+", 3) == [3] * 8
    assert met("-----", 1) == [1] * 5


def test_what_is_too_hard_waits_for_what_came_back(bank: Bank):
    every = stepped(shelf(bank, "a/1", "a/2", "a/3", "a/4"), 1, 1, 3, 4)
    queue = queued(every, {}, NOW, 1)
    found: list[str] = []
    while turn := queue.next():
        found.append(turn.question)
        queue.wrong(turn, None)
        queue.follow(asked(bank, turn.question), False)
    assert sorted(found[:4]) == ["a/1", "a/1", "a/2", "a/2"]
    assert [*dict.fromkeys(found[4:])] == ["a/3", "a/4"]


def test_an_undone_answer_moves_no_level(bank: Bank):
    every = [
        each._replace(level=1 + i // 4)
        for i, each in enumerate(shelf(bank, *(f"a/{i}" for i in range(12))))
    ]
    levels = {each.id: each.level for each in every}
    queue = Queue(every, today(every, {}, NOW, 1, start=3), 1)
    turns = [queue.next(), queue.next()]
    for turn in turns:
        assert turn
        queue.follow(asked(bank, turn.question), False)
    third = queue.next()
    assert third
    assert turns[1]
    assert levels[third.question] == 2
    queue.undo(turns[1], third)
    assert queue.next() is turns[1]
    assert queue.next() is third
    fourth = queue.next()
    assert fourth
    assert levels[fourth.question] == 3


def test_new_ones_rise_gently_and_essays_keep_apart(bank: Bank):
    easy = shelf(bank, *(f"{topic}/{i}" for topic in "abc" for i in range(4)))
    hard = [
        each._replace(level=level, kind="essay" if level == 5 else "choice")
        for each, level in zip(
            shelf(bank, *(f"d/{i}" for i in range(12))), [5] * 6 + [4] * 6, strict=True
        )
    ]
    every = {each.id: each for each in (*easy, *hard)}
    held = {
        each.id: replace(card(each.id, 5), stability=9.0)
        for each in shelf(bank, *(f"d/held-{i}" for i in range(4)))
    }
    done = [each._replace(level=4) for each in shelf(bank, *held)]
    for seed in range(10):
        lineup = today([*every.values(), *done], held, NOW, seed, limit=12)
        order = [every[name] for name in drain(Queue([*every.values(), *done], lineup, seed))]
        assert len(order) == 12
        steps = [other.level - one.level for one, other in pairwise(order)]
        assert sum(abs(step) > 1 for step in steps) <= 1, seed
        essays = [each.kind == "essay" for each in order]
        assert sum(essays) <= 2
        lineup = today(hard, {}, NOW, seed, allowance=Allowance(8, 9), start=5)
        essays = [every[name].kind == "essay" for name in drain(Queue(hard, lineup, seed))]
        assert True in essays
        assert (True, True) not in pairwise(essays), seed


def test_no_essay_follows_an_essay_while_there_is_something_else(bank: Bank):
    essays = [each._replace(kind="essay") for each in shelf(bank, "a/1", "a/2", "a/3")]
    quick = shelf(bank, "a/4", "a/5")
    order = [each.kind for each in mixed([*essays, *quick])]
    assert order == ["essay", "choice", "essay", "choice", "essay"]
    queue = Queue([*essays, *quick], Lineup(plan=["a/1", "a/4", "a/2"]), 1)
    assert queue.next()
    assert queue.following(asked(bank, "a/1", FollowUp("a/2")), True) is None


def test_what_will_not_stay_is_neither_first_nor_many(bank: Bank):
    names = [*(f"a/stuck-{i}" for i in range(4)), "a/late", "a/easy"]
    every = stepped(shelf(bank, *names), 2, 2, 2, 2, 2, 1)
    every = [each._replace(demo="ring") for each in every[:4]] + every[4:]
    every[5] = every[5]._replace(demo="ring")
    cards = {f"a/stuck-{i}": replace(card(f"a/stuck-{i}", i - 30), lapses=5 + i) for i in range(4)}

    late = {"a/late": card("a/late", -1), "a/easy": replace(card("a/easy", 9), reps=3)}
    assert drain(queued(every, {**cards, **late}, NOW, 1)) == [
        "a/late",
        "a/easy",  # on the way to it, though not due
        "a/stuck-0",
        "a/stuck-1",
    ]
    # Nothing else is due and nothing easier is there: something new comes before it.
    queue = queued(every[:5], cards, NOW, 1)
    assert (len(queue), queue.spared) == (3, 0)
    assert drain(queue) == ["a/late", "a/stuck-0", "a/stuck-1"]
    # Alone it is asked, and asked once: not again in the same session.
    queue = queued(every[:1], cards, NOW, 1)
    turn = queue.next()
    assert turn
    assert not queue.repeats(turn)
    queue.wrong(turn, None)
    assert queue.next() is None


@pytest.mark.parametrize("seed", range(25))
def test_whatever_happens_a_session_keeps_its_word(bank: Bank, seed: int):
    """What is told comes next, nothing comes thrice, no more is new than a day or a limit has."""
    draw = Random(seed)
    topics, runs = ("a", "b", "c"), ("", "ring", "pipeline")
    every = [
        each._replace(
            level=draw.randint(1, 5),
            demo=draw.choice(runs),
            myths=draw.choice(("", BELIEF, "other")),
            kind=draw.choice(("choice", "essay")),
        )
        for each in shelf(bank, *(f"{topic}/{i}" for topic in topics for i in range(15)))
    ]
    lines = {each.id: each for each in every}
    cards = {
        each.id: replace(card(each.id, draw.uniform(-9, 9)), reps=9, lapses=draw.choice((0, 1, 6)))
        for each in every
        if draw.random() < 0.4
    }
    limit, allowance = (6, None) if seed % 2 else (None, Allowance(8, 9))
    lineup = today(every, cards, NOW, seed, limit=limit, allowance=allowance)
    queue, met = Queue(every, lineup, seed), list[str]()
    while turn := queue.next():
        met.append(turn.question)
        question = asked(bank, turn.question, FollowUp(draw.choice(every).id))
        right = draw.random() < 0.4
        told = queue.following(question, right)
        if not right:
            assert told is None or lines[told].level <= lines[turn.question].level
            queue.wrong(turn, lines[turn.question].myths or None)
        queue.follow(question, right)
        after = queue.next()
        if after:
            assert told in (None, after.question)
            queue.undo(after)
    assert max(map(met.count, met)) <= 2
    stuck = {name for name in met if name in cards and cards[name].lapses >= LEECH}
    assert len(stuck) <= 2
    assert met[0] not in stuck
    assert len({*met}) <= limit if limit else len({*met} - {*cards}) <= 8


def test_a_topic_with_a_core_asks_its_core_and_what_was_met(bank: Bank):
    every = shelf(bank, "pp/a", "pp/b", "pp/c", "tp/a", "tp/b")
    assert core(every, ()) == every  # no topic has one yet
    marked = [each._replace(core=int(each.id == "pp/b")) for each in every]
    names = [each.id for each in core(marked, {"pp/c": card("pp/c", -1)})]
    assert names == ["pp/b", "pp/c", "tp/a", "tp/b"]
