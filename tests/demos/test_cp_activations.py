"""What context parallelism divides, what it does not, and who has to talk."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("cp-activations")
PARTS = ("norms", "projections", "attention", "mlp", "logits")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(("ranks", "layers", "heads"), [(1, 1, 1), (2, 3, 4), (3, 1, 2), (8, 2, 6)])
def test_all_that_is_kept_is_divided_and_no_weight(
    run: Run, ranks: int, layers: int, heads: int
) -> None:
    seq, hidden, vocabulary = 48, 12, 17
    report = run(ranks, seq=seq, hidden=hidden, heads=heads, layers=layers, vocabulary=vocabulary)
    assert report["verdict"] == "pass", report["checks"]
    measured, n = report["metrics"], seq // ranks
    weights = layers * (12 * hidden**2 + 13 * hidden) + 2 * hidden + 2 * vocabulary * hidden
    assert measured["weight_bytes"] == [8 * weights] * ranks
    for part in PARTS:
        assert [kept * ranks for kept in measured[f"kept_{part}"]] == [
            measured[f"alone_{part}"]
        ] * ranks
    # q, k and v: kv is a copy of its own, the rest are views of the projection's output.
    assert measured["kept_attention"] == [8 * layers * n * 3 * hidden] * ranks
    # For each layer K and V in the forward; K and V again and their gradients in the backward.
    block = layers * n * 2 * hidden * 8
    assert measured["sent_attention"] == [(ranks - 1) * block] * ranks
    assert measured["sent_backward"] == [2 * (ranks - 1) * block] * ranks
    assert measured["sent_elsewhere"] == [0] * ranks
    assert (measured["own_weight_error"] > 0.01) == (ranks > 1)


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red_and_no_other(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert failed(run(planted.ranks, name)) == [planted.expect]
    assert run(planted.ranks - 1, name)["verdict"] == "pass"


def test_keeping_what_was_gathered_keeps_all_keys_and_values(run: Run) -> None:
    good, bad = run(4)["metrics"], run(4, "keeps-what-it-gathered")["metrics"]
    # q is a third of what is kept, and K and V do not shrink.
    assert bad["kept_attention"][0] == good["kept_attention"][0] // 3 * (1 + 2 * 4)
    assert bad["sent_backward"][0] == good["sent_backward"][0] // 2


@pytest.mark.parametrize(
    ("ranks", "args", "said"),
    [
        (3, {"seq": 100}, "96 or 102"),
        (2, {"hidden": 15}, "14 or 16"),
        (2, {"layers": 0}, "start at 1"),
        (2, {"heads": 0}, "start at 1"),
    ],
)
def test_what_cannot_be_divided_is_refused(
    run: Run, ranks: int, args: dict[str, Any], said: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(said)


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
