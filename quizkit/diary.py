"""The learner's diary: one table of answers that only grows. Everything else is derived from it.

An answer is committed before `append` returns. What was a mistake is taken back by a further row
that names it. The cards (what is remembered, and until when) lie beside it as a cache and can be
rebuilt from the answers at any time.
"""

import json
import os
import sqlite3
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep
from types import TracebackType

from quizkit.answer import FLAG, GRADE, RIGHT, UNDO, Answer, Card, Mode, Review, counted, flagged
from quizkit.errors import DiaryError
from quizkit.tables import MIGRATIONS

__all__ = [
    "FLAG", "GRADE", "RIGHT", "UNDO", "Answer", "Card", "Diary", "Mode", "Review", "counted",
    "erase", "flagged",
]  # fmt: skip

_WAIT_SECONDS = 5.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_COLUMNS = tuple(each.name for each in fields(Answer))
_INSERT = f"insert into answers ({', '.join(_COLUMNS)}) values ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
_SELECT = f"select {', '.join(_COLUMNS)} from answers order by id"  # noqa: S608


class Diary:
    """The file. Several processes may have it open at once."""

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

    def __enter__(self) -> "Diary":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; nothing is pending."""
        self._db.close()

    @property
    def device(self) -> str:
        """A random name for this diary's machine: the one it has, else a new one."""
        with self._told():
            row = self._db.execute("select device from answers order by id limit 1").fetchone()
        return str(row[0]) if row else token_hex(4)

    def append(self, answer: Answer) -> None:
        """Add a row. When this returns, the row is on disk."""
        with self._told(), self._writing():
            self._db.execute(_INSERT, _packed(answer))

    def answers(self) -> list[Answer]:
        """Every row, in the order in which they came."""
        with self._told():
            return [_unpacked(row) for row in self._db.execute(_SELECT)]

    def cards(self, recipe: int) -> tuple[int, dict[str, Card]]:
        """The cached cards made by this recipe, and up to which row they know the answers."""
        query = """select seen, question, stability, difficulty, due, last, reps, lapses
            from cards where recipe = ?"""
        with self._told():
            rows = self._db.execute(query, (recipe,)).fetchall()
        cards = {
            q: Card(q, stability, difficulty, _time(due), _time(last), reps, lapses)
            for _, q, stability, difficulty, due, last, reps, lapses in rows
            if reps
        }
        return max((row[0] for row in rows), default=0), cards

    def news(self, seen: int) -> tuple[int, set[str]]:
        """The last row, and the questions that the rows after `seen` are about."""
        query = "select max(id), question from answers where id > ? group by question"
        with self._told():
            rows = self._db.execute(query, (seen,)).fetchall()
        return max((row[0] for row in rows), default=seen), {row[1] for row in rows}

    def reviews(self, questions: Collection[str] | None = None) -> Iterator[Review]:
        """The answers that count, of these questions or of all, in the order they came."""
        query = """select question, at, grade from answers as a where grade is not null
            and not exists (select 1 from answers as u where u.undoes = a.uuid)"""
        with self._told():
            if questions is None:
                rows = self._db.execute(query + " order by id").fetchall()
            else:
                wanted = json.dumps(sorted(questions))
                query += " and question in (select value from json_each(?)) order by id"
                rows = self._db.execute(query, (wanted,)).fetchall()
        for question, at, grade in rows:
            yield Review(question, _time(at), grade)

    def keep_cards(
        self, cards: Iterable[Card], forgotten: Iterable[str], seen: int, recipe: int
    ) -> None:
        """Cache cards that know the answers up to row `seen`; of the forgotten nothing counts."""
        rows: list[tuple[object, ...]] = [
            (q.question, seen, recipe, q.reps, q.lapses, *_state(q)) for q in cards
        ]
        rows += [(question, seen, recipe, 0, 0, *[None] * 4) for question in forgotten]
        query = """insert into cards values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (question) do
            update set (seen, recipe, reps, lapses, stability, difficulty, due, last) =
            (excluded.seen, excluded.recipe, excluded.reps, excluded.lapses, excluded.stability,
            excluded.difficulty, excluded.due, excluded.last)
            where excluded.seen >= seen or excluded.recipe <> recipe"""
        with self._told(), self._writing():
            self._db.executemany(query, rows)

    def _open(self) -> None:
        version = self._version()
        if version > len(MIGRATIONS):
            known = len(MIGRATIONS)
            raise DiaryError("diary_newer", file=self.path, found=version, known=known)
        if version < len(MIGRATIONS):
            if version:
                self._back_up(version)
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
        self._write_ahead()
        self._db.execute("pragma synchronous = normal")

    def _write_ahead(self) -> None:
        # SQLite does not wait for a lock here: several sessions may start on a new file at once.
        patience = monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._db.execute("pragma journal_mode = wal")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > patience:
                    raise
                sleep(0.005)

    def _version(self) -> int:
        return int(self._db.execute("pragma user_version").fetchone()[0])

    def _back_up(self, version: int) -> None:
        final = self.path.with_name(f"{self.path.name}.v{version}.backup")
        draft = final.with_name(f"{final.name}.{token_hex(4)}")
        _make_private(draft)
        copy = sqlite3.connect(draft)
        try:
            self._db.backup(copy)
        finally:
            copy.close()
        draft.replace(final)

    @contextmanager
    def _writing(self) -> Generator[None]:
        # Deferred transactions fail at once where another process wrote meanwhile.
        self._db.execute("begin immediate")
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


def erase(path: Path) -> list[Path]:
    """Remove the diary and everything that was kept beside it; what was there is returned."""
    beside = path.parent.glob(f"{path.name}*")
    gone = sorted(each for each in beside if each.is_file())
    for each in gone:
        each.unlink(missing_ok=True)
    return gone


def _state(card: Card) -> tuple[float, float, int, int]:
    return card.stability, card.difficulty, _ms(card.due), _ms(card.last)


def _ms(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(milliseconds=1)


def _time(ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=ms)


def _packed(answer: Answer) -> list[str | int | float | None]:
    values: dict[str, object] = {name: getattr(answer, name) for name in _COLUMNS}
    values["at"] = _ms(answer.at)
    values["given"] = json.dumps(answer.given, ensure_ascii=False)
    return [v if isinstance(v, str | int | float) else None for v in values.values()]


def _unpacked(row: tuple[object, ...]) -> Answer:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["at"] = _time(int(str(values["at"])))
    values["given"] = json.loads(str(values["given"]))
    for name in ("right", "sure"):
        values[name] = None if values[name] is None else bool(values[name])
    return Answer(**values)  # pyright: ignore[reportArgumentType]
