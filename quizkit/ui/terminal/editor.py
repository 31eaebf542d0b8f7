"""The learner's own editor on a draft, for as long as a clock allows.

The editor is a job of its own at the terminal, as a shell would have it: Ctrl-C and Ctrl-Z are the
editor's, and when time is up the whole job is ended, whatever it has started. What was saved by
then is the text. A kill of this program ends the editor first and hands the text on.
"""

import os
import shlex
import signal
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from quizkit.tutor.verdict import Note

_POLL = 0.1
_GRACE = 2.0
"""Seconds an editor has to tidy up once time is over."""
_TIDY = "\x1b[?1049l\x1b[?2004l\x1b[?25h\x1b[0m"
"""After a killed editor: off its second screen, no marked pastes, a cursor, no style."""


@dataclass(frozen=True, slots=True)
class Edited:
    """The text as it was last saved; `late`: the clock ended it; `trouble`: what went wrong."""

    text: str
    late: bool = False
    trouble: Note | None = None


def chosen_editor() -> str:
    """Return the command that the environment names, as typed; nothing if none."""
    return (os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "")).strip()


def edit(draft: str, deadline: float | None, keep: Callable[[str], None] | None) -> Edited:
    """Let the learner edit the draft in their editor.

    `deadline` is a moment of `time.monotonic`. `keep` takes what is saved so far, again and again;
    what it raises ends the editor. Raises KeyboardInterrupt when this program is told to end.
    """
    command = chosen_editor()
    if not command:
        return Edited(draft, trouble=("mock.editor_none", {}))
    with tempfile.TemporaryDirectory(prefix="quizkit-") as folder:
        file = Path(folder) / "answer.md"
        # An editor expects a last line that has ended, as it will leave one.
        file.write_text(f"{draft}\n" if draft else "", encoding="utf-8")
        failed: Note = ("mock.editor_failed", {"editor": command})
        try:
            job = _Job([*shlex.split(command), str(file)])
        except (OSError, ValueError):
            return Edited(draft, trouble=failed)
        status: int | None = None
        with _ended_by_signals(), job:
            try:
                while status is None and (deadline is None or time.monotonic() < deadline):
                    status = job.wait(_POLL)
                    if keep:
                        keep(_read(file, draft))
            finally:
                # Also on its way out: what was saved is handed on, then the file goes.
                if keep:
                    keep(_read(file, draft))
        text = _read(file, draft)
        if status is None:
            return Edited(text, late=True)
        if status:
            return Edited(text if text.strip() else draft, trouble=failed)
        return Edited(text)


def _read(file: Path, draft: str) -> str:
    """What is in the file; the draft where an editor has left nothing to read.

    The last line's end is the editor's; a blank line after it is the learner's, who goes on there.
    """
    try:
        written = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return draft
    text = written.rstrip("\n")
    return f"{text}\n" if text and written.endswith("\n\n") else text


class _Job:
    """A program in the terminal's foreground, in a group of its own."""

    def __init__(self, command: list[str]) -> None:
        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)
        # Whoever is not in the foreground is stopped for moving it; we are not while it runs.
        self._told = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            self._group = os.posix_spawnp(
                command[0],
                command,
                os.environ,
                setpgroup=0,
                setsigdef=[signal.SIGTTOU, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE],
            )
        except OSError:
            signal.signal(signal.SIGTTOU, self._told)
            raise
        self._over = False

    def __enter__(self) -> "_Job":
        self._front(self._group)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._over:
            self._end()
        self._front(os.getpgrp())
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)
        signal.signal(signal.SIGTTOU, self._told)

    def wait(self, seconds: float) -> int | None:
        """Return its exit status, or None if it has none after so many seconds."""
        limit = time.monotonic() + seconds
        while True:
            number, status = os.waitpid(self._group, os.WNOHANG | os.WUNTRACED)
            if number and os.WIFSTOPPED(status):
                self._stopped(os.WSTOPSIG(status))
            elif number:
                self._over = True
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= limit:
                return None
            time.sleep(_POLL / 5)

    def _stopped(self, by: int) -> None:
        """Stop with it and go on with it; not where it only asked for the terminal too early."""
        if by not in (signal.SIGTTIN, signal.SIGTTOU):
            theirs = termios.tcgetattr(self._terminal)
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)
            self._front(os.getpgrp())
            os.kill(0, signal.SIGTSTP)  # from here on after `fg`
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, theirs)
        self._front(self._group)
        os.killpg(self._group, signal.SIGCONT)

    def _end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._group, number)
                os.killpg(self._group, signal.SIGCONT)  # what is stopped hears nothing else
            if self.wait(_GRACE) is not None:
                break
        # Whatever the editor had started goes with it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGKILL)
        with suppress(OSError):
            os.write(sys.stdout.fileno(), _TIDY.encode())

    def _front(self, group: int) -> None:
        with suppress(OSError):  # a terminal that has gone has no foreground
            os.tcsetpgrp(self._terminal, group)


@contextmanager
def _ended_by_signals() -> Generator[None]:
    """SIGTERM and a lost terminal leave as Ctrl-C does: what was saved is kept on the way out."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
