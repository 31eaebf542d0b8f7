"""A diary on its way to another machine: as JSON, or as the file itself."""

import json
import shutil
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

from quizkit.answer import Answer, SessionEvent, counted
from quizkit.diary.book import Diary
from quizkit.diary.rows import COLUMNS, LeftOut, Pages, Table, UnusableError, answer_of, event_of
from quizkit.errors import DiaryError
from quizkit.safe_file import read

SCHEMA = "quizkit/diary/1"
_FAMILY = "quizkit/diary/"
_SQLITE = b"SQLite format 3\0"

LARGEST = 256 * 2**20
"""Bytes of JSON that are read: some half a million answers."""
_DEEPEST = 32
"""So deep no answer is nested; what is deeper may be read once and never again."""
_AHEAD = timedelta(days=1)
"""By so much the clock of another machine may be fast."""

Kind = TypeVar("Kind", Answer, SessionEvent)


def exported(pages: Pages) -> dict[str, Any]:
    """The rows as JSON has them; each answer says too whether it counts."""
    counts = {row.uuid for row in counted(pages.answers)}
    answers = [_plain(row) | {"counts": row.uuid in counts} for row in pages.answers]
    return {
        "schema": SCHEMA,
        "answers": answers,
        "events": [_plain(event) for event in pages.events],
        "left_out": [asdict(each) for each in pages.left_out],
    }


def pages(file: Path, now: datetime | None = None) -> Pages:
    """The rows of another diary, or of one that was exported. The file is only read.

    Raises DiaryError where it is anything else. A row that nothing could use is left out.
    """
    if _is_database(file):
        return _strict(_of_diary(file), now)
    return imported(read(file, LARGEST, failure=DiaryError), str(file), now)


def imported(text: bytes, name: str, now: datetime | None = None) -> Pages:
    """The rows of what `exported` made; `name` says in messages where it is from."""
    if len(text) > LARGEST:
        raise DiaryError("file_large", file=name, limit=f"{LARGEST:,}")
    try:
        said: Any = json.loads(text)
        schema = said["schema"]
        if schema != SCHEMA and isinstance(schema, str) and schema.startswith(_FAMILY):
            raise DiaryError("merge_newer", file=name, found=schema, known=SCHEMA)
        if schema != SCHEMA:
            raise ValueError(f"schema {schema}")
        tables: list[list[Any]] = [said["answers"], said["events"]]
        if not all(type(each) is list for each in tables):
            raise ValueError("answers, events")
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise DiaryError("merge_foreign", file=name, reason=_reason(error)) from error
    answers, answers_left = _read(tables[0], "answers", answer_of)
    events, events_left = _read(tables[1], "events", event_of)
    return _strict(Pages(answers, events, [*answers_left, *events_left]), now)


@contextmanager
def copied(file: Path) -> Generator[Diary]:
    """The diary of a file that may only be read: opening brings a diary up to date, so this is a
    copy.
    """
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "diary.sqlite3"
        try:
            shutil.copyfile(file, copy)
            newest = file.with_name(f"{file.name}-wal")
            if newest.exists():
                shutil.copyfile(newest, copy.with_name(f"{copy.name}-wal"))
        except OSError as error:
            reason = error.strerror or str(error)
            raise DiaryError("file_read", file=file, reason=reason) from error
        try:
            with Diary(copy) as diary:
                yield diary
        except DiaryError as error:
            raise DiaryError(error.key, **{**error.values, "file": file}) from error


def _of_diary(file: Path) -> Pages:
    try:
        with copied(file) as diary:
            found = diary.pages()
    except DiaryError as error:
        if error.key == "file_read":
            raise
        key = "merge_newer" if error.key == "diary_newer" else "merge_foreign"
        raise DiaryError(key, **{"reason": error.key, **error.values}) from error
    if found.damage:
        raise DiaryError("merge_foreign", file=file, reason=found.damage)
    return found


def _read(
    rows: Sequence[object], table: Table, made: Callable[[Mapping[str, Any]], Kind]
) -> tuple[list[Kind], list[LeftOut]]:
    """The rows of one kind, and those that can be none."""
    kept: list[Kind] = []
    left: list[LeftOut] = []
    for number, row in enumerate(rows):
        try:
            kept.append(made(_values(row, table)))
        except (ValueError, TypeError, OverflowError) as error:
            left.append(LeftOut(f"{table}[{number}]", _reason(error)))
    return kept, left


def _values(row: object, table: Table) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise UnusableError(f"{row!r:.40}")
    given = cast("dict[str, Any]", row)
    values: dict[str, Any] = {name: value for name, value in given.items() if name != "counts"}
    if odd := sorted({*COLUMNS[table]} ^ values.keys()):
        raise UnusableError(f"{odd[0]!r:.40} ?")
    at = values["at"] = datetime.fromisoformat(values["at"])
    if at.tzinfo is None:
        raise UnusableError(f"at: {at}")
    if _depth(values.get("given", values["note"])) > _DEEPEST:
        raise UnusableError("[[[[...")
    return values


def _strict(found: Pages, now: datetime | None) -> Pages:
    """Without what is of a day to come: it would be remembered until then, whatever is answered."""
    latest = (now or datetime.now(UTC)) + _AHEAD
    late = [
        LeftOut(f"{table} {name}", f"at: {at}")
        for table, name, at in (
            *(("answers", row.uuid, row.at) for row in found.answers),
            *(("events", row.name, row.at) for row in found.events),
        )
        if at > latest
    ]
    answers = [row for row in found.answers if row.at <= latest]
    events = [row for row in found.events if row.at <= latest]
    return Pages(answers, events, [*found.left_out, *late])


def _depth(value: object) -> int:
    """How deep lists and objects lie in one another, counted no further than need be."""
    depth, level = 0, [value]
    while depth <= _DEEPEST and level:
        depth += 1
        level = [inner for each in level for inner in _inner(each)]
    return depth


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def _is_database(file: Path) -> bool:
    try:
        if not file.is_file():  # a pipe that nobody writes to would be waited for
            return False
        with file.open("rb") as stream:
            return stream.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False  # why it cannot be read is said where all of it is


def _plain(row: Answer | SessionEvent) -> dict[str, Any]:
    said = {each.name: getattr(row, each.name) for each in fields(row)}
    return said | {"at": cast("datetime", said["at"]).isoformat()}


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError | IndexError | TypeError | json.JSONDecodeError):
        return type(error).__name__ if not isinstance(error, KeyError) else f"{error} ?"
    return str(error)[:80]
