"""What each number of a calculator is, by `<sheet>_<figure>`."""

from quizkit.words import Words

WORDS: Words = {
    "memory_params_per_device": {
        "zh": "每张卡的参数个数（除以 tp × pp，专家除以 pp × ep，各 stage 等大）",
        "en": "parameters per device (over tp x pp, experts over pp x ep; equal stages)",
    },
    "memory_expert_params_per_device": {
        "zh": "每张卡的路由专家参数（除以 pp × ep）",
        "en": "routed experts' parameters per device (over pp x ep)",
    },
    "memory_expert_shard_ranks": {
        "zh": "专家的状态切成几份（拿着相同专家的 rank 数）",
        "en": "ranks with the same experts, over which their states are cut",
    },
    "memory_params_per_shard": {
        "zh": "每张卡分到的那一片的参数个数",
        "en": "parameters of one device's shard",
    },
    "memory_free_bytes": {
        "zh": "显存减去模型状态（负数：放不下），留给激活等",
        "en": "memory less model states, for activations and the rest (below 0: no fit)",
    },
    "memory_shard_ranks": {
        "zh": "切成几份",
        "en": "ranks that the states are cut over",
    },
    "memory_held_bytes_per_param": {
        "zh": "其中留在卡上的",
        "en": "of these, on the device",
    },
    "memory_gathered_bytes": {
        "zh": "同时聚齐的权重（正在用的单元和提前聚的）",
        "en": "whole weights at once (the unit in use, those gathered ahead)",
    },
    "memory_whole_gradients_bytes": {
        "zh": "一个单元 reduce-scatter 之前的整份梯度",
        "en": "one unit's gradients before they are scattered",
    },
    "memory_peak_states_bytes": {
        "zh": "每张卡的峰值：分片加上面两项（不含激活）",
        "en": "peak per device: shards and these two (no activations)",
    },
    "memory_host_bytes": {
        "zh": "每张卡在主机内存里的：优化器状态和梯度",
        "en": "in host memory per device: optimizer states and gradients",
    },
    "memory_moved_bytes": {
        "zh": "每步在卡与主机之间搬的（梯度下去，权重上来）",
        "en": "moved between device and host per step (gradients down, weights up)",
    },
    "memory_moving_seconds": {
        "zh": "搬运时间",
        "en": "time of moving",
    },
    "memory_exposed_seconds": {
        "zh": "露在外面的搬运时间",
        "en": "of it, hidden by nothing",
    },
    "memory_optimizer_bytes_per_param": {
        "zh": "每个参数的优化器状态字节数（含 fp32 主权重）",
        "en": "optimizer bytes per parameter (fp32 master copy included)",
    },
    "memory_weights_bytes": {
        "zh": "每张卡的权重",
        "en": "weights per device",
    },
    "memory_gradients_bytes": {
        "zh": "每张卡的梯度",
        "en": "gradients per device",
    },
    "memory_optimizer_bytes": {
        "zh": "每张卡的优化器状态（含 fp32 主权重）",
        "en": "optimizer states per device (fp32 master copy included)",
    },
    "memory_model_states_bytes": {
        "zh": "每张卡的模型状态合计（不含激活与缓冲）",
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
        "zh": "模型状态放得下的最大稠密模型的参数量（向下取整到能均分）",
        "en": "largest dense model whose states fit (rounded down to even shares)",
    },
    "activations_seq_per_rank": {
        "zh": "每个 rank 的序列长度",
        "en": "tokens of a sequence per rank",
    },
    "activations_logits_bytes": {
        "zh": "最后一个 stage：loss 留给反向的 fp32 log-softmax（分块算就不留）",
        "en": "last stage: the fp32 log-softmax the loss keeps (none if in chunks)",
    },
    "activations_loss_peak_bytes": {
        "zh": "算 loss 那一刻：一块 logits 每个 12 字节（不计入其他各项）",
        "en": "for a moment at the loss: 12 bytes a logit of one chunk (in no other number)",
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
    "activations_kv_width": {
        "zh": "全部 key（或 value）的宽度",
        "en": "width of all keys (or values)",
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
        "zh": "MLP，一层，不重算时",
        "en": "MLP, one layer, if kept",
    },
    "activations_norm_bytes": {
        "zh": "两个 layer norm，一层，不重算时",
        "en": "two layer norms, one layer, if kept",
    },
    "activations_bytes_per_layer": {
        "zh": "每层每个 micro-batch 每张卡保存的字节",
        "en": "kept per layer, micro-batch and device",
    },
    "activations_recomputed_bytes": {
        "zh": "重算一层时临时恢复的字节（不计入其他各项）",
        "en": "back for a moment while a layer is recomputed (in no other number)",
    },
    "activations_first_stage_chunks": {
        "zh": "第一个 stage 峰值时保存的 chunk 数（1F1B；v > 1 时为 interleaved）",
        "en": "chunks alive on the first stage at its peak (1F1B; interleaved if v > 1)",
    },
    "activations_embedding_bytes": {
        "zh": "第一个 stage：embedding 的 dropout 掩码（给出 vocab 才计）",
        "en": "first stage: embedding's dropout masks (counted if vocab is given)",
    },
    "activations_output_bytes": {
        "zh": "最后一个 stage：末尾 norm、输出层与 fp32 logits（给出 vocab 才计）",
        "en": "last stage: final norm, output layer, fp32 logits (counted if vocab is given)",
    },
    "activations_first_stage_bytes": {
        "zh": "第一个 stage 的峰值",
        "en": "first stage at its peak",
    },
    "activations_last_stage_bytes": {
        "zh": "最后一个 stage 的峰值",
        "en": "last stage at its peak",
    },
    "activations_fullest_stage_bytes": {
        "zh": "最满的 stage 的峰值",
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
    "flops_attention_width": {
        "zh": "全部 query 的宽度",
        "en": "width of all queries",
    },
    "flops_kv_width": {
        "zh": "全部 key（或 value）的宽度",
        "en": "width of all keys (or values)",
    },
    "flops_ffn_width": {
        "zh": "MLP 的宽度",
        "en": "width of the MLP",
    },
    "flops_layer_params": {
        "zh": "一层的参数",
        "en": "parameters of a layer",
    },
    "flops_params": {
        "zh": "参数总数",
        "en": "parameters",
    },
    "flops_projection_flops_per_token": {
        "zh": "QKV 与输出投影，每个 token",
        "en": "QKV and output projections, per token",
    },
    "flops_mlp_flops_per_token": {
        "zh": "MLP，每个 token",
        "en": "MLPs, per token",
    },
    "flops_logits_flops_per_token": {
        "zh": "输出层，每个 token",
        "en": "logits, per token",
    },
    "flops_recompute_flops_per_token": {
        "zh": "重算，每个 token",
        "en": "recomputation, per token",
    },
    "flops_flops_per_step": {
        "zh": "一步合计，含重算",
        "en": "a whole step, recomputation included",
    },
    "flops_six_nd_per_token": {
        "zh": "6N，每个 token",
        "en": "6N, per token",
    },
    "flops_six_nd_error": {
        "zh": "6N 与逐项相加（不含重算）的相对误差",
        "en": "6N against the sum of the parts (nothing recomputed), relative",
    },
    "mfu_model_flops_per_second_per_gpu": {
        "zh": "每个 GPU 每秒的有用 FLOP",
        "en": "useful FLOP/s of each GPU",
    },
    "mfu_mfu": {
        "zh": "MFU：模型 FLOP 占稠密峰值",
        "en": "MFU: model FLOPs over the dense peak",
    },
    "mfu_hfu": {
        "zh": "HFU：含重算，占稠密峰值",
        "en": "HFU: recomputation included, over the dense peak",
    },
    "days_total_flops": {
        "zh": "整个训练，含重算",
        "en": "the whole run, recomputation included",
    },
    "days_flops_per_gpu": {
        "zh": "每个 GPU 每秒做的 FLOP，含重算",
        "en": "FLOP/s of a GPU, recomputation included",
    },
    "days_days": {
        "zh": "天数（每天 86,400 秒，不停机）",
        "en": "days (of 86,400 s, without a stop)",
    },
    "moe_expert_params": {
        "zh": "一个专家的参数",
        "en": "parameters of one expert",
    },
    "moe_layer_params": {
        "zh": "一层专家的参数：路由、全部专家、共享专家",
        "en": "parameters of one layer of experts, router and shared ones among them",
    },
    "moe_active_layer_params": {
        "zh": "其中一个 token 用到的",
        "en": "of these, what a token meets",
    },
    "moe_total_params": {
        "zh": "总参数",
        "en": "parameters in all",
    },
    "moe_active_params": {
        "zh": "激活参数（一个 token 用到的，含词表）",
        "en": "active parameters (what a token meets, tables counted)",
    },
    "moe_active_share": {
        "zh": "激活参数占总参数",
        "en": "active of all",
    },
    "moe_flops_per_token": {
        "zh": "每个 token 的 FLOP，前向加反向，不含注意力分数",
        "en": "FLOPs per token, forward and backward, no attention scores",
    },
    "moe_copies": {
        "zh": "一个 rank 的 token 一共要发的份数",
        "en": "copies of a rank's tokens",
    },
    "moe_tokens_per_expert": {
        "zh": "每个专家平均算多少行（来自所有 rank）",
        "en": "rows that an expert computes, from all ranks, mean",
    },
    "moe_remote_share": {
        "zh": "要离开本 rank 的比例（均匀路由）",
        "en": "of the copies, those that leave their rank (uniform routing)",
    },
    "moe_dispatch_bytes": {
        "zh": "dispatch：每个 rank 每层前向发出",
        "en": "dispatch: sent by a rank in one layer's forward",
    },
    "moe_combine_bytes": {
        "zh": "combine：每个 rank 每层前向发出",
        "en": "combine: sent by a rank in one layer's forward",
    },
    "moe_all_to_all_bytes": {
        "zh": "前向加反向，每层四次 all-to-all，每个 rank 发出",
        "en": "forward and backward, four all-to-alls a layer, sent by a rank",
    },
    "moe_gathering_bytes": {
        "zh": "换成 all-gather 加 reduce-scatter，前向发出",
        "en": "forward, if all tokens are gathered everywhere instead",
    },
    "moe_nodes_per_token": {
        "zh": "一个 token 的专家平均分在几个节点上（均匀路由）",
        "en": "nodes that hold a token's experts, mean (uniform routing)",
    },
    "moe_across_bytes": {
        "zh": "前向跨节点发出（每个节点只发一份）",
        "en": "forward, between nodes (one copy for each node)",
    },
    "moe_across_seconds": {
        "zh": "跨节点的时间",
        "en": "time of it between nodes",
    },
    "moe_capacity": {
        "zh": "每个 rank 给每个专家的名额",
        "en": "copies a rank may send to an expert",
    },
    "moe_dropped_share": {
        "zh": "丢弃的比例（均匀随机路由，二项分布精确求和）",
        "en": "dropped (uniform random routing, exact binomial sum)",
    },
    "moe_empty_share": {
        "zh": "空着的名额占比",
        "en": "slots that stay empty",
    },
    "allreduce_chunk_bytes": {
        "zh": "一块",
        "en": "a chunk",
    },
    "allreduce_steps": {
        "zh": "步数（一步之后才能下一步）",
        "en": "steps, one after another",
    },
    "allreduce_sent_bytes_per_rank": {
        "zh": "最忙的 rank 发出",
        "en": "sent by the busiest rank",
    },
    "allreduce_inter_bytes_per_rank": {
        "zh": "其中出节点的（只有 hierarchical 区分）",
        "en": "of it across nodes (only hierarchical tells)",
    },
    "allreduce_serial_bytes": {
        "zh": "先后传输的字节",
        "en": "bytes one after another",
    },
    "allreduce_seconds": {
        "zh": "用时",
        "en": "time",
    },
    "allreduce_algbw": {
        "zh": "算法带宽 algbw",
        "en": "algorithm bandwidth",
    },
    "allreduce_busbw": {
        "zh": "总线带宽 busbw",
        "en": "bus bandwidth",
    },
    "traffic_params_per_gpu": {
        "zh": "tp、pp（专家是 ep、pp）切过之后每个 GPU 的参数",
        "en": "parameters of a GPU after tp and pp (experts: ep and pp)",
    },
    "traffic_layers_per_stage": {
        "zh": "最满的 stage 的层数",
        "en": "layers of the fullest stage",
    },
    "traffic_activation_bytes": {
        "zh": "一个 micro-batch 在层间的激活",
        "en": "one micro-batch between two layers",
    },
    "traffic_kv_block_bytes": {
        "zh": "一层里一个 rank 的 K 和 V",
        "en": "keys and values of a rank in a layer",
    },
    "traffic_dp_bytes": {
        "zh": "数据并行：梯度 all-reduce（用了 ZeRO 则为 0）",
        "en": "data parallelism: gradients' all-reduce (0 under ZeRO)",
    },
    "traffic_scatters": {
        "zh": "一步里梯度 reduce-scatter 的次数",
        "en": "reduce-scatters of gradients in a step",
    },
    "traffic_gathers": {
        "zh": "一步里参数 all-gather 的次数",
        "en": "all-gathers of parameters in a step",
    },
    "traffic_zero_bytes": {
        "zh": "ZeRO：参数 all-gather 与梯度 reduce-scatter",
        "en": "ZeRO: parameters gathered, gradients scattered",
    },
    "traffic_tp_halves_per_layer": {
        "zh": "每层的 all-gather 与 reduce-scatter 次数（一次 all-reduce 算两次）",
        "en": "all-gathers and reduce-scatters of a layer (an all-reduce is two)",
    },
    "traffic_tp_bytes": {
        "zh": "张量并行",
        "en": "tensor parallelism",
    },
    "traffic_pp_bytes": {
        "zh": "流水线：送往下一个 stage 的激活与送回上一个 stage 的梯度",
        "en": "pipeline: activations onward, gradients back",
    },
    "traffic_cp_hops_per_layer": {
        "zh": "每层传出的 K/V 块与其梯度块数",
        "en": "K/V blocks and their gradients sent for a layer",
    },
    "traffic_cp_bytes": {
        "zh": "上下文并行：K/V 与 dK/dV",
        "en": "context parallelism: K/V and dK/dV",
    },
    "traffic_ring_params": {
        "zh": "环上发一趟（reduce-scatter 或 all-gather）的参数个数",
        "en": "parameters that one trip round the rings sends",
    },
    "traffic_ep_trips_per_layer": {
        "zh": "每层每个 micro-batch 的 all-to-all 次数",
        "en": "all-to-alls of a layer and micro-batch",
    },
    "traffic_moe_layers_per_stage": {
        "zh": "最满的 stage 有几层带专家（ep > 1 时）",
        "en": "layers with experts of the fullest stage (where ep > 1)",
    },
    "traffic_ep_bytes": {
        "zh": "专家并行：dispatch、combine 及其梯度",
        "en": "expert parallelism: dispatch, combine, their gradients",
    },
    "traffic_ep_seconds": {
        "zh": "专家并行用时",
        "en": "time of expert parallelism",
    },
    "traffic_messages": {
        "zh": "消息数",
        "en": "messages",
    },
    "traffic_axes_inside_node": {
        "zh": "不出节点的并行轴",
        "en": "axes that stay inside a node",
    },
    "traffic_tp_seconds": {
        "zh": "张量并行用时",
        "en": "time of tensor parallelism",
    },
    "traffic_cp_seconds": {
        "zh": "上下文并行用时",
        "en": "time of context parallelism",
    },
    "traffic_dp_seconds": {
        "zh": "数据并行或 ZeRO 用时",
        "en": "time of data parallelism or ZeRO",
    },
    "traffic_pp_seconds": {
        "zh": "流水线用时",
        "en": "time of the pipeline",
    },
    "traffic_seconds": {
        "zh": "合计（各轴不重叠，不计延迟）",
        "en": "together (no overlap, latency left out)",
    },
    "mfu_matrix_params": {
        "zh": "与每个 token 相乘的参数",
        "en": "parameters that each token is multiplied by",
    },
    "mfu_attention_flops_per_token": {
        "zh": "注意力核心，每个 token，前向加反向",
        "en": "attention core, per token, forward and backward",
    },
    "mfu_model_flops_per_token": {
        "zh": "模型本身，每个 token，不含重算",
        "en": "the model itself, per token, nothing recomputed",
    },
    "mfu_flops_per_token": {
        "zh": "硬件所做，每个 token，含重算",
        "en": "done by the hardware, per token, recomputation included",
    },
    "days_matrix_params": {
        "zh": "与每个 token 相乘的参数",
        "en": "parameters that each token is multiplied by",
    },
    "days_attention_flops_per_token": {
        "zh": "注意力核心，每个 token，前向加反向",
        "en": "attention core, per token, forward and backward",
    },
    "days_model_flops_per_token": {
        "zh": "模型本身，每个 token，不含重算",
        "en": "the model itself, per token, nothing recomputed",
    },
    "days_flops_per_token": {
        "zh": "硬件所做，每个 token，含重算",
        "en": "done by the hardware, per token, recomputation included",
    },
    "flops_attention_flops_per_token": {
        "zh": "注意力核心，每个 token，前向加反向",
        "en": "attention core, per token, forward and backward",
    },
    "flops_model_flops_per_token": {
        "zh": "模型本身，每个 token，不含重算",
        "en": "the model itself, per token, nothing recomputed",
    },
    "flops_flops_per_token": {
        "zh": "硬件所做，每个 token，含重算",
        "en": "done by the hardware, per token, recomputation included",
    },
    "pipeline_chunks": {
        "zh": "每张卡的段数（chunk）",
        "en": "chunks on each device",
    },
    "pipeline_busy": {
        "zh": "各 rank 干活的时间",
        "en": "time each rank works",
    },
    "pipeline_first_start": {
        "zh": "各 rank 第一个操作开始的时刻",
        "en": "when each rank starts",
    },
    "pipeline_last_end": {
        "zh": "各 rank 最后一个操作结束的时刻",
        "en": "when each rank is done",
    },
    "pipeline_makespan": {
        "zh": "一步的时间",
        "en": "time of the step",
    },
    "pipeline_ideal": {
        "zh": "没有气泡的理想时间",
        "en": "ideal time, without a bubble",
    },
    "pipeline_bubble_over_ideal": {
        "zh": "气泡（相对理想时间）",
        "en": "bubble over the ideal time",
    },
    "pipeline_bubble_share": {
        "zh": "气泡（占一步的比例）",
        "en": "bubble as a share of the step",
    },
    "pipeline_peak_live": {
        "zh": "各 rank 的激活峰值（几份，1 份 = 1 个 micro-batch 过 1 段）",
        "en": "peak live activations of each rank (micro-batches of one chunk)",
    },
    "pipeline_peak_live_whole": {
        "zh": "各 rank 的激活峰值（几份，1 份 = 1 个 micro-batch 过 1/p 个模型）",
        "en": "peak live activations of each rank (micro-batches of 1/p of the model)",
    },
    "pipeline_messages": {
        "zh": "消息总数",
        "en": "messages in all",
    },
    "pipeline_idle_per_device": {
        "zh": "各 rank 自己首尾之间的空闲",
        "en": "idle time of each rank between its first start and its last end",
    },
    "pipeline_idle_global": {
        "zh": "各 rank 在整步里的空闲",
        "en": "idle time of each rank within the whole step",
    },
    "pipeline_closed_form": {
        "zh": "公式出处",
        "en": "where the formula stands",
    },
    "pipeline_closed_bubble": {
        "zh": "气泡时间（公式）",
        "en": "bubble time, by formula",
    },
    "pipeline_closed_makespan": {
        "zh": "一步的时间（公式）",
        "en": "time of the step, by formula",
    },
    "pipeline_closed_bubble_over_ideal": {
        "zh": "气泡，相对理想时间（公式）",
        "en": "bubble over the ideal time, by formula",
    },
    "pipeline_closed_bubble_share": {
        "zh": "气泡，占一步的比例（公式）",
        "en": "bubble as a share of the step, by formula",
    },
    "pipeline_closed_peak_live": {
        "zh": "各 rank 的激活峰值（公式）",
        "en": "peak live activations of each rank, by formula",
    },
    "plan_microbatches": {
        "zh": "每条流水线一步的 micro-batch 数",
        "en": "micro-batches of a pipeline in a step",
    },
    "plan_chunk_layers": {"zh": "最满的一段有几层", "en": "layers of the fullest chunk"},
    "plan_dense_params_per_device": {
        "zh": "最满的 rank 的参数（不含路由专家，ZeRO 之前）",
        "en": "the fullest rank's parameters (without routed experts, before ZeRO)",
    },
    "plan_params_per_device": {
        "zh": "最满的 rank 的参数（ZeRO 之前）",
        "en": "the fullest rank's parameters (before ZeRO)",
    },
    "plan_params_per_shard": {"zh": "其中它的一份", "en": "of these, its shard"},
    "plan_expert_params_per_device": {
        "zh": "最满的 rank 的路由专家参数",
        "en": "the fullest rank's routed experts, in parameters",
    },
    "plan_expert_ranks": {"zh": "持有同样专家的 rank 数", "en": "ranks with the same experts"},
    "plan_unit_bytes": {
        "zh": "ZeRO-3 同时聚齐的两层权重和一层梯度",
        "en": "ZeRO-3: two layers' weights and one's gradients, whole",
    },
    "plan_states_bytes": {"zh": "权重、梯度、优化器合计", "en": "weights, gradients and optimizer"},
    "plan_attention_bytes": {
        "zh": "注意力（核心之外），一层，不重算时",
        "en": "attention without its core, one layer, if kept",
    },
    "plan_mlp_bytes": {"zh": "MLP，一层，不重算时", "en": "MLP, one layer, if kept"},
    "plan_cheap_bytes": {
        "zh": "其中选择性重计算不留的",
        "en": "of these, what selective recomputation lets go",
    },
    "plan_layer_bytes": {
        "zh": "一层一个 micro-batch 保留的",
        "en": "kept by one layer for one micro-batch",
    },
    "plan_recomputed_bytes": {
        "zh": "反向走到的那一层临时重新占的",
        "en": "one layer whole again while it goes backward",
    },
    "plan_first_bytes": {
        "zh": "第一个 stage 峰值的激活",
        "en": "activations of the first stage at its peak",
    },
    "plan_last_bytes": {
        "zh": "最后一个 stage 的激活（不含 logits）",
        "en": "activations of the last stage without logits",
    },
    "plan_held_logits_bytes": {
        "zh": "logits（最满的 stage 有才算）",
        "en": "logits, if the fullest stage has them",
    },
    "plan_activations_bytes": {
        "zh": "最满的 stage 的激活",
        "en": "activations of the fullest stage",
    },
    "plan_memory_bytes": {"zh": "最满的 rank 的显存", "en": "memory of the fullest rank"},
    "plan_layer_flops_per_token": {
        "zh": "一层一个 token 的运算量，前向加反向",
        "en": "one layer, one token, forward and backward",
    },
    "plan_token_share": {
        "zh": "一个 rank 摊到的 token（一个 micro-batch）",
        "en": "a rank's share of a micro-batch's tokens",
    },
    "plan_expert_flops_per_token": {"zh": "其中路由专家的", "en": "of it, routed experts'"},
    "plan_ridge_tokens": {
        "zh": "矩阵乘从多少行起算力才是瓶颈",
        "en": "rows from which on a product is bound by arithmetic",
    },
    "plan_dense_slowdown": {
        "zh": "专家以外的矩阵乘比纯算力慢几倍",
        "en": "products outside experts over their operations",
    },
    "plan_expert_slowdown": {
        "zh": "专家的矩阵乘比纯算力慢几倍",
        "en": "experts' products over their operations",
    },
    "plan_compute_seconds": {"zh": "计算", "en": "products of the layers"},
    "plan_attention_seconds": {"zh": "其中注意力核心", "en": "of it, attention's core"},
    "plan_recompute_seconds": {"zh": "重计算", "en": "forwards done again"},
    "plan_tp_wire_seconds": {
        "zh": "tp 通信，不论盖不盖得住",
        "en": "tp's collectives, hidden or not",
    },
    "plan_tp_seconds": {"zh": "其中露出来的", "en": "of them, what shows"},
    "plan_cp_seconds": {"zh": "露出的 cp 通信", "en": "cp's messages, what shows"},
    "plan_merge_seconds": {
        "zh": "ring attention 把各块的部分结果相加",
        "en": "ring attention adding up its blocks",
    },
    "plan_ep_bytes": {"zh": "ep 的 all-to-all 发出的", "en": "sent in ep's all-to-alls"},
    "plan_ep_seconds": {"zh": "ep 的 all-to-all", "en": "ep's all-to-alls"},
    "plan_work_seconds": {
        "zh": "最满的 rank 做一个 micro-batch 要多久",
        "en": "the fullest rank's time for one micro-batch",
    },
    "plan_logits_seconds": {
        "zh": "最后一个 stage 因 logits 多花的",
        "en": "what the logits add on the last stage",
    },
    "plan_bubble_seconds": {"zh": "气泡", "en": "the bubble"},
    "plan_far_share": {
        "zh": "stage 之间的传输有多少要出节点",
        "en": "hops between stages that leave a node",
    },
    "plan_hop_seconds": {
        "zh": "一个 micro-batch 传到下一个 stage",
        "en": "one micro-batch to the next stage",
    },
    "plan_shown_hops": {"zh": "露出来的传输次数", "en": "hops that show"},
    "plan_pp_seconds": {"zh": "露出的 pp 传输", "en": "pp's hops, what shows"},
    "plan_dp_rate": {
        "zh": "dp 的环每个 rank 分到的带宽",
        "en": "a dp ring's rate for each of its ranks",
    },
    "plan_expert_rate": {
        "zh": "同一组专家的环每个 rank 分到的带宽",
        "en": "an expert ring's rate for each of its ranks",
    },
    "plan_dp_calls_seconds": {
        "zh": "dp 通信一遍的固定开销",
        "en": "one pass of dp's rings, whatever they carry",
    },
    "plan_scatter_seconds": {
        "zh": "一次 reduce-scatter 全部梯度",
        "en": "one reduce-scatter of all gradients",
    },
    "plan_gather_seconds": {
        "zh": "一次 all-gather 全部权重",
        "en": "one all-gather of all weights",
    },
    "plan_forward_seconds": {
        "zh": "一个 micro-batch 的前向计算（可以盖住 gather）",
        "en": "products of one forward, which gathers hide behind",
    },
    "plan_backward_seconds": {
        "zh": "一个 micro-batch 的反向计算（可以盖住梯度）",
        "en": "products of one backward, which gradients hide behind",
    },
    "plan_dp_seconds": {"zh": "露出的 dp 通信", "en": "dp's collectives, what shows"},
    "plan_update_seconds": {"zh": "优化器更新", "en": "the optimizer's step"},
    "plan_step_seconds": {"zh": "一步的时间", "en": "time of a step"},
    "plan_tokens_per_second": {"zh": "每秒 token 数", "en": "tokens per second"},
}
