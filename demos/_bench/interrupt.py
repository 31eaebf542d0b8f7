"""Ctrl-C and kill, at any moment: one line, no process left."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)

children: set[int] = set()
"""Process ids this process has started and not yet waited for."""


def end(pid: int) -> int | None:
    """Kill a child of ours and wait until it is gone; gives its status if it was there."""
    if pid not in children:
        return None
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    children.discard(pid)
    return status


def interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """Signal handler: take the ranks along and go, without unwinding whatever was under way."""
    del frame
    for pid in tuple(children):
        end(pid)
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
