"""What is drawn for an asking, and what becomes of a question whose numbers cannot be drawn."""

from pathlib import Path

import pytest

from quizkit.bank.reader import Bank
from quizkit.errors import UsageError
from quizkit.tutor.asked import ask

NUMERIC = """\
kind: numeric
level: 2
prompt: "{p}"
params: {p: [3]}
answer: p
explain: e
sources: [a paper]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("answer: p", "answer: 1 / (p - 3)", "division by zero"),
        ("answer: p", "answer: p > 3", "a truth value, not a number"),
        ("answer: p", "where: 1 / (p - 3) > 0\nanswer: p", "`where` at {'p': 3}"),
        ("answer: p", "where: p > 3\nanswer: p", "`where` lets no draw through"),
    ],
)
def test_a_number_that_cannot_be_drawn_is_one_bad_question(
    tmp_path: Path, old: str, new: str, said: str
):
    # A session passes over what raises this, and asks the others.
    (tmp_path / "pp").mkdir()
    (tmp_path / "pp" / "q.yaml").write_text(NUMERIC.replace(old, new))
    with pytest.raises(UsageError) as caught:
        ask(Bank.load(tmp_path).questions["pp/q"], 1)
    assert "pp/q.yaml" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("p / 11", "0.273"),
        ("2.59046", "2.59"),
        ("12345.678", "12346"),
        ("p * 10 ** 9", "3000000000"),
        ("p * 10 ** -6", "3e-06"),
        ("p", "3"),
    ],
)
def test_words_say_a_number_as_one_says_it(tmp_path: Path, answer: str, said: str):
    (tmp_path / "pp").mkdir()
    told = NUMERIC.replace("answer: p", f"answer: {answer}").replace(
        "explain: e", 'explain: "{answer}"'
    )
    (tmp_path / "pp" / "q.yaml").write_text(told)
    asked = ask(Bank.load(tmp_path).questions["pp/q"], 1)
    assert asked.fill(asked.question.explain, "en") == said
