"""What a ring rounds: its laws at several sizes, torch's own ring, and the planted slips."""

import sys
from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("ring-rounding")

pytestmark = pytest.mark.demo


def numbers(run: Run, ranks: int, **args: Any) -> dict[str, Any]:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    return report["metrics"]


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
def test_what_is_kept_wide_forgets_how_many_merges_there_were(run: Run, dtype: str) -> None:
    small, large = (numbers(run, 2, dtype=dtype, pieces=pieces) for pieces in (2, 8))
    assert small["error_one"] == large["error_one"]
    for what in ("error", "grad"):
        one, wide = large[f"{what}_one"], large[f"{what}_wide"]
        # The parts are rounded as they are written, and the whole is rounded once more.
        assert wide == pytest.approx(2**0.5 * one, rel=0.06)
        assert wide == pytest.approx(small[f"{what}_wide"], rel=0.02)
        # Rounded at each merge: the sum so far, whose errors add up as squares.
        narrow = (1.5 + 16 / 2) ** 0.5 * one
        assert large[f"{what}_narrow"] == pytest.approx(narrow, rel=0.1)
        assert large[f"{what}_lse"] > 5 * wide


def test_in_bf16_an_lse_stops_growing(run: Run) -> None:
    few, many = (numbers(run, 2, pieces=pieces)["row_sum_off"] for pieces in (4, 48))
    assert few < 0.07
    assert many > 0.3


def test_without_a_merge_a_ring_is_one_kernel(run: Run) -> None:
    found = numbers(run, 1, pieces=1)
    assert found["differ"] == 0
    assert found["error_narrow"] == found["error_wide"] == found["error_one"]
    assert found["row_sum_off"] > 0.01  # backward feels it all the same


def test_orders_show_from_three_ranks_on(run: Run) -> None:
    names = ("reordered", "reordered_narrow")
    assert [numbers(run, 2, pieces=1)[name] for name in names] == [0, 0]  # a + b is b + a
    three, many = numbers(run, 3, pieces=1), numbers(run, 4)
    assert min(three[name] for name in names) > 0.1
    assert many["reordered"] > 0.9
    assert many["reordered_narrow"] > 0.6
    assert 0 < many["reordered_written"] < 0.001
    assert 0.3 < many["differ"] < 0.5
    assert many["rerun_differ"] == 0


@pytest.mark.parametrize(("ranks", "size"), [(1, 2), (2, 2), (3, 2), (2, 4)])
def test_only_gradients_that_travel_cost_more(run: Run, ranks: int, size: int) -> None:
    other = {} if size == 2 else {"dtype": "fp32"}
    found = numbers(run, ranks, pieces=1, **other)
    block = 2 * 4 * 384 // ranks * 32 * size
    hops = ranks if ranks > 1 else 0
    assert found["sent_backward_narrow"] == [(ranks - 1 + hops) * block] * ranks
    assert found["sent_backward"] == [(ranks - 1 + 2 * hops) * block] * ranks


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_torchs_ring_is_as_near(run: Run, ranks: int) -> None:
    found = numbers(run, ranks, pieces=1)
    assert found["torch_ring"] == 1
    assert found["torch_exact"] < 1e-12
    assert found["error_one"] < found["error_torch"] < 2 * found["error_one"]


def test_where_torch_has_no_ring_nothing_is_said_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import ring_rounding
    import torch

    elsewhere = torch.zeros(2, 4, 4, device="meta")
    assert ring_rounding.torch_ring(*[elsewhere] * 4) is None
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)
    assert ring_rounding.torch_ring(*[torch.zeros(2, 4, 4)] * 4) is None


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red_from_its_number_of_ranks_on(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    red = failed(run(planted.ranks, name))
    # An lse that is off spoils the gradients too. In fp64 nothing that is kept is narrow.
    also = ["gradients within twice one kernel's error"] if name == "lse-like-q" else []
    assert red == [planted.expect, *also]
    if planted.ranks > 1:
        assert run(planted.ranks - 1, name)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("ranks", "args", "end"),
    [
        (3, {"seq": 100}, "use 96 or 108"),
        (4, {"seq": 3}, "use 16 or 32"),
        (2, {"pieces": 0}, "use 384 or 386"),
    ],
)
def test_what_cannot_be_cut_is_refused(
    run: Run, ranks: int, args: dict[str, Any], end: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(end)
