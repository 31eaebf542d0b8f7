"""A question as `show` prints it: everything it knows, worked for one draw of its numbers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from quizkit.bank.draw import number_of_draws, show_number
from quizkit.bank.model import Essay, Numeric
from quizkit.bank.reader import Bank
from quizkit.tutor.asked import ask
from quizkit.ui.screens.reading import whole
from quizkit.words import Lang, say

from . import shelf
from .test_screens import LANGS, drawn


@pytest.mark.parametrize("lang", LANGS)
def test_no_place_is_left_open(shipped: Bank, lang: Lang):
    numbers = [q for q in shipped.questions.values() if isinstance(q, Numeric)]
    assert any("{answer}" in question.explain[lang] for question in numbers)
    for question in numbers:
        shown = drawn(whole(question, lang))
        assert not re.search(r"\{\w+\}", shown), question.id


@pytest.mark.parametrize("lang", LANGS)
def test_the_answer_is_the_number_of_the_draw_that_is_named(shipped: Bank, lang: Lang):
    drawn_ones = [
        q for q in shipped.questions.values() if isinstance(q, Numeric) and number_of_draws(q) > 1
    ]
    assert len(drawn_ones) > 50
    for question in drawn_ones:
        shown = drawn(whole(question, lang), 200)
        asked = ask(question, 0)
        for name, value in asked.values.items():
            assert f"{name} = {show_number(value)}" in shown, question.id
        assert f"{say('bank.answer', lang)}  {show_number(asked.answer())}" in shown, question.id
        # Nobody reads how questions call the calculators; the command that works it out is named.
        assert not re.search(r"\b[a-z_]+\([a-z_]+=", shown.split(say("bank.proof", lang))[0])


def test_where_a_number_comes_from_is_a_formula_or_a_calculator(shipped: Bank):
    shown = drawn(whole(shelf.questions()["number"], "en"), 200)
    assert re.search(r"Answer  0\.\d+ = \(p - 1\) / \(m \+ p - 1\)\n", shown)
    calculated = next(
        q
        for q in shipped.questions.values()
        if isinstance(q, Numeric) and "traffic_zero_bytes" in q.answer.calls
    )
    assert "(quizkit calc traffic)" in drawn(whole(calculated, "en"), 200)


def test_what_must_not_be_said_stands_under_one_title():
    essay = shelf.questions()["essay"]
    assert isinstance(essay, Essay)
    shown = drawn(whole(replace(essay, vetoes=essay.vetoes * 2), "en"))
    assert shown.count(say("bank.vetoes", "en")) == 1
    assert shown.count("- says it saves memory: It does not.") == 2


def test_an_option_and_its_verdict_do_not_run_into_one_sentence():
    shown = drawn(whole(shelf.questions()["single"], "en"))
    assert "wrong: one\n" in shown
    # Set in below it: it is not one more option.
    assert "\n    No room for the block arriving.\n" in shown
    assert "- No room" not in shown


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_search_uses_the_whole_line(terminal, tmp_path: Path, lang: str, columns: int):
    command = ["-m", "quizkit", "search", "1F1B", "--lang", lang, "--limit", "6"]
    at = terminal(command, columns, 40, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG=lang)
    assert at.close() == 0
    cut = [line for line in at.text.split("\n") if line.endswith("…")]
    assert cut
    assert all(cell_len(line) >= columns - 2 for line in cut)
    # A line of their own where ids and kinds would leave them half of it.
    assert all(line.startswith("  ") is (columns < 120) for line in cut)
