"""Demos on the screen before anything is run: the list of them, and what one says of itself."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quizkit.lab.catalogue import Demo, Parameter
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.screens.parts import bracketed
from quizkit.ui.screens.report_screen import expected
from quizkit.ui.text.inline import one_line
from quizkit.words import Lang, say

_WIDE = 100  # columns from which on the law stands beside the numbers


def table(
    demos: Iterable[Demo],
    questions: Mapping[str, int],
    lang: Lang,
    width: int,
    plain: bool,
) -> RenderableType:
    """One row a demo: its law, its topic, how many breaks it has and questions it proves."""
    rows = [
        (
            Text(demo.name, "bold"),
            Text(demo.topic),
            Text(str(len(demo.breaks))),
            Text(str(questions[demo.name])),
            Text(demo_words(demo, lang).law),
        )
        for demo in demos
    ]
    titles = [say(f"lab.column_{name}", lang) for name in _COLUMNS]
    if plain or width < _WIDE:
        return Group(*(_stacked(row, titles) for row in rows), Text(say("lab.list_hint", lang)))
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for index, title in enumerate(titles):
        grid.add_column(title, overflow="fold", no_wrap=index < len(titles) - 1)
    for row in rows:
        grid.add_row(*row)
    return Group(grid, Text("\n" + say("lab.list_hint", lang), "dim"))


_COLUMNS = ("demo", "topic", "breaks", "questions", "law")


def _stacked(row: Sequence[Text], titles: Sequence[str]) -> RenderableType:
    name, topic, breaks, questions, line = row
    head = Text.assemble(name, f"  {topic}  ", f"{titles[2]}: {breaks}  {titles[3]}: {questions}")
    return Group(head, Padding(line, (0, 0, 0, 2), expand=False))


def page(demo: Demo, lang: Lang, plain: bool) -> RenderableType:
    """The law, the trick, the options, what a run reports, the bugs that can be planted."""
    words = demo_words(demo, lang)
    parts: list[RenderableType] = [
        Text.assemble((demo.name, "bold"), f"  {demo.topic}"),
        Text(words.law),
        Text(""),
        *_paragraphs(words.trick),
        _title("options", lang),
        _rows(
            [
                (each.usage, _option(words.options[name], each, lang))
                for name, each in demo.parameters.items()
            ],
            plain,
        ),
        _title("watch", lang),
        _rows(
            [
                (
                    f"{name} {say('lab.shared', lang) if watch.shared else ''}".rstrip(),
                    words.watch[name],
                )
                for name, watch in demo.watch.items()
            ],
            plain,
        ),
    ]
    if demo.breaks:
        parts += [
            _title("breaks", lang),
            _rows(
                [
                    (name, _about(expected(each, words, lang), words.breaks[name], lang))
                    for name, each in demo.breaks.items()
                ],
                plain,
            ),
        ]
    parts.append(Text("\n" + say("lab.page_hint", lang, name=demo.name), "dim"))
    return Group(*parts)


def _about(expected: str, source: str, lang: Lang) -> str:
    return say("lab.about_break", lang, expected=expected, source=source) if source else expected


def _option(text: str, option: Parameter, lang: Lang) -> str:
    value = shlex.quote(str(option.default))
    if isinstance(option.default, bool):  # as it would be typed: `--no-causal` says more than False
        value = option.usage.split("/")[0 if option.default else 1]
    given = say("lab.default", lang, value=value)
    return f"{text}{bracketed([given], lang)}" if text else given


def _title(name: str, lang: Lang) -> Text:
    return Text("\n" + say(f"lab.{name}", lang), "bold")


def _rows(rows: Sequence[tuple[str, str]], plain: bool) -> RenderableType:
    """A name and what it is: side by side, or a line each where columns are not wanted."""
    if plain:
        return Text("\n".join(f"  {name}: {text}" for name, text in rows))
    parts: list[RenderableType] = []
    for name, text in rows:
        parts.append(Text(f"  {name}", "bold"))
        parts.append(Padding(Text(text), (0, 0, 0, 6), expand=False))
    return Group(*parts)


def _paragraphs(text: str) -> Iterable[Text]:
    """Prose was broken to fit the file; here it breaks to fit the screen, unless it is a figure."""
    for paragraph in text.split("\n\n"):
        drawn = any(line.startswith(" ") for line in paragraph.split("\n"))
        yield Text((paragraph if drawn else one_line(paragraph)) + "\n")
