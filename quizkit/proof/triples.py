"""Each calculator's smallest real configurations: what `calc --check` holds against a run.

The demos compute in fp64 where they are compared with a reference, so element sizes are said.
"""

from quizkit.bank.functions import Scalar, Value
from quizkit.proof.triple import Triple

_LAYER: dict[str, Value] = {"hidden": 96, "heads": 24, "seq": 48, "batch": 2}
_MODEL: dict[str, Value] = {"params": 3 * 24 * 24}
# The flops demo's model; it multiplies under the mask too, so the sheet's causal stays off.
_DECODER: dict[str, Value] = {
    "layers": 2,
    "hidden": 32,
    "heads": 4,
    "kv_heads": 2,
    "seq": 16,
    "vocab": 50,
    "ffn": 88,
    "gated": True,
}
_UNTIED: dict[str, Value] = {"embeddings": "untied", "positions": "rotary", "norm": "rms"}


_DEMOS = {
    "interleaved": "pipeline-interleaved",
    "zb-h1": "pipeline-zero-bubble",
    "zb-h2": "pipeline-zero-bubble",
    "dualpipe": "pipeline-dualpipe",
    "dualpipe-v": "pipeline-dualpipe",
}
_SIZES = {"interleaved": ((4, 8), (3, 6)), "dualpipe": ((4, 8), (6, 14)), "dualpipe-v": ((4, 8),)}


def _pipeline(schedule: str, formula: str, simulator: str, measured: str) -> list[Triple]:
    """On one 2-power and another pipeline where one can; a backward is both of its halves."""
    return [
        Triple(
            "pipeline",
            {"stages": stages, "microbatches": microbatches, "schedule": schedule},
            formula,
            simulator,
            _DEMOS.get(schedule, "pipeline"),
            stages,
            {"microbatches": microbatches},
            measured,
        )
        for stages, microbatches in _SIZES.get(schedule, ((4, 8), (3, 5)))
    ]


def _memory(zero: int, figure: str, metric: str) -> Triple:
    inputs: dict[str, Value] = {**_MODEL, "dp": 4, "zero": zero}
    return Triple("memory", inputs, figure, "", "model-states", 4, {}, f"{metric}_{zero}[0]")


def _fsdp(inputs: dict[str, Value], figure: str, measured: str) -> Triple:
    """Four layers of 156 weights on 4 ranks; an element has 8 bytes there, 4 in the sheet."""
    model: dict[str, Value] = {"params": 624, "weight_dtype": "fp32", "master": False, "zero": 3}
    return Triple("memory", {**model, **inputs}, figure, "", "fsdp", 4, {}, f"({measured}) / 2")


def _experts(figure: str, measured: str) -> Triple:
    """All tokens go to all 8 experts: what is sent is certain. 8 bytes a number, in the sheet 4."""
    inputs: dict[str, Value] = {"experts": 8, "topk": 8, "hidden": 12, "tokens": 10, "ep": 4,
                                "dispatch_dtype": "fp32", "combine_dtype": "fp32"}  # fmt: skip
    return Triple("moe", inputs, figure, "", "moe", 4, {"experts": 8, "top": 8}, measured)


def _activations(recompute: str, sp: bool) -> Triple:
    inputs: dict[str, Value] = {**_LAYER, "layers": 1, "tp": 4, "sp": sp, "recompute": recompute}
    inputs["flash"] = False  # the demo keeps scores, as the paper's layer does
    measured = f"bytes_{recompute}_{'sp' if sp else 'tp'}[0]"
    return Triple("activations", inputs, "bytes_per_layer", "", "activations", 4, {}, measured)


def _traffic(
    inputs: dict[str, Value], figure: str, demo: str, args: dict[str, Scalar], measured: str
) -> Triple:
    return Triple("traffic", {"params": 1, **inputs}, figure, "", demo, 4, args, measured)


def _flops(figure: str, recompute: str, measured: str) -> Triple:
    inputs: dict[str, Value] = {**_DECODER, **_UNTIED, "batch": 8, "recompute": recompute}
    return Triple("flops", inputs, figure, "", "flops", 1, {"recompute": recompute}, measured)


def _cache(figure: str, inputs: dict[str, Value], measured: str) -> Triple:
    inputs = {"layers": 2, "seq": 10, "batch": 2, **inputs}
    return Triple("kv", inputs, figure, "", "kv-cache", 1, {}, measured)


def _rate(name: str, figure: str, inputs: dict[str, Value], measured: str) -> Triple:
    """A sum that needs a speed nobody measured: what was counted is what each token costs."""
    inputs = {**_DECODER, **inputs, "recompute": "full"}
    return Triple(name, inputs, figure, "", "flops", 1, {"recompute": "full"}, measured)


TRIPLES: tuple[Triple, ...] = (
    *(_memory(zero, "model_states_bytes", "state_bytes") for zero in range(4)),
    _memory(1, "optimizer_bytes", "optimizer_bytes"),
    _memory(2, "gradients_bytes", "gradients_bytes"),
    _memory(3, "weights_bytes", "weights_bytes"),
    _fsdp({"dp": 4}, "weights_bytes", "weights_idle_full[0]"),
    _fsdp({"dp": 2, "cp": 2}, "weights_bytes", "weights_idle_full[0]"),
    _fsdp({"dp": 4, "shard": 2}, "weights_bytes", "weights_idle_hybrid[0]"),
    _fsdp({"dp": 4, "unit": 156, "prefetch": 0}, "gathered_bytes",
          "weights_peak_full[0] - weights_idle_full[0]"),
    *(_activations(kind, sp) for kind in ("none", "selective", "full") for sp in (False, True)),
    # Two layers, and 8 bytes an element where the sheet has 4.
    Triple("activations", {"hidden": 16, "heads": 2, "seq": 96, "cp": 4, "dropout": False,
                           "dtype": "fp32"}, "mlp_bytes", "", "cp-activations", 4, {},
           "kept_mlp[0] / 4"),
    # The demo keeps the mean's divisor as well.
    Triple("activations", {"hidden": 16, "heads": 1, "seq": 256, "vocab": 1000}, "logits_bytes",
           "", "chunked-loss", 1, {}, "kept_whole - 16"),
    Triple("activations", {"hidden": 16, "heads": 1, "seq": 256, "vocab": 1000},
           "loss_peak_bytes", "", "chunked-loss", 1, {}, "peak_whole - 8"),
    Triple("memory", {"params": 2304, "dp": 2, "zero": 2, "offload": True}, "moved_bytes", "",
           "offload", 2, {}, "up_states[0] + down_states[0]"),
    *_pipeline("gpipe", "closed_makespan", "makespan", "makespan_gpipe"),
    *_pipeline("1f1b", "closed_makespan", "makespan", "makespan_1f1b"),
    *_pipeline("gpipe", "closed_bubble_over_ideal", "bubble_over_ideal", "overhead_gpipe"),
    *_pipeline("1f1b", "closed_bubble_over_ideal", "bubble_over_ideal", "overhead_1f1b"),
    *_pipeline("1f1b", "closed_bubble_share", "bubble_share", "bubble_1f1b"),
    *_pipeline("gpipe", "closed_peak_live", "peak_live", "peak_live_gpipe"),
    *_pipeline("1f1b", "closed_peak_live", "peak_live", "peak_live_1f1b"),
    *_pipeline("1f1b", "", "messages", "sum(messages_1f1b)"),
    *_pipeline("interleaved", "closed_makespan", "makespan", "makespan_interleaved"),
    *_pipeline("interleaved", "closed_bubble_over_ideal", "bubble_over_ideal",
               "overhead_interleaved"),
    *_pipeline("interleaved", "closed_bubble_share", "bubble_share", "bubble_interleaved"),
    *_pipeline("interleaved", "", "peak_live_whole", "peak_live_interleaved"),
    *_pipeline("interleaved", "", "messages", "sum(messages_interleaved)"),
    *_pipeline("zb-h1", "closed_makespan", "makespan", "makespan_zb_h1"),
    *_pipeline("zb-h1", "closed_bubble", "", "idle_zb_h1"),
    *_pipeline("zb-h1", "closed_bubble_share", "bubble_share", "bubble_zb_h1"),
    *_pipeline("zb-h1", "closed_peak_live", "peak_live", "peak_live_zb_h1"),
    *_pipeline("zb-h1", "", "idle_per_device", "waits_zb_h1"),
    *_pipeline("zb-h2", "closed_makespan", "makespan", "makespan_zb_h2"),
    *_pipeline("zb-h2", "closed_peak_live", "peak_live", "peak_live_zb_h2"),
    *_pipeline("zb-h2", "", "idle_per_device", "waits_zb_h2"),
    *_pipeline("dualpipe", "closed_bubble", "", "idle_dualpipe"),
    *_pipeline("dualpipe", "closed_peak_live", "peak_live", "peak_live_dualpipe"),
    *_pipeline("dualpipe-v", "closed_bubble", "", "idle_dualpipe_v"),
    *_pipeline("dualpipe-v", "", "peak_live_whole", "peak_live_dualpipe_v"),
    # Where no closed form holds, the simulator alone is held against the run.
    Triple(
        "pipeline",
        {"stages": 4, "microbatches": 8, "latency": 0.5},
        "",
        "makespan",
        "pipeline",
        4,
        {"microbatches": 8, "hop": 0.5},
        "makespan_1f1b",
    ),
    Triple(
        "pipeline",
        {"stages": 4, "microbatches": 8, "stage_times": [3, 1, 1, 1]},
        "",
        "makespan",
        "pipeline",
        4,
        {"microbatches": 8, "imbalance": 3},
        "makespan_1f1b",
    ),
    _traffic({"dp": 4, "params": 1200, "grad_bytes": 8}, "dp_bytes", "all-reduce",
             {"elements": 1200}, "sent_bytes_ring[0]"),
    *(_traffic({**_MODEL, "dp": 4, "zero": zero}, "zero_bytes", "model-states", {},
               f"sent_bytes_{zero}[0]") for zero in (1, 2, 3)),
    _traffic({**_MODEL, "dp": 4, "zero": 2, "microbatches": 3}, "zero_bytes", "model-states",
             {"microbatches": 3}, "sent_bytes_2[0]"),
    _traffic({"tp": 4, **_LAYER, "layers": 1, "dtype_bytes": 2}, "tp_bytes", "activations", {},
             "sent_forward_tp[0] + sent_backward_tp[0]"),
    _traffic({"tp": 4, **_LAYER, "layers": 1, "sp": True}, "tp_bytes", "activations", {},
             "sent_forward_sp[0] + sent_backward_sp[0]"),
    _traffic({"pp": 4, "layers": 8, "batch": 4, "seq": 1, "hidden": 16, "microbatches": 8,
              "dtype_bytes": 8}, "pp_bytes", "pipeline", {"microbatches": 8}, "sent_bytes_1f1b[1]"),
    _traffic({"cp": 4, "layers": 1, "seq": 384, "hidden": 32, "heads": 2, "dtype_bytes": 8},
             "cp_bytes", "ring-attention", {}, "sent_forward[0] + sent_backward[0]"),
    # Four experts of 80 weights on 4 ranks, each on two; momentum and variance, 16 bytes.
    Triple("memory", {"params": 320, "expert_params": 320, "dp": 4, "ep": 2, "zero": 1,
                      "weight_dtype": "fp32", "master": False}, "optimizer_bytes", "",
           "moe-groups", 4, {}, "expert_states[0] / 2"),
    # The same model's experts and its dense layer of 2 x 8 x 24, and all tokens to all experts.
    _traffic({"params": 320, "expert_params": 320, "ep": 2, "dp": 4, "grad_bytes": 8, "topk": 2,
              "moe_layers": 1, "seq": 6, "hidden": 8}, "dp_bytes", "moe-groups", {},
             "expert_sent[0]"),
    _traffic({"params": 704, "expert_params": 320, "ep": 2, "dp": 4, "grad_bytes": 8, "topk": 2,
              "moe_layers": 1, "seq": 6, "hidden": 8}, "dp_bytes", "moe-groups", {},
             "dense_sent[0] + expert_sent[0]"),
    _traffic({"params": 1, "expert_params": 1, "ep": 4, "dp": 4, "topk": 8, "moe_layers": 1,
              "seq": 10, "hidden": 12, "dtype_bytes": 8}, "ep_bytes", "moe",
             {"experts": 8, "top": 8}, "sent_dispatch[0] + sent_combine[0] + sent_back[0]"),
    # Whoever is chosen: the mean over experts, and a rank's copies.
    Triple("moe", {"experts": 8, "topk": 2, "hidden": 12, "tokens": 10, "ep": 4},
           "tokens_per_expert", "", "moe", 4, {}, "sum(rows_here) / 8"),
    Triple("moe", {"experts": 8, "topk": 3, "hidden": 12, "tokens": 10, "ep": 4}, "copies", "",
           "moe", 4, {"top": 3}, "copies[0]"),
    _experts("dispatch_bytes", "sent_dispatch[0] / 2"),
    _experts("combine_bytes", "sent_combine[0] / 2"),
    _experts("all_to_all_bytes", "(sent_dispatch[0] + sent_combine[0] + sent_back[0]) / 2"),
    _experts("gathering_bytes", "sent_around[0] / 2"),
    _cache("bytes", {"kv_heads": 24, "head_dim": 8}, "bytes_mha[0]"),
    _cache("bytes", {"kv_heads": 4, "head_dim": 8}, "bytes_gqa[0]"),
    _cache("bytes", {"kv_heads": 1, "head_dim": 8}, "bytes_mqa[0]"),
    _cache("bytes", {"latent_dim": 32, "rope_dim": 4}, "bytes_mla[0]"),
    _cache("bytes_per_token", {"kv_heads": 4, "head_dim": 8}, "2 * token_bytes_gqa[0]"),
    _cache("bytes_per_token", {"latent_dim": 32, "rope_dim": 4}, "2 * token_bytes_mla[0]"),
    *(_flops("flops_per_step", kind, "flops_step[0]") for kind in ("none", "selective", "full")),
    _flops("params", "none", "params"),
    _flops("model_flops_per_token", "full",
           "(flops_step[0] - flops_recomputed[0]) / tokens[0]"),
    _rate("mfu", "mfu", {"tokens_per_second": 1000, "gpus": 1, "peak": 1e9},
          "(flops_step[0] - flops_recomputed[0]) / tokens[0] * 1000 / 1e9"),
    _rate("mfu", "hfu", {"tokens_per_second": 1000, "gpus": 1, "peak": 1e9},
          "flops_per_token[0] * 1000 / 1e9"),
    _rate("days", "days", {"tokens": 10**9, "gpus": 2, "achieved": 1e9},
          "flops_per_token[0] * 10 ** 9 / (2 * 1e9) / 86400"),
    Triple("allreduce", {"bytes": 9600, "ranks": 4, "element_bytes": 8}, "sent_bytes_per_rank", "",
           "all-reduce", 4, {"elements": 1200}, "sent_bytes_ring[0]"),
    Triple("allreduce", {"bytes": 800024, "ranks": 3, "element_bytes": 8}, "sent_bytes_per_rank",
           "", "all-reduce", 3, {}, "sent_bytes_ring[0]"),
    Triple("allreduce", {"bytes": 9600, "ranks": 4, "element_bytes": 8}, "steps", "",
           "all-reduce", 4, {"elements": 1200}, "sent_messages_ring[0]"),
    Triple("allreduce",
           {"bytes": 9600, "ranks": 4, "element_bytes": 8, "operation": "reduce-scatter"},
           "sent_bytes_per_rank", "", "all-reduce", 4, {"elements": 1200},
           "sent_bytes_reduce_scatter[0]"),
    Triple("allreduce", {"bytes": 9600, "ranks": 4, "element_bytes": 8, "alpha": 1.0,
                         "bandwidth": 100.0}, "seconds", "", "all-reduce", 4,
           {"elements": 1200, "byte_cost": 0.01}, "time_ring"),
)  # fmt: skip
