"""`learn`: the ideas of every topic, their pictures and the questions after them."""

import json
import os
from pathlib import Path

import pytest
import started
from rich.console import Console

from quizkit.bank.library import Library
from quizkit.bank.lint import lint
from quizkit.bank.reader import Bank, topic_slugs
from quizkit.paths import QUESTIONS, cache_folder
from quizkit.tutor.desk import Page
from quizkit.ui.screens.page import page_screen
from quizkit.words import Lang

IDEA, SCREEN = 8, 22
"""Lines of an idea, and of its page with the picture, at 80 columns; two more are for keys."""


def lines(page: Page) -> int:
    console = Console(width=80, color_system=None)
    with console.capture() as shown:
        console.print(page_screen(page, plain=False))
    return shown.get().rstrip().count("\n") + 1


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("topic", topic_slugs(QUESTIONS))
def test_every_idea_fits_a_screen_and_its_picture_was_recorded(topic: str, lang: Lang):
    from quizkit.cli.learn import _ideas  # pyright: ignore[reportPrivateUsage]

    with Library([QUESTIONS], cache_folder()) as shelves:
        shelf = shelves.topics()[topic]
        pages = _ideas(shelves, shelf, lang)
    assert len(pages) == len(shelf.ideas) >= 4
    for page, idea in zip(pages, shelf.ideas, strict=True):
        bare = Page(page.title, page.text, lang)
        head = lines(Page(page.title, page.title, lang)) - 1
        assert lines(bare) - head <= IDEA, (idea.ask, page.text[lang])
        assert lines(page) <= SCREEN, idea.ask
        assert bool(page.picture) is bool(idea.run), idea.ask
        if page.picture:
            assert page.picture.origin == "recorded"
            # What is named is drawn: caption, headline, a row for each rank, the axis.
            assert lines(page) - lines(bare) >= page.picture.ranks + 3, idea.ask


INTRO = """\
title: {zh: 斑马, en: zebra}
intro:
  zh: |
    一

    二
  en: |
    one

    two
"""


def test_a_bank_without_ideas_is_introduced_first(tmp_path: Path):
    shelf = tmp_path / "bank" / "zebra"
    shelf.mkdir(parents=True)
    (shelf / "_topic.yaml").write_text(INTRO, encoding="utf-8")
    text = (QUESTIONS / "comm" / "which-is-it.yaml").read_text(encoding="utf-8")
    (shelf / "which-is-it.yaml").write_text(text, encoding="utf-8")
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path / "home"), "QUIZKIT_LANG": "en"}
    own = ["--bank", str(tmp_path / "bank")]
    done = started.quizkit("learn", "zebra", "--json", *own, env=env, given="")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [next(iter(each)) for each in said] == ["page", "page", "ask", "end"], done.stderr
    assert said[0]["page"]["text"].startswith("one\n\n1 questions in reading order")
    assert said[1]["page"]["text"] == "two"


def test_a_course_is_the_core_its_ideas_ask_and_all_of_it_on_request(tmp_path: Path):
    shelf = tmp_path / "bank" / "zebra"
    shelf.mkdir(parents=True)
    ideas = "ideas: [{ask: asked}, {ask: early}]\n"
    (shelf / "_topic.yaml").write_text(INTRO + ideas, encoding="utf-8")
    text = (QUESTIONS / "comm" / "two-halves.yaml").read_text(encoding="utf-8")
    text = text.split("followups:")[0].replace("core: true\n", "") + "sources: [a book]\n"
    for name, mark in (("asked", ""), ("early", "core: true\n"), ("late", "")):
        (shelf / f"{name}.yaml").write_text(mark + text, encoding="utf-8")
    env = os.environ | {"QUIZKIT_HOME": str(tmp_path / "home"), "QUIZKIT_LANG": "en"}
    for options, count in ((), 2), (("--all",), 3):
        own = ["--json", "--bank", str(tmp_path / "bank"), *options]
        done = started.quizkit("learn", "zebra", *own, env=env, given="")
        said = [json.loads(line) for line in done.stdout.splitlines()]
        assert said[0]["page"]["text"].startswith(f"one\n\n{count} questions, "), done.stderr


def test_lint_wants_a_paragraph_and_a_question_for_each_idea(tmp_path: Path):
    (tmp_path / "zebra").mkdir()
    file = tmp_path / "zebra" / "_topic.yaml"
    file.write_text(INTRO + "ideas: [{ask: gone}]\n", encoding="utf-8")
    said = [each.message for each in lint(Bank.load(tmp_path), tmp_path)]
    assert "`ideas`: 1 of them, and `intro` needs as many paragraphs" in said
    assert any(each.startswith("`ideas`: ") and "zebra/gone" in each for each in said)
