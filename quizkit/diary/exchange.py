"""A diary on its way to another machine: as JSON, or as the file itself."""

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from quizkit.answer import Answer, Event, counted
from quizkit.diary.book import Diary
from quizkit.errors import DiaryError

SCHEMA = "quizkit/diary/1"
_FAMILY = "quizkit/diary/"
_SQLITE = b"SQLite format 3\0"
_WORD, _WHOLE, _NUMBER, _TRUTH, _NOTHING = str, int, (int, float), bool, type(None)
_ANSWER: Mapping[str, tuple[type, ...]] = {
    "uuid": (_WORD,),
    "device": (_WORD,),
    "session": (_WORD,),
    "question": (_WORD,),
    "mode": (_WORD,),
    "lang": (_WORD,),
    "seed": (_WHOLE,),
    "score": (*_NUMBER, _NOTHING),
    "right": (_TRUTH, _NOTHING),
    "grade": (_WHOLE, _NOTHING),
    "hints": (_WHOLE,),
    "seconds": _NUMBER,
    "sure": (_TRUTH, _NOTHING),
    "undoes": (_WORD, _NOTHING),
    "bank_hash": (_WORD,),
    "note": (_WORD,),
}
_EVENT: Mapping[str, tuple[type, ...]] = {
    "device": (_WORD,),
    "session": (_WORD,),
    "name": (_WORD,),
    "note": (dict,),
}
_CHOICES: Mapping[str, tuple[object, ...]] = {
    "mode": ("study", "mock"),
    "lang": ("zh", "en"),
    "grade": (1, 2, 3, 4, None),
}
_MOST = 2**63  # what the file's whole numbers end at


@dataclass(frozen=True, slots=True)
class Pages:
    """Every row of a diary."""

    answers: Sequence[Answer] = ()
    events: Sequence[Event] = ()


def exported(pages: Pages) -> dict[str, Any]:
    """The rows as JSON has them; each answer says too whether it counts."""
    counts = {row.uuid for row in counted(pages.answers)}
    answers = [_plain(row) | {"counts": row.uuid in counts} for row in pages.answers]
    return {
        "schema": SCHEMA,
        "answers": answers,
        "events": [_plain(event) for event in pages.events],
    }


def pages(file: Path) -> Pages:
    """The rows of another diary, or of one that was exported. The file is only read.

    Raises DiaryError where it is anything else, or any row of it cannot be meant.
    """
    try:
        with file.open("rb") as stream:
            opened = stream.read(len(_SQLITE)) == _SQLITE
        return _of_diary(file) if opened else imported(file.read_bytes(), str(file))
    except OSError as error:
        reason = error.strerror or str(error)
        raise DiaryError("merge_read", file=file, reason=reason) from error


def imported(text: bytes, name: str) -> Pages:
    """The rows of what `exported` made; `name` says in messages where it is from."""
    try:
        said: Any = json.loads(text)
        schema = said["schema"]
        if schema != SCHEMA and isinstance(schema, str) and schema.startswith(_FAMILY):
            raise DiaryError("merge_newer", file=name, found=schema, known=SCHEMA)
        if schema != SCHEMA:
            raise ValueError(f"schema {schema}")
        return Pages(
            [_answer(row, f"answers[{i}]") for i, row in enumerate(said["answers"])],
            [_event(row, f"events[{i}]") for i, row in enumerate(said["events"])],
        )
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise DiaryError("merge_foreign", file=name, reason=_reason(error)) from error


def _of_diary(file: Path) -> Pages:
    # A copy is opened: opening brings a diary up to date, and this one is another's.
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "diary.sqlite3"
        shutil.copyfile(file, copy)
        newest = file.with_name(f"{file.name}-wal")
        if newest.exists():
            shutil.copyfile(newest, copy.with_name(f"{copy.name}-wal"))
        try:
            with Diary(copy) as diary:
                diary.examine()
                found = Pages(diary.answers(), diary.events())
                answers = [_answer(_plain(row), row.uuid) for row in found.answers]
                return Pages(answers, [_event(_plain(row), row.name) for row in found.events])
        except DiaryError as error:
            key = "merge_newer" if error.key == "diary_newer" else "merge_foreign"
            values = {"reason": error.key, **error.values, "file": file}
            raise DiaryError(key, **values) from error
        except (ValueError, TypeError, LookupError, OverflowError) as error:
            raise DiaryError("merge_foreign", file=file, reason=_reason(error)) from error


def _answer(row: Mapping[str, Any], place: str) -> Answer:
    known = {field.name for field in fields(Answer)}
    given: dict[str, Any] = {name: value for name, value in row.items() if name != "counts"}
    _check(given, known, _ANSWER, place)
    given["at"] = _moment(given["at"], place)
    return Answer(**given)


def _event(row: Mapping[str, Any], place: str) -> Event:
    _check(row, {field.name for field in fields(Event)}, _EVENT, place)
    given: dict[str, Any] = {**row, "at": _moment(row["at"], place)}
    return Event(**given)


def _check(
    row: Mapping[str, Any], known: set[str], types: Mapping[str, tuple[type, ...]], place: str
) -> None:
    if odd := sorted(known ^ row.keys()):
        raise ValueError(f"{place}: {odd[0]}")
    for name, allowed in types.items():
        value = row[name]
        fits = type(value) in allowed and value in _CHOICES.get(name, (value,))
        if type(value) in (int, float):
            fits = fits and math.isfinite(value) and abs(value) < _MOST
        if not fits:
            raise ValueError(f"{place}.{name}: {value!r:.40}")


def _moment(text: str, place: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{place}.at: {text}")
    return at


def _plain(row: Answer | Event) -> dict[str, Any]:
    said = {field.name: getattr(row, field.name) for field in fields(row)}
    return said | {"at": cast("datetime", said["at"]).isoformat()}


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError | IndexError | TypeError | json.JSONDecodeError):
        return type(error).__name__ if not isinstance(error, KeyError) else f"{error} ?"
    return str(error)[:80]
