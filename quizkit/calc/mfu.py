"""Which share of the peak a training run uses: for the model (MFU), and of the hardware (HFU)."""

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import Calculator, Input, Quiz, SumTrap
from quizkit.calc.transformer import (
    PALM,
    attention_flops_per_token,
    flops_per_token,
    heads_divide,
    matrix_params,
    model_flops_per_token,
    sized,
    sizes,
)


@figure("FLOP/s", PALM)
def model_flops_per_second_per_gpu(
    tokens_per_second: float, model_flops_per_token: float, gpus: int
) -> Value:
    """Useful FLOPs a second on each GPU: recomputation is not useful."""
    return tokens_per_second * model_flops_per_token / gpus


@figure("share", PALM)
def mfu(model_flops_per_second_per_gpu: float, peak: float) -> Value:
    """Model FLOPs utilisation, of the dense peak."""
    return model_flops_per_second_per_gpu / peak


@figure("share", PALM)
def hfu(tokens_per_second: float, flops_per_token: float, gpus: int, peak: float) -> Value:
    """Hardware FLOPs utilisation: work done again counts too, so it is never below MFU."""
    return tokens_per_second * flops_per_token / (gpus * peak)


SHEET = Calculator(
    "mfu",
    inputs=[
        Input("tokens_per_second", "number", least=0, required=True),
        Input("gpus", required=True),
        Input("peak", "speed", required=True, of_chip=lambda c: c.flops),
        Input("params", "number", 0, least=0, of_model=lambda m: m.multiplied_params),
        *sizes(),
    ],
    figures=[
        matrix_params,
        attention_flops_per_token,
        model_flops_per_token,
        flops_per_token,
        model_flops_per_second_per_gpu,
        mfu,
        hfu,
    ],
    rules=[sized, heads_divide],
    quiz=Quiz(
        "mfu",
        "%",
        draws={
            "tokens_per_second": (5e4, 1e5, 2e5),
            "gpus": (64, 128),
            "peak": (989e12,),
            "params": (7e9, 13e9, 30e9),
        },
        traps=(
            SumTrap("tokens_per_second * 2 * params / (gpus * peak)", "mfu_forward_only"),
            SumTrap("tokens_per_second * 8 * params / (gpus * peak)", "mfu_recompute"),
            SumTrap("tokens_per_second * 6 * params / (2 * gpus * peak)", "mfu_sparse_peak"),
        ),
        scale=0.01,
    ),
)
