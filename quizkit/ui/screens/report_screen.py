"""A run on the screen: what was run and where, what it checked and measured, and the verdict."""

import re
import shlex
from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quizkit.lab.catalogue import Break, Demo
from quizkit.lab.report import Check, Metric, Report, Value
from quizkit.ui.pictures import measured
from quizkit.ui.pictures.chart import Chart, charts, colour
from quizkit.ui.pictures.drawn import Line
from quizkit.ui.pictures.timeline import draw, headline, letters
from quizkit.ui.screens.demo_words import DemoWords, demo_words
from quizkit.words import Lang, listed, say

COLOURS = ("blue", "green", "yellow", "magenta", "cyan", "red")
_VERDICTS = {"pass": "bold green", "fail": "bold red", "error": "bold red"}
_HOW = ("counted", "compared", "identical", "clocked", "computed")
_WIDE = 100  # columns from which on there is room for prose beside numbers
_STACK = 12  # lines of each rank's stack; the innermost ones say where it waits


def show(console: Console, report: Report, demo: Demo, lang: Lang, plain: bool) -> None:
    """Print the whole screen."""
    for part in screen(report, demo, lang, console.width, plain):
        console.print(part)


def screen(
    report: Report, demo: Demo, lang: Lang, width: int, plain: bool
) -> Iterator[RenderableType]:
    """Yield the parts of the screen, top to bottom. Plain: one fact a line, nothing to align."""
    words = demo_words(demo, lang)
    yield Text.assemble((report.demo, "bold"), "  ", state(report, lang))
    yield Text(words.law)
    if report.args:
        yield Text(options(report), style="dim")
    planted = demo.breaks.get(report.broken or "")
    if report.broken and planted:
        yield from _planted(report.broken, planted, words, lang)
    if report.checks:
        yield _title("checks", lang)
        yield checks(report.checks, words, lang, plain)
    if report.metrics:
        yield _title("metrics", lang)
        yield _metrics(report, words, lang, width if not plain else 0)
    yield from pictures(charts(report.timeline, report.ranks), width, lang)
    for each in report.pictures:
        yield from measured.draw(measured.in_words(each, words.picture), width, plain, lang)
    if report.error:
        yield from _error(report, words, lang)
    yield Text("")
    yield verdict(report, planted, words, lang)


def state(report: Report, lang: Lang) -> str:
    """Say on what it ran, and why there; or that it did not run here."""
    if report.seconds is None:
        where = {"torch": report.torch, "backend": report.backend, "device": report.device}
        return say("lab.state_recorded", lang, **where)
    on_gpus = "state_nccl" if report.backend == "nccl" else "state_host"
    how = say(
        "lab.state_staged" if report.staged else f"lab.{on_gpus}",
        lang,
        ranks=report.ranks,
        backend=report.backend,
        device=report.device,
    )
    return say(
        "lab.state" if report.ranks > 1 else "lab.state_alone",
        lang,
        ranks=report.ranks,
        how=how,
        reason=_reason(report, lang),
        seconds=f"{report.seconds:.2f}",
    )


def _reason(report: Report, lang: Lang) -> str:
    """Say why it ran there: the bench says it in English, the rest of the report in numbers."""
    gpus = re.match(r"(\d+) CUDA GPU", report.reason)
    if lang == "en":
        return report.reason
    if gpus:
        found = "one_each" if report.backend == "nccl" else "shared" if report.staged else "few"
        return say(f"lab.reason_{found}", lang, gpus=gpus[1], ranks=report.ranks)
    key = {"no CUDA GPU found": "no_gpu", "--device cpu was asked for": "asked"}.get(report.reason)
    return say(f"lab.reason_{key}", lang) if key else report.reason


def options(report: Report) -> str:
    """Return the arguments of the run, as they would be typed."""
    return " ".join(_option(name, value) for name, value in report.args.items())


def verdict(report: Report, planted: Break | None, words: DemoWords, lang: Lang) -> Text:
    """Return the last line: did it pass, and did a planted bug show itself the way it should."""
    word = say(f"lab.verdict_{report.verdict}", lang)
    failing = listed((words.check(c.name) for c in report.checks if not c.holds), lang)
    if report.outcome == "finished":
        why = say("lab.failing", lang, names=failing) if failing else ""
        why = why or (say("lab.all_hold", lang) if report.verdict == "pass" else "")
    else:
        why = say(f"lab.outcome_{report.outcome}", lang)
    text = Text.assemble((word, _VERDICTS[report.verdict]), f"  {why}" if why else "")
    if planted:
        shown = report.shows(planted.expect)
        key = "lab.break_shown" if shown else "lab.break_hidden"
        text.append("\n" + say(key, lang), "green" if shown else "bold red")
    return text


def number(value: Value) -> str:
    """Write a number for people: enough digits to compare, groups of three where there are many."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:.6g}"


def metric(value: Metric) -> str:
    """Write one number, or one for each rank, never collapsed."""
    if not isinstance(value, tuple):
        return number(value)
    # Groups of three would read as more numbers where commas already part them.
    return f"[{', '.join(number(each).replace(',', '') for each in value)}]"


def _option(name: str, value: object) -> str:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    return f"--{flag} {shlex.quote(str(value))}"


def _title(name: str, lang: Lang) -> Text:
    return Text("\n" + say(f"lab.{name}", lang), style="bold")


def _planted(name: str, planted: Break, words: DemoWords, lang: Lang) -> Iterator[RenderableType]:
    yield Text("\n" + say("lab.break", lang, name=name), style="bold")
    yield from difference(planted)
    yield Text("  " + say("lab.expected", lang, what=expected(planted, words, lang)))
    if words.breaks[name]:
        yield Text("  " + say("lab.source", lang, source=words.breaks[name]), style="dim")


def difference(planted: Break) -> Iterator[Text]:
    """Yield the lines that a planted bug takes out, and those it puts in."""
    for sign, text, style in (("-", planted.old, "red"), ("+", planted.new, "green")):
        lines = "\n".join(f"  {sign} {line}" for line in text.strip("\n").split("\n") if text)
        if lines:
            yield Text(lines, style=style, overflow="fold")


def expected(planted: Break, words: DemoWords, lang: Lang) -> str:
    """Say what gives a planted bug away."""
    if planted.expect == "hangs":
        return say("lab.expect_hangs", lang)
    if planted.expect.startswith("crashes:"):
        cause = planted.expect.removeprefix("crashes:").strip()
        return say("lab.expect_crashes", lang, cause=cause)
    return say("lab.expect_check", lang, name=words.check(planted.expect))


def checks(found: Sequence[Check], words: DemoWords, lang: Lang, plain: bool) -> RenderableType:
    """List what was checked, a line each: whether it holds, its name, both numbers."""
    rows = [
        (
            Text(
                say("lab.ok" if c.holds else "lab.fails", lang), "green" if c.holds else "bold red"
            ),
            Text(words.check(c.name)),
            Text(f"{number(c.measured)} {c.relation} {number(c.expected)}"),
        )
        for c in found
    ]
    return _lines(rows) if plain else _grid(rows)


def _metrics(report: Report, words: DemoWords, lang: Lang, width: int) -> RenderableType:
    rows: list[tuple[Text, ...]] = []
    told: list[Text] = []
    for name, value in report.metrics.items():
        how = report.how.get(name, "")
        had = Text(say(f"lab.how_{how}", lang) if how in _HOW else how)
        rows.append((Text(name), Text(metric(value), "bold"), had))
        told.append(Text(words.watch.get(name, ""), "dim"))
    if not width:
        return _lines([(*row, text) for row, text in zip(rows, told, strict=True)])
    if width >= _WIDE:
        return _grid([(*row, text) for row, text in zip(rows, told, strict=True)])
    # A column of prose would be a few letters wide here: it goes below its number.
    parts = [each for row, text in zip(rows, told, strict=True) for each in (_row(row), text)]
    return Group(
        *(Padding(each, (0, 0, 0, 2 + 2 * (n % 2)), expand=False) for n, each in enumerate(parts))
    )


def _row(row: Sequence[Text]) -> Text:
    return Text("  ").join(row)


def _lines(rows: Sequence[Sequence[Text]]) -> Text:
    return Text("\n").join(Text("  ") + _row(row) for row in rows)


def _grid(rows: Sequence[Sequence[Text]]) -> RenderableType:
    """Columns without boxes; names stay whole, the last column takes what is left."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for index in range(len(rows[0])):
        grid.add_column(overflow="fold", no_wrap=index == 0)
    for row in rows:
        grid.add_row(*row)
    return Padding(grid, (0, 0, 0, 2), expand=False)


def pictures(drawn: Sequence[Chart], width: int, lang: Lang) -> Iterator[RenderableType]:
    """Draw who did what when, each chart under its headline, and once what the letters are."""
    for chart in drawn:
        picture = draw(chart, width, lang)
        yield Text("\n" + headline(chart, lang), style="bold")
        for line in picture.lines:
            yield painted(line, chart)
        if picture.notes:
            yield Text(" ".join(picture.notes), style="dim")
    if said := letters(drawn, lang):
        yield Text(said, style="dim")


def painted(line: Line, chart: Chart) -> Text:
    """Draw a line of a picture in the colours of its operations."""
    text = Text(no_wrap=True)
    for span in line:
        text.append(span.text, bar_style(span.of, chart))
    return text


def bar_style(name: str, chart: Chart) -> str:
    """Return the colours of an operation; none for what is no operation."""
    return f"black on {COLOURS[colour(name, chart.kinds, len(COLOURS))]}" if name else ""


def _error(report: Report, words: DemoWords, lang: Lang) -> Iterator[RenderableType]:
    assert report.error is not None
    yield Text("\n" + words.ending(report.error.message), overflow="fold")
    if report.outcome == "hung":
        for rank, stack in enumerate(report.error.stacks):
            if stack:
                yield Text(say("lab.stack", lang, rank=rank), style="bold")
                yield Text("\n".join(stack.split("\n")[-_STACK:]), overflow="fold")
