"""Where the learner stands, in numbers; none of them a reproach."""

from quizkit.words import Words

WORDS: Words = {
    "title": {"zh": "学习情况", "en": "Where you stand"},
    "as_of": {"zh": "截至 {date}", "en": "as of {date}"},
    "only": {"zh": "只看专题 {topics}", "en": "topics {topics} only"},
    "empty": {
        "zh": "还没有作答记录。先花十分钟定级：quizkit place；或者直接开始：quizkit study",
        "en": "Nothing answered yet. Find your level in ten minutes: quizkit place. Or begin at once: quizkit study",
    },
    "empty_topic": {
        "zh": "{topic} 还没有作答记录。从头学起：quizkit learn {topic}",
        "en": "Nothing answered in {topic} yet. From its beginning: quizkit learn {topic}",
    },
    "answers": {
        "zh": "作答 {answered} 次，答对 {right} 次（{share}）",
        "en": "Answers: {answered}, right: {right} ({share})",
    },
    "questions": {
        "zh": "{questions} 道题里做过 {met} 道，估计明天还记得 {remembered} 道（{share}）",
        "en": "Questions met: {met} of {questions}; about {remembered} of those still remembered tomorrow ({share})",
    },
    "mock": {
        "zh": "模拟面试另算：作答 {answered} 次，答对 {right} 次",
        "en": "In mock interviews, counted apart: answers {answered}, right {right}",
    },
    "gone": {
        "zh": "另有 {count} 次作答，对应的题现在不在题库里",
        "en": "Answers to questions that are not in the bank now: {count}",
    },
    "flags": {
        "zh": "标记过 {count} 次，列出来：quizkit bank flags",
        "en": "Flags: {count}; to list them: quizkit bank flags",
    },
    "by_level": {"zh": "专题 × 级别", "en": "By topic and level"},
    "by_kind": {"zh": "专题 × 题型", "en": "By topic and kind"},
    "legend": {
        "zh": "每格三个数：作答次数，答对比例，做过的题到明天还记得的比例（FSRS 估计）",
        "en": "In each cell: answers; the share that was right; the share of the questions met still remembered tomorrow (FSRS's estimate)",
    },
    "answered": {"zh": "作答", "en": "answers"},
    "right": {"zh": "答对", "en": "right"},
    "remembered": {"zh": "明天还记得", "en": "tomorrow"},
    "all": {"zh": "全部", "en": "all"},
    "level": {"zh": "{level} 级", "en": "level {level}"},
    "kind_choice": {"zh": "选择", "en": "choice"},
    "kind_numeric": {"zh": "计算", "en": "number"},
    "kind_order": {"zh": "排序", "en": "order"},
    "kind_cloze": {"zh": "填空", "en": "gaps"},
    "kind_trace": {"zh": "读代码", "en": "code"},
    "kind_bug": {"zh": "找错", "en": "bug"},
    "kind_essay": {"zh": "简答", "en": "essay"},
    "cell": {
        "zh": "作答 {answered} 次，答对 {right}，明天还记得 {remembered}",
        "en": "answers {answered}, right {right}, remembered tomorrow {remembered}",
    },
    "unmet": {"zh": "还没做过的专题：{topics}", "en": "Topics not met yet: {topics}"},
    "due": {"zh": "今后 {days} 天到期的题", "en": "Due in the next {days} days"},
    "due_now": {
        "zh": "现在到期 {late} 题（算在今天里），更晚 {later} 题，没做过 {new} 题",
        "en": "{late} due now (part of today's), {later} later than these days, {new} never met",
    },
    "days": {"zh": "最近 {days} 天的作答", "en": "Answers in the last {days} days"},
    "active": {"zh": "共练了 {active} 天", "en": "Days of practice: {active}"},
    "longest": {"zh": "最长连续 {longest} 天", "en": "longest run {longest}"},
    "row": {"zh": "现在连续第 {row} 天", "en": "in a row now {row}"},
    "of_mock": {"zh": "其中面试 {count}", "en": "{count} in interviews"},
    "retention": {"zh": "复习时还记得多少", "en": "What reviews remembered"},
    "every": {
        "zh": "共复习 {reviews} 次：答对 {right}（{share}）；记得 {recalled}（{kept}），FSRS 预计 {predicted}（{expected}）",
        "en": "Reviews: {reviews}, right {right} ({share}); remembered {recalled} ({kept}), where FSRS expected {predicted} ({expected})",
    },
    "recent": {
        "zh": "近 30 天复习 {reviews} 次：答对 {right}（{share}）；记得 {recalled}（{kept}），FSRS 预计 {predicted}（{expected}）",
        "en": "In the last 30 days: {reviews}, right {right} ({share}); remembered {recalled} ({kept}), where FSRS expected {predicted} ({expected})",
    },
    "review_is": {
        "zh": "复习指隔天以后再做时的头一次作答；评分高于 1 就算记得。",
        "en": "A review is a day's first answer to a question met on an earlier day; a grade above 1 counts as remembered.",
    },
    "no_reviews": {"zh": "还没有复习过。", "en": "No reviews yet."},
    "calibration": {"zh": "有没有把握，准不准", "en": "How sure, and how right"},
    "sure_wrong": {
        "zh": "有把握，却答错：{count}（有把握的共 {of}）",
        "en": "Sure and wrong: {count} (of {of} sure)",
    },
    "sure_right": {"zh": "有把握，也答对：{count}", "en": "Sure and right: {count}"},
    "unsure_right": {
        "zh": "没把握，却答对：{count}（没把握的共 {of}）",
        "en": "Unsure and right: {count} (of {of} unsure)",
    },
    "unsure_wrong": {"zh": "没把握，也答错：{count}", "en": "Unsure and wrong: {count}"},
    "unsaid": {
        "zh": "没说有没有把握：{count}；作答前按 ! 就能说",
        "en": "Not said: {count}. Press ! before an answer to say how sure you are",
    },
    "mistaken": {
        "zh": "有把握却答错，之后还没答对过的题：",
        "en": "Sure and wrong, and not right since:",
    },
    "myths": {"zh": "还没澄清的误区", "en": "Myths still held"},
    "myths_why": {
        "zh": "凡是考到这个误区的题，答对任何一道，就算澄清了。",
        "en": "A right answer to any question that catches a myth lays it to rest.",
    },
    "myth_seen": {
        "zh": "出现 {times} 次，最近一次 {date}",
        "en": "seen {times} x, last on {date}",
    },
    "myth_caught": {"zh": "也考它的题：{questions}", "en": "also caught by {questions}"},
    "leeches": {"zh": "老是忘的题", "en": "What will not stay"},
    "leeches_why": {
        "zh": "没答上来 {least} 次以上的题，再刷一遍用处不大：看看完整讲解，跑跑 demo，回专题里从头学。",
        "en": "Missed {least} times or more: one more review will not do. Read it whole, run its demo, go through the topic.",
    },
    "lapses": {"zh": "{question}  没答上来 {lapses} 次", "en": "{question}  missed {lapses} times"},
    "more": {
        "zh": "还有 {count} 条：--json 和 --html 里都有",
        "en": "{count} more; --json and --html have them all",
    },
    "written": {"zh": "已写入 {file}", "en": "Wrote {file}"},
}
