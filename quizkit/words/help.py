"""One line on each command, for `quizkit --help`."""

from quizkit.words import Words

WORDS: Words = {
    "study": {
        "zh": "做题：先复习到期的，再做新题。",
        "en": "Answer questions: what is due first, then what is new.",
    },
    "learn": {
        "zh": "从头学一个专题：先读引言，再一题一跑往下走。",
        "en": "Walk through a topic in reading order: its introduction, then question, run, question.",
    },
    "place": {
        "zh": "十分钟定级：找到新题该从哪一级开始。",
        "en": "Ten minutes of quick questions that find the level at which study begins.",
    },
    "plan": {
        "zh": "到面试那天为止每天练什么，那天预计记得多少。",
        "en": "What to practise each day until an interview, and how much is remembered on its day.",
    },
    "due": {
        "zh": "哪些题到期，哪些是新题，下次什么时候来。",
        "en": "What is due now, what is new, and when to come back.",
    },
    "stats": {
        "zh": "学得怎么样：记得多少、哪天到期、还有哪些误区、哪些题老是忘；也能存成网页。",
        "en": "Where you stand: what is remembered, falls due, is still believed, will not stay.",
    },
    "mock": {
        "zh": "限时模拟面试：有追问，统一计时，最后出评分表。",
        "en": "A timed mock interview: questions with follow-ups, one clock, a scorecard at the end.",
    },
    "demo": {
        "zh": "用真实的 rank 跑答案背后的代码。",
        "en": "Run the code an answer is about, on real ranks.",
    },
    "prove": {
        "zh": "拿实际运行核对答案：每种设置只跑一次。",
        "en": "Check answers against runs: each distinct setting is run once on real ranks.",
    },
    "calc": {
        "zh": "面试要算的数：显存、通信量、流水线、FLOPs……每个都注明口径和出处。",
        "en": "The sums interviewers ask for, each with its convention and its source.",
    },
    "show": {"zh": "完整显示一道题，带答案。", "en": "Show one question whole, with its answer."},
    "list": {"zh": "列出题目。", "en": "List the questions."},
    "search": {
        "zh": "按中文或英文词找题，两个汉字就够。",
        "en": "Find questions by words in either language; two Chinese characters are enough.",
    },
    "glossary": {
        "zh": "中英术语对照，注明口径。",
        "en": "The field's terms in both languages, each with its convention.",
    },
    "data": {
        "zh": "你的文件：在哪里（默认）、导出、并入另一台机器的记录、删除。",
        "en": "Your files: where they are (the default), what is in them, to merge and to remove them.",
    },
    "config": {
        "zh": "你的设置：查看、修改，每一项从哪儿来。",
        "en": "Your settings: see them, change them, and where each comes from.",
    },
    "doctor": {
        "zh": "这台机器上哪些功能可用：torch、后端、GPU、rank 的启动方式、终端、你的文件。",
        "en": "What works here: torch, backends, GPUs, how ranks start, the terminal, your files.",
    },
    "export": {
        "zh": "把题目带走：Anki 卡片、Markdown、可打印的一页纸。",
        "en": "Take the questions with you: Anki cards, Markdown, a page to print.",
    },
    "bank": {
        "zh": "出题人用：检查题库、新建题目、输出题目格式。",
        "en": "For authors: check, start and describe questions.",
    },
}
