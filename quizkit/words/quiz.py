"""How a calculator asks: the prompt `<sheet>`, and what each trap forgot."""

from quizkit.words import Words

WORDS: Words = {
    "memory": {
        "zh": "{params:,.0f} 个参数的模型用 Adam 做 bf16 混合精度训练（梯度 bf16，另存 fp32 主权重），数据并行 {dp} 路，ZeRO 阶段 {zero}，无 TP 与 PP。每张卡的模型状态占多少 GB（10^9 字节）？",
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
        "zh": "按 Korthikanti 等人 (2022) 的算法：隐藏维度 {hidden}、{heads} 个头、序列长 {seq}、micro-batch {batch} 条、张量并行 {tp} 路，无序列并行、无重算，注意力用 FlashAttention，16 位，有 dropout，MLP 宽 4h。一层在每张卡上保存多少 MB（10^6 字节）激活？",
        "en": "As Korthikanti et al. (2022) count: hidden size {hidden}, {heads} heads, sequence length {seq}, micro-batch {batch}, {tp}-way tensor parallel, no sequence parallelism, no recomputation, FlashAttention, 16 bits, with dropout, an MLP of width 4h. How many MB (10^6 bytes) of activations does one layer keep on each device?",
    },
    "activations_all_divided": {
        "zh": "忘了张量并行有 10sbh 切不到",
        "en": "the 10sbh that tensor parallelism leaves whole",
    },
    "activations_scores_kept": {
        "zh": "FlashAttention 不存 s × s 的矩阵：那 5as²b 不用算",
        "en": "that FlashAttention keeps no s x s matrix: the 5as^2b is not there",
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
        "zh": "少乘了一个 2：K 和 V 都要存，每个元素又是 2 字节",
        "en": "one factor of two: K and V are both cached, and an element takes 2 bytes",
    },
    "flops": {
        "zh": "{layers} 层、隐藏维度 {hidden}、序列长 {seq}、词表 {vocab} 的 GPT（多头注意力，MLP 宽 4h，无重算，注意力按整个方阵算）。训练一个 token，前向加反向共多少 GFLOP（10^9）？",
        "en": "A GPT of {layers} layers, hidden size {hidden}, sequence length {seq}, vocabulary {vocab} (multi-head attention, an MLP of width 4h, no recomputation, attention counted as the whole square). How many GFLOP (10^9) does training take per token, forward and backward?",
    },
    "flops_no_attention": {
        "zh": "忘了随序列变长的注意力核心 12·L·h·s",
        "en": "the attention core, 12 L h s, which grows with the sequence",
    },
    "flops_forward_only": {
        "zh": "只算了前向：反向是前向的两倍",
        "en": "the backward, which is twice the forward",
    },
    "mfu": {
        "zh": "{params:,.0f} 个参数的模型在 {gpus} 个 GPU 上每秒训练 {tokens_per_second:,.0f} 个 token，每个 GPU 的稠密峰值 {peak:,.0f} FLOP/s。按 6N 算（不计注意力项），MFU 是百分之几？",
        "en": "A model of {params:,.0f} parameters trains {tokens_per_second:,.0f} tokens a second on {gpus} GPUs with a dense peak of {peak:,.0f} FLOP/s each. By 6N (attention left out), what is the MFU in percent?",
    },
    "mfu_forward_only": {
        "zh": "只算了前向的 2N：反向还有 4N",
        "en": "the backward's 4N beside the forward's 2N",
    },
    "mfu_recompute": {
        "zh": "按 8N 算的是含重算的 HFU：MFU 不把重算当有用",
        "en": "that recomputation is not useful work: 8N makes it HFU",
    },
    "mfu_sparse_peak": {
        "zh": "用了两倍的稀疏峰值",
        "en": "that the peak is the dense one, not the doubled sparse one",
    },
    "days": {
        "zh": "{params:,.0f} 个参数的模型要训练 {tokens:,.0f} 个 token，用 {gpus} 个 GPU，每个实际达到 {achieved:,.0f} FLOP/s，无重算（6ND，不计注意力项）。要多少天？",
        "en": "A model of {params:,.0f} parameters is trained on {tokens:,.0f} tokens by {gpus} GPUs that achieve {achieved:,.0f} FLOP/s each, nothing recomputed (6ND, attention left out). How many days does it take?",
    },
    "days_forward_only": {
        "zh": "只算了前向的 2ND：反向还有 4ND",
        "en": "the backward's 4ND beside the forward's 2ND",
    },
    "days_recompute": {
        "zh": "8ND 是全部重算时的算法，这里没有重算",
        "en": "that nothing is recomputed here: 8ND is for full recomputation",
    },
    "allreduce": {
        "zh": "{ranks} 个 rank 用环做 all-reduce，每个 rank 的缓冲 {bytes:,.0f} 字节。每个 rank 发出多少 MB（10^6 字节）？",
        "en": "{ranks} ranks all-reduce buffers of {bytes:,.0f} bytes each, in a ring. How many MB (10^6 bytes) does each rank send?",
    },
    "allreduce_one_half": {
        "zh": "只算了 reduce-scatter：还有同样多的 all-gather",
        "en": "the all-gather, which sends as much as the reduce-scatter",
    },
    "allreduce_whole_payload": {
        "zh": "当成每步都传整个缓冲：一步只传一块",
        "en": "that a step sends one chunk, not the whole buffer",
    },
    "allreduce_one_step": {
        "zh": "只算了一步：每一半有 N-1 步",
        "en": "that each half has N-1 steps",
    },
    "traffic": {
        "zh": "{params:,.0f} 个参数（bf16 权重与梯度）的模型，{dp} 路数据并行，ZeRO 阶段 {zero}，一步一个 micro-batch，集合通信都走环。每个 GPU 一步发出多少 GB（10^9 字节）？",
        "en": "A model of {params:,.0f} parameters (bf16 weights and gradients) on {dp} data-parallel ranks, ZeRO stage {zero}, one micro-batch a step, ring collectives. How many GB (10^9 bytes) does each GPU send in a step?",
    },
    "traffic_other_stage": {
        "zh": "只有阶段 3 是 3Ψ：反向前要再收集一次参数",
        "en": "that it is stage 3 alone that sends 3 Psi: it gathers parameters again for the backward",
    },
    "traffic_scatter_only": {
        "zh": "只算了梯度的 reduce-scatter：参数还要 all-gather",
        "en": "the all-gather of the parameters beside the reduce-scatter of the gradients",
    },
    "traffic_own_shard": {
        "zh": "当成只发自己那一份：环上每个 rank 要转发 N-1 份",
        "en": "that in a ring a rank passes on N-1 shards, not its own alone",
    },
    "moe": {
        "zh": "一层 MoE：{experts} 个专家，每个 token 选 {topk} 个，路由均匀；{ep} 路专家并行，每个 rank 有 {tokens} 个 token，隐藏维度 {hidden}，按 bf16 发。前向的 dispatch 里，每个 rank 平均发出多少 MB（10^6 字节）？",
        "en": "An MoE layer of {experts} experts sends each token to {topk}, uniformly; {ep}-way expert parallel, {tokens} tokens a rank, hidden size {hidden}, bf16. How many MB (10^6 bytes) does a rank send in the forward's dispatch, on average?",
    },
    "moe_one_copy": {
        "zh": "忘了每个 token 要发 k 份",
        "en": "that a token is sent k times",
    },
    "moe_none_at_home": {
        "zh": "忘了有 1/ep 的份数留在本 rank",
        "en": "that 1/ep of the copies stay on their rank",
    },
    "moe_both_ways": {
        "zh": "把 combine 也算进去了",
        "en": "that combine is not asked for",
    },
    "moe_stays_at_home": {
        "zh": "算成了留在本 rank 的那 1/ep",
        "en": "that 1/ep is what stays, not what leaves",
    },
    "pipeline": {
        "zh": "1F1B 流水线，{stages} 个 stage 一样快，{microbatches} 个 micro-batch，通信不计时间。流水线气泡（pipeline bubble）占整步时间的百分之几？",
        "en": "A 1F1B pipeline of {stages} equal stages runs {microbatches} micro-batches; messages take no time. Which share of the step, in percent, is bubble?",
    },
    "pipeline_over_ideal": {
        "zh": "那是相对理想时间的开销 (p - 1)/m，不是占整步的比例",
        "en": "that (p - 1)/m is the overhead over the ideal time, not a share of the step",
    },
    "pipeline_all_stages": {
        "zh": "流水线要等的是其余 p - 1 个 stage，不是 p 个",
        "en": "that a stage waits for the p - 1 others, not for p",
    },
    "pipeline_slots": {
        "zh": "一步是 m + p - 1 格，不是 m + p 格",
        "en": "that a step has m + p - 1 slots, not m + p",
    },
}
