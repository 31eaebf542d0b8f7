"""A run that did not finish, as a proof shows it: where each rank was, in the demo's own words."""

import re

from rich.console import RenderableType
from rich.text import Text

from quizkit.lab.report import Report
from quizkit.ui.screens.demo_words import DemoWords
from quizkit.ui.screens.parts import below, section
from quizkit.ui.text.inline import CODE
from quizkit.words import Lang, say

_FRAME = re.compile(r'^ *File "([^"]*)", line (\d+), in .*\n +(\S.*)$', re.MULTILINE)


def halt(report: Report, words: DemoWords, lang: Lang) -> list[RenderableType]:
    """Show how a run that did not finish ended, and the line each rank was at."""
    if report.error is None:
        return []
    lines: list[RenderableType] = [
        Text(words.ending(report.error.message.split("\n")[0]), overflow="fold"),
    ]
    for rank, stack in enumerate(report.error.stacks):
        if frame := own_frame(stack or "", report.demo):
            name, number, code = frame
            where = say("ui.rank_at", lang, rank=rank, file=name, line=number)
            lines += [Text(where, overflow="fold"), below(Text(code, CODE, overflow="fold"))]
    return section(say(f"lab.outcome_{report.outcome}", lang), *lines)


def own_frame(stack: str, demo: str) -> tuple[str, str, str] | None:
    """Return the innermost frame in the demo's file: what lies below is torch's and says less."""
    name = f"{demo.replace('-', '_')}.py"
    own = [(name, *each[1:]) for each in _FRAME.findall(stack) if each[0].endswith(f"/{name}")]
    return own[-1] if own else None
