"""What `calc plan` says of layouts."""

from quizkit.words import Words

WORDS: Words = {
    "title": {
        "zh": "{model}（{params}），{gpus} 张 {chip}，序列 {seq}，batch {batch}",
        "en": "{model} ({params}), {gpus} x {chip}, sequence {seq}, batch {batch}",
    },
    "best": {
        "zh": "最快的 {count} 种切法（每种 tp、cp、pp、ep、dp 只列最快的一个）",
        "en": "The fastest {count}, one for each choice of tp, cp, pp, ep and dp",
    },
    "fastest": {"zh": "最快的一种", "en": "The fastest"},
    "recompute": {"zh": "重计算", "en": "recompute"},
    "step": {"zh": "一步", "en": "step"},
    "rate": {"zh": "token/s", "en": "tokens/s"},
    "bubble": {"zh": "气泡", "en": "bubble"},
    "none": {"zh": "不做", "en": "none"},
    "selective": {"zh": "选择性", "en": "selective"},
    "full": {"zh": "全部", "en": "full"},
    "memory": {
        "zh": "{total}/{capacity} GB：{states} + {activations} + {logits}",
        "en": "{total} of {capacity} GB: {states} + {activations} + {logits}",
    },
    "second": {
        "zh": "显存：状态 + 激活 + logits；露出的通信占一步多少",
        "en": "memory: states + activations + logits; exposed: its share of the step",
    },
    "shown": {"zh": "露出的通信 {axes}", "en": "exposed {axes}"},
    "shown_none": {"zh": "通信都盖住了", "en": "nothing exposed"},
    "looked": {
        "zh": "看了 {layouts} 种，{fit} 种放得下；超显存的：状态 {states}，激活 {activations}，logits {logits}。",
        "en": "{layouts} layouts looked at, {fit} fit; too many bytes: states {states}, activations {activations}, logits {logits}.",
    },
    "grids": {
        "zh": "{grids} 种切法里不成立的：{fell}。",
        "en": "Of {grids} grids some do not divide: {fell}.",
    },
    "grids_all": {"zh": "{grids} 种切法都成立。", "en": "Grids: {grids}, none against a rule."},
    "slow": {
        "zh": "另有 {count} 种光计算和层内通信就超过最快的 {times} 倍，没有再往下细分。",
        "en": "Left as {times} times slower by products and collectives alone: {count}.",
    },
    "rule": {"zh": "{rule} {count}", "en": "{rule} {count}"},
    "rule_node": {"zh": "tp 出节点", "en": "tp beyond a node"},
    "rule_heads": {"zh": "头数或 MLP 除不尽", "en": "heads or MLP"},
    "rule_kv_heads": {"zh": "KV 头数除不尽", "en": "K/V heads"},
    "rule_layers": {"zh": "stage 多于层", "en": "more stages than layers"},
    "rule_seq": {"zh": "序列除不尽", "en": "sequence"},
    "rule_batch": {"zh": "batch 除不尽", "en": "batch"},
    "small_time": {
        "zh": "时间：算力取稠密峰值的 {efficiency}，链路取 {link}；tp 反向 6 次通信盖住 4 次，前向不盖；cp 藏在注意力后面；dp 藏在一个 micro-batch 后面；气泡 (p-1)/v 个 micro-batch。",
        "en": "Time: {efficiency} of the dense peak, {link} of links; hidden: 4 of tp's 6 backward collectives, cp by attention, dp by one micro-batch; bubble (p-1)/v of them.",
    },
    "small_memory": {
        "zh": "显存：标称容量的 {usable} 可用；bf16 权重、fp32 梯度、Adam。不算：DualPipe、fp8、卸载。--explain 逐项；--why tp=8,pp=4 问一种。",
        "en": "Memory: {usable} of the GB as sold; bf16 weights, fp32 gradients, Adam. No DualPipe, fp8, offload. Terms: --explain; one layout: --why tp=8,pp=4.",
    },
    "terms": {"zh": "最快的一种，逐项", "en": "The fastest, term by term"},
    "nothing": {"zh": "一种都放不下。", "en": "Nothing fits."},
    "nothing_grid": {
        "zh": "没有一种切法成立。换一个 GPU 数或 batch。",
        "en": "No grid divides. Take another number of GPUs or another batch.",
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
        "zh": "其中最快的是 {layout}，一步 {step}，是最快一种的 {ratio} 倍（{place}）。",
        "en": "The fastest of them, {layout}, takes {step} a step, {ratio} times the best ({place}).",
    },
    "why_place": {"zh": "{of} 种放得下的切法里第 {rank}", "en": "{rank} of {of} grids that fit"},
    "why_beyond": {"zh": "慢到没有排进名次", "en": "too slow to be ranked"},
    "why_more": {
        "zh": "每步多出 {more}，主要在{part}：{ours}，最快的一种是 {theirs}。",
        "en": "It takes {more} more; most of it is {part}: {ours}, the best has {theirs}.",
    },
    "why_next": {"zh": "其次：{parts}。", "en": "Then: {parts}."},
    "why_full": {
        "zh": "放不下，卡在{part}。",
        "en": "It does not fit: {part} are too much.",
    },
    "why_divides": {"zh": "切不开：{reason}。", "en": "It does not divide: {reason}."},
    "why_mend": {
        "zh": "把 {old} 改成 {new}，一步 {step}：{layout}。",
        "en": "With {new} for {old} a step takes {step}: {layout}.",
    },
    "part_states": {
        "zh": "权重、梯度和优化器状态",
        "en": "weights, gradients and optimizer states",
    },
    "part_activations": {"zh": "激活", "en": "activations"},
    "part_compute": {"zh": "计算（层分得不均）", "en": "products (layers unevenly shared)"},
    "part_recompute": {"zh": "重计算", "en": "recomputation"},
    "part_tp": {"zh": "露出的 tp 通信", "en": "exposed tp collectives"},
    "part_cp": {"zh": "露出的 cp 通信", "en": "exposed cp messages"},
    "part_ep": {"zh": "ep 的 all-to-all", "en": "ep's all-to-alls"},
    "part_logits": {"zh": "最后一个 stage 的 logits", "en": "the last stage's logits"},
    "part_bubble": {"zh": "气泡", "en": "the bubble"},
    "part_pp": {"zh": "露出的 pp 传输", "en": "exposed pp hops"},
    "part_dp": {"zh": "露出的 dp 通信", "en": "exposed dp collectives"},
    "part_update": {"zh": "优化器更新", "en": "the optimizer's step"},
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
