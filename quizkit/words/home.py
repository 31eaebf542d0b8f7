"""What `quizkit` alone says, and the keys of its screen."""

from quizkit.words import Words

WORDS: Words = {
    "unplaced": {"zh": "还没定级", "en": "level not found yet"},
    "days": {"zh": "离面试 {days} 天", "en": "days to the interview: {days}"},
    "today": {
        "zh": "今天：复习 {reviews} 题，新题 {new} 题",
        "en": "today: {reviews} to review, {new} new",
    },
    "today_minutes": {
        "zh": "今天 {minutes} 分钟：复习 {reviews} 题，新题 {new} 题",
        "en": "today, {minutes} minutes: {reviews} to review, {new} new",
    },
    "done": {"zh": "今天的题做完了", "en": "today's questions are done"},
    "belief": {
        "zh": "还没纠正的误解（犯过 {times} 次）：{myth}",
        "en": "Still believed (shown {times} times): {myth}",
    },
    "practice": {
        "zh": "{date} 模拟面试的练习，第 {day} 天：先做 {count} 题",
        "en": "From your mock of {date}, day {day} of practice: {count} questions come first",
    },
    "topics": {
        "zh": "专题：明天还记得的题 / 总题数",
        "en": "Topics: what you will remember tomorrow, of all questions",
    },
    "topic": {"zh": "{remembered} / {questions}", "en": "{remembered} / {questions}"},
    "next": {"zh": "下一步", "en": "Next"},
    "step_place": {
        "zh": "十分钟定级，新题从你的水平开始",
        "en": "ten minutes that find your level; new questions begin there",
    },
    "step_study": {"zh": "做今天的题", "en": "today's questions"},
    "step_belief": {
        "zh": "换几道题，看看这个误解还在不在",
        "en": "other questions on what you still believe",
    },
    "step_mock": {
        "zh": "开口练：限时模拟面试",
        "en": "say it aloud: a timed mock interview",
    },
}
