"""The interview as a state machine: scripted desk, scripted clock, a real diary."""

import json
from dataclasses import replace

import pytest

from quizkit.diary import counted
from quizkit.mock.desk import Handed, Left, Ticks
from quizkit.mock.ledger import HEARTBEAT
from quizkit.mock.sitting import load, sittings

ESSAY = "It lowers peak activation memory; it has the same bubble."


def scores(card) -> dict[str, float]:
    return {mark.station.id: mark.score for mark in card.marks}


def test_a_good_interview_has_no_probes(room):
    desk = room.desk((30, room.right), (60, ESSAY), (20, room.picks("p", "m")))
    card = room.begin(desk).run()
    assert desk.met() == ["bubble", "why", "parts"]
    assert [(m.number, m.total, m.probe) for m in desk.moments] == [
        (1, 3, False),
        (2, 3, False),
        (3, 3, False),
    ]
    assert desk.stops == ["asked"]
    assert scores(card) == {"bubble": 1.0, "why": 1.0, "parts": 1.0}
    assert (card.overall, card.passed, card.spent.used) == (4.0, True, 110)
    assert [mark.seconds for mark in card.marks] == [30, 60, 20]


def test_a_wrong_number_and_a_missing_point_are_followed_up(room):
    desk = room.desk(
        (10, "0.9"),
        (10, room.picks("activation memory")),
        (10, "The same bubble, I think."),
        (10, "1 2 3"),
        (10, room.picks("p")),
    )
    card = room.begin(desk).run()
    assert desk.met() == ["bubble", "stages", "why", "order", "parts"]
    assert [m.number for m in desk.moments] == [1, 1, 2, 2, 3]
    assert [m.probe for m in desk.moments] == [False, True, False, True, False]
    assert [m.lead for m in desk.moments] == ["", "", "", "You did not mention memory.", ""]
    assert card.review == ("pp/bubble", "pp/order", "pp/parts")


def test_no_moment_carries_a_verdict_before_the_end(room):
    desk = room.desk((1, "0.9"), (1, room.picks("traffic")), (1, ESSAY), (1, room.picks("p")))
    room.begin(desk).run()
    assert all(moment.message is None for moment in desk.moments)
    assert not any(hasattr(moment, "verdict") for moment in desk.moments)


def test_each_answer_is_on_disk_before_the_next_question(room):
    on_disk: list[int] = []

    def look(answer):
        def step(moment):
            on_disk.append(len([row for row in room.diary.answers() if row.given is not None]))
            return answer(moment) if callable(answer) else answer

        return step

    desk = room.desk((1, look(room.right)), (1, look(ESSAY)), (1, look(room.picks("p", "m"))))
    room.begin(desk).run()
    assert on_disk == [0, 1, 2]


def test_what_cannot_be_read_is_asked_again_and_costs_only_time(room):
    desk = room.desk(
        (10, "no idea"),
        (10, " "),
        (10, room.right),
        (10, ESSAY),
        (5, "9"),
        (5, room.picks("p", "m")),
    )
    card = room.begin(desk).run()
    assert desk.met() == ["bubble", "bubble", "bubble", "why", "parts", "parts"]
    assert [m.draft for m in desk.moments] == ["", "no idea", " ", "", "", "9"]
    said = [m.message[0] if m.message else None for m in desk.moments]
    assert said == [
        None,
        "study.not_a_number",
        "mock.nothing_typed",
        None,
        None,
        "mock.pick_several",
    ]
    assert [mark.seconds for mark in card.marks] == [30, 10, 10]
    assert len(counted(room.diary.answers())) == 3


def test_no_answer_counts_nothing_and_is_followed_up(room):
    nothing = Handed("", passed=True)
    desk = room.desk((5, nothing), (5, nothing), (5, nothing), (5, nothing), (5, nothing))
    card = room.begin(desk).run()
    assert desk.met() == ["bubble", "stages", "why", "order", "parts"]
    assert desk.sheets == []
    assert card.overall == 0.0
    assert not card.passed
    assert {mark.judge for mark in card.marks} == {"nobody"}
    assert all(row.right is False and row.grade == 1 for row in counted(room.diary.answers()))


def test_a_question_may_take_longer_than_its_target(room):
    desk = room.desk((300, room.right), (60, ESSAY), (20, room.picks("p", "m")))
    card = room.begin(desk).run()
    assert card.marks[0].seconds == 300 > card.marks[0].target == 120
    assert card.overall == 4.0


def test_the_clock_hands_in_what_was_typed(room):
    late = Handed("it is about activation mem", late=True)
    desk = room.desk((30, room.right), (570, late))
    card = room.begin(desk).run()
    assert desk.met() == ["bubble", "why"]
    assert desk.stops == ["time"]
    assert desk.sheets[0].text == late.text
    _, why, parts = card.marks
    assert (why.late, why.score, why.given["text"]) == (True, 0.75, late.text)
    # A question the clock did not reach counts nothing; it is not left out.
    assert (parts.station.id, parts.reached, parts.score) == ("parts", False, 0.0)
    assert card.spent.used == 600


def test_what_the_clock_took_and_nobody_can_read_is_no_answer(room):
    desk = room.desk((30, room.right), (30, ESSAY), (540, Handed("p and m", late=True)))
    card = room.begin(desk).run()
    parts = card.marks[-1]
    assert (parts.reached, parts.late, parts.judge, parts.score) == (True, True, "nobody", 0.0)
    [row] = [each for each in room.diary.answers() if each.question == "pp/parts"]
    assert json.loads(row.note.removeprefix("mock:"))["typed"] == "p and m"


def test_a_follow_up_the_clock_left_no_time_for_is_no_part_of_it(room):
    desk = room.desk((600, Handed("0.9", late=True)))
    card = room.begin(desk).run()
    assert [mark.station.id for mark in card.marks] == ["bubble", "why", "parts"]


def test_other_minutes_scale_the_targets(room):
    desk = room.desk((30, room.right), (60, ESSAY), (20, room.picks("p", "m")))
    card = room.begin(desk, minutes=5).run()
    assert [moment.target for moment in desk.moments] == [60, 90, 45]
    assert card.spent.total == 300


def test_the_learner_overrules_the_keywords_but_not_the_route(room):
    desk = room.desk((1, room.right), (1, "less memory"), (1, "1 2 3"), (1, room.picks("p", "m")))
    desk.judgements = [Ticks(points=(0, 1), vetoes=())]
    card = room.begin(desk).run()
    assert desk.met() == ["bubble", "why", "order", "parts"]
    assert (desk.sheets[0].points, desk.sheets[0].vetoes) == ((), ())
    assert (card.marks[1].score, card.marks[1].judge) == (1.0, "learner")
    assert card.marks[1].missed == ()


def test_memory_sees_each_answer_once_and_essays_only_when_judged(room):
    desk = room.desk((1, room.right), (1, ESSAY), (500, room.picks("p", "m")))
    before = []

    def judge(sheet):
        before.extend(room.diary.answers())
        return Ticks(sheet.points, sheet.vetoes)

    desk.judgements = [judge]
    room.begin(desk).run()
    assert [row.question for row in counted(before)] == ["pp/bubble", "pp/parts"]
    assert (before[1].score, before[1].right, before[1].grade) == (None, None, None)
    assert room.diary.answers()[-1].undoes == before[1].uuid
    after = [(row.question, row.right, row.grade) for row in counted(room.diary.answers())]
    assert sorted(after) == [
        ("mocks/small/why", True, 3),
        ("pp/bubble", True, 3),
        ("pp/parts", True, 2),  # right, but it took too long to be known well
    ]


# Leaving and coming back.


def test_leaving_keeps_the_draft_and_the_time(room):
    desk = room.desk((30, room.right), (40, Left("activation mem")))
    assert room.begin(desk).run() is None
    room.clock.pass_(100)
    again = room.desk((20, ESSAY), (20, room.picks("p", "m")))
    interview = room.resume(again)
    assert interview.ledger.timer.left() == 600 - 70
    card = interview.run()
    assert again.met() == ["why", "parts"]
    assert again.moments[0].draft == "activation mem"
    assert again.moments[0].message[0] == "mock.back"
    assert (card.spent.used, card.spent.paused, card.spent.charged) == (110, 100, 0)
    assert card.marks[1].seconds == 60


def test_the_same_numbers_are_drawn_again(room):
    drawn = []
    for _ in range(5):
        first = room.desk((1, Left()))
        assert room.begin(first).run() is None
        again = room.desk((1, Left()))
        assert room.resume(again).run() is None
        assert again.moments[0].asked == first.moments[0].asked
        drawn.append(tuple(first.moments[0].asked.values.values()))
    assert len(set(drawn)) > 1


def test_time_away_beyond_the_budget_is_charged_to_the_clock(room):
    assert room.begin(room.desk((60, Left()))).run() is None
    room.clock.pass_(100)
    assert room.resume(room.desk((10, Left()))).run() is None
    room.clock.pass_(50)
    third = room.desk((0, Left()))
    interview = room.resume(third)
    # 120 s may be paused: 100 + 20; the other 30 are taken off the 600.
    assert interview.ledger.timer.left() == 600 - 70 - 30
    assert interview.run() is None
    assert third.moments[0].message[0] == "mock.back_charged"
    room.clock.pass_(5)
    card = room.resume(room.desk((10, room.right), (10, ESSAY), (10, room.picks("p", "m")))).run()
    assert (card.spent.paused, card.spent.charged, card.spent.used) == (120, 35, 135)
    # Time away is not time spent on the question.
    assert card.marks[0].seconds == 80


def test_who_stays_away_too_long_finds_the_clock_stopped(room):
    assert room.begin(room.desk((60, room.right), (60, Left("activation")))).run() is None
    room.clock.pass_(3600)
    again = room.desk()
    card = room.resume(again).run()
    assert again.stops == ["time"]
    assert [mark.reached for mark in card.marks] == [True, False, False]


def test_a_kill_costs_what_was_typed_since_the_last_heartbeat(room):
    class Killed(BaseException):
        pass

    def typing(moment):
        moment.keep("act")
        room.clock.pass_(HEARTBEAT)
        moment.keep("activ")
        room.clock.pass_(HEARTBEAT - 1)
        moment.keep("activation")
        raise Killed

    with pytest.raises(Killed):
        room.begin(room.desk((30, room.right), (0, typing))).run()
    room.clock.pass_(60)
    again = room.desk((10, ESSAY), (1, room.picks("p", "m")))
    interview = room.resume(again)
    assert interview.ledger.timer.left() == 600 - 35
    assert interview.ledger.timer.paused == 60 + 4
    card = interview.run()
    assert again.moments[0].draft == "activ"
    assert card.marks[1].seconds == 15


def test_a_heartbeat_is_not_a_flood(room):
    def typing(moment):
        for _ in range(100):
            room.clock.pass_(0.25)
            moment.keep("x")
        return Left("x")

    room.begin(room.desk((0, typing))).run()
    beats = room.diary.events(name="alive")
    assert len(beats) == 25 / HEARTBEAT
    assert [event.note.get("draft") for event in beats] == ["x", None, None, None, None]


def test_ctrl_c_leaves_with_what_was_being_typed(room):
    def typing(moment):
        moment.keep("half a thou")
        raise KeyboardInterrupt

    assert room.begin(room.desk((0, typing))).run() is None
    again = room.desk((0, Left()))
    room.resume(again).run()
    assert again.moments[0].draft == "half a thou"


def test_a_clock_that_was_set_back_takes_nothing_away(room):
    assert room.begin(room.desk((60, Left()))).run() is None
    room.clock.start -= room.clock.start - room.clock.start.replace(year=2025)
    timer = room.resume(room.desk((0, Left()))).ledger.timer
    assert (timer.left(), timer.paused) == (540, 0)


def test_at_the_rubric_no_clock_runs(room):
    desk = room.desk((30, room.right), (60, ESSAY), (20, room.picks("p", "m")))
    desk.judgements = [Left()]
    assert room.begin(desk).run() is None
    room.clock.pass_(7200)
    again = room.desk()
    card = room.resume(again).run()
    assert again.moments == []
    assert [sheet.text for sheet in again.sheets] == [ESSAY]
    assert (card.spent.used, card.spent.paused, card.overall) == (110, 0, 4.0)
    assert (card.spent.charged, room.diary.events(name="back")) == (0, [])
    kept = sittings(room.diary)[0].card
    assert kept is not None
    assert kept["overall"] == 4.0


def test_what_is_done_is_done(room):
    desk = room.desk((30, room.right), (60, ESSAY), (20, room.picks("p", "m")))
    room.begin(desk).run()
    [sitting] = sittings(room.diary)
    assert sitting.card is not None
    assert sitting.card == load(room.diary, sitting.session).card
    assert sitting.card["verdict"] == "pass"


@pytest.mark.parametrize(
    "odd",
    [
        {"judge": "x"},
        {"judge": []},
        {"used": float("inf")},
        {"paused": float("nan")},
        {"target": -1},
        {"heard": "right"},
    ],
)
def test_an_answer_that_no_interview_wrote_is_passed_by(room, odd):
    room.begin(room.desk((30, room.right), (5, Left("")))).run()
    [sitting] = sittings(room.diary)
    [bubble] = load(room.diary, sitting.session).answers.values()
    note = "mock:" + json.dumps(json.loads(bubble.note.removeprefix("mock:")) | odd)
    room.diary.append(replace(bubble, uuid="odd", undoes=bubble.uuid, note=note))
    assert [row.uuid for row in load(room.diary, sitting.session).answers.values()] == [bubble.uuid]
