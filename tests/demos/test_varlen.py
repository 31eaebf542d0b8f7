"""Documents in one attention call against each alone: counts, leaks, cuts, and what bugs do."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("varlen")

pytestmark = pytest.mark.demo

SIZES = [
    {},
    {"documents": 9, "longs": 0, "spread": 1, "width": 3, "limit": 1},
    {"documents": 11, "longs": 3, "long": 13, "short": 9, "spread": 7, "bucket": 5, "limit": 4},
    {"documents": 8, "longs": 8, "long": 2, "bucket": 1, "limit": 100},
]


def lengths_of(
    documents: int = 16, longs: int = 2, long: int = 16, short: int = 6, spread: int = 3, **_: Any
) -> list[int]:
    return [long if i < longs else short - (i - longs) % spread for i in range(documents)]


@pytest.mark.parametrize(
    ("ranks", "args"),
    [(ranks, args) for args in SIZES for ranks in (1, 3)]
    # Eight ranks take long on few cores: by default, and where there are as many documents.
    + [(8, SIZES[0]), (5, SIZES[1]), (5, SIZES[2]), (8, SIZES[3])],
)
def test_every_layout_is_each_document_alone_and_costs_what_it_should(
    run: Run, ranks: int, args: dict[str, Any]
) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured, lengths = report["metrics"], lengths_of(**args)
    bucket, limit = args.get("bucket", 8), args.get("limit", 6)
    longest, documents = max(lengths), len(lengths)
    bounds = [-(-n // bucket) * bucket for n in lengths]
    assert measured["real_tokens"] == sum(lengths)
    assert measured["tokens_masked"] == measured["tokens_varlen"] == sum(lengths)
    assert measured["tokens_padded"] == documents * longest
    assert measured["tokens_bucketed"] == sum(bounds)
    assert measured["scores_padded"] == documents * longest**2
    assert measured["scores_bucketed"] == sum(n * n for n in bounds)
    assert measured["scores_varlen"] == sum(n * n for n in lengths)
    assert measured["pairs"] == sum(n * (n + 1) // 2 for n in lengths)
    pieces = [min(limit, n - at) for n in lengths for at in range(0, n, limit)]
    assert measured["pairs_pieces"] == sum(n * (n + 1) // 2 for n in pieces)
    assert measured["lost_tokens"] == sum(max(n - limit, 0) for n in lengths)
    assert max(measured[name] for name in ("error", "carried_error")) < 1e-12
    assert measured["leak_blocks"] == 0 < 0.01 < measured["leak_causal"]
    # Nothing to cut: only then is a piece a document.
    assert (measured["piece_error"] < 1e-12) == (limit >= longest)
    assert measured["run_on_error"] > 0.01


def test_a_mask_over_one_row_computes_more_than_padding(run: Run) -> None:
    # Equal lengths: no pads at all, and a row of all of them has as many times the scores.
    measured = run(1, documents=8, longs=0, spread=1)["metrics"]
    assert measured["tokens_padded"] == measured["tokens_masked"]
    assert measured["scores_masked"] == 8 * measured["scores_padded"]
    assert measured["scores_varlen"] == measured["scores_padded"]


def test_equal_tokens_are_not_equal_work(run: Run) -> None:
    # On one rank 1 document of 24 tokens, on the other 4 of 6.
    measured = run(2, documents=5, longs=1, long=24, spread=1, pair=1.0)["metrics"]
    one, four = 24 + 300, 4 * (6 + 21)
    assert measured["imbalance_tokens"] == pytest.approx(one / ((one + four) / 2), rel=1e-12)
    # Where attention costs nothing beside the linear layers, sharing tokens is enough.
    free = run(2, documents=5, longs=1, long=24, spread=1, pair=0.0)["metrics"]
    assert free["imbalance_tokens"] == free["imbalance_cost"] == 1.0


def test_cost_beats_tokens_until_one_document_is_too_long(run: Run) -> None:
    measured = run(4)["metrics"]
    assert measured["imbalance_tokens"] > 1.1 > measured["imbalance_cost"]
    # A document that is dearer than a rank's share sets the pace, however the rest is dealt.
    measured = run(4, documents=8, longs=1, long=40, spread=1, pair=1.0)["metrics"]
    dear, others = 40 + 820, 7 * (6 + 21)
    assert measured["imbalance_cost"] == pytest.approx(4 * dear / (dear + others), rel=1e-12)


def test_what_a_break_leaves_right(run: Run) -> None:
    # Right padding keeps a plain causal mask harmless: a real token has no pad before it.
    assert "padded: out as each alone" not in failed(run(1, "sees-neighbours"))
    assert "varlen: out as each alone" not in failed(run(1, "sees-neighbours"))
    # One document a row begins at 0 anyway.
    assert "padded: out as each alone" not in failed(run(1, "positions-run-on"))
    # The forward is exact, so a loss shows nothing.
    assert failed(run(1, "carried-detached")) == ["carried: grad as each alone"]


@pytest.mark.parametrize(
    ("ranks", "args"),
    [(4, {"documents": 3}), (2, {"short": 3}), (2, {"limit": 0}), (2, {"long": 1})],
)
def test_sizes_that_make_no_sense_are_refused(run: Run, ranks: int, args: dict[str, int]) -> None:
    assert run(ranks, **args)["outcome"] == "refused"


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def test_the_same_as_torch_under_a_mask_of_blocks() -> None:
    from collections import Counter
    from types import SimpleNamespace

    import torch
    import varlen

    token = torch.tensor([5, 2, 0, 7, 7, 1, 3, 0, 0, 4, 9, 0])
    place = torch.tensor([0, 1, 2, 0, 1, 2, 3, 4, 0, 0, 1, 2])
    assert varlen.cu_seqlens(token) == [0, 3, 8, 9, 12]
    shapes = {"tokens": (11, 4), "places": (5, 4), "weight": (4, 12)}
    model = {name: torch.randn(shape, dtype=torch.float64) for name, shape in shapes.items()}
    rows = SimpleNamespace(token=token[None], position=place[None])
    ours = varlen.varlen(model, rows, Counter())

    blocks = torch.block_diag(*(torch.ones(n, n).tril() for n in (3, 5, 1, 3))).bool()
    q, k, v = (part[None] for part in varlen.project(model, token, place))
    [theirs] = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=blocks)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
