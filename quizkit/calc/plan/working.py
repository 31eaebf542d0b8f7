"""How long a rank is busy with its layers: products, and the collectives that stand between them.

Seconds are those of a whole step on the fullest rank unless a figure says otherwise.
"""

from math import ceil

from quizkit.calc.activations import PAPER as KORTHIKANTI
from quizkit.calc.figure import Value, figure
from quizkit.calc.flops import PRODUCTS
from quizkit.calc.plan.holding import DEEPSEEK, FOLDING
from quizkit.calc.traffic import MEGATRON, RING_ATTENTION

ROOFLINE = "Williams et al., Roofline, CACM 2009"
GSHARD = "Lepikhin et al., GShard, 2020: dispatch and combine, and their gradients"


def ring_calls(ranks: int, near: int, call: float, hop_inside: float, hop_across: float) -> float:
    """What a ring's steps cost whatever it carries; `near` of its ranks share a node."""
    nodes = ceil(ranks / near)
    return call + (nodes - 1) * hop_across + (ranks - nodes) * hop_inside if ranks > 1 else 0.0


def slower(ridge: float, tokens: float) -> float:
    """A forward and a backward over their operations: each of three products waits for memory.

    The third adds to a gradient in fp32: 8 bytes a weight, where the others read 2.
    """
    return (2 * max(1.0, ridge / tokens) + max(1.0, 4 * ridge / tokens)) / 3


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


@figure("FLOP", PRODUCTS)
def expert_flops_per_token(topk: int, experts: int, expert_layer_params: float) -> Value:
    """Of one layer's, those of routed experts."""
    return 6 * topk * expert_layer_params / experts if experts else 0


@figure("tokens", f"{ROOFLINE}: where products take as long as reading their weights in bf16")
def ridge_tokens(peak: float, efficiency: float, hbm: float) -> Value:
    """Rows of a product from which on arithmetic, and not memory, sets its time."""
    return peak * efficiency / hbm


@figure("times", f"{ROOFLINE}: every tp rank works on all tokens of its part of a sequence")
def dense_slowdown(ridge_tokens: float, seq: int, batch: int, cp: int) -> Value:
    """How much longer products take than their operations, outside experts."""
    return slower(ridge_tokens, seq * batch / cp)


@figure("times", f"{ROOFLINE}: an expert has its even share of the tokens of all ranks of ep")
def expert_slowdown(
    ridge_tokens: float, token_share: float, topk: int, experts: int, ep: int
) -> Value:
    """The same of routed experts: with few tokens each, reading weights takes longer."""
    return slower(ridge_tokens, token_share * ep * topk / experts) if experts else 1.0


@figure("s", "operations of the fullest rank over the stated share of the dense peak")
def compute_seconds(
    microbatches: int,
    layers_per_stage: int,
    layer_flops_per_token: float,
    expert_flops_per_token: float,
    dense_slowdown: float,
    expert_slowdown: float,
    token_share: float,
    peak: float,
    efficiency: float,
) -> Value:
    """Products of the layers, forward and backward."""
    return (
        microbatches
        * layers_per_stage
        * (
            (layer_flops_per_token - expert_flops_per_token) * dense_slowdown
            + expert_flops_per_token * expert_slowdown
        )
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


@figure(
    "s", f"{KORTHIKANTI}, section 4.2.2; Megatron-LM: gradients of inputs beside those of weights"
)
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


@figure("s", f"{RING_ATTENTION}, section 3: results of blocks are summed in fp32")
def merge_seconds(
    microbatches: int,
    layers_per_stage: int,
    cp: int,
    token_share: float,
    heads: int,
    head_dim: int,
    hbm: float,
) -> Value:
    """Partial results of ring attention read and added up: 12 bytes a number and block, twice."""
    return microbatches * layers_per_stage * (cp - 1) * 24 * token_share * heads * head_dim / hbm


@figure("s", f"{RING_ATTENTION}: a block comes in while the one before is worked on")
def cp_seconds(
    cp_bytes: float,
    cp_hops_per_layer: int,
    microbatches: int,
    layers_per_stage: int,
    attention_seconds: float,
    merge_seconds: float,
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
    """Keys and values going round, beyond the attention they hide behind, and adding up."""
    return merge_seconds + max(
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
