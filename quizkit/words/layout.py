"""What `calc plan` says of layouts."""

from quizkit.words import Words

WORDS: Words = {
    "title": {
        "zh": "{model}（{params}），{gpus} 张 {chip}，序列 {seq}，batch {batch}",
        "en": "{model} ({params}), {gpus} x {chip}, sequence {seq}, batch {batch}",
    },
    "best": {
        "zh": "最快的 {count} 种配置，每种切法（tp cp pp ep dp）取一种",
        "en": "Fastest {count}, one a grid (tp, cp, pp, ep, dp)",
    },
    "close": {
        "zh": "；相差 {spread}，分不出高下",
        "en": "; within {spread}: too close to call",
    },
    "fastest": {"zh": "最快的一种", "en": "The fastest"},
    "fastest_and": {"zh": "最快的，和你问的", "en": "The fastest, and the one asked about"},
    "recompute": {"zh": "重计算", "en": "recompute"},
    "step": {"zh": "一步/s", "en": "step/s"},
    "rate": {"zh": "token/s", "en": "tokens/s"},
    "bubble": {"zh": "气泡", "en": "bubble"},
    "none": {"zh": "不做", "en": "none"},
    "selective": {"zh": "选择性", "en": "selective"},
    "full": {"zh": "全部", "en": "full"},
    "memory": {
        "zh": "{total} GB：{states}+{activations}+{logits}",
        "en": "{total} GB: {states}+{activations}+{logits}",
    },
    "second": {
        "zh": "最满的卡（{capacity} GB）：状态+激活+logits；露出的通信占一步的 %",
        "en": "fullest rank, of {capacity} GB: states+activations+logits; exposed: % of a step",
    },
    "shown": {"zh": "露出 {sum}%：{axes}", "en": "exposed {sum}%: {axes}"},
    "sum": {
        "zh": "第 1 行：{step} s = {parts}",
        "en": "Row 1: {step} s = {parts}",
    },
    "sum_mfu": {
        "zh": "；MFU {mfu} = {efficiency} x ({compute} + {logits}/{pp}) / {step}。",
        "en": "; MFU {mfu} = {efficiency} x ({compute} + {logits}/{pp}) / {step}.",
    },
    "sum_stop": {"zh": "。", "en": "."},
    "sum_compute": {"zh": "计算", "en": "products"},
    "sum_recompute": {"zh": "重计算", "en": "recompute"},
    "sum_bubble": {"zh": "气泡", "en": "bubble"},
    "sum_update": {"zh": "优化器", "en": "optimizer"},
    "sum_others": {"zh": "其余", "en": "others"},
    "looked": {
        "zh": "共枚举 {layouts} 种配置，{fit} 种放得下；超显存的：状态 {states}，激活 {activations}，logits {logits}。",
        "en": "{fit} of {layouts} layouts fit; too much: states {states}, activations {activations}, logits {logits}.",
    },
    "grids": {"zh": "{grids} 种切法：{parts}。", "en": "{grids} grids: {parts}."},
    "grids_fit": {"zh": "{count} 种放得下", "en": "{count} with a fit"},
    "grids_full": {"zh": "{count} 种放不下", "en": "{count} with none"},
    "grids_slow": {
        "zh": "{count} 种用时必超最快的 {times} 倍",
        "en": "{count} surely over {times}x slower",
    },
    "rule_node": {"zh": "{count} 种 tp 超出节点", "en": "{count} with tp beyond a node"},
    "rule_heads": {"zh": "{count} 种头数或 MLP 除不尽", "en": "{count} not dividing heads or MLP"},
    "rule_kv_heads": {"zh": "{count} 种 KV 头数除不尽", "en": "{count} not dividing K/V heads"},
    "rule_layers": {
        "zh": "{count} 种 stage 多于层",
        "en": "{count} with more stages than layers",
    },
    "rule_seq": {"zh": "{count} 种序列除不尽", "en": "{count} not dividing the sequence"},
    "rule_batch": {"zh": "{count} 种 batch 除不尽", "en": "{count} not dividing the batch"},
    "legend": {
        "zh": "v：每卡几段；mb：micro-batch 的序列数；m：micro-batch 数；zero：按 dp x cp{experts}分片，2、3 每个 micro-batch 都归约梯度",
        "en": "v: chunks a rank; mb: sequences a micro-batch; m: micro-batches; zero: shards over dp x cp{experts}, 2 and 3 scatter gradients each micro-batch",
    },
    "legend_experts": {
        "zh": "（专家按 tp x cp x dp/ep）",
        "en": " (experts: tp x cp x dp/ep)",
    },
    "legend_dense": {"zh": " ", "en": ""},
    "legend_one": {
        "zh": "（Megatron 的是 1：--why zero=1）。",
        "en": " (Megatron's is 1: --why zero=1).",
    },
    "legend_stop": {"zh": "。", "en": "."},
    "small_time": {
        "zh": "时间：{peak} TFLOP/s（稠密）的 {efficiency}；链路单向 {inside} GB/s（{node} 卡节点内）、{across} GB/s（每卡出节点）的 {link}；tp 反向 6 次通信有 4 次被掩盖，cp 和注意力重叠，dp 和一个 micro-batch 重叠。",
        "en": "Time: {efficiency} of {peak} TFLOP/s dense; {link} of {inside} GB/s one way in a node of {node}, {across} a GPU across; hidden: 4 of tp's 6 backward collectives, cp by attention, dp by one micro-batch.",
    },
    "small_memory": {
        "zh": "显存：标称 {usable} GB，驱动多显示的约 7% 留作余量；bf16、fp32 梯度、Adam。不算 DualPipe、fp8、卸载。--explain 逐项。",
        "en": "Memory: {usable} GB as sold; a driver's 7% more is reserve; bf16, fp32 gradients, Adam. No DualPipe, fp8, offload. See --explain.",
    },
    "terms": {"zh": "最快的一种，逐项", "en": "The fastest, term by term"},
    "nothing": {"zh": "一种都放不下。", "en": "Nothing fits."},
    "nothing_grid": {
        "zh": "没有一种切法成立。换一个 GPU 数或 batch。",
        "en": "No grid can be. Take another number of GPUs or another batch.",
    },
    "full_least": {
        "zh": "最省的是 {layout}：每张卡要 {need} GB，可用 {usable} GB，超 {over} GB（状态 {states}，激活 {activations}，logits {logits}）。",
        "en": "The smallest is {layout}: {need} GB for {usable} usable, {over} GB too many (states {states}, activations {activations}, logits {logits}).",
    },
    "enough": {
        "zh": "GPU 加到 {gpus} 张就放得下；或者换显存更大的卡。",
        "en": "{gpus} GPUs would do; or GPUs with more memory.",
    },
    "not_enough": {
        "zh": "GPU 多到 64 倍也放不下：换显存更大的卡，或缩短序列。",
        "en": "64 times the GPUs would not do: take GPUs with more memory, or shorter sequences.",
    },
    "why": {"zh": "为什么不是 {layout}", "en": "Why not {layout}"},
    "why_best": {
        "zh": "它就是最快的：{layout}。",
        "en": "It is the fastest: {layout}.",
    },
    "why_slower": {
        "zh": "其中最快的是 {layout}，一步 {step} s，是最快一种的 {ratio} 倍（{place}）。",
        "en": "The fastest of them, {layout}, takes {step} s a step, {ratio} times the best ({place}).",
    },
    "why_place": {
        "zh": "它的切法在 {of} 种放得下的里排第 {rank}",
        "en": "its grid is number {rank} of the {of} that fit",
    },
    "why_beyond": {"zh": "慢到没有排进名次", "en": "too slow to be ranked"},
    "why_more": {"zh": "慢 {more} s：{parts}。", "en": "{more} s slower: {parts}."},
    "why_other": {"zh": "其余", "en": "other"},
    "why_full": {
        "zh": "放不下，卡在{part}。",
        "en": "It does not fit: {part} are too much.",
    },
    "why_divides": {"zh": "不成立：{reason}。", "en": "It cannot be: {reason}."},
    "why_mend": {
        "zh": "{kept} 时最快的一步 {step} s：{layout}。",
        "en": "The fastest with {kept} takes {step} s: {layout}.",
    },
    "why_mend_any": {
        "zh": "不限定时最快的一步 {step} s：{layout}。",
        "en": "The fastest of all takes {step} s: {layout}.",
    },
    "why_mend_first": {
        "zh": "{kept} 时最快的就是第 1 行。",
        "en": "The fastest with {kept} is row 1.",
    },
    "part_states": {
        "zh": "权重、梯度和优化器状态",
        "en": "weights, gradients and optimizer states",
    },
    "part_activations": {"zh": "激活", "en": "activations"},
    "part_compute": {"zh": "计算", "en": "products"},
    "part_recompute": {"zh": "重计算", "en": "recompute"},
    "part_tp": {"zh": "露出的 tp 通信", "en": "exposed tp"},
    "part_cp": {"zh": "露出的 cp 通信", "en": "exposed cp"},
    "part_ep": {"zh": "露出的 ep 通信", "en": "exposed ep"},
    "part_logits": {"zh": "logits", "en": "logits"},
    "part_bubble": {"zh": "气泡", "en": "bubble"},
    "part_pp": {"zh": "露出的 pp 通信", "en": "exposed pp"},
    "part_dp": {"zh": "露出的 dp 通信", "en": "exposed dp"},
    "part_update": {"zh": "优化器", "en": "optimizer"},
    "not_gpus": {
        "zh": "{gpus} 张 GPU 凑不出这几个数的乘积",
        "en": "{gpus} GPUs are no multiple of these degrees",
    },
    "not_node": {
        "zh": "tp={tp} 超出了一个节点的 {node} 张卡",
        "en": "tp={tp} is more than the {node} GPUs of a node",
    },
    "not_heads": {
        "zh": "tp={tp} 除不尽 {heads} 个头或 MLP 宽度 {ffn}",
        "en": "tp={tp} does not divide {heads} heads or an MLP of {ffn}",
    },
    "not_kv_heads": {
        "zh": "tp={tp} 与 {kv_heads} 个 KV 头互相除不尽",
        "en": "tp={tp} and {kv_heads} K/V heads do not divide each other",
    },
    "not_layers": {
        "zh": "pp={pp} 比 {layers} 层还多",
        "en": "pp={pp} is more than {layers} layers",
    },
    "not_seq": {
        "zh": "tp={tp}、cp={cp} 除不尽 {seq} 个 token（cp 要两两配对的 2 × cp 块）",
        "en": "tp={tp} and cp={cp} do not divide {seq} tokens (cp takes 2 x cp blocks, in pairs)",
    },
    "not_batch": {
        "zh": "dp={dp} 除不尽一步的 {batch} 条序列",
        "en": "dp={dp} does not divide the {batch} sequences of a step",
    },
    "not_rounds": {
        "zh": "这样的 v、mb 凑不成：v 段要求 micro-batch 数是 pp 的倍数，每个 rank 的层数至多差一层，mb 要整除每份的 batch",
        "en": "v and mb do not go with it: v chunks take a multiple of pp micro-batches and ranks that differ by one layer at most; mb divides a copy's share of the batch",
    },
}
