"""What a row must be to be of use, and how it goes into the file and comes out of it.

One rule holds for what is read and for what is merged. A row that breaks it is passed over and
counted when a diary is read, and refused when it would come in from elsewhere: nothing in a diary
is ever deleted, so what nobody can use should not get there.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast

from quizkit.answer import Answer, Review, SessionEvent

Row = tuple[str | int | float | None, ...]
Table = Literal["answers", "events"]

COLUMNS: Mapping[Table, tuple[str, ...]] = {
    "answers": tuple(each.name for each in fields(Answer)),
    "events": tuple(each.name for each in fields(SessionEvent)),
}

# Reviews are planned a century ahead, and dates end with the year 9999.
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_LAST_STORED = (_LAST - _FIRST) // timedelta(milliseconds=1)
_MOST = 2**63  # what the file's whole numbers end at
# In a name it would reach the terminal; U+FFFD stands where a byte of it was damaged.
_NO_NAME = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]").search

_WORD, _WHOLE, _TRUTH, _NOTHING = str, int, bool, type(None)
_NUMBER = (int, float)
_TYPES: Mapping[Table, Mapping[str, tuple[type, ...]]] = {
    "answers": {
        "uuid": (_WORD,),
        "device": (_WORD,),
        "at": (datetime,),
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
    },
    "events": {
        "device": (_WORD,),
        "at": (datetime,),
        "session": (_WORD,),
        "name": (_WORD,),
        "note": (dict,),
    },
}
_CHOICES: Mapping[str, tuple[object, ...]] = {
    "mode": ("study", "mock"),
    "lang": ("zh", "en"),
    "grade": (1, 2, 3, 4, None),
    "verdict": ("pass", "fail"),
    "why": ("asked", "time"),
}
_NAMES = frozenset(
    ("uuid", "device", "session", "question", "undoes", "bank_hash", "name", "script")
)
# Seconds of an interview, and what stretches them: a clock goes by them.
_CLOCKED = frozenset(("total", "budget", "scale", "used", "paused", "spent", "charged"))
_LONGEST = 1e9
_CLOCK: Mapping[str, tuple[type, ...]] = {"used": _NUMBER, "paused": _NUMBER}
# What those who write an event say in its note. An event of another name waits for a later version.
_NOTES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "start": {
        "script": (_WORD,),
        "lang": (_WORD,),
        "total": _NUMBER,
        "budget": _NUMBER,
        "scale": _NUMBER,
    },
    "shown": {"station": (_WORD,), **_CLOCK},
    "alive": {"spent": _NUMBER, **_CLOCK},
    "left": {"spent": _NUMBER, "draft": (_WORD,), **_CLOCK},
    "back": {"charged": _NUMBER, **_CLOCK},
    "hint": {"station": (_WORD,), **_CLOCK},
    "look": {"look": (_WORD,), **_CLOCK},
    "told": {"text": (_WORD,), "facts": (list,), **_CLOCK},
    "note": {"text": (_WORD,), **_CLOCK},
    "sure": {"station": (_WORD,), "sure": (_TRUTH,), **_CLOCK},
    "spoken": {"lang": (_WORD,), **_CLOCK},
    "stopped": {"why": (_WORD,), **_CLOCK},
    "done": {"card": (dict,)},
    "unsent": {"question": (_WORD,), "text": (_WORD,)},
}
_CARD: Mapping[str, tuple[type, ...]] = {"verdict": (_WORD,), "overall": _NUMBER, "best": _NUMBER}


class UnusableError(ValueError):
    """A row that nothing can use, and why: the field, and what stands there."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that was passed over: where it stands, and why. `row` is what is there of it."""

    place: str
    why: str
    row: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Pages:
    """The rows of a diary that are of use, and those that are not.

    `damage` is what SQLite has to say of a file that is not whole.
    """

    answers: Sequence[Answer] = ()
    events: Sequence[SessionEvent] = ()
    left_out: Sequence[LeftOut] = ()
    damage: str = ""


def answer_of(values: Mapping[str, Any]) -> Answer:
    """The answer of these values, which are all there. Raises UnusableError."""
    _check(values, _TYPES["answers"])
    return Answer(**values)


def event_of(values: Mapping[str, Any]) -> SessionEvent:
    """The event of these values, which are all there. Raises UnusableError."""
    _check(values, _TYPES["events"])
    _check(values["note"], _NOTES.get(values["name"], {}), "note.")
    if values["name"] == "done":
        _check(values["note"]["card"], _CARD, "note.card.")
    return SessionEvent(**values)


def answer_in(row: Sequence[object]) -> Answer:
    """The answer of a row of the file, its columns in order. Raises UnusableError."""
    values: dict[str, Any] = dict(zip(COLUMNS["answers"], row, strict=True))
    values["at"] = moment(values["at"])
    values["given"] = _json("given", values["given"])
    for name in ("right", "sure"):
        if values[name] in (0, 1):
            values[name] = bool(values[name])
    return answer_of(values)


def event_in(row: Sequence[object]) -> SessionEvent:
    """The event of a row of the file, its columns in order. Raises UnusableError."""
    values: dict[str, Any] = dict(zip(COLUMNS["events"], row, strict=True))
    values["at"] = moment(values["at"])
    values["note"] = _json("note", values["note"])
    return event_of(values)


def review_in(row: Sequence[object]) -> Review:
    """The review of a row of the file: question, time and grade. Raises UnusableError."""
    question, at, grade = row
    if not (is_name(question) and grade in (1, 2, 3, 4)):
        raise UnusableError(f"{row!r:.40}")
    return Review(str(question), moment(at), cast("int", grade))


def packed(row: Answer) -> Row:
    """An answer as the file has it."""
    values: dict[str, object] = {name: getattr(row, name) for name in COLUMNS["answers"]}
    values["at"] = milliseconds(row.at)
    values["given"] = json.dumps(row.given, ensure_ascii=False)
    values["seconds"] = float(row.seconds)  # SQLite's whole numbers end long before Python's
    return tuple(_storable(value) for value in values.values())


def logged(row: SessionEvent) -> Row:
    """An event as the file has it."""
    note = json.dumps(row.note, ensure_ascii=False)
    values = row.device, milliseconds(row.at), row.session, row.name, note
    return tuple(_storable(value) for value in values)


def milliseconds(time: datetime) -> int:
    """A time as the file has it: from the beginning of 1970."""
    return (time - _FIRST) // timedelta(milliseconds=1)


def moment(stored: object) -> datetime:
    """A time out of the file. Raises UnusableError where it is none."""
    if type(stored) is not int or not 0 <= stored <= _LAST_STORED:
        raise UnusableError(f"at: {stored!r:.40}")
    return _FIRST + timedelta(milliseconds=stored)


def shown(stored: object) -> str | int | None:
    """What stands in a damaged row, as JSON can say it."""
    return stored if isinstance(stored, str | int | None) else repr(stored)


def is_name(text: object) -> bool:
    """Whether it can be the name of something and be shown."""
    return isinstance(text, str) and not _NO_NAME(text)


def _check(
    values: Mapping[str, Any], types: Mapping[str, tuple[type, ...]], within: str = ""
) -> None:
    for name, allowed in types.items():
        value: Any = values.get(name, ...)
        kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
        if kind not in allowed:
            fits = False
        elif kind is str:
            choices = _CHOICES.get(name)
            fits = value in choices if choices else name not in _NAMES or not _NO_NAME(value)
        elif kind is int:
            fits = abs(value) < _MOST and value in _CHOICES.get(name, (value,))
        elif kind is float:
            fits = math.isfinite(value)
        else:
            fits = kind is not datetime or _FIRST <= value <= _LAST
        if fits and name in _CLOCKED:
            fits = 0 <= value <= _LONGEST
        if not fits:
            said = "?" if value is ... else str(value) if kind is datetime else repr(value)
            raise UnusableError(f"{within}{name}: {said:.40}")


def _json(name: str, text: object) -> Any:
    try:
        return json.loads(cast("str", text))
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableError(f"{name}: {text!r:.40}") from error


def _storable(value: object) -> str | int | float | None:
    if isinstance(value, str):
        # What a terminal in another encoding sends may be no text; the rest of it is kept.
        return value.encode("utf-8", "replace").decode("utf-8")
    return value if isinstance(value, int | float) else None
