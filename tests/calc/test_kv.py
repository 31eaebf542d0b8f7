"""The KV cache: published bytes per token, the decode floor, and what fits."""

from typing import Any

import pytest

from quizkit.calc.sheet import CalcError
from quizkit.calc.sheets import sheet
from quizkit.errors import UsageError


def cache(**inputs) -> Any:
    return sheet("kv").work({"seq": 1, **inputs}).figures


KIB = 1024


@pytest.mark.parametrize(
    ("layers", "kv_heads", "head_dim", "size"),
    [
        # Llama 2 70B: 8 KV heads (Touvron et al. 2023, section A.2.1), by its published config 80
        # layers and heads of 128. Qwen-2.5 72B, of the same sizes: 327.680 KB (table named below).
        (80, 8, 128, 320 * KIB),
        # Grattafiori et al. 2024, Llama 3, table 3: 8B has 32 layers and 8 KV heads (of 128).
        (32, 8, 128, 128 * KIB),
        # Kwon et al., vLLM, SOSP 2023, section 3: OPT-13B, 2 x 5120 x 40 x 2, "800 KB", is KiB.
        (40, 40, 128, 800 * KIB),
        # DeepSeek-AI, Insights into DeepSeek-V3, ISCA 2025, table 1, in KB of 1000 bytes.
        (126, 8, 128, 516_096),  # LLaMA-3.1 405B: 516.096 KB
    ],
)
def test_bytes_per_token_of_heads(layers: int, kv_heads: int, head_dim: int, size: int):
    found = cache(layers=layers, kv_heads=kv_heads, head_dim=head_dim)
    assert found["bytes_per_token"] == size


def test_deepseek_v3_keeps_70_272_bytes():
    # Same table: DeepSeek-V3, 61 layers, latent 512 and rope key 64: 70.272 KB; 4.66 times less
    # than Qwen-2.5 72B. For LLaMA-3.1 405B it prints 7.28, where its own numbers give 7.34.
    found = cache(layers=61, latent_dim=512, rope_dim=64)["bytes_per_token"]
    assert found == 70_272
    assert round(327_680 / found, 2) == 4.66
    assert round(516_096 / found, 2) == 7.34


def test_deepseek_v2_table_1():
    # Latent attention keeps 9/2 d_h a layer with d_c = 4 d_h and d_h^R = d_h / 2: as GQA does with
    # 2.25 groups, or MHA with 128 heads 56.9 times over.
    found = cache(layers=60, latent_dim=4 * 128, rope_dim=128 // 2, heads=128, head_dim=128)
    assert found["elements_per_layer"] == 4.5 * 128 == 2 * 2.25 * 128
    assert round(found["smaller_than_mha"], 1) == 56.9


def test_deepseek_v2_saves_93_3_percent():
    # The abstract's 93.3 % against DeepSeek 67B (95 layers, 8 KV heads of 128) is of what is
    # deployed: 16 bits there, "6 bits on average" here (section 3.2.3). At 16 bits it is 82.2 %.
    small = cache(layers=60, latent_dim=512)["bytes_per_token"]
    large = cache(layers=95, kv_heads=8, head_dim=128)["bytes_per_token"]
    assert round(100 * (1 - small / large), 1) == 82.2
    assert round(100 * (1 - small * 6 / 16 / large), 1) == 93.3


def test_a_cache_of_3_terabytes():
    # Pope et al. 2023, section 2: 500B+ parameters with multi-head attention, batch 512, context
    # 2048: "3 TB", "3 times the size of the model's parameters". PaLM 540B has 118 layers and 48
    # heads, which section 4.2 makes 128 wide for its multi-head variant.
    sizes = {"layers": 118, "kv_heads": 48, "head_dim": 128, "seq": 2048, "batch": 512}
    found = cache(**sizes, params=540e9)
    assert round(found["bytes"] / 1e12) == 3
    assert round(found["bytes"] / found["weights_bytes"]) == 3


@pytest.mark.parametrize(("kv_heads", "times"), [(32, 1), (8, 4), (1, 32)])
def test_mha_gqa_and_mqa(kv_heads: int, times: int):
    found = cache(layers=2, kv_heads=kv_heads, head_dim=64, heads=32)
    assert found["elements_per_layer"] == 2 * kv_heads * 64
    assert found["smaller_than_mha"] == times


@pytest.mark.parametrize(
    ("dtype", "size"), [("bf16", 24), ("fp16", 24), ("fp32", 48), ("fp8", 12), ("int4", 6)]
)
def test_types(dtype: str, size: int):
    found = cache(layers=2, kv_heads=1, head_dim=3, dtype=dtype, seq=5, batch=7)
    assert found["bytes_per_token"] == size
    assert found["bytes"] == size * 35


def test_decode_reads_weights_and_cache_once_a_step():
    sizes = {"layers": 32, "kv_heads": 8, "head_dim": 128, "seq": 8192, "batch": 16}
    found = cache(**sizes, params=8e9, bandwidth=3.35e12)
    assert found["decode_seconds"] == pytest.approx((16e9 + 16 * 2**30) / 3.35e12)
    assert found["decode_tokens_per_second"] == pytest.approx(16 / found["decode_seconds"])
    half = cache(**sizes, params=8e9, bandwidth=3.35e12, weight_dtype="fp8")
    assert found["decode_seconds"] - half["decode_seconds"] == pytest.approx(8e9 / 3.35e12)


def test_the_largest_batch_fits_and_one_more_does_not():
    sizes = {"layers": 32, "kv_heads": 8, "head_dim": 128, "seq": 8192, "params": 8e9}
    most = cache(**sizes, memory=80e9)["max_batch"]
    assert most == 59  # (80e9 - 16e9) / 2^30
    fits = 16e9 + cache(**sizes, batch=most)["bytes"]
    assert fits <= 80e9 < fits + 2**30


def test_weights_that_do_not_fit_leave_no_room():
    sizes = {"layers": 32, "kv_heads": 8, "head_dim": 128, "params": 70e9}
    assert cache(**sizes, memory=80e9)["max_batch"] == 0


def test_without_weights_there_is_no_floor():
    found = cache(layers=2, kv_heads=1, head_dim=8, bandwidth=1e12, memory=1e9)
    assert set(found) == {"elements_per_layer", "bytes_per_token", "bytes"}


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"kv_heads": 8},
        {"head_dim": 128},
        {"kv_heads": 8, "head_dim": 128, "latent_dim": 512},
        {"kv_heads": 8, "latent_dim": 512},
    ],
)
def test_a_cache_is_of_heads_or_latent(inputs):
    with pytest.raises(CalcError, match="one of the two"):
        cache(layers=2, **inputs)


def test_heads_share_kv_heads_evenly():
    with pytest.raises(CalcError, match="32 attention heads cannot share 5"):
        cache(layers=2, kv_heads=5, head_dim=8, heads=32)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError):
        cache(layers=2, kv_heads=1, head_dim=8, dtype="fp7")
