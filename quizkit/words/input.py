"""What each input of a calculator is: `<name>`, or `<sheet>_<name>` where one sheet means something else by it."""

from quizkit.words import Words

WORDS: Words = {
    "params": {
        "zh": "参数量",
        "en": "parameters",
    },
    "dp": {
        "zh": "数据并行的副本数",
        "en": "data-parallel replicas",
    },
    "zero": {
        "zh": "ZeRO 阶段：1 分优化器状态，2 再分梯度，3 再分权重",
        "en": "ZeRO stage: 1 shards optimizer states, 2 gradients too, 3 weights too",
    },
    "optimizer": {
        "zh": "优化器",
        "en": "optimizer",
    },
    "weight_dtype": {
        "zh": "前向所用权重的类型",
        "en": "type of the weights that the forward pass uses",
    },
    "kv_weight_dtype": {
        "zh": "权重的类型",
        "en": "type of the weights",
    },
    "grad_dtype": {
        "zh": "梯度的类型",
        "en": "type of the gradients",
    },
    "master": {
        "zh": "另存一份 fp32 主权重",
        "en": "keep an fp32 master copy of the weights",
    },
    "tp": {
        "zh": "张量并行的份数",
        "en": "tensor-parallel degree",
    },
    "pp": {
        "zh": "流水线的级数",
        "en": "pipeline stages",
    },
    "fit": {
        "zh": "每个设备可用的显存；求放得下的最大模型",
        "en": "memory per device; asks for the largest model that fits",
    },
    "layers": {
        "zh": "层数",
        "en": "layers",
    },
    "hidden": {
        "zh": "隐藏维度",
        "en": "hidden size",
    },
    "heads": {
        "zh": "注意力头数",
        "en": "attention heads",
    },
    "kv_heads": {
        "zh": "KV 头数",
        "en": "KV heads",
    },
    "kv_kv_heads": {
        "zh": "KV 头数：与注意力头数相等是 MHA，1 是 MQA；0 表示 MLA",
        "en": "KV heads: as many as heads is MHA, 1 is MQA; 0 for MLA",
    },
    "head_dim": {
        "zh": "每个头的维度",
        "en": "size of a head",
    },
    "latent_dim": {
        "zh": "MLA 隐向量的维度；0 表示不是 MLA",
        "en": "size of MLA's latent vector; 0: not MLA",
    },
    "rope_dim": {
        "zh": "MLA 带 RoPE 的 key 的维度",
        "en": "size of MLA's rope key",
    },
    "seq": {
        "zh": "序列长度",
        "en": "sequence length",
    },
    "activations_batch": {
        "zh": "micro-batch 里的序列条数",
        "en": "sequences in a micro-batch",
    },
    "kv_batch": {
        "zh": "同时解码的序列条数",
        "en": "sequences decoded together",
    },
    "sp": {
        "zh": "Megatron 的序列并行：TP 不切的部分按序列切成 tp 份",
        "en": "Megatron's sequence parallelism: what TP leaves whole is cut along the sequence",
    },
    "activations_recompute": {
        "zh": "重算什么：none、selective（注意力核心）、full（整层）",
        "en": "what is recomputed: none, selective (attention core), full (whole layers)",
    },
    "flash": {
        "zh": "融合的注意力核：只保存每行的 log-sum-exp",
        "en": "fused attention kernel: keeps a log-sum-exp a row instead of the core",
    },
    "dropout": {
        "zh": "带 dropout，如论文；掩码每个元素 1 字节",
        "en": "with dropout, as the paper has; masks take 1 byte an element",
    },
    "activations_dtype": {
        "zh": "激活的类型",
        "en": "type of the activations",
    },
    "kv_dtype": {
        "zh": "缓存的类型",
        "en": "type of the cache",
    },
    "activations_ffn": {
        "zh": "MLP 的中间宽度；0 表示 4 × hidden",
        "en": "width inside the MLP; 0: 4 x hidden",
    },
    "activations_vocab": {
        "zh": "词表大小；0 表示不计 embedding 与输出层",
        "en": "vocabulary; 0: embedding and output layer are not counted",
    },
    "virtual": {
        "zh": "每个设备的 chunk 数（大于 1 即 interleaved）",
        "en": "chunks per device (more than 1: interleaved)",
    },
    "activations_microbatches": {
        "zh": "每步的 micro-batch 数；0 表示足够填满流水线",
        "en": "micro-batches in a step; 0: enough to fill the pipeline",
    },
    "kv_bandwidth": {
        "zh": "显存带宽",
        "en": "memory bandwidth",
    },
    "kv_memory": {
        "zh": "可用的显存",
        "en": "memory there is",
    },
}
