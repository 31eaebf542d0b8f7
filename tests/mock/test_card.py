"""What comes after the clock: the card as data, on a screen, as Markdown and as a page."""

import json
import re
from dataclasses import replace

import pytest
from card_room import drawn, held
from rich.console import Console

from quizkit.bank.model import Text
from quizkit.export.card_html import card_html
from quizkit.export.card_markdown import card_markdown
from quizkit.mock.attempts import attempts
from quizkit.mock.desk import Ticks
from quizkit.mock.first_words import first_words
from quizkit.mock.readback import read_card, written
from quizkit.mock.sitting import sittings
from quizkit.ui.mock.history_screen import history_screen


def test_a_card_is_read_back_as_it_was_written(bad):
    data = json.loads(json.dumps(written(bad)))
    assert read_card(data) == bad
    assert data["schema"] == "quizkit/scorecard/2"
    assert data["pass"] == {"overall": 2.3, "correctness": 2}


@pytest.mark.parametrize("wrong", [{"answers": 1}, {"time": None}, {"overall": "x"}, {"at": None}])
def test_a_card_of_another_shape_is_none_at_all(bad, wrong):
    assert read_card({**written(bad), **wrong}) is None
    assert read_card([]) is None


def test_nothing_of_a_card_reaches_the_terminal_as_a_command(bad):
    card = read_card({**written(bad), "notes": ["\x1b[2Jgone\x9b"]})
    assert card is not None
    assert card.notes == ("[2Jgone",)


def test_the_old_edition_is_still_a_card(old_card):
    card = read_card(old_card)
    assert card is not None
    assert "No pass" in drawn(card)
    assert "key" in drawn(card)
    assert card_markdown(card, "zh").startswith("# 面试评分：A pipeline screen")
    assert "<h1>" in card_html(card, "en")


def test_steps_have_names_in_words_and_evidence_says_why(bad):
    text = " ".join(drawn(bad, width=200).split())
    assert "Q2. Why 1F1B?: 75%, 40% of this dimension" in text
    assert "missed: says the bubble stays" in text
    assert "your words: Less activation memory, at the price of $5 and $6." in text
    answered = re.search(r"answered 0\.9; the key is 0\.\d+", text)
    assert answered
    # No slug but of the questions to practise and the demos to run.
    before = text.partition("Dimensions")[2].partition("Seven days")[0]
    assert "bubble-again" not in before
    assert "pp/" not in before


def test_a_veto_that_was_heard_and_not_ticked_is_told_as_such(bad):
    assert "Heard by keyword, but not ticked by you: the bubble shrinks" in drawn(bad, width=120)
    assert not bad.capped


def test_a_veto_that_stands_caps_and_is_told(room):
    card = held(
        room,
        (9, room.right),
        (9, "activation, same bubble"),
        (9, room.picks("p", "m")),
        ticks=Ticks((0, 1), (0,)),
    )
    text = drawn(card, width=120)
    assert "Said, and not taken back: the bubble shrinks" in text
    assert "the overall is capped at 2" in text


def test_how_sure_one_was_is_held_against_what_came(bad):
    found = bad.calibration
    assert (found.sure_right, found.sure_wrong) == (0, 1)
    assert "Answers you were sure of: 1 (0 right, 1 wrong)" in drawn(bad)


def test_keywords_alone_are_said_to_have_decided(room):
    card = held(
        room,
        (9, room.right),
        (9, "activation"),
        (9, room.picks("p", "m")),
        ticks=Ticks((0,), (), confirmed=False),
    )
    by_name = {each.name: each.words for each in card.dimensions}
    assert by_name == {"correctness": 0.5, "numbers": 0.0, "communication": 0.5}
    assert "Keywords alone decided 50% of this dimension" in drawn(card)


def test_what_was_not_answered_was_decided_by_no_keywords(room):
    missing = held(room, (700, room.right))
    assert {each.words for each in missing.dimensions} == {0.0}


def test_an_answer_not_wholly_right_has_a_model_answer(bad):
    assert bad.step("bubble").model == Text("如题", "As stated")
    assert bad.step("why").model == Text("如题", "As stated")
    assert "a good answer" in drawn(bad)


def test_the_time_is_a_picture_with_the_target_marked(bad):
    picture = drawn(bad, plain=False)
    time = picture.partition("Every question was asked")[2].partition("How sure")[0]
    bars = re.findall(r"[#.|]{8,}", time)
    assert len(bars) == 4
    assert all(bar.count("|") == 1 for bar in bars)
    assert "#" not in drawn(bad, plain=True).replace("Q#", "")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_line_is_wider_than_the_terminal(bad, width, lang):
    from rich.cells import cell_len

    lines = drawn(bad, lang, width, plain=False).split("\n")
    assert max(map(cell_len, lines)) <= width


def test_practice_is_the_same_each_time_and_each_question_comes_twice(bad, room):
    days = [(day.day, [(t.question, t.again) for t in day.questions]) for day in bad.practice]
    asked = [task for _, tasks in days for task in tasks]
    assert days[0][0] == 1
    assert days[-1][0] == 7
    assert all(2 <= len(tasks) <= 4 for _, tasks in days)
    firsts = [name for name, again in asked if not again]
    assert sorted(firsts) == sorted(name for name, again in asked if again)
    # The misconception that was shown comes first, and what was right not at all.
    assert bad.practice[0].questions[0].why == "myth"
    assert len(firsts) == len(set(firsts))


def test_who_was_wholly_right_has_nothing_to_practise(room):
    said = "activation, and the same bubble"
    steps = ((9, room.right), (9, said), (9, room.picks("p", "m")))
    assert held(room, *steps, ticks=Ticks((0, 1), ())).practice == ()


def test_the_page_needs_nothing_and_tells_nothing_else(bad, monkeypatch, tmp_path):
    monkeypatch.setenv("USER", "somebody")
    for lang in ("zh", "en"):
        page = card_html(bad, lang)
        assert not re.search(r"https?://|<script|<link|@import|url\(", page)
        assert "prefers-color-scheme: dark" in page
        assert "somebody" not in page
        assert "/home" not in page
        assert bad.session not in page
        # The learner's words are shown and never markup.
        assert "ask for &lt;b&gt;p&lt;/b&gt; first" in page
        assert "at the price of $5 and $6." in page
    assert 'lang="zh-CN"' in card_html(bad, "zh")


def test_markdown_has_the_same_and_keeps_the_learners_words(bad):
    text = card_markdown(bad, "en")
    assert text.startswith("# Scorecard: A pipeline screen\n")
    assert "## Dimensions" in text
    assert "price of \\$5 and \\$6." in text
    assert bad.session not in text


def test_history_tells_the_difference_to_the_attempt_before(room):
    steps = ((9, "0.9"), (9, room.picks("activation memory")), (9, "x"))
    held(room, *steps, (9, "1 2 3"), (9, room.picks("p")), ticks=Ticks((), ()))
    better = ((9, room.right), (9, "activation, same bubble"), (9, room.picks("p", "m")))
    held(room, *better, ticks=Ticks((0, 1), ()))
    last, first = attempts(sittings(room.diary))
    assert first.change is None
    assert last.change is not None
    assert last.change.overall == pytest.approx(last.overall - first.overall, abs=1e-3)
    assert last.change.dimensions["numbers"] > 0
    console = Console(width=80)
    with console.capture() as shown:
        console.print(history_screen([last, first], "zh"))
    assert f"+{last.change.overall:.2f}" in shown.get()


def test_history_lists_an_old_card_and_one_that_is_hardly_one(room, old_card):
    held(room, (9, room.right), (9, "activation"), (9, room.picks("p")), ticks=Ticks((), ()))
    [sitting] = sittings(room.diary)
    old, torn = (
        replace(sitting, card=old_card),
        replace(sitting, card={"verdict": "fail", "overall": 1, "best": 4}),
    )
    found = attempts([sitting, old, torn])
    assert [each.overall for each in found[1:]] == [1.5, 1.0]
    assert found[1].dimensions == {"correctness": 1.5}
    assert found[2].dimensions == {}


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("第二次。4 张卡的 DDP 慢了。先看什么？", "第二次。4 张卡的 DDP 慢了"),
        ("The second one. DDP is slow. What next?", "The second one. DDP is slow"),
        ("`a` and **b**?", "a and b?"),
        ("With {n} ranks, how many bytes does each of them send in one step of it?",
         "With … ranks, how many bytes does each of them send in…"),
    ],
)  # fmt: skip
def test_a_question_is_named_by_how_it_begins(prompt, wanted):
    assert first_words(prompt) == wanted
