"""Experts: parameters as published, bytes as arithmetic has them, drops as a lottery shows them."""

from math import comb
from random import Random
from typing import Any

import pytest

from quizkit.calc.models import MODELS, model
from quizkit.calc.moe import SHEET, over, reached
from quizkit.calc.sheet import CalcError

ROUTED = {"experts": 256, "topk": 8, "hidden": 7168}


def work(**inputs: Any) -> dict[str, Any]:
    return dict(SHEET.work({**ROUTED, **inputs}).figures)


@pytest.mark.parametrize("name", [each.name for each in MODELS if each.experts])
def test_parameters_and_flops_are_the_models(name: str):
    found = SHEET.work({}, SHEET.filled(model(name), None)).figures
    assert found["total_params"] == model(name).params
    assert found["active_params"] == model(name).active_params
    assert found["flops_per_token"] == 6 * model(name).multiplied_params


def test_what_is_sent_is_k_copies_less_what_stays():
    """DeepSeek-V3's layer: 4096 tokens a rank, fp8 out, bf16 home."""
    found = work(tokens=4096, ep=64, dispatch_dtype="fp8")
    assert found["dispatch_bytes"] == 4096 * 8 * 7168 * 63 / 64
    assert found["combine_bytes"] == 2 * found["dispatch_bytes"]
    assert found["all_to_all_bytes"] == 6 * found["dispatch_bytes"]
    assert found["tokens_per_expert"] == 4096 * 64 * 8 / 256
    alone = work(tokens=4096)
    assert alone["dispatch_bytes"] == alone["all_to_all_bytes"] == alone["gathering_bytes"] == 0


def test_gathering_sends_less_only_where_k_is_more_than_the_ranks():
    for ep, topk in ((2, 8), (4, 8), (8, 8), (16, 8), (64, 8), (4, 2)):
        found = work(tokens=100, ep=ep, topk=topk)
        routed = found["dispatch_bytes"] + found["combine_bytes"]
        assert (found["gathering_bytes"] < routed) is (topk > ep)


def test_nodes_of_a_token():
    """8 nodes of 32 experts: 8 (1 - C(224,8)/C(256,8)); at most 4 of them: 128 experts."""
    free = work(tokens=1, ep=64)["nodes_per_token"]
    assert free == pytest.approx(8 * (1 - comb(224, 8) / comb(256, 8)))
    assert free == pytest.approx(5.29, abs=0.01)
    limited = work(tokens=4096, ep=64, node_limit=4, dispatch_dtype="fp8", inter=50e9)
    assert limited["nodes_per_token"] == pytest.approx(4 * (1 - comb(96, 8) / comb(128, 8)))
    rows = 4096 * limited["nodes_per_token"] * 7 / 8
    assert limited["across_bytes"] == pytest.approx(rows * 7168 * 3)
    assert limited["across_seconds"] == pytest.approx(rows * 7168 * 3 / 50e9)
    assert "nodes_per_token" not in work(tokens=1, ep=8)


def test_nodes_of_a_token_are_those_of_a_lottery():
    drawn = Random(7)
    total = sum(len({each // 4 for each in drawn.sample(range(24), 5)}) for _ in range(20_000))
    assert total / 20_000 == pytest.approx(reached(24, 5, 6), rel=0.01)


@pytest.mark.parametrize("room", [0, 1, 3, 5, 6, 7, 11, 12, 13])
@pytest.mark.parametrize("chance", [0.05, 0.5, 0.9, 1.0])
def test_the_sum_of_what_is_over_is_the_binomials(room: int, chance: float):
    exact = sum(
        comb(12, many) * chance**many * (1 - chance) ** (12 - many) * max(0, many - room)
        for many in range(13)
    )
    assert over(12, chance, room) == pytest.approx(exact, rel=1e-12, abs=1e-15)


def test_drops_are_those_of_a_lottery_without_putting_back():
    """A token's k experts are different ones; each expert's count is binomial all the same."""
    drawn, tokens, experts, topk, lost = Random(3), 64, 8, 2, 0
    room = 16
    for _ in range(400):
        load = [0] * experts
        for _ in range(tokens):
            for each in drawn.sample(range(experts), topk):
                load[each] += 1
        lost += sum(max(0, each - room) for each in load)
    found = work(experts=experts, topk=topk, tokens=tokens, capacity_factor=1)
    assert found["capacity"] == room
    assert lost / (400 * tokens * topk) == pytest.approx(found["dropped_share"], rel=0.03)


def test_factor_one_drops_even_when_routing_is_uniform():
    """4096 tokens, 2 of 8 experts: about 1 in a hundred; a quarter more room, next to none."""
    exact = work(experts=8, topk=2, tokens=4096, capacity_factor=1)
    assert exact["capacity"] == 1024
    # The normal's mean excess, sd / sqrt(2 pi), beside the exact sum.
    assert exact["dropped_share"] == pytest.approx(
        (4096 * 3 / 16) ** 0.5 * 0.39894 / 1024, rel=0.01
    )
    assert exact["empty_share"] == pytest.approx(exact["dropped_share"])
    roomy = work(experts=8, topk=2, tokens=4096, capacity_factor=1.25)
    assert roomy["capacity"] == 1280
    assert 0 < roomy["dropped_share"] < 1e-15
    assert roomy["empty_share"] == pytest.approx(0.2)


def test_many_tokens_do_not_take_long():
    found = work(tokens=10**9, capacity_factor=1)
    assert 0 < found["dropped_share"] < 1e-4
    assert work(tokens=7, topk=256, capacity_factor=1)["dropped_share"] == 0


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"topk": 257}, "257 of 256"),
        ({"ep": 48}, "experts = 256 cannot be cut into 48"),
        ({"ep": 512}, "experts = 256 cannot be cut into 512 equal parts"),
        ({"ep": 64, "node": 24}, "ep = 64 cannot be cut into 24"),
        ({"ep": 64, "node_limit": 9}, "--node-limit 9"),
        ({"ep": 256, "node": 1, "node_limit": 4}, "--node-limit 4"),
    ],
)
def test_what_cannot_be_routed_is_refused(inputs: dict[str, Any], says: str):
    with pytest.raises(CalcError, match=says):
        work(**inputs)


def test_a_dense_model_is_sent_elsewhere():
    with pytest.raises(CalcError, match="calc flops --model llama-3-8b"):
        SHEET.filled(model("llama-3-8b"), None)
