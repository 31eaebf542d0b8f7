"""The key-value cache: bytes a token, bytes a batch, how fast decoding can be and how much fits."""

from collections.abc import Mapping

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap

HEADS = "Ainslie et al., GQA, EMNLP 2023, section 2.2"
LATENT = "DeepSeek-V2 (arXiv:2405.04434), table 1"
DECODE = "Pope et al., Efficiently Scaling Transformer Inference, MLSys 2023, section 2"
BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "fp8": 1, "int8": 1, "int4": 0.5}


@figure("elements", f"{HEADS} (K and V of every KV head); {LATENT} (latent and rope key)")
def elements_per_layer(kv_heads: int, head_dim: int, latent_dim: int, rope_dim: int) -> int:
    """What one layer caches for one token. MHA has as many KV heads as heads, MQA has one."""
    return latent_dim + rope_dim if latent_dim else 2 * kv_heads * head_dim


@figure("bytes", f"{LATENT}: times layers and bytes an element")
def bytes_per_token(layers: int, elements_per_layer: int, dtype: str) -> float:
    """What one token adds to the cache; a quantized cache's scales are left out."""
    return layers * elements_per_layer * BYTES[dtype]


@figure("bytes", f"{DECODE}.1")
def bytes(bytes_per_token: float, seq: int, batch: int) -> float:
    """The whole cache of a batch, every sequence `seq` tokens long."""
    return bytes_per_token * seq * batch


@figure("times", f"{HEADS}: a group of heads shares one KV head")
def smaller_than_mha(heads: int, head_dim: int, elements_per_layer: int) -> float:
    """How many times smaller than the cache of as many KV heads as heads."""
    return 2 * heads * head_dim / elements_per_layer


@figure("bytes", f"{DECODE}.1")
def weights_bytes(params: float, weight_dtype: str) -> float:
    """The weights that a decode step reads; of a mixture of experts, give those it touches."""
    return params * BYTES[weight_dtype]


@figure("s", f"{DECODE}: weights and cache are each read once a step")
def decode_seconds(weights_bytes: float, bytes: float, bandwidth: float) -> float:
    """The least a decode step can take: one token for each sequence of the batch."""
    return (weights_bytes + bytes) / bandwidth


@figure("tokens/s", f"{DECODE}")
def decode_tokens_per_second(batch: int, decode_seconds: float) -> float:
    """The most tokens a second that memory allows, all sequences together."""
    return batch / decode_seconds


@figure("sequences", f"{DECODE}.1")
def max_batch(memory: float, weights_bytes: float, bytes_per_token: float, seq: int) -> int:
    """How many sequences of `seq` tokens fit beside the weights and nothing else."""
    return max(0, int((memory - weights_bytes) // (bytes_per_token * seq)))


def _one_kind(inputs: Mapping[str, Value | None]) -> None:
    latent, heads = bool(inputs["latent_dim"]), bool(inputs["kv_heads"])
    # --head-dim may stand beside a latent cache: it is then compared with that of MHA.
    if latent == heads or (heads and not inputs["head_dim"]):
        raise CalcError("calc_kv_kind")


def _groups(inputs: Mapping[str, Value | None]) -> None:
    heads, kv_heads = inputs["heads"], inputs["kv_heads"]
    if isinstance(heads, int) and isinstance(kv_heads, int) and kv_heads and heads % kv_heads:
        raise CalcError("calc_kv_groups", heads=heads, kv_heads=kv_heads)


SHEET = Calculator(
    "kv",
    inputs=[
        Input("layers", required=True, of_model=lambda m: m.layers),
        # Nought heads: the cache is latent (MLA); nought latent: the cache is of heads.
        Input("kv_heads", default=0, least=0, of_model=lambda m: 0 if m.latent else m.kv_heads),
        Input("head_dim", default=0, least=0, of_model=lambda m: m.head_dim),
        Input("latent_dim", default=0, least=0, of_model=lambda m: m.latent),
        Input("rope_dim", default=64, least=0, of_model=lambda m: m.rope_dim if m.latent else None),
        Input("seq", required=True),
        Input("batch", default=1),
        Input("dtype", "choice", "bf16", tuple(BYTES)),
        Input("heads", of_model=lambda m: m.heads),
        # Of a mixture of experts a step reads some: which number is meant has to be said.
        Input("params", of_model=lambda m: None if m.experts else m.params),
        Input("weight_dtype", "choice", "bf16", tuple(BYTES)),
        Input("bandwidth", "rate", of_chip=lambda c: c.hbm),
        Input("memory", "size", of_chip=lambda c: c.memory),
    ],
    figures=[
        elements_per_layer,
        bytes_per_token,
        bytes,
        smaller_than_mha,
        weights_bytes,
        decode_seconds,
        decode_tokens_per_second,
        max_batch,
    ],
    rules=[_one_kind, _groups],
    quiz=Quiz(
        "bytes",
        "GB",
        draws={
            "layers": (32, 80),
            "heads": (32, 64),
            "kv_heads": (4, 8),
            "head_dim": (128,),
            "seq": (4096, 8192, 32768),
            "batch": (8, 16, 32),
        },
        traps=(
            SumTrap("2 * layers * heads * head_dim * seq * batch * 2", "kv_all_heads"),
            # One factor of two too few, whichever: the number alone cannot tell which.
            SumTrap("2 * layers * kv_heads * head_dim * seq * batch", "kv_half"),
        ),
        scale=1e9,
    ),
)
