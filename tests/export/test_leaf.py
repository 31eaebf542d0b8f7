"""Both sides of a card: what is asked, and the answer that belongs to it."""

import re
from html import escape, unescape
from pathlib import Path

import pytest

from quizkit.bank.model import Choice, Order, Question
from quizkit.bank.reader import Bank, read
from quizkit.cli.kept import kept_views
from quizkit.errors import UsageError
from quizkit.export.leaf import leaf
from quizkit.export.web import html, mathjax, typed
from quizkit.paths import QUESTIONS

SHELF = Path(__file__).parents[1] / "ui" / "shelf"


@pytest.fixture(scope="module")
def shelf() -> dict[str, Question]:
    return {each.id.split("/")[1]: each for each in Bank.load(SHELF).questions.values()}


def shipped(name: str) -> Question:
    question = read(QUESTIONS, QUESTIONS / f"{name}.yaml", [])
    assert question is not None
    return question


@pytest.mark.parametrize("name", ["single", "several"])
def test_the_numbers_of_the_answer_are_those_of_the_front(shelf: dict[str, Question], name: str):
    question = shelf[name]
    assert isinstance(question, Choice)
    for lang in ("zh", "en"):
        side = leaf(question, lang)
        shown = dict(re.findall(r"^(\d)\. (.*)$", side.front, re.MULTILINE))
        said = re.search(r"^\*\*\w+\*\* (.*)$", side.back, re.MULTILINE)
        assert said is not None
        right = {shown[number] for number in said[1].split(", ")}
        assert right == {each.text[lang].strip() for each in question.options if each.correct}


def test_steps_are_not_shown_in_the_right_order(shelf: dict[str, Question]):
    question = shelf["order"]
    assert isinstance(question, Order)
    side = leaf(question, "en")
    steps = [f"{n}. {step.text.en}" for n, step in enumerate(question.steps, 1)]
    assert "\n".join(steps) in side.back
    assert "\n".join(steps) not in side.front


def test_a_drawn_number_says_so(shelf: dict[str, Question]):
    side = leaf(shipped("pp/bubble-share"), "en")
    found = re.search(r"(\d+) stages, (\d+) micro-batches", side.front)
    assert found is not None
    p, m = map(int, found.groups())
    assert "one fixed draw" in side.front
    assert f"**Answer** `{(p - 1) / (m + p - 1):.6g}" in side.back
    assert "fixed draw" not in leaf(shelf["number"], "en").front  # it has but one


def test_gaps_and_code_are_numbered(shelf: dict[str, Question]):
    assert "ZeRO-1 shards [1 ____]; ZeRO-2 also [2 ____]." in leaf(shelf["cloze"], "en").front
    assert "[1] optimizer states · [2] gradients" in leaf(shelf["cloze"], "en").back
    assert "```text\n  1  def merge(" in leaf(shelf["trace"], "en").front
    bug = leaf(shipped("attention/bounds-at-eos"), "en")
    line = "  2      ends = (token == EOS).nonzero().flatten()"
    assert f"\n{line}\n" in bug.front
    assert f"```text\n{line}\n```" in bug.back


def test_code_whose_output_is_asked_is_the_code_that_was_run():
    question = shipped("debug/isnan-or-isfinite")
    assert question.proof is not None
    assert question.proof.broken == "only-nan"
    assert "return torch.isnan(tensor).any().item()" in leaf(question, "en").front
    assert "return not torch.isfinite" not in leaf(question, "en").front


def test_what_cannot_be_shown_says_why(shelf: dict[str, Question]):
    with pytest.raises(UsageError):
        leaf(shelf["bug"], "en")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("a < b & `x<y>`", "<p>a &lt; b &amp; <code>x&lt;y&gt;</code></p>"),
        ("**先说口径。**再算 my_own_name", "<p><b>先说口径。</b>再算 my_own_name</p>"),
        ("占 $\\frac{p-1}{m} < 1$ 吗", "<p>占 \\(\\frac{p-1}{m} &lt; 1\\) 吗</p>"),
        ("一行\n两行", "<p>一行两行</p>"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("- a\n  - b", "<ul><li>a<ul><li>b</li></ul></li></ul>"),
        ("```py\nx < 1\n```", "<pre><code>x &lt; 1</code></pre>"),
    ],
)
def test_prose_as_html(source: str, wanted: str):
    assert re.sub(r"\n", "", html(source, mathjax)) == wanted


@pytest.mark.parametrize(
    "source",
    [
        "[here](javascript:alert`1`)",
        "[here](JavaScript:alert`1`)",
        "[here](data:text/html,<script>alert(1)</script>)",
        "[here](vbscript:x)",
        "[here](//evil.example)",
        "[here](\u0001javascript:x)",
        "<a href='javascript:x'>here</a>",
    ],
)
def test_a_link_leads_to_the_web_or_nowhere(source: str):
    for formula in (mathjax, typed):
        made = html(source, formula)
        assert "here" in made
        assert "<a " not in made
        assert "href=" not in made or "&lt;a" in made


def test_a_link_to_the_web_stays_one():
    for url in ("https://example.org/a?b=1&c=2", "HTTP://example.org"):
        assert f'<a href="{escape(url)}">here</a>' in html(f"[here]({url})", mathjax)


@pytest.mark.parametrize(
    "source",
    [
        r"$\href{javascript:alert(1)}{x}$",
        r"$$\href{javascript:alert(1)}{x}$$",
        r"$a \\\href{javascript:alert(1)}{x}$",
        r"$\let\x\href \x{javascript:alert(1)}{y}$",
        r"$\def\x{1}\require{html}\cssId{answer}{x}\class{y}{z}\style{a}{b}$",
        r"\\(\href{javascript:alert(1)}{x}\\)",
        r"\\\[\href{javascript:alert(1)}{x}\\\]",
        r"\(\href{javascript:alert(1)}{x}\)",
    ],
)
def test_a_formula_makes_no_link_and_no_name(source: str):
    made = unescape(html(source, mathjax))
    # What MathJax takes for formulas, and the commands it finds there.
    found = re.findall(r"\\\((.*?)\\\)|\\\[(.*?)\\\]", made, re.DOTALL)
    commands = [word for parts in found for word in re.findall(r"\\([A-Za-z]+|.)", "".join(parts))]
    assert {*commands} <= {"\\", "text", "x"}, made
    assert "href" in made or "cssId" in made  # it is shown all the same


def test_an_ordinary_formula_stays_as_it_is():
    formula = r"\frac{a}{b} \\ \begin{matrix} 1 & 2 \end{matrix} \left(x\right)"
    assert rf"\({escape(formula)}\)" in html(f"${formula}$", mathjax)


@pytest.mark.parametrize("tag", ["[latex]", "[$]", "[$$]", "[sound:x.mp3]", "[anki:tts]"])
@pytest.mark.parametrize("around", ["{}", "`{}`", "```\n{}\n```", r"$x {}$", r"\{}"])
def test_what_anki_would_act_on_is_shown(tag: str, around: str):
    if "$" in around and "$" in tag:
        return
    made = html(around.format(tag), mathjax)
    assert tag not in made
    assert tag in unescape(made)


def test_a_table_and_a_page_without_typesetting():
    made = html("| a | b |\n|---|--:|\n| `x` | $m \\times v$ |", typed)
    assert "<td><code>x</code></td>" in made.replace("\n", "")
    assert "<span>m × v</span>" in made


def test_an_answer_is_worked_through_and_names_no_function():
    back = leaf(shipped("pp/bubble-share"), "en").back
    assert "(makespan − ideal) / makespan = " in back
    for name in ("pp/bubble-share", "comm/ring-bytes", "memory/adam-states"):
        if (QUESTIONS / f"{name}.yaml").is_file():
            assert "quizkit calc" not in leaf(shipped(name), "en").back


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("pp/bubble-share", "rank 0 |F0-"),
        ("dp/who-holds-what", "rank 3  ###"),
        ("attention/windows-for-serving", "from 3 "),
    ],
)
def test_the_picture_of_the_recorded_run_comes_along_as_text(name: str, drawn: str):
    question = shipped(name)
    proof = kept_views()(question)
    back = leaf(question, "en", proof).back
    fenced = re.findall(r"```text\n(.*?)\n```", back, re.DOTALL)
    assert any(drawn in each for each in fenced)
    assert drawn not in leaf(question, "en").back
    # On a card it is text as well: whatever a title says, nothing of it is markup.
    assert escape(drawn, quote=False) in html(back, mathjax)
