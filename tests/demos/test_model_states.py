"""Bytes kept and sent at each ZeRO stage against the formulas, and what each bug does to them."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("model-states")

pytestmark = pytest.mark.demo

ODD = {"width": 7, "layers": 2, "microbatches": 3}  # 49 divides by nothing asked for here
ONE = {"width": 1, "layers": 1}  # one weight: most ranks keep padding only
MIXED = {"width": 12, "grad_dtype": "fp32", "microbatches": 2}
WIDE = {"width": 10, "dtype": "fp32", "grad_dtype": "fp32", "lr": 0.1}


def per_parameter(stage: int, ranks: int, weights: int = 2, gradients: int = 2) -> float:
    """Bytes for a parameter, as the ZeRO paper has it: 12 are the optimizer's."""
    return (
        weights / (ranks if stage >= 3 else 1)
        + gradients / (ranks if stage >= 2 else 1)
        + 12 / (ranks if stage >= 1 else 1)
    )


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 5)),
        *((ranks, ODD) for ranks in (1, 2, 4)),
        *((ranks, ONE) for ranks in (1, 3, 8)),
        *((ranks, MIXED) for ranks in (2, 4)),
        *((ranks, WIDE) for ranks in (1, 3)),
    ],
)
def test_every_stage_trains_the_same_to_the_bit(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    width, layers = args.get("width", 24), args.get("layers", 3)
    assert measured["parameters"] == layers * width**2
    assert measured["padding"] == layers * (-(width**2) % ranks)
    assert measured["weights_same"] == measured["states_same"] == [True] * ranks


@pytest.mark.parametrize(
    ("ranks", "gradients"),
    [*((ranks, 2) for ranks in (1, 2, 3, 4, 8)), *((ranks, 4) for ranks in (1, 2, 3))],
)
def test_sixteen_bytes_a_parameter_cut_by_stages(run: Run, ranks: int, gradients: int) -> None:
    args = {"grad_dtype": "fp32"} if gradients == 4 else {}
    measured = run(ranks, **args)["metrics"]
    count = measured["parameters"]
    assert measured["padding"] == 0
    for stage in range(4):
        parts = [measured[f"{k}_bytes_{stage}"] for k in ("weights", "gradients", "optimizer")]
        assert measured[f"state_bytes_{stage}"] == [sum(part) for part in zip(*parts, strict=True)]
        expected = per_parameter(stage, ranks, gradients=gradients) * count
        assert measured[f"state_bytes_{stage}"] == [pytest.approx(expected, rel=1e-12)] * ranks
    if gradients == 2:
        assert measured["state_bytes_0"] == [16 * count] * ranks
        assert measured["state_bytes_3"] == [16 * count // ranks] * ranks


@pytest.mark.parametrize(
    ("ranks", "microbatches"),
    [*((ranks, 1) for ranks in (1, 2, 3, 4, 8)), *((ranks, 4) for ranks in (1, 2, 3))],
)
def test_two_two_two_three(run: Run, ranks: int, microbatches: int) -> None:
    measured = run(ranks, microbatches=microbatches)["metrics"]
    once = 2 * measured["parameters"] * (ranks - 1) // ranks  # one gather of 16-bit numbers
    sent = [measured[f"sent_bytes_{stage}"] for stage in range(4)]
    times = (2, 2, microbatches + 1, 3 * microbatches)
    assert sent == [[each * once] * ranks for each in times]


def test_without_master_weights_small_updates_are_lost(run: Run) -> None:
    args = {"lr": 1e-4, "steps": 8}
    kept, lost = (run(1, broken, **args)["metrics"] for broken in (None, "no-master"))
    assert lost["moved_weights"][0] < kept["moved_weights"][0] / 2


def test_what_a_break_leaves_right(run: Run) -> None:
    # Adam divides by the gradient's size: the 16-bit weights do not even differ.
    assert failed(run(2, "no-average")) == ["optimizer state equals training on one process"]
    assert failed(run(2, "all-reduce-first")) == ["stage 1 sends its share"]
    # Each stage trains right; it is memory that is not saved, and a gather too many.
    view = run(4, "part-is-a-view")
    wrong = ("keeps its share, no more", "sends its share")
    assert failed(view) == [f"stage {stage} {what}" for stage in (2, 3) for what in wrong]
    assert view["metrics"]["state_bytes_2"] == run(4)["metrics"]["state_bytes_1"]


@pytest.mark.parametrize("args", [{"layers": 0}, {"width": -1}, {"microbatches": 0}, {"steps": 0}])
def test_sizes_that_mean_nothing_are_refused(run: Run, args: dict[str, Any]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert "must be 1 or more" in report["error"]["message"]


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def test_the_passes_are_autograd_and_the_update_is_torchs_adam() -> None:
    import torch
    from model_states import fresh, passes, update

    weights = torch.randn(3, 5, 5, dtype=torch.float64, requires_grad=True)
    batch = torch.randn(2, 4, 5, dtype=torch.float64)
    state, official = fresh(weights.detach().clone()), torch.optim.Adam([weights], lr=1e-2)
    for step in range(1, 5):
        found = torch.zeros_like(state[0])
        passes(3, state[0].__getitem__, found.__setitem__, batch)
        update(state, found, step, 1e-2)

        y = batch[0]
        for layer in weights:
            y = torch.tanh(y @ layer)
        official.zero_grad()
        ((y - batch[1]) ** 2 / 2).sum(-1).mean().backward()
        torch.testing.assert_close(found, weights.grad, rtol=1e-12, atol=1e-14)
        official.step()
        torch.testing.assert_close(state[0], weights.detach(), rtol=1e-12, atol=1e-12)
        kept = official.state[weights]
        torch.testing.assert_close(state[1], kept["exp_avg"], rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(state[2], kept["exp_avg_sq"], rtol=1e-12, atol=1e-14)
