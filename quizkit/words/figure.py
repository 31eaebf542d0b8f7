"""What each number of a calculator is, by `<sheet>_<figure>`."""

from quizkit.words import Words

WORDS: Words = {
    "memory_params_per_device": {
        "zh": "每个设备的参数个数（除以 tp × pp，各级等大）",
        "en": "parameters per device (over tp x pp, stages equally large)",
    },
    "memory_optimizer_bytes_per_param": {
        "zh": "每个参数的优化器状态字节数（含 fp32 主权重）",
        "en": "optimizer bytes per parameter (fp32 master copy included)",
    },
    "memory_weights_bytes": {
        "zh": "每个设备的权重",
        "en": "weights per device",
    },
    "memory_gradients_bytes": {
        "zh": "每个设备的梯度",
        "en": "gradients per device",
    },
    "memory_optimizer_bytes": {
        "zh": "每个设备的优化器状态（含 fp32 主权重）",
        "en": "optimizer states per device (fp32 master copy included)",
    },
    "memory_model_states_bytes": {
        "zh": "每个设备的模型状态合计（不含激活与缓冲）",
        "en": "model states per device (no activations, no buffers)",
    },
    "memory_whole_bytes_per_param": {
        "zh": "每个副本都完整保存的字节数／参数",
        "en": "bytes per parameter that every replica holds whole",
    },
    "memory_sharded_bytes_per_param": {
        "zh": "由各副本分摊的字节数／参数",
        "en": "bytes per parameter that the replicas share",
    },
    "memory_max_params": {
        "zh": "模型状态放得下的最大参数量（向下取整到能均分）",
        "en": "largest model whose states fit (rounded down to even shares)",
    },
    "activations_sp_parts": {
        "zh": "TP 不切的部分被切成几份（序列并行时为 tp）",
        "en": "parts of what tensor parallelism leaves whole (tp with sequence parallelism)",
    },
    "activations_mask_bytes": {
        "zh": "dropout 掩码每个元素的字节数",
        "en": "bytes per element of a dropout mask",
    },
    "activations_ffn_width": {
        "zh": "MLP 的中间宽度",
        "en": "width inside the MLP",
    },
    "activations_core_bytes": {
        "zh": "注意力核心：softmax 及其 dropout，一层，不重算时",
        "en": "attention core: softmax and its dropout, one layer, if kept",
    },
    "activations_attention_bytes": {
        "zh": "注意力的其余部分，一层，不重算时",
        "en": "rest of attention, one layer, if kept",
    },
    "activations_mlp_bytes": {
        "zh": "MLP（GeLU，不带门控），一层，不重算时",
        "en": "MLP (GeLU, not gated), one layer, if kept",
    },
    "activations_norm_bytes": {
        "zh": "两个 layer norm，一层，不重算时",
        "en": "two layer norms, one layer, if kept",
    },
    "activations_bytes_per_layer": {
        "zh": "每层每个 micro-batch 每个设备保存的字节",
        "en": "kept per layer, micro-batch and device",
    },
    "activations_recomputed_bytes": {
        "zh": "重算一层时临时恢复的字节（不计入其他各项）",
        "en": "back for a moment while a layer is recomputed (in no other number)",
    },
    "activations_first_stage_chunks": {
        "zh": "第一级峰值时保存的 chunk 数（1F1B；v > 1 时为 interleaved）",
        "en": "chunks alive on the first stage at its peak (1F1B; interleaved if v > 1)",
    },
    "activations_embedding_bytes": {
        "zh": "第一级：embedding 的 dropout 掩码（给出 vocab 才计）",
        "en": "first stage: embedding's dropout masks (counted if vocab is given)",
    },
    "activations_output_bytes": {
        "zh": "最后一级：末尾 norm、输出层与 fp32 logits（给出 vocab 才计）",
        "en": "last stage: final norm, output layer, fp32 logits (counted if vocab is given)",
    },
    "activations_first_stage_bytes": {
        "zh": "第一级的峰值",
        "en": "first stage at its peak",
    },
    "activations_last_stage_bytes": {
        "zh": "最后一级的峰值",
        "en": "last stage at its peak",
    },
    "activations_fullest_stage_bytes": {
        "zh": "最满的一级的峰值",
        "en": "fullest stage at its peak",
    },
    "kv_elements_per_layer": {
        "zh": "每层每个 token 缓存的元素个数",
        "en": "elements cached per layer and token",
    },
    "kv_bytes_per_token": {
        "zh": "每个 token 的 KV 缓存（所有层；不含量化的缩放因子）",
        "en": "cache per token (all layers; no scales of a quantized cache)",
    },
    "kv_bytes": {
        "zh": "整个 batch 的 KV 缓存",
        "en": "cache of the whole batch",
    },
    "kv_smaller_than_mha": {
        "zh": "比 MHA 的缓存小几倍",
        "en": "times smaller than the cache of MHA",
    },
    "kv_weights_bytes": {
        "zh": "解码一步读取的权重",
        "en": "weights read by a decode step",
    },
    "kv_decode_seconds": {
        "zh": "解码一步的时间下限（权重与缓存各读一遍，显存带宽用满）",
        "en": "least time of a decode step (weights and cache read once, at full bandwidth)",
    },
    "kv_decode_tokens_per_second": {
        "zh": "整个 batch 每秒 token 数的上限",
        "en": "most tokens per second, whole batch",
    },
    "kv_max_batch": {
        "zh": "权重之外放得下的序列条数（不含激活）",
        "en": "sequences that fit beside the weights (no activations)",
    },
}
