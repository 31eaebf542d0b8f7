"""Top-k against one process, what it sends, and what becomes of entries that are never sent."""

import pytest

from .conftest import Run

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {"entries": 1, "k": 1, "disputed": 0}),
        (2, {"entries": 7, "k": 3, "disputed": 7, "spread": 1e6}),
        (3, {"entries": 11, "k": 11, "steps": 30, "disputed": 0}),
        (3, {"entries": 96, "k": 5, "lr": 1.0, "steps": 30}),
        (4, {"entries": 33, "k": 1, "spread": 0.0, "steps": 1}),
    ],
)
def test_odd_settings_are_right(run: Run, ranks: int, args: dict[str, float]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    k = args["k"]
    assert report["metrics"]["sent_bytes_sparse"] == [(ranks - 1) * 8 * k] * ranks
    assert report["metrics"]["same_by_hook"] == [True] * ranks
    assert k <= report["metrics"]["entries_in_sum"] <= ranks * k


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_pairs_cost_what_the_dense_ring_costs_at_one_in_n(run: Run, ranks: int) -> None:
    for k, cheaper in ((96 // ranks - 1, True), (96 // ranks + 1, False)):
        measured = run(ranks, k=k, steps=1)["metrics"]
        assert (measured["sent_bytes_sparse"] < measured["sent_bytes_dense"]) is cheaper
    even = run(ranks, k=96 // ranks, steps=1)["metrics"]
    assert even["sent_bytes_sparse"] == even["sent_bytes_dense"]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_disputed_entries_crowd_out_the_rest(run: Run, ranks: int) -> None:
    measured = run(ranks, spread=8.0)["metrics"]
    assert measured["moved_plain"] < 12
    assert measured["moved_feedback"] == 96
    assert measured["distance_plain"] > 0.95 * measured["distance_start"]
    assert measured["distance_feedback"] < 0.5 * measured["distance_plain"]
    assert min(measured["lost_share_plain"]) > 0.3
    assert max(measured["lost_share_feedback"]) < 1e-12


def test_ranks_that_agree_lose_nothing_for_good(run: Run) -> None:
    measured = run(3, entries=16, spread=0.0, lr=0.5, steps=40)["metrics"]
    assert measured["distance_plain"] < 1e-3 * measured["distance_start"]


def test_feedback_ends_nearer_with_a_smaller_rate(run: Run) -> None:
    far, near = (
        run(2, spread=8.0, lr=lr, steps=steps)["metrics"]["distance_feedback"]
        for lr, steps in ((0.1, 50), (0.025, 200))
    )
    assert near < 0.5 * far


@pytest.mark.parametrize("args", [{"k": 0}, {"k": 97}, {"lr": 0.0}, {"spread": -1.0}, {"steps": 0}])
def test_nonsense_is_refused(run: Run, args: dict[str, float]) -> None:
    assert run(2, **args)["outcome"] == "refused"
