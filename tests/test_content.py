"""The shipped bank, as far as it can be judged without running anything."""

import re
from graphlib import TopologicalSorter

import pytest
from typer.testing import CliRunner

from quizkit.bank.common import common_questions
from quizkit.bank.evidence import evidence
from quizkit.bank.model import Bug, Essay, Trace
from quizkit.bank.reader import Bank
from quizkit.cli.app import app
from quizkit.cli.laboratory import Laboratory
from quizkit.paths import QUESTIONS
from quizkit.words import Lang

LANGS: tuple[Lang, ...] = ("zh", "en")


def test_lint_has_nothing_to_say_not_even_a_warning():
    done = CliRunner().invoke(app, ["bank", "lint", "--strict", "--lang", "en"])
    assert done.exit_code == 0, done.output


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


def test_an_explanation_names_the_line_that_is_shown_as_wrong(shipped: Bank):
    lab = Laboratory(())
    off: dict[str, list[int]] = {}
    for question in shipped.questions.values():
        if isinstance(question, Bug):
            found = lab.show(question)
            assert found
            prose = "\n".join(question.explain[lang] for lang in LANGS)
            first = re.findall(r"^(?:In line|Line|第) (\d+)\b(?! *[个次步])", prose, re.MULTILINE)
            named = {*map(int, first)}
            if named - found.changed:
                off[question.id] = sorted(named)
    assert not off


def test_what_an_essay_is_ticked_for_beforehand(shipped: Bank):
    """The rubric's own sentences are found by its keywords; the answer shown says nothing false."""
    essays = [each for each in shipped.questions.values() if isinstance(each, Essay)]
    assert essays
    for essay in essays:
        for lang in LANGS:
            for part in (*essay.rubric, *essay.vetoes):
                assert evidence(part.says[lang], part.keywords), (essay.id, part.says[lang])
            for veto in essay.vetoes:
                said = [point.says[lang] for point in essay.rubric]
                said += [essay.say[lang]] if essay.say else []
                assert not [text for text in said if evidence(text, veto.keywords)], essay.id


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("dp/tell-ddp", "DDP broadcasts the weights every step"),
        ("dp/tell-ddp", "DDP 每步都广播权重"),
        ("dp/tell-ddp", "rank 0 broadcasts the parameters at each forward"),
        ("hybrid/block-by-axis", "TP synchronizes weight gradients within its group"),
        ("hybrid/across-two-nodes", "PP 在 stage 之间传每一层的激活"),
        ("hybrid/across-two-nodes", "With 1F1B there is no bubble"),
        ("cp/infinite-context", "大海捞针满分就说明没问题"),
        ("comm/bitwise-across-sizes", "If we fix the seed the bits will match"),
    ],
)
def test_what_is_false_is_ticked_as_false_and_for_no_point(shipped: Bank, question: str, said: str):
    essay = shipped.questions[question]
    assert isinstance(essay, Essay)
    assert [veto for veto in essay.vetoes if evidence(said, veto.keywords)]
    assert not [point for point in essay.rubric if evidence(said, point.keywords)]


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
