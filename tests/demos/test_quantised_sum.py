"""Sums in fewer bits: what they send, how far they are off, and what wraps."""

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("quantised-sum")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        (1, {"elements": 1}),
        (3, {"elements": 7, "spread": 0.0}),
        (3, {"elements": 1, "peak": 1e-3}),
        (3, {"peak": 1e-7}),
        (4, {"elements": 1001, "spread": 100.0}),
    ],
)
def test_odd_settings_are_right(run: Run, ranks: int, args: dict[str, float]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_what_each_sum_sends(run: Run, ranks: int) -> None:
    measured = run(ranks)["metrics"]
    dense = 2 * (ranks - 1) * 4 * 1200 // ranks
    scales = 2 * (ranks - 1) * 4
    assert measured["sent_bytes_fp32"] == [dense] * ranks
    assert measured["sent_bytes_fp16"] == [dense // 2] * ranks
    assert measured["sent_bytes_codes"] == [dense // 4] * ranks
    assert measured["sent_bytes_hops"] == [dense // 4 + scales] * ranks
    assert measured["sent_bytes_owner"] == [dense // 4 + scales] * ranks
    assert measured["sent_bytes_all"] == [(ranks - 1) * (1200 + 4)] * ranks
    assert (measured["sent_bytes_all"] < measured["sent_bytes_fp32"]) == (ranks < 8)


@pytest.mark.parametrize(
    ("ranks", "first"), [(1, 127), (2, -2), (3, 125), (4, -4), (5, 123), (8, -8)]
)
def test_codes_wrap(run: Run, ranks: int, first: int) -> None:
    measured = run(ranks)["metrics"]
    assert measured["first_entry"] == first
    assert (measured["wrapped"] > 0) == (ranks > 1)
    assert (measured["error_wrapped"] > 0.5) == (ranks > 1)


def test_room_costs_bits_and_hops_add_up(run: Run) -> None:
    two, eight = (run(ranks)["metrics"] for ranks in (2, 8))
    assert eight["error_room"] > 2 * two["error_room"]
    assert eight["error_hops"] > 1.3 * eight["error_owner"]
    assert eight["error_owner"] < two["error_owner"]
    for measured in (two, eight):
        assert measured["error_all"] < min(measured["error_owner"], measured["error_hops"])
        assert measured["error_fp16"] < 0.2 * measured["error_all"]


def test_small_gradients_vanish_in_half(run: Run) -> None:
    errors = [run(2, peak=peak)["metrics"]["error_fp16"] for peak in (1.0, 1e-3, 1e-7)]
    assert errors[0] < 1e-3
    assert errors[1] < 1e-2
    assert errors[2] > 0.1


def test_hooks_are_registered_not_flagged(run: Run) -> None:
    measured = run(2)["metrics"]
    assert measured["takes_flag"] == 0
    assert measured["same_as_hook"] == [True, True]
    assert "bucket" in run(1, "another-name")["error"]["message"]


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_shows_at_its_number_of_ranks_and_not_below(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    report = run(planted.ranks, name)
    if planted.expect.startswith("crashes"):
        assert report["outcome"] == "crashed"
    else:
        assert planted.expect in failed(report)
    if planted.ranks > 1:
        assert run(planted.ranks - 1, name)["verdict"] == "pass"


@pytest.mark.parametrize("args", [{"elements": 0}, {"peak": 65504.0}, {"spread": -1.0}])
def test_nonsense_is_refused(run: Run, args: dict[str, float]) -> None:
    assert run(2, **args)["outcome"] == "refused"
