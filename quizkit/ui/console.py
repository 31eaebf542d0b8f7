"""The one way to a terminal: encoding, colour, width and Chinese line breaks are settled here."""

import io
import os
import sys

from rich.console import Console

from quizkit.ui import linebreak


def console(plain: bool = False, stderr: bool = False) -> Console:
    """A console that prints text as it is: no markup, no emoji codes, no guessing at colours.

    NO_COLOR and TERM=dumb are rich's own; `plain` leaves no escape sequence at all.
    """
    for stream in (sys.stdout, sys.stderr):
        # A locale that was never generated must not turn Chinese into a crash.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    linebreak.install()
    return Console(
        stderr=stderr,
        color_system=None if plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def is_plain(option: bool = False) -> bool:
    """Whether to do without boxes and colours: it was said, or the terminal can do no better."""
    return option or os.environ.get("TERM") == "dumb"
