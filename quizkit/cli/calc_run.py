"""`quizkit calc NAME`: one sum, on the screen, as JSON, as a picture of its schedule."""

import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from quizkit.calc import sheets
from quizkit.calc.sheet import Calculator, Worked
from quizkit.cli.calc_options import COMMON, Named, parsed
from quizkit.errors import UsageError
from quizkit.near import nearest
from quizkit.words import Lang, say

if TYPE_CHECKING:
    from quizkit.calc.schedule import Event as Played
    from quizkit.ui.pictures.chart import Chart


@dataclass(frozen=True)
class SumAsked:
    """A sum as it was asked for; `words` are the calculator's own options, not yet looked at."""

    sheet: Calculator
    words: Sequence[str]
    named: Named
    explain: bool
    svg: Path | None


def find(name: str) -> Calculator:
    """Return the calculator of that name. Raises UsageError with the nearest one."""
    if name.startswith("-"):
        from quizkit.cli.usage import unknown

        raise unknown("calc_own", "quizkit calc", name, COMMON)
    if name not in sheets.EVERY:
        raise UsageError("calc_unknown", name=name, hint=nearest(name, sheets.EVERY))
    return sheets.sheet(name)


def run(asked: SumAsked, json: bool, lang: Lang, plain: bool) -> None:
    """Work it out and show it."""
    sheet = asked.sheet
    if asked.svg and sheet.name != "pipeline":
        hint = "quizkit calc pipeline"
        raise UsageError("calc_option", sheet=sheet.name, name="--svg", hint=hint)
    worked = sheet.work(*parsed(sheet, asked.words, asked.named))
    drawn = _charts(worked) if asked.svg or not json else ()
    if json:
        print(dumps(_data(worked), ensure_ascii=False, allow_nan=False))
    else:
        from quizkit.ui.screens.sum_screen import show
        from quizkit.ui.terminal.console import console, is_plain

        show(console(is_plain(plain)), worked, drawn, asked.explain, lang, is_plain(plain))
    if asked.svg:
        sys.stdout.flush()
        _write(asked.svg, worked, drawn, lang)


def print_list(json: bool, lang: Lang, plain: bool) -> None:
    """Print every calculator, what it answers, and a line to start with."""
    from quizkit.ui.screens.sum_page import EXAMPLES, table

    if json:
        rows = [
            {"name": name, "what": say(f"calc.what_{name}", lang), "example": EXAMPLES[name]}
            for name in sheets.EVERY
        ]
        print(dumps({"schema": "quizkit/calc/1", "calculators": rows}, ensure_ascii=False))
        return
    from quizkit.ui.terminal.console import console, is_plain

    console(is_plain(plain)).print(table(lang, is_plain(plain)))


def print_page(sheet: Calculator, lang: Lang, plain: bool) -> None:
    """Print what one calculator takes."""
    from quizkit.ui.screens.sum_page import page
    from quizkit.ui.terminal.console import console, is_plain

    console(is_plain(plain)).print(page(sheet, lang, is_plain(plain)))


def _data(worked: Worked) -> dict[str, Any]:
    """The figures by their own names, which say their units, beside what they came from."""
    figures = {each.name: each for each in worked.sheet.figures if each.name in worked.figures}
    return {
        "schema": f"quizkit/calc.{worked.sheet.name}/1",
        "inputs": dict(worked.inputs),
        "given": sorted(worked.given),
        "filled": {name: each.name for name, each in worked.by.items()},
        "filled_from": {each.name: each.source for each in worked.by.values()},
        **{name: _strict(value) for name, value in worked.figures.items()},
        "units": {name: each.unit for name, each in figures.items()},
        "formulas": {
            name: {
                "formula": each.formula,
                "filled": each.filled(worked.values),
                "source": each.source,
            }
            for name, each in figures.items()
        },
    }


def _strict(value: object) -> object:
    """JSON has no number for what is infinite."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _charts(worked: Worked) -> "Sequence[Chart]":
    """The schedule of a pipeline as it was played."""
    if worked.sheet.name != "pipeline":
        return ()
    from quizkit.calc.pipeline import events
    from quizkit.lab.report import Event, Timeline
    from quizkit.ui.pictures.chart import charts

    title = str(worked.inputs["order"] or worked.inputs["schedule"])
    played = events(worked.inputs)
    apart = {(rank, name[1:]) for rank, name, _, _ in played if name.startswith("W")}
    if apart:
        played = [half for each in played for half in _halves(each, apart, worked)]
    made = tuple(Event(title, rank, name, start, end) for rank, name, start, end in played)
    ranks = 1 + max(event.rank for event in made)
    return charts(Timeline("simulated", made), ranks)


def _halves(
    event: "Played", apart: Collection[tuple[int, str]], worked: Worked
) -> "Sequence[Played]":
    """A backward in one among backwards in halves is drawn as the two that it is, B then W."""
    rank, name, start, end = event
    if not name.startswith("B") or (rank, name[1:]) in apart:
        return [event]
    first, second = (cast("float", worked.inputs[f"backward_{of}"]) for of in ("input", "weight"))
    middle = start + (end - start) * first / ((first + second) or 1)
    return [(rank, name, start, middle), (rank, f"W{name[1:]}", middle, end)]


def _write(file: Path, worked: Worked, drawn: "Sequence[Chart]", lang: Lang) -> None:
    from quizkit import safe_file
    from quizkit.ui.pictures.svg import picture

    title = say(
        "calc.svg_title",
        lang,
        schedule=drawn[0].schedule,
        ranks=drawn[0].ranks,
        microbatches=worked.inputs["microbatches"],
    )
    safe_file.write(file, picture(drawn, title, say("lab.svg_simulated", lang), lang))
