"""What a layout needs and how long its step takes: figures, many of them other calculators'.

A name means here what it means there: `batch` is a micro-batch, `global_batch` what a step trains
on. Seconds are those of a whole step on the fullest rank unless a figure says otherwise.
"""

from math import ceil

from quizkit.calc.activations import (
    LIGER,
    core_bytes,
    first_stage_chunks,
    loss_peak_bytes,
    norm_bytes,
    seq_per_rank,
    sp_parts,
)
from quizkit.calc.activations import PAPER as KORTHIKANTI
from quizkit.calc.figure import Figure, Value, figure
from quizkit.calc.flops import PRODUCTS, logits_flops_per_token
from quizkit.calc.memory import (
    BYTES,
    FSDP,
    ZERO,
    gradients_bytes,
    held_bytes_per_param,
    model_states_bytes,
    optimizer_bytes,
    optimizer_bytes_per_param,
    share,
    shard_ranks,
    weights_bytes,
)
from quizkit.calc.mfu import mfu, model_flops_per_second_per_gpu
from quizkit.calc.schedule.theory import NARAYANAN
from quizkit.calc.traffic import (
    MEGATRON,
    RING_ATTENTION,
    activation_bytes,
    cp_bytes,
    cp_hops_per_layer,
    kv_block_bytes,
    layers_per_stage,
    tp_bytes,
    tp_halves_per_layer,
)
from quizkit.calc.transformer import attention_flops_per_token, model_flops_per_token

FOLDING = "Liu et al., MoE Parallel Folding, 2025: experts are cut apart from attention"
NCCL = "NCCL, src/graph/tuning.cc: a ring's steps inside nodes and between them"
DEEPSEEK = "DeepSeek-V3, 2024, section 3.2.3"
GSHARD = "Lepikhin et al., GShard, 2020: dispatch and combine, and their gradients"


def ring_calls(ranks: int, near: int, call: float, hop_inside: float, hop_across: float) -> float:
    """What a ring's steps cost whatever it carries; `near` of its ranks share a node."""
    nodes = ceil(ranks / near)
    return call + (nodes - 1) * hop_across + (ranks - nodes) * hop_inside if ranks > 1 else 0.0


def beyond(seconds: float, work: float, layers: int) -> float:
    """What of a transfer shows: what takes longer than the work it hides behind, or one layer's."""
    return max(seconds / layers, seconds - work)


@figure("micro-batches", f"{MEGATRON}, 2.2: m = B / (d b)")
def microbatches(global_batch: int, dp: int, batch: int) -> Value:
    """Micro-batches that a pipeline works through in a step."""
    return global_batch // (dp * batch)


@figure("layers", f"{NARAYANAN}: v chunks of each device, in turn")
def chunk_layers(layers: int, pp: int, virtual: int) -> Value:
    """Layers of the fullest chunk."""
    return ceil(layers / (pp * virtual))


# What a rank holds of the model.


@figure("params", f"{MEGATRON}: tp cuts matrices, pp layers; an end stage has a table of words")
def params_per_device(
    layers_per_stage: int, layer_params: float, vocab: int, hidden: int, tied: bool, tp: int, pp: int
) -> Value:
    """The fullest rank's parameters without routed experts, before ZeRO."""
    return ceil(
        (layers_per_stage * layer_params + (1 if tied or pp > 1 else 2) * vocab * hidden) / tp
    )


@figure("params", FOLDING)
def expert_params_per_device(
    layers_per_stage: int, expert_layer_params: float, ep: int
) -> Value:
    """The fullest rank's routed experts, before ZeRO; a layer has the mean number of them."""
    return ceil(layers_per_stage * expert_layer_params / ep)


@figure("ranks", FOLDING)
def expert_ranks(tp: int, cp: int, dp: int, ep: int) -> Value:
    """Ranks that hold the same experts."""
    return tp * cp * dp // ep


@figure("bytes", f"{ZERO}, section 3.1 and 5.1 (stage 1)")
def expert_optimizer_bytes(
    expert_params_per_device: int, expert_ranks: int, zero: int, held_bytes_per_param: int
) -> Value:
    """The optimizer's states of routed experts."""
    return held_bytes_per_param * (
        share(expert_params_per_device, expert_ranks) if zero >= 1 else expert_params_per_device
    )


@figure("bytes", f"{ZERO}, section 3.1 and 5: weights from stage 3, gradients from stage 2 on")
def expert_states_bytes(
    expert_params_per_device: int,
    expert_ranks: int,
    zero: int,
    weight_dtype: str,
    grad_dtype: str,
    expert_optimizer_bytes: int,
) -> Value:
    """All states of routed experts."""
    return (
        BYTES[weight_dtype]
        * (share(expert_params_per_device, expert_ranks) if zero >= 3 else expert_params_per_device)
        + BYTES[grad_dtype]
        * (share(expert_params_per_device, expert_ranks) if zero >= 2 else expert_params_per_device)
        + expert_optimizer_bytes
    )


@figure("bytes", f"{FSDP}, sections 3.2.1 and 3.3.2: one layer whole, the next ahead of it")
def unit_bytes(
    layer_params: float,
    expert_layer_params: float,
    tp: int,
    ep: int,
    zero: int,
    weight_dtype: str,
    grad_dtype: str,
) -> Value:
    """Under ZeRO-3, two layers' weights and one's gradients, whole."""
    return (
        (2 * BYTES[weight_dtype] + BYTES[grad_dtype])
        * ceil(layer_params / tp + expert_layer_params / ep)
        if zero >= 3
        else 0
    )


@figure("bytes", f"{ZERO}, figure 1")
def states_bytes(model_states_bytes: int, expert_states_bytes: int, unit_bytes: int) -> Value:
    """Weights, gradients and optimizer on the fullest rank."""
    return model_states_bytes + expert_states_bytes + unit_bytes


# What it holds of activations.


@figure("bytes", f"{KORTHIKANTI}, section 4.1, without dropout; K and V have heads of their own")
def attention_bytes(
    seq_per_rank: int, batch: int, hidden: int, attention_kept: int, tp: int, sp_parts: int
) -> Value:
    """Attention without its core: its input; Q, K, V and the projection's input, bf16."""
    return 2 * seq_per_rank * batch * (hidden // sp_parts + attention_kept // tp)


@figure("bytes", f"{KORTHIKANTI}, section 4.1, without dropout; a gate is a third of its width")
def mlp_bytes(
    seq_per_rank: int, batch: int, hidden: int, mlp_kept: int, tp: int, sp_parts: int
) -> Value:
    """The MLP's input and what stands inside it; with experts a copy of the input for each."""
    return 2 * seq_per_rank * batch * (hidden // sp_parts + mlp_kept // tp)


@figure("bytes", "Megatron-Core, --recompute-modules layernorm mlp_act; " + DEEPSEEK)
def cheap_bytes(
    seq_per_rank: int, batch: int, hidden: int, cheap_kept: int, tp: int, sp_parts: int
) -> Value:
    """Of these, what comes back without a product, or with MLA's small ones."""
    return 2 * seq_per_rank * batch * (2 * hidden // sp_parts + cheap_kept // tp)


@figure("bytes", f"{KORTHIKANTI}, equations 1 and 4; selective: the cheap part is not kept")
def layer_bytes(
    attention_bytes: int,
    mlp_bytes: int,
    norm_bytes: int,
    core_bytes: int,
    cheap_bytes: int,
    recompute: str,
) -> Value:
    """What one layer keeps of one micro-batch; under full recompute its input alone."""
    return (
        attention_bytes + mlp_bytes + norm_bytes + core_bytes
        if recompute == "none"
        else attention_bytes + mlp_bytes + norm_bytes + core_bytes - cheap_bytes
        if recompute == "selective"
        else norm_bytes // 2
    )


@figure("bytes", "one layer whole again while it goes backward")
def recomputed_bytes(
    attention_bytes: int, mlp_bytes: int, norm_bytes: int, core_bytes: int, layer_bytes: int
) -> Value:
    """What a layer does not keep and has at the peak nevertheless."""
    return attention_bytes + mlp_bytes + norm_bytes + core_bytes - layer_bytes


@figure("bytes", f"{KORTHIKANTI}, section 4.2.3; while a layer goes back it is whole again")
def first_bytes(
    chunk_layers: int, first_stage_chunks: int, layer_bytes: int, recomputed_bytes: int
) -> Value:
    """Activations of the first stage at its peak."""
    return chunk_layers * first_stage_chunks * layer_bytes + recomputed_bytes


@figure("bytes", f"{KORTHIKANTI}, section 4.3; (v-1)p + 1 chunks are alive on 1F1B's last stage")
def last_bytes(
    chunk_layers: int,
    virtual: int,
    pp: int,
    layer_bytes: int,
    recomputed_bytes: int,
    seq_per_rank: int,
    batch: int,
    hidden: int,
    sp_parts: int,
) -> Value:
    """Activations of the last stage beside its logits."""
    return (
        chunk_layers * ((virtual - 1) * pp + 1) * layer_bytes
        + recomputed_bytes
        + 4 * seq_per_rank * batch * hidden // sp_parts
    )


@figure("bytes", f"{LIGER}: 12 bytes a logit at the loss; nothing where the first stage is fuller")
def held_logits_bytes(
    first_bytes: int, last_bytes: int, loss_peak_bytes: int, pp: int
) -> Value:
    """The logits, if the stage that has them is the fullest."""
    return 0 if pp > 1 and first_bytes > last_bytes + loss_peak_bytes else loss_peak_bytes


@figure("bytes", f"{KORTHIKANTI}, sections 4.2.3 and 4.3")
def activations_bytes(first_bytes: int, last_bytes: int, held_logits_bytes: int) -> Value:
    """Activations of the stage that is fullest with its logits."""
    return last_bytes if held_logits_bytes else first_bytes


@figure("bytes", "states, activations and logits of the fullest rank")
def memory_bytes(states_bytes: int, activations_bytes: int, held_logits_bytes: int) -> Value:
    """All of them."""
    return states_bytes + activations_bytes + held_logits_bytes


# How long it takes.


@figure("FLOP", PRODUCTS)
def layer_flops_per_token(
    model_flops_per_token: float, logits_flops_per_token: int, layers: int
) -> Value:
    """One layer, forward and backward; with experts those that a token meets."""
    return (model_flops_per_token - logits_flops_per_token) / layers


@figure("tokens", "a rank's share of a micro-batch: cp cuts the sequence, tp the products")
def token_share(seq: int, batch: int, cp: int, tp: int) -> Value:
    """Tokens of a micro-batch that a rank would do alone."""
    return seq * batch / (cp * tp)


@figure("s", "operations of the fullest rank over the stated share of the dense peak")
def compute_seconds(
    microbatches: int,
    layers_per_stage: int,
    layer_flops_per_token: float,
    token_share: float,
    peak: float,
    efficiency: float,
) -> Value:
    """Products of the layers, forward and backward."""
    return (
        microbatches
        * layers_per_stage
        * layer_flops_per_token
        * token_share
        / (peak * efficiency)
    )


@figure("s", "the products with the causal half of the scores")
def attention_seconds(
    microbatches: int,
    layers_per_stage: int,
    attention_flops_per_token: float,
    layers: int,
    token_share: float,
    peak: float,
    efficiency: float,
) -> Value:
    """Of it, attention between its projections."""
    return (
        microbatches
        * layers_per_stage
        * attention_flops_per_token
        / layers
        * token_share
        / (peak * efficiency)
    )


@figure("s", f"{KORTHIKANTI}, section 5: full is one forward more; selective: bytes, {DEEPSEEK}")
def recompute_seconds(
    compute_seconds: float,
    recompute: str,
    microbatches: int,
    layers_per_stage: int,
    cheap_bytes: int,
    hbm: float,
    cheap_flops: int,
    token_share: float,
    peak: float,
    efficiency: float,
) -> Value:
    """Forwards done again; of the cheap part, its bytes written and read, and what comes before."""
    return (
        0.0
        if recompute == "none"
        else microbatches
        * layers_per_stage
        * (3 * cheap_bytes / hbm + cheap_flops * token_share / (peak * efficiency))
        if recompute == "selective"
        else compute_seconds / 3
    )


@figure("s", f"{MEGATRON}, 3.2; of a layer with experts tp cuts attention alone: {FOLDING}")
def tp_wire_seconds(
    tp_bytes: float,
    tp_halves_per_layer: int,
    microbatches: int,
    layers_per_stage: int,
    moe_share: float,
    tp: int,
    node: int,
    inside: float,
    across: float,
    link_share: float,
    call: float,
    hop_inside: float,
    hop_across: float,
) -> Value:
    """Collectives of tensor parallelism, hidden or not."""
    return (1 - moe_share / 2) * (
        tp_bytes / ((inside if tp <= node else across) * link_share)
        + microbatches
        * layers_per_stage
        * tp_halves_per_layer
        * ring_calls(tp, min(tp, node), call, hop_inside, hop_across)
    )


@figure("s", f"{KORTHIKANTI}, section 4.2.2; Megatron-LM: gradients of inputs beside those of weights")
def tp_seconds(
    tp_wire_seconds: float,
    tp_halves_per_layer: int,
    compute_seconds: float,
    tp: int,
    overlap: bool,
) -> Value:
    """Of them, what shows: 4 of a backward's 6 go beside products, none of a forward's 4."""
    return (
        tp_wire_seconds
        if tp == 1 or not overlap
        else tp_wire_seconds * (tp_halves_per_layer - 4) / tp_halves_per_layer
        + max(0.0, tp_wire_seconds * 4 / tp_halves_per_layer - 2 * compute_seconds / 3)
    )


@figure("s", f"{RING_ATTENTION}: a block comes in while the one before is worked on")
def cp_seconds(
    cp_bytes: float,
    cp_hops_per_layer: int,
    microbatches: int,
    layers_per_stage: int,
    attention_seconds: float,
    overlap: bool,
    tp: int,
    cp: int,
    node: int,
    inside: float,
    across: float,
    link_share: float,
    hop_inside: float,
    hop_across: float,
) -> Value:
    """Keys and values going round, beyond the attention they hide behind."""
    return max(
        0.0,
        cp_bytes / ((inside if tp * cp <= node else across) * link_share)
        + microbatches
        * layers_per_stage
        * cp_hops_per_layer
        * (hop_inside if tp * cp <= node else hop_across)
        - (attention_seconds * (cp - 1) / cp if overlap else 0),
    )


@figure("bytes", f"{GSHARD}; again if recomputed; {FOLDING}: tp has cut the tokens")
def ep_bytes(
    microbatches: int,
    layers_per_stage: int,
    moe_share: float,
    recompute: str,
    topk: int,
    hidden: int,
    token_share: float,
    dtype_bytes: float,
    ep: int,
) -> Value:
    """Tokens to their experts and back, evenly spread."""
    return (
        microbatches
        * layers_per_stage
        * moe_share
        * (6 if recompute == "full" else 4)
        * topk
        * hidden
        * token_share
        * dtype_bytes
        * (ep - 1)
        / ep
    )


@figure("s", "the slower of what stays inside nodes and what leaves them; ranks of ep lie together")
def ep_seconds(
    ep_bytes: float,
    microbatches: int,
    layers_per_stage: int,
    moe_share: float,
    recompute: str,
    ep: int,
    node: int,
    inside: float,
    across: float,
    link_share: float,
    call: float,
    hop_inside: float,
    hop_across: float,
) -> Value:
    """All-to-alls of expert parallelism, none of it hidden."""
    return (
        0.0
        if ep == 1
        else max(
            ep_bytes * (min(ep, node) - 1) / (ep - 1) / (inside * link_share),
            ep_bytes * max(0, ep - node) / (ep - 1) / (across * link_share),
        )
        + microbatches
        * layers_per_stage
        * moe_share
        * (6 if recompute == "full" else 4)
        * (call + (hop_inside if ep <= node else hop_across))
    )


@figure("s", "compute, recompute and what shows of tp, cp and ep, for one micro-batch")
def work_seconds(
    compute_seconds: float,
    recompute_seconds: float,
    tp_seconds: float,
    cp_seconds: float,
    ep_seconds: float,
    microbatches: int,
) -> Value:
    """How long the fullest rank without logits is busy with one micro-batch."""
    return (
        compute_seconds + recompute_seconds + tp_seconds + cp_seconds + ep_seconds
    ) / microbatches


@figure("s", PRODUCTS + "; the last rank has a layer less where layers leave a rest")
def logits_seconds(
    microbatches: int,
    logits_flops_per_token: int,
    token_share: float,
    peak: float,
    efficiency: float,
    work_seconds: float,
    layers: int,
    layers_per_stage: int,
    pp: int,
) -> Value:
    """How much longer the rank with the logits is busy than the others."""
    return microbatches * max(
        0.0,
        logits_flops_per_token * token_share / (peak * efficiency)
        - (work_seconds / layers_per_stage if layers_per_stage * pp > layers else 0),
    )


@figure("s", f"{NARAYANAN}: (p - 1)(F + B)/v")
def bubble_seconds(work_seconds: float, pp: int, virtual: int) -> Value:
    """How long a rank waits while the pipeline fills and drains."""
    return (pp - 1) * work_seconds / virtual


@figure("s", f"{MEGATRON}, 4.1: tp ranks send each its part")
def hop_seconds(
    activation_bytes: float,
    tp: int,
    gpus: int,
    node: int,
    inside: float,
    across: float,
    link_share: float,
    hop_inside: float,
    hop_across: float,
) -> Value:
    """One micro-batch from a stage to the next."""
    return (
        activation_bytes / tp / (inside * link_share) + hop_inside
        if gpus <= node
        else activation_bytes / tp / (across * link_share) + hop_across
    )


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
    tp: int, cp: int, dp: int, node: int, inside: float, across: float, link_share: float
) -> Value:
    """What a ring of data parallelism carries for each of its ranks."""
    return link_share * (
        inside if tp * cp * dp <= node else min(inside, across * max(1, node // tp))
    )


@figure("bytes/s", "the same for the ranks that hold the same experts")
def expert_rate(
    tp: int, cp: int, dp: int, ep: int, node: int, inside: float, across: float, link_share: float
) -> Value:
    """What a ring of them carries for each of its ranks."""
    return link_share * (
        inside if tp * cp * dp <= node else min(inside, across * max(1, node // ep))
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
    params_per_device: int,
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
        params_per_device * grad_bytes * (shard_ranks - 1) / shard_ranks / dp_rate
        + expert_params_per_device * grad_bytes * (expert_ranks - 1) / expert_ranks / expert_rate
        + dp_calls_seconds
    )


@figure("s", f"{ZERO}, 7: (n-1)/n of the weights")
def gather_seconds(
    params_per_device: int,
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
        params_per_device * dtype_bytes * (shard_ranks - 1) / shard_ranks / dp_rate
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
def update_seconds(optimizer_bytes: int, expert_optimizer_bytes: int, hbm: float) -> Value:
    """The optimizer's step."""
    return 2 * (optimizer_bytes + expert_optimizer_bytes) / hbm


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


PARTS = (
    "compute",
    "recompute",
    "tp",
    "cp",
    "ep",
    "logits",
    "bubble",
    "pp",
    "dp",
    "update",
)
"""What a step is the sum of; figures with `_seconds` behind them."""

FIGURES: tuple[Figure, ...] = (
    microbatches,
    chunk_layers,
    layers_per_stage,
    params_per_device,
    shard_ranks,
    optimizer_bytes_per_param,
    held_bytes_per_param,
    weights_bytes,
    gradients_bytes,
    optimizer_bytes,
    model_states_bytes,
    expert_params_per_device,
    expert_ranks,
    expert_optimizer_bytes,
    expert_states_bytes,
    unit_bytes,
    states_bytes,
    seq_per_rank,
    sp_parts,
    core_bytes,
    attention_bytes,
    mlp_bytes,
    norm_bytes,
    cheap_bytes,
    layer_bytes,
    recomputed_bytes,
    first_stage_chunks,
    first_bytes,
    last_bytes,
    loss_peak_bytes,
    held_logits_bytes,
    activations_bytes,
    memory_bytes,
    attention_flops_per_token,
    model_flops_per_token,
    logits_flops_per_token,
    layer_flops_per_token,
    token_share,
    compute_seconds,
    attention_seconds,
    recompute_seconds,
    activation_bytes,
    tp_halves_per_layer,
    tp_bytes,
    tp_wire_seconds,
    tp_seconds,
    kv_block_bytes,
    cp_hops_per_layer,
    cp_bytes,
    cp_seconds,
    ep_bytes,
    ep_seconds,
    work_seconds,
    logits_seconds,
    bubble_seconds,
    hop_seconds,
    shown_hops,
    pp_seconds,
    dp_rate,
    expert_rate,
    dp_calls_seconds,
    scatter_seconds,
    gather_seconds,
    forward_seconds,
    backward_seconds,
    dp_seconds,
    update_seconds,
    step_seconds,
    tokens_per_second,
    model_flops_per_second_per_gpu,
    mfu,
)
