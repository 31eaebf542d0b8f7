"""Each mistake names its line and its remedy; what is right is read as it was written."""

import os
from pathlib import Path
from textwrap import dedent

import pytest

from quizkit.bank.model import Choice, Cloze, Numeric, Order, Problem, Question, Trace
from quizkit.bank.reader import Bank, read
from quizkit.errors import BankError

CHOICE = """\
kind: choice
level: 1
tags: [on, no, 12:30, 010]
prompt:
  zh: |
    几个 `KV` 块？
  en: How many `KV` blocks?
options:
  - text: "2"
    correct: true
  - text: {zh: 四个, en: four}
    why: same in both
    myth: all-gather
explain: yes
"""


def load(
    folder: Path, text: str, name: str = "cp/blocks.yaml"
) -> tuple[Question | None, list[str]]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    problems: list[Problem] = []
    question = read(folder, path, problems)
    return question, [str(problem) for problem in problems]


def test_text_stays_what_was_written(tmp_path: Path):
    question, problems = load(tmp_path, CHOICE)
    assert problems == []
    assert isinstance(question, Choice)
    assert (question.id, question.topic, question.kind) == ("cp/blocks", "cp", "choice")
    assert question.tags == ("on", "no", "12:30", "010")
    assert question.prompt["zh"] == "几个 `KV` 块？"
    assert question.options[0].text["zh"] == question.options[0].text["en"] == "2"
    assert question.options[1].myth == "all-gather"
    assert question.explain["en"] == "yes"
    assert (question.line("options.1.myth"), question.line("options.0.nothing")) == (13, 9)
    assert len(question.digest) == 12


NUMERIC = """\
kind: numeric
level: 2
prompt: "{p} stages, {m} micro-batches"
params: {p: [2, 3, 4], m: [1, 2.5]}
where: m >= p
answer: (p - 1) / (m + p - 1)
unit: "%"
within: 1e-3
traps:
  - formula: (p - 1) / m
    forgot: the p - 1
explain: x
followups:
  - {if: wrong, ask: pp/other}
proof:
  demo: pipeline
  ranks: =p
  args: {microbatches: =m, zigzag: true, name: "true", cost: 1e3}
  at: [{p: 4, m: 8}]
  break: no-cooldown
  claims:
    - isclose(bubble, answer)
"""


def test_numbers_formulas_and_arguments(tmp_path: Path):
    question, problems = load(tmp_path, NUMERIC)
    assert problems == []
    assert isinstance(question, Numeric)
    assert question.params == {"p": (2, 3, 4), "m": (1, 2.5)}
    assert question.within == 0.001
    assert question.answer.number({"p": 4, "m": 8}) == 3 / 11
    proof = question.proof
    assert proof is not None
    assert proof.broken == "no-cooldown"
    assert str(proof.ranks) == "p"
    assert {k: v for k, v in proof.args.items() if k != "microbatches"} == {
        "zigzag": True,
        "name": "true",
        "cost": 1000.0,
    }
    assert str(proof.args["microbatches"]) == "m"
    assert question.followups[0].when == "wrong"


def test_the_other_kinds(tmp_path: Path):
    order, problems = load(
        tmp_path,
        "kind: order\nlevel: 1\nprompt: p\nexplain: e\n"
        "steps: [{id: a, text: A}, {id: b, text: B}]\nafter: {b: [a]}\n",
        "pp/order.yaml",
    )
    assert isinstance(order, Order)
    assert order.after == {"b": ("a",)}
    cloze, more = load(
        tmp_path,
        "kind: cloze\nlevel: 1\nprompt: p\nexplain: e\n"
        "text: {zh: '[[g1]] 条', en: 'sends [[g1]]'}\n"
        "gaps: {g1: {answer: '6', also: [six], value: 2 * (ranks - 1)}}\n",
        "pp/cloze.yaml",
    )
    assert isinstance(cloze, Cloze)
    assert cloze.gaps["g1"].also == ("six",)
    trace, most = load(
        tmp_path,
        "kind: trace\nlevel: 1\nprompt: p\nexplain: e\nfunction: f\nanswer: [4, 3]\n"
        "proof: {demo: d, claims: [answer == peak]}\n",
        "pp/trace.yaml",
    )
    assert isinstance(trace, Trace)
    assert trace.answer == (4, 3)
    assert problems + more + most == []


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


MISTAKES = [
    ("level: 1", "level: 010", "blocks.yaml:2: error: `level` is '010', needs a whole number"),
    ("level: 1", "level: 6", ":2: error: level 6: levels are 1 to 5"),
    ("level: 1", "", "key `level` is missing"),
    ("correct: true", "correct: yes", ":10: error: `options.0.correct` is 'yes', needs true or"),
    ("correct: true", "correct: false", ":8: error: no option is `correct: true`"),
    ("myth:", "mith:", ":13: error: unknown key `mith`; did you mean `myth`?"),
    ("kind: choice", "kind: choise", ":1: error: unknown kind `choise`; did you mean `choice`?"),
    ("kind: choice", "", ":2: error: key `kind` is missing"),
    ("kind: choice", "kind: [choice]", ":1: error: key `kind` is missing"),
    ("level: 1", "level: 1\nlevel: 2", ":3: error: key `level` is already on line 2"),
    ("explain: yes", "explain: 见 #3", ":14: error: the text is cut at ` #`"),
    ("explain: yes", 'explain: "$\\frac{1}{2}$"', ":14: error: control character '\\x0c'"),
    ("explain: yes", 'explain: "a\\tb"', ":14: error: `\\t` inside"),
    ("explain: yes", "explain: !!python/object:os.x {}", ":14: error: YAML tags"),
    ("explain: yes", "explain：yes", ":15: error: not YAML: "),
    ("explain: yes", "explain：a: yes", ":14: error: full-width colon in key"),
    ("explain: yes", "explain: {zh: a}", ":14: error: `explain` has no `en`"),
    ("explain: yes", "explain: {zh: a, en: b, fr: c}", ":14: error: `explain` has `fr`"),
    ("explain: yes", "explain: {zh: a, en: }", ":14: error: `explain.en` is empty"),
    ("explain: yes", "explain: [a]", ":14: error: `explain`"),
    ("explain: yes", "explain: yes\n? [a]\n: b", ":15: error: a key must be a word"),
    ("tags: [on, no, 12:30, 010]", "tags: on", ":3: error: `tags` needs a list"),
    ("prompt:\n", "prompt: &p\n", None),
    ("explain: yes", "explain: @x", ":14: error: not YAML: "),
    ("explain: yes", "explain: a: b", ":14: error: not YAML: "),
    ("explain: yes", "explain: \x07", "not YAML: "),
    ("four}", "2}", ":11: error: option `2` is there twice"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_names_its_line_and_remedy(
    tmp_path: Path, old: str, new: str, message: str | None
):
    question, problems = load(tmp_path, changed(CHOICE, old, new))
    if message is None:
        assert question is not None
        return
    assert question is None
    assert any(message in problem for problem in problems), problems


NUMERIC_MISTAKES = [
    ("answer: (p - 1)", "answer: (q - 1)", ":6: error: `q` is not among `params`"),
    ("answer: (p - 1)", "answer: import os; (p - 1)", ":6: error: `import os; "),
    ("isclose(bubble", "is_close(bubble", ":22: error: unknown function `is_close`; did you"),
    ("if: wrong", "if: wrongly", ":14: error: unknown `followups.0.if` `wrongly`; did you mean"),
    ("m: [1, 2.5]", "m: [1, two]", ":4: error: `params.m.1` needs a number"),
    ("m: [1, 2.5]", "m: []", ":4: error: `m` has no values"),
    ("ranks: =p", "ranks: p", ":17: error: `proof.ranks` needs a number or =formula"),
    ("within: 1e-3", "within: -1", ":8: error: a tolerance is not negative"),
    ("within: 1e-3", "within: 0.5", ":8: error: forgives 0.5; 0.02 at most"),
    ("demo: pipeline", "demo: [a]", ":16: error: `proof.demo` needs one value"),
]


@pytest.mark.parametrize(("old", "new", "message"), NUMERIC_MISTAKES)
def test_a_mistake_in_a_number(tmp_path: Path, old: str, new: str, message: str):
    question, problems = load(tmp_path, changed(NUMERIC, old, new))
    assert question is None
    assert any(message in problem for problem in problems), problems


def test_an_answer_that_nearly_anything_is_right_for(tmp_path: Path):
    head = "level: 1\nprompt: p\nexplain: e\n"
    order = "kind: order\nsteps: [{id: a, text: A}, {id: b, text: B}]\nafter: {b: []}\n"
    _, problems = load(tmp_path, order + head, "pp/order.yaml")
    assert any("leaves every order right" in each for each in problems), problems
    trace = "kind: trace\nfunction: f\nanswer: 4\nwithin: 0.9\nproof: {demo: d}\n"
    _, problems = load(tmp_path, trace + head, "pp/trace.yaml")
    assert any("forgives 0.9; 0.02 at most" in each for each in problems), problems


def test_all_mistakes_of_a_file_come_at_once(tmp_path: Path):
    text = changed(CHOICE, "level: 1", "level: one")
    _, problems = load(tmp_path, changed(text, "myth:", "mith:"))
    assert len(problems) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("- a\n- b\n", "must be `key: value` lines"),
        ("a: " + "[" * 50_000, "nested too deeply"),
        ("a: " + "[" * 50_000 + "]" * 50_000, "nested too deeply"),
        ("- " * 50_000, "nested too deeply"),
        ("\n".join(" " * i + "a:" for i in range(300)), "nested too deeply"),
        ("a: " + "x" * 300_000, "larger than 256 KiB"),
        ("kind: choice\nx: &x [1]\ny: *x\n", ":2: error: YAML aliases"),
        ("kind: choice\n<<: {level: 1}\n", "unknown key `<<`"),
    ],
)
def test_hostile_files(tmp_path: Path, text: str, message: str):
    question, problems = load(tmp_path, text)
    assert question is None
    assert any(message in problem for problem in problems), problems


def test_bytes_that_are_not_text(tmp_path: Path):
    path = tmp_path / "cp" / "x.yaml"
    path.parent.mkdir()
    path.write_bytes("kind: 选择".encode("gbk"))
    problems: list[Problem] = []
    assert read(tmp_path, path, problems) is None
    assert "not UTF-8" in problems[0].message


def test_one_bad_file_never_takes_the_rest_down(tmp_path: Path):
    load(tmp_path, CHOICE)
    load(tmp_path, "kind: nonsense\n", "cp/bad.yaml")
    load(tmp_path, dedent(CHOICE), "pp/other.yaml")
    (tmp_path / "cp" / "_topic.yaml").write_text("title: CP\nintro: words\nneeds: [comm]\n")
    (tmp_path / "mocks").mkdir()
    (tmp_path / "mocks" / "x.yaml").write_text("a: b")
    bank = Bank.load(tmp_path)
    assert [*bank.questions] == ["cp/blocks", "pp/other"]
    assert bank.topics["cp"].needs == ("comm",)
    assert [(p.file, p.severity) for p in bank.problems] == [
        ("cp/bad.yaml", "error"),
        ("pp/_topic.yaml", "warning"),
    ]
    assert [*Bank.load(tmp_path, {"pp"}).questions] == ["pp/other"]


@pytest.mark.parametrize("level", ["[ #]\n", '["]",\n', "{a: #}\n"])
def test_brackets_in_comments_and_quotes_do_not_hide_how_deep_a_file_is(tmp_path: Path, level: str):
    _, problems = load(tmp_path, "kind: " + level * 20_000)
    assert problems == ["cp/blocks.yaml:1: error: nested too deeply to be a question"]


def test_many_brackets_side_by_side_are_not_deep(tmp_path: Path):
    tags = ", ".join(["[a]"] * 200)
    _, problems = load(tmp_path, CHOICE.replace("[on, no, 12:30, 010]", f"[{tags}]"))
    assert "nested" not in problems[0]


@pytest.mark.parametrize("number", ["9" * 5000, "1e999", "-1e999", "1" + "0" * 400])
def test_a_number_too_large_for_arithmetic_has_a_line(tmp_path: Path, number: str):
    _, problems = load(tmp_path, NUMERIC.replace("2.5", number))
    assert len(problems) == 1
    assert problems[0].startswith("cp/blocks.yaml:4: error: `params.m.1` is too large a number")


def test_a_level_too_long_to_be_a_number_has_a_line(tmp_path: Path):
    _, problems = load(tmp_path, CHOICE.replace("level: 1", "level: " + "9" * 5000))
    assert problems[0].startswith("cp/blocks.yaml:2: error: `level` is too large a number")


def test_what_is_no_file_is_not_waited_for(tmp_path: Path):
    (tmp_path / "cp").mkdir()
    os.mkfifo(tmp_path / "cp" / "blocks.yaml")
    problems: list[Problem] = []
    assert read(tmp_path, tmp_path / "cp" / "blocks.yaml", problems) is None
    assert [str(each) for each in problems] == ["cp/blocks.yaml:1: error: is no file"]


def test_a_folder_that_is_not_there_is_no_empty_bank(tmp_path: Path):
    with pytest.raises(BankError, match="No such file"):
        Bank.load(tmp_path / "typo")
    (tmp_path / "file").touch()
    with pytest.raises(BankError, match="Not a directory"):
        Bank.load(tmp_path / "file")
