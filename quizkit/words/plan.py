"""What a plan to an interview date says."""

from quizkit.words import Words

WORDS: Words = {
    "practice": {
        "zh": "今天先做 {date} 模拟面试的练习，第 {day} 天，共 {count} 题：{names}",
        "en": "First today, from your mock of {date} (day {day} of practice), {count}: {names}",
    },
    "title": {
        "zh": "到面试那天（{date}，还剩 {days} 天），每天 {minutes} 分钟",
        "en": "To the interview on {date} (days left: {days}), {minutes} minutes a day",
    },
    "weighed": {"zh": "按 {aim} 加权", "en": "weighed for {aim}"},
    "only": {"zh": "只练 {topics}", "en": "only {topics}"},
    "topic": {"zh": "专题", "en": "topic"},
    "questions": {"zh": "题数", "en": "questions"},
    "met": {"zh": "做过", "en": "met"},
    "without": {"zh": "不练", "en": "without"},
    "practised": {"zh": "按计划练", "en": "with plan"},
    "whole": {"zh": "合计", "en": "all"},
    "recall": {
        "zh": "面试当天预计能答对的比例",
        "en": "Expected share of right answers on the day",
    },
    "calendar": {"zh": "每天的安排", "en": "What each day holds"},
    "date": {"zh": "日期", "en": "day"},
    "due": {"zh": "到期", "en": "due"},
    "reviews": {"zh": "复习", "en": "reviews"},
    "new": {"zh": "新题", "en": "new"},
    "minutes": {"zh": "分钟", "en": "minutes"},
    "today": {"zh": "{date} 今天", "en": "{date} today"},
    "later_days": {
        "zh": "之后 {days} 天：平均每天复习 {reviews} 题、新题 {new} 题，{minutes} 分钟",
        "en": "Days after that: {days}, with {reviews} reviews and {new} new a day on average, in {minutes} minutes",
    },
    "slip": {
        "zh": "今天不练：面试那天少 {points} 个百分点，约等于 {count} 题",
        "en": "Leaving out today costs {points} points on the day, about {count} questions' worth",
    },
    "gain": {
        "zh": "照计划练，面试那天 {questions} 题里预计多答对约 {count} 题（{without} → {practised}）",
        "en": "By this plan about {count} more of {questions} questions come right on the day ({without} to {practised})",
    },
    "slip_little": {
        "zh": "今天实在没空也不要紧：漏下的，后面 {days} 天会排进去。",
        "en": "No time today? What it leaves out finds room in the {days} days after it.",
    },
    "idle": {
        "zh": "今天没有值得练的：做过的都还记得，再问一遍多不了什么。",
        "en": "Today asks for nothing: what you have met is still remembered, and asking it again adds little.",
    },
    "used_up": {
        "zh": "今天的时间用完了，够了。",
        "en": "Today's minutes are used, and that is enough.",
    },
    "best": {
        "zh": "{topic} 提高最多：约多答对 {count} 题（{without} → {practised}）。只练它：quizkit study --topic {topic}",
        "en": "{topic} rises most: about {count} more right ({without} to {practised}). To go at it alone: quizkit study --topic {topic}",
    },
    "more": {
        "zh": "加时间有用：每天 {minutes} 分钟，面试那天再多 {points} 个百分点",
        "en": "More time would change something: {minutes} minutes a day add {points} points on the day",
    },
    "enough": {
        "zh": "加时间也差不多了。现在更值的是开口练：quizkit mock",
        "en": "More minutes would hardly add to it. What does now is saying it aloud: quizkit mock",
    },
    "dues": {
        "zh": "“到期”按现在的记录算，和 quizkit stats 里的一样；“复习”是计划安排的，不一定等于到期的题数。",
        "en": "'due' is what quizkit stats says, by your answers so far; 'reviews' is what the plan chose, which may be fewer or more.",
    },
    "left_due": {
        "zh": "今天到期 {due} 题，计划复习其中 {reviews} 题：每分钟都给到面试那天收益最大的题，其余没排上。想先清到期的：quizkit study --limit {some}",
        "en": "Of {due} due today the plan reviews {reviews}: each minute goes to what it adds most to on the interview's day, and the others found no room. To take what is due first: quizkit study --limit {some}",
    },
    "no_minutes": {
        "zh": "0 分钟就什么都不练。给个时间：--minutes 30",
        "en": "With 0 minutes nothing is practised. Give it some: --minutes 30",
    },
    "spent": {
        "zh": "今天已用掉 {spent} 分钟（答题加看讲解），计划里只算剩下的时间",
        "en": "{spent} minutes of today are used, reading counted in; the plan has what is left",
    },
    "too_long": {
        "zh": "有 {count} 题一题就超过 {minutes} 分钟，排不进去",
        "en": "{count} questions take more than {minutes} minutes each and fit into no day",
    },
    "unmet": {
        "zh": "到那天还有 {count} 题没做过，其中简答题 {essays} 题：费时的题每分钟收益低，排在后面。想先练：quizkit study --kind essay",
        "en": "Not met by then: {count}, essays among them: {essays}. What takes long adds least a minute and comes last; to practise it first: quizkit study --kind essay",
    },
    "faster": {
        "zh": "你的 {reviews} 次复习说明：你比 FSRS 默认参数忘得快，已按你的情况算",
        "en": "Your {reviews} reviews show that you forget faster than FSRS's defaults say; they are counted in",
    },
    "slower": {
        "zh": "你的 {reviews} 次复习说明：你比 FSRS 默认参数记得久，已按你的情况算",
        "en": "Your {reviews} reviews show that you remember longer than FSRS's defaults say; they are counted in",
    },
    "basis": {
        "zh": "每题的时间按字数和题型估：读题、作答、看讲解；你答满 10 次以后，按你自己的用时算。没做过的题，按你第一次作答的正确率估计。",
        "en": "A question's time goes by its words and its kind: to read it, to answer, to read why; from ten answers on, by your own times. What you never met is taken to be known as often as your first answers are right.",
    },
    "start": {
        "zh": "开始今天的：quizkit study；漏了几天，重新运行 quizkit plan 就会重排",
        "en": "For today's: quizkit study. Missed a day? quizkit plan again plans from where you are",
    },
    "save_first": {
        "zh": "让 quizkit study 照这个计划走：加上 --save",
        "en": "To have quizkit study follow this plan, add --save",
    },
    "saved": {
        "zh": "已写入 {file}；面试之前 quizkit study 照计划出题。取消：quizkit config interview --unset",
        "en": "Written to {file}; until the interview quizkit study follows the plan. To stop: quizkit config interview --unset",
    },
    "day_done": {
        "zh": "今天的计划做完了（{minutes} 分钟）。还想做：quizkit study --limit 10；看全部安排：quizkit plan",
        "en": "Today's plan is done ({minutes} minutes). For more: quizkit study --limit 10. For the days ahead: quizkit plan",
    },
}
