"""One norm for the whole gradient, the steps it leads to, and what clipping cannot mend."""

from math import hypot, sqrt

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "sharded", "replicated"),
    [(1, 3.0, 4.0), (2, 5.0, 1.0), (3, 1e-3, 1e4), (4, 3.0, 4.0), (4, 0.0, 0.0), (8, 2.0, 0.5)],
)
def test_the_norm_counts_each_weight_once(
    run: Run, ranks: int, sharded: float, replicated: float
) -> None:
    report = run(ranks, sharded=sharded, replicated=replicated)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["norm_global"] == pytest.approx(hypot(sqrt(ranks) * sharded, replicated))
    assert measured["norm_local"] == pytest.approx([hypot(sharded, replicated)] * ranks)
    assert measured["norm_all"] == pytest.approx(sqrt(ranks) * hypot(sharded, replicated))


@pytest.mark.parametrize("limit", [0.01, 0.5, 10.0])
def test_steps_are_those_of_one_process(run: Run, limit: float) -> None:
    report = run(3, limit=limit, steps=5, rows=1)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["weight_error"] < 1e-12
    assert measured["drift"] == [0, 0, 0]
    # A limit that none of the ranks reaches is no limit, wherever the norm is taken.
    assert (max(measured["drift_local"]) > 1e-6) == (limit < 10)


def test_replicas_that_clip_first_lose_length_and_direction(run: Run) -> None:
    calm, wild = (run(4, spike=spike)["metrics"] for spike in (1.0, 100.0))
    for measured in (calm, wild):
        assert measured["clip_first_norm"] < 0.5
        assert measured["clip_first_cosine"] < 0.999
    assert wild["clip_first_cosine"] < calm["clip_first_cosine"]
    assert run(1)["metrics"]["clip_first_cosine"] == pytest.approx(1)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_clipping_mends_neither_nan_nor_inf(run: Run, ranks: int) -> None:
    measured = run(ranks)["metrics"]
    others = [0] * (ranks - 1)
    assert measured["nan_after"] == [10] * ranks
    assert measured["nan_local"] == [10, *others]
    assert measured["inf_after"] == [1, *others]
    assert measured["inf_zeros"] == [9, *(10 for _ in others)]


def test_what_a_break_leaves_right(run: Run) -> None:
    # All ranks use the same wrong norm: copies stay alike, only a comparison finds it.
    assert failed(run(2, "all-from-all")) == [
        "each weight counts once",
        "weights equal one process",
    ]
    assert max(run(2, "own-norm")["metrics"]["drift"]) > 1e-4
    # While nothing has to be clipped, the wrong norm is only a wrong line in the log.
    assert failed(run(2, "own-norm", limit=10.0)) == []


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"limit": 0.0}, "limit between 0.01 and 10"),
        ({"sharded": -1.0}, "sharded and replicated lie between 0"),
        ({"rows": 0}, "rows between 1 and 100"),
        ({"steps": 6}, "steps between 1 and 5"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, args: dict[str, float], says: str) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
