"""What can be settled, and what is said of it."""

from quizkit.words import Words

WORDS: Words = {
    "set": {"zh": "{name} 已写入 {file}", "en": "{name} is written to {file}"},
    "unset": {
        "zh": "{name} 恢复默认，{file} 里不再有它",
        "en": "{name} is back at its default and no longer in {file}",
    },
    "nothing": {"zh": "（未设）", "en": "(not set)"},
    "lang": {
        "zh": "界面和题目的语言：zh 或 en；不设就看系统 locale",
        "en": "Language of the words: zh or en; without it the locale decides",
    },
    "answer_in": {
        "zh": "用哪种语言作答：zh 或 en；不设就用题目的语言",
        "en": "The language you answer in: zh or en; without it that of the question",
    },
    "level": {
        "zh": "新题从哪一级开始，1 到 5；quizkit place 会替你定",
        "en": "The level at which new questions start, 1 to 5; quizkit place sets it for you",
    },
    "plain": {
        "zh": "逐行显示，不画框、不上色，适合读屏和日志",
        "en": "Line by line, no boxes, no colours: for screen readers and logs",
    },
    "bank": {
        "zh": "自己的题库目录，和自带题库一起用；多个用逗号隔开",
        "en": "Folders of your own questions, beside the shipped ones; commas between several",
    },
    "new_per_day": {
        "zh": "一天最多做几道新题；study --limit 可以破例",
        "en": "New questions a day at most; study --limit makes an exception",
    },
    "interview": {
        "zh": "面试日期，如 2027-03-01；没到之前 quizkit study 照 quizkit plan 出题",
        "en": "The day of your interview, as in 2027-03-01: till then study follows the plan",
    },
    "minutes": {
        "zh": "照计划练时，每天答题多少分钟",
        "en": "Minutes of answering a day, where study follows a plan",
    },
    "interview_for": {
        "zh": "计划按什么加权：junior、senior、staff，或一个模拟面试的名字；不设就每题一样重",
        "en": "junior, senior, staff or a mock's name: for whom the plan weighs questions",
    },
    "interview_topics": {
        "zh": "计划只练哪些专题，多个用逗号隔开；不设就都练",
        "en": "The topics that the plan keeps to, commas between several; without it all",
    },
    "reviews_per_day": {
        "zh": "一天最多复习几道到期的题；study --limit 可以破例",
        "en": "Due questions a day at most; study --limit makes an exception",
    },
}
