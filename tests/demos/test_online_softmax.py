"""Tiled attention against the plain one and torch's, its counts, and what each bug does to it."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("online-softmax")
FP64 = 8

pytestmark = pytest.mark.demo

ERRORS = ("out_error", "grad_error", "sdpa_error", "softmax_error")

SIZES = [
    {},  # the defaults: ragged tiles, a whole tile of padding, scores around 1e4
    {"seq": 1, "padding": 0},
    {"seq": 7, "block": 1, "padding": 3, "dim": 1},
    {"seq": 33, "block": 64, "padding": 32},  # one tile; one row sees one key
    {"seq": 97, "block": 10, "padding": 0, "causal": False},
    {"seq": 64, "block": 16, "padding": 50, "causal": False, "offset": -1e4},
    {"seq": 50, "block": 8, "padding": 5, "slope": -3.5},
]


@pytest.mark.parametrize("args", SIZES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_it_is_exact_and_counts_the_same_on_any_number_of_ranks(
    run: Run, ranks: int, args: dict[str, Any]
) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    counts = {n: v for n, v in report["metrics"].items() if n not in ERRORS}
    alone = {n: v for n, v in run(1, **args)["metrics"].items() if n not in ERRORS}
    assert counts == alone  # heads are only shared out


def test_without_large_scores_every_digit_is_right(run: Run) -> None:
    measured = run(2, offset=0.0)["metrics"]
    assert max(measured[name] for name in ERRORS) < 1e-13


@pytest.mark.parametrize(
    ("causal", "seq", "block"), [(True, 96, 32), (True, 100, 32), (False, 100, 32)]
)
def test_tiles_and_products(run: Run, causal: bool, seq: int, block: int) -> None:
    heads, side = 4, -(-seq // block)
    measured = run(2, seq=seq, block=block, heads=heads, causal=causal)["metrics"]
    assert measured["tiles"] == heads * (side * (side + 1) // 2 if causal else side * side)
    assert measured["matmuls_forward"] == 2 * measured["tiles"]
    assert measured["matmuls_backward"] == 5 * measured["tiles"]


@pytest.mark.parametrize(("seq", "block", "dim"), [(128, 16, 4), (128, 16, 32), (256, 16, 4)])
def test_the_matrix_is_never_there(run: Run, seq: int, block: int, dim: int) -> None:
    measured = run(1, seq=seq, block=block, dim=dim, heads=2)["metrics"]
    assert measured["largest_tensor"] == max(block * block, seq * dim)
    assert measured["largest_plain"] == seq * seq
    # q, k, v, out and one number per row; the textbook keeps at least the weights.
    assert measured["saved_bytes_tiled"] == (4 * seq * dim + seq) * FP64
    assert measured["saved_bytes_plain"] >= (3 * seq * dim + seq * seq) * FP64


def test_twice_the_keys_are_twice_the_bytes_and_four_times_the_plain_ones(run: Run) -> None:
    short, long = (run(1, seq=seq, dim=4, heads=2)["metrics"] for seq in (128, 256))
    assert long["saved_bytes_tiled"] == 2 * short["saved_bytes_tiled"]
    assert long["saved_bytes_plain"] > 3.8 * short["saved_bytes_plain"]


def test_scores_that_rise_or_fall_along_a_row_are_exact_too(run: Run) -> None:
    # Rising ones raise a row's maximum in every tile, falling ones never.
    for slope in (64.0, -64.0):
        report = run(1, seq=100, block=16, heads=3, padding=0, slope=slope)
        assert report["verdict"] == "pass", report


def test_masked_rows_and_rows_that_overflow(run: Run) -> None:
    seq, padding, heads = 150, 40, 8
    assert run(1)["metrics"]["masked_rows"] == heads * padding
    assert run(1, causal=False)["metrics"]["masked_rows"] == 0
    visible = heads * (seq - padding)
    # exp(1e4) is inf, exp(-1e4) is 0: each row that sees a key is lost, either way.
    assert run(1)["metrics"]["overflow_rows"] == visible
    assert run(1, offset=-1e4)["metrics"]["overflow_rows"] == visible
    assert run(1, offset=0.0)["metrics"]["overflow_rows"] == 0


def test_what_a_break_leaves_right(run: Run) -> None:
    assert failed(run(1, "whole-matrix")) == ["no tensor exceeds a tile and an output"]
    assert "output equals plain attention" not in failed(run(1, "no-mean"))
    # One tile sees the whole row, so there is nothing to rescale or to join.
    single = {"seq": 32, "block": 32, "padding": 0}
    assert run(1, "no-rescale", **single)["verdict"] == "pass"
    # Without padding every row of a causal tile has a key in its first tile.
    assert run(1, "unguarded", padding=0)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("ranks", "args", "says"),
    [
        (3, {"heads": 2}, "heads 3 or more"),
        (1, {"seq": 20, "padding": 20}, "use 0 to 19"),
        (1, {"padding": -1}, "use 0 to 149"),
        (2, {"block": 0}, "block and dim must be 1 or more"),
        (2, {"seq": 0}, "seq, block and dim must be 1 or more"),
    ],
)
def test_sizes_that_mean_nothing_are_refused(
    run: Run, ranks: int, args: dict[str, Any], says: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


def test_any_cut_of_a_row_gives_the_same_softmax() -> None:
    import torch
    from online_softmax import online_softmax

    row = torch.randn(37, dtype=torch.float64) + 1e4
    row[:9] = -torch.inf
    for block in (1, 2, 5, 36, 37, 100):
        ours = online_softmax(row, block)
        torch.testing.assert_close(ours, torch.softmax(row, 0), rtol=1e-14, atol=0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(1, 50), (37, 50), (50, 50), (50, 37), (70, 1)])
def test_queries_and_keys_may_differ_in_number(queries: int, keys: int, causal: bool) -> None:
    import torch
    from online_softmax import Rule, TiledAttention

    torch.manual_seed(queries + keys)
    like = {"dtype": torch.float64, "requires_grad": True}
    q, k = torch.randn(2, queries, 6, **like), torch.randn(2, keys, 6, **like)
    v = torch.randn(2, keys, 4, **like)
    out = TiledAttention.apply(q, k, v, causal, Rule(6**-0.5, causal, 16))
    # The last query stands where the last key does; without any key to see a row is 0.
    seen = torch.ones(queries, keys, dtype=torch.bool)
    seen = seen.tril(keys - queries) if causal else seen
    weights = (q @ k.mT / 6**0.5).masked_fill(~seen, -torch.inf).softmax(-1)
    truth = weights.nan_to_num() @ v
    torch.testing.assert_close(out, truth, rtol=0, atol=1e-13)
    towards = torch.randn_like(truth)
    ours = torch.autograd.grad((out * towards).sum(), (q, k, v))
    finite = torch.where(seen.any(-1, keepdim=True), q @ k.mT / 6**0.5, 0.0)
    weights = torch.where(seen, finite, -1e9).softmax(-1) * seen
    theirs = torch.autograd.grad((weights @ v * towards).sum(), (q, k, v))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-13)
