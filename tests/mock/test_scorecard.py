"""The numbers of a scorecard, worked out by hand."""

import json
from dataclasses import replace

import pytest

from quizkit.mock.desk import Ticks
from quizkit.mock.printed import printed


def hold(room, *steps, ticks=None):
    desk = room.desk(*steps)
    if ticks is not None:
        desk.judgements = [ticks]
    return room.begin(desk).run()


def test_dimensions_and_overall_by_hand(room):
    # bubble wrong, its probe right; the essay 3 of 4 points; one of two options, none wrong.
    card = hold(
        room,
        (10, "0.9"),
        (10, room.picks("activation memory")),
        (10, "activation"),
        (10, room.picks("p")),
    )
    by_name = {each.dimension: each.score for each in card.rated}
    # correctness: bubble 0 x 1, its probe 1 x 1, the essay 0.75 x 2, parts 0.5 x 1, over 5 shares.
    assert by_name["correctness"] == pytest.approx(4 * (0 + 1 + 1.5 + 0.5) / 5)
    assert by_name["numbers"] == 0.0
    assert by_name["communication"] == pytest.approx(4 * 0.75)
    assert card.overall == pytest.approx((50 * 2.4 + 30 * 0 + 20 * 3) / 100)
    assert not card.passed


def test_the_pass_mark_is_passed_by_reaching_it(room):
    # correctness 4 x (1 + 0.75 x 2 + 0) / 4 = 2.5; numbers 4; communication 3.
    steps = ((10, room.right), (10, "activation"), (10, room.picks("the hidden size")))
    card = hold(room, *steps)
    assert card.overall == pytest.approx((50 * 2.5 + 30 * 4 + 20 * 3) / 100)
    assert card.passed
    room.script = replace(room.script, pass_mark={"overall": card.overall})
    assert hold(room, *steps).passed
    room.script = replace(room.script, pass_mark={"overall": card.overall + 0.01})
    assert not hold(room, *steps).passed


def test_a_weak_dimension_fails_whatever_the_overall(room):
    # correctness 4 x (1 + 0.25 x 2 + 0) / 4 = 1.5 < 2, overall 50 x 1.5 + 30 x 4 + 20 x 1 = 2.15
    room.script = replace(room.script, pass_mark={"overall": 2.0, "correctness": 2.0})
    card = hold(
        room,
        (10, room.right),
        (10, "activation"),
        (10, room.picks("the hidden size")),
        ticks=Ticks((1,), ()),
    )
    assert card.overall == pytest.approx(2.15)
    assert not card.passed


def test_what_must_not_be_said_caps_the_overall_and_is_a_myth(room):
    said = "activation memory, the same bubble... or rather a smaller bubble"
    card = hold(room, (10, room.right), (10, said), (10, room.picks("p", "m")))
    # The veto halves the essay: correctness 4 x (1 + 0.5 x 2 + 1) / 4 = 3, numbers 4, expression 2.
    uncapped = (50 * 3 + 30 * 4 + 20 * 2) / 100
    assert uncapped > 2
    assert (card.overall, card.capped) == (2.0, True)
    assert card.myths == ("1f1b-cuts-bubble",)
    assert [text.en for mark in card.marks for text in mark.said] == ["the bubble shrinks"]


def test_what_is_printed_adds_up_and_is_kept(room):
    card = hold(
        room,
        (150, "0.9"),
        (10, room.picks("the bubble")),
        (10, "activation"),
        (10, room.picks("p", "m")),
    )
    told = printed(card)
    assert told == json.loads(json.dumps(told))
    assert told["schema"] == "quizkit/scorecard/2"
    for each in told["dimensions"]:
        shares = sum(part["share"] for part in each["evidence"])
        mean = sum(part["share"] * part["score"] for part in each["evidence"]) / shares
        assert each["score"] == pytest.approx(4 * mean, abs=1e-3)
    weights = sum(each["weight"] for each in told["dimensions"])
    weighted = sum(each["weight"] * each["score"] for each in told["dimensions"])
    assert told["overall"] == pytest.approx(weighted / weights, abs=1e-3)
    bubble, probe, why, parts = told["answers"]
    assert (bubble["seconds"], bubble["target"], bubble["probe"]) == (150, 120, False)
    assert (probe["station"], probe["probe"], probe["expected"]) == (
        "bubble-again",
        True,
        {"zh": "激活显存", "en": "activation memory"},
    )
    assert [each["en"] for each in why["hit"]] == ["names the activation peak"]
    assert [each["en"] for each in why["missed"]] == ["says the bubble stays"]
    assert why["expected"] is None
    assert (why["judge"], parts["judge"]) == ("learner", "key")
    assert told["myths"] == ["1f1b-cuts-bubble"]
    assert told["review"] == ["pp/bubble", "pp/stages"]
    assert told["time"]["used"] == 180
    [event] = room.diary.events(name="done")
    assert event.note["card"] == told
