"""What the study session says: verdicts, notes, why something cannot be read."""

from quizkit.words import Words

WORDS: Words = {
    "topic_meant": {"zh": "{name}：也就是专题 {topic}", "en": "{name}: this is topic {topic}"},
    "partial": {
        "zh": "共 {of} 个正确，你选对 {hits} 个，选错 {misses} 个；选错一个抵掉一个选对的。",
        "en": "{hits} of {of} right ones picked, {misses} wrong; each wrong pick cancels a right one.",
    },
    "wrong_unit": {
        "zh": "单位不对：你写的是 {typed}，问的是 {asked}，两者无法换算。",
        "en": "Wrong unit: you wrote {typed}, the question asks for {asked}, and one does not convert into the other.",
    },
    "converted": {
        "zh": "你写的 {typed} 换算过来是 {turned}。",
        "en": "Your {typed} is {turned}.",
    },
    "pairs": {
        "zh": "{of} 对先后关系里对了 {kept} 对。",
        "en": "{kept} of {of} before-and-after pairs are right.",
    },
    "gaps": {"zh": "没填对的空：第 {gaps} 空。", "en": "Not right: gap {gaps}."},
    "length": {
        "zh": "你写了 {given} 个数，应该是 {wanted} 个。",
        "en": "Numbers you gave: {given}; there are {wanted}.",
    },
    "line": {"zh": "第 {line} 行：{code}", "en": "line {line}: {code}"},
    "reasons": {
        "zh": "行找对了；原因得分 {percent}%。",
        "en": "You found the line; the reasons score {percent}%.",
    },
    "points": {
        "zh": "要点得分 {percent}%，{need}% 算通过。",
        "en": "The points come to {percent}%; {need}% passes.",
    },
    "lowered_hints": {"zh": "看了 {hints} 条提示", "en": "hints taken: {hints}"},
    "lowered_unsure": {"zh": "没把握", "en": "not sure"},
    "lowered_missing": {"zh": "要点没说全", "en": "points missing"},
    "lowered_slow": {"zh": "用时超过 {limit} 秒", "en": "over {limit} s"},
    "lowered_slip": {"zh": "大部分答对了", "en": "most of it right"},
    "vetoes": {
        "zh": "说了 {count} 句不该说的话，总分最多 {percent}%，不算通过。",
        "en": "Said, and must not be ({count}): {percent}% at most, and no pass.",
    },
    "not_a_number": {
        "zh": "“{text}”读不出数来。可以写 0.273、27.3%、3/11、1e9、12 GB。",
        "en": "“{text}” is not a number. Write 0.273, 27.3%, 3/11, 1e9 or 12 GB.",
    },
    "not_numbers": {
        "zh": "“{text}”不是一串数。可以写 4 3 2 1，也可以写 [4, 3, 2, 1]。",
        "en": "“{text}” is not a list of numbers. Write 4 3 2 1 or [4, 3, 2, 1].",
    },
    "unknown_unit": {
        "zh": "不认识单位“{typed}”。这里问的是 {asked}，也可以不写单位。",
        "en": "“{typed}” is no unit known here. The question asks for {asked}; the unit may be left out.",
    },
    "unknown_tail": {
        "zh": "数后面的“{typed}”看不懂。只写数就行。",
        "en": "What “{typed}” after the number means is not clear. The number alone will do.",
    },
    "too_rough": {
        "zh": "“{typed}”太粗：有一种错法约下来也是它。再给一位有效数字。",
        "en": "'{typed}' is too rough: a mistake rounds to the same. One more digit, please.",
    },
    "which_unit": {
        "zh": "{typed} 是什么单位？没写单位就按 {asked} 算；指的是别的单位，请写上。",
        "en": "{typed} of what? Without a unit it is read as {asked}; if you mean another unit, write it.",
    },
    "pick_one": {"zh": "单选题，请选一个。", "en": "Pick one option."},
    "pick_some": {"zh": "请至少选一个。", "en": "Pick at least one option."},
    "no_such_option": {
        "zh": "没有这个选项；编号是 0 到 {last}。",
        "en": "There is no such option; they are numbered 0 to {last}.",
    },
    "every_step_once": {
        "zh": "每一步都要出现一次：{steps}。",
        "en": "Every step once: {steps}.",
    },
    "every_gap": {"zh": "每个空都要填：{gaps}。", "en": "Fill every gap: {gaps}."},
    "no_such_line": {
        "zh": "没有这一行；行号是 1 到 {last}。",
        "en": "There is no such line; they are numbered 1 to {last}.",
    },
    "ahead": {
        "zh": "现在没有到期的题，也没有新题：先提前复习最快到期的。",
        "en": "Nothing is due and nothing is new: these are the ones due soonest, ahead of time.",
    },
    "nothing_to_undo": {
        "zh": "这一轮还没有可以撤销的。",
        "en": "There is nothing to undo in this session yet.",
    },
    "answer_first": {
        "zh": "先作答，再看结果：先预测，后测量。",
        "en": "Answer first: predict, then measure.",
    },
    "no_more_hints": {"zh": "没有更多提示了。", "en": "There are no more hints."},
    "no_proof": {
        "zh": "这道题没有可跑的实验，依据见出处。",
        "en": "This one has nothing to run; see its sources.",
    },
    "proving": {"zh": "正在跑 {demo} …", "en": "Running {demo} ..."},
    "cancelled": {"zh": "已停止这次运行。", "en": "The run was stopped."},
    "flagged": {
        "zh": "已标记，用 quizkit bank flags 查看。",
        "en": "Flagged; quizkit bank flags lists them.",
    },
    "unflagged": {"zh": "已取消标记。", "en": "The flag is gone."},
    "you_were_right": {
        "zh": "记为答对，并标记了本题。",
        "en": "Counted as right, and the question is flagged.",
    },
    "right_already": {"zh": "本来就算答对了。", "en": "It counts as right already."},
    "right_exact": {
        "zh": "这里没有会被读错的写法，不能改判；觉得题目有问题，按 f 标记。",
        "en": "Nothing here can have been misread. If the question is wrong, flag it: f.",
    },
    "undone": {
        "zh": "已撤销 {question} 的作答，再来一次。",
        "en": "The answer to {question} is undone; here it is again.",
    },
    "unskipped": {"zh": "回到跳过的 {question}。", "en": "Back to {question}, which was skipped."},
    "left": {
        "zh": "已退出，答过的都记下了；下次接着来：{command}",
        "en": "Left; every answer is kept. To go on: {command}",
    },
    "foundations": {
        "zh": "这个专题用得到 {topics}，你还没怎么做过。想先打底：quizkit learn {first}",
        "en": "This topic rests on {topics}, which you have hardly met. To begin there: quizkit learn {first}",
    },
    "shows": {"zh": "实测 {was}", "en": "{was} was measured"},
    "shows_if": {
        "zh": "若是这样应为 {be}；实测 {was}",
        "en": "if so it would be {be}; {was} was measured",
    },
    "now_new": {"zh": "新题", "en": "new"},
    "now_due": {"zh": "今天到期", "en": "due"},
    "now_late": {"zh": "到期 {days} 天了", "en": "due for {days} d"},
    "now_early": {"zh": "提前复习", "en": "before it is due"},
    "now_again": {"zh": "刚才答错，再来", "en": "once more"},
    "now_link": {"zh": "追问 {number}/{of}", "en": "follow-up {number} of {of}"},
    "now_followup": {"zh": "追问", "en": "follow-up"},
    "now_down": {"zh": "退一步", "en": "a step down"},
    "now_mock": {"zh": "{date} 模拟面试的练习", "en": "from your mock of {date}"},
    "now_belief": {"zh": "同一个误区", "en": "the same misconception"},
    "leech": {
        "zh": "这题已经忘了 {lapses} 次，光靠重复记不住。先读专题导言：quizkit learn {topic}；再看 w 和 y，按 p 跑一遍",
        "en": "Forgotten {lapses} times by now: once more will not do it. Read the topic's introduction (quizkit learn {topic}), then look at w and y, and press p",
    },
    "run_next": {
        "zh": "按回车，把决定这题的 demo 跑一遍",
        "en": "Enter runs the demo that decides this one",
    },
    "picture": {
        "zh": "录下的一次运行（quizkit demo {demo}，{ranks} 个 rank）：",
        "en": "From a recorded run (quizkit demo {demo}, ranks: {ranks}):",
    },
    "needs": {"zh": "先修：{topics}。", "en": "To know before: {topics}."},
    "course_done": {
        "zh": "{topic} 的题都做过一遍了。复习：quizkit study --topic {topic}；从头再来：quizkit learn {topic} --again",
        "en": "You have met every question of {topic}. To review: quizkit study --topic {topic}. From the beginning: quizkit learn {topic} --again",
    },
    "place_title": {"zh": "先定个级", "en": "Where to begin"},
    "place_text": {
        "zh": "最多 {minutes} 分钟、{count} 道选择题，难度跟着你的回答走，蒙对一两道不会抬高定级；测完，新题就从你的水平开始。答案照常记下，题目以后还会来复习。\n\n回车开始；不想测就跳过，从最基础的做起，以后随时可以 `quizkit place`。",
        "en": "At most {minutes} minutes and {count} multiple-choice questions, harder or easier as you answer; a lucky guess or two will not raise your level. After that, new questions begin at it. Answers are kept as always, and come back for review.\n\nEnter begins. Or skip it and start from the basics; `quizkit place` is there at any time.",
    },
    "placed": {
        "zh": "定级：第 {level} 级（{count} 题答对 {right} 题）",
        "en": "Level {level} ({right} of {count} right)",
    },
    "placed_row": {
        "zh": "- 第 {level} 级的题：{count} 题对 {right} 题",
        "en": "- questions of level {level}: {right} of {count} right",
    },
    "placed_low": {
        "zh": "第 1 级的题也还答不稳，就从最基础的开始。",
        "en": "Level 1 does not hold yet either, so it begins with the basics.",
    },
    "placed_unlikely": {
        "zh": "第 {higher} 级没算上：照这些对错，你有这一级水平的可能是 {percent}%，到 {likely}% 才算。",
        "en": "Level {higher} does not count as yours: by these answers it is {percent}% likely to be, and {likely}% are needed.",
    },
    "placed_guesses": {
        "zh": "更难的题你对了 {rights} 道，可四选一蒙也有四分之一对；较易的题不该错，错一道比难题对一道更说明问题。",
        "en": "Harder ones you had right: {rights}. But one in four comes right by guessing, while who has a level hardly misses what is below it: a miss there says more than a hit above.",
    },
    "placed_few": {
        "zh": "第 {higher} 级没算上：那一级或更难的题你对了 {rights} 道，至少要 {enough} 道，一道可能是蒙的。",
        "en": "Level {higher} does not count as yours: right answers at it or above are {rights}, and {enough} are needed, as one may be luck.",
    },
    "placed_top": {
        "zh": "再难的几乎不出选择题，这里测不出；想更难：quizkit config level {higher}",
        "en": "What is harder is hardly ever multiple choice, so this cannot tell. To begin higher: quizkit config level {higher}",
    },
    "placed_next": {
        "zh": "新题从第 {level} 级开始；哪个专题有 {enough} 题记住了，那个专题就升一级。刚才这些题不占今天的题量，以后照常复习。要改：quizkit config level N",
        "en": "New questions begin at level {level}; a topic goes up one once {enough} of its questions are kept in mind. These here take nothing off today's share, and come back for review. To change it: quizkit config level N",
    },
    "gone": {
        "zh": "{question} 的文件刚刚没了或读不了，跳过；用 quizkit bank lint 查看",
        "en": "{question} is gone or cannot be read any more; skipped. See quizkit bank lint",
    },
    "broken": {
        "zh": "有 {count} 个题目文件读不了，先跳过；用 quizkit bank lint 查看",
        "en": "{count} question files cannot be read and are left out; see quizkit bank lint",
    },
    "due": {"zh": "到期 {due} 题，新题 {new} 题", "en": "{due} due, {new} new"},
    "due_topic": {
        "zh": "到期 {due}，新题 {new}，未到期 {known}",
        "en": "{due} due, {new} new, {known} not due yet",
    },
    "due_next": {"zh": "下一题 {date} 到期", "en": "The next one is due {date}"},
    "due_share_done": {
        "zh": "今天的题量做完了，明天再来。还想做：quizkit study --limit 10",
        "en": "Today's share is done; the next is tomorrow's. For more now: quizkit study --limit 10",
    },
    "due_start": {"zh": "开始：quizkit study", "en": "To begin: quizkit study"},
    "data_home": {"zh": "目录", "en": "folder"},
    "data_diary": {"zh": "答题记录", "en": "diary "},
    "data_config": {"zh": "设置", "en": "config"},
    "data_cache": {"zh": "缓存（可随时删）", "en": "cache (can be removed at any time)"},
    "data_backup": {"zh": "旧的答题记录", "en": "copy of the diary"},
    "data_missing": {"zh": "（还没有）", "en": " (not there yet)"},
    "data_left_out": {
        "zh": "答题记录里有 {count} 条用不了，统计和复习都不算它们，例如 {named}。想清理掉：quizkit data --export > kept.json，quizkit data --erase，再 quizkit data --merge kept.json",
        "en": "Rows of the diary that nothing can use, and nothing counts: {count}, such as {named}. To be rid of them: quizkit data --export > kept.json, quizkit data --erase, quizkit data --merge kept.json",
    },
    "reset_word": {"zh": "重来", "en": "reset"},
    "reset_ask": {
        "zh": "{topic} 的 {count} 次作答将不再计入复习和统计，从头开始；记录本身会留着，可以用 --undo 撤销。确定的话请输入：{word}",
        "en": "{topic} begins anew. Answers that will no longer count: {count}. The rows stay, and --undo takes this back. If you mean it, type: {word}",
    },
    "reset_kept": {"zh": "没有改动", "en": "Nothing was changed"},
    "reset": {
        "zh": "{topic} 从头开始：之前的 {count} 次作答不再计入。撤销：quizkit data --reset {topic} --undo",
        "en": "{topic} begins anew; answers that no longer count: {count}. To take that back: quizkit data --reset {topic} --undo",
    },
    "reset_undone": {
        "zh": "{topic} 已恢复：{count} 次作答重新计入",
        "en": "{topic} is as it was; answers that count again: {count}",
    },
    "erase_word": {"zh": "删除", "en": "erase"},
    "erase_ask": {
        "zh": "{file} 里的全部作答和旁边的旧记录都会被删除，无法恢复。确定的话请输入：{word}",
        "en": "Every answer in {file}, and every copy beside it, will be gone for good. If you mean it, type: {word}",
    },
    "erase_kept": {"zh": "没有删除任何东西", "en": "Nothing was removed"},
    "erased": {"zh": "已删除 {file}", "en": "Removed {file}"},
    "erase_nothing": {"zh": "{file} 本来就不存在", "en": "{file} was not there"},
    "merged": {
        "zh": "并入 {answers} 条作答记录，另有 {events} 条面试记录",
        "en": "Taken in: answers {answers}, rows of interviews {events}",
    },
    "merge_kept": {
        "zh": "并入之前的答题记录留在 {file}",
        "en": "The diary as it was before: {file}",
    },
    "line_json": {
        "zh": "这一行不是 JSON 对象：{reason}",
        "en": "This line is no JSON object: {reason}",
    },
    "line_neither": {
        "zh": "这一行要有 answer 或 command，现在有的是：{keys}",
        "en": "This line needs `answer` or `command`; it has: {keys}",
    },
    "line_command": {
        "zh": "没有命令 {name}。可以试试：{hint}。",
        "en": "There is no command {name}. Try: {hint}.",
    },
    "line_no_question": {
        "zh": "现在没有等待回答的题。",
        "en": "No question is waiting for an answer.",
    },
    "line_long": {
        "zh": "这一行超过 {limit} 字节，没有读。",
        "en": "This line holds more than {limit} bytes and was not read.",
    },
    "line_nothing": {
        "zh": "这条命令在这里没有作用，什么都没变。",
        "en": "This command does nothing here; nothing has changed.",
    },
    "line_seconds": {
        "zh": "seconds 要是 0 到 {most} 的数。",
        "en": "`seconds` is a number from 0 to {most}.",
    },
    "line_grade": {
        "zh": "grade 的 value 要是整数 1、2、3 或 4。",
        "en": "The `value` of a grade is a whole number: 1, 2, 3 or 4.",
    },
    "line_sure": {"zh": "sure 要是 true、false 或 null。", "en": "`sure` is true, false or null."},
    "not_known": {"zh": "没答上来。", "en": "Not known."},
    "nothing_typed": {"zh": "还没有写答案。", "en": "Nothing was typed."},
    "needs_list": {"zh": "这道题的答案是一个列表。", "en": "The answer to this one is a list."},
    "needs_parts": {
        "zh": "这道题的答案要分项写（名称: 内容）。",
        "en": "The answer to this one has named parts.",
    },
    "next_steps": {
        "zh": (
            "quizkit learn pp                       从头学一个专题\n"
            "quizkit study --topic pp               做一个专题的题\n"
            "quizkit demo ring-attention --gpus 4   跑一个 demo\n"
            "quizkit mock pipeline-screen           限时模拟面试\n"
            "quizkit --help                         其余命令"
        ),
        "en": (
            "quizkit learn pp                       a topic from scratch\n"
            "quizkit study --topic pp               questions on a topic\n"
            "quizkit demo ring-attention --gpus 4   run a demo\n"
            "quizkit mock pipeline-screen           a timed interview\n"
            "quizkit --help                         everything else"
        ),
    },
    "course_ideas": {
        "zh": "共 {count} 题，做过 {done} 题：讲一段、问一题，其余的按阅读顺序接着做。",
        "en": "{count} questions, {done} of them answered so far: one after each idea, then the rest in reading order.",
    },
    "course": {
        "zh": "按阅读顺序走，共 {count} 题，做过 {done} 题。",
        "en": "{count} questions in reading order, {done} of them answered so far.",
    },
    "diary_waits": {
        "zh": "另一个程序正占用答题记录，等它放开",
        "en": "Another program has the diary locked; waiting for it",
    },
    "unwritten": {
        "zh": "没能记下：{why}。你的作答还在",
        "en": "Not written down: {why}. Your answer is still here",
    },
    "unsent": {
        "zh": "上次没写完的还在，接着写吧。",
        "en": "What you had begun last time is here to go on with.",
    },
    "again": {"zh": "刚才没答对，再来一次。", "en": "Not right before, so once more."},
}
