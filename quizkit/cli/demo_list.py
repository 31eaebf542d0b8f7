"""`quizkit demo`, `quizkit demo NAME --help` and `--show`: what there is, without running it."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from quizkit.cli.common import language, library
from quizkit.lab.catalogue import FIRST, Demo, catalogue, find, in_topics
from quizkit.words import Lang


def print_list(
    folder: Path | None, topics: Sequence[str], json: bool, lang: str | None, plain: bool
) -> None:
    """Print the demos of some topics, or of all: a line each; as JSON with what they prove."""
    spoken = language(lang)
    demos = catalogue(folder)
    shelves = in_topics(demos.values(), _wanted(demos, topics))
    if _browses(json, plain):
        from quizkit.cli.demo_browser import open_browser

        open_browser(folder, shelves, spoken)
        return
    if json:
        _print_json({each.name: each for some in shelves.values() for each in some})
        return
    from quizkit.ui.screens.demo_page import by_topic
    from quizkit.ui.terminal.console import console, is_plain

    screen = console(is_plain(plain))
    screen.print(by_topic(shelves, titles(spoken), spoken), soft_wrap=not screen.is_terminal)


def _browses(json: bool, plain: bool) -> bool:
    """Tell whether there is a screen to choose on, and nobody wants lines."""
    if json or sys.platform == "win32" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from quizkit.ui.terminal.console import is_plain

    return not is_plain(plain)


def titles(lang: Lang) -> dict[str, str]:
    """Map each topic of the bank to its title."""
    with library([], thorough=False) as shelves:
        return {slug: each.title[lang] for slug, each in shelves.topics().items()}


def _wanted(demos: Mapping[str, Demo], topics: Sequence[str]) -> set[str] | None:
    """The topics asked for, by whatever name, or None for all.

    Raises UsageError for a topic that does not exist, or where none of them has a demo.
    """
    from quizkit.bank.reader import topic_slugs
    from quizkit.cli.aliases import topic_named
    from quizkit.errors import UsageError
    from quizkit.paths import QUESTIONS

    with_demos = {each.topic for each in demos.values()}
    found = {topic_named(each, {*topic_slugs(QUESTIONS)} | with_demos) for each in topics}
    if found and not found & with_demos:
        raise UsageError("demo_topic_empty", name=topics[0], hint=", ".join(sorted(with_demos)))
    return found or None


def _print_json(demos: Mapping[str, Demo]) -> None:
    from json import dumps

    used = _uses(demos)
    rows = [
        {
            "name": demo.name,
            "topic": demo.topic,
            "title": demo.law,
            "breaks": [*demo.breaks],
            "proves": sum(used[demo.name].values()),
            "questions": [*used[demo.name]],
        }
        for _, demo in sorted(demos.items())
    ]
    first = [each for each in FIRST if each in demos]
    print(dumps({"schema": "quizkit/demos/1", "demos": rows, "first": first}, ensure_ascii=False))


def print_page(name: str, folder: Path | None, lang: str | None, plain: bool) -> None:
    """Print everything one demo says of itself."""
    from quizkit.ui.screens.demo_page import page
    from quizkit.ui.terminal.console import console, is_plain

    console(is_plain(plain)).print(page(find(name, folder), language(lang), is_plain(plain)))


def print_source(
    name: str, folder: Path | None, broken: str | None, plain: bool, as_json: bool
) -> None:
    """Print the file, or what of it runs with a bug planted; as it is where nobody looks on."""
    demo = find(name, folder)
    source = demo.planted(broken) if broken else demo.source
    if as_json:
        from json import dumps

        said = {"schema": "quizkit/source/1", "demo": name, "broken": broken, "source": source}
        print(dumps(said, ensure_ascii=False))
        return
    if plain or not sys.stdout.isatty():
        print(source, end="")
        return
    from quizkit.ui.terminal.console import console
    from quizkit.ui.text.code import highlighted

    console().print(highlighted(source), end="")


def _uses(demos: Mapping[str, Demo]) -> dict[str, dict[str, int]]:
    """For each demo, the questions it proves, each with how many statements hang on it."""
    from quizkit.bank.reader import Bank
    from quizkit.paths import QUESTIONS
    from quizkit.proof.judge import statements

    used: dict[str, dict[str, int]] = {name: {} for name in demos}
    for question in Bank.load(QUESTIONS).questions.values():
        if question.proof and question.proof.demo in used:
            used[question.proof.demo][question.id] = sum(1 for _ in statements(question))
    return used
