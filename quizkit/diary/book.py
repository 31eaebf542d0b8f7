"""What is written into the diary and read out of it.

An answer is committed before `append` returns. What was a mistake is taken back by a further row
that names it. The cards (what is remembered, and until when) lie beside the answers as a cache and
can be rebuilt from them at any time.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

from quizkit.answer import PLACEMENT, Answer, Card, Event, Review
from quizkit.diary.file import File, Row

_NAMED = "diary"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = tuple(each.name for each in fields(Answer))
_NAMES = ", ".join(_COLUMNS)
# Not by id: rows of another machine come in after rows that are younger than they.
_ORDER = "at, device, id"
_INSERT = f"insert into answers ({_NAMES}) values ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
_SELECT = f"select {_NAMES} from answers order by {_ORDER}"  # noqa: S608
_TAKE_IN = f"{_INSERT} on conflict (uuid) do nothing"
_LOG = "insert into events (device, at, session, name, note) values (?, ?, ?, ?, ?)"
_EVENTS = "select device, at, session, name, note from events"
_REVIEWS = """select question, at, grade from answers as a where grade is not null
    and not exists (select 1 from answers as u where u.undoes = a.uuid)"""
_KEEP = """insert into cards values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (question) do
    update set (seen, recipe, reps, lapses, stability, difficulty, due, last) =
    (excluded.seen, excluded.recipe, excluded.reps, excluded.lapses, excluded.stability,
    excluded.difficulty, excluded.due, excluded.last)
    where excluded.seen >= seen or excluded.recipe <> recipe"""


class Diary:
    """The learner's file. Several processes may have it open at once."""

    def __init__(self, path: Path) -> None:
        self._file = File(path)

    def __enter__(self) -> "Diary":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; nothing is pending."""
        self._file.close()

    @property
    def device(self) -> str:
        """A random name for this diary's machine: the one it has, else a new one."""
        for source in (f"events where name = '{_NAMED}'", "answers", "events"):
            rows = self._file.rows(f"select device from {source} order by id limit 1")  # noqa: S608
            if rows:
                return str(rows[0][0])
        return token_hex(4)

    def append(self, answer: Answer) -> None:
        """Add a row. When this returns, the row is on disk."""
        self._file.write(_INSERT, [_packed(answer)])

    def answers(self) -> list[Answer]:
        """Every row, in the order in which they were given."""
        return [_unpacked(row) for row in self._file.rows(_SELECT)]

    def last(self, question: str) -> Answer | None:
        """The latest answer to a question that counts."""
        query = f"""select {_NAMES} from answers as a where question = ? and right is not null
            and not exists (select 1 from answers as u where u.undoes = a.uuid)
            order by at desc, device desc, id desc limit 1"""  # noqa: S608
        rows = self._file.rows(query, (question,))
        return _unpacked(rows[0]) if rows else None

    def log(self, event: Event) -> None:
        """Add what happened beside the answers. When this returns, it is on disk."""
        self._file.write(_LOG, [_logged(event)])

    def events(self, session: str | None = None, name: str | None = None) -> list[Event]:
        """What happened in a session, or every event of a name, in the order they came."""
        wanted = {"session": session, "name": name}
        given = {column: value for column, value in wanted.items() if value is not None}
        where = " and ".join(f"{column} = ?" for column in given) or "true"
        rows = self._file.rows(f"{_EVENTS} where {where} order by id", [*given.values()])
        return [
            Event(
                device=str(device),
                at=_time(at),
                session=str(session),
                name=str(name),
                note=json.loads(str(note)),
            )
            for device, at, session, name, note in rows
        ]

    def placements(self) -> set[str]:
        """The sessions that looked for the learner's level."""
        return {each.session for each in self.events(name=PLACEMENT)}

    def take_in(
        self, answers: Iterable[Answer], events: Iterable[Event]
    ) -> tuple[int, int, Path | None]:
        """Add rows of another diary, all or none: so many answers and events were new.

        Where anything was, the diary as it had been lies in the file that is named last.
        """
        known = {row[0] for row in self._file.rows("select uuid from answers")}
        new = [row for row in map(_packed, answers) if row[0] not in known]
        seen = {*self._file.rows(_EVENTS)}
        happened = [row for row in dict.fromkeys(map(_logged, events)) if row not in seen]
        if not new and not happened:
            return 0, 0, None
        kept = self._file.back_up("before-merge")
        # The first row of this name is this machine's own, whatever comes in afterwards.
        name = Event(device=self.device, at=datetime.now(UTC), session="", name=_NAMED, note={})
        own = [] if any(row[3] == _NAMED for row in seen) else [_logged(name)]
        self._file.write_all((_LOG, own), (_TAKE_IN, new), (_LOG, happened))
        return len(new), len(happened), kept

    def examine(self) -> None:
        """Look at the whole file. Raises DiaryError where it is damaged."""
        self._file.examine()

    def cards(self, recipe: int) -> tuple[int, dict[str, Card]]:
        """The cached cards made by this recipe, and up to which row they know the answers."""
        query = """select seen, question, stability, difficulty, due, last, reps, lapses
            from cards where recipe = ?"""
        rows = cast("list[tuple[Any, ...]]", self._file.rows(query, (recipe,)))
        cards = {
            name: Card(name, stability, difficulty, _time(due), _time(last), reps, lapses)
            for _, name, stability, difficulty, due, last, reps, lapses in rows
            if reps
        }
        return max((row[0] for row in rows), default=0), cards

    def news(self, seen: int) -> tuple[int, set[str]]:
        """The last row, and the questions that the rows after `seen` are about."""
        query = "select max(id), question from answers where id > ? group by question"
        rows = cast("list[tuple[int, str]]", self._file.rows(query, (seen,)))
        return max((row[0] for row in rows), default=seen), {row[1] for row in rows}

    def reviews(self, questions: Collection[str] | None = None) -> Iterator[Review]:
        """The answers that count, of these questions or of all, in the order they were given."""
        query, values = _REVIEWS, list[str]()
        if questions is not None:
            query += " and question in (select value from json_each(?))"
            values.append(json.dumps(sorted(questions)))
        for question, at, grade in self._file.rows(f"{query} order by {_ORDER}", values):
            yield Review(str(question), _time(at), cast("int", grade))

    def asked_since(self, moment: datetime) -> tuple[int, int]:
        """How many questions have been answered since: for the first time, and again.

        A placement's answers are none of the day's.
        """
        query = """select question, min(at) from (select question, at, uuid, session from answers
            where grade is not null and question in
            (select question from answers where at >= ?1 and grade is not null)) as a
            where not exists (select 1 from answers as u where u.undoes = a.uuid)
            group by question having max(at * (session not in
            (select session from events where name = ?2))) >= ?1"""
        rows = self._file.rows(query, (_ms(moment), PLACEMENT))
        firsts = [cast("int", row[1]) for row in rows]
        new = sum(first >= _ms(moment) for first in firsts)
        return new, len(firsts) - new

    def keep_cards(
        self, cards: Iterable[Card], forgotten: Iterable[str], seen: int, recipe: int
    ) -> None:
        """Cache cards that know the answers up to row `seen`; of the forgotten nothing counts."""
        rows: list[Row] = [
            (card.question, seen, recipe, card.reps, card.lapses, *_state(card)) for card in cards
        ]
        rows += [(question, seen, recipe, 0, 0, *[None] * 4) for question in forgotten]
        self._file.write(_KEEP, rows)


def _state(card: Card) -> tuple[float, float, int, int]:
    return card.stability, card.difficulty, _ms(card.due), _ms(card.last)


def _ms(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(milliseconds=1)


def _time(ms: object) -> datetime:
    return _EPOCH + timedelta(milliseconds=cast("int", ms))


def _packed(answer: Answer) -> Row:
    values: dict[str, object] = {name: getattr(answer, name) for name in _COLUMNS}
    values["at"] = _ms(answer.at)
    values["given"] = json.dumps(answer.given, ensure_ascii=False)
    values["seconds"] = float(answer.seconds)  # SQLite's whole numbers end long before Python's
    return tuple(_storable(value) for value in values.values())


def _logged(event: Event) -> Row:
    note = _storable(json.dumps(event.note, ensure_ascii=False))
    return event.device, _ms(event.at), event.session, event.name, note


def _storable(value: object) -> str | int | float | None:
    if isinstance(value, str):
        # What a terminal in another encoding sends may be no text; the rest of it is kept.
        return value.encode("utf-8", "replace").decode("utf-8")
    return value if isinstance(value, int | float) else None


def _unpacked(row: Row) -> Answer:
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    values["at"] = _time(values["at"])
    values["given"] = json.loads(values["given"])
    for name in ("right", "sure"):
        values[name] = None if values[name] is None else bool(values[name])
    return Answer(**values)
