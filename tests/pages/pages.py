"""Makes the pages that are generated: KEYS.md from the keymap, demos/INDEX.md from the demos.

python tests/pages/pages.py
"""

from quizkit.bank.reader import read_topic, topic_slugs
from quizkit.lab.catalogue import FIRST, Demo, catalogue
from quizkit.paths import DEMOS, QUESTIONS
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.terminal.keymap import KEYMAP, Binding, State, chord_name
from quizkit.words import Lang, say

ROOT = DEMOS.parent
MADE = "<!-- Made by `python tests/pages/pages.py`. -->"

WHEN: dict[Lang, dict[State, str]] = {
    "en": {
        "pick": "one option",
        "tick": "several options",
        "rubric": "ticking points",
        "order": "an order",
        "line": "a line of code",
        "review": "gaps, before handing in",
        "type": "typing",
        "compose": "a long answer",
        "verdict": "after the answer",
        "page": "an introduction",
        "home": "quizkit alone",
        "demos": "the list of demos",
        "filter": "looking for a demo",
        "riddle": "which check goes red",
        "ran": "after a demo's run",
        "watch": "playing a timeline",
        "interview": "an interview",
    },
    "zh": {
        "pick": "单选",
        "tick": "多选",
        "rubric": "对照要点",
        "order": "排序",
        "line": "找出错的行",
        "review": "填空，交卷前",
        "type": "输入",
        "compose": "写长答案",
        "verdict": "看讲解",
        "page": "读引言",
        "home": "单独运行 quizkit",
        "demos": "demo 列表",
        "filter": "筛选 demo",
        "riddle": "猜哪个检查变红",
        "ran": "demo 跑完",
        "watch": "播放时间线",
        "interview": "模拟面试",
    },
}
BESIDE: tuple[State, ...] = ("home", "demos", "filter", "riddle", "ran", "watch", "interview")
"""Where no session asks: a key of any time has the same meaning there, where it has one."""
ALWAYS: dict[Lang, str] = {"en": "any time", "zh": "随时"}
ASKED: dict[Lang, str] = {"en": "a question", "zh": "答题"}
COLUMNS: dict[Lang, tuple[str, ...]] = {
    "en": ("when", "key", "while typing", "line mode", "what it does"),
    "zh": ("什么时候", "键", "输入文字时", "逐行模式", "作用"),
}
KEYS_INTRO: dict[Lang, str] = {
    "en": """\
`?` shows those that mean something now. Where text is typed, letters are text and commands are Ctrl
chords; line by line (`--plain`, no terminal) they are a colon and the key.""",
    "zh": """\
按 `?` 只列出此刻有用的键。输入文字时字母就是文字，命令用 Ctrl 组合键；
逐行模式（`--plain` 或没有终端）下，命令是冒号加键。""",
}

TERMINAL = (
    ("Ctrl-D", True, "leave"),
    ("Ctrl-_", True, "retract"),
    ("Ctrl-L", False, "redraw"),
    ("Ctrl-Z", False, "pause"),
    ("Ctrl-C", False, "interrupt"),
)
"""Keys that a terminal has by itself: the chord, whether only where text is typed, its words."""


def keys_page() -> str:
    """KEYS.md: every key once, in both languages, with when it means what it does."""
    return "\n".join([MADE, "", "# Keys", "", *_keys("en"), "", "## 中文", "", *_keys("zh"), ""])


def _keys(lang: Lang) -> list[str]:
    head = [KEYS_INTRO[lang], "", _row(COLUMNS[lang]), _row(["---"] * len(COLUMNS[lang]))]
    own = [_row(_own(chord, typing, words, lang)) for chord, typing, words in TERMINAL]
    return [*head, *dict.fromkeys(_row(_cells(each, lang)) for each in KEYMAP), *own]


def _own(chord: str, typing: bool, words: str, lang: Lang) -> list[str]:
    when = WHEN[lang]["type"] if typing else ALWAYS[lang]
    return [when, "" if typing else f"`{chord}`", f"`{chord}`", "", say(f"ui.does_{words}", lang)]


def _cells(binding: Binding, lang: Lang) -> list[str]:
    key, typing = binding.shown, chord_name(binding.chord)
    if not binding.keys:
        key, typing = "", binding.shown
    given = (key, typing, binding.line)
    keys = [f"`{each.format(last='9')}`" if each else "" for each in given]
    return [_when(binding, lang), *keys, binding.explanation(lang)]


def _when(binding: Binding, lang: Lang) -> str:
    states = {*binding.states}
    asking = {*WHEN[lang]} - {"verdict", "page", *BESIDE}
    if states >= asking:
        later = ("verdict", "page", "interview")
        if states >= {"verdict", "page"}:
            return ALWAYS[lang]
        more = [WHEN[lang][each] for each in later if each in states]
        return _listed([ASKED[lang], *more], lang)
    return _listed([WHEN[lang][each] for each in binding.states], lang)


def _listed(words: list[str], lang: Lang) -> str:
    return ("；" if lang == "zh" else "; ").join(words)


def index_page() -> str:
    """demos/INDEX.md: five to read first, then every demo by topic with its one-line law."""
    demos = catalogue()
    first = [*(f"{n}. {_entry(demos[name])}" for n, name in enumerate(FIRST, 1)), ""]
    parts = [MADE, "", "# The demos", ""]
    parts += ["Five to read first · 先读这五个", "", *first]
    for slug in topic_slugs(QUESTIONS):
        mine = [demo for demo in demos.values() if demo.topic == slug]
        if mine:
            topic = read_topic(QUESTIONS, slug, [])
            assert topic
            parts += [f"## {slug} · {topic.title['en']} · {topic.title['zh']}", ""]
            parts += [*(f"- {_entry(demo)}" for demo in mine), ""]
    return "\n".join(parts)


def _entry(demo: Demo) -> str:
    law = {lang: demo_words(demo, lang).law for lang in ("en", "zh")}
    return f"[{demo.name}]({demo.path.name}): {law['en']}\n  {law['zh']}"


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


PAGES = {ROOT / "KEYS.md": keys_page, DEMOS / "INDEX.md": index_page}

if __name__ == "__main__":
    for path, made in PAGES.items():
        path.write_text(made(), encoding="utf-8")
