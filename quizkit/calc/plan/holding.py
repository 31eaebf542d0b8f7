"""What a layout makes a rank hold: states, activations, logits.

A name means here what it means in the other calculators: `batch` is a micro-batch.
"""

from math import ceil

from quizkit.calc.activations import LIGER
from quizkit.calc.activations import PAPER as KORTHIKANTI
from quizkit.calc.figure import Value, figure
from quizkit.calc.memory import BYTES, FSDP, ZERO, share
from quizkit.calc.schedule.theory import NARAYANAN
from quizkit.calc.traffic import MEGATRON

FOLDING = "Liu et al., MoE Parallel Folding, 2025: experts are cut apart from attention"
DEEPSEEK = "DeepSeek-V3, 2024, section 3.2.3"


@figure("micro-batches", f"{MEGATRON}, 2.2: m = B / (d b)")
def microbatches(global_batch: int, dp: int, batch: int) -> Value:
    """Micro-batches that a pipeline works through in a step."""
    return global_batch // (dp * batch)


@figure("layers", f"{NARAYANAN}: v chunks of each device, in turn")
def chunk_layers(layers: int, pp: int, virtual: int) -> Value:
    """Layers of the fullest chunk."""
    return ceil(layers / (pp * virtual))


@figure("params", f"{MEGATRON}: tp cuts matrices, pp layers; an end stage has a table of words")
def dense_params_per_device(
    layers_per_stage: int,
    layer_params: float,
    vocab: int,
    hidden: int,
    tied: bool,
    tp: int,
    pp: int,
) -> Value:
    """The fullest rank's parameters without routed experts, before ZeRO."""
    return ceil(
        (layers_per_stage * layer_params + (1 if tied or pp > 1 else 2) * vocab * hidden) / tp
    )


@figure("params", f"{FOLDING}: pp and ep cut them, tp does not")
def expert_params_per_device(layers_per_stage: int, expert_layer_params: float, ep: int) -> Value:
    """The fullest rank's routed experts, before ZeRO; a layer has the mean number of them."""
    return ceil(layers_per_stage * expert_layer_params / ep)


@figure("params", "of both kinds")
def params_per_device(dense_params_per_device: int, expert_params_per_device: int) -> Value:
    """The fullest rank's parameters, before ZeRO."""
    return dense_params_per_device + expert_params_per_device


@figure("ranks", f"{FOLDING}: ep is cut out of tp x cp x dp")
def expert_ranks(tp: int, cp: int, dp: int, ep: int) -> Value:
    """Ranks that hold the same experts."""
    return tp * cp * dp // ep


@figure("params", f"{ZERO}, section 5: equal shards; experts over those who hold the same ones")
def params_per_shard(
    dense_params_per_device: int,
    shard_ranks: int,
    expert_params_per_device: int,
    expert_ranks: int,
) -> Value:
    """Of the parameters of one rank, its shard."""
    return share(dense_params_per_device, shard_ranks) + share(
        expert_params_per_device, expert_ranks
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
def states_bytes(model_states_bytes: int, unit_bytes: int) -> Value:
    """Weights, gradients and optimizer on the fullest rank."""
    return model_states_bytes + unit_bytes


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
def held_logits_bytes(first_bytes: int, last_bytes: int, loss_peak_bytes: int, pp: int) -> Value:
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
