"""What a step takes beside the work of its layers: the pipeline, data parallelism, the update.

Seconds are those of a whole step on the fullest rank unless a figure says otherwise.
"""

from math import ceil

from quizkit.calc.figure import Value, figure
from quizkit.calc.flops import PRODUCTS
from quizkit.calc.memory import FSDP, ZERO
from quizkit.calc.plan.working import ring_calls
from quizkit.calc.schedule.theory import NARAYANAN
from quizkit.calc.traffic import MEGATRON

NCCL = "NCCL, src/graph/tuning.cc: a ring's steps inside nodes and between them"


def beyond(seconds: float, work: float, layers: int) -> float:
    """What of a transfer shows: what takes longer than the work it hides behind, or one layer's."""
    return max(seconds / layers, seconds - work)


@figure("s", f"{NARAYANAN}: (p - 1)(F + B)/v")
def bubble_seconds(work_seconds: float, pp: int, virtual: int) -> Value:
    """How long a rank waits while the pipeline fills and drains."""
    return (pp - 1) * work_seconds / virtual


@figure("share", "ranks lie tp, cp, dp, pp: the next stage is tp x cp x dp ranks away")
def far_share(tp: int, cp: int, dp: int, pp: int, node: int) -> Value:
    """Of the hops between stages, those that leave a node."""
    return (
        0.0
        if pp == 1
        else 1.0
        if tp * cp * dp >= node
        else (ceil(tp * cp * dp * pp / node) - 1) / (pp - 1)
    )


@figure("s", f"{MEGATRON}, 4.1: tp ranks send each its part; the mean of near and far hops")
def hop_seconds(
    activation_bytes: float,
    tp: int,
    far_share: float,
    inside: float,
    across: float,
    link_share: float,
    hop_inside: float,
    hop_across: float,
) -> Value:
    """One micro-batch from a stage to the next."""
    return (1 - far_share) * (
        activation_bytes / tp / (inside * link_share) + hop_inside
    ) + far_share * (activation_bytes / tp / (across * link_share) + hop_across)


@figure("hops", "1F1B and interleaved 1F1B played with messages that take time")
def shown_hops(pp: int, virtual: int, microbatches: int) -> Value:
    """Hops that nothing hides: filling and draining, and in 1F1B every p micro-batches again."""
    return (
        0
        if pp == 1
        else 2 * (pp * virtual - 1)
        if virtual > 1 or microbatches < pp
        else 2 * (pp - 1) * microbatches / pp + 2 * (pp - 2)
    )


@figure("s", "the hops that nothing hides, each at its full length")
def pp_seconds(hop_seconds: float, shown_hops: float) -> Value:
    """Activations and gradients between stages."""
    return hop_seconds * shown_hops


@figure("bytes/s", "a ring leaves a node by the network cards of all its ranks there")
def dp_rate(
    tp: int,
    cp: int,
    dp: int,
    node: int,
    inside: float,
    across: float,
    link_share: float,
    rails: bool,
) -> Value:
    """What a ring of data parallelism carries for each of its ranks."""
    return link_share * (
        inside
        if tp * cp * dp <= node
        else min(inside, across * (max(1, node // tp) if rails else 1))
    )


@figure("bytes/s", "the same for the ranks that hold the same experts")
def expert_rate(
    tp: int,
    cp: int,
    dp: int,
    ep: int,
    node: int,
    inside: float,
    across: float,
    link_share: float,
    rails: bool,
) -> Value:
    """What a ring of them carries for each of its ranks."""
    return link_share * (
        inside
        if tp * cp * dp <= node
        else min(inside, across * (max(1, node // ep) if rails else 1))
    )


@figure("s", f"{NCCL}; ZeRO-3 has a collective for every layer")
def dp_calls_seconds(
    layers_per_stage: int,
    zero: int,
    shard_ranks: int,
    expert_ranks: int,
    moe_share: float,
    tp: int,
    ep: int,
    node: int,
    call: float,
    hop_inside: float,
    hop_across: float,
) -> Value:
    """What one pass over the rank's weights costs in steps of rings, whatever they carry."""
    return (layers_per_stage if zero == 3 else 1) * (
        ring_calls(shard_ranks, max(1, node // tp), call, hop_inside, hop_across)
        + (
            ring_calls(expert_ranks, max(1, node // ep), call, hop_inside, hop_across)
            if moe_share
            else 0
        )
    )


@figure("s", f"{ZERO}, 7: (n-1)/n of the gradients")
def scatter_seconds(
    dense_params_per_device: int,
    shard_ranks: int,
    dp_rate: float,
    expert_params_per_device: int,
    expert_ranks: int,
    expert_rate: float,
    grad_bytes: float,
    dp_calls_seconds: float,
) -> Value:
    """One reduce-scatter of all gradients of the rank."""
    return (
        dense_params_per_device * grad_bytes * (shard_ranks - 1) / shard_ranks / dp_rate
        + expert_params_per_device * grad_bytes * (expert_ranks - 1) / expert_ranks / expert_rate
        + dp_calls_seconds
    )


@figure("s", f"{ZERO}, 7: (n-1)/n of the weights")
def gather_seconds(
    dense_params_per_device: int,
    shard_ranks: int,
    dp_rate: float,
    expert_params_per_device: int,
    expert_ranks: int,
    expert_rate: float,
    dtype_bytes: float,
    dp_calls_seconds: float,
) -> Value:
    """One all-gather of all weights of the rank."""
    return (
        dense_params_per_device * dtype_bytes * (shard_ranks - 1) / shard_ranks / dp_rate
        + expert_params_per_device * dtype_bytes * (expert_ranks - 1) / expert_ranks / expert_rate
        + dp_calls_seconds
    )


@figure("s", PRODUCTS + ": the backward is twice the forward; communication hides nothing")
def forward_seconds(compute_seconds: float, microbatches: int, overlap: bool) -> Value:
    """The products of one micro-batch's forward, which gathered weights hide behind."""
    return compute_seconds / (3 * microbatches) if overlap else 0


@figure("s", PRODUCTS + ": the backward is twice the forward, and what is recomputed")
def backward_seconds(
    compute_seconds: float, recompute_seconds: float, microbatches: int, overlap: bool
) -> Value:
    """The products of one micro-batch's backward, which gradients hide behind."""
    return (2 * compute_seconds / 3 + recompute_seconds) / microbatches if overlap else 0


@figure("s", f"{ZERO}, 7; hidden as {FSDP}, 3.3: at least one layer's shows")
def dp_seconds(
    zero: int,
    microbatches: int,
    scatter_seconds: float,
    gather_seconds: float,
    forward_seconds: float,
    backward_seconds: float,
    layers_per_stage: int,
) -> Value:
    """Gradients beyond one backward, weights beyond one forward; some for every micro-batch."""
    return (
        beyond(2 * scatter_seconds, backward_seconds, layers_per_stage)
        if zero == 0
        else beyond(scatter_seconds, backward_seconds, layers_per_stage)
        + beyond(gather_seconds, forward_seconds, layers_per_stage)
        if zero == 1
        else (microbatches - 1) * max(0.0, scatter_seconds - backward_seconds)
        + beyond(scatter_seconds, backward_seconds, layers_per_stage)
        + beyond(gather_seconds, forward_seconds, layers_per_stage)
        if zero == 2
        else (microbatches - 1)
        * (
            max(0.0, gather_seconds + scatter_seconds - backward_seconds)
            + max(0.0, gather_seconds - forward_seconds)
        )
        + beyond(gather_seconds + scatter_seconds, backward_seconds, layers_per_stage)
        + beyond(gather_seconds, forward_seconds, layers_per_stage)
    )


@figure("s", "the optimizer's states are read and written once, at the memory's bandwidth")
def update_seconds(optimizer_bytes: int, hbm: float) -> Value:
    """The optimizer's step."""
    return 2 * optimizer_bytes / hbm


@figure("s", "the sum of its terms")
def step_seconds(
    compute_seconds: float,
    recompute_seconds: float,
    tp_seconds: float,
    cp_seconds: float,
    ep_seconds: float,
    logits_seconds: float,
    bubble_seconds: float,
    pp_seconds: float,
    dp_seconds: float,
    update_seconds: float,
) -> Value:
    """One training step."""
    return (
        compute_seconds
        + recompute_seconds
        + tp_seconds
        + cp_seconds
        + ep_seconds
        + logits_seconds
        + bubble_seconds
        + pp_seconds
        + dp_seconds
        + update_seconds
    )


@figure("tokens/s", "tokens of a step over its time")
def tokens_per_second(global_batch: int, seq: int, step_seconds: float) -> Value:
    """What all GPUs together train on in a second."""
    return global_batch * seq / step_seconds
