"""What is recorded of an incident, and what of it a run must show again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizkit.bank.model import Exhibit, Question
from quizkit.errors import UsageError
from quizkit.lab.catalogue import Demo, catalogue
from quizkit.lab.report import Event, Failure, Report, Setting, Timeline
from quizkit.proof.exhibits import differs, evidence_problems, recorded, settings
from quizkit.proof.prove import Prover

from .conftest import Brings, Read

QUESTION = """\
kind: choice
options:
  - {text: a, correct: true, claim: 'isclose(bubble_1f1b, 3 / 11)'}
  - {text: b}
evidence: {demo: pipeline, args: {microbatches: 8}, show: [log]}
proof: {demo: pipeline, args: {microbatches: 8}}
"""
STACK = (
    '  File "/home/me/demos/pipeline.py", line 208, in main\n    forward(stage, 3)\n'
    '  File "/usr/lib/torch/distributed.py", line 97, in wrapper\n    return func()'
)


def timeline(clock: str = "virtual", last: float = 4.0) -> Timeline:
    rows = (0, "F0", 0.0, 1.0), (0, "B0", 1.0, 3.0), (1, "F0, line 12", 1.0, last)
    return Timeline(clock, tuple(Event("1f1b", *row) for row in rows))


def of(question: Question, kind: str) -> Question:
    assert question.evidence
    return replace(question, evidence=replace(question.evidence, show=(kind,)))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("log", "rank 0  F0  B0\nrank 1  F0\nranks 0 and 1 waited"),
        ("timings", "rank 0  F 1  B 2  idle 1\nrank 1  F 3  idle 1"),
        ("stacks", "rank 1\n  main: forward(stage, 3)"),
        ("bytes", "sent_bytes  [8, 16, 16, 8]"),
    ],
)
def test_what_is_recorded_of_a_report(
    question: Read, pipeline: Demo, brings: Brings, kind: str, text: str
):
    metrics: dict[str, Any] = {"sent_bytes": [8, 16, 16, 8], "bubble_1f1b": 0.25}
    failure = Failure(None, "ranks 0 and 1 waited\nmore", (None, STACK))
    report = replace(brings(2, metrics=metrics), timeline=timeline(), error=failure)
    watch = {
        **pipeline.watch,
        "sent_bytes": replace(next(iter(pipeline.watch.values())), unit="bytes"),
    }
    demo = replace(pipeline, watch=watch)
    assert recorded(of(question(QUESTION), kind), demo, lambda _: report) == (Exhibit(kind, text),)


@pytest.mark.parametrize(
    ("second", "last"), [("F0", "each rank raised OutOfMemoryError"), ("F1", "rank 1 raised OutOf")]
)
def test_where_all_ranks_did_the_same_the_first_to_fail_is_chance(
    question: Read, pipeline: Demo, brings: Brings, second: str, last: str
):
    rows = ("", 0, "F0", 0.0, 1.0), ("", 1, second, 0.0, 1.0)
    failure = Failure(1, "rank 1 raised OutOfMemoryError: Tried", (None, None))
    events = Timeline("virtual", tuple(Event(*row) for row in rows))
    report = replace(brings(2), timeline=events, error=failure)
    (told,) = recorded(question(QUESTION), pipeline, lambda _: report)
    assert told.text.split("\n")[-1].startswith(last)


def test_a_rank_is_idle_until_the_end_of_its_own_schedule(
    question: Read, pipeline: Demo, brings: Brings
):
    rows = ("gpipe", 0, "F0", 0.0, 2.0), ("gpipe", 1, "F0", 2.0, 9.0), ("1f1b", 0, "F0", 0.0, 2.0)
    events = tuple(Event(*row) for row in rows)
    report = replace(brings(2), timeline=Timeline("virtual", events))
    (told,) = recorded(of(question(QUESTION), "timings"), pipeline, lambda _: report)
    assert [line for line in told.text.split("\n") if "rank 0" in line] == [
        "rank 0  F 2  idle 7",
        "rank 0  F 2  idle 0",
    ]


def test_a_curve_is_one_run_for_each_number_of_steps(question: Read, brings: Brings):
    clipped = QUESTION.replace(
        "{demo: pipeline, args: {microbatches: 8}, show: [log]}",
        "{demo: clip-norm, args: {steps: 3}, show: [curve]}",
    )
    asked = question(clipped)
    steps = [dict(each.args)["steps"] for each in settings(asked)]
    assert steps == [3, 1, 2]

    def run(setting: Setting) -> Report:
        return brings(metrics={"norm_global": [1 / int(dict(setting.args)["steps"])] * 4})

    (curve,) = recorded(asked, catalogue()["clip-norm"], run)
    assert curve.text == "norm_global  1  0.5  0.333333"


def test_a_run_that_shows_nothing_of_the_kind_is_told(
    question: Read, pipeline: Demo, brings: Brings
):
    with pytest.raises(UsageError, match="nothing to record as log"):
        recorded(question(QUESTION), pipeline, lambda _: brings())


def test_prove_fails_where_a_run_no_longer_shows_the_evidence(question: Read, brings: Brings):
    now = replace(brings(), timeline=timeline())
    prover = Prover(catalogue(), lambda _: now)
    asked = question(QUESTION)
    asked = replace(asked, exhibits=recorded(asked, catalogue()["pipeline"], lambda _: now))
    assert prover.prove(asked).status == "proved"
    other = replace(asked, exhibits=(Exhibit("log", "rank 0  F0  B1\nrank 1  F0"),))
    failed = prover.prove(other)
    assert failed.status == "failed"
    assert "no longer shows these log" in failed.reasons[0].en


def test_on_another_processor_evidence_keeps_its_words_and_its_numbers_near(
    question: Read, pipeline: Demo, brings: Brings
):
    asked, run = of(question(QUESTION), "timings"), replace(brings(), timeline=timeline())
    [was] = recorded(asked, pipeline, lambda _: run)
    digits = was.text.replace("F 1", "F 1.01").replace("B 2", "B 2.3e+00")
    assert digits != was.text
    for text, exact, same in (
        (was.text, True, True),
        (digits, True, False),
        (digits, False, True),
        (digits.replace("  idle", "\n  idle"), False, True),
        (digits.replace("B 2.3e+00", "B 5"), False, False),
        (digits.replace("B 2.3", "W 2.3"), False, False),
        (digits.partition("\n")[0], False, False),
    ):
        shown = replace(asked, exhibits=(Exhibit("timings", text),))
        assert (differs(shown, pipeline, lambda _: run, exact=exact) == []) is same, text


def test_on_another_processor_the_same_checksums_have_to_be_equal(
    question: Read, pipeline: Demo, brings: Brings
):
    asked = of(question(QUESTION), "log")
    for was, now, same in (
        (("cb1c", "cb1c", "9505"), ("00f3", "00f3", "47c3"), True),
        (("cb1c", "cb1c", "9505"), ("00f3", "01f3", "47c3"), False),
        (("cb1c", "9505", "9505"), ("00f3", "00f3", "47c3"), False),
    ):
        text, run = (
            replace(
                brings(),
                timeline=Timeline(
                    "virtual",
                    tuple(Event("1f1b", n, f"sum.{n}:{x}", 0, 1) for n, x in enumerate(sums)),
                ),
            )
            for sums in (was, now)
        )
        shown = replace(asked, exhibits=recorded(asked, pipeline, lambda _, text=text: text))
        found = differs(shown, pipeline, lambda _, run=run: run, exact=False)
        assert (found == []) is same, (was, now)


@pytest.mark.parametrize(("clock", "same"), [("virtual", False), ("wall", True)])
def test_only_a_virtual_clock_says_the_same_twice(
    question: Read, pipeline: Demo, brings: Brings, clock: str, same: bool
):
    asked = of(question(QUESTION), "timings")
    first, second = (replace(brings(), timeline=timeline(clock, last)) for last in (4.0, 5.0))
    asked = replace(asked, exhibits=recorded(asked, pipeline, lambda _: first))
    assert (differs(asked, pipeline, lambda _: second) == []) is same


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("{demo: pipelin, show: [log]}", "did you mean `pipeline`"),
        ("{demo: pipeline, args: {microbatch: 8}, show: [log]}", "did you mean `microbatches`"),
        ("{demo: pipeline, break: none-such, show: [log]}", "unknown break"),
        ("{demo: pipeline, show: [stacks]}", "only of a `break` that hangs or crashes"),
        ("{demo: pipeline, show: []}", "shows nothing"),
        ("{demo: pipeline, show: [curve]}", "a curve is drawn over `args: {steps: N}`"),
        ("{demo: pipeline, show: [curve]}", "pipeline measures no loss and no norm"),
        ("{demo: deadlock, show: [bytes]}", "deadlock measures no bytes"),
    ],
)
def test_what_a_demo_does_not_have_cannot_be_evidence(question: Read, new: str, said: str):
    old = "{demo: pipeline, args: {microbatches: 8}, show: [log]}"
    assert [*evidence_problems(question(QUESTION), catalogue())] == []
    found = [
        text for _, text in evidence_problems(question(QUESTION.replace(old, new)), catalogue())
    ]
    assert any(said in each for each in found), found


def test_evidence_without_a_proof_would_never_be_compared(question: Read, tmp_path: Path):
    bare = QUESTION.replace(
        "proof: {demo: pipeline, args: {microbatches: 8}}", "sources: [a paper]"
    )
    (found,) = evidence_problems(question(bare), catalogue())
    assert "add a `proof`" in found[1]
