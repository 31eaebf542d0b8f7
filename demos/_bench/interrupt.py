"""Ctrl-C and kill, at any moment: one line, no process left."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SET_CHILD_SUBREAPER = 36

children: set[int] = set()
"""Process ids this process has started and not yet waited for."""

_not_ours: set[int] | None = None
"""Children that were here before (a shell may exec us over its own), once strays come to us."""


def adopt_strays() -> None:
    """Have processes that a rank leaves behind become our children, so that they can be ended."""
    global _not_ours
    if sys.platform == "linux" and _not_ours is None:
        _not_ours = living()
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def forget() -> None:
    """In a forked child: what the parent had started is not ours."""
    global _not_ours
    children.clear()
    _not_ours = None


def living() -> set[int]:
    """The processes whose parent we are."""
    me, found = os.getpid(), set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it may end while we look
                fields = (folder / "stat").read_bytes().rsplit(b") ", 1)[1].split()
                if int(fields[1]) == me:
                    found.add(int(folder.name))
    return found


def end(pid: int) -> None:
    """Kill a child and wait until it is gone; a handler may have been quicker."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    children.discard(pid)


def end_all() -> None:
    """Leave no process behind: ranks first, then whatever they had started themselves."""
    for pid in tuple(children):
        end(pid)
    if _not_ours is not None:
        while strays := living() - _not_ours:
            for pid in strays:
                end(pid)


def interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """Signal handler: take the ranks along and go, without unwinding whatever was under way."""
    del frame
    end_all()
    if number == signal.SIGINT:
        os.write(2, b"interrupted\n")
    os._exit(128 + number)


@contextmanager
def held_back() -> Iterator[None]:
    """Keep signals waiting while a process is started, so that none is lost from sight."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
