"""Typing line by line in an interview: from a pipe, a file, a terminal that is not painted."""

import unicodedata
from contextlib import AbstractContextManager, nullcontext
from math import inf
from time import monotonic

from rich.console import RenderableType
from rich.text import Text

from quizkit.mock.desk import Aside
from quizkit.ui.lines.lines import Lines
from quizkit.ui.mock.answer_page import END, LEAVE, NO_ANSWER, AnswerPage
from quizkit.ui.mock.clock_line import spoken
from quizkit.ui.screens.parts import note
from quizkit.ui.terminal.editor import edit
from quizkit.ui.terminal.keymap import line_command
from quizkit.ui.terminal.typing import Typed
from quizkit.words import say


class LineHand:
    """Lines from a pipe, a file, or a terminal without redrawing.

    `edits`: the terminal is there in full, so that an editor can have it.
    """

    lines = True

    def __init__(self, lines: Lines, attended: bool, edits: bool = False) -> None:
        self._lines = lines
        self._edits = edits
        self.attended = attended

    def tell(self, *parts: RenderableType) -> None:
        """Write the parts below what is there."""
        self._lines.show(*parts)

    def busy(self, text: str) -> AbstractContextManager[object]:
        """Tell the text once."""
        self._lines.tell(text)
        return nullcontext()

    def type(self, page: AnswerPage) -> Typed | Aside:
        """Read a line, or with `multiline` all up to an empty one; the end of input leaves.

        A line that begins with a colon is a command, or is said to the interviewer.
        """
        self._lines.show(*page.told)
        text = page.draft if page.multiline or page.offers else ""
        if page.offers:
            self._offer(page, text)
        self._prompt(page)
        deadline = inf if page.seconds is None else monotonic() + page.seconds
        while True:
            line = self._lines.read()
            if line is None:
                return Typed(text, None if text.strip() and page.multiline else END)
            command, said = _command(line)
            if command in (NO_ANSWER, LEAVE):
                return Typed(text.strip(), command)
            # Nobody is stopped in mid-line: whatever comes in after the end is the last of it.
            late = monotonic() >= deadline
            if page.talks and (command or said):
                if late:
                    return Typed(text.strip(), late=True)
                if command == "editor":
                    text = self._edited(page, text, deadline)
                    if monotonic() >= deadline:
                        return Typed(text.strip(), late=True)
                elif command == "help":
                    self._lines.show(*page.help)
                    self._prompt(page)
                else:
                    return Aside(said, text)
            elif not page.multiline or not line.strip():
                return Typed(line.strip() or text.strip(), late=late)
            else:
                text = f"{text}\n{line}" if text else line
                if late:
                    return Typed(text.strip(), late=True)
                if page.keep:
                    page.keep(text)

    def _prompt(self, page: AnswerPage) -> None:
        shown = page.prompt()
        self._lines.show(Text(shown if isinstance(shown, str) else spoken(shown)))

    def _offer(self, page: AnswerPage, text: str) -> None:
        """Show what there is to go on from."""
        if text.strip():
            self._lines.tell(say("mock.so_far", page.lang, text=text))

    def _edited(self, page: AnswerPage, text: str, deadline: float) -> str:
        """Let an editor have the text where there is one to show it."""
        if not self._edits:
            self._lines.tell(say("mock.editor_nowhere", page.lang))
            return text
        edited = edit(text, deadline, page.keep)
        if edited.trouble:
            self._lines.tell(note(edited.trouble, page.lang))
        text = edited.text.rstrip("\n")
        shown = text if page.multiline else " ".join(text.split("\n"))
        if not edited.late:
            self._offer(page, shown)
            self._prompt(page)
        return shown


def _command(line: str) -> tuple[str | None, str]:
    """Return the command that a line is, or else what it says to the interviewer."""
    line = line.strip()
    if not line.startswith((":", "：")):
        return None, ""
    command = line_command(unicodedata.normalize("NFKC", line), ["interview"])
    if command in ("editor", NO_ANSWER, LEAVE):
        return command, ""
    # What is said keeps its own signs: a note is kept as it was written.
    said = line[1:].strip().removeprefix("?").removeprefix("？").strip()
    return (None, said) if said and said.casefold() != "help" else ("help", "")
