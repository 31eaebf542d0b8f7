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
    "memory_cp": {
        "zh": "上下文并行的份数；这些 rank 参数相同，一起分片",
        "en": "context-parallel degree; these ranks hold the same parameters and shard them together",
    },
    "shard": {
        "zh": "分片组有几个 rank（hybrid shard）；0 表示 dp × cp 个",
        "en": "ranks that share the shards (hybrid sharding); 0: all dp x cp",
    },
    "unit": {
        "zh": "最大的 FSDP 单元在一张卡上有多少参数；求聚齐时的峰值",
        "en": "parameters of the largest FSDP unit on a device; asks for the peak while it is gathered",
    },
    "prefetch": {
        "zh": "提前聚齐几个单元",
        "en": "units gathered ahead",
    },
    "offload": {
        "zh": "优化器状态放主机内存，更新也在那里做",
        "en": "keep optimizer states in host memory, and update there",
    },
    "link": {
        "zh": "卡到主机的带宽（单向）；求搬运时间",
        "en": "bandwidth between device and host, one way; asks for the time of moving",
    },
    "overlap": {
        "zh": "搬运能藏在多长的计算后面",
        "en": "compute that the moving can hide behind",
    },
    "loss_chunks": {
        "zh": "logits 按 token 分几块算",
        "en": "chunks of tokens in which logits are computed",
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
        "zh": "流水线的 stage 数",
        "en": "pipeline stages",
    },
    "fit": {
        "zh": "每张卡可用的显存；求还剩多少、放得下的最大模型",
        "en": "memory per device; asks what is left of it, and for the largest model that fits",
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
        "zh": "KV 头数；0 表示与注意力头数相同",
        "en": "KV heads; 0: as many as heads",
    },
    "kv_kv_heads": {
        "zh": "KV 头数：与注意力头数相等是 MHA，1 是 MQA；0 表示 MLA",
        "en": "KV heads: as many as heads is MHA, 1 is MQA; 0 for MLA",
    },
    "traffic_head_dim": {
        "zh": "每个头的维度；0 表示 hidden / heads，没给 heads 时为 128",
        "en": "size of a head; 0: hidden / heads, or 128 where heads are not given",
    },
    "head_dim": {
        "zh": "每个头的维度；0 表示 hidden / heads",
        "en": "size of a head; 0: hidden / heads",
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
        "zh": "FlashAttention：注意力核心只保存每行的 log-sum-exp；论文里没有，用 --no-flash",
        "en": "FlashAttention: of attention's core a log-sum-exp a row is kept; --no-flash as in the paper",
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
        "zh": "每张卡的 chunk 数（大于 1 即 interleaved）",
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
    "kv_params": {
        "zh": "参数量：MoE 求解码下限时给一步用到的，求能放几条时给全部",
        "en": "parameters; of a mixture of experts those a step touches for its time, all for what fits",
    },
    "kv_memory": {
        "zh": "可用的显存",
        "en": "memory there is",
    },
    "kv_head_dim": {
        "zh": "每个头的维度",
        "en": "size of a head",
    },
    "mfu_params": {
        "zh": "参数量；0 表示由各层尺寸算出；--model 填的是每个 token 真正做乘法的那些",
        "en": "parameters; 0: worked out of the layers' sizes; --model fills in those a token is multiplied by",
    },
    "days_params": {
        "zh": "参数量；0 表示由各层尺寸算出；--model 填的是每个 token 真正做乘法的那些",
        "en": "parameters; 0: worked out of the layers' sizes; --model fills in those a token is multiplied by",
    },
    "vocab": {
        "zh": "词表大小",
        "en": "vocabulary",
    },
    "ffn": {
        "zh": "MLP 的宽度；0 表示 4 × hidden",
        "en": "width of the MLP; 0: 4 x hidden",
    },
    "gated": {
        "zh": "MLP 带门（SwiGLU），三个矩阵",
        "en": "gated MLP (SwiGLU): three matrices",
    },
    "causal": {
        "zh": "只算因果掩码下看得见的那一半注意力；论文一般按整个方阵算",
        "en": "count only the half of attention that a causal mask leaves; papers count the whole square",
    },
    "recompute": {
        "zh": "反向时重算什么：none 不重算，selective 只重算注意力核心，full 重算整层",
        "en": "what the backward computes again: nothing, the attention core, or whole layers",
    },
    "flops_batch": {
        "zh": "一步的序列条数（全局 batch）",
        "en": "sequences in a step (the global batch)",
    },
    "embeddings": {
        "zh": "输出层是否与词嵌入共用矩阵",
        "en": "whether the output shares the embedding's matrix",
    },
    "positions": {
        "zh": "位置编码：learned 是一张 seq × hidden 的表，rotary 没有参数",
        "en": "positions: a learned table of seq x hidden, or rotary without parameters",
    },
    "norm": {
        "zh": "layer：LayerNorm，处处有偏置（GPT）；rms：RMSNorm，没有偏置（Llama）",
        "en": "layer: LayerNorm and biases everywhere (GPT); rms: RMSNorm, no biases (Llama)",
    },
    "tokens_per_second": {
        "zh": "全部 GPU 合计每秒训练的 token 数",
        "en": "tokens trained per second, all GPUs together",
    },
    "gpus": {
        "zh": "GPU 个数",
        "en": "GPUs",
    },
    "peak": {
        "zh": "每个 GPU 的稠密峰值 FLOP/s（不是稀疏的两倍值）",
        "en": "dense peak FLOP/s of a GPU (not the doubled, sparse one)",
    },
    "mfu": {
        "zh": "MFU：模型 FLOP 占稠密峰值的比例，不含重算；和 --peak 一起代替 --achieved",
        "en": "MFU, of the dense peak, nothing recomputed counted; with --peak, instead of --achieved",
    },
    "experts": {
        "zh": "每层的路由专家数（不含共享专家）",
        "en": "routed experts of a layer (shared ones are not among them)",
    },
    "topk": {
        "zh": "每个 token 选几个专家",
        "en": "experts that a token is sent to",
    },
    "expert_ffn": {
        "zh": "一个专家的中间宽度；求参数和 FLOP",
        "en": "width inside an expert; asks for parameters and FLOPs",
    },
    "shared_experts": {
        "zh": "共享专家数，每个 token 都经过",
        "en": "shared experts, which every token meets",
    },
    "moe_layers": {
        "zh": "带专家的层数",
        "en": "layers with experts",
    },
    "outside": {
        "zh": "这些层的专家和路由之外的参数：注意力、稠密层、词表等",
        "en": "parameters other than those layers' experts and routers: attention, dense layers, tables",
    },
    "looked_up": {
        "zh": "其中不做乘法的：查表的词嵌入、norm",
        "en": "of these, what no token is multiplied by: the looked-up table, norms",
    },
    "moe_tokens": {
        "zh": "每个 rank 的 token 数；求通信量",
        "en": "tokens of each rank; asks for what is sent",
    },
    "ep": {
        "zh": "专家并行的份数；每个专家整个放在一张卡上，1 表示专家和其余部分一样切",
        "en": "expert-parallel degree; an expert lies whole on a GPU; 1: experts are cut like the rest",
    },
    "expert_params": {
        "zh": "其中路由专家的参数（所有层合计）；0 表示没有专家",
        "en": "of these, those of routed experts, all layers; 0: there are none",
    },
    "dispatch_dtype": {
        "zh": "dispatch 时每个数的类型（fp8 不含缩放因子）",
        "en": "type of the numbers dispatched (fp8 without its scales)",
    },
    "combine_dtype": {
        "zh": "combine 时每个数的类型",
        "en": "type of the numbers that come back",
    },
    "node_limit": {
        "zh": "每个 token 最多去几个节点；0 表示不限",
        "en": "nodes that a token's experts may lie on; 0: no limit",
    },
    "capacity_factor": {
        "zh": "容量系数：每个专家的名额是平均值的几倍；求丢弃率",
        "en": "capacity factor, slots of an expert over the mean; asks for what is dropped",
    },
    "tokens": {
        "zh": "训练的 token 总数",
        "en": "tokens of the whole run",
    },
    "achieved": {
        "zh": "每个 GPU 实际达到的 FLOP/s，有重算时重算也计入",
        "en": "FLOP/s a GPU achieves, recomputation counted if there is any",
    },
    "bytes": {
        "zh": "按 nccl-tests 的约定：all-reduce 是每个 rank 的缓冲，all-gather 是聚合后的整体，reduce-scatter 与 all-to-all 是每个 rank 的整个输入",
        "en": "size as nccl-tests means it: a rank's buffer (all-reduce), the gathered whole (all-gather), a rank's whole input (reduce-scatter, all-to-all)",
    },
    "ranks": {
        "zh": "rank 数",
        "en": "ranks",
    },
    "operation": {
        "zh": "集合操作",
        "en": "the collective",
    },
    "algorithm": {
        "zh": "算法；tree 是二项树，整个载荷逐跳传，不流水",
        "en": "algorithm; tree is binomial and passes whole payloads on, not pipelined",
    },
    "node": {
        "zh": "一个节点的 GPU 数",
        "en": "GPUs in a node",
    },
    "element_bytes": {
        "zh": "一个元素的字节数：一块总是整数个元素",
        "en": "bytes of an element: a chunk is a whole number of them",
    },
    "alpha": {
        "zh": "每条消息的延迟",
        "en": "latency of a message",
    },
    "allreduce_bandwidth": {
        "zh": "链路单方向的带宽",
        "en": "bandwidth of a link, per direction",
    },
    "inter_bandwidth": {
        "zh": "hierarchical 的节点间带宽；0 表示与节点内相同",
        "en": "bandwidth between nodes, for hierarchical; 0: as inside",
    },
    "cp": {
        "zh": "上下文并行的份数（环形注意力）",
        "en": "context-parallel degree (ring attention)",
    },
    "traffic_batch": {
        "zh": "一个 micro-batch 的序列条数",
        "en": "sequences in a micro-batch",
    },
    "traffic_microbatches": {
        "zh": "一步里每个副本的 micro-batch 数",
        "en": "micro-batches of a replica in a step",
    },
    "dtype_bytes": {
        "zh": "权重与激活每个数的字节数",
        "en": "bytes of a weight or an activation",
    },
    "grad_bytes": {
        "zh": "传输梯度时每个数的字节数",
        "en": "bytes of a gradient on the wire",
    },
    "accumulate": {
        "zh": "ZeRO 2、3 的梯度累积：sharded 每个 micro-batch 都 reduce-scatter，whole 攒着整份梯度、一步只做一次",
        "en": "accumulation under ZeRO 2 and 3: sharded scatters for every micro-batch, whole keeps entire gradients and scatters once a step",
    },
    "intra": {
        "zh": "节点内每个 GPU 单方向的带宽",
        "en": "bandwidth of a GPU inside the node, per direction",
    },
    "inter": {
        "zh": "节点间每个 GPU 单方向的带宽",
        "en": "bandwidth of a GPU between nodes, per direction",
    },
    "stages": {
        "zh": "流水线的 stage 数，每张卡一个",
        "en": "pipeline stages, one a device",
    },
    "pipeline_microbatches": {
        "zh": "一步的 micro-batch 数（DualPipe 为两个方向合计）",
        "en": "micro-batches of a step (DualPipe: both directions together)",
    },
    "schedule": {
        "zh": "调度方式",
        "en": "schedule",
    },
    "pipeline_virtual": {
        "zh": "每张卡的段数（chunk）；0 表示按调度自身的段数：gpipe、1f1b、zb-h1 和 zb-h2 为 1，其余为 2",
        "en": "chunks on a device; 0: as many as the schedule has by itself (gpipe, 1f1b, zb-h1 and zb-h2 1, the others 2)",
    },
    "forward": {
        "zh": "一个 micro-batch 在一张卡的全部层上前向的时间（chunk 只占其中 1/v）",
        "en": "time of a micro-batch's forward through all a device holds (a chunk takes 1/v of it)",
    },
    "backward_input": {
        "zh": "同样，对输入求梯度的时间",
        "en": "the same for the gradient of the input",
    },
    "backward_weight": {
        "zh": "同样，对权重求梯度的时间；GPipe、1F1B 和 interleaved 的反向是两者之和",
        "en": "the same for the gradient of the weights; the backward of GPipe, 1F1B and interleaved is the sum of both",
    },
    "latency": {
        "zh": "一条消息从一张卡到下一张卡的时间；发送不占用 rank",
        "en": "time of a message from one device to the next; sending does not occupy the rank",
    },
    "stage_times": {
        "zh": "各 stage 的相对快慢，每个一个数（2 表示慢一倍）；不给表示都一样",
        "en": "how slow each stage is, a number each (2: twice as slow); left out: all alike",
    },
    "order": {
        "zh": "自定顺序的文件：每个 rank 一行，如 F0 F1 B0 B1；B 是整个反向，写了 W0 的话 B0 就只算输入的梯度；第 1 段写 F0.1，重叠的一对写 F3+B1；不给则按调度",
        "en": "file with an order of your own: a line each rank, as F0 F1 B0 B1 (where W0 is written too, B0 is the gradient of the input alone), F0.1 for chunk 1, F3+B1 for a pair that overlaps; left out: the schedule's",
    },
    "plan_model": {
        "zh": "模型名字，例如 llama-3-70b；或一个 Hugging Face config.json",
        "en": "a model's name, as in llama-3-70b; or a Hugging Face config.json",
    },
    "plan_gpus": {"zh": "几张什么卡，例如 64xH100", "en": "how many of which GPU, as in 64xH100"},
    "plan_batch": {
        "zh": "一步训练几条序列（全局 batch）",
        "en": "sequences of a step (the global batch)",
    },
    "plan_why": {
        "zh": "为什么不是它，例如 tp=8,pp=4；可写 tp、cp、pp、v、ep、dp、zero、mb、recompute",
        "en": "why not this one, as in tp=8,pp=4; of tp, cp, pp, v, ep, dp, zero, mb, recompute",
    },
}
