"""Ctrl-C where a KeyboardInterrupt would be lost or come out as somebody else's traceback; SIGTERM
where something would be lost with it."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

INTERRUPTED = 128 + signal.SIGINT
"""The exit code of whatever Ctrl-C has ended."""
TERMINATED = 128 + signal.SIGTERM


@contextmanager
def unwinding() -> Generator[None]:
    """While there is something to keep and to end, SIGTERM goes through every `finally`, once.

    Whatever it has become on its way (a RuntimeError, where a class was being made), it leaves here
    as SystemExit(TERMINATED).
    """
    came = False

    def leave(number: int, frame: object) -> None:
        nonlocal came
        came = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would cut that short
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except Exception as error:
        if came:
            raise SystemExit(TERMINATED) from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


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
