"""Heads and ring in one: what goes over which wire, and what planted bugs do to it."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed
from .ranks import on_ranks

DEMO = find("ring-ulysses")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize("inside", ["heads", "ring"])
@pytest.mark.parametrize(
    ("ranks", "ulysses", "heads", "kv_heads"),
    [(1, 1, 3, 1), (2, 2, 2, 2), (3, 3, 6, 3), (4, 2, 6, 2), (6, 3, 6, 3), (6, 2, 2, 2)],
)
def test_it_is_attention_and_sends_what_both_ways_need(
    run: Run, ranks: int, ulysses: int, heads: int, kv_heads: int, inside: str
) -> None:
    tokens, dim = 4, 3
    sizes = {"seq": tokens * ranks, "heads": heads, "kv_heads": kv_heads, "dim": dim}
    node = ulysses if inside == "heads" else ranks // ulysses
    report = run(ranks, **sizes, ulysses=ulysses, inside=inside, per_node=node)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    ring = ranks // ulysses
    assert measured["heads_held"] == [heads // ulysses] * ranks
    assert measured["tokens_held"] == [tokens * ulysses] * ranks
    seq = tokens * ranks
    assert measured["work_all_heads"] == [heads * seq * (seq + 1) // 2 // ranks] * ranks

    kv = 2 * tokens * kv_heads * dim * 8
    assert measured["own_kv_bytes"] == [kv] * ranks
    traded = (ulysses - 1) * (2 * tokens * heads * dim * 8 + kv) // ulysses
    passed = (ring - 1) * kv
    # A node is as large as the groups laid inside it: those never leave it, the others always do.
    near, far = ("heads", "ring") if inside == "heads" else ("ring", "heads")
    sent = {"heads": traded, "ring": passed}
    assert measured[f"{near}_near"] == [sent[near]] * ranks
    assert measured[f"{far}_far"] == [sent[far]] * ranks
    assert measured[f"{near}_far"] == measured[f"{far}_near"] == [0] * ranks


def test_there_may_be_more_ranks_than_heads(run: Run) -> None:
    report = run(8)
    assert report["args"]["heads"] < 8
    assert report["verdict"] == "pass"


def test_what_a_break_leaves_right(run: Run) -> None:
    # Only bytes are wasted.
    assert failed(run(4, "repeated-first")) == ["a hop carries K and V of a rank's tokens"]
    assert run(4, "repeated-first", kv_heads=4)["verdict"] == "pass"
    # Two ranks in a ring: ahead and home are the same way.
    assert run(4, "gradients-go-ahead")["verdict"] == "pass"
    assert "output as on one process" not in failed(run(3, "gradients-go-ahead"))
    # One row, or one column: the ring over all ranks is the right one.
    assert run(4, "one-ring-for-all", ulysses=1)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("ranks", "args", "nearest"),
    [
        (4, {"ulysses": 4}, "take 2"),
        (5, {"ulysses": 2}, "take 1"),
        (4, {"kv_heads": 3}, "take 2"),
        (4, {"seq": 98}, "96 or 100"),
        (3, {"seq": 99}, "96 or 102"),
        (2, {"per_node": 0}, "start at 1"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(
    run: Run, ranks: int, args: dict[str, Any], nearest: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(nearest)


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def grid(kind: str) -> list[float]:
    """Errors against fp64 of output and gradients, over those of torch's own attention."""
    from _bench import everyone, ranks

    import torch
    from ring_ulysses import block, lay_out, on_one_rank, two_dimensions

    seq, rows, dtype = 48 * ranks(), ranks() // 2, getattr(torch, kind)
    torch.manual_seed(0)
    whole = [torch.randn(heads, seq, 8).to(dtype) for heads in (4, 2, 2)]
    towards = torch.randn(4, seq, 8).to(dtype)
    truth = on_one_rank([x.double() for x in whole], towards.double(), official=False)
    theirs = on_one_rank(whole, towards, official=True)
    place = lay_out(2, "heads", per_node=2)
    mine = block(seq, place.row, rows).chunk(2)[place.column]
    leaves = [x[:, mine].requires_grad_() for x in whole]
    out, *_ = two_dimensions(seq, place, *leaves)
    assert out.dtype == dtype
    ours = [out, *torch.autograd.grad((out * towards[:, mine]).sum(), leaves)]
    return [
        everyone((a - true[:, mine]).abs().max().item()).max().item()
        / ((b - true).abs().max().item() + 1e-15)
        for a, b, true in zip(ours, theirs, truth, strict=True)
    ]


@pytest.mark.parametrize("kind", ["float64", "float32", "bfloat16"])
def test_no_dtype_is_rounded_more_than_in_torchs_attention(kind: str) -> None:
    for found in on_ranks(6, grid, kind):
        assert max(found) < (8 if kind == "float64" else 2), found
