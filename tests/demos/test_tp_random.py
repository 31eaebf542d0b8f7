"""Which masks agree and which do not, and what wrong seeds do to copies, slices and gradients."""

import re

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("t", "args"),
    [
        (1, {}),
        (2, {"tokens": 10, "hidden": 33, "wide": 50, "heads": 6, "rate": 0.5}),
        (3, {"seed": 7}),
        (4, {"rate": 0.3}),
        (8, {}),
    ],
)
def test_copies_drop_alike_and_slices_apart(run: Run, t: int, args: dict[str, float]) -> None:
    report = run(t, **args)
    assert report["verdict"] == "pass", report
    asked, measured = report["args"], report["metrics"]
    assert measured["residual_masks"] == 1
    assert [measured[f"{place}_masks"] for place in ("heads", "hidden", "tokens")] == [t] * 3
    assert measured["hidden_correlation"] < 0.3
    assert measured["replica_drift"] == measured["bias_spread"] == 0
    assert max(measured["out_error"], measured["grad_error"]) < 1e-12
    assert max(measured["recompute_error"]) < 1e-12
    assert measured["init_rank"] == min(asked["hidden"], asked["wide"])
    assert measured["init_scale"] == pytest.approx(1, abs=0.1)


def test_one_seed_for_all_makes_slices_copies(run: Run) -> None:
    measured = run(3, "one-seed-for-all")["metrics"]
    assert measured["hidden_masks"] == measured["heads_masks"] == measured["tokens_masks"] == 1
    assert measured["hidden_correlation"] == pytest.approx(1)
    assert measured["init_rank"] == 48 // 3
    # Nothing drifts, and the output is that of some model: no comparison of ranks would notice.
    assert measured["replica_drift"] == 0
    assert measured["out_error"] < 1e-12


def test_the_rank_of_copies_is_that_of_one(run: Run) -> None:
    assert run(2, "one-seed-for-all", hidden=16)["metrics"]["init_rank"] == 16
    assert run(4, "one-seed-for-all", hidden=16)["metrics"]["init_rank"] == 12


def test_a_seed_for_each_lets_copies_drift(run: Run) -> None:
    report = run(2, "a-seed-for-each")
    measured = report["metrics"]
    assert measured["residual_masks"] == 2
    assert measured["replica_drift"] > 0.1
    assert measured["bias_spread"] > 0.1
    assert not [name for name in failed(report) if name.startswith("slices")]


def test_a_slice_scaled_by_its_own_inputs_is_too_wide(run: Run) -> None:
    assert run(4, "scaled-by-the-slice")["metrics"]["init_scale"] == pytest.approx(2, abs=0.15)


BREAKS = {
    "one-seed-for-all": ("slices drop apart: hidden", 2),
    "a-seed-for-each": ("replicas stay replicas", 2),
    "one-stream-restored": ("a recomputed block has the same gradients", 1),
    "scaled-by-the-slice": ("slices are scaled for all inputs", 2),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared_and_on_no_fewer_ranks(run: Run, name: str) -> None:
    expect, ranks = BREAKS[name]
    assert expect in failed(run(ranks, name))
    if ranks > 1:
        assert failed(run(ranks - 1, name)) == []


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({"wide": 50}, "51"),
        ({"tokens": 0}, "1"),
        ({"rate": 0.0}, "0.1"),
        ({"seed": 2**64}, "2**32"),
        ({"tokens": 3, "hidden": 2}, "72"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(
    run: Run, args: dict[str, float], fits: str
) -> None:
    report = run(3, **args)
    assert report["outcome"] == "refused"
    assert re.search(rf"\b{re.escape(fits)}\b", report["error"]["message"])
