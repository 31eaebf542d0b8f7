"""FlashAttention's two loop orders: exact, and moving what their laws say."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("flash")

pytestmark = pytest.mark.demo


def up(a: int, b: int) -> int:
    return -(-a // b)


def test_unasked_no_version_is_spared_the_work_of_another(run: Run) -> None:
    # With a mask plain attention computes pairs that the others leave out: then it is asked for.
    found = run(1)["metrics"]
    assert found["flops_plain"] == found["flops_v1"] == found["flops_v2"]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_the_defaults_are_exact_and_count_the_same_on_any_number_of_ranks(
    run: Run, ranks: int
) -> None:
    report = run(ranks)
    assert report["verdict"] == "pass", report
    counts = {name: how for name, how in report["how"].items() if how == "counted"}
    assert len(counts) == len(DEMO.watch) - 3
    for name in counts:
        assert report["metrics"][name] == run(1)["metrics"][name]


@pytest.mark.parametrize(
    ("seq", "block_q", "block_k"), [(128, 32, 32), (100, 16, 24), (97, 40, 7), (5, 8, 8)]
)
def test_loads_and_stores_follow_the_loops(run: Run, seq: int, block_q: int, block_k: int) -> None:
    heads, dim = 3, 10
    sizes = {"seq": seq, "block_q": block_q, "block_k": block_k, "kv_heads": heads, "group": 1}
    report = run(1, **sizes, dim=dim, causal=False)
    assert report["verdict"] == "pass", report
    found = report["metrics"]
    matrix = heads * seq * dim
    tiles_q, tiles_k = up(seq, block_q), up(seq, block_k)

    # K/V outside: what belongs to a row passes once for each tile of K/V.
    assert found["kv_loads_v1"] == 2 * matrix
    assert found["q_loads_v1"] == found["o_loads_v1"] == found["o_stores_v1"] == tiles_k * matrix
    assert found["divisions_v1"] == tiles_k * matrix
    statistics = 4 * tiles_k * heads * seq
    assert found["traffic_v1"] == (2 + 3 * tiles_k) * matrix + statistics
    # Queries outside: K/V pass once for each tile of queries.
    assert found["kv_loads_v2"] == 2 * tiles_q * matrix
    assert found["q_loads_v2"] == found["o_stores_v2"] == found["divisions_v2"] == matrix
    assert found["o_loads_v2"] == 0
    assert found["traffic_v2"] == (2 + 2 * tiles_q) * matrix + heads * seq

    assert found["tiles_v1"] == found["tiles_v2"] == heads * tiles_q * tiles_k
    products = 2 * 2 * heads * seq * seq * dim
    assert found["flops_plain"] == found["flops_v1"] == found["flops_v2"] == products
    assert found["traffic_plain"] == 4 * matrix + 4 * heads * seq * seq
    rows, cols = min(block_q, seq), min(block_k, seq)
    assert found["on_chip"] == 2 * rows * dim + 2 * cols * dim + rows * cols


@pytest.mark.parametrize("pieces", [1, 2, 5, 16])
def test_a_causal_mask_leaves_half_the_tiles(run: Run, pieces: int) -> None:
    sizes = {"block_q": 8, "block_k": 8, "kv_heads": 1, "group": 1}
    found = run(1, seq=8 * pieces, causal=True, **sizes)["metrics"]
    assert found["tiles_v1"] == found["tiles_v2"] == pieces * (pieces + 1) // 2
    assert found["flops_v2"] == found["flops_v1"] == 4 * 8 * 8 * 16 * found["tiles_v2"]
    assert found["flops_plain"] == 4 * 64 * pieces**2 * 16


@pytest.mark.parametrize("group", [1, 2, 5])
def test_packed_queries_share_their_keys(run: Run, group: int) -> None:
    sizes: dict[str, Any] = {"seq": 50, "block_q": 12, "block_k": 7, "group": group, "kv_heads": 4}
    alone, packed = run(2, **sizes), run(2, **sizes, pack=True)
    assert alone["verdict"] == packed["verdict"] == "pass"
    a, b = alone["metrics"], packed["metrics"]
    assert a["kv_loads_v2"] == group * b["kv_loads_v2"]
    for name in ("q_loads_v2", "o_stores_v2", "flops_v2"):
        assert a[name] == b[name]
    assert b["on_chip"] == 2 * group * 12 * 16 + 2 * 7 * 16 + group * 12 * 7


def test_what_a_break_leaves_right(run: Run) -> None:
    # Keys of one head each, or a single group: nothing to mix up.
    assert run(1, "wrong-kv-head", group=1)["verdict"] == "pass"
    assert run(1, "wrong-kv-head", kv_heads=1)["verdict"] == "pass"
    # The output is right and only training goes wrong.
    assert failed(run(1, "lse-without-maximum")) == [
        "gradients from output and lse equal plain attention's"
    ]
    # Long tiles of queries still see some keys: no NaN, only a wrong output.
    silent = run(1, "one-tile-short", block_q=32, causal=True)
    assert 0.01 < silent["metrics"]["out_error"] < 10


@pytest.mark.parametrize(
    ("ranks", "args"), [(4, {"kv_heads": 3}), (1, {"seq": 0}), (1, {"block_k": 0})]
)
def test_what_cannot_be_shared_is_refused(run: Run, ranks: int, args: dict[str, Any]) -> None:
    report = run(ranks, **args)
    assert report["outcome"] == "refused"
    assert report["error"]["message"].endswith(f"{ranks}: one for each rank")


def test_watch_lists_the_metrics_as_they_come(run: Run) -> None:
    assert [*DEMO.watch] == [*run(2)["metrics"]]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(64, 128), (1, 37), (30, 50), (50, 50)])
@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-13), ("float32", 2e-6)])
def test_queries_and_keys_may_differ_in_number(
    queries: int, keys: int, causal: bool, dtype: str, close: float
) -> None:
    import torch
    from flash import Machine, Shape, flash_1, flash_2

    torch.manual_seed(queries)
    kind = getattr(torch, dtype)
    q = torch.randn(4, queries, 8, dtype=kind)
    k, v = torch.randn(2, 2, keys, 8, dtype=kind)
    column = torch.zeros_like(q[..., :1])
    shape = Shape(4, 2, queries, keys, 16, 24, causal)
    first = Machine(q=q, k=k, v=v, out=q * 0, peak=column - torch.inf, total=column.clone())
    second = Machine(q=q, k=k, v=v, out=q * 0, lse=column.clone())
    flash_1(first, shape)
    flash_2(second, shape)
    q, k, v = q.double(), *(x.double().repeat_interleave(2, 0) for x in (k, v))
    # The last query stands where the last key does.
    seen = torch.ones(queries, keys, dtype=torch.bool)
    seen = seen.tril(keys - queries) if causal else seen
    scores = (q @ k.mT).masked_fill(~seen, -torch.inf)
    for machine in (first, second):
        off = (machine.memory["out"] - scores.softmax(-1) @ v).abs().max()
        assert off < close
    lse = second.memory["lse"][..., 0]
    assert (lse - scores.logsumexp(-1)).abs().max() < 10 * close


def test_causal_queries_that_see_no_key_are_refused() -> None:
    from flash import Shape

    with pytest.raises(ValueError, match="the first of 50 queries see none of 37 keys"):
        Shape(4, 2, 50, 37, 16, 16, causal=True)
    Shape(4, 2, 50, 37, 16, 16, causal=False)


def test_bf16_is_rounded_once_and_not_at_every_tile() -> None:
    import torch
    from flash import Machine, Shape, flash_1, flash_2

    q, k, v = torch.randn(3, 2, 256, 16, generator=torch.Generator().manual_seed(3))
    low = {"q": q.bfloat16(), "k": k.bfloat16(), "v": v.bfloat16()}
    truth = (low["q"].double() @ low["k"].double().mT).softmax(-1) @ low["v"].double()
    column = q.new_zeros(2, 256, 1)
    for version in (flash_1, flash_2):
        room = {"out": q.bfloat16() * 0 if version is flash_2 else q * 0, "lse": column.clone()}
        machine = Machine(**low, **room, peak=column - torch.inf, total=column.clone())
        version(machine, Shape(2, 1, 256, 256, 16, 16, causal=False))
        # Half a unit in the last place of the largest output, and what torch itself is off by.
        assert (machine.memory["out"] - truth).abs().max() <= truth.abs().max() * 2**-8
