"""A draw that no row is like is run too: a law may hold only at the rows."""

import pytest

from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report, Setting
from quizkit.proof.prove import Prover
from quizkit.proof.undrawn import undrawn

from .conftest import Brings, Read

# What is measured is ceil(m / p); the key leaves out that it is rounded up.
NUMBER = """kind: numeric
assume: [{zh: 一步多长, en: the length of a step}]
params: {p: [2, 3, 4], m: [6, 12, 14, 700]}
answer: m / p
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m}
  at: [{p: 2, m: 6}, {p: 3, m: 6}, {p: 3, m: 12}, {p: 4, m: 12}]
  claims: [makespan_1f1b == answer]
"""


@pytest.fixture
def prover(pipeline: Demo, brings: Brings) -> Prover:
    def run(wanted: Setting) -> Report:
        size = dict(wanted.args)["microbatches"]
        assert isinstance(size, int)
        metrics = {"makespan_1f1b": -(-size // wanted.ranks)}
        return brings(ranks=wanted.ranks, args=dict(wanted.args), metrics=metrics)

    return Prover({"pipeline": pipeline}, run)


def test_a_law_of_numbers_that_divide_is_tried_where_they_do_not(question: Read, prover: Prover):
    assert prover.prove(question(NUMBER)).status == "proved"
    (said,) = prover.mutate(question(NUMBER), deep=True).elsewhere
    assert said.en.startswith("the key does not hold at p=3, m=14, which learners draw")
    assert prover.mutate(question(NUMBER)).elsewhere == ()


def test_a_law_that_holds_there_too_stands(question: Read, prover: Prover):
    right = NUMBER.replace("answer: m / p", "answer: ceil(m / p)")
    right = right.replace("{p: 4, m: 12}]", "{p: 4, m: 12}, {p: 4, m: 14}]")
    assert prover.prove(question(right)).status == "proved"
    assert prover.mutate(question(right), deep=True).elsewhere == ()


def test_rows_of_every_kind_leave_nothing_to_run(question: Read, prover: Prover):
    every = NUMBER.replace("m: [6, 12, 14, 700]", "m: [6, 14]")
    every = every.replace("{p: 3, m: 12}, {p: 4, m: 12}", "{p: 4, m: 6}, {p: 4, m: 14}")
    every = every.replace("{p: 4, m: 14}", "{p: 4, m: 14}, {p: 3, m: 14}, {p: 2, m: 14}")
    assert [*undrawn(question(every), prover.demos)] == []


def test_a_draw_too_large_to_be_run_is_left(question: Read, prover: Prover):
    drawn = [each.drawn for each in undrawn(question(NUMBER), prover.demos)]
    assert drawn
    assert all(each["m"] < 700 for each in drawn)


def test_a_draw_that_no_learner_runs_is_run_here(question: Read, prover: Prover):
    # All are like some row, and `when` keeps them off the learner's machine.
    every = NUMBER.replace("m: [6, 12, 14, 700]", "m: [6, 14]")
    every = every.replace("{p: 3, m: 12}, {p: 4, m: 12}", "{p: 4, m: 6}, {p: 4, m: 14}")
    every = every.replace("{p: 4, m: 14}", "{p: 4, m: 14}, {p: 3, m: 14}, {p: 2, m: 14}")
    kept = every.replace("  claims:", "  when: p < 4\n  claims:")
    assert [each.drawn["p"] for each in undrawn(question(kept), prover.demos)] == [4]
