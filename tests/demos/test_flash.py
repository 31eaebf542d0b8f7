"""FlashAttention's two loop orders: exact, and moving what their laws say."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("flash")

pytestmark = pytest.mark.demo


def up(a: int, b: int) -> int:
    return -(-a // b)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
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
    found = run(1, seq=8 * pieces, block_q=8, block_k=8, kv_heads=1, group=1)["metrics"]
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


@pytest.mark.parametrize("name", DEMO.breaks)
def test_a_break_turns_its_check_red(run: Run, name: str) -> None:
    planted = DEMO.breaks[name]
    assert planted.ranks == 1
    for ranks in (1, 2):
        report = run(ranks, name)
        assert planted.expect in failed(report)
        assert report["verdict"] == "fail"


def test_what_a_break_leaves_right(run: Run) -> None:
    # Keys of one head each, or a single group: nothing to mix up.
    assert run(1, "wrong-kv-head", group=1)["verdict"] == "pass"
    assert run(1, "wrong-kv-head", kv_heads=1)["verdict"] == "pass"
    # The output is right and only training goes wrong.
    assert failed(run(1, "lse-without-maximum")) == [
        "gradients from output and lse equal plain attention's"
    ]
    # Long tiles of queries still see some keys: no NaN, only a wrong output.
    silent = run(1, "one-tile-short", block_q=32)
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
