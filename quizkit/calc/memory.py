"""What a model's states take on each device: weights, gradients, optimizer states under ZeRO."""

from collections.abc import Mapping

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap

ZERO = "Rajbhandari et al., ZeRO, SC 2020"
BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}
# What an optimizer keeps for a parameter beside the fp32 copy of it, in bytes.
# The 8-bit one's scales (two fp32 numbers for each block of 2048 parameters) are left out.
STATES = {"adam": 8, "sgd-momentum": 4, "adam-8bit": 2}


def share(count: float, parts: int) -> int:
    """How many of `count` elements the fullest of `parts` devices holds.

    Papers divide exactly; what runs pads, so a rest costs every device one element more.
    """
    return -(-int(count) // parts)


@figure("params", f"{ZERO}, section 1: model parallelism divides what a device holds")
def params_per_device(params: float, tp: int, pp: int) -> int:
    """The parameters of one device's part of the model, before ZeRO; stages are equally large."""
    return share(params, tp * pp)


@figure("bytes/param", f"{ZERO}, section 3.1: K = 12 for Adam; Dettmers et al., ICLR 2022 (8-bit)")
def optimizer_bytes_per_param(optimizer: str, master: bool) -> int:
    """What the optimizer keeps for one parameter, the fp32 copy of the weight among it."""
    return STATES[optimizer] + 4 if master else STATES[optimizer]


@figure("bytes", f"{ZERO}, section 3.1 and 5.3 (stage 3)")
def weights_bytes(params_per_device: int, dp: int, zero: int, weight_dtype: str) -> int:
    """The weights as the forward pass uses them; stage 3 divides them over the replicas."""
    return BYTES[weight_dtype] * (share(params_per_device, dp) if zero >= 3 else params_per_device)


@figure("bytes", f"{ZERO}, section 3.1 and 5.2 (stage 2)")
def gradients_bytes(params_per_device: int, dp: int, zero: int, grad_dtype: str) -> int:
    """The gradients; stages 2 and 3 divide them."""
    return BYTES[grad_dtype] * (share(params_per_device, dp) if zero >= 2 else params_per_device)


@figure("bytes", f"{ZERO}, section 3.1 and 5.1 (stage 1)")
def optimizer_bytes(
    params_per_device: int, dp: int, zero: int, optimizer_bytes_per_param: int
) -> int:
    """The optimizer's states; stages 1 to 3 divide them."""
    return optimizer_bytes_per_param * (
        share(params_per_device, dp) if zero >= 1 else params_per_device
    )


@figure("bytes", f"{ZERO}, figure 1")
def model_states_bytes(weights_bytes: int, gradients_bytes: int, optimizer_bytes: int) -> int:
    """All three on one device. Activations and buffers come on top."""
    return weights_bytes + gradients_bytes + optimizer_bytes


@figure("bytes/param", f"{ZERO}, figure 1")
def sharded_bytes_per_param(
    weight_dtype: str, grad_dtype: str, optimizer_bytes_per_param: int, zero: int
) -> int:
    """Of a parameter's bytes, those that the replicas divide among them."""
    return (
        0
        if zero == 0
        else optimizer_bytes_per_param
        if zero == 1
        else optimizer_bytes_per_param + BYTES[grad_dtype]
        if zero == 2
        else optimizer_bytes_per_param + BYTES[grad_dtype] + BYTES[weight_dtype]
    )


@figure("bytes/param", f"{ZERO}, figure 1")
def whole_bytes_per_param(
    weight_dtype: str,
    grad_dtype: str,
    optimizer_bytes_per_param: int,
    sharded_bytes_per_param: int,
) -> int:
    """Of a parameter's bytes, those that every replica holds."""
    return (
        BYTES[weight_dtype]
        + BYTES[grad_dtype]
        + optimizer_bytes_per_param
        - sharded_bytes_per_param
    )


@figure("params", f"{ZERO}, table 2 (left)")
def max_params(
    fit: float, whole_bytes_per_param: int, sharded_bytes_per_param: int, dp: int, tp: int, pp: int
) -> int:
    """The largest model whose states fit: one parameter more would not.

    Full rounds of one parameter a replica, then what fits beside one more sharded element.
    """
    return (
        (
            int(fit) // (whole_bytes_per_param * dp + sharded_bytes_per_param) * dp
            + max(
                0,
                int(fit) % (whole_bytes_per_param * dp + sharded_bytes_per_param)
                - sharded_bytes_per_param,
            )
            // (whole_bytes_per_param or 1)
        )
        * tp
        * pp
    )


def _something_asked(inputs: Mapping[str, Value | None]) -> None:
    if inputs["params"] is None and inputs["fit"] is None:
        raise CalcError("calc_memory_nothing")


def _one_copy_in_fp32(inputs: Mapping[str, Value | None]) -> None:
    if inputs["weight_dtype"] == "fp32" and inputs["master"]:
        raise CalcError("calc_memory_master")


SHEET = Calculator(
    "memory",
    inputs=[
        Input("params"),
        Input("dp", default=1),
        Input("zero", "choice", 0, (0, 1, 2, 3)),
        Input("optimizer", "choice", "adam", tuple(STATES)),
        Input("weight_dtype", "choice", "bf16", tuple(BYTES)),
        Input("grad_dtype", "choice", "bf16", tuple(BYTES)),
        Input("master", "flag", True),
        Input("tp", default=1),
        Input("pp", default=1),
        Input("fit", "size"),
    ],
    figures=[
        params_per_device,
        optimizer_bytes_per_param,
        weights_bytes,
        gradients_bytes,
        optimizer_bytes,
        model_states_bytes,
        sharded_bytes_per_param,
        whole_bytes_per_param,
        max_params,
    ],
    rules=[_something_asked, _one_copy_in_fp32],
    quiz=Quiz(
        "model_states_bytes",
        "GB",
        draws={"params": (1.5e9, 7.5e9, 13e9, 70e9), "dp": (4, 8, 16, 32), "zero": (1, 2)},
        traps=(
            SumTrap("16 * params", "memory_nothing_divided"),
            SumTrap("16 * params / dp", "memory_all_divided"),
            SumTrap(
                "memory_model_states_bytes(params=params, dp=dp, zero=zero, master=False)",
                "memory_no_master",
            ),
        ),
        scale=1e9,
    ),
)
