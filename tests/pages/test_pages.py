"""The generated pages are those of today, and what they say of keys and demos is whole."""

from pathlib import Path

import pages
import pytest

from quizkit.lab.catalogue import catalogue, names
from quizkit.paths import DEMOS
from quizkit.ui.terminal.keymap import KEYMAP, explained
from quizkit.words import Lang

LANGS: tuple[Lang, Lang] = ("en", "zh")


@pytest.mark.parametrize("path", pages.PAGES, ids=lambda path: path.name)
def test_a_page_is_what_it_would_be_today(path: Path):
    assert path.read_text(encoding="utf-8") == pages.PAGES[path](), (
        f"{path.name} is out of date: python tests/pages/pages.py"
    )


@pytest.mark.parametrize("lang", LANGS)
def test_the_page_of_keys_has_every_key_once_and_says_when(lang: Lang):
    english, chinese = pages.keys_page().split("## 中文")
    rows = {"en": english, "zh": chinese}[lang].split("---")[-1].splitlines()[1:]
    cells = [row.strip("| ").split(" | ") for row in rows if row.startswith("|")]
    for binding in KEYMAP:
        shown = {f"`{each.format(last='9')}`" for each in (binding.shown, binding.line)}
        named = [r for r in cells if r[-1] == binding.explanation(lang) and shown & {*r[1:-1]}]
        named = [r for r in named if bool(r[1].strip()) == bool(binding.keys)]
        assert len(named) == 1, binding
        assert binding.chord.startswith("c-") == ("Ctrl-" in named[0][2])
    for state in ("pick", "type"):  # what ? lists there, the terminal's own keys included
        assert {does for _, does in explained(state, lang)} <= {row[-1] for row in cells}
    pressed = [(row[0], row[1]) for row in cells if row[1].strip()]
    assert len(pressed) == len({*pressed})  # one key means one thing in one state


def test_the_index_names_every_demo_and_five_to_read_first():
    text = pages.index_page()
    for demo in catalogue().values():
        times = 1 + (demo.name in pages.FIRST)
        assert text.count(f"[{demo.name}]({demo.path.name})") == times, demo.name
        assert (DEMOS / demo.path.name).is_file()
    assert len({*pages.FIRST} & {*names()}) == 5
