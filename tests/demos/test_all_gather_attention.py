"""All keys and values gathered: a ring's bytes, all of K and V held, any mask, grouped heads."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed
from .ranks import on_ranks

DEMO = find("all-gather-attention")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "kv_heads", "document"), [(1, 3, 7), (2, 1, 96), (3, 6, 25), (4, 2, 1), (8, 3, 50)]
)
def test_it_is_exact_and_keeps_its_laws(run: Run, ranks: int, kv_heads: int, document: int) -> None:
    seq, heads, dim, hop = 96, 6, 5, 0.3
    args = {"seq": seq, "heads": heads, "kv_heads": kv_heads, "dim": dim, "document": document}
    report = run(ranks, **args, hop=hop)
    assert report["verdict"] == "pass", report["checks"]
    measured, block = report["metrics"], seq // ranks * 2 * kv_heads * dim * 8
    assert measured["kv_block_bytes"] == block
    # Query heads are nowhere in this.
    assert measured["sent_forward"] == [(ranks - 1) * block] * ranks
    assert measured["sent_backward"] == measured["sent_forward"]
    assert measured["sent_backward_by_head"] == [2 * (ranks - 1) * block] * ranks
    assert measured["messages_forward"] == [ranks - 1] * ranks

    assert measured["kv_alive"] == measured["kv_kept"] == [ranks * block] * ranks
    coming = ranks - 1 if kv_heads > 1 else 0
    assert measured["kv_alive_by_head"] == [(ranks + coming) * block // kv_heads] * ranks
    assert measured["kv_kept_by_head"] == [0] * ranks

    lengths = [min(document, seq - start) for start in range(0, seq, document)]
    assert sum(measured["work"]) == sum(length * (length + 1) // 2 for length in lengths)
    attention = max(measured["work"]) * ranks**2 / seq**2
    assert measured["time_attention"] == pytest.approx(attention)
    assert measured["time_at_once"] == pytest.approx((ranks - 1) * hop + attention)


@pytest.mark.parametrize("hop", [0.05, 2.0])
def test_by_head_hides_all_but_a_head(run: Run, hop: float) -> None:
    # One document: every rank has the same to do, and the law is met to the digit.
    measured = run(4, seq=96, document=96, hop=hop, kv_heads=8)["metrics"]
    gather, attention = 3 * hop, measured["time_attention"]
    assert attention == pytest.approx(2, abs=0.05)
    hidden = (gather + attention + 7 * max(gather, attention)) / 8
    assert measured["time_by_head"] == pytest.approx(hidden, abs=1e-8)


def test_one_kv_head_has_nothing_to_hide_behind(run: Run) -> None:
    measured = run(4, kv_heads=1)["metrics"]
    assert measured["time_by_head"] == measured["time_at_once"]


def test_what_a_break_leaves_right(run: Run) -> None:
    # The loss is right; only dK and dV are not, and all of it is sent as before.
    alone = run(4, "own-share-only")
    assert not any("output equals" in name for name in failed(alone))
    assert alone["metrics"]["q_grad_error"] < 1e-12 < 0.01 < alone["metrics"]["kv_grad_error"]
    assert alone["metrics"]["sent_backward"] == run(4)["metrics"]["sent_backward"]
    assert failed(run(4, "waits-at-once")) == [DEMO.breaks["waits-at-once"].expect]


@pytest.mark.parametrize(
    ("ranks", "args", "said"),
    [
        (3, {"seq": 100}, "96 or 102"),
        (2, {"heads": 6}, "4 or 8"),
        (2, {"kv_heads": 0}, "hop is 0 up to below 1e9"),
        (2, {"document": 0}, "hop is 0 up to below 1e9"),
        (2, {"hop": -1.0}, "hop is 0 up to below 1e9"),
    ],
)
def test_what_cannot_be_divided_is_refused(
    run: Run, ranks: int, args: dict[str, Any], said: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(said)


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def bf16_shares() -> bool:
    from _bench import rank, ranks

    import torch
    from all_gather_attention import reduce_scatter

    found = torch.randn(ranks(), 2, 3 * ranks(), 5, generator=torch.manual_seed(0)).bfloat16()
    true = found.float().sum(0).bfloat16().chunk(ranks(), -2)[rank()]
    return torch.equal(reduce_scatter(found[rank()]), true)


def test_a_sum_in_bf16_is_rounded_once() -> None:
    assert on_ranks(4, bf16_shares) == [True] * 4
