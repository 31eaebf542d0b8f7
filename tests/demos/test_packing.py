"""Documents in rectangles: what is real, what a budget bounds, what 16 bits hold."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("packing")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_a_small_trace(run: Run, ranks: int) -> None:
    report = run(ranks, lengths="9,7,6,5,4,3,2", window=10, budget=20)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    assert measured["tokens_in_all"] == 36
    assert measured["fill_padded"] == 36 / 70
    # 9 | 7 3 | 6 4 | 5 2
    assert measured["rows_first_fit"] == 4
    assert measured["fill_first_fit"] == 36 / 40
    # ends after 9, 16, 22, 27, 31, 34, 36: cuts at 10, 20, 30
    assert measured["cut_chunked"] == 3
    assert measured["fill_chunked"] == 36 / 40
    # 2 3 4 5 (20) | 6 7 (14) | 9
    assert measured["widest_budget"] == 20
    assert measured["fill_budget"] == 36 / (20 + 14 + 9)
    # by the sum: 2 3 4 5 6 (30 slots) | 7 9
    assert measured["widest_sum"] == 30


def test_equal_documents_need_no_packing(run: Run) -> None:
    measured = run(1, lengths="8,8,8,8", window=8, budget=16)["metrics"]
    for way in ("padded", "given", "sorted", "budget", "first_fit", "chunked"):
        assert measured[f"fill_{way}"] == 1, way
    assert measured["widest_budget"] == measured["widest_sum"] == 16


@pytest.mark.parametrize("ranks", [2, 8])
def test_the_more_uneven_the_emptier(run: Run, ranks: int) -> None:
    even, uneven = (run(ranks, spread=spread)["metrics"] for spread in (0.2, 1.2))
    for one in (even, uneven):
        assert one["fill_padded"] < one["fill_given"] < one["fill_sorted"]
        assert one["fill_first_fit"] > 0.95
        assert one["laid_error"] < 1e-12
    assert uneven["fill_given"] < even["fill_given"]


@pytest.mark.parametrize(
    ("vocabulary", "back"), [(70_001, 4464), (65_536, 65_535), (65_537, 0), (128_256, 62_719)]
)
def test_ids_come_back_modulo_two_to_sixteen(run: Run, vocabulary: int, back: int) -> None:
    measured = run(1, vocabulary=vocabulary)["metrics"]
    assert measured["last_id_16"] == back
    assert (measured["wrapped_16"] > 0) == (vocabulary > 65_536)


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_bug_goes_red_on_any_number_of_ranks(run: Run, name: str) -> None:
    for ranks in (1, 3):
        assert failed(run(ranks, name)) == [DEMO.breaks[name].expect]


def test_where_a_bug_does_not_show(run: Run) -> None:
    assert run(1, "sixteen-bits", vocabulary=50_257)["verdict"] == "pass"
    same = {"lengths": "8,8,8,8", "window": 8, "budget": 16}
    for name in ("sum-of-lengths", "padding-counts"):
        assert run(1, name, **same)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"lengths": "9,11", "window": 10}, "1 to 10"),
        ({"window": 1}, "2 to 4096"),
        ({"budget": 100}, "starts at 128"),
        ({"median": 0}, "starts at 1"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(run: Run, wrong: dict[str, Any], says: str) -> None:
    report = run(2, **wrong)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]
