"""Ctrl-C and kill, at any moment: one line, no process left."""

import ctypes
import os
import signal
import sys
import time
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
    """The processes whose parent we are, as far as this kernel tells."""
    found: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        found.update(int(pid) for pid in file.read_text().split())
    return found


def collected(pid: int, patience: float) -> int | None:
    """The wait status of a child that is going; None if it stays."""
    until = time.monotonic() + patience
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            children.discard(pid)
            return status
        if time.monotonic() > until:
            return None
        time.sleep(0.002)


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
