"""Single keys from a terminal, and the terminal given back as it was, whatever happens.

While a `Keyboard` is held the terminal shows nothing that is typed and hands over each key at once.
Ctrl-C still interrupts. Ctrl-Z gives the terminal back before the process stops, and `fg` takes it
again. Pasted text and escape sequences nobody asked for are swallowed whole, so that a slip of the
hand answers no question.
"""

import codecs
import os
import select
import signal
import sys
import termios
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, TextIO

_NAMED = {
    "\r": "enter", "\n": "enter", " ": "space", "\x7f": "backspace", "\x08": "backspace",
    "\t": "tab", "\x04": "eof", "\x0c": "redraw",
}  # fmt: skip
_SEQUENCES = {
    "[A": "up", "[B": "down", "[C": "right", "[D": "left",
    "OA": "up", "OB": "down", "OC": "right", "OD": "left", "OM": "enter",
    "[5~": "pageup", "[6~": "pagedown", "[H": "home", "[F": "end", "OH": "home", "OF": "end",
    "[1~": "home", "[4~": "end", "[7~": "home", "[8~": "end",
}  # fmt: skip
_PASTES_MARKED, _PASTES_BARE = "\x1b[?2004h", "\x1b[?2004l"
_CURSOR_SHOWN = "\x1b[?25h"
_PASTE_BEGINS, _PASTE_ENDS = "[200~", "\x1b[201~"
_ESCAPE_WAIT = 0.05
_PASTE_WAIT = 1.0
_REFRESH = 0.25

Handler = Callable[[int, FrameType | None], None]


class Keyboard:
    """The keys of one terminal. Held as a context; may be held again inside itself."""

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._fd = (source or sys.stdin).fileno()
        self._screen = (screen or sys.stdout).fileno()
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        self._waiting = ""
        self._ended = False
        self._depth = 0
        self._before: list[Any] = []
        self._handlers: dict[signal.Signals, Any] = {}
        self._wake: tuple[int, int] = (-1, -1)

    def __enter__(self) -> "Keyboard":
        """Take the terminal."""
        self._depth += 1
        if self._depth == 1:
            self._before = termios.tcgetattr(self._fd)
            self._wake = os.pipe()
            os.set_blocking(self._wake[1], False)
            for number, handler in self._signals().items():
                self._handlers[number] = signal.signal(number, handler)
            self._take()
        else:  # whoever was let at the terminal meanwhile has switched this off
            self._write(_PASTES_MARKED)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back."""
        self._depth -= 1
        if self._depth == 0:
            self._give_back()
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            self._handlers.clear()
            for end in self._wake:
                os.close(end)

    def read(self, status: Callable[[], str] | None = None, deadline: float | None = None) -> str:
        """Read the next key: a character (full-width made narrow, letters small) or a name.

        Names: enter space backspace tab up down left right pageup pagedown home end
        escape, `eof` where nothing more will
        come, `redraw` when the screen has to be drawn again, `late` once `deadline` (of
        `time.monotonic`) is past. `status` is one line, kept up to date below the cursor.
        """
        shown = ""
        while True:
            if not self._waiting:
                line = status() if status else ""
                if line != shown:
                    self._write(f"\r{line}\x1b[K")
                    shown = line
                if not self._fill(self._patience(status, deadline)):
                    if deadline is not None and time.monotonic() >= deadline:
                        return "late"
                    continue
            key = self._next()
            if key:
                return key

    def put_back(self, typed: str) -> None:
        """Keep for later what another reader took from the terminal and had no use for."""
        self._waiting += typed

    def flush(self) -> None:
        """Forget what was pressed while nobody was asked anything."""
        self._waiting = ""
        termios.tcflush(self._fd, termios.TCIFLUSH)

    def _patience(self, status: object, deadline: float | None) -> float | None:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if status is None:
            return left
        return _REFRESH if left is None else min(_REFRESH, left)

    def _fill(self, timeout: float | None) -> bool:
        """Wait for input, or for a signal that asks for a redraw."""
        ready, _, _ = select.select([self._fd, self._wake[0]], [], [], timeout)
        if self._wake[0] in ready:
            os.read(self._wake[0], 64)
            self._waiting += "\x0c"
        if self._fd in ready:
            try:
                # One byte at a time: what is typed ahead stays where whoever reads next finds it.
                got = os.read(self._fd, 1)
            except OSError:  # the terminal is gone
                got = b""
            self._ended = not got
            self._waiting += self._decoder.decode(got) if got else "\x04"
        return bool(self._waiting)

    def _next(self) -> str:
        """One key out of what came; nothing if it means nothing."""
        character, self._waiting = self._waiting[0], self._waiting[1:]
        if character == "\x1b":
            return self._escape()
        if character in _NAMED:
            return _NAMED[character]
        narrow = unicodedata.normalize("NFKC", character).casefold()
        if narrow in _NAMED:
            return _NAMED[narrow]
        return narrow if len(narrow) == 1 and narrow.isprintable() else ""

    def _escape(self) -> str:
        """Read what follows Esc: nothing (the key itself), or a sequence, taken whole."""
        if not self._more(_ESCAPE_WAIT):
            return "escape"
        kind = self._waiting[0]
        if kind in "]PX^_":  # a terminal's answer to a question that was not ours
            self._swallow(("\x07", "\x1b\\"))
            return ""
        length = 1
        if kind in "[O":
            length = 2
            while kind == "[" and self._has(length) and " " <= self._waiting[length - 1] <= "?":
                length += 1
            self._has(length)
        sequence, self._waiting = self._waiting[:length], self._waiting[length:]
        if sequence == _PASTE_BEGINS:
            self._swallow((_PASTE_ENDS,))
            return ""
        return _SEQUENCES.get(sequence, "")

    def _has(self, length: int) -> bool:
        while len(self._waiting) < length:
            if not self._more(_ESCAPE_WAIT, beyond=True):
                return False
        return True

    def _more(self, patience: float, *, beyond: bool = False) -> bool:
        if self._waiting and not beyond:
            return True
        if self._ended:
            return False
        ready, _, _ = select.select([self._fd], [], [], patience)
        return bool(ready) and self._fill(0)

    def _swallow(self, ends: tuple[str, ...]) -> None:
        while True:
            found = [(self._waiting.find(end), end) for end in ends if end in self._waiting]
            if found:
                at, end = min(found)
                self._waiting = self._waiting[at + len(end) :]
                return
            if not self._more(_PASTE_WAIT, beyond=True):
                self._waiting = ""
                return

    def _take(self) -> None:
        mode = termios.tcgetattr(self._fd)
        mode[0] &= ~(termios.IXON | termios.ICRNL)
        mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._fd, termios.TCSADRAIN, mode)
        self._write(_PASTES_MARKED)

    def _give_back(self) -> None:
        # A terminal that has hung up cannot be given back, and that is no reason to lose the end.
        with suppress(OSError, termios.error):
            self._write(_PASTES_BARE + _CURSOR_SHOWN)
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def _signals(self) -> dict[signal.Signals, Handler]:
        return {
            signal.SIGTSTP: self._leave,
            signal.SIGTERM: self._leave,
            signal.SIGCONT: self._resume,
            signal.SIGWINCH: self._redraw,
        }

    def _leave(self, number: int, _: FrameType | None) -> None:
        """Give the terminal back, then let the signal do what it did before."""
        self._give_back()
        mine = signal.signal(number, self._handlers[signal.Signals(number)])
        os.kill(os.getpid(), number)
        # Only after a stop does anything run from here: the shell has continued us.
        signal.signal(number, mine)

    def _resume(self, *_: object) -> None:
        self._take()
        self._redraw()

    def _redraw(self, *_: object) -> None:
        with suppress(BlockingIOError):  # a redraw is asked for already
            os.write(self._wake[1], b".")

    def _write(self, text: str) -> None:
        # Not through the stream: a signal may come while the stream itself is writing.
        os.write(self._screen, text.encode())
