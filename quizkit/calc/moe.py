"""A mixture of experts: its parameters and FLOPs, what its all-to-alls send, what capacity drops.

Routing is taken for uniform and random: each token goes to k different experts, all sets of k alike
likely, so an expert's tokens are binomial, n = tokens and p = k / E. Real routers are not uniform;
then what is sent in all stays, and drops and the busiest rank's load grow. Experts lie on their
ranks, and ranks on nodes, in runs of equal length.
"""

from collections.abc import Mapping
from math import ceil, comb, exp, lgamma, log

from quizkit.calc.figure import Value, figure
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap

SHAZEER = "Shazeer et al., Sparsely-Gated Mixture-of-Experts, ICLR 2017, section 2"
GSHARD = "Lepikhin et al., GShard, ICLR 2021, section 2.2"
SWITCH = "Fedus et al., Switch Transformers, JMLR 2022, section 2.2, equation 3"
DEEPSEEK = "DeepSeek-AI, DeepSeek-V3, 2024"
BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "fp8": 1}  # scales of fp8 are left out
SMALLEST = 1e-20
"""A tail is summed until a term is so small a part of what there is."""


def over(tokens: int, chance: float, room: int) -> float:
    """How many of binomially many come beyond `room`, in the mean: E[max(0, X - room)].

    The exact sum, in floats: from its first term on each follows from the one before.
    """
    if room >= tokens:
        return 0.0
    if chance >= 1:
        return float(tokens - room)
    # Below the mean the lower tail is the short one: E[X - room] = E[(X-room)+] - E[(room-X)+].
    mean = tokens * chance
    if room < mean:
        return mean - room + over(tokens, 1 - chance, tokens - room)
    odds = chance / (1 - chance)
    many = room + 1
    ways = lgamma(tokens + 1) - lgamma(many + 1) - lgamma(tokens - many + 1)
    term = exp(ways + many * log(chance) + (tokens - many) * log(1 - chance))
    total = 0.0
    while many <= tokens and term:
        total += term * (many - room)
        if term * (many - room) < SMALLEST * total:
            break
        term *= (tokens - many) / (many + 1) * odds
        many += 1
    return total


def reached(experts: int, topk: int, groups: int) -> float:
    """How many of equal groups of experts k different ones lie in, in the mean."""
    return groups * (1 - comb(experts - experts // groups, topk) / comb(experts, topk))


@figure("params", f"{SHAZEER}; gated: three matrices")
def expert_params(hidden: int, expert_ffn: int, gated: bool) -> int:
    """One expert, without biases."""
    return (3 if gated else 2) * hidden * expert_ffn


@figure("params", f"{SHAZEER}.1: a router scores every expert; shared ones: {DEEPSEEK}, eq. 12")
def layer_params(expert_params: int, hidden: int, experts: int, shared_experts: int) -> int:
    """One layer of experts: its router, all experts, the shared ones."""
    return hidden * experts + (experts + shared_experts) * expert_params


@figure("params", f"{SHAZEER}: k of E; {DEEPSEEK}, eq. 12")
def active_layer_params(
    expert_params: int, hidden: int, experts: int, topk: int, shared_experts: int
) -> int:
    """Of that layer, what one token meets: the router, its k experts, the shared ones."""
    return hidden * experts + (topk + shared_experts) * expert_params


@figure("params", "the layers of experts, and what is outside them")
def total_params(outside: int, moe_layers: int, layer_params: int) -> int:
    """What has to be kept."""
    return outside + moe_layers * layer_params


@figure("params", "the same, of experts only those a token is sent to")
def active_params(outside: int, moe_layers: int, active_layer_params: int) -> int:
    """What one token meets, tables of the vocabulary among it."""
    return outside + moe_layers * active_layer_params


@figure("share", "active_params over total_params")
def active_share(active_params: int, total_params: int) -> float:
    """How small a part of the model a token meets."""
    return active_params / total_params


@figure("FLOP", "Kaplan et al., Scaling Laws, 2020, section 2.1: six per parameter multiplied by")
def flops_per_token(active_params: int, looked_up: int) -> int:
    """Forward and backward, without attention's scores; idle experts cost none."""
    return 6 * (active_params - looked_up)


@figure("rows", f"{GSHARD}: a token is sent once for each of its experts")
def copies(tokens: int, topk: int) -> int:
    """Copies of this rank's tokens."""
    return tokens * topk


@figure("rows", f"{SHAZEER}: k B d / n, tokens of all d ranks")
def tokens_per_expert(tokens: int, topk: int, ep: int, experts: int) -> float:
    """What one expert computes, from all ranks, in the mean."""
    return tokens * topk * ep / experts


@figure("share", "uniform routing: 1/ep of the copies find their expert at home")
def remote_share(ep: int) -> float:
    """Of the copies, those that leave this rank."""
    return (ep - 1) / ep


@figure("bytes", f"{GSHARD}: the first all-to-all; fp8: {DEEPSEEK}, section 3.3.3")
def dispatch_bytes(copies: int, hidden: int, dispatch_dtype: str, remote_share: float) -> float:
    """Sent by one rank in one layer's forward, tokens to their experts."""
    return copies * hidden * BYTES[dispatch_dtype] * remote_share


@figure("bytes", f"{GSHARD}: the second all-to-all; bf16: {DEEPSEEK}, section 3.3.3")
def combine_bytes(copies: int, hidden: int, combine_dtype: str, remote_share: float) -> float:
    """Sent by one rank in one layer's forward, results back to their tokens."""
    return copies * hidden * BYTES[combine_dtype] * remote_share


@figure("bytes", "the gradient of an all-to-all is the reverse one, taken to be of the same type")
def all_to_all_bytes(dispatch_bytes: float, combine_bytes: float) -> float:
    """Sent by one rank in one layer, forward and backward: four all-to-alls."""
    return 2 * (dispatch_bytes + combine_bytes)


@figure("bytes", "all-gather of the tokens and reduce-scatter of the results, rings")
def gathering_bytes(
    tokens: int, ep: int, hidden: int, dispatch_dtype: str, combine_dtype: str
) -> int:
    """Forward of the other way: all tokens on all ranks. Less only where k > ep."""
    return tokens * (ep - 1) * hidden * (BYTES[dispatch_dtype] + BYTES[combine_dtype])


@figure("count", f"{DEEPSEEK}, section 2.1.2: node-limited routing; uniform among those nodes")
def nodes_per_token(experts: int, topk: int, ep: int, node: int, node_limit: int) -> float | None:
    """Nodes that hold a token's experts, in the mean; its own may be among them."""
    return (
        None
        if ep <= node
        else reached(experts * node_limit * node // ep, topk, node_limit)
        if node_limit > 0
        else reached(experts, topk, ep // node)
    )


@figure("bytes", f"{DEEPSEEK}, section 3.2.2: a token crosses once for each node, not each expert")
def across_bytes(
    tokens: int,
    nodes_per_token: float,
    hidden: int,
    dispatch_dtype: str,
    combine_dtype: str,
    ep: int,
    node: int,
) -> float:
    """Dispatch and combine of one layer's forward between nodes, one copy a node."""
    return (
        tokens
        * nodes_per_token
        * hidden
        * (BYTES[dispatch_dtype] + BYTES[combine_dtype])
        * (ep - node)
        / ep
    )


@figure("s", "bytes over bandwidth; nothing overlaps, latency is left out")
def across_seconds(across_bytes: float, inter: float) -> float:
    """Time of it on the wire between nodes."""
    return across_bytes / inter


@figure("rows", f"{SWITCH}; of each rank's tokens, as Megatron-LM counts")
def capacity(tokens: int, topk: int, experts: int, capacity_factor: float) -> int:
    """Copies that one rank may send to one expert."""
    return ceil(tokens * topk * capacity_factor / experts)


@figure("share", "E[max(0, X - C)] / (T k / E), X binomial(T, k/E): the exact sum")
def dropped_share(tokens: int, topk: int, experts: int, capacity: int) -> float:
    """Copies beyond capacity, expected under uniform random routing."""
    return over(tokens, topk / experts, capacity) * experts / (tokens * topk)


@figure("share", f"{SWITCH}: what is not filled is computed as padding")
def empty_share(tokens: int, topk: int, experts: int, capacity: int, dropped_share: float) -> float:
    """Of all slots, those that stay empty."""
    return 1 - tokens * topk * (1 - dropped_share) / (experts * capacity)


def _routes(values: Mapping[str, Value | None]) -> None:
    """A token's experts are different ones, and ranks and nodes hold equally many."""
    number = {name: int(str(values[name])) for name in ("experts", "topk", "ep", "node")}
    experts, topk, ep, node = number.values()
    if topk > experts:
        raise CalcError("calc_moe_topk", topk=topk, experts=experts)
    _shared_out("experts", experts, ep)
    if ep > node:
        _shared_out("ep", ep, node)
    limit = int(str(values["node_limit"]))
    nodes = ceil(ep / node)
    if limit > nodes or (limit and experts // nodes * limit < topk):
        raise CalcError("calc_moe_limit", limit=limit, nodes=nodes, topk=topk)


def _shared_out(name: str, value: int, parts: int) -> None:
    if value % parts:
        low = value // parts * parts
        raise CalcError("calc_share", name=name, value=value, parts=parts, low=low or parts,
                        high=low + parts)  # fmt: skip


SHEET = Calculator(
    "moe",
    inputs=[
        Input("experts", required=True, of_model=lambda m: m.experts),
        Input("topk", required=True, of_model=lambda m: m.topk),
        Input("hidden", required=True, of_model=lambda m: m.hidden),
        Input("expert_ffn", of_model=lambda m: m.expert_ffn),
        Input("gated", "flag", True, of_model=lambda m: m.gated),
        Input("shared_experts", default=0, least=0, of_model=lambda m: m.shared_experts),
        Input("moe_layers", default=1, of_model=lambda m: m.moe_layers),
        Input(
            "outside",
            default=0,
            least=0,
            of_model=lambda m: m.params - m.expert_params - m.moe_layers * m.shared_params,
        ),
        Input(
            "looked_up",
            default=0,
            least=0,
            of_model=lambda m: m.active_params - m.multiplied_params,
        ),
        Input("tokens"),
        Input("ep", default=1),
        Input("dispatch_dtype", "choice", "bf16", tuple(BYTES)),
        Input("combine_dtype", "choice", "bf16", tuple(BYTES)),
        Input("node", default=8, of_chip=lambda c: c.node),
        Input("node_limit", default=0, least=0),
        Input("inter", "rate", of_chip=lambda c: c.across),
        Input("capacity_factor", "number", least=0),
    ],
    figures=[
        expert_params,
        layer_params,
        active_layer_params,
        total_params,
        active_params,
        active_share,
        flops_per_token,
        copies,
        tokens_per_expert,
        remote_share,
        dispatch_bytes,
        combine_bytes,
        all_to_all_bytes,
        gathering_bytes,
        nodes_per_token,
        across_bytes,
        across_seconds,
        capacity,
        dropped_share,
        empty_share,
    ],
    rules=[_routes],
    models="experts",
    quiz=Quiz(
        "dispatch_bytes",
        "MB",
        draws={
            "tokens": (2048, 4096, 8192),
            "hidden": (4096, 6144, 7168),
            "experts": (64, 128, 256),
            "topk": (2, 4, 6, 8),
            "ep": (4, 8, 16),
        },
        traps=(
            SumTrap("2 * tokens * hidden * (ep - 1) / ep", "moe_one_copy"),
            SumTrap("2 * tokens * topk * hidden", "moe_none_at_home"),
            SumTrap("4 * tokens * topk * hidden * (ep - 1) / ep", "moe_both_ways"),
            SumTrap("2 * tokens * topk * hidden / ep", "moe_stays_at_home"),
        ),
        scale=1e6,
    ),
)
