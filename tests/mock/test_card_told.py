"""What somebody who read a card stumbled over, and what the card says now."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from card_room import drawn, held
from room import Room

from quizkit.bank.model import RubricPoint, Text
from quizkit.mock.desk import Aside, Handed, Ticks
from quizkit.mock.first_words import cut, first_words
from quizkit.mock.kept_card import KeptLook, KeptRun, PracticeDay, PracticeTask
from quizkit.mock.printed import Beyond, printed
from quizkit.mock.quotes import quotes
from quizkit.mock.readback import read_card
from quizkit.words import Lang


def point(name, *keywords):
    return RubricPoint(points=1, says=Text(name, name), keywords=keywords)


def quoted(text, *points):
    return dict(zip([each.says.en for each in points], quotes(text, points), strict=True))


def flat(card, lang: Lang = "en", width=100):
    return " ".join(drawn(card, lang, width).split())


def spoken(room, script, folder):
    """The room with another script in it."""
    from quizkit.bank.mocks import read_mock

    script = read_mock(folder, script, [])
    assert script is not None
    room.script = script
    return room


# What is quoted


def test_the_sentence_with_the_most_keywords_is_quoted():
    text = "Norm is one word. The norm to clip by needs an all-reduce of squares. Norm again."
    found = quoted(text, point("clip", "norm", "clip", "all-reduce"))
    assert found["clip"] == "The norm to clip by needs an all-reduce of squares."


def test_of_sentences_with_as_many_the_longer_keyword_decides_then_the_first():
    text = "A rank. The flight recorder. Another rank."
    assert quoted(text, point("a", "rank", "flight recorder"))["a"] == "The flight recorder."
    assert quoted(text, point("a", "rank"))["a"] == "A rank."


def test_one_sentence_stands_for_two_points_only_where_there_is_no_other():
    hang = "Hang: no step finished for 5 times the median, names the rank."
    slow = "Slow: compute of a rank over the median."
    points = (
        point("hang", "hang", "median"),
        point("slow", "median", "names"),
        point("x", "5 times"),
    )
    found = quoted(f"{hang}\n{slow}", *points)
    assert found == {"hang": hang, "slow": slow, "x": hang}


def test_a_sentence_that_begins_with_the_points_own_heading_is_its_own():
    text = "Hang: no step for 5 times the median.\nSpike: loss of one rank over 5 sigma."
    spike = RubricPoint(
        points=1, says=Text("尖峰：5 倍", "Spike: a norm of 5 times"), keywords=("5 times",)
    )
    assert quotes(text, [spike]) == ("Spike: loss of one rank over 5 sigma.",)
    assert quotes("挂住：5 times。\n尖峰：单独看", [spike]) == ("尖峰：单独看",)


def test_a_point_that_no_sentence_speaks_of_has_no_quote():
    assert quoted("Nothing of that.", point("a", "rank")) == {"a": ""}


# What was lost


HINTED = (
    (9, "the network"),
    (5, Aside("h")),
    (9, "the stacks"),
    (9, "tp=16 pp=1"),
    (9, "4"),
    (9, Room.picks("p", "m")),
)


@pytest.fixture
def hinted(room, talk):
    return held(spoken(room, "small", talk), *HINTED, ticks=None)


def test_an_answer_that_lost_only_by_a_hint_says_so(hinted):
    assert hinted.step("hang").worth == 1
    assert "right; the hint cost 0.25" in flat(hinted)
    assert "答对，提示扣 0.25" in flat(hinted, "zh")


def test_a_right_answer_stands_in_no_list_of_losses(room):
    said = "activation, and the same bubble"
    steps = ((9, room.right), (9, said), (9, room.picks("p")))
    card = held(room, *steps, ticks=Ticks((0, 1), ()))
    text = flat(card)
    assert "Q2. Why 1F1B?: 100%" not in text
    assert "Q1, Q2" in text.partition("Wholly right")[2]


# How sure one was


def test_of_the_others_the_wrong_ones_are_named_and_free_answers_left_out(room):
    card = held(
        room,
        (5, Aside("!")),
        (9, room.right),
        (9, "activation"),
        (9, room.picks("p")),
        ticks=Ticks((0,), ()),
    )
    assert [each.right for each in card.answers if each.station == "why"] == [True]
    assert (card.calibration.unsaid_right, card.calibration.unsaid_wrong) == (0, 1)
    text = flat(card).partition("How sure")[2].partition("Answer by")[0]
    assert "The others: 1, right 0, wrong 1 Q3. What does the bubble depend on?" in text


def test_a_free_answer_one_was_sure_of_is_told_apart(room):
    steps = ((9, room.right), (5, Aside("!")), (9, "activation"), (9, room.picks("p", "m")))
    card = held(room, *steps, ticks=Ticks((0,), ()))
    text = flat(card).partition("How sure")[2]
    assert "free answers are not right or wrong: Q2. Why 1F1B? (75%)" in text


# What a run of other numbers says


def test_a_run_of_other_numbers_is_said_to_be_one(bad):
    run = KeptRun(
        said=Text("4", "4"), run=Text("1.25", "1.25"), demo="ddp", agrees=True,
        at="n=4, t=6", key=Text("1.25", "1.25"),
    )  # fmt: skip
    first, *rest = bad.answers
    card = replace(bad, answers=(replace(first, run=run), *rest))
    said = (
        "another run a recorded run with other numbers (n=4, t=6) measured 1.25; "
        "the formula gives 1.25 there"
    )
    assert said in flat(card, width=200)
    assert "另一组数（n=4, t=6）的录制运行测得 1.25；公式在那里也得 1.25" in flat(card, "zh", 200)
    away = replace(run, agrees=None, key=Text("1.5", "1.5"))
    card = replace(bad, answers=(replace(first, run=away), *rest))
    assert "公式在那里得 1.5" in flat(card, "zh", 200)


# Practice


def test_practice_names_the_step_it_is_for(bad):
    text = flat(bad).partition("Seven days")[2]
    assert "misconception, shown at Q1 follow-up" in text
    assert "went wrong at Q" in text
    assert "the same point)" not in text
    assert all(task.step for day in bad.practice for task in day.questions)


def test_days_that_only_repeat_say_so_once(bad):
    tasks = [PracticeTask(question=f"pp/{n}", why="practice", step="why") for n in range(4)]
    again = [replace(each, again=True) for each in tasks]
    days = [PracticeDay(day=1, questions=tuple(tasks))]
    days += [PracticeDay(day=n + 2, questions=(each,)) for n, each in enumerate(again)]
    text = flat(replace(bad, practice=tuple(days))).partition("Seven days")[2]
    assert text.count("once more") == 2  # in how it is made, and at the days
    assert "Days 2 to 5, once more" in text
    assert "(the same point as Q2)" in text


def test_who_was_right_with_a_hint_practises_nothing_for_it(room, talk):
    room = spoken(room, "small", talk)
    room.script = replace(
        room.script,
        stations=tuple(
            replace(each, practice=("pp/stages",)) if each.id == "hang" else each
            for each in room.script.stations
        ),
    )
    card = held(room, *HINTED)
    assert [each.hints for each in card.answers if each.station == "hang"] == [1]
    named = {task.question for day in card.practice for task in day.questions}
    assert "pp/stages" not in named


# Records


def test_records_left_unopened_are_counted_and_not_named(hinted):
    text = flat(hinted)
    assert "Records left unopened: 1" in text
    assert "Records never asked for" not in text
    assert not hinted.looks[0].missed


def test_a_record_whose_follow_up_was_missed_is_named(room, talk):
    card = held(
        spoken(room, "small", talk),
        (9, "the network"),
        (200, "the stacks"),
        (9, Handed("", passed=True)),
        (9, "tp=8 pp=2"),
    )
    assert card.step("unseen") is not None
    assert card.looks == (
        KeptLook(id="stacks", name=Text("调用栈", "the stacks"), seconds=30, missed="unseen"),
    )
    assert "the stacks; Q2 follow-up turned on it" in flat(card)
    assert "Records left unopened" not in flat(card)


# What to do next


def test_the_head_says_what_to_do_next_in_three_lines(bad):
    lines = drawn(bad, width=100).split("\n")
    start = lines.index("What to do next")
    text = " ".join(" ".join(lines[start + 1 :]).split()).partition("Dimensions")[0]
    assert start < 14
    assert "Weakest: correctness, 1.60 (pass mark 2); most was lost at Q1. " in text
    assert "Mend first: Less bubble (`pp/stages`, shown at Q1 follow-up)" in text
    assert "Day 1 (2026-03-01), practice begins: `quizkit study`" in text
    assert "接下来做什么" in drawn(bad, "zh")


def test_with_every_mark_reached_the_weakest_is_held_against_the_overalls(room):
    steps = ((9, "0.9"), (9, room.picks("activation memory")), (9, "activation, same bubble"))
    card = held(room, *steps, (9, room.picks("p", "m")), ticks=Ticks((0, 1), ()))
    assert "Weakest: numbers, 0.00 (pass mark of the overall 2.3); most was lost" in flat(card)


def test_who_lost_nothing_is_told_of_nothing_to_do(room):
    said = "activation, and the same bubble"
    steps = ((9, room.right), (9, said), (9, room.picks("p", "m")))
    assert "What to do next" not in drawn(held(room, *steps, ticks=Ticks((0, 1), ())))


# Names


@pytest.mark.parametrize(
    ("text", "columns", "wanted"),
    [
        ("It is 3:10, and a job on 4 ranks has been stuck for long", 40,
         "It is 3:10, and a job on 4 ranks has…"),
        ("At step 41203 of a pretraining run, the loss jumps", 40,
         "At step 41203 of a pretraining run…"),
        ("凌晨三点，一个任务已经卡住八分钟，没有报错也没有日志", 36,
         "凌晨三点，一个任务已经卡住八分钟…"),
        ("第一次用all-reduce的时候", 16, "第一次用…"),
        ("Non-interleaved 1F1B, where a stage has half the layers", 40,
         "Non-interleaved 1F1B, where a stage has…"),
        ("short", 40, "short"),
    ],
)  # fmt: skip
def test_a_name_is_cut_at_a_word_or_a_clause(text, columns, wanted):
    assert cut(text, columns) == wanted


def test_no_title_on_the_card_ends_within_a_word(bad):
    first, *rest = bad.answers
    title = "A colleague wrote ZeRO-1 by hand and moved a run from one GPU"
    named = replace(first, title=Text(first_words(title), first_words(title)))
    text = drawn(replace(bad, answers=(named, *rest)), plain=False)
    assert "moved…" in text or "and…" in text
    assert "mo…" not in text


def test_the_head_has_no_level_that_nobody_explains(bad):
    assert "level" not in drawn(bad).partition("Dimensions")[0]


# While the card is made


def test_something_stands_there_while_recorded_runs_are_looked_up(room):
    desk = room.desk((9, room.right), (9, "activation"), (9, room.picks("p", "m")))
    during = []

    @contextmanager
    def busy(text):
        during.append(text)
        yield
        during.append("over")

    desk.busy = busy
    interview = room.begin(desk)

    def tells(card):
        assert during, "nothing is shown"
        assert during[-1] != "over"
        return printed(card, Beyond(room.questions))

    interview._tells = tells
    interview.run()
    assert len(during) == 2
    assert "scorecard" in during[0]
    assert read_card(interview.sitting.card) is not None
