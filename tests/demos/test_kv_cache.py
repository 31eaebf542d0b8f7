"""Every kind of cache against the whole sequence, what it costs a token, and what each bug does."""

from typing import Any

import pytest

from .conftest import Run, failed

BF16 = 2

pytestmark = pytest.mark.demo


def heads_kept(rank: int, ranks: int, heads: int, kv_heads: int) -> int:
    """Different key heads that the query heads of one rank look at."""
    share = heads // ranks
    return len({head // (heads // kv_heads) for head in range(rank * share, (rank + 1) * share)})


FIRST = {"prompt": 1, "seq": 7, "layers": 1}
EIGHT = {"prompt": 8, "seq": 9, "batch": 1, "kv_heads": 8, "latent": 5, "rope_dim": 2}
ALL = {"kv_heads": 24, "head_dim": 4, "layers": 3, "seq": 6}


@pytest.mark.parametrize(
    ("ranks", "args"),
    [
        *((ranks, {}) for ranks in (1, 2, 3, 4, 8)),
        *((ranks, FIRST) for ranks in (1, 3)),
        *((ranks, EIGHT) for ranks in (1, 3, 8)),
        *((ranks, ALL) for ranks in (2, 4)),
    ],
)
def test_each_kind_keeps_its_numbers(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["verdict"] == "pass", report
    measured = report["metrics"]
    size = {"layers": 2, "kv_heads": 4, "head_dim": 8, "seq": 10, "prompt": 4, "batch": 2}
    size |= {"heads": 24, "latent": 32, "rope_dim": 4} | args
    heads, dim = size["heads"], size["head_dim"]

    gqa = [heads_kept(rank, ranks, heads, size["kv_heads"]) for rank in range(ranks)]
    numbers = {
        "mha": [2 * heads // ranks * dim] * ranks,
        "gqa": [2 * kept * dim for kept in gqa],
        "mqa": [2 * dim] * ranks,  # one head is needed everywhere
        "mla": [size["latent"] + size["rope_dim"]] * ranks,  # so is the latent
    }
    assert measured["heads_kept_gqa"] == gqa
    tokens = size["layers"] * size["batch"] * size["seq"]
    for kind, each in numbers.items():
        assert measured[f"token_bytes_{kind}"] == [BF16 * number for number in each]
        assert measured[f"bytes_{kind}"] == [BF16 * number * tokens for number in each]

    steps = sum(range(size["prompt"], size["seq"] + 1))
    assert measured["projected_cached"] == [size["seq"]] * ranks
    assert measured["projected_uncached"] == [steps] * ranks
    assert measured["expanded_plain"] == [steps] * ranks
    assert measured["expanded_absorbed"] == [0] * ranks


def test_key_heads_are_kept_twice_where_a_group_is_cut(run: Run) -> None:
    # 3 ranks of 8 query heads, groups of 6: each rank looks at 2 key heads, 6 in all for 4.
    assert run(3)["metrics"]["heads_kept_gqa"] == [2, 2, 2]
    assert run(8)["metrics"]["heads_kept_gqa"] == [1] * 8


def test_what_a_break_leaves_right(run: Run) -> None:
    # One head, or as many as queries: then there is no order to get wrong.
    assert {name.split(":")[0] for name in failed(run(1, "heads-interleaved"))} == {
        "gqa",
        "without a cache it is the same",
    }
    assert run(1, "heads-interleaved", kv_heads=24)["verdict"] == "pass"
    assert run(1, "heads-interleaved", kv_heads=1)["verdict"] == "pass"
    # Each rank has one group only: nothing to see with as many ranks as key heads.
    assert run(4, "heads-interleaved")["verdict"] == "pass"
    # Where all tokens are new the corner is where it should be.
    for name in ("mask-from-the-corner", "position-off-by-one", "written-too-late"):
        assert "without a cache it is the same" not in failed(run(1, name))


@pytest.mark.parametrize(
    ("ranks", "args", "says"),
    [
        (5, {}, "must divide 24 heads: take both from [1, 2, 3, 4, 6, 8, 12, 24]"),
        (1, {"kv_heads": 5}, "[1, 2, 3, 4, 6, 8, 12, 24]"),
        (2, {"seq": 4}, "take seq 5 or more"),
        (2, {"rope_dim": 3}, "even head-dim and rope-dim"),
        (1, {"prompt": 0}, "starts at 1"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(
    run: Run, ranks: int, args: dict[str, Any], says: str
) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert says in report["error"]["message"]


def test_rope_sees_distances_only() -> None:
    import torch
    from kv_cache import rope

    q, k = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)
    near, far = ((rope(q, at + 3) * rope(k, at)).sum() for at in (0, 1000))
    torch.testing.assert_close(near, far, rtol=0, atol=1e-10)
    other = (rope(q, 4) * rope(k, 0)).sum()
    assert abs(near - other) > 1e-3
