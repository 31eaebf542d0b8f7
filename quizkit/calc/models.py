"""Language models by name: the sizes their configs publish, and the parameters those come to.

A name is found whatever its capitals, dashes and dots. A path to a config.json is read.
"""

from dataclasses import dataclass
from pathlib import Path

from quizkit.errors import UsageError
from quizkit.near import nearest


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder's sizes; 0 where it has no such thing.

    Of its layers the last `layers - dense_layers` have experts, if any have. `head_dim` is the size
    of a query's head without its rotary part where that lies apart (MLA: `latent` above 0).
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    gated: bool
    vocab: int
    tied: bool
    experts: int
    topk: int
    expert_ffn: int
    shared_experts: int
    dense_layers: int
    source: str
    layernorm: bool = False
    """LayerNorm, and a bias on every product but the logits (GPT); else RMSNorm, no biases."""
    positions: int = 0
    """Rows of a learned table of positions; 0: rotary, which has no parameters."""
    qkv_bias: bool = False
    qk_norm: bool = False
    """An RMSNorm of `head_dim` on queries, and one on keys."""
    latent: int = 0
    query_latent: int = 0
    rope_dim: int = 0
    value_dim: int = 0

    @property
    def params(self) -> int:
        """Every weight once: both tables if untied, norms, biases, routers.

        Left out: what is no part of the decoder (DeepSeek-V3's module for a second token, 11.5e9)
        and what no gradient trains (its routers' load-balancing offsets, one number an expert).
        """
        tables = (1 if self.tied else 2) * self.vocab * self.hidden + self.positions * self.hidden
        layers = self.layers * (self.attention_params + 2 * self.norm_params)
        dense = (self.layers - self.moe_layers) * self._mlp(self.ffn)
        outside = self.moe_layers * self.shared_params
        return tables + layers + dense + outside + self.expert_params + self.norm_params

    @property
    def active_params(self) -> int:
        """Those a token meets: all but the experts it is not sent to; both tables count."""
        idle = self.experts - self.topk
        return self.params - self.moe_layers * idle * self._mlp(self.expert_ffn)

    @property
    def multiplied_params(self) -> int:
        """Of them, those in matrix products: tables that are looked up, norms and biases are not.

        6 FLOPs each for a token forward and backward; attention's scores come on top.
        """
        vectors = self.layers * (self._attention_vectors + 2 * self.norm_params) + self.norm_params
        if self.layernorm:
            vectors += self.layers * (self.ffn + self.hidden)
        looked_up = (0 if self.tied else self.vocab * self.hidden) + self.positions * self.hidden
        return self.active_params - vectors - looked_up

    @property
    def expert_params(self) -> int:
        """All routed experts of all layers; shared experts and routers are not among them."""
        return self.moe_layers * self.experts * self._mlp(self.expert_ffn)

    @property
    def shared_params(self) -> int:
        """What every token meets in one layer of experts: its router, and shared experts."""
        return self.hidden * self.experts + self.shared_experts * self._mlp(self.expert_ffn)

    @property
    def moe_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def score_dim(self) -> int:
        """A head's size in attention's two products, their mean where they differ (MLA)."""
        if not self.latent:
            return self.head_dim
        return (self.head_dim + self.rope_dim + self.value_dim) // 2

    @property
    def attention_params(self) -> int:
        """One layer's projections, with their biases and norms."""
        return self._attention_matrices + self._attention_vectors

    @property
    def norm_params(self) -> int:
        """One norm over the hidden size; a LayerNorm has a bias too."""
        return (2 if self.layernorm else 1) * self.hidden

    @property
    def _attention_matrices(self) -> int:
        if not self.latent:
            return 2 * self.hidden * self.head_dim * (self.heads + self.kv_heads)
        query = self.heads * (self.head_dim + self.rope_dim)
        queries = (self.hidden + query) * self.query_latent or self.hidden * query
        down = self.hidden * (self.latent + self.rope_dim)
        up = self.latent * self.heads * (self.head_dim + self.value_dim)
        return queries + down + up + self.heads * self.value_dim * self.hidden

    @property
    def _attention_vectors(self) -> int:
        if self.latent:
            return self.query_latent + self.latent  # a norm on each
        width = (self.heads + 2 * self.kv_heads) * self.head_dim
        biases = (width if self.qkv_bias or self.layernorm else 0) + (
            self.hidden if self.layernorm else 0
        )
        return biases + (2 * self.head_dim if self.qk_norm else 0)

    def _mlp(self, width: int) -> int:
        biases = (2 if self.gated else 1) * width + self.hidden if self.layernorm else 0
        return (3 if self.gated else 2) * self.hidden * width + biases


def model(name_or_path: str) -> Model:
    """The model of that name, or of the config.json there. Raises UsageError with the nearest."""
    path = Path(name_or_path).expanduser()
    if path.exists() or path.suffix == ".json":
        from quizkit.calc.model_file import read

        return read(path)
    if _plain(name_or_path) in _BY_NAME:
        return _BY_NAME[_plain(name_or_path)]
    raise UsageError("model_unknown", name=name_or_path, hint=_near(name_or_path))


def names() -> list[str]:
    """The names that `model` knows, as they are written."""
    return [each.name for each in MODELS]


def _plain(name: str) -> str:
    """A name without what people write differently: Llama-3.1 70B, meta-llama/Llama-3-70B-Instruct.

    Llama 3 and 3.1 have the same sizes, and so have a model and what was tuned from it.
    """
    last = name.rstrip("/").rpartition("/")[2].casefold()
    kept = "".join(letter for letter in last if letter.isalnum()).removeprefix("meta")
    for ending in ("v01", "instruct", "base"):
        kept = kept.removesuffix(ending)
    return kept.replace("llama31", "llama3")


def _near(name: str) -> str:
    by_plain = {_plain(each): each for each in names()}
    near = nearest(_plain(name), by_plain)
    return by_plain.get(near) or ", ".join(names())


def _dense(
    name: str,
    layers: int,
    hidden: int,
    heads: tuple[int, int, int],
    ffn: int,
    vocab: int,
    source: str,
    *,
    qkv_bias: bool = False,
    qk_norm: bool = False,
) -> Model:
    """A gated decoder with RMSNorm and two tables; `heads` are queries', K/V's and their size."""
    return Model(
        name, layers, hidden, *heads, ffn, True, vocab, False, 0, 0, 0, 0, 0, source,
        qkv_bias=qkv_bias, qk_norm=qk_norm,
    )  # fmt: skip


def _sparse(
    name: str,
    layers: int,
    hidden: int,
    heads: tuple[int, int, int],
    experts: tuple[int, int, int],
    vocab: int,
    source: str,
    *,
    qk_norm: bool = False,
) -> Model:
    """The same with experts in every layer: how many, how many a token takes, and their width."""
    return Model(
        name, layers, hidden, *heads, 0, True, vocab, False, *experts, 0, 0, source,
        qk_norm=qk_norm,
    )  # fmt: skip


def _latent(
    name: str,
    layers: int,
    hidden: int,
    heads: int,
    ffn: int,
    experts: tuple[int, int, int, int, int],
    vocab: int,
    source: str,
) -> Model:
    """DeepSeek's: MLA with its published widths; `experts` end in shared ones and dense layers."""
    return Model(
        name, layers, hidden, heads, heads, 128, ffn, True, vocab, False, *experts, source,
        latent=512, query_latent=1536, rope_dim=64, value_dim=128,
    )  # fmt: skip


def _gpt(name: str, layers: int, hidden: int, heads: int, positions: int, source: str) -> Model:
    return Model(
        name, layers, hidden, heads, heads, hidden // heads, 4 * hidden, False, 50257, True,
        0, 0, 0, 0, 0, source, layernorm=True, positions=positions,
    )  # fmt: skip


_LLAMA3 = "Llama Team, The Llama 3 Herd of Models, 2024, table 3"
_QWEN3 = "Qwen Team, Qwen3 technical report, 2025, tables 1 and 2; config.json"
_QWEN25 = "Qwen Team, Qwen2.5 technical report, 2024, table 1; config.json"

MODELS = (
    _gpt("gpt-2-xl", 48, 1600, 25, 1024, "Radford et al., GPT-2, 2019, table 2"),
    _gpt("gpt-3-175b", 96, 12288, 96, 2048, "Brown et al., GPT-3, 2020, table 2.1"),
    _dense("llama-2-7b", 32, 4096, (32, 32, 128), 11008, 32000,
           "Touvron et al., Llama 2, 2023; config.json"),
    _dense("llama-2-70b", 80, 8192, (64, 8, 128), 28672, 32000,
           "Touvron et al., Llama 2, 2023; config.json"),
    _dense("llama-3-8b", 32, 4096, (32, 8, 128), 14336, 128256, _LLAMA3),
    _dense("llama-3-70b", 80, 8192, (64, 8, 128), 28672, 128256, _LLAMA3),
    _dense("llama-3-405b", 126, 16384, (128, 8, 128), 53248, 128256, _LLAMA3),
    _dense("mistral-7b", 32, 4096, (32, 8, 128), 14336, 32000,
           "Jiang et al., Mistral 7B, 2023, table 1"),
    _dense("qwen2.5-7b", 28, 3584, (28, 4, 128), 18944, 152064, _QWEN25, qkv_bias=True),
    _dense("qwen2.5-72b", 80, 8192, (64, 8, 128), 29568, 152064, _QWEN25, qkv_bias=True),
    _dense("qwen3-8b", 36, 4096, (32, 8, 128), 12288, 151936, _QWEN3, qk_norm=True),
    _sparse("qwen3-30b-a3b", 48, 2048, (32, 4, 128), (128, 8, 768), 151936, _QWEN3, qk_norm=True),
    _sparse("qwen3-235b-a22b", 94, 4096, (64, 4, 128), (128, 8, 1536), 151936, _QWEN3,
            qk_norm=True),
    _sparse("mixtral-8x7b", 32, 4096, (32, 8, 128), (8, 2, 14336), 32000,
            "Jiang et al., Mixtral of Experts, 2024, table 1"),
    _sparse("mixtral-8x22b", 56, 6144, (48, 8, 128), (8, 2, 16384), 32000,
            "Mistral AI, Mixtral-8x22B-v0.1, 2024, config.json"),
    _latent("deepseek-v2", 60, 5120, 128, 12288, (160, 6, 1536, 2, 1), 102400,
            "DeepSeek-AI, DeepSeek-V2, 2024, section 3.1.2"),
    _latent("deepseek-v3", 61, 7168, 128, 18432, (256, 8, 2048, 1, 3), 129280,
            "DeepSeek-AI, DeepSeek-V3, 2024, section 4.2"),
    _latent("kimi-k2", 61, 7168, 64, 18432, (384, 8, 2048, 1, 1), 163840,
            "Moonshot AI, Kimi-K2-Instruct, 2025, model card and config.json"),
)  # fmt: skip

# What people say for one of them.
_ALSO = {
    "gpt3": "gpt-3-175b",
    "deepseekr1": "deepseek-v3",
    "dsv3": "deepseek-v3",
    "mixtral": "mixtral-8x7b",
    "qwen330b": "qwen3-30b-a3b",
    "qwen3235b": "qwen3-235b-a22b",
}
_BY_NAME = {_plain(each.name): each for each in MODELS} | {
    short: each for short, name in _ALSO.items() for each in MODELS if each.name == name
}
