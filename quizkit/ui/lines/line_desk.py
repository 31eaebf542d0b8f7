"""The desk that is a stream of lines: for pipes, logs, screen readers and narrow terminals.

Nothing is painted over and nothing is said by colour. Each thing is told once: when the same
question comes back after a command, only what is new.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from rich.console import RenderableType
from rich.text import Text

from quizkit.bank.model import Choice
from quizkit.tutor.desk import Command, Given, Moment, Page, Summary
from quizkit.ui.lines.line_asking import LineAsking
from quizkit.ui.lines.lines import Lines
from quizkit.ui.screens.explain_screen import explanation, followup, spoken, why
from quizkit.ui.screens.page import page_screen
from quizkit.ui.screens.parts import bracketed, said
from quizkit.ui.screens.question_screen import hints, question_screen
from quizkit.ui.screens.summary_screen import summary_screen
from quizkit.ui.screens.verdict_screen import outcome, proved, recap, standing, verdict_screen
from quizkit.ui.terminal.draft import draft_of
from quizkit.words import say


class LineDesk:
    """Tells moments as plain text and reads answers line by line."""

    interactive = False

    def __init__(self, source: TextIO, target: TextIO) -> None:
        self._lines = Lines(source, target)
        self._last: Moment | None = None

    def meet(self, moment: Moment) -> Given | Command:
        """Tell what is new and read until there is an answer or a command."""
        before, self._last = self._last, moment
        asked = before is not None and before.asked == moment.asked and before.lang == moment.lang
        if moment.phase == "verdict":
            self._lines.show(*self._verdict(before if asked else None, moment))
            return LineAsking(self._lines, moment).verdict()
        if before is not None and asked and before.phase == "question":
            self._lines.show(*hints(moment, True, since=before.hints_shown))
            self._lines.show(*_marks(before, moment), *said(moment, True))
        else:
            self._lines.show(Text(""), question_screen(moment, draft_of(moment), plain=True))
        return LineAsking(self._lines, moment).answer()

    @contextmanager
    def busy(self, text: str) -> Generator[None]:
        """Tell that a run goes on and how to stop it; held meanwhile."""
        last = self._last
        stop = bracketed([say("ui.stop_run", last.lang)], last.lang) if last else ""
        self.tell(text + stop)
        yield

    def read(self, page: Page) -> Command:
        """Tell the page and go on: a line that waits in a pipe is an answer to a question."""
        self._lines.show(page_screen(page, plain=True))
        return Command("continue")

    def end(self, summary: Summary) -> None:
        """Tell the summary of the session."""
        self._lines.show(summary_screen(summary))

    def tell(self, sentence: str) -> None:
        """Say one sentence."""
        self._lines.tell(sentence)

    def _verdict(self, before: Moment | None, moment: Moment) -> list[RenderableType]:
        """The verdict under its question, or what a command has added to it."""
        width = self._lines.width
        if before is None:  # another language: all of it anew
            return [Text(""), verdict_screen(moment, width, plain=True)]
        first = before.phase == "question"
        parts: list[RenderableType] = []
        if first:
            # Of a choice the verdict tells every option that counts.
            parts += [] if isinstance(moment.question, Choice) else recap(moment, True)
            parts += [*outcome(moment, True), *explanation(moment, True)]
        if moment.why and (first or not before.why):
            parts += why(moment, True)
        if moment.say and (first or not before.say):
            parts += spoken(moment, True)
        if moment.proof and (
            first or moment.proof is not before.proof or moment.full is not before.full
        ):
            parts += proved(moment, width, True)
        if first:
            parts += followup(moment, True)
        else:
            parts += _marks(before, moment)
        parts += said(moment, True)
        if first or moment.grade != before.grade:
            parts += standing(moment, True)
        return parts


def _marks(before: Moment, moment: Moment) -> list[RenderableType]:
    """Return notes on the question's marks that are new: sure or unsure, flagged."""
    parts: list[RenderableType] = []
    if moment.sure is not None and moment.sure != before.sure:
        parts.append(Text(say("ui.is_sure" if moment.sure else "ui.is_unsure", moment.lang)))
    if moment.flagged and not before.flagged:
        parts.append(Text(say("ui.is_flagged", moment.lang)))
    return parts
