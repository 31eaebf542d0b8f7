"""A reason that every other bug of the demo bears out as well names a symptom."""

from dataclasses import replace

import pytest

from quizkit.lab.catalogue import Demo
from quizkit.lab.demo import Break
from quizkit.lab.report import Report, Setting
from quizkit.proof.prove import Prover

from .conftest import Brings, Read

BUG = """kind: bug
function: main
reasons:
  - {points: 1, says: x, claim: grad_error > 0.1}
  - {points: 1, says: x, claim: CLAIM}
proof: {demo: pipeline, break: mine}
"""
LIVE = {"mine": 9, "other": 9, "third": 4, "fourth": 4}


@pytest.fixture
def prover(pipeline: Demo, brings: Brings) -> Prover:
    def run(wanted: Setting) -> Report:
        assert wanted.broken
        metrics = {"grad_error": 1.0, "makespan_1f1b": LIVE[wanted.broken]}
        check = {"name": "same", "holds": False, "measured": 1, "relation": "<", "expected": 0}
        return brings(verdict="fail", broken=wanted.broken, metrics=metrics, checks=[check])

    breaks = dict.fromkeys(LIVE, Break("a", "b", "same"))
    breaks["stuck"] = Break("a", "b", "hangs")  # whose run says nothing of a metric
    return Prover({"pipeline": replace(pipeline, breaks=breaks)}, run)


@pytest.mark.parametrize(
    ("claim", "places"),
    [
        ("makespan_1f1b > 5", ["reasons.0.claim"]),  # true of one other, false of two
        ("makespan_1f1b > 3", ["reasons.0.claim", "reasons.1.claim"]),
    ],
)
def test_a_symptom_of_all_bugs_is_no_reason(
    question: Read, prover: Prover, claim: str, places: list[str]
):
    bug = question(BUG.replace("CLAIM", claim))
    said = [each.en for each in prover._symptoms(bug)]  # pyright: ignore[reportPrivateUsage]
    assert [each.split(":")[0] for each in said] == places
    assert "(other, third, fourth)" in said[0]


def test_a_demo_of_two_bugs_cannot_tell(question: Read, prover: Prover):
    demo = prover.demos["pipeline"]
    breaks = {"mine": demo.breaks["mine"], "other": replace(demo.breaks["other"], expect="else")}
    prover.demos = {"pipeline": replace(demo, breaks=breaks)}
    bug = question(BUG.replace("CLAIM", "makespan_1f1b > 3"))
    assert [*prover._symptoms(bug)] == []  # pyright: ignore[reportPrivateUsage]


def test_another_bug_of_the_same_check_asks_for_words_of_the_cause(question: Read, prover: Prover):
    demo = prover.demos["pipeline"]
    prover.demos = {
        "pipeline": replace(demo, breaks={n: demo.breaks[n] for n in ("mine", "other")})
    }
    for words, found in (("x", 1), ("it is mine", 0)):
        bug = question(
            BUG.replace("CLAIM", "makespan_1f1b > 8").replace("says: x", f"says: {words}")
        )
        said = [each.en for each in prover._symptoms(bug)]  # pyright: ignore[reportPrivateUsage]
        assert sum("reasons.0" in each for each in said) == found
