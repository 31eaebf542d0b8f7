"""One interview at a time: the seat is held while it goes on, and free once its process is gone."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from quizkit.errors import DiaryError, UsageError

_NAME = "mock.lock"


@contextmanager
def seat(home: Path) -> Generator[None]:
    """Hold the seat. Raises UsageError where another interview is going on."""
    try:
        descriptor = os.open(home / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DiaryError("file_write", file=home / _NAME, reason=reason) from error
    try:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise UsageError("mock_taken") from None
        yield
    finally:
        os.close(descriptor)  # and with it the lock; a killed process lets go of it as well
