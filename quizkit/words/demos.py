"""The demo browser: what stands above and below the list, and the riddle of a planted bug."""

from quizkit.words import Words

WORDS: Words = {
    "count": {"zh": "{count} 个 demo", "en": "{count} demos"},
    "filtered": {"zh": "{count} 个 demo 含“{typed}”", "en": "{count} demos with “{typed}”"},
    "first": {"zh": "先看这五个", "en": "Five to start with"},
    "none": {
        "zh": "没有哪个 demo 的名字、专题或说明里有这些字",
        "en": "No demo has this in its name, its topic or its line",
    },
    "no_breaks": {"zh": "{demo} 没有可以埋的 bug", "en": "{demo} has no bug to plant"},
    "sound": {
        "zh": "先不带 bug 跑一遍 {demo}……",
        "en": "running {demo} without the bug first ...",
    },
    "stopped": {"zh": "已停止这次运行", "en": "The run was stopped"},
    "unsound": {
        "zh": "{demo} 不带 bug 也没跑通，先看它自己的结果：quizkit demo {demo}",
        "en": "{demo} fails even without the bug; look at that first: quizkit demo {demo}",
    },
    "ask": {
        "zh": "{ranks} 个 rank 跑这段代码，最先变红的是哪个检查？",
        "en": "Run on {ranks} ranks: which check goes red first?",
    },
    "hangs": {"zh": "检查都没轮到：卡死", "en": "none of them: the run hangs"},
    "crashes": {"zh": "检查都没轮到：崩溃", "en": "none of them: the run crashes"},
    "right": {"zh": "猜对了。", "en": "You saw it coming."},
    "later": {
        "zh": "它也红了，但不是最先。",
        "en": "That one goes red too, but not first.",
    },
    "wrong": {"zh": "没猜中。", "en": "Not that one."},
    "picked": {"zh": "你选的：{pick}", "en": "You said: {pick}"},
    "was": {"zh": "最先变红的：{red}", "en": "First to go red: {red}"},
    "nothing": {"zh": "什么都没变红", "en": "Nothing went red"},
    "reds": {"zh": "变红的检查，按先后", "en": "What went red, in order"},
}
