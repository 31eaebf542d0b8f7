"""What the interview says: before it, under the clock, at the rubric, on the scorecard."""

from quizkit.words import Words

WORDS: Words = {
    # Before the clock starts.
    "rules": {
        "zh": "{questions} 道大题，会根据你的回答追问。总时间 {minutes}，离开再回来不超过 {pause} 不扣时间。",
        "en": "{questions} questions, with follow-ups that depend on what you say. {minutes} on the clock; up to {pause} away costs nothing.",
    },
    "silence": {
        "zh": "过程中不说对错，结束后一起评分。每答一题就存盘；Ctrl-C 随时可以离开，之后用 quizkit mock --resume 接着来。",
        "en": "No verdicts until the end. Each answer is on disk before the next question; Ctrl-C leaves, and quizkit mock --resume goes on.",
    },
    "start": {
        "zh": "准备好了就按回车，从那一刻开始计时（输入 q 离开）",
        "en": "Press Enter and the clock starts (q leaves)",
    },
    "start_lines": {"zh": "开始计时。", "en": "The clock is running."},
    "unfinished": {
        "zh": "上一场还没面完：{script}（{date}）。接着面：quizkit mock --resume",
        "en": "An interview is still open: {script} ({date}). To go on: quizkit mock --resume",
    },
    # Under the clock.
    "number": {"zh": "第 {number} 题，共 {total} 题", "en": "Question {number} of {total}"},
    "probe": {"zh": "第 {number} 题，追问", "en": "Question {number}, a follow-up"},
    "target": {"zh": "建议 {target}", "en": "target {target}"},
    "clock": {
        "zh": "[剩余 {left} | 本题 {question}] ",
        "en": "[{left} left | this one {question}] ",
    },
    "clock_over": {
        "zh": "[剩余 {left} | 本题已超 {over}] ",
        "en": "[{left} left | over by {over}] ",
    },
    "back": {
        "zh": "欢迎回来。离开了 {away}，记在暂停里，还能暂停 {budget}；面试还剩 {left}。",
        "en": "Welcome back. You were away {away}; that was paused, and {budget} of pausing remain. {left} left on the clock.",
    },
    "back_charged": {
        "zh": "欢迎回来。离开了 {away}，暂停已经用完（还剩 {budget}），超出的 {charged} 从面试时间里扣；面试还剩 {left}。",
        "en": "Welcome back. You were away {away}, more than the pauses had ({budget} remain): {charged} came off the clock. {left} left on it.",
    },
    "ask_choice": {
        "zh": "输入选项的编号，回车提交",
        "en": "Type the number of your answer, then Enter",
    },
    "ask_several": {
        "zh": "可能不止一个：输入所有正确项的编号，例如 1 3，回车提交",
        "en": "There may be several: type all their numbers, such as 1 3, then Enter",
    },
    "ask_order": {
        "zh": "按顺序输入每一步的编号，例如 3 1 2，回车提交",
        "en": "Type the numbers of the steps in order, such as 3 1 2, then Enter",
    },
    "ask_cloze": {
        "zh": "按顺序填 {count} 个空，中间用分号隔开，回车提交",
        "en": "Fill all gaps ({count}) in order, with ; between, then Enter",
    },
    "ask_numeric": {
        "zh": "输入一个数（{unit}），回车提交",
        "en": "Type a number ({unit}), then Enter",
    },
    "ask_number": {"zh": "输入一个数，回车提交", "en": "Type a number, then Enter"},
    "ask_essay": {
        "zh": "像当面回答一样写，可以分行；空行上回车（或 Alt-Enter）提交",
        "en": "Write as you would speak, in several lines if you like; Enter on an empty line (or Alt-Enter) hands it in",
    },
    "ask_essay_lines": {
        "zh": "像当面回答一样写，可以分行；输入一个空行就提交",
        "en": "Write as you would speak, in several lines if you like; an empty line hands it in",
    },
    "keys": {
        "zh": "Ctrl-S 这题不会，下一题   Ctrl-C 离开，之后可以接着面",
        "en": "Ctrl-S no answer, next question   Ctrl-C leave, to go on later",
    },
    "keys_lines": {
        "zh": ":s 这题不会，下一题   :q 离开，之后可以接着面",
        "en": ":s no answer, next question   :q leave, to go on later",
    },
    "nothing_typed": {"zh": "还没有写答案。", "en": "Nothing has been typed yet."},
    "pick_one": {"zh": "只选一个，编号 1 到 {last}。", "en": "One number, from 1 to {last}."},
    "pick_several": {
        "zh": "写选项编号，1 到 {last}，每个最多写一次。",
        "en": "Numbers from 1 to {last}, each at most once.",
    },
    "all_steps": {
        "zh": "每一步都要出现，只出现一次，编号 1 到 {last}。",
        "en": "Every step once, by its number from 1 to {last}.",
    },
    "all_gaps": {
        "zh": "一共 {count} 个空，都要填，用分号隔开。",
        "en": "Fill all gaps ({count}), with ; between.",
    },
    "left": {
        "zh": "先到这里，答过的和正在写的都已存盘。接着面：quizkit mock --resume",
        "en": "Stopped here; all is kept, half-typed lines too. Go on: quizkit mock --resume",
    },
    "not_begun": {
        "zh": "没有开始计时，什么都没有记录。",
        "en": "The clock was not started; nothing was recorded.",
    },
    # The clock has stopped.
    "stopped_asked": {
        "zh": "问完了，计时停止。",
        "en": "That was the last question; the clock has stopped.",
    },
    "stopped_time": {
        "zh": "时间到。正在写的已经按现在的样子交了，计时停止。",
        "en": "Time is up. What was being typed has been handed in as it stood; the clock has stopped.",
    },
    "judge": {
        "zh": "对照评分点（第 {number} 份，共 {total} 份）：慢慢来，这一步不计时",
        "en": "Against the rubric ({number} of {total}): take your time, no clock is running",
    },
    "judge_points": {
        "zh": "你说到了哪些？* 是按关键词找到的，算不算由你定",
        "en": "Which of these did you say? * was found by keyword; you are the judge",
    },
    "judge_vetoes": {"zh": "下面这些是错的，说了哪句？", "en": "These are false; did you say any?"},
    "judge_line": {
        "zh": "输入编号，例如 1 3；0 表示一条都没有；直接回车就是 {ticked}",
        "en": "The numbers, such as 1 3; 0 for none; Enter alone means {ticked}",
    },
    "judge_misread": {
        "zh": "编号是 1 到 {last}，0 表示一条都没有。",
        "en": "Numbers from 1 to {last}, or 0 for none.",
    },
    "judge_none": {"zh": "一条都没有", "en": "none"},
    "points": {"zh": "{points} 分", "en": "{points} pt"},
    "your_words": {"zh": "你的回答", "en": "You said"},
    # The scorecard.
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
    # Lists.
    "list_title": {"zh": "可选的模拟面试", "en": "Interviews"},
    "list_facts": {
        "zh": "{minutes} 分钟，{questions} 题，最多 {probes} 个追问",
        "en": "{minutes} minutes, {questions} questions, follow-ups: {probes} at most",
    },
    "list_start": {"zh": "开始：quizkit mock {script}", "en": "To start: quizkit mock {script}"},
    "history_none": {"zh": "还没有面过。", "en": "No interview yet."},
    "history_open": {"zh": "没面完", "en": "not finished"},
}
