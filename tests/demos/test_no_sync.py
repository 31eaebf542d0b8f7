"""All-reduces of an accumulated step: what forward and backward inside no_sync make of K."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

PSI = 2 * (8 * 8 + 8) * 8  # bytes of two layers' gradients


@pytest.mark.parametrize(("ranks", "k"), [(1, 3), (2, 1), (3, 5), (4, 4), (8, 2)])
def test_rounds_and_bytes(run: Run, ranks: int, k: int) -> None:
    report = run(ranks, microbatches=k)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    rounds = {"every": k, "once": 1, "none": 0, "forward_only": 1, "backward_only": k}
    for mode, number in rounds.items():
        assert measured[f"rounds_{mode}"] == measured[f"torch_rounds_{mode}"] == number
    assert measured["gradient_bytes"] == [PSI] * ranks
    for mode in ("every", "once", "backward_only"):
        assert sum(measured[f"sent_bytes_{mode}"]) == rounds[mode] * 2 * (ranks - 1) * PSI
    assert measured["sent_in_step"] == [0] * ranks
    assert measured["grad_error"] < 1e-12
    assert measured["drift"] == [0] * ranks
    assert (max(measured["drift_none"]) > 0.01) == (ranks > 1)
    assert (min(measured["grad_error_none"]) > 0.01) == (ranks > 1)


def test_replicas_left_alone_walk_further_apart(run: Run) -> None:
    drifts = [run(2, steps=steps, microbatches=2)["metrics"]["drift_none"][1] for steps in (1, 4)]
    assert drifts[0] < drifts[1]


def test_odd_sizes(run: Run) -> None:
    for args in ({"rows": 1, "width": 1}, {"width": 13, "rows": 3}, {"rows": 1, "growth": 3}):
        assert run(3, microbatches=2, **args)["verdict"] == "pass"


BREAKS = {
    "all-inside": ("once: rounds a step", 1),
    "first-instead-of-last": ("once: gradients equal the big batch", 2),
    "backward-decides": ("backward_only: as many rounds as torch's DDP", 1),
    "in-forward": ("once: rounds a step", 1),
    "averages-weights": ("once: gradients equal the big batch", 2),
    "stays-off": ("once: as many rounds as torch's DDP", 1),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    expect, ranks = BREAKS[name]
    assert expect in failed(run(ranks, name))
    if ranks > 1:
        assert failed(run(ranks - 1, name)) == []


def test_what_a_break_costs(run: Run) -> None:
    # Nothing is reduced, and nothing complains: the replicas have parted.
    measured = run(2, "all-inside")["metrics"]
    assert measured["sent_bytes_once"] == [0, 0]
    assert max(measured["drift"]) > 0.01
    # A reduction too early: every byte is sent and the gradient is wrong all the same.
    measured = run(2, "first-instead-of-last")["metrics"]
    assert measured["rounds_once"] == 1
    assert measured["grad_error"] > 0.01
    # By the time of the next first forward the gradients are gone: nothing is ever sent.
    measured = run(2, "in-forward")["metrics"]
    assert measured["sent_bytes_once"] == [0, 0]
    assert max(measured["drift"]) > 0.01
    # With one micro-batch, the first is the last.
    assert failed(run(2, "first-instead-of-last", microbatches=1)) == []
    # Right numbers, and right for a reducer that asks in backward: only torch disagrees.
    assert failed(run(2, "backward-decides")) == [
        "forward_only: as many rounds as torch's DDP",
        "backward_only: as many rounds as torch's DDP",
        "forward_only: rounds a step",
        "backward_only: rounds a step",
    ]


@pytest.mark.parametrize("option", ["microbatches", "steps", "rows", "width"])
def test_nothing_is_refused(run: Run, option: str) -> None:
    report = run(1, **{option: 0})
    assert report["outcome"] == "refused"
    assert option in report["error"]["message"]
