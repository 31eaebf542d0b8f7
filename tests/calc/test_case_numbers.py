"""The numbers that the cases on hybrid parallelism say are what the calculators work out."""

import re
from pathlib import Path

import pytest

from quizkit.calc import sheets

HYBRID = Path(__file__).parents[2] / "questions" / "hybrid"
LLAMA = {"layers": 80, "seq": 8192, "hidden": 8192}
FAST = 400e12


def work(name: str, **inputs: float | str) -> float:
    """A figure of a sheet, by the name that questions call it by."""
    figure = sheets.find(name)
    assert figure is not None, name
    found = figure(**inputs)
    assert isinstance(found, (int, float))
    return found


def states(params: float, **cut: int) -> float:
    return work("memory_model_states_bytes", params=params, **cut) / 1e9


def kept(hidden: int, ffn: int, layers: int) -> float:
    """GB of a sequence of 8k: 6h and K, V of 8 heads, three times a gated MLP's width; bf16."""
    return 8192 * 2 * (6 * hidden + 2 * 8 * 128 + 3 * ffn) * layers / 1e9


def sequence() -> float:
    """FLOPs of a sequence of 8k in a 70B model, attention with its causal half."""
    return work(
        "flops_model_flops_per_token", **LLAMA, batch=1, heads=64, kv_heads=8, ffn=28672,
        gated=True, vocab=128256, embeddings="untied", positions="rotary", norm="rms",
    ) * 8192  # fmt: skip


def bubble(stages: int, microbatches: float, **more: int | str) -> float:
    return 100 * work("pipeline_bubble_share", stages=stages, microbatches=microbatches, **more)


def seventy() -> dict[str, float]:
    tp = work("traffic_tp_bytes", params=1, tp=8, sp=True, **LLAMA) / 1e9
    dp = work("traffic_zero_bytes", params=70e9, dp=8, tp=8, zero=1, **LLAMA) / 1e9
    micro = sequence() / 8 / FAST
    return {
        "1.12": states(70e9) / 1000,
        "140": states(70e9, tp=8),
        "17.5": states(70e9, dp=64, zero=3),
        "293": states(70e9, dp=64, zero=1),
        "48.1": states(70e9, tp=8, dp=8, zero=1),
        "2.25": kept(8192, 28672, 1),
        "180": kept(8192, 28672, 80),
        "22.5": kept(8192, 28672, 80) / 8,
        "10.7": 80 * work("activations_bytes_per_layer", hidden=8192, heads=64, seq=8192,
                          recompute="full", dropout=False) / 1e9,
        "70.6": states(70e9, tp=8, dp=8, zero=1) + kept(8192, 28672, 80) / 8,
        "94": tp,
        "0.21": tp / 450,
        "1.23": micro,
        "13.1": 8 * micro * 4 / 3,
        "368": 3 * 140 * 7 / 8,
        "0.9": 3 * 140 * 7 / 8 / 400,
        "30.6": dp,
        "0.6": dp / 50,
        "79": 64 * micro,
    }  # fmt: skip


def slower() -> dict[str, float]:
    dp = work("traffic_zero_bytes", params=70e9, dp=8, tp=8, zero=1, **LLAMA) / 1e9
    return {
        "3.94": sequence() / 1e15,
        "368": 3 * 140 * 7 / 8,
        "1.8": 3 * 140 * 7 / 8 / 200,
        "14.7": 3 * 140 * 7 / 8 / 25,
        "13.1": sequence() / FAST * 4 / 3,
        "245": 8 * dp,
        "1.2": 8 * dp / 200,
        "9.8": 8 * dp / 25,
        "79": 8 * sequence() / FAST,
    }


def on_256() -> dict[str, float]:
    wide = work("traffic_tp_bytes", params=1, tp=8, sp=True, **LLAMA) / 1e9
    narrow = work("traffic_tp_bytes", params=1, tp=4, pp=2, sp=True, **LLAMA) / 1e9
    dp = work("traffic_zero_bytes", params=70e9, dp=32, tp=8, zero=1, **LLAMA) / 1e9
    many = work("traffic_zero_bytes", params=70e9, dp=256, tp=8, zero=1, **LLAMA) / 1e9
    micro = sequence() / 8 / FAST
    held = states(70e9, tp=8, dp=32, zero=1)
    return {
        "38.3": held,
        "60.8": held + kept(8192, 28672, 80) / 8,
        "83": held + kept(8192, 28672, 80) / 4,
        "3.0": bubble(2, 32),
        "20": bubble(2, 4),
        "94": wide,
        "17": 100 * wide / 450 / micro,
        "40": narrow,
        "0.09": narrow / 450,
        "7": 100 * narrow / 450 / micro,
        "33.9": dp,
        "0.68": dp / 50,
        "39": 32 * micro,
        "1.7": 100 * dp / 50 / (32 * micro),
        " 14": 100 * many / 50 / (4 * micro),
    }


def four_hundred() -> dict[str, float]:
    # FlashAttention keeps a number in fp32 for each of 128 heads besides.
    first = kept(16384, 53248, 126) + 128 * 4 * 8192 * 126 / 1e9
    inputs = work("activations_bytes_per_layer", hidden=16384, heads=128, seq=8192, tp=8, sp=True,
                  recompute="full", dropout=False)  # fmt: skip
    return {
        "6.48": states(405e9) / 1000,
        "202": 4 * 405 / 8,
        "55.4": states(405e9, tp=8, pp=4, dp=32, zero=1),
        "30.1": states(405e9, tp=8, pp=8, dp=16, zero=1),
        "17.4": states(405e9, tp=8, pp=16, dp=8, zero=1),
        "537": first,
        "67": first / 8,
        "84.6": first / 8 + states(405e9, tp=8, pp=16, dp=8, zero=1),
        "4.2": 126 * inputs / 1e9,
        "5.5": bubble(16, 256),
        "5.2": bubble(8, 128),
        "48.4": bubble(16, 16),
    }


def eightfold() -> dict[str, float]:
    return {
        "4.6": (128 + 15) / (16 + 15),
        "10.5": bubble(16, 128),
        "19.0": bubble(16, 16, schedule="interleaved", virtual=4),
        "48.4": bubble(16, 16),
        "49.2": bubble(32, 32),
        "65.2": bubble(16, 8),
    }


def longer() -> dict[str, float]:
    core = 6 * 126 * 16384  # FLOPs of causal attention per token of context, forward and backward
    return {
        "4": 100 * core * 8192 / (6 * 405e9 + core * 8192),
        "40": 100 * core * 131072 / (6 * 405e9 + core * 131072),
    }


def experts() -> dict[str, float]:
    whole = 58 * 256 * 3 * 7168 * 2048
    sent = work("moe_dispatch_bytes", experts=256, topk=8, hidden=7168, tokens=4096, ep=64)
    tp = work("traffic_tp_bytes", params=1, layers=1, seq=4096, hidden=7168, tp=8)
    return {
        "654": whole / 1e9,
        "40.9": whole / 16e9,
        "82": 2 * whole / 16e9,
        "0.64": whole / 1024e9,
        "1.7": whole / 1024e9 + 17 / 16,
        "462": sent / 1e6,
        "1.85": 4 * sent / 1e9,
        "0.41": tp / 1e9,
        "3.3": 8 * tp / 1e9,
    }


CASES = {
    "seventy-on-sixty-four": seventy,
    "eight-times-slower": slower,
    "seventy-on-256": on_256,
    "four-hundred-billion": four_hundred,
    "scaled-eightfold": eightfold,
    "context-to-128k": longer,
    "experts-without-tp": experts,
}


@pytest.mark.parametrize("name", CASES)
def test_a_case_says_what_the_calculators_work_out(name: str) -> None:
    text = (HYBRID / f"{name}.yaml").read_text(encoding="utf-8")
    for said, found in CASES[name]().items():
        number = said.strip()
        digits = len(number.partition(".")[2])
        assert round(found, digits) == float(number), (number, found)
        # In both languages, so twice at least.
        assert len(re.findall(rf"(?<![\d.]){re.escape(number)}(?![\d])", text)) >= 2, number
