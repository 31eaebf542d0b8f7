"""A typed line becomes the answer that was meant, or is asked again."""

import pytest

from quizkit.bank.reader import Bank
from quizkit.mock.misread import MisreadError
from quizkit.mock.typed import read
from quizkit.tutor.asked import ask


@pytest.fixture(scope="module")
def questions(folder):
    return Bank.load(folder).questions


@pytest.mark.parametrize("typed", ["1 3", "13", "3, 1", "１、３", " 1 3 ", "1.3"])
def test_numbers_are_those_on_the_screen(questions, typed):
    asked = ask(questions["pp/parts"], 5)
    picked = read(asked, typed)
    assert isinstance(picked, list)
    assert {*picked} == {asked.order[0], asked.order[2]}
    assert len(picked) == 2


def test_one_option_alone(questions):
    asked = ask(questions["pp/stages"], 2)
    assert read(asked, "2") == [asked.order[1]]


@pytest.mark.parametrize("typed", ["3 1 2", "312", "3 > 1 > 2", "3->1->2"])
def test_steps_in_order(questions, typed):
    question = questions["pp/order"]
    asked = ask(question, 4)
    assert read(asked, typed) == [question.steps[asked.order[n]].id for n in (2, 0, 1)]


def test_gaps_in_order(questions):
    asked = ask(questions["pp/gaps"], 0)
    assert read(asked, "all reduce； 1F1B") == {"gap1": "all reduce", "gap2": "1F1B"}


@pytest.mark.parametrize(
    ("name", "typed", "key"),
    [
        ("pp/stages", "1 2", "pick_one"),
        ("pp/stages", "0", "pick_one"),
        ("pp/stages", "4", "pick_one"),
        ("pp/stages", "memory", "pick_one"),
        ("pp/parts", "1 1", "pick_several"),
        ("pp/order", "1 2", "all_steps"),
        ("pp/order", "1 2 2", "all_steps"),
        ("pp/gaps", "all-reduce", "all_gaps"),
        ("pp/gaps", "all-reduce;", "all_gaps"),
        ("pp/gaps", " ", "nothing_typed"),
        ("pp/bubble", "", "nothing_typed"),
    ],
)
def test_what_is_no_answer_says_what_is(questions, name, typed, key):
    with pytest.raises(MisreadError) as error:
        read(ask(questions[name], 1), typed)
    assert error.value.note[0] == f"mock.{key}"
