"""Read a model's sizes from its Hugging Face config.json."""

from collections.abc import Mapping
from json import JSONDecodeError, loads
from pathlib import Path
from typing import Any, cast

from quizkit.calc.models import Model
from quizkit.errors import UsageError

_EXPERTS = {"mixtral": "num_local_experts", "qwen3_moe": "num_experts"}
_LATENT = ("deepseek_v2", "deepseek_v3", "kimi_k2")
TYPES = ("gpt2", "llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", *_LATENT)
# What would add parameters that are not counted here, or take experts out of layers.
_PLAIN: Mapping[str, object] = {
    "attention_bias": False,
    "mlp_bias": False,
    "moe_layer_freq": 1,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "n_inner": None,
}


def read(file: Path) -> Model:
    """The model that a config.json, or a folder with one, describes. Raises UsageError."""
    file = file / "config.json" if file.is_dir() else file
    try:
        found: object = loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise UsageError("model_file", file=file, reason=reason) from error
    except (JSONDecodeError, RecursionError) as error:
        raise UsageError("model_file", file=file, reason=f"not JSON ({error})") from error
    if not isinstance(found, dict):
        raise UsageError("model_file", file=file, reason="not a JSON object")
    return _Config(file, cast("dict[str, Any]", found)).model()


class _Config:
    """A config with the names of its file for messages."""

    def __init__(self, file: Path, values: Mapping[str, Any]) -> None:
        self._file = file
        self._values = values

    def model(self) -> Model:
        kind = self._values.get("model_type")
        if kind not in TYPES:
            raise UsageError(
                "model_type", file=self._file, given=kind or "-", known=", ".join(TYPES)
            )
        for key, plain in _PLAIN.items():
            value = self._values.get(key, plain)
            if value != plain:
                raise UsageError("model_special", file=self._file, name=key, given=value)
        if kind == "gpt2":
            return self._gpt()
        return self._latent(kind) if kind in _LATENT else self._heads(kind)

    def _gpt(self) -> Model:
        hidden, heads = self._size("n_embd"), self._size("n_head")
        return self._made(
            (self._size("n_layer"), hidden, heads, heads, hidden // heads, 4 * hidden),
            gated=False,
            tied=self._flag("tie_word_embeddings", True),
            experts=(0, 0, 0, 0, 0),
            layernorm=True,
            positions=self._size("n_positions"),
        )

    def _heads(self, kind: str) -> Model:
        hidden, heads = self._size("hidden_size"), self._size("num_attention_heads")
        experts, ffn = (0, 0, 0, 0, 0), self._size("intermediate_size")
        if kind in _EXPERTS:
            width = ffn if kind == "mixtral" else self._size("moe_intermediate_size")
            many, topk = self._size(_EXPERTS[kind]), self._size("num_experts_per_tok")
            experts, ffn = (many, topk, width, 0, 0), 0
        return self._made(
            (
                self._size("num_hidden_layers"),
                hidden,
                heads,
                self._size("num_key_value_heads", heads),
                self._size("head_dim", hidden // heads),
                ffn,
            ),
            gated=True,
            tied=self._flag("tie_word_embeddings", False),
            experts=experts,
            qkv_bias=kind == "qwen2",
            qk_norm=kind.startswith("qwen3"),
        )

    def _latent(self, kind: str) -> Model:
        heads = self._size("num_attention_heads")
        return self._made(
            (
                self._size("num_hidden_layers"),
                self._size("hidden_size"),
                heads,
                heads,
                self._size("qk_nope_head_dim"),
                self._size("intermediate_size"),
            ),
            gated=True,
            tied=self._flag("tie_word_embeddings", False),
            experts=(
                self._size("n_routed_experts"),
                self._size("num_experts_per_tok"),
                self._size("moe_intermediate_size"),
                self._size("n_shared_experts", 0),
                self._size("first_k_dense_replace", 0),
            ),
            latent=self._size("kv_lora_rank"),
            query_latent=self._size("q_lora_rank", 0),
            rope_dim=self._size("qk_rope_head_dim"),
            value_dim=self._size("v_head_dim"),
        )

    def _made(
        self,
        sizes: tuple[int, int, int, int, int, int],
        *,
        gated: bool,
        tied: bool,
        experts: tuple[int, int, int, int, int],
        **more: Any,
    ) -> Model:
        name = str(self._values.get("_name_or_path") or self._file.resolve().parent.name)
        vocab = self._size("vocab_size")
        return Model(name, *sizes, gated, vocab, tied, *experts, str(self._file), **more)

    def _size(self, key: str, default: int | None = None) -> int:
        """A whole number above 0; one that is left out, or null, is the default if there is one."""
        value = self._values.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < (default != 0):
            raise UsageError("model_key", file=self._file, name=key, given=value)
        return value

    def _flag(self, key: str, default: bool) -> bool:
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise UsageError("model_key", file=self._file, name=key, given=value)
        return value
