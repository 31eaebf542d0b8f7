"""What was measured alike comes in no order, and no number that is added makes it less."""

import pytest

from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report, Setting
from quizkit.proof.prove import Prover
from quizkit.proof.thin import thin_proof

from .conftest import Brings, Read

CHOICE = """kind: choice
options:
  - {text: a, correct: true, claim: CLAIM}
  - {text: b, why: w}
proof: {demo: pipeline}
"""
ORDER = """kind: order
steps: [{id: gpipe, text: x}, {id: late, text: y}]
proof:
  demo: pipeline
  claims: ["(METRIC < bubble_1f1b) == (gpipe < late)"]
"""


@pytest.fixture
def prover(pipeline: Demo, brings: Brings) -> Prover:
    metrics = {"bubble_1f1b": 0.3, "bubble_gpipe": 0.3, "overhead_1f1b": 0.2}

    def run(wanted: Setting) -> Report:
        return brings(ranks=wanted.ranks, metrics=metrics)

    return Prover({"pipeline": pipeline}, run)


@pytest.mark.parametrize(
    ("claim", "stands"),
    [
        ("bubble_1f1b < bubble_gpipe + 1", False),
        ("bubble_1f1b - 0.001 < bubble_gpipe", False),
        ("bubble_gpipe + 0.001 > bubble_1f1b", False),
        ("overhead_1f1b < bubble_gpipe + 1", True),
        ("bubble_1f1b < overhead_1f1b * 2", True),
    ],
)
def test_what_is_less_is_less_without_a_number_added(
    question: Read, prover: Prover, claim: str, stands: bool
):
    result = prover.prove(question(CHOICE.replace("CLAIM", claim)))
    said = [each.en for each in result.reasons if "the number added" in each.en]
    assert bool(said) is not stands


def test_two_that_are_alike_come_in_no_order(question: Read, prover: Prover):
    tie = prover.prove(question(ORDER.replace("METRIC", "bubble_gpipe")))
    # Not less is `gpipe < late` not true either way round: the key is turned to where it holds.
    turned = ORDER.replace("METRIC", "bubble_gpipe").replace("gpipe < late", "late < gpipe")
    assert [each.en for each in prover.prove(question(turned)).reasons] == [
        "steps: says nothing about the key: no measurement puts gpipe before late"
    ]
    assert tie.status == "failed"
    assert prover.prove(question(ORDER.replace("METRIC", "overhead_1f1b"))).status == "proved"


def test_a_step_that_may_stand_anywhere_is_no_part_of_a_key(question: Read):
    free = ORDER.replace("y}]", "y}, {id: z, text: z}]\nafter: {late: [gpipe]}")
    assert ("after", "`z` may stand anywhere: bind it to a step, or drop it") in [
        *thin_proof(question(free))
    ]
    bound = free.replace("{late: [gpipe]}", "{late: [gpipe], z: [gpipe]}")
    assert "after" not in [place for place, _ in thin_proof(question(bound))]
