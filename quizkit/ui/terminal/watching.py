"""Playing a timeline: keys move the playhead, and while it plays so does the time."""

import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from rich.text import Text

from quizkit.ui.pictures.chart import Chart
from quizkit.ui.pictures.way import moments
from quizkit.ui.screens.parts import footer, help_screen
from quizkit.ui.screens.watch_screen import frame
from quizkit.ui.terminal import keymap
from quizkit.ui.terminal.keys import Keyboard
from quizkit.ui.terminal.screen import Screen
from quizkit.words import Lang, other, say

_BEATS = 60  # pictures from start to end
_BEAT = 0.2  # seconds each


def watched(
    screen: Screen, keyboard: Keyboard, charts: Sequence[Chart], demo: str, lang: Lang
) -> Lang:
    """Play until somebody leaves; at the end it stands still. Gives the language spoken by then."""
    which, at, playing = 0, 0.0, True
    idle = () if len(charts) > 1 else ("schedule",)
    with keyboard:
        while True:
            chart = charts[which]
            shown = frame(chart, demo, at, screen.width, screen.console.height, lang)
            screen.paint(*shown, Text(), footer("watch", lang, 0, idle))
            key = keyboard.read(deadline=time.monotonic() + _BEAT if playing else None)
            command = "quit" if key == "eof" else keymap.bound("watch", key)
            if key == "late":
                beat = round(at * _BEATS / chart.span) + 1  # counted: added up they miss the end
                at = min(beat * chart.span / _BEATS, chart.span)
                playing = at < chart.span
            elif command == "play":
                at = 0.0 if at >= chart.span else at
                playing = not playing
            elif command == "schedule" and not idle:
                which, at, playing = (which + 1) % len(charts), 0.0, True
            elif command in ("back", "on", "first", "last"):
                at, playing = _moved(moments(chart), at, command), False
            elif command == "toggle":
                lang = other(lang)
            elif command == "help":
                back = Text(say("ui.help_back", lang), "dim")
                screen.paint(help_screen("watch", lang, 0, without=idle), Text(), back)
                keyboard.read()
            elif command == "quit":
                screen.paint()
                return lang


def _moved(times: Sequence[float], at: float, command: str) -> float:
    """The moment before or after, the first or the last."""
    if command in ("first", "last"):
        return times[0 if command == "first" else -1]
    found = bisect_left(times, at) - 1 if command == "back" else bisect_right(times, at)
    return times[max(0, min(found, len(times) - 1))]
