"""How a calculator asks: the prompt `<sheet>`, and what each trap forgot."""

from quizkit.words import Words

WORDS: Words = {
    "memory": {
        "zh": "{params:,.0f} 个参数的模型用 Adam 做 bf16 混合精度训练（梯度 bf16，另存 fp32 主权重），数据并行 {dp} 路，ZeRO 阶段 {zero}，无 TP 与 PP。每个设备的模型状态占多少 GB（10^9 字节）？",
        "en": "A model of {params:,.0f} parameters trains with Adam in bf16 mixed precision (bf16 gradients, fp32 master weights), {dp}-way data parallel, ZeRO stage {zero}, no TP or PP. How many GB (10^9 bytes) do its states take on each device?",
    },
    "memory_nothing_divided": {
        "zh": "忘了 ZeRO 会切分状态",
        "en": "that ZeRO shards states",
    },
    "memory_all_divided": {
        "zh": "忘了这一阶段只切分一部分：全部切分要到阶段 3",
        "en": "that this stage shards only a part: all is sharded at stage 3",
    },
    "memory_no_master": {
        "zh": "忘了 fp32 主权重",
        "en": "the fp32 master copy of the weights",
    },
    "activations": {
        "zh": "按 Korthikanti 等人 (2022) 的算法：隐藏维度 {hidden}、{heads} 个头、序列长 {seq}、micro-batch {batch} 条、张量并行 {tp} 路，无序列并行、无重算、无融合注意力，16 位，有 dropout，MLP 宽 4h。一层在每个设备上保存多少 MB（10^6 字节）激活？",
        "en": "As Korthikanti et al. (2022) count: hidden size {hidden}, {heads} heads, sequence length {seq}, micro-batch {batch}, {tp}-way tensor parallel, no sequence parallelism, no recomputation, no fused attention, 16 bits, with dropout, an MLP of width 4h. How many MB (10^6 bytes) of activations does one layer keep on each device?",
    },
    "activations_all_divided": {
        "zh": "忘了张量并行有 10sbh 切不到",
        "en": "the 10sbh that tensor parallelism leaves whole",
    },
    "activations_no_core": {
        "zh": "忘了注意力核心的 5as²b",
        "en": "the 5as^2b of the attention core",
    },
    "activations_whole": {
        "zh": "忘了张量并行会切",
        "en": "that tensor parallelism divides",
    },
    "kv": {
        "zh": "{layers} 层、{heads} 个注意力头、{kv_heads} 个 KV 头、每头 {head_dim} 维，bf16 缓存。{batch} 条长 {seq} 的序列，KV 缓存共多少 GB（10^9 字节）？",
        "en": "{layers} layers, {heads} attention heads, {kv_heads} KV heads of size {head_dim}, a bf16 cache. How many GB (10^9 bytes) does the cache of {batch} sequences of {seq} tokens take?",
    },
    "kv_all_heads": {
        "zh": "忘了一组头共用一个 KV 头",
        "en": "that a group of heads shares one KV head",
    },
    "kv_half": {
        "zh": "忘了 K 和 V 都要存",
        "en": "that both K and V are cached",
    },
    "kv_elements": {
        "zh": "忘了每个元素 2 字节",
        "en": "the 2 bytes of an element",
    },
}
