"""A sum on the screen: what went in, what comes out, and with `explain` how."""

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quizkit.calc.figure import Figure, Value
from quizkit.calc.sheet import Input, Worked, option
from quizkit.calc.sheets import NAMES
from quizkit.ui.pictures.chart import Chart
from quizkit.ui.screens.amount import exact, human
from quizkit.ui.screens.parts import colon
from quizkit.ui.screens.report_screen import pictures
from quizkit.ui.screens.sum_page import default_words, input_words
from quizkit.words import Lang, say
from quizkit.words.figure import WORDS as FIGURES

_WIDE = 80  # columns from which on a label, a number and its digits stand side by side
_UNITS = {"size": "bytes", "rate": "bytes/s", "speed": "FLOP/s"}


def show(
    console: Console,
    worked: Worked,
    charts: Sequence[Chart],
    explain: bool,
    lang: Lang,
    plain: bool,
) -> None:
    """Print the whole screen."""
    for part in _parts(worked, charts, explain, lang, plain, console.width):
        console.print(part)


def _parts(
    worked: Worked,
    charts: Sequence[Chart],
    explain: bool,
    lang: Lang,
    plain: bool,
    width: int,
) -> Iterator[RenderableType]:
    name = worked.sheet.name
    yield Text.assemble((name, "bold"), "  ", say(f"calc.what_{name}", lang))
    yield _title("inputs", lang)
    rows = [_given(worked, each, lang) for each in worked.sheet.inputs if _said(worked, each)]
    yield _rows(rows, lang, plain or width < _WIDE)
    for each in dict.fromkeys(worked.by.values()):
        source = Text(f"{each.name}{colon(lang)}{each.source}", overflow="fold")
        yield Padding(source, (0, 0, 0, 2), expand=False)
    yield _title("results", lang)
    figures = [each for each in worked.sheet.figures if each.name in worked.figures]
    if explain:
        for figure in figures:
            yield from explained(worked, figure, lang, plain)
    else:
        rows = [_result(worked, figure, lang) for figure in figures]
        yield _rows(rows, lang, plain or width < _WIDE)
    yield from pictures(charts, width, lang)


def _title(name: str, lang: Lang) -> Text:
    return Text("\n" + say(f"calc.{name}", lang), "bold")


def _said(worked: Worked, each: Input) -> bool:
    """Tell whether an input says anything: it was given, filled in or has a default."""
    known = each.name in worked.given or each.name in worked.by
    return known or default_words(each, "en") != ""


def _given(worked: Worked, each: Input, lang: Lang) -> tuple[Text, Text, Text]:
    """An input: its option, its value, who says it if nobody here does, and what it is."""
    value = worked.inputs[each.name]
    if isinstance(value, bool):
        shown = say("calc.on" if value else "calc.off", lang)
    elif each.kind == "time":
        shown = exact(value, "", lang)
    else:
        shown = human(value, _UNITS.get(each.kind, ""), lang)
    label = Text(option(each.name), overflow="fold")
    about = input_words(worked.sheet, each, lang)
    by = worked.by.get(each.name)
    if by or each.name not in worked.given:
        whose = by.name if by else say("calc.is_default", lang)
        shown += f"（{whose}）" if lang == "zh" else f" ({whose})"
    style = "bold" if each.name in worked.given else ""
    return label, Text(shown, style, overflow="fold"), Text(about, "dim", overflow="fold")


def _result(worked: Worked, figure: Figure, lang: Lang) -> tuple[Text, Text, Text]:
    """A figure: what it is, its value at a human size, and all its digits."""
    value = worked.figures[figure.name]
    shown, digits = human(value, figure.unit, lang), exact(value, figure.unit, lang)
    label = say(f"figure.{_named(worked.sheet.name, figure.name)}", lang)
    return (
        Text(label, overflow="fold"),
        Text(shown, "bold", overflow="fold"),
        Text("" if digits == shown else digits, "dim", overflow="fold"),
    )


def explained(worked: Worked, figure: Figure, lang: Lang, plain: bool) -> Iterator[RenderableType]:
    """Draw a figure with its formula, the numbers in it, and its source."""
    yield _line(_result(worked, figure, lang), lang)
    taken, filled = figure.taken(worked.values), figure.filled(worked.values)
    lines = [f"{figure.name} = {taken}"]
    result = _bare(worked.figures[figure.name])
    if filled != taken:
        lines.append(f"  = {filled}")
    if filled != result:
        lines.append(f"  = {result}")
    for line in lines:
        yield Padding(Text(line, overflow="fold"), (0, 0, 0, 4), expand=False)
    source = say("calc.source", lang, source=figure.source)
    style = "" if plain else "dim"
    yield Padding(Text(source, style, overflow="fold"), (0, 0, 0 if plain else 1, 4), expand=False)


def _named(sheet: str, figure: str) -> str:
    """A sheet may take a figure of another's, and its words with it."""
    keys = (f"{each}_{figure}" for each in (sheet, *NAMES))
    return next(key for key in keys if key in FIGURES)


def _bare(value: Value) -> str:
    return exact(value, "", "en").replace(",", "") if not isinstance(value, list) else str(value)


def _rows(rows: Sequence[tuple[Text, Text, Text]], lang: Lang, stacked: bool) -> RenderableType:
    """Three columns, or a line each where columns are not wanted."""
    if stacked:
        return Text("\n").join(Text("  ") + _line(row, lang, indent="") for row in rows)
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _line(row: tuple[Text, Text, Text], lang: Lang, indent: str = "  ") -> Text:
    label, value, rest = row
    line = Text(indent, overflow="fold").append_text(label).append(colon(lang)).append_text(value)
    if rest.plain:
        line.append("，" if lang == "zh" else ", ").append_text(rest)
    return line
