"""Both languages say everything, with the same things filled in."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import quizkit.words
from quizkit.words import Words, say

ROOMS = [path.stem for path in Path(quizkit.words.__file__).parent.glob("*.py")]
# What options are for has its English where they are declared: tests/cli/test_help.py holds it.
ROOMS = [room for room in ROOMS if room not in ("__init__", "options")]
PACKAGE = Path(quizkit.words.__file__).parents[1]


@pytest.mark.parametrize("room", ROOMS)
def test_both_languages_fill_in_the_same(room: str):
    words: Words = import_module(f"quizkit.words.{room}").WORDS
    for key, pair in words.items():
        assert set(pair) == {"zh", "en"}, key
        zh, en = ({*re.findall(r"\{(\w+)[^}]*\}", pair[lang])} for lang in ("zh", "en"))
        assert zh == en, key
        assert not re.search(
            r"[\u4e00-\u9fff]", pair["en"].replace("中文", "").replace("中", "")
        ), key


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_is_written_that_nobody_says(room: str):
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "words"
    )
    words: Words = import_module(f"quizkit.words.{room}").WORDS
    # Some keys are put together (`f"prove.{status}"`): their first half must be spoken somewhere.
    built = {*re.findall(rf"{room}\.(\w*?)\{{", sources)}
    errors = room == "errors"
    for key in words:
        spoken = f"{room}.{key}" in sources or (errors and f'"{key}"' in sources)
        spoken = spoken or any(key.startswith(start) for start in built)
        spoken = spoken or f'"{key}"' in sources
        assert spoken, f"{room}.{key}"


def test_the_words_are_filled_in():
    counts = {"proved": 1, "in_part": 1, "failed": 0, "skipped": 2, "sourced": 3}
    assert say("prove.counts", "en", **counts).startswith("1 proved")
    assert "跳过" not in say("prove.skipped", "zh")
