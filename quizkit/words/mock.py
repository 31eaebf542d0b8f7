"""What the interview says: before it, under the clock, at the rubric, in lists."""

from quizkit.words import Words

WORDS: Words = {
    # Before the clock starts.
    "rules": {
        "zh": "{questions} 道大题，会根据你的回答追问。总时间 {minutes}，离开再回来不超过 {pause} 不扣时间。",
        "en": "{questions} questions, with follow-ups that depend on your answers. {minutes} on the clock; time away is free, up to {pause}.",
    },
    "rules_keys": {
        "zh": "随时可以找面试官：{ask} 提问、要提示；{toggle} 切换中英文。写到一半的不会丢。",
        "en": "Talk to the interviewer at any time: {ask} to ask, or for a hint; {toggle} switches to Chinese. What you are writing stays.",
    },
    "rules_lines": {
        "zh": "随时可以找面试官：冒号开头的一行就是对面试官说的，提问、要提示（:h）都行；:t 切换中英文。",
        "en": "Talk to the interviewer at any time: a line that begins with a colon is said to them, to ask, or for a hint (:h). :t switches to Chinese.",
    },
    "rules_price": {
        "zh": "提示每条扣 {price} 分（满分 {best}），提问不扣分。",
        "en": "A hint costs {price} of {best} points; questions are free.",
    },
    "rules_looks": {
        "zh": "有的题可以向面试官要记录：报它的号，总时间里扣掉标出的时长。",
        "en": " Some questions have records: ask for one by its number, and the time shown beside it comes off the clock.",
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
    "is_sure": {"zh": "有把握", "en": "sure"},
    "is_unsure": {"zh": "没把握", "en": "not sure"},
    "clock_left": {"zh": "剩余 {left}", "en": "{left} left"},
    "clock_question": {"zh": "本题 {question}", "en": "this one {question}"},
    "clock_over": {"zh": "本题已超 {over}", "en": "over by {over}"},
    "clock_near_all": {"zh": "，快到点了", "en": ", nearly over"},
    "clock_near_one": {"zh": "，该收尾了", "en": ", wrap up"},
    "near_all": {
        "zh": "整场时间已经用掉八成，还剩 {left}。",
        "en": "Four fifths of the time is gone; {left} left.",
    },
    "near_one": {
        "zh": "这题已经用掉建议时间的八成；整场还剩 {left}。",
        "en": "This question has used four fifths of its target or more; {left} left on the clock.",
    },
    "back": {
        "zh": "欢迎回来。离开了 {away}，记在暂停里，还能暂停 {budget}；面试还剩 {left}。",
        "en": "Welcome back. You were away {away}, and the clock was paused; you can still pause for {budget}. {left} left on the clock.",
    },
    "back_charged": {
        "zh": "欢迎回来。离开了 {away}，暂停已经用完（还剩 {budget}），超出的 {charged} 从面试时间里扣；面试还剩 {left}。",
        "en": "Welcome back. You were away {away}, longer than you could pause (pause time left: {budget}), so {charged} came off the clock. {left} left on the clock.",
    },
    "ask_choice": {"zh": "输入选项的编号", "en": "Type the number of your answer"},
    "ask_several": {
        "zh": "可能不止一个：输入所有正确项的编号，例如 1 3",
        "en": "There may be more than one: type all their numbers, such as 1 3",
    },
    "ask_order": {
        "zh": "按顺序输入每一步的编号，例如 3 1 2",
        "en": "Type the numbers of the steps in order, such as 3 1 2",
    },
    "ask_cloze": {
        "zh": "按顺序填 {count} 个空，中间用分号隔开",
        "en": "Fill in all the gaps ({count}) in order, separated by ;",
    },
    "ask_numeric": {"zh": "输入一个数（{unit}）", "en": "Type a number ({unit})"},
    "ask_number": {"zh": "输入一个数", "en": "Type a number"},
    "ask_numbers": {
        "zh": "按顺序输入 {count} 个数，用空格隔开",
        "en": "Type {count} numbers in order, separated by spaces",
    },
    "ask_bug": {
        "zh": "先写出错那一行的行号，再写为什么，例如 12 梯度没有求和",
        "en": "The number of the wrong line, then why, such as: 12 the gradient is not summed",
    },
    "ask_layout": {
        "zh": "一行写完，每项一个正整数：{fields}",
        "en": "All on one line, a whole number for each: {fields}",
    },
    "ask_schedule": {
        "zh": "一个 stage 一行，共 {stages} 行，从第一个 stage 写起，例如 F0 F1 B0",
        "en": "One line for each stage ({stages}), the first stage first, such as F0 F1 B0",
    },
    "ask_essay": {
        "zh": "像当面回答一样写，可以分行",
        "en": "Write as you would speak, in several lines if you like",
    },
    "by_enter": {"zh": "，回车提交", "en": ", then Enter"},
    "by_blank": {
        "zh": "；写完在空行上回车（或 Alt-Enter）提交",
        "en": "; Enter on an empty line (or Alt-Enter) hands it in",
    },
    "by_blank_lines": {"zh": "；写完再输入一个空行提交", "en": "; an empty line hands it in"},
    "keys_lines": {
        "zh": ":s 这题不会，下一题   :! 对这题有把握   :t English   :e 编辑器   :q 离开，之后可以接着面",
        "en": ":s no answer, next question   :! sure of this answer   :t 中文   :e editor   :q leave, to go on later",
    },
    "so_far": {
        "zh": "目前写的（直接回车就照这样交）：\n{text}",
        "en": "So far (Enter alone hands it in as it is):\n{text}",
    },
    "editor_none": {
        "zh": "没有设置编辑器：先设好环境变量 VISUAL 或 EDITOR。写的还在。",
        "en": "No editor is set: name one in the environment variable VISUAL or EDITOR. Your text is as it was.",
    },
    "editor_failed": {
        "zh": "编辑器没有正常结束（{editor}）。能读到的都留着，可以接着写。",
        "en": "The editor did not end well ({editor}). Everything that could be read is here; go on writing.",
    },
    "editor_nowhere": {
        "zh": "这里没有终端，打不开编辑器。写的还在。",
        "en": "There is no terminal here for an editor. Your text is as it was.",
    },
    "nothing_typed": {"zh": "还没有写答案。", "en": "Nothing has been typed yet."},
    "pick_one": {"zh": "只选一个，编号 1 到 {last}。", "en": "One number, from 1 to {last}."},
    "pick_several": {
        "zh": "写选项编号，1 到 {last}，每个最多写一次。",
        "en": "Numbers from 1 to {last}, each at most once.",
    },
    "all_steps": {
        "zh": "每一步都要出现，只出现一次，编号 1 到 {last}。",
        "en": "Every step once, by its number, 1 to {last}.",
    },
    "all_gaps": {
        "zh": "一共 {count} 个空，都要填，用分号隔开。",
        "en": "Fill in all the gaps ({count}), separated by ;",
    },
    "line_misread": {
        "zh": "先写行号，1 到 {last}，再写原因，例如 12 梯度没有求和。",
        "en": "The line's number first, 1 to {last}, then why, such as: 12 the gradient is not summed.",
    },
    "layout_misread": {
        "zh": "每一项写一个正整数，都要写：{fields}",
        "en": "A whole number for each, all of them: {fields}",
    },
    # What is said beside the answer.
    "to_interviewer": {"zh": "对面试官说", "en": "to the interviewer"},
    "beside": {
        "zh": "h 要提示，数字看记录，n 记一笔，t 换语言，! 有没有把握，其余就是提问；空着回车回去接着写",
        "en": "h a hint, a number for a record, n a note, t language, ! sure or not, anything else is a question; Enter alone goes back to your text",
    },
    "had": {"zh": "找面试官（Ctrl-O，再输入）", "en": "The interviewer (Ctrl-O, then)"},
    "had_lines": {"zh": "找面试官", "en": "The interviewer"},
    "had_hints": {
        "zh": "要提示，这题还有 {count} 条，每条扣 {price} 分（满分 {best}）",
        "en": "a hint; {count} left for this question, each costs {price} of {best} points",
    },
    "had_look": {
        "zh": "看{name}，费时 {takes}",
        "en": "look at {name}, takes {takes}",
    },
    "had_seen": {"zh": "{name}，看过了，在下面", "en": "{name}, seen, shown below"},
    "had_note": {"zh": "记一笔，给自己看", "en": "a note to yourself"},
    "had_facts": {
        "zh": "直接提问，背景和条件都可以问",
        "en": "ask: about the background and the conditions, too",
    },
    "had_question": {"zh": "直接提问", "en": "ask a question"},
    "hint": {"zh": "提示 {number}/{total}", "en": "Hint {number} of {total}"},
    "look": {"zh": "记录 {number}：{name}", "en": "Record {number}: {name}"},
    "told": {"zh": "面试官说过的", "en": "The interviewer has said"},
    "notes": {"zh": "你记的", "en": "Your notes"},
    "no_hint": {"zh": "这题没有更多提示了。", "en": "There are no more hints for this question."},
    "no_look": {
        "zh": "现在能看的记录只有 {last} 份，编号从 1 起。",
        "en": "Records to look at here: {last}, numbered from 1.",
    },
    "no_fact": {
        "zh": "这个你自己假设，把假设讲清楚就行。",
        "en": "Assume what you need, and say what you assume.",
    },
    "reply": {"zh": "面试官：{text}", "en": "The interviewer: {text}"},
    "nothing_said": {"zh": "什么也没说。", "en": "Nothing was said."},
    "left": {
        "zh": "先到这里，答过的和正在写的都已存盘。接着面：quizkit mock --resume",
        "en": "Stopped here; everything is kept, half-typed lines too. To go on: quizkit mock --resume",
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
    "judge_vetoes": {
        "zh": "下面这些是错的，说了哪句？",
        "en": "These are false; did you say any of them?",
    },
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
    "gathering": {
        "zh": "正在整理评分，对照录下的运行…",
        "en": "Making the scorecard, with the recorded runs beside it…",
    },
    # Lists.
    "list_title": {"zh": "可选的模拟面试", "en": "Interviews"},
    "list_facts": {
        "zh": "{minutes} 分钟，{questions} 题，最多 {probes} 个追问",
        "en": "{minutes} minutes, {questions} questions, at most {probes} follow-ups",
    },
    "list_start": {"zh": "开始：quizkit mock {script}", "en": "To start: quizkit mock {script}"},
    "history_none": {"zh": "还没有面过。", "en": "No interview yet."},
    "history_card": {
        "zh": "看哪一场的评分：quizkit mock 编号 --card，也可以写剧本名，不写就是最近一场",
        "en": "To see a scorecard: quizkit mock ID --card, or a script's name; without either, the last one",
    },
    "history_open": {"zh": "没面完", "en": "not finished"},
}
