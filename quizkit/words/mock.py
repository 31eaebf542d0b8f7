"""What the interview says: before it, under the clock, at the rubric, in lists."""

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
    "line_misread": {
        "zh": "先写行号，1 到 {last}，再写原因，例如 12 梯度没有求和。",
        "en": "The line's number first, 1 to {last}, then why: 12 the gradient is not summed.",
    },
    "layout_misread": {
        "zh": "每一项写一个正整数，都要写：{fields}",
        "en": "A whole number for each, all of them: {fields}",
    },
    # What is said beside the answer.
    "no_hint": {"zh": "这题没有更多提示了。", "en": "There is no further hint to this one."},
    "no_look": {
        "zh": "现在能看的记录只有 {last} 份，编号从 1 起。",
        "en": "There are {last} records to look at here, numbered from 1.",
    },
    "no_fact": {
        "zh": "这个你自己假设，把假设讲清楚就行。",
        "en": "Assume what you need, and say what you assume.",
    },
    "nothing_said": {"zh": "什么也没说。", "en": "Nothing was said."},
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
    # Lists.
    "list_title": {"zh": "可选的模拟面试", "en": "Interviews"},
    "list_facts": {
        "zh": "{minutes} 分钟，{questions} 题，最多 {probes} 个追问",
        "en": "{minutes} minutes, {questions} questions, follow-ups: {probes} at most",
    },
    "list_start": {"zh": "开始：quizkit mock {script}", "en": "To start: quizkit mock {script}"},
    "history_none": {"zh": "还没有面过。", "en": "No interview yet."},
    "history_card": {
        "zh": "看哪一场的评分：quizkit mock 编号 --card，也可以写剧本名，不写就是最近一场",
        "en": "To see a scorecard: quizkit mock ID --card, or a script's name; without either, the last one",
    },
    "history_open": {"zh": "没面完", "en": "not finished"},
}
