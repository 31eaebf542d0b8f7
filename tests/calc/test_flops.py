"""Parameters and FLOPs of published models, and where our count is defined otherwise."""

from typing import Any

import pytest

from quizkit.calc.sheet import CalcError
from quizkit.calc.sheets import find, sheet
from quizkit.errors import UsageError

# Narayanan et al., Megatron-LM, SC 2021, table 1; its models have V = 51,200 and s = 2048.
MEGATRON = {
    # billions of parameters: heads, hidden, layers, batch
    1.7: (24, 2304, 24, 512),
    3.6: (32, 3072, 30, 512),
    7.5: (32, 4096, 36, 512),
    18.4: (48, 6144, 40, 1024),
    39.1: (64, 8192, 48, 1536),
    76.1: (80, 10240, 60, 1792),
    145.6: (96, 12288, 80, 2304),
    310.1: (128, 16384, 96, 2160),
    529.6: (128, 20480, 105, 2520),
    1008.0: (160, 25600, 128, 3072),
}
# Llama Team, The Llama 3 Herd of Models, 2024, table 3; vocabulary of the released model.
LLAMA_405B = {
    "layers": 126,
    "hidden": 16384,
    "heads": 128,
    "kv_heads": 8,
    "ffn": 53248,
    "gated": True,
    "seq": 8192,
    "vocab": 128_256,
    "embeddings": "untied",
    "positions": "rotary",
    "norm": "rms",
}
# Chowdhery et al., PaLM, 2022, table 1: 48 heads of 256 are narrower than the model; one K/V head.
PALM_540B = {
    "layers": 118,
    "hidden": 18432,
    "heads": 48,
    "head_dim": 256,
    "kv_heads": 1,
    "ffn": 4 * 18432,
    "gated": True,
    "seq": 2048,
    "vocab": 256_000,
    "positions": "rotary",
    "norm": "rms",
}
SMALL = {"layers": 2, "hidden": 8, "seq": 4, "vocab": 16}


def flops(**inputs) -> Any:
    return sheet("flops").work(inputs).figures


@pytest.mark.parametrize("billions", MEGATRON)
def test_megatrons_parameter_counts(billions: float):
    heads, hidden, layers, _ = MEGATRON[billions]
    found = flops(layers=layers, hidden=hidden, heads=heads, seq=2048, vocab=51_200)["params"]
    # Its eq. 2. We also count the last LayerNorm, 2h, far below the rounding.
    eq2 = (
        12
        * layers
        * hidden**2
        * (1 + 13 / (12 * hidden) + (51_200 + 2048) / (12 * layers * hidden))
    )
    assert found == pytest.approx(eq2 + 2 * hidden, rel=1e-12)
    assert round(found / 1e9, 1) == billions


@pytest.mark.parametrize("billions", MEGATRON)
def test_megatrons_flops_with_full_recomputation(billions: float):
    heads, hidden, layers, batch = MEGATRON[billions]
    found = flops(
        layers=layers, hidden=hidden, heads=heads, seq=2048, vocab=51_200, batch=batch,
        recompute="full",
    )  # fmt: skip
    # Its eq. 3: layers forward twice and backward, the logits forward once.
    eq3 = (
        96
        * batch
        * 2048
        * layers
        * hidden**2
        * (1 + 2048 / (6 * hidden) + 51_200 / (16 * layers * hidden))
    )
    assert found["flops_per_step"] == pytest.approx(eq3, rel=1e-12)


# Korthikanti et al., 2022, MFU and HFU in percent under selective recomputation, as the
# Megatron-LM README repeats them: hidden, layers.
SELECTIVE = {
    (41.5, 43.7): (6144, 48),
    (51.4, 52.8): (12288, 96),
    (56.0, 57.0): (20480, 105),
    (56.3, 57.0): (25600, 128),
}


@pytest.mark.parametrize("shares", SELECTIVE)
def test_selective_recomputation_is_counted_otherwise_than_korthikantis(shares):
    hidden, layers = SELECTIVE[shares]
    sizes = {"layers": layers, "hidden": hidden, "seq": 2048, "vocab": 51_200}
    found = flops(**sizes, recompute="selective")
    # Model FLOPs are the same: 72 B L s h^2 (1 + s/6h + V/12hL).
    model = found["model_flops_per_token"]
    assert model == pytest.approx(
        72 * layers * hidden**2 * (1 + 2048 / (6 * hidden) + 51_200 / (12 * hidden * layers))
    )
    # The paper's HFU over MFU is as if attention were run in full twice, backward and all
    # (s/3h for s/6h). Only its forward is: a third of that is what a counter of FLOPs sees.
    mfu, hfu = shares
    attention = found["attention_flops_per_token"]
    assert mfu * (model + attention) / model == pytest.approx(hfu, abs=0.1)
    assert 3 * found["recompute_flops_per_token"] == attention


def test_gpt_3():
    # Brown et al., 2020, table D.1: 174,600 M parameters, 3.14e23 FLOPs for 300 B tokens, by 6 ND.
    found = flops(layers=96, hidden=12288, heads=96, seq=2048, vocab=50_257)
    assert round(found["params"] / 1e8) == 1746
    assert float(f"{found['six_nd_per_token'] * 300e9:.2e}") == 3.14e23
    # 6N counts tables that are only looked up and no attention: too little, at this length by 3 %.
    assert found["six_nd_error"] == pytest.approx(-0.0267, abs=1e-4)


def test_llama_3_405b():
    found = flops(**LLAMA_405B)
    assert int(found["params"] / 1e9) == 405  # 405.85 B, which its name cuts off
    # The paper's 3.8e25 FLOPs for 15.6 T tokens are 6 ND.
    assert float(f"{found['six_nd_per_token'] * 15.6e12:.1e}") == 3.8e25
    assert found["kv_width"] == 1024


def test_palm_540b():
    # 540.35 B in table 1. Its parallel layers have one norm where we count two: 2 M of them.
    assert flops(**PALM_540B)["params"] / 1e9 == pytest.approx(540.35, abs=0.015)


def test_the_parts_by_hand():
    # h = 8, 4 heads, 2 K/V heads, gated MLP of 24: 8x8 + 2 8x4 + 8x8 + 3 8x24 = 768 weights.
    found = flops(**SMALL, heads=4, kv_heads=2, ffn=24, gated=True, batch=3)
    assert found["projection_flops_per_token"] == 6 * 2 * 192
    assert found["mlp_flops_per_token"] == 6 * 2 * 576
    assert found["logits_flops_per_token"] == 6 * 128
    # Each query meets 4 keys of width 8, twice (scores, values), 2 FLOPs each, times 3.
    assert found["attention_flops_per_token"] == 2 * (4 * 8 * 2 * 2) * 3
    assert found["flops_per_step"] == found["flops_per_token"] * 12
    half = flops(**SMALL, causal=True)["attention_flops_per_token"]
    assert 2 * half == flops(**SMALL)["attention_flops_per_token"]


def test_full_recomputation_repeats_the_layers_but_not_the_logits():
    found = flops(**SMALL, recompute="full")
    layers = found["model_flops_per_token"] - found["logits_flops_per_token"]
    assert 3 * found["recompute_flops_per_token"] == layers
    assert flops(**SMALL)["recompute_flops_per_token"] == 0


def test_untied_tables_rotary_positions_and_rms_norms():
    gpt = flops(**SMALL)["params"]
    assert flops(**SMALL, embeddings="untied")["params"] - gpt == 16 * 8
    assert gpt - flops(**SMALL, positions="rotary")["params"] == 4 * 8
    # Without biases a layer's 13h of vectors are 2h, and the last norm's 2h are h.
    # A gated MLP of the same width has a third matrix, and another row of biases with it.
    assert flops(**SMALL, gated=True)["params"] - gpt == 2 * (8 * 32 + 32)
    assert gpt - flops(**SMALL, norm="rms")["params"] == 2 * 11 * 8 + 8


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"heads": 3}, "3"),
        ({"kv_heads": 2}, "--heads"),
        ({"head_dim": 4}, "--heads"),
        ({"heads": 4, "kv_heads": 3}, "3"),
    ],
)
def test_heads_that_do_not_divide_are_refused(more, said):
    with pytest.raises(CalcError, match=said):
        flops(**SMALL, **more)


def test_sizes_are_required():
    with pytest.raises(UsageError, match="--vocab"):
        flops(layers=2, hidden=8, seq=4)
    with pytest.raises(UsageError, match="--layers"):
        flops(**{**SMALL, "layers": 0})
    assert flops(layers=1, hidden=1, seq=1, vocab=1)["model_flops_per_token"] == 6 * 12 + 12 + 6


def test_questions_call_it_by_name():
    assert find("flops_per_step")(**SMALL) == flops(**SMALL)["flops_per_step"]  # pyright: ignore[reportOptionalCall]
    assert find("flops_params")(**SMALL) == flops(**SMALL)["params"]  # pyright: ignore[reportOptionalCall]
