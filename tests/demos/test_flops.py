"""FLOPs of a training step against the formulas, on any shape, and what each bug does to them."""

from typing import Any

import pytest

from quizkit.lab.catalogue import find

from .conftest import Run, failed

DEMO = find("flops")

pytestmark = pytest.mark.demo

DEFAULTS = {
    "layers": 2,
    "hidden": 32,
    "heads": 4,
    "kv_heads": 2,
    "seq": 16,
    "vocab": 50,
    "ffn": 88,
    "batch": 8,
    "gated": True,
}

SHAPES = [
    {},
    {"gated": False, "causal": False, "kv_heads": 4, "ffn": 128},
    {"layers": 1, "heads": 1, "kv_heads": 1, "seq": 1, "vocab": 2},
    {"layers": 3, "hidden": 30, "heads": 6, "kv_heads": 3, "seq": 7, "ffn": 11, "batch": 9},
]
WAYS = ["none", "selective", "full"]


def by_hand(args: dict[str, Any]) -> dict[str, int]:
    """Parameters, and forward FLOPs of one sequence."""
    n = DEFAULTS | args
    hidden, matrices = n["hidden"], 3 if n["gated"] else 2
    kv = hidden // n["heads"] * n["kv_heads"]
    projections = n["layers"] * (2 * hidden * hidden + 2 * hidden * kv)
    mlp, logits = n["layers"] * matrices * hidden * n["ffn"], hidden * n["vocab"]
    return {
        "multiplied": projections + mlp + logits,
        "params": projections + mlp + 2 * logits + (2 * n["layers"] + 1) * hidden,
        "projections": 2 * n["seq"] * projections,
        "mlp": 2 * n["seq"] * mlp,
        "logits": 2 * n["seq"] * logits,
        "attention": 2 * 2 * n["layers"] * n["seq"] ** 2 * hidden,
        "tokens": n["seq"],
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("ranks", "args"),
    # On 5 ranks the 9 sequences of the last shape: one rank has one.
    [*((ranks, args) for ranks in (1, 3) for args in SHAPES), (5, SHAPES[-1])],
)
def test_every_part_is_what_the_formula_says(
    run: Run, ranks: int, args: dict[str, Any], way: str
) -> None:
    report = run(ranks, recompute=way, **args)
    assert report["verdict"] == "pass", report
    measured, one = report["metrics"], by_hand(args)
    assert measured["params"] == one["params"]
    assert measured["params_multiplied"] == one["multiplied"]

    batch = (DEFAULTS | args)["batch"]
    again = {"none": (), "selective": ("attention",)}.get(way, ("projections", "mlp", "attention"))
    parts = ("projections", "mlp", "logits", "attention")
    for rank in range(ranks):
        mine = len(range(rank, batch, ranks))
        assert measured["tokens"][rank] == mine * one["tokens"]
        assert measured["flops_forward"][rank] == mine * sum(one[part] for part in parts)
        assert measured["flops_recomputed"][rank] == mine * sum(one[part] for part in again)
        for part in parts:
            times = 4 if part in again else 3
            assert measured[f"flops_{part}"][rank] == times * mine * one[part]
        assert measured["flops_step"][rank] == sum(measured[f"flops_{p}"][rank] for p in parts)
    assert measured["flops_total"] == sum(measured["flops_step"])


def test_six_for_a_token_and_a_weight_that_multiplies(run: Run) -> None:
    measured = run(1)["metrics"]
    by_weights = measured["flops_step"][0] - measured["flops_attention"][0]
    assert by_weights == 6 * measured["params_multiplied"] * measured["tokens"][0]
    ratio = measured["flops_step"][0] / (6 * measured["params"] * measured["tokens"][0])
    assert measured["six_nd_ratio"] == [ratio]
    assert measured["flops_per_token"] == [measured["flops_step"][0] / measured["tokens"][0]]


def test_scores_cost_as_much_as_weights_at_six_times_the_width(run: Run) -> None:
    plain = {"hidden": 8, "heads": 2, "kv_heads": 2, "ffn": 32, "gated": False, "batch": 1}
    measured = run(1, seq=48, **plain)["metrics"]
    weights = measured["flops_projections"][0] + measured["flops_mlp"][0]
    assert measured["flops_attention"] == [weights]


def test_a_mask_saves_a_plain_product_nothing(run: Run) -> None:
    assert (
        run(1, causal=True)["metrics"]["flops_step"]
        == (run(1, causal=False)["metrics"]["flops_step"])
    )


def test_shared_keys_save_projections_not_scores(run: Run) -> None:
    few, many = (run(1, kv_heads=heads)["metrics"] for heads in (1, 4))
    assert few["flops_attention"] == many["flops_attention"]
    # Of four matrices as large, two become a quarter.
    assert 8 * few["flops_projections"][0] == 5 * many["flops_projections"][0]


def test_what_a_break_leaves_right(run: Run) -> None:
    assert failed(run(1, "causal-half")) == ["each product is 2mkn, as torch counts it"]
    # Nothing to see in what was counted: the wrong layer costs as much as the right one.
    assert failed(run(1, "late-binding")) == ["gradients equal plain torch"]
    assert run(1, "late-binding", layers=1)["verdict"] == "pass"
    assert run(1, "logits-left-out")["metrics"]["flops_logits"] == [0]
    assert run(1, "stray-detach")["metrics"]["flops_step"][0] < run(1)["metrics"]["flops_step"][0]


@pytest.mark.parametrize(
    ("ranks", "args", "says"),
    [
        (3, {"batch": 2}, "batch 3 or more"),
        (1, {"seq": 0}, "sizes must be 1 or more"),
        (1, {"heads": 5}, "heads must divide 32, and 5 does not: take one of [1, 2, 4, 8, 16, 32]"),
        (1, {"kv_heads": 3}, "kv-heads must divide 4, and 3 does not: take one of [1, 2, 4]"),
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
