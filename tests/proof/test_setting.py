"""Which run answers a learner: their own numbers, or the nearest that the proof lists."""

import pytest

from quizkit.proof.setting import nearest, own_draw

from .conftest import Read

NUMERIC = """\
kind: numeric
params: {p: [2, 3, 4], m: [2, 5, 8]}
answer: (p - 1) / (m + p - 1)
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m}
  at: [{p: 4, m: 8}, {p: 3, m: 5}]
"""
CLAIMS = "  claims:\n    - isclose(bubble_1f1b, answer)\n"


@pytest.mark.parametrize(
    ("when", "drawn", "own"),
    [
        ("", {"p": 3, "m": 5}, True),
        ("", {"p": 3, "m": 8}, False),
        ("  when: p <= 3\n", {"p": 3, "m": 8}, True),
        ("  when: p <= 3\n", {"p": 4, "m": 5}, False),
        ("  when: p <= 3\n", {"p": 4, "m": 8}, True),
    ],
)
def test_a_draw_that_the_proof_lists_is_the_learners_own(
    question: Read, when: str, drawn: dict[str, int], own: bool
):
    assert own_draw(question(NUMERIC + when + CLAIMS), drawn) is own


def test_the_nearest_run_is_of_the_learners_case_before_it_is_of_their_size(question: Read):
    cases = NUMERIC.replace(
        "at: [{p: 4, m: 8}, {p: 3, m: 5}]", "at: [{p: 2, m: 2}, {p: 4, m: 8}, {p: 3, m: 5}]"
    )
    asked = question(cases + CLAIMS)
    # 64 is nearest to 8 by ratio, and yet p names the case.
    assert nearest(asked, {"p": 2, "m": 64}) == {"p": 2, "m": 2}
    assert nearest(asked, {"p": 64, "m": 64}) == {"p": 4, "m": 8}
