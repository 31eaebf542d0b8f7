"""How long a training run takes: FLOPs of all tokens over FLOP/s of all GPUs."""

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import Calculator, Input, Quiz, SumTrap
from quizkit.calc.transformer import (
    MEGATRON,
    attention_flops_per_token,
    flops_per_token,
    heads_divide,
    matrix_params,
    model_flops_per_token,
    sized,
    sizes,
)

SECONDS_PER_DAY = 86_400


@figure("FLOP", MEGATRON + ", eq. 4 with full recomputation: 8 T P")
def total_flops(tokens: float, flops_per_token: float) -> Value:
    """What the hardware does in the whole run."""
    return tokens * flops_per_token


@figure("days", MEGATRON + ", eq. 4: 8 T P / (n X)")
def days(total_flops: float, gpus: int, achieved: float) -> Value:
    """Time of the run at the FLOP/s each GPU achieves, counted with recomputation if there is."""
    return total_flops / (gpus * achieved) / SECONDS_PER_DAY


SHEET = Calculator(
    "days",
    inputs=[
        Input("params", "number", 0, least=0),
        Input("tokens", "number", required=True),
        Input("gpus", required=True),
        Input("achieved", "speed", required=True),
        *sizes(),
    ],
    figures=[
        matrix_params,
        attention_flops_per_token,
        model_flops_per_token,
        flops_per_token,
        total_flops,
        days,
    ],
    rules=[sized, heads_divide],
    quiz=Quiz(
        "days",
        "days",
        draws={
            "params": (7e9, 13e9, 70e9),
            "tokens": (1e12, 2e12),
            "gpus": (256, 512, 1024),
            "achieved": (400e12, 450e12),
        },
        traps=(
            SumTrap("2 * params * tokens / (gpus * achieved) / 86400", "days_forward_only"),
            SumTrap(
                "(6 if recompute == 'full' else 8) * params * tokens / (gpus * achieved) / 86400",
                "days_recompute",
            ),
        ),
    ),
)
