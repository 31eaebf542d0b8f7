"""What the calculators say around their numbers."""

from quizkit.words import Words

WORDS: Words = {
    "list_hint": {
        "zh": "--model、--gpu 按名字填数。quizkit calc 名字 --help：全部选项和例子；--explain：公式和出处；--quiz：出成题考你；--json。",
        "en": "--model and --gpu fill numbers in by name. quizkit calc NAME --help: options, an example; --explain: formulas and sources; --quiz asks you; --json.",
    },
    "ask_layout": {"zh": "怎么切？", "en": "Which layout?"},
    "ask_fits": {"zh": "显存放得下吗？", "en": "Does it fit?"},
    "ask_long": {"zh": "要训多久？", "en": "How long does it take?"},
    "ask_network": {"zh": "网络上传多少？", "en": "What crosses the network?"},
    "ask_fast": {"zh": "跑得多快？", "en": "How fast is it?"},
    "what_memory": {
        "zh": "权重、梯度、优化器状态在每张卡上占多少，放得下多大的模型",
        "en": "weights, gradients, optimizer states per GPU; the largest model",
    },
    "what_activations": {
        "zh": "前向为反向保留多少激活：每层、最满的 stage",
        "en": "what the forward keeps for the backward: per layer, per stage",
    },
    "what_pipeline": {
        "zh": "流水线一步多久，气泡多大，保留几份激活；画甘特图",
        "en": "a schedule's step, bubble and live activations, as a timeline",
    },
    "what_traffic": {
        "zh": "每个 GPU 一步在各并行维度上发多少字节，要多久",
        "en": "bytes each GPU sends in a step, by axis of parallelism",
    },
    "what_moe": {
        "zh": "MoE 的激活参数、all-to-all 字节数、超出容量丢多少",
        "en": "an MoE's active parameters, all-to-all bytes, dropped tokens",
    },
    "what_allreduce": {
        "zh": "一次集合通信发多少、几步、多久，algbw 与 busbw",
        "en": "one collective: bytes, steps, seconds, algbw and busbw",
    },
    "what_flops": {
        "zh": "训练一个 token、一步要多少 FLOP，与 6ND 差多少",
        "en": "FLOPs per token and per step, and how far off 6ND is",
    },
    "what_mfu": {
        "zh": "每秒多少 token 相当于多少 MFU 与 HFU",
        "en": "tokens per second as MFU and HFU",
    },
    "what_days": {
        "zh": "训练要多少天",
        "en": "days of a training run",
    },
    "what_kv": {
        "zh": "KV 缓存多大，解码最快多快，放得下几条序列",
        "en": "the KV cache, the fastest decode step, sequences that fit",
    },
    "what_plan": {
        "zh": "一个模型在这些卡上的所有切法：哪些放得下、谁最快、为什么",
        "en": "every layout of a model over GPUs: what fits, ranked, and why",
    },
    "inputs": {"zh": "输入", "en": "Inputs"},
    "results": {"zh": "结果", "en": "Results"},
    "options": {"zh": "选项", "en": "Options"},
    "common": {"zh": "通用选项", "en": "Options of every calculator"},
    "example": {"zh": "例如：{line}", "en": "For example: {line}"},
    "usage": {"zh": "用法：{line}", "en": "Usage: {line}"},
    "is_default": {"zh": "默认值", "en": "default"},
    "on": {"zh": "是", "en": "yes"},
    "off": {"zh": "否", "en": "no"},
    "default": {"zh": "默认 {value}", "en": "default {value}"},
    "required": {"zh": "必填", "en": "required"},
    "source": {"zh": "出处：{source}", "en": "Source: {source}"},
    "option_model": {
        "zh": "用一个模型的尺寸填上面没给的：llama-3-70b、deepseek-v3……，或 config.json 的路径",
        "en": "Fill what is not given with a model's sizes: llama-3-70b, deepseek-v3, ..., or the path of a config.json",
    },
    "option_gpu": {
        "zh": "用一种卡填：h100、a100-80、mi300x……（稠密峰值、标称显存、单方向带宽）；也可以只填一项，如 --fit h100",
        "en": "The same with a GPU: h100, a100-80, mi300x, ... (dense peak, memory as sold, links one way); or one alone, as in --fit h100",
    },
    "option_explain": {
        "zh": "每个数后面给出公式、代入数字的算式和出处",
        "en": "Each number with its formula, the numbers put in, and its source",
    },
    "option_quiz": {
        "zh": "换成一道题来考你，没给的数随机抽；答案记进答题记录",
        "en": "Ask it as a question instead; numbers not given are drawn, the answer is recorded",
    },
    "option_json": {"zh": "输出一个 JSON 对象", "en": "One JSON object"},
    "option_lang": {"zh": "界面语言", "en": "Language of the words"},
    "option_plain": {"zh": "不用颜色和分栏", "en": "No colours, no columns"},
    "option_svg": {"zh": "把甘特图写成一个图片文件", "en": "Write the timeline as a picture"},
    "unit_bytes": {"zh": "字节", "en": "bytes"},
    "unit_days": {"zh": "天", "en": "days"},
    "unit_hours": {"zh": "小时", "en": "hours"},
    "unit_minutes": {"zh": "分钟", "en": "minutes"},
    "svg_title": {
        "zh": "{schedule}，{ranks} 个 stage，{microbatches} 个 micro-batch（模拟）",
        "en": "{schedule}: {ranks} stages, {microbatches} micro-batches (simulated)",
    },
    "quiz_formula": {"zh": "公式：", "en": "The formula:"},
    "quiz_worked": {"zh": "代入数字：", "en": "With the numbers put in:"},
}
