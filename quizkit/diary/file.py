"""The file on disk: private, locked, brought up to date, and every failure one sentence."""

import os
import sqlite3
import stat
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep

from quizkit.diary.rows import COLUMNS, Row, Table
from quizkit.diary.salvage import Span, salvaged
from quizkit.diary.tables import MIGRATIONS
from quizkit.errors import DiaryError

_WAIT_SECONDS = 5.0
_SILENT_SECONDS = 1.0
_PATIENT_SECONDS = 60.0


class File:
    """One open SQLite file. Raises nothing but DiaryError.

    `waiting` is held while another program keeps the file locked. Whoever is told so can wait for
    long, and end the waiting with Ctrl-C; the lock is then the error that it would have been.
    """

    waiting: Callable[[], AbstractContextManager[object]] | None = None

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told():
            if _exists(path):
                self._look()
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
        """What a query finds. What of a text is damaged reads as U+FFFD."""
        with self._told():
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.OperationalError as error:
                if _code(error):
                    raise
            # It was Python that found no text in a text, not SQLite.
            with self._lenient():
                return self._db.execute(query, values).fetchall()

    def write(self, query: str, rows: Iterable[Row], *, patience: float | None = None) -> None:
        """Write rows, all or none of them. When this returns they are on disk."""
        with self.writing(patience):
            self.add(query, rows)

    def add(self, query: str, rows: Iterable[Row]) -> None:
        """Write rows as part of what `writing` holds together."""
        with self._told():
            self._db.executemany(query, rows)

    @contextmanager
    def writing(self, patience: float | None = None) -> Generator[None]:
        """All that is written inside is on disk afterwards, or nothing; nobody else writes.

        `patience` is how many seconds to wait for a lock at most, without a word.
        """
        with self._told(), self._transaction(patience):
            yield

    def back_up(self, name: str) -> Path:
        """Keep the file beside it as it was before what is being written now.

        Copies of that name are numbered; none goes, and none is there before it is whole.
        """
        with self._told():
            # Nobody else makes one meanwhile: these were left by a process that was killed.
            for left in self.path.parent.glob(f"{self.path.name}.{name}.{'[0-9a-f]' * 8}"):
                left.unlink()
            draft = self.path.with_name(f"{self.path.name}.{name}.{token_hex(4)}")
            _make_private(draft)
            # SQLite copies nothing out of a connection that is writing.
            with (
                closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS)) as before,
                closing(sqlite3.connect(draft)) as copy,
            ):
                before.backup(copy)
            final = _unused(self.path, name)
            draft.rename(final)
        return final

    def damage(self) -> str:
        """What is wrong with a page or a row of the file, or nothing."""
        try:
            found = str(self.rows("pragma integrity_check(1)")[0][0])
        except DiaryError as error:
            if error.key != "diary_corrupt":
                raise
            return str(error.values["reason"])
        return "" if found == "ok" else found.splitlines()[-1]

    def salvage(self, table: Table, *, sound: bool) -> tuple[dict[int, Row], list[Span]]:
        """The rows of a table that can be read, by id, and where some cannot."""
        with self._told(), self._lenient():
            return salvaged(self._db, table, self.path.stat().st_size, sound=sound)

    @contextmanager
    def _lenient(self) -> Generator[None]:
        self._db.text_factory = _text
        try:
            yield
        finally:
            self._db.text_factory = str

    def _look(self) -> None:
        """See whose file it is before it is touched. Raises DiaryError where it is not ours."""
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise DiaryError("diary_foreign", file=self.path, reason="")
        try:
            address = f"{self.path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, timeout=_WAIT_SECONDS, uri=True)) as look:
                look.execute("begin")  # one state: another of us may be making it this moment
                version = look.execute("pragma user_version").fetchone()[0]
                found = [row[0] for row in look.execute(_TABLES)]
                ours = look.execute(_OURS).fetchone()[0]
        except sqlite3.OperationalError:
            return  # locked, or nothing that can be looked at unchanged: opening it will tell
        if version > len(MIGRATIONS) and "answers" in found:
            known = len(MIGRATIONS)
            raise DiaryError("diary_newer", file=self.path, found=version, known=known)
        if (version or found) and not (version and ours):
            tables = ", ".join(repr(name)[1:-1] for name in found[:5]) or "-"
            raise DiaryError("diary_others", file=self.path, tables=tables)

    def _open(self) -> None:
        if self._version() < len(MIGRATIONS):
            with self._transaction():
                # Another process may have been faster between the look and the lock.
                version = self._version()
                if 0 < version < len(MIGRATIONS):
                    self.back_up(f"v{version}")
                for number, steps in enumerate(MIGRATIONS[version:], start=version + 1):
                    for step in steps:
                        self._db.execute(step)
                    self._db.execute(f"pragma user_version = {number}")
        # Several sessions may start on a new file at once.
        self._patiently("pragma journal_mode = wal")
        # What is acknowledged outlives a power cut too: a fifth of a millisecond an answer.
        self._db.execute("pragma synchronous = full")

    def _patiently(self, statement: str, patience: float | None = None) -> None:
        """Wait for a lock. SQLite looks ever more seldom, and among eager writers would starve."""
        began, told, waiting = monotonic(), False, None if patience else self.waiting
        self._db.execute("pragma busy_timeout = 0")
        with ExitStack() as held:
            held.callback(self._db.execute, f"pragma busy_timeout = {1000 * _WAIT_SECONDS:.0f}")
            while True:
                try:
                    self._db.execute(statement)
                    return
                except sqlite3.OperationalError as error:
                    waited = monotonic() - began
                    limit = _PATIENT_SECONDS if told else patience or _WAIT_SECONDS
                    if _code(error) != sqlite3.SQLITE_BUSY or waited > limit:
                        raise
                    try:
                        if waiting and not told and waited > _SILENT_SECONDS:
                            told = True
                            held.enter_context(waiting())
                        sleep(0.002)
                    except KeyboardInterrupt:
                        if told:
                            raise error from None
                        raise

    def _version(self) -> int:
        return int(self._db.execute("pragma user_version").fetchone()[0])

    @contextmanager
    def _transaction(self, patience: float | None = None) -> Generator[None]:
        try:
            # Deferred transactions fail at once where another process wrote meanwhile.
            self._patiently("begin immediate", patience)
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
            key = _KEYS.get(_code(error), "diary_io")
            raise DiaryError(key, file=self.path, reason=str(error)) from error
        except UnicodeDecodeError as error:  # it quotes what is damaged, and Python cannot read it
            raise DiaryError("diary_corrupt", file=self.path, reason=error.reason) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise DiaryError("diary_open", file=self.path, reason=reason) from error


_TABLES = "select name from sqlite_master where type = 'table' order by name"
_COLUMNS = [
    f"(select count(*) from pragma_table_info('{table}') where name in"  # noqa: S608
    f" ({', '.join(map(repr, columns))})) = {len(columns)}"
    for table, columns in COLUMNS.items()
]
_OURS = f"""select {" and ".join(_COLUMNS)} and 3 = (select count(*) from pragma_table_list
    where name in ('answers', 'events', 'cards') and strict)"""  # noqa: S608
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


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def exists(path: Path) -> bool:
    """Whether there is a diary. Raises DiaryError where nobody can tell, as of a dead link."""
    try:
        return _exists(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DiaryError("diary_open", file=path, reason=reason) from error


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            # A diary that is begun on the folder of a drive is gone once the drive is there.
            raise DiaryError("diary_link", file=path, target=path.readlink()) from None
        return False
    return True


def _make_private(path: Path) -> None:
    """See to it that the file is there and is the learner's alone; SQLite's helpers inherit it.

    It is not opened where it is there: closing it would give up the locks of this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for each in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))):
        with suppress(FileNotFoundError):
            if each.stat().st_mode & 0o077:
                each.chmod(0o600)


def _unused(path: Path, name: str) -> Path:
    """A name for a copy that no copy has."""
    part, number = name, 1
    while (final := path.with_name(f"{path.name}.{part}.backup")).exists():
        number += 1
        part = f"{name}-{number}"
    return final


def backups(path: Path) -> list[Path]:
    """The copies that were kept beside the diary, the oldest first."""
    found = (each for each in path.parent.glob(f"{path.name}.*.backup") if each.is_file())
    return sorted(found, key=lambda each: (each.stat().st_mtime_ns, each.name))


def erase(path: Path) -> list[Path]:
    """Remove the diary and everything that was kept beside it; what was there is returned.

    Raises DiaryError where something stays, or where nobody can tell whether there is anything.
    """
    exists(path)
    final = path.resolve()  # a link is not all there is to remove
    there = {final.with_name(f"{final.name}{end}") for end in ("", "-wal", "-shm", "-journal")}
    gone: list[Path] = []
    try:
        for each in sorted({*path.parent.glob(f"{path.name}*"), *there}):
            if each.is_file() or each.is_symlink():
                each.unlink(missing_ok=True)
                gone.append(each)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DiaryError("diary_open", file=path, reason=reason) from error
    return gone
