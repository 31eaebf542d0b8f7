"""The shipped bank, as far as it can be judged without running anything."""

import subprocess
import sys
from graphlib import TopologicalSorter

from quizkit.bank.lint import common_questions
from quizkit.bank.model import Bug, Trace
from quizkit.bank.reader import Bank
from quizkit.cli.laboratory import Laboratory
from quizkit.paths import DEMOS, QUESTIONS


def test_lint_has_nothing_to_say_not_even_a_warning():
    command = [sys.executable, "-m", "quizkit", "bank", "lint", "--strict", "--lang", "en"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=DEMOS.parent)
    assert done.returncode == 0, done.stderr


def test_the_index_of_the_common_questions_is_whole():
    names = [*common_questions(QUESTIONS, [])]
    parts = {"basics": 15, "plain-talk": 5, "flash-ddp": 18, "three-d": 23, "deep-dive": 9}
    assert names == [f"{part}-{n}" for part, count in parts.items() for n in range(1, count + 1)]


def test_every_kind_and_level_is_asked_and_every_topic_has_a_chain(shipped: Bank):
    questions = shipped.questions
    assert {question.kind for question in questions.values()} == {
        "choice", "numeric", "order", "cloze", "trace", "bug", "essay"
    }  # fmt: skip
    assert {question.level for question in questions.values()} >= {1, 2, 3, 4}
    chained = {question.topic for question in questions.values() if question.followups}
    assert chained == {question.topic for question in questions.values()}


def test_the_reading_order_of_a_topic_names_its_questions(shipped: Bank):
    for slug, topic in shipped.topics.items():
        mine = {q.id.split("/")[1] for q in shipped.questions.values() if q.topic == slug}
        assert set(topic.order) == mine, slug
        assert len(topic.order) == len(mine), slug


def test_the_code_a_session_shows_is_the_code_that_will_run(shipped: Bank):
    shown = 0
    lab = Laboratory(())
    for question in shipped.questions.values():
        if isinstance(question, Bug | Trace):
            assert question.proof
            found = lab.show(question)
            assert found
            assert bool(found.changed) is (question.proof.broken is not None), question.id
            shown += bool(found.changed) and isinstance(question, Trace)
    assert shown  # traces of planted code are among them


def test_following_wrong_or_right_never_comes_back_to_a_question(shipped: Bank):
    """What is easier leads down and what is harder leads up: neither in a circle."""
    questions = shipped.questions
    for happened in ("wrong", "right"):
        asks = {
            name: [each.ask for each in question.followups if each.when in (happened, "always")]
            for name, question in questions.items()
        }
        TopologicalSorter(asks).prepare()  # CycleError, with the circle, where there is one


def test_a_wrong_answer_leads_to_nothing_harder(shipped: Bank):
    questions = shipped.questions
    harder = [
        (question.id, each.ask)
        for question in questions.values()
        for each in question.followups
        if each.when == "wrong" and questions[each.ask].level > question.level
    ]
    assert not harder
