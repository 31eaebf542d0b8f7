"""Choose the desk: a screen where there is a terminal that can be one, lines elsewhere."""

import io
import sys

from quizkit.tutor.desk import Desk
from quizkit.ui.terminal.console import console, is_plain
from quizkit.words import Lang


def desk(lang: Lang, plain: bool = False) -> Desk:
    """Open the desk for this terminal, pipe or log."""
    _utf8(sys.stdin)
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    screen = console()
    if interactive and not is_plain(plain) and sys.platform != "win32":
        from quizkit.ui.terminal.terminal_desk import TerminalDesk

        return TerminalDesk(screen, lang)
    from quizkit.ui.lines.line_desk import LineDesk

    return LineDesk(sys.stdin, sys.stdout)


def _utf8(stream: object) -> None:
    # A locale that was never generated must not turn a Chinese answer into a crash.
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")
