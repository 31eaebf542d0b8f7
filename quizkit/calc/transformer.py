"""The layer sizes that several calculators ask for, and what follows from sizes alone."""

from collections.abc import Mapping

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import CalcError, Input

MEGATRON = "Narayanan et al., Megatron-LM, SC 2021"
PALM = "Chowdhery et al., PaLM, 2022, appendix B"
RECOMPUTE = Input("recompute", "choice", "none", choices=("none", "selective", "full"))


def sizes(required: bool = False) -> list[Input]:
    """The inputs that describe a model; 0 stands for "not said", and help says what it means."""
    least, default = (1, None) if required else (0, 0)
    return [
        Input(
            "layers", default=default, least=least, required=required, of_model=lambda m: m.layers
        ),
        Input(
            "hidden", default=default, least=least, required=required, of_model=lambda m: m.hidden
        ),
        Input("seq", default=default, least=least, required=required),
        Input("vocab", default=default, least=least, required=required, of_model=lambda m: m.vocab),
        Input("heads", default=0, least=0, of_model=lambda m: m.heads),
        Input("kv_heads", default=0, least=0, of_model=lambda m: m.kv_heads),
        Input("head_dim", default=0, least=0, of_model=lambda m: m.score_dim),
        Input("ffn", default=0, least=0, of_model=lambda m: m.ffn),
        Input("gated", "flag", False, of_model=lambda m: m.gated),
        Input("causal", "flag", False),
        RECOMPUTE,
    ]


def heads_divide(values: Mapping[str, Value | None]) -> None:
    """Heads have to share out the width, and K/V heads the heads."""
    heads, kv_heads, hidden = (int(str(values[name])) for name in ("heads", "kv_heads", "hidden"))
    if (kv_heads or values["head_dim"]) and not heads:
        raise CalcError("calc_heads_missing")
    if kv_heads and heads % kv_heads:
        raise CalcError("calc_kv_heads", heads=heads, kv_heads=kv_heads)
    if heads and not values["head_dim"] and hidden % heads:
        raise CalcError("calc_heads", heads=heads, hidden=hidden)


def sized(values: Mapping[str, Value | None]) -> None:
    """A model is said by its parameters or by all four of its sizes."""
    missing = [name for name in ("layers", "hidden", "seq", "vocab") if not values[name]]
    if not values["params"] and missing:
        raise CalcError("calc_model_size", missing=", ".join("--" + name for name in missing))


@figure("count", MEGATRON + ": the weights of its matrix products; with params, PaLM's 6N of them")
def matrix_params(
    params: float,
    layers: int,
    hidden: int,
    vocab: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    ffn: int,
    gated: bool,
) -> Value:
    """Parameters that every token is multiplied by; a table that is only looked up is not one."""
    return (
        params
        if params > 0
        else layers
        * hidden
        * (
            2
            * (heads * head_dim if head_dim else hidden)
            * (heads + kv_heads if kv_heads else 2)
            // (heads if kv_heads else 1)
            + (3 if gated else 2) * (ffn if ffn > 0 else 4 * hidden)
        )
        + hidden * vocab
    )


@figure("FLOP", PALM + ": 12 L H Q T; causal counts the half that is not masked")
def attention_flops_per_token(
    layers: int, hidden: int, heads: int, head_dim: int, seq: int, causal: bool
) -> Value:
    """Scores and their product with the values, forward and backward."""
    return (6 if causal else 12) * layers * (heads * head_dim if head_dim else hidden) * seq


@figure("FLOP", PALM + ": 6N + 12 L H Q T")
def model_flops_per_token(matrix_params: float, attention_flops_per_token: int) -> Value:
    """What the model itself asks for, forward and backward: nothing recomputed."""
    return 6 * matrix_params + attention_flops_per_token


@figure("FLOP", MEGATRON + ": full is one forward of the layers more (8N); selective, of attention")
def flops_per_token(
    model_flops_per_token: float,
    attention_flops_per_token: int,
    recompute: str,
    params: float,
    hidden: int,
    vocab: int,
) -> Value:
    """What the hardware does for it: recomputation is counted too."""
    return (
        model_flops_per_token
        if recompute == "none"
        else model_flops_per_token + attention_flops_per_token / 3
        if recompute == "selective"
        else model_flops_per_token * 4 / 3
        if params > 0
        else (model_flops_per_token * 4 - 6 * hidden * vocab) / 3
    )
