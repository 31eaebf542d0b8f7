"""What a key hangs on has to be told: by a word, by a quotation, or it holds without."""

from dataclasses import replace

import pytest

from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report, Setting
from quizkit.proof.prove import Prover
from quizkit.proof.static import wrong_names
from quizkit.proof.unsaid import unsaid

from .conftest import Brings, Read

CHOICE = """kind: choice
options:
  - {text: more, correct: true, claim: makespan_1f1b > 20}
  - {text: less, why: w, claim: makespan_1f1b < 20}
proof:
  demo: pipeline
  ranks: 1
  regardless: [causal]
"""
HANGS = (
    "the key hangs on {}, which no English word names. Say it in the prompt or in `assume`; "
    "if other words do, quote them in `said`"
)


@pytest.fixture
def masked(pipeline: Demo) -> Demo:
    """A pipeline with an option that changes what is measured, and another that is a size."""
    causal = replace(pipeline.parameters["microbatches"], name="causal", kind="bool", default=True)
    parameters = {**pipeline.parameters, "causal": causal}
    return replace(pipeline, parameters=parameters, regime=("causal",))


def survived(question: Read, brings: Brings, demo: Demo, text: str, **hangs: object):
    """What survives where the time is 10 once every named condition is another."""

    def run(wanted: Setting) -> Report:
        given = {"ranks": wanted.ranks, **dict(wanted.args)}
        long = all(given[name] == value for name, value in hangs.items())
        metrics = {"makespan_1f1b": 33 if long else 10}
        return brings(ranks=wanted.ranks, args=dict(wanted.args), metrics=metrics)

    found = Prover({"pipeline": demo}, run).mutate(question(text), deep=True).elsewhere
    return tuple(each.en for each in found)


def test_a_key_of_one_rank_quotes_the_words_that_say_so(
    question: Read, brings: Brings, masked: Demo
):
    told = 'assume: [{zh: x, en: "on a single GPU"}]\n'
    said = (HANGS.format("ranks: 1"),)
    assert survived(question, brings, masked, told + CHOICE, ranks=1) == said
    quoted = told + CHOICE + "  said: {ranks: a single GPU}\n"
    assert survived(question, brings, masked, quoted, ranks=1) == ()


def test_what_holds_with_more_ranks_need_not_say_how_many(
    question: Read, brings: Brings, masked: Demo
):
    assert survived(question, brings, masked, CHOICE) == ()


@pytest.mark.parametrize(
    ("told", "value", "silent"),
    [
        ("a causal mask", "true", True),
        ("a mask", "true", False),
        ("a causal mask", "false", False),
        ("no causal mask", "false", True),
        ("not causal", "false", True),
        ("`causal=False`", "false", True),
    ],
)
def test_a_mask_is_named_as_it_is(
    question: Read, brings: Brings, masked: Demo, told: str, value: str, silent: bool
):
    text = CHOICE.replace("regardless: [causal]", f"args: {{causal: {value}}}")
    text = f'assume: [{{zh: x, en: "one rank, {told}"}}]\n{text}'
    said = survived(question, brings, masked, text, causal=value == "true")
    assert said == (() if silent else (HANGS.format(f"causal: {value}"),))


def test_other_words_are_quoted(question: Read, brings: Brings, masked: Demo):
    text = CHOICE.replace(
        "regardless: [causal]", "args: {causal: false}\n  said: {causal: all\n keys}"
    )
    told = 'assume: [{zh: x, en: "one rank where every query sees ALL keys"}]\n'
    assert survived(question, brings, masked, told + text, causal=False) == ()
    demos = {"pipeline": masked}
    assert [*wrong_names(question(told + text), demos)] == []
    assert [*wrong_names(question(text), demos)] == [
        ("proof.said.causal", "the English words nowhere say `all keys`")
    ]
    unknown = text.replace("said: {causal:", "said: {casual:")
    ((place, message),) = wrong_names(question(told + unknown), demos)
    assert place == "proof.said.casual"
    assert "`causal`" in message


@pytest.mark.parametrize(("size", "silent"), [(1, False), (2, False), (8, True)])
def test_a_size_at_which_laws_agree_is_told(
    question: Read, brings: Brings, masked: Demo, size: int, silent: bool
):
    text = CHOICE + f"  args: {{microbatches: {size}}}\n"
    said = survived(question, brings, masked, text, microbatches=size)
    assert said == (() if silent else (HANGS.format(f"microbatches: {size}"),))
    bound = text.replace(f": {size}}}", ": =m}") + f"  at: [{{m: {size}}}]\n"
    said = survived(question, brings, masked, bound, microbatches=size)
    assert said == (() if silent else (HANGS.format(f"m: {size}"),))


@pytest.mark.parametrize(
    ("told", "silent"),
    [("x", False), ("4 ranks", True), ("four ranks", True), ("a power of two", True)],
)
def test_a_power_of_two_is_told(
    question: Read, brings: Brings, masked: Demo, told: str, silent: bool
):
    text = f'assume: [{{zh: x, en: "{told}"}}]\n' + CHOICE.replace("ranks: 1", "ranks: 4")
    said = survived(question, brings, masked, text, ranks=4)
    assert said == (() if silent else (HANGS.format("ranks: 4"),))
    # Whatever the rows are: all of them are powers of two.
    bound = text.replace("ranks: 4\n", "ranks: =n\n  at: [{n: 8}, {n: 4}]\n")
    found = [each.name for each in unsaid(question(bound), {"pipeline": masked})]
    assert ("ranks" in found) is (told != "a power of two")


def test_a_price_off_its_default_is_told_too(question: Read, brings: Brings, masked: Demo):
    text = CHOICE.replace("ranks: 1", "ranks: 3") + "  args: {hop: 3}\n"
    told = 'assume: [{zh: x, en: "a hop takes 3 ms"}]\n' + text
    assert survived(question, brings, masked, text, hop=3) == (HANGS.format("hop: 3"),)
    assert survived(question, brings, masked, told, hop=3) == ()


def test_a_run_that_is_refused_says_nothing(question: Read, brings: Brings, masked: Demo):
    def run(wanted: Setting) -> Report:
        ends = "pass" if wanted.ranks in (1, 6) else "error"
        metrics = {"makespan_1f1b": 33 if wanted.ranks == 1 else 10}
        return brings(ranks=wanted.ranks, verdict=ends, metrics=metrics)

    prover = Prover({"pipeline": masked}, run)
    # 3 ranks are refused; 6 are not, and there the key does not hold.
    (said,) = prover.mutate(question(CHOICE), deep=True).elsewhere
    assert said.en == HANGS.format("ranks: 1")


def test_another_number_tells_nothing(question: Read, brings: Brings, masked: Demo):
    text = CHOICE.replace("ranks: 1", "ranks: 3")
    text += "  args: {microbatches: 1}\n  said: {microbatches: of 5 micro-batches}\n"
    told = 'assume: [{zh: x, en: "a step of 5 micro-batches"}]\n'
    said = survived(question, brings, masked, told + text, microbatches=1)
    assert HANGS.format("microbatches: 1") in said
    right = (told + text).replace("of 5", "of 1")
    assert survived(question, brings, masked, right, microbatches=1) == ()


@pytest.mark.parametrize(("told", "silent"), [("a row of 4 documents", False), ("on one", True)])
def test_a_number_of_something_else_tells_of_no_ranks(
    question: Read, brings: Brings, masked: Demo, told: str, silent: bool
):
    text = f'assume: [{{zh: x, en: "{told}"}}]\n' + CHOICE + f"  said: {{ranks: {told}}}\n"
    said = survived(question, brings, masked, text, ranks=1)
    assert said == (() if silent else (HANGS.format("ranks: 1"),))
