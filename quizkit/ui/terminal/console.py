"""The one way to a terminal: encoding, colour, width and Chinese line breaks are settled here."""

import errno
import io
import os
import sys

from rich.console import Console

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
    return _Console(
        stderr=stderr,
        color_system=None if plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


class _Console(Console):
    """A console that leaves it to the front door what a closed pipe means; rich would exit 1."""

    def on_broken_pipe(self) -> None:
        """Tell the front door."""
        raise BrokenPipeError(errno.EPIPE, "the reader has gone")


def is_plain(option: bool = False) -> bool:
    """Tell whether to do without boxes and colours: as asked, or all the terminal can do."""
    return option or os.environ.get("TERM") == "dumb" or glimpse("plain") is True
