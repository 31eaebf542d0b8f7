"""Playing a timeline: keys move the playhead, and while it plays so does the time."""

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from rich.text import Text

from quizkit.ui.pictures.chart import Chart
from quizkit.ui.pictures.playhead import steps
from quizkit.ui.screens.parts import footer
from quizkit.ui.screens.watch_screen import frame
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.paging import read_keys
from quizkit.ui.terminal.screen import Screen
from quizkit.ui.terminal.view import View
from quizkit.words import Lang, other

_BEATS = 60  # pictures from start to end
_BEAT = 0.2  # seconds each


def watched(
    screen: Screen,
    keyboard: Keyboard,
    charts: Sequence[Chart],
    in_words: Callable[[str, Lang], str],
    lang: Lang,
) -> Lang:
    """Play until somebody leaves; at the end it stands still. Gives the language spoken by then.

    `in_words` puts what the run says of its names in a language.
    """
    which, at, since, playing = 0, 0.0, 0.0, True
    view = View(screen)
    idle = () if len(charts) > 1 else ("schedule",)
    with keyboard:
        while True:
            chart = charts[which]
            size = screen.width, screen.height
            shown = frame(chart, at, since, *size, lang, lambda text, now=lang: in_words(text, now))
            view.open(which)
            view.paint(shown, [Text(), footer("watch", lang, 0, idle)], lang)
            since = at
            key = keyboard.read(deadline=time.monotonic() + _BEAT if playing else None)
            command = "quit" if key == "eof" else keymap.bound("watch", key)
            if key == "late":
                beat = round(at * _BEATS / chart.span) + 1  # counted: added up they miss the end
                at = min(beat * chart.span / _BEATS, chart.span)
                playing = at < chart.span
            elif command == "play":
                at = since = 0.0 if at >= chart.span else at
                playing = not playing
            elif command == "schedule" and not idle:
                which, at, since, playing = (which + 1) % len(charts), 0.0, 0.0, True
            elif command in ("back", "on", "first", "last"):
                at = since = _moved(steps(chart), at, command)
                playing = False
            elif command == "toggle":
                lang = other(lang)
            elif command == "help":
                read_keys(screen, keyboard, "watch", lang, without=idle, scrolls=view.is_long)
            elif command == "quit":
                screen.paint()
                return lang
            elif command:
                view.scroll(command)


def _moved(times: Sequence[float], at: float, command: str) -> float:
    """The moment before or after, the first or the last."""
    if command in ("first", "last"):
        return times[0 if command == "first" else -1]
    found = bisect_left(times, at) - 1 if command == "back" else bisect_right(times, at)
    return times[max(0, min(found, len(times) - 1))]
