"""A proof holds only if every claim is true of what was measured; what cannot be said fails it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from quizkit.bank.model import Question
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report
from quizkit.proof.judge import BoundRun, judge
from quizkit.proof.messages import told

Read = Callable[[str], Question]
Brings = Callable[..., Report]

PROOF = "proof:\n  demo: pipeline\n  args: {microbatches: 8}\n  claims:\n"


@dataclass
class Tried:
    """Whether a key stood against its runs, and what was said against it."""

    holds: bool
    failures: list[str]


@pytest.fixture
def judged(question: Read, brings: Brings, pipeline: Demo) -> Callable[..., Tried]:
    def made(text: str, *runs: dict[str, Any]) -> Tried:
        reports = [
            BoundRun(run.pop("at", {}), brings(**run)) for run in (dict(r) for r in runs or ({},))
        ]
        asked = question(text)
        judgement = judge(asked, reports, pipeline)
        return Tried(judgement.holds, [each.en for each in told(asked, judgement, pipeline)])

    return made


ESSAY = "kind: essay\nrubric: [{points: 1, says: x}]\n" + PROOF


def test_a_true_claim_holds(judged: Callable[..., Tried]):
    assert judged(ESSAY + "    - peak_live_1f1b == [4, 3, 2, 1]").holds


@pytest.mark.parametrize(
    ("claim", "run", "said"),
    [
        ("peak_live_1f1b == [4, 3, 2, 2]", {}, "is false in 1 of 1 runs (microbatches=8)"),
        ("peak_live_1f1b == [4, 3, 2]", {}, "4 elements against 3"),
        ("nothing == 1", {}, "`nothing` is not known here"),
        ("bubble_1f1b < 1", {"metrics": {"bubble_1f1b": "NaN"}}, "`bubble_1f1b` is nan"),
        ("bubble_1f1b < 1", {"how": "computed"}, "rests on no metric that was counted"),
        ("microbatches == 8", {}, "rests on no metric"),
        ("bubble_1f1b < 1", {"verdict": "error", "outcome": "hung"}, "the run hung"),
        (
            "bubble_1f1b < 1",
            {
                "verdict": "error",
                "outcome": "crashed",
                "error": {"rank": 1, "message": "a\nValueError: b", "stacks": []},
            },
            "the run crashed: ValueError: b",
        ),
        (
            "bubble_1f1b < 1",
            {
                "verdict": "fail",
                "checks": [
                    {
                        "name": "c",
                        "measured": 1,
                        "relation": "<",
                        "expected": 0,
                        "holds": False,
                    }
                ],
            },
            "failed its check `c`",
        ),
    ],
)
def test_what_does_not_hold_says_why(
    judged: Callable[..., Tried], claim: str, run: dict[str, Any], said: str
):
    judgement = judged(ESSAY + f"    - {claim}", run)
    assert not judgement.holds
    assert said in judgement.failures[0]


CHOICE = """\
kind: choice
options:
  - {text: a, correct: true, claim: bubble_1f1b < 0.5}
  - {text: b, why: w, myth: m, claim: bubble_1f1b == 0.25}
proof: {demo: pipeline}
"""


def test_one_counterexample_refutes_a_wrong_option(judged: Callable[..., Tried]):
    quarter = {"metrics": {"bubble_1f1b": 0.25}}
    assert judged(CHOICE).holds
    assert judged(CHOICE, {}, quarter).holds
    assert "is true in every run" in judged(CHOICE, quarter).failures[0]


def test_a_right_option_is_true_in_every_run(judged: Callable[..., Tried]):
    half = {"metrics": {"bubble_1f1b": 0.5}}
    (said,) = judged(CHOICE, {}, half).failures
    assert "options.0.claim: `bubble_1f1b < 0.5` is false in 1 of 2 runs (microbatches=8)" in said


def test_an_error_is_no_refutation(judged: Callable[..., Tried]):
    text = CHOICE.replace("bubble_1f1b == 0.25", "bubble_1f1b == bubble_nowhere")
    assert "not known here" in judged(text).failures[0]


NUMERIC = """\
kind: numeric
params: {p: [2, 3, 4], m: [2, 5, 8]}
answer: (p - 1) / (m + p - 1)
traps:
  - {formula: (p - 1) / m, forgot: x}
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m}
  at: [{p: 4, m: 8}, {p: 3, m: 5}]
  claims:
    - isclose(bubble_1f1b, answer)
"""


def run_at(p: int, m: int, bubble: float) -> dict[str, Any]:
    return {"at": {"p": p, "m": m}, "ranks": p, "metrics": {"bubble_1f1b": bubble}}


def test_a_number_is_compared_at_every_row(judged: Callable[..., Tried]):
    good = run_at(4, 8, 3 / 11)
    assert judged(NUMERIC, good, run_at(3, 5, 2 / 7)).holds
    (said,) = judged(NUMERIC, good, run_at(3, 5, 2 / 8)).failures
    assert "answer 0.285714 · measured 0.25 in 1 of 2 runs (p=3, m=5)" in said


def test_a_trap_that_no_run_refutes_fails_the_proof(judged: Callable[..., Tried]):
    text = NUMERIC.replace("(p - 1) / m, ", "(p - 1) * 1.0 / (p + m - 1), ")
    judgement = judged(text, run_at(4, 8, 3 / 11), run_at(3, 5, 2 / 7))
    assert "with answer = " in judgement.failures[0]


def test_gaps_and_steps_have_names(judged: Callable[..., Tried]):
    cloze = (
        "kind: cloze\ntext: x [[a]] [[b]]\ngaps:\n  a: {answer: '4', value: 4}\n"
        "  b: {answer: p, value: ranks - 1}\n" + PROOF
    )
    assert judged(cloze + "    - peak_live_1f1b[0] == a and peak_live_1f1b[1] == b").holds
    order = "kind: order\nsteps: [{id: last, text: x}, {id: first, text: y}]\n" + PROOF
    claim = "    - (peak_live_1f1b[3] < peak_live_1f1b[0]) == (last < first) and order == [1, 2]"
    assert judged(order + claim).holds


def test_a_break_must_show_what_it_declares(judged: Callable[..., Tried], pipeline: Demo):
    name, planted = next(
        (name, each) for name, each in pipeline.breaks.items() if each.expect == "hangs"
    )
    text = (
        "kind: bug\nfunction: main\nreasons: [{points: 1, says: x}]\n"
        f"proof: {{demo: pipeline, break: {name}, ranks: {planted.ranks}}}\n"
    )
    assert judged(text, {"outcome": "hung", "verdict": "error"}).holds
    assert "did not show `hangs`" in judged(text).failures[0]


def test_that_a_healthy_run_finished_is_no_support(judged: Callable[..., Tried]):
    claim = ESSAY + "    - outcome == 'finished'\n"
    assert "rests on no metric" in judged(claim).failures[0]


ERROR = {"metrics": {"grad_error": 2e-15, "bubble_1f1b": 0.25}, "how": "compared"}


def test_rounding_is_not_taken_for_a_difference(judged: Callable[..., Tried]):
    (said,) = judged(ESSAY + "    - grad_error > 0", ERROR).failures
    assert "`grad_error` is 2e-15: rounding or a difference? For equal bits claim a metric" in said
    assert not judged(ESSAY + "    - grad_error == 0", ERROR).holds
    assert judged(ESSAY + "    - grad_error < 1e-12", ERROR).holds


def test_up_to_its_floor_a_difference_is_none(judged: Callable[..., Tried]):
    declared = {**ERROR, "floors": {"grad_error": 1e-12}}
    assert judged(ESSAY + "    - grad_error == 0", declared).holds
    assert not judged(ESSAY + "    - grad_error > 0", declared).holds
    # Where every bit is the subject, every bit counts.
    every_bit = {**ERROR, "floors": {"grad_error": 0.0}}
    assert judged(ESSAY + "    - grad_error > 0", every_bit).holds
