"""What a model's states take on each device under ZeRO or FSDP, and what moves if they do not fit.

Shards are cut over dp x cp ranks, since the ranks of a sequence hold the same parameters; hybrid
sharding cuts them over fewer. With ep, routed experts are cut by it instead of tp, and their shards
over the tp x cp x dp / ep ranks that hold the same ones. What is gathered, and what an offloaded
step moves, comes on top.
"""

from collections.abc import Mapping

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap

ZERO = "Rajbhandari et al., ZeRO, SC 2020"
BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}
FSDP = "Zhao et al., PyTorch FSDP, VLDB 2023"
FOLDING = "Liu et al., MoE Parallel Folding, 2025"
OFFLOAD = "Ren et al., ZeRO-Offload, ATC 2021"
# What an optimizer keeps for a parameter beside the fp32 copy of it, in bytes. Left out: the 8-bit
# one's scales (two fp32 numbers for each block of 2048 parameters), Adafactor's sums over rows and
# columns (m + n numbers for m x n parameters, no momentum), what Muon leaves to Adam.
STATES = {"adam": 8, "sgd-momentum": 4, "adam-8bit": 2, "adafactor": 0, "muon": 4}


def share(count: float, parts: int) -> int:
    """How many of `count` elements the fullest of `parts` devices holds.

    Papers divide exactly; what runs pads, so a rest costs every device one element more.
    """
    return -(-int(count) // parts)


@figure("params", f"{FOLDING}: pp and ep cut them, tp does not")
def expert_params_per_device(expert_params: float, pp: int, ep: int) -> int | None:
    """The routed experts of one device, before ZeRO."""
    return share(expert_params, pp * ep) if ep > 1 else None


@figure("params", f"{ZERO}, section 1: model parallelism divides what a device holds; {FOLDING}")
def params_per_device(params: float, tp: int, pp: int, expert_params: float, ep: int) -> int:
    """The parameters of one device's part of the model, before ZeRO; stages are equally large."""
    return (
        share(params - expert_params, tp * pp) + share(expert_params, pp * ep)
        if ep > 1
        else share(params, tp * pp)
    )


@figure("ranks", f"{FSDP}, section 3.2.2: hybrid sharding cuts over fewer ranks than there are")
def shard_ranks(dp: int, cp: int, shard: int) -> int:
    """Over how many ranks that hold the same parameters the states are cut."""
    return shard if shard > 0 else dp * cp


@figure("ranks", f"{FOLDING}: ep is cut out of tp x cp x dp")
def expert_shard_ranks(tp: int, cp: int, dp: int, ep: int) -> int | None:
    """How many ranks hold the same experts: over these, their states are cut."""
    return tp * cp * dp // ep if ep > 1 else None


@figure("params", f"{ZERO}, section 5: equal shards; experts over those who hold the same ones")
def params_per_shard(
    params: float,
    params_per_device: int,
    shard_ranks: int,
    tp: int,
    cp: int,
    dp: int,
    pp: int,
    expert_params: float,
    ep: int,
) -> int:
    """Of the parameters of one device, its shard."""
    return (
        share(share(params - expert_params, tp * pp), shard_ranks)
        + share(share(expert_params, pp * ep), tp * cp * dp // ep)
        if ep > 1
        else share(params_per_device, shard_ranks)
    )


@figure(
    "bytes/param",
    f"{ZERO}, section 3.1: K = 12 for Adam; Dettmers et al., ICLR 2022 (8-bit); Shazeer and Stern,"
    " ICML 2018 (Adafactor); Jordan et al. 2024 (Muon)",
)
def optimizer_bytes_per_param(optimizer: str, master: bool) -> int:
    """What the optimizer keeps for one parameter, the fp32 copy of the weight among it."""
    return STATES[optimizer] + 4 if master else STATES[optimizer]


@figure("bytes/param", f"{OFFLOAD}: the optimizer's states and its step are the host's")
def held_bytes_per_param(optimizer_bytes_per_param: int, offload: bool) -> int:
    """Of what the optimizer keeps for a parameter, what is on a device."""
    return 0 if offload else optimizer_bytes_per_param


@figure("bytes", f"{ZERO}, section 3.1 and 5.3 (stage 3)")
def weights_bytes(
    params_per_device: int, params_per_shard: int, zero: int, weight_dtype: str
) -> int:
    """The weights as the forward pass uses them; stage 3 divides them."""
    return BYTES[weight_dtype] * (params_per_shard if zero >= 3 else params_per_device)


@figure("bytes", f"{ZERO}, section 3.1 and 5.2 (stage 2)")
def gradients_bytes(
    params_per_device: int, params_per_shard: int, zero: int, grad_dtype: str
) -> int:
    """The gradients; stages 2 and 3 divide them."""
    return BYTES[grad_dtype] * (params_per_shard if zero >= 2 else params_per_device)


@figure("bytes", f"{ZERO}, section 3.1 and 5.1 (stage 1)")
def optimizer_bytes(
    params_per_device: int, params_per_shard: int, zero: int, held_bytes_per_param: int
) -> int:
    """The optimizer's states; stages 1 to 3 divide them."""
    return held_bytes_per_param * (params_per_shard if zero >= 1 else params_per_device)


@figure("bytes", f"{ZERO}, figure 1")
def model_states_bytes(weights_bytes: int, gradients_bytes: int, optimizer_bytes: int) -> int:
    """All three on one device. Activations and buffers come on top."""
    return weights_bytes + gradients_bytes + optimizer_bytes


@figure("bytes/param", f"{ZERO}, figure 1")
def sharded_bytes_per_param(
    weight_dtype: str, grad_dtype: str, held_bytes_per_param: int, zero: int
) -> int:
    """Of a parameter's bytes, those that the ranks divide among them."""
    return (
        0
        if zero == 0
        else held_bytes_per_param
        if zero == 1
        else held_bytes_per_param + BYTES[grad_dtype]
        if zero == 2
        else held_bytes_per_param + BYTES[grad_dtype] + BYTES[weight_dtype]
    )


@figure("bytes/param", f"{ZERO}, figure 1")
def whole_bytes_per_param(
    weight_dtype: str,
    grad_dtype: str,
    held_bytes_per_param: int,
    sharded_bytes_per_param: int,
) -> int:
    """Of a parameter's bytes, those that every rank holds."""
    return BYTES[weight_dtype] + BYTES[grad_dtype] + held_bytes_per_param - sharded_bytes_per_param


@figure("params", f"{ZERO}, table 2 (left)")
def max_params(
    fit: float,
    whole_bytes_per_param: int,
    sharded_bytes_per_param: int,
    shard_ranks: int,
    tp: int,
    pp: int,
    ep: int,
) -> int | None:
    """The largest model whose states fit: one parameter more would not. Not with ep.

    Full rounds of one parameter a replica, then what fits beside one more sharded element.
    """
    return (
        None
        if ep > 1
        else (
            int(fit)
            // (whole_bytes_per_param * shard_ranks + sharded_bytes_per_param)
            * shard_ranks
            + max(
                0,
                int(fit) % (whole_bytes_per_param * shard_ranks + sharded_bytes_per_param)
                - sharded_bytes_per_param,
            )
            // (whole_bytes_per_param or 1)
        )
        * tp
        * pp
    )


@figure("bytes", "what is free of the memory that is given; below 0: it does not fit")
def free_bytes(fit: float, model_states_bytes: int) -> int:
    """What the states leave of a device's memory for activations, buffers and the rest."""
    return int(fit) - model_states_bytes


@figure("bytes", f"{FSDP}, sections 3.2.1 and 3.3.2: a unit is gathered, the next one ahead of it")
def gathered_bytes(unit: int, prefetch: int, zero: int, weight_dtype: str) -> int | None:
    """Whole weights at the peak: of the unit in use, and of those gathered ahead."""
    return BYTES[weight_dtype] * unit * (1 + prefetch) if zero >= 3 else None


@figure("bytes", f"{FSDP}, section 3.2.1: a unit's gradients are whole until they are scattered")
def whole_gradients_bytes(unit: int, zero: int, grad_dtype: str) -> int | None:
    """A unit's gradients before they are scattered."""
    return BYTES[grad_dtype] * unit if zero >= 3 else None


@figure("bytes", f"{FSDP}, section 3.2.1: shards, and the largest unit whole")
def peak_states_bytes(
    model_states_bytes: int, gathered_bytes: int, whole_gradients_bytes: int
) -> int:
    """One device in the backward pass of its largest unit. Activations come on top."""
    return model_states_bytes + gathered_bytes + whole_gradients_bytes


@figure("bytes", f"{OFFLOAD}: states, and the gradients that its step reads")
def host_bytes(
    params_per_device: int,
    params_per_shard: int,
    zero: int,
    grad_dtype: str,
    optimizer_bytes_per_param: int,
    offload: bool,
) -> int | None:
    """What one device keeps in host memory."""
    return (
        (optimizer_bytes_per_param + BYTES[grad_dtype])
        * (params_per_shard if zero >= 1 else params_per_device)
        if offload
        else None
    )


@figure("bytes", f"{OFFLOAD}: gradients down, updated weights up")
def moved_bytes(
    params_per_device: int,
    params_per_shard: int,
    zero: int,
    weight_dtype: str,
    grad_dtype: str,
    offload: bool,
) -> int | None:
    """What one device and its host exchange in a step, both ways together."""
    return (
        (BYTES[weight_dtype] + BYTES[grad_dtype])
        * (params_per_shard if zero >= 1 else params_per_device)
        if offload
        else None
    )


@figure("s", "bytes over bandwidth; down and up come one after the other in a step")
def moving_seconds(moved_bytes: int, link: float) -> float:
    """How long that takes; the link's bandwidth is that of one direction."""
    return moved_bytes / link


@figure("s", f"{OFFLOAD}: gradients move while the backward pass goes on")
def exposed_seconds(moving_seconds: float, overlap: float) -> float:
    """How long of it nothing is computed meanwhile."""
    return max(0.0, moving_seconds - overlap)


def _something_asked(inputs: Mapping[str, Value | None]) -> None:
    if inputs["params"] is None and inputs["fit"] is None:
        raise CalcError("calc_memory_nothing")


def _experts_lie(inputs: Mapping[str, Value | None]) -> None:
    tp, cp, dp, ep = (int(str(inputs[name])) for name in ("tp", "cp", "dp", "ep"))
    experts, params = inputs["expert_params"], inputs["params"]
    if not experts and ep > 1:
        raise CalcError("calc_memory_experts")
    if experts and (params is None or float(str(experts)) > float(str(params))):
        raise CalcError("calc_memory_more_experts")
    if tp * cp * dp % ep:
        raise CalcError("calc_ep", ep=ep, ranks=tp * cp * dp)
    if ep > 1 and inputs["shard"]:
        raise CalcError("calc_memory_expert_shard")


def _one_copy_in_fp32(inputs: Mapping[str, Value | None]) -> None:
    if inputs["weight_dtype"] == "fp32" and inputs["master"]:
        raise CalcError("calc_memory_master")


def _shards_divide(inputs: Mapping[str, Value | None]) -> None:
    dp, cp, shard = (int(str(inputs[name])) for name in ("dp", "cp", "shard"))
    if shard and dp * cp % shard:
        raise CalcError("calc_memory_shard", ranks=dp * cp, shard=shard)


def _gathers(inputs: Mapping[str, Value | None]) -> None:
    if inputs["unit"] is not None and inputs["zero"] != 3:
        raise CalcError("calc_memory_unit")


def _offloads(inputs: Mapping[str, Value | None]) -> None:
    if inputs["link"] is not None and not inputs["offload"]:
        raise CalcError("calc_memory_link")


SHEET = Calculator(
    "memory",
    inputs=[
        Input("params", of_model=lambda m: m.params),
        Input("dp", default=1),
        Input("cp", default=1),
        Input("zero", "choice", 0, (0, 1, 2, 3)),
        Input("shard", default=0, least=0),
        Input("optimizer", "choice", "adam", tuple(STATES)),
        Input("weight_dtype", "choice", "bf16", tuple(BYTES)),
        Input("grad_dtype", "choice", "bf16", tuple(BYTES)),
        Input("master", "flag", True),
        Input("tp", default=1),
        Input("pp", default=1),
        Input("expert_params", "number", 0, least=0, of_model=lambda m: m.expert_params or None),
        Input("ep", default=1),
        Input("fit", "size", of_chip=lambda c: c.memory),
        Input("unit"),
        Input("prefetch", default=1, least=0),
        Input("offload", "flag", False),
        Input("link", "rate"),
        Input("overlap", "time", 0.0, least=0),
    ],
    figures=[
        expert_params_per_device,
        params_per_device,
        shard_ranks,
        expert_shard_ranks,
        params_per_shard,
        optimizer_bytes_per_param,
        held_bytes_per_param,
        weights_bytes,
        gradients_bytes,
        optimizer_bytes,
        model_states_bytes,
        sharded_bytes_per_param,
        whole_bytes_per_param,
        max_params,
        free_bytes,
        gathered_bytes,
        whole_gradients_bytes,
        peak_states_bytes,
        host_bytes,
        moved_bytes,
        moving_seconds,
        exposed_seconds,
    ],
    rules=[_something_asked, _experts_lie, _one_copy_in_fp32, _shards_divide, _gathers, _offloads],
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
