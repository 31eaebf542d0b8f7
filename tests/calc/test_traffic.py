"""Bytes by axis: ZeRO's, Megatron's, a pipeline's and ring attention's, each by its source."""

from typing import Any

import pytest

from quizkit.calc.sheet import CalcError
from quizkit.calc.sheets import find, sheet

MODEL = {"params": 1.2e9, "seq": 64, "hidden": 32, "layers": 8}


def traffic(**inputs) -> Any:
    return sheet("traffic").work({**MODEL, **inputs}).figures


@pytest.mark.parametrize(("zero", "volumes"), [(0, 2), (1, 2), (2, 2), (3, 3)])
@pytest.mark.parametrize("dp", [1, 2, 3, 64])
def test_zeros_volumes(zero: int, volumes: int, dp: int):
    # Rajbhandari et al., ZeRO, 2020, section 7: 2 Psi, 2 Psi and 3 Psi elements for one
    # micro-batch. The paper leaves out the ring's (n-1)/n, which we keep.
    found = traffic(dp=dp, zero=zero)
    wanted = volumes * 1.2e9 * 2 * (dp - 1) / dp
    assert found["zero_bytes" if zero else "dp_bytes"] == pytest.approx(wanted)
    assert found["dp_bytes" if zero else "zero_bytes"] == 0


@pytest.mark.parametrize(
    ("zero", "accumulate", "volumes"),
    [
        (0, "sharded", 2),
        (1, "sharded", 2),
        (2, "sharded", 1 + 4),
        (2, "whole", 2),
        (3, "sharded", 8 + 4),
        (3, "whole", 8 + 1),
    ],
)
def test_accumulation_over_four_micro_batches(zero: int, accumulate: str, volumes: int):
    found = traffic(dp=2, zero=zero, microbatches=4, accumulate=accumulate)
    assert found["dp_bytes"] + found["zero_bytes"] == pytest.approx(volumes * 1.2e9)


def test_gradients_in_fp32_and_parameters_in_bf16():
    found = traffic(dp=4, zero=2, grad_bytes=4)
    assert found["zero_bytes"] == pytest.approx(0.75 * 1.2e9 * (2 + 4))
    assert traffic(dp=4, grad_bytes=4)["dp_bytes"] == pytest.approx(2 * 0.75 * 1.2e9 * 4)


def test_tp_and_pp_leave_less_to_reduce_and_cp_more_ranks_to_do_it():
    assert traffic(dp=4, tp=2, pp=4)["dp_bytes"] == pytest.approx(traffic(dp=4)["dp_bytes"] / 8)
    assert traffic(dp=2, cp=4)["dp_bytes"] == pytest.approx(traffic(dp=8)["dp_bytes"])


@pytest.mark.parametrize("tp", [1, 2, 4, 8])
def test_megatrons_tensor_parallel_bytes(tp: int):
    # Narayanan et al., SC 2021, section 3.2: 8 b s h (t-1)/t elements a layer and micro-batch.
    found = traffic(tp=tp, batch=3, microbatches=5, pp=2)
    assert found["tp_bytes"] == pytest.approx(
        5 * 4 * 8 * 3 * 64 * 32 * (tp - 1) / tp * 2
    )  # in a stage of 4 layers, 2 bytes each


def test_sequence_parallelism_and_recomputation_in_halves_of_an_all_reduce():
    plain = traffic(tp=4)["tp_bytes"]
    assert traffic(tp=4, recompute="full")["tp_bytes"] == pytest.approx(plain * 12 / 8)
    assert traffic(tp=4, recompute="selective")["tp_bytes"] == plain
    # As many bytes forward (Korthikanti et al., 2022, 4.2.2), and 2 inputs gathered again.
    assert traffic(tp=4, sp=True)["tp_bytes"] == pytest.approx(plain * 10 / 8)


@pytest.mark.parametrize(("pp", "messages"), [(1, 0), (2, 6), (3, 12), (8, 12)])
def test_a_middle_stage_sends_both_ways(pp: int, messages: int):
    found = traffic(pp=pp, microbatches=6)
    assert found["messages"] == messages
    assert found["pp_bytes"] == messages * 64 * 32 * 2
    if pp > 1:
        # Sequence parallelism leaves a rank 1/t of the activation to send.
        assert traffic(pp=pp, tp=4, sp=True)["pp_bytes"] == traffic(pp=pp)["pp_bytes"] / 4


@pytest.mark.parametrize("cp", [1, 2, 4])
def test_ring_attention_as_its_messages_go(cp: int):
    # Forward c-1 blocks of K and V; backward the same, and their gradients c hops to get home.
    block = 2 * 64 // cp * 32 * 8
    hops = 0 if cp == 1 else (cp - 1) + (cp - 1) + cp
    found = traffic(cp=cp, layers=1, heads=4, dtype_bytes=8)
    assert found["kv_block_bytes"] == block
    assert found["cp_bytes"] == hops * block
    again = traffic(cp=cp, layers=1, heads=4, dtype_bytes=8, recompute="full")
    assert again["cp_bytes"] - found["cp_bytes"] == (cp - 1) * block
    # The gradients of dp * cp ranks are the only other messages.
    assert found["messages"] == hops + 2 * (cp - 1)


def test_grouped_heads_send_less_until_tp_has_to_repeat_them():
    whole = traffic(cp=2, heads=8)["cp_bytes"]
    assert traffic(cp=2, heads=8, kv_heads=2)["cp_bytes"] == whole / 4
    assert traffic(cp=2, heads=8, kv_heads=2, tp=2)["cp_bytes"] == whole / 8
    assert traffic(cp=2, heads=8, kv_heads=2, tp=8)["cp_bytes"] == whole / 8
    assert traffic(cp=2)["cp_bytes"] == whole
    assert traffic(cp=2, heads=8, kv_heads=1)["cp_bytes"] == whole / 8
    # K/V heads say it all with their size; without it, and without heads, they are 128 wide.
    same = traffic(cp=2, kv_heads=2, head_dim=128)["cp_bytes"]
    assert traffic(cp=2, kv_heads=2)["cp_bytes"] == same
    assert traffic(cp=2, heads=8, head_dim=8)["cp_bytes"] == whole * 2


def test_a_stage_has_its_share_of_layers_rounded_up():
    assert traffic(pp=3, tp=2)["layers_per_stage"] == 3
    assert traffic(pp=8, tp=2)["tp_bytes"] * 8 == traffic(tp=2)["tp_bytes"]


def test_each_axis_runs_on_the_slowest_link_it_crosses():
    links = {"intra": 400e9, "inter": 50e9}
    found = traffic(tp=4, cp=2, dp=2, pp=2, **links)
    assert found["axes_inside_node"] == "tp cp"
    assert found["tp_seconds"] == found["tp_bytes"] / 400e9
    assert found["cp_seconds"] == found["cp_bytes"] / 400e9
    assert found["dp_seconds"] == found["dp_bytes"] / 50e9
    assert found["pp_seconds"] == found["pp_bytes"] / 50e9
    parts = [found[f"{axis}_seconds"] for axis in ("tp", "cp", "dp", "pp")]
    assert found["seconds"] == pytest.approx(sum(parts))
    assert traffic(tp=4, dp=2, zero=3, **links)["dp_seconds"] == pytest.approx(
        traffic(tp=4, dp=2, zero=3)["zero_bytes"] / 400e9
    )
    assert traffic(tp=16, **links)["tp_seconds"] == traffic(tp=16)["tp_bytes"] / 50e9
    assert traffic(tp=16, node=16, **links)["axes_inside_node"] == "tp"
    assert traffic(pp=4, **links)["axes_inside_node"] == "pp"


def test_time_needs_both_links():
    assert "seconds" not in traffic(tp=4, intra=400e9)
    assert traffic()["axes_inside_node"] == "-"


def test_messages_of_rings():
    assert traffic(dp=4)["messages"] == 6
    assert traffic(dp=4, zero=2)["messages"] == 6
    # ZeRO 3 gathers layer by layer, forward and backward, and scatters each layer's gradients.
    assert traffic(dp=4, zero=3)["messages"] == 3 * 8 * 3
    assert traffic(tp=4)["messages"] == 8 * 8 * 3


def test_data_parallelism_needs_no_sizes():
    alone = sheet("traffic").work({"params": 7.5e9, "dp": 64, "zero": 3}).figures
    assert alone["zero_bytes"] == pytest.approx(3 * 7.5e9 * 2 * 63 / 64)
    assert alone["messages"] == 3 * 63  # the model as one layer
    for axis in ("tp", "pp", "cp"):
        with pytest.raises(CalcError, match="--seq, --hidden"):
            sheet("traffic").work({"params": 7.5e9, axis: 2})


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"cp": 3}, "63"),
        ({"tp": 4, "cp": 3, "sp": True}, "60"),
        ({"heads": 4, "tp": 8}, "heads"),
        ({"heads": 5}, "hidden"),
        ({"pp": 9}, "9"),
        ({"head_dim": 2}, "--heads"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(inputs, said):
    with pytest.raises(CalcError, match=said):
        traffic(**inputs)


def test_questions_call_it_by_name():
    zero = find("traffic_zero_bytes")(params=8e9, dp=8, zero=3)  # pyright: ignore[reportOptionalCall]
    assert zero == pytest.approx(3 * 16e9 * 7 / 8)


# 1.2e9 parameters, 1e9 of them routed experts in 6 of 8 layers, two experts a token.
EXPERTS = {"expert_params": 1e9, "topk": 2, "moe_layers": 6}


@pytest.mark.parametrize(("dp", "cp", "ep"), [(8, 1, 2), (8, 1, 8), (4, 2, 4), (6, 1, 3)])
@pytest.mark.parametrize("zero", [0, 1, 3])
def test_experts_gradients_go_round_those_who_hold_the_same(dp: int, cp: int, ep: int, zero: int):
    found = traffic(**EXPERTS, dp=dp, cp=cp, ep=ep, zero=zero)
    ranks, copies = dp * cp, dp * cp // ep
    ring = 0.2e9 * (ranks - 1) / ranks + 1e9 / ep * (copies - 1) / copies
    assert found["params_per_gpu"] == pytest.approx(0.2e9 + 1e9 / ep)
    wanted = {0: 2, 1: 2, 3: 3}[zero] * 2 * ring
    assert found["dp_bytes"] + found["zero_bytes"] == pytest.approx(wanted)


def test_tokens_go_to_their_experts_and_home_and_gradients_the_same_ways():
    found = traffic(**EXPERTS, dp=8, ep=8, pp=2, batch=3, microbatches=5)
    row = 3 * 64 * 32 * 2
    assert found["ep_bytes"] == pytest.approx(5 * 3 * 4 * 2 * row * 7 / 8)
    again = traffic(**EXPERTS, dp=8, ep=8, pp=2, batch=3, microbatches=5, recompute="full")
    assert again["ep_bytes"] == pytest.approx(found["ep_bytes"] * 1.5)
    alone = traffic(**EXPERTS, dp=8)
    assert alone["ep_bytes"] == alone["ep_trips_per_layer"] == 0
    assert alone["dp_bytes"] == traffic(dp=8)["dp_bytes"]


def test_experts_add_messages():
    dense, found = traffic(dp=8), traffic(**EXPERTS, dp=8, ep=2, microbatches=3)
    assert found["messages"] - dense["messages"] == 2 * 3 + 3 * 6 * 4 * 1


def test_an_all_to_all_uses_both_kinds_of_links():
    """16 ranks on nodes of 8: 7 of 15 parts stay inside, 8 leave."""
    links = {"intra": 400e9, "inter": 50e9}
    found = traffic(**EXPERTS, dp=16, ep=16, **links)
    assert found["ep_seconds"] == pytest.approx(found["ep_bytes"] * 8 / 15 / 50e9)
    slow = traffic(**EXPERTS, dp=16, ep=16, intra=10e9, inter=50e9)
    assert slow["ep_seconds"] == pytest.approx(found["ep_bytes"] * 7 / 15 / 10e9)
    inside = traffic(**EXPERTS, dp=16, ep=8, **links)
    assert inside["ep_seconds"] == pytest.approx(inside["ep_bytes"] / 400e9)
    assert (inside["axes_inside_node"], found["axes_inside_node"]) == ("ep", "-")


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"ep": 2, "dp": 2}, "--expert-params, --topk, --moe-layers"),
        ({**EXPERTS, "ep": 3, "dp": 4}, "do not make groups of ep = 3"),
        ({**EXPERTS, "ep": 2, "dp": 2, "tp": 2}, "ep or tp above 1, not both"),
    ],
)
def test_experts_that_cannot_be_are_refused(inputs: dict[str, Any], said: str):
    with pytest.raises(CalcError, match=said):
        traffic(**inputs)
