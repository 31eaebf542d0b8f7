"""What lint says of a bank, and that it says nothing of a good one."""

from pathlib import Path

import pytest

from quizkit.bank.common import Covered, common_questions, coverage
from quizkit.bank.lint import lint
from quizkit.bank.listed import listed
from quizkit.bank.reader import Bank

GOOD = """\
kind: choice
level: 1
covers: [basics-8.price]
prompt: {zh: 用 `KV` 问什么, en: What about `KV`}
options:
  - text: {zh: 对的选项, en: right one}
    correct: true
  - text: {zh: 错的选项, en: wrong one}
    why: {zh: 有人这么说, en: people say so}
    myth: a-myth
hints: [{zh: 提示, en: hint}]
explain: {zh: 讲解, en: explained}
say: {zh: 这样说, en: say this}
followups: [{if: right, ask: pp/other}]
sources: [a paper]
"""
NUMERIC = """\
kind: numeric
level: 2
prompt: {zh: "{p} 个 stage", en: "{p} stages"}
params: {p: [2, 3, 4]}
answer: 2 * (p - 1) / p
traps:
  - formula: p - 1
    forgot: {zh: 忘了, en: forgotten}
    myth: a-myth
hints: [{zh: 提示, en: hint}]
explain: {zh: 讲解, en: explained}
say: {zh: 这样说, en: say this}
sources: [a paper]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pp = tmp_path / "pp"
    pp.mkdir()
    (pp / "_topic.yaml").write_text("title: PP\nintro: words\n")
    (pp / "_myths.yaml").write_text("a-myth: {zh: 误解, en: a myth}\n")
    (tmp_path / "_common70.yaml").write_text(
        "basics-8: {topic: pp, ask: {zh: 问, en: ask},"
        " parts: {order: {zh: 先后, en: the order}, price: {zh: 代价, en: the price}}}\n"
    )
    (tmp_path / "glossary.yaml").write_text(
        "bubble: {zh: 气泡, en: bubble, note: {zh: 空闲, en: idle},"
        " avoid: {zh: [泡沫], en: [foam]}}\n"
    )
    (pp / "q.yaml").write_text(GOOD)
    (pp / "other.yaml").write_text(GOOD.replace("followups: [{if: right, ask: pp/other}]\n", ""))
    return tmp_path


def found(folder: Path) -> list[str]:
    return [str(problem) for problem in lint(Bank.load(folder), folder)]


def test_a_good_bank_has_nothing_wrong(folder: Path):
    assert found(folder) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("basics-8.price", "basics-9.price", "pp/q.yaml:3: error: unknown common question"),
        ("ask: pp/other", "ask: pp/others", "pp/q.yaml:14: error: unknown question `pp/others`"),
        ("ask: pp/other", "ask: pp/q", "pp/q.yaml:14: error: asks itself"),
        (
            "myth: a-myth",
            "myth: a-mith",
            "pp/q.yaml:10: error: unknown myth `a-mith`; did you mean",
        ),
        ("    myth: a-myth\n", "", "pp/q.yaml:8: error: a wrong option says `why`"),
        ("sources: [a paper]", "was: [pp/other]", "pp/q.yaml:15: error: `pp/other` is still a"),
        ("hints: [{zh: 提示, en: hint}]\n", "", "warning: has no hints"),
        ("say: {zh: 这样说, en: say this}\n", "", "warning: has no `say`"),
        ("en: What about `KV`", "en: What about it", "warning: `code` differs: KV"),
        ("en: explained", "en: 讲解 explained", "warning: the English holds Chinese"),
        ("zh: 讲解", "zh: explanation", "warning: the Chinese holds no Chinese"),
        ("zh: 讲解", "zh: 讲解 8 次", "warning: numbers differ: 8"),
        ("zh: 讲解", "zh: 通过 1F1B 来减少", "reads translated"),
        ("zh: 讲解", "zh: 进行了一次通信操作", "use the verb"),
        ("zh: 讲解", "zh: 流水线泡沫", "zh: write 气泡, not 泡沫"),
        ("en: explained", "en: Foam everywhere", "en: write bubble, not foam"),
        ("en: explained", "en: TODO", "warning: TODO is left in it"),
    ],
)
def test_what_an_editor_would_say(folder: Path, old: str, new: str, said: str):
    path = folder / "pp" / "q.yaml"
    assert GOOD.count(old) == 1
    path.write_text(GOOD.replace(old, new))
    problems = found(folder)
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("p: [2, 3, 4]", "p: [2, 3, 4, 1]", None),
        ("answer: 2 * (p - 1) / p", "answer: 1 / (p - 3)", "answer` at|at {'p': 3}"),
        ("formula: p - 1", "formula: p / (p - 3)", "at {'p': 3}"),
        ("{p: [2, 3, 4]}", "{p: [2, 3, 4]}\nwhere: p > 4", "lets no draw through"),
        ("{p: [2, 3, 4]}", "{p: [2, 3, 4]}\nwhere: 1 / (p - 3) > 0", "where` at|at {'p': 3}"),
        ("{p: [2, 3, 4]}", "{p: [2, 3, 4]}\nwhere: p", "neither true nor false"),
        ('en: "{p} stages"', 'en: "stages"', "{placeholders} differ: p"),
    ],
)
def test_every_draw_of_a_number_is_tried(folder: Path, old: str, new: str, said: str | None):
    good = NUMERIC.replace("p: [2, 3, 4]", "p: [3, 4, 8]")
    (folder / "pp" / "n.yaml").write_text(good)
    assert found(folder) == []
    # At two ranks 2 (p - 1) / p is p - 1: the trap is right there, and lint says which draw.
    (folder / "pp" / "n.yaml").write_text(NUMERIC)
    assert "is right at {'p': 2}" in found(folder)[0]
    assert NUMERIC.count(old) == 1
    (folder / "pp" / "n.yaml").write_text(NUMERIC.replace(old, new))
    problems = found(folder)
    wanted = (said or "is right at {'p': 2}").split("|")
    assert any(each in problem for problem in problems for each in wanted), problems


def test_two_slips_that_lead_to_one_number_are_named(folder: Path):
    again = "  - formula: (p - 1) * (p - 1) / 2\n    forgot: {zh: 忘了, en: forgotten}\nhints"
    two = NUMERIC.replace("p: [2, 3, 4]", "p: [3, 4, 8]").replace("hints", again)
    (folder / "pp" / "n.yaml").write_text(two)
    assert found(folder) == ["pp/n.yaml:10: warning: is traps.0 at {'p': 3}; exclude it by `where`"]
    (folder / "pp" / "n.yaml").write_text(two.replace("[3, 4, 8]", "[4, 8]"))
    assert found(folder) == []


def test_too_many_draws(folder: Path):
    many = ", ".join(str(n) for n in range(501))
    (folder / "pp" / "n.yaml").write_text(NUMERIC.replace("[2, 3, 4]", f"[{many}]"))
    assert "501 draws; 500 at most" in found(folder)[0]


ESSAY = """\
kind: essay
level: 4
prompt: {zh: 说说, en: Tell}
rubric:
  - {points: 1, says: {zh: 说到, en: says}, keywords: [says], covers: [basics-8.order]}
hints: [{zh: 提示, en: hint}]
explain: {zh: 讲解, en: explained}
say: {zh: 这样说, en: say this}
sources: [a paper]
"""


@pytest.fixture
def parted(folder: Path) -> Path:
    """A bank with an essay, whose points state a part."""
    (folder / "pp" / "essay.yaml").write_text(ESSAY)
    return folder


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "q",
            "[basics-8.price]",
            "[basics-8]",
            "`basics-8` has parts; name those that the question states, of basics-8.order, ",
        ),
        (
            "q",
            "[basics-8.price]",
            "[basics-8.prise]",
            "unknown part of `basics-8` `prise`; did you mean `price`?",
        ),
        ("q", "[basics-8.price]", "[basics-9.price]", "unknown common question `basics-9`"),
        ("essay", "[basics-8.order]", "[basics-8]", "pp/essay.yaml:5: error: `basics-8` has parts"),
        (
            "essay",
            "level: 4",
            "level: 4\ncovers: [basics-8.order]",
            "an essay states a part in a rubric point",
        ),
    ],
)
def test_a_part_is_named_where_it_is_stated(parted: Path, file: str, old: str, new: str, said: str):
    assert found(parted) == []
    path = parted / "pp" / f"{file}.yaml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    problems = found(parted)
    assert any(": error: " in problem and said in problem for problem in problems), problems


def test_the_words_of_a_part_are_read_as_those_of_a_question(parted: Path):
    path = parted / "_common70.yaml"
    path.write_text(path.read_text().replace("en: the price", "en: 代价"))
    assert found(parted) == [
        "_common70.yaml:1: warning: basics-8: `parts.price`: the same in both languages"
    ]


def test_what_is_covered_is_told_part_by_part(parted: Path):
    bank = Bank.load(parted)
    common = common_questions(parted, [])
    every = [listed(question) for question in bank.questions.values()]
    assert coverage(common, every)["basics-8"] == Covered(
        common["basics-8"],
        {"order": ("pp/essay",), "price": ("pp/other", "pp/q")},
        ("pp/essay", "pp/other", "pp/q"),
    )
    without = coverage(common, [each for each in every if each.id != "pp/essay"])["basics-8"]
    assert (without.parts["order"], without.whole) == ((), False)


def test_a_pattern_in_the_keys_is_seen(folder: Path):
    for index in range(12):
        (folder / "pp" / f"q{index}.yaml").write_text(GOOD.replace("right one", "the right one"))
    problems = found(folder)
    assert any("is the longest in" in problem for problem in problems)
    assert any("is number 1 in" in problem for problem in problems)


def test_a_veto_that_a_good_answer_would_trip(tmp_path: Path):
    folder = tmp_path / "bank" / "pp"
    folder.mkdir(parents=True)
    text = (
        "kind: essay\nlevel: 3\nprompt: {zh: 谈谈气泡, en: Talk of bubbles}\n"
        "rubric: [{points: 1, says: {zh: 说到冲水, en: names the flush}, keywords: [flush]}]\n"
        "vetoes: [{says: {zh: 没有气泡, en: no bubble}, why: {zh: 有, en: there is}, "
        "myth: m, keywords: [KEYWORD]}]\n"
        "say: {zh: 气泡还在, en: There is no free bubble}\n"
        "explain: {zh: 如题, en: As stated}\nsources: [x]\n"
    )
    for keyword, trips in (
        ("no bubble", False),
        ("free bubble", True),
        ("气泡还在", True),
        ("flush", True),
    ):
        (folder / "essay.yaml").write_text(text.replace("KEYWORD", keyword), encoding="utf-8")
        found = lint(Bank.load(folder.parent), folder.parent)
        said = [each.message for each in found if "a good answer says it too" in each.message]
        assert bool(said) is trips, keyword


@pytest.mark.parametrize(
    ("assume", "said"),
    [
        ("[equal, {zh: 无重叠, en: nothing overlaps}]", None),
        ("[{zh: 一张 H100 有 80 GB, en: an H100 has 80 GB}]", None),
        ("[equall]", "error: unknown condition `equall`; did you mean `equal`?"),
        ("[equal, equal, equal, equal, equal]", "error: 5 conditions; 4 at most"),
        (f"[{{zh: {'一' * 29} GB 1, en: short}}]", "zh: 31 Han characters and words; a condition"),
        (f"[{{zh: 短, en: {'so ' * 16}}}]", "en: 16 words; a condition has 15 at most"),
    ],
)
def test_conditions_are_few_and_short(folder: Path, assume: str, said: str | None):
    topic = folder / "pp" / "_topic.yaml"
    topic.write_text(topic.read_text() + "assume: {equal: {zh: 等时, en: equal times}}\n")
    path = folder / "pp" / "q.yaml"
    path.write_text(path.read_text() + f"assume: {assume}\n")
    problems = found(folder)
    assert (problems == []) if said is None else (said in problems[0]), problems


def test_a_condition_that_is_written_often_needs_a_name(folder: Path):
    said = "assume: [{zh: 等时, en: equal times}]\n"
    for name in ("q", "other"):
        path = folder / "pp" / f"{name}.yaml"
        path.write_text(path.read_text() + said)
    assert found(folder) == []
    (folder / "pp" / "third.yaml").write_text(GOOD + said)
    assert [*map(str, found(folder))] == [
        f"pp/{name}.yaml:{line}: warning: `equal times` is written 3 times; "
        "name it in `pp/_topic.yaml`"
        for name, line in (("other", 15), ("q", 16), ("third", 16))
    ]


def test_a_condition_with_a_name_is_short_too(folder: Path):
    topic = folder / "pp" / "_topic.yaml"
    topic.write_text(topic.read_text() + f"assume: {{equal: {{zh: 等时, en: {'so ' * 16}}}}}\n")
    assert "pp/_topic.yaml:1: error: `assume.equal`: en: 16 words" in found(folder)[0]


BRIEF = GOOD.replace("level: 1", "level: 1\ncore: true").replace(
    "say: {zh: 这样说, en: say this}",
    f"say: {{zh: {'说' * 80}, en: {'say ' * 50}}}",
)


def test_a_brief_core_question_has_nothing_wrong(folder: Path):
    (folder / "pp" / "q.yaml").write_text(BRIEF)
    assert found(folder) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("en: What about `KV`", f"en: What about `KV` {'so ' * 76}", "asked, en: 83 words with"),
        ("zh: 用 `KV` 问什么", f"zh: 用 `KV` {'问' * 150}", "asked, zh: 1"),
        ("en: wrong one", f"en: wrong one {'so ' * 76}", "asked, en: 83 words"),
        ("en: explained", f"en: {'so ' * 81}", "en: 81 words; the core has 80 at most"),
        ("zh: 讲解", f"zh: {'讲' * 151}", "zh: 151 words; the core has 150 at most"),
        ("say say ", "say ", "said, en: 25 words; 20 to 40 seconds are 40 to 105"),
        ("sources: [a paper]\n", "", "has no claim; the core gives it one, or a source"),
        ("    correct: true", "    correct: true\n    claim: x > 1", "has a claim but no `shows`"),
    ],
)
def test_what_keeps_a_core_question_from_being_asked(folder: Path, old: str, new: str, said: str):
    path = folder / "pp" / "q.yaml"
    assert old in BRIEF
    path.write_text(BRIEF.replace(old, new))
    problems = found(folder)
    assert any(": error: " in each and said in each for each in problems), problems
    # The rest of the bank is not held to it.
    path.write_text(BRIEF.replace(old, new).replace("core: true", "core: false"))
    assert not any(said in each for each in found(folder))


def test_code_and_formulas_are_looked_at_not_read(folder: Path):
    fence = f"    ```\n    {'so ' * 200}\n    ```\n"
    code = f"prompt:\n  zh: |\n    问\n{fence}  en: |\n    ask\n{fence}"
    asked = BRIEF.replace("prompt: {zh: 用 `KV` 问什么, en: What about `KV`}\n", code).replace(
        "zh: 讲解, en: explained", f"zh: 讲解 ${'x + ' * 200}$, en: explained ${'x + ' * 200}$"
    )
    (folder / "pp" / "q.yaml").write_text(asked)
    assert found(folder) == []


def test_a_core_number_says_its_draw(folder: Path):
    number = NUMERIC.replace("[2, 3, 4]", "[3, 4]").replace("level: 2", "level: 2\ncore: true")
    spoken = f"say: {{zh: '{'说' * 80}', en: '{'say ' * 50}'}}"
    path = folder / "pp" / "n.yaml"
    path.write_text(number.replace("say: {zh: 这样说, en: say this}", spoken))
    assert any("says no number of this draw" in each for each in found(folder))
    drawn = spoken.replace("说说", "{answer}", 1).replace("say say", "{answer}", 1)
    path.write_text(number.replace("say: {zh: 这样说, en: say this}", drawn))
    assert found(folder) == []


def test_few_of_the_core_ask_what_to_think_of_a_claim(folder: Path):
    claim = BRIEF.replace("What about", "An interview note says so of").replace(
        "用 ", "一份面试笔记说到 "
    )
    for index in range(11):
        (folder / "pp" / f"core-{index}.yaml").write_text(BRIEF if index > 1 else claim)
    assert [each for each in found(folder) if "quote a claim" in each] == [
        f":1: warning: 2 of 11 core questions quote a claim ({lang}),"
        " one in ten at most: pp/core-0, pp/core-1"
        for lang in ("zh", "en")
    ]
    (folder / "pp" / "core-1.yaml").write_text(BRIEF)
    assert not [each for each in found(folder) if "quote a claim" in each]
