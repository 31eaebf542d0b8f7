"""Plain text out, one line at a time in: for pipes, logs and screen readers."""

from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.text import Text

from quizkit.ui.screens.parts import WIDEST
from quizkit.ui.text import linebreak


class Lines:
    """A stream of lines each way: no colour, no codes, nothing painted over."""

    def __init__(self, source: TextIO, target: TextIO) -> None:
        linebreak.install()
        self._source = source
        self._target = target
        # For rich this is no terminal, whatever it is.
        self._console = Console(
            file=target, force_terminal=False, color_system=None, markup=False, highlight=False
        )

    @property
    def width(self) -> int:
        """The columns that a line may have."""
        return min(self._console.width, WIDEST)

    def show(self, *parts: RenderableType) -> None:
        """Write these below each other."""
        if not parts:
            return
        with self._console.capture() as drawn:
            self._console.print(Group(*parts), width=self.width)
        # Columns are padded for a screen; a log or a reader has no use for that.
        self._write("\n".join(line.rstrip() for line in drawn.get().split("\n")))

    def tell(self, sentence: str) -> None:
        """Write one sentence."""
        self.show(Text(sentence, overflow="fold"))

    def read(self, prompt: str = "") -> str | None:
        """Read the next line, without its end; None where no more will come."""
        self._write(prompt)
        try:
            line = self._source.readline()
        except KeyboardInterrupt:
            self._write("\n")  # the terminal shows ^C behind the prompt
            raise
        if not line:
            self._write("\n")
            return None
        return line.rstrip("\r\n")

    def _write(self, text: str) -> None:
        self._target.write(text)
        self._target.flush()
