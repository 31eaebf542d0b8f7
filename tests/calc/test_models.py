"""Models by name: their parameters are the published ones, and a config.json says the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from quizkit.calc.models import MODELS, Model, model, names
from quizkit.errors import UsageError

# What safetensors of the published weights add up to, to the last one.
EXACT = {
    "gpt-2-xl": 1_557_611_200,
    "llama-2-7b": 6_738_415_616,
    "llama-2-70b": 68_976_648_192,
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3-405b": 405_853_388_800,
    "mistral-7b": 7_241_732_096,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-8b": 8_190_735_360,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    "mixtral-8x7b": 46_702_792_704,
}
# Billions as papers give them, total and active; half a unit of the last digit is allowed.
ROUNDED = {
    "gpt-3-175b": (175, 175),
    "mixtral-8x7b": (46.7, 12.9),
    "mixtral-8x22b": (141, 39),
    "deepseek-v2": (236, 21),
    "deepseek-v3": (671, 37),
    "qwen3-30b-a3b": (30.5, 3.3),
    "qwen3-235b-a22b": (235, 22),
}
# DeepSeek leaves a table out of what is active; Qwen writes 3.3 of 3.35.
LOOSE = {"deepseek-v3": 1.0, "qwen3-30b-a3b": 0.06}
# Weights as published that hold an offset for each expert and layer too, which no gradient trains.
WITH_OFFSETS = {"deepseek-v3": 671_026_419_200, "kimi-k2": 1_026_408_232_448}


@pytest.mark.parametrize("name", EXACT)
def test_parameters_are_those_of_the_published_weights(name: str):
    assert model(name).params == EXACT[name]


@pytest.mark.parametrize("name", WITH_OFFSETS)
def test_routers_offsets_are_all_that_is_left_out(name: str):
    found = model(name)
    assert found.params + found.moe_layers * found.experts == WITH_OFFSETS[name]


@pytest.mark.parametrize("name", ROUNDED)
def test_total_and_active_are_what_the_papers_say(name: str):
    found, (total, active) = model(name), ROUNDED[name]
    half = 0.05 if total != int(total) else 0.5
    assert found.params / 1e9 == pytest.approx(total, abs=half)
    assert found.active_params / 1e9 == pytest.approx(active, abs=LOOSE.get(name, half))


def test_deepseeks_own_count_leaves_the_looked_up_table_out():
    """Its weights' notes say 36.7B, and 671B of which the second-token module is no part."""
    found = model("deepseek-v3")
    table = found.vocab * found.hidden
    assert (found.active_params - table) / 1e9 == pytest.approx(36.7, abs=0.1)


@pytest.mark.parametrize("each", MODELS, ids=lambda each: each.name)
def test_what_is_multiplied_is_a_sum_of_products(each: Model):
    """Counted again from the shapes of each product a token goes through."""
    if each.latent:
        query = each.heads * (each.head_dim + each.rope_dim)
        attention = each.hidden * each.query_latent + each.query_latent * query
        attention += each.hidden * (each.latent + each.rope_dim)
        attention += each.latent * each.heads * (each.head_dim + each.value_dim)
        attention += each.heads * each.value_dim * each.hidden
    else:
        attention = each.hidden * each.head_dim * (2 * each.heads + 2 * each.kv_heads)
    products = 3 if each.gated else 2
    wide = each.topk + each.shared_experts
    sparse = products * each.hidden * each.expert_ffn * wide + each.hidden * each.experts
    dense = products * each.hidden * each.ffn
    many = each.layers - each.dense_layers if each.experts else 0
    expected = each.layers * attention + many * sparse + (each.layers - many) * dense
    assert each.multiplied_params == expected + each.hidden * each.vocab
    assert each.multiplied_params < each.active_params <= each.params


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Llama-3-70B", "llama-3-70b"),
        ("llama3 70b", "llama-3-70b"),
        ("meta-llama/Llama-3.1-405B-Instruct", "llama-3-405b"),
        ("meta-llama/Meta-Llama-3-8B", "llama-3-8b"),
        ("GPT3", "gpt-3-175b"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"),
        ("deepseek-ai/DeepSeek-V3-Base", "deepseek-v3"),
        ("Qwen/Qwen2.5-72B-Instruct", "qwen2.5-72b"),
        ("qwen3_235b", "qwen3-235b-a22b"),
    ],
)
def test_a_name_is_found_however_it_is_spelt(written: str, name: str):
    assert model(written).name == name


@pytest.mark.parametrize(
    ("written", "hint"), [("llama-3-80b", "llama-3-8"), ("lama3-70b", "llama-3-70b"), ("", "gpt-3")]
)
def test_an_unknown_name_is_refused_with_the_nearest(written: str, hint: str):
    with pytest.raises(UsageError, match=r"config\.json") as error:
        model(written or "?")
    assert hint in str(error.value)


def test_every_model_is_its_own_and_says_where_from():
    assert len(set(names())) == len(MODELS) == len({model(name).params for name in names()})
    assert all(each.source and each.kv_heads <= each.heads for each in MODELS)


def config(each: Model) -> dict[str, Any]:
    """A config.json as Hugging Face has it, for one of the models."""
    common: dict[str, Any] = {
        "num_hidden_layers": each.layers,
        "hidden_size": each.hidden,
        "num_attention_heads": each.heads,
        "num_key_value_heads": each.kv_heads,
        "intermediate_size": each.ffn or each.expert_ffn,
        "vocab_size": each.vocab,
        "tie_word_embeddings": each.tied,
    }
    if each.layernorm:
        return {
            "model_type": "gpt2", "n_layer": each.layers, "n_embd": each.hidden,
            "n_head": each.heads, "n_positions": each.positions, "vocab_size": each.vocab,
        }  # fmt: skip
    if each.latent:
        return common | {
            "model_type": "deepseek_v3", "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
            "v_head_dim": 128, "kv_lora_rank": 512, "q_lora_rank": 1536,
            "n_routed_experts": each.experts, "num_experts_per_tok": each.topk,
            "moe_intermediate_size": each.expert_ffn, "n_shared_experts": each.shared_experts,
            "first_k_dense_replace": each.dense_layers, "moe_layer_freq": 1,
        }  # fmt: skip
    if each.name.startswith("mixtral"):
        more = {"num_local_experts": each.experts, "num_experts_per_tok": each.topk}
        return common | {"model_type": "mixtral", "head_dim": None, **more}
    if each.experts:
        return common | {
            "model_type": "qwen3_moe", "head_dim": each.head_dim, "num_experts": each.experts,
            "num_experts_per_tok": each.topk, "moe_intermediate_size": each.expert_ffn,
            "mlp_only_layers": [], "decoder_sparse_step": 1, "attention_bias": False,
        }  # fmt: skip
    kind = {"qwen2.5": "qwen2", "qwen3-8": "qwen3"}.get(each.name[:7], "llama")
    return common | {"model_type": kind}


@pytest.mark.parametrize("each", MODELS, ids=lambda each: each.name)
def test_a_config_file_says_the_same_as_the_name(each: Model, tmp_path: Path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config(each)))
    for found in (model(str(file)), model(str(tmp_path))):
        assert (found.params, found.active_params) == (each.params, each.active_params)
        assert found.multiplied_params == each.multiplied_params
        assert found.score_dim == each.score_dim
        assert found.source == str(file)


LLAMA = config(model("llama-3-8b"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (json.dumps({**LLAMA, "model_type": "mamba"}), "model_type is mamba; read here are: gpt2"),
        (json.dumps({"hidden_size": 8}), "model_type is -"),
        (json.dumps({**LLAMA, "hidden_size": None}), "hidden_size is None"),
        (json.dumps({**LLAMA, "vocab_size": 0}), "vocab_size is 0"),
        (json.dumps({**LLAMA, "vocab_size": "many"}), "vocab_size is many"),
        (json.dumps({**LLAMA, "tie_word_embeddings": 1}), "tie_word_embeddings is 1"),
        (json.dumps({**LLAMA, "attention_bias": True}), "attention_bias is True"),
    ],
)
def test_a_config_that_cannot_be_counted_is_refused(text: str, says: str, tmp_path: Path):
    file = tmp_path / "model.json"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        model(str(file))
    assert says in str(error.value)
    assert str(file) in str(error.value)


def test_a_file_that_is_not_there_is_said():
    with pytest.raises(UsageError, match="No such file"):
        model("no/such/config.json")
