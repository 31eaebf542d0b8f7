"""The riddle of a planted bug: what was changed, what may go red first, and what then did."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from quizkit.lab.catalogue import Demo
from quizkit.lab.report import Report
from quizkit.lab.riddle import CRASHES, HANGS, reds
from quizkit.ui.screens.demo_words import demo_words
from quizkit.ui.screens.parts import RIGHT, WRONG, rule
from quizkit.ui.screens.report_screen import checks, difference
from quizkit.words import Lang, say

_LAST_WORDS = 6  # lines of what a run said when it ended


@dataclass(frozen=True, slots=True)
class Riddle:
    """A demo, the bug that is planted in it, and what may be picked."""

    demo: Demo
    broken: str
    choices: Sequence[str]


def asked(riddle: Riddle, lang: Lang) -> Iterator[RenderableType]:
    """Yield the law, the changed lines, and the question with its digits."""
    planted = riddle.demo.breaks[riddle.broken]
    yield Text(riddle.demo.name, "bold")
    yield Text(demo_words(riddle.demo, lang).law, overflow="fold")
    yield rule()
    yield from difference(planted)
    yield Text("\n" + say("demos.ask", lang, ranks=planted.ranks), "bold", overflow="fold")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for number, each in enumerate(riddle.choices, 1):
        grid.add_row(str(number), Text(named(riddle.demo, each, lang)))
    yield grid


def answered(riddle: Riddle, pick: str, report: Report, lang: Lang) -> Iterator[RenderableType]:
    """Say whether it was seen coming, what went red, how far, and where such a bug comes from."""
    words, found = demo_words(riddle.demo, lang), reds(report)
    # Something that could not be picked may come before: nobody is wrong because of that.
    could = [each for each in found if each in riddle.choices]
    right = could[:1] == [pick]
    yield Text(riddle.demo.name, "bold")
    yield rule()
    yield from difference(riddle.demo.breaks[riddle.broken])
    yield Text()
    key = "right" if right else "later" if pick in found else "wrong"
    yield Text(say(f"demos.{key}", lang), RIGHT if right else WRONG)
    yield Text(say("demos.picked", lang, pick=named(riddle.demo, pick, lang)), overflow="fold")
    if not found:
        yield Text(say("demos.nothing", lang), "bold")
    else:
        red = named(riddle.demo, found[0], lang)
        yield Text(say("demos.was", lang, red=red), "bold", overflow="fold")
    failed = [check for check in report.checks if not check.holds]
    if failed and report.outcome == "finished":
        yield Text("\n" + say("demos.reds", lang), "bold")
        yield checks(failed, words, lang, plain=False)
    if report.error:
        lines = words.ending(report.error.message).split("\n")[:_LAST_WORDS]
        yield Text("\n".join(["", *lines]), "dim", overflow="fold")
    if source := words.breaks[riddle.broken]:
        yield Text("\n" + say("lab.source", lang, source=source), "dim", overflow="fold")


def named(demo: Demo, choice: str, lang: Lang) -> str:
    """Say a choice in words."""
    if choice in (HANGS, CRASHES):
        return say(f"demos.{choice}", lang)
    return demo_words(demo, lang).check(choice)
