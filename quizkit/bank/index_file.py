"""The file an index lies in: made where there is none, made anew where it cannot be used."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from quizkit import __version__
from quizkit.bank.entry import Entry

RECIPE = 8
"""Counts up whenever the same files would make other lines."""

_MAPPED = 1 << 30  # bytes
_PATIENCE = 5.0  # seconds to wait for another session that writes lines
_OUTSIDE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
)
_TABLES = (
    "create table shelves (topic text primary key, changed integer)",
    """create table files (name text primary key, topic text, changed integer, size integer,
        problems text)""",
    f"create table entries ({', '.join(Entry._fields)}, primary key (id))",
    "create index entries_topic on entries (topic)",
    "create table texts (id text primary key, front integer, whole blob, row text)",
    "create table notes (name text primary key, note text)",
)


def _maker() -> str:
    """Name the code that wrote the lines: a checkout's reader changes without a new version."""
    sources = Path(__file__).parent.glob("*.py")
    return f"{__version__}:{RECIPE}:{max(path.stat().st_mtime_ns for path in sources)}"


def opened(folder: Path, cache: Path | None) -> sqlite3.Connection:
    """Open the index's file, fresh if it cannot be used; without a place for it, in memory."""
    if cache is not None:
        for _ in range(2):
            try:
                return _made(_place(folder, cache))
            except sqlite3.Error as error:
                if not is_damage(error):
                    break  # locked, full or read-only: this once without the file
                discard(folder, cache)
    return _made(Path(":memory:"))


def discard(folder: Path, cache: Path | None) -> None:
    """Take away the index's file, which can be made again."""
    if cache is not None:
        for end in ("", "-journal"):  # what is left of a write belongs to this file alone
            with suppress(OSError):
                _place(folder, cache).with_suffix(f".sqlite3{end}").unlink()


def is_damage(error: Exception) -> bool:
    """Tell whether the file itself is to blame, not where it lies or who else has it open."""
    if not isinstance(error, sqlite3.Error):
        return isinstance(error, (ValueError, TypeError, LookupError))  # a line that is none
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _OUTSIDE


def _place(folder: Path, cache: Path) -> Path:
    name = sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return cache / f"bank-{name}.sqlite3"


def _made(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        database.execute("pragma cell_size_check = on")
        # A search reads it all: no copy of it first.
        database.execute(f"pragma mmap_size = {_MAPPED}")
        by = _maker()
        with writing(database):
            database.execute("create table if not exists made (by text)")
            if database.execute("select by from made").fetchone() != (by,):
                for table in ("shelves", "files", "entries", "texts", "notes"):
                    database.execute(f"drop table if exists {table}")
                for statement in _TABLES:
                    database.execute(statement)
                database.execute("delete from made")
                database.execute("insert into made values (?)", (by,))
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def writing(database: sqlite3.Connection) -> Generator[None]:
    """Write all or nothing of what is done inside."""
    # From the first look on: what two sessions find at once must not be written by both.
    database.execute("begin immediate")
    try:
        yield
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise
