"""What a run showed of an answer, in a sentence: written by authors, made for traps and steps."""

import pytest

from quizkit.lab.catalogue import Demo
from quizkit.proof.prove import Prover
from quizkit.proof.shows import shows_problems
from quizkit.proof.view import view

from .conftest import Brings, Read

CHOICE = """\
kind: choice
options:
  - text: {zh: 一样, en: the same}
    correct: true
    claim: isclose(bubble_1f1b, 3 / 11)
  - text: {zh: 更大, en: more}
    why: {zh: 不, en: no}
    myth: m
    claim: bubble_1f1b > 0.5
    shows:
      zh: "若是会超过 0.5；实测 {bubble_1f1b}，留 {peak_live_1f1b[0]} 份，{ranks} 个 rank"
      en: "if so the bubble would pass 0.5; {bubble_1f1b}, {peak_live_1f1b[0]} live, {ranks} ranks"
proof: {demo: pipeline, args: {microbatches: 8}}
"""
SHOWN = "if so the bubble would pass 0.5; 0.272727, 4 live, 4 ranks"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "    claim: bubble_1f1b > 0.5\n",
            "",
            "options.1.shows: `shows` says what a run",
        ),
        ("{bubble_1f1b}, {peak", "{bubbel_1f1b}, {peak", "did you mean `bubble_1f1b`?"),
        (" {ranks} ranks", " ranks", "zh and en show different numbers: ranks"),
        ("{ranks}", "{ranks +}", "`{ranks +}`: "),
    ],
)
def test_a_sentence_shows_what_was_measured_of_a_claim(
    question: Read, pipeline: Demo, old: str, new: str, said: str
):
    demos = {"pipeline": pipeline}
    assert [*shows_problems(question(CHOICE), demos)] == []
    assert old in CHOICE
    wrong = [
        f"{place}: {text}"
        for place, text in shows_problems(question(CHOICE.replace(old, new)), demos)
    ]
    assert any(said in each for each in wrong), wrong


def test_a_sentence_without_a_measurement_shows_nothing(question: Read, pipeline: Demo):
    bare = CHOICE.replace("{bubble_1f1b}", "0.27").replace("{peak_live_1f1b[0]}", "{microbatches}")
    (found,) = shows_problems(question(bare), {"pipeline": pipeline})
    assert "shows no number that was measured" in found[1]


def test_the_runs_numbers_are_put_in(question: Read, pipeline: Demo, brings: Brings):
    shows = view(question(CHOICE), {}, False, brings(), pipeline).shows
    assert shows["options.1.claim"].en == SHOWN
    assert "实测 0.272727" in shows["options.1.claim"].zh


def test_a_sentence_that_a_run_cannot_fill_is_not_shown_and_fails_the_proof(
    question: Read, pipeline: Demo, brings: Brings
):
    prover = Prover({"pipeline": pipeline}, lambda _: brings())
    assert prover.prove(question(CHOICE)).status == "proved"
    gone = question(CHOICE.replace("[0]", "[9]"))
    assert view(gone, {}, False, brings(), pipeline).shows == {}
    result = prover.prove(gone)
    (reason,) = result.reasons
    assert result.status == "failed"
    for said in (reason.zh, reason.en):
        assert said.startswith("options.1.shows")
        assert "microbatches=8" in said
        assert "peak_live_1f1b[9]" in said


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (
            "kind: numeric\nparams: {p: [4], m: [8]}\nanswer: (p - 1) / (m + p - 1)\n"
            "traps: [{formula: (p - 1) / m, forgot: f}]\n"
            "proof: {demo: pipeline, ranks: =p, args: {microbatches: =m}, at: [{p: 4, m: 8}],"
            " claims: ['isclose(bubble_1f1b, answer)']}",
            "traps.0.formula",
            "if so it would be 0.375; 0.272727 was measured",
        ),
        (
            "kind: cloze\ntext: '[[gap1]]'\ngaps: {gap1: {answer: '4', value: 4}}\n"
            "proof: {demo: pipeline, args: {microbatches: 8},"
            " claims: ['peak_live_1f1b == [gap1, 3, 2, 1]']}",
            "gaps.gap1",
            "4 was measured",
        ),
        (
            "kind: order\nsteps: [{id: a, text: x}, {id: b, text: y}]\n"
            "proof: {demo: pipeline, args: {microbatches: 8},"
            " claims: ['(peak_live_1f1b[3] < peak_live_1f1b[0]) == (a < b)']}",
            "steps.b",
            "4 was measured",
        ),
    ],
)
def test_of_traps_gaps_and_steps_the_sentence_is_made(
    question: Read, pipeline: Demo, brings: Brings, text: str, place: str, said: str
):
    asked = question(text)
    row = asked.proof.at[0] if asked.proof and asked.proof.at else {}
    shows = view(asked, row, True, brings(), pipeline).shows
    assert shows[place].en == said
    assert "实测" in shows[place].zh
