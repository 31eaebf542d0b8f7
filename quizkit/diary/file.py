"""The file on disk: private, locked, brought up to date, and every failure one sentence."""

import os
import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep

from quizkit.diary.tables import MIGRATIONS
from quizkit.errors import DiaryError

Row = tuple[str | int | float | None, ...]

_WAIT_SECONDS = 5.0


class File:
    """One open SQLite file. Raises nothing but DiaryError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told():
            _make_private(path)
            self._db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            with self._told():
                self._open()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Let go of the file; nothing is pending."""
        self._db.close()

    def rows(self, query: str, values: Sequence[str | int] = ()) -> list[Row]:
        """What a query finds."""
        with self._told():
            return self._db.execute(query, values).fetchall()

    def write(self, query: str, rows: Iterable[Row]) -> None:
        """Write rows, all or none of them. When this returns they are on disk."""
        self.write_all((query, rows))

    def write_all(self, *steps: tuple[str, Iterable[Row]]) -> None:
        """Write several kinds of rows, all or none of them."""
        with self._told(), self._writing():
            for query, rows in steps:
                self._db.executemany(query, rows)

    def back_up(self, name: str) -> Path:
        """Keep the file as it is now beside it. Copies of that name are numbered; none goes."""
        draft = self.path.with_name(f"{self.path.name}.{name}.{token_hex(4)}")
        with self._told():
            _make_private(draft)
            copy = sqlite3.connect(draft)
            try:
                self._db.backup(copy)
            finally:
                copy.close()
            final = _unused(self.path, name)
            draft.replace(final)
        return final

    def examine(self) -> None:
        """Look at every page of the file. Raises DiaryError where one is damaged."""
        found = self.rows("pragma integrity_check(1)")
        if found != [("ok",)]:
            reason = str(found[0][0]).splitlines()[-1]
            raise DiaryError("diary_corrupt", file=self.path, reason=reason)

    def _open(self) -> None:
        version = self._version()
        if version > len(MIGRATIONS):
            known = len(MIGRATIONS)
            raise DiaryError("diary_newer", file=self.path, found=version, known=known)
        if version < len(MIGRATIONS):
            if version:
                self.back_up(f"v{version}")
            with self._writing():
                # Another process may have been faster between the look and the lock.
                version = self._version()
                tables = self._db.execute("select count(*) from sqlite_master").fetchone()[0]
                if version == 0 and tables:
                    raise DiaryError("diary_foreign", file=self.path, reason="")
                for steps in MIGRATIONS[version:]:
                    for step in steps:
                        self._db.execute(step)
                self._db.execute(f"pragma user_version = {len(MIGRATIONS)}")
        # Several sessions may start on a new file at once.
        self._patiently("pragma journal_mode = wal")
        # What is acknowledged outlives a power cut too: a fifth of a millisecond an answer.
        self._db.execute("pragma synchronous = full")

    def _patiently(self, statement: str) -> None:
        """Wait for a lock. SQLite looks ever more seldom, and among eager writers would starve."""
        until = monotonic() + _WAIT_SECONDS
        self._db.execute("pragma busy_timeout = 0")
        try:
            while True:
                try:
                    self._db.execute(statement)
                    return
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > until:
                        raise
                    sleep(0.002)
        finally:
            self._db.execute(f"pragma busy_timeout = {1000 * _WAIT_SECONDS:.0f}")

    def _version(self) -> int:
        return int(self._db.execute("pragma user_version").fetchone()[0])

    @contextmanager
    def _writing(self) -> Generator[None]:
        # Deferred transactions fail at once where another process wrote meanwhile.
        self._patiently("begin immediate")
        try:
            yield
            self._db.execute("commit")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("rollback")
            raise

    @contextmanager
    def _told(self) -> Generator[None]:
        """What SQLite and the system complain about, as one sentence that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            key = _KEYS.get(code, "diary_io")
            raise DiaryError(key, file=self.path, reason=str(error)) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise DiaryError("diary_open", file=self.path, reason=reason) from error


_KEYS = {
    sqlite3.SQLITE_FULL: "diary_full",
    sqlite3.SQLITE_CORRUPT: "diary_corrupt",
    sqlite3.SQLITE_NOTADB: "diary_foreign",
    sqlite3.SQLITE_BUSY: "diary_busy",
    sqlite3.SQLITE_LOCKED: "diary_busy",
    sqlite3.SQLITE_READONLY: "diary_open",
    sqlite3.SQLITE_CANTOPEN: "diary_open",
    sqlite3.SQLITE_PERM: "diary_open",
}


def _make_private(path: Path) -> None:
    """See to it that the file is there and is the learner's alone; SQLite's helpers inherit it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _unused(path: Path, name: str) -> Path:
    """A name for a copy that no copy has; it is taken, as another process may look for one too."""
    part, number = name, 1
    while True:
        final = path.with_name(f"{path.name}.{part}.backup")
        try:
            os.close(os.open(final, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            number += 1
            part = f"{name}-{number}"
        else:
            return final


def backups(path: Path) -> list[Path]:
    """The copies that were kept beside the diary, the oldest first."""
    found = (each for each in path.parent.glob(f"{path.name}.*.backup") if each.is_file())
    return sorted(found, key=lambda each: (each.stat().st_mtime_ns, each.name))


def erase(path: Path) -> list[Path]:
    """Remove the diary and everything that was kept beside it; what was there is returned."""
    beside = path.parent.glob(f"{path.name}*")
    gone = sorted(each for each in beside if each.is_file())
    for each in gone:
        each.unlink(missing_ok=True)
    return gone
