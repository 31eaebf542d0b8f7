"""What is said on the cards and pages that are taken along."""

from quizkit.words import Words

WORDS: Words = {
    "drawn": {
        "zh": "这里的数是固定的一组；在 quizkit 里每次重新抽。",
        "en": "These numbers are one fixed draw; in quizkit they are drawn anew each time.",
    },
    "prove": {"zh": "跑一遍看看：", "en": "See it run:"},
    "picture": {"zh": "跑出来是这样（附带的记录）", "en": "What a recorded run looks like"},
    "lines": {"zh": "错在这里：", "en": "What is wrong:"},
    "fold": {"zh": "答案和讲解", "en": "Answer and explanation"},
    "made": {
        "zh": "由 quizkit export 生成，共 {count} 道题。",
        "en": "Made by quizkit export; {count} questions.",
    },
    "written": {"zh": "{count} 道题写进了 {file}", "en": "{count} questions written to {file}"},
    "left_out": {
        "zh": "{count} 道题读不了，没有写进去：{names}",
        "en": "{count} questions cannot be read and were left out: {names}",
    },
    "retired": {
        "zh": "已下线的题：{count} 道。以前导入过的话，它们的卡片还留在 Anki 里：在 Anki 的浏览窗口搜索下面这一行，选中后删除\n{search}",
        "en": "Retired questions: {count}. If you imported them before, their cards are still in Anki: search its browser for the line below, then delete what it finds\n{search}",
    },
}
