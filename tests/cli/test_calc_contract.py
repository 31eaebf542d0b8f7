"""Names that programs rely on, each equal to a number worked out here from the papers."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
import started

# ZeRO: 2 + 2 + 12 bytes a parameter; stage 1 divides the 12.
# Korthikanti: sbh(34 + 5as/h), of it 10sbh not divided by t; 1F1B's first stage holds p of L/p.
SBH = 16 * 2 * 64
LAYER = 10 * SBH + (24 * SBH + 5 * 4 * 16 * 16 * 2) // 2
# A ring sends (n-1)/n of a payload for each half of an all-reduce.
PER_GPU = 64_000 // 4
BLOCK = 2 * 1 * 8 * 1 * 16 * 2  # K and V of s/c tokens, one of two K/V heads of 16, bf16
TRAFFIC = {
    "dp_bytes": 0,
    "zero_bytes": 2 * (3 * 2 - 1) * PER_GPU * 2 / 6,
    "tp_bytes": 4 * 2 * 8 * 1 * (16 * 64 * 2 / 2) / 2,
    "pp_bytes": 4 * 1 * (16 * 64 * 2 / 2),
    "cp_bytes": 4 * 2 * 4 * BLOCK,
}
TOKEN = 2 * (72 * 64**2 + 12 * 64 * 16) + 6 * 64 * 100
CONTRACT: list[tuple[str, dict[str, Any]]] = [
    (
        "memory --params 1200 --dp 3 --zero 1",
        {
            "weights_bytes": 2400,
            "gradients_bytes": 2400,
            "optimizer_bytes": 12 * 400,
            "model_states_bytes": 9600,
        },
    ),
    ("memory --fit 80GB --dp 3 --zero 0", {"max_params": 80 * 10**9 // 16}),
    (
        "activations --layers 4 --hidden 64 --heads 4 --seq 16 --batch 2 --tp 2 --pp 2 --no-flash",
        {"bytes_per_layer": LAYER, "fullest_stage_bytes": 4 * LAYER},
    ),
    (
        "pipeline --stages 4 --microbatches 8",
        {
            "makespan": (8 + 3) * 3,
            "bubble_over_ideal": 3 / 8,
            "bubble_share": 3 / 11,
            "busy": [24] * 4,
            "peak_live": [4, 3, 2, 1],
            "messages": 2 * 3 * 8,
        },
    ),
    (
        "traffic --params 64000 --dp 3 --zero 1 --tp 2 --pp 2 --cp 2 --seq 16 --hidden 64"
        " --layers 4 --batch 1 --microbatches 4 --heads 4 --kv-heads 2"
        " --intra 1000B/s --inter 1000B/s",
        TRAFFIC | {"seconds": sum(TRAFFIC.values()) / 1000},
    ),
    (
        "moe --experts 8 --topk 2 --hidden 10 --expert-ffn 6 --tokens 12 --ep 4"
        " --combine-dtype fp32 --capacity-factor 1.5",
        {
            "total_params": 80 + 8 * 180,
            "active_params": 80 + 2 * 180,
            "tokens_per_expert": 12,
            "dispatch_bytes": 24 * 10 * 2 * 0.75,
            "combine_bytes": 24 * 10 * 4 * 0.75,
            "capacity": 5,
        },
    ),
    (
        "allreduce --bytes 800 --ranks 4 --alpha 1s --bandwidth 100B/s",
        {
            "sent_bytes_per_rank": 1200,
            "steps": 6,
            "seconds": 6 + 12,
            "algbw": 800 / 18,
            "busbw": 800 / 18 * 1.5,
        },
    ),
    (
        "flops --layers 2 --hidden 64 --seq 16 --vocab 100 --batch 3",
        {
            # 12h^2 + 13h a layer, (V + s)h, and the last norm's 2h.
            "params": 2 * (12 * 64**2 + 13 * 64) + 116 * 64 + 128,
            "flops_per_token": TOKEN,
            "flops_per_step": TOKEN * 48,
        },
    ),
    (
        "mfu --params 1e9 --tokens-per-second 1e5 --gpus 4 --peak 500e12 --recompute full",
        {"mfu": 6e14 / 2e15, "hfu": 8e14 / 2e15},
    ),
    (
        "days --params 175B --tokens 300B --gpus 1024 --achieved 140e12 --recompute full",
        {"days": 8 * 300e9 * 175e9 / (1024 * 140e12) / 86400},
    ),
    (
        "kv --layers 3 --kv-heads 1 --head-dim 5 --seq 7 --batch 2 --dtype bf16",
        {"bytes_per_token": 2 * 3 * 5 * 2, "bytes": 60 * 14},
    ),
]


@pytest.mark.parametrize(("line", "wanted"), CONTRACT)
def test_the_names_and_their_numbers(tmp_path: Path, line: str, wanted: dict[str, Any]):
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path)}
    done = started.quizkit("calc", *shlex.split(line), "--json", env=env)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value), name
