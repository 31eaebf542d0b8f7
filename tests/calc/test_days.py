"""Megatron-LM's training times."""

from typing import Any

import pytest

from quizkit.calc.sheet import CalcError
from quizkit.calc.sheets import find, sheet

# Narayanan et al., Megatron-LM, SC 2021, section 5.1, by eq. 4: 8 T P / (n X).
GPT_3 = {"params": 175e9, "tokens": 300e9, "gpus": 1024, "achieved": 140e12, "recompute": "full"}
TRILLION = {
    "params": 1.008e12,
    "tokens": 450e9,
    "gpus": 3072,
    "achieved": 163e12,
    "recompute": "full",
}


def days(**inputs) -> Any:
    return sheet("days").work(inputs).figures["days"]


def test_megatrons_training_times():
    assert round(days(**GPT_3)) == 34
    # 84 with table 1's 1008 B parameters; a round 1e12 would be 83.
    assert round(days(**TRILLION)) == 84


def test_without_recomputation_it_is_three_quarters():
    assert days(**{**GPT_3, "recompute": "none"}) == pytest.approx(days(**GPT_3) * 3 / 4)


def test_sizes_instead_of_parameters():
    # GPT-3 by its sizes: attention adds 2.8 % over 6N of the same matrices.
    sizes = {"layers": 96, "hidden": 12288, "heads": 96, "seq": 2048, "vocab": 51_200}
    run = {name: GPT_3[name] for name in ("tokens", "gpus", "achieved")}
    per_token: Any = sheet("flops").work(sizes).figures["flops_per_token"]
    assert days(**sizes, **run) == pytest.approx(per_token * 300e9 / (1024 * 140e12) / 86_400)


def test_a_model_that_is_not_said_is_refused():
    with pytest.raises(CalcError, match="--layers, --hidden, --seq, --vocab"):
        days(tokens=1e9, gpus=1, achieved=1e12)


def test_questions_call_it_by_name():
    assert find("days")(**GPT_3) == days(**GPT_3)  # pyright: ignore[reportOptionalCall]
