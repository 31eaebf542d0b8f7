"""Model states: ZeRO's tables, shards that are not even, and the largest model that fits."""

from typing import Any

import pytest

from quizkit.bank.formula import parse
from quizkit.calc.sheet import CalcError
from quizkit.calc.sheets import sheet
from quizkit.errors import UsageError

# Rajbhandari et al., ZeRO, SC 2020, table 1: GB (10^9 bytes) per device of P_os, P_os+g, P_os+g+p
# at 7.5B, 128B and 1T parameters. Some entries are rounded (41.25 to 41.3), some cut off (4187.5 to
# 4187), so an entry holds what lies within one unit of its last digit.
TABLE_1 = {
    1: ("120 120 120", "2048 2048 2048", "16000 16000 16000"),
    4: ("52.5 41.3 30", "896 704 512", "7000 5500 4000"),
    16: ("35.6 21.6 7.5", "608 368 128", "4750 2875 1000"),
    64: ("31.4 16.6 1.88", "536 284 32", "4187 2218 250"),
    256: ("30.4 15.4 0.47", "518 263 8", "4046 2054 62.5"),
    1024: ("30.1 15.1 0.12", "513 257 2", "4011 2013 15.6"),
}
# Table 2, left half: the most parameters in 32 GB (10^9 bytes, as the paper's 2B = 32e9 / 16 says)
# at stages 0 to 3; model parallelism MP on 64 MP devices. T is short for 1000B, rounded or cut.
TABLE_2 = {
    1: ("2", "7.6", "14.4", "128"),
    2: ("4", "15.2", "28.8", "256"),
    4: ("8", "30.4", "57.6", "0.5T"),
    8: ("16", "60.8", "115.2", "1T"),
    16: ("32", "121.6", "230.4", "2T"),
}


def states(**inputs) -> Any:
    return sheet("memory").work(inputs).figures


def last_digit(printed: str) -> float:
    return 10.0 ** -len(printed.partition(".")[2])


@pytest.mark.parametrize("dp", TABLE_1)
@pytest.mark.parametrize(("column", "params"), [(0, 7.5e9), (1, 128e9), (2, 1e12)])
def test_zero_table_1(column: int, params: float, dp: int):
    for zero, printed in enumerate(TABLE_1[dp][column].split(), start=1):
        found = states(params=params, dp=dp, zero=zero)["model_states_bytes"] / 1e9
        assert abs(found - float(printed)) < last_digit(printed), (zero, printed)


def test_zero_figure_1():
    # 7.5B parameters on 64 devices: 120, 31.4, 16.6 and 1.9 GB.
    found = [states(params=7.5e9, dp=64, zero=zero)["model_states_bytes"] for zero in range(4)]
    assert found == [120_000_000_000, 31_406_250_000, 16_640_625_000, 1_875_000_000]
    assert [round(each / 1e9, 1) for each in found] == [120, 31.4, 16.6, 1.9]


@pytest.mark.parametrize("mp", TABLE_2)
@pytest.mark.parametrize("zero", range(4))
def test_zero_table_2(mp: int, zero: int):
    printed = TABLE_2[mp][zero]
    billions = states(fit=32e9, dp=64, zero=zero, tp=mp)["max_params"] / 1e9
    if printed.endswith("T"):  # 512B, 1024B and 2048B are printed with one digit
        assert round(billions / 1000, 1) == float(printed[:-1])
    else:
        # Further rows are the first one times MP, and so is its rounding: 7.64B is 121.6B by 16.
        assert abs(billions / mp - float(printed) / mp) < 0.05


def test_what_each_part_takes():
    found = states(params=1000, dp=4, zero=0)
    names = ("weights_bytes", "gradients_bytes", "optimizer_bytes", "model_states_bytes")
    assert [found[name] for name in names] == [2000, 2000, 12000, 16000]
    for zero, parts in enumerate([(2000, 2000, 3000), (2000, 500, 3000), (500, 500, 3000)], 1):
        found = states(params=1000, dp=4, zero=zero)
        assert [found[name] for name in names] == [*parts, sum(parts)]


@pytest.mark.parametrize("zero", range(4))
def test_alone_a_rank_saves_nothing(zero: int):
    assert states(params=123, zero=zero)["model_states_bytes"] == 16 * 123


@pytest.mark.parametrize(
    ("inputs", "each"),
    [
        ({}, 16),
        ({"grad_dtype": "fp32"}, 18),
        ({"optimizer": "sgd-momentum"}, 2 + 2 + 4 + 4),
        ({"optimizer": "adam-8bit"}, 2 + 2 + 4 + 1 + 1),
        ({"optimizer": "adafactor"}, 2 + 2 + 4),
        ({"optimizer": "muon"}, 2 + 2 + 4 + 4),
        ({"master": False}, 2 + 2 + 8),
        ({"weight_dtype": "fp32", "grad_dtype": "fp32", "master": False}, 4 + 4 + 8),
    ],
)
def test_conventions(inputs, each: int):
    assert states(params=10, **inputs)["model_states_bytes"] == 10 * each


def test_an_uneven_shard_is_padded_to_the_fullest():
    # 10 over 4 ranks is 3, 3, 3, 1 with two of padding: the fullest rank has 3.
    found = states(params=10, dp=4, zero=3)
    assert found["model_states_bytes"] == 3 * 16
    # 10 over 3 model-parallel devices is 4; those 4 over 3 replicas are 2.
    assert states(params=10, tp=3, dp=3, zero=1)["model_states_bytes"] == 4 * 4 + 2 * 12


def test_tensor_and_pipeline_parallelism_divide_before_zero():
    assert states(params=64e9, tp=4, pp=8, dp=2, zero=2) == (states(params=2e9, dp=2, zero=2))


@pytest.mark.parametrize("zero", range(4))
def test_the_ranks_of_a_sequence_share_shards_and_save_nothing_else(zero: int):
    model_states = "model_states_bytes"
    together = states(params=960, dp=2, cp=4, zero=zero)[model_states]
    assert together == states(params=960, dp=8, zero=zero)[model_states]
    assert states(params=960, cp=4)[model_states] == 16 * 960


@pytest.mark.parametrize("zero", range(4))
def test_hybrid_shards_are_those_of_a_smaller_group(zero: int):
    hybrid = states(params=960, dp=4, cp=2, shard=4, zero=zero, fit=1e6)
    assert hybrid == states(params=960, dp=4, zero=zero, fit=1e6)


def test_a_gathered_unit_comes_on_top():
    # 16 layers of 60, 4 ranks: shards are 16 * 960 / 4; two units of bf16 weights are whole, and
    # one unit's bf16 gradients.
    found = states(params=960, dp=4, zero=3, unit=60)
    assert found["gathered_bytes"] == 2 * 60 * 2
    assert found["whole_gradients_bytes"] == 60 * 2
    assert found["peak_states_bytes"] == 16 * 240 + 360
    alone = states(params=960, dp=4, zero=3, unit=60, prefetch=0, grad_dtype="fp32")
    assert alone["peak_states_bytes"] == 18 * 240 + 60 * 2 + 60 * 4
    root = states(params=960, dp=4, zero=3, unit=960, prefetch=0)
    assert root["peak_states_bytes"] == 16 * 240 + 4 * 960


def test_an_offloaded_optimizer_is_the_host_s_and_its_step_moves_4_bytes_a_parameter():
    # ZeRO-Offload with 2 of 16 bytes left on one device; gradients go down, weights come up.
    found = states(params=1000, zero=2, offload=True, link=1e3, overlap=3.0)
    assert found["model_states_bytes"] == 4 * 1000
    assert found["host_bytes"] == 14 * 1000
    assert found["moved_bytes"] == 4 * 1000
    assert (found["moving_seconds"], found["exposed_seconds"]) == (4.0, 1.0)
    shard = states(params=1000, dp=4, zero=2, offload=True, link=1e3, overlap=9.0)
    assert (shard["host_bytes"], shard["moved_bytes"]) == (14 * 250, 4 * 250)
    assert shard["exposed_seconds"] == 0.0
    assert "host_bytes" not in states(params=1000)


def test_offloading_makes_room_for_a_larger_model():
    assert states(fit=16e6)["max_params"] == 1_000_000
    assert states(fit=16e6, offload=True)["max_params"] == 4_000_000


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"dp": 6, "shard": 4}, "6 ranks make no groups of 4"),
        ({"unit": 10, "zero": 2}, "--zero 3"),
        ({"link": 1e9}, "--offload"),
    ],
)
def test_what_has_nothing_to_work_on_is_said(inputs: dict[str, Any], says: str):
    with pytest.raises(CalcError, match=says):
        states(params=1000, **inputs)


@pytest.mark.parametrize("zero", range(4))
@pytest.mark.parametrize(("dp", "tp", "pp"), [(1, 1, 1), (3, 1, 1), (8, 2, 1), (5, 2, 3)])
@pytest.mark.parametrize("fit", [997, 80e9, 80 * 2**30])
def test_the_largest_model_fits_and_a_larger_one_does_not(zero, dp, tp, pp, fit):
    where = {"dp": dp, "zero": zero, "tp": tp, "pp": pp}
    most = states(fit=fit, **where)["max_params"]
    if most:
        assert states(params=most, **where)["model_states_bytes"] <= fit
    assert states(params=most + 1, **where)["model_states_bytes"] > fit


def test_gb_are_not_gib():
    assert states(fit=80e9)["max_params"] == 5_000_000_000
    assert states(fit=80 * 2**30)["max_params"] == 5_368_709_120


def test_only_what_is_asked():
    assert "max_params" not in states(params=1000)
    assert "model_states_bytes" not in states(fit=1000)


def test_neither_size_nor_room_is_refused():
    with pytest.raises(CalcError, match="--params, or --fit"):
        states(dp=4)


def test_fp32_weights_with_a_second_fp32_copy_are_refused():
    with pytest.raises(CalcError, match="--no-master"):
        states(params=10, weight_dtype="fp32")


@pytest.mark.parametrize("inputs", [{"zero": 4}, {"dp": 0}, {"params": 1.5}, {"optimizer": "lion"}])
def test_what_makes_no_sense_is_refused(inputs):
    with pytest.raises(UsageError):
        states(**{"params": 10, **inputs})


def test_questions_can_call_it():
    assert parse("memory_model_states_bytes(params=1000, dp=n, zero=3)").number({"n": 4}) == 4000


# 40 parameters of which routed experts have 24; 16 bytes each: 2 weights, 2 gradients, 12 states.
MIXED = {"params": 40, "expert_params": 24}


@pytest.mark.parametrize(
    ("axes", "zero", "expected"),
    [
        ({"dp": 4, "ep": 4}, 0, (16 + 6) * 16),
        ({"dp": 4, "ep": 4}, 1, (16 + 6) * 4 + (4 + 6) * 12),  # nobody else has these experts
        ({"dp": 4, "ep": 2}, 1, (16 + 12) * 4 + (4 + 6) * 12),
        ({"dp": 4, "ep": 1}, 1, 40 * 4 + 10 * 12),
        ({"dp": 4, "ep": 2}, 2, (16 + 12) * 2 + (4 + 6) * 14),
        ({"dp": 4, "ep": 2}, 3, (4 + 6) * 16),
        ({"dp": 2, "cp": 2, "ep": 2}, 3, (4 + 6) * 16),  # ranks of a sequence are copies too
        ({"dp": 2, "tp": 2, "ep": 4}, 0, (8 + 6) * 16),  # tp cuts the dense part, ep the experts
        ({"dp": 2, "tp": 2, "ep": 2}, 1, (8 + 12) * 4 + (4 + 6) * 12),
        ({"dp": 2, "pp": 2, "ep": 2}, 1, (8 + 6) * 4 + (4 + 6) * 12),
    ],
)
def test_experts_are_cut_by_ep_and_sharded_over_those_who_hold_the_same(
    axes: dict[str, int], zero: int, expected: int
):
    assert states(**MIXED, **axes, zero=zero)["model_states_bytes"] == expected


def test_zero_1_divides_experts_by_all_ranks_whatever_ep_is():
    """ep x edp = dp: their optimizer states are 1/dp of all, weights 1/ep."""
    found = [states(params=640, expert_params=640, dp=16, ep=ep, zero=1) for ep in (1, 4, 16)]
    assert [each["optimizer_bytes"] for each in found] == [12 * 40] * 3
    assert [each["weights_bytes"] for each in found] == [2 * 640, 2 * 160, 2 * 40]
    assert [each.get("expert_shard_ranks") for each in found] == [None, 4, 1]


def test_without_ep_tp_cuts_experts_like_everything_else():
    found = states(**MIXED, tp=8)
    assert found == states(params=40, tp=8)
    assert found["params_per_device"] == 5


def test_without_experts_nothing_of_them_is_said():
    found = states(params=40, dp=4, zero=1)
    assert not {"expert_params_per_device", "expert_shard_ranks"} & set(found)
    assert "max_params" in states(params=40, fit=1000)
    assert "max_params" not in states(**MIXED, dp=2, ep=2, fit=1000)


def test_what_is_left_of_the_memory():
    assert states(params=7_500_000_000, dp=64, zero=3, fit=80e9)["free_bytes"] == 80e9 - 1.875e9
    assert states(params=7_500_000_000, dp=64, fit=80e9)["free_bytes"] == -40_000_000_000


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"params": 40, "ep": 2, "dp": 2}, "give --expert-params"),
        ({"params": 40, "expert_params": 41}, "cannot be more"),
        ({"fit": 80e9, "expert_params": 41}, "cannot be more"),
        ({**MIXED, "dp": 4, "ep": 3}, "4 ranks .* do not make groups of ep = 3"),
        ({**MIXED, "dp": 4, "ep": 2, "shard": 2}, "leave --shard out"),
    ],
)
def test_experts_that_cannot_be_are_refused(inputs: dict[str, Any], says: str):
    with pytest.raises(CalcError, match=says):
        states(**inputs)
