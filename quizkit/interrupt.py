"""Ctrl-C where a KeyboardInterrupt would be lost or come out as somebody else's traceback."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

INTERRUPTED = 128 + signal.SIGINT
"""The exit code of whatever Ctrl-C has ended."""


@contextmanager
def at_once() -> Generator[None]:
    """While modules are imported, and nothing can be lost, Ctrl-C ends the process then and there.

    Raised inside an import it may be swallowed (a weak reference's callback), or arrive as a
    RuntimeError (a class being made): the program would go on, or end with a traceback.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # ignored (`nohup`), or somebody's who knows better
        return
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def over() -> None:
    """The exit code is settled: neither a late Ctrl-C nor one that was dealt with changes it.

    Python ends by the signal, whatever the exit code, if a KeyboardInterrupt ever went through an
    `exec` of text, as when a dataclass is made; the next such `exec` makes it forget that.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exec("")  # noqa: S102
