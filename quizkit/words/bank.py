"""What the bank's commands say."""

from quizkit.words import Words

WORDS: Words = {
    "lint_good": {
        "zh": "{questions} 道题，没有问题",
        "en": "{questions} questions, nothing wrong",
    },
    "lint_bad": {
        "zh": "{questions} 道题：{errors} 个错误，{warnings} 个警告",
        "en": "{questions} questions: {errors} errors, {warnings} warnings",
    },
    "new": {
        "zh": "已创建 {path}。填好 TODO，再运行 quizkit bank lint 和 quizkit prove",
        "en": "Made {path}. Fill in each TODO, then run quizkit bank lint and quizkit prove",
    },
    "recorded": {
        "zh": "记录里现在有 {runs} 次运行，其中 {made} 次是刚跑的；{wrong} 次结果不对，没有记",
        "en": "The record holds {runs} runs, {made} of them made now; {wrong} came out wrong and are not in it",
    },
    "record_wrong": {
        "zh": "    结果不对（{ended}），不记：先用 quizkit demo 看看",
        "en": "    came out wrong ({ended}) and is not recorded: look at it with quizkit demo",
    },
    "more_found": {
        "zh": "还有 {more} 题没列出来：多给一个词，或 --limit {limit}",
        "en": "{more} more are not listed: add a word, or --limit {limit}",
    },
    "none_found": {
        "zh": "没有找到含“{text}”的题",
        "en": "No question holds “{text}”",
    },
    "flags_written": {
        "zh": "{count} 条标记写进了 {file}，可以直接发给出题人",
        "en": "{count} flags are written to {file}, ready for the authors",
    },
    "no_flags": {
        "zh": "没有标记过的题。做题时按 f 标记",
        "en": "Nothing is flagged. Press f while studying to flag a question",
    },
    "flag": {"zh": "（没写说明）", "en": "(no comment)"},
    "i_was_right": {"zh": "我答对了", "en": "I was right"},
    "no_term": {
        "zh": "术语表里没有“{text}”",
        "en": "No term holds “{text}”",
    },
    "found": {"zh": "{count} 道题", "en": "{count} questions"},
    "column_id": {"zh": "编号", "en": "id"},
    "column_level": {"zh": "难度", "en": "level"},
    "column_kind": {"zh": "题型", "en": "kind"},
    "column_prompt": {"zh": "题目", "en": "question"},
    "not_covered": {"zh": "（还没有）", "en": "(none yet)"},
    "covered": {
        "zh": "常见 70 问中有 {covered} 问答全了；{parts} 个要点里有 {stated} 个有题",
        "en": "{covered} of the common 70 are covered whole; {stated} of {parts} parts have a question",
    },
    "covered_one": {
        "zh": "{command}：这一问完整的答案包括什么、各由哪道题回答",
        "en": "{command}: what a whole answer to it holds, and which question states it",
    },
    "whole_answer": {
        "zh": "完整的答案包括下面几点；每点后面是讲到它的题，和题背后的运行。",
        "en": "A whole answer holds these parts; below each the questions that state it, and their runs.",
    },
    "no_run": {"zh": "没有运行，以出处为准", "en": "no run; sourced"},
    "answer": {"zh": "答案", "en": "Answer"},
    "drawn": {
        "zh": "这里取 {values}；做题时每次重新抽数。",
        "en": "Worked here for {values}; the numbers are drawn anew each time it is asked.",
    },
    "evidence_written": {"zh": "已记录到 {path}", "en": "Recorded in {path}"},
    "evidence_stacks": {"zh": "各 rank 的堆栈：", "en": "Each rank's stack:"},
    "evidence_log": {"zh": "各 rank 的日志：", "en": "What each rank logged:"},
    "evidence_timings": {"zh": "各 rank 的时间花在哪儿：", "en": "Where each rank's time went:"},
    "evidence_bytes": {"zh": "数出来的字节：", "en": "Bytes counted:"},
    "evidence_curve": {"zh": "一步一步的值：", "en": "Values step by step:"},
    "assume": {"zh": "**前提：**{told}。", "en": "**Assume:** {told}."},
    "assume_folded": {
        "zh": "本专题惯例 {count} 条",
        "en": "{count} usual in this topic",
    },
    "options": {"zh": "选项", "en": "Options"},
    "rubric": {"zh": "评分点", "en": "Rubric"},
    "vetoes": {"zh": "不能说的话", "en": "Must not be said"},
    "traps": {"zh": "常见错误", "en": "Traps"},
    "hints": {"zh": "提示", "en": "Hints"},
    "explain": {"zh": "讲解", "en": "Explanation"},
    "say": {"zh": "面试时可以这么说", "en": "Say it aloud"},
    "sources": {"zh": "出处", "en": "Sources"},
    "proof": {"zh": "证明", "en": "Proof"},
    "unrecorded": {
        "zh": "没有附带的记录；quizkit prove {name} 会跑一遍",
        "en": "No run of it is recorded; quizkit prove {name} makes one",
    },
    "avoid": {"zh": "不要写", "en": "avoid"},
    "also": {"zh": "又叫：", "en": "also: "},
    "right": {"zh": "对", "en": "right"},
    "wrong": {"zh": "错", "en": "wrong"},
}
