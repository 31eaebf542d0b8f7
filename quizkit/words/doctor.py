"""What `doctor` says."""

from quizkit.words import Words

WORDS: Words = {
    "python": {"zh": "Python", "en": "Python"},
    "system": {"zh": "系统", "en": "system"},
    "torch": {"zh": "PyTorch", "en": "PyTorch"},
    "gloo": {"zh": "gloo（CPU 通信）", "en": "gloo (messages on CPU)"},
    "nccl": {"zh": "NCCL（多卡通信）", "en": "NCCL (messages between GPUs)"},
    "gpus": {"zh": "CUDA GPU 数", "en": "CUDA GPUs"},
    "start": {"zh": "rank 的启动方式", "en": "ranks start by"},
    "terminal": {"zh": "标准输出是终端", "en": "standard output is a terminal"},
    "columns": {"zh": "终端宽度", "en": "columns"},
    "encoding": {"zh": "编码", "en": "encoding"},
    "home": {"zh": "你的文件", "en": "your files"},
    "home_writable": {"zh": "可写", "en": "writable"},
    "quiz": {"zh": "能刷题", "en": "the quiz works"},
    "demos": {"zh": "能跑 demo 和证明", "en": "demos and proofs work"},
    "yes": {"zh": "是", "en": "yes"},
    "no": {"zh": "否", "en": "no"},
    "torch_missing": {
        "zh": "没有 PyTorch，demo 跑不了，证明只能看录好的运行。安装：{python} -m pip install torch numpy",
        "en": "There is no PyTorch, so no demo can run, and proofs show runs that were recorded. Install it: {python} -m pip install torch numpy",
    },
    "torch_broken": {
        "zh": "PyTorch 装了但导入失败。看看原因：{python} -c 'import torch'",
        "en": "PyTorch is there but cannot be imported. See why: {python} -c 'import torch'",
    },
    "torch_old": {
        "zh": "PyTorch 太旧，demo 需要 2.11 以上。升级：{python} -m pip install -U torch",
        "en": "PyTorch is too old; demos need 2.11 or newer. Upgrade: {python} -m pip install -U torch",
    },
    "no_gloo": {
        "zh": "这个 PyTorch 没有 gloo，demo 跑不了；换成官方发行的 PyTorch",
        "en": "This PyTorch has no gloo, so no demo can run; take an official build",
    },
}
