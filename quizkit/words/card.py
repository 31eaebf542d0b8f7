"""What an interview's scorecard says."""

from quizkit.words import Words

WORDS: Words = {
    "card": {"zh": "面试评分", "en": "Scorecard"},
    "passed": {"zh": "通过", "en": "Pass"},
    "failed": {"zh": "未通过", "en": "No pass"},
    "overall": {"zh": "总分 {score} / {best}，{marks}", "en": "Overall {score} of {best}; {marks}"},
    "mark_overall": {"zh": "通过线 {mark}", "en": "pass mark {mark}"},
    "mark_dimension": {"zh": "{dimension}不低于 {mark}", "en": "{dimension} at least {mark}"},
    "capped_here": {
        "zh": "说了不该说的话，总分封顶 {cap}：{said}",
        "en": "Something false was said, so the overall stops at {cap}: {said}",
    },
    "dimensions": {"zh": "各维度", "en": "Dimensions"},
    "column_dimension": {"zh": "维度", "en": "dimension"},
    "column_weight": {"zh": "权重", "en": "weight"},
    "column_score": {"zh": "得分", "en": "score"},
    "column_evidence": {"zh": "依据（题目得分 × 份额）", "en": "evidence (answer's score × share)"},
    "correctness": {"zh": "正确性", "en": "correctness"},
    "numbers": {"zh": "数字", "en": "numbers"},
    "trade-offs": {"zh": "取舍", "en": "trade-offs"},
    "rigour": {"zh": "严谨", "en": "rigour"},
    "communication": {"zh": "表达", "en": "communication"},
    "answers": {"zh": "逐题", "en": "Answer by answer"},
    "is_probe": {"zh": "追问", "en": "follow-up"},
    "time_of": {"zh": "用时 {seconds} / 建议 {target}", "en": "{seconds} of {target}"},
    "time_over": {
        "zh": "用时 {seconds} / 建议 {target}，超了",
        "en": "{seconds} of {target}, over",
    },
    "is_late": {"zh": "时间到时交的", "en": "handed in by the clock"},
    "unreached": {"zh": "没来得及问", "en": "not reached"},
    "no_answer": {"zh": "没有作答", "en": "no answer"},
    "by_learner": {"zh": "你自己对照评分点", "en": "ticked by you"},
    "by_keywords": {"zh": "只按关键词，没人确认", "en": "by keywords alone, nobody confirmed"},
    "by_key": {"zh": "按标准答案", "en": "by the key"},
    "hit": {"zh": "说到", "en": "said"},
    "missed": {"zh": "漏掉", "en": "missed"},
    "said": {"zh": "说错", "en": "false"},
    "given": {"zh": "你答", "en": "yours"},
    "expected": {"zh": "正确答案", "en": "key"},
    "time": {"zh": "时间", "en": "Time"},
    "time_used": {"zh": "面试用了 {used} / {total}", "en": "{used} of {total} on the clock"},
    "time_paused": {"zh": "暂停 {paused} / {budget}", "en": "{paused} of {budget} paused"},
    "time_charged": {
        "zh": "暂停超出，扣了面试时间 {charged}",
        "en": "{charged} of the clock went to pauses beyond that",
    },
    "myths": {"zh": "踩到的误区", "en": "Misconceptions met"},
    "review": {"zh": "回去再看", "en": "Look at again"},
    "rules_title": {"zh": "怎么算的", "en": "How it is counted"},
    "rule_scale": {
        "zh": "每个维度 0 到 {best} 分：各题得分（0 到 1）按份额加权平均，再乘 {best}。",
        "en": "A dimension is scored 0 to {best}: the mean of its answers' scores (0 to 1), weighted by share, times {best}.",
    },
    "rule_overall": {
        "zh": "总分是各维度按权重的加权平均。",
        "en": "The overall is the mean of the dimensions by weight.",
    },
    "rule_unreached": {
        "zh": "没答的、没来得及问的都按 0 分算；没触发的追问不算。",
        "en": "No answer and not reached both count 0; a follow-up that was not put counts nothing.",
    },
    "rule_judged": {
        "zh": "简答题按评分点给分，由你自己勾；其余题型按标准答案。",
        "en": "Free answers are scored by the points you ticked; all else by the key.",
    },
    "rule_probed": {
        "zh": "追问在面试中触发：简答题只看关键词，其余题型看对错；所以简答题的追问可能和你最后勾的不一致。",
        "en": "Follow-ups were chosen while the clock ran: after a free answer by its keywords alone, else by right or wrong; so they may differ from what you ticked at the end.",
    },
    "rule_capped": {
        "zh": "只要说了一句“不能说的话”，总分最多 {cap}。",
        "en": "One thing said that must not be said caps the overall at {cap}.",
    },
    "rule_clock": {
        "zh": "离开的时间先从暂停里扣，扣完再扣面试时间；单题超时只记录，不扣分。",
        "en": "Time away is paid by the pauses first, then by the clock; going over one question's target is shown and costs no points.",
    },
}
