"""Demos before anything is run: the list of them by topic, and what one says of itself."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from quizkit.lab.catalogue import FIRST, Demo, Parameter
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.screens.parts import bracketed
from quizkit.ui.screens.report_screen import expected
from quizkit.ui.text.inline import one_line
from quizkit.words import Lang, say


def by_topic(
    shelves: Mapping[str, Sequence[Demo]], titles: Mapping[str, str], lang: Lang
) -> RenderableType:
    """List the demos topic by topic, a line each: name and law. Lines are as long as they are."""
    width = max(len(demo.name) for demos in shelves.values() for demo in demos)
    lines: list[Text] = []
    first = [each for each in FIRST if any(d.name == each for ds in shelves.values() for d in ds)]
    if len(shelves) > 1 and first:
        lines += [Text(say("lab.list_first", lang, names=", ".join(first)))]
    for topic, demos in shelves.items():
        lines += [Text(), Text.assemble((topic, "bold"), f"  {titles.get(topic, '')}".rstrip())]
        for demo in demos:
            name = Text(f"  {demo.name:{width}}", "bold")
            lines.append(Text.assemble(name, f"  {demo_words(demo, lang).law}"))
    return Text("\n").join([*lines, Text(), Text(say("lab.list_hint", lang), "dim")])


def page(demo: Demo, lang: Lang, plain: bool) -> RenderableType:
    """Draw the law, the trick, the options, what a run reports, the bugs that can be planted."""
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
