"""Files that a person named or keeps: written whole or not at all, and read only if they are files.

A failure is one sentence, of the kind that the caller asks for.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from quizkit.errors import QuizkitError, UsageError


def write(path: Path, said: bytes | str, *, failure: type[QuizkitError] = UsageError) -> None:
    """Put all of it into the file; if that fails, what was there stays as it was."""
    try:
        final = os.path.realpath(path)  # a link goes on leading to the file it led to
        mode = _mode(final, path, failure)
        draft = os.path.join(os.path.dirname(final), f".quizkit-{token_hex(8)}")  # noqa: PTH118, PTH120
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                file.write(said.encode() if isinstance(said, str) else said)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, final)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)  # noqa: PTH108
            raise
    except OSError as error:
        raise failure("file_write", file=path, reason=_reason(error)) from error


def read(path: Path, limit: int, *, failure: type[QuizkitError] = UsageError) -> bytes:
    """What is in the file. One of more than `limit` bytes is refused before it fills the memory."""
    try:
        # A pipe that nobody writes to would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise failure("file_kind", file=path)
            said = file.read(limit + 1)
    except IsADirectoryError as error:
        raise failure("file_kind", file=path) from error
    except OSError as error:
        raise failure("file_read", file=path, reason=_reason(error)) from error
    if len(said) > limit:
        raise failure("file_large", file=path, limit=f"{limit:,}")
    return said


def _mode(final: str, path: Path, failure: type[QuizkitError]) -> int | None:
    """The permissions of the file that is replaced, or None where there is none yet."""
    try:
        state = os.stat(final)  # noqa: PTH116
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(state.st_mode):
        raise failure("file_kind", file=path)
    os.close(os.open(final, os.O_WRONLY | os.O_CLOEXEC))  # what is write-protected is not replaced
    return stat.S_IMODE(state.st_mode)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
