"""Read what a demo says of itself, in the learner's language.

English is the demo's own: its docstring, and the comments beside the options. Chinese stands in
`zh/<file>.yaml` in the demos' folder: `law`, `trick`, and under `options`, `watch`, `checks`,
`breaks`, `pictures` and `endings` a line for each name. What is put together in the run (a check's
name, a label, or the ending: why a setting cannot run) has `{}` where the run puts something in.
How the bench tells an ending, and what pictures of several demos say, stands in `zh/_bench.yaml`.
What has no Chinese stays English: a demo of the user's own needs no file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, cast

from quizkit.bank.nodes import compose
from quizkit.errors import LabError
from quizkit.lab.catalogue import Demo
from quizkit.paths import DEMOS
from quizkit.words import Lang


@dataclass(frozen=True, slots=True)
class DemoWords:
    """The words of one demo: two texts, and a line for each of its names."""

    law: str = ""
    trick: str = ""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    watch: Mapping[str, str] = field(default_factory=dict[str, str])
    checks: Mapping[str, str] = field(default_factory=dict[str, str])
    breaks: Mapping[str, str] = field(default_factory=dict[str, str])
    pictures: Mapping[str, str] = field(default_factory=dict[str, str])
    endings: Mapping[str, str] = field(default_factory=dict[str, str])

    def check(self, name: str) -> str:
        """Return a check's name in words; the name itself where there are no others."""
        return _told(self.checks, name)

    def picture(self, text: str) -> str:
        """Return a picture's title, label or unit in words; itself where there are no others."""
        return _told(self.pictures, text)

    def ending(self, message: str) -> str:
        """Say why a run did not finish, line by line; a traceback stays as it is."""
        return "\n".join(_told(self.endings, line) for line in message.split("\n"))


def demo_words(demo: Demo, lang: Lang) -> DemoWords:
    """Read a demo's words. Raises LabError, with file and line, where they cannot be read."""
    own = DemoWords(
        demo.law,
        demo.trick,
        {name: each.text for name, each in demo.parameters.items()},
        {name: each.line for name, each in demo.watch.items()},
        breaks={name: each.source for name, each in demo.breaks.items()},
    )
    file = demo.path.parent / lang / f"{demo.path.stem}.yaml"
    if lang == "en":
        return own
    bench = _read(DEMOS / lang / "_bench.yaml")
    told = _read(file) if file.is_file() else DemoWords()
    return DemoWords(
        told.law or own.law,
        told.trick or own.trick,
        {**own.options, **told.options},
        {**own.watch, **told.watch},
        told.checks,
        {**own.breaks, **told.breaks},
        {**bench.pictures, **told.pictures},
        {**told.endings, **bench.endings},
    )


def _told(names: Mapping[str, str], text: str) -> str:
    """A text in other words, and so what was put into it; itself where there are no others."""
    if text in names:
        return names[text]
    for pattern, words in names.items():
        if "{" in pattern and (found := _pattern(pattern).fullmatch(text)):
            return words.format(*(_told(names, part) for part in found.groups()))
    return text


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(re.escape(part) for part in name.split("{}")))


@cache
def _read(file: Path) -> DemoWords:
    def wrong(line: int, reason: str) -> NoReturn:
        raise LabError("demo_file", file=file, line=line, reason=reason)

    root = compose(file, wrong)
    assert root is not None  # or it would have been told
    given: dict[str, Any] = {}
    texts = {each.name for each in fields(DemoWords)}
    for key, value in root.value:
        line = cast(int, key.start_mark.line) + 1
        if key.value not in texts:
            wrong(line, f"unknown key `{key.value}`; known are {', '.join(sorted(texts))}")
        wanted = str if key.value in ("law", "trick") else dict
        given[key.value] = _plain(value)
        if not isinstance(given[key.value], wanted):
            wrong(line, f"`{key.value}` must be {'text' if wanted is str else 'a line each name'}")
    return DemoWords(**given)


def _plain(node: Any) -> object:
    """Text as text; `name: text` lines as a dictionary; None for anything else."""
    if isinstance(node.value, str):
        return node.value.strip()
    pairs = [(key.value, _plain(value)) for key, value in node.value if isinstance(key.value, str)]
    return dict(pairs) if all(isinstance(value, str) for _, value in pairs) else None
