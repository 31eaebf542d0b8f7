"""A question as `show` prints it: everything it knows, worked for one draw of its numbers."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from quizkit.bank.draw import number_of_draws, show_number
from quizkit.bank.formula import parse
from quizkit.bank.listed import listed
from quizkit.bank.model import Essay, Numeric
from quizkit.bank.reader import Bank
from quizkit.cli.app import app
from quizkit.tutor.asked import ask
from quizkit.ui.screens.parts import colon
from quizkit.ui.screens.reading import whole
from quizkit.ui.screens.worked import worked
from quizkit.ui.text.inline import inline
from quizkit.words import Lang, say

from . import shelf
from .test_screens import LANGS, drawn

LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.mark.parametrize("lang", LANGS)
def test_no_place_is_open_and_the_answer_is_that_of_the_draw_that_is_named(
    shipped: Bank, lang: Lang
):
    numbers = [q for q in shipped.questions.values() if isinstance(q, Numeric)]
    assert any("{answer}" in question.explain[lang] for question in numbers)
    assert sum(number_of_draws(question) > 1 for question in numbers) > 50
    for question in numbers:
        shown = drawn(whole(question, lang), 200)
        assert not re.search(r"\{\w+\}", shown), question.id
        if number_of_draws(question) == 1:
            continue
        asked = ask(question, 0)
        for name, value in asked.values.items():
            assert f"{name} = {show_number(value)}" in shown, question.id
        assert f"{say('bank.answer', lang)}  {show_number(asked.answer())}" in shown, question.id
        # Nobody reads how questions call the calculators; the command that works it out is named.
        assert not re.search(r"\b[a-z_]+\([a-z_]+=", shown.split(say("bank.proof", lang))[0])


@pytest.mark.parametrize("lang", LANGS)
def test_the_numbers_of_the_draw_are_put_into_the_formula(shipped: Bank, lang: Lang):
    shown = drawn(whole(shelf.questions()["number"], lang), 200)
    values = ask(shelf.questions()["number"], 0).values
    p, m = values["p"], values["m"]
    assert f"  (p − 1) / (m + p − 1) = ({p} − 1) / ({m} + {p} − 1) = 0." in shown
    # A slip is worked in the same way.
    assert f"- (p − 1) / m = ({p} − 1) / {m} = " in shown
    # What a calculator works out is told in words, with its own sum; the result is the answer.
    idle = drawn(whole(shipped.questions["pp/zb-h1-idle"], lang), 200).splitlines()
    assert "  A − B = 90 − 42 = 48 ms" in idle
    told = say("figure.pipeline_closed_bubble", lang)
    assert any(
        line.startswith(f"  A{colon(lang)}{told} = ") and line.endswith(" = 90") for line in idle
    )
    assert any("zb-h1" in line and "(4 − 1) × (12 + 10 − 8) = 42" in line for line in idle)


def test_every_sum_ends_in_the_answer(shipped: Bank):
    for question in shipped.questions.values():
        if isinstance(question, Numeric):
            asked = ask(question, 0)
            first, *told = worked(question.answer, asked.values, question.unit, "en")
            _, _, end = f"= {first}".rpartition("= ")
            number = end.removesuffix(question.unit).strip().translate(LOWERED)
            number = float(number.replace("×10", "e") if "×" in number else number)
            assert number == pytest.approx(float(asked.answer()), rel=1e-4), question.id
            assert [line[:3] for line in told] == [f"{x}: " for x in "ABCDEF"[: len(told)]]


@pytest.mark.parametrize(("z", "told"), [(1, "2 × b = 2 × 3 = 6"), (3, "b / 4 = 3 / 4 = 0.75")])
def test_a_sum_is_told_for_the_case_that_the_draw_is_in(z: int, told: str):
    cases = parse("2 * b if z < 3 else b / 4")
    assert [*worked(cases, {"b": 3, "z": z}, "", "en")] == [told]


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
@pytest.mark.parametrize("columns", [60, 80])
def test_a_search_shows_the_words_whole(
    terminal, shipped: Bank, tmp_path: Path, lang: Lang, columns: int
):
    command = ["-m", "quizkit", "search", "1F1B", "--lang", lang, "--limit", "4"]
    at = terminal(command, columns, 40, QUIZKIT_HOME=str(tmp_path), QUIZKIT_LANG=lang)
    assert at.close() == 0
    lines = at.text.split("\n")
    assert not any(line.endswith("…") or cell_len(line) > columns for line in lines)
    heads = [n for n, line in enumerate(lines) if line.split("  ")[0] in shipped.questions]
    assert len(heads) == 4
    for head, end in itertools.pairwise([*heads, heads[-1] + 3]):
        words = listed(shipped.questions[lines[head].split("  ")[0]]).title[lang]
        shown = "".join(lines[head + 1 : end]).replace(" ", "")
        assert len(shown) > 20
        assert inline(words, plain=True).plain.replace(" ", "").startswith(shown)


@pytest.mark.parametrize("command", [["search", "1F1B"], ["list", "--topic", "optim"]])
def test_a_pipe_gets_a_whole_line_for_each(shipped: Bank, tmp_path: Path, command: list[str]):
    env = {"COLUMNS": "60", "QUIZKIT_LANG": "en", "QUIZKIT_HOME": str(tmp_path)}
    shown = CliRunner().invoke(app, command, env=env).stdout.splitlines()
    found = json.loads(CliRunner().invoke(app, [*command, "--json"], env=env).stdout)["questions"]
    assert 10 < len(shown) - 1 <= len(found)
    at = shown[0].index("question")
    for line, each in zip(shown[1:], found, strict=False):
        words = listed(shipped.questions[each["id"]]).title.en
        assert line.split()[0] == each["id"]
        assert (line[at - 2 : at], line[at:]) == ("  ", inline(words, plain=True).plain)
