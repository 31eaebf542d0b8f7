"""The week after an interview: which questions stand on a day, and that `study` asks them first."""

from datetime import UTC, datetime, timedelta

import pytest

from quizkit.answer import Answer, Mode, SessionEvent
from quizkit.bank.entry import Entry
from quizkit.tutor.after_mock import practice_today, with_practice
from quizkit.tutor.lineup import today
from quizkit.tutor.queue import Queue

HELD = datetime(2026, 3, 1, 20, 0, tzinfo=UTC)
TITLE = {"zh": "小测", "en": "A screen"}


def done(*days, at=HELD):
    practice = [
        {"day": day, "questions": [{"question": name, "again": again} for name, again in tasks]}
        for day, tasks in days
    ]
    card = {"verdict": "fail", "overall": 1, "best": 4, "title": TITLE, "practice": practice}
    return SessionEvent(device="d", at=at, session="s", name="done", note={"card": card})


PLAN = done((1, [("pp/a", False), ("pp/b", False)]), (4, [("pp/a", True), ("pp/c", False)]))


def answer(name, at, mode: Mode = "study", right=True):
    return Answer(
        uuid=f"{name}{at}", device="d", at=at, session="t", question=name, mode=mode, lang="en",
        seed=1, right=right, grade=3,
    )  # fmt: skip


def asked(now, *answers, events=(PLAN,)):
    found = practice_today([*events], lambda _: answers, now, UTC)
    return found.questions if found else ()


def day(number, hour=12):
    return HELD.replace(hour=hour) + timedelta(days=number - 1)


def test_a_day_has_its_questions_and_those_left_from_before():
    assert asked(HELD + timedelta(minutes=5)) == ("pp/a", "pp/b")
    assert asked(day(2)) == ("pp/a", "pp/b")
    assert asked(day(4)) == ("pp/a", "pp/b", "pp/c")
    assert asked(day(2), answer("pp/a", day(2))) == ("pp/b",)


def test_the_second_time_wants_an_answer_of_its_own_day():
    early = answer("pp/a", day(2))
    assert asked(day(4), early) == ("pp/b", "pp/a", "pp/c")
    assert asked(day(4, 13), early, answer("pp/a", day(4))) == ("pp/b", "pp/c")


def test_the_interview_itself_and_what_was_before_do_not_count():
    before = answer("pp/b", HELD - timedelta(days=1))
    mock = answer("pp/a", HELD + timedelta(minutes=1), mode="mock")
    assert asked(day(2), before, mock) == ("pp/a", "pp/b")


def test_a_week_and_no_longer_and_nothing_before():
    assert asked(day(7)) == ("pp/a", "pp/b", "pp/c")
    assert asked(day(8)) == ()
    assert asked(HELD - timedelta(days=1)) == ()


def test_the_last_interview_is_what_counts():
    later = done((1, [("pp/z", False)]), at=HELD + timedelta(days=1))
    assert asked(day(2, 23), events=(later, PLAN)) == ("pp/z",)


@pytest.mark.parametrize(
    "card", [{}, {"practice": 3}, {"practice": [{"day": "x", "questions": [1]}]}, {"practice": [1]}]
)
def test_a_card_without_a_week_is_no_practice(card):
    event = SessionEvent(device="d", at=HELD, session="s", name="done", note={"card": card})
    assert asked(day(1, 21), events=(event,)) == ()


def entry(name, level=1, was=""):
    return Entry(name, name.split("/")[0], level, "choice", "", "", "", was)


def test_study_begins_with_them_whatever_their_level_and_says_why():
    entries = [
        entry("pp/a", 5),
        entry("pp/new", 4, was="pp/b"),
        *(entry(f"pp/x{n}") for n in range(9)),
    ]
    found = practice_today([PLAN], lambda _: [], day(1, 21), UTC)
    assert found is not None
    others = [each for each in entries if each.id not in ("pp/a", "pp/new")]
    lineup = with_practice(today(others, {}, day(1), 1, limit=3), found, entries)
    queue = Queue(entries, lineup, 1)
    turns = [turn for _ in range(5) if (turn := queue.next())]
    assert [turn.question for turn in turns[:2]] == ["pp/a", "pp/new"]
    assert [turn.reason for turn in turns[:2]] == [("study.now_mock", {"date": "03-01"})] * 2
    assert turns[2].reason is None
    assert queue.next() is None


def test_a_misconception_makes_no_room_by_dropping_them():
    entries = [entry("pp/a"), entry("pp/b")._replace(myths="m"), entry("pp/y")._replace(myths="m")]
    found = practice_today([PLAN], lambda _: [], day(1, 21), UTC)
    assert found is not None
    queue = Queue(
        entries, with_practice(today([entries[2]], {}, day(1), 1, limit=1), found, entries), 1
    )
    first = queue.next()
    assert first is not None
    queue.wrong(first, "m")
    left = [turn.question for _ in range(4) if (turn := queue.next())]
    assert "pp/b" in left
