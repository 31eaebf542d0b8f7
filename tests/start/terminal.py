"""A terminal to sit at: a real pseudo-terminal, and what its screen shows."""

import errno
import fcntl
import os
import pty
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from select import select

import pyte
import started

ROOT = Path(__file__).parents[2]
PATIENCE = 60
EXEC = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"


class Terminal:
    """A process on a pseudo-terminal; everything it writes is drawn, and kept as bytes too.

    A command that begins with a program is run; any other one is what stands behind `python`,
    in a fork that need not import the tool again.
    """

    def __init__(self, command: list[str], columns: int, rows: int, env: Mapping[str, str]) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=1000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._ours, theirs = pty.openpty()
        self._size(columns, rows)
        program = os.access(command[0], os.X_OK)
        words = ["-c", EXEC, *command] if program else command
        self.process = started.Process(words, env, [theirs] * 3, ROOT)
        os.close(theirs)
        # An editor asks where the cursor is, and waits for the answer.
        self.screen.write_process_input = lambda data: self.press(data)

    def press(self, *keys: str) -> None:
        for key in keys:
            data = key.encode()
            while data:
                data = data[os.write(self._ours, data) :]

    def _size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        self._size(columns, rows)
        self.screen.resize(rows, columns)

    @property
    def text(self) -> str:
        """What can be seen now."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, shown: str, gone: str = "") -> str:
        """Draw what comes until the screen shows it (and no longer shows the other)."""
        return self.wait(lambda text: shown in text and not (gone and gone in text), shown)

    def wait(self, done: Callable[[str], object], wanted: str = "") -> str:
        """Draw what comes until it is as it should be."""
        limit = time.monotonic() + PATIENCE
        while not done(text := self.text):
            if not self._draw(limit):
                raise AssertionError(f"no {wanted!r} in:\n{text}")
        return text

    def _draw(self, limit: float) -> bool:
        """Draw what comes next; whether anything did before the end, and in time."""
        if not select([self._ours], [], [], max(0.0, limit - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False  # nobody has it open on the other side
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def close(self) -> int:
        """Wait for the end; the exit status."""
        limit = time.monotonic() + PATIENCE
        while self._draw(limit):
            pass
        if time.monotonic() >= limit:
            self.kill()
            raise AssertionError(f"it did not end:\n{self.text}")
        return self.process.wait()

    def kill(self) -> None:
        """End it in the midst of what it does."""
        self.process.signal(signal.SIGKILL)
        self.process.wait()

    @property
    def echoes(self) -> bool:
        """Whether the terminal is (or was left) as a shell would have it."""
        mode = termios.tcgetattr(self._ours)[3]
        return bool(mode & termios.ECHO and mode & termios.ICANON)

    def gone(self) -> None:
        """Take it away, and end what still sits at it."""
        self.kill()
        os.close(self._ours)
