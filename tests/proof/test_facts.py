"""A claim in words: the measurements it looks at, and what each would have to be."""

import pytest

from quizkit.bank.formula import parse
from quizkit.bank.functions import Value
from quizkit.proof.facts import Fact, facts

WORLD: dict[str, Value] = {
    "sent": [8704, 8704],
    "back": [100, 50],
    "bubble": 0.25,
    "error": 1e-16,
    "m": 4,
    "slow": 1,
}
METRICS = frozenset({"sent", "back", "bubble", "error"})
SENT = Fact("sent", 8704, "rank", 0)


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("sent[0] == 544 * m", [Fact("sent", 8704, "rank", 0, "", "equal", 2176)]),
        ("2176 == sent[0]", [Fact("sent", 8704, "rank", 0, "", "equal", 2176)]),
        ("m > bubble", [Fact("bubble", 0.25, relation="below", wanted=4)]),
        ("m < max(back)", [Fact("back", 100, "max", relation="above", wanted=4)]),
        ("all_equal(sent, m)", [Fact("sent", [8704, 8704], relation="equal", wanted=4)]),
        ("all_equal(back)", [Fact("back", [100, 50], relation="alike")]),
        # What was set says nothing; of what has to be true at once, what is false decides.
        ("m == 1 or bubble > 1", [Fact("bubble", 0.25, relation="above", wanted=1)]),
        ("error < 1 and bubble > 1", [Fact("bubble", 0.25, relation="above", wanted=1)]),
        (
            "error < 1 and bubble < 1",
            [
                Fact("error", 1e-16, relation="below", wanted=1),
                Fact("bubble", 0.25, relation="below", wanted=1),
            ],
        ),
        ("error > 1 or bubble < 1", [Fact("bubble", 0.25, relation="below", wanted=1)]),
        ("not bubble < 1", [Fact("bubble", 0.25, relation="at_least", wanted=1)]),
        # Held against each other, the second says how the first turned out, so or not.
        ("bubble < back[1]", [Fact("bubble", 0.25), Fact("back", 50, "rank", 1, than="less")]),
        ("error > bubble", [Fact("error", 1e-16), Fact("bubble", 0.25, than="less")]),
        (
            "back[0] == sum(back) or m == 0",
            [
                Fact("back", 100, "rank", 0),
                Fact("back", 150, "sum", than="less"),
            ],
        ),
        # Reckoned with, measurements stand side by side.
        ("4 * sent[0] == 5 * back[0]", [SENT, Fact("back", 100, "rank", 0)]),
        ("(bubble < error) == (slow > 1)", [Fact("bubble", 0.25), Fact("error", 1e-16)]),
        ("sent[0] + back[0] == m", [Fact("sent", 8804, "rank", 0, "back", "equal", 4)]),
        ("bubble > 1 if m > 2 else error > 1", [Fact("bubble", 0.25, "", 0, "", "above", 1)]),
        ("m == 4", []),
    ],
)
def test_a_claim_is_told_by_what_decides_it(claim: str, told: list[Fact]):
    assert facts(parse(claim).tree, WORLD, METRICS) == told
