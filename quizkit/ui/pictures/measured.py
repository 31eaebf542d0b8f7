"""The pictures a report brings: one way in for the terminal, for prose and for files."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from html import escape
from typing import Any

from rich.text import Text

from quizkit.lab.picture import Curve, Messages, Picture, Staircase, Tiles
from quizkit.ui.pictures import curve, messages, staircase, tiles
from quizkit.words import Lang, say

_AS_THEY_ARE = ("kind",)


def draw(picture: Picture, width: int, plain: bool, lang: Lang) -> Iterator[Text]:
    """Draw a picture under its title, no line wider than `width`; plain: one sentence instead."""
    if plain:
        yield Text(f"\n{sentence(picture, lang)}")
        return
    yield Text(f"\n{headline(picture, lang)}", style="bold")
    match picture:
        case Staircase():
            yield from staircase.lines(picture, width, lang)
        case Messages():
            yield from messages.lines(picture, width, lang)
        case Tiles():
            yield from tiles.lines(picture, width, lang)
        case Curve():
            yield from curve.lines(picture, width, lang)


def sentence(picture: Picture, lang: Lang) -> str:
    """Say a picture in one sentence, with the numbers that matter, for who does not see it."""
    match picture:
        case Staircase():
            return staircase.sentence(picture, lang)
        case Messages():
            return messages.sentence(picture, lang)
        case Tiles():
            return tiles.sentence(picture, lang)
        case Curve():
            return curve.sentence(picture, lang)


def headline(picture: Picture, lang: Lang) -> str:
    """Return a picture's title, and in what it is counted."""
    if isinstance(picture, Staircase | Messages):
        return say("lab.picture_title", lang, title=picture.title, unit=picture.unit)
    return picture.title


def shapes(picture: Picture, left: int, top: int, lang: Lang) -> tuple[str, int]:
    """Draw the picture as part of an SVG, its title first; return it and how high it is."""
    title = escape(headline(picture, lang))
    head = f'<text x="{left}" y="{top + 18}" font-weight="bold">{title}</text>'
    match picture:
        case Staircase():
            body, high = staircase.shapes(picture, left, top + 30, lang)
        case Messages():
            body, high = messages.shapes(picture, left, top + 30, lang)
        case Tiles():
            body, high = tiles.shapes(picture, left, top + 30)
        case Curve():
            body, high = curve.shapes(picture, left, top + 30)
    return head + body, high + 40


def in_words(picture: Picture, told: Callable[[str], str]) -> Picture:
    """Return the picture with every text of it in other words."""
    return _told(picture, told)


def _told(value: Any, told: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return told(value)
    if isinstance(value, tuple):
        return tuple(_told(each, told) for each in value)  # pyright: ignore[reportUnknownVariableType]
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value) if each.name not in _AS_THEY_ARE]
        return replace(value, **{name: _told(getattr(value, name), told) for name in names})
    return value
