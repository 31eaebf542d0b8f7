"""The one way to a terminal: encoding, colour, width and Chinese line breaks are settled here."""

import errno
import io
import os
import sys
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment

from quizkit.settings import glimpse
from quizkit.ui.text import linebreak


def console(plain: bool = False, stderr: bool = False) -> Console:
    """Open a console that prints text as it is: no markup, no emoji codes, no guessed colours.

    NO_COLOR and TERM=dumb are rich's own; `plain` leaves no escape sequence at all.
    """
    for stream in (sys.stdout, sys.stderr):
        # A locale that was never generated must not turn Chinese into a crash.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    linebreak.install()
    made = _Console(
        stderr=stderr,
        color_system=None if plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )
    if not made.is_terminal:  # a file keeps every blank
        made.push_render_hook(_Trimming())
    return made


class _Trimmed:
    """What is printed, without the blanks that fill up the lines of a table."""

    def __init__(self, printed: RenderableType) -> None:
        self._printed = printed

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Give each line once it has ended; what is left open, as a prompt is, keeps its blanks."""
        line: list[Segment] = []
        for segment in console.render(self._printed, options):
            *ended, rest = segment.text.split("\n") if not segment.control else [segment.text]
            for text in ended:
                yield from _trimmed([*line, Segment(text, segment.style)])
                yield Segment("\n")
                line = []
            line.append(Segment(rest, segment.style, segment.control))
        yield from line


def _trimmed(line: list[Segment]) -> list[Segment]:
    while line and not line[-1].control and not line[-1].text.rstrip(" "):
        line.pop()
    if line and not line[-1].control:
        line[-1] = Segment(line[-1].text.rstrip(" "), line[-1].style)
    return line


class _Trimming(RenderHook):
    """Trims all that a console prints."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Trim each."""
        return [_Trimmed(each) for each in renderables]


class _Console(Console):
    """A console that leaves it to the front door what a closed pipe means; rich would exit 1."""

    def on_broken_pipe(self) -> None:
        """Tell the front door."""
        raise BrokenPipeError(errno.EPIPE, "the reader has gone")


def is_plain(option: bool = False) -> bool:
    """Tell whether to do without boxes and colours: as asked, or all the terminal can do."""
    return option or os.environ.get("TERM") == "dumb" or glimpse("plain") is True
