"""Where the learner stands: every number against one worked out by hand."""

from dataclasses import astuple, replace
from datetime import UTC, date, datetime, timedelta, timezone
from random import Random

import pytest

from quizkit.answer import Answer, Card, Mode, Review
from quizkit.bank.entry import Entry
from quizkit.tutor import memory
from quizkit.tutor.activity import activity
from quizkit.tutor.beliefs import beliefs
from quizkit.tutor.calibration import Calibration, calibration
from quizkit.tutor.forecast import forecast
from quizkit.tutor.plan_memory import WEIGHTS
from quizkit.tutor.recall import recall
from quizkit.tutor.retention import Retention, retention
from quizkit.tutor.standing import Leech, leeches, standing
from quizkit.tutor.tally import tallies, total

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
EAST = timezone(timedelta(hours=8))
GOOD_LASTS = 2.3065  # days, FSRS-6's default after a first "good"
AGAIN_LASTS = 0.212  # and after a first "again"
THRICE = 0.8094  # (1 + 0.9803 * 3) ** -0.1542: what is left after three times the stability


def day(days: float) -> datetime:
    return NOON + timedelta(days=days)


def card(question: str, due: float = 0, lapses: int = 0, stability: float = 10) -> Card:
    return Card(question, stability, 5.0, day(due), NOON, 9, lapses)


def entry(name: str, myths: str = "", **more: object) -> Entry:
    line = Entry(name, name.split("/")[0], 1, "choice", "", myths, "", "")
    return line._replace(**more)


def row(
    question: str,
    at: float = 0,
    right: bool | None = True,
    *,
    grade: int | None = None,
    mode: Mode = "study",
    sure: bool | None = None,
    note: str = "",
    undoes: str | None = None,
    uuid: str = "",
) -> Answer:
    given = grade or (3 if right else 1)
    return Answer(
        uuid=uuid or f"{question}:{at}:{note}",
        device="d",
        at=day(at),
        session="s",
        question=question,
        mode=mode,
        lang="en",
        seed=1,
        right=right,
        grade=None if right is None else given,
        sure=sure,
        note=note,
        undoes=undoes,
    )


def test_nine_tenths_are_left_when_the_stability_is_over():
    kept = card("a/x", stability=10)
    assert recall(kept, day(0)) == 1
    assert recall(kept, day(-3)) == 1  # a clock set back forgets nothing
    assert recall(kept, day(10)) == pytest.approx(0.9)
    assert recall(kept, day(30)) == pytest.approx(THRICE, abs=1e-4)
    assert recall(kept, day(0.25)) < 1


def test_the_curve_is_the_schedulers():
    import fsrs

    scheduler, _ = memory._scheduler()
    theirs = fsrs.Card(card_id=0, stability=10, difficulty=5, due=NOON, last_review=NOON)
    for days in (1, 4, 100):
        expected = scheduler.get_card_retrievability(theirs, day(days))
        assert recall(card("a/x", stability=10), day(days)) == pytest.approx(expected)


def test_what_is_due_when():
    dues = [
        day(-2),  # late
        day(-0.1),  # late, and of today
        day(0.4),  # today
        day(2),
        day(13) + timedelta(hours=11, minutes=59),  # the last minute of the last day
        day(14),  # beyond
    ]
    found = forecast([replace(card("a/x"), due=due) for due in dues], NOON, UTC)
    assert (found.late, found.later) == (2, 1)
    assert found.days[0] == (date(2026, 3, 10), 3)
    assert found.days[-1] == (date(2026, 3, 23), 1)
    assert [n for _, n in found.days] == [3, 0, 1, *[0] * 10, 1]


def test_a_day_is_the_learners_own():
    # 21:36 UTC is tomorrow's 05:36 in the east, and 23:59 on the last day is beyond it.
    dues = [day(-2), day(-0.1), day(0.4), day(13) + timedelta(hours=11, minutes=59)]
    found = forecast([replace(card("a/x"), due=due) for due in dues], NOON, EAST)
    assert [n for _, n in found.days] == [2, 1, *[0] * 12]
    assert (found.late, found.later) == (2, 1)
    assert forecast([], day(0.4), EAST).days[0] == (date(2026, 3, 11), 0)


def test_reviews_beside_what_was_expected_of_them():
    rows = [
        row("a/1"),
        row("a/2", right=False),
        row("a/3", mode="mock"),
        row("a/2", 3 * AGAIN_LASTS, right=False),  # 03:16 the next day; expected 0.8094
        row("a/1", GOOD_LASTS),  # expected 0.9
        row("a/1", GOOD_LASTS + 0.01, right=False),  # the same evening: no review
        row("a/3", GOOD_LASTS, right=False, grade=2),  # nearly right: remembered; expected 0.9
        row("a/1", 20, mode="mock"),  # an interview: no review
    ]
    every, recent = retention(rows, day(31), UTC)
    assert (every.reviews, every.right, every.recalled) == (3, 1, 2)
    assert every.predicted == pytest.approx(0.9 + THRICE + 0.9, abs=1e-3)
    # Thirty days back from day 31 is day 1: the one at night was before.
    assert (recent.reviews, recent.right, recent.recalled) == (2, 1, 2)
    assert recent.predicted == pytest.approx(1.8, abs=1e-3)
    assert retention(rows[:3], day(31), UTC) == (Retention(), Retention())


def test_what_is_expected_grows_with_every_review():
    # "Good" after 2 days brings it back in 11: nine tenths are left then, as near as whole days go.
    rows = [row("a/1"), row("a/1", 2), row("a/1", 13)]
    assert memory.fold(Review("a/1", r.at, 3) for r in rows[:2])["a/1"].due == day(13)
    first, both = (retention(rows[:n], day(13), UTC)[0].predicted for n in (2, 3))
    assert first == pytest.approx(0.9095, abs=1e-4)  # (1 + 0.9803 * 2 / 2.3065) ** -0.1542
    assert both - first == pytest.approx(0.9, abs=6e-3)


def test_what_is_expected_is_what_the_cards_expect():
    chance, at = Random(3), 0.0
    rows: list[Answer] = []
    for _ in range(60):
        at += chance.choice([0.3, 1.4, 2.9, 7.7])
        rows.append(row("a/1", at, grade=chance.choice([1, 2, 3, 3, 4])))
    kept, expected, reviews = None, 0.0, 0
    for each in rows:
        if kept and each.at.date() > kept.last.date():
            expected, reviews = expected + recall(kept, each.at), reviews + 1
        kept = memory.reviewed(kept, Review("a/1", each.at, each.grade or 0))
    every, _ = retention(rows, day(at), UTC)
    assert every.reviews == reviews
    assert 40 < reviews < 59
    assert every.predicted == pytest.approx(expected)


def test_a_review_is_of_another_day_by_the_learners_clock():
    # 12:00 and 20:00 UTC are 20:00 and 04:00 in the east: one day there, two here.
    rows = [row("a/1"), row("a/1", 1 / 3)]
    assert retention(rows, day(1), UTC)[0].reviews == 0
    assert retention(rows, day(1), EAST)[0].reviews == 1


BOTH, FIRST, SECOND = entry("a/both", "m1 m2"), entry("a/first", "m1"), entry("b/second", "m2")


def shows(question: Entry, myth: str, at: float = 0) -> Answer:
    return row(question.id, at, right=False, note=f"myth: {myth}")


@pytest.mark.parametrize(
    ("rows", "held"),
    [
        ([shows(BOTH, "m1")], ["m1"]),
        ([shows(BOTH, "m1"), row("a/both", 1)], []),
        ([shows(BOTH, "m1"), row("a/first", 1)], []),  # another that catches it
        ([shows(BOTH, "m1"), row("b/second", 1)], ["m1"]),  # one that does not
        ([shows(BOTH, "m1"), row("a/first", 1, right=False)], ["m1"]),  # wrong in another way
        ([row("a/first"), shows(BOTH, "m1", 1)], ["m1"]),  # shown after it was right
        ([shows(BOTH, "m1"), shows(BOTH, "m2", 1), row("a/first", 2)], ["m2"]),
        ([shows(BOTH, "m1"), shows(SECOND, "m2", 1)], ["m1", "m2"]),
        ([shows(SECOND, "m2"), shows(BOTH, "m1", 1), shows(FIRST, "m1", 2)], ["m1", "m2"]),
        ([shows(BOTH, "gone")], []),  # no question catches it any more
    ],
)
def test_a_myth_is_held_until_a_question_that_catches_it_goes_right(
    rows: list[Answer], held: list[str]
):
    assert [each.myth for each in beliefs([BOTH, FIRST, SECOND], rows)] == held


def test_where_a_myth_was_seen_and_what_else_catches_it():
    third = entry("a/third", "m1")
    rows = [shows(BOTH, "m1"), row("a/first", 1), shows(FIRST, "m1", 2), shows(BOTH, "m1", 3)]
    (found,) = beliefs([BOTH, FIRST, SECOND, third], rows)
    # The first time was laid to rest.
    assert (found.times, found.last) == (2, day(3))
    assert (found.shown, found.caught) == (("a/both", "a/first"), ("a/third",))


def test_sure_and_wrong_comes_first():
    rows = [
        row("a/1", 0, right=False, sure=True),
        row("a/2", 1, right=False, sure=True),
        row("a/3", 2, right=False, sure=True),
        row("a/1", 3, right=False, sure=True),
        row("a/2", 4, right=True, sure=True),
        row("a/4", 5, right=True, sure=True),
        row("a/5", 6, right=True, sure=False),
        row("a/6", 7, right=False, sure=False),
        row("a/7", 8),
        row("a/8", 9, right=False),
        row("a/9", 10),
    ]
    assert calibration(rows) == Calibration(
        sure_wrong=4,
        sure_right=2,
        unsure_right=1,
        unsure_wrong=1,
        unsaid=3,
        mistaken=("a/1", "a/3"),  # a/2 went right since
    )


@pytest.mark.parametrize(
    ("days", "row_now", "longest"),
    [
        ([], 0, 0),
        ([0], 1, 1),
        ([-1, -2], 2, 2),  # today is not over yet
        ([-2, -3], 0, 2),
        ([0, -1, -2, -4, -5, -6, -7, -20], 3, 4),
    ],
)
def test_days_in_a_row(days: list[int], row_now: int, longest: int):
    found = activity([row("a/1", each) for each in days], NOON, UTC)
    assert (found.active, found.row, found.longest) == (len(days), row_now, longest)


def test_answers_of_the_last_days():
    rows = [row("a/1", -14), row("a/1", -13), row("a/1", -1), row("a/2", -1, mode="mock")]
    rows += [row("a/1", 0), row("a/1", 0.3)]
    days = activity(rows, NOON, UTC).days
    assert days[0] == (date(2026, 2, 25), 1, 0)
    assert days[-2:] == ((date(2026, 3, 9), 1, 1), (date(2026, 3, 10), 2, 0))
    assert sum(study + mock for _, study, mock in days) == 5  # fourteen days ago is too long ago
    # 19:12 UTC is tomorrow's 03:12 in the east.
    assert activity(rows, NOON, EAST).days[-1] == (date(2026, 3, 10), 1, 0)
    assert activity(rows, NOON, EAST).active == 5


def test_sums_by_whatever_an_entry_says():
    bank = [entry("a/1"), entry("a/2", level=2), entry("a/3", level=2), entry("b/1", level=2)]
    cards = {each.question: each for each in (card("a/1"), card("a/2"), card("b/1"))}
    rows = [row("a/1"), row("a/1", 1, right=False), row("b/1")]
    found = tallies(bank, cards, rows, day(10), lambda each: each.level)
    # Level 1 is a/1: answered twice, once right. Level 2: three questions, two met, one answer.
    assert found.keys() == {1, 2}
    assert astuple(found[1]) == pytest.approx((1, 1, 0.9, 2, 1))
    assert astuple(found[2]) == pytest.approx((3, 2, 1.8, 1, 1))
    every = total([found[1], None, found[2]])
    assert every
    assert astuple(every) == pytest.approx((4, 3, 2.7, 3, 2))
    assert total([None]) is None


def test_what_lapsed_too_often():
    bank = [entry("a/1"), entry("a/2", demo="ring"), entry("b/1"), entry("b/2")]
    lapses = {"a/1": 4, "a/2": 5, "b/1": 7, "c/1": 9}
    found = leeches(bank, {name: card(name, lapses=n) for name, n in lapses.items()})
    assert found == [Leech("b/1", "b", "", 7), Leech("a/2", "a", "ring", 5)]


DIARY = [
    row("a/1", -3, right=False, note="myth: m1", sure=True),
    row("a/1", -2),
    row("a/2", -2, right=False, note="myth: m2"),
    row("a/old", -2, uuid="old"),  # a/1 had this name once
    row("b/1", -1, right=False, uuid="slip"),
    row("b/1", -1, right=None, note="undo", undoes="slip"),
    row("b/1", -1),
    row("b/1", -1, mode="mock", right=False),
    row("b/1", 0, right=None, note="flag: no"),
    row("a/2", 0, right=None, note="flag"),
    row("a/2", 0, right=None, note="undo", undoes="a/2:0:flag"),
    row("a/gone", 0),
    row("mock/own-essay", 0, mode="mock"),  # an interview's own question is not missing
]
BANK = [
    entry("a/1", "m1", was="a/old"),
    entry("a/2", "m2", level=2, kind="numeric"),
    entry("a/3"),
    entry("b/1", "m2"),
]


def test_the_whole_picture():
    cards = {name: card(name, stability=10) for name in ("a/1", "a/2", "b/1")}
    found = standing(BANK, cards, DIARY, day(0), zone=UTC)
    # Study: a/1 wrong, right, right (as a/old), a/2 wrong, b/1 right; the slip was taken back.
    assert (found.study.questions, found.study.met) == (4, 3)
    assert (found.study.answered, found.study.right) == (5, 3)
    # All three were answered just now; with a stability of 10 days each is 0.9 on day 10.
    decay = WEIGHTS[20]
    tomorrow = (1 + (0.9 ** (-1 / decay) - 1) / 10) ** -decay
    assert found.study.remembered == pytest.approx(3 * tomorrow)
    assert (found.mock, found.gone, found.flags) == ((1, 0), 1, 1)
    assert {topic: (t.answered, t.right) for topic, t in found.topics.items()} == {
        "a": (4, 2),
        "b": (1, 1),
    }
    assert {place: t.answered for place, t in found.levels.items()} == {
        ("a", 1): 3,
        ("a", 2): 1,
        ("b", 1): 1,
    }
    assert {place: (t.questions, t.answered) for place, t in found.kinds.items()} == {
        ("a", "choice"): (2, 3),
        ("a", "numeric"): (1, 1),
        ("b", "choice"): (1, 1),
    }
    assert (found.forecast.late, found.forecast.days[0][1]) == (3, 3)
    # a/1 on day -2, though the same day brought it twice.
    assert (found.every.reviews, found.every.right) == (1, 1)
    assert found.beliefs == []  # b/1 laid to rest what a/2 had shown
    assert found.calibration.sure_wrong == 1
    assert found.activity.row == 4
    assert not found.empty


def test_of_one_topic():
    cards = {name: card(name) for name in ("a/1", "a/2", "b/1")}
    found = standing(BANK, cards, DIARY, day(0), topics={"b"}, zone=UTC)
    assert (found.study.questions, found.study.answered, found.study.right) == (1, 1, 1)
    assert (found.mock, found.gone, found.flags) == ((1, 0), 0, 1)
    assert [*found.topics] == ["b"]
    assert found.forecast.late == 1
    assert found.activity.active == 1
    # The flag was b's, and so was the answer that laid to rest what a/2 had shown.
    other = standing(BANK, cards, DIARY, day(0), topics={"a"}, zone=UTC)
    assert (other.flags, other.gone, other.beliefs) == (0, 1, [])
    # What another topic's question showed is laid to rest there, and shown where it was seen.
    held = [*DIARY, row("a/2", 1, right=False, note="myth: m2", uuid="last")]
    seen = {t: standing(BANK, {}, held, day(2), topics={t}, zone=UTC).beliefs for t in "ab"}
    assert ([b.myth for b in seen["a"]], seen["b"]) == (["m2"], [])
    assert standing(BANK, cards, DIARY[:4], day(0), topics={"b"}, zone=UTC).empty
    assert standing([], {}, [], day(0), zone=UTC).empty
