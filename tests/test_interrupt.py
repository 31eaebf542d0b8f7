"""SIGTERM where Python makes something else of what a signal's handler raises."""

import os
import signal

import pytest

from quizkit.interrupt import TERMINATED, unwinding


class Stop:
    """Ends the process politely, in the middle of the making of a class."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Called by `type`, which wraps every exception into a RuntimeError up to Python 3.11."""
        os.kill(os.getpid(), signal.SIGTERM)
        os.getpid()  # by now the handler has been called


class Lock:
    """Released twice, as a Condition is whose wait is left by a signal."""

    def __enter__(self) -> None:
        """Nothing is held."""

    def __exit__(self, *_: object) -> None:
        """What the standard library's own condition then says."""
        raise RuntimeError("release unlocked lock")


def test_sigterm_leaves_as_itself_whatever_it_has_become() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as left, unwinding():
        type("Made", (), {"stop": Stop()})
    assert left.value.code == TERMINATED
    with pytest.raises(SystemExit) as left, unwinding(), Lock():
        os.kill(os.getpid(), signal.SIGTERM)
    assert left.value.code == TERMINATED
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_no_signal_caused_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="release unlocked lock"), unwinding(), Lock():
        pass
