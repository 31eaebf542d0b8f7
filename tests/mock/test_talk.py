"""What is said beside an answer: hints, looks, facts, notes; each is kept, and has its price."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Room

from quizkit.bank.mocks import mock_problems
from quizkit.bank.model import Exhibit
from quizkit.bank.reader import Bank
from quizkit.diary import Diary
from quizkit.mock.desk import Aside, Handed, Left, OpenQuestion, Ticks
from quizkit.mock.printed import printed
from quizkit.mock.scorecard import Scorecard
from quizkit.mock.written import read_written


@pytest.fixture
def room(talk: Path, tmp_path: Path) -> Iterator[Room]:
    with Diary(tmp_path / "diary.sqlite3") as diary:
        yield Room(talk, diary)


NETWORK = ("the network", "NVLink between GPUs.")
BATCH = ("the batch", "The batch is yours to choose.")


def card_of(room: Room, *steps: tuple[float, object]) -> tuple[Scorecard, list[OpenQuestion]]:
    """Hold the interview; nobody is there to tick."""
    desk = room.desk(*steps)  # pyright: ignore[reportArgumentType]
    desk.judgements = [lambda sheet: Ticks(sheet.points, sheet.vetoes, confirmed=False)] * 9
    card = room.begin(desk).run()
    assert card is not None
    return card, desk.moments


def marked(card: Scorecard) -> dict[str, float]:
    return {mark.station.id: mark.score for mark in card.marks}


def test_the_script_is_in_order(talk):
    assert [str(each) for each in mock_problems(talk, Bank.load(talk), {})] == []


def test_questions_that_are_the_answer_bring_out_facts(room):
    _, moments = card_of(
        room, (9, "how fast is the network?"), (9, "stacks"), (9, "tp=8 pp=2"), (9, "1 2")
    )
    assert [moment.talk.told for moment in moments] == [(), *[(NETWORK,)] * 3]


def test_a_question_beside_the_answer_is_answered_or_not(room):
    desk = room.desk(
        (5, Aside("what is the batch?", "so far")),
        (5, Aside("who are you?", "so far on")),
        (5, Left("so far on")),
    )
    assert room.begin(desk).run() is None
    first, second, third = desk.moments
    assert (first.talk.told, second.talk.told) == ((), (BATCH,))
    assert second.message is None
    assert (second.draft, third.draft) == ("so far", "so far on")
    assert third.message == ("mock.no_fact", {})


def test_what_was_told_before_is_said_again(room):
    desk = room.desk((5, Aside("the batch?")), (5, Aside("batch, please")), (5, Left()))
    room.begin(desk).run()
    assert [moment.message for moment in desk.moments] == [
        None, None, ("mock.reply", {"text": BATCH[1]})
    ]  # fmt: skip


def test_where_questions_are_the_answer_those_asked_beside_it_count(room):
    desk = room.desk((5, Aside("how fast is the network?")), (5, "that is all"), (5, Left()))
    room.begin(desk).run()
    assert [*desk.moments[-1].talk.told] == [NETWORK]
    [row] = [row for row in room.diary.answers() if row.question.endswith("ask-first")]
    assert row.given == {
        "text": "that is all\nhow fast is the network?", "points": [0], "vetoes": []
    }  # fmt: skip


def test_a_note_keeps_its_own_signs(room):
    desk = room.desk((5, Aside("n 机内 450，机间 50")), (5, Aside("Ｎ　全角：也算")), (5, Left()))
    room.begin(desk).run()
    assert desk.moments[-1].talk.notes == ("机内 450，机间 50", "全角：也算")


@pytest.mark.parametrize(
    "typed", ["tp=8 pp=2", "TP8 PP2", "tp: 8，pp 2", "ＴＰ＝８　ＰＰ＝２", "tp8pp2"]
)
def test_a_layout_is_read_as_people_write_it(room, typed):
    write = room.script.stations[2].write
    assert write is not None
    assert read_written(write, typed) == {"tp": 8, "pp": 2}


def test_a_hint_costs_a_quarter_of_a_point_of_four(room):
    hints = [(9, Aside("h")), (9, Aside("提示")), (9, Aside("hint"))]
    card, moments = card_of(
        room, (9, "network"), *hints, (9, "stacks"), (9, room.picks("p", "m")),
        (9, "tp=8 pp=2"), (9, room.picks("p", "m")),
    )  # fmt: skip
    assert moments[3].talk.hints == ("Who waits for whom?", "The stacks.")
    assert moments[4].message == ("mock.no_hint", {})
    assert marked(card)["hang"] == 1 - 2 / 16
    assert "helped" in marked(card)


def test_a_look_takes_its_time_from_the_clock_once(room):
    desk = room.desk(
        (10, "network"), (10, Aside("1", "who")), (10, Aside("1", "who")),
        (10, Aside("7")), (10, Left("who")),
    )  # fmt: skip
    room.begin(desk).run()
    exhibits = [[seen.exhibit for seen in moment.talk.looks] for moment in desk.moments[1:]]
    there = Exhibit("stacks", "rank 0 waits in recv")
    assert exhibits == [[None], [there], [there], [there]]
    assert desk.moments[4].message == ("mock.no_look", {"last": 1})
    assert desk.moments[4].timer.left() == 20 * 60 - 50 - 30
    assert desk.moments[4].timer.spent() == 40 + 30


def test_who_did_not_look_is_asked_and_who_did_is_not(room):
    picks = room.picks("p", "m")
    card, _ = card_of(
        room, (9, "network"), (90, "stacks"), (9, "1 2 3"), (9, "tp=8 pp=2"), (9, picks)
    )
    assert "unseen" in marked(card)
    card, _ = card_of(
        room, (9, "network"), (90, Aside("1")), (9, "stacks"), (9, "tp=8 pp=2"), (9, picks)
    )
    assert "unseen" not in marked(card)


def test_a_veto_that_was_heard_counts_only_if_it_is_believed(room):
    """`I would not raise the time-out` has its words too."""
    card, _ = card_of(
        room, (9, "network"), (9, "stacks; I would never raise the time-out"),
        (9, room.picks("activation memory")), (9, "tp=8 pp=2"), (9, room.picks("p", "m")),
    )  # fmt: skip
    assert marked(card)["hang"] == 1
    assert not card.capped
    card, _ = card_of(
        room, (9, "network"), (9, "stacks, and raise the time-out"),
        (9, room.picks("the bubble")), (9, "tp=8 pp=2"), (9, room.picks("p", "m")),
    )  # fmt: skip
    assert marked(card)["hang"] == 0.5
    assert [text.en for mark in card.marks for text in mark.said] == ["raise the time-out"]
    assert card.capped or card.overall <= 2


def test_free_text_that_nobody_ticked_is_half_at_most(room):
    def overall(layout: str) -> dict[str, float]:
        card, _ = card_of(
            room, (9, "network"), (9, "stacks"), (9, layout), (9, Handed("", passed=True))
        )
        return {each.dimension: each.score for each in card.rated}

    # Words: 2 of 2 shares of 5; keys: the layout (share 2) and an unanswered choice (share 1).
    assert overall("tp=8 pp=2")["correctness"] == pytest.approx(4 * (2 / 5 + 2 / 5))
    assert overall("tp=4 pp=2")["correctness"] == pytest.approx(4 * (2 / 5 + 2 / 5 / 4))


def test_where_nothing_else_speaks_words_are_worth_half(room):
    script = room.script
    first = replace(script.stations[0], speaks={"communication": 1})
    room.script = replace(
        script,
        weights={**script.weights, "communication": 10},
        stations=(first, *script.stations[1:]),
    )
    steps = (9, "network"), (9, "stacks"), (9, "tp=8 pp=2"), (9, room.picks("p", "m"))
    card, _ = card_of(room, *steps)
    assert {each.dimension: each.score for each in card.rated}["communication"] == 2
    desk = room.desk(*steps)
    desk.judgements = [Ticks((0,), ())] * 2
    ticked = room.begin(desk).run()
    assert ticked is not None
    assert {each.dimension: each.score for each in ticked.rated}["communication"] == 4


def test_what_was_said_outlives_a_kill(room):
    desk = room.desk(
        (9, Aside("n ask about memory")), (9, Aside("!")), (9, Aside("t")),
        (9, "网络"), (9, Aside("h")), (9, Aside("1", "写到一半")), (9, Left("写到一半")),
    )  # fmt: skip
    room.begin(desk).run()
    again = room.desk((9, Left()))
    room.resume(again).run()
    [moment] = again.moments
    assert moment.lang == "zh"
    assert moment.draft == "写到一半"
    assert moment.talk.hints == ("谁在等谁？",)
    assert moment.talk.told == (("网络", "卡间是 NVLink。"),)
    assert moment.talk.notes == ("ask about memory",)
    assert [seen.exhibit is not None for seen in moment.talk.looks] == [True]
    [row] = [row for row in room.diary.answers() if row.question.endswith("ask-first")]
    assert (row.sure, row.lang) == (True, "zh")
    used = 20 * 60 - moment.timer.left()
    assert used == pytest.approx(9 * 8 + 30)


def test_a_layout_is_checked_and_followed_up(room):
    assert [step.id for _, step in room.script.placed()][-3:] == ["layout", "roughly", "late"]
    card, moments = card_of(
        room, (9, "network"), (9, "stacks"), (9, "TP：16，pp=1"), (9, "16"),
        (9, room.picks("p", "m")),
    )  # fmt: skip
    assert [moment.asked.question.id.split("/")[-1] for moment in moments][-2:] == [
        "roughly",
        "parts",
    ]
    assert marked(card)["layout"] == 3 / 4
    assert marked(card)["roughly"] == 0
    _, moments = card_of(
        room, (9, "network"), (9, "stacks"), (9, "eight"), (9, "tp=8"), (9, "tp=8 pp=2 dp=1"),
        (9, "tp=8 pp=2"), (9, room.picks("p", "m")),
    )  # fmt: skip
    misread = [moment.message and moment.message[0] for moment in moments[3:6]]
    assert misread == ["mock.layout_misread"] * 3


def test_a_station_is_left_out_where_time_is_short(room):
    card, _ = card_of(room, (9, "network"), (120, "stacks"), (9, "1 2 3"), (9, "tp=8 pp=2"))
    assert "late" not in marked(card)


def test_the_same_session_draws_the_same(room, tmp_path):
    def seeds(diary: Diary) -> list[int]:
        room.diary = diary
        desk = room.desk((9, "network"), (9, "stacks"), (9, "tp=8 pp=2"), (9, "1 2"))
        room.begin(desk, session="one").run()
        return [moment.asked.seed for moment in desk.moments]

    with Diary(tmp_path / "first") as first, Diary(tmp_path / "second") as second:
        drawn = seeds(first)
        assert len({*drawn}) == 4
        assert seeds(second) == drawn


def test_a_fact_of_one_station_is_not_told_at_another(room):
    batch = replace(room.script.facts[1], about=("hang",))
    room.script = replace(room.script, facts=(room.script.facts[0], batch))
    desk = room.desk(
        (5, Aside("what is the batch?")), (5, "network"), (5, Aside("what is the batch?")),
        (5, "stacks"), (5, Left()),
    )  # fmt: skip
    room.begin(desk).run()
    assert desk.moments[1].message == ("mock.no_fact", {})
    assert [moment.talk.told for moment in desk.moments[2:]] == [
        (NETWORK,), (NETWORK, BATCH), (NETWORK,)
    ]  # fmt: skip


def test_a_record_is_had_in_words_and_what_costs_nothing_lies_there(room):
    hang = room.script.stations[1]
    [stacks] = hang.looks
    free = replace(stacks, id="free", seconds=0)
    asked = replace(hang, looks=(replace(stacks, keywords=("stack of each",)), free))
    first, _, *rest = room.script.stations
    room.script = replace(room.script, stations=(first, asked, *rest))
    desk = room.desk(
        (5, "network"), (5, Aside("the loss?")), (5, Aside("show me the stack of each rank")),
        (5, Aside("2")), (5, Left()),
    )  # fmt: skip
    room.begin(desk).run()
    shown = [[seen.exhibit is not None for seen in moment.talk.looks] for moment in desk.moments]
    assert shown[1:] == [[False, True], [False, True], [True, True], [True, True]]
    assert desk.moments[2].message == ("mock.no_fact", {})
    assert desk.moments[-1].timer.left() == 20 * 60 - 25 - 30


def test_what_lies_there_was_seen_and_is_no_record_left_unopened(room):
    hang = room.script.stations[1]
    lies = replace(hang.looks[0], seconds=0)
    first, _, *rest = room.script.stations
    room.script = replace(room.script, stations=(first, replace(hang, looks=(lies,)), *rest))
    card, _ = card_of(
        room, (9, "network"), (90, "stacks"), (9, "tp=8 pp=2"), (9, room.picks("p", "m"))
    )
    assert "unseen" not in marked(card)  # `not look1` brings it about
    assert printed(card)["looks"] == []
