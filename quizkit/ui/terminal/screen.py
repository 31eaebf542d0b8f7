"""The terminal as a screen: painted whole each time, in one go, so that nothing flickers."""

import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.segment import Segment, SegmentLines

from quizkit.ui.screens.parts import WIDEST

_CLEAR = "\x1b[H\x1b[2J"

Line = list[Segment]
"""A line as it will be drawn."""


class Screen:
    """A console that is painted over. What scrolls off stays in the terminal's own history."""

    def __init__(self, console: Console) -> None:
        self.console = console

    @property
    def width(self) -> int:
        """The columns to write in: all of them, up to where lines become hard to read."""
        return min(self.console.width, WIDEST)

    @property
    def height(self) -> int:
        """The lines there are."""
        return self.console.height

    def lines(self, *parts: RenderableType) -> list[Line]:
        """Return the lines these take."""
        options = self.console.options.update(width=self.width)
        return self.console.render_lines(Group(*parts), options, pad=False)

    def put(self, lines: Sequence[Line], prompt: str = "") -> None:
        """Show these lines and nothing else, with the cursor after `prompt`."""
        self._write(_CLEAR + self._drawn(SegmentLines(lines, new_lines=True), end="") + prompt)

    def paint(self, *parts: RenderableType, prompt: str = "") -> None:
        """Show this and nothing else, with the cursor after `prompt`."""
        self._write(_CLEAR + self._drawn(*parts) + prompt)

    def add(self, *parts: RenderableType) -> None:
        """Show this below what is there."""
        self._write(self._drawn(*parts))

    @contextmanager
    def spin(self, text: RenderableType) -> Generator[None]:
        """Held while something goes on that Ctrl-C may stop; the text turns below what is there."""
        # ASCII, as a spinner of dots is nothing at all in some fonts.
        status = self.console.status(text, spinner="line")
        with _undisturbed():
            status.start()
        try:
            yield
        finally:
            with _undisturbed():
                status.stop()

    def _drawn(self, *parts: RenderableType, end: str = "\n") -> str:
        with self.console.capture() as drawn:
            self.console.print(Group(*parts), width=self.width, end=end)
        return drawn.get()

    def _write(self, text: str) -> None:
        self.console.file.write(text)
        self.console.file.flush()


@contextmanager
def _undisturbed() -> Generator[None]:
    """Ctrl-C does nothing: a spinner stopped by half would turn below all that is drawn later."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
