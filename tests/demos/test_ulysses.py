"""Ulysses against one process: where heads go, what that sends, and what planted bugs do to it."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("ulysses")

pytestmark = pytest.mark.demo


@pytest.mark.parametrize(
    ("ranks", "kv_heads"), [(1, 2), (2, 1), (2, 6), (3, 2), (3, 12), (4, 4), (4, 6), (6, 4)]
)
def test_it_is_attention_and_sends_what_is_looked_at(run: Run, ranks: int, kv_heads: int) -> None:
    heads, tokens, dim = 12, 5, 6
    report = run(ranks, seq=tokens * ranks, heads=heads, kv_heads=kv_heads, dim=dim)
    assert report["verdict"] == "pass", failed(report)
    measured = report["metrics"]
    assert measured["calls_forward"] == measured["calls_backward"] == [4] * ranks
    assert measured["heads_held"] == [heads // ranks] * ranks
    assert measured["tokens_held"] == [tokens * ranks] * ranks
    pairs = tokens * ranks * (tokens * ranks + 1) // 2
    assert measured["work_all_heads"] == [heads // ranks * pairs] * ranks

    looks = [(q * ranks // heads, q * kv_heads // heads) for q in range(heads)]
    held = [len({kv for owner, kv in looks if owner == rank}) for rank in range(ranks)]
    assert measured["kv_held"] == held
    one = tokens * dim * 8
    queries = 2 * (heads - heads // ranks)
    assert measured["sent_forward"] == [(queries + 2 * (sum(held) - h)) * one for h in held]
    assert measured["sent_backward"] == [(queries + 2 * (ranks - 1) * h) * one for h in held]
    assert measured["ring_forward"] == [2 * (ranks - 1) * kv_heads * one] * ranks
    assert measured["sent_mha"] == [4 * (heads - heads // ranks) * one] * ranks
    assert measured["ring_mha"] == [2 * (ranks - 1) * heads * one] * ranks


@pytest.mark.parametrize(("kv_heads", "ulysses_sends_less"), [(12, True), (8, None), (4, False)])
def test_gqa_turns_the_comparison_round(
    run: Run, kv_heads: int, ulysses_sends_less: bool | None
) -> None:
    measured = run(4, kv_heads=kv_heads)["metrics"]
    assert measured["sent_mha"][0] < measured["ring_mha"][0]
    difference = measured["ring_forward"][0] - measured["sent_forward"][0]
    # Level where a KV head serves as many query heads as there are other ranks.
    assert difference == 0 if ulysses_sends_less is None else (difference > 0) == ulysses_sends_less


def test_what_a_break_leaves_right(run: Run) -> None:
    # The loss is right, and training goes wrong.
    for name in ("raw-collective", "last-copy-wins"):
        assert not [check for check in failed(run(4, name)) if "output" in check]
    # With as many KV heads as ranks there are no copies whose gradients could be lost.
    assert run(4, "last-copy-wins", kv_heads=4)["verdict"] == "pass"
    # One head for each rank leaves nothing to mix up, so a test with few heads is blind.
    assert run(4, "heads-for-tokens", heads=4, kv_heads=4)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("ranks", "args", "nearest"),
    [
        (8, {"heads": 4}, "take 8"),
        (3, {"heads": 16}, "take 18"),
        (4, {"seq": 50}, "48 or 52"),
        (2, {"dim": 7}, "6 or 8"),
        (2, {"kv_heads": 5}, "take 4"),
        (2, {"kv_heads": 48}, "take 24"),
        (2, {"kv_heads": 0}, "start at 1"),
    ],
)
def test_what_cannot_be_shared_is_refused(
    run: Run, ranks: int, args: dict[str, Any], nearest: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(nearest)


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


@pytest.mark.parametrize(("kind", "close"), [("bfloat16", 2**-7), ("float32", 1e-6)])
def test_rotation_in_any_dtype_is_rounded_once(kind: str, close: float) -> None:
    import torch
    from ulysses import rotate

    x = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0)).to(getattr(torch, kind))
    places = torch.tensor([0, 1, 300, 301, 4095, 70_000])
    ours = rotate(x, places)
    assert ours.dtype == x.dtype
    assert (ours - rotate(x.double(), places)).abs().max() < 2 * close
