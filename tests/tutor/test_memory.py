"""Cards follow from the answers that count, and from nothing else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import fsrs
import pytest

from quizkit.answer import UNDO, Answer, Review
from quizkit.bank.entry import entry
from quizkit.bank.model import Kind
from quizkit.bank.reader import Bank
from quizkit.diary import Diary
from quizkit.tutor import memory as module
from quizkit.tutor.memory import AGAIN, EASY, GOOD, HARD, Memory, fold, lowered, rate
from quizkit.words import say

START = datetime(2026, 3, 1, 8, tzinfo=UTC)


def after(days: float) -> datetime:
    return START + timedelta(days=days)


def row(uuid: str, question: str = "pp/x", grade: int | None = 3, days: float = 0) -> Answer:
    return Answer(
        uuid=uuid,
        device="d",
        at=after(days),
        session="s",
        question=question,
        lang="zh",
        seed=1,
        right=None if grade is None else grade > 1,
        grade=grade,
    )


@pytest.fixture
def diary(tmp_path: Path):
    with Diary(tmp_path / "diary.sqlite3") as diary:
        yield diary


def test_the_fold_is_fsrs():
    chance = Random(5)
    reviews = [Review("q", after(i * 1.7), chance.choice([1, 2, 3, 3, 4])) for i in range(40)]
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    theirs = fsrs.Card(card_id=1, due=START)
    for review in reviews:
        theirs, _ = scheduler.review_card(theirs, fsrs.Rating(review.grade), review.at)
    ours = fold(reviews)["q"]
    assert (ours.stability, ours.difficulty) == (theirs.stability, theirs.difficulty)
    assert (ours.due, ours.last) == (theirs.due, theirs.last_review)
    assert ours.reps == 40
    assert ours.lapses == sum(review.grade == AGAIN for review in reviews)


def test_nobody_must_come_back_in_ten_minutes():
    for grade in (AGAIN, HARD, GOOD, EASY):
        card = fold([Review("q", START, grade)])["q"]
        assert card.due - START >= timedelta(days=1)


def test_a_clock_that_was_set_back_moves_nothing_back():
    card = fold([Review("q", after(0), 3), Review("q", after(-30), 3)])["q"]
    assert card.last == after(0)
    assert card.due > after(0)


def test_cards_are_kept_up_to_date(diary: Diary):
    diary.append(row("a"))
    memory = Memory(diary)
    assert memory.cards["pp/x"].reps == 1
    diary.append(row("b", days=4))
    diary.append(row("c", "pp/y", days=4))
    memory.refresh()
    assert {name: card.reps for name, card in memory.cards.items()} == {"pp/x": 2, "pp/y": 1}
    assert Memory(diary).cards == memory.cards == fold(diary.reviews())


def test_the_cache_is_never_the_truth(diary: Diary, monkeypatch: pytest.MonkeyPatch):
    for i in range(30):
        diary.append(row(str(i), f"pp/{i % 7}", grade=1 + i % 4, days=i))
    cards = dict(Memory(diary).cards)
    # Cards made by another recipe are folded anew.
    monkeypatch.setattr(module, "RECIPE", 99)
    wrong = [replace(card, stability=1e6) for card in cards.values()]
    diary.keep_cards(wrong, [], 10_000, 98)
    assert Memory(diary).cards == cards


def test_two_sessions_see_each_others_answers(diary: Diary, tmp_path: Path):
    mine, theirs = Memory(diary), Diary(tmp_path / "diary.sqlite3")
    other = Memory(theirs)
    theirs.append(row("a"))
    other.refresh()
    diary.append(row("b", "pp/y"))
    mine.refresh()
    assert {*mine.cards} == {"pp/x", "pp/y"}
    theirs.close()


def test_what_was_undone_is_forgotten(diary: Diary):
    diary.append(row("a"))
    diary.append(row("b", grade=1, days=5))
    memory = Memory(diary)
    before = fold([Review("pp/x", START, 3)])
    assert memory.cards != before
    undo = replace(row("c", grade=None, days=5), undoes="b", note=UNDO)
    diary.append(undo)
    memory.refresh()
    assert memory.cards == before
    diary.append(replace(undo, uuid="d", undoes="a"))
    memory.refresh()
    assert memory.cards == Memory(diary).cards == {}
    # Nor does it come back with the cards of what was answered later.
    diary.append(row("e", "pp/y", days=6))
    memory.refresh()
    assert {*Memory(diary).cards} == {"pp/y"}


def test_a_renamed_question_keeps_its_past(diary: Diary, bank: Bank):
    question = replace(bank.questions["pp/stages"], was=("pp/old", "pp/older"))
    diary.append(row("a", "pp/older"))
    diary.append(row("b", "pp/old", days=3))
    diary.append(row("c", "pp/stages", days=9))
    card = Memory(diary, [entry(question)]).cards["pp/stages"]
    days = (0, 3, 9)
    assert card == fold([Review("pp/stages", after(day), 3) for day in days])["pp/stages"]
    assert Memory(diary).cards["pp/stages"].reps == 1


def test_ten_thousand_answers_are_folded_once(diary: Diary, monkeypatch: pytest.MonkeyPatch):
    for i in range(50):
        diary.append(row(str(i), f"pp/{i}"))
    Memory(diary)

    def never(*_: object) -> None:
        raise AssertionError("folded again")

    monkeypatch.setattr(module, "fold", never)
    assert len(Memory(diary).cards) == 50


@pytest.mark.parametrize(
    ("happened", "grade", "why"),
    [
        ({"right": False, "score": 0}, AGAIN, []),
        ({"right": False, "sure": True, "seconds": 1, "score": 0}, AGAIN, []),
        ({"right": False, "score": 0.5}, AGAIN, []),
        ({"right": False, "score": 2 / 3}, HARD, ["most of it right"]),
        ({"right": False, "score": 2 / 3, "myth": True}, AGAIN, []),
        ({"right": False, "score": 2 / 3, "hints": 1}, AGAIN, ["hints taken: 1"]),
        ({}, GOOD, []),
        ({"sure": True}, GOOD, []),
        ({"seconds": 5}, GOOD, []),
        ({"sure": True, "seconds": 5}, EASY, []),
        ({"sure": True, "seconds": 5, "hints": 1}, HARD, ["hints taken: 1"]),
        ({"hints": 2}, HARD, ["hints taken: 2"]),
        ({"sure": False}, HARD, ["not sure"]),
        ({"seconds": 500}, HARD, ["over 120 s"]),
        ({"score": 0.7}, HARD, ["points missing"]),
        ({"hints": 1, "sure": False, "seconds": 121}, HARD,
         ["hints taken: 1", "not sure", "over 120 s"]),
    ],
)  # fmt: skip
def test_the_grade_follows_from_what_happened_and_says_why(
    happened: dict[str, object], grade: int, why: list[str]
):
    usual: dict[str, object] = {"right": True, "score": 1, "hints": 0, "seconds": 60, "sure": None}
    assert rate("choice", **(usual | happened)) == grade  # pyright: ignore[reportArgumentType]
    told = lowered("choice", **(usual | happened))  # pyright: ignore[reportArgumentType]
    assert [say(key, "en", **values) for key, values in told] == why


@pytest.mark.parametrize(
    ("kind", "score", "grade"),
    [("cloze", 0.8, HARD), ("trace", 0.9, HARD), ("cloze", 0.79, AGAIN), ("order", 0.95, AGAIN)],
)
def test_one_part_of_many_is_hard_where_parts_stand_alone(kind: Kind, score: float, grade: int):
    assert rate(kind, False, score, 0, 30, None) == grade
    assert rate(kind, False, score, 1, 30, None) == AGAIN
    why = [key for key, _ in lowered(kind, False, score, 0, 30, None)]
    assert why == (["study.lowered_slip"] if grade == HARD else [])
    why = [key for key, _ in lowered(kind, False, score, 1, 30, None)]
    assert why == (["study.lowered_hints"] if grade == HARD else [])
