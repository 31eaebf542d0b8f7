"""A small bank with every kind of question, read from real files."""

from pathlib import Path

import pytest

from quizkit.bank.reader import Bank

FILES = {
    "comm/_topic.yaml": """
title: {zh: 通信, en: Communication}
intro: {zh: 集合通信, en: Collectives}
""",
    "comm/ring-share.yaml": """
kind: numeric
level: 2
prompt:
  zh: "{n} 张卡做环形 all-reduce，每张卡发送的数据是缓冲区的几倍？"
  en: "Ring all-reduce on {n} GPUs: how many times its buffer does a GPU send?"
params: {n: [2, 3, 4, 8]}
answer: 2 * (n - 1) / n
traps:
  - formula: (n - 1) / n
    forgot: {zh: 忘了 all-gather 那一半, en: the all-gather half}
    myth: half-ring
  - formula: "2"
    forgot: {zh: 忘了留在本地的一份, en: the share that stays}
hints:
  - {zh: 分两个阶段, en: There are two phases}
  - {zh: 每个阶段 n-1 步, en: Each has n-1 steps}
explain: {zh: "共 {answer} 倍", en: "{answer} times in all"}
sources: ["https://example.org/ring"]
""",
    "comm/idle-share.yaml": """
kind: numeric
level: 2
prompt: {zh: 空闲占比是多少？, en: What share is idle?}
answer: 3 / 11
within: 0.005
explain: {zh: 见公式, en: See the formula}
sources: ["https://example.org"]
""",
    "comm/buffer.yaml": """
kind: numeric
level: 1
prompt: {zh: 缓冲区多大？, en: How large is the buffer?}
answer: "16"
unit: GiB
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
    "comm/speed.yaml": """
kind: numeric
level: 1
prompt: {zh: 带宽多少？, en: Which bandwidth?}
answer: "50"
unit: GB/s
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
    "pp/_topic.yaml": """
title: {zh: 流水线并行, en: Pipeline parallelism}
intro: {zh: 按层切, en: Cut by layers}
""",
    "pp/stages.yaml": """
kind: choice
level: 1
prompt: {zh: 1F1B 省的是什么？, en: What does 1F1B save?}
options:
  - text: {zh: 激活显存, en: activation memory}
    correct: true
  - text: {zh: 气泡, en: the bubble}
    why: {zh: 气泡不变, en: the bubble stays}
    myth: 1f1b-cuts-bubble
  - text: {zh: 通信量, en: traffic}
    why: {zh: 通信量不变, en: traffic stays}
explain: {zh: 峰值更低, en: A lower peak}
followups:
  - {if: wrong, ask: pp/bubble-parts}
sources: ["https://example.org"]
""",
    "pp/bubble-parts.yaml": """
kind: choice
level: 2
several: true
prompt: {zh: 气泡取决于哪些？, en: What does the bubble depend on?}
options:
  - {text: p, correct: true}
  - {text: m, correct: true}
  - text: {zh: 调度, en: the schedule}
    correct: true
  - text: {zh: 隐藏维度, en: the hidden size}
    why: {zh: 两边同比, en: both sides scale}
    myth: 1f1b-cuts-bubble
explain: {zh: 三者, en: All three}
sources: ["https://example.org"]
""",
    "pp/order.yaml": """
kind: order
level: 2
prompt: {zh: 排序, en: Put in order}
steps:
  - {id: forward, text: {zh: 前向, en: forward}}
  - {id: send, text: {zh: 发送, en: send}}
  - {id: backward, text: {zh: 反向, en: backward}}
  - {id: step, text: {zh: 更新, en: optimiser step}}
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
    "pp/partial-order.yaml": """
kind: order
level: 2
prompt: {zh: 排序, en: Put in order}
steps:
  - {id: forward, text: {zh: 前向, en: forward}}
  - {id: log, text: {zh: 记日志, en: log}}
  - {id: backward, text: {zh: 反向, en: backward}}
  - {id: step, text: {zh: 更新, en: optimiser step}}
after: {backward: [forward], step: [backward]}
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
    "pp/cloze.yaml": """
kind: cloze
level: 2
prompt: {zh: 填空, en: Fill in}
text:
  zh: "梯度用 [[gap1]] 求和，气泡占比是 [[gap2]]，显存 [[gap3]]，调度叫 [[gap4]]。"
  en: "Sum gradients by [[gap1]], the bubble is [[gap2]], memory [[gap3]], schedule [[gap4]]."
gaps:
  gap1: {answer: all-reduce, also: [全规约]}
  gap2: {answer: "0.5", value: 1 / 2}
  gap3: {answer: 16 GB}
  gap4: {answer: 1F1B}
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
    "pp/trace-list.yaml": """
kind: trace
level: 3
prompt: {zh: 每级峰值？, en: The peak of each stage?}
function: main
answer: [4, 3, 2, 1]
explain: {zh: 如题, en: As stated}
proof: {demo: pipeline, claims: [peak_live_1f1b == answer]}
""",
    "pp/trace-number.yaml": """
kind: trace
level: 3
prompt: {zh: 误差？, en: The error?}
function: main
answer: 0.25
within: 0.02
explain: {zh: 如题, en: As stated}
proof: {demo: pipeline, claims: [bubble_1f1b == answer]}
""",
    "pp/bug.yaml": """
kind: bug
level: 3
prompt: {zh: 哪一行错了？, en: Which line is wrong?}
function: story
reasons:
  - {points: 2, says: {zh: 少了一步, en: one step short}, keywords: [range]}
  - {points: 1, says: {zh: 只在多卡时出现, en: only with several ranks}}
explain: {zh: 如题, en: As stated}
proof: {demo: pipeline, break: short, claims: [ranks > 1]}
""",
    "pp/essay.yaml": """
kind: essay
level: 4
prompt: {zh: 为什么用 1F1B？, en: Why 1F1B?}
rubric:
  - {points: 5, says: {zh: 说到激活峰值, en: names the peak}, keywords: [activation, 激活]}
  - {points: 2, says: {zh: 说到气泡不变, en: says the bubble stays}, keywords: [bubble, 气泡]}
  - {points: 3, says: {zh: 给出数字, en: gives numbers}, keywords: [p - s]}
vetoes:
  - says: {zh: 气泡变小, en: the bubble shrinks}
    why: {zh: 不变, en: it does not}
    keywords: [smaller bubble]
    myth: 1f1b-cuts-bubble
  - says: {zh: 不用通信, en: no traffic}
    why: {zh: 要, en: there is}
explain: {zh: 如题, en: As stated}
sources: ["https://example.org"]
""",
}


@pytest.fixture(scope="session")
def bank_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bank")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def bank(bank_folder: Path) -> Bank:
    bank = Bank.load(bank_folder)
    assert [str(p) for p in bank.problems] == []
    return bank
