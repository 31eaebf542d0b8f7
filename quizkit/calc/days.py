"""How long a training run takes: FLOPs of all tokens over FLOP/s of all GPUs."""

from collections.abc import Mapping

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap
from quizkit.calc.transformer import (
    MEGATRON,
    PALM,
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


@figure("FLOP/s", PALM + ": MFU leaves out what is computed again, which the hardware does too")
def flops_per_gpu(
    achieved: float, peak: float, mfu: float, flops_per_token: float, model_flops_per_token: float
) -> Value:
    """What the hardware of one GPU does in a second, as said, or by MFU of its peak."""
    return achieved if achieved > 0 else peak * mfu * flops_per_token / model_flops_per_token


@figure("days", MEGATRON + ", eq. 4: 8 T P / (n X)")
def days(total_flops: float, gpus: int, flops_per_gpu: float) -> Value:
    """Time of the run at the FLOP/s each GPU achieves, counted with recomputation if there is."""
    return total_flops / (gpus * flops_per_gpu) / SECONDS_PER_DAY


def _fast(values: Mapping[str, Value | None]) -> None:
    """How fast a GPU is comes from one number, or from two."""
    achieved, peak, mfu = (float(str(values[name])) for name in ("achieved", "peak", "mfu"))
    if mfu > 1:
        raise CalcError("calc_days_mfu", mfu=f"{mfu:g}")
    if (not achieved and not (peak and mfu)) or (achieved and mfu):
        raise CalcError("calc_days_speed")


SHEET = Calculator(
    "days",
    inputs=[
        Input("params", "number", 0, least=0, of_model=lambda m: m.multiplied_params),
        Input("tokens", "number", required=True),
        Input("gpus", required=True),
        Input("achieved", "speed", 0, least=0),
        Input("peak", "speed", 0, least=0, of_chip=lambda c: c.flops),
        Input("mfu", "number", 0, least=0),
        *sizes(),
    ],
    figures=[
        matrix_params,
        attention_flops_per_token,
        model_flops_per_token,
        flops_per_token,
        total_flops,
        flops_per_gpu,
        days,
    ],
    rules=[sized, heads_divide, _fast],
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
