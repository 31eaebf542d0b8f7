"""The sheet of the night before: ten formulas, three pictures, and what its letters mean."""

from quizkit.words import Words

WORDS: Words = {
    "title": {"zh": "面试前夜", "en": "The night before"},
    "formulas": {"zh": "十个公式", "en": "Ten formulas"},
    "pictures": {"zh": "三张图", "en": "Three pictures"},
    "conventions": {"zh": "口径", "en": "Conventions"},
    "letters": {
        "zh": "p 个 stage（i 从 0 数）、m 个 micro-batch、v 段；F、B、W：前向、输入梯度、权重梯度的时间；N、t：数据并行、张量并行的 rank 数；S：字节数；α：每步延迟；w：带宽；Ψ：参数量；K：每步的 micro-batch 数；b、s、h、a：每个 micro-batch 的样本数、序列长、隐藏维、头数；L：层数；g、d：KV 头数、head_dim；n、P、u：卡数、单卡峰值、MFU；r、D：每秒、总共的 token 数；Q、C：权重、cache 的字节数。",
        "en": "p stages (i from 0), m micro-batches, v chunks; F, B, W: time of forward, input gradient, weight gradient; N, t: data-parallel and tensor-parallel ranks; S: bytes; α: latency of a step; w: bandwidth; Ψ: parameters; K: micro-batches a step; b, s, h, a: samples of a micro-batch, sequence length, hidden size, heads; L: layers; g, d: KV heads, head_dim; n, P, u: GPUs, peak of one, MFU; r, D: tokens a second, tokens in all; Q, C: bytes of weights and cache.",
    },
    "formula_bubble": {
        "zh": "**气泡**（GPipe、1F1B）占整步 {share}，相对理想 {over}；交错 1F1B 相对理想 {chunks}。各 stage 等时、传输免费、更新前 flush。",
        "en": "**Bubble** (GPipe, 1F1B): {share} of the step, {over} over ideal; interleaved {chunks} over ideal. Equal stages, free transfers, a flush.",
    },
    "formula_zero_bubble": {
        "zh": "**ZB-H1** 每个 stage 空等 {zb}，1F1B 是 {plain}。W 不长于 F 和 B，m 不少于 p。",
        "en": "**ZB-H1** idles {zb} on each stage, 1F1B {plain}. W no longer than F and B, m at least p.",
    },
    "formula_live": {
        "zh": "**在途激活**：1F1B 的 stage i 最多留 {live} 份 micro-batch，GPipe 留 {gpipe} 份。",
        "en": "**Live activations**: stage i of 1F1B keeps {live} micro-batches at most, GPipe {gpipe}.",
    },
    "formula_ring": {
        "zh": "**Ring all-reduce**：每个 rank 发 {sent}，用时 {time}。reduce-scatter、all-gather 各是一半。",
        "en": "**Ring all-reduce**: a rank sends {sent} and takes {time}. Reduce-scatter and all-gather are half of it each.",
    },
    "formula_states": {
        "zh": "**模型状态**（混合精度 Adam，字节）：DDP {whole}；ZeRO-1 {one}；ZeRO-2 {two}；ZeRO-3 {three}。",
        "en": "**Model states** (mixed-precision Adam, bytes): DDP {whole}; ZeRO-1 {one}; ZeRO-2 {two}; ZeRO-3 {three}.",
    },
    "formula_traffic": {
        "zh": "**每步通信**（一个 micro-batch 时每个 rank 发的元素）：DDP、ZeRO-1、ZeRO-2 {two}；ZeRO-3 {three}，K 个时 {again}。",
        "en": "**Traffic of a step** of one micro-batch (elements a rank sends): DDP, ZeRO-1 and ZeRO-2 {two}; ZeRO-3 {three}, with K of them {again}.",
    },
    "formula_tensor": {
        "zh": "**张量并行**：一层、一个 micro-batch 有 4 次 all-reduce，每个 rank 发 {layer} 个元素。不做重计算。",
        "en": "**Tensor parallelism**: 4 all-reduces for a layer and micro-batch, {layer} elements sent by a rank. Nothing recomputed.",
    },
    "formula_activations": {
        "zh": "**一层的激活**（bf16，字节）：{whole}；选择性重计算 {lean}；再加 TP 和序列并行 {cut}。",
        "en": "**Activations of a layer** (bf16, bytes): {whole}; selective recomputation {lean}; with TP and sequence parallelism too {cut}.",
    },
    "formula_flops": {
        "zh": "**FLOPs、MFU、天数**：每个 token {token}；MFU = {mfu}；训练 {days} 天（注意力的平方项不计）。",
        "en": "**FLOPs, MFU, days**: {token} for a token; MFU = {mfu}; training takes {days} days (leaving out attention's square).",
    },
    "formula_cache": {
        "zh": "**KV cache**（bf16）：每个 token {token} 字节；decode 一步至少 {floor} 秒。",
        "en": "**KV cache** (bf16): {token} bytes a token; a decode step takes at least {floor} seconds.",
    },
    "picture_1f1b": {
        "zh": "1F1B：4 个 stage，8 个 micro-batch",
        "en": "1F1B: 4 stages, 8 micro-batches",
    },
    "picture_zb": {
        "zh": "ZB-H1：反向拆成 B 和 W，W 填空",
        "en": "ZB-H1: backward split into B and W, W fills the holes",
    },
    "picture_ring": {
        "zh": "因果掩码下的 Ring Attention：连续切分与 zigzag",
        "en": "Ring attention under a causal mask: contiguous and zigzag",
    },
    "recorded": {
        "zh": "录下的一次运行：quizkit demo {demo}，{ranks} 个 rank",
        "en": "From a recorded run: quizkit demo {demo}, ranks: {ranks}",
    },
    # A sheet for who plays the interviewer.
    "mock_how": {
        "zh": "给扮面试官的人：{minutes} 分钟，可暂停 {pause} 分钟。过程中不说对错。一题答完，从上往下看追问，第一个条件成立的就问，没有就下一题。数字是抽出来的一组。",
        "en": "For who plays the interviewer: {minutes} minutes, {pause} of pauses. No verdicts on the way. After an answer put the first follow-up whose condition holds, else go on. Numbers are one draw.",
    },
    "mock_facts": {"zh": "问了才说的背景", "en": "Facts, told to who asks"},
    "mock_facts_how": {
        "zh": "没写在这里的就说：“这个你自己假设，把假设讲清楚就行。”",
        "en": "To anything else say: Assume what you need, and say what you assume.",
    },
    "mock_station": {"zh": "主线题", "en": "Question"},
    "mock_probe": {"zh": "追问", "en": "Follow-up"},
    "mock_if": {"zh": "什么时候问", "en": "Put it if"},
    "mock_hints": {"zh": "提示（每次扣 0.25 分）", "en": "Hints (each costs 0.25)"},
    "mock_looks": {"zh": "可以要的记录", "en": "Records to be asked for"},
    "if_right": {"zh": "答对了", "en": "the answer is right"},
    "if_wrong": {"zh": "没答对", "en": "the answer is not right"},
    "if_score": {"zh": "得分（0 到 1）", "en": "the score (0 to 1)"},
    "if_left": {"zh": "剩余分钟", "en": "minutes left"},
    "if_hints": {"zh": "要过的提示", "en": "hints taken"},
    "if_silent": {"zh": "没有作答", "en": "nothing was answered"},
    "if_low": {"zh": "数字偏小", "en": "the number is too low"},
    "if_high": {"zh": "数字偏大", "en": "the number is too high"},
    "if_line": {"zh": "行找对了", "en": "the line is right"},
    "if_and": {"zh": "，并且", "en": "and"},
    "if_or": {"zh": "，或者", "en": "or"},
    "if_not": {"zh": "没有：", "en": "not:"},
    "if_point": {"zh": "说到“{said}”", "en": "said “{said}”"},
    "if_veto": {"zh": "说了错的“{said}”", "en": "said the false “{said}”"},
    "if_option": {"zh": "选了“{said}”", "en": "picked “{said}”"},
    "if_trap": {"zh": "掉进“{said}”", "en": "fell for “{said}”"},
    "if_check": {"zh": "满足“{said}”", "en": "meets “{said}”"},
    "if_reason": {"zh": "说出原因“{said}”", "en": "gave the reason “{said}”"},
    "if_look": {"zh": "看过“{said}”", "en": "looked at “{said}”"},
}
