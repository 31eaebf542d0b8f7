"""What `calc --check` says."""

from quizkit.words import Words

WORDS: Words = {
    "outcome": {"zh": "结果", "en": "outcome"},
    "figure": {"zh": "哪个数", "en": "figure"},
    "inputs": {"zh": "输入", "en": "inputs"},
    "formula": {"zh": "公式", "en": "formula"},
    "simulator": {"zh": "模拟", "en": "simulator"},
    "measured": {"zh": "实测", "en": "measured"},
    "run": {"zh": "跑的是", "en": "run"},
    "agree": {"zh": "一致", "en": "agree"},
    "differ": {"zh": "不一致", "en": "DIFFER"},
    "skipped": {"zh": "没有跑", "en": "skipped"},
    "counts": {
        "zh": "一致 {agree}，不一致 {differ}，没有跑 {skipped}",
        "en": "{agree} agree, {differ} differ, {skipped} skipped",
    },
}
