"""Every key is changed in every way; a proof that does not notice is named."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from quizkit.bank.model import Choice, Question
from quizkit.errors import LabError, UsageError
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report, Setting
from quizkit.proof.mutate import mutants
from quizkit.proof.parts import Parts
from quizkit.proof.prove import Prover, distinct

Read = Callable[[str], Question]
Brings = Callable[..., Report]

CHOICE = """\
kind: choice
options:
  - {text: a, correct: true, claim: bubble_1f1b < 0.5}
  - {text: b, why: w, myth: m, claim: bubble_1f1b == 0.25}
  - {text: c, why: w, myth: m}
proof: {demo: pipeline}
"""


@pytest.fixture
def prover(pipeline: Demo, brings: Brings) -> Prover:
    def run(wanted: Setting) -> Report:
        if wanted.broken:
            return brings(outcome="hung", verdict="error", broken=wanted.broken)
        return brings()

    return Prover({"pipeline": pipeline}, run)


def test_a_choice_with_claims_leaves_no_survivor(question: Read, prover: Prover):
    mutation = prover.mutate(question(CHOICE))
    assert (mutation.killed, mutation.survived) == (3, ())


def test_a_key_that_hangs_on_nothing_survives(question: Read, prover: Prover):
    bare = question(CHOICE)
    assert isinstance(bare, Choice)
    bare = replace(bare, options=tuple(replace(each, claim=None) for each in bare.options))
    assert prover.mutate(bare).survived == (
        "option 2 right instead of 1",
        "option 3 right instead of 1",
    )


def test_what_is_changed_in_each_kind(question: Read):
    proof = "proof:\n  demo: pipeline\n  claims:\n"
    proof += "    - bubble_1f1b < 1 and isclose(bubble_1f1b, answer)\n"
    numeric = "kind: numeric\nanswer: 3 / 11\ntraps: [{formula: '0.5', forgot: x}]\n" + proof
    assert [each.what for each in mutants(question(numeric))] == [
        "answer * 1.1",
        "answer + 1",
        "answer - 1",
        "answer = trap 1",
        "not bubble_1f1b < 1",
        "not isclose(bubble_1f1b, answer)",
    ]
    trace = "kind: trace\nfunction: f\nanswer: [4, 3]\nproof: {demo: pipeline}\n"
    assert [each.what for each in mutants(question(trace))] == [
        "answer [0] + 1",
        "answer [0] - 1",
        "answer [1] + 1",
        "answer [1] - 1",
    ]
    steps = "steps: [{id: a, text: x}, {id: b, text: y}, {id: c, text: z}]\n"
    order = f"kind: order\n{steps}proof: {{demo: pipeline}}\n"
    assert [each.what for each in mutants(question(order))] == ["a after b", "b after c"]
    partial = f"kind: order\n{steps}after: {{c: [b, a]}}\nproof: {{demo: pipeline}}\n"
    assert [each.what for each in mutants(question(partial))] == ["b after c", "a after c"]
    gaps = "gaps: {a: {answer: x}, b: {answer: '2', value: 2}}\n"
    cloze = f"kind: cloze\ntext: '[[a]] [[b]]'\n{gaps}proof: {{demo: pipeline}}\n"
    assert [each.what for each in mutants(question(cloze))] == [
        "a changed",
        "b * 1.1",
        "b + 1",
        "b - 1",
    ]


def test_a_reversed_comparison_leaves_the_rest_of_the_claim_alone(question: Read):
    text = "kind: essay\nrubric: [{points: 1, says: x}]\nproof:\n  demo: pipeline\n  claims:\n"
    claim = "    - peak_live_1f1b[0] < 5 and bubble_1f1b == 3 / 11\n"
    changed = [
        str(each.question.proof and each.question.proof.claims[0])
        for each in mutants(question(text + claim))
    ]
    assert changed == [
        "not peak_live_1f1b[0] < 5 and bubble_1f1b == 3 / 11",
        "peak_live_1f1b[0] < 5 and (not bubble_1f1b == 3 / 11)",
    ]


def test_the_removed_break_is_run_without_it(question: Read, prover: Prover, pipeline: Demo):
    name = next(name for name, each in pipeline.breaks.items() if each.expect == "hangs")
    bug = question(
        "kind: bug\nfunction: main\nreasons: [{points: 1, says: x}]\n"
        f"proof: {{demo: pipeline, break: {name}}}\n"
    )
    mutation = prover.mutate(bug)
    assert (mutation.killed, mutation.survived) == (1, ())
    assert {setting.broken for setting in prover.reports} == {name, None}


def test_each_distinct_setting_is_run_once(question: Read, pipeline: Demo, brings: Brings):
    runs: list[Setting] = []

    def run(wanted: Setting) -> Report:
        runs.append(wanted)
        return brings()

    prover = Prover({"pipeline": pipeline}, run)
    first = question(CHOICE)
    prover.prove(first)
    prover.prove(replace(first, id="pp/other"))
    prover.mutate(first)
    assert len(runs) == 1


def test_what_a_demo_takes_by_itself_may_be_named_or_not(
    question: Read, pipeline: Demo, brings: Brings
):
    runs: list[Setting] = []

    def run(wanted: Setting) -> Report:
        runs.append(wanted)
        return brings()

    named = CHOICE.replace("{demo: pipeline}", "{demo: pipeline, args: {microbatches: 8}}")
    demos, both = {"pipeline": pipeline}, [question(CHOICE), question(named)]
    prover = Prover(demos, run)
    for each in both:
        assert prover.prove(each).judgement
    assert len(runs) == 1
    assert runs == distinct(both, demos)


def test_skipped_is_not_proved_and_a_dead_bench_is_not_skipped(question: Read, pipeline: Demo):
    def without_torch(_: Setting) -> Report:
        raise LabError("torch_missing", python="python")

    def dead(_: Setting) -> Report:
        raise LabError("bench_died", how="x", said="y")

    assert Prover({"pipeline": pipeline}, without_torch).prove(question(CHOICE)).status == "skipped"
    assert Prover({"pipeline": pipeline}, dead).prove(question(CHOICE)).status == "failed"


def test_without_a_proof_there_are_sources_or_it_fails(question: Read, prover: Prover):
    text = CHOICE.replace("proof: {demo: pipeline}\n", "")
    assert prover.prove(question(text)).status == "failed"
    assert prover.prove(question(text + "sources: [a paper]\n")).status == "sourced"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kind: essay\nrubric: [{points: 1, says: x}]\n", "nothing is claimed"),
        ("kind: choice\noptions: [{text: a, correct: true}, {text: b}]\n", "carries `claim:`"),
    ],
)
def test_a_run_on_which_no_key_hangs_proves_nothing(
    question: Read, prover: Prover, text: str, reason: str
):
    result = prover.prove(question(text + "proof: {demo: pipeline}\n"))
    assert result.status == "failed"
    assert reason in result.reasons[0].en


def test_what_the_bench_will_not_take_fails_one_proof_and_not_the_others(
    question: Read, pipeline: Demo
):
    def strict(_: Setting) -> Report:
        raise UsageError("bench_usage", message="microbatches cannot be that")

    prover = Prover({"pipeline": pipeline}, strict)
    assert [prover.prove(question(CHOICE)).status for _ in range(2)] == ["failed", "failed"]


def test_what_is_wrong_with_a_proof_is_told_before_it_is_shown(question: Read, prover: Prover):
    with pytest.raises(UsageError, match="unknown demo `pipelin`"):
        prover.view(question(CHOICE.replace("demo: pipeline", "demo: pipelin")), {})


def test_a_wrong_pick_is_shown_the_run_that_refutes_it(
    question: Read, pipeline: Demo, brings: Brings
):
    def run(wanted: Setting) -> Report:
        counted = dict(wanted.args)["microbatches"]
        return brings(args=dict(wanted.args), metrics={"bubble_1f1b": 3 / (3 + float(counted))})

    text = CHOICE.replace("claim: bubble_1f1b == 0.25", "claim: m > 2 or bubble_1f1b < 0.5")
    text = text.replace("m}\nproof", "m, claim: m > 4 or bubble_1f1b < 0.4}\nproof")
    text = text.replace("claim: bubble_1f1b < 0.5}", "claim: bubble_1f1b < 0.7}")
    text = text.replace(
        "pipeline}", "pipeline, args: {microbatches: =m}, at: [{m: 8}, {m: 4}, {m: 2}]}"
    )
    prover = Prover({"pipeline": pipeline}, run)
    shown = {
        str(given): prover.view(question(text), {}, given) for given in ([0], [1], 2, [1, 2], None)
    }
    assert {given: view.bindings["m"] for given, view in shown.items()} == {
        "[0]": 8, "[1]": 2, "2": 4, "[1, 2]": 2, "None": 8,
    }  # fmt: skip
    assert shown["[1]"].lets_stand([1]) == 0 < shown["[0]"].lets_stand([1])


def test_a_right_pick_is_shown_the_run_that_tests_it(
    question: Read, pipeline: Demo, brings: Brings
):
    def run(wanted: Setting) -> Report:
        counted = dict(wanted.args)["microbatches"]
        return brings(args=dict(wanted.args), metrics={"bubble_1f1b": 3 / (3 + float(counted))})

    text = CHOICE.replace("claim: bubble_1f1b < 0.5}", "claim: m > 2 or bubble_1f1b > 0.5}")
    text = text.replace("pipeline}", "pipeline, args: {microbatches: =m}, at: [{m: 8}, {m: 2}]}")
    prover = Prover({"pipeline": pipeline}, run)
    first, second = (prover.view(question(text), {}, given) for given in ([1], [0]))
    assert (first.bindings["m"], first.untested) == (8, {"options.0.claim"})
    assert (second.bindings["m"], second.untested) == (2, set())
    # What a measured number excuses was tested.
    text = text.replace("m > 2 or bubble_1f1b > 0.5", "bubble_1f1b > 0.1 or m > 2")
    assert prover.view(question(text), {}, [0]).untested == set()


def test_a_changed_key_may_be_longer_or_deeper_than_what_can_be_written(question: Read):
    long = "3 / 11" + " + 0" * 36
    long += " " * (590 - len(long)) + "# so"
    text = f"kind: numeric\nanswer: '{long}'\nproof:\n  demo: pipeline\n  claims:\n"
    text += f"    - '{'not ' * 36} (bubble_1f1b == answer)'\n"
    assert len([*mutants(question(text))]) == 4


def test_nought_is_changed_too(question: Read):
    gap = "kind: cloze\ntext: '[[a]]'\ngaps: {a: {answer: '0', value: 0}}\n"
    trace = "kind: trace\nfunction: f\nanswer: 0\n"
    for text, name in ((gap, "a"), (trace, "answer")):
        changed = [each.what for each in mutants(question(text + "proof: {demo: pipeline}\n"))]
        assert changed == [f"{name} + 0.1", f"{name} + 1", f"{name} - 1"]


PROOF = "proof:\n  demo: pipeline\n  args: {microbatches: 8}\n  claims:\n    - "
WEAK = {  # a proof that does not notice, for each kind of change
    "answer * 1.1": (
        "kind: numeric\nanswer: 3 / 11\n" + PROOF + "isclose(bubble_1f1b, answer, abs=1)"
    ),
    "answer + 1": "kind: trace\nfunction: f\nanswer: 4\n" + PROOF + "peak_live_1f1b[0] <= answer",
    "answer - 1": "kind: trace\nfunction: f\nanswer: 4\n" + PROOF + "peak_live_1f1b[3] <= answer",
    "answer = trap 1": (
        "kind: numeric\nanswer: 3 / 11\ntraps: [{formula: 3 / 8, forgot: x}]\n"
        + PROOF + "answer < 0.3 or bubble_1f1b < 0.3"
    ),
    "answer [1] + 1": (
        "kind: trace\nfunction: f\nanswer: [4, 3]\n" + PROOF + "answer[0] == peak_live_1f1b[0]"
    ),
    "g + 1": (
        "kind: cloze\ntext: x [[g]]\ngaps: {g: {answer: '4', value: 4}}\n"
        + PROOF + "peak_live_1f1b[0] <= g"
    ),
    "g changed": (
        "kind: cloze\ntext: x [[g]]\ngaps: {g: {answer: word}}\n" + PROOF + "bubble_1f1b < 1"
    ),
    "a after b": (
        "kind: order\nsteps: [{id: a, text: a}, {id: b, text: b}, {id: c, text: c}]\n"
        + PROOF + "(peak_live_1f1b[3] < peak_live_1f1b[0]) == (b < c) or a == 2"
    ),
    "option 2 right instead of 1": CHOICE.replace(", claim: bubble_1f1b < 0.5", ""),
    "option 1: not bubble_1f1b < 0.5": CHOICE.replace(
        "claim: bubble_1f1b < 0.5", "claim: bubble_1f1b < 0.5 or ranks == 4"
    ),
    "reason 1 reversed": (
        "kind: bug\nfunction: main\nreasons: [{points: 1, says: x, "
        "claim: bubble_1f1b < 1 or ranks == 4}]\n"
        + PROOF.replace("claims", "break: HANGS\n  claims")
        + "bubble_1f1b < 1"
    ),
    "point 1 reversed": (
        "kind: essay\nrubric: [{points: 1, says: x, claim: bubble_1f1b < 1 or ranks == 4}]\n"
        + PROOF + "bubble_1f1b < 1"
    ),
    "reason 1 without the bug": (
        "kind: bug\nfunction: main\nreasons: [{points: 1, says: x, claim: bubble_1f1b < 1}]\n"
        + PROOF.replace("claims", "break: HANGS\n  claims") + "makespan_1f1b == 33"
    ),
    "point 2 without the bug": (
        "kind: essay\nrubric: [{points: 1, says: x}, {points: 1, says: x, "
        "claim: bubble_1f1b < 1}]\n"
        + PROOF.replace("claims", "break: HANGS\n  claims") + "makespan_1f1b == 33"
    ),
    "not bubble_1f1b < 1": (
        "kind: essay\nrubric: [{points: 1, says: x}]\n" + PROOF + "bubble_1f1b < 1 or ranks == 4"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WEAK)
def test_each_kind_of_change_survives_a_proof_that_is_weak_there(
    question: Read, prover: Prover, pipeline: Demo, what: str
):
    hangs = next(name for name, each in pipeline.breaks.items() if each.expect == "hangs")
    assert what in prover.mutate(question(WEAK[what].replace("HANGS", hangs))).survived


def test_a_removed_break_survives_a_proof_that_does_not_need_it(
    question: Read, pipeline: Demo, brings: Brings
):
    name = next(name for name, each in pipeline.breaks.items() if each.expect == "hangs")

    def run(wanted: Setting) -> Report:
        return brings(outcome="hung", verdict="error" if wanted.broken else "pass")

    bug = "kind: bug\nfunction: main\nreasons: [{points: 1, says: x}]\n"
    bug += f"proof: {{demo: pipeline, break: {name}}}\n"
    survived = Prover({"pipeline": pipeline}, run).mutate(question(bug)).survived
    assert survived == (f"break {name} removed",)


def test_a_reason_that_shows_the_damage_does_not_survive_without_the_bug(
    question: Read, pipeline: Demo, brings: Brings
):
    name = next(name for name, each in pipeline.breaks.items() if each.expect == "hangs")

    def run(wanted: Setting) -> Report:
        if wanted.broken:
            return brings(outcome="hung", verdict="error", metrics={"bubble_1f1b": 0.4})
        return brings()

    bug = "kind: bug\nfunction: main\nreasons: [{points: 1, says: x, claim: bubble_1f1b > 0.3}]\n"
    bug += f"proof: {{demo: pipeline, break: {name}}}\n"
    prover = Prover({"pipeline": pipeline}, run)
    assert prover.mutate(question(bug)).survived == ()
    weak = prover.mutate(question(bug.replace("> 0.3", "< 0.5"))).survived
    assert weak == ("reason 1 without the bug",)


def test_another_option_is_refused_by_what_the_right_one_measured(question: Read, prover: Prover):
    # What option 2 claims is false of anything, and says nothing for option 1.
    text = CHOICE.replace(", claim: bubble_1f1b < 0.5", "")
    assert "option 2 right instead of 1" in prover.mutate(question(text)).survived


def test_what_holds_regardless_of_a_regime_is_run_in_it(
    question: Read, pipeline: Demo, brings: Brings
):
    causal = replace(pipeline.parameters["microbatches"], name="causal", kind="bool", default=True)
    demo = replace(
        pipeline, parameters={**pipeline.parameters, "causal": causal}, regime=("causal",)
    )

    def run(wanted: Setting) -> Report:
        args = dict(wanted.args)
        bubble = 3 / 11 if args["causal"] else 0.4
        return brings(args=args, metrics={"bubble_1f1b": bubble, "makespan_1f1b": 33})

    prover = Prover({"pipeline": demo}, run)
    regardless = "kind: essay\nrubric: [{points: 1, says: x}]\nproof:\n  demo: pipeline\n"
    regardless += "  regardless: [causal]\n  claims:\n    - makespan_1f1b == 33\n"
    regardless = regardless.replace("says: x", "says: x, claim: makespan_1f1b == 33")
    assert prover.mutate(question(regardless), deep=True).elsewhere == ()
    wrong = regardless.replace("makespan_1f1b == 33", "bubble_1f1b < 0.3")
    (said,) = prover.mutate(question(wrong), deep=True).elsewhere
    assert said.en == "fails with causal: false, though `regardless: [causal]`"
    assert prover.mutate(question(wrong)).elsewhere == ()


def test_the_parts_of_a_key_are_told_apart(question: Read, prover: Prover):
    result = prover.prove(question(CHOICE))
    assert (result.status, result.parts) == ("proved", Parts("options", 2, 3))
    whole = CHOICE.replace("  - {text: c, why: w, myth: m}\n", "")
    assert prover.prove(question(whole)).parts == Parts("options", 2, 2)
    assert Parts("options", 2, 2).whole
    assert not Parts("options", 2, 3).whole
