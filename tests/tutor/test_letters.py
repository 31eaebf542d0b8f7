"""A formula typed where a formula or a number is asked."""

from dataclasses import replace

import pytest

from quizkit.bank.model import Cloze, Gap, Text
from quizkit.bank.reader import Bank
from quizkit.tutor.asked import ask
from quizkit.tutor.grade import grade
from quizkit.tutor.letters import formula, same
from quizkit.tutor.verdict import UnreadableError


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2(p-1)/p", "2*(p-1)/p"),
        ("２（p－1）÷p", "2 - 2/p"),
        ("(p-1)(m+1)", "p*m + p - m - 1"),
        ("2^p", "2**p"),
        ("T = 2p", "p*2"),
        ("3p·m", "3*m*p"),
        ("2[p-1]", "2p - 2"),
        ("0.5n", "n/2"),
    ],
)
def test_the_same_however_it_is_written(one: str, other: str):
    mine, theirs = formula(one), formula(other)
    assert mine
    assert theirs
    assert same(mine, theirs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(p-1)/p", "2(p-1)/p"),
        ("p", "m"),
        ("2*3", "6"),
        ("1/(p-p)", "p"),
        ("p-1", "p-m"),
        ("p", "p*m/m"),
    ],
)
def test_not_the_same(one: str, other: str):
    mine, theirs = formula(one), formula(other)
    assert mine
    assert theirs
    assert not same(mine, theirs)


@pytest.mark.parametrize(
    "text", ["", "p +", "all-reduce!", "import os", "p" * 400, "气泡", "1F1B = p p"]
)
def test_no_formula(text: str):
    assert formula(text) is None


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("2(n-1)/n", True),
        ("2 - 2/n", True),
        ("n/(n(n+1))", False),
        ("(n-1)/n", False),
        ("2·(n－1)／n", True),
        ("2 - 2/sqrt(n^2)", True),
        ("2 - 2/√(n*n)", True),
    ],
)
def test_a_number_is_also_its_formula(bank: Bank, typed: str, right: bool):
    for seed in range(5):
        asked = ask(bank.questions["comm/ring-share"], seed)
        verdict = grade(asked, typed)
        assert verdict.right is right or asked.values["n"] == 2
        assert verdict.number is not None
    wrong = grade(ask(bank.questions["comm/ring-share"], 3), "(n-1)/n")
    assert wrong.myth == "half-ring"  # the trap is named as for the number


@pytest.mark.parametrize("typed", ["2(k-1)/k", "n/(n-n)", "n n", "many"])
def test_what_is_no_formula_of_these_letters_is_asked_again(bank: Bank, typed: str):
    with pytest.raises(UnreadableError):
        grade(ask(bank.questions["comm/ring-share"], 3), typed)


def test_a_gap_that_is_a_formula(bank: Bank):
    cloze = bank.questions["pp/cloze"]
    assert isinstance(cloze, Cloze)
    text = Text("一共 [[gap1]] 步", "[[gap1]] steps in all")
    question = replace(cloze, text=text, gaps={"gap1": Gap(Text("2(N-1)", "2(N-1)"))})
    for typed in ("2(N-1)", "2N-2", "2 * N - 2", "2（N－1）"):
        assert grade(ask(question, 1), typed).right, typed
    for typed in ("2N", "N-1", "2(p-1)", "all-reduce"):
        assert not grade(ask(question, 1), typed).right, typed
