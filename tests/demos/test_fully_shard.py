"""What torch's fully_shard gathers, keeps and sums, by what it is told; torch 2.13."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run

DEMO = find("fully-shard")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [*((ranks, {}) for ranks in (1, 2, 3, 4)), (4, {"width": 7, "layers": 3, "rows": 1})],
)
def test_it_does_what_it_is_told(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured, layers = report["metrics"], args.get("layers", 4)
    whole = measured["whole_bytes"]
    assert sum(measured["local_true"]) == whole
    assert sum(measured["local_mesh"]) == whole * (2 - ranks % 2)
    assert measured["between_true"] == measured["after_false"] == [0] * ranks
    assert measured["between_false"] == measured["peak_root"] == [whole] * ranks
    assert measured["peak_true"] == [whole // layers] * ranks
    assert max(measured["gradient_error"]) < 1e-12
    if ranks > 1:
        assert measured["gathers_true"] == [2 * layers] * ranks
        assert measured["gathers_false"] == measured["scatters_true"] == [layers] * ranks
        assert measured["gathers_root"] == [2] * ranks
    assert measured["all_reduces_true"] == [0] * ranks


def test_it_gathers_as_often_as_ours_by_hand(lab: Any) -> None:
    from quizkit.lab.report import Setting

    ours = lab.run(Setting("fsdp", 4, (("microbatches", 1),))).metrics
    torchs = lab.run(Setting("fully-shard", 4)).metrics
    for mine, theirs in (
        ("gathers_full", "gathers_true"),
        ("gathers_grad_op", "gathers_false"),
        ("scatters_full", "scatters_true"),
        ("weights_idle_full", "local_true"),
        ("weights_idle_hybrid", "local_mesh"),
    ):
        assert ours[mine] == torchs[theirs], mine


@pytest.mark.parametrize("args", [{"layers": 0}, {"rows": 0}, {"width": 0}, {"nodes": 3}])
def test_what_cannot_run_is_refused(run: Run, args: dict[str, int]) -> None:
    assert run(4, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]
