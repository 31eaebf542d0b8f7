"""Other names that people type for a topic or a demo, and what there is nothing on yet.

A name is compared without case, spaces, dashes and underscores. A topic's or demo's own name always
comes first; a name in two rows of `DEMOS` is a question which of them is meant.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TOPICS: Mapping[str, Sequence[str]] = {
    "attention": ("attn", "flash", "flash-attention", "online-softmax", "gqa", "mla", "注意力"),
    "comm": (
        *("nccl", "gloo", "collectives", "communication", "all-reduce", "all-to-all", "ring"),
        *("通信", "集合通信", "通信量"),
    ),
    "compress": ("compression", "gradient-compression", "powersgd", "local-sgd", "梯度压缩"),
    "cp": (
        *("context-parallel", "context-parallelism", "ring-attention", "ulysses", "long-context"),
        *("上下文并行", "长上下文", "长序列"),
    ),
    "data": ("dataloader", "data-pipeline", "packing", "数据", "数据管线"),
    "debug": ("debugging", "hang", "nan", "调试", "排错", "排查"),
    "dp": ("ddp", "data-parallel", "data-parallelism", "数据并行"),
    "fault": (
        *("fault-tolerance", "elastic", "resilience", "goodput", "mtbf"),
        *("容错", "弹性", "断点续训", "故障"),
    ),
    "flops": ("mfu", "算力"),
    "fsdp": ("fsdp-2", "fully-shard", "hsdp", "hybrid-shard", "full-shard"),
    "hybrid": (
        *("3d", "3d-parallel", "3d-parallelism", "4d", "hybrid-parallel", "hybrid-parallelism"),
        *("三维并行", "混合并行"),
    ),
    "inference": ("serving", "decode", "kv-cache", "推理"),
    "memory": ("oom", "vram", "activations", "显存"),
    "moe": (
        *("mixture-of-experts", "ep", "expert-parallel", "expert-parallelism", "experts"),
        *("专家", "专家并行", "混合专家"),
    ),
    "optim": ("optimizer", "adam", "优化器"),
    "perf": ("performance", "profiler", "profiling", "性能", "性能分析"),
    "pp": (
        *("pipeline", "pipeline-parallel", "pipeline-parallelism", "1f1b", "gpipe", "dualpipe"),
        *("zero-bubble", "bubble", "流水线", "流水线并行", "气泡"),
    ),
    "precision": (
        *("amp", "autocast", "mixed-precision", "numerics", "bf16", "fp16", "fp8"),
        *("loss-scaling", "混合精度", "精度"),
    ),
    "tp": (
        *("tensor-parallel", "tensor-parallelism", "megatron", "sp", "sequence-parallel"),
        *("张量并行", "序列并行"),
    ),
    "zero": ("zero-1", "zero-2", "zero-3", "deepspeed", "分片"),
}

DEMOS: Mapping[str, Sequence[str]] = {
    "accumulation": ("gradient-accumulation", "梯度累积"),
    "activations": ("activation-memory", "激活"),
    "all-reduce": ("ring-all-reduce", "ring", "collectives", "nccl"),
    "all-reduce-trees": ("tree-all-reduce", "double-tree"),
    "all-reduce-two-level": ("hierarchical-all-reduce",),
    "all-to-all": ("a2a",),
    "amp": ("autocast", "mixed-precision", "混合精度"),
    "clip-norm": ("clip-grad-norm", "gradient-clipping", "梯度裁剪"),
    "cp-layouts": ("zigzag", "striped"),
    "ddp": ("data-parallel-by-hand", "数据并行"),
    "ddp-buckets": ("buckets", "bucket"),
    "data-state": ("resumable-loader", "stateful-dataloader", "shuffle-buffer", "数据恢复"),
    "deadlock": ("hang", "死锁"),
    "checkpoint-async": ("async-save", "async-checkpoint"),
    "chunked-loss": ("linear-cross-entropy", "fused-linear-cross-entropy", "cut-cross-entropy"),
    "elastic": ("elastic-training", "torchelastic", "弹性训练", "扩缩容", "缩容"),
    "expert-cuts": ("etp", "expert-tensor-parallel", "grouped-gemm"),
    "fault": ("dead-rank", "failure", "killed-rank", "掉卡", "坏卡"),
    "flash": ("flash-attention", "flash-attn", "flash-attention-2"),
    "formats": ("bf16", "fp16", "fp8", "e4m3"),
    "fsdp": ("full-shard", "hsdp", "hybrid-shard"),
    "fully-shard": ("fsdp-2",),
    "goodput": ("young-daly", "checkpoint-interval", "mtbf", "有效产出"),
    "hybrid-step": ("3d-step", "whole-step", "整步"),
    "kv-cache": ("kv",),
    "loss-scale": ("loss-scaling", "grad-scaler"),
    "monitor": ("monitoring", "alarms", "straggler-detection", "监控", "报警"),
    "mesh": ("device-mesh", "process-groups", "通信组"),
    "model-states": ("zero", "zero-1", "zero-2", "zero-3", "deepspeed"),
    "moe": ("mixture-of-experts", "expert-parallel", "ep", "专家并行"),
    "moe-balance": ("aux-loss", "load-balancing-loss", "loss-free-balancing", "负载均衡"),
    "moe-capacity": ("capacity-factor", "token-dropping", "容量因子"),
    "moe-groups": ("edp", "expert-data-parallel", "expert-gradients", "专家梯度"),
    "nan-hunt": ("nan",),
    "master-weights": ("主权重",),
    "online-softmax": ("softmax",),
    "packing": ("first-fit", "sequence-packing", "打包"),
    "paged-cache": ("paged-attention", "vllm"),
    "pipeline": ("1f1b", "gpipe", "流水线"),
    "pipeline-async": ("pipedream",),
    "pipeline-checkpoint": ("checkpointing", "activation-checkpointing", "recompute", "重计算"),
    "pipeline-dualpipe": ("dualpipe",),
    "pipeline-interleaved": ("interleaved", "interleaved-1f1b", "virtual-pipeline", "vpp"),
    "pipeline-zero-bubble": ("zero-bubble", "zb-h1", "zb-h2", "zb"),
    "resume": ("exact-resume", "断点续训"),
    "rebalance": ("load-balance", "load-balancing", "straggler", "负载均衡", "慢卡"),
    "reshard": ("resharding", "dcp", "distributed-checkpoint", "load-time-resharding", "重新分片"),
    "resize-policy": ("hysteresis", "flapping", "shrink-or-wait", "autoscaling", "伸缩策略"),
    "ring-attention": ("ring", "context-parallel"),
    "ring-ulysses": ("usp", "2d-attention"),
    "placement": ("axis-order", "rank-order", "topology"),
    "rope-context": ("rope",),
    "sequence-parallel": ("sp", "序列并行"),
    "silent-error": (
        *("sdc", "silent-data-corruption", "bit-flip", "checksum"),
        *("静默错误", "静默数据错误", "比特翻转", "校验和"),
    ),
    "serving-layout": ("checkpoint-conversion", "megatron-to-hf", "fused-qkv", "权重转换"),
    "step-profile": ("profile", "profiler"),
    "step-report": ("mfu-report", "performance-report", "busbw"),
    "sync-batchnorm": ("sync-bn", "batchnorm"),
    "tensor-parallel": ("megatron", "张量并行"),
    "ulysses": ("deepspeed-ulysses",),
    "varlen": ("cu-seqlens",),
    "whole-activations": ("interpretability", "hooks", "linear-probe", "可解释性", "探针"),
    "window-attention": ("sliding-window", "swa"),
    "zero-steps": ("sharded-optimizer", "zero-redundancy-optimizer", "zero-1-optimizer"),
}


class NotYet(NamedTuple):
    """A subject without a topic or demo of its own: its names, and the nearest there is."""

    names: Sequence[str]
    question: str
    demo: str


NOT_YET = (
    NotYet(("triton", "kernel", "kernels", "算子"), "attention/what-flash-changes", "flash"),
)


def fold(name: str) -> str:
    """Return a name without case, spaces, dashes and underscores."""
    return "".join(each for each in name.casefold() if each not in " -_")


def meant(name: str, known: Iterable[str], others: Mapping[str, Sequence[str]]) -> list[str]:
    """List the known names a word stands for: itself, itself spelled otherwise, other names."""
    known, wanted = sorted(known), fold(name)
    return (
        [each for each in known if each == name]
        or [each for each in known if fold(each) == wanted]
        or [each for each in known if wanted in map(fold, others.get(each, ()))]
    )


def not_yet(name: str) -> NotYet | None:
    """Return the nearest there is to a subject that has nothing of its own yet."""
    return next((each for each in NOT_YET if fold(name) in map(fold, each.names)), None)


def topic_named(name: str, known: Collection[str]) -> str:
    """Return the topic a word stands for. Raises UsageError with the nearest if there is none."""
    from quizkit.errors import UsageError
    from quizkit.near import nearest

    if found := meant(name, known, TOPICS):
        return found[0]
    if near := not_yet(name):
        raise UsageError("topic_not_yet", name=name, question=near.question, demo=near.demo)
    raise UsageError("topic", name=name, hint=nearest(name, known))


def demo_named(name: str, folder: Path | None) -> str:
    """Return the demo that a word stands for, or is a part of.

    Raises UsageError where it is none, or any of several, which are then named.
    """
    from quizkit.errors import UsageError
    from quizkit.lab.catalogue import catalogue, names
    from quizkit.near import nearest

    known = names(folder)
    found = meant(name, known, DEMOS)
    if len(found) == 1:
        return found[0]
    if found:
        found = [*dict.fromkeys([*found, *_holding(name, known)])]
        raise UsageError("demo_which", name=name, hint=", ".join(found), first=found[0])
    if near := not_yet(name):
        raise UsageError("demo_not_yet", name=name, question=near.question, demo=near.demo)
    if topic := meant(name, TOPICS, TOPICS):
        inside = [each.name for each in catalogue(folder).values() if each.topic == topic[0]]
        if inside:
            hint = ", ".join(inside)
            raise UsageError("demo_topic", name=name, hint=hint, topic=topic[0])
    found = _holding(name, known)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError("demo_which", name=name, hint=", ".join(found), first=found[0])
    raise UsageError("demo_unknown", name=name, hint=nearest(name, known))


def _holding(name: str, known: Iterable[str]) -> list[str]:
    """The known names that a word is a part of; first those that it is the beginning of."""
    wanted = fold(name)
    found = [each for each in known if wanted in fold(each)]
    return sorted(found, key=lambda each: not fold(each).startswith(wanted))
