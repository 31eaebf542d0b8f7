"""`quizkit demo`, `quizkit demo NAME --help` and `--show`: what there is, without running it."""

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from quizkit.cli.common import language, library
from quizkit.lab.catalogue import Demo, catalogue, find


def print_list(folder: Path | None, json: bool, lang: str | None, plain: bool) -> None:
    """Every demo, with the questions whose answers it proves."""
    spoken = language(lang)
    demos = catalogue(folder)
    if json:
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
            for demo in demos.values()
        ]
        print(dumps({"schema": "quizkit/demos/1", "demos": rows}, ensure_ascii=False))
        return
    from quizkit.ui.screens.demo_page import table
    from quizkit.ui.terminal.console import console, is_plain

    screen = console(is_plain(plain))
    with library([]) as shelves:
        proved = Counter(each.demo for each in shelves.entries())
    screen.print(table(demos.values(), proved, spoken, screen.width, is_plain(plain)))


def print_page(name: str, folder: Path | None, lang: str | None, plain: bool) -> None:
    """Everything one demo says of itself."""
    from quizkit.ui.screens.demo_page import page
    from quizkit.ui.terminal.console import console, is_plain

    console(is_plain(plain)).print(page(find(name, folder), language(lang), is_plain(plain)))


def print_source(
    name: str, folder: Path | None, broken: str | None, plain: bool, as_json: bool
) -> None:
    """The file, or what of it runs with a bug planted; as it is where nobody looks on."""
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
