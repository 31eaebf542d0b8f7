"""Every sentence the interface says, in both languages: one module per room, one dict each."""

from collections.abc import Iterable
from importlib import import_module
from typing import Literal

Lang = Literal["zh", "en"]
Words = dict[str, dict[Lang, str]]


def say(key: str, lang: Lang, **values: object) -> str:
    """The sentence `room.name` in the language, with its `{placeholders}` filled in."""
    room, name = key.split(".", 1)
    # Rooms are loaded when they first speak: the study session never pays for the author's words.
    words: Words = import_module(f"quizkit.words.{room}").WORDS
    return words[name][lang].format(**values)


def listed(words: Iterable[str], lang: Lang) -> str:
    """Words one after the other, parted as the language parts them."""
    return ("、" if lang == "zh" else ", ").join(words)


def other(lang: Lang) -> Lang:
    """The language that is not this one."""
    return "en" if lang == "zh" else "zh"
