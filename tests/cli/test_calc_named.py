"""A model's name or a GPU's stands for their numbers; what is said beside it wins."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quizkit.calc.chips import chip
from quizkit.calc.models import model
from quizkit.cli.app import app
from quizkit.errors import UsageError


def data(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["calc", *words, "--json"])
    assert (done.exit_code, done.stderr) == (0, ""), done.exception
    return json.loads(done.stdout)


def refusal(*words: str) -> str:
    done = CliRunner().invoke(app, ["calc", *words])
    assert isinstance(done.exception, UsageError), done.stdout
    return str(done.exception)


def test_a_model_fills_in_what_is_not_said():
    found = data("memory", "--model", "llama-3-70b", "--dp", "64", "--zero", "3")
    assert found["inputs"]["params"] == 70_553_706_496
    assert found["filled"] == {"params": "llama-3-70b"}
    assert found["given"] == ["dp", "zero"]
    assert "Llama 3" in found["filled_from"]["llama-3-70b"]
    said = data("memory", "--model", "llama-3-70b", "--params", "7B")
    assert said["inputs"]["params"] == 7 * 10**9
    assert said["filled"] == said["filled_from"] == {}


@pytest.mark.parametrize(
    "words",
    [
        "memory",
        "activations --seq 4096",
        "traffic --tp 8 --seq 4096",
        "flops --seq 4096",
        "mfu --tokens-per-second 1e5 --gpus 64 --peak h100",
        "days --tokens 1T --gpus 64 --achieved 400e12",
        "kv --seq 4096",
    ],
)
def test_every_calculator_that_takes_sizes_takes_a_model(words: str):
    name, *rest = words.split()
    found = data(name, "--model", "llama-3-8b", *rest)
    llama = model("llama-3-8b")
    for size in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "gated"):
        if size in found["inputs"]:
            assert found["inputs"][size] == getattr(llama, size), size
            assert found["filled"][size] == "llama-3-8b"


def test_the_sheet_of_flops_counts_the_models_own_parameters():
    for name in ("llama-3-8b", "llama-3-405b", "mistral-7b"):
        assert data("flops", "--model", name, "--seq", "4096")["params"] == model(name).params
    gpt = data("flops", "--model", "gpt-3-175b", "--seq", "2048")
    assert gpt["params"] == model("gpt-3-175b").params


def test_a_model_with_experts_is_sent_where_experts_are_counted():
    for name in ("flops", "activations"):
        said = refusal(name, "--model", "mixtral", "--seq", "4096")
        assert "quizkit calc moe --model mixtral-8x7b" in said


def test_a_step_of_a_model_with_experts_reads_some_of_them_so_params_is_left_open():
    assert data("kv", "--model", "mixtral", "--seq", "4096")["inputs"]["params"] is None
    assert data("kv", "--model", "llama-3-8b", "--seq", "4096")["inputs"]["params"]


def test_a_latent_cache_is_filled_in_as_one():
    found = data("kv", "--model", "deepseek-v3", "--seq", "1")
    assert found["bytes_per_token"] == 61 * (512 + 64) * 2


def test_what_a_token_is_multiplied_by_is_what_mfu_counts():
    found = data(
        "mfu", "--model", "deepseek-v3", "--tokens-per-second", "1e6", "--gpus", "2048",
        "--gpu", "h800",
    )  # fmt: skip
    assert found["model_flops_per_token"] == 6 * model("deepseek-v3").multiplied_params
    assert found["inputs"]["peak"] == chip("h800").flops
    assert found["filled"]["peak"] == "H800"


@pytest.mark.parametrize("words", [("--gpu", "h100"), ("--fit", "h100"), ("--fit=H100",)])
def test_a_gpu_is_named_for_all_it_says_or_for_one_number(words: tuple[str, ...]):
    found = data("memory", "--dp", "8", *words)
    assert found["inputs"]["fit"] == 80 * 10**9
    assert found["filled"] == {"fit": "H100"}
    assert found["given"] == (["dp"] if words[0] == "--gpu" else ["dp", "fit"])
    assert "datasheet" in found["filled_from"]["H100"]


def test_one_number_beside_a_gpu_wins():
    found = data("traffic", "--params", "7B", "--dp", "8", "--gpu", "h100", "--inter", "25GB/s")
    assert found["inputs"]["intra"] == chip("h100").inside
    assert found["inputs"]["inter"] == 25e9
    assert found["filled"] == {"intra": "H100", "node": "H100"}
    twice = data("memory", "--dp", "8", "--gpu", "h100", "--fit", "b200", "--fit", "1GB")
    assert (twice["inputs"]["fit"], twice["filled"]) == (10**9, {})


def test_days_by_mfu_are_those_by_what_is_achieved():
    common = ("days", "--params", "70B", "--tokens", "1T", "--gpus", "1024", "--recompute", "full")
    by_mfu = data(*common, "--gpu", "h100", "--mfu", "30%")
    said = data(*common, "--achieved", str(0.3 * 989e12 * 8 / 6))
    assert by_mfu["days"] == pytest.approx(said["days"])
    assert by_mfu["days"] == pytest.approx(6 * 70e9 * 1e12 / (1024 * 0.3 * 989e12) / 86400)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["memory", "--model", "lama-3-70b"], "Try: llama-3-70b; or give the path"),
        (["memory", "--model", "no.json"], "no.json: No such file"),
        (["memory", "--fit", "h10"], "There is no accelerator h10 here. Try: H100"),
        (["mfu", "--gpu", "tpu"], "There is no accelerator tpu"),
        (["allreduce", "--model", "gpt3"], "calc allreduce takes nothing from --model"),
        (["activations", "--gpu", "h100"], "calc activations takes nothing from --gpu"),
        (["kv", "--quiz", "--model", "gpt3"], "does not go into --model"),
        (["--check", "--model", "gpt3"], "takes nothing more (gpt3)"),
        (["days", "--params", "7B", "--tokens", "1T", "--gpus", "8"], "or --mfu with --peak"),
        (["days", "--params", "7B", "--tokens", "1T", "--gpus", "8", "--mfu", "40"], "above 1"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(words: list[str], said: str):
    assert said in refusal(*words)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_screen_says_whose_numbers_they_are(lang: str, width: int):
    words = ["calc", "mfu", "--model", "llama-3-8b", "--gpu", "h100", "--gpus", "8"]
    words += ["--tokens-per-second", "1e5", "--lang", lang]
    done = CliRunner().invoke(app, words, env={"COLUMNS": str(width)})
    flat = "".join(done.stdout.split())
    assert ("llama-3-8b：Llama" if lang == "zh" else "llama-3-8b:Llama") in flat
    assert ("（H100）" if lang == "zh" else "(H100)") in flat


def test_a_config_file_is_a_model(tmp_path: Path):
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps(
            {
                "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
                "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100,
            }
        )
    )  # fmt: skip
    found = data("memory", "--model", str(file))
    assert found["inputs"]["params"] == 2 * (4 * 64**2 + 3 * 64 * 96 + 2 * 64) + 200 * 64 + 64
    assert found["filled_from"] == {tmp_path.name: str(file)}
