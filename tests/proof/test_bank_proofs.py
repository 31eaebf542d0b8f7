"""Every answer of the shipped bank is held against its run, and every key is changed once."""

from collections.abc import Iterator

import pytest

from quizkit.bank.model import Question
from quizkit.bank.reader import Bank
from quizkit.lab.bench import Bench
from quizkit.lab.catalogue import catalogue
from quizkit.paths import QUESTIONS
from quizkit.proof.prove import Court, on_bench

pytestmark = pytest.mark.demo
QUESTIONS_READ = [*Bank.load(QUESTIONS).questions.values()]
PROVABLE = [question for question in QUESTIONS_READ if question.proof]


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    demos = catalogue()
    with Bench() as bench:
        yield Court(demos, on_bench(bench, demos))


@pytest.mark.parametrize("question", PROVABLE, ids=lambda question: question.id)
def test_the_key_hangs_on_the_run(court: Court, question: Question):
    result = court.prove(question)
    assert result.status == "proved", result.reasons
    assert court.mutate(question).survived == ()
