"""What a GPU of a middle stage sends in one step, by axis of parallelism, and for how long.

Collectives are rings, so that (n-1)/n of a payload is sent for each half of an all-reduce. Counted
is one rank with ceil(layers / pp) layers and params / (tp pp) parameters; embedding and logits are
not. dp_bytes is the gradients' all-reduce of plain data parallelism and 0 under ZeRO, whose
messages are zero_bytes: one of the two is always 0. Both run over dp * cp ranks, since the ranks
of a sequence hold the same parameters; with ep, routed experts' over the dp * cp / ep that hold the
same ones. Routing is taken for uniform: then 1/ep of the copies stay where they are.
"""

from collections.abc import Mapping
from math import ceil

from quizkit.calc.figure import Value, figure
from quizkit.calc.links import (
    axes_inside_node,
    cp_seconds,
    dp_seconds,
    ep_seconds,
    pp_seconds,
    seconds,
    tp_seconds,
)
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap, option
from quizkit.calc.transformer import RECOMPUTE

ZERO = "Rajbhandari et al., ZeRO, SC 2020, section 7"
MEGATRON = "Narayanan et al., Megatron-LM, SC 2021, section 3.2"
SEQUENCE_PARALLEL = "Korthikanti et al., 2022, section 4.2.2"
RING_ATTENTION = "Liu et al., Ring Attention, 2023"
GSHARD = "Lepikhin et al., GShard, ICLR 2021, section 2.2"
FOLDING = "Liu et al., MoE Parallel Folding, 2025"
HEAD_DIM = 128  # where K/V heads are given, but neither their size nor the heads it follows from


@figure("count", ZERO + ": data parallelism repeats what tp and pp have cut; " + FOLDING)
def params_per_gpu(params: float, tp: int, pp: int, expert_params: float, ep: int) -> Value:
    """Parameters that a GPU would hold without ZeRO."""
    return (
        (params - expert_params) / (tp * pp) + expert_params / (pp * ep)
        if ep > 1
        else params / (tp * pp)
    )


@figure(
    "count", "(n-1)/n of a ring; experts' n is that of the ranks with the same ones: " + FOLDING
)
def ring_params(
    params: float,
    params_per_gpu: float,
    dp: int,
    cp: int,
    pp: int,
    expert_params: float,
    ep: int,
) -> Value:
    """Parameters that one half of an all-reduce sends."""
    return (
        (dp * cp - 1) * (params - expert_params) / (pp * dp * cp)
        + (dp * cp - ep) * expert_params / (pp * ep * dp * cp)
        if ep > 1
        else (dp * cp - 1) * params_per_gpu / (dp * cp)
    )


@figure("bytes", MEGATRON + ": b s h, of which a rank has s / cp")
def activation_bytes(batch: int, seq: int, hidden: int, cp: int, dtype_bytes: float) -> Value:
    """What stands between two layers for one micro-batch."""
    return batch * seq * hidden * dtype_bytes / cp


@figure("bytes", RING_ATTENTION + ": its own keys and values; tp shares out their heads")
def kv_block_bytes(
    batch: int,
    seq: int,
    hidden: int,
    cp: int,
    tp: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    dtype_bytes: float,
) -> Value:
    """Keys and values of one rank's tokens in one layer: what goes round in ring attention."""
    return (
        2
        * batch
        * (seq // cp)
        * (
            ceil((kv_heads if kv_heads > 0 else heads) / tp)
            * (head_dim if head_dim > 0 else hidden // heads if heads > 0 else HEAD_DIM)
            if heads or kv_heads
            else hidden / tp
        )
        * dtype_bytes
    )


@figure("count", MEGATRON + ": layers are shared out over the stages")
def layers_per_stage(layers: int, pp: int) -> Value:
    """Layers of the fullest stage."""
    return ceil(layers / pp)


@figure("bytes", ZERO + ".1: an all-reduce is 2 Psi, times (n-1)/n of a ring")
def dp_bytes(ring_params: float, grad_bytes: float, zero: int) -> Value:
    """Gradients' all-reduce of plain data parallelism, once a step; 0 under ZeRO."""
    return 2 * ring_params * grad_bytes if zero == 0 else 0


@figure("count", ZERO + ".2 for one micro-batch; from stage 2 on no rank keeps whole gradients")
def scatters(zero: int, microbatches: int, accumulate: str) -> Value:
    """Reduce-scatters of the gradients in a step."""
    return 0 if zero == 0 else 1 if zero == 1 or accumulate == "whole" else microbatches


@figure("count", ZERO + ".2 for one micro-batch: for the forward, and again for the backward")
def gathers(zero: int, microbatches: int) -> Value:
    """All-gathers of the parameters in a step."""
    return 0 if zero == 0 else 2 * microbatches if zero == 3 else 1


@figure("bytes", ZERO + ": 2 Psi for stages 1 and 2, 3 Psi for stage 3, times (n-1)/n")
def zero_bytes(
    ring_params: float, gathers: int, scatters: int, dtype_bytes: float, grad_bytes: float
) -> Value:
    """Gathering parameters and scattering gradients; 0 without ZeRO."""
    return ring_params * (gathers * dtype_bytes + scatters * grad_bytes)


@figure("count", MEGATRON + ": 2 all-reduces forward, 2 backward; " + SEQUENCE_PARALLEL)
def tp_halves_per_layer(sp: bool, recompute: str) -> Value:
    """All-gathers and reduce-scatters of a layer; sequence parallelism gathers 2 inputs again."""
    return 8 + (2 if sp else 0) + (4 if recompute == "full" else 0)


@figure("bytes", MEGATRON + ": 8 b s h (t-1)/t a layer and micro-batch, in elements")
def tp_bytes(
    activation_bytes: float,
    tp_halves_per_layer: int,
    layers_per_stage: int,
    microbatches: int,
    tp: int,
) -> Value:
    """All-reduces inside the layers, or the halves of them under sequence parallelism."""
    return microbatches * layers_per_stage * tp_halves_per_layer * (tp - 1) * activation_bytes / tp


@figure("bytes", MEGATRON + ": b s h to the next stage, and as much back")
def pp_bytes(activation_bytes: float, microbatches: int, pp: int, tp: int, sp: bool) -> Value:
    """Activations to the next stage and gradients to the one before; at an end only one of them."""
    return microbatches * min(2, pp - 1) * activation_bytes / (tp if sp else 1)


@figure("count", RING_ATTENTION + ": K/V c-1 hops each way of the model, their gradients c")
def cp_hops_per_layer(cp: int, recompute: str) -> Value:
    """Blocks sent for one layer: K/V forward, K/V backward, dK/dV home; K/V again if recomputed."""
    return 0 if cp == 1 else 3 * cp - 2 + (cp - 1 if recompute == "full" else 0)


@figure("bytes", RING_ATTENTION)
def cp_bytes(
    kv_block_bytes: float, cp_hops_per_layer: int, layers_per_stage: int, microbatches: int
) -> Value:
    """Keys, values and their gradients going round."""
    return microbatches * layers_per_stage * cp_hops_per_layer * kv_block_bytes


@figure("count", GSHARD + ": dispatch and combine, and their gradients; again if recomputed")
def ep_trips_per_layer(ep: int, recompute: str) -> Value:
    """All-to-alls of one layer of experts and one micro-batch."""
    return 0 if ep == 1 else 6 if recompute == "full" else 4


@figure("count", MEGATRON + ": layers are shared out over the stages")
def moe_layers_per_stage(moe_layers: int, pp: int, ep: int) -> Value:
    """Layers with experts of the fullest stage that others hold a part of."""
    return ceil(moe_layers / pp) if ep > 1 else 0


@figure("bytes", GSHARD + ": k copies of a token, of which uniform routing leaves 1/ep at home")
def ep_bytes(
    activation_bytes: float,
    topk: int,
    ep: int,
    ep_trips_per_layer: int,
    moe_layers_per_stage: int,
    microbatches: int,
) -> Value:
    """Tokens to their experts and back, and the same of gradients."""
    return (
        microbatches
        * moe_layers_per_stage
        * ep_trips_per_layer
        * topk
        * activation_bytes
        * (ep - 1)
        / ep
    )


@figure(
    "count",
    "a ring's step is a message; plain gradients and ZeRO 1, 2: one bucket; ZeRO 3: a layer",
)
def messages(
    dp: int,
    cp: int,
    zero: int,
    gathers: int,
    scatters: int,
    tp: int,
    tp_halves_per_layer: int,
    pp: int,
    cp_hops_per_layer: int,
    layers_per_stage: int,
    ep: int,
    ep_trips_per_layer: int,
    moe_layers_per_stage: int,
    microbatches: int,
) -> Value:
    """Messages this GPU sends in a step."""
    return (
        (dp * cp - 1)
        * (
            2
            if zero == 0
            else (gathers + scatters) * (max(1, layers_per_stage) if zero == 3 else 1)
        )
        + (dp * cp // ep - 1 if ep > 1 else 0)
        * (2 if zero == 0 else (gathers + scatters) * (moe_layers_per_stage if zero == 3 else 1))
        + microbatches * moe_layers_per_stage * ep_trips_per_layer * (ep - 1)
        + microbatches * layers_per_stage * (tp_halves_per_layer * (tp - 1) + cp_hops_per_layer)
        + microbatches * min(2, pp - 1)
    )


def described(values: Mapping[str, Value | None]) -> None:
    """An axis that moves activations needs to know how large they are."""
    if values["ep"] != 1 and values["tp"] != 1:
        raise CalcError("calc_traffic_ep_tp")
    wanted = {
        "ep": ("expert_params", "topk", "moe_layers", "seq", "hidden"),
        "tp": ("seq", "hidden", "layers"),
        "pp": ("seq", "hidden"),
        "cp": ("seq", "hidden", "layers"),
    }
    for axis, names in wanted.items():
        missing = [option(name) for name in names if not values[name]]
        if values[axis] != 1 and missing:
            raise CalcError("calc_traffic_sizes", axis=axis, missing=", ".join(missing))


SHARED = ("seq", "cp", "tp", "heads", "hidden", "pp", "layers", "kv_heads", "dp", "ep")


def shares(values: Mapping[str, Value | None]) -> None:
    """What cannot be shared out evenly is refused."""
    number = {name: int(str(values[name])) for name in SHARED}
    parts = number["cp"] * (number["tp"] if values["sp"] else 1)
    for name, share in (("seq", parts), ("heads", number["tp"]), ("hidden", number["heads"])):
        if share and number[name] % share and not (name == "hidden" and values["head_dim"]):
            low = number[name] // share * share
            raise CalcError(
                "calc_share", name=name, value=number[name], parts=share, low=low, high=low + share
            )
    if number["cp"] * number["dp"] % number["ep"]:
        raise CalcError("calc_ep", ep=number["ep"], ranks=number["cp"] * number["dp"])
    if number["layers"] and number["pp"] > number["layers"]:
        raise CalcError("calc_stages", pp=number["pp"], layers=number["layers"])
    if values["head_dim"] and not (number["heads"] or number["kv_heads"]):
        raise CalcError("calc_heads_missing")


SHEET = Calculator(
    "traffic",
    inputs=[
        Input("params", "number", required=True, of_model=lambda m: m.params),
        Input("dp", default=1),
        Input("zero", "choice", 0, choices=(0, 1, 2, 3)),
        Input("tp", default=1),
        Input("pp", default=1),
        Input("cp", default=1),
        Input("ep", default=1),
        Input("expert_params", "number", 0, least=0, of_model=lambda m: m.expert_params or None),
        Input("topk", default=0, least=0, of_model=lambda m: m.topk or None),
        Input("moe_layers", default=0, least=0, of_model=lambda m: m.moe_layers or None),
        Input("seq", default=0, least=0),
        Input("hidden", default=0, least=0, of_model=lambda m: m.hidden),
        Input("layers", default=0, least=0, of_model=lambda m: m.layers),
        Input("batch", default=1),
        Input("microbatches", default=1),
        Input("heads", default=0, least=0, of_model=lambda m: m.heads),
        Input("kv_heads", default=0, least=0, of_model=lambda m: m.kv_heads),
        Input("head_dim", default=0, least=0, of_model=lambda m: m.score_dim),
        Input("dtype_bytes", "number", 2, least=0),
        Input("grad_bytes", "number", 2, least=0),
        Input("sp", "flag", False),
        RECOMPUTE,
        Input("accumulate", "choice", "sharded", choices=("sharded", "whole")),
        Input("node", default=8, of_chip=lambda c: c.node),
        Input("intra", "rate", of_chip=lambda c: c.inside),
        Input("inter", "rate", of_chip=lambda c: c.across),
    ],
    figures=[
        params_per_gpu,
        layers_per_stage,
        activation_bytes,
        kv_block_bytes,
        ring_params,
        dp_bytes,
        scatters,
        gathers,
        zero_bytes,
        tp_halves_per_layer,
        tp_bytes,
        pp_bytes,
        cp_hops_per_layer,
        cp_bytes,
        ep_trips_per_layer,
        moe_layers_per_stage,
        ep_bytes,
        messages,
        axes_inside_node,
        tp_seconds,
        cp_seconds,
        dp_seconds,
        pp_seconds,
        ep_seconds,
        seconds,
    ],
    rules=[described, shares],
    quiz=Quiz(
        "zero_bytes",
        "GB",
        draws={
            "params": (7e9, 13e9, 70e9),
            "dp": (4, 8, 16),
            "zero": (1, 2, 3),
        },
        traps=(
            SumTrap("(3 if zero < 3 else 2) * 2 * params * (dp - 1) / dp", "traffic_other_stage"),
            SumTrap("2 * params * (dp - 1) / dp", "traffic_scatter_only"),
            SumTrap("(2 if zero < 3 else 3) * 2 * params / dp", "traffic_own_shard"),
        ),
        scale=1e9,
    ),
)
