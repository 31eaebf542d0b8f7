"""What each command does: its first line is for the list, more for its own help."""

from quizkit.words import Words

WORDS: Words = {
    "quizkit": {
        "zh": "大模型训练基础设施面试练习：每个答案都是一个论断，每个论断都能跑出来。\n\n单独运行 quizkit，看哪些题到期、接下来做什么。",
        "en": "Interview practice for LLM training infrastructure: every answer is a claim, and every claim is a run.\n\nAlone, quizkit says what is due and what to do next.",
    },
    "study": {
        "zh": "做题：先复习到期的，再做新题；也可以点名做。\n\n例如：quizkit study --topic pp，或 quizkit study pp/bubble-share。专题见 quizkit due，题目编号见 quizkit list。",
        "en": "Answer questions: what is due first, then what is new; or just those you name.\n\nFor instance: quizkit study --topic pp, or quizkit study pp/bubble-share. quizkit due lists the topics, quizkit list the questions.",
    },
    "learn": {
        "zh": "从头走一遍一个专题：讲一段、看一张图、问一题，再讲下一段。",
        "en": "Walk through a topic: an idea, a picture, a question, and again.",
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
        "zh": "用真实的 rank 跑答案背后的代码。\n\n例如：quizkit demo ring-attention --gpus 4。demo 自己的选项写在名字后面，quizkit demo NAME --help 列出它们。",
        "en": "Run the code an answer is about, on real ranks.\n\nFor instance: quizkit demo ring-attention --gpus 4. A demo's own options follow its name; quizkit demo NAME --help lists them.",
    },
    "prove": {
        "zh": "拿实际运行核对答案：每种设置只跑一次，跑过而代码没变的直接用上次的结果。",
        "en": "Check answers against runs: each distinct setting is run once on real ranks, and remembered until the code changes.",
    },
    "calc": {
        "zh": "面试要算的数：显存、通信量、流水线、FLOPs……每个都注明口径和出处。\n\n例如：quizkit calc memory --params 7.5B --dp 64 --zero 3。计算器自己的选项写在名字后面，quizkit calc NAME --help 列出它们。",
        "en": "The sums interviewers ask for, each with its convention and its source.\n\nFor instance: quizkit calc memory --params 7.5B --dp 64 --zero 3. A calculator's own options follow its name; quizkit calc NAME --help lists them.",
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
        "zh": "你的文件：在哪里（默认）、导出、并入另一台机器的记录、专题重来、删除。",
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
    "bank_lint": {
        "zh": "检查每个题目文件：所有毛病一次列全，带文件、行号和改法。",
        "en": "Check every question file: all mistakes at once, each with file, line and remedy.",
    },
    "bank_evidence": {
        "zh": "跑一遍题目里的事故，显示或记录工程师会看到的东西",
        "en": "Run the incidents of questions and show, or record, what an engineer would see.",
    },
    "bank_new": {
        "zh": "新建一个题目文件，把这种题型的每个字段都写好待填。",
        "en": "Start a question file with every key that its kind has.",
    },
    "bank_record": {
        "zh": "给自带题目的每个证明录一次运行，随软件附带，给没装 PyTorch 的机器看。",
        "en": "Record the runs of all shipped proofs, for machines that have no torch.",
    },
    "bank_schema": {
        "zh": "打印题目文件的 JSON Schema，给能补全 YAML 的编辑器用。",
        "en": "Print the JSON Schema of a question file, for editors that complete YAML.",
    },
    "bank_flags": {
        "zh": "列出做题时标记过的题和你写的话。",
        "en": "List the questions you flagged while studying, each with what you wrote.",
    },
    "export_anki": {
        "zh": "Anki 卡片，一个专题一副牌；再次导入会更新卡片，复习进度不丢。",
        "en": "Cards for Anki, a deck a topic; importing again updates them and keeps their reviews.",
    },
    "export_markdown": {
        "zh": "可以读的题目，答案折叠起来。",
        "en": "The questions to read, their answers folded away.",
    },
    "export_sheet": {
        "zh": "面试前一晚看：十个公式、三张图和口径，打印出来两页。",
        "en": "The night before: ten formulas, three pictures and the conventions on two pages.",
    },
}
