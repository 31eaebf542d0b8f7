"""A key has to hang on what was measured: a menagerie of proofs that only seem to, and honest ones.

Every claim here is true of every run. What is wrong with a lazy proof is that it would be as true
of another run, or of another key.
"""

from collections.abc import Callable
from typing import Any

import pytest

from quizkit.bank.model import Question
from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report
from quizkit.proof.judge import BoundRun, judge
from quizkit.proof.loose import loose
from quizkit.proof.messages import told

Read = Callable[[str], Question]
Brings = Callable[..., Report]
Held = Callable[..., list[str]]

AT = ({"p": 4, "m": 8}, {"p": 3, "m": 5}, {"p": 2, "m": 6})
LAW = "(p - 1) / (m + p - 1)"  # of the bubble, as it is measured
WRONG = "(p - 1) / m"


def measurements(p: int, m: int) -> dict[str, Any]:
    """What a pipeline measures: bubbles, micro-batches held, bytes; and an error that is noise."""
    return {
        "bubble_1f1b": (p - 1) / (m + p - 1),
        "bubble_gpipe": (p - 1) / (m + p - 1),
        "makespan_1f1b": 3.0 * (m + p - 1),
        "peak_live_1f1b": [*range(p, 0, -1)],
        "peak_live_gpipe": [m] * p,
        "sent_bytes": [0, *[4096 * m] * (p - 1)],
        "grad_error": 3e-16,
    }


@pytest.fixture
def held(question: Read, brings: Brings, pipeline: Demo) -> Held:
    """What is loose in a proof whose claims are all true."""

    def made(text: str, *rows: dict[str, int], how: str = "counted", **more: Any) -> list[str]:
        asked = question(text)
        runs: list[BoundRun] = []
        for row in rows or ({},):
            metrics = measurements(**{"p": 4, "m": 8, **row})
            report = brings(
                ranks=row.get("p", 4),
                args={"microbatches": row.get("m", 8)},
                metrics=metrics,
                how=how,
                **more,
            )
            report.how["grad_error"] = "compared"  # type: ignore[index]
            runs.append(BoundRun(row, report))
        judgement = judge(asked, runs, pipeline)
        false = [each.en for each in told(asked, judgement, pipeline)]
        assert not false, false
        return [each.en for each in loose(asked, runs, pipeline)]

    return made


def numeric(answer: str, *claims: str) -> str:
    listed = "".join(f"    - {claim}\n" for claim in claims)
    return (
        f"kind: numeric\nparams: {{p: [2, 3, 4], m: [5, 6, 8]}}\nanswer: {answer}\n"
        "proof:\n  demo: pipeline\n  ranks: =p\n  args: {microbatches: =m}\n"
        f"  at: [{{p: 4, m: 8}}, {{p: 3, m: 5}}, {{p: 2, m: 6}}]\n  claims:\n{listed}"
    )


LAZY_NUMBERS = {
    "measured beside": f"isclose(answer, {WRONG}) and bubble_1f1b > 0",
    "nothing times what was measured": f"isclose(answer, {WRONG} + 0 * bubble_1f1b)",
    "measured to the power of nothing": f"isclose(answer, {WRONG} * bubble_1f1b ** 0)",
    "a branch never taken": f"isclose(answer, bubble_1f1b if m > 1000 else {WRONG})",
    "a branch that what was measured takes": (
        f"isclose(answer, {WRONG} if isclose(bubble_1f1b, {LAW}) else bubble_1f1b)"
    ),
    "calculators": (
        "isclose(answer, pipeline_closed_bubble_over_ideal(stages=p, microbatches=m)) "
        "and makespan_1f1b > 0"
    ),
    "a minimum that cuts it off": f"isclose(answer, min({WRONG}, 1000 * bubble_1f1b))",
    "a maximum that hides it": f"isclose(answer, max({WRONG}, bubble_1f1b))",
    "a wide tolerance": "isclose(answer, bubble_1f1b, rel=0.6)",
    "a wide absolute tolerance": "isclose(answer, bubble_1f1b, abs=0.2)",
    "a tolerance that was measured": f"isclose(answer, {WRONG}, abs=bubble_1f1b)",
    "rounding": "round(answer) == round(bubble_1f1b)",
    "floors": "floor(answer) == floor(bubble_1f1b)",
    "a window": "answer > bubble_1f1b and answer < 2 * bubble_1f1b",
    "either": f"isclose(answer, {WRONG}) or isclose(answer, bubble_1f1b)",
    "or the size": "isclose(bubble_1f1b, answer) or m > 4",
    "all rows but one let off": "isclose(answer, 11 / 8 * bubble_1f1b) or p != 4",
    "a remainder of nothing": f"isclose(answer, {WRONG} + bubble_1f1b - {LAW})",
    "a ratio of one": f"isclose(answer, {WRONG} * bubble_1f1b / ({LAW}))",
    "a ratio of one on the other side": f"isclose(answer / ({WRONG}), bubble_1f1b / ({LAW}))",
    "two that are alike": f"isclose(answer, {WRONG} + bubble_1f1b - bubble_gpipe)",
    "it over itself": f"isclose(answer, {WRONG} * bubble_1f1b / bubble_1f1b)",
    "opposite elements": f"isclose(answer, {WRONG} + sent_bytes[1] - sent_bytes[1])",
    "a length": "isclose(answer, (len(sent_bytes) - 1) / m)",
    "an error that is nothing": f"isclose(answer, {WRONG} + grad_error)",
    "an error as a factor": f"isclose(answer, {WRONG} * (1 + grad_error))",
    "it equals itself": f"isclose(answer, {WRONG}) and bubble_1f1b == bubble_1f1b",
    "over its like": f"isclose(answer, {WRONG} * bubble_1f1b / bubble_gpipe)",
    "rounded to one": f"isclose(answer, {WRONG} * ceil(bubble_1f1b))",
    "in a list that is summed": f"isclose(answer, sum([{WRONG}, grad_error]))",
    "truth against truth": f"isclose(answer, {WRONG}) == (bubble_1f1b > 0)",
    "in logarithms": f"isclose(log2(answer), log2({WRONG}) + bubble_1f1b - {LAW})",
    "both sides times it": f"isclose(answer * bubble_1f1b, ({WRONG}) * bubble_1f1b)",
    "a choice from a list": f"isclose(answer, [{WRONG}, bubble_1f1b][0])",
    "mirrored": "abs(answer - 1) == abs(bubble_1f1b - 1)",
    "to the hundreds": "round(100 * answer, -2) == round(100 * bubble_1f1b, -2)",
    "by tens": "1000 * answer // 10 == 1000 * bubble_1f1b // 10",
    "not either": f"not (not isclose(answer, {WRONG}) or bubble_1f1b <= 0)",
}


@pytest.mark.parametrize("lazy", LAZY_NUMBERS)
def test_a_lazy_number_is_refused(held: Held, lazy: str):
    claim = LAZY_NUMBERS[lazy]
    right = WRONG
    for answer in (WRONG, LAW):
        try:
            found = held(numeric(answer, claim), *AT)
        except AssertionError:
            continue  # the claim is not true of this key
        assert any(each.startswith("answer: ") for each in found), found
        right = ""
    assert not right, "no key makes the claim true"


HONEST_NUMBERS = {
    "as it is": (LAW, ("isclose(bubble_1f1b, answer)",)),
    "in percent": (f"100 * {LAW}", ("isclose(answer / 100, bubble_1f1b)",)),
    "worked out of two": ("3 * (p - 1)", ("isclose(answer, bubble_1f1b * makespan_1f1b)",)),
    "by an element": ("p", ("peak_live_1f1b[0] == answer",)),
    "by a sum over ranks": ("m * (p - 1) * 4", ("sum(sent_bytes) / 1024 == answer",)),
    "by cases, each measured": (
        LAW, ("isclose(bubble_gpipe if p == 4 else bubble_1f1b, answer)",),
    ),
    "with a second claim that knows the law": (
        LAW, ("isclose(bubble_1f1b, answer)", f"isclose(bubble_gpipe, {LAW})"),
    ),
    "a whole number rounded up": (
        "ceil(3 * (m + p - 1) / 4)", ("answer == ceil(makespan_1f1b / 4)",),
    ),
    "the most that fits": (
        "floor(100 / (m + p - 1))",
        ("answer * makespan_1f1b <= 300 and 300 < (answer + 1) * makespan_1f1b",),
    ),
    "scaled to a size that nobody could run": (
        "m * 4096 * 80 / 1e6", ("isclose(sent_bytes[1] * 80 / 1e6, answer)",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("honest", HONEST_NUMBERS)
def test_an_honest_number_is_accepted(held: Held, honest: str):
    answer, claims = HONEST_NUMBERS[honest]
    assert held(numeric(answer, *claims), *AT) == []


def choice(right: str, *wrong: str) -> str:
    listed = "".join(f"  - {{text: w, why: w, myth: m, claim: '{each}'}}\n" for each in wrong)
    return (
        f"kind: choice\noptions:\n  - {{text: r, correct: true, claim: '{right}'}}\n{listed}"
        "proof: {demo: pipeline}\n"
    )


FALSE = "bubble_1f1b == 0.25"  # an honest claim of a wrong option
LAZY_OPTIONS = {
    "it equals itself": ("bubble_1f1b == bubble_1f1b", FALSE),
    "less than nothing is false": ("sent_bytes[0] >= 0", FALSE),
    "one or the other": ("bubble_1f1b < 0.3 or bubble_1f1b >= 0.3", FALSE),
    "arguments alone": ("microbatches == 8 and bubble_1f1b < 0.3", FALSE),
    "a calculator alone": (
        "pipeline_closed_bubble_share(stages=4, microbatches=8) < 0.3 and bubble_1f1b < 0.3",
        FALSE,
    ),
    "a count that is something": ("makespan_1f1b > 0", FALSE),
    "far from what was measured": ("makespan_1f1b > 0.001", FALSE),
    "a tolerance that takes in the world": ("abs(bubble_1f1b - 0.27) < 5", FALSE),
    "a length": ("len(sent_bytes) == 4 and bubble_1f1b < 0.3", FALSE),
    "times nothing": ("0 * bubble_1f1b < 0.3", FALSE),
    "as wide as the world": ("isclose(bubble_1f1b, 0.5, rel=1)", FALSE),
    "a maximum with a constant": ("max(bubble_1f1b, 1) >= 1", FALSE),
    "a wrong option that cannot be": ("bubble_1f1b < 0.3", "bubble_1f1b < 0"),
    "a wrong option that is a contradiction": (
        "bubble_1f1b < 0.3", "bubble_1f1b < 0.2 and bubble_1f1b > 0.3",
    ),
    "a wrong option of a size": ("bubble_1f1b < 0.3", "microbatches == 9 and bubble_1f1b > 0"),
    "a wrong option that is arithmetic": ("bubble_1f1b < 0.3", "1 > 2 and bubble_1f1b > 0"),
    "a wrong option unlike itself": ("bubble_1f1b < 0.3", "bubble_1f1b != bubble_1f1b"),
    "a wrong option and a calculator": (
        "bubble_1f1b < 0.3",
        "bubble_1f1b > 0 and pipeline_closed_bubble_share(stages=4, microbatches=8) > 0.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lazy", LAZY_OPTIONS)
def test_a_lazy_option_is_refused(held: Held, lazy: str):
    right, *wrong = LAZY_OPTIONS[lazy]
    found = held(choice(right, *wrong))
    place = "options.1" if "wrong option" in lazy else "options.0"
    assert any(each.startswith(place) for each in found), found


HONEST_OPTIONS = {
    "a size": ("bubble_1f1b < 0.3", FALSE),
    "alike": ("bubble_1f1b == bubble_gpipe", "bubble_1f1b < bubble_gpipe"),
    "a list": ("peak_live_1f1b == [4, 3, 2, 1]", "all_equal(peak_live_1f1b, 4)"),
    "nothing more than rounding": ("grad_error < 1e-12", "grad_error > 0.01"),
    "one end sends nothing": ("sent_bytes[0] == 0 and sent_bytes[1] > 0", "all_equal(sent_bytes)"),
    "let off by the size": ("bubble_1f1b < 0.3", "microbatches > 100 or bubble_1f1b > 0.5"),
    "with a law": ("bubble_1f1b == (ranks - 1) / (microbatches + ranks - 1)", FALSE),
}


@pytest.mark.parametrize("honest", HONEST_OPTIONS)
def test_an_honest_option_is_accepted(held: Held, honest: str):
    assert held(choice(*HONEST_OPTIONS[honest])) == []


def essay(*claims: str) -> str:
    listed = "".join(f"  - {{points: 1, says: x, claim: '{each}'}}\n" for each in claims)
    return f"kind: essay\nrubric:\n{listed}proof: {{demo: pipeline}}\n"


FIRST = "bubble_1f1b < 0.3"
SAID = {
    "the same": FIRST,
    "the other way round": "0.3 > bubble_1f1b",
    "twice negated": "not bubble_1f1b >= 0.3",
    "less of it": "bubble_1f1b < 0.4",
    "or anything": "bubble_1f1b < 0.3 or peak_live_1f1b[0] == 4",
}


@pytest.mark.parametrize("lazy", SAID)
def test_a_point_that_follows_from_another_one_is_not_proved(held: Held, lazy: str):
    assert held(essay(FIRST, SAID[lazy])) == [
        "rubric.1.claim: is true wherever rubric.0.claim is, and proves no other point. "
        "Claim what this point says beyond that, or nothing"
    ]


def test_points_may_share_a_measurement(held: Held):
    assert held(essay(FIRST, "bubble_1f1b == bubble_gpipe", "bubble_1f1b > 0.2")) == []
    # All of what the first one says is in the second: it is the first that adds nothing.
    (said,) = held(essay(FIRST, "bubble_1f1b < 0.3 and peak_live_1f1b[0] == 4"))
    assert said.startswith("rubric.0.claim: is true wherever rubric.1.claim is")


def test_how_the_run_ends_is_no_reason(held: Held):
    reasons = "reasons: [{points: 1, says: x, claim: 'CLAIM'}]\n"
    bug = f"kind: bug\nfunction: step\n{reasons}proof: {{demo: pipeline, break: blocking-send}}\n"
    hung = {"outcome": "hung", "verdict": "error", "broken": "blocking-send"}
    for claim in ('outcome == "hung"', 'not outcome == "finished"'):
        (said,) = held(bug.replace("CLAIM", claim), **hung)
        assert said.startswith("reasons.0.claim: how the run ends is what this bug is declared")
    assert held(bug.replace("CLAIM", "peak_live_1f1b[0] == 4"), **hung) == []
    asked = 'outcome == "hung"'  # an option may say it, where that is what was asked
    options = choice(asked, 'outcome == "finished"')
    assert held(options.replace("pipeline}", "pipeline, break: blocking-send}"), **hung) == []


def order(*claims: str) -> str:
    listed = "".join(f"    - {claim}\n" for claim in claims)
    return (
        "kind: order\nsteps: [{id: a, text: a}, {id: b, text: b}, {id: c, text: c}]\n"
        f"proof:\n  demo: pipeline\n  claims:\n{listed}"
    )


def test_each_neighbour_of_an_order_is_put_there_by_a_measurement(held: Held):
    measured = "(peak_live_1f1b[3] < peak_live_1f1b[1]) == (a < b)"
    assert held(order(measured, "(peak_live_1f1b[1] < peak_live_1f1b[0]) == (b < c)")) == []
    (said,) = held(order(measured, "b < c and bubble_1f1b < 0.3"))
    assert "no measurement puts b before c" in said
    assert len(held(order("order == [1, 2, 3] and bubble_1f1b < 0.3"))) == 2


def test_each_pair_that_a_partial_order_puts_is_measured(held: Held):
    measured = "(peak_live_1f1b[3] < peak_live_1f1b[1]) == (a < b)"
    partial = order(measured).replace("proof:", "after: {b: [a], c: [a]}\nproof:")
    (said,) = held(partial)
    assert "no measurement puts a before c" in said
    both = order(measured, "(peak_live_1f1b[3] < peak_live_1f1b[0]) == (a < c)")
    assert held(both.replace("proof:", "after: {b: [a], c: [a]}\nproof:")) == []


def cloze(value: str, *claims: str) -> str:
    listed = "".join(f"    - {claim}\n" for claim in claims)
    return (
        f"kind: cloze\ntext: x [[g]]\ngaps: {{g: {{answer: '4', value: {value}}}}}\n"
        f"proof:\n  demo: pipeline\n  claims:\n{listed}"
    )


def test_a_gap_follows_what_was_measured(held: Held):
    assert held(cloze("4", "peak_live_1f1b[0] == g")) == []
    assert held(cloze("2", "(peak_live_1f1b[0] > peak_live_1f1b[1]) == (g == 2)")) == []
    (said,) = held(cloze("4", "g == 4 and peak_live_1f1b[0] == 4"))
    assert said.startswith("gaps.g: says nothing about the key")
    (said,) = held(cloze("4", "g < 5 and g <= peak_live_1f1b[0]"))
    assert said.startswith("gaps.g: the claims are as true of g = ")


def test_no_other_order_is_as_true(held: Held):
    one = "abs(a - b) == abs(peak_live_1f1b[3] - peak_live_1f1b[2])"
    two = "abs(b - c) == abs(peak_live_1f1b[2] - peak_live_1f1b[1])"
    three = "abs(a - c) == abs(peak_live_1f1b[3] - peak_live_1f1b[1])"
    assert held(order(one, two, three)) == [
        "steps: the claims are as true of the order c, b, a. Compare so that only one order is true"
    ]


def test_what_is_alike_puts_no_step_before_another(held: Held):
    tied = "(peak_live_gpipe[1] <= peak_live_gpipe[0]) == (a < b)"
    (said,) = held(order(tied, "(peak_live_1f1b[1] < peak_live_1f1b[0]) == (b < c)"))
    assert "no measurement puts a before b" in said


def two_gaps(one: int, two: int, *claims: str) -> str:
    listed = "".join(f"    - {claim}\n" for claim in claims)
    return (
        "kind: cloze\ntext: x [[g]] [[h]]\n"
        f"gaps: {{g: {{answer: '{one}', value: {one}}}, h: {{answer: '{two}', value: {two}}}}}\n"
        f"proof:\n  demo: pipeline\n  claims:\n{listed}"
    )


LAZY_GAPS = {
    "their sum": "g + h == peak_live_1f1b[0] + peak_live_1f1b[3]",
    "their product": "isclose(g * h, peak_live_1f1b[0] * peak_live_1f1b[3])",
    "the larger and the smaller": (
        "max(g, h) == peak_live_1f1b[0] and min(g, h) == peak_live_1f1b[3]"
    ),
}


@pytest.mark.parametrize("lazy", LAZY_GAPS)
def test_gaps_are_not_proved_by_what_they_make_together(held: Held, lazy: str):
    found = held(two_gaps(1, 4, LAZY_GAPS[lazy]))
    assert any("as true of g = 4, h = 1" in each for each in found), found


def test_gaps_that_are_proved_apart_and_together_are_accepted(held: Held):
    assert held(two_gaps(4, 1, "g == peak_live_1f1b[0]", "h == peak_live_1f1b[3]")) == []
    together = "g + h == peak_live_1f1b[0] + peak_live_1f1b[3]"
    assert held(two_gaps(4, 1, together, "g - h == peak_live_1f1b[0] - peak_live_1f1b[3]")) == []


def trace(answer: str, *claims: str) -> str:
    listed = "".join(f"    - {claim}\n" for claim in claims)
    return (
        f"kind: trace\nfunction: schedule_1f1b\nanswer: {answer}\n"
        f"proof:\n  demo: pipeline\n  claims:\n{listed}"
    )


def test_a_list_is_not_proved_by_its_sum(held: Held):
    (said,) = held(trace("[1, 2, 3, 4]", "sum(answer) == sum(peak_live_1f1b)"))
    assert said.startswith("answer: the claims are as true of answer = [2, 1, 3, 4]")
    assert held(trace("[4, 3, 2, 1]", "answer == peak_live_1f1b")) == []
