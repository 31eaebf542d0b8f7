"""Which hook sees what: the gradient that comes in, or the one that is complete."""

import pytest

from .conftest import Run, failed

pytestmark = pytest.mark.demo

RIGHT = ("kept_last", "kept_each", "coming_each")


@pytest.mark.parametrize(("ranks", "m"), [(1, 3), (2, 2), (3, 5), (4, 3)])
def test_only_one_of_four_is_wrong(run: Run, ranks: int, m: int) -> None:
    report = run(ranks, microbatches=m, rows=3, width=7)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    for name in RIGHT:
        assert max(measured[f"error_{name}"]) < 1e-12
    for name in ("coming_last", "summed_each"):
        assert (min(measured[f"error_{name}"]) > 1e-4) == (ranks > 1)
    assert measured["drift_kept_last"] == [0] * ranks
    assert all(drift > 1e-5 for drift in measured["drift_coming_last"][1:])
    assert measured["gradient_bytes"] == [2 * 7 * 7 * 8] * ranks
    assert measured["tied_calls"] == [m] * ranks
    assert measured["sent_bytes_each"] == [m * sent for sent in measured["sent_bytes_last"]]
    assert max(measured["torch_error"]) < 1e-12


def test_a_ring_sends_its_share_once(run: Run) -> None:
    measured = run(4, width=8)["metrics"]
    assert measured["sent_bytes_last"] == [2 * 3 * 2 * 8 * 8 * 8 // 4] * 4


def test_with_one_micro_batch_nothing_is_wrong(run: Run) -> None:
    measured = run(3, microbatches=1)["metrics"]
    for name in (*RIGHT, "coming_last", "summed_each"):
        assert max(measured[f"error_{name}"]) < 1e-12
    assert measured["drift_coming_last"] == [0] * 3


BREAKS = {
    "averages-the-weight": "kept_last: gradient equals one process",
    "no-broadcast": "kept_last: gradient equals one process",
    "once-for-each-use": "a weight used twice is averaged once",
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_shows_as_declared(run: Run, name: str) -> None:
    assert BREAKS[name] in failed(run(2, name))
    assert failed(run(1, name)) == ([BREAKS[name]] if name == "once-for-each-use" else [])


def test_weights_are_averaged_and_gradients_never(run: Run) -> None:
    # Weights that are alike stay so: nothing moves in backward, and the bytes are as they should.
    broken, right = run(2, "averages-the-weight")["metrics"], run(2)["metrics"]
    assert broken["sent_bytes_last"] == right["sent_bytes_last"]
    assert broken["error_coming_each"] == right["error_coming_each"]
    # One micro-batch does not make it right, as it does the hook on what comes in.
    assert "replicas stay alike" in failed(run(2, "averages-the-weight", microbatches=1))


def test_a_second_mean_changes_nothing(run: Run) -> None:
    report = run(3, "once-for-each-use")
    assert failed(report) == ["a weight used twice is averaged once"]
    assert report["metrics"]["tied_calls"] == [6] * 3
    assert max(report["metrics"]["torch_error"]) < 1e-12


def test_a_post_accumulate_hook_returns_nothing(run: Run) -> None:
    report = run(1, "returns-the-mean")
    assert report["outcome"] == "crashed"
    assert "should return None" in report["error"]["message"]


@pytest.mark.parametrize("args", [{"microbatches": 0}, {"rows": 0}, {"width": -1}])
def test_what_cannot_run_is_refused(run: Run, args: dict[str, int]) -> None:
    report = run(2, **args)
    assert report["outcome"] == "refused"
    assert "start at 1" in report["error"]["message"]
