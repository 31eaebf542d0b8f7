"""FLOPs of a dense transformer, counted as the matrix products that one token goes through."""

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import Calculator, Input, Quiz, SumTrap
from quizkit.calc.transformer import MEGATRON, PALM, heads_divide, sizes

PRODUCTS = MEGATRON + ", eq. 3: a product costs 2mnk, the backward twice the forward"


@figure("count", "Vaswani et al., 2017, section 3.2.2")
def attention_width(hidden: int, heads: int, head_dim: int) -> Value:
    """Width of all queries together: that of the model unless head_dim says otherwise."""
    return heads * head_dim if head_dim else hidden


@figure("count", "Ainslie et al., GQA, 2023, section 2.2")
def kv_width(attention_width: int, heads: int, kv_heads: int) -> Value:
    """Width of all keys together, and again of all values."""
    return attention_width * kv_heads // heads if kv_heads else attention_width


@figure("count", "Vaswani et al., 2017, section 3.3: four times the model's width")
def ffn_width(hidden: int, ffn: int) -> Value:
    """Width inside the MLP."""
    return ffn if ffn > 0 else 4 * hidden


@figure("count", MEGATRON + ", eq. 2 (its 13 l h are the biases and norms)")
def layer_params(
    hidden: int, attention_width: int, kv_width: int, ffn_width: int, gated: bool, norm: str
) -> Value:
    """Parameters of one layer: attention, MLP, and vectors (norms, and biases if there are)."""
    return (
        hidden * (2 * attention_width + 2 * kv_width + (3 if gated else 2) * ffn_width)
        + (
            4 * hidden + attention_width + 2 * kv_width + hidden + (2 if gated else 1) * ffn_width
            + hidden
            if norm == "layer"
            else 2 * hidden
        )
    )  # fmt: skip


@figure("count", MEGATRON + ", eq. 2, and the last norm, which it leaves out")
def params(
    layers: int,
    layer_params: int,
    hidden: int,
    seq: int,
    vocab: int,
    embeddings: str,
    positions: str,
    norm: str,
) -> Value:
    """All parameters: layers, the table of tokens (twice if untied), positions, the last norm."""
    return (
        layers * layer_params
        + (1 if embeddings == "tied" else 2) * vocab * hidden
        + (seq * hidden if positions == "learned" else 0)
        + (2 if norm == "layer" else 1) * hidden
    )


@figure("FLOP", PRODUCTS)
def projection_flops_per_token(
    layers: int, hidden: int, attention_width: int, kv_width: int
) -> Value:
    """Q, K, V and the output projection, forward and backward."""
    return 6 * layers * hidden * (2 * attention_width + 2 * kv_width)


@figure("FLOP", PALM + ": 12 L H Q T; causal counts the half that is not masked")
def attention_flops_per_token(layers: int, attention_width: int, seq: int, causal: bool) -> Value:
    """Scores and their product with the values, forward and backward."""
    return (6 if causal else 12) * layers * attention_width * seq


@figure("FLOP", PRODUCTS + "; three products if gated")
def mlp_flops_per_token(layers: int, hidden: int, ffn_width: int, gated: bool) -> Value:
    """The MLPs, forward and backward."""
    return 6 * layers * hidden * ffn_width * (3 if gated else 2)


@figure("FLOP", PRODUCTS)
def logits_flops_per_token(hidden: int, vocab: int) -> Value:
    """The product with the vocabulary; looking a token up costs none."""
    return 6 * hidden * vocab


@figure("FLOP", PRODUCTS)
def model_flops_per_token(
    projection_flops_per_token: int,
    attention_flops_per_token: int,
    mlp_flops_per_token: int,
    logits_flops_per_token: int,
) -> Value:
    """What the model itself asks for, forward and backward."""
    return (
        projection_flops_per_token
        + attention_flops_per_token
        + mlp_flops_per_token
        + logits_flops_per_token
    )


@figure("FLOP", MEGATRON + ": one forward of the layers more; selective: Korthikanti et al., 2022")
def recompute_flops_per_token(
    projection_flops_per_token: int,
    attention_flops_per_token: int,
    mlp_flops_per_token: int,
    recompute: str,
) -> Value:
    """Forwards done a second time: of whole layers, or of the attention between projections."""
    return (
        0
        if recompute == "none"
        else attention_flops_per_token // 3
        if recompute == "selective"
        else (projection_flops_per_token + attention_flops_per_token + mlp_flops_per_token) // 3
    )


@figure("FLOP", MEGATRON + ", eq. 3 for full recomputation, per token")
def flops_per_token(model_flops_per_token: int, recompute_flops_per_token: int) -> Value:
    """What the hardware does for one token, forward and backward."""
    return model_flops_per_token + recompute_flops_per_token


@figure("FLOP", MEGATRON + ", eq. 3 for full recomputation: 96 B s l h^2 (1 + s/6h + V/16lh)")
def flops_per_step(flops_per_token: int, batch: int, seq: int) -> Value:
    """What the hardware does in one step of `batch` sequences."""
    return flops_per_token * batch * seq


@figure("FLOP", "Kaplan et al., Scaling Laws, 2020, section 2.1")
def six_nd_per_token(params: int) -> Value:
    """The rule of thumb: six per parameter and token."""
    return 6 * params


@figure("share", "six_nd_per_token over model_flops_per_token")
def six_nd_error(six_nd_per_token: int, model_flops_per_token: int) -> Value:
    """How far the rule is off the products counted: below 0 it says too little."""
    return six_nd_per_token / model_flops_per_token - 1


SHEET = Calculator(
    "flops",
    inputs=[
        *sizes(required=True),
        Input("batch", default=1),
        Input(
            "embeddings",
            "choice",
            "tied",
            choices=("tied", "untied"),
            of_model=lambda m: "tied" if m.tied else "untied",
        ),
        Input(
            "positions",
            "choice",
            "learned",
            choices=("learned", "rotary"),
            of_model=lambda m: "learned" if m.positions else "rotary",
        ),
        Input(
            "norm",
            "choice",
            "layer",
            choices=("layer", "rms"),
            of_model=lambda m: "layer" if m.layernorm else "rms",
        ),
    ],
    figures=[
        attention_width,
        kv_width,
        ffn_width,
        layer_params,
        params,
        projection_flops_per_token,
        attention_flops_per_token,
        mlp_flops_per_token,
        logits_flops_per_token,
        model_flops_per_token,
        recompute_flops_per_token,
        flops_per_token,
        flops_per_step,
        six_nd_per_token,
        six_nd_error,
    ],
    rules=[heads_divide],
    models="dense",
    quiz=Quiz(
        "flops_per_token",
        "GFLOP",
        draws={
            "layers": (24, 40, 48, 96),
            "hidden": (2048, 4096, 8192),
            "seq": (2048, 8192, 32768),
            "vocab": (32000, 51200, 128256),
        },
        traps=(
            SumTrap(
                "72 * layers * hidden ** 2 + 6 * hidden * vocab",
                "flops_no_attention",
            ),
            SumTrap(
                "24 * layers * hidden ** 2 + 4 * layers * hidden * seq + 2 * hidden * vocab",
                "flops_forward_only",
            ),
        ),
        scale=1e9,
    ),
)
